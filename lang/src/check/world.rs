//! The items of all files, by module and name, and what is known of each so far.

use super::facts::Facts;
use super::keys::KeyFacts;
use super::konst::Const;
use super::load::{Loaded, ModuleId, PRELUDE, ROOT};
use super::problem::Problem;
use super::repeats::Subject;
use super::require::Requirement;
use super::show::{Alias, Names};
use crate::ast::{self, ItemKind, Name};
use crate::diag::Diagnostic;
use crate::source::{Loader, Sources};
use crate::span::Span;
use crate::typed::{self, Elem, FnId, Generic, GenericId, Shape, Ty};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstId(pub usize);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub usize);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemFn(pub usize);

/// What a name of a module means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Const(ConstId),
    Type(TypeId),
    Fn(ItemFn),
    Module(ModuleId),
}

/// How far a lazily resolved item has come.
#[derive(Clone, Debug)]
pub enum State<T> {
    Open,
    /// Being resolved: meeting it again is a cycle.
    Busy,
    Done(T),
}

pub struct ConstItem<'a> {
    pub module: ModuleId,
    pub def: &'a ast::ConstDef,
    pub value: State<ConstValue>,
    /// From `--set`, in place of what is written.
    pub set: Option<Const>,
}

#[derive(Clone, Debug)]
pub enum ConstValue {
    /// A compile-time scalar; with an element type if its definition has one.
    Scalar(Const, Option<Elem>),
    /// Something larger: checked anew where it is used.
    Inline,
    /// Reported.
    Bad,
}

pub struct TypeItem<'a> {
    pub module: ModuleId,
    pub def: &'a ast::TypeDef,
    pub resolved: State<Rc<Alias>>,
}

pub struct FnItem<'a> {
    pub module: ModuleId,
    pub def: &'a ast::FnDef,
    pub doc: Option<&'a str>,
    pub span: Span,
    pub signature: Option<Rc<Signature>>,
    /// Set once its body has been checked.
    pub typed: Option<FnId>,
    /// What its body asks of its generic arguments; complete once it is checked.
    pub requirements: Rc<Vec<Requirement>>,
}

#[derive(Debug)]
pub struct Signature {
    pub generics: Rc<Vec<Generic>>,
    /// Those that it mentions itself.
    pub mentioned: HashSet<GenericId>,
    /// Whether the arguments of a call tell all of them.
    pub is_told: bool,
    pub params: Vec<SigParam>,
    pub ret: Ty,
}

#[derive(Debug)]
pub struct SigParam {
    pub name: Name,
    pub ty: Ty,
    /// For a parameter that takes sizes; its type is then `()`.
    pub shape: Option<Shape>,
    pub default: Option<Const>,
    pub span: Span,
}

pub struct ModuleScope {
    pub name: Name,
    pub std: bool,
    pub items: HashMap<Name, Item>,
    /// Names that stand for something that could not be read.
    pub broken: HashSet<Name>,
    /// Imports and where they are written, to find the unused.
    pub imports: Vec<(Name, Span)>,
    pub used_imports: HashSet<Name>,
    pub aliases: Rc<Vec<Alias>>,
}

