//! Syntax tree → checked, generic program.
//!
//! Files are gathered ([`load`]), their items entered by name ([`world`]), functions put in order ([`order`]), and each
//! body checked once ([`fns`], [`stmt`], [`expr`], …) with its parameters as rigid symbols. What a body needs of them
//! beyond that is proved at its calls ([`require`]). All problems of all files are reported in one run; what has been
//! reported has the type [`Ty::Error`](crate::typed::Ty::Error), which fits everything, so that errors do not cascade.

mod aliases;
mod apply;
mod args;
mod batches;
mod bind;
mod blame;
mod branch;
mod broadcast;
mod builtins;
mod call;
mod composite;
mod consts;
mod cx;
mod effects;
mod expr;
mod facts;
mod fns;
mod fold;
mod forms;
mod func;
mod help;
mod index;
mod infer;
mod instantiate;
mod keys;
mod konst;
mod layout;
mod limits;
mod lint;
mod load;
mod loops;
mod names;
pub mod near;
mod operands;
mod ops;
mod order;
mod origin;
mod poly;
mod problem;
mod products;
mod ranges;
mod repeats;
mod require;
mod scope;
mod shape;
mod show;
mod statics;
mod stmt;
mod subst;
mod tail;
mod transform;
mod tree;
mod type_args;
mod types;
mod vmap;
mod world;
mod zonk;

use crate::ast::{Ident, Name};
use crate::diag::{Diagnostic, Severity};
use crate::source::{Loader, Sources};
use crate::span::Span;
use crate::typed::{Elem, Program, TestDef, Ty};
use cx::{Cx, Place};
use konst::Const;
use load::{Loaded, ROOT};
use problem::Problem;
use repeats::Subject;
use show::Alias;
pub(crate) use show::Names;
use std::collections::HashMap;
use std::rc::Rc;
use world::{ConstValue, Item, World};

/// How a program is checked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// New values of top-level constants of the file, `--set NAME=VALUE`.
    pub consts: Vec<(String, String)>,
    /// New sizes of mesh axes, or the whole mesh of a program without one: `--mesh NAME=SIZE`.
    pub mesh: Vec<(String, i64)>,
}

/// The outcome: a program if there are no errors, and everything there is to say.
#[derive(Debug)]
pub struct Checked {
    pub program: Option<Program>,
    /// In the order of their places, each once.
    pub diagnostics: Vec<Diagnostic>,
    pub sources: Sources,
}

/// Checks a file with everything it imports.
pub fn check(file_name: &str, text: &str, loader: &dyn Loader, options: &Options) -> Checked {
    let checked = check_once(file_name, text, loader, options);
    blame::blame(checked, text, |other| {
        check_once(file_name, other, loader, options)
    })
}

fn check_once(file_name: &str, text: &str, loader: &dyn Loader, options: &Options) -> Checked {
    let mut loaded = load::load(file_name, text, loader);
    let sets = set_options(&mut loaded.sources, &options.consts);
    let mesh = mesh_options(&mut loaded.sources, &options.mesh);
    let mut diagnostics = std::mem::take(&mut loaded.diagnostics);
    let (program, found, subjects) = check_loaded(&loaded, loader, &sets, mesh);
    diagnostics.extend(found);
    tidy(&mut diagnostics);
    repeats::gather(&mut diagnostics, &subjects);
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Checked {
        program: (!failed).then_some(program),
        diagnostics,
        sources: loaded.sources,
    }
}

/// A `--set`, with its places in a text of its own.
#[derive(Clone)]
struct Set {
    name: String,
    value: Const,
    name_span: Span,
    value_span: Span,
}

/// The options as a file, so that messages about them can show them.
fn set_options(sources: &mut Sources, consts: &[(String, String)]) -> Vec<Set> {
    if consts.is_empty() {
        return Vec::new();
    }
    let lines: Vec<String> = consts
        .iter()
        .map(|(name, value)| format!("--set {name}={value}"))
        .collect();
    let file = sources.add("<command line>", lines.join("\n"));
    let mut start = 0;
    let mut out = Vec::new();
    for ((name, value), line) in consts.iter().zip(&lines) {
        let name_at = start + "--set ".len();
        let value_at = name_at + name.len() + 1;
        out.push(Set {
            name: name.clone(),
            value: konst::parse(value),
            name_span: Span::new(file, name_at, name_at + name.len()),
            value_span: Span::new(file, value_at, value_at + value.len()),
        });
        start += line.len() + 1;
    }
    out
}

