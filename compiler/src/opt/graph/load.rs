//! A function's body into an e-graph. Regions are closed and optimised on their own first, with what is known of
//! the values they capture: constants move inside.

use super::facts::Facts;
use super::lang::{Block, Body, Node};
use super::{Graph, has_effect};
use crate::ir::builder::Builder;
use crate::ir::op::Op;
use crate::ir::types::Type;
use crate::ir::{Func, Inst, Region, Value};
use egg::Id;
use std::collections::HashMap;

/// A body in its e-graph.
pub struct Loaded {
    pub graph: Graph,
    /// The effects in order, then the results: what has to be computed.
    pub roots: Vec<Id>,
    /// How many of the roots are effects.
    pub effects: usize,
    /// What the source has, in order.
    pub source: Vec<Written>,
}

/// A node of the source.
pub struct Written {
    pub id: Id,
    /// Its operands as written.
    pub args: Vec<Id>,
    /// Of its instruction.
    pub position: u32,
}

/// Optimises a closed region, given what is known of its parameters.
pub type OptimiseBody<'a> = &'a mut dyn FnMut(Func, &[Facts]) -> Func;

/// Loads `func`, of whose inputs `facts` are known.
pub fn load(func: &Func, facts: &[Facts], optimise: OptimiseBody) -> Loaded {
    let inputs: Vec<(Type, Facts)> = func
        .input_types()
        .into_iter()
        .zip(facts.iter().copied().chain(std::iter::repeat(Facts::NONE)))
        .collect();
    let count = inputs.len();
    let mut loader = Loader {
        func,
        graph: Graph::new(inputs),
        values: HashMap::new(),
        effects: Vec::new(),
        source: Vec::new(),
        optimise,
    };
    for i in 0..count {
        let param = func.body.params[i];
        loader.graph.egg.analysis.span = func.span(param);
        let id = loader.graph.input(i);
        loader.graph.egg[id].data.origin = 0;
        loader.values.insert(param, id);
    }
    for (position, inst) in func.body.insts.iter().enumerate() {
        loader.inst(inst, position as u32 + 1);
    }
    loader.graph.egg.rebuild();
    let effects = loader.effects.len();
    let mut roots = loader.effects;
    roots.extend(func.body.results.iter().map(|v| loader.values[v]));
    Loaded {
        graph: loader.graph,
        roots,
        effects,
        source: loader.source,
    }
}

struct Loader<'a> {
    func: &'a Func,
    graph: Graph,
    values: HashMap<Value, Id>,
    effects: Vec<Id>,
    source: Vec<Written>,
    optimise: OptimiseBody<'a>,
}

