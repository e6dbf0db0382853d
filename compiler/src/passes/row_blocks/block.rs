//! A part of a program that could go block by block: what it reads and gives out, and whether it pays.

use super::rows::Rows;
use super::stages::Stages;
use crate::ir::flops::{Work, op_work};
use crate::ir::func::{Inst, Value};
use crate::ir::op::Op;
use crate::ir::types::Type;
use std::collections::{HashMap, HashSet};

/// What goes block by block.
pub struct Block<'r> {
    pub insts: Vec<&'r Inst>,
    /// Made in each block anew, since every row of it is the same; in order.
    pub starts: Vec<&'r Inst>,
    /// What is read a block of rows at a time.
    pub inputs: Vec<Value>,
    /// Rows that are wanted elsewhere.
    pub outputs: Vec<Value>,
    /// Sums over the rows.
    pub sums: Vec<Value>,
    /// Rows that are neither read nor given out, but have to be in memory where there are no blocks.
    kept: Vec<Value>,
    readers: HashMap<Value, Vec<&'r Inst>>,
    makers: HashMap<Value, &'r Inst>,
    /// In a block.
    pub rows: usize,
}

/// What decides whether blocks pay, and how large they are.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// So many bytes less have to go through memory.
    pub large: usize,
    /// Memory that is worth having where it costs next to no time, in bytes.
    pub much: usize,
    /// What the loop costs for each kernel of a block, and for each large product beyond that, in ns.
    pub kernel: f64,
    pub product: f64,
    /// How much quicker moving bytes has to become, over what the loop costs.
    pub margin: f64,
    /// Bytes of what has to stay in the caches: with products of matrices, which need many rows, and without.
    pub space_of_products: usize,
    pub space: usize,
    /// Shorter pieces of an array, in bytes, are gathered too slowly.
    pub piece: usize,
}

impl Terms {
    /// Of a machine of two cores as `tpuc calibrate` measures it.
    pub const OF_CPU: Terms = Terms {
        large: 16 << 20,
        much: 64 << 20,
        kernel: 500.0,
        product: 10_000.0,
        margin: 4.0,
        space_of_products: 4 << 20,
        space: 1 << 19,
        piece: 256,
    };

    /// Under which everything goes row by row that can.
    pub const ROW_BY_ROW: Terms = Terms {
        large: 1,
        much: usize::MAX,
        kernel: 0.0,
        product: 0.0,
        margin: 0.0,
        space_of_products: 1,
        space: 1,
        piece: 1,
    };
}

/// From so many flops a byte on, an instruction does not wait for the memory.
const BALANCE: u64 = 4;
const BYTES_PER_NS: f64 = 18.0;
const FLOPS_PER_NS: f64 = 74.0;

