//! What is known while specialising: integers and bools made of literals, dimensions and constants.

use super::Specialiser;
use super::frame::Frame;
use super::val::Val;
use crate::ir::literal::{decode_f64, decode_i64};
use crate::ir::{Elem, Literal, Op};
use std::cmp::Ordering;
use tpuc_lang::typed::{self, Builtin, ElemTy, Expr, ExprKind, Ty};

/// A scalar known at compile time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    Int(i128),
    Float(f64),
    Bool(bool),
}

impl Specialiser<'_> {
    pub(crate) fn static_int(&self, frame: &Frame, e: &Expr) -> Option<i64> {
        match self.known(frame, e)? {
            Known::Int(n) => i64::try_from(n).ok(),
            Known::Float(_) | Known::Bool(_) => None,
        }
    }

    pub(crate) fn static_bool(&self, frame: &Frame, e: &Expr) -> Option<bool> {
        match self.known(frame, e)? {
            Known::Bool(b) => Some(b),
            Known::Int(_) | Known::Float(_) => None,
        }
    }

    fn known(&self, frame: &Frame, e: &Expr) -> Option<Known> {
        match &e.kind {
            ExprKind::Int(n) if is_float(frame, &e.ty) => Some(Known::Float(*n as f64)),
            ExprKind::Int(n) => Some(Known::Int(*n)),
            ExprKind::Float(x) => Some(Known::Float(*x)),
            ExprKind::Bool(b) => Some(Known::Bool(*b)),
            ExprKind::Dim(d) => {
                let n = i128::from(frame.int(d, e.span).ok()?);
                Some(if is_float(frame, &e.ty) {
                    Known::Float(n as f64)
                } else {
                    Known::Int(n)
                })
            }
            // A variable that was given a literal: a parameter at this call.
            ExprKind::Local(id) => match frame.local(*id) {
                Val::Tensor(v) => self.constants.get(v).copied(),
                Val::Fields(_) | Val::Closure(_) => None,
            },
            ExprKind::Builtin { builtin, args, .. } => match args.as_slice() {
                [a] => unary(*builtin, self.known(frame, a)?),
                [a, b] => {
                    let (a, b) = (self.known(frame, a)?, self.known(frame, b)?);
                    binary(*builtin, a, b)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// A constant of the program, remembered for whatever is decided by it.
    pub(crate) fn constant(&mut self, literal: Literal) -> Val {
        let elem = literal.ty().elem;
        let known = literal.splat().map(|bits| match elem {
            Elem::Bool => Known::Bool(bits != 0),
            e if e.is_float() => Known::Float(decode_f64(e, bits)),
            e => Known::Int(i128::from(decode_i64(e, bits))),
        });
        let v = self.b.op(Op::Constant(literal), &[]);
        if let Some(known) = known {
            self.constants.insert(v, known);
        }
        Val::Tensor(v)
    }
}

fn is_float(frame: &Frame, ty: &Ty) -> bool {
    match ty {
        Ty::Tensor(elem, _) => {
            matches!(frame.elem(elem), ElemTy::Known(e) if typed::Elem::is_float(e))
        }
        _ => false,
    }
}

fn unary(builtin: Builtin, a: Known) -> Option<Known> {
    match (builtin, a) {
        (Builtin::Neg, Known::Int(n)) => Some(Known::Int(-n)),
        (Builtin::Neg, Known::Float(x)) => Some(Known::Float(-x)),
        (Builtin::Not, Known::Bool(b)) => Some(Known::Bool(!b)),
        _ => None,
    }
}

fn binary(builtin: Builtin, a: Known, b: Known) -> Option<Known> {
    if let (Known::Bool(a), Known::Bool(b)) = (a, b) {
        return match builtin {
            Builtin::And => Some(Known::Bool(a && b)),
            Builtin::Or => Some(Known::Bool(a || b)),
            Builtin::Eq => Some(Known::Bool(a == b)),
            Builtin::Ne => Some(Known::Bool(a != b)),
            _ => None,
        };
    }
    if let (Known::Int(a), Known::Int(b)) = (a, b) {
        let n = match builtin {
            Builtin::Add => a.checked_add(b),
            Builtin::Sub => a.checked_sub(b),
            Builtin::Mul => a.checked_mul(b),
            Builtin::Div => a.checked_div(b),
            Builtin::Rem => a.checked_rem(b),
            Builtin::Min2 => Some(a.min(b)),
            Builtin::Max2 => Some(a.max(b)),
            _ => None,
        };
        if n.is_some() {
            return n.map(Known::Int);
        }
    }
    let order = match (a, b) {
        (Known::Int(a), Known::Int(b)) => Some(a.cmp(&b)),
        (Known::Float(a), Known::Float(b)) => a.partial_cmp(&b),
        _ => return None,
    };
    let holds = match builtin {
        Builtin::Eq => order == Some(Ordering::Equal),
        Builtin::Ne => order != Some(Ordering::Equal),
        Builtin::Lt => order == Some(Ordering::Less),
        Builtin::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Builtin::Gt => order == Some(Ordering::Greater),
        Builtin::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        _ => return None,
    };
    Some(Known::Bool(holds))
}
