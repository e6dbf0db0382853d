//! Which of two places that contradict each other is wrong: a repair is tried.
//!
//! A type that is declared wrongly makes an error of each of its uses. Where several errors show one declaration, types
//! that it may have been meant to have are tried in its place: its dimensions in another order, or an element or size that
//! the errors speak of. With one under which these errors are gone, and no other has come, they become a single error at
//! the declaration.

use super::problem::Problem;
use super::show::Names;
use super::{Checked, tidy};
use crate::ast::{self, ItemKind, StmtKind, TypeArg, TypeExpr, TypeExprKind};
use crate::diag::{Diagnostic, Label, Severity};
use crate::source::Sources;
use crate::span::{FileId, Span};
use crate::typed::Elem;
use std::collections::HashSet;

/// Longer programs are not checked again: messages must not cost more than the check itself.
const MAX_TEXT: usize = 64 << 10;
/// How often a program is checked again.
const MAX_TRIALS: usize = 24;
/// How many wrong declarations are looked for.
const MAX_ROUNDS: usize = 3;
/// The uses that a message shows.
const MAX_SHOWN: usize = 3;

/// Puts errors that one declaration makes into one. `again` checks another text in place of the program's.
pub fn blame(mut checked: Checked, text: &str, again: impl Fn(&str) -> Checked) -> Checked {
    if text.len() > MAX_TEXT || errors(&checked).nth(1).is_none() {
        return checked;
    }
    let mut trials = MAX_TRIALS;
    let mut found: Vec<Wrong> = Vec::new();
    while found.len() < MAX_ROUNDS {
        let (now, text) = match found.last() {
            Some(wrong) => (&wrong.repaired, wrong.text.as_str()),
            None => (&checked, text),
        };
        match wrong_declaration(now, text, &mut trials, &again) {
            Some(wrong) => found.push(wrong),
            None => break,
        }
    }
    let mut said: Vec<Diagnostic> = Vec::new();
    for (i, wrong) in found.iter().enumerate() {
        let of = |d: &&Diagnostic| wrong.gone.contains(&key(&checked.sources, d));
        let uses = checked.diagnostics.iter().filter(of);
        let uses: Vec<Label> = uses.map(|d| d.primary.clone()).collect();
        let span = found[..i].iter().rev().fold(wrong.span, unrepaired);
        let problem = Problem::Declaration {
            name: wrong.name.clone(),
            span,
            declared: checked.sources.text(span).to_string(),
            fits: wrong.fits.clone(),
            more: uses.len().saturating_sub(MAX_SHOWN),
            uses: uses.into_iter().take(MAX_SHOWN).collect(),
        };
        said.push(problem.diagnostic(&Names::default()));
    }
    let gone: HashSet<Key> = found.into_iter().flat_map(|w| w.gone).collect();
    let sources = &checked.sources;
    checked
        .diagnostics
        .retain(|d| !gone.contains(&key(sources, d)));
    checked.diagnostics.extend(said);
    tidy(&mut checked.diagnostics);
    checked
}

/// A place in the program with a repair, as it was before that.
fn unrepaired(span: Span, earlier: &Wrong) -> Span {
    if span.start <= earlier.span.start {
        return span;
    }
    let old = earlier.span.end - earlier.span.start;
    let new = earlier.fits.len() as u32;
    Span {
        start: span.start + old - new,
        end: span.end + old - new,
        ..span
    }
}

