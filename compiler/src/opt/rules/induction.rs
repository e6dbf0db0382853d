//! Powers whose exponent counts the turns of a loop.

use super::control::{block, copy_params, needed, with_carry};
use super::turn::Turn;
use crate::ir::literal::Literal;
use crate::ir::op::{BinaryOp, Op};
use crate::ir::{Builder, Func, Inst, Value};
use crate::opt::graph::{Block, Body};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;
use std::collections::HashMap;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("scan-power",  Fast, "scan.r(*)", "a power by the turn, carried as a product",          scan_power),
    Rule::build("scan-horner", Fast, "scan.r(*)", "a polynomial summed by the turn, by Horner's scheme", scan_horner),
];

/// `base ** (i + c)` with a base that stays is carried: at first `base ** c`, then times `base`. Each turn rounds once,
/// so after `n` turns the result is off by `n` roundings at most, where a power is off by few.
fn scan_power(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let Op::Scan {
        length,
        reverse: false,
        carry,
    } = block.op
    else {
        return None;
    };
    let args = rw.args('r');
    let body = &block.bodies[0].0;
    let turn = Turn::of(body, carry, block.operands, &args);
    let power = body.body.insts.iter().find(|inst| {
        let is_power = inst.op == Op::Binary(BinaryOp::Pow) && length > 1;
        is_power && turn.stays(inst.args[0]) && turn.step(inst.args[1]) == Some(1)
    })?;
    let (base, result) = (power.args[0], power.results[0]);
    if !body.ty(result).elem.is_float() {
        return None;
    }
    let outside = turn.at_first(rw, base)?;
    let exponent = turn.at_first(rw, power.args[1])?;
    let first = rw.binary(BinaryOp::Pow, outside, exponent)?;
    with_carry(rw, &block, first, result, base, |b, power, base| {
        b.op(Op::Binary(BinaryOp::Mul), &[power, base])
    })
}

/// `total + a * base ** i`, summed over the turns, is a polynomial: by Horner's scheme `h * base + a` from the highest
/// power down, and no power is left. What begins and ends elsewhere is put right outside: the sum is added to where the
/// total began, and multiplied by the least power.
fn scan_horner(rw: &mut Rw) -> Option<Id> {
    let block = block(rw)?;
    let Op::Scan {
        length, carry: 1, ..
    } = block.op
    else {
        return None;
    };
    if length < 2 {
        return None;
    }
    let args = rw.args('r');
    let body = &block.bodies[0].0;
    let turn = Turn::of(body, 1, block.operands, &args);
    let sum = Terms::of(&turn)?;
    let (base, exponent) = (sum.power.args[0], sum.power.args[1]);
    let up = turn.step(exponent)? > 0;
    if !turn.stays(base) || !body.ty(base).elem.is_float() {
        return None;
    }
    let outside = turn.at_first(rw, base)?;
    let least = turn.at(rw, exponent, if up { 0 } else { length - 1 })?;
    let least = rw.binary(BinaryOp::Pow, outside, least)?;
    let least = match sum.spread {
        Some(spread) => rw.add(spread.op.clone(), &[least])?,
        None => least,
    };
    let zero = rw.splat_f64(rw.ty(args[0]), 0.0)?;
    let mut inner = args.clone();
    inner[0] = zero;
    let new = Block {
        op: Op::Scan {
            length,
            reverse: up,
            carry: 1,
        },
        bodies: vec![Body(horner_body(body, &sum))],
        operands: block.operands,
        effect: None,
    };
    let made = rw.graph.block(new, &inner).ok()?;
    let polynomial = rw.graph.proj(made, 0);
    let scaled = rw.binary(BinaryOp::Mul, polynomial, least)?;
    let total = rw.binary(BinaryOp::Add, args[0], scaled)?;
    let mut values = vec![total];
    values.extend((1..body.body.results.len()).map(|i| rw.graph.proj(made, i)));
    Some(rw.graph.tuple(&values))
}

/// What a power is multiplied by.
#[derive(Clone, Copy)]
enum Coefficient {
    One,
    Is(Value),
    /// The power is divided by it.
    Inverse(Value),
}

