//! Batching of the primitives with regions.

use super::mapped::{self, Mapped};
use super::{Batcher, Lane};
use crate::ad::AdError;
use crate::ir::{Elem, Func, Inst, Op, ReduceOp, Region, Type, Value};

/// The values that a region may see from outside and that are mapped.
fn outside(bx: &Batcher, regions: &[Region]) -> Mapped {
    regions
        .iter()
        .flat_map(Region::captures)
        .filter(|v| bx.mapped_set().contains(v))
        .collect()
}

/// Carries that become mapped in some iteration are so from the start; slices have the batch behind the axis that the
/// loop runs over.
pub fn scan(
    bx: &mut Batcher,
    f: &Func,
    inst: &Inst,
    args: &[Lane],
    (length, reverse, carry): (usize, bool, usize),
) -> Result<Vec<Lane>, AdError> {
    let body = &inst.regions[0];
    let flags: Vec<bool> = args.iter().map(|a| a.is_mapped()).collect();
    let mut known = outside(bx, &inst.regions);
    let found = mapped::body(body, &flags, carry, 1, &mut known);

    let mut operands = Vec::new();
    for (i, &arg) in args.iter().enumerate() {
        operands.push(if i < carry {
            bx.lane_as(arg, found[i])
        } else if arg.is_mapped() {
            bx.e.move_axis(arg.value(), 0, 1)
        } else {
            arg.value()
        });
    }

    bx.e.open();
    let index = bx.e.param(f.ty(body.params[0]).clone());
    bx.set(body.params[0], Lane::Shared(index));
    for (i, &p) in body.params[1..].iter().enumerate() {
        let is_mapped = if i < carry { found[i] } else { flags[i] };
        param(bx, f, p, is_mapped);
    }
    let outs = bx.region(f, body)?;
    let results = outs
        .iter()
        .enumerate()
        .map(|(i, &out)| {
            if i < carry {
                bx.lane_as(out, found[i])
            } else {
                out.value()
            }
        })
        .collect();
    let region = bx.e.close(results);
    let op = Op::Scan {
        length,
        reverse,
        carry,
    };
    let results = bx.e.push(op, operands, vec![region]);
    Ok(results
        .into_iter()
        .enumerate()
        .map(|(i, v)| {
            if i < carry {
                Lane::new(v, found[i])
            } else if outs[i].is_mapped() {
                Lane::Mapped(bx.e.move_axis(v, 1, 0))
            } else {
                Lane::Shared(v)
            }
        })
        .collect())
}

fn param(bx: &mut Batcher, f: &Func, p: Value, is_mapped: bool) -> Value {
    let ty = bx.batched_type(f.ty(p), is_mapped);
    let v = bx.e.param(ty);
    bx.set(p, Lane::new(v, is_mapped));
    v
}

/// A primitive without results, for one element after the other.
pub fn each(bx: &mut Batcher, op: &Op, args: &[Lane]) -> Vec<Lane> {
    let mapped = args.iter().filter(|a| a.is_mapped());
    let xs: Vec<Value> = mapped.map(|a| a.value()).collect();
    bx.e.open();
    bx.e.param(Type::scalar(Elem::I32));
    let operands = args
        .iter()
        .map(|a| match *a {
            Lane::Shared(v) => v,
            Lane::Mapped(v) => {
                let ty = bx.e.type_of(v);
                bx.e.param(ty.with_shape(ty.shape[1..].to_vec()))
            }
        })
        .collect();
    bx.e.push(op.clone(), operands, Vec::new());
    let body = bx.e.close(Vec::new());
    let op = Op::Scan {
        length: bx.size,
        reverse: false,
        carry: 0,
    };
    bx.e.push(op, xs, vec![body]);
    Vec::new()
}

