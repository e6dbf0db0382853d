//! Shape rules of the primitives whose places are known only at run time.

use super::{
    ascending, distinct, entries, first, is_numeric, operands, require, same_elem, scalar_i32,
};
use crate::ir::op::{GatherDims, ScatterDims, ScatterOp};
use crate::ir::types::{Elem, Type};

pub fn dynamic_slice(sizes: &[usize], args: &[&Type]) -> Result<Type, String> {
    let (x, starts) = first(args)?;
    entries("starts", starts.len(), x.rank())?;
    entries("sizes", sizes.len(), x.rank())?;
    starts.iter().try_for_each(|t| scalar_i32(t))?;
    require(sizes.iter().zip(&x.shape).all(|(s, d)| s <= d), || {
        format!("a slice of {sizes:?} does not fit in {x}")
    })?;
    Ok(x.with_shape(sizes))
}

pub fn dynamic_update_slice(args: &[&Type]) -> Result<Type, String> {
    let (x, rest) = first(args)?;
    let (update, starts) = first(rest)?;
    same_elem(x, update)?;
    entries("starts", starts.len(), x.rank())?;
    starts.iter().try_for_each(|t| scalar_i32(t))?;
    let fits = update.rank() == x.rank() && update.shape.iter().zip(&x.shape).all(|(s, d)| s <= d);
    require(fits, || {
        format!("an update of {update} does not fit in {x}")
    })?;
    Ok(x.clone())
}

pub fn gather(dims: &GatherDims, args: &[&Type]) -> Result<Type, String> {
    let [x, indices] = operands(args)?;
    let index = IndexSpace {
        index_vector_dim: dims.index_vector_dim,
        map: &dims.start_index_map,
        operand_batching: &dims.operand_batching_dims,
        indices_batching: &dims.start_indices_batching_dims,
    };
    let batch = index.check(x, indices)?;

    let dropped = dropped_dims(
        &dims.collapsed_slice_dims,
        &dims.operand_batching_dims,
        x.rank(),
    )?;
    entries("slice_sizes", dims.slice_sizes.len(), x.rank())?;
    for (i, (&size, &full)) in dims.slice_sizes.iter().zip(&x.shape).enumerate() {
        // A dimension that is dropped holds one element: of none there would be nothing to give.
        let fits = size <= full && (!dropped[i] || size == 1);
        require(fits, || {
            format!("a slice of {size} does not fit dimension {i} of {x}")
        })?;
    }
    let offsets: Vec<usize> = (0..x.rank())
        .filter(|&i| !dropped[i])
        .map(|i| dims.slice_sizes[i])
        .collect();
    let shape = interleave(&batch, &offsets, &dims.offset_dims)?;
    Ok(x.with_shape(shape))
}

pub fn scatter(op: ScatterOp, dims: &ScatterDims, args: &[&Type]) -> Result<Type, String> {
    let [x, indices, updates] = operands(args)?;
    same_elem(x, updates)?;
    match op {
        ScatterOp::Set => {}
        ScatterOp::Add => is_numeric(x)?,
    }
    let index = IndexSpace {
        index_vector_dim: dims.index_vector_dim,
        map: &dims.scatter_dims_to_operand_dims,
        operand_batching: &dims.input_batching_dims,
        indices_batching: &dims.scatter_indices_batching_dims,
    };
    let batch = index.check(x, indices)?;

    let dropped = dropped_dims(
        &dims.inserted_window_dims,
        &dims.input_batching_dims,
        x.rank(),
    )?;
    let kept: Vec<usize> = (0..x.rank()).filter(|&i| !dropped[i]).collect();
    ascending(&dims.update_window_dims, updates.rank())?;
    entries(
        "update_window_dims",
        dims.update_window_dims.len(),
        kept.len(),
    )?;
    let window: Vec<usize> = dims
        .update_window_dims
        .iter()
        .map(|&d| updates.shape[d])
        .collect();
    for (&size, &i) in window.iter().zip(&kept) {
        require(size <= x.shape[i], || {
            format!("a window of {size} does not fit dimension {i} of {x}")
        })?;
    }
    let shape = interleave(&batch, &window, &dims.update_window_dims)?;
    require(shape == updates.shape, || {
        format!("updates are {updates} instead of {shape:?}")
    })?;
    Ok(x.clone())
}

/// What gather and scatter share: how index vectors point into the array.
struct IndexSpace<'a> {
    index_vector_dim: usize,
    map: &'a [usize],
    operand_batching: &'a [usize],
    indices_batching: &'a [usize],
}

impl IndexSpace<'_> {
    /// Checks the index dimensions; the shape of the indices without that of the index vector.
    fn check(&self, x: &Type, indices: &Type) -> Result<Vec<usize>, String> {
        require(indices.elem == Elem::I32, || {
            format!("indices are {indices}, not i32")
        })?;
        require(self.index_vector_dim <= indices.rank(), || {
            format!(
                "index vectors stand in dimension {} of {indices}",
                self.index_vector_dim
            )
        })?;
        let length = indices
            .shape
            .get(self.index_vector_dim)
            .copied()
            .unwrap_or(1);
        require(self.map.len() == length, || {
            format!(
                "index vectors of {length} for {} dimensions",
                self.map.len()
            )
        })?;
        let pointed: Vec<usize> = [self.map, self.operand_batching].concat();
        distinct(&pointed, x.rank())?;
        ascending(self.operand_batching, x.rank())?;

        distinct(self.indices_batching, indices.rank())?;
        require(
            !self.indices_batching.contains(&self.index_vector_dim),
            || "the dimension of index vectors is a batching one".into(),
        )?;
        entries(
            "indices batching dims",
            self.indices_batching.len(),
            self.operand_batching.len(),
        )?;
        for (&o, &i) in self.operand_batching.iter().zip(self.indices_batching) {
            require(x.shape[o] == indices.shape[i], || {
                format!("batching dimensions {o} of {x} and {i} of {indices} differ")
            })?;
        }
        Ok((0..indices.rank())
            .filter(|&i| i != self.index_vector_dim)
            .map(|i| indices.shape[i])
            .collect())
    }
}

/// Which dimensions of the array have no counterpart in a window.
fn dropped_dims(collapsed: &[usize], batching: &[usize], rank: usize) -> Result<Vec<bool>, String> {
    ascending(collapsed, rank)?;
    distinct(&[collapsed, batching].concat(), rank)?;
    let mut dropped = vec![false; rank];
    for &d in collapsed.iter().chain(batching) {
        dropped[d] = true;
    }
    Ok(dropped)
}

/// The shape with `window` sizes at `window_dims` and `batch` sizes, in order, at the others.
fn interleave(
    batch: &[usize],
    window: &[usize],
    window_dims: &[usize],
) -> Result<Vec<usize>, String> {
    let rank = batch.len() + window.len();
    ascending(window_dims, rank)?;
    entries("window dims", window_dims.len(), window.len())?;
    let mut shape = vec![None; rank];
    for (&d, &size) in window_dims.iter().zip(window) {
        shape[d] = Some(size);
    }
    let mut rest = batch.iter().copied();
    Ok(shape
        .into_iter()
        .filter_map(|size| size.or_else(|| rest.next()))
        .collect())
}
