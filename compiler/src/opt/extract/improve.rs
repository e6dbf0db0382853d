//! Exchanging one choice at a time while that helps.

use super::{Judge, Score, Selection};

/// Nodes that may be looked at while improving one selection; a count, so that all runs stop at the same place.
const WORK: u64 = 8_000_000;

/// Sweeps over the classes in use, from the roots down, until no exchange helps.
pub fn improve(
    judge: &mut Judge,
    mut selection: Selection,
    mut score: Score,
) -> (Selection, Score) {
    let limit = judge.work + WORK;
    loop {
        let mut helped = false;
        // The order of the selection as it is now.
        if judge.score(&selection).is_none() {
            return (selection, score);
        }
        let classes: Vec<usize> = judge.order.iter().rev().copied().collect();
        for class in classes {
            let choices = judge.snapshot.entries[class].choices.len();
            for choice in 0..choices {
                let before = selection[class];
                if choice == before {
                    continue;
                }
                if judge.work > limit {
                    return (selection, score);
                }
                selection[class] = choice;
                match judge.score(&selection) {
                    Some(new) if new < score => {
                        score = new;
                        helped = true;
                    }
                    _ => selection[class] = before,
                }
            }
        }
        if !helped {
            return (selection, score);
        }
    }
}
