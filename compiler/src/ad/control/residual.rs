//! Residuals: what the backward pass needs of a region's values, and the cheapest way to have it.
//!
//! A value of a loop's body is kept as a stack over all iterations only if it is neither loop-invariant, nor a slice
//! of an array that is there anyway, nor cheaply made again from what is.

use crate::ad::emit::Emit;
use crate::ir::{Inst, Op, Region, UnaryOp, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Most instructions run again for the sake of one residual.
const REPLAY_LIMIT: usize = 12;

/// How each needed value is had when the region is over.
pub struct Plan {
    /// Values to hand out of the region.
    pub keep: Vec<Value>,
    /// Values that do not depend on the iteration: (value, instructions that make it outside, in order).
    pub invariant: Vec<Value>,
    /// Instructions, in order, that make the others from those kept.
    pub replay: Vec<Inst>,
}

/// A closed region seen from its end.
pub struct Scope<'r> {
    region: &'r Region,
    /// Values below this number were there before the region.
    mark: u32,
    /// Values that the backward pass has again at no cost: the position, slices of arrays, what is given out anyway.
    free: &'r HashSet<Value>,
    defs: HashMap<Value, usize>,
    /// Values made from outside values alone, by instructions without regions.
    invariant: HashSet<Value>,
}

impl<'r> Scope<'r> {
    pub fn new(region: &'r Region, mark: u32, free: &'r HashSet<Value>) -> Self {
        let mut defs = HashMap::new();
        let mut invariant = HashSet::new();
        for (i, inst) in region.insts.iter().enumerate() {
            defs.extend(inst.results.iter().map(|&v| (v, i)));
            let stays = |v: &Value| v.0 < mark || invariant.contains(v);
            if inst.regions.is_empty() && inst.args.iter().all(stays) {
                invariant.extend(&inst.results);
            }
        }
        Scope {
            region,
            mark,
            free,
            defs,
            invariant,
        }
    }

    pub fn is_outside(&self, v: Value) -> bool {
        v.0 < self.mark
    }

    /// Decides for every value in `needed`. With `hoist`, invariant values may be computed before the region.
    pub fn plan(&self, e: &Emit, needed: &[Value], hoist: bool) -> Plan {
        let mut wanted: Vec<Value> = needed
            .iter()
            .copied()
            .filter(|&v| !self.is_outside(v))
            .collect();
        wanted.sort();
        wanted.dedup();

        let mut invariant = Vec::new();
        let mut keep: BTreeSet<Value> = BTreeSet::new();
        let mut given: HashSet<Value> = HashSet::new();
        for &v in &wanted {
            if self.derivable(v, &given) {
                continue;
            }
            if hoist && self.invariant.contains(&v) {
                invariant.push(v);
                given.insert(v);
            } else {
                let v = self.narrowest(e, v);
                keep.insert(v);
                given.insert(v);
            }
        }
        // One kept value may follow from others kept after it was decided.
        for v in keep.clone() {
            given.remove(&v);
            if self.derivable(v, &given) {
                keep.remove(&v);
            } else {
                given.insert(v);
            }
        }

        let mut again = BTreeSet::new();
        for &v in &wanted {
            self.collect(v, &given, &mut again);
        }
        Plan {
            keep: keep.into_iter().collect(),
            invariant,
            replay: again
                .into_iter()
                .map(|i| self.region.insts[i].clone())
                .collect(),
        }
    }

    /// Whether a few cheap instructions make `v` from `given` and from what is there anyway.
    fn derivable(&self, v: Value, given: &HashSet<Value>) -> bool {
        let mut again = HashSet::new();
        self.derive(v, given, &mut again)
    }

    fn derive(&self, v: Value, given: &HashSet<Value>, again: &mut HashSet<usize>) -> bool {
        if self.is_leaf(v, given) {
            return true;
        }
        let Some(&i) = self.defs.get(&v) else {
            return false;
        };
        if again.contains(&i) {
            return true;
        }
        let inst = &self.region.insts[i];
        if !is_cheap(&inst.op) || again.len() >= REPLAY_LIMIT {
            return false;
        }
        again.insert(i);
        inst.args.iter().all(|&a| self.derive(a, given, again))
    }

