//! The e-graph of one region: nodes, what is known of their classes, and adding to it with types checked.

pub mod analysis;
pub mod facts;
pub mod fold;
pub mod lang;
pub mod load;

pub use analysis::{Data, NO_ORIGIN, Tensors};
pub use facts::Facts;
pub use lang::{Block, Body, Head, HeadId, Kind, Node};

use crate::ir::op::Op;
use crate::ir::shape;
use crate::ir::types::Type;
use egg::{EGraph, Id};
use std::sync::Arc;

/// The e-graph of a region.
pub struct Graph {
    pub egg: EGraph<Node, Tensors>,
}

impl Graph {
    /// An e-graph over parameters of these types.
    pub fn new(inputs: Vec<(Type, Facts)>) -> Graph {
        Graph {
            egg: EGraph::new(Tensors {
                inputs,
                ..Tensors::default()
            }),
        }
    }

    pub fn input(&mut self, index: usize) -> Id {
        let ty = self.egg.analysis.inputs[index].0.clone();
        self.insert(Head::Input(index as u32), Kind::Input, &[], vec![ty])
    }

    /// Adds a primitive without regions; an error where the shape rule refuses the operands.
    pub fn op(&mut self, op: Op, args: &[Id]) -> Result<Id, String> {
        let kind = Kind::of(&op);
        let head = self.egg.analysis.heads.intern(Head::Op(op.clone()));
        if let Some(id) = self.lookup(kind, head, args) {
            return Ok(id);
        }
        let types = infer(&self.egg, &op, args, &[])?;
        Ok(self.make(kind, head, args, types))
    }

    /// Adds a primitive with regions: its operands, then what its regions capture.
    pub fn block(&mut self, block: Block, args: &[Id]) -> Result<Id, String> {
        let kind = Kind::of(&block.op);
        let results: Vec<Vec<Type>> = block.bodies.iter().map(|b| b.0.output_types()).collect();
        let (op, operands) = (block.op.clone(), block.operands);
        let head = self.egg.analysis.heads.intern(Head::Block(block));
        if let Some(id) = self.lookup(kind, head, args) {
            return Ok(id);
        }
        let types = infer(&self.egg, &op, &args[..operands], &results)?;
        Ok(self.make(kind, head, args, types))
    }

    /// One result of a node that has several; the node itself where it has one.
    pub fn proj(&mut self, of: Id, index: usize) -> Id {
        let types = self.egg[of].data.types.clone();
        if types.len() == 1 {
            return of;
        }
        let tuple = self.egg[of]
            .nodes
            .iter()
            .find(|n| n.kind == Kind::Tuple)
            .map(|n| n.children[index]);
        if let Some(id) = tuple {
            return id;
        }
        let ty = types[index].clone();
        self.insert(Head::Proj(index as u32), Kind::Proj, &[of], vec![ty])
    }

    /// Several values as one multi-result node; a single value as itself.
    pub fn tuple(&mut self, values: &[Id]) -> Id {
        if let [one] = values {
            return *one;
        }
        let types = values
            .iter()
            .map(|&v| self.egg[v].data.ty().clone())
            .collect();
        self.insert(Head::Tuple, Kind::Tuple, values, types)
    }

    pub fn data(&self, id: Id) -> &Data {
        &self.egg[id].data
    }

    pub fn head(&self, node: &Node) -> Arc<Head> {
        self.egg.analysis.heads.get(node.head).clone()
    }

    /// The primitive of a node, without regions or with.
    pub fn op_of(&self, node: &Node) -> Option<Op> {
        match &**self.egg.analysis.heads.get(node.head) {
            Head::Op(op) => Some(op.clone()),
            Head::Block(block) => Some(block.op.clone()),
            Head::Input(_) | Head::Proj(_) | Head::Tuple => None,
        }
    }

    fn insert(&mut self, head: Head, kind: Kind, args: &[Id], types: Vec<Type>) -> Id {
        let head = self.egg.analysis.heads.intern(head);
        match self.lookup(kind, head, args) {
            Some(id) => id,
            None => self.make(kind, head, args, types),
        }
    }

    fn lookup(&self, kind: Kind, head: HeadId, args: &[Id]) -> Option<Id> {
        self.egg.lookup(Node {
            kind,
            head,
            children: args.into(),
        })
    }

    fn make(&mut self, kind: Kind, head: HeadId, args: &[Id], types: Vec<Type>) -> Id {
        self.egg.analysis.pending = Some(types.into());
        let id = self.egg.add(Node {
            kind,
            head,
            children: args.into(),
        });
        self.egg.analysis.pending = None;
        id
    }
}

fn infer(
    egg: &EGraph<Node, Tensors>,
    op: &Op,
    args: &[Id],
    bodies: &[Vec<Type>],
) -> Result<Vec<Type>, String> {
    let args: Vec<&Type> = args.iter().map(|&a| egg[a].data.ty()).collect();
    shape::infer(op, &args, bodies)
}

/// Whether an instruction, or one inside its regions, acts on the outside.
pub fn has_effect(inst: &crate::ir::Inst) -> bool {
    use crate::ir::op::HostSource;
    inst.any(&|op| matches!(op, Op::Effect(..) | Op::Host(HostSource::Time)))
}
