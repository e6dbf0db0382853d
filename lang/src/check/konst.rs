//! Compile-time scalars and their arithmetic.

use crate::ast::{BinaryOp, UnaryOp};
use crate::typed::Dim;
use std::cmp::Ordering;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    Int(i128),
    /// An integer that depends on dimension parameters.
    Dim(Dim),
    Float(f64),
    Bool(bool),
    Str(Rc<str>),
}

/// Why constants cannot be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Overflow,
    DivisionByZero,
}

impl Const {
    /// As a dimension, if it is an integer.
    pub fn dim(&self) -> Option<Dim> {
        match self {
            Const::Int(n) => i64::try_from(*n).ok().map(Dim::int),
            Const::Dim(d) => Some(d.clone()),
            Const::Float(_) | Const::Bool(_) | Const::Str(_) => None,
        }
    }

    /// An integer dimension is a plain integer again.
    pub fn of_dim(dim: Dim) -> Const {
        match dim.as_int() {
            Some(n) if dim.origin.is_none() => Const::Int(i128::from(n)),
            _ => Const::Dim(dim),
        }
    }

    pub fn int(&self) -> Option<i128> {
        match self {
            Const::Int(n) => Some(*n),
            Const::Dim(d) => d.as_int().map(i128::from),
            Const::Float(_) | Const::Bool(_) | Const::Str(_) => None,
        }
    }

    fn float(&self) -> Option<f64> {
        match self {
            Const::Float(x) => Some(*x),
            other => other.int().map(|n| n as f64),
        }
    }

    /// In words, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Const::Int(_) | Const::Dim(_) => "an integer",
            Const::Float(_) => "a float",
            Const::Bool(_) => "a bool",
            Const::Str(_) => "a string",
        }
    }
}

/// `None` where the operation is not one of constants (the operator's own check says why, or it is left to run time).
pub fn unary(op: UnaryOp, a: &Const) -> Option<Result<Const, Fault>> {
    match (op, a) {
        (UnaryOp::Neg, Const::Int(n)) => {
            Some(n.checked_neg().map(Const::Int).ok_or(Fault::Overflow))
        }
        (UnaryOp::Neg, Const::Dim(d)) => Some(d.neg().map(Const::of_dim).ok_or(Fault::Overflow)),
        (UnaryOp::Neg, Const::Float(x)) => Some(Ok(Const::Float(-x))),
        (UnaryOp::Not, Const::Bool(b)) => Some(Ok(Const::Bool(!b))),
        _ => None,
    }
}

/// As [`unary`]. Integer division truncates toward zero.
pub fn binary(op: BinaryOp, a: &Const, b: &Const) -> Option<Result<Const, Fault>> {
    if let (Const::Bool(a), Const::Bool(b)) = (a, b) {
        return bools(op, *a, *b).map(|b| Ok(Const::Bool(b)));
    }
    if let (Some(a), Some(b)) = (a.int(), b.int()) {
        return ints(op, a, b);
    }
    if let (Some(a), Some(b)) = (a.dim(), b.dim()) {
        return dims(op, &a, &b);
    }
    floats(op, a.float()?, b.float()?).map(Ok)
}

fn bools(op: BinaryOp, a: bool, b: bool) -> Option<bool> {
    match op {
        BinaryOp::And => Some(a && b),
        BinaryOp::Or => Some(a || b),
        BinaryOp::Eq => Some(a == b),
        BinaryOp::Ne => Some(a != b),
        _ => None,
    }
}

fn ints(op: BinaryOp, a: i128, b: i128) -> Option<Result<Const, Fault>> {
    let number = |n: Option<i128>| Some(n.map(Const::Int).ok_or(Fault::Overflow));
    match op {
        BinaryOp::Add => number(a.checked_add(b)),
        BinaryOp::Sub => number(a.checked_sub(b)),
        BinaryOp::Mul => number(a.checked_mul(b)),
        BinaryOp::Div | BinaryOp::Rem if b == 0 => Some(Err(Fault::DivisionByZero)),
        BinaryOp::Div => number(a.checked_div(b)),
        BinaryOp::Rem => number(a.checked_rem(b)),
        BinaryOp::Pow => match u32::try_from(b) {
            Ok(b) => number(a.checked_pow(b)),
            Err(_) => None,
        },
        _ => compare(op, Some(a.cmp(&b))).map(|b| Ok(Const::Bool(b))),
    }
}

