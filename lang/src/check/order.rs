//! Who calls whom: the order in which functions are checked, and recursion.
//!
//! Found from names in the syntax tree, with the names of variables kept apart, before anything is typed.

use super::load::{ModuleId, ROOT};
use super::problem::Problem;
use super::show::Names;
use super::world::{Item, ItemFn, World};
use crate::ast::{self, Expr, ExprKind as A, ForIter, IndexArg, Name, Pattern, StmtKind, StrPart};
use crate::span::Span;
use std::collections::{HashMap, HashSet};

/// A mention of a function inside another.
#[derive(Clone, Copy, Debug)]
struct Edge {
    to: ItemFn,
    span: Span,
}

/// Every function that `main`, a test or the user's files lead to, callees first. Reports recursion.
pub fn order(w: &mut World) -> Vec<ItemFn> {
    let mut graph: HashMap<ItemFn, Vec<Edge>> = HashMap::new();
    let mut roots: Vec<ItemFn> = (0..w.fns.len())
        .map(ItemFn)
        .filter(|id| !w.module(w.fns[id.0].module).std)
        .collect();
    let scripts: Vec<&ast::Block> = w
        .mains
        .iter()
        .copied()
        .chain(w.tests.iter().map(|(t, _)| &t.body))
        .collect();
    for block in scripts {
        let mut walk = Walk::new(w, ROOT);
        walk.block(block);
        roots.extend(walk.finish().iter().map(|e| e.to));
    }
    let consts: Vec<(ModuleId, &Expr)> = w
        .consts
        .iter()
        .filter(|c| !w.module(c.module).std)
        .map(|c| (c.module, &c.def.value))
        .collect();
    let mut walk = Walk::new(w, ROOT);
    for (module, value) in consts {
        walk.module = module;
        walk.expr(value);
    }
    roots.extend(walk.finish().iter().map(|e| e.to));
    let mut todo = roots.clone();
    while let Some(id) = todo.pop() {
        if graph.contains_key(&id) {
            continue;
        }
        let (def, module) = (w.fns[id.0].def, w.fns[id.0].module);
        let mut walk = Walk::new(w, module);
        walk.function(def);
        let mut edges = walk.finish();
        let mut seen = HashSet::new();
        edges.retain(|e| seen.insert(e.to));
        todo.extend(edges.iter().map(|e| e.to));
        graph.insert(id, edges);
    }
    let (order, cycles) = components(&roots, &graph);
    for cycle in cycles {
        let cycle = cycle
            .into_iter()
            .map(|(id, span)| (w.fns[id.0].def.name.node.clone(), span))
            .collect();
        w.report(&Names::default(), Problem::Recursion { cycle });
    }
    order
}

/// A depth-first walk without recursion of its own: the functions in post-order, and the cycles met.
fn components(
    roots: &[ItemFn],
    graph: &HashMap<ItemFn, Vec<Edge>>,
) -> (Vec<ItemFn>, Vec<Vec<(ItemFn, Span)>>) {
    let mut order = Vec::new();
    let mut cycles = Vec::new();
    let mut done: HashSet<ItemFn> = HashSet::new();
    let mut in_cycle: HashSet<ItemFn> = HashSet::new();
    for &root in roots {
        if done.contains(&root) {
            continue;
        }
        // Each entry: a function being visited, and the next of its edges.
        let mut path: Vec<(ItemFn, usize)> = vec![(root, 0)];
        let mut on_path: HashMap<ItemFn, usize> = HashMap::from([(root, 0)]);
        while let Some(&(id, next)) = path.last() {
            let edges = graph.get(&id).map_or(&[][..], Vec::as_slice);
            let Some(edge) = edges.get(next) else {
                path.pop();
                on_path.remove(&id);
                if done.insert(id) {
                    order.push(id);
                }
                continue;
            };
            if let Some(last) = path.last_mut() {
                last.1 += 1;
            }
            if let Some(&start) = on_path.get(&edge.to) {
                let cycle: Vec<(ItemFn, Span)> = path[start..]
                    .iter()
                    .map(|(id, next)| (*id, graph[id][next - 1].span))
                    .collect();
                // One report for functions that call each other in several ways.
                if cycle.iter().all(|(id, _)| !in_cycle.contains(id)) {
                    in_cycle.extend(cycle.iter().map(|(id, _)| *id));
                    cycles.push(cycle);
                }
            } else if !done.contains(&edge.to) {
                on_path.insert(edge.to, path.len());
                path.push((edge.to, 0));
            }
        }
    }
    (order, cycles)
}

/// Collects the functions that code mentions, leaving out names of its own variables.
struct Walk<'w, 'a> {
    w: &'w mut World<'a>,
    module: ModuleId,
    bound: HashMap<Name, u32>,
    order: Vec<Name>,
    consts: HashSet<usize>,
    /// Constants met whose definitions have not been walked yet.
    pending: Vec<usize>,
    edges: Vec<Edge>,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(w: &'w mut World<'a>, module: ModuleId) -> Self {
        Walk {
            w,
            module,
            bound: HashMap::new(),
            order: Vec::new(),
            consts: HashSet::new(),
            pending: Vec::new(),
            edges: Vec::new(),
        }
    }

    /// The edges, those through constants among them: a constant may be made by functions, and stands for them where
    /// it is used.
    fn finish(mut self) -> Vec<Edge> {
        self.bound.clear();
        while let Some(id) = self.pending.pop() {
            self.module = self.w.consts[id].module;
            let def = self.w.consts[id].def;
            self.expr(&def.value);
        }
        self.edges
    }

