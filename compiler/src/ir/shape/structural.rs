//! Shape rules of the primitives that place elements anew: by static attributes, or by their order.

use super::{
    ascending, distinct, entries, first, in_range, is_numeric, operands, require, same_elem,
    same_shape,
};
use crate::ir::types::Type;

pub fn iota(ty: &Type, axis: usize) -> Result<Type, String> {
    in_range(axis, ty.rank())?;
    is_numeric(ty)?;
    Ok(ty.clone())
}

pub fn broadcast(shape: &[usize], dims: &[usize], args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    entries("dims", dims.len(), x.rank())?;
    ascending(dims, shape.len())?;
    for (i, &d) in dims.iter().enumerate() {
        require(x.shape[i] == shape[d] || x.shape[i] == 1, || {
            format!(
                "dimension {i} of {x} does not stretch to {} at {d}",
                shape[d]
            )
        })?;
    }
    Ok(x.with_shape(shape))
}

pub fn reshape(shape: &[usize], args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    let count = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
    require(count == Some(x.numel()), || {
        format!("{x} has not the elements of {shape:?}")
    })?;
    Ok(x.with_shape(shape))
}

pub fn transpose(perm: &[usize], args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    entries("perm", perm.len(), x.rank())?;
    distinct(perm, x.rank())?;
    Ok(x.with_shape(perm.iter().map(|&p| x.shape[p]).collect::<Vec<_>>()))
}

pub fn slice(
    start: &[usize],
    limit: &[usize],
    stride: &[usize],
    args: &[&Type],
) -> Result<Type, String> {
    let [x] = operands(args)?;
    entries("start", start.len(), x.rank())?;
    entries("limit", limit.len(), x.rank())?;
    entries("stride", stride.len(), x.rank())?;
    let mut shape = Vec::with_capacity(x.rank());
    for (i, &size) in x.shape.iter().enumerate() {
        let (from, to, step) = (start[i], limit[i], stride[i]);
        require(from <= to && to <= size && step > 0, || {
            format!("slice {from}:{to}:{step} does not fit dimension {i} of {x}")
        })?;
        shape.push((to - from).div_ceil(step));
    }
    Ok(x.with_shape(shape))
}

pub fn pad(low: &[i64], high: &[i64], interior: &[usize], args: &[&Type]) -> Result<Type, String> {
    let [x, value] = operands(args)?;
    same_elem(x, value)?;
    require(value.rank() == 0, || {
        format!("padding value is {value}, not a scalar")
    })?;
    entries("low", low.len(), x.rank())?;
    entries("high", high.len(), x.rank())?;
    entries("interior", interior.len(), x.rank())?;
    let mut shape = Vec::with_capacity(x.rank());
    for (i, &size) in x.shape.iter().enumerate() {
        let inside = size as i128 + interior[i] as i128 * (size as i128 - 1).max(0);
        let padded = inside + i128::from(low[i]) + i128::from(high[i]);
        shape.push(
            usize::try_from(padded)
                .map_err(|_| format!("dimension {i} of {x} would be padded to {padded}"))?,
        );
    }
    Ok(x.with_shape(shape))
}

pub fn concat(axis: usize, args: &[&Type]) -> Result<Type, String> {
    let (x, rest) = first(args)?;
    in_range(axis, x.rank())?;
    let mut shape = x.shape.clone();
    for t in rest {
        let fits = t.elem == x.elem
            && t.rank() == x.rank()
            && (0..x.rank()).all(|i| i == axis || t.shape[i] == x.shape[i]);
        require(fits, || {
            format!("{x} and {t} do not join along axis {axis}")
        })?;
        shape[axis] += t.shape[axis];
    }
    Ok(x.with_shape(shape))
}

pub fn reverse(axes: &[usize], args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    distinct(axes, x.rank())?;
    Ok(x.clone())
}

pub fn sort(axis: usize, keys: usize, args: &[&Type]) -> Result<Vec<Type>, String> {
    let (x, rest) = first(args)?;
    in_range(axis, x.rank())?;
    rest.iter().try_for_each(|t| same_shape(x, t))?;
    require((1..=args.len()).contains(&keys), || {
        format!("{keys} keys of {} operands", args.len())
    })?;
    Ok(args.iter().map(|&t| t.clone()).collect())
}

pub fn shard(axes: &[Option<String>], args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    entries("axes", axes.len(), x.rank())?;
    let names: Vec<&String> = axes.iter().flatten().collect();
    for (i, name) in names.iter().enumerate() {
        require(!names[..i].contains(name), || {
            format!("mesh axis {name} stands twice")
        })?;
    }
    Ok(x.clone())
}
