//! Computes keys before what is drawn from them. XLA would put the Threefry that makes a key into the one that uses it,
//! and work it out for each element anew; its CPU compiler then takes time exponential in the rounds.
//!
//! ```text
//! %1, %2 = threefry %a, %b, %c, %d    →    %1, %2 = threefry %a, %b, %c, %d
//! %3 = broadcast[dims = [0]] %1            %3, %4 = barrier %1, %2
//! %4, %5 = threefry %3, …                  %5 = broadcast[dims = [0]] %3
//!                                          %6, %7 = threefry %5, …
//! ```

use super::copy::{Copier, Rewrite, rewrite};
use crate::ir::func::{Func, Inst, Value};
use crate::ir::op::Op;
use std::collections::{HashMap, HashSet};

pub fn run(func: &Func) -> Func {
    rewrite(func, &mut HoldKeys { keys: keys(func) })
}

/// The results of a Threefry that are keys, or become keys without any arithmetic.
fn keys(func: &Func) -> HashSet<Value> {
    let mut made_by: HashMap<Value, &Inst> = HashMap::new();
    let mut open = Vec::new();
    func.body.walk(&mut |inst| {
        made_by.extend(inst.results.iter().map(|&r| (r, inst)));
        if inst.op == Op::Threefry {
            open.extend(&inst.args[..2]);
        }
    });
    let mut seen = HashSet::new();
    let mut found = HashSet::new();
    while let Some(value) = open.pop() {
        let Some(inst) = made_by.get(&value).filter(|_| seen.insert(value)) else {
            continue;
        };
        if inst.op == Op::Threefry {
            found.insert(value);
        } else if moves(&inst.op) {
            open.extend(&inst.args);
        }
    }
    found
}

/// Whether an operation only puts elements elsewhere.
fn moves(op: &Op) -> bool {
    matches!(
        op,
        Op::Broadcast { .. }
            | Op::Reshape { .. }
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Pad { .. }
            | Op::Concat { .. }
            | Op::Reverse { .. }
            | Op::DynamicSlice { .. }
            | Op::DynamicUpdateSlice
            | Op::Gather(_)
            | Op::Select
    )
}

struct HoldKeys {
    keys: HashSet<Value>,
}

impl Rewrite for HoldKeys {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        c.keep(self, inst);
        if inst.op == Op::Threefry && inst.results.iter().any(|r| self.keys.contains(r)) {
            let made = c.values(&inst.results);
            let held = c.b.push(Op::Barrier, made, Vec::new());
            c.set_all(&inst.results, &held);
        }
    }
}
