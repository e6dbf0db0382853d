//! Contractions, convolutions and triangular matrices. Sums are taken in f64, in order, and rounded once.

use super::array::{Array, wrap_int, wrap_uint};
use super::index::{for_each_index, strides, transposed};
use super::{Data, Precision};
use crate::ir::op::{ConvDims, DotDims};
use crate::ir::shape::conv_output;
use std::sync::Arc;

pub fn dot(dims: &DotDims, x: &Array, y: &Array, p: Precision) -> Array {
    let free = |rank: usize, batch: &[usize], contract: &[usize]| -> Vec<usize> {
        (0..rank)
            .filter(|i| !batch.contains(i) && !contract.contains(i))
            .collect()
    };
    let x_free = free(x.ty.rank(), &dims.lhs_batch, &dims.lhs_contract);
    let y_free = free(y.ty.rank(), &dims.rhs_batch, &dims.rhs_contract);
    let size = |a: &Array, axes: &[usize]| axes.iter().map(|&i| a.ty.shape[i]).product::<usize>();
    let sizes = Sizes {
        batch: size(x, &dims.lhs_batch),
        rows: size(x, &x_free),
        inner: size(x, &dims.lhs_contract),
        columns: size(y, &y_free),
    };
    let shape: Vec<usize> = [(&dims.lhs_batch, x), (&x_free, x), (&y_free, y)]
        .iter()
        .flat_map(|(axes, a)| axes.iter().map(|&i| a.ty.shape[i]))
        .collect();
    let x = transposed(
        x,
        &[&dims.lhs_batch[..], &x_free, &dims.lhs_contract].concat(),
    );
    let y = transposed(
        y,
        &[&dims.rhs_batch[..], &dims.rhs_contract, &y_free].concat(),
    );
    let elem = x.ty.elem;
    let data = match (&x.data, &y.data) {
        (Data::Float(x), Data::Float(y)) => {
            let mut out = product(&sizes, x, y, 0.0, add_rows);
            out.iter_mut().for_each(|v| *v = p.round(elem, *v));
            Data::Float(Arc::new(out))
        }
        (Data::Int(x), Data::Int(y)) => {
            let mut out = product(&sizes, x, y, 0, |sums, x, rows| {
                add_each(sums, x, rows, |s: i64, a, b| {
                    s.wrapping_add(a.wrapping_mul(b))
                })
            });
            out.iter_mut().for_each(|v| *v = wrap_int(elem, *v));
            Data::Int(Arc::new(out))
        }
        (Data::Uint(x), Data::Uint(y)) => {
            let mut out = product(&sizes, x, y, 0, |sums, x, rows| {
                add_each(sums, x, rows, |s: u64, a, b| {
                    s.wrapping_add(a.wrapping_mul(b))
                })
            });
            out.iter_mut().for_each(|v| *v = wrap_uint(elem, *v));
            Data::Uint(Arc::new(out))
        }
        _ => unreachable!("the shape rule wants numbers of one element type"),
    };
    Array::new(x.ty.with_shape(shape), data)
}

struct Sizes {
    batch: usize,
    rows: usize,
    inner: usize,
    columns: usize,
}

/// Batched `[rows, inner] · [inner, columns]`. `add` adds to the sums of a row each of its elements times the row of
/// the right operand that it meets.
fn product<T: Copy>(
    sizes: &Sizes,
    x: &[T],
    y: &[T],
    zero: T,
    add: impl Fn(&mut [T], &[T], &[T]),
) -> Vec<T> {
    let &Sizes {
        batch,
        rows,
        inner,
        columns,
    } = sizes;
    let mut out = vec![zero; batch * rows * columns];
    for b in 0..batch {
        let y = &y[b * inner * columns..(b + 1) * inner * columns];
        for r in b * rows..(b + 1) * rows {
            let sums = &mut out[r * columns..(r + 1) * columns];
            add(sums, &x[r * inner..(r + 1) * inner], y);
        }
    }
    out
}

fn add_each<T: Copy>(sums: &mut [T], x: &[T], rows: &[T], add: impl Fn(T, T, T) -> T) {
    let columns = sums.len();
    for (k, &a) in x.iter().enumerate() {
        for (sum, &b) in sums.iter_mut().zip(&rows[k * columns..(k + 1) * columns]) {
            *sum = add(*sum, a, b);
        }
    }
}

