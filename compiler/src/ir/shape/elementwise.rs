//! Shape rules of the elementwise primitives: operands and result have one shape.

use super::{is_float, is_numeric, operands, require, same_shape, same_type};
use crate::ir::op::{BinaryOp, UnaryOp};
use crate::ir::types::{Elem, Type};

pub fn unary(op: UnaryOp, args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    match op {
        UnaryOp::Neg => is_numeric(x)?,
        UnaryOp::Not => is_bits(x)?,
        UnaryOp::Abs | UnaryOp::Sign => {
            require(x.elem.is_float() || x.elem.is_signed_int(), || {
                format!("operand is {x}, which has no sign")
            })?
        }
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
        | UnaryOp::Polygamma(_) => is_float(x)?,
    }
    Ok(if op == UnaryOp::IsFinite {
        x.with_elem(Elem::Bool)
    } else {
        x.clone()
    })
}

pub fn binary(op: BinaryOp, args: &[&Type]) -> Result<Type, String> {
    let [x, y] = operands(args)?;
    same_type(x, y)?;
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::Pow => is_numeric(x)?,
        BinaryOp::Max | BinaryOp::Min => {}
        BinaryOp::Atan2 => is_float(x)?,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => is_bits(x)?,
        BinaryOp::Shl | BinaryOp::ShrArith | BinaryOp::ShrLogical => {
            require(x.elem.is_int(), || {
                format!("operand is {x}, not an integer")
            })?
        }
    }
    Ok(x.clone())
}

pub fn compare(args: &[&Type]) -> Result<Type, String> {
    let [x, y] = operands(args)?;
    same_type(x, y)?;
    Ok(x.with_elem(Elem::Bool))
}

pub fn select(args: &[&Type]) -> Result<Type, String> {
    let [condition, x, y] = operands(args)?;
    require(condition.elem == Elem::Bool, || {
        format!("condition is {condition}, not bool")
    })?;
    same_type(x, y)?;
    same_shape(condition, x)?;
    Ok(x.clone())
}

pub fn clamp(args: &[&Type]) -> Result<Type, String> {
    let [lo, x, hi] = operands(args)?;
    same_type(lo, x)?;
    same_type(x, hi)?;
    is_numeric(x)?;
    Ok(x.clone())
}

pub fn bitcast(to: Elem, args: &[&Type]) -> Result<Type, String> {
    let [x] = operands(args)?;
    require(
        x.elem == to || (x.elem.bits() == to.bits() && x.elem != Elem::Bool && to != Elem::Bool),
        || format!("the bits of {x} are no {to}"),
    )?;
    Ok(x.with_elem(to))
}

pub fn threefry(args: &[&Type]) -> Result<Vec<Type>, String> {
    let [k0, k1, x0, x1] = operands(args)?;
    require(k0.elem == Elem::U32, || format!("operand is {k0}, not u32"))?;
    [k1, x0, x1]
        .into_iter()
        .try_for_each(|t| same_type(k0, t))?;
    Ok(vec![k0.clone(), k0.clone()])
}

fn is_bits(t: &Type) -> Result<(), String> {
    require(!t.elem.is_float(), || {
        format!("operand is {t}, not integer or bool")
    })
}
