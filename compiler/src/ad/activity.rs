//! Activity: which values can carry a tangent, without emitting anything.
//!
//! A conservative answer: everything that [`super::forward`] gives a tangent is active; something active may turn
//! out to have none. Loops need it to know their carried tangents before their body is differentiated.

use crate::ir::{Func, Inst, Op, Region, UnaryOp, Value};
use std::collections::{HashMap, HashSet};

/// Values that may carry a tangent. Values of nested regions enter as they are visited.
pub type Active = HashSet<Value>;

/// The values that a region captures and that have a tangent.
pub fn captured(region: &Region, tangents: &HashMap<Value, Value>) -> Active {
    region
        .captures()
        .into_iter()
        .filter(|v| tangents.contains_key(v))
        .collect()
}

/// Extends `active` over a region; says which of its results are active.
pub fn region(f: &Func, region: &Region, active: &mut Active) -> Vec<bool> {
    for inst in &region.insts {
        let results = inst_results(f, inst, active);
        for (&v, a) in inst.results.iter().zip(results) {
            if a {
                active.insert(v);
            }
        }
    }
    region.results.iter().map(|v| active.contains(v)).collect()
}

/// Active carries of a loop (the fixpoint over iterations), then its active ys. `args` are the carries' initial values, then xs; region parameters are `skip` others, the carries, then x slices.
pub fn scan(
    f: &Func,
    body: &Region,
    args: &[bool],
    carry: usize,
    skip: usize,
    active: &mut Active,
) -> Vec<bool> {
    let mut carries = args[..carry].to_vec();
    loop {
        let starts = carries.iter().chain(&args[carry..]);
        for (&p, &a) in body.params[skip..].iter().zip(starts) {
            if a {
                active.insert(p);
            }
        }
        let results = region(f, body, active);
        let mut grown = false;
        for (c, &r) in carries.iter_mut().zip(&results) {
            if r && !*c {
                *c = true;
                grown = true;
            }
        }
        if !grown {
            carries.extend(&results[carry..]);
            return carries;
        }
    }
}

fn inst_results(f: &Func, inst: &Inst, active: &mut Active) -> Vec<bool> {
    let args: Vec<bool> = inst.args.iter().map(|v| active.contains(v)).collect();
    let any = args.contains(&true);
    let found = match &inst.op {
        Op::Scan { carry, .. } => scan(f, &inst.regions[0], &args, *carry, 1, active),
        Op::While => scan(f, &inst.regions[1], &args, args.len(), 0, active),
        Op::If => {
            let then = region(f, &inst.regions[0], active);
            let otherwise = region(f, &inst.regions[1], active);
            then.iter().zip(otherwise).map(|(&a, b)| a || b).collect()
        }
        Op::Remat => {
            for (&p, &a) in inst.regions[0].params.iter().zip(&args) {
                if a {
                    active.insert(p);
                }
            }
            region(f, &inst.regions[0], active)
        }
        Op::Barrier => args,
        op => vec![any && !is_flat(op); inst.results.len()],
    };
    inst.results
        .iter()
        .zip(found)
        .map(|(&v, a)| a && f.ty(v).elem.is_float())
        .collect()
}

/// Operations with float operands whose derivative is zero wherever it exists.
fn is_flat(op: &Op) -> bool {
    matches!(
        op,
        Op::StopGradient
            | Op::Bitcast(_)
            | Op::Unary(UnaryOp::Sign | UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round)
    )
}
