//! Forward rules of elementwise primitives. The forms are JAX's, so that gradients agree to the last bits, except
//! where a comment says why not.

use crate::ad::cx::{Cx, Dual};
use crate::ad::error::AdErrorKind;
use crate::ir::{BinaryOp, CompareOp, UnaryOp, Value};
use std::f64::consts::PI;

/// The tangent of `y = op(x)`.
pub fn unary(cx: &mut Cx, op: UnaryOp, x: Dual, y: Value) -> Result<Option<Value>, AdErrorKind> {
    let Some(t) = x.tangent else { return Ok(None) };
    let x = x.primal;
    Ok(Some(match op {
        UnaryOp::Neg => cx.lin_neg(t),
        UnaryOp::Not
        | UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::IsFinite => return Ok(None),
        // 0 at 0.
        UnaryOp::Abs => {
            let sign = cx.e.unary(UnaryOp::Sign, x);
            cx.scale(t, sign)
        }
        UnaryOp::Exp => cx.scale(t, y),
        // Not `y + 1`, of which nothing is left far below 0.
        UnaryOp::Expm1 => {
            let c = cx.e.unary(UnaryOp::Exp, x);
            cx.scale(t, c)
        }
        UnaryOp::Log => cx.lin_div(t, x),
        UnaryOp::Log1p => {
            let one = cx.e.like(x, 1.0);
            let c = cx.e.add(x, one);
            cx.lin_div(t, c)
        }
        UnaryOp::Sqrt => {
            let half = cx.e.like(y, 0.5);
            let c = cx.e.div(half, y);
            cx.scale(t, c)
        }
        UnaryOp::Rsqrt => {
            let half = cx.e.like(y, -0.5);
            let c = cx.e.div(y, x);
            let c = cx.e.mul(half, c);
            cx.scale(t, c)
        }
        UnaryOp::Cbrt => {
            // The inverse is squared, not the root: at 0 the derivative of that is infinite, too, and no NaN.
            let (one, third) = (cx.e.like(y, 1.0), cx.e.like(y, 1.0 / 3.0));
            let inverse = cx.e.div(one, y);
            let square = cx.e.mul(inverse, inverse);
            let c = cx.e.mul(third, square);
            cx.scale(t, c)
        }
        UnaryOp::Sin => {
            let c = cx.e.unary(UnaryOp::Cos, x);
            cx.scale(t, c)
        }
        UnaryOp::Cos => {
            let c = cx.e.unary(UnaryOp::Sin, x);
            let c = cx.e.neg(c);
            cx.scale(t, c)
        }
        UnaryOp::Tan => {
            let one = cx.e.like(y, 1.0);
            let square = cx.e.mul(y, y);
            let c = cx.e.add(one, square);
            cx.scale(t, c)
        }
        UnaryOp::Tanh => {
            let one = cx.e.like(y, 1.0);
            let square = cx.e.mul(y, y);
            let c = cx.e.sub(one, square);
            cx.scale(t, c)
        }
        UnaryOp::Logistic => {
            let one = cx.e.like(y, 1.0);
            let rest = cx.e.sub(one, y);
            let c = cx.e.mul(y, rest);
            cx.scale(t, c)
        }
        UnaryOp::Erf => gaussian(cx, t, x, 2.0 / PI.sqrt()),
        UnaryOp::Erfc => gaussian(cx, t, x, -2.0 / PI.sqrt()),
        UnaryOp::ErfInv => {
            let square = cx.e.mul(y, y);
            let exp = cx.e.unary(UnaryOp::Exp, square);
            let factor = cx.e.like(y, PI.sqrt() / 2.0);
            let c = cx.e.mul(factor, exp);
            cx.scale(t, c)
        }
        UnaryOp::Lgamma => {
            let c = cx.e.unary(UnaryOp::Polygamma(0), x);
            cx.scale(t, c)
        }
        UnaryOp::Polygamma(n) => {
            let next = n.checked_add(1).ok_or_else(|| AdErrorKind::NotLinear {
                op: format!("polygamma of order {n}"),
            })?;
            let c = cx.e.unary(UnaryOp::Polygamma(next), x);
            cx.scale(t, c)
        }
    }))
}

