//! Where a key is kept: a variable, and the way down to a key in it.

use crate::check::poly;
use crate::typed::{Dim, LocalId};
use std::collections::HashMap;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    Field(usize),
    At(i64),
    /// At the value of a variable.
    AtLocal(LocalId),
    /// At all positions from the first to before the second.
    Span(Dim, Dim),
}

/// The positions that the variables of loops over a range take.
pub type Ranges = HashMap<LocalId, (Dim, Dim)>;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub local: LocalId,
    pub steps: Vec<Step>,
}

impl Place {
    pub fn of(local: LocalId) -> Place {
        Place {
            local,
            steps: Vec::new(),
        }
    }

    pub fn then(mut self, step: Step) -> Place {
        let last = self.steps.last();
        // A position in a slice is one in the array.
        let in_array = match (last, &step) {
            (Some(Step::Span(lo, _)), Step::At(n)) if *n >= 0 => {
                lo.as_int().map(|lo| Step::At(lo + n))
            }
            (Some(Step::Span(lo, _)), Step::Span(from, to)) => match (lo.add(from), lo.add(to)) {
                (Some(from), Some(to)) => Some(Step::Span(from, to)),
                _ => None,
            },
            _ => None,
        };
        if in_array.is_some() {
            self.steps.pop();
        }
        self.steps.push(in_array.unwrap_or(step));
        self
    }

    /// Whether one holds the other.
    pub fn overlaps(&self, other: &Place, ranges: &Ranges) -> bool {
        let mut pairs = self.steps.iter().zip(&other.steps);
        self.local == other.local && pairs.all(|(a, b)| meet(a, b, ranges))
    }

    pub fn mentions_from(&self, floor: LocalId) -> bool {
        self.local >= floor
            || self
                .steps
                .iter()
                .any(|s| matches!(s, Step::AtLocal(id) if *id >= floor))
    }

    /// The place after the loops whose variables are numbered from `floor`: what they went over, or all that holds it.
    pub fn after_loop(&self, floor: LocalId, ranges: &Ranges) -> Place {
        let mut out = Place::of(self.local);
        for step in &self.steps {
            match step {
                Step::AtLocal(id) if *id >= floor => match ranges.get(id) {
                    Some((lo, hi)) => out.steps.push(Step::Span(lo.clone(), hi.clone())),
                    None => break,
                },
                step => out.steps.push(step.clone()),
            }
        }
        out
    }
}

/// Whether two steps from one place may lead to the same key. Two variables are taken to have different values, unless
/// one of them has gone over a range that the other lies in.
fn meet(a: &Step, b: &Step, ranges: &Ranges) -> bool {
    let span = |step: &Step| match step {
        Step::Span(lo, hi) => Some((lo.clone(), hi.clone())),
        Step::At(n) if *n >= 0 => Some((Dim::int(*n), Dim::int(*n + 1))),
        Step::AtLocal(id) => ranges.get(id).cloned(),
        Step::At(_) | Step::Field(_) => None,
    };
    match (a, b) {
        _ if a == b => true,
        (Step::Span(..), other) | (other, Step::Span(..)) => {
            let (Some((lo, hi)), Some((from, to))) = (span(a), span(b)) else {
                return !matches!(other, Step::Field(_));
            };
            !(ends_before(&hi, &from) || ends_before(&to, &lo))
        }
        _ => false,
    }
}

fn ends_before(end: &Dim, start: &Dim) -> bool {
    start
        .sub(end)
        .is_some_and(|gap| gap.as_int().map_or(poly::never_negative(&gap), |n| n >= 0))
}
