//! Computes what is known: a primitive on constants becomes the constant that it gives, where that is one number, or one
//! number everywhere. What is known before the host script is cut does not have to be carried from program to program.
//!
//! ```text
//! %1 = constant 2.0 : f32
//! %2 = constant 8.0 : f32           %4 = constant 0.5 : f32
//! %3 = div %1, %2 : f32        →    %5 = mul %0, %4 : f32
//! %4 = sqrt %3 : f32                return %5
//! %5 = mul %0, %4 : f32
//! return %5
//! ```
//!
//! (The constants that nothing needs any more go with `dce`.) The arithmetic is the optimiser's: only what every
//! implementation rounds alike.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::Literal;
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::Op;
use crate::ir::types::Type;
use crate::opt::graph::fold::fold;
use std::collections::HashMap;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut Fold::default())
}

#[derive(Default)]
struct Fold {
    /// The constants of the copy.
    known: HashMap<Value, Literal>,
}

impl Rewrite for Fold {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        if let Op::Constant(literal) = &inst.op {
            let literal = literal.clone();
            c.keep(self, inst);
            self.known.insert(c.value(inst.results[0]), literal);
            return;
        }
        let Some(literals) = self.values(c, inst) else {
            c.keep(self, inst);
            return;
        };
        for (&old, literal) in inst.results.iter().zip(literals) {
            c.at(Some(&old));
            let new =
                c.b.push(Op::Constant(literal.clone()), Vec::new(), Vec::new());
            c.set(old, new[0]);
            self.known.insert(new[0], literal);
        }
    }
}

impl Fold {
    fn values(&self, c: &Copier, inst: &Inst) -> Option<Vec<Literal>> {
        if inst.args.is_empty() || !inst.regions.is_empty() {
            return None;
        }
        let args = inst.args.iter().map(|&v| self.known.get(&c.value(v)));
        let args: Vec<&Literal> = args.collect::<Option<_>>()?;
        let types = inst.results.iter().map(|&v| c.from.ty(v).clone());
        let types: Vec<Type> = types.collect();
        let literals = fold(&inst.op, &args, &types)?;
        // What makes a NaN or an infinity stays, so that it can be found where it is made.
        let is_finite = |l: &Literal| l.splat_value().is_none_or(f64::is_finite);
        let makes = args.iter().all(|l| is_finite(l)) && !literals.iter().all(is_finite);
        let known = literals.iter().all(|l| l.splat().is_some());
        (known && !makes).then_some(literals)
    }
}
