//! Primitives whose places are known only at run time.

use super::array::{Array, same_kind, wrap_int, wrap_uint, write_same_kind};
use super::index::{for_each_index, strides, view};
use super::structural::overwrite;
use super::{Data, Precision};
use crate::ir::op::{GatherDims, ScatterDims, ScatterOp};
use crate::ir::types::Elem;
use std::sync::Arc;

pub fn dynamic_slice(args: &[Array], sizes: &[usize]) -> Array {
    let x = &args[0];
    let start = clamped(&args[1..], &x.ty.shape, sizes);
    let by = strides(&x.ty.shape);
    let offset = super::index::dot(&start, &by);
    view(x, sizes.to_vec(), offset, &by)
}

pub fn dynamic_update_slice(args: Vec<Array>) -> Array {
    let mut args = args.into_iter();
    let (Some(mut x), Some(update)) = (args.next(), args.next()) else {
        unreachable!("the shape rule has counted the operands")
    };
    let starts: Vec<Array> = args.collect();
    let start = clamped(&starts, &x.ty.shape, &update.ty.shape);
    overwrite(&mut x, &update, &start);
    x
}

/// The start of a window of `sizes`, moved so that the window lies inside `shape`.
fn clamped(starts: &[Array], shape: &[usize], sizes: &[usize]) -> Vec<usize> {
    starts
        .iter()
        .zip(shape.iter().zip(sizes))
        .map(|(start, (&d, &s))| start.data.ints()[0].clamp(0, (d - s) as i64) as usize)
        .collect()
}

pub fn gather(dims: &GatherDims, x: &Array, indices: &Array) -> Array {
    let rank = x.ty.rank();
    let lookup = Lookup::new(
        dims.index_vector_dim,
        &dims.start_index_map,
        &dims.operand_batching_dims,
        &dims.start_indices_batching_dims,
        indices,
    );
    let window_dims: Vec<usize> = (0..rank)
        .filter(|i| {
            !dims.collapsed_slice_dims.contains(i) && !dims.operand_batching_dims.contains(i)
        })
        .collect();
    let result_rank = lookup.batch_shape.len() + window_dims.len();
    let batch_dims: Vec<usize> = (0..result_rank)
        .filter(|d| !dims.offset_dims.contains(d))
        .collect();
    let mut shape = vec![0; result_rank];
    for (&d, &size) in batch_dims.iter().zip(&lookup.batch_shape) {
        shape[d] = size;
    }
    for (&d, &w) in dims.offset_dims.iter().zip(&window_dims) {
        shape[d] = dims.slice_sizes[w];
    }

    let by = strides(&x.ty.shape);
    let mut start = vec![0i64; rank];
    let mut batch = vec![0; batch_dims.len()];
    let mut places = Vec::with_capacity(shape.iter().product());
    for_each_index(&shape, |index| {
        for (b, &d) in batch.iter_mut().zip(&batch_dims) {
            *b = index[d];
        }
        lookup.start(&batch, &mut start);
        let mut at = 0;
        for i in 0..rank {
            // Batching dimensions point at one slice, which their index, always inside, selects.
            let last = x.ty.shape[i] as i64 - dims.slice_sizes[i] as i64;
            at += start[i].clamp(0, last.max(0)) as isize * by[i];
        }
        for (&d, &w) in dims.offset_dims.iter().zip(&window_dims) {
            at += index[d] as isize * by[w];
        }
        places.push(at as usize);
    });
    let data = same_kind!(&x.data, v => places.iter().map(|&at| v[at]).collect());
    Array::new(x.ty.with_shape(shape), data)
}

pub fn scatter(op: ScatterOp, dims: &ScatterDims, args: Vec<Array>, p: Precision) -> Array {
    let Ok([mut x, indices, updates]) = <[Array; 3]>::try_from(args) else {
        unreachable!("the shape rule has counted the operands")
    };
    let places = scatter_places(dims, &x, &indices, &updates);
    let elem = x.ty.elem;
    match op {
        ScatterOp::Set => {
            write_same_kind!(&mut x.data, &updates.data, t, s => {
                for (place, &value) in places.iter().zip(s.iter()) {
                    if let Some(at) = place {
                        t[*at] = value;
                    }
                }
            });
        }
        ScatterOp::Add => match (&mut x.data, &updates.data) {
            (Data::Float(t), Data::Float(s)) => {
                let t = Arc::make_mut(t);
                add_at(t, s, &places, |a, b| p.round(elem, a + b));
            }
            (Data::Int(t), Data::Int(s)) => {
                let t = Arc::make_mut(t);
                add_at(t, s, &places, |a, b| wrap_int(elem, a.wrapping_add(b)));
            }
            (Data::Uint(t), Data::Uint(s)) => {
                let t = Arc::make_mut(t);
                add_at(t, s, &places, |a, b| wrap_uint(elem, a.wrapping_add(b)));
            }
            _ => unreachable!("the shape rule wants numbers of one element type"),
        },
    }
    debug_assert!(elem != Elem::Bool || matches!(op, ScatterOp::Set));
    x
}

