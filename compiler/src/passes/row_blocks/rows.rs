//! Which values of a region have a row for each row of the same thing: axes that instructions keep are one class.

use super::axes::{Fate, fate, starts_rows};
use crate::ir::func::{Inst, Region, Value};
use crate::ir::op::Op;
use crate::ir::types::Type;
use std::collections::{BTreeMap, HashMap, HashSet};

/// An axis of a value.
type Axis = (Value, usize);

/// For each value that has rows of one class, the axis along which they lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub count: usize,
    axes: HashMap<Value, usize>,
}

/// What an instruction does with the rows of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It has nothing to do with them.
    Apart,
    /// Each row of its results comes from the same rows of its operands.
    RowByRow,
    /// Its results are sums over the rows.
    Sums,
    /// It makes rows of what has none, all alike.
    Starts,
    /// It needs all rows at a time.
    Whole,
}

impl Rows {
    /// The classes of a region that hold one of `seeds`, the ones with the most bytes first; not those of which a
    /// value has two axes.
    pub fn classes<'t>(
        region: &Region,
        ty: &impl Fn(Value) -> &'t Type,
        seeds: &[Value],
    ) -> Vec<Rows> {
        let mut sets = Sets::default();
        for inst in &region.insts {
            link(inst, ty, &mut sets);
        }
        let mut wanted: BTreeMap<usize, HashSet<Value>> = BTreeMap::new();
        for &v in seeds {
            for axis in 0..ty(v).rank() {
                if ty(v).shape[axis] > 1 {
                    wanted.entry(sets.root((v, axis))).or_default().insert(v);
                }
            }
        }
        let mut found: Vec<(usize, Rows)> = Vec::new();
        let members = sets.members();
        for (root, seeds) in wanted {
            let axes: HashMap<Value, usize> = members[&root].iter().copied().collect();
            let (v, axis) = members[&root][0];
            if axes.len() == members[&root].len() {
                let bytes = seeds.iter().map(|&v| ty(v).bytes()).sum();
                let count = ty(v).shape[axis];
                found.push((bytes, Rows { count, axes }));
            }
        }
        // Stable: of classes alike, the one that the program names first.
        found.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        found.into_iter().map(|(_, rows)| rows).collect()
    }

    /// Along which axis the rows of `v` lie.
    pub fn axis(&self, v: Value) -> Option<usize> {
        self.axes.get(&v).copied()
    }

    pub fn role<'t>(&self, inst: &Inst, ty: &impl Fn(Value) -> &'t Type) -> Role {
        let results = || inst.results.iter().filter_map(|&v| self.axis(v));
        let operands = inst.args.iter().enumerate();
        let with_rows: Vec<(usize, usize)> = operands
            .filter_map(|(i, &v)| Some((i, self.axis(v)?)))
            .collect();
        if with_rows.is_empty() && results().next().is_none() {
            return Role::Apart;
        }
        if !inst.regions.is_empty() || inst.results.is_empty() {
            return Role::Whole;
        }
        let types: Vec<&Type> = inst.args.iter().map(|&v| ty(v)).collect();
        let result = ty(inst.results[0]);
        let fates = with_rows
            .iter()
            .map(|&(i, axis)| fate(&inst.op, &types, result, i, axis));
        let fates: Vec<Fate> = fates.collect();
        let to = self.axis(inst.results[0]);
        match (fates.first(), to) {
            (None, Some(axis)) if starts_rows(&inst.op, axis) => Role::Starts,
            (Some(Fate::Kept(_)), Some(axis)) if fates.iter().all(|&f| f == Fate::Kept(axis)) => {
                Role::RowByRow
            }
            // Both factors of a sum of products have the rows.
            (Some(Fate::Summed), None) if fates.iter().all(|&f| f == Fate::Summed) => {
                match inst.op {
                    Op::Dot(_) if fates.len() < 2 => Role::Whole,
                    _ => Role::Sums,
                }
            }
            _ => Role::Whole,
        }
    }
}

fn link<'t>(inst: &Inst, ty: &impl Fn(Value) -> &'t Type, sets: &mut Sets) {
    let Some(&first) = inst.results.first() else {
        return;
    };
    if !inst.regions.is_empty() {
        return;
    }
    let types: Vec<&Type> = inst.args.iter().map(|&v| ty(v)).collect();
    for (i, &arg) in inst.args.iter().enumerate() {
        for axis in 0..types[i].rank() {
            if types[i].shape[axis] < 2 {
                continue;
            }
            if let Fate::Kept(to) = fate(&inst.op, &types, ty(first), i, axis) {
                for &result in &inst.results {
                    sets.union((arg, axis), (result, to));
                }
            }
        }
    }
    if let Op::Dot(dims) = &inst.op {
        for (&l, &r) in dims.lhs_contract.iter().zip(&dims.rhs_contract) {
            sets.union((inst.args[0], l), (inst.args[1], r));
        }
    }
}

/// Disjoint sets of axes.
#[derive(Default)]
struct Sets {
    numbers: HashMap<Axis, usize>,
    axes: Vec<Axis>,
    parents: Vec<usize>,
}

impl Sets {
    fn number(&mut self, axis: Axis) -> usize {
        let next = self.axes.len();
        let number = *self.numbers.entry(axis).or_insert(next);
        if number == next {
            self.axes.push(axis);
            self.parents.push(next);
        }
        number
    }

    fn root(&mut self, axis: Axis) -> usize {
        let number = self.number(axis);
        self.find(number)
    }

    fn find(&mut self, mut i: usize) -> usize {
        while self.parents[i] != i {
            self.parents[i] = self.parents[self.parents[i]];
            i = self.parents[i];
        }
        i
    }

    fn union(&mut self, a: Axis, b: Axis) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }

    fn members(&mut self) -> HashMap<usize, Vec<Axis>> {
        let mut members: HashMap<usize, Vec<Axis>> = HashMap::new();
        for i in 0..self.axes.len() {
            let root = self.find(i);
            members.entry(root).or_default().push(self.axes[i]);
        }
        members
    }
}
