//! Loops, branches and the identities that only transforms look at.

use crate::ir::op::Op;
use crate::ir::{Builder, Func, Inst, Region, Value};
use crate::opt::graph::{Block, Body, Head};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;
use std::collections::{HashMap, HashSet};

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::new("stop-gradient",         Exact, "stop_gradient.s(x)",  "x"),
    Rule::build("remat-inline",        Exact, "remat.r(*)",          "its body, once derivatives are taken",         inline_first),
    Rule::build("custom-vjp-inline",   Exact, "custom_vjp.r(*)",     "its function, once derivatives are taken",     inline_first),
    Rule::build("if-same-branches",    Exact, "if.r(*)",             "either branch",                                if_same),
    Rule::build("if-known",            Exact, "if.r(*)",             "the branch that a constant condition takes",   if_known),
    Rule::build("scan-never",          Exact, "scan.r(*)",           "its initial carries, of length 0",             scan_never),
    Rule::build("scan-once",           Exact, "scan.r(*)",           "its body, of length 1",                        scan_once),
    Rule::build("scan-carry-unchanged", Exact, "scan.r(*)",          "a carry that stays what it was, captured",     scan_unchanged),
    Rule::build("scan-hoist",          Exact, "scan.r(*)",           "what does not depend on the iteration, before it", hoist),
    Rule::build("while-hoist",         Exact, "while.r(*)",          "what does not depend on the iteration, before it", hoist),
];

pub(super) fn block(rw: &Rw) -> Option<Block> {
    match &*rw.head('r') {
        Head::Block(block) if block.effect.is_none() => Some(block.clone()),
        _ => None,
    }
}

/// The body's instructions in this e-graph; its results as one node.
fn inline(rw: &mut Rw, body: &Func, args: &[Id]) -> Option<Id> {
    let mut values: HashMap<Value, Id> = body
        .body
        .params
        .iter()
        .copied()
        .zip(args.iter().copied())
        .collect();
    for inst in &body.body.insts {
        let args: Vec<Id> = inst.args.iter().map(|v| values[v]).collect();
        let made = if inst.regions.is_empty() {
            rw.add(inst.op.clone(), &args)?
        } else {
            let (block, args) = close(body, inst, &values);
            rw.graph.block(block, &args).ok()?
        };
        for (i, &result) in inst.results.iter().enumerate() {
            let id = rw.graph.proj(made, i);
            values.insert(result, id);
        }
    }
    let results: Vec<Id> = body.body.results.iter().map(|v| values[v]).collect();
    Some(rw.graph.tuple(&results))
}

/// A nested instruction of a closed body as a block over this e-graph.
fn close(func: &Func, inst: &Inst, values: &HashMap<Value, Id>) -> (Block, Vec<Id>) {
    let captures = inst.captures();
    let bodies = inst
        .regions
        .iter()
        .map(|region| {
            let mut b = Builder::new("");
            let mut map = HashMap::new();
            for &v in region.params.iter().chain(&captures) {
                b.span = func.span(v);
                let p = b.param(func.ty(v).clone());
                map.insert(v, p);
            }
            b.inline_insts(func, &region.insts, &mut map);
            let results = region.results.iter().map(|v| map[v]).collect();
            Body(b.finish(results))
        })
        .collect();
    let args: Vec<Id> = inst
        .args
        .iter()
        .chain(&captures)
        .map(|v| values[v])
        .collect();
    let block = Block {
        op: inst.op.clone(),
        bodies,
        operands: inst.args.len(),
        effect: None,
    };
    (block, args)
}

fn inline_first(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let args = rw.args('r');
    inline(rw, &block.bodies[0].0, &args)
}

fn if_same(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    if block.bodies[0] != block.bodies[1] {
        return None;
    }
    let args = rw.args('r');
    inline(rw, &block.bodies[0].0, &args[1..])
}

fn if_known(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let args = rw.args('r');
    let taken = rw.graph.data(args[0]).splat()?;
    let body = if taken != 0 { 0 } else { 1 };
    inline(rw, &block.bodies[body].0, &args[1..])
}

fn scan_never(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let Op::Scan {
        length: 0, carry, ..
    } = block.op
    else {
        return None;
    };
    let args = rw.args('r');
    let types = rw.graph.data(rw.root()).types.clone();
    let mut results = args[..carry].to_vec();
    for ty in &types[carry..] {
        results.push(rw.splat_bits(ty.clone(), 0)?);
    }
    Some(rw.graph.tuple(&results))
}