/// With one condition for the whole batch, a `while` again. With a condition for each element, the loop runs while
/// any holds, and an element whose own does not hold keeps its carries.
pub fn while_loop(
    bx: &mut Batcher,
    f: &Func,
    inst: &Inst,
    args: &[Lane],
) -> Result<Vec<Lane>, AdError> {
    let [condition, body] = &inst.regions[..] else {
        unreachable!("the verifier has counted the regions of a while");
    };
    let flags: Vec<bool> = args.iter().map(|a| a.is_mapped()).collect();
    let mut known = outside(bx, &inst.regions);
    let (found, per_element) = mapped::while_loop(inst, &flags, &mut known);
    let operands: Vec<Value> = args
        .iter()
        .zip(&found)
        .map(|(&a, &m)| bx.lane_as(a, m))
        .collect();
    if per_element {
        return while_any(bx, f, condition, body, operands);
    }

    bx.e.open();
    for (&p, &m) in condition.params.iter().zip(&found) {
        param(bx, f, p, m);
    }
    let test = bx.region(f, condition)?;
    let test = bx.e.close(test.iter().map(|l| l.value()).collect());

    bx.e.open();
    for (&p, &m) in body.params.iter().zip(&found) {
        param(bx, f, p, m);
    }
    let outs = bx.region(f, body)?;
    let outs = outs
        .into_iter()
        .zip(&found)
        .map(|(out, &m)| bx.lane_as(out, m))
        .collect();
    let step = bx.e.close(outs);
    let results = bx.e.push(Op::While, operands, vec![test, step]);
    Ok(results
        .into_iter()
        .zip(found)
        .map(|(v, m)| Lane::new(v, m))
        .collect())
}

/// Carries the conditions of all elements along, so that they are evaluated once an iteration.
fn while_any(
    bx: &mut Batcher,
    f: &Func,
    condition: &Region,
    body: &Region,
    mut operands: Vec<Value>,
) -> Result<Vec<Lane>, AdError> {
    let n = operands.len();
    let first = holds(bx, f, condition, &operands)?;
    operands.push(first);
    let types: Vec<Type> = operands.iter().map(|&v| bx.e.type_of(v)).collect();

    bx.e.open();
    let params: Vec<Value> = types.iter().map(|t| bx.e.param(t.clone())).collect();
    let any = bx.e.reduce(ReduceOp::Max, params[n], &[0]);
    let test = bx.e.close(vec![any]);

    bx.e.open();
    let params: Vec<Value> = types.iter().map(|t| bx.e.param(t.clone())).collect();
    for (&p, &v) in body.params.iter().zip(&params) {
        bx.set(p, Lane::Mapped(v));
    }
    let outs = bx.region(f, body)?;
    let mut results = Vec::new();
    for (out, &before) in outs.into_iter().zip(&params) {
        let after = bx.mapped(out);
        let shape = bx.e.shape(after).to_vec();
        let mask = bx.e.broadcast(params[n], &shape, &[0]);
        results.push(bx.e.select(mask, after, before));
    }
    let next = holds(bx, f, condition, &results)?;
    // An element that has stopped stays so: its carries are what they were.
    results.push(next);
    let step = bx.e.close(results);
    let mut results = bx.e.push(Op::While, operands, vec![test, step]);
    results.truncate(n);
    Ok(results.into_iter().map(Lane::Mapped).collect())
}

/// The condition of each element.
fn holds(
    bx: &mut Batcher,
    f: &Func,
    condition: &Region,
    carries: &[Value],
) -> Result<Value, AdError> {
    for (&p, &v) in condition.params.iter().zip(carries) {
        bx.set(p, Lane::Mapped(v));
    }
    let test = bx.region(f, condition)?;
    Ok(bx.mapped(test[0]))
}

/// With one predicate for the whole batch, an `if` again. With one for each element, both branches run, and
/// a select chooses.
pub fn branch(
    bx: &mut Batcher,
    f: &Func,
    inst: &Inst,
    predicate: Lane,
) -> Result<Vec<Lane>, AdError> {
    if let Lane::Mapped(predicate) = predicate {
        let then = guarded(bx, f, &inst.regions[0], predicate, true)?;
        let otherwise = guarded(bx, f, &inst.regions[1], predicate, false)?;
        return Ok(then
            .into_iter()
            .zip(otherwise)
            .map(|(a, b)| {
                if a == b {
                    return a;
                }
                let (a, b) = (bx.mapped(a), bx.mapped(b));
                let shape = bx.e.shape(a).to_vec();
                let mask = bx.e.broadcast(predicate, &shape, &[0]);
                Lane::Mapped(bx.e.select(mask, a, b))
            })
            .collect());
    }
    let mut known = outside(bx, &inst.regions);
    let then = mapped::region(&inst.regions[0], &mut known);
    let otherwise = mapped::region(&inst.regions[1], &mut known);
    let found: Vec<bool> = then.iter().zip(otherwise).map(|(&a, b)| a || b).collect();
    let mut regions = Vec::new();
    for region in &inst.regions {
        bx.e.open();
        let outs = bx.region(f, region)?;
        let outs = outs
            .into_iter()
            .zip(&found)
            .map(|(out, &m)| bx.lane_as(out, m))
            .collect();
        regions.push(bx.e.close(outs));
    }
    let results = bx.e.push(Op::If, vec![predicate.value()], regions);
    Ok(results
        .into_iter()
        .zip(found)
        .map(|(v, m)| Lane::new(v, m))
        .collect())
}

