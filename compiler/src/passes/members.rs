//! Puts what a loop carries, reads and gives out, what a branch gives out and what a `remat` is given in the order in which the program
//! asks for it. So the order in which a program declares the variables that a loop changes leaves no trace in what is emitted.
//!
//! ```text
//! %2, %3 = scan[length = 8, carry = 2] %0, %1       %2, %3 = scan[length = 8, carry = 2] %1, %0
//!     body(%i, %4, %5) {                                body(%i, %5, %4) {
//!   %6 = exp %4 : f32                                   %6 = exp %4 : f32
//!   %7 = sin %5 : f32                            →      %7 = sin %5 : f32
//!   yield %6, %7                                        yield %7, %6
//! }                                                   }
//! %8 = sub %3, %2 : f32                               %8 = sub %2, %3 : f32
//! return %8                                           return %8
//! ```
//!
//! A region is gone through backwards, from its results: an instruction when all that use it have been met, the one that was asked
//! for first before the others. What nobody asks for behind a loop is asked for by its other carries, turn by turn. Of what is given
//! as its arguments are, such as a function with its own derivative, the order stays.

use super::copy::{Plain, has_effect, rewrite};
use crate::ad::dce::needed;
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;
use std::collections::{BTreeSet, HashMap};

pub fn run(func: &Func) -> Func {
    let mut arranged = func.clone();
    arrange(&mut arranged.body);
    // Values are numbered anew, as they now come.
    rewrite(&arranged, &mut Plain)
}

/// Values in the order in which they are first asked for.
#[derive(Default)]
struct Asked {
    place: HashMap<Value, usize>,
    order: Vec<Value>,
}

impl Asked {
    fn ask(&mut self, values: &[Value]) {
        for &v in values {
            if let std::collections::hash_map::Entry::Vacant(free) = self.place.entry(v) {
                free.insert(self.order.len());
                self.order.push(v);
            }
        }
    }

    /// Those of `values` that have been asked for, by their positions among them, in that order.
    fn among(&self, values: &[Value]) -> Vec<usize> {
        let mut found: Vec<usize> = (0..values.len())
            .filter(|&i| self.place.contains_key(&values[i]))
            .collect();
        found.sort_by_key(|&i| self.place[&values[i]]);
        found
    }
}

/// Arranges what is in a region; what it needs of its parameters and of what is outside, in the order in which it does.
fn arrange(region: &mut Region) -> Asked {
    let mut asked = Asked::default();
    asked.ask(&region.results);
    let mut defs = HashMap::new();
    for (i, inst) in region.insts.iter().enumerate() {
        defs.extend(inst.results.iter().map(|&v| (v, i)));
    }
    let uses: Vec<Vec<usize>> = region
        .insts
        .iter()
        .map(|inst| defined(inst, &defs))
        .collect();
    let mut waits = vec![0; region.insts.len()];
    uses.iter().flatten().for_each(|&def| waits[def] += 1);
    // Effects are met in their order, and nothing before an effect that stands behind it.
    let mut stretch = 0;
    let mut stretches: Vec<Vec<usize>> = vec![Vec::new()];
    let mut of = Vec::with_capacity(region.insts.len());
    for (i, inst) in region.insts.iter().enumerate() {
        let ends = has_effect(inst);
        stretch += usize::from(ends);
        stretches.resize(stretch + 1 + usize::from(ends), Vec::new());
        stretches[stretch].push(i);
        of.push(stretch);
        stretch += usize::from(ends);
    }
    for (stretch, members) in stretches.iter().enumerate().rev() {
        let first_asked = |inst: &Inst, asked: &Asked| {
            let places = inst.results.iter().filter_map(|v| asked.place.get(v));
            places.min().copied().unwrap_or(usize::MAX)
        };
        let free = members.iter().filter(|&&i| waits[i] == 0);
        let mut ready: BTreeSet<(usize, usize)> = free
            .map(|&i| (first_asked(&region.insts[i], &asked), i))
            .collect();
        while let Some((_, i)) = ready.pop_first() {
            arrange_inst(&mut region.insts[i], &mut asked);
            for &def in &uses[i] {
                waits[def] -= 1;
                if waits[def] == 0 && of[def] == stretch {
                    ready.insert((first_asked(&region.insts[def], &asked), def));
                }
            }
        }
    }
    asked
}

