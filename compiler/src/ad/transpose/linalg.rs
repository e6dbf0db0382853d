//! Transposes of contractions and convolutions, in either operand.

use super::structural::back_padding;
use super::{Transposer, not_linear};
use crate::ad::error::AdErrorKind;
use crate::ad::tape::Operand;
use crate::ir::op::{ConvDims, DotDims};
use crate::ir::{Op, Value};

pub fn dot(
    tx: &mut Transposer,
    dims: &DotDims,
    args: &[Operand],
    ct: Value,
) -> Result<(), AdErrorKind> {
    let (t, other, is_lhs) = match *args {
        [Operand::Lin(t), Operand::Coef(c)] => (t, tx.coefficient(c), true),
        [Operand::Coef(c), Operand::Lin(t)] => (t, tx.coefficient(c), false),
        _ => return not_linear(&Op::Dot(dims.clone())),
    };
    let ct = dot_operand(tx, dims, is_lhs, t, other, ct);
    tx.add(t, ct);
    Ok(())
}

/// The cotangent of one side: that of the result contracted with the other side over its free dimensions.
fn dot_operand(
    tx: &mut Transposer,
    dims: &DotDims,
    is_lhs: bool,
    t: Value,
    other: Value,
    ct: Value,
) -> Value {
    let (rank, other_rank) = (tx.cx.e.rank(t), tx.cx.e.rank(other));
    let (batch, contract) = if is_lhs {
        (&dims.lhs_batch, &dims.lhs_contract)
    } else {
        (&dims.rhs_batch, &dims.rhs_contract)
    };
    let (other_batch, other_contract) = if is_lhs {
        (&dims.rhs_batch, &dims.rhs_contract)
    } else {
        (&dims.lhs_batch, &dims.lhs_contract)
    };
    let free = free_dims(rank, batch, contract);
    let other_free = free_dims(other_rank, other_batch, other_contract);
    let n = batch.len();
    let ct_batch: Vec<usize> = (0..n).collect();
    let lhs_free_first = if is_lhs { 0 } else { other_free.len() };
    let ct_free: Vec<usize> = (0..free.len()).map(|i| n + lhs_free_first + i).collect();
    let ct_other: Vec<usize> = (n..tx.cx.e.rank(ct))
        .filter(|d| !ct_free.contains(d))
        .collect();

    // The contracted dimensions, in the order in which the other side has them.
    let mut pairs: Vec<(usize, usize)> = other_contract
        .iter()
        .copied()
        .zip(contract.iter().copied())
        .collect();
    pairs.sort_unstable();
    let contracted: Vec<usize> = pairs.iter().map(|p| p.1).collect();

    // Dimensions of the operand, in the order of the product's result, for both orders of its factors.
    let ct_first: Vec<usize> = [&batch[..], &free, &contracted].concat();
    let other_first: Vec<usize> = [&batch[..], &contracted, &free].concat();
    let in_place = |order: &[usize]| order.iter().enumerate().all(|(i, &d)| i == d);
    let (product, order) = if in_place(&ct_first) || !in_place(&other_first) {
        let dims = DotDims {
            lhs_batch: ct_batch,
            rhs_batch: other_batch.clone(),
            lhs_contract: ct_other,
            rhs_contract: other_free,
        };
        (tx.cx.e.op(Op::Dot(dims), &[ct, other]), ct_first)
    } else {
        let dims = DotDims {
            lhs_batch: other_batch.clone(),
            rhs_batch: ct_batch,
            lhs_contract: other_free,
            rhs_contract: ct_other,
        };
        (tx.cx.e.op(Op::Dot(dims), &[other, ct]), other_first)
    };
    let mut perm = vec![0; rank];
    for (place, &d) in order.iter().enumerate() {
        perm[d] = place;
    }
    tx.cx.e.transpose(product, &perm)
}

fn free_dims(rank: usize, batch: &[usize], contract: &[usize]) -> Vec<usize> {
    (0..rank)
        .filter(|d| !batch.contains(d) && !contract.contains(d))
        .collect()
}

pub fn conv(
    tx: &mut Transposer,
    dims: &ConvDims,
    args: &[Operand],
    ct: Value,
) -> Result<(), AdErrorKind> {
    match *args {
        [Operand::Lin(t), Operand::Coef(kernel)] => {
            let kernel = tx.coefficient(kernel);
            let ct = conv_input(tx, dims, t, kernel, ct);
            tx.add(t, ct);
        }
        [Operand::Coef(input), Operand::Lin(t)] => {
            let input = tx.coefficient(input);
            let ct = conv_kernel(tx, dims, input, t, ct);
            tx.add(t, ct);
        }
        _ => return not_linear(&Op::Conv(dims.clone())),
    }
    Ok(())
}

/// Sizes of the spatial dimensions.
fn spatial(tx: &Transposer, v: Value, places: &[usize]) -> Vec<usize> {
    let shape = tx.cx.e.shape(v);
    places.iter().map(|&d| shape[d]).collect()
}

