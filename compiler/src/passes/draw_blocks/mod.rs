//! Random arrays that are drawn alike, whatever their shapes, are drawn in one loop, a block of numbers in each iteration. The device's
//! compiler then makes code for the generator once, and not once for each array; for a program that runs once that is
//! most of the time that it takes.
//!
//! ```text
//! %4, %5 = threefry %0, %1, %2, %3 : u32[64, 256], …     %r = scan[length = 3, carry = 0] %k0, %k1, %starts : u32[3, 16384]
//! %a = xor %4, %5 : u32[64, 256]                             body(%i: i32, %0: u32, %1: u32, %2: u32) {
//! …                                               →        %7 = iota[axis = 0] : u32[16384]
//! %14, %15 = threefry %10, %11, %12, %13 : u32[20000], …   …
//! %b = xor %14, %15 : u32[20000]                           %10 = xor %8, %9 : u32[16384]
//!                                                          yield %10
//!                                                        }
//! ```

mod draws;
#[cfg(test)]
mod tests;

use super::copy::{Copier, Plain, has_effect, rewrite_with};
use super::dce;
use crate::ir::Builder;
use crate::ir::func::{Func, Value};
use crate::ir::literal::Literal;
use crate::ir::num::Num;
use crate::ir::op::{BinaryOp, Op};
use crate::ir::types::{Elem, Type};
use draws::{Draw, Flow, Operand, Step, Word};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Numbers drawn in an iteration: enough for what an iteration costs besides.
const BLOCK: usize = 1 << 14;

/// Numbers of the largest array that is drawn in a loop, and of all in one: larger ones gain more from kernels of their own,
/// which run on all cores, than their code costs.
const MOST: usize = 1 << 22;

pub fn run(func: &Func) -> Func {
    if func.body.insts.iter().any(has_effect) {
        return func.clone();
    }
    let flow = Flow::of(func);
    let groups = groups(&flow);
    if groups.is_empty() {
        return func.clone();
    }
    let units = scheduled(&flow, &groups);
    let drawn = rewrite_with(func, |c| {
        for unit in units {
            match unit {
                Unit::Inst(i) => c.keep(&mut Plain, &func.body.insts[i]),
                Unit::Loop(g) => emit(c, &groups[g]),
            }
        }
        c.values(&func.body.results)
    });
    dce::run(&drawn)
}

/// Draws that have a recipe in common, and of which none needs another: as many lie before each.
fn groups(flow: &Flow) -> Vec<Vec<Draw>> {
    let insts = &flow.func.body.insts;
    let draws = (0..insts.len()).filter_map(|i| flow.draw(i));
    let mut draws: HashMap<Value, Draw> = draws
        .filter(|draw| (1..=MOST).contains(&draw.count))
        .map(|draw| (draw.end, draw))
        .collect();
    let mut depths: HashMap<Value, usize> = HashMap::new();
    let mut found: HashMap<(usize, Vec<Step>), usize> = HashMap::new();
    let mut groups: Vec<Vec<Draw>> = Vec::new();
    for (inst, uses) in insts.iter().zip(&flow.uses) {
        let before = uses.iter().filter_map(|v| depths.get(v)).max().copied();
        let draw = inst.results.first().and_then(|end| draws.remove(end));
        let depth = before.unwrap_or(0) + usize::from(draw.is_some());
        depths.extend(inst.results.iter().map(|&v| (v, depth)));
        if let Some(draw) = draw {
            let known = found
                .entry((depth, draw.recipe.clone()))
                .or_insert(groups.len());
            let full = |group: &Vec<Draw>| total(group) + draw.count > MOST;
            if groups.get(*known).is_none_or(full) {
                *known = groups.len();
                groups.push(Vec::new());
            }
            groups[*known].push(draw);
        }
    }
    groups.retain(|group| group.len() > 1);
    groups
}

fn total(group: &[Draw]) -> usize {
    group.iter().map(|draw| draw.count).sum()
}

/// What is emitted in one place.
#[derive(Clone, Copy)]
enum Unit {
    Inst(usize),
    Loop(usize),
}

