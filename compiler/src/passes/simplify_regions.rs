//! Takes the region away from branches that are decided and loops that turn at most once.
//!
//! ```text
//! %1 = constant true : bool                            %4 = constant 0 : i32
//! %2 = if %1 : f32 then { … yield %a } else { … }  →   %5 = convert %4 : f32
//! %3 = scan[length = 1, carry = 1] %a : f32            %6 = add %a, %5 : f32
//!     body(%i: i32, %c: f32) {                         return %6
//!   %x = convert %i : f32
//!   %y = add %c, %x : f32
//!   yield %y
//! }
//! return %3
//! ```
//!
//! A loop of length 0 becomes its initial values, and so does a `while` whose condition is the constant false.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::literal::Literal;
use crate::ir::op::Op;
use crate::ir::types::{Elem, Type};
use std::collections::HashMap;

pub fn run(func: &Func) -> Func {
    rewrite(
        func,
        &mut Simplify {
            known: HashMap::new(),
        },
    )
}

struct Simplify {
    /// Bool scalars of the old function that are constants.
    known: HashMap<Value, bool>,
}

impl Rewrite for Simplify {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match &inst.op {
            Op::Constant(literal) if *literal.ty() == Type::scalar(Elem::Bool) => {
                self.known.insert(inst.results[0], literal.bit(0) != 0);
                c.keep(self, inst);
            }
            Op::If => match self.known.get(&inst.args[0]) {
                Some(&holds) => {
                    let taken = &inst.regions[usize::from(!holds)];
                    let results = c.inline(self, taken, &[]);
                    c.set_all(&inst.results, &results);
                }
                None => c.keep(self, inst),
            },
            Op::While if self.never_runs(inst) => {
                let args = c.values(&inst.args);
                c.set_all(&inst.results, &args);
            }
            Op::Scan {
                length: 0, carry, ..
            } => never(c, inst, *carry),
            Op::Scan {
                length: 1, carry, ..
            } => self.once(c, inst, *carry),
            _ => c.keep(self, inst),
        }
    }
}

impl Simplify {
    fn never_runs(&self, inst: &Inst) -> bool {
        let condition = &inst.regions[0];
        let result = condition.results[0];
        let inside = condition.insts.iter().find(|i| i.results == [result]);
        match inside.map(|i| &i.op) {
            Some(Op::Constant(literal)) => literal.bit(0) == 0,
            Some(_) => false,
            None => self.known.get(&result) == Some(&false),
        }
    }

    fn once(&mut self, c: &mut Copier, inst: &Inst, carry: usize) {
        c.at(inst.results.first());
        let index = Literal::splat_i64(Type::scalar(Elem::I32), 0);
        let mut params = vec![c.b.op(Op::Constant(index), &[])];
        for (n, &arg) in inst.args.iter().enumerate() {
            let value = c.value(arg);
            params.push(if n < carry {
                value
            } else {
                let shape = c.b.ty(value).shape[1..].to_vec();
                c.b.op(Op::Reshape { shape }, &[value])
            });
        }
        let results = c.inline(self, &inst.regions[0], &params);
        c.at(inst.results.first());
        for (n, (&old, new)) in inst.results.iter().zip(results).enumerate() {
            let value = if n < carry {
                new
            } else {
                let shape = c.from.ty(old).shape.clone();
                c.b.op(Op::Reshape { shape }, &[new])
            };
            c.set(old, value);
        }
    }
}

fn never(c: &mut Copier, inst: &Inst, carry: usize) {
    c.at(inst.results.first());
    for (n, &old) in inst.results.iter().enumerate() {
        let value = if n < carry {
            c.value(inst.args[n])
        } else {
            let empty = Literal::splat_bits(c.from.ty(old).clone(), 0);
            c.b.op(Op::Constant(empty), &[])
        };
        c.set(old, value);
    }
}