/// The cotangent of the input: that of the result convolved with the mirrored kernel, its features changed over.
fn conv_input(tx: &mut Transposer, dims: &ConvDims, t: Value, kernel: Value, ct: Value) -> Value {
    if tx.cx.e.ty(ct).numel() == 0 || tx.cx.e.ty(kernel).numel() == 0 {
        return tx.or_zeros(None, t);
    }
    let input_sizes = spatial(tx, t, &dims.input_spatial);
    let kernel_sizes = spatial(tx, kernel, &dims.kernel_spatial);
    let out_sizes = spatial(tx, ct, &dims.output_spatial);
    let padding = (0..input_sizes.len())
        .map(|d| {
            back_padding(
                input_sizes[d],
                dims.lhs_dilation[d],
                (kernel_sizes[d], dims.rhs_dilation[d]),
                (out_sizes[d], dims.stride[d]),
                dims.padding[d].0,
            )
        })
        .collect();

    let groups = dims.feature_groups * dims.batch_groups;
    let kernel = tx.cx.e.reverse(kernel, &dims.kernel_spatial);
    let kernel = move_groups(tx, kernel, dims.kernel_output, dims.kernel_input, groups);
    let back = ConvDims {
        stride: dims.lhs_dilation.clone(),
        padding,
        lhs_dilation: dims.stride.clone(),
        rhs_dilation: dims.rhs_dilation.clone(),
        reverse: dims.reverse.clone(),
        input_batch: dims.output_batch,
        input_feature: dims.output_feature,
        input_spatial: dims.output_spatial.clone(),
        kernel_input: dims.kernel_output,
        kernel_output: dims.kernel_input,
        kernel_spatial: dims.kernel_spatial.clone(),
        output_batch: dims.input_batch,
        output_feature: dims.input_feature,
        output_spatial: dims.input_spatial.clone(),
        feature_groups: groups,
        batch_groups: 1,
    };
    let ct = tx.cx.e.op(Op::Conv(back), &[ct, kernel]);
    // Batch groups came out as groups of features.
    move_groups(
        tx,
        ct,
        dims.input_feature,
        dims.input_batch,
        dims.batch_groups,
    )
}

/// Splits `groups` off the front of dimension `from`, and puts them in front of dimension `to`.
fn move_groups(tx: &mut Transposer, x: Value, from: usize, to: usize, groups: usize) -> Value {
    if groups == 1 {
        return x;
    }
    let shape = tx.cx.e.shape(x).to_vec();
    let mut split = shape.clone();
    split[from] /= groups;
    split.insert(from, groups);
    let x = tx.cx.e.reshape(x, &split);
    let x = tx.cx.e.move_axis(x, from, to);
    let mut merged = shape;
    merged[from] /= groups;
    merged[to] *= groups;
    tx.cx.e.reshape(x, &merged)
}

/// The cotangent of the kernel: the input convolved with that of the result, batch and features changed over.
fn conv_kernel(tx: &mut Transposer, dims: &ConvDims, input: Value, t: Value, ct: Value) -> Value {
    if tx.cx.e.ty(ct).numel() == 0 || tx.cx.e.ty(input).numel() == 0 {
        return tx.or_zeros(None, t);
    }
    let input_sizes = spatial(tx, input, &dims.input_spatial);
    let kernel_sizes = spatial(tx, t, &dims.kernel_spatial);
    let out_sizes = spatial(tx, ct, &dims.output_spatial);
    let padding = (0..input_sizes.len())
        .map(|d| {
            let dilated = |n: usize, by: usize| ((n - 1) * by + 1) as i64;
            let operand = dilated(input_sizes[d], dims.lhs_dilation[d]);
            let kernel = dilated(kernel_sizes[d], dims.rhs_dilation[d]);
            let out = dilated(out_sizes[d], dims.stride[d]);
            let low = dims.padding[d].0;
            (low, kernel - 1 + out - low - operand)
        })
        .collect();
    let spatial_rank = input_sizes.len();
    let back = ConvDims {
        stride: dims.rhs_dilation.clone(),
        padding,
        lhs_dilation: dims.lhs_dilation.clone(),
        rhs_dilation: dims.stride.clone(),
        reverse: vec![false; spatial_rank],
        input_batch: dims.input_feature,
        input_feature: dims.input_batch,
        input_spatial: dims.input_spatial.clone(),
        kernel_input: dims.output_batch,
        kernel_output: dims.output_feature,
        kernel_spatial: dims.output_spatial.clone(),
        output_batch: dims.kernel_input,
        output_feature: dims.kernel_output,
        output_spatial: dims.kernel_spatial.clone(),
        feature_groups: dims.batch_groups,
        batch_groups: dims.feature_groups,
    };
    let ct = tx.cx.e.op(Op::Conv(back), &[input, ct]);
    let mirrored: Vec<usize> = dims
        .kernel_spatial
        .iter()
        .zip(&dims.reverse)
        .filter_map(|(&d, &r)| r.then_some(d))
        .collect();
    tx.cx.e.reverse(ct, &mirrored)
}