fn dims(op: BinaryOp, a: &Dim, b: &Dim) -> Option<Result<Const, Fault>> {
    let dim = |d: Option<Dim>| Some(d.map(Const::of_dim).ok_or(Fault::Overflow));
    match op {
        BinaryOp::Add => dim(a.add(b)),
        BinaryOp::Sub => dim(a.sub(b)),
        BinaryOp::Mul => dim(a.mul(b)),
        // Exact whatever the parameters are, or left to when they are known.
        BinaryOp::Div => a
            .div(b)
            .filter(|d| !super::poly::has_quotient(d) || super::poly::has_quotient(a))
            .map(|d| Ok(Const::of_dim(d))),
        BinaryOp::Eq if super::poly::equal(a, b) => Some(Ok(Const::Bool(true))),
        BinaryOp::Ne if super::poly::equal(a, b) => Some(Ok(Const::Bool(false))),
        _ => None,
    }
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Option<Const> {
    Some(Const::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::Pow => a.powf(b),
        _ => return compare(op, a.partial_cmp(&b)).map(Const::Bool),
    }))
}

/// `order` is `None` where one is NaN.
fn compare(op: BinaryOp, order: Option<Ordering>) -> Option<bool> {
    use Ordering::{Equal, Greater, Less};
    Some(match op {
        BinaryOp::Eq => order == Some(Equal),
        BinaryOp::Ne => order != Some(Equal),
        BinaryOp::Lt => order == Some(Less),
        BinaryOp::Le => matches!(order, Some(Less | Equal)),
        BinaryOp::Gt => order == Some(Greater),
        BinaryOp::Ge => matches!(order, Some(Greater | Equal)),
        _ => return None,
    })
}

/// A `--set` value: a number, a bool, or else a string (quotes optional).
pub fn parse(text: &str) -> Const {
    let text = text.trim();
    let digits = text.replace('_', "");
    let (sign, magnitude) = match digits.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, digits.as_str()),
    };
    let starts_with_digit = magnitude.starts_with(|c: char| c.is_ascii_digit());
    let hex = magnitude
        .strip_prefix("0x")
        .and_then(|h| i128::from_str_radix(h, 16).ok());
    let int = hex.or_else(|| magnitude.parse::<i128>().ok());
    if let Some(n) = int.filter(|_| starts_with_digit) {
        return Const::Int(sign * n);
    }
    match text {
        "true" => return Const::Bool(true),
        "false" => return Const::Bool(false),
        _ => {}
    }
    let is_float = starts_with_digit || magnitude == "inf" || magnitude == "nan";
    if let (true, Ok(x)) = (is_float, magnitude.parse::<f64>()) {
        return Const::Float(f64::from(sign as i32) * x);
    }
    let unquoted = text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .unwrap_or(text);
    Const::Str(unquoted.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_division_of_constants_truncates() {
        let div = |a, b| binary(BinaryOp::Div, &Const::Int(a), &Const::Int(b));
        assert_eq!(div(60000, 128), Some(Ok(Const::Int(468))));
        assert_eq!(div(-7, 2), Some(Ok(Const::Int(-3))));
        assert_eq!(div(1, 0), Some(Err(Fault::DivisionByZero)));
    }

    #[test]
    fn set_values_read_like_literals() {
        assert_eq!(parse("1_000"), Const::Int(1000));
        assert_eq!(parse("-0x10"), Const::Int(-16));
        assert_eq!(parse("1e-3"), Const::Float(1e-3));
        assert_eq!(parse("-inf"), Const::Float(f64::NEG_INFINITY));
        assert_eq!(parse("true"), Const::Bool(true));
        assert_eq!(parse("mnist"), Const::Str("mnist".into()));
        assert_eq!(parse("\"12\""), Const::Str("12".into()));
    }
}
