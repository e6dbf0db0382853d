//! What is known of every e-class: types, data where it is constant, facts, and where in the source it comes from.
//!
//! A merge that disagrees on types is always a bug of a rule. One that disagrees on constant data is too, as long as
//! only exact rules have been applied; once one that rounds differently has, the earlier constant is kept.

use super::facts::{self, Facts};
use super::fold;
use super::lang::{Head, Heads, Kind, Node};
use crate::ir::Literal;
use crate::ir::op::Op;
use crate::ir::types::Type;
use egg::{Analysis, DidMerge, EGraph, Id};
use std::borrow::Cow;
use std::sync::Arc;
use tpuc_lang::span::Span;

/// The position of what no instruction of the source stands for.
pub const NO_ORIGIN: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct Data {
    /// One type a result; most nodes have one.
    pub types: Arc<[Type]>,
    /// The value, where it is the same for all inputs and worth writing out.
    pub constant: Option<Arc<Literal>>,
    pub facts: Facts,
    /// Position of the first instruction of the source that computes this, [`NO_ORIGIN`] where none does.
    pub origin: u32,
    pub span: Span,
}

impl Data {
    /// The type of a single-result class.
    pub fn ty(&self) -> &Type {
        &self.types[0]
    }

    pub fn splat(&self) -> Option<u64> {
        self.constant.as_ref().and_then(|c| c.splat())
    }
}

/// egg's analysis: the tables that nodes point into, and the state of the current insertion.
#[derive(Debug, Default)]
pub struct Tensors {
    pub heads: Heads,
    /// Types of the region's parameters, and what is known of them.
    pub inputs: Vec<(Type, Facts)>,
    /// Where new classes come from.
    pub span: Span,
    /// Types of the node being added, inferred by who adds it.
    pub(super) pending: Option<Arc<[Type]>>,
    /// Classes made, merged or learned of since the last look; what has to be searched again.
    pub touched: Vec<Id>,
    /// Set once a rule that is not exact has been applied.
    pub inexact: bool,
    /// A disagreement found by a merge: an unsound rule.
    pub unsound: Option<String>,
}

impl Analysis<Node> for Tensors {
    type Data = Data;

    fn make(egraph: &mut EGraph<Node, Self>, node: &Node, id: Id) -> Data {
        let types = match egraph.analysis.pending.take() {
            Some(types) => types,
            // A node that is added again while rebuilding has its class already.
            None => egraph[id].data.types.clone(),
        };
        let head = egraph.analysis.heads.get(node.head).clone();
        let mut data = Data {
            types,
            constant: None,
            facts: Facts::NONE,
            origin: NO_ORIGIN,
            span: egraph.analysis.span,
        };
        if data.types.len() != 1 {
            return data;
        }
        data.constant = constant(egraph, &head, node, data.ty());
        data.facts = match (&data.constant, &*head) {
            (Some(literal), _) => Facts::of_literal(literal),
            (None, Head::Input(i)) => {
                let (ty, known) = &egraph.analysis.inputs[*i as usize];
                known.or(Facts::of_elem(ty.elem))
            }
            (None, _) => {
                let child: Vec<(Facts, &Type)> = node
                    .children
                    .iter()
                    .map(|&c| (egraph[c].data.facts, &egraph[c].data.types))
                    .filter_map(|(f, t)| Some((f, t.first()?)))
                    .collect();
                facts::infer(&head, node, &child, data.ty())
            }
        };
        data
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        if a.types != b.types {
            self.disagree(format!(
                "types {:?} and {:?} were made equal",
                a.types, b.types
            ));
        }
        let (old_constant, old_facts) = (a.constant.is_some(), a.facts);
        match (&a.constant, b.constant.clone()) {
            (Some(x), Some(y)) if *x != y && !self.inexact => {
                self.disagree(format!("constants {x:?} and {y:?} were made equal"));
            }
            (None, Some(y)) => a.constant = Some(y),
            _ => {}
        }
        a.facts = a.facts.or(b.facts);
        if b.origin < a.origin {
            a.origin = b.origin;
            a.span = b.span;
        }
        DidMerge(
            a.constant.is_some() != old_constant || a.facts != old_facts,
            a.constant.is_some() != b.constant.is_some() || a.facts != b.facts,
        )
    }

    /// A constant class holds its constant, and nothing else is worth keeping in it.
    fn modify(egraph: &mut EGraph<Node, Self>, id: Id) {
        egraph.analysis.touched.push(id);
        let Some(literal) = egraph[id].data.constant.clone() else {
            return;
        };
        let head = egraph
            .analysis
            .heads
            .intern(Head::Op(Op::Constant((*literal).clone())));
        let node = Node {
            kind: Kind::Constant,
            head,
            children: Default::default(),
        };
        if egraph[id].nodes.len() == 1 && egraph[id].nodes[0] == node {
            return;
        }
        egraph.analysis.pending = Some(egraph[id].data.types.clone());
        let made = egraph.add(node.clone());
        egraph.analysis.pending = None;
        egraph.union(id, made);
        let root = egraph.find(id);
        egraph[root].nodes.retain(|n| *n == node);
    }
}

impl Tensors {
    fn disagree(&mut self, what: String) {
        debug_assert!(false, "unsound rewrite: {what}");
        self.unsound.get_or_insert(what);
    }
}

fn constant(
    egraph: &EGraph<Node, Tensors>,
    head: &Head,
    node: &Node,
    result: &Type,
) -> Option<Arc<Literal>> {
    // Whatever computes no elements computes the same as everything else that does.
    if result.numel() == 0 {
        return Some(Arc::new(Literal::splat_bits(result.clone(), 0)));
    }
    match head {
        Head::Op(Op::Constant(literal)) => Some(Arc::new(literal.clone())),
        Head::Op(op) => {
            let args = constants(egraph, node)?;
            let mut values = fold::fold(op, &args, std::slice::from_ref(result))?;
            values.pop().map(Arc::new)
        }
        Head::Proj(i) => {
            let of = &egraph[node.children[0]];
            let threefry = of.nodes.iter().find(|n| n.kind == Kind::Threefry)?;
            let counted: Option<Vec<Cow<Literal>>> = threefry
                .children
                .iter()
                .map(|&c| counted(egraph, c))
                .collect();
            let counted = counted?;
            let args: Vec<&Literal> = counted.iter().map(|c| &**c).collect();
            let mut values = fold::fold(&Op::Threefry, &args, &of.data.types)?;
            Some(Arc::new(values.swap_remove(*i as usize)))
        }
        Head::Input(_) | Head::Tuple | Head::Block(_) => None,
    }
}

/// The data of a class that is constant or counts: random keys are derived from a few small counts.
fn counted(egraph: &EGraph<Node, Tensors>, id: Id) -> Option<Cow<'_, Literal>> {
    let class = &egraph[id];
    if let Some(literal) = &class.data.constant {
        return Some(Cow::Borrowed(literal));
    }
    let iota = class.nodes.iter().find(|n| n.kind == Kind::Iota)?;
    match &**egraph.analysis.heads.get(iota.head) {
        Head::Op(op) => fold::count(op).map(Cow::Owned),
        _ => None,
    }
}

/// The constants that a node's children are, if they all are.
fn constants<'a>(egraph: &'a EGraph<Node, Tensors>, node: &Node) -> Option<Vec<&'a Literal>> {
    node.children
        .iter()
        .map(|&c| egraph[c].data.constant.as_deref())
        .collect()
}
