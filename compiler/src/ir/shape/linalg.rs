//! Shape rules of contractions, convolutions and matrix factorisations.

use super::reduce::window_count;
use super::{distinct, entries, is_float, is_numeric, operands, require, same_elem};
use crate::ir::op::{ConvDims, DotDims};
use crate::ir::types::Type;

pub fn dot(dims: &DotDims, args: &[&Type]) -> Result<Type, String> {
    let [x, y] = operands(args)?;
    same_elem(x, y)?;
    is_numeric(x)?;
    distinct(
        &[&dims.lhs_batch[..], &dims.lhs_contract].concat(),
        x.rank(),
    )?;
    distinct(
        &[&dims.rhs_batch[..], &dims.rhs_contract].concat(),
        y.rank(),
    )?;
    pairs("batch", x, &dims.lhs_batch, y, &dims.rhs_batch)?;
    pairs("contracted", x, &dims.lhs_contract, y, &dims.rhs_contract)?;
    let batch = dims.lhs_batch.iter().map(|&i| x.shape[i]);
    let free = |t: &Type, batch: &[usize], contract: &[usize]| -> Vec<usize> {
        (0..t.rank())
            .filter(|i| !batch.contains(i) && !contract.contains(i))
            .map(|i| t.shape[i])
            .collect()
    };
    let shape: Vec<usize> = batch
        .chain(free(x, &dims.lhs_batch, &dims.lhs_contract))
        .chain(free(y, &dims.rhs_batch, &dims.rhs_contract))
        .collect();
    Ok(x.with_shape(shape))
}

pub fn conv(dims: &ConvDims, args: &[&Type]) -> Result<Type, String> {
    let [x, kernel] = operands(args)?;
    same_elem(x, kernel)?;
    is_numeric(x)?;
    Ok(x.with_shape(conv_output(&x.shape, &kernel.shape, dims)?))
}

/// The shape of a convolution's result from those of its input and kernel.
pub fn conv_output(
    input: &[usize],
    kernel: &[usize],
    dims: &ConvDims,
) -> Result<Vec<usize>, String> {
    let spatial = dims.stride.len();
    let rank = spatial + 2;
    entries("input", input.len(), rank)?;
    entries("kernel", kernel.len(), rank)?;
    entries("padding", dims.padding.len(), spatial)?;
    entries("lhs_dilation", dims.lhs_dilation.len(), spatial)?;
    entries("rhs_dilation", dims.rhs_dilation.len(), spatial)?;
    entries("reverse", dims.reverse.len(), spatial)?;
    layout(
        "input",
        dims.input_batch,
        dims.input_feature,
        &dims.input_spatial,
        rank,
    )?;
    layout(
        "kernel",
        dims.kernel_input,
        dims.kernel_output,
        &dims.kernel_spatial,
        rank,
    )?;
    layout(
        "output",
        dims.output_batch,
        dims.output_feature,
        &dims.output_spatial,
        rank,
    )?;

    let (batch, features) = (input[dims.input_batch], input[dims.input_feature]);
    let (groups, batch_groups) = (dims.feature_groups, dims.batch_groups);
    let outputs = kernel[dims.kernel_output];
    require(groups > 0 && batch_groups > 0, || "no groups".into())?;
    require(groups == 1 || batch_groups == 1, || {
        "both features and batches are in groups".into()
    })?;
    require(
        features.is_multiple_of(groups) && features / groups == kernel[dims.kernel_input],
        || {
            format!(
                "{features} features in {groups} groups for a kernel of {} inputs",
                kernel[dims.kernel_input]
            )
        },
    )?;
    require(
        outputs.is_multiple_of(groups) && outputs.is_multiple_of(batch_groups),
        || format!("{outputs} outputs do not divide into the groups"),
    )?;
    require(batch.is_multiple_of(batch_groups), || {
        format!("a batch of {batch} does not divide into {batch_groups} groups")
    })?;

    let mut shape = vec![0; rank];
    shape[dims.output_batch] = batch / batch_groups;
    shape[dims.output_feature] = outputs;
    for i in 0..spatial {
        shape[dims.output_spatial[i]] = window_count(
            input[dims.input_spatial[i]],
            kernel[dims.kernel_spatial[i]],
            dims.stride[i],
            dims.padding[i],
            dims.lhs_dilation[i],
            dims.rhs_dilation[i],
        )?;
    }
    Ok(shape)
}

pub fn cholesky(args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    square(x)?;
    Ok(x.clone())
}

pub fn triangular_solve(left: bool, args: &[&Type]) -> Result<Type, String> {
    let [a, b] = operands(args)?;
    same_elem(a, b)?;
    square(a)?;
    let rank = a.rank();
    require(
        b.rank() == rank && a.shape[..rank - 2] == b.shape[..rank - 2],
        || format!("batches of {a} and {b} differ"),
    )?;
    let solved = b.shape[if left { rank - 2 } else { rank - 1 }];
    require(solved == a.shape[rank - 1], || {
        format!("{a} and {b} do not multiply")
    })?;
    Ok(b.clone())
}

fn square(t: &Type) -> Result<(), String> {
    is_float(t)?;
    require(
        t.rank() >= 2 && t.shape[t.rank() - 1] == t.shape[t.rank() - 2],
        || format!("{t} is not made of square matrices"),
    )
}

fn pairs(what: &str, x: &Type, xs: &[usize], y: &Type, ys: &[usize]) -> Result<(), String> {
    require(xs.len() == ys.len(), || {
        format!("{} {what} dimensions against {}", xs.len(), ys.len())
    })?;
    for (&i, &j) in xs.iter().zip(ys) {
        require(x.shape[i] == y.shape[j], || {
            format!("{what} dimensions {i} of {x} and {j} of {y} differ")
        })?;
    }
    Ok(())
}

fn layout(what: &str, a: usize, b: usize, spatial: &[usize], rank: usize) -> Result<(), String> {
    entries(what, spatial.len() + 2, rank)?;
    let all: Vec<usize> = [a, b].into_iter().chain(spatial.iter().copied()).collect();
    distinct(&all, rank)
}
