//! Contractions, convolutions and factorisations.

use super::emit::{Emit, Tensor};
use super::ffi::{self, ConvLayout};
use super::session::to_i64;
use crate::ir::op::{ConvDims, DotDims};
use crate::ir::types::{Elem, Type};
use melior::ir::attribute::BoolAttribute;

pub fn dot<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>], dims: &DotDims, ty: &Type) -> Tensor<'c> {
    let numbers = ffi::dot_dimensions(
        e.session.context,
        [
            &to_i64(&dims.lhs_batch),
            &to_i64(&dims.rhs_batch),
            &to_i64(&dims.lhs_contract),
            &to_i64(&dims.rhs_contract),
        ],
    );
    e.op(
        "stablehlo.dot_general",
        &[&args[0], &args[1]],
        &[("dot_dimension_numbers", numbers)],
        ty,
    )
}

pub fn conv<'c>(e: &Emit<'_, 'c>, args: &[Tensor<'c>], dims: &ConvDims, ty: &Type) -> Tensor<'c> {
    let s = e.session;
    let numbers = ffi::conv_dimensions(
        s.context,
        [
            ConvLayout {
                first: dims.input_batch as i64,
                second: dims.input_feature as i64,
                spatial: &to_i64(&dims.input_spatial),
            },
            ConvLayout {
                first: dims.kernel_input as i64,
                second: dims.kernel_output as i64,
                spatial: &to_i64(&dims.kernel_spatial),
            },
            ConvLayout {
                first: dims.output_batch as i64,
                second: dims.output_feature as i64,
                spatial: &to_i64(&dims.output_spatial),
            },
        ],
    );
    let mut attributes = vec![
        ("dimension_numbers", numbers),
        ("feature_group_count", s.i64(dims.feature_groups)),
        ("batch_group_count", s.i64(dims.batch_groups)),
    ];
    // The others only where they differ from the op's defaults.
    for (name, values) in [
        ("window_strides", &dims.stride),
        ("lhs_dilation", &dims.lhs_dilation),
        ("rhs_dilation", &dims.rhs_dilation),
    ] {
        if values.iter().any(|&v| v != 1) {
            attributes.push((name, s.i64s(values)));
        }
    }
    if dims.padding.iter().any(|&pair| pair != (0, 0)) {
        attributes.push(("padding", s.padding(&dims.padding)));
    }
    if dims.reverse.contains(&true) {
        let reversed = ffi::bool_array(s.context, &dims.reverse);
        attributes.push(("window_reversal", reversed));
    }
    e.op(
        "stablehlo.convolution",
        &[&args[0], &args[1]],
        &attributes,
        ty,
    )
}

/// StableHLO leaves the strict upper part undefined; here it is 0.
pub fn cholesky<'c>(e: &Emit<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
    let lower = BoolAttribute::new(e.session.context, true).into();
    let factor = e.op("stablehlo.cholesky", &[x], &[("lower", lower)], &x.ty);
    let rank = x.ty.rank();
    let places = x.ty.with_elem(Elem::I32);
    let row = e.iota(&places, rank - 2);
    let column = e.iota(&places, rank - 1);
    let kept = e.compare("GE", &row, &column);
    let zero = e.splat(&x.ty, 0.0);
    e.select(&kept, &factor, &zero)
}

/// Operands: the triangular matrix and the right-hand side.
pub fn triangular_solve<'c>(
    e: &Emit<'_, 'c>,
    args: &[Tensor<'c>],
    left: bool,
    lower: bool,
    transpose: bool,
    unit_diagonal: bool,
) -> Tensor<'c> {
    let context = e.session.context;
    let flag = |b: bool| BoolAttribute::new(context, b).into();
    let transpose = if transpose {
        "TRANSPOSE"
    } else {
        "NO_TRANSPOSE"
    };
    e.op(
        "stablehlo.triangular_solve",
        &[&args[0], &args[1]],
        &[
            ("left_side", flag(left)),
            ("lower", flag(lower)),
            ("unit_diagonal", flag(unit_diagonal)),
            ("transpose_a", ffi::transpose(context, transpose)),
        ],
        &args[1].ty,
    )
}
