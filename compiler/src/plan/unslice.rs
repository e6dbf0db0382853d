//! Loops that the host walks only carry values: rows of arrays are picked by the index, and rows of results are put
//! where they belong.
//!
//! ```text
//! %2 = scan[…] %x { (%i, %row) … print %row … yield %y }
//!     →
//! %2 = scan[…] %zeros { (%i, %all) %row = reshape dynamic_slice %x, %i, 0 … print %row …
//!                       yield dynamic_update_slice %all, %y, %i, 0 }
//! ```
//!
//! A loop that runs backwards counts forwards, and its body counts down from that.

use super::split::has_effect;
use crate::ir::builder::Builder;
use crate::ir::num::Num;
use crate::ir::op::BinaryOp;
use crate::ir::{Elem, Func, Inst, Literal, Op, Type, Value};
use crate::passes::copy::{Copier, Rewrite, rewrite};

pub(super) fn unslice(func: &Func) -> Func {
    rewrite(func, &mut Unslice)
}

struct Unslice;

impl Rewrite for Unslice {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        match inst.op {
            Op::Scan {
                length,
                reverse,
                carry,
            } if has_effect(inst) => self.walked(c, inst, (length, reverse, carry)),
            _ => c.keep(self, inst),
        }
    }
}

impl Unslice {
    fn walked(
        &mut self,
        c: &mut Copier,
        inst: &Inst,
        (length, reverse, carry): (usize, bool, usize),
    ) {
        c.at(inst.results.first().or(inst.args.first()));
        let body = &inst.regions[0];
        let xs = c.values(&inst.args[carry..]);
        let mut inits = c.values(&inst.args[..carry]);
        for &ys in &inst.results[carry..] {
            let zeros = Literal::splat_bits(c.from.ty(ys).clone(), 0);
            inits.push(c.b.op(Op::Constant(zeros), &[]));
        }

        c.b.open_region();
        let count = c.b.param(Type::scalar(Elem::I32));
        let index = if reverse {
            let last = c.b.int(Elem::I32, length as i64 - 1);
            c.b.op(Op::Binary(BinaryOp::Sub), &[last, count])
        } else {
            count
        };
        c.set(body.params[0], index);
        let (carries, rows) = body.params[1..].split_at(carry);
        c.params(carries);
        let stacks: Vec<Value> = inits[carry..]
            .iter()
            .map(|&v| {
                let ty = c.b.ty(v).clone();
                c.b.param(ty)
            })
            .collect();
        for (&x, &row) in xs.iter().zip(rows) {
            let picked = pick(&mut c.b, x, index);
            c.set(row, picked);
        }
        c.insts(self, &body.insts);
        let mut results = c.values(&body.results[..carry]);
        let ys = c.values(&body.results[carry..]);
        for (&stack, y) in stacks.iter().zip(ys) {
            results.push(put(&mut c.b, stack, y, index));
        }
        let region = c.b.close_region(results);

        let op = Op::Scan {
            length,
            reverse: false,
            carry: inits.len(),
        };
        c.at(inst.results.first().or(inst.args.first()));
        let results = c.b.push(op, inits, vec![region]);
        c.set_all(&inst.results, &results);
    }
}

/// `x[index]`
fn pick(b: &mut Builder, x: Value, index: Value) -> Value {
    let ty = b.ty(x).clone();
    let zero = b.int(Elem::I32, 0);
    let mut args = vec![x, index];
    args.resize(ty.rank() + 1, zero);
    let mut sizes = ty.shape;
    sizes[0] = 1;
    let shape = sizes[1..].to_vec();
    let slice = b.op(Op::DynamicSlice { sizes }, &args);
    b.op(Op::Reshape { shape }, &[slice])
}

/// `stack` with `y` as its row `index`.
fn put(b: &mut Builder, stack: Value, y: Value, index: Value) -> Value {
    let rank = b.ty(stack).rank();
    let mut shape = b.ty(y).shape.clone();
    shape.insert(0, 1);
    let row = b.op(Op::Reshape { shape }, &[y]);
    let zero = b.int(Elem::I32, 0);
    let mut args = vec![stack, row, index];
    args.resize(rank + 2, zero);
    b.op(Op::DynamicUpdateSlice, &args)
}
