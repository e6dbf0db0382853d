//! What is wrong with one name is one mistake, however often the name is used: its later uses become labels of the first.

use super::problem::Problem;
use crate::ast::Name;
use crate::diag::Diagnostic;
use crate::span::Span;
use std::collections::HashMap;

/// The errors that are about one name.
const CODES: [&str; 5] = ["E0201", "E0202", "E0204", "E0308", "E0322"];
/// The uses that a message shows besides the first.
const MAX_SHOWN: usize = 3;

/// What would have to be mended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    name: Name,
    fault: Fault,
    /// The body in which it is, if it is no item.
    body: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Fault {
    Unknown,
    UnknownType,
    /// A field that records of a type do not have.
    NoField(String),
    NotCallable,
}

impl Subject {
    /// What a problem is about, with the place that it is told of. `text` is what stands there.
    pub fn of(problem: &Problem, body: u32, text: &str) -> Option<(Span, Subject)> {
        let local = |span: Span, name: Name, fault| {
            let body = Some(body);
            Some((span, Subject { name, fault, body }))
        };
        let (name, span, what) = match problem {
            Problem::NoField { span, name, ty, .. } => {
                let of = Fault::NoField(format!("{ty:?}"));
                return local(*span, name.clone(), of);
            }
            Problem::NotCallable { span, .. } => {
                return local(*span, text.into(), Fault::NotCallable);
            }
            Problem::UnknownName {
                what,
                name,
                module: None,
                span,
                ..
            } => (name, span, *what),
            Problem::UnknownModule { span, name, .. } => (name, span, "module"),
            Problem::ForeignModule {
                span,
                module,
                name: None,
            } => (module, span, "module"),
            _ => return None,
        };
        let is_item = matches!(what, "function" | "type" | "module" | "mesh axis");
        let subject = Subject {
            name: name.clone(),
            fault: match what {
                "type" => Fault::UnknownType,
                _ => Fault::Unknown,
            },
            body: (!is_item).then_some(body),
        };
        Some((*span, subject))
    }
}

/// Leaves the first error about each subject, in the order of the diagnostics.
pub fn gather(diagnostics: &mut Vec<Diagnostic>, subjects: &HashMap<Span, Subject>) {
    let mut first: HashMap<&Subject, usize> = HashMap::new();
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut unshown: HashMap<usize, usize> = HashMap::new();
    for d in std::mem::take(diagnostics) {
        let of = subjects.get(&d.primary.span);
        let Some(of) = of.filter(|_| CODES.contains(&d.code.0)) else {
            kept.push(d);
            continue;
        };
        match first.get(of) {
            None => {
                first.insert(of, kept.len());
                kept.push(d);
            }
            Some(&at) if kept[at].secondary.len() < MAX_SHOWN => {
                let label = kept[at].clone().label(d.primary.span, "here too");
                kept[at] = label;
            }
            Some(&at) => *unshown.entry(at).or_default() += 1,
        }
    }
    for (at, more) in unshown {
        let places = if more == 1 { "place" } else { "places" };
        let note = format!("and in {more} more {places}");
        kept[at] = kept[at].clone().note(note);
    }
    *diagnostics = kept;
}