/// The axes of `--mesh`, likewise.
fn mesh_options(sources: &mut Sources, axes: &[(String, i64)]) -> Vec<(Ident, i64)> {
    if axes.is_empty() {
        return Vec::new();
    }
    let shown: Vec<String> = axes.iter().map(|(n, size)| format!("{n}={size}")).collect();
    let file = sources.add("<command line>", format!("--mesh {}", shown.join(",")));
    let mut start = "--mesh ".len();
    let mut out = Vec::new();
    for ((name, size), text) in axes.iter().zip(&shown) {
        let span = Span::new(file, start, start + name.len());
        out.push((Ident::new(Name::from(name.as_str()), span), *size));
        start += text.len() + 1;
    }
    out
}

fn check_loaded(
    loaded: &Loaded,
    loader: &dyn Loader,
    sets: &[Set],
    mesh: Vec<(Ident, i64)>,
) -> (Program, Vec<Diagnostic>, HashMap<Span, Subject>) {
    let mut w = World::new(loaded, loader);
    w.mesh_options = mesh;
    apply_sets(&mut w, sets);
    let user: Vec<load::ModuleId> = (0..w.modules.len() as u32)
        .map(load::ModuleId)
        .filter(|id| !w.module(*id).std)
        .collect();
    for &id in &user {
        w.check_module(id);
    }
    let order = order::order(&mut w);
    // All signatures first: the names of types in messages come from the aliases they have resolved.
    for &id in &order {
        let module = w.fns[id.0].module;
        Cx::new(&mut w, module, Place::Pure, Rc::default()).signature(id);
    }
    collect_aliases(&mut w);
    for id in order {
        w.check_fn(id);
    }
    let mut program = Program::default();
    let axes = w.meshes.first().map(|&(axes, _)| axes);
    program.mesh = Cx::new(&mut w, ROOT, Place::Pure, Rc::default()).mesh_sizes(axes);
    if let Some(&block) = w.mains.first() {
        program.main = Some(w.check_script(block));
    }
    for (test, span) in w.tests.clone() {
        let body = w.check_script(&test.body);
        program.tests.push(TestDef {
            name: test.name.node.clone(),
            body,
            span,
        });
    }
    for id in user {
        Cx::new(&mut w, id, Place::Pure, Rc::default()).lint_items();
        Cx::new(&mut w, id, Place::Pure, Rc::default()).lint_imports();
    }
    program.fns = std::mem::take(&mut w.typed_fns);
    (program, w.diagnostics, w.subjects)
}

