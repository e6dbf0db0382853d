//! The part of an e-graph that the roots need, frozen into dense arrays: classes by position, and for each the nodes
//! that could stand for it, with their profiles.

use crate::ir::types::Type;
use crate::opt::cost::{Cost, DeviceCost, Profile, of_func, profile};
use crate::opt::graph::load::{self, Loaded};
use crate::opt::graph::{Graph, Head, Node};
use egg::Id;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;
use tpuc_lang::span::Span;

/// One node that could stand for its class.
#[derive(Clone, Debug)]
pub struct Choice {
    pub head: Arc<Head>,
    pub node: Node,
    /// Classes, by position; as written in the source where the node comes from there.
    pub children: SmallVec<[usize; 4]>,
    pub profile: Profile,
    /// Whether the source has this node.
    pub written: bool,
}

/// A class and what could stand for it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub id: Id,
    pub types: Arc<[Type]>,
    pub origin: u32,
    pub span: Span,
    /// At least one. The source's nodes stand first, in its order, so that the first of every class together have no
    /// circle; the others in a fixed order.
    pub choices: Vec<Choice>,
}

pub struct Snapshot {
    pub entries: Vec<Entry>,
    /// Positions of the roots, effects first.
    pub roots: Vec<usize>,
}

impl Snapshot {
    pub fn take(loaded: &Loaded, device: &DeviceCost) -> Snapshot {
        let graph = &loaded.graph;
        let written = load::written(loaded);
        let mut order: Vec<Id> = Vec::new();
        let mut position: HashMap<Id, usize> = HashMap::new();
        let mut visit = |id: Id, order: &mut Vec<Id>| {
            *position.entry(id).or_insert_with(|| {
                order.push(id);
                order.len() - 1
            })
        };
        let roots = loaded
            .roots
            .iter()
            .map(|&r| visit(graph.egg.find(r), &mut order))
            .collect();
        let mut entries: Vec<Entry> = Vec::new();
        while entries.len() < order.len() {
            let id = order[entries.len()];
            let class = &graph.egg[id];
            let mut choices: Vec<(u32, Choice)> = class
                .nodes
                .iter()
                .filter(|n| n.children.iter().all(|&c| graph.egg.find(c) != id))
                .map(|node| {
                    let source = written.get(&(id, node.clone()));
                    let source = source.filter(|(args, _)| args.len() == node.children.len());
                    let ids = source.map_or(&node.children[..], |(args, _)| args);
                    let profile = profile_of(graph, node, &class.data.types, device);
                    let leaf = node.children.is_empty();
                    let position = match source {
                        Some((_, position)) => *position,
                        None if leaf => u32::MAX - 1,
                        None => u32::MAX,
                    };
                    let choice = Choice {
                        head: graph.head(node),
                        node: node.clone(),
                        children: ids
                            .iter()
                            .map(|&c| visit(graph.egg.find(c), &mut order))
                            .collect(),
                        profile,
                        written: source.is_some() || leaf,
                    };
                    (position, choice)
                })
                .collect();
            choices.sort_by_key(|(position, _)| *position);
            entries.push(Entry {
                id,
                types: class.data.types.clone(),
                origin: class.data.origin,
                span: class.data.span,
                choices: choices.into_iter().map(|(_, choice)| choice).collect(),
            });
        }
        Snapshot { entries, roots }
    }
}

fn profile_of(graph: &Graph, node: &Node, results: &[Type], device: &DeviceCost) -> Profile {
    let types = |ids: &[Id]| -> Vec<&Type> { ids.iter().map(|&c| graph.data(c).ty()).collect() };
    match &*graph.head(node) {
        Head::Input(_) | Head::Proj(_) => Profile::stored(results),
        Head::Tuple => Profile::free(),
        Head::Op(op) => profile(op, &types(&node.children), results, &[], device),
        Head::Block(block) => {
            let bodies: Vec<Cost> = block.bodies.iter().map(|b| of_func(&b.0, device)).collect();
            let args = types(&node.children[..block.operands]);
            profile(&block.op, &args, results, &bodies, device)
        }
    }
}
