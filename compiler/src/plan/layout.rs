//! How the values that cross from one program to another lie on the devices of a mesh.
//!
//! Within a program XLA's partitioner decides; between programs a value must lie as the one that makes it and those
//! that read it agree. They agree on what the source says: values that are one variable (what a loop carries, both
//! ends of `shard`) lie alike, as the first `shard` that makes one of them says, or else as the first that reads one.
//!
//! ```text
//! %w = shard[data, none] %v … scan %w { (i, %p) … %q }   →   %v %w %p %q and the scan's result: [data, none]
//! ```

use crate::ir::{Func, Inst, Op, Region, Value};
use std::collections::HashMap;

/// On which axis of the mesh each dimension of a tensor lies, if any; empty: whole on every device.
pub type Layout = Vec<Option<String>>;

/// Layouts of a function's values, wherever its `shard`s say something of them.
pub struct Layouts {
    parents: HashMap<Value, Value>,
    /// By root: what is said of the values of a class, and whether by a `shard` that makes one of them.
    said: HashMap<Value, (Layout, bool)>,
}

impl Layouts {
    pub fn of(func: &Func) -> Layouts {
        let mut layouts = Layouts {
            parents: HashMap::new(),
            said: HashMap::new(),
        };
        layouts.region(&func.body);
        layouts
    }

    pub fn get(&self, v: Value) -> Layout {
        self.said
            .get(&self.root(v))
            .map(|(layout, _)| layout.clone())
            .unwrap_or_default()
    }

    fn region(&mut self, region: &Region) {
        for inst in &region.insts {
            self.inst(inst);
            inst.regions.iter().for_each(|r| self.region(r));
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match &inst.op {
            Op::Shard { axes } => {
                self.say(inst.results[0], axes, true);
                self.say(inst.args[0], axes, false);
            }
            Op::Scan { carry, .. } => {
                let body = &inst.regions[0];
                let params = &body.params[1..];
                self.join_all([&inst.args, params, &body.results, &inst.results], *carry);
            }
            Op::While => {
                let [cond, body] = &inst.regions[..] else {
                    return;
                };
                let count = inst.args.len();
                self.join_all(
                    [&inst.args, &cond.params, &body.params, &body.results],
                    count,
                );
                self.join_all([&inst.args, &inst.results], count);
            }
            Op::If => {
                for branch in &inst.regions {
                    self.join_all([&branch.results, &inst.results], inst.results.len());
                }
            }
            Op::Barrier => self.join_all([&inst.args, &inst.results], inst.args.len()),
            _ => {}
        }
    }

    /// The values at one place of all lists are one variable.
    fn join_all<const N: usize>(&mut self, lists: [&[Value]; N], count: usize) {
        for i in 0..count {
            for list in &lists[1..] {
                self.join(lists[0][i], list[i]);
            }
        }
    }

    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return;
        }
        self.parents.insert(b, a);
        if let Some((layout, made)) = self.said.remove(&b) {
            self.say(a, &layout, made);
        }
    }

    fn root(&self, mut v: Value) -> Value {
        while let Some(&parent) = self.parents.get(&v) {
            v = parent;
        }
        v
    }

    /// The first word holds, but what makes a value has the say over what reads it.
    fn say(&mut self, v: Value, axes: &[Option<String>], made: bool) {
        let root = self.root(v);
        match self.said.get(&root) {
            Some((_, true)) => {}
            Some((_, false)) if !made => {}
            _ => {
                self.said.insert(root, (axes.to_vec(), made));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    #[test]
    fn a_loop_variable_lies_as_its_shard_says() {
        let text = r#"
            func f(%0: f32[4, 2], %1: f32[4, 2], %2: f32[2]) -> (f32[4, 2], f32[4, 2], f32[2]) {
              %3, %4 = scan[length = 3, carry = 2] %0, %1 : f32[4, 2], f32[4, 2] body(%5: i32, %6: f32[4, 2], %7: f32[4, 2]) {
                %8 = add %6, %7 : f32[4, 2]
                %9 = shard[axes = ["data", _]] %8 : f32[4, 2]
                %10 = shard[axes = [_, "model"]] %7 : f32[4, 2]
                yield %9, %7
              }
              return %3, %4, %2
            }"#;
        let func = parse(text).unwrap_or_else(|e| panic!("{e}"));
        let layouts = Layouts::of(&func);
        let rows = vec![Some("data".to_string()), None];
        let columns = vec![None, Some("model".to_string())];
        let found: Vec<Layout> = func.body.params.iter().map(|&v| layouts.get(v)).collect();
        assert_eq!(found, [rows.clone(), columns.clone(), vec![]]);
        let found: Vec<Layout> = func.body.results.iter().map(|&v| layouts.get(v)).collect();
        assert_eq!(found, [rows, columns, vec![]]);
    }
}
