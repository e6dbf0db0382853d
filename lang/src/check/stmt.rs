//! Statements, blocks and patterns.

use super::cx::{Cx, Place, is_bad};
use super::problem::{Context, Problem};
use super::scope::{Binder, Bound};
use crate::ast::{self, ExprKind as A, Ident, StmtKind as S};
use crate::span::Span;
use crate::typed::{Block, Expr, ExprKind, LocalId, Stmt, StmtKind, Ty};

impl<'a> Cx<'a, '_> {
    /// A block as an expression: its statements in a scope of their own, then its value.
    pub fn block_value(&mut self, block: &'a ast::Block, want: Option<&Ty>, span: Span) -> Expr {
        let (block, ty) = self.block(block, want);
        if block.stmts.is_empty() {
            return match block.value {
                Some(value) => *value,
                None => unit(span),
            };
        }
        Expr {
            kind: ExprKind::Block(block),
            ty,
            span,
        }
    }

    pub fn block(&mut self, block: &'a ast::Block, want: Option<&Ty>) -> (Block, Ty) {
        let mark = self.scope.open();
        let mut out = Block::default();
        self.stmts(&block.stmts, &mut out.stmts);
        let ty = self.block_end(block.value.as_deref(), want, &mut out);
        self.close_scope(mark);
        (out, ty)
    }

    fn block_end(
        &mut self,
        value: Option<&'a ast::Expr>,
        want: Option<&Ty>,
        out: &mut Block,
    ) -> Ty {
        match value {
            // An effect may stand last without its semicolon.
            Some(e) if self.is_effect(e) => {
                let settle = self.infer.mark();
                out.stmts.extend(self.effect(e));
                self.infer.settle(settle);
                Ty::unit()
            }
            Some(e) => {
                let value = self.expr(e, want);
                let ty = value.ty.clone();
                out.value = Some(Box::new(value));
                ty
            }
            None => Ty::unit(),
        }
    }

    pub fn stmts(&mut self, stmts: &'a [ast::Stmt], out: &mut Vec<Stmt>) {
        for stmt in stmts {
            let mark = self.infer.mark();
            self.stmt(stmt, out);
            self.infer.settle(mark);
        }
    }

    pub fn stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match &stmt.kind {
            S::Let {
                pattern,
                mutable,
                ty,
                value,
            } => self.let_stmt(pattern, *mutable, ty.as_ref(), value),
            S::Const(def) => self.local_const(def),
            S::Assign { target, value } => self.assign(target, value, span),
            S::For {
                pattern,
                iter,
                body,
            } => self.for_stmt(pattern, iter, body),
            S::While { cond, body } => self.while_stmt(cond, body),
            S::Return(_) => {
                self.report(Problem::ReturnHere {
                    span,
                    in_loop: self.loop_depth > 0,
                });
                None
            }
            S::Expr(e) if self.is_effect(e) => {
                out.extend(self.effect(e));
                None
            }
            S::Expr(e) => self.expr_stmt(e),
            S::Error => None,
        };
        out.extend(kind.map(|kind| Stmt { kind, span }));
    }

    pub fn expr_stmt(&mut self, e: &'a ast::Expr) -> Option<StmtKind> {
        let value = match &e.kind {
            A::If {
                cond,
                then,
                otherwise,
            } => self.if_stmt(cond, then, otherwise.as_deref(), e.span),
            _ => self.expr(e, None),
        };
        if is_bad(&value) {
            return None;
        }
        if !matches!(e.kind, A::If { .. } | A::Block(_)) {
            self.lint_dropped(e, &value);
        }
        Some(StmtKind::Expr(value))
    }

    fn assign(
        &mut self,
        target: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let Some((local, path, ty)) = self.assigned_place(target) else {
            self.expr(value, None);
            return None;
        };
        let index = local.0 as usize;
        let context = Context::Assign {
            name: self.text(target.span).into(),
            definition: self.locals[index].span,
            in_loop: self.loop_depth > self.local_depth[index],
        };
        let value = self.check(value, &ty, context);
        if let Some(set) = self.assigned.last_mut() {
            set.insert(local);
        }
        self.local_consts.remove(&local);
        let _ = span;
        if is_bad(&value) {
            return None;
        }
        Some(StmtKind::Assign { local, path, value })
    }

    /// The variable and the fields down to what is assigned; reports what cannot be.
    fn assigned_place(&mut self, target: &'a ast::Expr) -> Option<(LocalId, Vec<usize>, Ty)> {
        match &target.kind {
            A::Name(name) => {
                let Some(local) = self.scope.get_for_assignment(name) else {
                    let bound = self.scope.get(name).map(|b| &b.bound);
                    if matches!(bound, Some(Bound::Bad)) {
                        return None;
                    }
                    if self.scope.get(name).is_none()
                        && self.w.lookup(self.module, name).is_none()
                        && self.generic(name).is_none()
                    {
                        self.unknown(&Ident::new(name.clone(), target.span), "variable");
                        // What uses it from here on is no mistake of its own.
                        let binder = Binder::Mutable;
                        (self.scope).bind(name.clone(), target.span, binder, Bound::Bad);
                    } else {
                        self.report(Problem::NotAssignable {
                            span: target.span,
                            name: name.clone(),
                            definition: None,
                            in_lambda: false,
                        });
                    }
                    return None;
                };
                let info = &self.locals[local.0 as usize];
                if matches!(info.ty, Ty::Error) {
                    return None;
                }
                let in_lambda = self.lambda_depth > 0 && local.0 < self.lambda_floor;
                if !info.mutable || in_lambda {
                    let binder = self.scope.peek(name).map(|b| b.binder);
                    let is_given = matches!(binder, Some(Binder::Parameter | Binder::Loop));
                    let definition = Some((info.span, is_given)).filter(|_| !in_lambda);
                    self.report(Problem::NotAssignable {
                        span: target.span,
                        name: name.clone(),
                        definition,
                        in_lambda,
                    });
                    return None;
                }
                let ty = info.ty.clone();
                Some((local, Vec::new(), ty))
            }
            A::Field(base, name) => {
                let (local, mut path, ty) = self.assigned_place(base)?;
                match self.infer.head(&ty) {
                    Ty::Record(fields) => match fields.place(&name.node) {
                        Some(i) => {
                            path.push(i);
                            Some((local, path, fields[i].1.clone()))
                        }
                        None => {
                            self.no_field(name, base.span, fields);
                            None
                        }
                    },
                    ty => {
                        self.report(Problem::NoField {
                            span: name.span,
                            name: name.node.clone(),
                            base: base.span,
                            ty,
                            near: None,
                        });
                        None
                    }
                }
            }
            A::TupleField(base, index) => {
                let (local, mut path, ty) = self.assigned_place(base)?;
                match self.infer.head(&ty) {
                    Ty::Tuple(fields) if (index.node as usize) < fields.len() => {
                        path.push(index.node as usize);
                        Some((local, path, fields[index.node as usize].clone()))
                    }
                    ty => {
                        self.report(Problem::NoTupleField {
                            span: target.span,
                            index: index.node,
                            ty,
                        });
                        None
                    }
                }
            }
            // The parser has reported anything else.
            _ => None,
        }
    }

    /// Whether effects may stand here.
    pub fn in_script(&self) -> bool {
        self.place == Place::Script && self.lambda_depth == 0
    }
}

pub fn unit(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Fields(Vec::new()),
        ty: Ty::unit(),
        span,
    }
}
