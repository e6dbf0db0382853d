//! Lets a loop read an array slice by slice, where its body picks out the slice at its own position: what the reverse mode makes of an
//! input of a loop costs one slice an iteration, what it makes of a pick, the whole array.
//!
//! ```text
//! %1 = scan[length = 8, carry = 1] %c : f32            %1 = scan[length = 8, carry = 1] %c, %x : f32
//!     body(%i: i32, %s: f32) {                             body(%i: i32, %s: f32, %t: f32[4]) {
//!   %2 = gather[…] %x, %i : f32[4]                →      %4 = reduce_sum[axes = [0]] %t : f32
//!   %4 = reduce_sum[axes = [0]] %2 : f32                 %5 = add %s, %4 : f32
//!   %5 = add %s, %4 : f32                                yield %5
//!   yield %5                                           }
//! }
//! ```
//!
//! The array comes from outside the loop; the pick is a `dynamic_slice` or a `gather` of one whole slice of
//! axis 0, at the loop's position plus a constant, and never out of range. An array that has more slices than the loop has
//! turns is cut to those before it.

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::literal::{Literal, decode_i64};
use crate::ir::op::{BinaryOp, GatherDims, Op};
use std::collections::{HashMap, HashSet};

pub fn run(func: &Func) -> Func {
    let mut pass = ScanXs {
        constants: HashMap::new(),
        picks: HashMap::new(),
    };
    rewrite(func, &mut pass)
}

struct ScanXs {
    /// Scalar integer constants of the old function.
    constants: HashMap<Value, i64>,
    /// Results of picks, and the parameters of the new loops that they have become.
    picks: HashMap<Value, Value>,
}

/// One slice of axis 0 of an array, at the loop's position plus `offset`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Pick {
    array: Value,
    offset: usize,
}

impl Rewrite for ScanXs {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        if let Op::Constant(literal) = &inst.op {
            self.learn(inst.results[0], literal);
        }
        if let Some(&slice) = inst.results.first().and_then(|v| self.picks.get(v)) {
            c.at(inst.results.first());
            let shape = c.from.ty(inst.results[0]).shape.clone();
            let value = if *c.b.ty(slice).shape == shape {
                slice
            } else {
                c.b.op(Op::Reshape { shape }, &[slice])
            };
            c.set(inst.results[0], value);
            return;
        }
        match inst.op {
            Op::Scan {
                length,
                reverse,
                carry,
            } => {
                let picks = self.picks_of(c.from, &inst.regions[0], length);
                if picks.is_empty() {
                    return c.keep(self, inst);
                }
                let (more, region) = self.with_inputs(c, &inst.regions[0], &picks, length);
                let mut args = c.values(&inst.args);
                args.extend(more);
                c.at(inst.results.first());
                let op = Op::Scan {
                    length,
                    reverse,
                    carry,
                };
                let results = c.b.push(op, args, vec![region]);
                c.set_all(&inst.results, &results);
            }
            _ => c.keep(self, inst),
        }
    }
}

impl ScanXs {
    fn learn(&mut self, v: Value, literal: &Literal) {
        if literal.ty().elem.is_int() && literal.ty().numel() == 1 {
            self.constants
                .insert(v, decode_i64(literal.ty().elem, literal.bit(0)));
        }
    }

    /// The picks that stand directly in a loop's body, with their results, in order.
    fn picks_of(&mut self, func: &Func, body: &Region, length: usize) -> Vec<(Value, Pick)> {
        let mut own: HashSet<Value> = body.params.iter().copied().collect();
        // Values that are the loop's position plus a constant, whatever their shape of one element.
        let mut positions: HashMap<Value, i64> = HashMap::from([(body.params[0], 0)]);
        let mut picks = Vec::new();
        for inst in &body.insts {
            if let Op::Constant(literal) = &inst.op {
                self.learn(inst.results[0], literal);
            }
            if let Some(position) = self.position(func, inst, &positions) {
                positions.insert(inst.results[0], position);
            }
            if let Some((array, at)) = picked(func, inst)
                && let Some(&offset) = positions.get(&at)
                && let Ok(offset) = usize::try_from(offset)
                && !own.contains(&array)
                && offset + length <= func.ty(array).shape[0]
            {
                picks.push((inst.results[0], Pick { array, offset }));
            }
            own.extend(&inst.results);
        }
        picks
    }