/// A body that does nothing with its carry but to add a coefficient times a power.
struct Terms<'a> {
    total: Value,
    coefficient: Coefficient,
    /// A broadcast of the power.
    spread: Option<&'a Inst>,
    power: &'a Inst,
}

impl<'a> Terms<'a> {
    fn of(turn: &Turn<'a>) -> Option<Terms<'a>> {
        let body = turn.body;
        let total = body.body.params[1];
        let sum = turn.made.get(&body.body.results[0])?;
        let used_once = |v: Value| {
            let insts = body.body.insts.iter();
            let inside = insts.map(|inst| inst.uses().iter().filter(|&&a| a == v).count());
            inside.sum::<usize>() + body.body.results.iter().filter(|&&r| r == v).count() == 1
        };
        let adds = sum.op == Op::Binary(BinaryOp::Add);
        if !adds || !used_once(total) || !used_once(sum.results[0]) {
            return None;
        }
        let term = match sum.args[..] {
            [one, other] | [other, one] if one == total => other,
            _ => return None,
        };
        let power = |v: Value| -> Option<(Option<&'a Inst>, &'a Inst)> {
            let inst = *turn.made.get(&v)?;
            match inst.op {
                Op::Binary(BinaryOp::Pow) => Some((None, inst)),
                Op::Broadcast { .. } => {
                    let power = *turn.made.get(&inst.args[0])?;
                    let is_power = power.op == Op::Binary(BinaryOp::Pow);
                    is_power.then_some((Some(inst), power))
                }
                _ => None,
            }
        };
        let found = match (power(term), turn.made.get(&term)) {
            (Some(found), _) => Some((Coefficient::One, found)),
            (None, Some(inst)) if inst.op == Op::Binary(BinaryOp::Mul) => {
                let (x, y) = (inst.args[0], inst.args[1]);
                let right = power(y).map(|found| (Coefficient::Is(x), found));
                right.or_else(|| power(x).map(|found| (Coefficient::Is(y), found)))
            }
            (None, Some(inst)) if inst.op == Op::Binary(BinaryOp::Div) => {
                power(inst.args[0]).map(|found| (Coefficient::Inverse(inst.args[1]), found))
            }
            _ => None,
        };
        let (coefficient, (spread, power)) = found?;
        Some(Terms {
            total,
            coefficient,
            spread,
            power,
        })
    }
}

/// The body with `total * base + coefficient` for its carry.
fn horner_body(body: &Func, sum: &Terms) -> Func {
    let mut b = Builder::new("");
    let mut map = HashMap::new();
    copy_params(&mut b, body, &body.body.params, &mut map);
    let rest = &body.body.results[1..];
    let wanted = rest.iter().copied().chain([sum.power.args[0]]);
    let coefficient = match sum.coefficient {
        Coefficient::One => None,
        Coefficient::Is(v) | Coefficient::Inverse(v) => Some(v),
    };
    let kept = needed(body, wanted.chain(coefficient), &[]);
    b.inline_insts(body, &kept, &mut map);
    b.span = body.span(sum.power.results[0]);
    let mut base = map[&sum.power.args[0]];
    if let Some(spread) = sum.spread {
        base = b.op(spread.op.clone(), &[base]);
    }
    let scaled = b.op(Op::Binary(BinaryOp::Mul), &[map[&sum.total], base]);
    let one = |b: &mut Builder| {
        let one = Literal::splat_f64(body.ty(sum.total).clone(), 1.0);
        b.op(Op::Constant(one), &[])
    };
    let coefficient = match sum.coefficient {
        Coefficient::One => one(&mut b),
        Coefficient::Is(v) => map[&v],
        Coefficient::Inverse(v) => {
            let one = one(&mut b);
            b.op(Op::Binary(BinaryOp::Div), &[one, map[&v]])
        }
    };
    let total = b.op(Op::Binary(BinaryOp::Add), &[scaled, coefficient]);
    let results = rest.iter().map(|v| map[v]);
    let results = [total].into_iter().chain(results).collect();
    b.finish(results)
}
