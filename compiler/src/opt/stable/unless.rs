//! `log(sum(exp(x)))` as it is written, unless a sum overflows or all of its terms vanish:
//!
//! ```text
//! l = log(sum(exp(x)))
//! if max(abs(l)) < limit { l } else { select(abs(l) < limit, l, the stable form) }
//! ```
//!
//! Finding the largest element takes as long as a pass over `x`; a look at the logarithms does not. Where no sum needs the
//! stable form the result is that of the program as it is written, to the bit.

use super::{Defined, Stable, Sum, back, reduce, shift};
use crate::ir::func::{Func, Value};
use crate::ir::num::Num;
use crate::ir::op::{CompareOp, Op, ReduceOp, UnaryOp};
use crate::ir::types::Elem;
use crate::opt::DeviceCost;
use crate::opt::cost::{self, Role};
use crate::passes::copy::Copier;
use std::collections::HashMap;
use std::f64::consts::LN_2;

/// Seconds that a run has to save: XLA takes a tenth of a second longer to compile the branch, which a thousand runs are to
/// make up for.
const WORTH: f64 = 1e-4;

/// Instructions that the stable form does again, at most, so that their results need not be kept for it.
const AGAIN: usize = 32;

/// Whether only the logarithm of a sum is wanted, and finding the largest elements takes so long that asking is worth it. On
/// several devices all would have to agree on the branch.
pub fn pays(func: &Func, value: Value, sum: &Sum, device: &DeviceCost) -> bool {
    let ty = func.ty(sum.x);
    let spared = 2.0 * ty.numel() as f64 / device.vector;
    limit(ty.elem).is_some() && spared > WORTH && is_only_logged(func, value, sum.exp)
}

fn is_only_logged(func: &Func, sum: Value, exp: Value) -> bool {
    let wanted = |results: &[Value]| results.contains(&exp) || results.contains(&sum);
    let mut only = !wanted(&func.body.results);
    func.body.walk(&mut |inst| {
        only &= !matches!(inst.op, Op::Shard { .. });
        only &= !inst.args.contains(&exp) || inst.results == [sum];
        only &= !inst.args.contains(&sum) || inst.op == Op::Unary(UnaryOp::Log);
        only &= !inst.regions.iter().any(|r| wanted(&r.results));
    });
    only
}

/// How far from 0 the logarithm of a sum may be that has lost nothing that matters: half as far as that of the smallest normal
/// number, so that terms below that are nothing beside it. NaN and infinities are farther than any. Narrower types have
/// no room for that.
fn limit(elem: Elem) -> Option<f64> {
    match elem {
        Elem::F32 => Some(63.0 * LN_2),
        Elem::F64 => Some(511.0 * LN_2),
        _ => None,
    }
}

/// The logarithm of a sum that is checked.
pub fn log(c: &mut Copier, pass: &Stable, value: Value, found: &Sum) -> Value {
    let sum = c.value(value);
    let ty = c.b.ty(sum).clone();
    let log = c.b.op(Op::Unary(UnaryOp::Log), &[sum]);
    let size = c.b.op(Op::Unary(UnaryOp::Abs), &[log]);
    let axes: Vec<usize> = (0..ty.rank()).collect();
    let largest = match axes[..] {
        [] => size,
        _ => reduce(c, ReduceOp::Max, &axes, size),
    };
    let all = is_small(c, largest);
    c.b.open_region();
    let as_written = c.b.close_region(vec![log]);
    c.b.open_region();
    let mut again = Again {
        pass,
        left: AGAIN,
        made: HashMap::new(),
    };
    let x = again.value(c, found.x);
    let (largest, exp) = shift(c, x, &found.axes);
    let shifted = reduce(c, ReduceOp::Sum, &found.axes, exp);
    let stable = back(c, shifted, largest);
    let fine = is_small(c, size);
    let either = c.b.op(Op::Select, &[fine, log, stable]);
    let shifted = c.b.close_region(vec![either]);
    c.b.push(Op::If, vec![all], vec![as_written, shifted])[0]
}

/// Whether logarithms are within the limit of their type.
fn is_small(c: &mut Copier, size: Value) -> Value {
    let limit = limit(c.b.elem_of(size)).unwrap_or(0.0);
    let limit = c.b.like(size, limit);
    c.b.op(Op::Compare(CompareOp::Lt), &[size, limit])
}

/// Computes a value again from what lies in memory, so that it need not lie there itself.
struct Again<'a> {
    pass: &'a Stable<'a>,
    left: usize,
    made: HashMap<Value, Value>,
}

impl Again<'_> {
    fn value(&mut self, c: &mut Copier, v: Value) -> Value {
        if let Some(&made) = self.made.get(&v) {
            return made;
        }
        let defined: &Defined = self.pass.defined;
        let inst = defined.of(v).filter(|inst| {
            let profile = cost::of_inst(c.from, inst, self.pass.device);
            // What the pass itself changes is taken as it has become.
            let changed = matches!(inst.op, Op::Unary(UnaryOp::Exp | UnaryOp::Log))
                || defined.quotient(inst).is_some();
            let fused = matches!(profile.role, Role::Fused | Role::View | Role::Free);
            self.left > 0 && fused && !changed
        });
        let made = match inst {
            Some(inst) => {
                self.left -= 1;
                let args: Vec<Value> = inst.args.iter().map(|&a| self.value(c, a)).collect();
                c.b.op(inst.op.clone(), &args)
            }
            None => c.value(v),
        };
        self.made.insert(v, made);
        made
    }
}
