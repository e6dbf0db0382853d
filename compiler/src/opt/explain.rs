//! Why each value became what it did: the chain of rules from a node of the source to the node that stands for it.

use super::extract::{Selection, Snapshot};
use super::graph::load::Loaded;
use super::graph::{Head, Kind, Node};
use super::rewrite::RuleSet;
use super::rewrite::saturate::Saturation;
use crate::ir::Func;
use crate::ir::print::numbers;
use egg::{Id, Language};
use std::collections::{HashMap, HashSet, VecDeque};
use tpuc_lang::span::Span;

/// An instruction of the source in whose place something else stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub span: Span,
    /// The instruction as it was.
    pub was: String,
    /// What stands for it, down to values of the source.
    pub is: String,
    /// The rules that lead from one to the other, in order.
    pub rules: Vec<&'static str>,
}

/// The changes of one function, in the order of its instructions.
pub fn changes(
    func: &Func,
    loaded: &Loaded,
    saturation: &Saturation,
    rules: &RuleSet,
    snapshot: &Snapshot,
    selection: &Selection,
) -> Vec<Change> {
    let egg = &loaded.graph.egg;
    let canonical = |id: Id| {
        egg.nodes()[usize::from(id)]
            .clone()
            .map_children(|c| egg.find(c))
    };
    let position: HashMap<Id, usize> = (0..)
        .zip(&snapshot.entries)
        .map(|(i, e)| (e.id, i))
        .collect();
    let used = in_use(snapshot, selection);
    let steps = Steps::new(loaded, saturation, rules);
    let writer = Writer::new(func, loaded, snapshot, selection, &position);
    let mut found = Vec::new();
    for written in &loaded.source {
        let node = canonical(written.id);
        let class = egg.find(written.id);
        let Some(&at) = position.get(&class).filter(|at| used.contains(at)) else {
            continue;
        };
        let chosen = &snapshot.entries[at].choices[selection[at]].node;
        if node.kind == Kind::Proj || node == *chosen {
            continue;
        }
        let Some(inst) = func.body.insts.get(written.position as usize - 1) else {
            continue;
        };
        let Some(&result) = inst.results.first() else {
            continue;
        };
        let args: Vec<String> = inst.args.iter().map(|&v| writer.value(v)).collect();
        found.push(Change {
            span: func.span(result),
            was: format!("{} = {} {}", writer.value(result), inst.op, args.join(", ")),
            is: writer.class(at, 0),
            rules: steps.between(written.id, chosen),
        });
    }
    found
}

fn in_use(snapshot: &Snapshot, selection: &Selection) -> HashSet<usize> {
    let mut used = HashSet::new();
    let mut stack = snapshot.roots.clone();
    while let Some(class) = stack.pop() {
        if used.insert(class) {
            stack.extend(&snapshot.entries[class].choices[selection[class]].children);
        }
    }
    used
}

/// The nodes of each class, and what made them equal: a rule, or being the same node by now.
struct Steps<'a> {
    loaded: &'a Loaded,
    beside: HashMap<Id, Vec<(Id, Option<&'static str>)>>,
}

impl<'a> Steps<'a> {
    fn new(loaded: &'a Loaded, saturation: &Saturation, rules: &RuleSet) -> Steps<'a> {
        let mut beside: HashMap<Id, Vec<(Id, Option<&'static str>)>> = HashMap::new();
        let mut both = |a: Id, b: Id, rule| {
            beside.entry(a).or_default().push((b, rule));
            beside.entry(b).or_default().push((a, rule));
        };
        for union in &saturation.unions {
            let name = rules.rules[union.rule].rule.name;
            both(union.left, union.right, Some(name));
        }
        let mut first: HashMap<(Id, Node), Id> = HashMap::new();
        let mut steps = Steps {
            loaded,
            beside: HashMap::new(),
        };
        for i in 0..loaded.graph.egg.nodes().len() {
            let id = Id::from(i);
            let key = (loaded.graph.egg.find(id), steps.canonical(id));
            match first.get(&key) {
                Some(&other) => both(id, other, None),
                None => {
                    first.insert(key, id);
                }
            }
        }
        steps.beside = beside;
        steps
    }

    fn canonical(&self, id: Id) -> Node {
        let egg = &self.loaded.graph.egg;
        let node = egg.nodes()[usize::from(id)].clone();
        node.map_children(|c| egg.find(c))
    }

    /// The rules on a shortest way to a node; what folding found is said as such.
    fn between(&self, from: Id, to: &Node) -> Vec<&'static str> {
        let mut came: HashMap<Id, (Id, Option<&'static str>)> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        let mut seen = HashSet::from([from]);
        while let Some(id) = queue.pop_front() {
            if self.canonical(id) == *to {
                let mut rules = Vec::new();
                let mut at = id;
                while let Some(&(before, rule)) = came.get(&at) {
                    rules.extend(rule);
                    at = before;
                }
                rules.reverse();
                rules.dedup();
                return rules;
            }
            for &(next, rule) in self.beside.get(&id).into_iter().flatten() {
                if seen.insert(next) {
                    came.insert(next, (id, rule));
                    queue.push_back(next);
                }
            }
        }
        match to.kind {
            Kind::Constant => vec!["constant folding"],
            Kind::Scan | Kind::While | Kind::If => vec!["its regions"],
            _ => Vec::new(),
        }
    }
}

/// Expressions over values of the source.
struct Writer<'a> {
    numbers: Vec<Option<u32>>,
    /// For each class that the source computes, the number of the value.
    known: HashMap<usize, String>,
    snapshot: &'a Snapshot,
    selection: &'a Selection,
}

/// Expressions are written so deep.
const DEPTH: usize = 6;

impl<'a> Writer<'a> {
    fn new(
        func: &Func,
        loaded: &Loaded,
        snapshot: &'a Snapshot,
        selection: &'a Selection,
        position: &HashMap<Id, usize>,
    ) -> Writer<'a> {
        let mut writer = Writer {
            numbers: numbers(func),
            known: HashMap::new(),
            snapshot,
            selection,
        };
        let egg = &loaded.graph.egg;
        for written in &loaded.source {
            let inst = func.body.insts.get(written.position as usize - 1);
            let result = inst.and_then(|i| i.results.first());
            if let (Some(&at), Some(&v)) = (position.get(&egg.find(written.id)), result) {
                let name = writer.value(v);
                writer.known.entry(at).or_insert(name);
            }
        }
        writer
    }

    fn value(&self, v: crate::ir::Value) -> String {
        match self.numbers[v.0 as usize] {
            Some(n) => format!("%{n}"),
            None => format!("%{}", v.0),
        }
    }

    fn class(&self, at: usize, depth: usize) -> String {
        let choice = &self.snapshot.entries[at].choices[self.selection[at]];
        if depth > 0
            && let Some(name) = self.known.get(&at)
            && choice.node.kind != Kind::Constant
        {
            return name.clone();
        }
        let op = match &*choice.head {
            Head::Input(i) => return format!("%{i}"),
            Head::Proj(i) => {
                return format!("result {i} of {}", self.class(choice.children[0], depth));
            }
            Head::Tuple => "tuple".to_string(),
            Head::Op(op) => op.to_string(),
            Head::Block(block) => return block.op.to_string(),
        };
        if depth == DEPTH {
            return "…".into();
        }
        let args: Vec<String> = choice
            .children
            .iter()
            .map(|&c| self.class(c, depth + 1))
            .collect();
        match args.is_empty() {
            true => op,
            false => format!("{op}({})", args.join(", ")),
        }
    }
}
