//! Dead code elimination, through regions: dead results of loops and branches, dead carries, unread slices, and dead
//! members of joint operations go too. It keeps the order of what stays.

use crate::ir::{Builder, Func, Inst, Op, Region, Value};
use std::collections::{HashMap, HashSet};

/// The function without dead code, its values numbered anew in order.
pub fn eliminate(f: &Func) -> Func {
    let mut live: HashSet<Value> = f.body.results.iter().copied().collect();
    mark(&f.body, &mut live);
    let insts = rebuild(&f.body.insts, &live);

    let mut b = Builder::new(f.name.clone());
    let mut map = HashMap::new();
    for &p in &f.body.params {
        b.span = f.span(p);
        let v = b.param(f.ty(p).clone());
        map.insert(p, v);
    }
    b.inline_insts(f, &insts, &mut map);
    let results = f.body.results.iter().map(|v| map[v]).collect();
    b.finish(results)
}

/// The instructions of an open-ended region that `roots` need.
pub fn needed(insts: Vec<Inst>, roots: &[Value]) -> Vec<Inst> {
    let region = Region {
        params: Vec::new(),
        insts,
        results: roots.to_vec(),
    };
    let mut live: HashSet<Value> = roots.iter().copied().collect();
    mark(&region, &mut live);
    rebuild(&region.insts, &live)
}

/// For each parameter of a region, whether its results depend on it.
pub fn used_params(region: &Region) -> Vec<bool> {
    let mut live: HashSet<Value> = region.results.iter().copied().collect();
    mark(region, &mut live);
    region.params.iter().map(|p| live.contains(p)).collect()
}

/// Adds to `live` what the live values of a region need, from its last instruction to its first.
fn mark(region: &Region, live: &mut HashSet<Value>) {
    for inst in region.insts.iter().rev() {
        if stays(inst, live) {
            mark_inst(inst, live);
        }
    }
}

fn stays(inst: &Inst, live: &HashSet<Value>) -> bool {
    has_effect(inst) || inst.results.iter().any(|v| live.contains(v))
}

fn has_effect(inst: &Inst) -> bool {
    inst.any(&|op| matches!(op, Op::Effect(..)))
}

fn mark_inst(inst: &Inst, live: &mut HashSet<Value>) {
    match &inst.op {
        Op::Scan { carry, .. } => {
            let body = &inst.regions[0];
            let params = &body.params[1..];
            mark_ys(inst, *carry, live);
            mark_loop(&inst.results[..*carry], &params[..*carry], body, live);
            for (i, (arg, param)) in inst.args.iter().zip(params).enumerate() {
                if live.contains(param) || i < *carry && live.contains(&inst.results[i]) {
                    live.insert(*arg);
                }
            }
        }
        Op::While => {
            let [condition, body] = &inst.regions[..] else {
                return;
            };
            live.extend(&condition.results);
            mark(condition, live);
            // The condition has parameters of its own for the same carries.
            loop {
                for (c, b) in condition.params.iter().zip(&body.params) {
                    if live.contains(c) {
                        live.insert(*b);
                    }
                }
                let before = live.len();
                mark_loop(&inst.results, &body.params, body, live);
                if live.len() == before {
                    break;
                }
            }
            for (i, arg) in inst.args.iter().enumerate() {
                if live.contains(&body.params[i]) || live.contains(&inst.results[i]) {
                    live.insert(*arg);
                }
            }
        }
        Op::If => {
            live.extend(&inst.args);
            for branch in &inst.regions {
                mark_results(&inst.results, branch, live);
                mark(branch, live);
            }
        }
        Op::Remat => {
            let body = &inst.regions[0];
            mark_results(&inst.results, body, live);
            mark(body, live);
            for (arg, param) in inst.args.iter().zip(&body.params) {
                if live.contains(param) {
                    live.insert(*arg);
                }
            }
        }
        Op::Barrier => {
            for (arg, result) in inst.args.iter().zip(&inst.results) {
                if live.contains(result) {
                    live.insert(*arg);
                }
            }
        }
        Op::Sort { keys, .. } => {
            for (i, (arg, result)) in inst.args.iter().zip(&inst.results).enumerate() {
                if i < *keys || live.contains(result) {
                    live.insert(*arg);
                }
            }
        }
        // Both regions of a function with its own derivative keep their signature.
        Op::CustomVjp => {
            live.extend(&inst.args);
            for region in &inst.regions {
                live.extend(&region.results);
                mark(region, live);
            }
        }
        _ => live.extend(&inst.args),
    }
}

fn mark_ys(inst: &Inst, carry: usize, live: &mut HashSet<Value>) {
    let ys = inst.regions[0].results.iter().skip(carry);
    for (result, y) in inst.results.iter().skip(carry).zip(ys) {
        if live.contains(result) {
            live.insert(*y);
        }
    }
}

