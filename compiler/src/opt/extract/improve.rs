//! Exchanging one choice at a time while that helps.

use super::meter::Meter;
use super::{Judge, Score, Selection};

/// Nodes that may be looked at while improving one selection, and so many for each class; counts, so that all runs
/// stop at the same place.
const WORK: u64 = 1_000_000;
const WORK_PER_CLASS: u64 = 1_000;

/// Sweeps over the classes in use, from the roots down, until no exchange helps.
pub fn improve(judge: &mut Judge, selection: Selection, score: Score) -> (Selection, Score) {
    let snapshot = judge.snapshot;
    let Some(mut meter) = Meter::new(snapshot, judge.device, selection.clone()) else {
        return (selection, score);
    };
    let limit = WORK + WORK_PER_CLASS * snapshot.entries.len() as u64;
    let mut score = meter.score();
    loop {
        let mut helped = false;
        // The order of the selection as it is now.
        if judge.score(&meter.selection).is_none() {
            return (selection, score);
        }
        let classes: Vec<usize> = judge.order.iter().rev().copied().collect();
        for class in classes {
            for choice in 0..snapshot.entries[class].choices.len() {
                if choice == meter.selection[class] || !meter.in_use(class) {
                    continue;
                }
                if meter.work > limit {
                    return (meter.selection, score);
                }
                let before = meter.selection[class];
                if !meter.exchange(class, choice) {
                    continue;
                }
                let new = meter.score();
                if new < score {
                    score = new;
                    helped = true;
                } else {
                    meter.exchange(class, before);
                }
            }
        }
        if !helped {
            return (meter.selection, score);
        }
    }
}
