//! The transpose table: for each linear primitive, the cotangents of its linear operands from that of its result.
//!
//! A tape is read backwards. Each tangent's cotangent is the sum over its uses, added up in the order in which the
//! tape is read, so that the result is the same on every run. Cotangents that are zero are never made.

mod indexing;
mod linalg;
mod parts;
mod structural;

use super::control::{branch, custom, remat, scan};
use super::cx::Cx;
use super::error::{AdError, AdErrorKind};
use super::tape::{LinBody, LinInst, LinOp, Operand};
use crate::ir::{BinaryOp, Op, ReduceOp, UnaryOp, Value};
use parts::Parts;
use std::collections::HashMap;

/// Emits the transpose of tapes into the open region.
pub struct Transposer<'c, 'f> {
    pub cx: &'c mut Cx<'f>,
    cotangents: HashMap<Value, Value>,
    /// Cotangents of slices, yet to be joined and added.
    parts: HashMap<Value, Parts>,
    /// What stands, in the backward code, for values of regions of the primal half.
    substitutes: HashMap<Value, Value>,
}

impl<'c, 'f> Transposer<'c, 'f> {
    pub fn new(cx: &'c mut Cx<'f>) -> Self {
        Transposer {
            cx,
            cotangents: HashMap::new(),
            parts: HashMap::new(),
            substitutes: HashMap::new(),
        }
    }

    /// Adds to the cotangent of a tangent.
    pub fn add(&mut self, v: Value, ct: Value) {
        let sum = match self.cotangents.get(&v) {
            Some(&before) => self.cx.e.add(before, ct),
            None => ct,
        };
        self.cotangents.insert(v, sum);
    }

    /// Adds to the cotangent of a tangent that of its slice along one axis.
    fn add_slice(&mut self, v: Value, axis: usize, from: usize, ct: Value) {
        let parts = self.parts.entry(v).or_default();
        parts.add(&mut self.cx.e, axis, from, ct);
    }

    /// Gives a tangent, which has none, a cotangent.
    pub fn set(&mut self, v: Value, ct: Value) {
        self.cotangents.insert(v, ct);
    }

    /// The cotangent so far, taken out.
    pub fn take(&mut self, v: Value) -> Option<Value> {
        let whole = self.cotangents.remove(&v);
        match self.parts.remove(&v) {
            Some(parts) => parts.join(&mut self.cx.e, whole, v),
            None => whole,
        }
    }

    /// The cotangent, or a zero of the type of `like`.
    pub fn or_zeros(&mut self, ct: Option<Value>, like: Value) -> Value {
        match ct {
            Some(ct) => ct,
            None => {
                let ty = self.cx.e.type_of(like);
                self.cx.e.zeros(&ty)
            }
        }
    }

    /// What a value of the primal half is in the backward code.
    pub fn coefficient(&self, v: Value) -> Value {
        self.substitutes.get(&v).copied().unwrap_or(v)
    }

    pub fn substitute(&mut self, v: Value, by: Value) {
        self.substitutes.insert(v, by);
    }

    /// Makes a region's coefficients available in the open region; its stacks have been substituted.
    pub fn enter(&mut self, body: &LinBody) {
        for &(inner, outer) in &body.aliases {
            let v = self.coefficient(outer);
            self.substitute(inner, v);
        }
        for inst in &body.replay {
            let args = inst.args.iter().map(|&v| self.coefficient(v)).collect();
            let results = self.cx.e.push(inst.op.clone(), args, Vec::new());
            self.substitutes
                .extend(inst.results.iter().copied().zip(results));
        }
    }