/// `factor · exp(−x²)`.
fn gaussian(cx: &mut Cx, t: Value, x: Value, factor: f64) -> Value {
    let square = cx.e.mul(x, x);
    let square = cx.e.neg(square);
    let exp = cx.e.unary(UnaryOp::Exp, square);
    let factor = cx.e.like(x, factor);
    let c = cx.e.mul(factor, exp);
    cx.scale(t, c)
}

/// `y = op(a, b)` and its tangent.
pub fn binary(cx: &mut Cx, op: BinaryOp, a: Dual, b: Dual) -> Dual {
    let y = cx.e.binary(op, a.primal, b.primal);
    Dual::new(y, tangent(cx, op, a, b, y))
}

/// The tangent of `y = op(a, b)`.
pub fn tangent(cx: &mut Cx, op: BinaryOp, a: Dual, b: Dual, y: Value) -> Option<Value> {
    match op {
        BinaryOp::Add => cx.lin_add(a.tangent, b.tangent),
        BinaryOp::Sub => cx.lin_sub(a.tangent, b.tangent),
        BinaryOp::Mul => mul(cx, a, b),
        BinaryOp::Div => div(cx, a, b, y),
        BinaryOp::Rem => rem(cx, a, b),
        BinaryOp::Pow => pow(cx, a, b, y),
        BinaryOp::Max | BinaryOp::Min => extremum(cx, a, b, y),
        BinaryOp::Atan2 => atan2(cx, a, b),
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrArith
        | BinaryOp::ShrLogical => None,
    }
}

fn mul(cx: &mut Cx, a: Dual, b: Dual) -> Option<Value> {
    if a.primal == b.primal && a.tangent == b.tangent {
        let two = cx.e.like(a.primal, 2.0);
        let t = a.tangent?;
        let c = cx.e.mul(two, a.primal);
        return Some(cx.scale(t, c));
    }
    let first = a.tangent.map(|t| cx.scale(t, b.primal));
    let second = b.tangent.map(|t| cx.scale(t, a.primal));
    cx.lin_add(first, second)
}

/// Written with the quotient `y`: fewer operations than JAX's `−a·b⁻²`, and no square that overflows.
fn div(cx: &mut Cx, a: Dual, b: Dual, y: Value) -> Option<Value> {
    match (a.tangent, b.tangent) {
        (None, None) => None,
        (Some(t), None) => Some(cx.lin_div(t, b.primal)),
        (None, Some(t)) => {
            let c = cx.e.div(y, b.primal);
            let c = cx.e.neg(c);
            Some(cx.scale(t, c))
        }
        (Some(ta), Some(tb)) => {
            let less = cx.scale(tb, y);
            let t = cx.lin_sub(Some(ta), Some(less))?;
            Some(cx.lin_div(t, b.primal))
        }
    }
}

fn rem(cx: &mut Cx, a: Dual, b: Dual) -> Option<Value> {
    let second = b.tangent.map(|t| {
        let quotient = cx.e.div(a.primal, b.primal);
        let sign = cx.e.unary(UnaryOp::Sign, quotient);
        let size = cx.e.unary(UnaryOp::Abs, quotient);
        let whole = cx.e.unary(UnaryOp::Floor, size);
        let c = cx.e.mul(sign, whole);
        let c = cx.e.neg(c);
        cx.scale(t, c)
    });
    cx.lin_add(a.tangent, second)
}