/// What an error is known by from one check to the next: its code, line and message.
type Key = (&'static str, usize, String);

fn key(sources: &Sources, d: &Diagnostic) -> Key {
    let (line, _) = sources.line_col(d.primary.span);
    (d.code.0, line, d.message.clone())
}

fn errors(checked: &Checked) -> impl Iterator<Item = &Diagnostic> {
    let all = checked.diagnostics.iter();
    all.filter(|d| d.severity == Severity::Error)
}

fn keys(checked: &Checked) -> HashSet<Key> {
    errors(checked).map(|d| key(&checked.sources, d)).collect()
}

/// A declaration, and the type with which the errors that it makes are gone.
struct Wrong {
    name: String,
    span: Span,
    fits: String,
    gone: HashSet<Key>,
    /// The program with the repair. Its lines are where they were.
    text: String,
    repaired: Checked,
}

fn wrong_declaration(
    checked: &Checked,
    text: &str,
    trials: &mut usize,
    again: &impl Fn(&str) -> Checked,
) -> Option<Wrong> {
    let module = crate::parse(FileId(0), text).module;
    let mut places = Vec::new();
    for item in &module.items {
        of_item(&item.kind, &mut places);
    }
    let before = keys(checked);
    let about = |place: &Place| -> Vec<&Diagnostic> {
        let all = errors(checked);
        all.filter(|d| place.is_met_in(d, &checked.sources))
            .collect()
    };
    let mut shown: Vec<(Vec<&Diagnostic>, &Place)> = places
        .iter()
        .map(|place| (about(place), place))
        .filter(|(about, _)| !about.is_empty())
        .collect();
    shown.sort_by_key(|(about, _)| std::cmp::Reverse(about.len()));
    for (about, place) in shown {
        for (span, fits) in repairs(place.ty, text, &about) {
            *trials = trials.checked_sub(1)?;
            let (head, tail) = (&text[..span.start as usize], &text[span.end as usize..]);
            let text = format!("{head}{fits}{tail}");
            let repaired = again(&text);
            let after = keys(&repaired);
            let is_gone = |d: &&Diagnostic| !after.contains(&key(&checked.sources, d));
            if after.is_subset(&before)
                && after.len() + 2 <= before.len()
                && place.is_at_fault(errors(checked).filter(is_gone))
            {
                return Some(Wrong {
                    name: place.name.clone(),
                    span,
                    fits,
                    gone: before.difference(&after).cloned().collect(),
                    text,
                    repaired,
                });
            }
        }
    }
    None
}

/// Where a type is declared.
struct Place<'t> {
    /// In words: `x`, or the result of `f`.
    name: String,
    at: Span,
    ty: &'t TypeExpr,
    kind: PlaceKind,
}

#[derive(Clone, Copy)]
enum PlaceKind {
    /// Of a function with this body: its parameter or its result.
    Head(Span),
    Field,
    Variable,
}

impl Place<'_> {
    /// Whether an error shows the declaration, or is about code that names it.
    fn is_met_in(&self, d: &Diagnostic, sources: &Sources) -> bool {
        let mut labels = labels(d).map(|l| l.span);
        labels.any(|s| {
            inside(self.at, s)
                || inside(self.ty.span, s)
                || inside(s, self.ty.span)
                || match self.kind {
                    PlaceKind::Head(body) => {
                        inside(body, s) && has_word(sources.text(s), &self.name)
                    }
                    PlaceKind::Field => has_word(sources.text(s), &self.name),
                    PlaceKind::Variable => false,
                }
        })
    }

    /// Whether the errors do not come from one side only: calls that all pass the same wrong thing are wrong themselves.
    fn is_at_fault<'d>(&self, mut errors: impl Iterator<Item = &'d Diagnostic>) -> bool {
        match self.kind {
            PlaceKind::Head(body) => errors.any(|d| inside(body, d.primary.span)),
            // A field that only the records made do not fit.
            PlaceKind::Field => errors.any(|d| d.code.0 != "E0304"),
            PlaceKind::Variable => true,
        }
    }
}

fn inside(outer: Span, span: Span) -> bool {
    span.file == outer.file && outer.start <= span.start && span.end <= outer.end
}

fn labels(d: &Diagnostic) -> impl Iterator<Item = &Label> {
    d.secondary.iter().chain(std::iter::once(&d.primary))
}

fn has_word(text: &str, quoted: &str) -> bool {
    let name = quoted.trim_matches('`');
    words(text).any(|word| word == name)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn of_item<'t>(item: &'t ItemKind, out: &mut Vec<Place<'t>>) {
    match item {
        ItemKind::Fn(def) => {
            let kind = PlaceKind::Head(def.body.span);
            for param in &def.params {
                out.push(Place {
                    name: format!("`{}`", param.name.node),
                    at: param.name.span,
                    ty: &param.ty,
                    kind,
                });
            }
            if let Some(ty) = &def.ret {
                out.push(Place {
                    name: format!("the result of `{}`", def.name.node),
                    at: ty.span,
                    ty,
                    kind,
                });
            }
            of_block(&def.body, out);
        }
        ItemKind::Type(def) => fields(&def.ty, out),
        ItemKind::Const(def) => variable(&def.name, def.ty.as_ref(), out),
        ItemKind::Main(block) => of_block(block, out),
        ItemKind::Test(def) => of_block(&def.body, out),
        ItemKind::Import(_) | ItemKind::Mesh(_) => {}
    }
}