    fn is_leaf(&self, v: Value, given: &HashSet<Value>) -> bool {
        self.is_outside(v) || self.free.contains(&v) || given.contains(&v)
    }

    /// The instructions that make `v`, as [`Scope::derive`] has found them.
    fn collect(&self, v: Value, given: &HashSet<Value>, again: &mut BTreeSet<usize>) {
        if self.is_leaf(v, given) {
            return;
        }
        if let Some(&i) = self.defs.get(&v)
            && again.insert(i)
        {
            for &a in &self.region.insts[i].args {
                self.collect(a, given, again);
            }
        }
    }

    /// The value that `v` only widens: its one varying operand, as long as that takes fewer bytes.
    fn narrowest(&self, e: &Emit, v: Value) -> Value {
        let Some(&i) = self.defs.get(&v) else {
            return v;
        };
        let inst = &self.region.insts[i];
        match (&inst.op, &inst.args[..]) {
            (Op::Broadcast { .. } | Op::Convert(_) | Op::Reshape { .. }, &[x])
                if e.ty(x).bytes() <= e.ty(v).bytes() =>
            {
                self.narrowest(e, x)
            }
            _ => v,
        }
    }

    /// Emits the instructions of invariant values where the builder stands; what stands for each of them there.
    pub fn emit_invariant(&self, e: &mut Emit, values: &[Value]) -> Vec<(Value, Value)> {
        let mut needed: HashSet<Value> = values.iter().copied().collect();
        let mut chosen = Vec::new();
        for inst in self.region.insts.iter().rev() {
            if inst.results.iter().any(|v| needed.contains(v)) {
                needed.extend(&inst.args);
                chosen.push(inst);
            }
        }
        let mut made: HashMap<Value, Value> = HashMap::new();
        for inst in chosen.into_iter().rev() {
            let args = inst
                .args
                .iter()
                .map(|v| made.get(v).copied().unwrap_or(*v))
                .collect();
            let results = e.push(inst.op.clone(), args, Vec::new());
            made.extend(inst.results.iter().copied().zip(results));
        }
        values.iter().map(|v| (*v, made[v])).collect()
    }
}

/// Cheaper to run again than to store and read back.
fn is_cheap(op: &Op) -> bool {
    match op {
        Op::Constant(_)
        | Op::Iota { .. }
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Bitcast(_)
        | Op::Broadcast { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. }
        | Op::StopGradient => true,
        Op::Binary(op) => !matches!(
            op,
            crate::ir::BinaryOp::Pow | crate::ir::BinaryOp::Atan2 | crate::ir::BinaryOp::Rem
        ),
        Op::Unary(op) => matches!(
            op,
            UnaryOp::Neg
                | UnaryOp::Not
                | UnaryOp::Abs
                | UnaryOp::Sign
                | UnaryOp::Floor
                | UnaryOp::Ceil
                | UnaryOp::Round
                | UnaryOp::IsFinite
        ),
        // A slice at a run-time place costs no more than reading a stack.
        Op::DynamicSlice { .. } => true,
        Op::Threefry
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::DynamicUpdateSlice
        | Op::Gather(_)
        | Op::Scatter { .. }
        | Op::Reduce { .. }
        | Op::ArgReduce { .. }
        | Op::Cumulate { .. }
        | Op::ReduceWindow { .. }
        | Op::WindowGather { .. }
        | Op::WindowScatter { .. }
        | Op::Dot(_)
        | Op::Conv(_)
        | Op::Cholesky
        | Op::TriangularSolve { .. }
        | Op::Sort { .. }
        | Op::Scan { .. }
        | Op::While
        | Op::If
        | Op::CustomVjp
        | Op::Remat
        | Op::Barrier
        | Op::Shard { .. }
        | Op::Host(_)
        | Op::Effect(..) => false,
    }
}
