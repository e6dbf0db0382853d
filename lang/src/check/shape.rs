//! Shapes: broadcasting, axes, and the sizes that operations give.

use super::poly;
use crate::typed::{Dim, Shape, ShapeItem};

/// The common shape of two operands.
pub struct Broadcast {
    pub shape: Shape,
    /// Whether a dimension of each side is stretched by the other.
    pub both_stretch: bool,
}

/// The two items that do not go together, counted from the last dimension.
#[derive(Clone, Debug)]
pub struct NoBroadcast {
    pub left: ShapeItem,
    pub right: ShapeItem,
}

pub fn is_one(item: &ShapeItem) -> bool {
    matches!(item, ShapeItem::Dim(d) if d.as_int() == Some(1))
}

pub fn same(a: &ShapeItem, b: &ShapeItem) -> bool {
    match (a, b) {
        (ShapeItem::Dim(x), ShapeItem::Dim(y)) => poly::equal(x, y),
        _ => a == b,
    }
}

pub fn same_shape(a: &[ShapeItem], b: &[ShapeItem]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same(x, y))
}

/// NumPy's rule, aligned at the last dimension, over statically equal dimensions and 1s.
pub fn broadcast(a: &[ShapeItem], b: &[ShapeItem]) -> Result<Broadcast, NoBroadcast> {
    let mut shape = Vec::with_capacity(a.len().max(b.len()));
    let (mut a_stretches, mut b_stretches) = (false, false);
    let (mut left, mut right) = (a.iter().rev(), b.iter().rev());
    loop {
        match (left.next(), right.next()) {
            (None, None) => break,
            (Some(x), None) => shape.push(x.clone()),
            (None, Some(y)) => shape.push(y.clone()),
            (Some(x), Some(y)) if same(x, y) => shape.push(better_named(x, y).clone()),
            (Some(x), Some(y @ ShapeItem::Dim(_))) if is_one(x) => {
                a_stretches = true;
                shape.push(y.clone());
            }
            (Some(x @ ShapeItem::Dim(_)), Some(y)) if is_one(y) => {
                b_stretches = true;
                shape.push(x.clone());
            }
            (Some(x), Some(y)) => {
                return Err(NoBroadcast {
                    left: x.clone(),
                    right: y.clone(),
                });
            }
        }
    }
    shape.reverse();
    // A missing leading dimension stretches too, but only a written 1 is worth a warning.
    Ok(Broadcast {
        shape,
        both_stretch: a_stretches && (b_stretches || b.len() < a.len())
            || b_stretches && a.len() < b.len(),
    })
}

/// Of two equal dimensions the one that says where it comes from.
fn better_named<'i>(x: &'i ShapeItem, y: &'i ShapeItem) -> &'i ShapeItem {
    match (x, y) {
        (ShapeItem::Dim(a), ShapeItem::Dim(b)) if a.origin.is_none() && b.origin.is_some() => y,
        _ => x,
    }
}

/// The dimensions of a shape without `..` parts.
pub fn dims(shape: &[ShapeItem]) -> Option<Vec<Dim>> {
    shape
        .iter()
        .map(|i| match i {
            ShapeItem::Dim(d) => Some(d.clone()),
            ShapeItem::Spread(_) | ShapeItem::LeafOf(_) | ShapeItem::Var(_) => None,
        })
        .collect()
}

pub fn of_dims(dims: impl IntoIterator<Item = Dim>) -> Shape {
    dims.into_iter().map(ShapeItem::Dim).collect()
}

/// Where an axis stands in the list of items, and how it is given to the compiler.
///
/// With every dimension known it is counted from 0. Before a `..` part it is counted from the start, after one from the
/// end. `None` where it falls outside, or into a `..` part.
pub fn axis(shape: &[ShapeItem], axis: i64) -> Option<(usize, i64)> {
    let is_dim = |i: &ShapeItem| matches!(i, ShapeItem::Dim(_));
    let len = shape.len();
    let all_known = shape.iter().all(is_dim);
    let at = if axis >= 0 {
        usize::try_from(axis).ok()?
    } else {
        len.checked_sub(usize::try_from(-axis).ok()?)?
    };
    if at >= len {
        return None;
    }
    let reachable = if axis >= 0 {
        shape[..=at].iter().all(is_dim)
    } else {
        shape[at..].iter().all(is_dim)
    };
    let given = if all_known { at as i64 } else { axis };
    reachable.then_some((at, given))
}

/// `ceil(a / b)` where it can be said, exact division otherwise.
pub fn ceil_div(a: &Dim, b: &Dim) -> Option<Dim> {
    match (a.as_int(), b.as_int()) {
        (Some(x), Some(y)) if y > 0 => Some(Dim::int((x + y - 1).div_euclid(y))),
        (_, Some(1)) => Some(a.clone()),
        _ => a.div(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typed::GenericId;

    fn s(sizes: &[i64]) -> Shape {
        of_dims(sizes.iter().map(|&n| Dim::int(n)))
    }

    #[test]
    fn broadcasting_is_numpys() {
        let ok = |a: &[i64], b: &[i64]| broadcast(&s(a), &s(b)).map(|r| (r.shape, r.both_stretch));
        assert_eq!(ok(&[3, 4], &[4]).ok(), Some((s(&[3, 4]), false)));
        assert_eq!(ok(&[3, 1], &[3, 4]).ok(), Some((s(&[3, 4]), false)));
        assert_eq!(ok(&[3, 1], &[4]).ok(), Some((s(&[3, 4]), true)));
        assert_eq!(ok(&[], &[4]).ok(), Some((s(&[4]), false)));
        assert!(ok(&[3], &[4]).is_err());
    }

    #[test]
    fn axes_stop_at_a_rank_parameter() {
        let mut shape = vec![ShapeItem::Spread(GenericId(0))];
        shape.extend(s(&[5]));
        assert_eq!(axis(&shape, -1), Some((1, -1)));
        assert_eq!(axis(&shape, 0), None);
        assert_eq!(axis(&s(&[2, 3]), -2), Some((0, 0)));
        assert_eq!(axis(&s(&[2, 3]), 2), None);
    }
}
