//! Equality of functions: same name, same primitives in the same order, same types; how values are numbered and
//! where they came from does not count.

use super::func::{Func, Inst, Region, Value};

impl PartialEq for Func {
    fn eq(&self, other: &Func) -> bool {
        let mut pairing = Pairing {
            left: self,
            right: other,
            to_right: vec![None; self.value_count()],
        };
        self.name == other.name && pairing.region(&self.body, &other.body)
    }
}

impl Eq for Func {}

/// The value of the right function that each value defined so far in the left one stands for.
struct Pairing<'a> {
    left: &'a Func,
    right: &'a Func,
    to_right: Vec<Option<Value>>,
}

impl Pairing<'_> {
    fn region(&mut self, a: &Region, b: &Region) -> bool {
        self.define(&a.params, &b.params)
            && a.insts.len() == b.insts.len()
            && a.insts.iter().zip(&b.insts).all(|(x, y)| self.inst(x, y))
            && self.used(&a.results, &b.results)
    }

    fn inst(&mut self, a: &Inst, b: &Inst) -> bool {
        a.op == b.op
            && self.used(&a.args, &b.args)
            && a.regions.len() == b.regions.len()
            && a.regions
                .iter()
                .zip(&b.regions)
                .all(|(x, y)| self.region(x, y))
            && self.define(&a.results, &b.results)
    }

    fn define(&mut self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len()
            && a.iter().zip(b).all(|(&x, &y)| {
                self.to_right[x.0 as usize] = Some(y);
                self.left.ty(x) == self.right.ty(y)
            })
    }

    fn used(&self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len()
            && a.iter()
                .zip(b)
                .all(|(x, &y)| self.to_right[x.0 as usize] == Some(y))
    }
}
