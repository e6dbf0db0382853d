//! Which values of two functions stand for each other: from the inputs down, equal primitives on matched operands; from
//! the results up, primitives of one name for matched values; again until nothing is found.

use crate::ir::op::Op;
use crate::ir::{Func, Inst, Region, Value};
use crate::opt::graph::Kind;
use std::collections::HashMap;

/// Values of the old function and those of the new one that they are matched with.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    to_new: HashMap<Value, Value>,
    to_old: HashMap<Value, Value>,
}

impl Pairs {
    pub fn new_of(&self, old: Value) -> Option<Value> {
        self.to_new.get(&old).copied()
    }

    pub fn old_of(&self, new: Value) -> Option<Value> {
        self.to_old.get(&new).copied()
    }

    fn add(&mut self, old: &[Value], new: &[Value]) {
        for (&a, &b) in old.iter().zip(new) {
            self.to_new.insert(a, b);
            self.to_old.insert(b, a);
        }
    }

    /// Operands in terms of the new function; those of commutative primitives in any order.
    fn operands(&self, op: &Op, args: &[Value]) -> Option<Vec<Value>> {
        let args: Option<Vec<Value>> = args.iter().map(|&v| self.new_of(v)).collect();
        args.map(|args| sorted(op, args))
    }

    /// Whether two instructions are the same but for their regions.
    pub fn alike(&self, old: &Inst, new: &Inst) -> bool {
        old.op == new.op
            && self.operands(&old.op, &old.args) == Some(sorted(&new.op, new.args.clone()))
    }
}

fn sorted(op: &Op, mut args: Vec<Value>) -> Vec<Value> {
    if Kind::of(op).commutes() {
        args.sort_unstable();
    }
    args
}

pub fn pairs(old: &Func, new: &Func) -> Pairs {
    let mut matcher = Matcher {
        old,
        new,
        pairs: Pairs::default(),
    };
    matcher.region(&old.body, &new.body);
    matcher.pairs
}

struct Matcher<'a> {
    old: &'a Func,
    new: &'a Func,
    pairs: Pairs,
}

impl Matcher<'_> {
    /// Matches what stands in two regions; whether anything was found.
    fn region(&mut self, old: &Region, new: &Region) -> bool {
        self.params(old, new);
        let mut any = false;
        loop {
            let mut found = self.down(old, new);
            found |= self.up(old, new);
            found |= self.inside(old, new);
            if !found {
                return any;
            }
            any = true;
        }
    }

    /// Regions of matched instructions again: more of what they capture may be matched by now.
    fn inside(&mut self, old: &Region, new: &Region) -> bool {
        let of_new: HashMap<Value, &Inst> = new
            .insts
            .iter()
            .flat_map(|inst| inst.results.iter().map(move |&r| (r, inst)))
            .collect();
        let mut any = false;
        for inst in old.insts.iter().filter(|i| !i.regions.is_empty()) {
            let other = inst.results.first().and_then(|&r| self.pairs.new_of(r));
            if let Some(other) = other.and_then(|v| of_new.get(&v)) {
                for (a, b) in std::iter::zip(&inst.regions, &other.regions) {
                    any |= self.region(a, b);
                }
            }
        }
        any
    }

    /// Parameters in order, each with the next of its type.
    fn params(&mut self, old: &Region, new: &Region) {
        let mut rest = &new.params[..];
        for &a in &old.params {
            let at = rest.iter().position(|&b| self.old.ty(a) == self.new.ty(b));
            if let Some(at) = at {
                self.pairs.add(&[a], &[rest[at]]);
                rest = &rest[at + 1..];
            }
        }
    }

    fn is_old(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|&r| self.pairs.new_of(r).is_some())
    }

    fn is_new(&self, inst: &Inst) -> bool {
        inst.results.iter().any(|&r| self.pairs.old_of(r).is_some())
    }

    /// Equal primitives on matched operands, the first with the first.
    fn down(&mut self, old: &Region, new: &Region) -> bool {
        let mut free: HashMap<(&Op, Vec<Value>), Vec<&Inst>> = HashMap::new();
        for inst in new.insts.iter().rev().filter(|i| !i.results.is_empty()) {
            if !self.is_new(inst) {
                let key = (&inst.op, sorted(&inst.op, inst.args.clone()));
                free.entry(key).or_default().push(inst);
            }
        }
        let mut any = false;
        for inst in &old.insts {
            if inst.results.is_empty() || self.is_old(inst) {
                continue;
            }
            let Some(args) = self.pairs.operands(&inst.op, &inst.args) else {
                continue;
            };
            let Some(list) = free.get_mut(&(&inst.op, args)) else {
                continue;
            };
            let same = |other: &&Inst| {
                inst.results.len() == other.results.len()
                    && inst.regions.len() == other.regions.len()
                    && std::iter::zip(&inst.results, &other.results)
                        .all(|(&a, &b)| self.old.ty(a) == self.new.ty(b))
            };
            if let Some(at) = list.iter().rposition(same) {
                let other = list.remove(at);
                self.pair(inst, other);
                any = true;
            }
        }
        any
    }

    /// From matched results to what they are made of, while the primitives have one name.
    fn up(&mut self, old: &Region, new: &Region) -> bool {
        let defined = |region: &Region| -> HashMap<Value, usize> {
            let insts = region.insts.iter().enumerate();
            insts
                .flat_map(|(i, inst)| inst.results.iter().map(move |&r| (r, i)))
                .collect()
        };
        let (in_old, in_new) = (defined(old), defined(new));
        let mut todo: Vec<(Value, Value)> = std::iter::zip(&old.results, &new.results)
            .map(|(&a, &b)| (a, b))
            .collect();
        let effects = |region: &Region| -> Vec<usize> {
            let insts = region.insts.iter().enumerate();
            insts
                .filter(|(_, i)| i.results.is_empty())
                .map(|(at, _)| at)
                .collect()
        };
        for (a, b) in std::iter::zip(effects(old), effects(new)) {
            let (a, b) = (&old.insts[a].args, &new.insts[b].args);
            todo.extend(std::iter::zip(a, b).map(|(&a, &b)| (a, b)));
        }
        // Operands of what is matched already, too: they may differ.
        for inst in &old.insts {
            let other = inst.results.first().and_then(|&r| self.pairs.new_of(r));
            if let Some(other) = other.and_then(|v| in_new.get(&v)) {
                let args = &new.insts[*other].args;
                todo.extend(std::iter::zip(&inst.args, args).map(|(&a, &b)| (a, b)));
            }
        }
        todo.reverse();
        let mut any = false;
        while let Some((a, b)) = todo.pop() {
            let (Some(&i), Some(&j)) = (in_old.get(&a), in_new.get(&b)) else {
                continue;
            };
            let (x, y) = (&old.insts[i], &new.insts[j]);
            let place = |inst: &Inst, v: Value| inst.results.iter().position(|&r| r == v);
            let fits = x.op.name() == y.op.name()
                && x.args.len() == y.args.len()
                && x.results.len() == y.results.len()
                && x.regions.len() == y.regions.len()
                && place(x, a) == place(y, b)
                && self.old.ty(a) == self.new.ty(b);
            if !fits || self.is_old(x) || self.is_new(y) {
                continue;
            }
            self.pair(x, y);
            any = true;
            let args = std::iter::zip(&x.args, &y.args);
            todo.extend(args.rev().map(|(&a, &b)| (a, b)));
        }
        any
    }

    fn pair(&mut self, old: &Inst, new: &Inst) {
        self.pairs.add(&old.results, &new.results);
    }
}
