//! Copying a function instruction by instruction, with a say in what becomes of each.

use crate::ir::Builder;
use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::Op;

/// What a pass does with an instruction. By default it is copied, and so is what its regions hold.
pub trait Rewrite {
    /// Emits what takes the place of `inst`, and says with [`Copier::set`] what its results have become.
    fn inst(&mut self, c: &mut Copier, inst: &Inst) {
        c.keep(self, inst);
    }

    /// Copies what a region holds; the copies of its results.
    fn region(&mut self, c: &mut Copier, region: &Region) -> Vec<Value> {
        c.insts(self, &region.insts);
        c.values(&region.results)
    }

    /// A nested region of a copied instruction begins, and ends.
    fn enter(&mut self, _holder: &Op) {}
    fn leave(&mut self) {}
}

/// Copies everything as it is.
pub struct Plain;

impl Rewrite for Plain {}

/// The copy of `func` that a pass makes.
pub fn rewrite(func: &Func, pass: &mut impl Rewrite) -> Func {
    rewrite_with(func, |c| pass.region(c, &func.body))
}

/// A function with the parameters of `func`, and the body and results that `body` makes.
pub fn rewrite_with(func: &Func, body: impl FnOnce(&mut Copier) -> Vec<Value>) -> Func {
    let mut c = Copier {
        b: Builder::new(func.name.clone()),
        from: func,
        map: vec![None; func.value_count()],
    };
    c.params(&func.body.params);
    let results = body(&mut c);
    c.b.finish(results)
}

pub struct Copier<'a> {
    pub b: Builder,
    pub from: &'a Func,
    map: Vec<Option<Value>>,
}

impl Copier<'_> {
    /// What a value of the old function has become.
    pub fn value(&self, old: Value) -> Value {
        // Definitions are met before their uses, and each pass sets all results that it replaces.
        self.map[old.0 as usize].unwrap_or_else(|| unreachable!("{old:?} has no copy yet"))
    }

    pub fn values(&self, old: &[Value]) -> Vec<Value> {
        old.iter().map(|&v| self.value(v)).collect()
    }

    pub fn set(&mut self, old: Value, new: Value) {
        self.map[old.0 as usize] = Some(new);
    }

    pub fn set_all(&mut self, old: &[Value], new: &[Value]) {
        for (&o, &n) in old.iter().zip(new) {
            self.set(o, n);
        }
    }

    /// New values are from here on said to come from where `old` came from.
    pub fn at(&mut self, old: Option<&Value>) {
        if let Some(&v) = old {
            self.b.span = self.from.span(v);
        }
    }

    /// Copies an instruction; `pass` decides about those in its regions.
    pub fn keep<R: Rewrite + ?Sized>(&mut self, pass: &mut R, inst: &Inst) {
        let regions = self.regions(pass, inst);
        self.emit(inst, inst.op.clone(), regions);
    }

    /// Appends a primitive over the copies of the operands of `inst`, in its place.
    pub fn emit(&mut self, inst: &Inst, op: Op, regions: Vec<Region>) {
        let args = self.values(&inst.args);
        self.at(inst.results.first());
        let results = self.b.push(op, args, regions);
        self.set_all(&inst.results, &results);
    }

    pub fn regions<R: Rewrite + ?Sized>(&mut self, pass: &mut R, inst: &Inst) -> Vec<Region> {
        inst.regions
            .iter()
            .map(|region| {
                self.b.open_region();
                pass.enter(&inst.op);
                self.params(&region.params);
                let results = pass.region(self, region);
                pass.leave();
                self.b.close_region(results)
            })
            .collect()
    }

    /// Parameters of the innermost open region.
    pub fn params(&mut self, params: &[Value]) {
        for &p in params {
            self.b.span = self.from.span(p);
            let copy = self.b.param(self.from.ty(p).clone());
            self.set(p, copy);
        }
    }

    pub fn insts<R: Rewrite + ?Sized>(&mut self, pass: &mut R, insts: &[Inst]) {
        for inst in insts {
            pass.inst(self, inst);
        }
    }

    /// Puts what a region does here, its parameters being `args`; the copies of its results.
    pub fn inline<R: Rewrite + ?Sized>(
        &mut self,
        pass: &mut R,
        region: &Region,
        args: &[Value],
    ) -> Vec<Value> {
        self.set_all(&region.params, args);
        pass.region(self, region)
    }
}

/// Whether an instruction, or one in its regions, reaches outside.
pub fn has_effect(inst: &Inst) -> bool {
    inst.any(&|op| matches!(op, Op::Host(_) | Op::Effect(..)))
}

/// Whether each element of the result is made of those at its place alone.
pub fn is_elementwise(inst: &Inst) -> bool {
    match inst.op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Bitcast(_) => true,
        Op::Barrier => inst.args.len() == 1,
        _ => false,
    }
}
