//! `checkpoint`: nothing of the function is kept but its arguments; the backward pass computes it again. The
//! recomputation stands behind a barrier with the cotangents, so that it is neither merged with the first computation nor begun
//! before its turn, and inside a remat of its own, so that a further derivative keeps to it.

use crate::ad::activity::{self, Active};
use crate::ad::cx::{Cx, Dual, Env};
use crate::ad::error::AdError;
use crate::ad::tape::{self, LinOp, LinRemat};
use crate::ad::transpose::Transposer;
use crate::ir::{Func, Inst, Op, Value};

pub fn forward<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
) -> Result<Vec<Dual>, AdError> {
    if cx.is_inline() {
        inline(cx, f, inst, args)
    } else {
        linearise(cx, f, inst, args)
    }
}

fn inline<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
) -> Result<Vec<Dual>, AdError> {
    let region = &inst.regions[0];
    let mut operands: Vec<Value> = args.iter().map(|a| a.primal).collect();
    operands.extend(args.iter().filter_map(|a| a.tangent));
    cx.e.open();
    let params: Vec<Value> = operands
        .iter()
        .map(|&v| {
            let ty = cx.e.type_of(v);
            cx.e.param(ty)
        })
        .collect();
    let mut env = Env::default();
    let mut tangents = params[args.len()..].iter();
    for (i, &p) in region.params.iter().enumerate() {
        let t = args[i].tangent.and_then(|_| tangents.next().copied());
        env.set(p, Dual::new(params[i], t));
    }
    let outs = cx.region(f, region, &mut env)?;
    let mut results: Vec<Value> = outs.iter().map(|d| d.primal).collect();
    results.extend(outs.iter().filter_map(|d| d.tangent));
    let region = cx.e.close(results);
    let results = cx.e.push(Op::Remat, operands, vec![region]);
    let mut tangents = results[outs.len()..].iter();
    Ok(outs
        .iter()
        .zip(&results)
        .map(|(out, &y)| Dual::new(y, out.tangent.and_then(|_| tangents.next().copied())))
        .collect())
}

fn linearise<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
) -> Result<Vec<Dual>, AdError> {
    let region = &inst.regions[0];
    let mut active: Active = region
        .params
        .iter()
        .zip(args)
        .filter(|(_, a)| a.tangent.is_some())
        .map(|(&p, _)| p)
        .collect();
    let active = activity::region(f, region, &mut active);

    let operands: Vec<Value> = args.iter().map(|a| a.primal).collect();
    let mut map = region
        .params
        .iter()
        .copied()
        .zip(operands.iter().copied())
        .collect();
    let copy = cx.e.copy_region(f, region, &mut map);
    let results = cx.e.push(Op::Remat, operands.clone(), vec![copy]);
    let duals: Vec<Dual> = results
        .iter()
        .zip(&active)
        .map(|(&y, &is_active)| {
            let ty = cx.e.type_of(y);
            let t = is_active.then(|| cx.e.fresh(ty));
            Dual::new(y, t)
        })
        .collect();
    let tangents = duals.iter().filter_map(|d| d.tangent).collect();
    let remat = LinRemat {
        func: f,
        region,
        args: operands,
        tangents: args.iter().map(|a| a.tangent).collect(),
        active,
    };
    cx.record(LinOp::Remat(remat), tangents);
    Ok(duals)
}

/// Emits the recomputation, linearised, and its transpose.
pub fn transpose<'f>(
    tx: &mut Transposer<'_, 'f>,
    remat: &LinRemat<'f>,
    cts: &[Option<Value>],
) -> Result<(), AdError> {
    let mut operands: Vec<Value> = remat.args.iter().map(|&v| tx.coefficient(v)).collect();
    operands.extend(cts.iter().copied().flatten());
    let guarded = tx.cx.e.push(Op::Barrier, operands, Vec::new());

    tx.cx.e.open();
    let params: Vec<Value> = guarded
        .iter()
        .map(|&v| {
            let ty = tx.cx.e.type_of(v);
            tx.cx.e.param(ty)
        })
        .collect();
    let mut env = Env::default();
    let mut inputs = Vec::new();
    for ((&p, &v), t) in remat.region.params.iter().zip(&params).zip(&remat.tangents) {
        let ty = tx.cx.e.type_of(v);
        let tangent = t.map(|_| tx.cx.e.fresh(ty));
        env.set(p, Dual::new(v, tangent));
        inputs.push(tangent);
    }
    let (outs, tape) = tx
        .cx
        .taped(|cx| cx.region(remat.func, remat.region, &mut env))?;
    let tape = tape::prune(tape, outs.iter().filter_map(|d| d.tangent));
    let mut ct_params = params[remat.args.len()..].iter();
    let active_outs = outs.iter().zip(&remat.active).filter(|(_, a)| **a);
    for ((out, _), ct) in active_outs.zip(cts) {
        if ct.is_some()
            && let Some(&p) = ct_params.next()
            && let Some(t) = out.tangent
        {
            tx.add(t, p);
        }
    }
    tx.run(&tape)?;
    let mut targets = Vec::new();
    let mut results = Vec::new();
    for (input, &target) in inputs.iter().zip(&remat.tangents) {
        if let (&Some(input), Some(target)) = (input, target)
            && let Some(ct) = tx.take(input)
        {
            targets.push(target);
            results.push(ct);
        }
    }
    let region = tx.cx.e.close(results);
    let results = tx.cx.e.push(Op::Remat, guarded, vec![region]);
    for (target, ct) in targets.into_iter().zip(results) {
        tx.add(target, ct);
    }
    Ok(())
}