impl<'r> Block<'r> {
    pub fn of<'t>(
        insts: Vec<&'r Inst>,
        stages: &Stages<'r>,
        rows: &Rows,
        ty: &impl Fn(Value) -> &'t Type,
        terms: Terms,
    ) -> Block<'r> {
        let mut readers: HashMap<Value, Vec<&Inst>> = HashMap::new();
        let mut makers: HashMap<Value, &Inst> = HashMap::new();
        for &inst in &insts {
            let read: HashSet<Value> = inst.args.iter().copied().collect();
            read.into_iter()
                .for_each(|v| readers.entry(v).or_default().push(inst));
            makers.extend(inst.results.iter().map(|&v| (v, inst)));
        }
        let is_input = |v: &Value| {
            rows.axis(*v).is_some() && !makers.contains_key(v) && !stages.starts.contains_key(v)
        };
        let mut inputs: Vec<Value> = readers.keys().copied().filter(is_input).collect();
        inputs.sort();
        let starts = readers.keys().filter_map(|v| stages.starts.get(v));
        let mut starts: Vec<(usize, &Inst)> = starts.copied().collect();
        starts.sort_by_key(|(place, _)| *place);

        let read_elsewhere = |v: &Value| {
            let within = readers.get(v).map_or(0, Vec::len);
            stages.reads.get(v).is_some_and(|&all| all > within)
        };
        let results = insts.iter().flat_map(|i| &i.results).copied();
        let (with_rows, sums): (Vec<Value>, Vec<Value>) =
            results.partition(|&v| rows.axis(v).is_some());
        let (outputs, within): (Vec<Value>, Vec<Value>) =
            with_rows.into_iter().partition(read_elsewhere);
        let whole = insts.iter().filter(|i| !is_fused(&i.op));
        let stored: HashSet<Value> = whole
            .flat_map(|i| i.args.iter().chain(&i.results))
            .copied()
            .collect();
        let mut block = Block {
            insts,
            starts: starts.into_iter().map(|(_, inst)| inst).collect(),
            inputs,
            outputs,
            sums,
            kept: within.into_iter().filter(|v| stored.contains(v)).collect(),
            readers,
            makers,
            rows: 0,
        };
        block.rows = block.size(rows, ty, terms);
        block
    }

    /// Whether it is quicker by clearly more than the loop costs, or takes much less memory at next to no cost.
    pub fn pays<'t>(&self, rows: &Rows, ty: &impl Fn(Value) -> &'t Type, terms: Terms) -> bool {
        let blocks = rows.count.div_ceil(self.rows) as f64;
        let work = |inst: &&Inst| work(inst, ty);
        let products = self.insts.iter().filter(|i| is_busy(i, ty)).count() as f64;
        let sums: usize = self.sums.iter().map(|&v| 2 * ty(v).bytes()).sum();
        let turn = terms.kernel * self.insts.len() as f64 + terms.product * products;
        let lost = blocks * (turn + sums as f64 / BYTES_PER_NS);

        let saved: usize = self.kept.iter().map(|&v| self.moved(v, ty)).sum::<usize>()
            + self
                .inputs
                .iter()
                .map(|&v| self.read_again(v, ty))
                .sum::<usize>();
        let kept: usize = self.kept.iter().map(|&v| ty(v).bytes()).sum();
        let flops: u64 = self.insts.iter().map(|i| work(i).flops).sum();
        let quicker = saved >= terms.large && saved as f64 / BYTES_PER_NS >= terms.margin * lost;
        let smaller = kept >= terms.much && lost <= 0.02 * flops as f64 / FLOPS_PER_NS;
        let first = |v: &Value| rows.axis(*v) == Some(0);
        let in_one_piece = |v: &Value| first(v) || self.piece(*v, rows, ty) >= terms.piece;
        blocks > 1.0
            && (quicker || smaller)
            && self.outputs.iter().all(first)
            && self.inputs.iter().all(in_one_piece)
    }

    /// The bytes of a block of an input that lie side by side.
    fn piece<'t>(&self, v: Value, rows: &Rows, ty: &impl Fn(Value) -> &'t Type) -> usize {
        let after = rows.axis(v).map_or(0, |axis| axis + 1);
        let within: usize = ty(v).shape[after..].iter().product();
        self.rows * within * ty(v).elem.bytes()
    }

    /// The bytes of a kept value that something waits for, when it is written and read in memory.
    fn moved<'t>(&self, v: Value, ty: &impl Fn(Value) -> &'t Type) -> usize {
        let waits = self.makers.get(&v).is_some_and(|i| !is_busy(i, ty));
        (usize::from(waits) + self.readers(v, ty)) * ty(v).bytes()
    }

    /// The bytes of an input that are read more than once.
    fn read_again<'t>(&self, v: Value, ty: &impl Fn(Value) -> &'t Type) -> usize {
        self.readers(v, ty).saturating_sub(1) * ty(v).bytes()
    }

    /// The kernels that read a value and wait for it; elementwise ones are one.
    fn readers<'t>(&self, v: Value, ty: &impl Fn(Value) -> &'t Type) -> usize {
        let readers = || self.readers.get(&v).into_iter().flatten();
        let waits = readers().filter(|i| matches!(i.op, Op::Dot(_)) && !is_busy(i, ty));
        let fused = readers().any(|i| is_fused(&i.op) && !matches!(i.op, Op::Reduce { .. }));
        waits.count() + usize::from(fused)
    }

    /// The rows of a block: as many as fit, and where that is no great loss a divisor of all.
    fn size<'t>(&self, rows: &Rows, ty: &impl Fn(Value) -> &'t Type, terms: Terms) -> usize {
        let again = self.inputs.iter().filter(|&&v| self.read_again(v, ty) > 0);
        let bytes: usize = again.chain(&self.kept).map(|&v| ty(v).bytes()).sum();
        let space = match self.insts.iter().any(|i| is_busy(i, ty)) {
            true => terms.space_of_products,
            false => terms.space,
        };
        let most = (space / (bytes / rows.count).max(1)).clamp(1, rows.count);
        let mut fewer = (most.div_ceil(2)..=most).rev();
        let divisor = fewer.find(|&t| rows.count.is_multiple_of(t));
        divisor.unwrap_or(most)
    }
}

fn work<'t>(inst: &Inst, ty: &impl Fn(Value) -> &'t Type) -> Work {
    let types = |values: &[Value]| values.iter().map(|&v| ty(v).clone()).collect::<Vec<_>>();
    op_work(&inst.op, &types(&inst.args), &types(&inst.results))
}

/// Whether it is a product that does not wait for the memory.
fn is_busy<'t>(inst: &Inst, ty: &impl Fn(Value) -> &'t Type) -> bool {
    let work = || work(inst, ty);
    matches!(inst.op, Op::Dot(_)) && work().flops > BALANCE * work().bytes
}

/// Whether it becomes part of the kernel that reads it.
pub fn is_fused(op: &Op) -> bool {
    matches!(
        op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Select
            | Op::Clamp
            | Op::Convert(_)
            | Op::Bitcast(_)
            | Op::Threefry
            | Op::Broadcast { .. }
            | Op::Reshape { .. }
            | Op::Slice { .. }
            | Op::Pad { .. }
            | Op::Reduce { .. }
    )
}
