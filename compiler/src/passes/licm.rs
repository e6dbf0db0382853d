//! Moves out of a loop what is the same in every iteration.
//!
//! ```text
//! %1 = scan[length = 8, carry = 1] %c : f32            %2 = exp %a : f32
//!     body(%i: i32, %x: f32) {                         %1 = scan[length = 8, carry = 1] %c : f32
//!   %2 = exp %a : f32                             →        body(%i: i32, %x: f32) {
//!   %3 = mul %x, %2 : f32                                %3 = mul %x, %2 : f32
//!   yield %3                                             yield %3
//! }                                                    }
//! return %1                                            return %1
//! ```
//!
//! Every primitive is total, so that running it although the loop turns zero times changes nothing; only a `while`, which may
//! not end, leaves just the loops that surely run. What is remade for nothing inside (constants, counts,
//! broadcasts, reshapes) moves only along with what needs it, lest a loop read from memory what it could have
//! made on the spot; if the loop needs it too, it gets its own copy. Barriers stay: they are there to hold work in place.

use super::copy::{Copier, Rewrite, has_effect, rewrite};
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;
use std::collections::{HashMap, HashSet};

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut Licm)
}

struct Licm;

impl Rewrite for Licm {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        // Inner loops first: what leaves them may leave this one too.
        let mut regions = c.regions(self, inst);
        let surely_runs = match inst.op {
            Op::Scan { length, .. } => length > 0,
            Op::While => false,
            _ => return c.emit(inst, inst.op.clone(), regions),
        };
        for region in &mut regions {
            hoist(c, region, surely_runs);
        }
        c.emit(inst, inst.op.clone(), regions);
    }
}

/// Takes from the body of a loop what does not depend on the iteration, and appends it before the loop.
fn hoist(c: &mut Copier, region: &mut Region, surely_runs: bool) {
    let plan = plan(region, surely_runs);
    // Values inside whose maker stays, and the copies that the instructions outside use.
    let mut outside: HashMap<Value, Value> = HashMap::new();
    let mut rest = Vec::new();
    let insts = std::mem::take(&mut region.insts);
    for (mut inst, fate) in insts.into_iter().zip(plan) {
        match fate {
            Fate::Stays => rest.push(inst),
            Fate::Moves => {
                rename(&mut inst, &outside);
                c.b.append(inst);
            }
            Fate::Copied => {
                let mut copy = inst.clone();
                rename(&mut copy, &outside);
                c.b.span = c.b.span_of(inst.results[0]);
                let value = c.b.op(copy.op, &copy.args);
                outside.insert(inst.results[0], value);
                rest.push(inst);
            }
        }
    }
    region.insts = rest;
}

#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Stays,
    Moves,
    /// Moves, and stays too.
    Copied,
}

/// What becomes of each instruction of a loop's body.
fn plan(region: &Region, surely_runs: bool) -> Vec<Fate> {
    let invariant = invariants(region, surely_runs);
    let mut fates = vec![Fate::Stays; region.insts.len()];
    // Read outside, and read inside, by the instructions that come later.
    let mut outside: HashSet<Value> = HashSet::new();
    let mut inside: HashSet<Value> = region.results.iter().copied().collect();
    for (i, inst) in region.insts.iter().enumerate().rev() {
        let read = |by: &HashSet<Value>| inst.results.iter().any(|v| by.contains(v));
        let free = is_free(&inst.op);
        fates[i] = if !invariant[i] || free && !read(&outside) {
            Fate::Stays
        } else if free && read(&inside) {
            Fate::Copied
        } else {
            Fate::Moves
        };
        if fates[i] != Fate::Stays {
            outside.extend(inst.uses());
        }
        if fates[i] != Fate::Moves {
            inside.extend(inst.uses());
        }
    }
    fates
}

fn invariants(region: &Region, surely_runs: bool) -> Vec<bool> {
    let mut varying: HashSet<Value> = region.params.iter().copied().collect();
    region
        .insts
        .iter()
        .map(|inst| {
            let held = matches!(inst.op, Op::Barrier)
                || has_effect(inst)
                || !surely_runs && may_not_end(inst);
            let invariant = !held && inst.uses().iter().all(|v| !varying.contains(v));
            if !invariant {
                varying.extend(&inst.results);
            }
            invariant
        })
        .collect()
}

/// Whether it is made on the spot at no cost, by whatever reads it.
pub(super) fn is_free(op: &Op) -> bool {
    matches!(
        op,
        Op::Constant(_) | Op::Iota { .. } | Op::Broadcast { .. } | Op::Reshape { .. }
    )
}

fn may_not_end(inst: &Inst) -> bool {
    matches!(inst.op, Op::While) || inst.regions.iter().any(|r| r.insts.iter().any(may_not_end))
}

fn rename(inst: &mut Inst, names: &HashMap<Value, Value>) {
    rename_all(&mut inst.args, names);
    for region in &mut inst.regions {
        for inner in &mut region.insts {
            rename(inner, names);
        }
        rename_all(&mut region.results, names);
    }
}

fn rename_all(values: &mut [Value], names: &HashMap<Value, Value>) {
    for v in values {
        *v = names.get(v).copied().unwrap_or(*v);
    }
}