fn mark_results(results: &[Value], region: &Region, live: &mut HashSet<Value>) {
    for (result, inner) in results.iter().zip(&region.results) {
        if live.contains(result) {
            live.insert(*inner);
        }
    }
}

/// A carry is live when its final value is, or when a live value of some iteration reads it.
fn mark_loop(results: &[Value], params: &[Value], body: &Region, live: &mut HashSet<Value>) {
    loop {
        for ((result, param), next) in results.iter().zip(params).zip(&body.results) {
            if live.contains(result) || live.contains(param) {
                live.insert(*next);
            }
        }
        mark(body, live);
        let closed = params
            .iter()
            .zip(&body.results)
            .all(|(param, next)| !live.contains(param) || live.contains(next));
        if closed {
            return;
        }
    }
}

fn rebuild(insts: &[Inst], live: &HashSet<Value>) -> Vec<Inst> {
    insts
        .iter()
        .filter(|inst| stays(inst, live))
        .map(|inst| rebuild_inst(inst, live))
        .collect()
}

fn rebuild_inst(inst: &Inst, live: &HashSet<Value>) -> Inst {
    let is_live = |v: &Value| live.contains(v);
    match &inst.op {
        Op::Scan {
            length,
            reverse,
            carry,
        } => {
            let body = &inst.regions[0];
            let params = &body.params[1..];
            let results = &inst.results;
            let keep_args: Vec<bool> = params
                .iter()
                .enumerate()
                .map(|(i, p)| is_live(p) || i < *carry && is_live(&results[i]))
                .collect();
            let keep_results: Vec<bool> = results
                .iter()
                .enumerate()
                .map(|(i, r)| if i < *carry { keep_args[i] } else { is_live(r) })
                .collect();
            let mut kept_params = vec![body.params[0]];
            kept_params.extend(filter(params, &keep_args));
            Inst {
                op: Op::Scan {
                    length: *length,
                    reverse: *reverse,
                    carry: keep_args[..*carry].iter().filter(|&&k| k).count(),
                },
                args: filter(&inst.args, &keep_args),
                regions: vec![Region {
                    params: kept_params,
                    insts: rebuild(&body.insts, live),
                    results: filter(&body.results, &keep_results),
                }],
                results: filter(results, &keep_results),
            }
        }
        Op::While => {
            let keep: Vec<bool> = inst.regions[1]
                .params
                .iter()
                .zip(&inst.results)
                .map(|(p, r)| is_live(p) || is_live(r))
                .collect();
            let [condition, body] = &inst.regions[..] else {
                return inst.clone();
            };
            Inst {
                op: Op::While,
                args: filter(&inst.args, &keep),
                regions: vec![
                    Region {
                        params: filter(&condition.params, &keep),
                        insts: rebuild(&condition.insts, live),
                        results: condition.results.clone(),
                    },
                    Region {
                        params: filter(&body.params, &keep),
                        insts: rebuild(&body.insts, live),
                        results: filter(&body.results, &keep),
                    },
                ],
                results: filter(&inst.results, &keep),
            }
        }
        Op::If => {
            let keep: Vec<bool> = inst.results.iter().map(is_live).collect();
            let regions = inst
                .regions
                .iter()
                .map(|r| Region {
                    params: Vec::new(),
                    insts: rebuild(&r.insts, live),
                    results: filter(&r.results, &keep),
                })
                .collect();
            Inst {
                op: Op::If,
                args: inst.args.clone(),
                regions,
                results: filter(&inst.results, &keep),
            }
        }
        Op::Remat => {
            let body = &inst.regions[0];
            let keep_args: Vec<bool> = body.params.iter().map(is_live).collect();
            let keep_results: Vec<bool> = inst.results.iter().map(is_live).collect();
            Inst {
                op: Op::Remat,
                args: filter(&inst.args, &keep_args),
                regions: vec![Region {
                    params: filter(&body.params, &keep_args),
                    insts: rebuild(&body.insts, live),
                    results: filter(&body.results, &keep_results),
                }],
                results: filter(&inst.results, &keep_results),
            }
        }
        Op::Barrier => {
            let keep: Vec<bool> = inst.results.iter().map(is_live).collect();
            joint(inst, &keep)
        }
        Op::Sort { keys, .. } => {
            let keep: Vec<bool> = inst
                .results
                .iter()
                .enumerate()
                .map(|(i, r)| i < *keys || is_live(r))
                .collect();
            joint(inst, &keep)
        }
        _ => inst.clone(),
    }
}

/// An operation whose results stand for its operands one by one, with only some of them.
fn joint(inst: &Inst, keep: &[bool]) -> Inst {
    Inst {
        op: inst.op.clone(),
        args: filter(&inst.args, keep),
        regions: Vec::new(),
        results: filter(&inst.results, keep),
    }
}

fn filter(values: &[Value], keep: &[bool]) -> Vec<Value> {
    values
        .iter()
        .zip(keep)
        .filter_map(|(&v, &k)| k.then_some(v))
        .collect()
}
