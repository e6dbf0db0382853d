//! A part of a program that could go block by block: what it reads and gives out, and whether it pays.

use super::rows::Rows;
use super::stages::Stages;
use crate::ir::flops::own_work;
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
    /// In a block.
    pub rows: usize,
}

/// What decides whether blocks pay, and how large they are.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Memory that is worth having, in bytes.
    pub much: usize,
    /// What the loop costs for each kernel of a block, and for each large product beyond that and beyond packing what has no
    /// rows, in ns.
    pub kernel: f64,
    pub product: f64,
    /// What the loop may cost, as a part of the time of the products.
    pub share: f64,
    /// Bytes of what has to stay in the caches: with products of matrices, which need many rows, and without.
    pub space_of_products: usize,
    pub space: usize,
    /// Shorter pieces of an array, in bytes, are gathered too slowly.
    pub piece: usize,
}

impl Terms {
    /// Of a machine of two cores as `tpuc calibrate` measures it.
    pub const OF_CPU: Terms = Terms {
        much: 16 << 20,
        kernel: 500.0,
        product: 2_000.0,
        share: 0.02,
        space_of_products: 4 << 20,
        space: 1 << 19,
        piece: 256,
    };

    /// Under which everything goes row by row that can.
    pub const ROW_BY_ROW: Terms = Terms {
        much: 1,
        kernel: 0.0,
        product: 0.0,
        share: f64::INFINITY,
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
        let mut reads: HashMap<Value, usize> = HashMap::new();
        let mut made: HashSet<Value> = HashSet::new();
        for &inst in &insts {
            let read: HashSet<Value> = inst.args.iter().copied().collect();
            read.into_iter()
                .for_each(|v| *reads.entry(v).or_default() += 1);
            made.extend(&inst.results);
        }
        let is_input = |v: &Value| {
            rows.axis(*v).is_some() && !made.contains(v) && !stages.starts.contains_key(v)
        };
        let mut inputs: Vec<Value> = reads.keys().copied().filter(is_input).collect();
        inputs.sort();
        let starts = reads.keys().filter_map(|v| stages.starts.get(v));
        let mut starts: Vec<(usize, &Inst)> = starts.copied().collect();
        starts.sort_by_key(|(place, _)| *place);

        let read_elsewhere = |v: &Value| {
            let within = reads.get(v).copied().unwrap_or(0);
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
            rows: 0,
        };
        block.rows = block.size(rows, ty, terms);
        block
    }

    /// Whether it takes much less memory at next to no cost.
    pub fn pays<'t>(&self, rows: &Rows, ty: &impl Fn(Value) -> &'t Type, terms: Terms) -> bool {
        let kept: usize = self.kept.iter().map(|&v| ty(v).bytes()).sum();
        let blocks = rows.count.div_ceil(self.rows) as f64;
        let products: Vec<&&Inst> = self.insts.iter().filter(|i| is_busy(i, ty)).collect();
        // A product packs what has no rows again for each block.
        let operands = products.iter().flat_map(|i| &i.args);
        let whole = operands.filter(|&&v| rows.axis(v).is_none());
        let packed: usize = whole.map(|&v| ty(v).bytes()).sum();
        let sums: usize = self.sums.iter().map(|&v| 2 * ty(v).bytes()).sum();
        let turn = terms.kernel * self.insts.len() as f64 + terms.product * products.len() as f64;
        let lost = blocks * (turn + (packed + sums) as f64 / BYTES_PER_NS);
        let flops: u64 = self.insts.iter().map(|i| own_work(i, ty).flops).sum();
        let first = |v: &Value| rows.axis(*v) == Some(0);
        let in_one_piece = |v: &Value| first(v) || self.piece(*v, rows, ty) >= terms.piece;
        kept >= terms.much
            && blocks > 1.0
            && lost <= terms.share * flops as f64 / FLOPS_PER_NS
            && self.outputs.iter().all(first)
            && self.inputs.iter().all(in_one_piece)
    }

    /// The bytes of a block of an input that lie side by side.
    fn piece<'t>(&self, v: Value, rows: &Rows, ty: &impl Fn(Value) -> &'t Type) -> usize {
        let after = rows.axis(v).map_or(0, |axis| axis + 1);
        let within: usize = ty(v).shape[after..].iter().product();
        self.rows * within * ty(v).elem.bytes()
    }

    /// The rows of a block: as many as fit, and where that is no great loss a divisor of all.
    fn size<'t>(&self, rows: &Rows, ty: &impl Fn(Value) -> &'t Type, terms: Terms) -> usize {
        let bytes: usize = self.kept.iter().map(|&v| ty(v).bytes()).sum();
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

/// Whether it is a product that does not wait for the memory.
fn is_busy<'t>(inst: &Inst, ty: &impl Fn(Value) -> &'t Type) -> bool {
    let work = || own_work(inst, ty);
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
