//! The body of a scan, seen from its turns: what stays, and what counts them.

use crate::ir::op::{BinaryOp, Op, UnaryOp};
use crate::ir::types::{Elem, Type};
use crate::ir::{Func, Inst, Value};
use crate::opt::graph::facts::widens;
use crate::opt::rewrite::Rw;
use egg::Id;
use std::collections::HashMap;

/// The body of a scan, seen from its first turn.
pub(super) struct Turn<'a> {
    pub body: &'a Func,
    /// What each parameter is in the first turn; none for elements of what is scanned over.
    first: HashMap<Value, First>,
    pub made: HashMap<Value, &'a Inst>,
}

#[derive(Clone, Copy)]
enum First {
    /// The number of the turn.
    Zero,
    Carry(usize, Id),
    Outside(Id),
}

impl<'a> Turn<'a> {
    pub fn of(body: &'a Func, carry: usize, operands: usize, args: &[Id]) -> Turn<'a> {
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
    pub fn stays(&self, v: Value) -> bool {
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

    /// By how much a value grows in each turn, if that is exactly 1 or −1.
    pub fn step(&self, v: Value) -> Option<i8> {
        match self.first.get(&v) {
            Some(First::Zero) => return Some(1),
            Some(First::Carry(i, _)) => {
                return self.is_one_more(self.body.body.results[*i], v).then_some(1);
            }
            Some(First::Outside(_)) => return None,
            None => {}
        }
        let inst = self.made.get(&v)?;
        let args = &inst.args;
        match inst.op {
            // A narrower integer would begin again; floats count as far as they are exact.
            Op::Convert(to) => {
                let from = self.body.ty(args[0]).elem;
                let kept = widens(from, to) || (from.is_int() && wide(to));
                self.step(args[0]).filter(|_| kept)
            }
            Op::Broadcast { .. } | Op::Reshape { .. } => self.step(args[0]),
            Op::Unary(UnaryOp::Neg) => self.step(args[0]).map(|step| -step),
            Op::Binary(op @ (BinaryOp::Add | BinaryOp::Sub)) if self.stays(args[0]) => {
                let step = self.step(args[1])?;
                Some(if op == BinaryOp::Add { step } else { -step })
            }
            Op::Binary(BinaryOp::Add | BinaryOp::Sub) if self.stays(args[1]) => self.step(args[0]),
            _ => None,
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
    pub fn at_first(&self, rw: &mut Rw, v: Value) -> Option<Id> {
        self.at(rw, v, 0)
    }

    /// What it is in a turn; carries are known in the first one only.
    pub fn at(&self, rw: &mut Rw, v: Value, turn: usize) -> Option<Id> {
        match self.first.get(&v) {
            Some(First::Zero) => {
                return rw.splat_i64(Type::scalar(Elem::I32), i64::try_from(turn).ok()?);
            }
            Some(First::Carry(..)) if turn != 0 => return None,
            Some(First::Carry(_, id) | First::Outside(id)) => return Some(*id),
            None => {}
        }
        let inst = self.made.get(&v)?;
        let args: Option<Vec<Id>> = inst.args.iter().map(|&a| self.at(rw, a, turn)).collect();
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
