//! How bad a float array is, as one scalar of the program.

use crate::ir::{BinaryOp, Builder, CompareOp, Elem, Literal, Op, ReduceOp, Type, UnaryOp, Value};
use std::collections::HashMap;

/// The levels made so far, for each open region: those of an outer one can be used inside, not the other way round. A
/// level is an i32 scalar: 0 of an array of finite numbers, 1 of one with an infinity, 2 of one with a NaN.
#[derive(Default)]
pub struct Known(Vec<HashMap<Value, Value>>);

impl Known {
    pub fn enter(&mut self) {
        self.0.push(HashMap::new());
    }

    pub fn leave(&mut self) {
        self.0.pop();
    }

    pub fn of(&mut self, b: &mut Builder, v: Value) -> Value {
        if let Some(&level) = self.0.iter().find_map(|scope| scope.get(&v)) {
            return level;
        }
        let [zero, one, two] = [0, 1, 2].map(|n| splat(b, v, n));
        let nan = b.op(Op::Compare(CompareOp::Ne), &[v, v]);
        let finite = b.op(Op::Unary(UnaryOp::IsFinite), &[v]);
        let bad = b.op(Op::Select, &[nan, two, one]);
        let levels = b.op(Op::Select, &[finite, zero, bad]);
        let level = largest(b, levels);
        if let Some(scope) = self.0.last_mut() {
            scope.insert(v, level);
        }
        level
    }

    /// Whether some result has what no operand has: a NaN, or an infinity where all operands are finite.
    pub fn made(
        &mut self,
        b: &mut Builder,
        operands: &[Value],
        results: &[Value],
    ) -> Option<Value> {
        let after = self.worst(b, results)?;
        let before = match self.worst(b, operands) {
            Some(level) => level,
            None => splat(b, after, 0),
        };
        Some(b.op(Op::Compare(CompareOp::Gt), &[after, before]))
    }

    fn worst(&mut self, b: &mut Builder, values: &[Value]) -> Option<Value> {
        let levels: Vec<Value> = values.iter().map(|&v| self.of(b, v)).collect();
        levels
            .into_iter()
            .reduce(|x, y| b.op(Op::Binary(BinaryOp::Max), &[x, y]))
    }
}

/// An i32 array of the shape of `v`.
fn splat(b: &mut Builder, v: Value, n: i64) -> Value {
    let ty = Type::new(Elem::I32, b.ty(v).shape.clone());
    b.op(Op::Constant(Literal::splat_i64(ty, n)), &[])
}

fn largest(b: &mut Builder, levels: Value) -> Value {
    let axes: Vec<usize> = (0..b.ty(levels).rank()).collect();
    if axes.is_empty() {
        return levels;
    }
    let op = ReduceOp::Max;
    b.op(Op::Reduce { op, axes }, &[levels])
}
