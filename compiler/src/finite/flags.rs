//! What is wrong with a float array, as two scalars of the program.

use crate::ir::{BinaryOp, Builder, CompareOp, Op, ReduceOp, UnaryOp, Value};
use std::collections::HashMap;

/// Bool scalars.
#[derive(Clone, Copy)]
pub struct Flags {
    pub nan: Value,
    /// NaN or infinite.
    pub bad: Value,
}

/// The flags made so far, for each open region: those of an outer one can be used inside, not the other way round.
#[derive(Default)]
pub struct Known(Vec<HashMap<Value, Flags>>);

impl Known {
    pub fn enter(&mut self) {
        self.0.push(HashMap::new());
    }

    pub fn leave(&mut self) {
        self.0.pop();
    }

    pub fn of(&mut self, b: &mut Builder, v: Value) -> Flags {
        if let Some(flags) = self.0.iter().find_map(|scope| scope.get(&v)) {
            return *flags;
        }
        let nan = b.op(Op::Compare(CompareOp::Ne), &[v, v]);
        let finite = b.op(Op::Unary(UnaryOp::IsFinite), &[v]);
        let bad = b.op(Op::Unary(UnaryOp::Not), &[finite]);
        let flags = Flags {
            nan: any(b, nan),
            bad: any(b, bad),
        };
        if let Some(scope) = self.0.last_mut() {
            scope.insert(v, flags);
        }
        flags
    }

    /// Whether some result has what no operand has.
    pub fn made(
        &mut self,
        b: &mut Builder,
        operands: &[Value],
        results: &[Value],
    ) -> Option<Value> {
        let after: Vec<Flags> = results.iter().map(|&v| self.of(b, v)).collect();
        let before: Vec<Flags> = operands.iter().map(|&v| self.of(b, v)).collect();
        let nan = new(b, after.iter().map(|f| f.nan), before.iter().map(|f| f.nan))?;
        let bad = new(b, after.iter().map(|f| f.bad), before.iter().map(|f| f.bad))?;
        Some(or(b, nan, bad))
    }
}

/// Whether one of `after` holds and none of `before`.
fn new(
    b: &mut Builder,
    after: impl Iterator<Item = Value>,
    before: impl Iterator<Item = Value>,
) -> Option<Value> {
    let after = after.reduce(|x, y| or(b, x, y))?;
    let Some(before) = before.reduce(|x, y| or(b, x, y)) else {
        return Some(after);
    };
    let without = b.op(Op::Unary(UnaryOp::Not), &[before]);
    Some(b.op(Op::Binary(BinaryOp::And), &[after, without]))
}

fn or(b: &mut Builder, x: Value, y: Value) -> Value {
    b.op(Op::Binary(BinaryOp::Or), &[x, y])
}

fn any(b: &mut Builder, mask: Value) -> Value {
    let axes: Vec<usize> = (0..b.ty(mask).rank()).collect();
    if axes.is_empty() {
        return mask;
    }
    let op = ReduceOp::Max;
    b.op(Op::Reduce { op, axes }, &[mask])
}
