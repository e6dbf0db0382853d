//! All selections of a small graph, by branch and bound.
//!
//! Choices are made from the roots down, for the classes that the choices so far need. Arithmetic and text only grow
//! with every choice, so a partial selection that already has more of both than the best is given up.

use super::{Judge, Score, Selection};
use crate::opt::cost::{Profile, Role};

/// The search is exact where it looks at no more nodes than this, and is not used otherwise.
pub const EXACT_WORK: u64 = 20_000;

/// The best of all selections, if that can be found within [`EXACT_WORK`]; `None` otherwise.
pub fn exhaust(judge: &mut Judge, best: &(Selection, Score)) -> Option<(Selection, Score)> {
    let count = judge.snapshot.entries.len();
    let mut search = Search {
        limit: judge.work + EXACT_WORK,
        judge,
        best: best.clone(),
        selection: vec![0; count],
        needed: vec![false; count],
        todo: Vec::new(),
    };
    let roots = search.judge.snapshot.roots.clone();
    for root in roots {
        search.need(root);
    }
    let complete = search.next(0, 0, 0);
    complete.then_some(search.best)
}

struct Search<'a, 'b> {
    judge: &'a mut Judge<'b>,
    limit: u64,
    best: (Selection, Score),
    selection: Selection,
    needed: Vec<bool>,
    /// Classes that are needed, in the order in which that was found.
    todo: Vec<usize>,
}

impl Search<'_, '_> {
    fn need(&mut self, class: usize) {
        if !self.needed[class] {
            self.needed[class] = true;
            self.todo.push(class);
        }
    }

    /// Decides the class at `at` in `todo` and all after it; whether the search was complete.
    fn next(&mut self, at: usize, compute: u64, insts: u64) -> bool {
        let (cost, _) = self.best.1;
        if compute > cost.time || (compute == cost.time && insts > cost.insts) {
            return true;
        }
        self.judge.work += 1;
        if self.judge.work > self.limit {
            return false;
        }
        let Some(&class) = self.todo.get(at) else {
            if let Some(score) = self.judge.score(&self.selection)
                && score < self.best.1
            {
                self.best = (self.selection.clone(), score);
            }
            return true;
        };
        let snapshot = self.judge.snapshot;
        for (index, choice) in snapshot.entries[class].choices.iter().enumerate() {
            let known = self.todo.len();
            self.selection[class] = index;
            choice.children.iter().for_each(|&c| self.need(c));
            let complete = self.next(
                at + 1,
                compute + least(&choice.profile),
                insts + choice.profile.insts,
            );
            for class in self.todo.drain(known..) {
                self.needed[class] = false;
            }
            if !complete {
                return false;
            }
        }
        true
    }
}

/// Time that a node takes whatever surrounds it. A kernel's time is at least the sum of its nodes' arithmetic.
fn least(profile: &Profile) -> u64 {
    match profile.role {
        Role::Stored | Role::Free | Role::View => 0,
        Role::Fused | Role::Picked | Role::Product | Role::Reducing => profile.compute,
        Role::Kernel => profile.compute + profile.body.map_or(0, |b| b.time),
    }
}
