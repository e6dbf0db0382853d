//! Elementwise primitives.

use super::array::{Array, wrap_int, wrap_uint};
use super::reduce::{maximum, minimum};
use super::special;
use super::{Data, Precision};
use crate::ir::op::{BinaryOp, CompareOp, UnaryOp};
use crate::ir::threefry::{GROUPS, PARITY, TURNS};
use crate::ir::types::Elem;

pub fn unary(op: UnaryOp, x: &Array, p: Precision) -> Array {
    let elem = x.ty.elem;
    match &x.data {
        Data::Float(v) if op == UnaryOp::IsFinite => Array::bools(
            x.ty.with_elem(Elem::Bool),
            v.iter().map(|x| x.is_finite()).collect(),
        ),
        Data::Float(v) => {
            let f = float_unary(op);
            Array::floats(
                x.ty.clone(),
                v.iter().map(|&x| p.round(elem, f(x))).collect(),
            )
        }
        Data::Int(v) => {
            let f = int_unary(op);
            Array::ints(
                x.ty.clone(),
                v.iter().map(|&x| wrap_int(elem, f(x))).collect(),
            )
        }
        Data::Uint(v) => {
            // Only `neg` and `not` take these, and both work on bits.
            let f = int_unary(op);
            Array::uints(
                x.ty.clone(),
                v.iter()
                    .map(|&x| wrap_uint(elem, f(x as i64) as u64))
                    .collect(),
            )
        }
        Data::Bool(v) => Array::bools(x.ty.clone(), v.iter().map(|x| !x).collect()),
    }
}

fn float_unary(op: UnaryOp) -> Box<dyn Fn(f64) -> f64> {
    Box::new(match op {
        UnaryOp::Neg => |x| -x,
        UnaryOp::Abs => f64::abs,
        UnaryOp::Sign => sign,
        UnaryOp::Floor => f64::floor,
        UnaryOp::Ceil => f64::ceil,
        UnaryOp::Round => f64::round_ties_even,
        UnaryOp::Exp => libm::exp,
        UnaryOp::Expm1 => libm::expm1,
        UnaryOp::Log => libm::log,
        UnaryOp::Log1p => libm::log1p,
        UnaryOp::Sqrt => f64::sqrt,
        UnaryOp::Rsqrt => |x| 1.0 / x.sqrt(),
        UnaryOp::Cbrt => libm::cbrt,
        UnaryOp::Sin => libm::sin,
        UnaryOp::Cos => libm::cos,
        UnaryOp::Tan => libm::tan,
        UnaryOp::Tanh => libm::tanh,
        UnaryOp::Logistic => |x| 1.0 / (1.0 + libm::exp(-x)),
        UnaryOp::Erf => libm::erf,
        UnaryOp::Erfc => libm::erfc,
        UnaryOp::ErfInv => special::erf_inv,
        UnaryOp::Lgamma => libm::lgamma,
        UnaryOp::Polygamma(order) => return Box::new(move |x| special::polygamma(order, x)),
        UnaryOp::Not | UnaryOp::IsFinite => {
            unreachable!("the shape rule, or the case before, excludes {}", op.name())
        }
    })
}

fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        x
    } else {
        x.signum()
    }
}

fn int_unary(op: UnaryOp) -> fn(i64) -> i64 {
    match op {
        UnaryOp::Neg => i64::wrapping_neg,
        UnaryOp::Not => |x| !x,
        UnaryOp::Abs => i64::wrapping_abs,
        UnaryOp::Sign => i64::signum,
        UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::Exp
        | UnaryOp::Expm1
        | UnaryOp::Log
        | UnaryOp::Log1p
        | UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::Cbrt
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Tanh
        | UnaryOp::Logistic
        | UnaryOp::IsFinite
        | UnaryOp::Erf
        | UnaryOp::Erfc
        | UnaryOp::ErfInv
        | UnaryOp::Lgamma
        | UnaryOp::Polygamma(_) => unreachable!("the shape rule wants floats for {}", op.name()),
    }
}

pub fn binary(op: BinaryOp, x: &Array, y: &Array, p: Precision) -> Array {
    let elem = x.ty.elem;
    let ty = x.ty.clone();
    match (&x.data, &y.data) {
        (Data::Float(a), Data::Float(b)) => {
            let f = float_binary(op);
            Array::floats(ty, zip(a, b, |a, b| p.round(elem, f(a, b))))
        }
        (Data::Int(a), Data::Int(b)) => Array::ints(
            ty,
            zip(a, b, |a, b| wrap_int(elem, int_binary(op, elem, a, b))),
        ),
        (Data::Uint(a), Data::Uint(b)) => Array::uints(
            ty,
            zip(a, b, |a, b| wrap_uint(elem, uint_binary(op, elem, a, b))),
        ),
        (Data::Bool(a), Data::Bool(b)) => {
            let f = bool_binary(op);
            Array::bools(ty, zip(a, b, f))
        }
        _ => unreachable!("the shape rule wants equal types"),
    }
}

fn zip<T: Copy, R>(a: &[T], b: &[T], f: impl Fn(T, T) -> R) -> Vec<R> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

fn float_binary(op: BinaryOp) -> fn(f64, f64) -> f64 {
    match op {
        BinaryOp::Add => |a, b| a + b,
        BinaryOp::Sub => |a, b| a - b,
        BinaryOp::Mul => |a, b| a * b,
        BinaryOp::Div => |a, b| a / b,
        BinaryOp::Rem => |a, b| a % b,
        BinaryOp::Pow => libm::pow,
        BinaryOp::Max => maximum,
        BinaryOp::Min => minimum,
        BinaryOp::Atan2 => libm::atan2,
        BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrArith
        | BinaryOp::ShrLogical => unreachable!("the shape rule wants bits for {}", op.name()),
    }
}

