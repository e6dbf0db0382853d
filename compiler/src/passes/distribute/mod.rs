//! Loop distribution: what a loop computes in every iteration, but no later iteration needs, is computed for all of them at
//! once before or behind the loop, where many small products become a large one.
//!
//! ```text
//! %1, %2 = scan[length = 8, carry = 2] %h, %s            %1, %8 = scan[length = 8, carry = 1] %h
//!     body(%i: i32, %3: f32[4], %4: f32) {                   body(%i: i32, %3: f32[4]) {
//!   %5 = tanh %3 : f32[4]                                  %5 = tanh %3 : f32[4]
//!   %6 = dot_general %5, %w : f32                   →      yield %5, %5
//!   %7 = add %4, %6 : f32                                }
//!   yield %5, %7                                         %9 = dot_general[contract = [1] x [0]] %8, %w : f32[8]
//! }                                                      %10 = reduce_sum[axes = [0]] %9 : f32
//!                                                        %2 = add %s, %10 : f32
//! ```
//!
//! A carried sum that nothing in the loop reads is no state: its terms are added up behind the loop, and a sum of products is one
//! product that contracts over the iterations too. That is the reverse mode's gradient of a recurrent
//! network's weights. Sums come in another order than in the loop.

mod parts;
mod totals;

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::Builder;
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;
use crate::ir::types::{Elem, Type};
use crate::transform::vmap;
use parts::Parts;
use std::collections::{HashMap, HashSet};

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut Distribute)
}

struct Distribute;

impl Rewrite for Distribute {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        // Inner loops first.
        let regions = c.regions(self, inst);
        let Op::Scan {
            length,
            reverse,
            carry,
        } = inst.op
        else {
            return c.emit(inst, inst.op.clone(), regions);
        };
        let old = Loop {
            args: c.values(&inst.args),
            body: &regions[0],
            length,
            reverse,
            carry,
        };
        c.at(inst.results.first());
        match old.distributed(&mut c.b) {
            Some(results) => c.set_all(&inst.results, &results),
            None => c.emit(inst, inst.op.clone(), regions),
        }
    }
}

struct Loop<'r> {
    args: Vec<Value>,
    body: &'r Region,
    length: usize,
    reverse: bool,
    carry: usize,
}

/// Values of a loop's body, and the arrays that hold those of all iterations along axis 0.
type Stacks = HashMap<Value, Value>;

impl Loop<'_> {
    /// The results of the loops that this one becomes; none, and nothing emitted, where it is better left as it is.
    fn distributed(&self, b: &mut Builder) -> Option<Vec<Value>> {
        let parts = Parts::of(b, self.body, self.length, self.carry)?;
        let (position, rest) = self.body.params.split_first()?;
        let slices = &rest[self.carry..];

        let mut at_hand: HashSet<Value> = slices.iter().copied().collect();
        at_hand.insert(*position);
        let before = self.batched(b, &parts.before, &parts.hoisted, &at_hand)?;
        at_hand.extend(parts.hoisted.iter().chain(&parts.given_out));
        let wanted = parts.wanted();
        let after = self.batched(b, &parts.after, &wanted, &at_hand)?;

        let arrays = self.args[self.carry..].iter().copied();
        let mut stacks: Stacks = slices.iter().copied().zip(arrays).collect();
        if [&before.stacked, &after.stacked, &wanted]
            .iter()
            .any(|vs| vs.contains(position))
        {
            let ty = Type::new(Elem::I32, [self.length]);
            stacks.insert(*position, b.op(Op::Iota { ty, axis: 0 }, &[]));
        }
        before.emit(b, &mut stacks);
        let finals = self.core(b, &parts, &mut stacks);
        after.emit(b, &mut stacks);

        let mut results = Vec::new();
        for j in 0..self.carry {
            let total = parts.totals.iter().find(|t| t.carry == j);
            results.push(match total {
                Some(total) => total.emit(b, self.args[j], |v| stacks[&v]),
                None => finals[&j],
            });
        }
        results.extend(self.body.results[self.carry..].iter().map(|y| stacks[y]));
        Some(results)
    }

    /// What computes `results` for all iterations, those aside that are at hand.
    fn batched(
        &self,
        b: &Builder,
        insts: &[Inst],
        results: &[Value],
        at_hand: &HashSet<Value>,
    ) -> Option<Batched> {
        let missing = results.iter().copied().filter(|v| !at_hand.contains(v));
        let mut region = Region {
            params: Vec::new(),
            insts: insts.to_vec(),
            results: missing.collect(),
        };
        let read = region.captures().into_iter();
        region.params = read.filter(|v| at_hand.contains(v)).collect();
        let (func, invariants) = b.extract("batch", &region);
        let mut axes = vec![Some(0); region.params.len()];
        axes.resize(axes.len() + invariants.len(), None);
        Some(Batched {
            func: vmap(&func, &axes, self.length).ok()?,
            stacked: region.params,
            invariants,
            results: region.results,
        })
    }

    /// The loop over what is really carried; the final carries by their place in the old loop. What it gives out at
    /// each iteration goes to `stacks`.
    fn core(&self, b: &mut Builder, parts: &Parts, stacks: &mut Stacks) -> HashMap<usize, Value> {
        let carried = &parts.carried;
        if carried.is_empty() {
            return HashMap::new();
        }
        let of_carried = |from: &[Value]| carried.iter().map(|&j| from[j]).collect::<Vec<_>>();
        let mut region = Region {
            params: vec![self.body.params[0]],
            insts: parts.core.clone(),
            results: of_carried(&self.body.results),
        };
        region.results.extend(&parts.given_out);
        region.params.extend(of_carried(&self.body.params[1..]));
        let read = region.captures().into_iter();
        let slices: Vec<Value> = read.filter(|v| stacks.contains_key(v)).collect();
        region.params.extend(&slices);
        let mut args = of_carried(&self.args);
        args.extend(slices.iter().map(|v| stacks[v]));
        let op = Op::Scan {
            length: self.length,
            reverse: self.reverse,
            carry: carried.len(),
        };
        let results = b.push(op, args, vec![region]);
        let (finals, given_out) = results.split_at(carried.len());
        let inside = parts.given_out.iter().copied();
        stacks.extend(inside.zip(given_out.iter().copied()));
        carried
            .iter()
            .copied()
            .zip(finals.iter().copied())
            .collect()
    }
}

/// A part of a loop's body, for all iterations at once.
struct Batched {
    func: Func,
    /// The inputs with an element for each iteration, as they are named in the body; then those that are always the same.
    stacked: Vec<Value>,
    invariants: Vec<Value>,
    results: Vec<Value>,
}

impl Batched {
    fn emit(&self, b: &mut Builder, stacks: &mut Stacks) {
        let mut args: Vec<Value> = self.stacked.iter().map(|v| stacks[v]).collect();
        args.extend(&self.invariants);
        let values = b.inline(&self.func, &args);
        stacks.extend(self.results.iter().copied().zip(values));
    }
}
