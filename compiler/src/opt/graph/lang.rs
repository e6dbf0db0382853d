//! The e-graph's nodes: a primitive with its attributes, interned, over e-classes.
//!
//! Attributes are compared and hashed once, when a head is interned; a node is then two small numbers and its
//! children. Operands of commutative primitives are kept sorted by e-class, so that no commutativity rule is needed:
//! `x + y` and `y + x` are one node. This is exact: IEEE addition and multiplication, the bitwise operations and
//! equality commute bit for bit (which NaN payload survives is not specified by anyone, and NaN equals NaN here);
//! `max` and `min` are those of IEEE 754-2019, where −0 is below +0 whichever comes first.

use crate::ir::op::{BinaryOp, CompareOp, Op, ReduceOp, UnaryOp};
use crate::ir::types::Type;
use crate::ir::{Func, Region};
use egg::{Id, Language};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a node is, without its attributes: what rules are indexed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Input,
    Proj,
    Tuple,
    Constant,
    Iota,
    Unary(UnaryOp),
    Binary(BinaryOp),
    Compare(CompareOp),
    Select,
    Clamp,
    Convert,
    Bitcast,
    Threefry,
    Broadcast,
    Reshape,
    Transpose,
    Slice,
    Pad,
    Concat,
    Reverse,
    DynamicSlice,
    DynamicUpdateSlice,
    Gather,
    Scatter,
    Reduce(ReduceOp),
    ArgReduce,
    Cumulate(ReduceOp),
    ReduceWindow(ReduceOp),
    WindowGather,
    WindowScatter,
    Dot,
    Conv,
    Cholesky,
    TriangularSolve,
    Sort,
    Scan,
    While,
    If,
    CustomVjp,
    Remat,
    StopGradient,
    Barrier,
    Shard,
    Host,
    Effect,
}

impl Kind {
    pub fn of(op: &Op) -> Kind {
        match op {
            Op::Constant(_) => Kind::Constant,
            Op::Iota { .. } => Kind::Iota,
            Op::Unary(u) => Kind::Unary(*u),
            Op::Binary(b) => Kind::Binary(*b),
            Op::Compare(c) => Kind::Compare(*c),
            Op::Select => Kind::Select,
            Op::Clamp => Kind::Clamp,
            Op::Convert(_) => Kind::Convert,
            Op::Bitcast(_) => Kind::Bitcast,
            Op::Threefry => Kind::Threefry,
            Op::Broadcast { .. } => Kind::Broadcast,
            Op::Reshape { .. } => Kind::Reshape,
            Op::Transpose { .. } => Kind::Transpose,
            Op::Slice { .. } => Kind::Slice,
            Op::Pad { .. } => Kind::Pad,
            Op::Concat { .. } => Kind::Concat,
            Op::Reverse { .. } => Kind::Reverse,
            Op::DynamicSlice { .. } => Kind::DynamicSlice,
            Op::DynamicUpdateSlice => Kind::DynamicUpdateSlice,
            Op::Gather(_) => Kind::Gather,
            Op::Scatter { .. } => Kind::Scatter,
            Op::Reduce { op, .. } => Kind::Reduce(*op),
            Op::ArgReduce { .. } => Kind::ArgReduce,
            Op::Cumulate { op, .. } => Kind::Cumulate(*op),
            Op::ReduceWindow { op, .. } => Kind::ReduceWindow(*op),
            Op::WindowGather { .. } => Kind::WindowGather,
            Op::WindowScatter { .. } => Kind::WindowScatter,
            Op::Dot(_) => Kind::Dot,
            Op::Conv(_) => Kind::Conv,
            Op::Cholesky => Kind::Cholesky,
            Op::TriangularSolve { .. } => Kind::TriangularSolve,
            Op::Sort { .. } => Kind::Sort,
            Op::Scan { .. } => Kind::Scan,
            Op::While => Kind::While,
            Op::If => Kind::If,
            Op::CustomVjp => Kind::CustomVjp,
            Op::Remat => Kind::Remat,
            Op::StopGradient => Kind::StopGradient,
            Op::Barrier => Kind::Barrier,
            Op::Shard { .. } => Kind::Shard,
            Op::Host(_) => Kind::Host,
            Op::Effect(..) => Kind::Effect,
        }
    }

