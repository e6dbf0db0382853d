//! Statements, blocks and patterns.

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::Val;
use crate::ir::{Op, Value};
use tpuc_lang::typed::{Block, Pattern, Stmt, StmtKind};

impl Specialiser<'_> {
    /// Runs the statements and gives the value of the final expression.
    pub(crate) fn block(&mut self, frame: &mut Frame, block: &Block) -> Result<Val> {
        for stmt in &block.stmts {
            self.stmt(frame, stmt)?;
        }
        match &block.value {
            Some(e) => self.expr(frame, e),
            None => Ok(Val::unit()),
        }
    }

    fn stmt(&mut self, frame: &mut Frame, stmt: &Stmt) -> Result<()> {
        self.b.span = stmt.span;
        match &stmt.kind {
            StmtKind::Let { pattern, value } => {
                let val = self.expr(frame, value)?;
                self.bind(frame, pattern, val);
            }
            StmtKind::Assign { local, path, value } => {
                let val = self.expr(frame, value)?;
                let whole = frame.local(*local).clone();
                frame.locals.insert(*local, replace(whole, path, val));
            }
            StmtKind::For {
                pattern,
                iter,
                body,
                carried,
            } => {
                self.for_loop(frame, pattern, iter, body, carried, stmt.span)?;
            }
            StmtKind::While {
                cond,
                body,
                carried,
            } => self.while_loop(frame, cond, body, carried)?,
            StmtKind::Expr(e) => {
                self.expr(frame, e)?;
            }
            StmtKind::Effect(effect) => self.effect(frame, effect)?,
        }
        Ok(())
    }

    /// Gives the variables of a pattern their values. A tensor (an array of keys) is taken apart along axis 0.
    pub(crate) fn bind(&mut self, frame: &mut Frame, pattern: &Pattern, val: Val) {
        match pattern {
            Pattern::Wild => {}
            Pattern::Local(id) => {
                frame.locals.insert(*id, val);
            }
            Pattern::Fields(parts) => {
                let fields = match val {
                    Val::Fields(fields) => fields,
                    Val::Tensor(v) => (0..parts.len())
                        .map(|i| Val::Tensor(self.row(v, i)))
                        .collect(),
                    Val::Closure(_) => unreachable!("the checker does not take functions apart"),
                };
                for (part, field) in parts.iter().zip(fields) {
                    self.bind(frame, part, field);
                }
            }
        }
    }

    /// `v[i]` at a constant position of axis 0.
    pub(crate) fn row(&mut self, v: Value, i: usize) -> Value {
        let shape = self.b.ty(v).shape.clone();
        let mut start = vec![0; shape.len()];
        let mut limit = shape.clone();
        (start[0], limit[0]) = (i, i + 1);
        let row = self.b.op(
            Op::Slice {
                start,
                limit,
                stride: vec![1; shape.len()],
            },
            &[v],
        );
        self.b.op(
            Op::Reshape {
                shape: shape[1..].to_vec(),
            },
            &[row],
        )
    }
}

/// `whole` with the part at `path` replaced.
fn replace(whole: Val, path: &[usize], part: Val) -> Val {
    match (path, whole) {
        ([], _) => part,
        ([first, rest @ ..], Val::Fields(mut fields)) => {
            let inner = fields[*first].clone();
            fields[*first] = replace(inner, rest, part);
            Val::Fields(fields)
        }
        ([_, ..], Val::Tensor(_) | Val::Closure(_)) => {
            unreachable!("the checker follows paths through fields only")
        }
    }
}
