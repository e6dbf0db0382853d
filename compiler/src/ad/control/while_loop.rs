//! `while`: forward mode carries the tangents along; reverse mode is refused, since how many iterations to keep is
//! not known.

use crate::ad::activity;
use crate::ad::cx::{Cx, Dual, Env};
use crate::ad::error::{AdError, AdErrorKind};
use crate::ir::{Func, Inst, Op, Value};

pub fn forward<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
    env: &mut Env,
) -> Result<Vec<Dual>, AdError> {
    let [condition, body] = &inst.regions[..] else {
        unreachable!("the verifier has counted the regions of a while");
    };
    let flags: Vec<bool> = args.iter().map(|a| a.tangent.is_some()).collect();
    let mut active = activity::captured(body, &env.tangent);
    let active = activity::scan(f, body, &flags, args.len(), 0, &mut active);
    if !active.contains(&true) {
        // Only the condition looks at something that has a tangent.
        cx.e.copy(f, inst, &mut env.primal);
        return Ok(inst
            .results
            .iter()
            .map(|v| Dual::constant(env.primal[v]))
            .collect());
    }
    if !cx.is_inline() {
        let span = inst.results.first().map(|&v| f.span(v)).unwrap_or_default();
        return Err(AdError::new(AdErrorKind::WhileReverse, span));
    }

    let n = args.len();
    let mut operands: Vec<Value> = args.iter().map(|a| a.primal).collect();
    for (a, &is_active) in args.iter().zip(&active) {
        if is_active {
            let t = cx.tangent_or_zeros(a);
            operands.push(t);
        }
    }

    cx.e.open();
    let params = loop_params(cx, &operands);
    env.primal
        .extend(condition.params.iter().copied().zip(params));
    for inst in &condition.insts {
        cx.e.copy(f, inst, &mut env.primal);
    }
    let test =
        cx.e.close(condition.results.iter().map(|v| env.primal[v]).collect());

    cx.e.open();
    let params = loop_params(cx, &operands);
    let mut tangents = params[n..].iter();
    for (i, &p) in body.params.iter().enumerate() {
        let t = active[i].then(|| tangents.next().copied()).flatten();
        env.set(p, Dual::new(params[i], t));
    }
    let outs = cx.region(f, body, env)?;
    let mut results: Vec<Value> = outs.iter().map(|d| d.primal).collect();
    for (out, &is_active) in outs.iter().zip(&active) {
        if is_active {
            let t = cx.tangent_or_zeros(out);
            results.push(t);
        }
    }
    let step = cx.e.close(results);

    let results = cx.e.push(Op::While, operands, vec![test, step]);
    let mut tangents = results[n..].iter();
    Ok((0..n)
        .map(|i| {
            let t = active[i].then(|| tangents.next().copied()).flatten();
            Dual::new(results[i], t)
        })
        .collect())
}

fn loop_params(cx: &mut Cx, operands: &[Value]) -> Vec<Value> {
    operands
        .iter()
        .map(|&v| {
            let ty = cx.e.type_of(v);
            cx.e.param(ty)
        })
        .collect()
}
