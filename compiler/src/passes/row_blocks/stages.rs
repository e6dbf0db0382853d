//! A region in stages: in each, first what does not go row by row, then what does and could go block by block.

use super::block::is_fused;
use super::rows::{Role, Rows};
use crate::ir::func::{Inst, Region, Value};
use crate::ir::types::Type;
use std::collections::{HashMap, HashSet};

/// Instructions that need all rows of what an earlier stage makes, or sums over them, are of a later stage.
#[derive(Default)]
pub struct Stage<'r> {
    pub outside: Vec<&'r Inst>,
    pub inside: Vec<&'r Inst>,
}

pub struct Stages<'r> {
    pub stages: Vec<Stage<'r>>,
    /// What makes rows that are all alike, by its result, and its place in the region.
    pub starts: HashMap<Value, (usize, &'r Inst)>,
    /// How many instructions read a value; the results of the region count as one.
    pub reads: HashMap<Value, usize>,
}

impl<'r> Stage<'r> {
    /// What is inside in parts that have nothing to say to each other.
    pub fn parts(&self) -> Vec<Vec<&'r Inst>> {
        let mut part_of: HashMap<Value, usize> = HashMap::new();
        let mut parts: Vec<Vec<&Inst>> = Vec::new();
        for &inst in &self.inside {
            let mut joined: Vec<usize> = inst
                .args
                .iter()
                .filter_map(|v| part_of.get(v))
                .copied()
                .collect();
            joined.sort_unstable();
            joined.dedup();
            let into = joined.first().copied().unwrap_or(parts.len());
            if into == parts.len() {
                parts.push(Vec::new());
            }
            for &from in joined.iter().skip(1) {
                let moved = std::mem::take(&mut parts[from]);
                part_of.extend(moved.iter().flat_map(|i| &i.results).map(|&v| (v, into)));
                parts[into].extend(moved);
            }
            parts[into].push(inst);
            part_of.extend(inst.results.iter().map(|&v| (v, into)));
        }
        parts.retain(|part| !part.is_empty());
        // Joined parts come in the order of the region again.
        let place: HashMap<*const Inst, usize> = self
            .inside
            .iter()
            .enumerate()
            .map(|(i, &inst)| (std::ptr::from_ref(inst), i))
            .collect();
        for part in &mut parts {
            part.sort_by_key(|&inst| place[&std::ptr::from_ref(inst)]);
        }
        parts
    }
}

impl<'r> Stages<'r> {
    pub fn of<'t>(region: &'r Region, rows: &Rows, ty: &impl Fn(Value) -> &'t Type) -> Self {
        let roles: Vec<Role> = region.insts.iter().map(|i| rows.role(i, ty)).collect();
        let mut at = earliest(region, &roles);
        postpone(region, &roles, &mut at);
        let mut stages: Vec<Stage> = Vec::new();
        let mut starts = HashMap::new();
        let mut reads: HashMap<Value, usize> = HashMap::new();
        let results: HashSet<Value> = region.results.iter().copied().collect();
        reads.extend(results.into_iter().map(|v| (v, 1)));
        for (i, inst) in region.insts.iter().enumerate() {
            let (role, at) = (roles[i], at[i]);
            let read: HashSet<Value> = inst.uses().into_iter().collect();
            read.into_iter()
                .for_each(|v| *reads.entry(v).or_default() += 1);
            if stages.len() <= at {
                stages.resize_with(at + 1, Stage::default);
            }
            match is_inside(role) {
                true => stages[at].inside.push(inst),
                false => stages[at].outside.push(inst),
            }
            if role == Role::Starts {
                starts.extend(inst.results.iter().map(|&v| (v, (i, inst))));
            }
        }
        Stages {
            stages,
            starts,
            reads,
        }
    }
}

fn is_inside(role: Role) -> bool {
    matches!(role, Role::RowByRow | Role::Sums)
}

/// The first stage in which each instruction has what it needs.
fn earliest(region: &Region, roles: &[Role]) -> Vec<usize> {
    let mut ready: HashMap<Value, usize> = HashMap::new();
    let mut made_by_row: HashSet<Value> = HashSet::new();
    let insts = region.insts.iter().zip(roles);
    let stage_of = |(inst, &role): (&Inst, &Role)| {
        let there = |v: Value| {
            let whole = !is_inside(role) && made_by_row.contains(&v);
            ready.get(&v).copied().unwrap_or(0) + usize::from(whole)
        };
        let at = inst.uses().into_iter().map(there).max().unwrap_or(0);
        let after = at + usize::from(role == Role::Sums);
        ready.extend(inst.results.iter().map(|&v| (v, after)));
        if role == Role::RowByRow {
            made_by_row.extend(&inst.results);
        }
        at
    };
    insts.map(stage_of).collect()
}

/// What is made on the way into a kernel is made in the stage that needs it first, and not kept for it.
fn postpone(region: &Region, roles: &[Role], at: &mut [usize]) {
    let mut latest: HashMap<Value, usize> = region.results.iter().map(|&v| (v, 0)).collect();
    for (i, inst) in region.insts.iter().enumerate().rev() {
        if roles[i] == Role::RowByRow && is_fused(&inst.op) {
            let wanted = inst.results.iter().filter_map(|v| latest.get(v));
            at[i] = wanted.min().map_or(at[i], |&stage| stage.max(at[i]));
        }
        let by = if is_inside(roles[i]) {
            at[i]
        } else {
            at[i].saturating_sub(1)
        };
        for v in inst.uses() {
            let stage = latest.entry(v).or_insert(by);
            *stage = by.min(*stage);
        }
    }
}
