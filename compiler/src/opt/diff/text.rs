//! What differs, line by line. Values are called by their numbers in the new function; those that only the old one has by
//! their numbers there and a prime.

use super::Diff;
use super::matching::Pairs;
use crate::ir::print::{numbers, region_labels};
use crate::ir::{Func, Inst, Region, Value};
use std::collections::HashMap;
use std::fmt::Write;

pub fn write(old: &Func, new: &Func, pairs: &Pairs) -> Diff {
    let mut writer = Writer {
        old: Side::new(old),
        new: Side::new(new),
        pairs,
        diff: Diff::default(),
        depth: 0,
    };
    let before = writer.signature(false);
    let after = writer.signature(true);
    if before != after {
        writer.line('-', &before);
        writer.line('+', &after);
    }
    writer.region(&old.body, &new.body, "return");
    writer.diff
}

struct Side<'a> {
    func: &'a Func,
    numbers: Vec<Option<u32>>,
}

impl<'a> Side<'a> {
    fn new(func: &'a Func) -> Side<'a> {
        Side {
            func,
            numbers: numbers(func),
        }
    }

    fn number(&self, v: Value) -> u32 {
        self.numbers[v.0 as usize].unwrap_or(v.0)
    }
}

struct Writer<'a> {
    old: Side<'a>,
    new: Side<'a>,
    pairs: &'a Pairs,
    diff: Diff,
    depth: usize,
}

impl Writer<'_> {
    fn name(&self, is_new: bool, v: Value) -> String {
        if is_new {
            return format!("%{}", self.new.number(v));
        }
        match self.pairs.new_of(v) {
            Some(other) => format!("%{}", self.new.number(other)),
            None => format!("%{}'", self.old.number(v)),
        }
    }

    fn func(&self, is_new: bool) -> &Func {
        if is_new { self.new.func } else { self.old.func }
    }

    fn list(&self, is_new: bool, values: &[Value]) -> String {
        let names = values.iter().map(|&v| self.name(is_new, v));
        names.collect::<Vec<_>>().join(", ")
    }

    fn typed(&self, is_new: bool, values: &[Value]) -> String {
        let func = self.func(is_new);
        let one = |&v: &Value| format!("{}: {}", self.name(is_new, v), func.ty(v));
        values.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn signature(&self, is_new: bool) -> String {
        let func = self.func(is_new);
        let results: Vec<String> = func.output_types().iter().map(|t| t.to_string()).collect();
        let params = self.typed(is_new, &func.body.params);
        format!("({params}) -> ({})", results.join(", "))
    }

    /// An instruction up to its regions.
    fn head(&self, is_new: bool, inst: &Inst) -> String {
        let mut text = String::new();
        if !inst.results.is_empty() {
            let _ = write!(text, "{} = ", self.list(is_new, &inst.results));
        }
        let _ = write!(text, "{}", inst.op);
        if !inst.args.is_empty() {
            let _ = write!(text, " {}", self.list(is_new, &inst.args));
        }
        if !inst.results.is_empty() {
            let func = self.func(is_new);
            let types: Vec<String> = inst
                .results
                .iter()
                .map(|&v| func.ty(v).to_string())
                .collect();
            let _ = write!(text, " : {}", types.join(", "));
        }
        text
    }

    fn line(&mut self, mark: char, text: &str) {
        let indent = "  ".repeat(self.depth);
        let _ = writeln!(self.diff.text, "{mark} {indent}{text}");
    }

    /// An instruction that only one side has, with all inside it.
    fn whole(&mut self, is_new: bool, inst: &Inst) {
        let mark = if is_new { '+' } else { '-' };
        if is_new {
            self.diff.added += 1;
        } else {
            self.diff.removed += 1;
        }
        let head = self.head(is_new, inst);
        self.line(mark, &head);
        for (region, label) in std::iter::zip(&inst.regions, region_labels(&inst.op)) {
            let params = self.typed(is_new, &region.params);
            self.line(mark, &format!("{label} ({params})"));
            self.depth += 1;
            for inner in &region.insts {
                self.whole(is_new, inner);
            }
            let results = self.list(is_new, &region.results);
            self.line(mark, &format!("yield {results}"));
            self.depth -= 1;
        }
    }

    fn region(&mut self, old: &Region, new: &Region, last: &str) {
        let place: HashMap<Value, usize> = (0..)
            .zip(&old.insts)
            .flat_map(|(i, inst)| inst.results.iter().map(move |&r| (r, i)))
            .collect();
        let mut effects = (0..).zip(&old.insts).filter(|(_, i)| i.results.is_empty());
        let mut printed = vec![false; old.insts.len()];
        // What is new stands after what it takes the place of.
        let mut added: Vec<&Inst> = Vec::new();
        for inst in &new.insts {
            // Effects stay in order, so they are matched in order.
            let other = match inst.results.first() {
                Some(&r) => self.pairs.old_of(r).and_then(|v| place.get(&v).copied()),
                None => effects.next().map(|(i, _)| i),
            };
            let Some(at) = other else {
                added.push(inst);
                continue;
            };
            self.gone(old, at, &mut printed);
            added.drain(..).for_each(|i| self.whole(true, i));
            printed[at] = true;
            self.both(&old.insts[at], inst);
        }
        self.gone(old, old.insts.len(), &mut printed);
        added.drain(..).for_each(|i| self.whole(true, i));
        let (before, after) = (
            self.list(false, &old.results),
            self.list(true, &new.results),
        );
        if before != after {
            self.line('-', &format!("{last} {before}"));
            self.line('+', &format!("{last} {after}"));
        }
    }

    /// What only the old side has before a place, as far as that was not said yet.
    fn gone(&mut self, old: &Region, before: usize, printed: &mut [bool]) {
        for (inst, done) in std::iter::zip(&old.insts, printed).take(before) {
            let matched = inst.results.iter().any(|&r| self.pairs.new_of(r).is_some());
            let effect = inst.results.is_empty() && before < old.insts.len();
            if !*done && !matched && !effect {
                *done = true;
                self.whole(false, inst);
            }
        }
    }

    fn both(&mut self, old: &Inst, new: &Inst) {
        if self.pairs.alike(old, new) {
            self.diff.same += 1;
        } else {
            self.diff.changed += 1;
            let (before, after) = (self.head(false, old), self.head(true, new));
            self.line('-', &before);
            self.line('+', &after);
        }
        for (i, label) in (0..new.regions.len()).zip(region_labels(&new.op)) {
            let mut inner = Writer {
                old: Side::new(self.old.func),
                new: Side::new(self.new.func),
                pairs: self.pairs,
                diff: Diff::default(),
                depth: self.depth + 1,
            };
            let (a, b) = (&old.regions[i], &new.regions[i]);
            let (before, after) = (inner.typed(false, &a.params), inner.typed(true, &b.params));
            if before != after {
                inner.line('-', &format!("({before})"));
                inner.line('+', &format!("({after})"));
            }
            inner.region(a, b, "yield");
            let found = inner.diff;
            self.diff.same += found.same;
            self.diff.changed += found.changed;
            self.diff.removed += found.removed;
            self.diff.added += found.added;
            if !found.text.is_empty() {
                let head = self.head(true, new);
                self.line(' ', &format!("{head} {label}"));
                self.diff.text.push_str(&found.text);
            }
        }
    }
}
