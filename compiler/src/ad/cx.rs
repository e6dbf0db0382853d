//! The context of differentiation: where primal instructions go, where linear ones go, and what is known so far.

use super::emit::Emit;
use super::error::AdError;
use super::forward;
use super::tape::{LinInst, LinOp, Operand, Tape};
use crate::ir::{BinaryOp, Elem, Func, Inst, Op, ReduceOp, Region, Type, UnaryOp, Value};
use std::collections::HashMap;

/// A value of the function being built, with its tangent; no tangent is a zero one.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    pub primal: Value,
    pub tangent: Option<Value>,
}

impl Dual {
    pub fn constant(primal: Value) -> Self {
        Dual {
            primal,
            tangent: None,
        }
    }

    pub fn new(primal: Value, tangent: Option<Value>) -> Self {
        Dual { primal, tangent }
    }
}

/// What became of the values of the function being differentiated.
#[derive(Default)]
pub struct Env {
    pub primal: HashMap<Value, Value>,
    pub tangent: HashMap<Value, Value>,
}

impl Env {
    pub fn get(&self, v: Value) -> Dual {
        Dual {
            primal: self.primal[&v],
            tangent: self.tangent.get(&v).copied(),
        }
    }

    pub fn set(&mut self, v: Value, dual: Dual) {
        self.primal.insert(v, dual.primal);
        match dual.tangent {
            Some(t) => self.tangent.insert(v, t),
            None => self.tangent.remove(&v),
        };
    }
}

/// Where linear operations go.
pub enum Sink<'f> {
    /// In among the others: forward mode.
    Inline,
    /// On a tape: linearisation.
    Tape(Tape<'f>),
}

pub struct Cx<'f> {
    pub e: Emit,
    sink: Sink<'f>,
}

impl<'f> Cx<'f> {
    pub fn new(name: impl Into<String>, sink: Sink<'f>) -> Self {
        Cx {
            e: Emit::new(name),
            sink,
        }
    }

    pub fn is_inline(&self) -> bool {
        matches!(self.sink, Sink::Inline)
    }

