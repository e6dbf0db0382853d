//! Stable sorting of several arrays together.

use super::Data;
use super::array::{Array, same_kind};
use super::index::{axis_last, inverse, transposed};
use std::cmp::Ordering;

pub fn sort(axis: usize, keys: usize, descending: bool, args: &[Array]) -> Vec<Array> {
    let perm = axis_last(args[0].ty.rank(), axis);
    let rows: Vec<Array> = args.iter().map(|a| transposed(a, &perm)).collect();
    let length = args[0].ty.shape[axis];
    let mut order: Vec<usize> = (0..args[0].ty.numel()).collect();
    for row in order.chunks_mut(length.max(1)) {
        row.sort_by(|&a, &b| {
            let ascending = rows[..keys]
                .iter()
                .map(|key| compare(&key.data, a, b))
                .find(|o| o.is_ne())
                .unwrap_or(Ordering::Equal);
            if descending {
                ascending.reverse()
            } else {
                ascending
            }
        });
    }
    let back = inverse(&perm);
    rows.iter()
        .map(|x| {
            let data = same_kind!(&x.data, v => order.iter().map(|&at| v[at]).collect());
            transposed(&Array::new(x.ty.clone(), data), &back)
        })
        .collect()
}

/// NaN is largest and equal to itself; −0 equals 0.
fn compare(data: &Data, a: usize, b: usize) -> Ordering {
    match data {
        Data::Float(v) => v[a]
            .partial_cmp(&v[b])
            .unwrap_or_else(|| v[a].is_nan().cmp(&v[b].is_nan())),
        Data::Int(v) => v[a].cmp(&v[b]),
        Data::Uint(v) => v[a].cmp(&v[b]),
        Data::Bool(v) => v[a].cmp(&v[b]),
    }
}
