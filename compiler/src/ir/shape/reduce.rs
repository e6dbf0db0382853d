//! Shape rules of reductions: over whole axes, running, and over windows.

use super::{ascending, entries, in_range, is_numeric, operands, require, same_shape};
use crate::ir::op::{ReduceOp, Window};
use crate::ir::types::{Elem, Type};

pub fn reduce(op: ReduceOp, axes: &[usize], args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    combines(op, x)?;
    ascending(axes, x.rank())?;
    let kept: Vec<usize> = (0..x.rank())
        .filter(|i| !axes.contains(i))
        .map(|i| x.shape[i])
        .collect();
    Ok(x.with_shape(kept))
}

pub fn arg_reduce(axis: usize, args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    in_range(axis, x.rank())?;
    require(x.shape[axis] > 0, || {
        format!("axis {axis} of {x} is empty and has no extreme")
    })?;
    let mut shape = x.shape.clone();
    shape.remove(axis);
    Ok(Type::new(Elem::I32, shape))
}

pub fn cumulate(op: ReduceOp, axis: usize, args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    combines(op, x)?;
    in_range(axis, x.rank())?;
    Ok(x.clone())
}

pub fn reduce_window(op: ReduceOp, window: &Window, args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    combines(op, x)?;
    Ok(x.with_shape(window_output(&x.shape, window)?))
}

pub fn window_gather(window: &Window, args: &[&Type]) -> Result<Type, String> {
    let [x, t] = operands(args)?;
    is_numeric(x)?;
    is_numeric(t)?;
    same_shape(x, t)?;
    Ok(t.with_shape(window_output(&x.shape, window)?))
}

pub fn window_scatter(window: &Window, args: &[&Type]) -> Result<Type, String> {
    let [x, s] = operands(args)?;
    is_numeric(x)?;
    is_numeric(s)?;
    let windows = window_output(&x.shape, window)?;
    require(s.shape == windows, || {
        format!("{s} has not one element for each of the windows {windows:?}")
    })?;
    Ok(s.with_shape(x.shape.clone()))
}

/// How many windows fit along each dimension.
pub fn window_output(shape: &[usize], window: &Window) -> Result<Vec<usize>, String> {
    let rank = shape.len();
    entries("window size", window.size.len(), rank)?;
    entries("window stride", window.stride.len(), rank)?;
    entries("window padding", window.padding.len(), rank)?;
    entries("base dilation", window.base_dilation.len(), rank)?;
    entries("window dilation", window.window_dilation.len(), rank)?;
    (0..rank)
        .map(|i| {
            window_count(
                shape[i],
                window.size[i],
                window.stride[i],
                window.padding[i],
                window.base_dilation[i],
                window.window_dilation[i],
            )
        })
        .collect()
}

/// How many windows fit along one dimension after dilation and padding.
pub(super) fn window_count(
    size: usize,
    window: usize,
    stride: usize,
    (low, high): (i64, i64),
    base_dilation: usize,
    window_dilation: usize,
) -> Result<usize, String> {
    require(
        window > 0 && stride > 0 && base_dilation > 0 && window_dilation > 0,
        || "window sizes, strides and dilations are at least 1".into(),
    )?;
    let padded = dilated(size, base_dilation) + i128::from(low) + i128::from(high);
    require(padded >= 0, || {
        format!("dimension of {size} is padded to {padded}")
    })?;
    let span = dilated(window, window_dilation);
    Ok(if padded < span {
        0
    } else {
        ((padded - span) / stride as i128 + 1) as usize
    })
}

fn dilated(size: usize, dilation: usize) -> i128 {
    if size == 0 {
        0
    } else {
        (size as i128 - 1) * dilation as i128 + 1
    }
}

fn combines(op: ReduceOp, x: &Type) -> Result<(), String> {
    match op {
        ReduceOp::Sum | ReduceOp::Prod => is_numeric(x),
        ReduceOp::Max | ReduceOp::Min => Ok(()),
    }
}
