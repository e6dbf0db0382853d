//! Expressions.

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::{Closure, Val, tensor_type};
use crate::ir::{Literal, Type};
use std::rc::Rc;
use tpuc_lang::typed::{Expr, ExprKind, Ty};

impl Specialiser<'_> {
    pub(crate) fn expr(&mut self, frame: &mut Frame, e: &Expr) -> Result<Val> {
        let outer = std::mem::replace(&mut self.b.span, e.span);
        let val = self.expr_inner(frame, e);
        self.b.span = outer;
        val
    }

    fn expr_inner(&mut self, frame: &mut Frame, e: &Expr) -> Result<Val> {
        match &e.kind {
            ExprKind::Int(n) => {
                let ty = scalar_type(frame, e)?;
                let literal = if ty.elem.is_float() {
                    Literal::splat_f64(ty, *n as f64)
                } else {
                    Literal::splat_i64(ty, *n as i64)
                };
                Ok(self.constant(literal))
            }
            ExprKind::Float(x) => {
                let ty = scalar_type(frame, e)?;
                Ok(self.constant(Literal::splat_f64(ty, *x)))
            }
            ExprKind::Bool(x) => {
                let ty = scalar_type(frame, e)?;
                Ok(self.constant(Literal::splat_i64(ty, i64::from(*x))))
            }
            ExprKind::Dim(d) => {
                let value = frame.int(d, e.span)?;
                let ty = scalar_type(frame, e)?;
                Ok(self.constant(Literal::splat_i64(ty, value)))
            }
            ExprKind::Local(id) => Ok(frame.local(*id).clone()),
            ExprKind::Fields(fields) => Ok(Val::Fields(
                fields
                    .iter()
                    .map(|f| self.expr(frame, f))
                    .collect::<Result<_>>()?,
            )),
            ExprKind::Field(inner, index) => Ok(self.expr(frame, inner)?.fields()[*index].clone()),
            ExprKind::Builtin {
                builtin,
                args,
                attrs,
            } => {
                let vals = args
                    .iter()
                    .map(|a| self.expr(frame, a))
                    .collect::<Result<Vec<_>>>()?;
                self.builtin(frame, e, *builtin, args, vals, attrs)
            }
            ExprKind::Call(callee, args) => {
                let vals = args
                    .iter()
                    .map(|a| self.expr(frame, a))
                    .collect::<Result<Vec<_>>>()?;
                self.call(frame, callee, vals, e.span)
            }
            ExprKind::Function(callee) => Ok(Val::Closure(Rc::new(Closure {
                callee: callee.clone(),
                frame: frame.clone(),
            }))),
            ExprKind::Map { callees, trees } => self.map(frame, callees, trees, e.span),
            ExprKind::Fold {
                callees,
                init,
                tree,
            } => self.fold(frame, callees, init, tree, e.span),
            ExprKind::Scan { callee, init, xs } => self.scan(frame, callee, init, xs, e.span),
            ExprKind::If {
                cond,
                then,
                otherwise,
                assigned,
            } => self.branch(frame, cond, then, otherwise, assigned, e.span),
            ExprKind::Block(block) => self.block(frame, block),
            ExprKind::Host(host) => self.host(frame, host, &e.ty, e.span),
        }
    }
}

fn scalar_type(frame: &Frame, e: &Expr) -> Result<Type> {
    match frame.ty(&e.ty, e.span)? {
        Ty::Tensor(elem, shape) => Ok(tensor_type(&elem, &shape)),
        other => unreachable!("a literal has a scalar type, not {other:?}"),
    }
}