/// The same in f64, four rows in one go: contractions are most of what the interpreter does.
fn add_rows(sums: &mut [f64], x: &[f64], rows: &[f64]) {
    let columns = sums.len();
    let mut quads = x.chunks_exact(4);
    let mut rest = rows;
    for a in &mut quads {
        let (four, others) = rest.split_at(4 * columns);
        rest = others;
        let (r0, r123) = four.split_at(columns);
        let (r1, r23) = r123.split_at(columns);
        let (r2, r3) = r23.split_at(columns);
        for (j, sum) in sums.iter_mut().enumerate() {
            let two = *sum + a[0] * r0[j] + a[1] * r1[j];
            *sum = two + a[2] * r2[j] + a[3] * r3[j];
        }
    }
    add_each(sums, quads.remainder(), rest, |sum, a, b| sum + a * b);
}

pub fn conv(dims: &ConvDims, x: &Array, kernel: &Array, p: Precision) -> Array {
    // The shape rule has accepted the same dimensions.
    let Ok(shape) = conv_output(&x.ty.shape, &kernel.ty.shape, dims) else {
        unreachable!("the convolution does not fit")
    };
    let ty = x.ty.with_shape(shape);
    let elem = ty.elem;
    let places = Taps::new(dims, x, kernel, &ty.shape);
    let data = match (&x.data, &kernel.data) {
        (Data::Float(x), Data::Float(k)) => {
            let sums = places.sums(0.0, |sum, i, j| sum + x[i] * k[j]);
            Data::Float(Arc::new(sums.iter().map(|&v| p.round(elem, v)).collect()))
        }
        (Data::Int(x), Data::Int(k)) => {
            let sums = places.sums(0, |sum: i64, i, j| {
                sum.wrapping_add(x[i].wrapping_mul(k[j]))
            });
            Data::Int(Arc::new(sums.iter().map(|&v| wrap_int(elem, v)).collect()))
        }
        (Data::Uint(x), Data::Uint(k)) => {
            let sums = places.sums(0, |sum: u64, i, j| {
                sum.wrapping_add(x[i].wrapping_mul(k[j]))
            });
            Data::Uint(Arc::new(sums.iter().map(|&v| wrap_uint(elem, v)).collect()))
        }
        _ => unreachable!("the shape rule wants numbers of one element type"),
    };
    Array::new(ty, data)
}

/// Which elements of input and kernel meet in an element of a convolution's result.
struct Taps<'a> {
    dims: &'a ConvDims,
    input: &'a [usize],
    kernel: &'a [usize],
    output: &'a [usize],
}

impl<'a> Taps<'a> {
    fn new(dims: &'a ConvDims, x: &'a Array, kernel: &'a Array, output: &'a [usize]) -> Self {
        Taps {
            dims,
            input: &x.ty.shape,
            kernel: &kernel.ty.shape,
            output,
        }
    }

    /// Each element of the result: `add` over the pairs of positions that meet, from `zero`.
    fn sums<T: Copy>(&self, zero: T, add: impl Fn(T, usize, usize) -> T) -> Vec<T> {
        let d = self.dims;
        let (input_by, kernel_by) = (strides(self.input), strides(self.kernel));
        let taps: Vec<usize> = d.kernel_spatial.iter().map(|&i| self.kernel[i]).collect();
        let kernel_inputs = self.kernel[d.kernel_input];
        let outputs = self.kernel[d.kernel_output];
        let batch = self.output[d.output_batch];
        let mut out = Vec::with_capacity(self.output.iter().product());
        for_each_index(self.output, |at| {
            let o = at[d.output_feature];
            let group = o / (outputs / d.feature_groups);
            let batch_group = o / (outputs / d.batch_groups);
            let n = at[d.output_batch] + batch_group * batch;
            let mut sum = zero;
            for_each_index(&taps, |tap| {
                let Some(place) = self.place(at, tap, &input_by) else {
                    return;
                };
                let mut i = place + n as isize * input_by[d.input_batch];
                i += (group * kernel_inputs) as isize * input_by[d.input_feature];
                let mut k = o as isize * kernel_by[d.kernel_output];
                for (s, &t) in tap.iter().enumerate() {
                    let t = if d.reverse[s] { taps[s] - 1 - t } else { t };
                    k += t as isize * kernel_by[d.kernel_spatial[s]];
                }
                for _ in 0..kernel_inputs {
                    sum = add(sum, i as usize, k as usize);
                    i += input_by[d.input_feature];
                    k += kernel_by[d.kernel_input];
                }
            });
            out.push(sum);
        });
        out
    }

