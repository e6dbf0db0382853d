//! Which instructions of a loop's body stay in it, and whether it pays to take the others out.

use super::totals::Total;
use crate::ir::Builder;
use crate::ir::flops::own_work;
use crate::ir::func::{Inst, Region, Value};
use crate::ir::op::Op;
use crate::passes::copy::has_effect;
use crate::passes::licm::is_free;
use std::collections::HashSet;

/// A loop of fewer iterations keeps its body.
const FEWEST_ITERATIONS: usize = 8;
/// Products of more flops fill a device by themselves.
const LARGEST_PRODUCT: u64 = 1 << 25;
/// The memory that the values taken out of a loop may need, all iterations together.
const MOST_BYTES: usize = 128 << 20;

/// The three loops that one becomes; the first and the last have no order among their iterations.
pub struct Parts {
    pub before: Vec<Inst>,
    /// What `before` gives to the others.
    pub hoisted: Vec<Value>,
    pub core: Vec<Inst>,
    /// What the core gives out at each iteration, for the part behind it or as results of the loop.
    pub given_out: Vec<Value>,
    pub after: Vec<Inst>,
    pub totals: Vec<Total>,
    /// The other carries, which are state.
    pub carried: Vec<usize>,
    /// The outputs of the loop that are stacked.
    stacked: Vec<Value>,
}

impl Parts {
    /// None where the loop is better left as it is.
    pub fn of(b: &Builder, body: &Region, length: usize, carry: usize) -> Option<Parts> {
        if length < FEWEST_ITERATIONS || body.insts.iter().any(is_fixed) {
            return None;
        }
        let varying = reached(body, body.params.iter().copied());
        let totals = Total::all(body, carry, &varying);
        let is_total = |j: usize| totals.iter().any(|t| t.carry == j);
        let carried: Vec<usize> = (0..carry).filter(|&j| !is_total(j)).collect();
        let state: Vec<Value> = carried.iter().map(|&j| body.params[1 + j]).collect();
        let stateful = reached(body, state.iter().copied());
        let next: Vec<Value> = carried.iter().map(|&j| body.results[j]).collect();

        let all = needed(body, &next, &HashSet::new());
        let heavy = |inst: &&Inst| {
            matches!(inst.op, Op::Dot(_) | Op::Conv(_) | Op::Gather(_))
                && !stateful.contains(&inst.results[0])
                && varying.contains(&inst.results[0])
        };
        let hoisted: Vec<Value> = all.iter().filter(heavy).map(|i| i.results[0]).collect();
        let mut outside: HashSet<Value> = hoisted.iter().copied().collect();
        let before = needed(body, &hoisted, &HashSet::new());
        let core = needed(body, &next, &outside);

        let mut in_core: HashSet<Value> = core.iter().flat_map(|i| &i.results).copied().collect();
        in_core.extend(&state);
        let ready = |v: &Value| in_core.contains(v) && stateful.contains(v);
        let stacked: Vec<Value> = body.results[carry..].to_vec();
        let mut wanted = stacked.clone();
        wanted.extend(totals.iter().flat_map(Total::wanted));
        outside.extend(in_core.iter().filter(|v| ready(v)));
        let after = needed(body, &wanted, &outside);

        let read = Region {
            params: Vec::new(),
            insts: after.clone(),
            results: wanted,
        };
        let given_out = read.captures().into_iter().filter(ready).collect();
        let parts = Parts {
            before,
            hoisted,
            core,
            given_out,
            after,
            totals,
            carried,
            stacked,
        };
        let small = body.insts.iter().all(|inst| is_small(b, inst));
        (small && parts.pays(b, &varying, length)).then_some(parts)
    }

    /// What is wanted of the part behind the core.
    pub fn wanted(&self) -> Vec<Value> {
        let terms = self.totals.iter().flat_map(Total::wanted);
        self.stacked.iter().copied().chain(terms).collect()
    }

    /// Whether some small products become a large one, and what is moved fits.
    fn pays(&self, b: &Builder, varying: &HashSet<Value>, length: usize) -> bool {
        let moved = || self.before.iter().chain(&self.after);
        let merges = |inst: &&Inst| {
            matches!(inst.op, Op::Dot(_))
                && inst.args.iter().any(|v| varying.contains(v))
                && inst.args.iter().any(|v| !varying.contains(v))
        };
        let gains = self.totals.iter().any(Total::is_product) || moved().any(|i| merges(&i));
        let made = moved().filter(|inst| !is_free(&inst.op));
        let kept = made.flat_map(|inst| &inst.results).chain(&self.given_out);
        let bytes: usize = kept.map(|&v| b.ty(v).bytes()).sum();
        gains
            && bytes.saturating_mul(length) <= MOST_BYTES
            && moved().all(|inst| inst.regions.is_empty())
    }
}

/// Whether an instruction holds the loop as it is.
fn is_fixed(inst: &Inst) -> bool {
    matches!(inst.op, Op::Barrier) || has_effect(inst)
}

/// Whether it is no product, or one that is small.
fn is_small(b: &Builder, inst: &Inst) -> bool {
    let flops = || own_work(inst, |v| b.ty(v)).flops;
    !matches!(inst.op, Op::Dot(_)) || flops() <= LARGEST_PRODUCT
}

/// The values of a body that depend on the given ones, those included.
fn reached(body: &Region, from: impl Iterator<Item = Value>) -> HashSet<Value> {
    let mut found: HashSet<Value> = from.collect();
    for inst in &body.insts {
        if inst.uses().iter().any(|v| found.contains(v)) {
            found.extend(&inst.results);
        }
    }
    found
}

/// The instructions that make `wanted`, where `there` are at hand.
fn needed(body: &Region, wanted: &[Value], there: &HashSet<Value>) -> Vec<Inst> {
    let mut wanted: HashSet<Value> = wanted.iter().copied().collect();
    let mut found = Vec::new();
    for inst in body.insts.iter().rev() {
        let missing = |v: &Value| wanted.contains(v) && !there.contains(v);
        if inst.results.iter().any(missing) {
            wanted.extend(inst.uses());
            found.push(inst.clone());
        }
    }
    found.reverse();
    found
}
