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
//! is +0. In the total order every NaN and zero has a place of its own, and is kept as it is; but of single precision the largest
//! few are left to XLA, which does not sort for them.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::literal::Literal;
use crate::ir::num::Num;
use crate::ir::op::{BinaryOp, CompareOp, Op};
use crate::ir::types::{Elem, Type};
use std::collections::HashSet;

/// With fewer elements there is nothing to gain.
const FEWEST_ELEMENTS: usize = 1 << 12;

pub fn run(func: &Func) -> Func {
    let mut pass = SortKeys {
        whole: HashSet::new(),
    };
    let mut see = |values: &[Value]| pass.whole.extend(values);
    see(&func.body.results);
    func.body.walk(&mut |inst| {
        if !matches!(inst.op, Op::Slice { .. }) {
            see(&inst.args);
        }
        inst.regions.iter().for_each(|r| see(&r.results));
    });
    rewrite(func, &mut pass)
}

struct SortKeys {
    /// What is used other than in slices.
    whole: HashSet<Value>,
}

impl Rewrite for SortKeys {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        let Some(keys) = self.keys(c.from, inst) else {
            return c.keep(self, inst);
        };
        let mut args = c.values(&inst.args);
        c.at(inst.results.first());
        args[0] = keys.of(c, args[0]);
        let mut results = c.b.push(inst.op.clone(), args, Vec::new());
        results[0] = keys.back(c, results[0], c.from.ty(inst.args[0]).elem);
        c.set_all(&inst.results, &results);
    }
}

impl SortKeys {
    fn keys(&self, func: &Func, inst: &Inst) -> Option<Keys> {
        let Op::Sort {
            keys: 1,
            descending,
            total,
            ..
        } = inst.op
        else {
            return None;
        };
        let x = func.ty(inst.args[0]);
        let largest = x.elem == Elem::F32
            && descending
            && !inst.results.iter().any(|v| self.whole.contains(v));
        if total && largest {
            return None;
        }
        Some(Keys {
            integer: ordered(x)?,
            total,
            alone: inst.args.len() == 1,
        })
    }
}

/// The integers by which many such numbers are sorted.
fn ordered(x: &Type) -> Option<Elem> {
    let integer = match x.elem {
        Elem::BF16 | Elem::F16 => Elem::I16,
        Elem::F32 => Elem::I32,
        Elem::F64 => Elem::I64,
        _ => return None,
    };
    (x.numel() >= FEWEST_ELEMENTS).then_some(integer)
}

/// Integers in the order of floats.
pub(super) struct Keys {
    integer: Elem,
    total: bool,
    /// Whether nothing is sorted along.
    alone: bool,
}

impl Keys {
    /// Those of single numbers, equal where the numbers are.
    pub(super) fn of_each(integer: Elem) -> Keys {
        Keys {
            integer,
            total: false,
            alone: false,
        }
    }

    pub(super) fn of(&self, c: &mut Copier, x: Value) -> Value {
        let x = if self.total { x } else { self.alike(c, x) };
        let bits = c.b.op(Op::Bitcast(self.integer), &[x]);
        self.flipped(c, bits)
    }

    /// The numbers with one NaN for all, and one zero if that shows.
    fn alike(&self, c: &mut Copier, x: Value) -> Value {
        let nan = c.b.like(x, f64::NAN);
        let is_nan = c.b.op(Op::Compare(CompareOp::Ne), &[x, x]);
        let x = c.b.op(Op::Select, &[is_nan, nan, x]);
        if self.alone {
            return x;
        }
        let zero = c.b.like(x, 0.0);
        let is_zero = c.b.op(Op::Compare(CompareOp::Eq), &[x, zero]);
        c.b.op(Op::Select, &[is_zero, zero, x])
    }

    fn back(&self, c: &mut Copier, keys: Value, elem: Elem) -> Value {
        let bits = self.flipped(c, keys);
        c.b.op(Op::Bitcast(elem), &[bits])
    }

    /// Negative integers with the bits below the sign inverted, which is its own inverse.
    fn flipped(&self, c: &mut Copier, x: Value) -> Value {
        let ty = c.b.ty(x).clone();
        let below = i64::MAX >> (64 - self.integer.bits());
        let zero = c.b.constant(Literal::splat_i64(ty.clone(), 0));
        let below = c.b.constant(Literal::splat_i64(ty, below));
        let negative = c.b.op(Op::Compare(CompareOp::Lt), &[x, zero]);
        let inverted = c.b.op(Op::Binary(BinaryOp::Xor), &[x, below]);
        c.b.op(Op::Select, &[negative, inverted, x])
    }
}
