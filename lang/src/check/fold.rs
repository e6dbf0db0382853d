//! What an expression without data comes to, where a constant is wanted: `max(3, HEADS)`, `SIZES[1]`, `if WIDE { 8 } else { 4 }`.
//!
//! Whole numbers and bools only: a float has the precision of the place where it is used.

use super::cx::Cx;
use super::konst::{self, Const};
use crate::ast::{BinaryOp, UnaryOp};
use crate::typed::{Attr, Block, Builtin, Elem, ElemTy, Expr, ExprKind, IndexItem, Static, Ty};
use std::cmp::Ordering;

impl Cx<'_, '_> {
    pub fn folded(&self, e: &Expr) -> Option<Const> {
        if let Some(known) = self.const_of(e) {
            return Some(known);
        }
        let folded = match &e.kind {
            ExprKind::Builtin {
                builtin,
                args,
                attrs,
            } => self.fold_builtin(*builtin, args, attrs, &e.ty),
            ExprKind::If {
                cond,
                then,
                otherwise,
                ..
            } => match self.folded(cond)? {
                Const::Bool(true) => self.fold_block(then),
                Const::Bool(false) => self.fold_block(otherwise),
                _ => None,
            },
            ExprKind::Block(block) => self.fold_block(block),
            ExprKind::Field(base, i) => match &base.kind {
                ExprKind::Fields(fields) => self.folded(fields.get(*i)?),
                _ => None,
            },
            _ => None,
        };
        folded.filter(|value| match value {
            Const::Float(_) => false,
            // Integers wrap around, which is left to when it runs.
            Const::Int(n) => super::zonk::fits(*n, &self.infer.ty(&e.ty)),
            Const::Dim(_) | Const::Bool(_) | Const::Str(_) => true,
        })
    }

    fn fold_block(&self, block: &Block) -> Option<Const> {
        match (&block.stmts[..], &block.value) {
            ([], Some(value)) => self.folded(value),
            _ => None,
        }
    }

    fn fold_builtin(
        &self,
        builtin: Builtin,
        args: &[Expr],
        attrs: &[Attr],
        ty: &Ty,
    ) -> Option<Const> {
        use Builtin as B;
        match (builtin, args) {
            (B::Index, [list]) => self.folded(self.element(list, attrs)?),
            (B::Sum | B::Prod | B::MinReduce | B::MaxReduce, [list]) if is_scalar(ty) => {
                let mut all = Vec::new();
                self.elements(list, &mut all)?;
                let (first, rest) = all.split_first()?;
                rest.iter().try_fold(first.clone(), |a, b| match builtin {
                    B::Sum => arithmetic(BinaryOp::Add, &a, b),
                    B::Prod => arithmetic(BinaryOp::Mul, &a, b),
                    B::MinReduce => extreme(Ordering::Less, &a, b),
                    _ => extreme(Ordering::Greater, &a, b),
                })
            }
            (B::Cast, [x]) => self.fold_cast(x, ty),
            (B::Abs, [x]) => Some(Const::Int(self.folded(x)?.int()?.checked_abs()?)),
            (B::Neg, [x]) => konst::unary(UnaryOp::Neg, &self.folded(x)?)?.ok(),
            (B::Not, [x]) => konst::unary(UnaryOp::Not, &self.folded(x)?)?.ok(),
            (B::Min2, [a, b]) => extreme(Ordering::Less, &self.folded(a)?, &self.folded(b)?),
            (B::Max2, [a, b]) => extreme(Ordering::Greater, &self.folded(a)?, &self.folded(b)?),
            (_, [a, b]) => arithmetic(operator(builtin)?, &self.folded(a)?, &self.folded(b)?),
            _ => None,
        }
    }

    /// A number as a whole one, rounded as a cast of the language rounds.
    fn fold_cast(&self, x: &Expr, ty: &Ty) -> Option<Const> {
        let Ty::Tensor(ElemTy::Known(elem), _) = ty else {
            return None;
        };
        match (self.folded(x)?, elem.is_int()) {
            (Const::Int(n), true) if super::zonk::fits(n, ty) => Some(Const::Int(n)),
            (Const::Float(x), true) if x.abs() < 2f64.powi(31) && *elem == Elem::I32 => {
                Some(Const::Int(x as i128))
            }
            _ => None,
        }
    }

    /// The element of a list that constant positions name.
    fn element<'e>(&'e self, list: &'e Expr, attrs: &[Attr]) -> Option<&'e Expr> {
        let positions = attrs.iter().find_map(|a| match &a.value {
            Static::Index(items) => Some(items),
            _ => None,
        })?;
        positions.iter().try_fold(list, |list, item| {
            let parts = parts(self.const_value_of(list))?;
            let IndexItem::At(at) = item else {
                return None;
            };
            let at = at.as_int()?;
            let at = if at < 0 { at + parts.len() as i64 } else { at };
            parts.get(usize::try_from(at).ok()?)
        })
    }

    /// What the name of a constant of the block stands for.
    fn const_value_of<'e>(&'e self, e: &'e Expr) -> &'e Expr {
        match &e.kind {
            ExprKind::Local(id) => self.const_values.get(id).unwrap_or(e),
            _ => e,
        }
    }

    fn elements(&self, list: &Expr, out: &mut Vec<Const>) -> Option<()> {
        match parts(self.const_value_of(list)) {
            Some(parts) => parts.iter().try_for_each(|p| self.elements(p, out)),
            None => {
                out.push(self.folded(list)?);
                Some(())
            }
        }
    }
}

pub fn parts(list: &Expr) -> Option<&[Expr]> {
    match &list.kind {
        ExprKind::Fields(parts) => Some(parts),
        ExprKind::Builtin {
            builtin: Builtin::StackList,
            args,
            ..
        } => Some(args),
        _ => None,
    }
}

fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Tensor(_, shape) if shape.is_empty())
}

fn operator(builtin: Builtin) -> Option<BinaryOp> {
    Some(match builtin {
        Builtin::Add => BinaryOp::Add,
        Builtin::Sub => BinaryOp::Sub,
        Builtin::Mul => BinaryOp::Mul,
        Builtin::Div => BinaryOp::Div,
        Builtin::Rem => BinaryOp::Rem,
        Builtin::Pow => BinaryOp::Pow,
        Builtin::Eq => BinaryOp::Eq,
        Builtin::Ne => BinaryOp::Ne,
        Builtin::Lt => BinaryOp::Lt,
        Builtin::Le => BinaryOp::Le,
        Builtin::Gt => BinaryOp::Gt,
        Builtin::Ge => BinaryOp::Ge,
        Builtin::And => BinaryOp::And,
        Builtin::Or => BinaryOp::Or,
        _ => return None,
    })
}

fn arithmetic(op: BinaryOp, a: &Const, b: &Const) -> Option<Const> {
    konst::binary(op, a, b)?.ok()
}

/// Of two whole numbers the one that compares so with the other.
fn extreme(order: Ordering, a: &Const, b: &Const) -> Option<Const> {
    let (x, y) = (a.int()?, b.int()?);
    Some(Const::Int(if x.cmp(&y) == order { x } else { y }))
}
