//! Scans. Forward mode is one scan with the tangents carried along. Linearised, the primal scan also gives the
//! residuals of its iterations as stacked ys, and the linear scan reads them; transposed, that runs the other way
//! round, carries cotangents, and sums those of captured values in further carries.

use super::residual::Scope;
use crate::ad::activity::{self, Active};
use crate::ad::cx::{Cx, Dual, Env};
use crate::ad::error::AdError;
use crate::ad::tape::{self, LinBody, LinCarry, LinOp, LinScan, Tape};
use crate::ad::transpose::Transposer;
use crate::ir::{Func, Inst, Op, Region, Type, Value};
use std::collections::HashSet;

/// Trip count, direction, number of carries.
type Attributes = (usize, bool, usize);

pub fn forward<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
    env: &mut Env,
    attributes: Attributes,
) -> Result<Vec<Dual>, AdError> {
    let body = &inst.regions[0];
    let flags: Vec<bool> = args.iter().map(|a| a.tangent.is_some()).collect();
    let mut active: Active = activity::captured(body, &env.tangent);
    let active = activity::scan(f, body, &flags, attributes.2, 1, &mut active);
    if cx.is_inline() {
        inline(cx, f, body, args, env, attributes, &active)
    } else {
        linearise(cx, f, body, args, env, attributes, &active)
    }
}

fn slice_type(ty: &Type) -> Type {
    ty.with_shape(&ty.shape[1..])
}

fn inline<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    body: &'f Region,
    args: &[Dual],
    env: &mut Env,
    (length, reverse, carry): Attributes,
    active: &[bool],
) -> Result<Vec<Dual>, AdError> {
    let params = &body.params[1..];
    // Operands: carries, their tangents, xs, their tangents.
    let mut operands: Vec<Value> = args[..carry].iter().map(|a| a.primal).collect();
    for (a, &is_active) in args[..carry].iter().zip(active) {
        if is_active {
            let t = cx.tangent_or_zeros(a);
            operands.push(t);
        }
    }
    let carried = operands.len();
    operands.extend(args[carry..].iter().map(|a| a.primal));
    operands.extend(args[carry..].iter().filter_map(|a| a.tangent));

    cx.e.open();
    let index = cx.e.param(f.ty(body.params[0]).clone());
    env.set(body.params[0], Dual::constant(index));
    let inner: Vec<Value> = operands
        .iter()
        .enumerate()
        .map(|(i, &v)| {
            let ty = cx.e.type_of(v);
            let ty = if i < carried { ty } else { slice_type(&ty) };
            cx.e.param(ty)
        })
        .collect();
    let has_tangent = |i: usize| {
        if i < carry {
            active[i]
        } else {
            args[i].tangent.is_some()
        }
    };
    let mut tangent_at = [carry, carried + args.len() - carry];
    for (i, &param) in params.iter().enumerate() {
        let xs = usize::from(i >= carry);
        let at = if xs == 0 { i } else { carried + i - carry };
        let tangent = has_tangent(i).then(|| {
            tangent_at[xs] += 1;
            inner[tangent_at[xs] - 1]
        });
        env.set(param, Dual::new(inner[at], tangent));
    }

    let outs = cx.region(f, body, env)?;
    let mut results: Vec<Value> = outs[..carry].iter().map(|d| d.primal).collect();
    for (out, &is_active) in outs[..carry].iter().zip(active) {
        if is_active {
            let t = cx.tangent_or_zeros(out);
            results.push(t);
        }
    }
    results.extend(outs[carry..].iter().map(|d| d.primal));
    results.extend(outs[carry..].iter().filter_map(|d| d.tangent));
    let region = cx.e.close(results);
    let op = Op::Scan {
        length,
        reverse,
        carry: carried,
    };
    let results = cx.e.push(op, operands, vec![region]);

    let mut carry_tangents = results[carry..carried].iter();
    let ys = outs.len() - carry;
    let mut y_tangents = results[carried + ys..].iter();
    Ok(outs
        .iter()
        .enumerate()
        .map(|(i, out)| {
            if i < carry {
                let t = active[i].then(|| carry_tangents.next().copied()).flatten();
                Dual::new(results[i], t)
            } else {
                let t = out.tangent.and_then(|_| y_tangents.next().copied());
                Dual::new(results[carried + i - carry], t)
            }
        })
        .collect())
}

