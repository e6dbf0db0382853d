//! Positions in row-major arrays: strides, counting through shapes, strided views.

use super::Data;
use super::array::{Array, same_kind};

/// Distance in elements between neighbours along each axis.
pub fn strides(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i] as isize;
    }
    strides
}

/// Calls `f` with every index of `shape`, row-major.
pub fn for_each_index(shape: &[usize], mut f: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        f(&index);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The flat positions `offset + Σ index · stride` for every index of `shape`, row-major, as runs along the last axis.
pub fn for_each_position(
    shape: &[usize],
    offset: isize,
    strides: &[isize],
    mut f: impl FnMut(usize),
) {
    let Some((&length, outer)) = shape.split_last() else {
        f(offset as usize);
        return;
    };
    let step = strides[outer.len()];
    for_each_index(outer, |index| {
        let mut at = offset + dot(index, strides);
        for _ in 0..length {
            f(at as usize);
            at += step;
        }
    });
}

/// `Σ index · stride`, over the axes of `index`.
pub fn dot(index: &[usize], strides: &[isize]) -> isize {
    index
        .iter()
        .zip(strides)
        .map(|(&i, &s)| i as isize * s)
        .sum()
}

/// The elements at the positions of a strided view, as an array of its own.
pub fn view(x: &Array, shape: Vec<usize>, offset: isize, strides: &[isize]) -> Array {
    let data = same_kind!(&x.data, v => {
        let mut out = Vec::with_capacity(shape.iter().product());
        for_each_position(&shape, offset, strides, |at| out.push(v[at]));
        out
    });
    Array::new(x.ty.with_shape(shape), data)
}

/// Axes in another order.
pub fn transposed(x: &Array, perm: &[usize]) -> Array {
    if perm.iter().enumerate().all(|(i, &p)| i == p) {
        return x.clone();
    }
    let from = strides(&x.ty.shape);
    let shape = perm.iter().map(|&p| x.ty.shape[p]).collect();
    let by: Vec<isize> = perm.iter().map(|&p| from[p]).collect();
    view(x, shape, 0, &by)
}

/// The order of axes that puts `axis` last and keeps that of the others.
pub fn axis_last(rank: usize, axis: usize) -> Vec<usize> {
    (0..rank)
        .filter(|&i| i != axis)
        .chain(std::iter::once(axis))
        .collect()
}

/// The order that undoes `perm`.
pub fn inverse(perm: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; perm.len()];
    for (i, &p) in perm.iter().enumerate() {
        inverse[p] = i;
    }
    inverse
}