/// Gives the constants of the file the values of the options.
fn apply_sets(w: &mut World, sets: &[Set]) {
    for set in sets {
        let Some(Item::Const(id)) = w.module(ROOT).items.get(set.name.as_str()).copied() else {
            let near = {
                let items = &w.module(ROOT).items;
                let consts = items
                    .iter()
                    .filter(|(_, i)| matches!(i, Item::Const(_)))
                    .map(|(n, _)| &**n);
                near::near(&set.name, consts)
            };
            let problem = Problem::SetUnknown {
                span: set.name_span,
                name: set.name.as_str().into(),
                near,
            };
            w.report(&Names::default(), problem);
            continue;
        };
        let definition = w.consts[id.0].def.name.span;
        let mut cx = Cx::new(w, ROOT, Place::Pure, Rc::default());
        // What it is without the option says what it may be.
        let known = cx.const_item(id, definition);
        // Any text will do for a string, also one that reads like a number.
        let text = Const::Str(w.text(set.value_span).into());
        let mut set = set.clone();
        if matches!(known, ConstValue::Scalar(Const::Str(_), _))
            && !matches!(set.value, Const::Str(_))
        {
            set.value = text;
        }
        let (fits, wanted) = match &known {
            ConstValue::Scalar(old, elem) => {
                let is_float = elem.map_or(matches!(old, Const::Float(_)), |e| e.is_float());
                let fits = match (&set.value, old) {
                    (Const::Float(_), _) => is_float,
                    (Const::Int(_), Const::Float(_) | Const::Int(_) | Const::Dim(_)) => true,
                    (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
                };
                (fits, if is_float { "a float" } else { old.kind() })
            }
            ConstValue::Inline => (false, "not a single number"),
            ConstValue::Bad => continue,
        };
        if !fits {
            let problem = Problem::SetKind {
                span: set.value_span,
                name: set.name.as_str().into(),
                found: set.value.kind(),
                wanted,
                definition,
            };
            w.report(&Names::default(), problem);
            continue;
        }
        if let (&Const::Int(value), ConstValue::Scalar(_, elem)) = (&set.value, &known)
            && let ty = Ty::scalar(elem.unwrap_or(widest(value)))
            && !zonk::fits(value, &ty)
        {
            let problem = Problem::LiteralRange {
                span: set.value_span,
                value,
                ty,
            };
            w.report(&Names::default(), problem);
            continue;
        }
        let value = match (&set.value, &known) {
            (Const::Int(n), ConstValue::Scalar(Const::Float(_), _)) => Const::Float(*n as f64),
            (value, _) => value.clone(),
        };
        w.consts[id.0].set = Some(value);
    }
    // Constants made from the ones set are evaluated again.
    for item in &mut w.consts {
        item.value = world::State::Open;
    }
}

/// The type that holds the most integers of a sign: what a constant without a type may come to at its uses.
fn widest(value: i128) -> Elem {
    match value < 0 {
        true => Elem::I64,
        false => Elem::U64,
    }
}

/// The named types that each module can speak of: its own, those of its imports with their module's name.
fn collect_aliases(w: &mut World) {
    let resolved = |w: &World, id: world::TypeId| match &w.types[id.0].resolved {
        world::State::Done(alias) => Some(alias.clone()),
        _ => None,
    };
    for i in 0..w.modules.len() {
        let mut aliases: Vec<Alias> = Vec::new();
        let mut items: Vec<(&crate::ast::Name, &Item)> = w.modules[i].items.iter().collect();
        items.sort_by(|a, b| a.0.cmp(b.0));
        for (name, item) in items {
            match item {
                Item::Type(id) => aliases.extend(resolved(w, *id).map(|a| (*a).clone())),
                Item::Module(m) => {
                    let mut inner: Vec<(&crate::ast::Name, &Item)> =
                        w.module(*m).items.iter().collect();
                    inner.sort_by(|a, b| a.0.cmp(b.0));
                    for (_, item) in inner {
                        if let Item::Type(id) = item {
                            aliases.extend(resolved(w, *id).map(|a| Alias {
                                shown: format!("{name}.{}", a.shown),
                                ..(*a).clone()
                            }));
                        }
                    }
                }
                Item::Const(_) | Item::Fn(_) => {}
            }
        }
        w.modules[i].aliases = Rc::new(aliases);
    }
}

/// Sorted by place, without the repetitions of code that is checked in several ways. What is unused is only told of
/// programs without errors: behind an error nothing has been looked at.
fn tidy(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        diagnostics.retain(|d| !matches!(d.code.0, "W0102" | "W0103" | "W0104" | "W0108"));
    }
    // A function whose last expression cannot be read has no value; the syntax error in it says why.
    let unreadable: Vec<Span> = diagnostics
        .iter()
        .filter(|d| d.code.0.starts_with("E01"))
        .map(|d| d.primary.span)
        .collect();
    diagnostics.retain(|d| {
        let all = d.primary.span;
        let holds = |s: &Span| s.file == all.file && (all.start..=all.end).contains(&s.start);
        d.code.0 != "E0324" || !unreadable.iter().any(holds)
    });
    diagnostics.sort_by(|a, b| {
        let key = |d: &Diagnostic| {
            let s = d.primary.span;
            (s.file, s.start, s.end, d.severity, d.code)
        };
        key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
    });
    diagnostics.dedup_by(|a, b| {
        a.code == b.code && a.primary.span == b.primary.span && a.message == b.message
    });
}
