//! Applying rules until nothing changes or a limit is met. Only classes that were touched since the last iteration,
//! and those that look down on them, are searched again. There is no clock in here: limits count nodes and iterations,
//! so that every run and machine stops at the same place.

use super::matcher::Match;
use super::rule::{Class, RuleSet};
use crate::opt::graph::{Graph, Head, Kind};
use egg::Id;
use std::collections::{BTreeMap, HashMap};

/// The e-graph may grow to this many nodes, and by [`NODES_PER_INSTRUCTION`] for each node it starts with.
pub const NODE_LIMIT: usize = 4_000;
pub const NODES_PER_INSTRUCTION: usize = 12;
pub const ITERATION_LIMIT: usize = 24;

/// Why saturation stopped, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// No rule had anything left to do.
    Saturated,
    IterationLimit,
    NodeLimit,
}

impl Stop {
    pub fn name(self) -> &'static str {
        match self {
            Stop::Saturated => "saturated",
            Stop::NodeLimit => "node limit",
            Stop::IterationLimit => "iteration limit",
        }
    }
}

/// One union that a rule made: the rule by position, the class it matched and the class it built.
#[derive(Clone, Copy, Debug)]
pub struct Union {
    pub rule: usize,
    pub left: Id,
    pub right: Id,
}

/// What saturation did.
#[derive(Clone, Debug)]
pub struct Saturation {
    pub iterations: usize,
    pub stop: Stop,
    pub unions: Vec<Union>,
}

/// Applies `rules` to `graph`.
pub fn saturate(graph: &mut Graph, rules: &RuleSet) -> Saturation {
    let limit = NODE_LIMIT + NODES_PER_INSTRUCTION * graph.egg.total_size();
    let deepest = rules.rules.iter().map(|r| r.matcher.depth()).max();
    let mut unions = Vec::new();
    graph.egg.analysis.touched.clear();
    let mut heights: Option<HashMap<Id, usize>> = None;
    for iteration in 0..ITERATION_LIMIT {
        let found = search(graph, rules, heights.as_ref());
        let before = unions.len();
        let full = apply(graph, rules, found, limit, &mut unions);
        graph.egg.rebuild();
        project_tuples(graph);
        let stop = if full {
            Some(Stop::NodeLimit)
        } else if unions.len() == before {
            Some(Stop::Saturated)
        } else {
            None
        };
        if let Some(stop) = stop {
            return Saturation {
                iterations: iteration + 1,
                stop,
                unions,
            };
        }
        heights = Some(heights_above(graph, deepest.unwrap_or(0)));
    }
    Saturation {
        iterations: ITERATION_LIMIT,
        stop: Stop::IterationLimit,
        unions,
    }
}

/// All matches whose conditions hold, by rule, then class.
fn search(
    graph: &Graph,
    rules: &RuleSet,
    heights: Option<&HashMap<Id, usize>>,
) -> Vec<(usize, Match)> {
    let mut by_kind: BTreeMap<Kind, Vec<(Id, usize)>> = BTreeMap::new();
    for class in graph.egg.classes() {
        let height = match heights {
            None => 0,
            Some(heights) => match heights.get(&class.id) {
                Some(&h) => h,
                None => continue,
            },
        };
        let mut last = None;
        for node in &class.nodes {
            if last != Some(node.kind) {
                last = Some(node.kind);
                by_kind
                    .entry(node.kind)
                    .or_default()
                    .push((class.id, height));
            }
        }
    }
    let mut found = Vec::new();
    let mut matches = Vec::new();
    for (index, compiled) in rules.rules.iter().enumerate() {
        let roots = compiled.matcher.roots();
        let mut classes: Vec<(Id, usize)> = roots
            .iter()
            .filter_map(|root| by_kind.get(root))
            .flatten()
            .filter(|(_, height)| *height <= compiled.matcher.depth())
            .copied()
            .collect();
        classes.sort_unstable();
        classes.dedup();
        for (class, _) in classes {
            compiled.matcher.search(graph, class, &mut matches);
        }
        let held = matches.drain(..).filter(|m| compiled.holds(graph, m));
        found.extend(held.map(|m| (index, m)));
    }
    found
}

/// Applies matches in order; whether the node limit was met.
fn apply(
    graph: &mut Graph,
    rules: &RuleSet,
    found: Vec<(usize, Match)>,
    limit: usize,
    unions: &mut Vec<Union>,
) -> bool {
    for (index, found) in found {
        let compiled = &rules.rules[index];
        let exact = compiled.rule.class == Class::Exact;
        // Constant data is folded exactly already; a rule that rounds differently would contradict it.
        if !exact && graph.data(found.class).constant.is_some() {
            continue;
        }
        graph.egg.analysis.span = graph.data(found.class).span;
        let Some(right) = compiled.apply(graph, &found) else {
            continue;
        };
        let left = found.class;
        if graph.egg.find(left) != graph.egg.find(right) {
            graph.egg.analysis.inexact |= !exact;
            unions.push(Union {
                rule: index,
                left,
                right,
            });
            graph.egg.union(left, right);
        }
        if graph.egg.total_size() > limit {
            return true;
        }
    }
    false
}

/// A result of a tuple is what the tuple has there. Rules say what a primitive with several results equals by a tuple.
fn project_tuples(graph: &mut Graph) {
    let tuple = |graph: &Graph, id: Id| {
        let nodes = &graph.egg[id].nodes;
        nodes.iter().find(|n| n.kind == Kind::Tuple).cloned()
    };
    loop {
        let mut equal: Vec<(Id, Id)> = Vec::new();
        for class in graph.egg.classes() {
            for node in class.nodes.iter().filter(|n| n.kind == Kind::Proj) {
                let Some(tuple) = tuple(graph, node.children[0]) else {
                    continue;
                };
                if let Head::Proj(i) = &*graph.head(node) {
                    equal.push((class.id, tuple.children[*i as usize]));
                }
            }
        }
        let mut any = false;
        for (a, b) in equal {
            any |= graph.egg.union(a, b);
        }
        if !any {
            return;
        }
        graph.egg.rebuild();
    }
}

/// The touched classes at height 0, and those above them by how far they look down, up to `deepest`.
fn heights_above(graph: &mut Graph, deepest: usize) -> HashMap<Id, usize> {
    let touched = std::mem::take(&mut graph.egg.analysis.touched);
    let mut heights = HashMap::new();
    let mut level: Vec<Id> = touched.iter().map(|&id| graph.egg.find(id)).collect();
    for height in 0..=deepest {
        let mut next = Vec::new();
        for id in level {
            if heights.contains_key(&id) {
                continue;
            }
            heights.insert(id, height);
            next.extend(graph.egg[id].parents().map(|p| graph.egg.find(p)));
        }
        level = next;
    }
    heights
}
