//! Bodies with early returns: `return` is normalised away.
//!
//! What follows an `if` that returns moves into its other branch:
//!
//! ```text
//! if c { return a; }          if c { a }
//! let y = f(x);         →     else { let y = f(x); y + 1 }
//! y + 1
//! ```
//!
//! Where an `if` only sometimes returns, what follows is wanted in several branches, and is checked in each.

use super::cx::{Cx, is_bad};
use super::problem::{Context, Problem};
use super::stmt::unit;
use crate::ast::{self, ExprKind as A, StmtKind as S};
use crate::span::Span;
use crate::typed::{Block, Expr, ExprKind, Stmt, Ty};

/// What is still to come when a sequence of statements ends: the rest of the sequence around it.
struct Rest<'c, 'a> {
    stmts: &'a [ast::Stmt],
    value: Option<&'a ast::Expr>,
    next: Option<&'c Rest<'c, 'a>>,
}

/// How many statements may be checked again because of returns, before it is an error.
const REPEATS: usize = 4096;

impl<'a> Cx<'a, '_> {
    /// The block of a function: its value is the result, and `return` may stand in it.
    pub fn body(
        &mut self,
        block: &'a ast::Block,
        ret: &Ty,
        name: &ast::Name,
        ret_span: Span,
    ) -> Block {
        let context = || Context::Return {
            name: name.clone(),
            ty: ret_span,
        };
        if !returns(block) {
            let mark = self.infer.mark();
            let (mut out, ty) = self.block(block, Some(ret));
            match out.value.take() {
                Some(value) => out.value = Some(Box::new(self.coerce(*value, ret, context()))),
                None if matches!(ty, Ty::Error) => {}
                None => self.missing_value(block, ret, name),
            }
            self.infer.settle(mark);
            return out;
        }
        let mut budget = REPEATS;
        let mark = self.scope.open();
        let out = self.tail(
            &block.stmts,
            block.value.as_deref(),
            None,
            &mut budget,
            &Ending {
                block,
                ret,
                name,
                ret_span,
            },
        );
        self.close_scope(mark);
        out
    }

    fn missing_value(&mut self, block: &ast::Block, ret: &Ty, name: &ast::Name) {
        if self.infer.unify(ret, &Ty::unit()).is_err() {
            let last = block.stmts.last();
            if let Some(S::Expr(e)) = last.map(|s| &s.kind)
                && let A::If { .. } = e.kind
            {
                self.report(Problem::IfWithoutElse {
                    span: e.span,
                    ty: ret.clone(),
                });
                return;
            }
            let dropped = last.and_then(|s| match &s.kind {
                S::Expr(e) if self.text(s.span).ends_with(';') => Some(e.span),
                _ => None,
            });
            self.report(Problem::MissingValue {
                span: block.span,
                name: name.clone(),
                ret: ret.clone(),
                dropped,
            });
        }
    }

    fn tail(
        &mut self,
        stmts: &'a [ast::Stmt],
        value: Option<&'a ast::Expr>,
        next: Option<&Rest<'_, 'a>>,
        budget: &mut usize,
        end: &Ending<'_, 'a>,
    ) -> Block {
        let mut out = Block::default();
        for (i, stmt) in stmts.iter().enumerate() {
            let after = &stmts[i + 1..];
            let rest = Rest {
                stmts: after,
                value,
                next,
            };
            match &stmt.kind {
                S::Return(result) => {
                    out.value = Some(Box::new(self.result(result.as_ref(), stmt.span, end)));
                    self.unreachable(after, value, stmt.span);
                    return out;
                }
                S::Expr(e) if expr_returns(e) => {
                    let value = self.tail_expr(e, Some(&rest), budget, end);
                    out.value = Some(Box::new(value));
                    if always_returns(e) {
                        self.unreachable(after, rest.value, e.span);
                    }
                    return out;
                }
                _ => {
                    let mark = self.infer.mark();
                    self.stmt(stmt, &mut out.stmts);
                    self.infer.settle(mark);
                }
            }
        }
        match (value, next) {
            (Some(e), next) if expr_returns(e) => {
                out.value = Some(Box::new(self.tail_expr(e, next, budget, end)));
            }
            (Some(e), None) => {
                out.value = Some(Box::new(self.result(Some(e), e.span, end)));
            }
            (None, None) => self.missing_value(end.block, end.ret, end.name),
            (value, Some(rest)) => {
                // Its value goes nowhere, but it may assign.
                if let Some(e) = value {
                    let mark = self.infer.mark();
                    let kind = self.expr_stmt(e);
                    let span = e.span;
                    out.stmts.extend(kind.map(|kind| Stmt { kind, span }));
                    self.infer.settle(mark);
                }
                let cost = rest.stmts.len() + 1;
                if *budget < cost {
                    self.report(Problem::TooManyReturns {
                        span: end.block.span,
                        name: end.name.clone(),
                    });
                    return out;
                }
                *budget -= cost;
                let more = self.tail(rest.stmts, rest.value, rest.next, budget, end);
                out.stmts.extend(more.stmts);
                out.value = more.value;
            }
        }
        out
    }

    /// What follows a `return` in its block: its own mistakes are still worth telling.
    fn unreachable(&mut self, stmts: &'a [ast::Stmt], value: Option<&'a ast::Expr>, after: Span) {
        let first = stmts.first().map(|s| s.span);
        let Some(span) = first.or(value.map(|v| v.span)) else {
            return;
        };
        self.report(Problem::Unreachable { span, after });
        let mark = self.infer.mark();
        let mut dropped = Vec::new();
        for stmt in stmts {
            match &stmt.kind {
                S::Return(Some(e)) => drop(self.expr(e, None)),
                S::Return(None) => {}
                S::Expr(e) if expr_returns(e) => {}
                _ => self.stmt(stmt, &mut dropped),
            }
        }
        if let Some(e) = value.filter(|e| !expr_returns(e)) {
            self.expr(e, None);
        }
        self.infer.settle(mark);
    }

    /// An `if` or a block that returns somewhere inside, and what follows it.
    fn tail_expr(
        &mut self,
        e: &'a ast::Expr,
        rest: Option<&Rest<'_, 'a>>,
        budget: &mut usize,
        end: &Ending<'_, 'a>,
    ) -> Expr {
        match &e.kind {
            A::If {
                cond,
                then,
                otherwise,
            } => {
                let mark = self.infer.mark();
                let cond = self.condition(cond);
                self.infer.settle(mark);
                let ((then, otherwise), assigned) = self.watching(|cx| {
                    let then =
                        cx.where_it_is(&cond, true, |cx| cx.tail_block(then, rest, budget, end));
                    let otherwise = cx.where_it_is(&cond, false, |cx| match otherwise.as_deref() {
                        Some(other) => {
                            let value = cx.tail_expr(other, rest, budget, end);
                            Block {
                                stmts: Vec::new(),
                                value: Some(Box::new(value)),
                            }
                        }
                        None => match rest {
                            Some(rest) => {
                                let mark = cx.scope.open();
                                let block = cx.tail(rest.stmts, rest.value, rest.next, budget, end);
                                cx.close_scope(mark);
                                block
                            }
                            None => {
                                cx.missing_value(end.block, end.ret, end.name);
                                Block::default()
                            }
                        },
                    });
                    (then, otherwise)
                });
                let ty = if is_bad(&cond) {
                    Ty::Error
                } else {
                    end.ret.clone()
                };
                Expr {
                    kind: ExprKind::If {
                        cond: Box::new(cond),
                        then,
                        otherwise,
                        assigned,
                    },
                    ty,
                    span: e.span,
                }
            }
            A::Block(block) => {
                let block = self.tail_block(block, rest, budget, end);
                Expr {
                    kind: ExprKind::Block(block),
                    ty: end.ret.clone(),
                    span: e.span,
                }
            }
            _ => self.result(Some(e), e.span, end),
        }
    }

    fn tail_block(
        &mut self,
        block: &'a ast::Block,
        rest: Option<&Rest<'_, 'a>>,
        budget: &mut usize,
        end: &Ending<'_, 'a>,
    ) -> Block {
        let mark = self.scope.open();
        let out = self.tail(&block.stmts, block.value.as_deref(), rest, budget, end);
        self.close_scope(mark);
        out
    }

    fn result(&mut self, e: Option<&'a ast::Expr>, span: Span, end: &Ending<'_, 'a>) -> Expr {
        let mark = self.infer.mark();
        let value = match e {
            Some(e) => self.expr(e, Some(end.ret)),
            None => unit(span),
        };
        let context = Context::Return {
            name: end.name.clone(),
            ty: end.ret_span,
        };
        let value = self.coerce(value, end.ret, context);
        self.infer.settle(mark);
        value
    }
}