fn add_at<T: Copy>(
    target: &mut [T],
    source: &[T],
    places: &[Option<usize>],
    add: impl Fn(T, T) -> T,
) {
    for (place, &value) in places.iter().zip(source) {
        if let Some(at) = *place {
            target[at] = add(target[at], value);
        }
    }
}

/// Where each update goes, row-major; nowhere if its window does not lie inside.
fn scatter_places(
    dims: &ScatterDims,
    x: &Array,
    indices: &Array,
    updates: &Array,
) -> Vec<Option<usize>> {
    let rank = x.ty.rank();
    let lookup = Lookup::new(
        dims.index_vector_dim,
        &dims.scatter_dims_to_operand_dims,
        &dims.input_batching_dims,
        &dims.scatter_indices_batching_dims,
        indices,
    );
    let window_dims: Vec<usize> = (0..rank)
        .filter(|i| !dims.inserted_window_dims.contains(i) && !dims.input_batching_dims.contains(i))
        .collect();
    let batch_dims: Vec<usize> = (0..updates.ty.rank())
        .filter(|d| !dims.update_window_dims.contains(d))
        .collect();
    let mut window = vec![1; rank];
    for (&d, &w) in dims.update_window_dims.iter().zip(&window_dims) {
        window[w] = updates.ty.shape[d];
    }

    let by = strides(&x.ty.shape);
    let mut start = vec![0i64; rank];
    let mut batch = vec![0; batch_dims.len()];
    let mut places = Vec::with_capacity(updates.ty.numel());
    for_each_index(&updates.ty.shape, |index| {
        for (b, &d) in batch.iter_mut().zip(&batch_dims) {
            *b = index[d];
        }
        lookup.start(&batch, &mut start);
        let inside =
            (0..rank).all(|i| start[i] >= 0 && start[i] + window[i] as i64 <= x.ty.shape[i] as i64);
        places.push(inside.then(|| {
            let mut at: isize = (0..rank).map(|i| start[i] as isize * by[i]).sum();
            for (&d, &w) in dims.update_window_dims.iter().zip(&window_dims) {
                at += index[d] as isize * by[w];
            }
            at as usize
        }));
    });
    places
}

/// Finds the index vector that belongs to a position among the batch dimensions of a gather or scatter.
struct Lookup<'a> {
    indices: &'a [i64],
    /// The shape of the indices without that of the index vector.
    batch_shape: Vec<usize>,
    /// Distances in `indices` along the batch dimensions, and between the parts of an index vector.
    batch_strides: Vec<isize>,
    vector_stride: isize,
    map: &'a [usize],
    /// For each batching dimension of the array, which of the batch dimensions it follows.
    batching: Vec<(usize, usize)>,
}

impl<'a> Lookup<'a> {
    fn new(
        index_vector_dim: usize,
        map: &'a [usize],
        operand_batching: &[usize],
        indices_batching: &[usize],
        indices: &'a Array,
    ) -> Lookup<'a> {
        let shape = &indices.ty.shape;
        let by = strides(shape);
        let kept: Vec<usize> = (0..shape.len())
            .filter(|&i| i != index_vector_dim)
            .collect();
        let batching = operand_batching.iter().zip(indices_batching);
        Lookup {
            indices: indices.data.ints(),
            batch_shape: kept.iter().map(|&i| shape[i]).collect(),
            batch_strides: kept.iter().map(|&i| by[i]).collect(),
            vector_stride: by.get(index_vector_dim).copied().unwrap_or(0),
            map,
            batching: batching
                .map(|(&o, i)| (o, kept.iter().take_while(|k| *k != i).count()))
                .collect(),
        }
    }

    /// The start of the window, not yet clamped or checked, in each dimension of the array.
    fn start(&self, batch: &[usize], start: &mut [i64]) {
        start.fill(0);
        let at = super::index::dot(batch, &self.batch_strides);
        for (n, &d) in self.map.iter().enumerate() {
            start[d] = self.indices[(at + n as isize * self.vector_stride) as usize];
        }
        for &(d, b) in &self.batching {
            start[d] = batch[b] as i64;
        }
    }
}
