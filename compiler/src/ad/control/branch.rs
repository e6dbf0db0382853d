//! `if`. Forward mode gives the tangents as further results. Linearised, each branch also gives its residuals as
//! results (the other branch gives zeros in their place), and the transposed `if` runs the branch that ran.

use super::residual::{Plan, Scope};
use crate::ad::cx::{Cx, Dual, Env};
use crate::ad::error::AdError;
use crate::ad::tape::{self, LinBody, LinBranch, LinIf, LinOp, Tape};
use crate::ad::transpose::Transposer;
use crate::ir::{Elem, Func, Inst, Op, Region, Type, Value};
use std::collections::HashSet;

pub fn forward<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    predicate: Value,
    env: &mut Env,
) -> Result<Vec<Dual>, AdError> {
    if cx.is_inline() {
        inline(cx, f, inst, predicate, env)
    } else {
        linearise(cx, f, inst, predicate, env)
    }
}

fn inline<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    predicate: Value,
    env: &mut Env,
) -> Result<Vec<Dual>, AdError> {
    // A result has a tangent when it does in either branch: both are differentiated before either is closed off.
    let mut closed: Vec<(Vec<Dual>, Region)> = Vec::new();
    for region in &inst.regions {
        cx.e.open();
        let outs = cx.region(f, region, env)?;
        closed.push((outs, cx.e.close(Vec::new())));
    }
    let count = inst.results.len();
    let active: Vec<bool> = (0..count)
        .map(|i| closed.iter().any(|(outs, _)| outs[i].tangent.is_some()))
        .collect();
    let mut regions = Vec::new();
    for (outs, region) in closed {
        cx.e.open();
        cx.e.append(region.insts);
        let mut results: Vec<Value> = outs.iter().map(|d| d.primal).collect();
        for (out, &is_active) in outs.iter().zip(&active) {
            if is_active {
                let t = cx.tangent_or_zeros(out);
                results.push(t);
            }
        }
        regions.push(cx.e.close(results));
    }
    let results = cx.e.push(Op::If, vec![predicate], regions);
    let mut tangents = results[count..].iter();
    Ok((0..count)
        .map(|i| {
            let t = active[i].then(|| tangents.next().copied()).flatten();
            Dual::new(results[i], t)
        })
        .collect())
}

/// A branch that has been differentiated, not yet closed off with its residuals.
struct Side<'f> {
    outs: Vec<Dual>,
    region: Region,
    tape: Tape<'f>,
    plan: Plan,
    captures: Vec<Value>,
    /// Values from outside that its tape and replay use.
    outside: Vec<Value>,
}

fn linearise<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    predicate: Value,
    env: &mut Env,
) -> Result<Vec<Dual>, AdError> {
    let then = side(cx, f, &inst.regions[0], env)?;
    let otherwise = side(cx, f, &inst.regions[1], env)?;
    let mut sides = [then, otherwise];
    let count = inst.results.len();

    // Slots for residuals: of one type, and used by either branch or both.
    let mut slots: Vec<Type> = Vec::new();
    let placed: Vec<Vec<usize>> = sides
        .iter()
        .map(|s| {
            let mut taken = HashSet::new();
            s.plan
                .keep
                .iter()
                .map(|&v| {
                    let ty = cx.e.type_of(v);
                    let free = (0..slots.len()).find(|i| slots[*i] == ty && !taken.contains(i));
                    let slot = free.unwrap_or_else(|| {
                        slots.push(ty);
                        slots.len() - 1
                    });
                    taken.insert(slot);
                    slot
                })
                .collect()
        })
        .collect();

    let mut regions = Vec::new();
    for (s, places) in sides.iter_mut().zip(&placed) {
        cx.e.open();
        cx.e.append(std::mem::take(&mut s.region.insts));
        let mut results: Vec<Value> = s.outs.iter().map(|d| d.primal).collect();
        for (slot, ty) in slots.iter().enumerate() {
            let kept = places.iter().position(|&p| p == slot);
            results.push(match kept {
                Some(i) => s.plan.keep[i],
                None => cx.e.zeros(ty),
            });
        }
        regions.push(cx.e.close(results));
    }
    let results = cx.e.push(Op::If, vec![predicate], regions);

    let duals: Vec<Dual> = (0..count)
        .map(|i| {
            let active = sides.iter().any(|s| s.outs[i].tangent.is_some());
            let ty = cx.e.type_of(results[i]);
            let tangent = active.then(|| cx.e.fresh(ty));
            Dual::new(results[i], tangent)
        })
        .collect();
    let branches = sides
        .into_iter()
        .zip(placed)
        .map(|(s, places)| lin_branch(s, &places, &results[count..], &duals))
        .collect::<Vec<_>>();
    let Ok(branches) = <[LinBranch; 2]>::try_from(branches) else {
        unreachable!("made from two sides");
    };
    let tangents = duals.iter().filter_map(|d| d.tangent).collect();
    let lin = LinIf {
        predicate,
        branches,
    };
    cx.record(LinOp::If(Box::new(lin)), tangents);
    Ok(duals)
}

