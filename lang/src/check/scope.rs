//! The names of a body: variables, local constants, and functions bound by `let`.

use super::func::FnRef;
use super::konst::Const;
use super::world::SigParam;
use crate::ast::Name;
use crate::span::Span;
use crate::typed::{Elem, LocalId, Shape};
use std::collections::HashMap;

#[derive(Clone, Debug)]
pub enum Bound<'a> {
    Local(LocalId),
    /// `const`, and what `let` gives to sizes: `let (n, d) = shape(x);` With an element type if its definition has one.
    Const(Const, Option<Elem>),
    /// A parameter `shape: [B, N]`: sizes, where sizes are wanted.
    Shape(Shape),
    /// `let f = grad(loss);`: resolved anew at each use.
    Function(FnRef<'a>),
    /// What could not be checked; already reported.
    Bad,
}

impl SigParam {
    /// What the parameter means in the body of its function, where it is the variable `id`.
    pub fn bound<'a>(&self, id: LocalId) -> Bound<'a> {
        match &self.shape {
            Some(shape) => Bound::Shape(shape.clone()),
            None => Bound::Local(id),
        }
    }
}

/// What a name is bound by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binder {
    Variable,
    /// Of `for`.
    Loop,
    /// `let mut`.
    Mutable,
    /// Of a function, a lambda or a `vjp` block.
    Parameter,
    Constant,
    /// A `let` that gives a function a name.
    Function,
}

impl Binder {
    /// For messages.
    pub fn what(self) -> &'static str {
        match self {
            Binder::Variable | Binder::Loop | Binder::Mutable => "variable",
            Binder::Parameter => "parameter",
            Binder::Constant => "constant",
            Binder::Function => "function",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Binding<'a> {
    /// Grows with every binding of the body.
    pub seq: u32,
    pub span: Span,
    pub binder: Binder,
    pub bound: Bound<'a>,
    pub used: bool,
}

#[derive(Debug, Default)]
pub struct Scope<'a> {
    names: HashMap<Name, Vec<Binding<'a>>>,
    /// The names bound so far in the open blocks, to unbind them.
    order: Vec<Name>,
    /// The functions among them, each with its place in that order.
    functions: Vec<(usize, FnRef<'a>)>,
    seq: u32,
    /// Ranges of bindings that the lambda being checked cannot see: those made between its definition and its use.
    hidden: Vec<(u32, u32)>,
    /// Bindings that have gone out of scope without a use, for the lints.
    pub unused: Vec<(Name, Span, Binder)>,
}

impl<'a> Scope<'a> {
    pub fn open(&mut self) -> usize {
        self.order.len()
    }

    pub fn close(&mut self, mark: usize) {
        while self.functions.last().is_some_and(|(at, _)| *at >= mark) {
            self.functions.pop();
        }
        while self.order.len() > mark {
            let Some(name) = self.order.pop() else { break };
            if let Some(stack) = self.names.get_mut(&name)
                && let Some(binding) = stack.pop()
                && !binding.used
                && !matches!(binding.bound, Bound::Bad)
            {
                self.unused.push((name, binding.span, binding.binder));
            }
        }
    }

    pub fn bind(&mut self, name: Name, span: Span, binder: Binder, bound: Bound<'a>) {
        self.seq += 1;
        if let Bound::Function(f) = &bound {
            self.functions.push((self.order.len(), f.clone()));
        }
        let binding = Binding {
            seq: self.seq,
            span,
            binder,
            bound,
            used: name.starts_with('_'),
        };
        self.names.entry(name.clone()).or_default().push(binding);
        self.order.push(name);
    }

    /// The functions bound since `mark`.
    pub fn functions_since(&self, mark: usize) -> Vec<FnRef<'a>> {
        let from = self.functions.partition_point(|(at, _)| *at < mark);
        self.functions[from..]
            .iter()
            .map(|(_, f)| f.clone())
            .collect()
    }

    /// A parameter, without a warning where it is not used.
    pub fn bind_silently(&mut self, name: Name, span: Span, bound: Bound<'a>) {
        self.bind(name.clone(), span, Binder::Parameter, bound);
        if let Some(binding) = self.names.get_mut(&name).and_then(|s| s.last_mut()) {
            binding.used = true;
        }
    }

    /// Lets the innermost binding of a name mean something else; whether it is used is still to be seen.
    pub fn rebind(&mut self, name: &str, span: Span, bound: Bound<'a>) {
        if let Some(binding) = self.names.get_mut(name).and_then(|s| s.last_mut())
            && binding.span == span
        {
            binding.bound = bound;
        }
    }

    pub fn now(&self) -> u32 {
        self.seq
    }

    /// Hides what has been bound since `defined`, until [`Scope::show`].
    pub fn hide(&mut self, defined: u32) {
        self.hidden.push((defined, self.seq));
    }

    pub fn show(&mut self) {
        self.hidden.pop();
    }

    /// The innermost visible binding; looking it up counts as a use.
    pub fn get(&mut self, name: &str) -> Option<&Binding<'a>> {
        let hidden = &self.hidden;
        let binding = self.names.get_mut(name)?.iter_mut().rev().find(|b| {
            !hidden
                .iter()
                .any(|(after, until)| *after < b.seq && b.seq <= *until)
        })?;
        binding.used = true;
        Some(binding)
    }

    /// As [`Scope::get`], for messages: it is no use.
    pub fn peek(&self, name: &str) -> Option<&Binding<'a>> {
        self.names.get(name)?.last()
    }

    /// The variable that a name means, without counting it as used: an assignment does not read.
    pub fn get_for_assignment(&mut self, name: &str) -> Option<LocalId> {
        let binding = self.names.get(name)?.last()?;
        match binding.bound {
            Bound::Local(id) => Some(id),
            Bound::Const(..) | Bound::Shape(_) | Bound::Function(_) | Bound::Bad => None,
        }
    }

    /// All visible names with their bindings, for near matches and help.
    pub fn visible(&self) -> impl Iterator<Item = (&Name, &Binding<'a>)> {
        self.names
            .iter()
            .filter_map(|(name, stack)| stack.last().map(|b| (name, b)))
    }
}
