//! A name that nothing defines is one mistake, however often it is used: its later uses become labels of the first.

use super::problem::Problem;
use crate::ast::Name;
use crate::diag::Diagnostic;
use crate::span::Span;
use std::collections::HashMap;

/// The uses that a message shows besides the first.
const MAX_SHOWN: usize = 3;

/// What would have to be defined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Missing {
    name: Name,
    is_type: bool,
    /// The body in which it would be, if it is no item.
    body: Option<u32>,
}

impl Missing {
    /// What a problem says is missing, with the place that it says it of.
    pub fn of(problem: &Problem, body: u32) -> Option<(Span, Missing)> {
        let (name, span, what) = match problem {
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
        let missing = Missing {
            name: name.clone(),
            is_type: what == "type",
            body: (!is_item).then_some(body),
        };
        Some((*span, missing))
    }
}

/// Leaves the first use of everything missing, in the order of the diagnostics.
pub fn gather(diagnostics: &mut Vec<Diagnostic>, missing: &HashMap<Span, Missing>) {
    let mut first: HashMap<&Missing, usize> = HashMap::new();
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut unshown: HashMap<usize, usize> = HashMap::new();
    for d in std::mem::take(diagnostics) {
        let of = missing.get(&d.primary.span);
        let Some(of) = of.filter(|_| matches!(d.code.0, "E0201" | "E0202" | "E0204")) else {
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