fn scan_once(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let Op::Scan {
        length: 1, carry, ..
    } = block.op
    else {
        return None;
    };
    let args = rw.args('r');
    let mut inner = vec![rw.splat_i64(crate::ir::Type::scalar(crate::ir::types::Elem::I32), 0)?];
    inner.extend(&args[..carry]);
    for &xs in &args[carry..block.operands] {
        let row = rw.shape(xs)[1..].to_vec();
        inner.push(rw.reshape(xs, row)?);
    }
    inner.extend(&args[block.operands..]);
    let body = &block.bodies[0].0;
    let made = inline(rw, body, &inner)?;
    let mut results = Vec::new();
    for i in 0..body.body.results.len() {
        let value = rw.graph.proj(made, i);
        results.push(if i < carry {
            value
        } else {
            let mut shape = vec![1];
            shape.extend(rw.shape(value));
            rw.reshape(value, shape)?
        });
    }
    Some(rw.graph.tuple(&results))
}

/// A carry that each iteration gives back as it was is a value from outside.
fn scan_unchanged(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let Op::Scan {
        length,
        reverse,
        carry,
    } = block.op
    else {
        return None;
    };
    let body = &block.bodies[0].0;
    let same = |i: usize| body.body.results[i] == body.body.params[1 + i];
    let at = (0..carry).find(|&i| same(i))?;
    // The parameter moves to the end, where the captures are.
    let mut b = Builder::new("");
    let mut map = HashMap::new();
    let mut params = body.body.params.clone();
    let moved = params.remove(1 + at);
    params.push(moved);
    copy_params(&mut b, body, &params, &mut map);
    b.inline_insts(body, &body.body.insts, &mut map);
    let mut results: Vec<Value> = body.body.results.iter().map(|v| map[v]).collect();
    results.remove(at);
    let mut args = rw.args('r');
    let initial = args.remove(at);
    args.push(initial);
    let new = Block {
        op: Op::Scan {
            length,
            reverse,
            carry: carry - 1,
        },
        bodies: vec![Body(b.finish(results))],
        operands: block.operands - 1,
        effect: None,
    };
    let count = rw.graph.data(rw.root()).types.len();
    let made = (count > 1)
        .then(|| rw.graph.block(new, &args).ok())
        .flatten();
    let mut values = Vec::new();
    for i in 0..count {
        values.push(match i.cmp(&at) {
            std::cmp::Ordering::Equal => initial,
            std::cmp::Ordering::Less => rw.graph.proj(made?, i),
            std::cmp::Ordering::Greater => rw.graph.proj(made?, i - 1),
        });
    }
    Some(rw.graph.tuple(&values))
}

/// A scan with one carry more, which begins as `first`, stands for `replaced` in the body, and becomes what `next` makes
/// of it and of `other`.
pub(super) fn with_carry(
    rw: &mut Rw,
    block: &Block,
    first: Id,
    replaced: Value,
    other: Value,
    next: impl FnOnce(&mut Builder, Value, Value) -> Value,
) -> Option<Id> {
    let Op::Scan {
        length,
        reverse,
        carry,
    } = block.op
    else {
        return None;
    };
    let body = &block.bodies[0].0;
    let mut b = Builder::new("");
    let mut map = HashMap::new();
    let mut params = body.body.params.clone();
    params.insert(1 + carry, replaced);
    copy_params(&mut b, body, &params, &mut map);
    let wanted = body.body.results.iter().copied().chain([other]);
    let kept = needed(body, wanted, &[replaced]);
    b.inline_insts(body, &kept, &mut map);
    b.span = body.span(replaced);
    let next = next(&mut b, map[&replaced], map[&other]);
    let mut results: Vec<Value> = body.body.results.iter().map(|v| map[v]).collect();
    results.insert(carry, next);
    let mut args = rw.args('r');
    args.insert(carry, first);
    let new = Block {
        op: Op::Scan {
            length,
            reverse,
            carry: carry + 1,
        },
        bodies: vec![Body(b.finish(results))],
        operands: block.operands + 1,
        effect: None,
    };
    let count = rw.graph.data(rw.root()).types.len();
    let made = rw.graph.block(new, &args).ok()?;
    let values: Vec<Id> = (0..count)
        .map(|i| rw.graph.proj(made, i + usize::from(i >= carry)))
        .collect();
    Some(rw.graph.tuple(&values))
}

/// Parameters that stand for values of `body`, which `map` comes to know.
pub(super) fn copy_params(
    b: &mut Builder,
    body: &Func,
    values: &[Value],
    map: &mut HashMap<Value, Value>,
) {
    for &v in values {
        b.span = body.span(v);
        let p = b.param(body.ty(v).clone());
        map.insert(v, p);
    }
}