/// What the end of the function asks for.
struct Ending<'e, 'a> {
    block: &'a ast::Block,
    ret: &'e Ty,
    name: &'e ast::Name,
    ret_span: Span,
}

/// Whether a `return` stands in statements of the block that are not in a loop.
fn returns(block: &ast::Block) -> bool {
    block.stmts.iter().any(|s| match &s.kind {
        S::Return(_) => true,
        S::Expr(e) => expr_returns(e),
        _ => false,
    }) || block.value.as_deref().is_some_and(expr_returns)
}

fn expr_returns(e: &ast::Expr) -> bool {
    match &e.kind {
        A::If {
            then, otherwise, ..
        } => returns(then) || otherwise.as_deref().is_some_and(expr_returns),
        A::Block(block) => returns(block),
        _ => false,
    }
}

/// Whether every way through an `if` or a block returns.
fn always_returns(e: &ast::Expr) -> bool {
    let block = |block: &ast::Block| {
        let last = block.value.as_deref();
        last.is_some_and(always_returns)
            || block.stmts.iter().any(|s| match &s.kind {
                S::Return(_) => true,
                S::Expr(e) => always_returns(e),
                _ => false,
            })
    };
    match &e.kind {
        A::If {
            then, otherwise, ..
        } => block(then) && otherwise.as_deref().is_some_and(always_returns),
        A::Block(inner) => block(inner),
        _ => false,
    }
}