impl Loader<'_> {
    fn inst(&mut self, inst: &Inst, position: u32) {
        if let Some(&first) = inst.results.first() {
            self.graph.egg.analysis.span = self.func.span(first);
        }
        let mut args: Vec<Id> = inst.args.iter().map(|v| self.values[v]).collect();
        let effect = has_effect(inst);
        // The input has been verified, so its instructions have types.
        let typed = |made: Result<Id, String>| match made {
            Ok(id) => id,
            Err(e) => panic!("optimising unverified IR: {e}"),
        };
        let id = if inst.regions.is_empty() && !effect {
            typed(self.graph.op(inst.op.clone(), &args))
        } else {
            let block = self.close(inst, effect, &mut args);
            let better = self.optimised(inst, &block, &args);
            let id = typed(self.graph.block(block, &args));
            if let Some(better) = better {
                let other = typed(self.graph.block(better, &args));
                self.graph.egg.union(id, other);
            }
            id
        };
        if effect {
            self.effects.push(id);
        }
        self.mark(id, position);
        self.source.push(Written { id, args, position });
        let several = self.graph.data(id).types.len() > 1;
        for (i, &result) in inst.results.iter().enumerate() {
            self.graph.egg.analysis.span = self.func.span(result);
            let value = self.graph.proj(id, i);
            if several {
                self.mark(value, position);
                self.source.push(Written {
                    id: value,
                    args: vec![id],
                    position,
                });
            }
            self.values.insert(result, value);
        }
    }

    fn mark(&mut self, id: Id, position: u32) {
        let span = self.graph.egg.analysis.span;
        let data = &mut self.graph.egg[id].data;
        if position < data.origin {
            data.origin = position;
            data.span = span;
        }
    }

    /// Closes an instruction's regions over what they capture, and adds that to its operands.
    fn close(&mut self, inst: &Inst, effect: bool, args: &mut Vec<Id>) -> Block {
        let mut captures = inst.captures();
        captures.retain(|v| self.graph.data(self.values[v]).constant.is_none());
        let bodies = inst.regions.iter();
        let bodies = bodies.map(|region| Body(self.closed(region, &captures)));
        let bodies = bodies.collect();
        let operands = args.len();
        args.extend(captures.iter().map(|v| self.values[v]));
        Block {
            op: inst.op.clone(),
            bodies,
            operands,
            effect: effect.then_some(self.effects.len() as u32),
        }
    }

    /// The block with each region optimised on its own. Both are kept: what is best inside need not be best outside, where
    /// parts of it may be hoisted.
    fn optimised(&mut self, inst: &Inst, block: &Block, args: &[Id]) -> Option<Block> {
        let captures = &args[block.operands..];
        let bodies: Vec<Body> = std::iter::zip(&inst.regions, &block.bodies)
            .map(|(region, body)| {
                let facts = self.param_facts(inst, region, captures);
                Body((self.optimise)(body.0.clone(), &facts))
            })
            .collect();
        (bodies != block.bodies).then(|| Block {
            bodies,
            ..block.clone()
        })
    }

    fn closed(&self, region: &Region, captures: &[Value]) -> Func {
        let mut b = Builder::new("");
        let mut map = HashMap::new();
        for &v in region.params.iter().chain(captures) {
            b.span = self.func.span(v);
            let param = b.param(self.func.ty(v).clone());
            map.insert(v, param);
        }
        for v in region.captures() {
            let data = self.values.get(&v).map(|&id| self.graph.data(id));
            if let Some(literal) = data.and_then(|d| d.constant.clone()) {
                b.span = self.func.span(v);
                let constant = b.op(Op::Constant((*literal).clone()), &[]);
                map.insert(v, constant);
            }
        }
        b.inline_insts(self.func, &region.insts, &mut map);
        let results = region.results.iter().map(|v| map[v]).collect();
        b.finish(results)
    }

    /// What is known of a closed region's parameters: of captures, all; of a scan's position and slices, what the
    /// operands say; of carries, nothing.
    fn param_facts(&self, inst: &Inst, region: &Region, captures: &[Id]) -> Vec<Facts> {
        let mut facts = vec![Facts::NONE; region.params.len()];
        if let Op::Scan { carry, .. } = inst.op {
            facts[0] = Facts::NONNEG;
            for (slice, xs) in inst.args.iter().enumerate().skip(carry) {
                facts[1 + slice] = self.graph.data(self.values[xs]).facts;
            }
        }
        facts.extend(captures.iter().map(|&c| self.graph.data(c).facts));
        facts
    }
}

/// The nodes of the source by class and canonical node: their operands in the order they were written, and the first
/// position.
pub fn written(loaded: &Loaded) -> HashMap<(Id, Node), (Vec<Id>, u32)> {
    let egg = &loaded.graph.egg;
    let mut found = HashMap::new();
    for written in &loaded.source {
        let node = egg.nodes()[usize::from(written.id)].clone();
        let canonical = egg::Language::map_children(node, |c| egg.find(c));
        let args = written.args.iter().map(|&a| egg.find(a)).collect();
        found
            .entry((egg.find(written.id), canonical))
            .or_insert((args, written.position));
    }
    found
}
