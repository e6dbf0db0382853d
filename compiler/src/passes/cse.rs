//! Computes equal things once: an instruction that applies the same primitive to the same values as one that can be seen from it
//! becomes its results. Regions are compared up to the numbering of their values; where instructions came
//! from does not count. So constants too are kept once, and a sort has no two operands that are the same.
//!
//! ```text
//! %1 = constant 2.0 : f32
//! %2 = mul %0, %1 : f32             %1 = constant 2.0 : f32
//! %3 = constant 2.0 : f32      →    %2 = mul %0, %1 : f32
//! %4 = mul %0, %3 : f32             %5 = add %2, %2 : f32
//! %5 = add %2, %4 : f32             return %5
//! return %5
//! ```
//!
//! Effects stay, and so do barriers, which exist to keep equal things apart.

use super::copy::{Copier, Rewrite, has_effect, rewrite};
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::{HostSource, Op};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

pub fn run(func: &Func) -> Func {
    rewrite(
        func,
        &mut Cse {
            scopes: vec![Scope::default()],
        },
    )
}

struct Cse {
    /// The regions around the current place, the innermost last.
    scopes: Vec<Scope>,
}

#[derive(Default)]
struct Scope {
    /// Results by instruction.
    seen: HashMap<Key, Vec<Value>>,
    /// Whether nothing around it may be used.
    closed: bool,
}

/// An instruction without results, its regions canonical, with its hash: it is looked for in every scope, and may be large.
#[derive(PartialEq, Eq)]
struct Key {
    hash: u64,
    inst: Inst,
}

impl Key {
    fn new(inst: Inst) -> Key {
        let mut hasher = DefaultHasher::new();
        inst.hash(&mut hasher);
        Key {
            hash: hasher.finish(),
            inst,
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl Rewrite for Cse {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        if let Some((once, places)) = each_once(inst, &c.values(&inst.args)) {
            self.inst(c, &once);
            for (&old, place) in inst.results.iter().zip(places) {
                c.set(old, c.value(once.results[place]));
            }
            return;
        }
        let regions = c.regions(self, inst);
        if !may_merge(inst) {
            c.emit(inst, inst.op.clone(), regions);
            return;
        }
        let key = Key::new(Inst {
            op: inst.op.clone(),
            args: c.values(&inst.args),
            regions: regions.iter().map(canonical).collect(),
            results: Vec::new(),
        });
        if let Some(results) = self.find(&key) {
            c.set_all(&inst.results, &results);
            return;
        }
        c.emit(inst, inst.op.clone(), regions);
        let results = c.values(&inst.results);
        if let Some(scope) = self.scopes.last_mut() {
            scope.seen.insert(key, results);
        }
    }

    fn enter(&mut self, holder: &Op) {
        self.scopes.push(Scope {
            closed: matches!(holder, Op::CustomVjp | Op::Remat),
            ..Scope::default()
        });
    }

    fn leave(&mut self) {
        self.scopes.pop();
    }
}

impl Cse {
    fn find(&self, key: &Key) -> Option<Vec<Value>> {
        for scope in self.scopes.iter().rev() {
            if let Some(results) = scope.seen.get(key) {
                return Some(results.clone());
            }
            if scope.closed {
                break;
            }
        }
        None
    }
}

/// A sort without the operands that have become equal to one before them, and where it gives what each stands for: the
/// derivative of what sorts positions along sorts them along too.
fn each_once(inst: &Inst, args: &[Value]) -> Option<(Inst, Vec<usize>)> {
    let mut op = inst.op.clone();
    let Op::Sort { keys, .. } = &mut op else {
        return None;
    };
    let first = |v: &Value| args.iter().position(|a| a == v);
    let firsts: Vec<usize> = args.iter().filter_map(first).collect();
    let kept: Vec<usize> = (0..args.len()).filter(|&i| firsts[i] == i).collect();
    *keys = kept.iter().filter(|i| **i < *keys).count();
    let pick = |values: &[Value]| kept.iter().map(|&i| values[i]).collect();
    let once = Inst {
        op,
        args: pick(&inst.args),
        regions: Vec::new(),
        results: pick(&inst.results),
    };
    let places = firsts
        .iter()
        .filter_map(|i| kept.iter().position(|k| k == i));
    (kept.len() < args.len()).then(|| (once, places.collect()))
}

fn may_merge(inst: &Inst) -> bool {
    match &inst.op {
        Op::Barrier => false,
        // Data that does not change while the program runs.
        Op::Host(source) => !matches!(source, HostSource::Time),
        _ => !has_effect(inst),
    }
}

/// A region whose own values are numbered by their order of definition, counted down from the largest number so
/// that they do not meet those from outside.
fn canonical(region: &Region) -> Region {
    let mut names = HashMap::new();
    renumber(region, &mut names)
}

fn renumber(region: &Region, names: &mut HashMap<Value, Value>) -> Region {
    let params = define(&region.params, names);
    let insts = region
        .insts
        .iter()
        .map(|inst| Inst {
            op: inst.op.clone(),
            args: rename(&inst.args, names),
            regions: inst.regions.iter().map(|r| renumber(r, names)).collect(),
            results: define(&inst.results, names),
        })
        .collect();
    Region {
        params,
        insts,
        results: rename(&region.results, names),
    }
}

fn define(values: &[Value], names: &mut HashMap<Value, Value>) -> Vec<Value> {
    let number = |&v: &Value| {
        let name = Value(u32::MAX - names.len() as u32);
        names.insert(v, name);
        name
    };
    values.iter().map(number).collect()
}

fn rename(values: &[Value], names: &HashMap<Value, Value>) -> Vec<Value> {
    values
        .iter()
        .map(|v| names.get(v).copied().unwrap_or(*v))
        .collect()
}