fn linearise<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    body: &'f Region,
    args: &[Dual],
    env: &mut Env,
    (length, reverse, carry): Attributes,
    active: &[bool],
) -> Result<Vec<Dual>, AdError> {
    cx.e.open();
    let index = cx.e.param(f.ty(body.params[0]).clone());
    env.set(body.params[0], Dual::constant(index));
    let mut params = Vec::new();
    for (i, &source) in body.params[1..].iter().enumerate() {
        let ty = f.ty(source).clone();
        let primal = cx.e.param(ty.clone());
        let has_tangent = if i < carry {
            active[i]
        } else {
            args[i].tangent.is_some()
        };
        let tangent = has_tangent.then(|| cx.e.fresh(ty));
        let dual = Dual::new(primal, tangent);
        env.set(source, dual);
        params.push(dual);
    }
    let (outs, tape) = cx.taped(|cx| cx.region(f, body, env))?;
    let region = cx.e.close(outs.iter().map(|d| d.primal).collect());

    let carries: Vec<LinCarry> = (0..carry)
        .filter_map(|j| {
            let param = params[j].tangent?;
            Some(LinCarry {
                init: args[j].tangent,
                param,
                out: outs[j].tangent,
            })
        })
        .collect();
    let xs: Vec<(Value, Value)> = params[carry..]
        .iter()
        .zip(&args[carry..])
        .filter_map(|(p, a)| Some((a.tangent?, p.tangent?)))
        .collect();
    let ys: Vec<Value> = outs[carry..].iter().filter_map(|d| d.tangent).collect();
    let tangent_outs = || {
        carries
            .iter()
            .filter_map(|c| c.out)
            .chain(ys.iter().copied())
    };
    let tape = tape::prune(tape, tangent_outs());
    let defined: HashSet<Value> = params.iter().filter_map(|p| p.tangent).collect();
    let captures = tape::captures(&tape, defined, tangent_outs());

    let operands: Vec<Value> = args.iter().map(|a| a.primal).collect();
    let slices: Vec<(Value, Value)> = params[carry..]
        .iter()
        .zip(&args[carry..])
        .map(|(p, a)| (p.primal, a.primal))
        .collect();
    let (results, lin_body) = emit_primal(
        cx,
        region,
        operands,
        tape,
        captures,
        Shape {
            length,
            reverse,
            carry,
            index,
            slices: &slices,
        },
    );

    let duals: Vec<Dual> = (0..outs.len())
        .map(|i| {
            let has_tangent = if i < carry {
                params[i].tangent.is_some()
            } else {
                outs[i].tangent.is_some()
            };
            let ty = cx.e.type_of(results[i]);
            let tangent = has_tangent.then(|| cx.e.fresh(ty));
            Dual::new(results[i], tangent)
        })
        .collect();
    let tangents = duals.iter().filter_map(|d| d.tangent).collect();
    let scan = LinScan {
        length,
        reverse,
        carries,
        xs,
        ys,
        body: lin_body,
        index,
    };
    cx.record(LinOp::Scan(Box::new(scan)), tangents);
    Ok(duals)
}

struct Shape<'a> {
    length: usize,
    reverse: bool,
    carry: usize,
    index: Value,
    /// (slice in the body, array outside).
    slices: &'a [(Value, Value)],
}

/// Emits the primal scan with the residuals that its tape needs as further ys.
fn emit_primal<'f>(
    cx: &mut Cx<'f>,
    mut region: Region,
    operands: Vec<Value>,
    tape: Tape<'f>,
    captures: Vec<Value>,
    shape: Shape<'_>,
) -> (Vec<Value>, LinBody<'f>) {
    let needed = tape::coefficients(&tape);
    let free: HashSet<Value> = std::iter::once(shape.index)
        .chain(shape.slices.iter().map(|s| s.0))
        .chain(region.results[shape.carry..].iter().copied())
        .collect();
    let scope = Scope::new(&region, shape.index.0, &free);
    let plan = scope.plan(&cx.e, &needed, true);
    let aliases = scope.emit_invariant(&mut cx.e, &plan.invariant);
    let mut coefficients: Vec<Value> = aliases.iter().map(|a| a.1).collect();
    let replayed = plan.replay.iter().flat_map(|i| i.args.iter().copied());
    let read: HashSet<Value> = needed.iter().copied().chain(replayed).collect();
    coefficients.extend(read.iter().filter(|&&v| scope.is_outside(v)));
    coefficients.sort();

    let given_out = region.results.len();
    region.results.extend(&plan.keep);
    let ys: Vec<Value> = region.results[shape.carry..given_out].to_vec();
    let op = Op::Scan {
        length: shape.length,
        reverse: shape.reverse,
        carry: shape.carry,
    };
    let results = cx.e.push(op, operands, vec![region]);
    let mut stacks: Vec<(Value, Value)> = Vec::new();
    stacks.extend(
        plan.keep
            .iter()
            .copied()
            .zip(results[given_out..].iter().copied()),
    );
    stacks.extend(shape.slices.iter().filter(|s| read.contains(&s.0)));
    for (y, &stack) in ys.into_iter().zip(&results[shape.carry..]) {
        let inside = y > shape.index;
        if inside && read.contains(&y) && stacks.iter().all(|s| s.0 != y) {
            stacks.push((y, stack));
        }
    }
    coefficients.extend(stacks.iter().map(|s| s.1));
    let body = LinBody {
        tape,
        stacks,
        aliases,
        replay: plan.replay,
        captures,
        coefficients,
    };
    (results, body)
}