fn variable<'t>(name: &ast::Ident, ty: Option<&'t TypeExpr>, out: &mut Vec<Place<'t>>) {
    out.extend(ty.map(|ty| Place {
        name: format!("`{}`", name.node),
        at: name.span,
        ty,
        kind: PlaceKind::Variable,
    }));
}

fn of_block<'t>(block: &'t ast::Block, out: &mut Vec<Place<'t>>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Let {
                pattern: ast::Pattern::Name(name),
                ty,
                ..
            } => variable(name, ty.as_ref(), out),
            StmtKind::Const(def) => variable(&def.name, def.ty.as_ref(), out),
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => of_block(body, out),
            _ => {}
        }
    }
}

fn fields<'t>(ty: &'t TypeExpr, out: &mut Vec<Place<'t>>) {
    if let TypeExprKind::Record(each) = &ty.kind {
        for (name, ty) in each {
            out.push(Place {
                name: format!("`{}`", name.node),
                at: name.span,
                ty,
                kind: PlaceKind::Field,
            });
            fields(ty, out);
        }
    }
}

/// The types that the tensors of a type as written may have been meant to be, likely ones first.
fn repairs(ty: &TypeExpr, text: &str, about: &[&Diagnostic]) -> Vec<(Span, String)> {
    let mut tensors = Vec::new();
    tensors_of(ty, &mut tensors);
    let (elems, sizes) = spoken_of(about);
    let mut out = Vec::new();
    for (span, elem, dims) in tensors {
        let words: Vec<&str> = dims
            .iter()
            .map(|d| &text[d.start as usize..d.end as usize])
            .collect();
        let written = |elem: &str, dims: &[&str]| match dims {
            [] => elem.to_string(),
            dims => format!("{elem}[{}]", dims.join(", ")),
        };
        for i in 0..words.len() {
            for j in i + 1..words.len() {
                let mut other = words.clone();
                other.swap(i, j);
                out.push((span, written(elem, &other)));
            }
        }
        out.extend(elems.iter().map(|e| (span, written(e, &words))));
        for i in 0..words.len() {
            for size in &sizes {
                let mut other = words.clone();
                other[i] = size;
                out.push((span, written(elem, &other)));
            }
        }
    }
    out.retain(|(span, fits)| text[span.start as usize..span.end as usize] != *fits);
    out
}

/// The tensors of a type: where they stand, their elements, and the places of their dimensions.
fn tensors_of<'t>(ty: &'t TypeExpr, out: &mut Vec<(Span, &'t str, Vec<Span>)>) {
    match &ty.kind {
        TypeExprKind::Path {
            module: None,
            name,
            args,
        } => {
            let dims = args.iter().map(|a| match a {
                TypeArg::Dim { size, axis: None } => Some(size.span),
                TypeArg::Dim { .. } | TypeArg::Spread(_) | TypeArg::Type(_) => None,
            });
            if let (Some(_), Some(dims)) = (Elem::from_name(&name.node), dims.collect()) {
                out.push((ty.span, &name.node, dims));
            }
        }
        TypeExprKind::Tuple(parts) => parts.iter().for_each(|t| tensors_of(t, out)),
        TypeExprKind::Fn(params, ret) => {
            params.iter().for_each(|t| tensors_of(t, out));
            tensors_of(ret, out);
        }
        _ => {}
    }
}

/// The elements and sizes that the labels of errors speak of: `this is f32[N=400, 2], expected u8[2, B]`.
fn spoken_of(about: &[&Diagnostic]) -> (Vec<String>, Vec<String>) {
    let (mut elems, mut sizes) = (Vec::new(), Vec::new());
    let add = |list: &mut Vec<String>, word: &str| {
        if !list.iter().any(|w| w == word) {
            list.push(word.to_string());
        }
    };
    for d in about {
        let said = labels(d).map(|l| &l.text).chain(&d.notes);
        for text in said.chain(std::iter::once(&d.message)) {
            for word in words(text) {
                if Elem::from_name(word).is_some() {
                    add(&mut elems, word);
                }
            }
            for inside in text.split('[').skip(1).filter_map(|t| t.split_once(']')) {
                for size in inside.0.split(',') {
                    let name = size.split('=').next().unwrap_or(size).trim();
                    if !name.is_empty() && !name.starts_with("..") {
                        add(&mut sizes, name);
                    }
                }
            }
        }
    }
    // What is used without saying so: as an index, as a condition of `where`.
    for common in ["f32", "i32"] {
        add(&mut elems, common);
    }
    (elems, sizes)
}
