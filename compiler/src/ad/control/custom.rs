//! Functions with their own derivative. Reverse mode runs the user's block, whatever it does with the cotangents.
//! Forward mode transposes the block, which must be linear in them: it is linearised with respect to the cotangents,
//! the coefficients must not depend on these, and the tape is transposed.

use crate::ad::cx::{Cx, Dual, Env};
use crate::ad::dce;
use crate::ad::error::{AdError, AdErrorKind};
use crate::ad::tape::{self, LinCustom, LinOp};
use crate::ad::transpose::Transposer;
use crate::ir::{Func, Inst, Region, Value};
use std::collections::HashMap;

pub fn forward<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
    env: &mut Env,
) -> Result<Vec<Dual>, AdError> {
    cx.e.copy(f, inst, &mut env.primal);
    let results: Vec<Value> = inst.results.iter().map(|v| env.primal[v]).collect();
    let block = &inst.regions[1];
    let primals: Vec<Value> = args
        .iter()
        .map(|a| a.primal)
        .chain(results.iter().copied())
        .collect();
    let tangents: Vec<Option<Value>> = args
        .iter()
        .filter(|a| cx.e.elem(a.primal).is_float())
        .map(|a| a.tangent)
        .collect();
    let out_tangents: Vec<Option<Value>> = if cx.is_inline() {
        let span = inst.results.first().map(|&v| f.span(v)).unwrap_or_default();
        transposed_block(cx, f, block, &primals, &tangents)?
            .ok_or(AdError::new(AdErrorKind::BlockNotLinear, span))?
    } else {
        let fresh: Vec<Value> = results
            .iter()
            .filter(|&&y| cx.e.elem(y).is_float())
            .map(|&y| cx.e.type_of(y))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|ty| cx.e.fresh(ty))
            .collect();
        let mut used = dce::used_params(block);
        used.truncate(primals.len());
        let custom = LinCustom {
            func: f,
            block,
            primals,
            used,
            tangents,
        };
        cx.record(LinOp::Custom(custom), fresh.clone());
        fresh.into_iter().map(Some).collect()
    };
    let mut out_tangents = out_tangents.into_iter();
    Ok(results
        .into_iter()
        .map(|y| {
            let is_float = cx.e.elem(y).is_float();
            let t = is_float.then(|| out_tangents.next().flatten()).flatten();
            Dual::new(y, t)
        })
        .collect())
}

/// Tangents of the float results, or `None` when the block is not linear in its cotangents.
fn transposed_block<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    block: &'f Region,
    primals: &[Value],
    tangents: &[Option<Value>],
) -> Result<Option<Vec<Option<Value>>>, AdError> {
    let mut env = Env::default();
    cx.e.open();
    for (&p, &v) in block.params.iter().zip(primals) {
        env.set(p, Dual::constant(v));
    }
    // The cotangents' own values are names that nothing defines: no coefficient may come to depend on them.
    let mut undefined = Vec::new();
    let mut inputs = Vec::new();
    for &p in &block.params[primals.len()..] {
        let primal = cx.e.fresh(f.ty(p).clone());
        let tangent = cx.e.fresh(f.ty(p).clone());
        env.set(p, Dual::new(primal, Some(tangent)));
        undefined.push(primal);
        inputs.push(tangent);
    }
    let (outs, tape) = cx.taped(|cx| cx.region(f, block, &mut env))?;
    let region = cx.e.close(Vec::new());
    let seeds: Vec<(Value, Value)> = outs
        .iter()
        .zip(tangents)
        .filter_map(|(out, &t)| Some((out.tangent?, t?)))
        .collect();
    let tape = tape::prune(tape, seeds.iter().map(|s| s.0));
    let coefficients = tape::coefficients(&tape);
    let insts = dce::needed(region.insts, &coefficients);
    let region = Region {
        params: Vec::new(),
        insts,
        results: coefficients,
    };
    if region.captures().iter().any(|v| undefined.contains(v)) {
        return Ok(None);
    }
    cx.e.append(region.insts);

    let mut tx = Transposer::new(cx);
    for (out, t) in seeds {
        tx.add(out, t);
    }
    tx.run(&tape)?;
    Ok(Some(inputs.iter().map(|&v| tx.take(v)).collect()))
}

/// Runs the user's block on the cotangents of the float results.
pub fn transpose(
    tx: &mut Transposer<'_, '_>,
    custom: &LinCustom,
    results: &[Value],
    cts: &[Option<Value>],
) -> Result<(), AdError> {
    let block = custom.block;
    let mut map: HashMap<Value, Value> = HashMap::new();
    for (i, &p) in block.params.iter().enumerate() {
        let v = match custom.primals.get(i) {
            // One that the block does not read may not be there any more.
            Some(_) if !custom.used[i] => {
                let ty = custom.func.ty(p).clone();
                tx.cx.e.zeros(&ty)
            }
            Some(&v) => tx.coefficient(v),
            None => {
                let j = i - custom.primals.len();
                tx.or_zeros(cts[j], results[j])
            }
        };
        map.insert(p, v);
    }
    for inst in &block.insts {
        if let Some(&v) = inst.results.first() {
            tx.cx.e.set_span(custom.func.span(v));
        }
        tx.cx.e.copy(custom.func, inst, &mut map);
    }
    for (out, t) in block.results.iter().zip(&custom.tangents) {
        if let Some(t) = *t {
            tx.add(t, map[out]);
        }
    }
    Ok(())
}
