//! Convolutions, which are linear in both operands.

use crate::ir::op::{BinaryOp, Op};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::new("convs-of-one-input",    Fast, "add(conv.c(x, y), conv.c(x, z))",   "conv.c(x, add(y, z))").when("float x"),
    Rule::new("convs-of-one-kernel",   Fast, "add(conv.c(x, z), conv.c(y, z))",   "conv.c(add(x, y), z)").when("float x"),
    Rule::build("convs-beside",        Exact, "concat.o(conv.c(x, y), conv.c(x, z))", "conv(x, concat(y, z)), along the features", beside),
    Rule::new("conv-neg-kernel",       Harmless, "conv.c(x, neg(y))",             "neg(conv.c(x, y))"),
    Rule::build("scaled-conv",         Fast, "mul(conv.c(x, y), C)",              "conv(x, y * C), if y is smaller",   scaled_kernel).when("float x"),
    Rule::build("conv-scaled-input",   Fast, "conv.c(mul(x, C), y)",              "conv(x, y * C), if y is smaller",   scaled_input).when("float x"),
];

fn scale_kernel(rw: &mut Rw, beside: Id) -> Option<Id> {
    let (x, y) = (rw.var('x'), rw.var('y'));
    let elements = |rw: &Rw, id: Id| -> usize { rw.shape(id).iter().product() };
    let Op::Conv(dims) = rw.op('c')? else {
        return None;
    };
    if elements(rw, y) >= elements(rw, beside) {
        return None;
    }
    let shape = rw.shape(y);
    let c = rw.respread(rw.var('C'), &shape)?;
    let scaled = rw.binary(BinaryOp::Mul, y, c)?;
    rw.add(Op::Conv(dims), &[x, scaled])
}

fn scaled_kernel(rw: &mut Rw) -> Option<Id> {
    let root = rw.root();
    scale_kernel(rw, root)
}

fn scaled_input(rw: &mut Rw) -> Option<Id> {
    let x = rw.var('x');
    scale_kernel(rw, x)
}

/// Features of one input side by side are those of one kernel.
fn beside(rw: &mut Rw) -> Option<Id> {
    let (Op::Conv(dims), Op::Concat { axis }) = (rw.op('c')?, rw.op('o')?) else {
        return None;
    };
    if axis != dims.output_feature || dims.feature_groups != 1 || dims.batch_groups != 1 {
        return None;
    }
    let kernels = [rw.var('y'), rw.var('z')];
    let kernel = super::shape::concat(rw, &kernels, dims.kernel_output)?;
    rw.add(Op::Conv(dims), &[rw.var('x'), kernel])
}
