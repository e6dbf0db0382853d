//! What the walk over keys asks of expressions: which builtins use keys up, which positions are known.

use super::locals_of;
use crate::typed::{
    Block, Builtin, Callee, Dim, Expr, ExprKind, LocalId, ShapeItem, StmtKind, TransformKind, Ty,
};

/// Whether `vmap` hands one and the same argument to all the calls it makes.
pub fn shares(callee: &Callee, i: usize) -> bool {
    let Callee::Transform(t) = callee else {
        return false;
    };
    match &t.kind {
        TransformKind::Vmap { axes, .. } if axes.get(i) == Some(&None) => true,
        // Its first argument holds those of the function.
        TransformKind::Jvp { .. } | TransformKind::Vjp { .. } => false,
        _ => shares(&t.callee, i),
    }
}

/// A constant position in an array, counted from its start where its size is known.
pub fn from_start(at: i64, array: &Ty) -> i64 {
    match array {
        Ty::Tensor(_, shape) => match shape.first() {
            Some(ShapeItem::Dim(d)) if at < 0 => d.as_int().map_or(at, |n| n + at),
            _ => at,
        },
        _ => at,
    }
}

/// The positions that a slice of an array takes, each end counted from the start.
pub fn slice_of(lo: Option<&Dim>, hi: Option<&Dim>, array: &Ty) -> Option<(Dim, Dim)> {
    let Ty::Tensor(_, shape) = array else {
        return None;
    };
    let ShapeItem::Dim(size) = shape.first()? else {
        return None;
    };
    let at = |d: &Dim| match d.as_int() {
        Some(n) if n < 0 => size.add(d),
        _ => Some(d.clone()),
    };
    let lo = lo.map_or(Some(Dim::int(0)), at)?;
    let hi = hi.map_or(Some(size.clone()), at)?;
    Some((lo, hi))
}

/// A bound of a loop that is known when the function is specialised.
pub fn known_int(e: &Expr) -> Option<Dim> {
    match &e.kind {
        ExprKind::Int(n) => i64::try_from(*n).ok().map(Dim::int),
        ExprKind::Dim(d) => Some(d.clone()),
        _ => None,
    }
}

/// Whether a function mapped over it is called any number of times.
pub fn has_rigid_tree(ty: &Ty) -> bool {
    crate::check::subst::leaves(ty)
        .iter()
        .any(|(_, leaf)| matches!(leaf, Ty::Tree { .. }))
}

/// What makes new keys, or reaches single ones.
pub fn derives_keys(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Key | Builtin::Split | Builtin::FoldIn | Builtin::Index
    )
}

pub fn uses_key_up(builtin: Builtin) -> bool {
    matches!(
        builtin,
        Builtin::Split
            | Builtin::Bits
            | Builtin::Uniform
            | Builtin::Normal
            | Builtin::Bernoulli
            | Builtin::RandInt
            | Builtin::Permutation
            | Builtin::Categorical
            | Builtin::TruncatedNormal
            | Builtin::Gumbel
            | Builtin::Dropout
    )
}

/// The first variable declared in a block: those declared later have higher numbers.
pub fn first_local(block: &Block) -> Option<LocalId> {
    block
        .stmts
        .iter()
        .flat_map(|s| match &s.kind {
            StmtKind::Let { pattern, .. } | StmtKind::For { pattern, .. } => locals_of(pattern),
            _ => Vec::new(),
        })
        .min()
}