/// The instructions that are left and the loops, in an order in which each comes after what it needs: else the old one, a loop
/// where its first draw was.
fn scheduled(flow: &Flow, groups: &[Vec<Draw>]) -> Vec<Unit> {
    let insts = &flow.func.body.insts;
    let mut unit_of: Vec<usize> = (0..insts.len()).collect();
    let mut units: Vec<Option<Unit>> = (0..insts.len()).map(|i| Some(Unit::Inst(i))).collect();
    for (g, group) in groups.iter().enumerate() {
        let members = || group.iter().flat_map(|draw| &draw.insts).copied();
        let first = members().min().unwrap_or(0);
        for i in members() {
            unit_of[i] = first;
            units[i] = None;
        }
        units[first] = Some(Unit::Loop(g));
    }
    let mut needs = vec![0; insts.len()];
    let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); insts.len()];
    for (i, uses) in flow.uses.iter().enumerate() {
        for def in uses.iter().filter_map(|v| flow.defs.get(v)) {
            let (from, to) = (unit_of[*def], unit_of[i]);
            if from != to {
                needed_by[from].push(to);
                needs[to] += 1;
            }
        }
    }
    let free = (0..insts.len()).filter(|&i| units[i].is_some() && needs[i] == 0);
    let mut free: BinaryHeap<Reverse<usize>> = free.map(Reverse).collect();
    let mut order = Vec::new();
    while let Some(Reverse(i)) = free.pop() {
        order.extend(units[i]);
        for &next in &needed_by[i] {
            needs[next] -= 1;
            if needs[next] == 0 {
                free.push(Reverse(next));
            }
        }
    }
    order
}

/// The loop, and from its blocks the array of each draw.
fn emit(c: &mut Copier, group: &[Draw]) {
    c.at(Some(&group[0].end));
    let largest = group.iter().map(|draw| draw.count).max().unwrap_or(1);
    let block = BLOCK.min(largest);
    let blocks: Vec<usize> = group.iter().map(|d| d.count.div_ceil(block)).collect();
    let starts = blocks
        .iter()
        .flat_map(|&n| (0..n).map(|i| (i * block) as u64));
    let starts: Vec<u64> = starts.collect();
    let length = starts.len();
    let ty = Type::new(Elem::U32, [length]);
    let mut slices: Vec<Value> = (0..2)
        .map(|word| each(c, &blocks, group, |draw| draw.key[word]))
        .collect();
    slices.push(c.b.constant(Literal::dense_bits(ty, starts)));
    for i in 0..group[0].scalars.len() {
        slices.push(each(c, &blocks, group, |draw| Word::Made(draw.scalars[i])));
    }

    let elems: Vec<Elem> = slices.iter().map(|&v| c.b.elem_of(v)).collect();
    let recipe = &group[0].recipe;
    let body = c.b.region(|b| drawn_block(b, block, &elems, recipe));
    let scan = Op::Scan {
        length,
        reverse: false,
        carry: 0,
    };
    let all = c.b.push(scan, slices, vec![body])[0];

    let mut from = 0;
    for (draw, &blocks) in group.iter().zip(&blocks) {
        c.at(Some(&draw.end));
        let rows = c.b.slice_axis(all, 0, from, from + blocks);
        let flat = c.b.reshape(rows, &[blocks * block]);
        let flat = c.b.slice_axis(flat, 0, 0, draw.count);
        let shape = c.from.ty(draw.end).shape.clone();
        let array = c.b.reshape(flat, &shape);
        c.set(draw.end, array);
        from += blocks;
    }
}

/// A scalar of each draw, for all blocks of it.
fn each(c: &mut Copier, blocks: &[usize], group: &[Draw], of: impl Fn(&Draw) -> Word) -> Value {
    let spread = |(draw, &blocks): (&Draw, &usize)| match of(draw) {
        Word::Known(bits) => {
            let ty = Type::new(Elem::U32, [blocks]);
            c.b.constant(Literal::splat_bits(ty, bits))
        }
        Word::Made(v) => {
            let v = c.value(v);
            c.b.broadcast_to(v, &[blocks])
        }
    };
    let parts: Vec<Value> = group.iter().zip(blocks).map(spread).collect();
    c.b.concat(&parts, 0)
}

/// The body of the loop. Its slices: the key's words, the position of the first number, and the scalars.
fn drawn_block(b: &mut Builder, block: usize, elems: &[Elem], recipe: &[Step]) -> Vec<Value> {
    b.param(Type::scalar(Elem::I32));
    let slices: Vec<Value> = elems.iter().map(|&e| b.param(Type::scalar(e))).collect();
    let slices: Vec<Value> = slices
        .iter()
        .map(|&v| b.broadcast_to(v, &[block]))
        .collect();
    let high = b.full(Elem::U32, &[block], 0.0);
    let position = b.iota(Elem::U32, &[block], 0);
    let low = b.binary(BinaryOp::Add, slices[2], position);
    let words = vec![slices[0], slices[1], high, low];
    let mut made = b.push(Op::Threefry, words, vec![]);
    for step in recipe {
        let operand = |arg: &Operand| match *arg {
            Operand::Drawn(place) => made[place],
            Operand::Scalar(place) => slices[3 + place],
            Operand::Splat(elem, bits) => {
                b.constant(Literal::splat_bits(Type::new(elem, [block]), bits))
            }
        };
        let args: Vec<Value> = step.args.iter().map(operand).collect();
        made.push(b.op(step.op.clone(), &args));
    }
    made[made.len() - 1..].to_vec()
}