/// Of sign-extended operands; the caller wraps the result.
fn int_binary(op: BinaryOp, elem: Elem, a: i64, b: i64) -> i64 {
    let width = elem.bits() as u64;
    // A negative count is a large one.
    let count = b as u64;
    match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if b == 0 => -1,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem if b == 0 => a,
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::Pow if b < 0 => match a {
            1 => 1,
            -1 if b % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        },
        BinaryOp::Pow => power(a as u64, count) as i64,
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl if count >= width => 0,
        BinaryOp::Shl => a << count,
        BinaryOp::ShrArith => a >> count.min(63),
        BinaryOp::ShrLogical if count >= width => 0,
        BinaryOp::ShrLogical => (unsigned(elem, a) >> count) as i64,
        BinaryOp::Atan2 => unreachable!("the shape rule wants floats"),
    }
}

fn unsigned(elem: Elem, a: i64) -> u64 {
    a as u64 & (u64::MAX >> (64 - elem.bits()))
}

fn uint_binary(op: BinaryOp, elem: Elem, a: u64, b: u64) -> u64 {
    let width = elem.bits() as u64;
    match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div => a.checked_div(b).unwrap_or(u64::MAX),
        BinaryOp::Rem => a.checked_rem(b).unwrap_or(a),
        BinaryOp::Pow => power(a, b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl if b >= width => 0,
        BinaryOp::Shl => a << b,
        // The top bit of the width is the sign, whatever the type is called.
        BinaryOp::ShrArith => {
            let spread = 64 - width;
            (((a << spread) as i64 >> spread) >> b.min(63)) as u64
        }
        BinaryOp::ShrLogical if b >= width => 0,
        BinaryOp::ShrLogical => a >> b,
        BinaryOp::Atan2 => unreachable!("the shape rule wants floats"),
    }
}

/// Wrapping power by squaring.
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = 1u64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

fn bool_binary(op: BinaryOp) -> fn(bool, bool) -> bool {
    match op {
        BinaryOp::Max | BinaryOp::Or => |a, b| a | b,
        BinaryOp::Min | BinaryOp::And => |a, b| a & b,
        BinaryOp::Xor => |a, b| a ^ b,
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Pow
        | BinaryOp::Atan2
        | BinaryOp::Shl
        | BinaryOp::ShrArith
        | BinaryOp::ShrLogical => unreachable!("the shape rule wants numbers for {}", op.name()),
    }
}

pub fn compare(op: CompareOp, x: &Array, y: &Array) -> Array {
    let ty = x.ty.with_elem(Elem::Bool);
    let holds = match (&x.data, &y.data) {
        (Data::Float(a), Data::Float(b)) => zip(a, b, |a, b| ordered(op, &a, &b)),
        (Data::Int(a), Data::Int(b)) => zip(a, b, |a, b| ordered(op, &a, &b)),
        (Data::Uint(a), Data::Uint(b)) => zip(a, b, |a, b| ordered(op, &a, &b)),
        (Data::Bool(a), Data::Bool(b)) => zip(a, b, |a, b| ordered(op, &a, &b)),
        _ => unreachable!("the shape rule wants equal types"),
    };
    Array::bools(ty, holds)
}

fn ordered<T: PartialOrd>(op: CompareOp, a: &T, b: &T) -> bool {
    match op {
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
    }
}

pub fn select(condition: &Array, x: &Array, y: &Array) -> Array {
    let condition = condition.data.bools();
    let mut out = y.clone();
    super::array::write_same_kind!(&mut out.data, &x.data, t, s => {
        for (i, &taken) in condition.iter().enumerate() {
            if taken {
                t[i] = s[i];
            }
        }
    });
    out
}

pub fn clamp(lo: &Array, x: &Array, hi: &Array) -> Array {
    // Neither rounds.
    let raised = binary(BinaryOp::Max, x, lo, Precision::F64);
    binary(BinaryOp::Min, &raised, hi, Precision::F64)
}

/// Threefry-2x32 with 20 rounds: key words, then counter words.
pub fn threefry(args: &[Array]) -> Vec<Array> {
    let words: Vec<&[u64]> = args.iter().map(|a| a.data.uints()).collect();
    let pairs: Vec<(u32, u32)> = (0..args[0].ty.numel())
        .map(|i| {
            let word = |n: usize| words[n][i] as u32;
            threefry_block(word(0), word(1), word(2), word(3))
        })
        .collect();
    let half = |f: fn(&(u32, u32)) -> u32| {
        let values = pairs.iter().map(|p| u64::from(f(p))).collect();
        Array::uints(args[0].ty.clone(), values)
    };
    vec![half(|p| p.0), half(|p| p.1)]
}

fn threefry_block(k0: u32, k1: u32, x0: u32, x1: u32) -> (u32, u32) {
    let keys = [k0, k1, k0 ^ k1 ^ PARITY];
    let (mut a, mut b) = (x0.wrapping_add(k0), x1.wrapping_add(k1));
    for group in 0..GROUPS {
        for rotation in TURNS[group % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(rotation) ^ a;
        }
        let next = group + 1;
        a = a.wrapping_add(keys[next % 3]);
        b = b
            .wrapping_add(keys[(next + 1) % 3])
            .wrapping_add(next as u32);
    }
    (a, b)
}
