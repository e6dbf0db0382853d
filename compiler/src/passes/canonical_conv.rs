//! Gives every convolution the one layout that XLA's CPU compiler has fast code for, by transposing what goes in and
//! what comes out. The compiler does the same itself, but only for the convolutions of the outermost computation:
//! in the body of a loop any other layout is computed element by element, up to seventy times slower.
//!
//! ```text
//! %1 = conv[input = (3; 0, 1; 2), …] %x, %ct    →    %1 = transpose[perm = [3, 1, 2, 0]] %x
//!                                                    %2 = transpose[perm = [1, 2, 0, 3]] %ct
//!                                                    %3 = conv[input = (0; 1, 2; 3), …] %1, %2
//!                                                    %4 = transpose[perm = [1, 2, 0, 3]] %3
//! ```

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::{ConvDims, Op};

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut CanonicalConv)
}

struct CanonicalConv;

impl Rewrite for CanonicalConv {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match &inst.op {
            Op::Conv(dims) => {
                let args = c.values(&inst.args);
                c.at(inst.results.first());
                let result = canonical(c, dims, args[0], args[1]);
                c.set(inst.results[0], result);
            }
            _ => c.keep(self, inst),
        }
    }
}

fn canonical(c: &mut Copier, dims: &ConvDims, x: Value, kernel: Value) -> Value {
    let spatial = dims.stride.len();
    let within = || 1..=spatial;
    let inputs = around(dims.input_batch, &dims.input_spatial, dims.input_feature);
    let mut kernels = dims.kernel_spatial.clone();
    kernels.extend([dims.kernel_input, dims.kernel_output]);
    let outputs = around(dims.output_batch, &dims.output_spatial, dims.output_feature);

    let x = transposed(c, x, &inputs);
    let mut kernel = transposed(c, kernel, &kernels);
    let mirrored: Vec<usize> = (0..spatial).filter(|&i| dims.reverse[i]).collect();
    if !mirrored.is_empty() {
        kernel = c.b.op(Op::Reverse { axes: mirrored }, &[kernel]);
    }
    let plain = ConvDims {
        reverse: vec![false; spatial],
        input_batch: 0,
        input_feature: spatial + 1,
        input_spatial: within().collect(),
        kernel_input: spatial,
        kernel_output: spatial + 1,
        kernel_spatial: (0..spatial).collect(),
        output_batch: 0,
        output_feature: spatial + 1,
        output_spatial: within().collect(),
        ..dims.clone()
    };
    let result = c.b.op(Op::Conv(plain), &[x, kernel]);
    transposed(c, result, &back(&outputs))
}

/// Batch, spatial dimensions, features.
pub(super) fn around(batch: usize, spatial: &[usize], feature: usize) -> Vec<usize> {
    let mut perm = vec![batch];
    perm.extend(spatial);
    perm.push(feature);
    perm
}

/// The permutation that undoes `perm`: the dimension `perm[i]` is where the permuted array has `i`.
pub(super) fn back(perm: &[usize]) -> Vec<usize> {
    let mut back = vec![0; perm.len()];
    for (i, &at) in perm.iter().enumerate() {
        back[at] = i;
    }
    back
}

pub(super) fn transposed(c: &mut Copier, x: Value, perm: &[usize]) -> Value {
    if perm.is_sorted() {
        return x;
    }
    c.b.op(
        Op::Transpose {
            perm: perm.to_vec(),
        },
        &[x],
    )
}
