//! Emission of derivative and batching code: a [`Builder`] with constants shared, and identities left out.
//!
//! What is simplified here is only what the transforms themselves would otherwise write: a sum with a symbolic zero,
//! a product with the constant one, a broadcast of a broadcast, arithmetic on constants. It is no optimiser: values
//! that came from the function being transformed are copied as they are.

use crate::ir::literal::encode_f64;
use crate::ir::op::Op;
use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Inst, Literal, ReduceOp, Region, Type};
use crate::ir::{UnaryOp, Value};
use std::collections::HashMap;
use tpuc_lang::span::Span;

pub struct Emit {
    b: Builder,
    /// Constants already made, one pool for each open region: a constant is not taken from an outer region, so that
    /// loop bodies do not carry them.
    pools: Vec<HashMap<Literal, Value>>,
    splats: HashMap<Value, Literal>,
    /// Operand and dimensions of values made by a broadcast.
    broadcasts: HashMap<Value, (Value, Vec<usize>)>,
}

impl Emit {
    pub fn new(name: impl Into<String>) -> Self {
        Emit {
            b: Builder::new(name),
            pools: vec![HashMap::new()],
            splats: HashMap::new(),
            broadcasts: HashMap::new(),
        }
    }

    pub fn finish(self, results: Vec<Value>) -> crate::ir::Func {
        self.b.finish(results)
    }

    pub fn set_span(&mut self, span: Span) {
        self.b.span = span;
    }

    /// Says that a value comes from `span`.
    pub fn place(&mut self, v: Value, span: Span) {
        self.b.place(v, span);
    }

    pub fn span_of(&self, v: Value) -> Span {
        self.b.span_of(v)
    }

    pub fn ty(&self, v: Value) -> &Type {
        self.b.ty(v)
    }

    pub fn type_of(&self, v: Value) -> Type {
        self.b.ty(v).clone()
    }

    pub fn shape(&self, v: Value) -> &[usize] {
        &self.b.ty(v).shape
    }

    pub fn rank(&self, v: Value) -> usize {
        self.b.ty(v).rank()
    }

    pub fn elem(&self, v: Value) -> Elem {
        self.b.ty(v).elem
    }

    // Regions and instructions.

    pub fn param(&mut self, ty: Type) -> Value {
        self.b.param(ty)
    }

    pub fn open(&mut self) {
        self.b.open_region();
        self.pools.push(HashMap::new());
    }

    pub fn close(&mut self, results: Vec<Value>) -> Region {
        self.pools.pop();
        self.b.close_region(results)
    }

    /// A value of this arena that no instruction defines: a name for a tangent on a tape.
    pub fn fresh(&mut self, ty: Type) -> Value {
        self.b.open_region();
        let v = self.b.param(ty);
        self.b.close_region(Vec::new());
        v
    }