/// The instructions of a region whose results one of them uses, in its own regions too.
fn defined(inst: &Inst, defs: &HashMap<Value, usize>) -> Vec<usize> {
    let uses = inst.uses();
    uses.iter().filter_map(|v| defs.get(v).copied()).collect()
}

/// Arranges an instruction, all uses of whose results are known, and asks for what it uses.
fn arrange_inst(inst: &mut Inst, asked: &mut Asked) {
    let within = match inst.op {
        Op::Scan { carry, .. } => arrange_scan(inst, carry, asked),
        Op::While => arrange_while(inst, asked),
        Op::If | Op::Remat => {
            let order = complete(asked.among(&inst.results), inst.results.len());
            permute(&mut inst.results, &order);
            for region in &mut inst.regions {
                permute(&mut region.results, &order);
            }
            let within: Vec<Asked> = inst.regions.iter_mut().map(arrange).collect();
            if matches!(inst.op, Op::Remat) {
                let params = &mut inst.regions[0].params;
                let order = complete(within[0].among(params), params.len());
                permute(params, &order);
                permute(&mut inst.args, &order);
            }
            within
        }
        _ => inst.regions.iter_mut().map(arrange).collect(),
    };
    asked.ask(&inst.args);
    // Values of the regions themselves are never asked for again, so that they do no harm.
    within.iter().for_each(|inner| asked.ask(&inner.order));
}

fn arrange_scan(inst: &mut Inst, carry: usize, asked: &Asked) -> Vec<Asked> {
    let body = &mut inst.regions[0];
    let ys = asked.among(&inst.results[carry..]);
    let ys: Vec<usize> = ys.into_iter().map(|i| carry + i).collect();
    let mut carries = asked.among(&inst.results[..carry]);
    loop_closure(&mut carries, carry, |known| {
        let roots = known.iter().chain(&ys).map(|&i| body.results[i]);
        needs(body, roots.collect()).among(&body.params[1..=carry])
    });
    let mut order = complete(carries, carry);
    let inputs = body.params.len() - 1;
    permute(&mut body.params[1..=carry], &order);
    permute(&mut inst.args[..carry], &order);
    order.extend(ys);
    let order = complete(order, inst.results.len());
    permute(&mut inst.results, &order);
    permute(&mut body.results, &order);
    let within = arrange(body);
    let xs = complete(within.among(&body.params[1 + carry..]), inputs - carry);
    permute(&mut body.params[1 + carry..], &xs);
    permute(&mut inst.args[carry..], &xs);
    vec![within]
}

fn arrange_while(inst: &mut Inst, asked: &Asked) -> Vec<Asked> {
    let [condition, body] = &mut inst.regions[..] else {
        return Vec::new();
    };
    let mut carries = asked.among(&inst.results);
    let tested = arrange(condition);
    for i in tested.among(&condition.params) {
        if !carries.contains(&i) {
            carries.push(i);
        }
    }
    loop_closure(&mut carries, body.params.len(), |known| {
        let roots = known.iter().map(|&i| body.results[i]);
        needs(body, roots.collect()).among(&body.params)
    });
    let order = complete(carries, body.params.len());
    permute(&mut inst.results, &order);
    permute(&mut inst.args, &order);
    permute(&mut condition.params, &order);
    permute(&mut body.params, &order);
    permute(&mut body.results, &order);
    vec![tested, arrange(body)]
}

/// Adds the carries that `more` finds the known ones to need, until there are none.
fn loop_closure(known: &mut Vec<usize>, all: usize, more: impl Fn(&[usize]) -> Vec<usize>) {
    let mut before = usize::MAX;
    while known.len() < all && known.len() != before {
        before = known.len();
        for i in more(known) {
            if !known.contains(&i) {
                known.push(i);
            }
        }
    }
}

/// What these results of a region need of its parameters, in the order in which they do.
fn needs(region: &Region, results: Vec<Value>) -> Asked {
    arrange(&mut Region {
        params: Vec::new(),
        insts: needed(region.insts.clone(), &results),
        results,
    })
}

/// The others behind those in `order`.
fn complete(mut order: Vec<usize>, all: usize) -> Vec<usize> {
    let mut there = vec![false; all];
    order.iter().for_each(|&i| there[i] = true);
    order.extend((0..all).filter(|&i| !there[i]));
    order
}

fn permute(values: &mut [Value], order: &[usize]) {
    let before = values.to_vec();
    for (value, &from) in values.iter_mut().zip(order) {
        *value = before[from];
    }
}
