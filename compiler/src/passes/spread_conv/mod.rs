//! Writes convolutions with one input channel for each group of features, such as depthwise ones, and the gradients of
//! their kernels, as operations on slices. XLA's CPU compiler computes the grouped ones element by element, thirty times slower, and
//! for the others has a library that wants more channels.
//!
//! ```text
//! %1 = conv[feature_groups = 8, …] %x, %k : f32[n, 4, 8]    %x : f32[n, 5, 8], %k : f32[2, 1, 8]
//! →
//! %2 = slice[0:n, 0:4, 0:8] %x : f32[n, 4, 8]
//! %3 = … %k : f32[n, 4, 8]                                 the first tap, the same everywhere
//! %4 = mul %2, %3 : f32[n, 4, 8]
//! %5 = slice[0:n, 1:5, 0:8] %x : f32[n, 4, 8]
//! %6 = … %k : f32[n, 4, 8]                                 the second
//! %7 = mul %5, %6 : f32[n, 4, 8]
//! %1 = add %4, %7 : f32[n, 4, 8]
//! ```
//!
//! The gradient of such a kernel has few places, each with a sum over all the window covers. Terms may be added in another order.

mod slices;

use super::canonical_conv::{around, back, transposed};
use super::copy::{Copier, Rewrite, rewrite};
use super::places::places;
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{BinaryOp, ConvDims, Op, ReduceOp};
use crate::ir::types::Type;
use slices::{broadcast, for_each_feature, inner_slice, row, times};

/// Taps of a kernel, or places of a result, at most: each is an operation of its own.
const MOST_SLICES: usize = 32;

/// Without groups, multiplications for each number of the input, at most. With more the library is the faster.
const MOST_WORK: usize = 256;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut SpreadConv)
}

struct SpreadConv;

impl Rewrite for SpreadConv {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        let Op::Conv(dims) = &inst.op else {
            return c.keep(self, inst);
        };
        let [x, kernel, result] =
            [inst.args[0], inst.args[1], inst.results[0]].map(|v| c.from.ty(v).clone());
        let conv = Conv {
            dims,
            outputs: dims
                .output_spatial
                .iter()
                .map(|&d| result.shape[d])
                .collect(),
        };
        let Some(form) = conv.form(&x, &kernel, &result) else {
            return c.keep(self, inst);
        };
        let args = c.values(&inst.args);
        c.at(inst.results.first());
        let canonical = match form {
            Form::Taps => conv.taps(c, args[0], args[1]),
            Form::Places => conv.places(c, args[0], args[1]),
        };
        let outputs = around(dims.output_batch, &dims.output_spatial, dims.output_feature);
        let value = transposed(c, canonical, &back(&outputs));
        c.set(inst.results[0], value);
    }
}

/// What the operations are over.
enum Form {
    /// For each tap of the kernel, all places of the result.
    Taps,
    /// For each place of the result, all of the window.
    Places,
}

struct Conv<'d> {
    dims: &'d ConvDims,
    /// The result's extents along the spatial dimensions.
    outputs: Vec<usize>,
}

