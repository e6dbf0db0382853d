//! Elementwise builtins.

use super::Call;
use crate::ir::num::Num;
use crate::ir::{BinaryOp, Builder, CompareOp, Op, UnaryOp, Value};

pub(super) fn unary(b: &mut Builder, c: &Call, op: UnaryOp) -> Value {
    b.unary(op, c.args[0])
}

pub(super) fn binary(b: &mut Builder, c: &Call, op: BinaryOp) -> Value {
    b.binary(op, c.args[0], c.args[1])
}

pub(super) fn compare(b: &mut Builder, c: &Call, op: CompareOp) -> Value {
    b.compare(op, c.args[0], c.args[1])
}

/// `x ** n` with a literal whole `n` multiplies, as JAX's `integer_pow` does; its derivative then has no logarithm.
pub(super) fn pow(b: &mut Builder, c: &Call) -> Value {
    match c.literal_int(1) {
        Some(n) if n.unsigned_abs() <= 64 => {
            let x = c.args[0];
            match n {
                0.. => multiply_out(b, x, n.unsigned_abs()),
                -1 => inverse(b, x, n),
                _ if b.elem_of(x).is_float() => inverse_power(b, x, n),
                _ => inverse(b, x, n),
            }
        }
        _ => binary(b, c, BinaryOp::Pow),
    }
}

/// 1 / x⁻ⁿ for a negative n.
fn inverse(b: &mut Builder, x: Value, n: i64) -> Value {
    let power = multiply_out(b, x, n.unsigned_abs());
    let one = b.like(x, 1.0);
    b.binary(BinaryOp::Div, one, power)
}

/// The same with the derivative n·xⁿ / x. That of the quotient is infinity times zero where x is 0 or infinite.
fn inverse_power(b: &mut Builder, x: Value, n: i64) -> Value {
    let ty = b.ty(x).clone();
    b.open_region();
    let p = b.param(ty.clone());
    let y = inverse(b, p, n);
    let function = b.close_region(vec![y]);
    b.open_region();
    let (p, y, ct) = (b.param(ty.clone()), b.param(ty.clone()), b.param(ty));
    let factor = b.like(p, n as f64);
    let rise = b.binary(BinaryOp::Mul, factor, y);
    let slope = b.binary(BinaryOp::Div, rise, p);
    let ct = b.binary(BinaryOp::Mul, ct, slope);
    let derivative = b.close_region(vec![ct]);
    b.push(Op::CustomVjp, vec![x], vec![function, derivative])[0]
}

/// By squaring, from the lowest bit up.
fn multiply_out(b: &mut Builder, x: Value, n: u64) -> Value {
    let mut acc: Option<Value> = None;
    let mut square = x;
    let mut rest = n;
    while rest > 0 {
        if rest & 1 == 1 {
            acc = Some(match acc {
                Some(a) => b.binary(BinaryOp::Mul, a, square),
                None => square,
            });
        }
        rest >>= 1;
        if rest > 0 {
            square = b.binary(BinaryOp::Mul, square, square);
        }
    }
    acc.unwrap_or_else(|| b.like(x, 1.0))
}

pub(super) fn cast(b: &mut Builder, c: &Call) -> Value {
    b.convert(c.args[0], c.out().elem)
}

pub(super) fn abs(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    if b.elem_of(x).is_unsigned_int() {
        x
    } else {
        b.unary(UnaryOp::Abs, x)
    }
}

pub(super) fn sign(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    if b.elem_of(x).is_unsigned_int() {
        let one = b.like(x, 1.0);
        b.binary(BinaryOp::Min, x, one)
    } else {
        b.unary(UnaryOp::Sign, x)
    }
}

/// Integers are whole already.
pub(super) fn rounding(b: &mut Builder, c: &Call, op: UnaryOp) -> Value {
    let x = c.args[0];
    if b.elem_of(x).is_float() {
        b.unary(op, x)
    } else {
        x
    }
}

pub(super) fn trunc(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    if !b.elem_of(x).is_float() {
        return x;
    }
    let zero = b.like(x, 0.0);
    let negative = b.compare(CompareOp::Lt, x, zero);
    let up = b.unary(UnaryOp::Ceil, x);
    let down = b.unary(UnaryOp::Floor, x);
    b.select(negative, up, down)
}

pub(super) fn is_nan(b: &mut Builder, c: &Call) -> Value {
    b.compare(CompareOp::Ne, c.args[0], c.args[0])
}

pub(super) fn is_finite(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    if b.elem_of(x).is_float() {
        b.unary(UnaryOp::IsFinite, x)
    } else {
        let shape = b.shape_of(x);
        b.full(crate::ir::Elem::Bool, &shape, 1.0)
    }
}

/// `clamp(x, lo, hi)`.
pub(super) fn clamp(b: &mut Builder, c: &Call) -> Value {
    let all = b.together(&c.args);
    b.op(Op::Clamp, &[all[1], all[0], all[2]])
}

pub(super) fn select(b: &mut Builder, c: &Call) -> Value {
    b.select(c.args[0], c.args[1], c.args[2])
}

/// |a − b| ≤ atol + rtol·|b|; infinities only equal themselves; NaN equals NaN with `equal_nan`.
pub(super) fn is_close(b: &mut Builder, c: &Call) -> Value {
    let xy = b.together(&c.args[..2]);
    let (x, y) = (xy[0], xy[1]);
    let equal = b.compare(CompareOp::Eq, x, y);
    if !b.elem_of(x).is_float() {
        return equal;
    }
    let rtol = b.like(y, c.attrs.float("rtol").unwrap_or(1e-5));
    let atol = b.like(y, c.attrs.float("atol").unwrap_or(1e-8));
    let diff = b.binary(BinaryOp::Sub, x, y);
    let diff = b.unary(UnaryOp::Abs, diff);
    let size = b.unary(UnaryOp::Abs, y);
    let relative = b.binary(BinaryOp::Mul, rtol, size);
    let bound = b.binary(BinaryOp::Add, atol, relative);
    let near = b.compare(CompareOp::Le, diff, bound);
    let finite_x = b.unary(UnaryOp::IsFinite, x);
    let finite_y = b.unary(UnaryOp::IsFinite, y);
    let finite = b.binary(BinaryOp::And, finite_x, finite_y);
    let near = b.binary(BinaryOp::And, near, finite);
    let mut out = b.binary(BinaryOp::Or, near, equal);
    if c.attrs.flag("equal_nan") {
        let nan_x = b.compare(CompareOp::Ne, x, x);
        let nan_y = b.compare(CompareOp::Ne, y, y);
        let both = b.binary(BinaryOp::And, nan_x, nan_y);
        out = b.binary(BinaryOp::Or, out, both);
    }
    out
}

/// Of every leaf of a tree.
pub(super) fn stop_gradient(b: &mut Builder, c: &Call) -> Vec<Value> {
    let leaves = c.args.iter();
    leaves.map(|&x| b.op(Op::StopGradient, &[x])).collect()
}
