//! Functions: A-normal SSA with nested regions over one arena of values.

use super::op::Op;
use super::types::Type;
use tpuc_lang::span::Span;

/// A value of a function: index into its arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// One application of a primitive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    pub op: Op,
    pub args: Vec<Value>,
    pub regions: Vec<Region>,
    pub results: Vec<Value>,
}

/// Straight-line instructions with parameters and results. A nested region may use the values of those around it
/// that stand before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Region {
    pub params: Vec<Value>,
    pub insts: Vec<Inst>,
    pub results: Vec<Value>,
}

/// A closed function: its body's parameters are its inputs. Types and spans of all values, those of nested
/// regions included, are in side tables, so that comparing bodies ignores where they came from.
#[derive(Clone, Debug)]
pub struct Func {
    pub name: String,
    pub body: Region,
    types: Vec<Type>,
    spans: Vec<Span>,
}

impl Func {
    pub fn new(name: impl Into<String>) -> Self {
        Func {
            name: name.into(),
            body: Region::default(),
            types: Vec::new(),
            spans: Vec::new(),
        }
    }

    pub fn new_value(&mut self, ty: Type, span: Span) -> Value {
        self.types.push(ty);
        self.spans.push(span);
        Value(self.types.len() as u32 - 1)
    }

    pub fn ty(&self, v: Value) -> &Type {
        &self.types[v.0 as usize]
    }

    pub fn span(&self, v: Value) -> Span {
        self.spans[v.0 as usize]
    }

    pub fn set_span(&mut self, v: Value, span: Span) {
        self.spans[v.0 as usize] = span;
    }

    pub fn value_count(&self) -> usize {
        self.types.len()
    }

    pub fn input_types(&self) -> Vec<Type> {
        self.body
            .params
            .iter()
            .map(|&v| self.ty(v).clone())
            .collect()
    }

    pub fn output_types(&self) -> Vec<Type> {
        self.body
            .results
            .iter()
            .map(|&v| self.ty(v).clone())
            .collect()
    }
}

impl Inst {
    /// Its operands, then what its regions use from outside; not each once.
    pub fn uses(&self) -> Vec<Value> {
        self.args.iter().copied().chain(self.captures()).collect()
    }

    /// What its regions use from around it, each once, in order of use.
    pub fn captures(&self) -> Vec<Value> {
        let mut scope = CaptureScope::default();
        self.regions.iter().for_each(|r| scope.region(r));
        scope.captures
    }

    /// Whether this, or an instruction in its regions, is such.
    pub fn any(&self, such: &impl Fn(&Op) -> bool) -> bool {
        such(&self.op) || self.any_within(such)
    }

    /// Whether an instruction in its regions is such.
    pub fn any_within(&self, such: &impl Fn(&Op) -> bool) -> bool {
        let mut insts = self.regions.iter().flat_map(|r| &r.insts);
        insts.any(|inst| inst.any(such))
    }
}

impl Region {
    /// Visits every instruction, those of nested regions after the one that holds them.
    pub fn walk<'a>(&'a self, f: &mut impl FnMut(&'a Inst)) {
        for inst in &self.insts {
            f(inst);
            for region in &inst.regions {
                region.walk(f);
            }
        }
    }

    /// Values used in here (nested regions included) but defined outside, each once, in order of first use.
    pub fn captures(&self) -> Vec<Value> {
        let mut scope = CaptureScope::default();
        scope.region(self);
        scope.captures
    }
}

#[derive(Default)]
struct CaptureScope {
    defined: std::collections::HashSet<Value>,
    seen: std::collections::HashSet<Value>,
    captures: Vec<Value>,
}

impl CaptureScope {
    fn region(&mut self, region: &Region) {
        self.defined.extend(&region.params);
        for inst in &region.insts {
            inst.args.iter().for_each(|&v| self.used(v));
            inst.regions.iter().for_each(|r| self.region(r));
            self.defined.extend(&inst.results);
        }
        region.results.iter().for_each(|&v| self.used(v));
    }

    fn used(&mut self, v: Value) {
        if !self.defined.contains(&v) && self.seen.insert(v) {
            self.captures.push(v);
        }
    }
}