/// Moves out of a loop's body what depends on captures only.
fn hoist(rw: &mut Rw) -> Option<Id> {
    let mut block = block(rw)?;
    let args = rw.args('r');
    let (operands, captured) = args.split_at(block.operands);
    let mut captured = captured.to_vec();
    let mut any = false;
    for index in 0..block.bodies.len() {
        any |= hoist_from(rw, &mut block, index, &mut captured)?;
    }
    if !any {
        return None;
    }
    let mut args = operands.to_vec();
    args.extend(captured);
    rw.graph.block(block, &args).ok()
}

/// Hoists from one body; whether anything was. All bodies get a parameter for each value hoisted.
fn hoist_from(
    rw: &mut Rw,
    block: &mut Block,
    index: usize,
    captured: &mut Vec<Id>,
) -> Option<bool> {
    let body = block.bodies[index].0.clone();
    let own = body.body.params.len() - captured.len();
    let mut outside: HashMap<Value, Id> = body.body.params[own..]
        .iter()
        .copied()
        .zip(captured.iter().copied())
        .collect();
    // Constants go along only with what needs them.
    let mut constants: HashMap<Value, &Inst> = HashMap::new();
    let mut hoisted: Vec<Value> = Vec::new();
    for inst in &body.body.insts {
        let [result] = inst.results[..] else { continue };
        if !inst.regions.is_empty() || inst.args.is_empty() {
            if let Op::Constant(_) = inst.op {
                constants.insert(result, inst);
            }
            continue;
        }
        let known = |v: &Value| outside.contains_key(v) || constants.contains_key(v);
        let real = inst.args.iter().any(|v| outside.contains_key(v));
        if !real || !inst.args.iter().all(known) || !worth_storing(&inst.op) {
            continue;
        }
        let mut args = Vec::new();
        for v in &inst.args {
            args.push(match outside.get(v) {
                Some(&id) => id,
                None => rw.add(constants[v].op.clone(), &[])?,
            });
        }
        outside.insert(result, rw.add(inst.op.clone(), &args)?);
        hoisted.push(result);
    }
    if hoisted.is_empty() {
        return Some(false);
    }
    // Only what the rest of the body still uses has to be carried in.
    let used: HashSet<Value> = body
        .body
        .insts
        .iter()
        .filter(|i| !i.results.iter().any(|r| hoisted.contains(r)))
        .flat_map(Inst::uses)
        .chain(body.body.results.iter().copied())
        .collect();
    let carried: Vec<Value> = hoisted
        .iter()
        .copied()
        .filter(|v| used.contains(v))
        .collect();
    for (i, old) in block.bodies.iter_mut().enumerate() {
        let replaced = if i == index { &carried[..] } else { &[] };
        let types: Vec<_> = carried.iter().map(|&v| body.ty(v).clone()).collect();
        *old = Body(with_params(
            &old.0,
            &types,
            replaced,
            if i == index { &hoisted } else { &[] },
        ));
    }
    captured.extend(carried.iter().map(|v| outside[v]));
    Some(true)
}

/// Views and spreads cost nothing inside, so storing them outside gains nothing.
fn worth_storing(op: &Op) -> bool {
    !matches!(op, Op::Broadcast { .. } | Op::Iota { .. })
}

/// A body with more parameters at the end, which stand for `replaced`; the instructions of `dropped`, and those that
/// nothing needs then, are left out. The body has no effects.
fn with_params(
    body: &Func,
    types: &[crate::ir::Type],
    replaced: &[Value],
    dropped: &[Value],
) -> Func {
    let mut b = Builder::new("");
    let mut map = HashMap::new();
    copy_params(&mut b, body, &body.body.params, &mut map);
    for (i, ty) in types.iter().enumerate() {
        let old = replaced.get(i).copied();
        b.span = old.map_or(b.span, |v| body.span(v));
        let p = b.param(ty.clone());
        if let Some(v) = old {
            map.insert(v, p);
        }
    }
    let kept = needed(body, body.body.results.iter().copied(), dropped);
    b.inline_insts(body, &kept, &mut map);
    let results = body.body.results.iter().map(|v| map[v]).collect();
    b.finish(results)
}

/// The instructions that some values of a body without effects need, in order, without those of `dropped`.
pub(super) fn needed(
    body: &Func,
    values: impl IntoIterator<Item = Value>,
    dropped: &[Value],
) -> Vec<Inst> {
    let mut needed: HashSet<Value> = values.into_iter().collect();
    let mut kept: Vec<Inst> = Vec::new();
    for inst in body.body.insts.iter().rev() {
        let gone = inst.results.iter().any(|r| dropped.contains(r));
        if gone || !inst.results.iter().any(|r| needed.contains(r)) {
            continue;
        }
        needed.extend(&inst.args);
        needed.extend(inst.regions.iter().flat_map(Region::captures));
        kept.push(inst.clone());
    }
    kept.reverse();
    kept
}
