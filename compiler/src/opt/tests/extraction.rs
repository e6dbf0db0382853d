//! What extraction promises: the best of all selections where there are few, never more than the source, and the same on
//! every run.

use super::func;
use super::limits::chain;
use crate::ir::Func;
use crate::opt::Level;
use crate::opt::cost::device::{CPU, DeviceCost, H200, TPU_V6E};
use crate::opt::extract::{Judge, Score, Selection, Snapshot, extract, greedy};
use crate::opt::graph::load;
use crate::opt::rewrite::RuleSet;
use crate::opt::rewrite::saturate::saturate;

/// Graphs with at most so many selections are tried out whole.
const SELECTIONS: usize = 1_000;

fn sources() -> Vec<Func> {
    let published = include_str!("../../../../tests/data/published_rules.ir");
    let blocks = published.split("\n## ").skip(1);
    let mut all: Vec<Func> = blocks
        .flat_map(|block| {
            let at = block.find("func ").expect("a block has functions");
            crate::ir::parse::parse_all(&block[at..]).expect("the file is well formed")
        })
        .collect();
    all.push(func(include_str!("mlp_gradient.ir")));
    all.extend([8, 9, 10, 12].map(|count| func(&chain(count))));
    all
}

fn snapshot(source: &Func, device: &DeviceCost) -> Snapshot {
    let mut loaded = load::load(source, &[], &mut |body, _| body);
    saturate(&mut loaded.graph, RuleSet::of(Level::Aggressive));
    Snapshot::take(&loaded, device)
}

/// The best score of all selections; `None` where there are too many.
fn best_of_all(snapshot: &Snapshot, judge: &mut Judge) -> Option<Score> {
    let sizes: Vec<usize> = snapshot.entries.iter().map(|e| e.choices.len()).collect();
    let count = sizes
        .iter()
        .try_fold(1usize, |n, &size| n.checked_mul(size.max(1)))?;
    if count > SELECTIONS {
        return None;
    }
    let mut best: Option<Score> = None;
    for number in 0..count {
        let mut rest = number;
        let selection: Selection = sizes
            .iter()
            .map(|&size| {
                let choice = rest % size.max(1);
                rest /= size.max(1);
                choice
            })
            .collect();
        if let Some(score) = judge.score(&selection)
            && best.as_ref().is_none_or(|b| score < *b)
        {
            best = Some(score);
        }
    }
    best
}

#[test]
fn few_selections_are_searched_whole_and_many_never_cost_more_than_the_source() {
    let (mut whole, mut many) = (0, 0);
    for device in [&CPU, &TPU_V6E, &H200] {
        for source in sources() {
            let snapshot = snapshot(&source, device);
            let mut judge = Judge::new(&snapshot, device);
            let (selection, score) = extract(&snapshot, device).expect("the source is one");
            assert_eq!(judge.score(&selection), Some(score), "{source}");
            match best_of_all(&snapshot, &mut judge) {
                Some(best) => {
                    whole += 1;
                    assert_eq!(score, best, "{}: {source}", device.name);
                }
                None => many += 1,
            }
            let written = judge.score(&greedy::as_written(&snapshot));
            assert!(
                written.is_none_or(|w| score <= w),
                "{}, {score:?}, {written:?}: {source}",
                device.name
            );
        }
    }
    assert!(whole > 500 && many >= 12, "{whole} {many}");
}

#[test]
fn every_run_selects_the_same() {
    for source in sources() {
        let once = snapshot(&source, &CPU);
        let again = snapshot(&source, &CPU);
        assert_eq!(extract(&once, &CPU), extract(&again, &CPU), "{source}");
    }
}