    /// The spatial part of the input position that a tap falls on; none in padding and the holes of dilation.
    fn place(&self, at: &[usize], tap: &[usize], input_by: &[isize]) -> Option<isize> {
        let d = self.dims;
        (0..tap.len())
            .map(|s| {
                let padded = at[d.output_spatial[s]] * d.stride[s] + tap[s] * d.rhs_dilation[s];
                let dilated = padded as i64 - d.padding[s].0;
                let base = d.lhs_dilation[s] as i64;
                let axis = d.input_spatial[s];
                let inside =
                    dilated >= 0 && dilated % base == 0 && dilated / base < self.input[axis] as i64;
                inside.then(|| (dilated / base) as isize * input_by[axis])
            })
            .sum()
    }
}

pub fn cholesky(x: &Array, p: Precision) -> Array {
    let n = x.ty.shape[x.ty.rank() - 1];
    let mut out = vec![0.0; x.ty.numel()];
    let matrices = x.data.float_values().chunks((n * n).max(1));
    for (a, l) in matrices.zip(out.chunks_mut((n * n).max(1))) {
        let definite = factor(n, a, l);
        for i in 0..n {
            for v in &mut l[i * n..i * n + i + 1] {
                *v = if definite {
                    p.round(x.ty.elem, *v)
                } else {
                    f64::NAN
                };
            }
        }
    }
    Array::floats(x.ty.clone(), out)
}

/// Fills the lower triangle of `l`; false if a pivot is not positive.
fn factor(n: usize, a: &[f64], l: &mut [f64]) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = a[i * n + j] - known;
            if i > j {
                l[i * n + j] = rest / l[j * n + j];
            } else if rest > 0.0 {
                l[i * n + i] = rest.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// How a triangular matrix stands in a system.
#[derive(Clone, Copy)]
pub struct Triangle {
    pub left: bool,
    pub lower: bool,
    pub transpose: bool,
    pub unit_diagonal: bool,
}

pub fn triangular_solve(form: Triangle, a: &Array, b: &Array, p: Precision) -> Array {
    let rank = b.ty.rank();
    if !form.left {
        // x op(a) = b is op(a)ᵀ xᵀ = bᵀ.
        let mut perm: Vec<usize> = (0..rank).collect();
        perm.swap(rank - 2, rank - 1);
        let form = Triangle {
            left: true,
            transpose: !form.transpose,
            ..form
        };
        let solved = triangular_solve(form, a, &transposed(b, &perm), p);
        return transposed(&solved, &perm);
    }
    let n = a.ty.shape[rank - 1];
    let columns = b.ty.shape[rank - 1];
    let mut x = b.data.float_values().to_vec();
    let matrices = a.data.float_values().chunks((n * n).max(1));
    for (a, x) in matrices.zip(x.chunks_mut((n * columns).max(1))) {
        substitute(form, n, columns, a, x);
    }
    x.iter_mut().for_each(|v| *v = p.round(b.ty.elem, *v));
    Array::floats(b.ty.clone(), x)
}

/// Solves op(a) x = b in place, row after row from the one that stands alone.
fn substitute(form: Triangle, n: usize, columns: usize, a: &[f64], x: &mut [f64]) {
    let entry = |i: usize, j: usize| {
        if form.transpose {
            a[j * n + i]
        } else {
            a[i * n + j]
        }
    };
    let forward = form.lower != form.transpose;
    for step in 0..n {
        let i = if forward { step } else { n - 1 - step };
        let known = if forward { 0..i } else { i + 1..n };
        for c in 0..columns {
            let sum: f64 = known
                .clone()
                .map(|j| entry(i, j) * x[j * columns + c])
                .sum();
            let rest = x[i * columns + c] - sum;
            x[i * columns + c] = if form.unit_diagonal {
                rest
            } else {
                rest / entry(i, i)
            };
        }
    }
}