/// Emits the transposed loop, from the cotangents of its results.
pub fn transpose<'f>(
    tx: &mut Transposer<'_, 'f>,
    scan: &LinScan<'f>,
    cts: &[Option<Value>],
) -> Result<(), AdError> {
    let flags: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let live = scan.backward_live(&flags);
    let n = scan.carries.len();
    // The cotangent of a running sum is no carry: every iteration sees the one from outside.
    let (sums, carries): (Vec<_>, Vec<_>) = scan
        .carries
        .iter()
        .enumerate()
        .filter(|(j, _)| live.carries[*j])
        .partition(|(_, c)| scan.is_running_sum(c));
    let captures: Vec<Value> = scan
        .body
        .captures
        .iter()
        .copied()
        .filter(|v| live.live.contains(v))
        .collect();
    let ys: Vec<(Value, Value)> = scan
        .ys
        .iter()
        .zip(&cts[n..])
        .filter_map(|(&y, &ct)| Some((y, ct?)))
        .collect();

    // Operands: cotangents of carries, sums for captured values, cotangents of ys, residuals.
    let mut operands = Vec::new();
    for (j, carry) in &carries {
        let ct = cts[*j];
        operands.push(tx.or_zeros(ct, carry.param));
    }
    for &v in &captures {
        let sum = tx.take(v);
        operands.push(tx.or_zeros(sum, v));
    }
    let carried = operands.len();
    operands.extend(ys.iter().map(|y| y.1));
    operands.extend(scan.body.stacks.iter().map(|s| tx.coefficient(s.1)));

    tx.cx.e.open();
    let index = tx.cx.e.type_of(scan.index);
    let index = tx.cx.e.param(index);
    tx.substitute(scan.index, index);
    let mut params = Vec::new();
    for (i, &v) in operands.iter().enumerate() {
        let ty = tx.cx.e.type_of(v);
        let ty = if i < carried { ty } else { slice_type(&ty) };
        params.push(tx.cx.e.param(ty));
    }
    let mut params = params.into_iter();
    let carry_params: Vec<Value> = params.by_ref().take(carries.len()).collect();
    for (&v, p) in captures.iter().zip(params.by_ref().take(captures.len())) {
        tx.set(v, p);
    }
    for ((_, carry), p) in carries.iter().zip(carry_params) {
        if let Some(out) = carry.out {
            tx.add(out, p);
        }
    }
    for (j, carry) in &sums {
        if let (Some(out), Some(ct)) = (carry.out, cts[*j]) {
            tx.add(out, ct);
        }
    }
    for (y, p) in ys.iter().zip(params.by_ref().take(ys.len())) {
        tx.add(y.0, p);
    }
    for (stack, p) in scan.body.stacks.iter().zip(params) {
        tx.substitute(stack.0, p);
    }
    tx.enter(&scan.body);
    tx.run(&scan.body.tape)?;

    let mut results = Vec::new();
    for (_, carry) in &sums {
        tx.take(carry.param);
    }
    for (_, carry) in &carries {
        let ct = tx.take(carry.param);
        results.push(tx.or_zeros(ct, carry.param));
    }
    for &v in &captures {
        let sum = tx.take(v);
        results.push(tx.or_zeros(sum, v));
    }
    let mut xs = Vec::new();
    for &(outer, slice) in &scan.xs {
        if let Some(ct) = tx.take(slice) {
            xs.push(outer);
            results.push(ct);
        }
    }
    let region = tx.cx.e.close(results);
    let op = Op::Scan {
        length: scan.length,
        reverse: !scan.reverse,
        carry: carried,
    };
    let results = tx.cx.e.push(op, operands, vec![region]);

    let (carry_cts, rest) = results.split_at(carries.len());
    let (totals, slice_cts) = rest.split_at(captures.len());
    // What stands for the sums so far comes first: an initial value may be a captured value too.
    for (&v, &total) in captures.iter().zip(totals) {
        tx.set(v, total);
    }
    for (j, carry) in &sums {
        if let (Some(init), Some(ct)) = (carry.init, cts[*j]) {
            tx.add(init, ct);
        }
    }
    for ((_, carry), &ct) in carries.iter().zip(carry_cts) {
        if let Some(init) = carry.init {
            tx.add(init, ct);
        }
    }
    for (outer, &ct) in xs.into_iter().zip(slice_cts) {
        tx.add(outer, ct);
    }
    Ok(())
}
