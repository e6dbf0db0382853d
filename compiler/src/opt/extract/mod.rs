//! Choosing one node for each class that the roots need, so that the whole graph costs least.
//!
//! Shared nodes are paid for once, and fusion makes the cost of a node depend on its users, so this is a search:
//! two starting points (the program as written, and a bottom-up greedy choice), then single exchanges while they
//! help, and where few enough selections exist, all of them.

pub mod emit;
pub mod exact;
pub mod greedy;
pub mod improve;
pub mod meter;
pub mod order;
pub mod snapshot;

pub use snapshot::{Choice, Entry, Snapshot};

use super::cost::{Cost, Cutter, DeviceCost, Nodes, Profile};

/// For each class, which of its choices stands for it.
pub type Selection = Vec<usize>;

/// What a selection is judged by: its cost, then how many nodes are not as written.
pub type Score = (Cost, u64);

/// The best selection found, and its score.
pub fn extract(snapshot: &Snapshot, device: &DeviceCost) -> Option<(Selection, Score)> {
    let mut judge = Judge::new(snapshot, device);
    let mut best: Option<(Selection, Score)> = None;
    let seeds = [
        greedy::as_written(snapshot),
        greedy::bottom_up(snapshot, device),
    ];
    for seed in seeds {
        let Some(score) = judge.score(&seed) else {
            continue;
        };
        let improved = improve::improve(&mut judge, seed, score);
        if best.as_ref().is_none_or(|(_, b)| improved.1 < *b) {
            best = Some(improved);
        }
    }
    let best = best?;
    Some(exact::exhaust(&mut judge, &best).unwrap_or(best))
}

/// Scores selections; keeps its scratch memory between calls.
pub struct Judge<'a> {
    pub snapshot: &'a Snapshot,
    device: &'a DeviceCost,
    state: Vec<Mark>,
    cutter: Cutter,
    /// Classes in use by the last selection scored, operands first.
    pub order: Vec<usize>,
    /// Nodes looked at so far.
    pub work: u64,
}

/// The nodes of a selection, numbered by class.
struct Chosen<'a> {
    snapshot: &'a Snapshot,
    selection: &'a Selection,
}

impl Nodes for Chosen<'_> {
    fn node(&self, at: usize) -> (&Profile, &[usize]) {
        let choice = &self.snapshot.entries[at].choices[self.selection[at]];
        (&choice.profile, &choice.children)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

impl<'a> Judge<'a> {
    pub fn new(snapshot: &'a Snapshot, device: &'a DeviceCost) -> Self {
        let count = snapshot.entries.len();
        Judge {
            snapshot,
            device,
            state: vec![Mark::New; count],
            cutter: Cutter::default(),
            order: Vec::new(),
            work: 0,
        }
    }

    /// The score of a selection; `None` when it runs in a circle.
    pub fn score(&mut self, selection: &Selection) -> Option<Score> {
        self.sort(selection)?;
        self.work += self.order.len() as u64;
        let chosen = Chosen {
            snapshot: self.snapshot,
            selection,
        };
        let changed = self.order.iter().filter(|&&class| {
            let choice = &self.snapshot.entries[class].choices[selection[class]];
            !choice.written
        });
        let changed = changed.count() as u64;
        let count = self.snapshot.entries.len();
        let roots = &self.snapshot.roots;
        let cost = self
            .cutter
            .cost(&chosen, count, &self.order, roots, self.device);
        Some((cost, changed))
    }

    /// Fills `order` with the classes in use, operands first; `None` on a circle.
    fn sort(&mut self, selection: &Selection) -> Option<()> {
        self.order.clear();
        self.state.fill(Mark::New);
        let mut stack: Vec<(usize, usize)> = Vec::new();
        for &root in &self.snapshot.roots {
            if self.state[root] != Mark::New {
                continue;
            }
            stack.push((root, 0));
            self.state[root] = Mark::Open;
            while let Some((class, next)) = stack.last_mut() {
                let entry = &self.snapshot.entries[*class];
                let children = &entry.choices.get(selection[*class])?.children;
                let Some(&child) = children.get(*next) else {
                    self.state[*class] = Mark::Done;
                    self.order.push(*class);
                    stack.pop();
                    continue;
                };
                *next += 1;
                match self.state[child] {
                    Mark::Done => {}
                    Mark::Open => return None,
                    Mark::New => {
                        self.state[child] = Mark::Open;
                        stack.push((child, 0));
                    }
                }
            }
        }
        Some(())
    }
}
