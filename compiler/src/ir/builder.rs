//! Building IR: instructions are appended to the innermost open region; result types come from the shape rules.

use super::func::{Func, Inst, Region, Value};
use super::op::Op;
use super::shape;
use super::types::Type;
use std::collections::HashMap;
use tpuc_lang::span::Span;

/// Builds one function. Misuse (a shape rule refuses) is a bug of the caller and panics with the rule's message:
/// what users write has been checked before.
pub struct Builder {
    func: Func,
    open: Vec<Region>,
    /// Given to the values made from now on.
    pub span: Span,
}

impl Builder {
    /// Starts a function; its body is the innermost open region.
    pub fn new(name: impl Into<String>) -> Self {
        Builder {
            func: Func::new(name),
            open: vec![Region::default()],
            span: Span::default(),
        }
    }

    /// Adds a parameter to the innermost open region.
    pub fn param(&mut self, ty: Type) -> Value {
        let v = self.func.new_value(ty, self.span);
        self.innermost().params.push(v);
        v
    }

    pub fn ty(&self, v: Value) -> &Type {
        self.func.ty(v)
    }

    pub fn value_count(&self) -> usize {
        self.func.value_count()
    }

    pub fn place(&mut self, v: Value, span: Span) {
        self.func.set_span(v, span);
    }

    pub fn span_of(&self, v: Value) -> Span {
        self.func.span(v)
    }

    /// Appends a primitive without regions and with one result.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Value {
        self.push(op, args.to_vec(), Vec::new())[0]
    }

    /// Appends a primitive; one value a result.
    pub fn push(&mut self, op: Op, args: Vec<Value>, regions: Vec<Region>) -> Vec<Value> {
        let arg_types: Vec<&Type> = args.iter().map(|&v| self.func.ty(v)).collect();
        let region_types: Vec<Vec<Type>> = regions
            .iter()
            .map(|r| r.results.iter().map(|&v| self.func.ty(v).clone()).collect())
            .collect();
        let types = match shape::infer(&op, &arg_types, &region_types) {
            Ok(types) => types,
            Err(e) => panic!("building {op:?}: {e}"),
        };
        let span = self.span;
        let results: Vec<Value> = types
            .into_iter()
            .map(|t| self.func.new_value(t, span))
            .collect();
        self.innermost().insts.push(Inst {
            op,
            args,
            regions,
            results: results.clone(),
        });
        results
    }

    /// Opens a nested region, lets `body` fill it, closes it. `body` adds parameters and returns the results.
    pub fn region(&mut self, body: impl FnOnce(&mut Builder) -> Vec<Value>) -> Region {
        self.open_region();
        let results = body(self);
        self.close_region(results)
    }

    /// Opens a nested region; [`Builder::close_region`] takes it off again.
    pub fn open_region(&mut self) {
        self.open.push(Region::default());
    }

    pub fn close_region(&mut self, results: Vec<Value>) -> Region {
        let mut region = self.open.pop().unwrap_or_default();
        region.results = results;
        region
    }

    /// Appends an instruction already made of this builder's values.
    pub fn append(&mut self, inst: Inst) {
        self.innermost().insts.push(inst);
    }

    /// Copies the body of another function here, its inputs replaced by `args`; the values of its results.
    pub fn inline(&mut self, callee: &Func, args: &[Value]) -> Vec<Value> {
        let mut map: HashMap<Value, Value> = callee
            .body
            .params
            .iter()
            .copied()
            .zip(args.iter().copied())
            .collect();
        self.inline_insts(callee, &callee.body.insts, &mut map);
        callee.body.results.iter().map(|v| map[v]).collect()
    }

    /// Copies instructions of another function, with `map` from its values to ours, which grows by their results.
    pub fn inline_insts(&mut self, from: &Func, insts: &[Inst], map: &mut HashMap<Value, Value>) {
        for inst in insts {
            let copy = self.copy_inst(from, inst, map);
            self.append(copy);
        }
    }

    /// A copy of a region of another function over our values.
    pub fn copy_region(
        &mut self,
        from: &Func,
        region: &Region,
        map: &mut HashMap<Value, Value>,
    ) -> Region {
        let params = region
            .params
            .iter()
            .map(|&v| self.copy_value(from, v, map))
            .collect();
        let insts = region
            .insts
            .iter()
            .map(|i| self.copy_inst(from, i, map))
            .collect();
        let results = region.results.iter().map(|v| map[v]).collect();
        Region {
            params,
            insts,
            results,
        }
    }

    fn copy_inst(&mut self, from: &Func, inst: &Inst, map: &mut HashMap<Value, Value>) -> Inst {
        let args = inst.args.iter().map(|v| map[v]).collect();
        let regions = inst
            .regions
            .iter()
            .map(|r| self.copy_region(from, r, map))
            .collect();
        let results = inst
            .results
            .iter()
            .map(|&v| self.copy_value(from, v, map))
            .collect();
        Inst {
            op: inst.op.clone(),
            args,
            regions,
            results,
        }
    }

    fn copy_value(&mut self, from: &Func, v: Value, map: &mut HashMap<Value, Value>) -> Value {
        let new = self.func.new_value(from.ty(v).clone(), from.span(v));
        map.insert(v, new);
        new
    }

    /// Closes the function.
    ///
    /// # Panics
    /// When a nested region is still open: a bug of the caller.
    pub fn finish(mut self, results: Vec<Value>) -> Func {
        assert_eq!(self.open.len(), 1, "a nested region is still open");
        let body = self.close_region(results);
        self.func.body = body;
        self.func
    }

    /// Turns a closed-off region of this builder into a function of its own: its parameters, then its captures,
    /// become the inputs. Also gives the captures, in order.
    pub fn extract(&self, name: impl Into<String>, region: &Region) -> (Func, Vec<Value>) {
        let captures = region.captures();
        let mut b = Builder::new(name);
        let mut map = HashMap::new();
        for &v in region.params.iter().chain(&captures) {
            b.span = self.func.span(v);
            let p = b.param(self.func.ty(v).clone());
            map.insert(v, p);
        }
        b.inline_insts(&self.func, &region.insts, &mut map);
        let results = region.results.iter().map(|v| map[v]).collect();
        (b.finish(results), captures)
    }

    fn innermost(&mut self) -> &mut Region {
        let last = self.open.len() - 1;
        &mut self.open[last]
    }
}
