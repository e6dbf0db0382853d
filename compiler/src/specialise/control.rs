//! Loops and branches: `for` of known length → scan, of unknown → while; `if` on a constant is decided here.

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::Val;
use crate::ir::{BinaryOp, CompareOp, Elem, Literal, Op, Type, Value};
use tpuc_lang::span::Span;
use tpuc_lang::typed::{Block, Callee, Expr, ForIter, LocalId, Pattern};

impl Specialiser<'_> {
    pub(crate) fn for_loop(
        &mut self,
        frame: &mut Frame,
        pattern: &Pattern,
        iter: &ForIter,
        body: &Block,
        carried: &[LocalId],
        span: Span,
    ) -> Result<()> {
        match iter {
            ForIter::Over(e) => {
                let rows = self.expr(frame, e)?;
                let xs = rows.leaves();
                let length = self.b.ty(xs[0]).shape[0];
                self.counted(frame, length, carried, &xs, span, |s, frame, _, slices| {
                    let row = rows.rebuild(&mut slices.iter().copied());
                    s.bind(frame, pattern, row);
                    s.block(frame, body).map(|_| ())
                })
            }
            ForIter::Batches(b) => {
                let key = self.expr(frame, &b.key)?.tensor();
                self.counted(frame, b.count, carried, &[], span, |s, frame, i, _| {
                    let batch = s.batch(frame, b, (key, i), b.key.span)?;
                    s.bind(frame, pattern, batch);
                    s.block(frame, body).map(|_| ())
                })
            }
            ForIter::Range(lo, hi) => {
                match (self.static_int(frame, lo), self.static_int(frame, hi)) {
                    (Some(lo), Some(hi)) => {
                        let length = usize::try_from((hi - lo).max(0)).unwrap_or(0);
                        self.counted(frame, length, carried, &[], span, |s, frame, i, _| {
                            let index = if lo == 0 { i } else { s.add_i32(i, lo) };
                            s.bind(frame, pattern, Val::Tensor(index));
                            s.block(frame, body).map(|_| ())
                        })
                    }
                    _ => self.dynamic_range(frame, pattern, lo, hi, body, carried),
                }
            }
        }
    }

    /// A scan without ys: `body` gets the position and the slices of `xs`.
    fn counted(
        &mut self,
        frame: &mut Frame,
        length: usize,
        carried: &[LocalId],
        xs: &[Value],
        span: Span,
        body: impl FnOnce(&mut Self, &mut Frame, Value, &[Value]) -> Result<()>,
    ) -> Result<()> {
        let init = carried_leaves(frame, carried);
        let mut inner = frame.clone();
        self.b.open_region();
        let i = self.b.param(Type::scalar(Elem::I32));
        self.carry_params(&mut inner, carried);
        let slices: Vec<Value> = xs.iter().map(|&x| self.slice_param(x)).collect();
        let done = body(self, &mut inner, i, &slices);
        let region = self.b.close_region(carried_leaves(&inner, carried));
        done?;
        let carry = init.len();
        let args = init.into_iter().chain(xs.iter().copied()).collect();
        self.b.span = span;
        let out = self.b.push(
            Op::Scan {
                length,
                reverse: false,
                carry,
            },
            args,
            vec![region],
        );
        rebind(frame, carried, &out);
        Ok(())
    }

    fn dynamic_range(
        &mut self,
        frame: &mut Frame,
        pattern: &Pattern,
        lo: &Expr,
        hi: &Expr,
        body: &Block,
        carried: &[LocalId],
    ) -> Result<()> {
        let lo = self.expr(frame, lo)?.tensor();
        let hi = self.expr(frame, hi)?.tensor();
        let mut inits = vec![lo];
        inits.extend(carried_leaves(frame, carried));
        let span = self.b.span;

        self.b.open_region();
        let i = self.b.param(Type::scalar(Elem::I32));
        self.carry_params(&mut frame.clone(), carried);
        let more = self.b.op(Op::Compare(CompareOp::Lt), &[i, hi]);
        let cond = self.b.close_region(vec![more]);

        let mut inner = frame.clone();
        self.b.open_region();
        let i = self.b.param(Type::scalar(Elem::I32));
        self.carry_params(&mut inner, carried);
        self.bind(&mut inner, pattern, Val::Tensor(i));
        let done = self.block(&mut inner, body);
        let mut results = vec![self.add_i32(i, 1)];
        results.extend(carried_leaves(&inner, carried));
        let body = self.b.close_region(results);
        done?;

        self.b.span = span;
        let out = self.b.push(Op::While, inits, vec![cond, body]);
        rebind(frame, carried, &out[1..]);
        Ok(())
    }

    pub(crate) fn while_loop(
        &mut self,
        frame: &mut Frame,
        cond: &Expr,
        body: &Block,
        carried: &[LocalId],
    ) -> Result<()> {
        let init = carried_leaves(frame, carried);
        let span = self.b.span;

        let mut inner = frame.clone();
        self.b.open_region();
        self.carry_params(&mut inner, carried);
        let go = self.expr(&mut inner, cond);
        let cond = self.b.close_region(go.iter().map(Val::tensor).collect());
        go?;

        let mut inner = frame.clone();
        self.b.open_region();
        self.carry_params(&mut inner, carried);
        let done = self.block(&mut inner, body);
        let body = self.b.close_region(carried_leaves(&inner, carried));
        done?;

        self.b.span = span;
        let out = self.b.push(Op::While, init, vec![cond, body]);
        rebind(frame, carried, &out);
        Ok(())
    }

    pub(crate) fn branch(
        &mut self,
        frame: &mut Frame,
        cond: &Expr,
        then: &Block,
        otherwise: &Block,
        assigned: &[LocalId],
        span: Span,
    ) -> Result<Val> {
        if let Some(known) = self.static_bool(frame, cond) {
            return self.block(frame, if known { then } else { otherwise });
        }
        let pred = self.expr(frame, cond)?.tensor();
        let mut regions = Vec::new();
        let mut value = Val::unit();
        for block in [then, otherwise] {
            let mut inner = frame.clone();
            self.b.open_region();
            let result = self.block(&mut inner, block);
            let mut leaves = result.as_ref().map(Val::leaves).unwrap_or_default();
            leaves.extend(carried_leaves(&inner, assigned));
            regions.push(self.b.close_region(leaves));
            value = result?;
        }
        self.b.span = span;
        let out = self.b.push(Op::If, vec![pred], regions);
        let split = value.leaves().len();
        rebind(frame, assigned, &out[split..]);
        Ok(value.rebuild(&mut out[..split].iter().copied()))
    }

    /// `scan(f, init, xs)`.
    pub(crate) fn scan(
        &mut self,
        frame: &mut Frame,
        callee: &Callee,
        init: &Expr,
        xs: &Expr,
        span: Span,
    ) -> Result<Val> {
        let init = self.expr(frame, init)?;
        let xs = self.expr(frame, xs)?;
        let (carry_leaves, x_leaves) = (init.leaves(), xs.leaves());
        let length = self.b.ty(x_leaves[0]).shape[0];

        self.b.open_region();
        self.b.param(Type::scalar(Elem::I32));
        let carries: Vec<Value> = carry_leaves.iter().map(|&v| self.like_param(v)).collect();
        let slices: Vec<Value> = x_leaves.iter().map(|&x| self.slice_param(x)).collect();
        let carry = init.rebuild(&mut carries.into_iter());
        let x = xs.rebuild(&mut slices.into_iter());
        let result = self.call(frame, callee, vec![carry, x], span);
        let region = self
            .b
            .close_region(result.as_ref().map(Val::leaves).unwrap_or_default());
        let result = result?;

        let carry = carry_leaves.len();
        let args = carry_leaves.into_iter().chain(x_leaves).collect();
        self.b.span = span;
        let out = self.b.push(
            Op::Scan {
                length,
                reverse: false,
                carry,
            },
            args,
            vec![region],
        );
        Ok(result.rebuild(&mut out.into_iter()))
    }

    /// A parameter of the type of `v`.
    fn like_param(&mut self, v: Value) -> Value {
        let ty = self.b.ty(v).clone();
        self.b.param(ty)
    }

    /// A parameter for one row of `x`.
    fn slice_param(&mut self, x: Value) -> Value {
        let ty = self.b.ty(x);
        let row = Type::new(ty.elem, ty.shape[1..].to_vec());
        self.b.param(row)
    }

    fn carry_params(&mut self, frame: &mut Frame, carried: &[LocalId]) {
        for id in carried {
            let val = frame.local(*id).clone();
            let params: Vec<Value> = val
                .leaves()
                .into_iter()
                .map(|v| self.like_param(v))
                .collect();
            frame
                .locals
                .insert(*id, val.rebuild(&mut params.into_iter()));
        }
    }

    fn add_i32(&mut self, i: Value, n: i64) -> Value {
        let offset = self.b.op(
            Op::Constant(Literal::splat_i64(Type::scalar(Elem::I32), n)),
            &[],
        );
        self.b.op(Op::Binary(BinaryOp::Add), &[i, offset])
    }
}

fn carried_leaves(frame: &Frame, carried: &[LocalId]) -> Vec<Value> {
    carried
        .iter()
        .flat_map(|id| frame.local(*id).leaves())
        .collect()
}

fn rebind(frame: &mut Frame, carried: &[LocalId], leaves: &[Value]) {
    let mut leaves = leaves.iter().copied();
    for id in carried {
        let val = frame.local(*id).rebuild(&mut leaves);
        frame.locals.insert(*id, val);
    }
}