    /// Whether the two operands may be exchanged without any change of the result.
    pub fn commutes(self) -> bool {
        match self {
            Kind::Binary(b) => match b {
                BinaryOp::Add
                | BinaryOp::Mul
                | BinaryOp::Max
                | BinaryOp::Min
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor => true,
                BinaryOp::Sub
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Pow
                | BinaryOp::Atan2
                | BinaryOp::Shl
                | BinaryOp::ShrArith
                | BinaryOp::ShrLogical => false,
            },
            Kind::Compare(c) => matches!(c, CompareOp::Eq | CompareOp::Ne),
            _ => false,
        }
    }
}

/// A node's label: everything but its children.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Head {
    /// A parameter of the region, by position.
    Input(u32),
    /// One result of a node with several.
    Proj(u32),
    /// Several values as the results of one node; how a rule says what a multi-result node equals.
    Tuple,
    /// A primitive without regions.
    Op(Op),
    /// A primitive with regions, or one that acts on the outside.
    Block(Block),
}

/// A primitive whose regions have been closed: each body takes the region's own parameters, then the values that
/// any of the regions captures. The node's children are the primitive's operands, then those captures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    pub op: Op,
    pub bodies: Vec<Body>,
    /// How many of the node's children are the primitive's operands.
    pub operands: usize,
    /// Position among the effects of its region, for blocks that have one: two equal effects are still two.
    pub effect: Option<u32>,
}

/// A closed region. Equality and hash are those of its instructions and types; names and spans do not count.
#[derive(Clone, Debug)]
pub struct Body(pub Func);

impl Body {
    fn key(&self) -> (&Region, impl Iterator<Item = &Type> + '_) {
        let f = &self.0;
        (
            &f.body,
            (0..f.value_count()).map(|i| f.ty(crate::ir::Value(i as u32))),
        )
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Body) -> bool {
        let (a, mut a_types) = self.key();
        let (b, mut b_types) = other.key();
        a == b && a_types.by_ref().eq(b_types.by_ref())
    }
}

impl Eq for Body {}

impl Hash for Body {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.body.hash(state);
    }
}

/// An interned [`Head`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HeadId(u32);

/// The table of heads of one e-graph. Numbers are given in order of first use, so equal runs number equally.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    list: Vec<Arc<Head>>,
    index: HashMap<Arc<Head>, HeadId>,
}

impl Heads {
    pub fn intern(&mut self, head: Head) -> HeadId {
        if let Some(&id) = self.index.get(&head) {
            return id;
        }
        let id = HeadId(self.list.len() as u32);
        let head = Arc::new(head);
        self.list.push(head.clone());
        self.index.insert(head, id);
        id
    }

    pub fn get(&self, id: HeadId) -> &Arc<Head> {
        &self.list[id.0 as usize]
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node {
    pub kind: Kind,
    pub head: HeadId,
    pub children: SmallVec<[Id; 3]>,
}

impl Language for Node {
    type Discriminant = Kind;

    fn discriminant(&self) -> Kind {
        self.kind
    }

    fn matches(&self, other: &Node) -> bool {
        self.head == other.head && self.children.len() == other.children.len()
    }

    fn children(&self) -> &[Id] {
        &self.children
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.children
    }

    /// Where egg makes nodes canonical: the place to keep commutative operands sorted.
    fn update_children<F: FnMut(Id) -> Id>(&mut self, mut f: F) {
        for id in &mut self.children {
            *id = f(*id);
        }
        if self.kind.commutes() {
            self.children.sort_unstable();
        }
    }
}
