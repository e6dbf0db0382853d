//! A selection as instructions. They stand in the order of the source where they come from there; a new one stands
//! just before its first user. So a change in one place of the source changes the text in that place only.

use super::{Choice, Selection, Snapshot};
use crate::ir::{Builder, Func, Value};
use crate::opt::graph::{Block, Head, Kind, NO_ORIGIN};
use std::collections::{HashMap, HashSet};

/// The function that a selection stands for, with the parameters and spans of `source`.
pub fn emit(source: &Func, snapshot: &Snapshot, selection: &Selection, effects: usize) -> Func {
    let mut builder = Builder::new(source.name.clone());
    let mut inputs = Vec::new();
    for &p in &source.body.params {
        builder.span = source.span(p);
        inputs.push(builder.param(source.ty(p).clone()));
    }
    let mut emitter = Emitter {
        snapshot,
        selection,
        builder,
        inputs,
        values: HashMap::new(),
    };
    let used = emitter.used();
    let mut anchors: Vec<usize> = used
        .into_iter()
        .filter(|&class| snapshot.entries[class].origin != NO_ORIGIN)
        .collect();
    anchors.sort_by_key(|&class| (snapshot.entries[class].origin, class));
    for class in anchors.into_iter().chain(snapshot.roots.iter().copied()) {
        emitter.class(class);
    }
    let results = snapshot.roots[effects..]
        .iter()
        .map(|r| emitter.values[r][0])
        .collect();
    emitter.builder.finish(results)
}

struct Emitter<'a> {
    snapshot: &'a Snapshot,
    selection: &'a Selection,
    builder: Builder,
    inputs: Vec<Value>,
    /// The results of each class emitted.
    values: HashMap<usize, Vec<Value>>,
}

impl<'a> Emitter<'a> {
    fn choice(&self, class: usize) -> &'a Choice {
        &self.snapshot.entries[class].choices[self.selection[class]]
    }

    /// The classes that the roots need.
    fn used(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        let mut stack = self.snapshot.roots.clone();
        let mut used = Vec::new();
        while let Some(class) = stack.pop() {
            if seen.insert(class) {
                used.push(class);
                stack.extend(&self.choice(class).children);
            }
        }
        used
    }

    /// Emits a class after what it needs.
    fn class(&mut self, root: usize) {
        let mut stack = vec![(root, false)];
        while let Some((class, ready)) = stack.pop() {
            if self.values.contains_key(&class) {
                continue;
            }
            if ready {
                let values = self.node(class);
                self.values.insert(class, values);
            } else {
                stack.push((class, true));
                let children = &self.choice(class).children;
                stack.extend(children.iter().rev().map(|&c| (c, false)));
            }
        }
    }

    fn node(&mut self, class: usize) -> Vec<Value> {
        let choice = self.choice(class);
        self.builder.span = self.snapshot.entries[class].span;
        let mut args: Vec<Value> = Vec::new();
        for child in &choice.children {
            args.extend(self.values[child].first());
        }
        match &*choice.head {
            Head::Input(i) => vec![self.inputs[*i as usize]],
            Head::Proj(i) => vec![self.values[&choice.children[0]][*i as usize]],
            Head::Tuple => args,
            Head::Op(op) => {
                if choice.node.kind.commutes() && !choice.written {
                    self.tidy(&mut args, &choice.children);
                }
                self.builder.push(op.clone(), args, Vec::new())
            }
            Head::Block(block) => self.block(block, args),
        }
    }

    /// Operands of a new commutative node: the one defined first stands first, constants last.
    fn tidy(&self, args: &mut [Value], children: &[usize]) {
        let constant = |i: usize| self.choice(children[i]).node.kind == Kind::Constant;
        let mut keyed: Vec<(bool, Value)> = args
            .iter()
            .enumerate()
            .map(|(i, &v)| (constant(i), v))
            .collect();
        keyed.sort_unstable();
        for (arg, (_, v)) in args.iter_mut().zip(keyed) {
            *arg = v;
        }
    }

    /// Opens the bodies again: their last parameters are what they captured.
    fn block(&mut self, block: &Block, args: Vec<Value>) -> Vec<Value> {
        let (operands, captures) = args.split_at(block.operands);
        let span = self.builder.span;
        let mut regions = Vec::new();
        for body in &block.bodies {
            let func = &body.0;
            self.builder.open_region();
            let own = func.body.params.len() - captures.len();
            let mut actual = Vec::new();
            for &p in &func.body.params[..own] {
                self.builder.span = func.span(p);
                actual.push(self.builder.param(func.ty(p).clone()));
            }
            actual.extend(captures);
            let results = self.builder.inline(func, &actual);
            regions.push(self.builder.close_region(results));
        }
        self.builder.span = span;
        self.builder
            .push(block.op.clone(), operands.to_vec(), regions)
    }
}
