//! `if`, as a statement and as a value.

use super::cx::{Cx, bad, is_bad};
use super::konst::Const;
use super::problem::Problem;
use super::shape::same_shape;
use crate::ast::{self, ExprKind as A};
use crate::span::Span;
use crate::typed::{Block, Expr, ExprKind, Stmt, StmtKind, Ty};

impl<'a> Cx<'a, '_> {
    // Branches.

    pub fn condition(&mut self, cond: &'a ast::Expr) -> Expr {
        let cond = self.expr(cond, None);
        if is_bad(&cond) {
            return cond;
        }
        let bool = Ty::scalar(crate::typed::Elem::Bool);
        if self.infer.unify(&bool, &cond.ty).is_err() {
            let ty = self.infer.ty(&cond.ty);
            self.report(Problem::NotACondition {
                span: cond.span,
                ty,
                text: self.text(cond.span).into(),
            });
            return bad(cond.span);
        }
        cond
    }

    pub fn if_stmt(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Block,
        otherwise: Option<&'a ast::Expr>,
        span: Span,
    ) -> Expr {
        let cond = self.condition(cond);
        let ((then, otherwise), assigned) = self.watching(|cx| {
            let then = cx.where_it_is(&cond, true, |cx| cx.branch_for_effect(then));
            let otherwise = cx.where_it_is(&cond, false, |cx| {
                match otherwise.map(|e| (&e.kind, e.span)) {
                    None => Block::default(),
                    Some((A::Block(block), _)) => cx.branch_for_effect(block),
                    Some((
                        A::If {
                            cond,
                            then,
                            otherwise,
                        },
                        span,
                    )) => {
                        let nested = cx.if_stmt(cond, then, otherwise.as_deref(), span);
                        block_of(nested)
                    }
                    Some(_) => Block::default(),
                }
            });
            (then, otherwise)
        });
        if is_bad(&cond) {
            return bad(span);
        }
        Expr {
            kind: ExprKind::If {
                cond: Box::new(cond),
                then,
                otherwise,
                assigned,
            },
            ty: Ty::unit(),
            span,
        }
    }

    /// A branch of an `if` whose value nobody takes.
    fn branch_for_effect(&mut self, block: &'a ast::Block) -> Block {
        let (mut out, ty) = self.block(block, None);
        self.lint_loop_value(block, &ty);
        if let Some(value) = out.value.take()
            && !is_bad(&value)
        {
            let span = value.span;
            out.stmts.push(Stmt {
                kind: StmtKind::Expr(*value),
                span,
            });
        }
        out
    }

    pub fn if_value(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Block,
        otherwise: Option<&'a ast::Expr>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let cond = self.condition(cond);
        let ((then, then_ty, otherwise, other_ty, other_span), assigned) = self.watching(|cx| {
            let (then, then_ty) = cx.where_it_is(&cond, true, |cx| cx.block(then, want));
            let (otherwise, other_ty, other_span) = match otherwise {
                None => (Block::default(), Ty::unit(), span),
                Some(e) => {
                    let at = match &e.kind {
                        A::Block(b) => b.value.as_ref().map_or(e.span, |v| v.span),
                        _ => e.span,
                    };
                    let (block, ty) = cx.where_it_is(&cond, false, |cx| match &e.kind {
                        A::Block(block) => cx.block(block, want),
                        _ => {
                            let value = cx.expr(e, want);
                            let ty = value.ty.clone();
                            (block_of(value), ty)
                        }
                    });
                    (block, ty, at)
                }
            };
            (then, then_ty, otherwise, other_ty, other_span)
        });
        if otherwise_missing(&otherwise, &other_ty, &then_ty) && other_span == span {
            self.report(Problem::IfWithoutElse {
                span,
                ty: self.infer.ty(&then_ty),
            });
            return bad(span);
        }
        let before = self
            .const_of(&cond)
            .map(|known| (known, self.infer.clone()));
        if self.infer.unify(&then_ty, &other_ty).is_err() {
            // A branch that is never taken has no say in the type.
            if let Some((Const::Bool(is_taken), before)) = before {
                self.infer = before;
                let (taken, ty) = match is_taken {
                    true => (then, then_ty),
                    false => (otherwise, other_ty),
                };
                return Expr {
                    kind: ExprKind::Block(taken),
                    ty,
                    span,
                };
            }
            let (first, second) = (self.infer.ty(&then_ty), self.infer.ty(&other_ty));
            let first_span = then.value.as_ref().map_or(span, |v| v.span);
            let help = match (&first, &second) {
                (Ty::Tensor(_, a), Ty::Tensor(_, b)) if same_shape(a, b) => {
                    self.cast_help((&first, first_span), (&second, other_span))
                }
                _ => None,
            };
            self.report(Problem::BranchesDiffer {
                first,
                first_span,
                second,
                second_span: other_span,
                help,
            });
            return bad(span);
        }
        if is_bad(&cond) {
            return bad(span);
        }
        let ty = if matches!(then_ty, Ty::Error) {
            other_ty
        } else {
            then_ty
        };
        Expr {
            kind: ExprKind::If {
                cond: Box::new(cond),
                then,
                otherwise,
                assigned,
            },
            ty,
            span,
        }
    }
}

fn otherwise_missing(otherwise: &Block, other: &Ty, then: &Ty) -> bool {
    otherwise.stmts.is_empty()
        && otherwise.value.is_none()
        && *other == Ty::unit()
        && *then != Ty::unit()
        && !matches!(then, Ty::Error)
}

fn block_of(value: Expr) -> Block {
    Block {
        stmts: Vec::new(),
        value: Some(Box::new(value)),
    }
}
