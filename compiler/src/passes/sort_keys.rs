//! Sorts floats by integers of the same order, for which XLA's CPU compiler has a comparison of its own; that of floats, where
//! NaN is larger than all else, is code that is called for each two elements.
//!
//! ```text
//! %1 = sort %x : f32[n]
//! →
//! %2 = … : f32[n]                                   every NaN the same
//! %3 = bitcast[i32] %2 : i32[n]
//! %4 = … : i32[n]                                   of negative numbers, the bits below the sign inverted
//! %5 = sort %4 : i32[n]
//! %1 = …                                            and back
//! ```
//!
//! −0 comes before +0, where the primitive leaves them in order; where other arrays are sorted along, which shows the order, −0
//! is +0.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::literal::Literal;
use crate::ir::num::Num;
use crate::ir::op::{BinaryOp, CompareOp, Op};
use crate::ir::types::{Elem, Type};

/// With fewer elements there is nothing to gain.
const FEWEST_ELEMENTS: usize = 1 << 12;

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut SortKeys)
}

struct SortKeys;

impl Rewrite for SortKeys {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        let whole = matches!(inst.op, Op::Sort { keys: 1, .. });
        match whole.then(|| ordered(c.from.ty(inst.args[0]))).flatten() {
            Some(integer) => {
                let mut args = c.values(&inst.args);
                c.at(inst.results.first());
                let to_keys = Keys { integer };
                args[0] = to_keys.of(c, args[0], inst.args.len() > 1);
                let mut results = c.b.push(inst.op.clone(), args, Vec::new());
                results[0] = to_keys.back(c, results[0], c.from.ty(inst.args[0]).elem);
                c.set_all(&inst.results, &results);
            }
            None => c.keep(self, inst),
        }
    }
}

/// The integers by which many such numbers are sorted.
fn ordered(x: &Type) -> Option<Elem> {
    let integer = match x.elem {
        Elem::F32 => Elem::I32,
        Elem::F64 => Elem::I64,
        _ => return None,
    };
    (x.numel() >= FEWEST_ELEMENTS).then_some(integer)
}

struct Keys {
    integer: Elem,
}

impl Keys {
    fn of(&self, c: &mut Copier, x: Value, zeros_alike: bool) -> Value {
        let nan = c.b.like(x, f64::NAN);
        let is_nan = c.b.op(Op::Compare(CompareOp::Ne), &[x, x]);
        let mut x = c.b.op(Op::Select, &[is_nan, nan, x]);
        if zeros_alike {
            let zero = c.b.like(x, 0.0);
            let is_zero = c.b.op(Op::Compare(CompareOp::Eq), &[x, zero]);
            x = c.b.op(Op::Select, &[is_zero, zero, x]);
        }
        let bits = c.b.op(Op::Bitcast(self.integer), &[x]);
        self.flipped(c, bits)
    }

    fn back(&self, c: &mut Copier, keys: Value, elem: Elem) -> Value {
        let bits = self.flipped(c, keys);
        c.b.op(Op::Bitcast(elem), &[bits])
    }

    /// Negative integers with the bits below the sign inverted, which is its own inverse.
    fn flipped(&self, c: &mut Copier, x: Value) -> Value {
        let ty = c.b.ty(x).clone();
        let below = match self.integer {
            Elem::I32 => i64::from(i32::MAX),
            _ => i64::MAX,
        };
        let zero = c.b.constant(Literal::splat_i64(ty.clone(), 0));
        let below = c.b.constant(Literal::splat_i64(ty, below));
        let negative = c.b.op(Op::Compare(CompareOp::Lt), &[x, zero]);
        let inverted = c.b.op(Op::Binary(BinaryOp::Xor), &[x, below]);
        c.b.op(Op::Select, &[negative, inverted, x])
    }
}