/// A branch that every element of the batch computes, whether it takes it or not. No derivative comes back from those
/// that do not: its numbers may be infinite there. (A shared tensor is not guarded, which would make a copy for each element.)
fn guarded(
    bx: &mut Batcher,
    f: &Func,
    region: &Region,
    predicate: Value,
    taken: bool,
) -> Result<Vec<Lane>, AdError> {
    let mut before = Vec::new();
    for v in region.captures() {
        let (lane, ty) = (bx.get(v), f.ty(v));
        if !ty.elem.is_float() || !lane.is_mapped() && ty.rank() > 0 {
            continue;
        }
        let x = bx.mapped(lane);
        let stopped = bx.e.op(Op::StopGradient, &[x]);
        let shape = bx.e.shape(x).to_vec();
        let mask = bx.e.broadcast(predicate, &shape, &[0]);
        let inner = match taken {
            true => bx.e.select(mask, x, stopped),
            false => bx.e.select(mask, stopped, x),
        };
        bx.set(v, Lane::Mapped(inner));
        before.push((v, lane));
    }
    let outs = bx.region(f, region)?;
    for (v, lane) in before {
        bx.set(v, lane);
    }
    Ok(outs)
}

/// Both regions are batched. The cotangent of an argument that is shared is the sum over the batch.
pub fn custom_vjp(
    bx: &mut Batcher,
    f: &Func,
    inst: &Inst,
    args: &[Lane],
) -> Result<Vec<Lane>, AdError> {
    let [function, block] = &inst.regions[..] else {
        unreachable!("the verifier has counted the regions of a custom_vjp");
    };
    let operands: Vec<Value> = args.iter().map(|a| a.value()).collect();
    let flags: Vec<bool> = args.iter().map(|a| a.is_mapped()).collect();

    bx.e.open();
    for (&p, &m) in function.params.iter().zip(&flags) {
        param(bx, f, p, m);
    }
    let outs = bx.region(f, function)?;
    let function_region = bx.e.close(outs.iter().map(|l| l.value()).collect());

    bx.e.open();
    let out_flags = || outs.iter().map(|l| l.is_mapped());
    let float_flags = outs
        .iter()
        .zip(&function.results)
        .filter(|(_, r)| f.ty(**r).elem.is_float())
        .map(|(l, _)| l.is_mapped());
    let all = flags.iter().copied().chain(out_flags()).chain(float_flags);
    for (&p, m) in block.params.iter().zip(all) {
        param(bx, f, p, m);
    }
    let cts = bx.region(f, block)?;
    let float_args = flags
        .iter()
        .zip(&function.params)
        .filter(|(_, p)| f.ty(**p).elem.is_float())
        .map(|(m, _)| *m);
    let cts: Vec<Value> = cts
        .into_iter()
        .zip(float_args)
        .map(|(ct, arg_mapped)| match (ct, arg_mapped) {
            (Lane::Mapped(v), false) => bx.e.sum(v, &[0]),
            (ct, m) => bx.lane_as(ct, m),
        })
        .collect();
    let block_region = bx.e.close(cts);

    let regions = vec![function_region, block_region];
    let results = bx.e.push(Op::CustomVjp, operands, regions);
    Ok(results
        .into_iter()
        .zip(outs)
        .map(|(v, out)| Lane::new(v, out.is_mapped()))
        .collect())
}

pub fn remat(bx: &mut Batcher, f: &Func, inst: &Inst, args: &[Lane]) -> Result<Vec<Lane>, AdError> {
    let region = &inst.regions[0];
    let operands = args.iter().map(|a| a.value()).collect();
    bx.e.open();
    for (&p, a) in region.params.iter().zip(args) {
        param(bx, f, p, a.is_mapped());
    }
    let outs = bx.region(f, region)?;
    let region = bx.e.close(outs.iter().map(|l| l.value()).collect());
    let results = bx.e.push(Op::Remat, operands, vec![region]);
    Ok(results
        .into_iter()
        .zip(outs)
        .map(|(v, out)| Lane::new(v, out.is_mapped()))
        .collect())
}
