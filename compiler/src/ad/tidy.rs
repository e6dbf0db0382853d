//! What every transform ends with: dead code goes, and what a region computes twice is computed once. Both passes keep
//! the order of what stays, and neither looks across the border of a region, so that a loop keeps its constants.

use super::dce;
use crate::ir::{Func, Inst, Op, Region, Value};
use std::collections::HashMap;

pub fn tidy(f: Func) -> Func {
    let mut f = f;
    let mut replaced = HashMap::new();
    f.body = merged(std::mem::take(&mut f.body), &mut replaced);
    dce::eliminate(&f)
}

/// The region with later copies of an instruction replaced by the first.
fn merged(region: Region, replaced: &mut HashMap<Value, Value>) -> Region {
    let mut known: HashMap<(Op, Vec<Value>), Vec<Value>> = HashMap::new();
    let mut insts = Vec::with_capacity(region.insts.len());
    for mut inst in region.insts {
        for v in &mut inst.args {
            *v = current(*v, replaced);
        }
        inst.regions = inst
            .regions
            .into_iter()
            .map(|r| merged(r, replaced))
            .collect();
        if is_repeatable(&inst) {
            let key = (inst.op.clone(), inst.args.clone());
            if let Some(first) = known.get(&key) {
                replaced.extend(inst.results.iter().copied().zip(first.iter().copied()));
                continue;
            }
            known.insert(key, inst.results.clone());
        }
        insts.push(inst);
    }
    Region {
        params: region.params,
        insts,
        results: region
            .results
            .into_iter()
            .map(|v| current(v, replaced))
            .collect(),
    }
}

fn current(v: Value, replaced: &HashMap<Value, Value>) -> Value {
    replaced.get(&v).copied().unwrap_or(v)
}

/// Whether one run can stand for two. A barrier keeps computations apart on purpose.
fn is_repeatable(inst: &Inst) -> bool {
    inst.regions.is_empty() && !matches!(inst.op, Op::Barrier | Op::Host(_) | Op::Effect(_))
}