    /// Result names and types of a primitive, without appending it.
    pub fn detached(&mut self, op: &Op, args: &[Value]) -> Vec<Value> {
        self.b.open_region();
        let results = self.b.push(op.clone(), args.to_vec(), Vec::new());
        self.b.close_region(Vec::new());
        results
    }

    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.push(op, args.to_vec(), Vec::new())[0]
    }

    pub fn push(&mut self, op: Op, args: Vec<Value>, regions: Vec<Region>) -> Vec<Value> {
        if let Op::Constant(literal) = op {
            return vec![self.constant(literal)];
        }
        let broadcast = match &op {
            Op::Broadcast { dims, .. } => Some((args[0], dims.clone())),
            _ => None,
        };
        let results = self.b.push(op, args, regions);
        if let Some(origin) = broadcast {
            self.broadcasts.insert(results[0], origin);
        }
        results
    }

    /// Copies an instruction of another function, regions included, exactly as it is.
    pub fn copy(&mut self, from: &crate::ir::Func, inst: &Inst, map: &mut HashMap<Value, Value>) {
        if inst.regions.is_empty() {
            let args = inst.args.iter().map(|v| map[v]).collect();
            let results = self.push(inst.op.clone(), args, Vec::new());
            map.extend(inst.results.iter().copied().zip(results));
        } else {
            self.b.inline_insts(from, std::slice::from_ref(inst), map);
        }
    }

    /// Copies a region that stands by itself (no captures that `map` lacks).
    pub fn copy_region(
        &mut self,
        from: &crate::ir::Func,
        region: &Region,
        map: &mut HashMap<Value, Value>,
    ) -> Region {
        self.b.copy_region(from, region, map)
    }

    /// Appends instructions already made of values of this arena.
    pub fn append(&mut self, insts: Vec<Inst>) {
        for inst in insts {
            self.b.append(inst);
        }
    }

    // Constants.

    pub fn constant(&mut self, literal: Literal) -> Value {
        let last = self.pools.len() - 1;
        if let Some(&v) = self.pools[last].get(&literal) {
            return v;
        }
        let v = self.b.op(Op::Constant(literal.clone()), &[]);
        if literal.splat().is_some() {
            self.splats.insert(v, literal.clone());
        }
        self.pools[last].insert(literal, v);
        v
    }

    pub fn splat(&mut self, ty: &Type, value: f64) -> Value {
        self.constant(Literal::splat_f64(ty.clone(), value))
    }

    pub fn zeros(&mut self, ty: &Type) -> Value {
        self.splat(ty, 0.0)
    }

    /// A splat of the type of another value.
    pub fn like(&mut self, v: Value, value: f64) -> Value {
        let ty = self.type_of(v);
        self.splat(&ty, value)
    }

    pub fn index(&mut self, value: usize) -> Value {
        self.constant(Literal::splat_i64(Type::scalar(Elem::I32), value as i64))
    }

    /// The number that every element of a constant is.
    pub fn splat_value(&self, v: Value) -> Option<f64> {
        self.splats.get(&v).and_then(Literal::splat_value)
    }

    pub fn is_splat(&self, v: Value, value: f64) -> bool {
        self.splat_value(v) == Some(value)
    }

    pub fn iota(&mut self, ty: Type, axis: usize) -> Value {
        self.op(Op::Iota { ty, axis }, &[])
    }

    // Elementwise.

    pub fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        self.op(Op::Unary(op), &[x])
    }

    pub fn binary(&mut self, op: BinaryOp, x: Value, y: Value) -> Value {
        self.op(Op::Binary(op), &[x, y])
    }

    pub fn neg(&mut self, x: Value) -> Value {
        match self.splat_value(x) {
            Some(c) => self.like(x, -c),
            None => self.unary(UnaryOp::Neg, x),
        }
    }

    pub fn add(&mut self, x: Value, y: Value) -> Value {
        if self.is_splat(x, 0.0) {
            return y;
        }
        if self.is_splat(y, 0.0) {
            return x;
        }
        self.folded(x, y, |a, b| a + b)
            .unwrap_or_else(|| self.binary(BinaryOp::Add, x, y))
    }

    pub fn sub(&mut self, x: Value, y: Value) -> Value {
        if self.is_splat(y, 0.0) {
            return x;
        }
        self.folded(x, y, |a, b| a - b)
            .unwrap_or_else(|| self.binary(BinaryOp::Sub, x, y))
    }

    pub fn mul(&mut self, x: Value, y: Value) -> Value {
        if let Some(v) = self.folded(x, y, |a, b| a * b) {
            return v;
        }
        if self.is_splat(x, 1.0) {
            return y;
        }
        if self.is_splat(y, 1.0) {
            return x;
        }
        if self.is_splat(x, -1.0) {
            return self.neg(y);
        }
        if self.is_splat(y, -1.0) {
            return self.neg(x);
        }
        self.binary(BinaryOp::Mul, x, y)
    }

    pub fn div(&mut self, x: Value, y: Value) -> Value {
        if self.is_splat(y, 1.0) {
            return x;
        }
        self.folded(x, y, |a, b| a / b)
            .unwrap_or_else(|| self.binary(BinaryOp::Div, x, y))
    }

    /// Arithmetic on two constants. An f64 result rounded once more to a narrower float is the correctly rounded one
    /// for `+ - * /`.
    fn folded(&mut self, x: Value, y: Value, f: impl Fn(f64, f64) -> f64) -> Option<Value> {
        let ty = self.type_of(x);
        if !ty.elem.is_float() {
            return None;
        }
        let value = f(self.splat_value(x)?, self.splat_value(y)?);
        let bits = encode_f64(ty.elem, value);
        Some(self.constant(Literal::splat_bits(ty, bits)))
    }

    pub fn compare(&mut self, op: CompareOp, x: Value, y: Value) -> Value {
        self.op(Op::Compare(op), &[x, y])
    }

    pub fn select(&mut self, mask: Value, x: Value, y: Value) -> Value {
        if x == y {
            return x;
        }
        self.op(Op::Select, &[mask, x, y])
    }

    pub fn convert(&mut self, x: Value, elem: Elem) -> Value {
        if self.elem(x) == elem {
            return x;
        }
        self.op(Op::Convert(elem), &[x])
    }

    // Shape.

    pub fn broadcast(&mut self, x: Value, shape: &[usize], dims: &[usize]) -> Value {
        if self.shape(x) == shape {
            return x;
        }
        if let Some(literal) = self.splats.get(&x) {
            let literal = literal.with_shape(shape.to_vec());
            return self.constant(literal);
        }
        if let Some((origin, first)) = self.broadcasts.get(&x) {
            let composed: Vec<usize> = first.iter().map(|&d| dims[d]).collect();
            return self.broadcast(*origin, shape, &composed);
        }
        self.op(
            Op::Broadcast {
                shape: shape.to_vec(),
                dims: dims.to_vec(),
            },
            &[x],
        )
    }

    /// A scalar in every element of `shape`.
    pub fn fill(&mut self, x: Value, shape: &[usize]) -> Value {
        self.broadcast(x, shape, &[])
    }

    /// Puts back `axes` that a reduction to `x` dropped from `shape`.
    pub fn expand(&mut self, x: Value, shape: &[usize], axes: &[usize]) -> Value {
        let dims: Vec<usize> = (0..shape.len()).filter(|d| !axes.contains(d)).collect();
        self.broadcast(x, shape, &dims)
    }

    pub fn reshape(&mut self, x: Value, shape: &[usize]) -> Value {
        if self.shape(x) == shape {
            return x;
        }
        if let Some(literal) = self.splats.get(&x) {
            let literal = literal.with_shape(shape.to_vec());
            return self.constant(literal);
        }
        self.op(
            Op::Reshape {
                shape: shape.to_vec(),
            },
            &[x],
        )
    }

    pub fn transpose(&mut self, x: Value, perm: &[usize]) -> Value {
        if perm.iter().enumerate().all(|(i, &p)| i == p) {
            return x;
        }
        if let Some(literal) = self.splats.get(&x) {
            let shape = perm.iter().map(|&p| literal.ty().shape[p]).collect();
            let literal = literal.with_shape(shape);
            return self.constant(literal);
        }
        self.op(
            Op::Transpose {
                perm: perm.to_vec(),
            },
            &[x],
        )
    }

    /// Moves one axis to another place; the others keep their order.
    pub fn move_axis(&mut self, x: Value, from: usize, to: usize) -> Value {
        let mut perm: Vec<usize> = (0..self.rank(x)).filter(|&d| d != from).collect();
        perm.insert(to, from);
        self.transpose(x, &perm)
    }

    pub fn slice(&mut self, x: Value, start: &[usize], limit: &[usize]) -> Value {
        let stride = vec![1; start.len()];
        self.strided(x, start, limit, &stride)
    }

    pub fn strided(
        &mut self,
        x: Value,
        start: &[usize],
        limit: &[usize],
        stride: &[usize],
    ) -> Value {
        let whole = start.iter().all(|&s| s == 0)
            && limit == self.shape(x)
            && stride.iter().all(|&s| s == 1);
        if whole {
            return x;
        }
        self.op(
            Op::Slice {
                start: start.to_vec(),
                limit: limit.to_vec(),
                stride: stride.to_vec(),
            },
            &[x],
        )
    }

    /// Positions `from..to` of one axis, every `stride`-th.
    pub fn slice_axis(
        &mut self,
        x: Value,
        axis: usize,
        from: usize,
        to: usize,
        stride: usize,
    ) -> Value {
        let mut limit = self.shape(x).to_vec();
        let mut start = vec![0; limit.len()];
        let mut strides = vec![1; limit.len()];
        start[axis] = from;
        limit[axis] = to;
        strides[axis] = stride;
        self.strided(x, &start, &limit, &strides)
    }

    pub fn pad(
        &mut self,
        x: Value,
        value: f64,
        low: &[i64],
        high: &[i64],
        interior: &[usize],
    ) -> Value {
        let nothing = low.iter().chain(high).all(|&p| p == 0) && interior.iter().all(|&p| p == 0);
        if nothing {
            return x;
        }
        let fill = Type::scalar(self.elem(x));
        let fill = self.splat(&fill, value);
        self.op(
            Op::Pad {
                low: low.to_vec(),
                high: high.to_vec(),
                interior: interior.to_vec(),
            },
            &[x, fill],
        )
    }

    /// Pads one axis.
    pub fn pad_axis(
        &mut self,
        x: Value,
        value: f64,
        axis: usize,
        (low, high, interior): (i64, i64, usize),
    ) -> Value {
        let rank = self.rank(x);
        let at = |n: i64| {
            let mut v = vec![0; rank];
            v[axis] = n;
            v
        };
        let mut inner = vec![0; rank];
        inner[axis] = interior;
        self.pad(x, value, &at(low), &at(high), &inner)
    }

    pub fn reverse(&mut self, x: Value, axes: &[usize]) -> Value {
        if axes.is_empty() {
            return x;
        }
        self.op(
            Op::Reverse {
                axes: axes.to_vec(),
            },
            &[x],
        )
    }

    // Reductions.

    pub fn reduce(&mut self, op: ReduceOp, x: Value, axes: &[usize]) -> Value {
        if axes.is_empty() {
            return x;
        }
        self.op(
            Op::Reduce {
                op,
                axes: axes.to_vec(),
            },
            &[x],
        )
    }

    pub fn sum(&mut self, x: Value, axes: &[usize]) -> Value {
        self.reduce(ReduceOp::Sum, x, axes)
    }
}
