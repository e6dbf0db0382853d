//! `for` and `while`.

use super::cx::{Cx, bad, is_bad};
use super::func::Form;
use super::problem::{Context, Problem};
use crate::ast::{self};
use crate::typed::{Block, Expr, ForIter, LocalId, ShapeItem, StmtKind, Ty};
use std::collections::BTreeSet;

impl<'a> Cx<'a, '_> {
    pub fn for_stmt(
        &mut self,
        pattern: &'a ast::Pattern,
        iter: &'a ast::ForIter,
        body: &'a ast::Block,
    ) -> Option<StmtKind> {
        let (iter, item) = match iter {
            ast::ForIter::Range(lo, hi) => {
                let i32 = Ty::scalar(crate::typed::Elem::I32);
                let lo = self.check(lo, &i32, Context::Bound);
                let hi = self.check(hi, &i32, Context::Bound);
                (ForIter::Range(lo, hi), i32)
            }
            ast::ForIter::Over(e) if self.calls_form(e) == Some(Form::Batches) => {
                let (args, named) = match &e.kind {
                    ast::ExprKind::Call { args, named, .. } => (args.as_slice(), named.as_slice()),
                    _ => (&[] as &[_], &[] as &[_]),
                };
                match self.batches(args, named, e.span) {
                    Some((batches, ty)) => (ForIter::Batches(Box::new(batches)), ty),
                    None => (ForIter::Over(bad(e.span)), Ty::Error),
                }
            }
            ast::ForIter::Over(e) => {
                let rows = self.expr(e, None);
                let item = self.row_type(&rows).unwrap_or(Ty::Error);
                (ForIter::Over(rows), item)
            }
        };
        self.no_name_twice(std::iter::once(pattern));
        let ((pattern, body), carried) = self.watching(|cx| {
            let mark = cx.scope.open();
            cx.loop_depth += 1;
            let pattern = cx.bind_pattern(pattern, &item, super::scope::Binder::Loop);
            let body = cx.loop_body(body);
            cx.loop_depth -= 1;
            cx.scope.close(mark);
            (pattern, body)
        });
        let failed = match &iter {
            ForIter::Range(lo, hi) => is_bad(lo) || is_bad(hi),
            ForIter::Over(e) => is_bad(e) || matches!(item, Ty::Error),
            ForIter::Batches(_) => false,
        };
        (!failed).then_some(StmtKind::For {
            pattern,
            iter,
            body,
            carried,
        })
    }

    fn loop_body(&mut self, body: &'a ast::Block) -> Block {
        let (block, ty) = self.block(body, None);
        self.lint_loop_value(body, &ty);
        block
    }

    pub fn while_stmt(&mut self, cond: &'a ast::Expr, body: &'a ast::Block) -> Option<StmtKind> {
        let ((cond, body), carried) = self.watching(|cx| {
            cx.loop_depth += 1;
            let cond = cx.condition(cond);
            let body = cx.loop_body(body);
            cx.loop_depth -= 1;
            (cond, body)
        });
        (!is_bad(&cond)).then_some(StmtKind::While {
            cond,
            body,
            carried,
        })
    }

    /// The type of what a loop or `scan` meets: a row of a tensor, or of every tensor of a tree of equal lengths.
    pub fn row_type(&mut self, rows: &Expr) -> Option<Ty> {
        let ty = self.infer.ty(&rows.ty);
        if matches!(ty, Ty::Error) {
            return None;
        }
        let mut length: Option<crate::typed::Dim> = None;
        for (path, leaf) in super::subst::leaves(&ty) {
            let first = match &leaf {
                Ty::Tensor(_, shape) => match shape.first() {
                    Some(ShapeItem::Dim(d)) => Some(d.clone()),
                    _ => None,
                },
                _ => None,
            };
            let Some(first) = first else {
                self.report(Problem::NoRows {
                    span: rows.span,
                    ty: leaf,
                });
                return None;
            };
            match &length {
                Some(n) if !super::poly::equal(n, &first) => {
                    self.report(Problem::RowsDiffer {
                        span: rows.span,
                        path,
                        first: n.clone(),
                        other: first,
                    });
                    return None;
                }
                Some(_) => {}
                None => length = Some(first),
            }
        }
        if length.is_none() {
            self.report(Problem::NoRows {
                span: rows.span,
                ty,
            });
            return None;
        }
        Some(super::subst::map_leaves(&ty, &mut |leaf| match leaf {
            Ty::Tensor(elem, shape) => Ty::Tensor(elem.clone(), shape[1..].to_vec()),
            other => other.clone(),
        }))
    }

    // Loops.

    /// Runs `f` and gives the variables from outside that it assigned, in order.
    pub fn watching<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Vec<LocalId>) {
        let floor = LocalId(self.locals.len() as u32);
        self.assigned.push(BTreeSet::new());
        let out = f(self);
        let set = self.assigned.pop().unwrap_or_default();
        let outside: Vec<LocalId> = set.into_iter().filter(|id| *id < floor).collect();
        if let Some(outer) = self.assigned.last_mut() {
            outer.extend(outside.iter().copied());
        }
        (out, outside)
    }
}
