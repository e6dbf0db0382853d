//! What goes row by row over large arrays goes block by block of rows, in a loop, where what is between its products would take much
//! memory.
//!
//! ```text
//! %1 = dot_general[contract = [1] x [0]] %x, %w          %r = scan[length = 100, carry = 1] %zero
//!     : f32[60000, 9]                                        body(%i: i32, %s: f32[9]) {
//! %2 = tanh %1 : f32[60000, 9]                             %a = mul %i, %600 : i32
//! %r = reduce_sum[axes = [0]] %2 : f32[9]           →      %b = dynamic_slice[sizes = [600, 784]] %x, %a, %0
//!                                                          %1 = dot_general[contract = [1] x [0]] %b, %w : f32[600, 9]
//!                                                          %2 = tanh %1 : f32[600, 9]
//!                                                          %p = reduce_sum[axes = [0]] %2 : f32[9]
//!                                                          %t = add %s, %p : f32[9]
//!                                                          yield %t
//!                                                        }
//! ```
//!
//! The evaluation of a network over a data set then needs no memory for what its layers make of all of it. Sums over rows come in another
//! order than without.

mod axes;
mod block;
mod rows;
mod stages;
#[cfg(test)]
mod tests;

use super::copy::{Copier, Rewrite, has_effect, rewrite};
use super::dce;
use crate::ir::func::{Func, Region, Value};
use crate::ir::literal::Literal;
use crate::ir::num::Num;
use crate::ir::op::{BinaryOp, Op};
use crate::ir::types::{Elem, Type};
use block::Block;
pub use block::Terms;
use rows::Rows;
use stages::Stages;

/// Classes of rows that are looked at in a region.
const MOST_CLASSES: usize = 8;

/// Classes by whose blocks the regions of a function are cut, one after the other.
const MOST_CUTS: usize = 8;

pub fn run(func: &Func) -> Func {
    blocked(func, Terms::OF_CPU)
}

/// As [`run`], on these terms.
pub fn blocked(func: &Func, terms: Terms) -> Func {
    let mut func = func.clone();
    for _ in 0..MOST_CUTS {
        let mut pass = RowBlocks {
            terms,
            changed: false,
        };
        let new = rewrite(&func, &mut pass);
        if !pass.changed {
            break;
        }
        func = dce::run(&new);
    }
    func
}

struct RowBlocks {
    terms: Terms,
    changed: bool,
}

impl Rewrite for RowBlocks {
    fn region(&mut self, c: &mut Copier, region: &Region) -> Vec<Value> {
        match self.chosen(c.from, region) {
            Some((rows, stages, parts)) => {
                self.changed = true;
                for (stage, parts) in stages.stages.iter().zip(parts) {
                    stage.outside.iter().for_each(|inst| self.inst(c, inst));
                    for (block, pays) in parts {
                        match pays {
                            true => emit(c, &block, &rows),
                            false => block.insts.iter().for_each(|inst| self.inst(c, inst)),
                        }
                    }
                }
            }
            None => c.insts(self, &region.insts),
        }
        c.values(&region.results)
    }
}

/// For each stage its parts, and whether each pays.
type Chosen<'r> = (Rows, Stages<'r>, Vec<Vec<(Block<'r>, bool)>>);

impl RowBlocks {
    /// The first class of rows, those of the largest arrays first, by whose blocks it pays to go in some part.
    fn chosen<'r>(&self, func: &Func, region: &'r Region) -> Option<Chosen<'r>> {
        let ty = |v: Value| func.ty(v);
        let insts = region.insts.iter();
        let mut seeds: Vec<Value> = insts
            .flat_map(|i| i.args.iter().chain(&i.results))
            .copied()
            .collect();
        seeds.retain(|&v| 4 * ty(v).bytes() >= self.terms.much);
        seeds.sort();
        seeds.dedup();
        if seeds.is_empty() || region.insts.iter().any(has_effect) {
            return None;
        }
        let classes = Rows::classes(region, &ty, &seeds);
        classes.into_iter().take(MOST_CLASSES).find_map(|rows| {
            let stages = Stages::of(region, &rows, &ty);
            let judged = |part| {
                let block = Block::of(part, &stages, &rows, &ty, self.terms);
                let pays = block.pays(&rows, &ty, self.terms);
                (block, pays)
            };
            let parts = stages
                .stages
                .iter()
                .map(|stage| stage.parts().into_iter().map(judged).collect());
            let parts: Vec<Vec<(Block, bool)>> = parts.collect();
            let any = parts.iter().flatten().any(|(_, pays)| *pays);
            any.then_some((rows, stages, parts))
        })
    }
}

