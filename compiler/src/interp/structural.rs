//! Primitives that place elements anew.

use super::array::{Array, write_same_kind};
use super::index::{for_each_position, strides, transposed, view};
use super::{Data, Precision};
use crate::ir::literal::encode_i64;
use crate::ir::types::Type;

pub fn iota(ty: &Type, axis: usize, p: Precision) -> Array {
    let inner: usize = ty.shape[axis + 1..].iter().product();
    let count = (0..ty.numel()).map(|at| at / inner.max(1) % ty.shape[axis].max(1));
    if ty.elem.is_float() {
        Array::floats(
            ty.clone(),
            count.map(|i| p.round(ty.elem, i as f64)).collect(),
        )
    } else {
        let bits = count.map(|i| encode_i64(ty.elem, i as i64)).collect();
        Array::from_bits(ty.clone(), bits)
    }
}

pub fn broadcast(x: &Array, shape: &[usize], dims: &[usize]) -> Array {
    let from = strides(&x.ty.shape);
    let mut by = vec![0; shape.len()];
    for (i, &d) in dims.iter().enumerate() {
        if x.ty.shape[i] != 1 {
            by[d] = from[i];
        }
    }
    view(x, shape.to_vec(), 0, &by)
}

pub fn transpose(x: &Array, perm: &[usize]) -> Array {
    transposed(x, perm)
}

pub fn slice(x: &Array, start: &[usize], limit: &[usize], stride: &[usize]) -> Array {
    let from = strides(&x.ty.shape);
    let shape = (0..x.ty.rank())
        .map(|i| (limit[i] - start[i]).div_ceil(stride[i]))
        .collect();
    let by: Vec<isize> = from
        .iter()
        .zip(stride)
        .map(|(&f, &s)| f * s as isize)
        .collect();
    view(x, shape, super::index::dot(start, &from), &by)
}

pub fn reverse(x: &Array, axes: &[usize]) -> Array {
    let mut by = strides(&x.ty.shape);
    let mut offset = 0;
    for &a in axes {
        offset += by[a] * (x.ty.shape[a] as isize - 1);
        by[a] = -by[a];
    }
    view(x, x.ty.shape.clone(), offset, &by)
}

pub fn pad(x: &Array, value: &Array, low: &[i64], high: &[i64], interior: &[usize]) -> Array {
    let rank = x.ty.rank();
    let shape: Vec<usize> = (0..rank)
        .map(|i| {
            let size = x.ty.shape[i] as i64;
            let inside = size + interior[i] as i64 * (size - 1).max(0);
            (inside + low[i] + high[i]) as usize
        })
        .collect();
    let mut out = broadcast(value, &shape, &[]);
    // Where each element goes, along each axis; `None` where negative padding cuts it off.
    let to = strides(&shape);
    let places: Vec<Vec<Option<isize>>> = (0..rank)
        .map(|i| {
            (0..x.ty.shape[i] as i64)
                .map(|n| {
                    let at = low[i] + n * (interior[i] as i64 + 1);
                    (0..shape[i] as i64)
                        .contains(&at)
                        .then_some(at as isize * to[i])
                })
                .collect()
        })
        .collect();
    write_same_kind!(&mut out.data, &x.data, t, s => {
        let mut source = s.iter();
        super::index::for_each_index(&x.ty.shape, |index| {
            let element = source.next();
            let place: Option<isize> = index.iter().zip(&places).map(|(&i, p)| p[i]).sum();
            if let (Some(place), Some(&element)) = (place, element) {
                t[place as usize] = element;
            }
        });
    });
    out
}

pub fn concat(args: &[Array], axis: usize) -> Array {
    let first = &args[0].ty;
    let mut shape = first.shape.clone();
    shape[axis] = args.iter().map(|a| a.ty.shape[axis]).sum();
    let outer: usize = shape[..axis].iter().product();
    let inner: usize = shape[axis + 1..].iter().product();
    let mut data = Data::empty(first.elem);
    for block in 0..outer {
        for arg in args {
            let run = arg.ty.shape[axis] * inner;
            let part = block * run..(block + 1) * run;
            write_same_kind!(&mut data, &arg.data, t, s => t.extend_from_slice(&s[part]));
        }
    }
    Array::new(first.with_shape(shape), data)
}

/// Writes the elements of `part` into `whole` at a place where it lies inside.
pub fn overwrite(whole: &mut Array, part: &Array, start: &[usize]) {
    let by = strides(&whole.ty.shape);
    let offset = super::index::dot(start, &by);
    write_same_kind!(&mut whole.data, &part.data, t, s => {
        let mut source = s.iter();
        for_each_position(&part.ty.shape, offset, &by, |at| {
            if let Some(&element) = source.next() {
                t[at] = element;
            }
        });
    });
}
