//! Nodes that know how deep they are while they are built. What is too deep is cut off with an error, so that no walk over
//! a syntax tree, its destructor included, can run out of stack.

/// How deep brackets, and what else the reader sees inside one another, may nest.
pub const MAX_NESTING: u32 = 256;

/// How high a syntax tree may be. A chain `a + b + c` nests nothing, but each operator is above the one before.
pub const MAX_HEIGHT: u32 = 8192;

/// The depth of a tree, in two measures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Depth {
    /// As a reader sees it: a chain counts once.
    pub nesting: u32,
    pub height: u32,
}

impl Depth {
    pub fn max(self, other: Depth) -> Depth {
        Depth {
            nesting: self.nesting.max(other.nesting),
            height: self.height.max(other.height),
        }
    }

    /// With a node above it; `None` if that is too deep.
    pub fn under_a_node(self) -> Option<Depth> {
        let fits = self.nesting < MAX_NESTING && self.height < MAX_HEIGHT;
        fits.then_some(Depth {
            nesting: self.nesting + 1,
            height: self.height + 1,
        })
    }

    /// Of what the next node continues, so that both nest alike.
    pub fn continued(self) -> Depth {
        Depth {
            nesting: self.nesting.saturating_sub(1),
            ..self
        }
    }
}

/// A node and the depth of the tree below it.
#[derive(Clone, Debug, Default)]
pub struct Deep<T> {
    pub node: T,
    pub depth: Depth,
}

impl<T> Deep<T> {
    pub fn leaf(node: T) -> Self {
        Deep {
            node,
            depth: Depth::default(),
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Deep<U> {
        Deep {
            node: f(self.node),
            depth: self.depth,
        }
    }
}

/// The greatest depth of several, any of which may be missing.
pub fn deepest<'t, T: 't>(items: impl IntoIterator<Item = &'t Deep<T>>) -> Depth {
    items
        .into_iter()
        .fold(Depth::default(), |depth, item| depth.max(item.depth))
}

/// The nodes, and the greatest of their depths.
pub fn gather<T>(items: impl IntoIterator<Item = Deep<T>>) -> Deep<Vec<T>> {
    let mut depth = Depth::default();
    let node = items
        .into_iter()
        .map(|d| {
            depth = depth.max(d.depth);
            d.node
        })
        .collect();
    Deep { node, depth }
}

pub fn pair<A, B, C>(a: Deep<A>, b: Deep<B>, f: impl FnOnce(A, B) -> C) -> Deep<C> {
    Deep {
        depth: a.depth.max(b.depth),
        node: f(a.node, b.node),
    }
}
