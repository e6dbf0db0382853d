//! Reductions and selections over sliding windows.

use super::array::{Array, same_kind, wrap_int, wrap_uint};
use super::index::{for_each_index, strides};
use super::reduce::{first_extreme, fold_bools, fold_floats, fold_ints, fold_uints};
use super::{Data, Precision};
use crate::ir::op::{ReduceOp, Window};
use crate::ir::shape::window_output;
use std::sync::Arc;

pub fn reduce_window(op: ReduceOp, window: &Window, x: &Array, p: Precision) -> Array {
    let (shape, windows) = windows(window, &x.ty.shape);
    let ty = x.ty.with_shape(shape);
    let elem = ty.elem;
    // Padding is the identity, so that leaving it out changes nothing.
    match &x.data {
        Data::Float(v) => {
            let sum = |w: &Vec<usize>| p.round(elem, fold_floats(op, w.iter().map(|&at| v[at])));
            Array::floats(ty, windows.iter().map(sum).collect())
        }
        Data::Int(v) => {
            let sum = |w: &Vec<usize>| fold_ints(op, elem, w.iter().map(|&at| v[at]));
            Array::ints(ty, windows.iter().map(sum).collect())
        }
        Data::Uint(v) => {
            let sum = |w: &Vec<usize>| fold_uints(op, elem, w.iter().map(|&at| v[at]));
            Array::uints(ty, windows.iter().map(sum).collect())
        }
        Data::Bool(v) => {
            let any = |w: &Vec<usize>| fold_bools(op, w.iter().map(|&at| v[at]));
            Array::bools(ty, windows.iter().map(any).collect())
        }
    }
}

pub fn window_gather(max: bool, window: &Window, x: &Array, t: &Array) -> Array {
    let (shape, places) = selected(max, window, x);
    let data = same_kind!(&t.data, v => {
        let zero = Default::default();
        places.iter().map(|place| place.map_or(zero, |at| v[at])).collect()
    });
    Array::new(t.ty.with_shape(shape), data)
}

pub fn window_scatter(max: bool, window: &Window, x: &Array, s: &Array, p: Precision) -> Array {
    let (_, places) = selected(max, window, x);
    let ty = s.ty.with_shape(x.ty.shape.clone());
    let (elem, n) = (ty.elem, ty.numel());
    let data = match &s.data {
        Data::Float(s) => {
            let sums = add_at(n, s, &places, |a, b| a + b);
            let rounded = sums.iter().map(|&x| p.round(elem, x)).collect();
            Data::Float(Arc::new(rounded))
        }
        Data::Int(s) => {
            let add = |a: i64, b| wrap_int(elem, a.wrapping_add(b));
            Data::Int(Arc::new(add_at(n, s, &places, add)))
        }
        Data::Uint(s) => {
            let add = |a: u64, b| wrap_uint(elem, a.wrapping_add(b));
            Data::Uint(Arc::new(add_at(n, s, &places, add)))
        }
        Data::Bool(_) => unreachable!("the shape rule wants numbers"),
    };
    Array::new(ty, data)
}

fn add_at<T: Copy + Default>(
    n: usize,
    values: &[T],
    places: &[Option<usize>],
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut out = vec![T::default(); n];
    for (place, &value) in places.iter().zip(values) {
        if let Some(at) = *place {
            out[at] = add(out[at], value);
        }
    }
    out
}

/// For each window, the place of its extreme; none if it sees nothing but padding.
fn selected(max: bool, window: &Window, x: &Array) -> (Vec<usize>, Vec<Option<usize>>) {
    let (shape, windows) = windows(window, &x.ty.shape);
    let places = windows
        .iter()
        .map(|w| {
            let best = first_extreme(max, x, w.iter().copied());
            w.get(best).copied()
        })
        .collect();
    (shape, places)
}

/// The elements that each window sees, row-major; padding and the holes of dilation are left out.
fn windows(window: &Window, shape: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
    // The shape rule has accepted the same window.
    let Ok(counts) = window_output(shape, window) else {
        unreachable!("the window does not fit")
    };
    let by = strides(shape);
    let mut windows = Vec::with_capacity(counts.iter().product());
    for_each_index(&counts, |at| {
        let mut seen = Vec::new();
        for_each_index(&window.size, |within| {
            let place: Option<isize> = (0..shape.len())
                .map(|i| {
                    let padded = at[i] * window.stride[i] + within[i] * window.window_dilation[i];
                    let dilated = padded as i64 - window.padding[i].0;
                    let base = window.base_dilation[i] as i64;
                    let inside = dilated >= 0 && dilated % base == 0;
                    let n = (dilated / base) as usize;
                    (inside && n < shape[i]).then_some(n as isize * by[i])
                })
                .sum();
            seen.extend(place.map(|p| p as usize));
        });
        windows.push(seen);
    });
    (counts, windows)
}
