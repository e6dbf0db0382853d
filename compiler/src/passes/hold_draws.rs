//! Computes a random array that several instructions need before them. XLA's CPU compiler would draw it anew in the kernel
//! of each: a mask of dropout forwards and backwards, initial values wherever they are read.
//!
//! ```text
//! %1, %2 = threefry %a, %b, %c, %d           %1, %2 = threefry %a, %b, %c, %d
//! %3 = xor %1, %2 : u32[64, 256]             %3 = xor %1, %2 : u32[64, 256]
//! %4 = lt %3, %half : bool[64, 256]     →    %4 = lt %3, %half : bool[64, 256]
//! %5 = select %4, %x, %zero                  %5 = barrier %4
//! %6 = select %4, %g, %zero                  %6 = select %5, %x, %zero
//!                                            %7 = select %5, %g, %zero
//! ```

use super::copy::{Copier, Rewrite, is_elementwise, rewrite};
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;
use std::collections::{HashMap, HashSet};

/// Of fewer numbers a kernel of their own costs more than drawing them again.
const FEWEST: usize = 1024;

pub fn run(func: &Func) -> Func {
    let uses = Uses::of(func);
    let mut shared = HashSet::new();
    func.body.walk(&mut |inst| {
        if inst.op == Op::Threefry && func.ty(inst.results[0]).numel() >= FEWEST {
            shared.extend(uses.shared(inst));
        }
    });
    rewrite(func, &mut HoldDraws { shared })
}

/// Who uses the values of a function, its regions included.
#[derive(Default)]
struct Uses<'f> {
    made_by: HashMap<Value, &'f Inst>,
    users: HashMap<Value, Vec<&'f Inst>>,
    /// What regions give out.
    results: HashSet<Value>,
}

impl<'f> Uses<'f> {
    fn of(func: &'f Func) -> Self {
        let mut uses = Uses::default();
        uses.region(&func.body);
        uses
    }

    fn region(&mut self, region: &'f Region) {
        for inst in &region.insts {
            self.made_by.extend(inst.results.iter().map(|&v| (v, inst)));
            let args: HashSet<Value> = inst.args.iter().copied().collect();
            for arg in args {
                self.users.entry(arg).or_default().push(inst);
            }
            inst.regions.iter().for_each(|inner| self.region(inner));
        }
        self.results.extend(&region.results);
    }

    /// What several use of what a generator makes and of what is made of that alone, element by element.
    fn shared(&self, generator: &'f Inst) -> Option<Value> {
        let mut made = &generator.results;
        loop {
            let users = || made.iter().filter_map(|v| self.users.get(v)).flatten();
            let only = users().next()?;
            let given = made.iter().any(|v| self.results.contains(v));
            if given || users().any(|user| user.results != only.results) {
                return (made.len() == 1).then_some(made[0]);
            }
            let own = |arg: &Value| made.contains(arg) || self.is_spread(*arg);
            if !is_elementwise(only) || !only.args.iter().all(own) {
                return None;
            }
            made = &only.results;
        }
    }

    /// Whether a value is the same number everywhere.
    fn is_spread(&self, v: Value) -> bool {
        self.made_by.get(&v).is_some_and(|inst| match &inst.op {
            Op::Constant(literal) => literal.splat().is_some(),
            Op::Broadcast { dims, .. } => dims.is_empty(),
            _ => false,
        })
    }
}

struct HoldDraws {
    shared: HashSet<Value>,
}

impl Rewrite for HoldDraws {
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        c.keep(self, inst);
        if let [made] = inst.results[..]
            && self.shared.contains(&made)
        {
            let copy = c.value(made);
            let held = c.b.op(Op::Barrier, &[copy]);
            c.set(made, held);
        }
    }
}