    /// Transposes a tape, given the cotangents of its results.
    pub fn run(&mut self, tape: &[LinInst<'f>]) -> Result<(), AdError> {
        for inst in tape.iter().rev() {
            let cts: Vec<Option<Value>> = inst.results.iter().map(|&r| self.take(r)).collect();
            if cts.iter().all(Option::is_none) {
                continue;
            }
            let span = self.cx.e.span_of(inst.results[0]);
            self.cx.e.set_span(span.of_derivative());
            match &inst.op {
                LinOp::Prim { op, args } => {
                    if let Some(&Some(ct)) = cts.first() {
                        self.prim(op, args, ct)
                            .map_err(|kind| AdError::new(kind, span))?;
                    }
                }
                LinOp::Scan(scan) => scan::transpose(self, scan, &cts)?,
                LinOp::If(lin) => branch::transpose(self, lin, &cts)?,
                LinOp::Custom(lin) => custom::transpose(self, lin, &inst.results, &cts)?,
                LinOp::Remat(lin) => remat::transpose(self, lin, &cts)?,
            }
        }
        Ok(())
    }

    fn prim(&mut self, op: &Op, args: &[Operand], ct: Value) -> Result<(), AdErrorKind> {
        match op {
            Op::Constant(_) | Op::Iota { .. } => return not_linear(op),

            Op::Unary(UnaryOp::Neg) => {
                let ct = self.cx.e.neg(ct);
                self.give(&args[0], ct);
            }
            Op::Unary(_) => return not_linear(op),
            Op::Binary(BinaryOp::Add) => {
                self.give(&args[0], ct);
                self.give(&args[1], ct);
            }
            Op::Binary(BinaryOp::Sub) => {
                self.give(&args[0], ct);
                if let Operand::Lin(t) = args[1] {
                    let ct = self.cx.e.neg(ct);
                    self.add(t, ct);
                }
            }
            Op::Binary(BinaryOp::Mul) => match *args {
                [Operand::Lin(t), Operand::Coef(c)] | [Operand::Coef(c), Operand::Lin(t)] => {
                    let c = self.coefficient(c);
                    let ct = self.cx.e.mul(ct, c);
                    self.add(t, ct);
                }
                _ => return not_linear(op),
            },
            Op::Binary(BinaryOp::Div) => match *args {
                [Operand::Lin(t), Operand::Coef(c)] => {
                    let c = self.coefficient(c);
                    let ct = self.cx.e.div(ct, c);
                    self.add(t, ct);
                }
                _ => return not_linear(op),
            },
            Op::Binary(
                BinaryOp::Rem
                | BinaryOp::Pow
                | BinaryOp::Max
                | BinaryOp::Min
                | BinaryOp::Atan2
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Shl
                | BinaryOp::ShrArith
                | BinaryOp::ShrLogical,
            )
            | Op::Compare(_) => return not_linear(op),
            Op::Select => {
                let mask = self.coefficient_of(&args[0])?;
                let zero = self.cx.e.like(ct, 0.0);
                if let Operand::Lin(t) = args[1] {
                    let ct = self.cx.e.select(mask, ct, zero);
                    self.add(t, ct);
                }
                if let Operand::Lin(t) = args[2] {
                    let ct = self.cx.e.select(mask, zero, ct);
                    self.add(t, ct);
                }
            }
            Op::Clamp => return not_linear(op),
            Op::Convert(_) => {
                if let Operand::Lin(t) = args[0] {
                    let elem = self.cx.e.elem(t);
                    let ct = self.cx.e.convert(ct, elem);
                    self.add(t, ct);
                }
            }
            Op::Bitcast(_) | Op::Threefry => return not_linear(op),

            Op::Broadcast { dims, .. } => structural::broadcast(self, dims, args, ct),
            Op::Reshape { .. } => structural::reshape(self, args, ct),
            Op::Transpose { perm } => structural::transpose(self, perm, args, ct),
            Op::Slice {
                start,
                limit,
                stride,
            } => structural::slice(self, (start, limit, stride), args, ct),
            Op::Pad {
                low,
                high,
                interior,
            } => structural::pad(self, (low, high, interior), args, ct),
            Op::Concat { axis } => structural::concat(self, *axis, args, ct),
            Op::Reverse { axes } => {
                let ct = self.cx.e.reverse(ct, axes);
                self.give(&args[0], ct);
            }
            Op::DynamicSlice { .. } => indexing::dynamic_slice(self, args, ct)?,
            Op::DynamicUpdateSlice => indexing::dynamic_update_slice(self, args, ct)?,
            Op::Gather(dims) => indexing::gather(self, dims, args, ct)?,
            Op::Scatter { op: scatter, dims } => {
                indexing::scatter(self, *scatter, dims, args, ct)?;
            }

            Op::Reduce {
                op: ReduceOp::Sum,
                axes,
            } => {
                if let Operand::Lin(t) = args[0] {
                    let shape = self.cx.e.shape(t).to_vec();
                    let ct = self.cx.e.expand(ct, &shape, axes);
                    self.add(t, ct);
                }
            }
            Op::Reduce {
                op: ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min,
                ..
            }
            | Op::ArgReduce { .. } => return not_linear(op),
            Op::Cumulate {
                op: ReduceOp::Sum,
                axis,
                reverse,
            } => {
                let back = Op::Cumulate {
                    op: ReduceOp::Sum,
                    axis: *axis,
                    reverse: !reverse,
                };
                let ct = self.cx.e.op(back, &[ct]);
                self.give(&args[0], ct);
            }
            Op::Cumulate {
                op: ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min,
                ..
            } => return not_linear(op),
            Op::ReduceWindow {
                op: ReduceOp::Sum,
                window,
            } => structural::window_sum(self, window, args, ct),
            Op::ReduceWindow {
                op: ReduceOp::Prod | ReduceOp::Max | ReduceOp::Min,
                ..
            } => return not_linear(op),
            Op::WindowGather { max, window } => {
                let x = self.coefficient_of(&args[0])?;
                let back = Op::WindowScatter {
                    max: *max,
                    window: window.clone(),
                };
                let ct = self.cx.e.op(back, &[x, ct]);
                self.give(&args[1], ct);
            }
            Op::WindowScatter { max, window } => {
                let x = self.coefficient_of(&args[0])?;
                let back = Op::WindowGather {
                    max: *max,
                    window: window.clone(),
                };
                let ct = self.cx.e.op(back, &[x, ct]);
                self.give(&args[1], ct);
            }

            Op::Dot(dims) => linalg::dot(self, dims, args, ct)?,
            Op::Conv(dims) => linalg::conv(self, dims, args, ct)?,
            Op::Cholesky => return not_linear(op),
            Op::TriangularSolve {
                left,
                lower,
                transpose,
                unit_diagonal,
            } => {
                let a = self.coefficient_of(&args[0])?;
                let back = Op::TriangularSolve {
                    left: *left,
                    lower: *lower,
                    transpose: !transpose,
                    unit_diagonal: *unit_diagonal,
                };
                let ct = self.cx.e.op(back, &[a, ct]);
                self.give(&args[1], ct);
            }

            Op::Sort { .. } => return not_linear(op),

            // These have linear forms of their own on the tape.
            Op::Scan { .. } | Op::While | Op::If | Op::CustomVjp | Op::Remat => {
                return not_linear(op);
            }

            Op::StopGradient | Op::Barrier => return not_linear(op),
            Op::Shard { axes } => {
                let ct = self.cx.e.op(Op::Shard { axes: axes.clone() }, &[ct]);
                self.give(&args[0], ct);
            }

            Op::Host(_) | Op::Effect(..) => return not_linear(op),
        }
        Ok(())
    }

    /// Adds to the cotangent of an operand, if it is a tangent.
    fn give(&mut self, operand: &Operand, ct: Value) {
        if let Operand::Lin(t) = *operand {
            self.add(t, ct);
        }
    }

    fn coefficient_of(&self, operand: &Operand) -> Result<Value, AdErrorKind> {
        match operand {
            Operand::Coef(v) => Ok(self.coefficient(*v)),
            Operand::Lin(_) | Operand::Zero(_) => Err(AdErrorKind::NotLinear {
                op: "an operation whose coefficient is a tangent".into(),
            }),
        }
    }
}

fn not_linear<T>(op: &Op) -> Result<T, AdErrorKind> {
    Err(AdErrorKind::NotLinear {
        op: format!("{op:?}"),
    })
}
