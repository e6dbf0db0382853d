//! A key is used once: the flow of keys through a checked body.
//!
//! A key is used up by a random function, by a function that uses it up, and by being stored. Fields of records and
//! elements of key arrays at different constant positions are different keys. `let` gives a key another name, and so
//! does a call of a lambda. Branches join; the body of a loop, or of a function that is called any number of times, is
//! followed twice, so that what its second round meets is seen.

mod flow;
mod known;
mod place;

use super::problem::Problem;
use crate::source::Sources;
use crate::typed::{Body, Callee, FnDef, Glance, Local, LocalId, Ty};
use flow::Flow;
use place::Step;

/// The way from a parameter down to a key in it: fields, and constant positions.
type Path = Vec<Step>;

/// What a function does with the keys it is given.
#[derive(Clone, Debug, Default)]
pub struct KeyFacts {
    /// Of each parameter, the keys in it that are used up.
    uses: Vec<Vec<Path>>,
    /// Of each parameter, whether it is a function that may be called more than once.
    many: Vec<bool>,
}

/// Follows the keys of a function: what it uses up, and what is wrong.
pub fn of_fn(def: &FnDef, known: &[KeyFacts], sources: &Sources) -> (KeyFacts, Vec<Problem>) {
    let is_function = |ty: &Ty| matches!(ty, Ty::Fn(..));
    let has_trees = def.params.iter().any(|p| holds_key(&p.ty, true));
    let mut facts = KeyFacts::default();
    let mut problems = Vec::new();
    if has_keys(&def.body) || def.params.iter().any(|p| is_function(&p.ty)) {
        let mut flow = Flow::new(&def.body.locals, known, sources, false);
        flow.body(&def.body, true);
        problems = std::mem::take(&mut flow.problems);
        facts = flow.facts(&def.params);
    }
    // A tree may hold keys at a call: what the function does with all of it, it does with them.
    if has_trees {
        let mut flow = Flow::new(&def.body.locals, known, sources, true);
        flow.body(&def.body, true);
        facts = flow.facts(&def.params);
    }
    // Its variables are among those of the function's body.
    if let Some(vjp) = def.vjp.as_ref().filter(|_| has_keys(&def.body)) {
        let mut flow = Flow::new(&def.body.locals, known, sources, false);
        flow.body(&vjp.body, true);
        problems.extend(flow.problems);
    }
    (facts, problems)
}

pub fn of_body(body: &Body, known: &[KeyFacts], sources: &Sources) -> Vec<Problem> {
    if !has_keys(body) {
        return Vec::new();
    }
    let mut flow = Flow::new(&body.locals, known, sources, false);
    flow.body(body, false);
    flow.problems
}

/// Of a function that stands in a body with these variables, and is called nowhere.
pub fn of_lambda(
    lambda: &Callee,
    locals: &[Local],
    known: &[KeyFacts],
    sources: &Sources,
) -> Vec<Problem> {
    let mut flow = Flow::new(locals, known, sources, false);
    flow.callee(lambda, false);
    flow.problems
}

/// Without a variable that holds a key no key can be used twice.
fn has_keys(body: &Body) -> bool {
    body.locals.iter().any(|l| holds_key(&l.ty, false))
}

/// Whether there is a key in values of a type; `trees`: whether a tree parameter counts as one.
fn holds_key(ty: &Ty, trees: bool) -> bool {
    let glance = Glance::of(ty);
    glance.has_keys || trees && glance.has_trees
}

/// The variables of a pattern.
fn locals_of(pattern: &crate::typed::Pattern) -> Vec<LocalId> {
    use crate::typed::Pattern;
    match pattern {
        Pattern::Local(id) => vec![*id],
        Pattern::Wild => Vec::new(),
        Pattern::Fields(parts) => parts.iter().flat_map(locals_of).collect(),
    }
}