/// Finite where the limit is: `b · a^(b−1)` with the exponent 0 where `b` is 0, and `log a` with 1 in place of 0.
fn pow(cx: &mut Cx, a: Dual, b: Dual, y: Value) -> Option<Value> {
    let (x, e) = (a.primal, b.primal);
    let first = a.tangent.and_then(|t| match cx.e.splat_value(e) {
        Some(0.0) => None,
        Some(1.0) => Some(t),
        Some(c) => {
            let less = cx.e.like(e, c - 1.0);
            let power = if c == 2.0 {
                x
            } else {
                cx.e.binary(BinaryOp::Pow, x, less)
            };
            let c = cx.e.mul(e, power);
            Some(cx.scale(t, c))
        }
        None => {
            let (zero, one) = (cx.e.like(e, 0.0), cx.e.like(e, 1.0));
            let is_zero = cx.e.compare(CompareOp::Eq, e, zero);
            let less = cx.e.sub(e, one);
            let less = cx.e.select(is_zero, zero, less);
            let power = cx.e.binary(BinaryOp::Pow, x, less);
            let c = cx.e.mul(e, power);
            Some(cx.scale(t, c))
        }
    });
    let second = b.tangent.map(|t| {
        let (zero, one) = (cx.e.like(x, 0.0), cx.e.like(x, 1.0));
        let is_zero = cx.e.compare(CompareOp::Eq, x, zero);
        let base = cx.e.select(is_zero, one, x);
        let log = cx.e.unary(UnaryOp::Log, base);
        let c = cx.e.mul(log, y);
        cx.scale(t, c)
    });
    cx.lin_add(first, second)
}

/// The tangent of the operand that is the extremum `y`, half of each where both are, 0 where either is NaN.
fn extremum(cx: &mut Cx, a: Dual, b: Dual, y: Value) -> Option<Value> {
    let is_first = cx.e.compare(CompareOp::Eq, a.primal, y);
    let is_second = cx.e.compare(CompareOp::Eq, b.primal, y);
    let chosen =
        |cx: &mut Cx, mask, t: Option<Value>| t.and_then(|t| cx.lin_select(mask, Some(t), None));
    let first = chosen(cx, is_first, a.tangent);
    let second = chosen(cx, is_second, b.tangent);
    let sum = cx.lin_add(first, second)?;
    let tie = cx.e.binary(BinaryOp::And, is_first, is_second);
    let (half, one) = (cx.e.like(y, 0.5), cx.e.like(y, 1.0));
    let share = cx.e.select(tie, half, one);
    Some(cx.scale(sum, share))
}

fn atan2(cx: &mut Cx, a: Dual, b: Dual) -> Option<Value> {
    let (x, y) = (a.primal, b.primal);
    let xx = cx.e.mul(x, x);
    let yy = cx.e.mul(y, y);
    let norm = cx.e.add(xx, yy);
    let first = a.tangent.map(|t| {
        let c = cx.e.div(y, norm);
        cx.scale(t, c)
    });
    let second = b.tangent.map(|t| {
        let minus = cx.e.neg(x);
        let c = cx.e.div(minus, norm);
        cx.scale(t, c)
    });
    cx.lin_add(first, second)
}

/// `clamp(lo, x, hi)`: 1 for `x` strictly inside, for `lo` below it (and below `hi`), for `hi` above it.
pub fn clamp(cx: &mut Cx, lo: Dual, x: Dual, hi: Dual) -> Option<Value> {
    let from_lo = lo.tangent.and_then(|t| {
        let below = cx.e.compare(CompareOp::Gt, lo.primal, x.primal);
        let proper = cx.e.compare(CompareOp::Lt, lo.primal, hi.primal);
        let mask = cx.e.binary(BinaryOp::And, below, proper);
        cx.lin_select(mask, Some(t), None)
    });
    let from_x = x.tangent.and_then(|t| {
        let above = cx.e.compare(CompareOp::Gt, x.primal, lo.primal);
        let below = cx.e.compare(CompareOp::Lt, x.primal, hi.primal);
        let mask = cx.e.binary(BinaryOp::And, above, below);
        cx.lin_select(mask, Some(t), None)
    });
    let from_hi = hi.tangent.and_then(|t| {
        // The upper bound is the result below a lower bound that is above it, too.
        let raised = cx.e.binary(BinaryOp::Max, x.primal, lo.primal);
        let above = cx.e.compare(CompareOp::Lt, hi.primal, raised);
        cx.lin_select(above, Some(t), None)
    });
    let t = cx.lin_add(from_lo, from_x);
    cx.lin_add(t, from_hi)
}