/// The loop over full blocks, and what is left behind it.
fn emit(c: &mut Copier, block: &Block, rows: &Rows) {
    let (length, rest) = (rows.count / block.rows, rows.count % block.rows);
    c.at(block.insts.first().and_then(|i| i.results.first()));
    let zeros = block.sums.iter().map(|&v| {
        let zero = Literal::splat_f64(c.from.ty(v).clone(), 0.0);
        c.b.op(Op::Constant(zero), &[])
    });
    let zeros: Vec<Value> = zeros.collect();

    c.b.open_region();
    let position = c.b.param(Type::scalar(Elem::I32));
    let sums: Vec<Value> = block
        .sums
        .iter()
        .map(|&v| c.b.param(c.from.ty(v).clone()))
        .collect();
    let size = c.b.int(Elem::I32, block.rows as i64);
    let start = c.b.op(Op::Binary(BinaryOp::Mul), &[position, size]);
    part(c, block, rows, block.rows, start);
    let mut results = added(c, &sums, &block.sums);
    results.extend(c.values(&block.outputs));
    let body = c.b.close_region(results);
    let op = Op::Scan {
        length,
        reverse: false,
        carry: sums.len(),
    };
    let results = c.b.push(op, zeros, vec![body]);
    let (sums, stacks) = results.split_at(sums.len());
    let outputs = stacks.iter().zip(&block.outputs).map(|(&stack, &v)| {
        let mut shape = c.from.ty(v).shape.clone();
        shape[0] = length * block.rows;
        c.b.op(Op::Reshape { shape }, &[stack])
    });
    let outputs: Vec<Value> = outputs.collect();
    if rest == 0 {
        c.set_all(&block.sums, sums);
        return c.set_all(&block.outputs, &outputs);
    }
    let start = c.b.int(Elem::I32, (length * block.rows) as i64);
    part(c, block, rows, rest, start);
    let sums = added(c, sums, &block.sums);
    for (&v, first) in block.outputs.iter().zip(outputs) {
        let last = c.value(v);
        let whole = c.b.op(Op::Concat { axis: 0 }, &[first, last]);
        c.set(v, whole);
    }
    c.set_all(&block.sums, &sums);
}

/// The instructions of a block for `count` rows from `start` on.
fn part(c: &mut Copier, block: &Block, rows: &Rows, count: usize, start: Value) {
    let outside: Vec<(Value, Value)> = block.inputs.iter().map(|&v| (v, c.value(v))).collect();
    for &(v, whole) in &outside {
        c.at(Some(&v));
        let mut sizes = c.from.ty(v).shape.clone();
        let axis = rows.axis(v);
        let zero = c.b.int(Elem::I32, 0);
        let starts = (0..sizes.len()).map(|d| if axis == Some(d) { start } else { zero });
        let args: Vec<Value> = std::iter::once(whole).chain(starts).collect();
        axis.into_iter().for_each(|axis| sizes[axis] = count);
        let slice = c.b.op(Op::DynamicSlice { sizes }, &args);
        c.set(v, slice);
    }
    let started = block.starts.iter().flat_map(|i| &i.results);
    let started: Vec<(Value, Value)> = started.map(|&v| (v, c.value(v))).collect();
    for inst in block.starts.iter().chain(&block.insts) {
        let axis = inst.results.first().and_then(|&v| rows.axis(v));
        c.emit(inst, axes::resized(&inst.op, axis, count), Vec::new());
    }
    // Whatever else reads these reads all rows.
    for (v, whole) in outside.into_iter().chain(started) {
        c.set(v, whole);
    }
}

fn added(c: &mut Copier, sums: &[Value], terms: &[Value]) -> Vec<Value> {
    let pairs = sums.iter().zip(terms);
    pairs
        .map(|(&sum, term)| {
            let term = c.value(*term);
            c.b.op(Op::Binary(BinaryOp::Add), &[sum, term])
        })
        .collect()
}
