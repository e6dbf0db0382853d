//! The state of checking one body (or one signature, constant or type): its variables, names and needs.

use super::infer::Infer;
use super::konst::Const;
use super::load::ModuleId;
use super::problem::Problem;
use super::repeats::Subject;
use super::require::{Guard, Need, Requirement};
use super::scope::{Binder, Bound, Scope};
use super::show::Names;
use super::world::World;
use crate::ast::{GenericParam, Name};
use crate::source::LoadError;
use crate::span::Span;
use crate::typed::{self, Callee, Expr, ExprKind, Generic, GenericId, Local, LocalId, Ty};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What the body being checked may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A function, a constant, a type.
    Pure,
    /// `main` or a test.
    Script,
}

pub struct Cx<'a, 'w> {
    pub w: &'w mut World<'a>,
    pub module: ModuleId,
    pub place: Place,
    pub generics: Rc<Vec<Generic>>,
    generic_ids: HashMap<Name, GenericId>,
    pub used_generics: HashSet<GenericId>,
    pub names: Names,
    pub infer: Infer,
    pub scope: Scope<'a>,
    pub locals: Vec<Local>,
    /// The values of variables that `let` gives a constant, for where a constant is wanted.
    pub local_consts: HashMap<LocalId, Const>,
    /// Those of tuples of constants, `let s = shape(x);`.
    pub local_sizes: HashMap<LocalId, Vec<Const>>,
    /// Reductions that `let` gives a name, for help lines.
    pub initialisers: HashMap<LocalId, Expr>,
    /// What the constants of blocks that are no single numbers were given.
    pub const_values: HashMap<LocalId, Expr>,
    /// The locals assigned so far in each open loop or branch.
    pub assigned: Vec<BTreeSet<LocalId>>,
    /// Depth of loops in which each local was declared.
    pub local_depth: Vec<u32>,
    pub loop_depth: u32,
    /// Inside a lambda: no assignment to what is outside, no effects.
    pub lambda_depth: u32,
    /// The first local that the innermost lambda may assign.
    pub lambda_floor: u32,
    pub needs: Vec<Requirement>,
    pub need_set: HashSet<(Need, Vec<Guard>)>,
    /// What holds of sizes in the branches around.
    pub guards: Vec<Guard>,
    /// Lambdas and constants worked out at their uses so far.
    pub expansions: u32,
    /// The names of record patterns that are those of their fields.
    pub shorthands: HashSet<Span>,
    /// The lambdas that have been applied to something, by their places.
    pub applied: HashSet<Span>,
    /// Those that never were, as checked at the end of their scope.
    pub uncalled: Vec<Callee>,
    /// Arrays of the data loaded so far that no type can hold, by name.
    pub left_out: Vec<(String, LoadError)>,
    /// Which of the world's bodies it is.
    body: u32,
}

impl<'a, 'w> Cx<'a, 'w> {
    pub fn new(
        w: &'w mut World<'a>,
        module: ModuleId,
        place: Place,
        generics: Rc<Vec<Generic>>,
    ) -> Cx<'a, 'w> {
        let generic_ids = generics
            .iter()
            .enumerate()
            .map(|(i, g)| (g.name.clone(), GenericId(i as u32)))
            .collect();
        let names = Names {
            generics: super::infer::generic_names(&generics),
            literals: Default::default(),
            aliases: w.module(module).aliases.clone(),
        };
        w.bodies += 1;
        let body = w.bodies;
        Cx {
            infer: Infer::new(&generics),
            w,
            module,
            place,
            generics,
            generic_ids,
            used_generics: HashSet::new(),
            names,
            scope: Scope::default(),
            locals: Vec::new(),
            local_consts: HashMap::new(),
            local_sizes: HashMap::new(),
            initialisers: HashMap::new(),
            const_values: HashMap::new(),
            assigned: Vec::new(),
            local_depth: Vec::new(),
            loop_depth: 0,
            lambda_depth: 0,
            lambda_floor: 0,
            needs: Vec::new(),
            need_set: HashSet::new(),
            guards: Vec::new(),
            expansions: 0,
            shorthands: HashSet::new(),
            applied: HashSet::new(),
            uncalled: Vec::new(),
            left_out: Vec::new(),
            body,
        }
    }

    pub fn report(&mut self, problem: Problem) {
        self.name_literals();
        let mut diagnostic = problem.diagnostic(&self.names);
        let text = self.w.text(diagnostic.primary.span);
        let subject = Subject::of(&problem, self.body, text);
        self.w.subjects.extend(subject);
        self.show_origins(&mut diagnostic);
        self.w.diagnostics.push(diagnostic);
    }

    /// From here on messages show literals that have met nothing yet as what they would become.
    pub fn name_literals(&mut self) {
        self.names.literals = self.infer.defaults();
    }

    pub fn generic(&mut self, name: &str) -> Option<(GenericId, crate::ast::GenericKind)> {
        let &id = self.generic_ids.get(name)?;
        self.used_generics.insert(id);
        Some((id, self.generics[id.0 as usize].kind))
    }

    pub fn generic_names(&self) -> impl Iterator<Item = &Name> {
        self.generic_ids.keys()
    }

    pub fn text(&self, span: Span) -> &'a str {
        self.w.text(span)
    }

    /// A new variable, not yet bound to its name.
    pub fn local(&mut self, name: Name, ty: Ty, mutable: bool, span: Span) -> LocalId {
        self.locals.push(Local {
            name,
            ty,
            mutable,
            span,
        });
        self.local_depth.push(self.loop_depth);
        LocalId(self.locals.len() as u32 - 1)
    }

    /// A new variable under its name.
    pub fn declare(&mut self, name: Name, ty: Ty, binder: Binder, span: Span) -> LocalId {
        let id = self.local(name.clone(), ty, binder == Binder::Mutable, span);
        self.bind(name, span, binder, Bound::Local(id));
        id
    }

    pub fn bind(&mut self, name: Name, span: Span, binder: Binder, bound: Bound<'a>) {
        self.lint_shadowed(&name, span, binder.what());
        self.scope.bind(name, span, binder, bound);
    }

    pub fn local_ty(&self, id: LocalId) -> &Ty {
        &self.locals[id.0 as usize].ty
    }
}

/// The generic parameters of an item as the checked program has them.
pub fn generics_of(params: &[GenericParam]) -> Rc<Vec<Generic>> {
    Rc::new(
        params
            .iter()
            .map(|p| Generic {
                name: p.name.node.clone(),
                kind: p.kind,
            })
            .collect(),
    )
}

/// What stands for an expression that has been reported.
pub fn bad(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Block(typed::Block::default()),
        ty: Ty::Error,
        span,
    }
}

pub fn is_bad(e: &typed::Expr) -> bool {
    matches!(e.ty, Ty::Error)
}