impl Conv<'_> {
    /// Narrow floats are left alone: a convolution keeps its sum in a wider type.
    fn form(&self, x: &Type, kernel: &Type, result: &Type) -> Option<Form> {
        let dims = self.dims;
        if x.elem.bits() < 32 || [x, kernel, result].iter().any(|ty| ty.numel() == 0) {
            return None;
        }
        let window: usize = dims
            .kernel_spatial
            .iter()
            .map(|&d| kernel.shape[d])
            .product();
        let places: usize = self.outputs.iter().product();
        let features = result.shape[dims.output_feature];
        let grouped = dims.feature_groups > 1 || window * features <= MOST_WORK;
        if dims.batch_groups == 1 && kernel.shape[dims.kernel_input] == 1 {
            return (grouped && window <= MOST_SLICES).then_some(Form::Taps);
        }
        let one_each = dims.batch_groups > 1 && dims.batch_groups == x.shape[dims.input_batch];
        let few = places <= MOST_SLICES && places < window;
        (dims.feature_groups == 1 && one_each && few).then_some(Form::Places)
    }

    /// The result as batch, spatial dimensions, features.
    fn taps(&self, c: &mut Copier, x: Value, kernel: Value) -> Value {
        let dims = self.dims;
        let mut order = dims.kernel_spatial.clone();
        order.extend([dims.kernel_input, dims.kernel_output]);
        let kernel = self.upright(c, kernel, &order);
        let shape = c.b.ty(kernel).shape.to_vec();
        let (window, features) = (&shape[..self.outputs.len()], shape[shape.len() - 1]);
        let rows = vec![window.iter().product(), features];
        let rows = c.b.op(Op::Reshape { shape: rows }, &[kernel]);

        let order = around(dims.input_batch, &dims.input_spatial, dims.input_feature);
        let x = self.input(c, x, &order, features);
        let terms = places(window).into_iter().enumerate().map(|(i, tap)| {
            let slice = inner_slice(
                c,
                x,
                &times(&tap, &dims.rhs_dilation),
                &self.outputs,
                &dims.stride,
            );
            let slice = for_each_feature(c, slice, features);
            let last = c.b.ty(slice).rank() - 1;
            let row = row(c, rows, i);
            let weights = broadcast(c, row, c.b.ty(slice).shape.to_vec(), vec![last]);
            c.b.op(Op::Binary(BinaryOp::Mul), &[slice, weights])
        });
        let terms: Vec<Value> = terms.collect();
        let sum = terms
            .into_iter()
            .reduce(|sum, term| c.b.op(Op::Binary(BinaryOp::Add), &[sum, term]));
        sum.unwrap_or(x)
    }

    /// The same, where each element of the batch goes with features of its own and nothing else.
    fn places(&self, c: &mut Copier, x: Value, kernel: Value) -> Value {
        let dims = self.dims;
        let order = around(dims.kernel_input, &dims.kernel_spatial, dims.kernel_output);
        let kernel = self.upright(c, kernel, &order);
        let kernel = c.b.op(Op::Barrier, &[kernel]);
        let shape = c.b.ty(kernel).shape.to_vec();
        let (window, features) = (&shape[1..=self.outputs.len()], shape[shape.len() - 1]);

        let order = around(dims.input_feature, &dims.input_spatial, dims.input_batch);
        let x = self.input(c, x, &order, features);
        let sums = places(&self.outputs).into_iter().map(|place| {
            let slice = inner_slice(
                c,
                x,
                &times(&place, &dims.stride),
                window,
                &dims.rhs_dilation,
            );
            let product = c.b.op(Op::Binary(BinaryOp::Mul), &[slice, kernel]);
            // XLA has a library for sums over what is in memory.
            let product = c.b.op(Op::Barrier, &[product]);
            let axes = (0..shape.len() - 1).collect();
            let op = ReduceOp::Sum;
            let sum = c.b.op(Op::Reduce { op, axes }, &[product]);
            let shape = vec![1, features];
            c.b.op(Op::Reshape { shape }, &[sum])
        });
        let sums: Vec<Value> = sums.collect();
        let sums = c.b.op(Op::Concat { axis: 0 }, &sums);
        let mut shape = vec![1];
        shape.extend(&self.outputs);
        shape.push(features);
        c.b.op(Op::Reshape { shape }, &[sums])
    }

    /// The input in this order, with the zeros that are around and within it, and what a group has once as often as it has features.
    /// It is held, for each slice would compute it anew.
    fn input(&self, c: &mut Copier, x: Value, order: &[usize], features: usize) -> Value {
        let x = transposed(c, x, order);
        let x = self.padded(c, x);
        let mut shape = c.b.ty(x).shape.to_vec();
        let (rank, groups) = (shape.len(), shape[shape.len() - 1]);
        let mut x = x;
        if groups > 1 && groups < features {
            shape.push(features / groups);
            x = broadcast(c, x, shape.clone(), (0..rank).collect());
            shape.truncate(rank);
            shape[rank - 1] = features;
            x = c.b.op(Op::Reshape { shape }, &[x]);
        }
        c.b.op(Op::Barrier, &[x])
    }

    /// The input, its spatial dimensions between two others, with zeros around and within it.
    fn padded(&self, c: &mut Copier, x: Value) -> Value {
        let dims = self.dims;
        let spatial = self.outputs.len();
        let nothing = dims.padding.iter().all(|&pair| pair == (0, 0));
        if nothing && dims.lhs_dilation.iter().all(|&d| d == 1) {
            return x;
        }
        let zero = ReduceOp::Sum.identity(c.b.ty(x).elem);
        let zero = c.b.op(Op::Constant(zero), &[]);
        let mut pad = (
            vec![0; spatial + 2],
            vec![0; spatial + 2],
            vec![0; spatial + 2],
        );
        for i in 0..spatial {
            (pad.0[i + 1], pad.1[i + 1]) = dims.padding[i];
            pad.2[i + 1] = dims.lhs_dilation[i] - 1;
        }
        let (low, high, interior) = pad;
        c.b.op(
            Op::Pad {
                low,
                high,
                interior,
            },
            &[x, zero],
        )
    }

    /// The kernel as it lies over the input, in this order.
    fn upright(&self, c: &mut Copier, kernel: Value, order: &[usize]) -> Value {
        let spatial = self.dims.kernel_spatial.iter().zip(&self.dims.reverse);
        let mirrored = spatial.filter(|(_, reverse)| **reverse);
        let mut axes: Vec<usize> = mirrored.map(|(&d, _)| d).collect();
        axes.sort_unstable();
        let kernel = match axes.is_empty() {
            true => kernel,
            false => c.b.op(Op::Reverse { axes }, &[kernel]),
        };
        transposed(c, kernel, order)
    }
}