pub struct World<'a> {
    pub sources: &'a Sources,
    pub loader: &'a dyn Loader,
    pub modules: Vec<ModuleScope>,
    pub consts: Vec<ConstItem<'a>>,
    pub types: Vec<TypeItem<'a>>,
    pub fns: Vec<FnItem<'a>>,
    pub mains: Vec<&'a ast::Block>,
    pub tests: Vec<(&'a ast::TestDef, Span)>,
    pub meshes: Vec<(&'a [(ast::Ident, ast::Expr)], Span)>,
    /// The axes given on the command line.
    pub mesh_options: Vec<(ast::Ident, i64)>,
    /// The functions checked so far, callees first, and what is known of each.
    pub typed_fns: Vec<typed::FnDef>,
    pub facts: Vec<Facts>,
    pub keys: Vec<KeyFacts>,
    pub diagnostics: Vec<Diagnostic>,
    /// What the problems are about that may be told of several times, by their places.
    pub subjects: HashMap<Span, Subject>,
    /// The bodies begun so far.
    pub bodies: u32,
    /// Constants, aliases and lambdas that are being worked out.
    pub open_definitions: u32,
}

impl<'a> World<'a> {
    /// Enters every item under its name. Two items of one name are reported, and the first one stays.
    pub fn new(loaded: &'a Loaded, loader: &'a dyn Loader) -> World<'a> {
        let mut w = World {
            sources: &loaded.sources,
            loader,
            modules: Vec::new(),
            consts: Vec::new(),
            types: Vec::new(),
            fns: Vec::new(),
            mains: Vec::new(),
            tests: Vec::new(),
            meshes: Vec::new(),
            mesh_options: Vec::new(),
            typed_fns: Vec::new(),
            facts: Vec::new(),
            keys: Vec::new(),
            diagnostics: Vec::new(),
            subjects: HashMap::new(),
            bodies: 0,
            open_definitions: 0,
        };
        for (i, module) in loaded.modules.iter().enumerate() {
            let id = ModuleId(i as u32);
            let mut scope = ModuleScope {
                name: module.name.clone(),
                std: module.std,
                items: HashMap::new(),
                broken: module.broken.iter().cloned().collect(),
                imports: Vec::new(),
                used_imports: HashSet::new(),
                aliases: Rc::default(),
            };
            let mut first: HashMap<Name, Span> = HashMap::new();
            for import in &module.imports {
                if w.is_new(&mut first, &import.name, import.span) {
                    scope
                        .items
                        .insert(import.name.clone(), Item::Module(import.module));
                    scope.imports.push((import.name.clone(), import.span));
                }
            }
            for item in &module.ast.items {
                w.enter(id, item, &mut scope, &mut first);
            }
            w.modules.push(scope);
        }
        w
    }

    fn enter(
        &mut self,
        id: ModuleId,
        item: &'a ast::Item,
        scope: &mut ModuleScope,
        first: &mut HashMap<Name, Span>,
    ) {
        let (name, entry) = match &item.kind {
            ItemKind::Import(_) => return,
            ItemKind::Const(def) => {
                self.consts.push(ConstItem {
                    module: id,
                    def,
                    value: State::Open,
                    set: None,
                });
                (&def.name, Item::Const(ConstId(self.consts.len() - 1)))
            }
            ItemKind::Type(def) => {
                self.types.push(TypeItem {
                    module: id,
                    def,
                    resolved: State::Open,
                });
                (&def.name, Item::Type(TypeId(self.types.len() - 1)))
            }
            ItemKind::Fn(def) => {
                self.fns.push(FnItem {
                    module: id,
                    def,
                    doc: item.doc.as_deref(),
                    span: item.span,
                    signature: None,
                    typed: None,
                    requirements: Rc::default(),
                });
                (&def.name, Item::Fn(ItemFn(self.fns.len() - 1)))
            }
            ItemKind::Main(block) => {
                if id == ROOT {
                    if let Some(before) = self.mains.first() {
                        let before = before.span;
                        self.report(
                            &Names::default(),
                            Problem::TwoMains {
                                span: block.span,
                                before,
                            },
                        );
                    }
                    self.mains.push(block);
                }
                return;
            }
            ItemKind::Test(def) => {
                if id == ROOT {
                    self.tests.push((def, item.span));
                }
                return;
            }
            ItemKind::Mesh(axes) => {
                if id == ROOT {
                    if let Some((_, before)) = self.meshes.first() {
                        let problem = Problem::Duplicate {
                            what: "item",
                            name: "mesh".into(),
                            span: item.span,
                            before: *before,
                        };
                        self.report(&Names::default(), problem);
                    }
                    self.meshes.push((axes, item.span));
                }
                return;
            }
        };
        if Elem::from_name(&name.node).is_some() {
            let problem = Problem::ReservedName {
                span: name.span,
                name: name.node.clone(),
            };
            self.report(&Names::default(), problem);
        } else if self.is_new(first, &name.node, name.span) {
            scope.items.insert(name.node.clone(), entry);
        }
    }

    fn is_new(&mut self, first: &mut HashMap<Name, Span>, name: &Name, span: Span) -> bool {
        match first.get(name) {
            Some(&before) => {
                let problem = Problem::Duplicate {
                    what: "item",
                    name: name.clone(),
                    span,
                    before,
                };
                self.report(&Names::default(), problem);
                false
            }
            None => {
                first.insert(name.clone(), span);
                true
            }
        }
    }

    pub fn module(&self, id: ModuleId) -> &ModuleScope {
        &self.modules[id.0 as usize]
    }

    /// A name as seen from a module: its own, then the prelude's.
    pub fn lookup(&mut self, module: ModuleId, name: &str) -> Option<Item> {
        let scope = &mut self.modules[module.0 as usize];
        if let Some((key, &item)) = scope.items.get_key_value(name) {
            if matches!(item, Item::Module(_)) {
                let key = key.clone();
                scope.used_imports.insert(key);
            }
            return Some(item);
        }
        self.module(PRELUDE).items.get(name).copied()
    }

    /// Whether so much is wrong that looking for near names is no longer worth its time.
    pub fn has_many_problems(&self) -> bool {
        self.diagnostics.len() > 100
    }

    pub fn report(&mut self, names: &Names, problem: Problem) {
        self.diagnostics.push(problem.diagnostic(names));
    }

    /// The text of a place, for messages.
    pub fn text(&self, span: Span) -> &'a str {
        self.sources.text(span)
    }
}