fn side<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    region: &'f Region,
    env: &mut Env,
) -> Result<Side<'f>, AdError> {
    let mark = cx.e.fresh(Type::scalar(Elem::Bool)).0;
    cx.e.open();
    let (outs, tape) = cx.taped(|cx| cx.region(f, region, env))?;
    let region = cx.e.close(outs.iter().map(|d| d.primal).collect());
    let tangents = || outs.iter().filter_map(|d| d.tangent);
    let tape = tape::prune(tape, tangents());
    let captures = tape::captures(&tape, HashSet::new(), tangents());
    let needed = tape::coefficients(&tape);
    let free = HashSet::new();
    let scope = Scope::new(&region, mark, &free);
    let plan = scope.plan(&cx.e, &needed, false);
    let replayed = plan.replay.iter().flat_map(|i| i.args.iter().copied());
    let mut outside: Vec<Value> = needed
        .iter()
        .copied()
        .chain(replayed)
        .filter(|&v| scope.is_outside(v))
        .collect();
    outside.sort();
    outside.dedup();
    Ok(Side {
        outs,
        region,
        tape,
        plan,
        captures,
        outside,
    })
}

fn lin_branch<'f>(
    side: Side<'f>,
    places: &[usize],
    residuals: &[Value],
    results: &[Dual],
) -> LinBranch<'f> {
    let aliases: Vec<(Value, Value)> = side
        .plan
        .keep
        .iter()
        .zip(places)
        .map(|(&v, &p)| (v, residuals[p]))
        .collect();
    let mut coefficients = side.outside;
    coefficients.extend(aliases.iter().map(|a| a.1));
    // One entry a result that has a tangent.
    let outs = side
        .outs
        .iter()
        .zip(results)
        .filter(|(_, result)| result.tangent.is_some())
        .map(|(out, _)| out.tangent)
        .collect();
    LinBranch {
        body: LinBody {
            tape: side.tape,
            stacks: Vec::new(),
            aliases,
            replay: side.plan.replay,
            captures: side.captures,
            coefficients,
        },
        outs,
    }
}

/// Emits the transposed `if`: the sums of cotangents so far go in, and come out with what the branch adds.
pub fn transpose<'f>(
    tx: &mut Transposer<'_, 'f>,
    branch: &LinIf<'f>,
    cts: &[Option<Value>],
) -> Result<(), AdError> {
    let flags: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let live = branch.backward_live(&flags);
    let sums: Vec<Option<Value>> = live.iter().map(|&v| tx.take(v)).collect();
    let mut regions = Vec::new();
    for side in &branch.branches {
        tx.cx.e.open();
        for (&v, sum) in live.iter().zip(&sums) {
            if let Some(sum) = *sum {
                tx.set(v, sum);
            }
        }
        tx.enter(&side.body);
        for (out, ct) in side.outs.iter().zip(cts) {
            if let (&Some(out), &Some(ct)) = (out, ct) {
                tx.add(out, ct);
            }
        }
        tx.run(&side.body.tape)?;
        let results = live
            .iter()
            .map(|&v| {
                let ct = tx.take(v);
                tx.or_zeros(ct, v)
            })
            .collect();
        regions.push(tx.cx.e.close(results));
    }
    let predicate = tx.coefficient(branch.predicate);
    let results = tx.cx.e.push(Op::If, vec![predicate], regions);
    for (v, sum) in live.into_iter().zip(results) {
        tx.set(v, sum);
    }
    Ok(())
}
