//! What is asked of the type of every value.

use super::dim::Atom;
use super::ty::{Elem, ElemTy, ShapeItem, Ty};

/// What a type says at a glance. Records keep theirs, however many fields they have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// An inference variable stands in it.
    pub is_open: bool,
    /// It depends on the parameters of the function that it stands in.
    pub is_generic: bool,
    /// There are keys in its values.
    pub has_keys: bool,
    /// There is a rigid tree in it, whose values may hold keys.
    pub has_trees: bool,
    pub parts: u32,
    pub depth: u32,
}

impl Glance {
    pub fn of(ty: &Ty) -> Glance {
        let inner = match ty {
            Ty::Tensor(elem, shape) => of_tensor(elem, shape),
            Ty::Tuple(parts) => Glance::all(parts),
            Ty::Record(fields) => fields.glance(),
            Ty::Tree { leaf, .. } => Glance {
                is_generic: true,
                has_trees: leaf.is_none(),
                is_open: leaf.as_deref().is_some_and(|t| Glance::of(t).is_open),
                ..Glance::default()
            },
            // Functions are no values: they hold no keys.
            Ty::Fn(params, ret) => Glance {
                has_keys: false,
                has_trees: false,
                ..Glance::all(params.iter().chain([&**ret]))
            },
            Ty::Var(_) => Glance {
                is_open: true,
                is_generic: true,
                ..Glance::default()
            },
            Ty::Error => Glance::default(),
        };
        Glance {
            parts: inner.parts.saturating_add(1),
            depth: inner.depth.saturating_add(1),
            ..inner
        }
    }

    /// Of several types together.
    pub fn all<'t>(types: impl IntoIterator<Item = &'t Ty>) -> Glance {
        let each = types.into_iter().map(Glance::of);
        each.fold(Glance::default(), |a, b| Glance {
            is_open: a.is_open || b.is_open,
            is_generic: a.is_generic || b.is_generic,
            has_keys: a.has_keys || b.has_keys,
            has_trees: a.has_trees || b.has_trees,
            parts: a.parts.saturating_add(b.parts),
            depth: a.depth.max(b.depth),
        })
    }
}

fn of_tensor(elem: &ElemTy, shape: &[ShapeItem]) -> Glance {
    let mut out = Glance {
        is_open: matches!(elem, ElemTy::Var(_)),
        is_generic: !matches!(elem, ElemTy::Known(_)),
        has_keys: *elem == ElemTy::Known(Elem::Key),
        ..Glance::default()
    };
    for item in shape {
        match item {
            ShapeItem::Dim(d) if d.as_int().is_some() => {}
            ShapeItem::Dim(d) => {
                out.is_generic = true;
                out.is_open |= d.any_atom(&|a| matches!(a, Atom::Var(_)));
            }
            ShapeItem::Spread(_) | ShapeItem::LeafOf(_) => out.is_generic = true,
            ShapeItem::Var(_) => (out.is_generic, out.is_open) = (true, true),
        }
    }
    out
}
