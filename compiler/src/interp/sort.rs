//! Stable sorting of several arrays together.

use super::Data;
use super::array::{Array, same_kind};
use super::index::{axis_last, inverse, transposed};
use std::cmp::Ordering;

#[derive(Clone, Copy)]
pub struct Order {
    pub descending: bool,
    pub total: bool,
}

pub fn sort(axis: usize, keys: usize, order: Order, args: &[Array]) -> Vec<Array> {
    let perm = axis_last(args[0].ty.rank(), axis);
    let rows: Vec<Array> = args.iter().map(|a| transposed(a, &perm)).collect();
    let length = args[0].ty.shape[axis];
    let mut places: Vec<usize> = (0..args[0].ty.numel()).collect();
    for row in places.chunks_mut(length.max(1)) {
        row.sort_by(|&a, &b| {
            let ascending = rows[..keys]
                .iter()
                .map(|key| compare(&key.data, order.total, a, b))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal);
            if order.descending {
                ascending.reverse()
            } else {
                ascending
            }
        });
    }
    let back = inverse(&perm);
    rows.iter()
        .map(|x| {
            let data = same_kind!(&x.data, v => places.iter().map(|&at| v[at]).collect());
            transposed(&Array::new(x.ty.clone(), data), &back)
        })
        .collect()
}

/// NaN is largest and equal to itself; −0 equals 0. In the total order neither holds.
fn compare(data: &Data, total: bool, a: usize, b: usize) -> Ordering {
    match data {
        Data::Float(v) if total => v[a].total_cmp(&v[b]),
        Data::Float(v) => v[a]
            .partial_cmp(&v[b])
            .unwrap_or_else(|| v[a].is_nan().cmp(&v[b].is_nan())),
        Data::Int(v) => v[a].cmp(&v[b]),
        Data::Uint(v) => v[a].cmp(&v[b]),
        Data::Bool(v) => v[a].cmp(&v[b]),
    }
}
