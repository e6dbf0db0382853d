//! Which values of a region are mapped, without emitting anything: loops need to know it of their carries before
//! their body is batched. A result is mapped when anything it may depend on is.

use crate::ir::{Inst, Op, Region, Value};
use std::collections::HashSet;

pub type Mapped = HashSet<Value>;

/// Extends `mapped` over a region; says which of its results are mapped.
pub fn region(region: &Region, mapped: &mut Mapped) -> Vec<bool> {
    for inst in &region.insts {
        for (&v, m) in inst.results.iter().zip(inst_results(inst, mapped)) {
            if m {
                mapped.insert(v);
            }
        }
    }
    region.results.iter().map(|v| mapped.contains(v)).collect()
}

/// Mapped carries of a loop (the fixpoint over iterations), then its mapped ys. `args` are the carries' initial
/// values, then xs; region parameters are `skip` others, the carries, then x slices.
pub fn body(
    body: &Region,
    args: &[bool],
    carry: usize,
    skip: usize,
    mapped: &mut Mapped,
) -> Vec<bool> {
    let mut carries = args[..carry].to_vec();
    loop {
        set(
            &body.params[skip..],
            carries.iter().chain(&args[carry..]),
            mapped,
        );
        let results = region(body, mapped);
        let before = carries.clone();
        for (c, r) in carries.iter_mut().zip(&results) {
            *c |= r;
        }
        if carries == before {
            carries.extend(&results[carry..]);
            return carries;
        }
    }
}

/// Carries of a `while`, and whether its condition is mapped; then all of them are.
pub fn while_loop(inst: &Inst, args: &[bool], mapped: &mut Mapped) -> (Vec<bool>, bool) {
    let [condition, step] = &inst.regions[..] else {
        return (args.to_vec(), false);
    };
    let carries = body(step, args, args.len(), 0, mapped);
    set(&condition.params, carries.iter(), mapped);
    if region(condition, mapped).contains(&true) {
        (vec![true; args.len()], true)
    } else {
        (carries, false)
    }
}

fn set<'a>(params: &[Value], flags: impl Iterator<Item = &'a bool>, mapped: &mut Mapped) {
    for (&p, &m) in params.iter().zip(flags) {
        if m {
            mapped.insert(p);
        }
    }
}

fn inst_results(inst: &Inst, mapped: &mut Mapped) -> Vec<bool> {
    let args: Vec<bool> = inst.args.iter().map(|v| mapped.contains(v)).collect();
    match &inst.op {
        Op::Scan { carry, .. } => body(&inst.regions[0], &args, *carry, 1, mapped),
        Op::While => while_loop(inst, &args, mapped).0,
        Op::If => {
            let then = region(&inst.regions[0], mapped);
            let otherwise = region(&inst.regions[1], mapped);
            let either = then.iter().zip(otherwise);
            either.map(|(&a, b)| a || b || args[0]).collect()
        }
        Op::CustomVjp | Op::Remat => {
            set(&inst.regions[0].params, args.iter(), mapped);
            region(&inst.regions[0], mapped)
        }
        Op::Barrier => args,
        _ => vec![args.contains(&true); inst.results.len()],
    }
}