    fn bind(&mut self, name: &Name) {
        *self.bound.entry(name.clone()).or_default() += 1;
        self.order.push(name.clone());
    }

    fn scoped(&mut self, f: impl FnOnce(&mut Self)) {
        let mark = self.order.len();
        f(self);
        while self.order.len() > mark {
            if let Some(name) = self.order.pop()
                && let Some(n) = self.bound.get_mut(&name)
            {
                *n -= 1;
            }
        }
    }

    fn is_bound(&self, name: &Name) -> bool {
        self.bound.get(name).is_some_and(|n| *n > 0)
    }

    fn function(&mut self, def: &ast::FnDef) {
        self.scoped(|walk| {
            for g in &def.generics {
                walk.bind(&g.name.node);
            }
            for p in &def.params {
                walk.bind(&p.name.node);
            }
            walk.block(&def.body);
            if let Some(vjp) = &def.vjp {
                walk.scoped(|walk| {
                    for name in &vjp.params {
                        walk.bind(&name.node);
                    }
                    walk.block(&vjp.body);
                });
            }
        });
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Name(name) => self.bind(&name.node),
            Pattern::Wild(_) => {}
            Pattern::Tuple(parts, _) => parts.iter().for_each(|p| self.pattern(p)),
            Pattern::Record(fields, _) => fields.iter().for_each(|(_, p)| self.pattern(p)),
        }
    }

    fn block(&mut self, block: &ast::Block) {
        self.scoped(|walk| {
            for stmt in &block.stmts {
                walk.stmt(&stmt.kind);
            }
            if let Some(value) = &block.value {
                walk.expr(value);
            }
        });
    }

    fn stmt(&mut self, stmt: &StmtKind) {
        match stmt {
            StmtKind::Let { pattern, value, .. } => {
                self.expr(value);
                self.pattern(pattern);
            }
            StmtKind::Const(def) => {
                self.expr(&def.value);
                self.bind(&def.name.node);
            }
            StmtKind::Assign { target, value } => {
                self.expr(value);
                self.expr(target);
            }
            StmtKind::For {
                pattern,
                iter,
                body,
            } => {
                match iter {
                    ForIter::Range(lo, hi) => {
                        self.expr(lo);
                        self.expr(hi);
                    }
                    ForIter::Over(e) => self.expr(e),
                }
                self.scoped(|walk| {
                    walk.pattern(pattern);
                    walk.block(body);
                });
            }
            StmtKind::While { cond, body } => {
                self.expr(cond);
                self.block(body);
            }
            StmtKind::Return(value) => {
                if let Some(e) = value {
                    self.expr(e);
                }
            }
            StmtKind::Expr(e) => self.expr(e),
            StmtKind::Error => {}
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            A::Int(_) | A::Float(_) | A::Bool(_) | A::None | A::Spread(_) | A::Error => {}
            A::Str(parts) => {
                for part in parts {
                    if let StrPart::Expr(e, _) = part {
                        self.expr(e);
                    }
                }
            }
            A::Name(name) => {
                if !self.is_bound(name) {
                    let item = self.w.lookup(self.module, name);
                    self.item(item, e.span);
                }
            }
            A::Field(base, name) => {
                if let A::Name(module) = &base.kind
                    && !self.is_bound(module)
                    && let Some(Item::Module(m)) = self.w.lookup(self.module, module)
                {
                    let item = self.w.module(m).items.get(&name.node).copied();
                    self.item(item, e.span);
                } else {
                    self.expr(base);
                }
            }
            A::TupleField(base, _) | A::Unary(_, base) => self.expr(base),
            A::Tuple(items) | A::List(items) => items.iter().for_each(|i| self.expr(i)),
            A::Record(fields) => fields.iter().for_each(|(_, v)| self.expr(v)),
            A::Binary(_, a, b) => {
                // Long chains lean to the left.
                let mut left = a;
                self.expr(b);
                while let A::Binary(_, a, b) = &left.kind {
                    self.expr(b);
                    left = a;
                }
                self.expr(left);
            }
            A::Call {
                callee,
                args,
                named,
            } => {
                self.expr(callee);
                args.iter().for_each(|a| self.expr(a));
                named.iter().for_each(|(_, v)| self.expr(v));
            }
            A::Index(base, items) => {
                self.expr(base);
                items.iter().for_each(|i| self.index(i));
            }
            A::Lambda(params, body) => self.scoped(|walk| {
                for p in params {
                    walk.pattern(&p.pattern);
                }
                walk.expr(body);
            }),
            A::If {
                cond,
                then,
                otherwise,
            } => {
                self.expr(cond);
                self.block(then);
                if let Some(e) = otherwise {
                    self.expr(e);
                }
            }
            A::Block(block) => self.block(block),
        }
    }

    fn index(&mut self, item: &IndexArg) {
        match item {
            IndexArg::Expr(e) => self.expr(e),
            IndexArg::Range { lo, hi, step, .. } => {
                for e in [lo, hi, step].into_iter().flatten() {
                    self.expr(e);
                }
            }
            IndexArg::Rest(_) | IndexArg::Spread(_) | IndexArg::NewAxis(_) | IndexArg::Type(_) => {}
        }
    }

    fn item(&mut self, item: Option<Item>, span: Span) {
        match item {
            Some(Item::Fn(to)) => self.edges.push(Edge { to, span }),
            Some(Item::Const(id)) if self.consts.insert(id.0) => self.pending.push(id.0),
            _ => {}
        }
    }
}
