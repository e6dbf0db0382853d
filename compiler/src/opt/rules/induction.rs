//! Powers whose exponent counts the turns of a loop.

use super::control::{block, with_carry};
use crate::ir::op::{BinaryOp, Op};
use crate::ir::types::{Elem, Type};
use crate::ir::{Func, Inst, Value};
use crate::opt::graph::facts::widens;
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;
use std::collections::HashMap;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("scan-power", Fast, "scan.r(*)", "a power by the turn, carried as a product", scan_power),
];

/// `base ** (i + c)` with a base that stays is carried: at first `base ** c`, then times `base`. Each turn rounds once,
/// so after `n` turns the result is off by `n` roundings at most, where a power is off by few.
fn scan_power(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let Op::Scan {
        length,
        reverse: false,
        carry,
    } = block.op
    else {
        return None;
    };
    let args = rw.args('r');
    let body = &block.bodies[0].0;
    let turn = Turn::of(body, carry, block.operands, &args);
    let power = body.body.insts.iter().find(|inst| {
        let is_power = inst.op == Op::Binary(BinaryOp::Pow) && length > 1;
        is_power && turn.stays(inst.args[0]) && turn.counts(inst.args[1])
    })?;
    let (base, result) = (power.args[0], power.results[0]);
    if !body.ty(result).elem.is_float() {
        return None;
    }
    let outside = turn.at_first(rw, base)?;
    let exponent = turn.at_first(rw, power.args[1])?;
    let first = rw.binary(BinaryOp::Pow, outside, exponent)?;
    with_carry(rw, &block, first, result, |b, power, map| {
        b.op(Op::Binary(BinaryOp::Mul), &[power, map[&base]])
    })
}

/// The body of a scan, seen from its first turn.
struct Turn<'a> {
    body: &'a Func,
    /// What each parameter is in the first turn; none for elements of what is scanned over.
    first: HashMap<Value, First>,
    made: HashMap<Value, &'a Inst>,
}

#[derive(Clone, Copy)]
enum First {
    /// The number of the turn.
    Zero,
    Carry(usize, Id),
    Outside(Id),
}

impl<'a> Turn<'a> {
    fn of(body: &'a Func, carry: usize, operands: usize, args: &[Id]) -> Turn<'a> {
        let params = body.body.params.iter().copied().enumerate();
        let first = params.filter_map(|(i, v)| {
            let first = match i.checked_sub(1) {
                None => First::Zero,
                Some(i) if i < carry => First::Carry(i, args[i]),
                Some(i) if i >= operands => First::Outside(args[i]),
                Some(_) => return None,
            };
            Some((v, first))
        });
        let insts = body.body.insts.iter();
        let made = insts.filter_map(|inst| match inst.results[..] {
            [result] if inst.regions.is_empty() => Some((result, inst)),
            _ => None,
        });
        Turn {
            body,
            first: first.collect(),
            made: made.collect(),
        }
    }

    /// Whether a value is the same in every turn.
    fn stays(&self, v: Value) -> bool {
        match (self.first.get(&v), self.made.get(&v)) {
            (Some(first), _) => matches!(first, First::Outside(_)),
            (None, Some(inst)) => match inst.op {
                Op::Constant(_) => true,
                Op::Convert(_) | Op::Broadcast { .. } | Op::Reshape { .. } => {
                    self.stays(inst.args[0])
                }
                _ => false,
            },
            (None, None) => false,
        }
    }

    /// Whether a value grows by exactly 1 in each turn.
    fn counts(&self, v: Value) -> bool {
        match self.first.get(&v) {
            Some(First::Zero) => return true,
            Some(First::Carry(i, _)) => return self.is_one_more(self.body.body.results[*i], v),
            Some(First::Outside(_)) => return false,
            None => {}
        }
        let Some(inst) = self.made.get(&v) else {
            return false;
        };
        let args = &inst.args;
        match inst.op {
            // A narrower integer would begin again; floats count as far as they are exact.
            Op::Convert(to) => {
                let from = self.body.ty(args[0]).elem;
                let kept = widens(from, to) || (from.is_int() && wide(to));
                kept && self.counts(args[0])
            }
            Op::Broadcast { .. } | Op::Reshape { .. } => self.counts(args[0]),
            Op::Binary(BinaryOp::Add) => {
                (self.counts(args[0]) && self.stays(args[1]))
                    || (self.stays(args[0]) && self.counts(args[1]))
            }
            Op::Binary(BinaryOp::Sub) => self.counts(args[0]) && self.stays(args[1]),
            _ => false,
        }
    }

    fn is_one_more(&self, next: Value, v: Value) -> bool {
        let Some(inst) = self.made.get(&next) else {
            return false;
        };
        let one = |x: &Value| match self.made.get(x).map(|inst| &inst.op) {
            Some(Op::Constant(literal)) => literal.splat_value() == Some(1.0),
            _ => false,
        };
        let wide_enough = wide(self.body.ty(v).elem);
        let adds = inst.op == Op::Binary(BinaryOp::Add) && wide_enough;
        adds && (inst.args[0] == v && one(&inst.args[1]) || inst.args[1] == v && one(&inst.args[0]))
    }

    /// What a value that stays or counts is in the first turn, outside of the loop.
    fn at_first(&self, rw: &mut Rw, v: Value) -> Option<Id> {
        match self.first.get(&v) {
            Some(First::Zero) => return rw.splat_i64(Type::scalar(Elem::I32), 0),
            Some(First::Carry(_, id) | First::Outside(id)) => return Some(*id),
            None => {}
        }
        let inst = self.made.get(&v)?;
        let args: Option<Vec<Id>> = inst.args.iter().map(|&a| self.at_first(rw, a)).collect();
        rw.add(inst.op.clone(), &args?)
    }
}

/// Types that do not end within the turns of a loop.
fn wide(elem: Elem) -> bool {
    matches!(
        elem,
        Elem::F32 | Elem::F64 | Elem::I32 | Elem::I64 | Elem::U32 | Elem::U64
    )
}