    /// Differentiates something with its linear operations on a tape of their own.
    pub fn taped<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<T, AdError>,
    ) -> Result<(T, Tape<'f>), AdError> {
        let outer = std::mem::replace(&mut self.sink, Sink::Tape(Vec::new()));
        let result = f(self);
        match std::mem::replace(&mut self.sink, outer) {
            Sink::Tape(tape) => Ok((result?, tape)),
            Sink::Inline => unreachable!("the tape put in above is taken out here"),
        }
    }

    /// Differentiates a region into the open region; its parameters must be in `env`.
    pub fn region(
        &mut self,
        f: &'f Func,
        region: &'f Region,
        env: &mut Env,
    ) -> Result<Vec<Dual>, AdError> {
        for inst in &region.insts {
            self.inst(f, inst, env)?;
        }
        Ok(region.results.iter().map(|&v| env.get(v)).collect())
    }

    fn inst(&mut self, f: &'f Func, inst: &'f Inst, env: &mut Env) -> Result<(), AdError> {
        let span = inst.results.first().map(|&v| f.span(v));
        if let Some(span) = span {
            self.e.set_span(span);
        }
        let active = inst.args.iter().any(|v| env.tangent.contains_key(v))
            || inst
                .regions
                .iter()
                .any(|r| r.captures().iter().any(|v| env.tangent.contains_key(v)));
        if !active {
            self.e.copy(f, inst, &mut env.primal);
            for v in &inst.results {
                env.tangent.remove(v);
            }
            return Ok(());
        }
        let args: Vec<Dual> = inst.args.iter().map(|&v| env.get(v)).collect();
        // What a rule emits is for the derivative, but for the primitive itself.
        let derivative = span.unwrap_or_default().of_derivative();
        self.e.set_span(derivative);
        let results = forward::forward(self, f, inst, &args, env)?;
        for (&v, dual) in inst.results.iter().zip(results) {
            if self.e.span_of(dual.primal) == derivative {
                self.e.place(dual.primal, span.unwrap_or_default());
            }
            env.set(v, dual);
        }
        Ok(())
    }

    /// Appends a linear primitive with one result.
    pub fn lin(&mut self, op: Op, args: Vec<Operand>) -> Value {
        match &mut self.sink {
            Sink::Inline => {
                let args: Vec<Value> = args.iter().map(|a| self.materialise(a)).collect();
                self.e.op(op, &args)
            }
            Sink::Tape(_) => {
                let values: Vec<Value> = args.iter().map(|a| self.stand_in(a)).collect();
                let results = self.e.detached(&op, &values);
                let result = results[0];
                self.record(LinOp::Prim { op, args }, results);
                result
            }
        }
    }

    /// Appends to the tape.
    ///
    /// # Panics
    /// In forward mode, which has no tape: the callers have asked [`Cx::is_inline`].
    pub fn record(&mut self, op: LinOp<'f>, results: Vec<Value>) {
        match &mut self.sink {
            Sink::Tape(tape) => tape.push(LinInst { op, results }),
            Sink::Inline => panic!("forward mode has no tape"),
        }
    }

    fn materialise(&mut self, arg: &Operand) -> Value {
        match arg {
            Operand::Lin(v) | Operand::Coef(v) => *v,
            Operand::Zero(ty) => self.e.zeros(ty),
        }
    }

    fn stand_in(&mut self, arg: &Operand) -> Value {
        match arg {
            Operand::Lin(v) | Operand::Coef(v) => *v,
            Operand::Zero(ty) => self.e.fresh(ty.clone()),
        }
    }

    /// The tangent, or the zero of the primal's type.
    pub fn operand(&self, dual: &Dual) -> Operand {
        match dual.tangent {
            Some(t) => Operand::Lin(t),
            None => Operand::Zero(self.e.type_of(dual.primal)),
        }
    }

    /// The tangent of a value, made into a real zero if it has none. Forward mode only.
    pub fn tangent_or_zeros(&mut self, dual: &Dual) -> Value {
        match dual.tangent {
            Some(t) => t,
            None => {
                let ty = self.e.type_of(dual.primal);
                self.e.zeros(&ty)
            }
        }
    }

    // Linear operations that the tables use most.

    /// A linear operation without coefficients on one tangent.
    pub fn lin1(&mut self, op: Op, t: Value) -> Value {
        self.lin(op, vec![Operand::Lin(t)])
    }

    pub fn scale(&mut self, t: Value, coefficient: Value) -> Value {
        if self.e.is_splat(coefficient, 1.0) {
            return t;
        }
        if self.e.is_splat(coefficient, -1.0) {
            return self.lin_neg(t);
        }
        self.lin(
            Op::Binary(BinaryOp::Mul),
            vec![Operand::Lin(t), Operand::Coef(coefficient)],
        )
    }

    pub fn lin_div(&mut self, t: Value, coefficient: Value) -> Value {
        if self.e.is_splat(coefficient, 1.0) {
            return t;
        }
        self.lin(
            Op::Binary(BinaryOp::Div),
            vec![Operand::Lin(t), Operand::Coef(coefficient)],
        )
    }

    pub fn lin_neg(&mut self, t: Value) -> Value {
        self.lin1(Op::Unary(UnaryOp::Neg), t)
    }

    pub fn lin_add(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.lin(
                Op::Binary(BinaryOp::Add),
                vec![Operand::Lin(a), Operand::Lin(b)],
            )),
            (one, None) | (None, one) => one,
        }
    }

    pub fn lin_sub(&mut self, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.lin(
                Op::Binary(BinaryOp::Sub),
                vec![Operand::Lin(a), Operand::Lin(b)],
            )),
            (a, None) => a,
            (None, Some(b)) => Some(self.lin_neg(b)),
        }
    }

    /// `a` where the mask is true, `b` elsewhere.
    pub fn lin_select(&mut self, mask: Value, a: Option<Value>, b: Option<Value>) -> Option<Value> {
        let ty = self.e.type_of(a.or(b)?);
        let operand = |t: Option<Value>| t.map_or(Operand::Zero(ty.clone()), Operand::Lin);
        let args = vec![Operand::Coef(mask), operand(a), operand(b)];
        Some(self.lin(Op::Select, args))
    }

    pub fn lin_sum(&mut self, t: Value, axes: &[usize]) -> Value {
        if axes.is_empty() {
            return t;
        }
        let axes = axes.to_vec();
        self.lin1(
            Op::Reduce {
                op: ReduceOp::Sum,
                axes,
            },
            t,
        )
    }

    pub fn lin_convert(&mut self, t: Value, elem: Elem) -> Value {
        if self.e.elem(t) == elem {
            return t;
        }
        self.lin1(Op::Convert(elem), t)
    }

    pub fn lin_reshape(&mut self, t: Value, shape: &[usize]) -> Value {
        if self.e.shape(t) == shape {
            return t;
        }
        self.lin1(
            Op::Reshape {
                shape: shape.to_vec(),
            },
            t,
        )
    }

    pub fn lin_transpose(&mut self, t: Value, perm: &[usize]) -> Value {
        if perm.iter().enumerate().all(|(i, &p)| i == p) {
            return t;
        }
        self.lin1(
            Op::Transpose {
                perm: perm.to_vec(),
            },
            t,
        )
    }

    /// Puts back `axes` that a reduction to `t` dropped from `shape`.
    pub fn lin_expand(&mut self, t: Value, shape: &[usize], axes: &[usize]) -> Value {
        if self.e.shape(t) == shape {
            return t;
        }
        let dims = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
        self.lin1(
            Op::Broadcast {
                shape: shape.to_vec(),
                dims,
            },
            t,
        )
    }

    /// Positions `from..to` of one axis of a tangent, every `stride`-th.
    pub fn lin_slice_axis(
        &mut self,
        t: Value,
        axis: usize,
        from: usize,
        to: usize,
        stride: usize,
    ) -> Value {
        let shape = self.e.shape(t).to_vec();
        if from == 0 && to == shape[axis] && stride == 1 {
            return t;
        }
        let mut op_start = vec![0; shape.len()];
        let mut limit = shape;
        let mut strides = vec![1; limit.len()];
        op_start[axis] = from;
        limit[axis] = to;
        strides[axis] = stride;
        self.lin1(
            Op::Slice {
                start: op_start,
                limit,
                stride: strides,
            },
            t,
        )
    }

    /// Pads a tangent with zeros.
    pub fn lin_pad(&mut self, t: Value, low: &[i64], high: &[i64], interior: &[usize]) -> Value {
        let nothing = low.iter().chain(high).all(|&p| p == 0) && interior.iter().all(|&p| p == 0);
        if nothing {
            return t;
        }
        let fill = Operand::Zero(Type::scalar(self.e.elem(t)));
        self.lin(
            Op::Pad {
                low: low.to_vec(),
                high: high.to_vec(),
                interior: interior.to_vec(),
            },
            vec![Operand::Lin(t), fill],
        )
    }
}
