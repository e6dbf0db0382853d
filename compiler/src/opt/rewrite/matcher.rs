//! Finding a pattern in an e-graph: the pattern is flattened into steps over registers, run with backtracking.

use super::pattern::{Args, Number, Pattern};
use crate::ir::literal::encode_f64;
use crate::opt::graph::{Graph, Kind, Node};
use egg::Id;
use smallvec::SmallVec;

/// One way a pattern fits: the class of its root, and what its letters stand for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    pub class: Id,
    pub vars: SmallVec<[(char, Id); 6]>,
    pub nodes: SmallVec<[(char, Node); 3]>,
}

impl Match {
    pub fn var(&self, name: char) -> Option<Id> {
        self.vars
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, id)| *id)
    }

    pub fn node(&self, name: char) -> Option<&Node> {
        self.nodes.iter().find(|(n, _)| *n == name).map(|(_, n)| n)
    }
}

/// A pattern ready to be searched for.
#[derive(Clone, Debug)]
pub struct Matcher {
    roots: Vec<Kind>,
    depth: usize,
    steps: Vec<Step>,
    registers: usize,
}

#[derive(Clone, Debug)]
enum Step {
    /// The class in `at` holds a node of these kinds; its children go to the registers from `children` on.
    Node {
        at: usize,
        kinds: Vec<Kind>,
        bind: Option<char>,
        /// `None` for any number, of which none is looked at.
        arity: Option<usize>,
        children: usize,
    },
    Var {
        at: usize,
        name: char,
    },
    Splat {
        at: usize,
        name: char,
    },
    Number {
        at: usize,
        number: Number,
    },
}

impl Matcher {
    /// An error when the pattern has no primitive at its root.
    pub fn new(pattern: &Pattern) -> Result<Matcher, String> {
        let Pattern::Apply { kinds, .. } = pattern else {
            return Err("the left side of a rule is a primitive".into());
        };
        let mut steps = Vec::new();
        let mut registers = 1;
        flatten(pattern, 0, &mut registers, &mut steps);
        Ok(Matcher {
            roots: kinds.clone(),
            depth: pattern.depth(),
            steps,
            registers,
        })
    }

    /// The kinds of node that a match can have at its root.
    pub fn roots(&self) -> &[Kind] {
        &self.roots
    }

    /// How many primitives deep the pattern looks.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// All ways in which the pattern fits in this class, sorted.
    pub fn search(&self, graph: &Graph, class: Id, found: &mut Vec<Match>) {
        let first = found.len();
        let mut run = Run {
            graph,
            steps: &self.steps,
            registers: SmallVec::from_elem(class, self.registers),
            current: Match {
                class,
                vars: SmallVec::new(),
                nodes: SmallVec::new(),
            },
            found,
        };
        run.step(0);
        if found.len() > first + 1 {
            found[first..].sort_unstable();
            let mut kept = first + 1;
            for i in first + 1..found.len() {
                if found[i] != found[kept - 1] {
                    found.swap(i, kept);
                    kept += 1;
                }
            }
            found.truncate(kept);
        }
    }
}

/// Appends the steps for `pattern` in register `at`. What filters most stands first: numbers and constants, then
/// primitives, then letters.
fn flatten(pattern: &Pattern, at: usize, registers: &mut usize, steps: &mut Vec<Step>) {
    match pattern {
        Pattern::Var(name) => steps.push(Step::Var { at, name: *name }),
        Pattern::Splat(name) => steps.push(Step::Splat { at, name: *name }),
        Pattern::Number(number) => steps.push(Step::Number {
            at,
            number: *number,
        }),
        Pattern::Apply { kinds, bind, args } => {
            let children = *registers;
            let list: &[Pattern] = match args {
                Args::Any => &[],
                Args::Fixed(list) => list,
            };
            *registers += list.len();
            steps.push(Step::Node {
                at,
                kinds: kinds.clone(),
                bind: *bind,
                arity: matches!(args, Args::Fixed(_)).then_some(list.len()),
                children,
            });
            let mut order: Vec<usize> = (0..list.len()).collect();
            order.sort_by_key(|&i| match &list[i] {
                Pattern::Number(_) => 0,
                Pattern::Splat(_) => 1,
                Pattern::Apply { .. } => 2,
                Pattern::Var(_) => 3,
            });
            for i in order {
                flatten(&list[i], children + i, registers, steps);
            }
        }
    }
}

struct Run<'a> {
    graph: &'a Graph,
    steps: &'a [Step],
    registers: SmallVec<[Id; 12]>,
    current: Match,
    found: &'a mut Vec<Match>,
}

impl Run<'_> {
    fn step(&mut self, index: usize) {
        let Some(step) = self.steps.get(index) else {
            self.found.push(self.current.clone());
            return;
        };
        match step {
            Step::Var { at, name } => self.bind(index, *name, self.registers[*at]),
            Step::Splat { at, name } => {
                let id = self.registers[*at];
                if self.graph.data(id).splat().is_some() {
                    self.bind(index, *name, id);
                }
            }
            Step::Number { at, number } => {
                if is_number(self.graph, self.registers[*at], *number) {
                    self.step(index + 1);
                }
            }
            Step::Node {
                at,
                kinds,
                bind,
                arity,
                children,
            } => {
                let graph = self.graph;
                for node in &graph.egg[self.registers[*at]].nodes {
                    if kinds.contains(&node.kind) && arity.is_none_or(|n| n == node.children.len())
                    {
                        self.node(index, node, *bind, arity.is_some(), *children);
                    }
                }
            }
        }
    }

    fn bind(&mut self, index: usize, name: char, id: Id) {
        match self.current.var(name) {
            Some(bound) if bound == id => self.step(index + 1),
            Some(_) => {}
            None => {
                self.current.vars.push((name, id));
                self.step(index + 1);
                self.current.vars.pop();
            }
        }
    }

    fn node(
        &mut self,
        index: usize,
        node: &Node,
        bind: Option<char>,
        fixed: bool,
        children: usize,
    ) {
        if let Some(name) = bind {
            match self.current.node(name) {
                Some(bound) if bound.head != node.head => return,
                Some(_) => return self.children(index, node, fixed, children),
                None => self.current.nodes.push((name, node.clone())),
            }
            self.children(index, node, fixed, children);
            self.current.nodes.pop();
        } else {
            self.children(index, node, fixed, children);
        }
    }

    fn children(&mut self, index: usize, node: &Node, fixed: bool, children: usize) {
        if !fixed {
            return self.step(index + 1);
        }
        for (i, &c) in node.children.iter().enumerate() {
            self.registers[children + i] = c;
        }
        self.step(index + 1);
        if node.kind.commutes() && node.children[0] != node.children[1] {
            self.registers[children] = node.children[1];
            self.registers[children + 1] = node.children[0];
            self.step(index + 1);
        }
    }
}

/// Whether every element of a class is this number, bit for bit.
fn is_number(graph: &Graph, id: Id, number: Number) -> bool {
    let data = graph.data(id);
    let Some(bits) = data.splat() else {
        return false;
    };
    let elem = data.ty().elem;
    match number {
        Number::Bool(b) => elem == crate::ir::types::Elem::Bool && bits == u64::from(b),
        // −0 is a float's only: an integer 0 is written 0.
        Number::Value(v) if v == 0.0 && v.is_sign_negative() && !elem.is_float() => false,
        Number::Value(v) => {
            elem != crate::ir::types::Elem::Bool
                && crate::ir::literal::decode_f64(elem, encode_f64(elem, v)) == v
                && bits == encode_f64(elem, v)
        }
    }
}