    /// The constant distance of an instruction's result from the loop's position, if it has one.
    fn position(&self, func: &Func, inst: &Inst, known: &HashMap<Value, i64>) -> Option<i64> {
        let of = |v: &Value| known.get(v).copied();
        match &inst.op {
            Op::Reshape { .. } | Op::Broadcast { .. } | Op::Concat { .. }
                if inst.args.len() == 1 && func.ty(inst.results[0]).numel() == 1 =>
            {
                of(&inst.args[0])
            }
            Op::Convert(elem) if *elem == func.ty(inst.args[0]).elem => of(&inst.args[0]),
            Op::Binary(BinaryOp::Add) => {
                let [a, b] = &inst.args[..] else { return None };
                let constant = |v: &Value| self.constants.get(v).copied();
                let sum = of(a).zip(constant(b)).or(constant(a).zip(of(b)));
                sum.and_then(|(x, y)| x.checked_add(y))
            }
            Op::Binary(BinaryOp::Sub) => {
                let [a, b] = &inst.args[..] else { return None };
                let (x, y) = of(a).zip(self.constants.get(b).copied())?;
                x.checked_sub(y)
            }
            _ => None,
        }
    }

    /// The body with one more parameter for each different pick, and the arrays to read them from.
    fn with_inputs(
        &mut self,
        c: &mut Copier,
        body: &Region,
        picks: &[(Value, Pick)],
        length: usize,
    ) -> (Vec<Value>, Region) {
        let mut inputs: Vec<(Pick, Value)> = Vec::new();
        for (result, pick) in picks {
            if inputs.iter().all(|(p, _)| p != pick) {
                c.at(Some(result));
                inputs.push((*pick, cut(c, *pick, length)));
            }
        }
        c.b.open_region();
        c.params(&body.params);
        let mut params: HashMap<Pick, Value> = HashMap::new();
        for (pick, array) in &inputs {
            let ty = c.b.ty(*array);
            let slice = ty.with_shape(&ty.shape[1..]);
            params.insert(*pick, c.b.param(slice));
        }
        for (result, pick) in picks {
            self.picks.insert(*result, params[pick]);
        }
        c.insts(self, &body.insts);
        let results = c.values(&body.results);
        let region = c.b.close_region(results);
        (inputs.into_iter().map(|(_, array)| array).collect(), region)
    }
}

/// The slices of the array that the loop reads.
fn cut(c: &mut Copier, pick: Pick, length: usize) -> Value {
    let array = c.value(pick.array);
    let shape = c.b.ty(array).shape.clone();
    if shape[0] == length {
        return array;
    }
    let mut start = vec![0; shape.len()];
    let mut limit = shape.clone();
    (start[0], limit[0]) = (pick.offset, pick.offset + length);
    let stride = vec![1; shape.len()];
    let slice = Op::Slice {
        start,
        limit,
        stride,
    };
    c.b.op(slice, &[array])
}

/// The array and the position of an instruction that takes one whole slice of axis 0.
fn picked(func: &Func, inst: &Inst) -> Option<(Value, Value)> {
    match &inst.op {
        // All other starts are clamped to 0.
        Op::DynamicSlice { sizes } => {
            let shape = &func.ty(inst.args[0]).shape;
            let whole = !sizes.is_empty() && sizes[0] == 1 && sizes[1..] == shape[1..];
            whole.then(|| (inst.args[0], inst.args[1]))
        }
        Op::Gather(dims) => {
            let (array, indices) = (inst.args[0], inst.args[1]);
            let shape = &func.ty(array).shape;
            let one = func.ty(indices).numel() == 1;
            (one && takes_slice(dims, shape)).then_some((array, indices))
        }
        _ => None,
    }
}

fn takes_slice(dims: &GatherDims, shape: &[usize]) -> bool {
    dims.start_index_map == [0]
        && dims.operand_batching_dims.is_empty()
        && dims.slice_sizes[0] == 1
        && dims.slice_sizes[1..] == shape[1..]
        && dims.offset_dims.is_sorted()
}
