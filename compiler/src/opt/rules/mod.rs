//! The registry of rules, by subject. `README.md` beside this file says what a legal rule is.

pub mod arithmetic;
pub mod broadcast;
pub mod control;
pub mod convert;
pub mod convolution;
pub mod diagonal;
pub mod dot;
pub mod exponentials;
pub mod indexing;
pub mod induction;
pub mod outer;
pub mod reduce;
pub mod select;
pub mod shape;
mod turn;
pub mod vector;

use super::rewrite::Rule;

/// A subject and its rules.
pub type Subject = (&'static str, &'static [Rule]);

/// All subjects, in the order in which their rules are applied.
pub const SUBJECTS: &[Subject] = &[
    ("arithmetic", arithmetic::RULES),
    ("exponentials", exponentials::RULES),
    ("shape", shape::RULES),
    ("broadcast", broadcast::RULES),
    ("reduce", reduce::RULES),
    ("outer", outer::RULES),
    ("dot", dot::RULES),
    ("diagonal", diagonal::RULES),
    ("vector", vector::RULES),
    ("convolution", convolution::RULES),
    ("select", select::RULES),
    ("indexing", indexing::RULES),
    ("convert", convert::RULES),
    ("control", control::RULES),
    ("induction", induction::RULES),
];

/// All rules, in order.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    SUBJECTS.iter().flat_map(|(_, rules)| rules.iter())
}
