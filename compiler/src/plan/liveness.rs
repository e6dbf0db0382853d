//! When a slot's value is needed no more: freed, or its memory given to an output.

use super::{Carried, Slot, Step, StepKind};
use std::collections::HashSet;

/// Fills `last_use` of every step, and what loops take as they begin. `live_after`: slots read after the list. Gives the slots live before it.
///
/// What a loop's body reads from outside it stays live in the body, since the next iteration reads it again; it is
/// the loop itself that uses it last.
pub(super) fn mark(steps: &mut [Step], live_after: &HashSet<Slot>) -> HashSet<Slot> {
    let mut live = live_after.clone();
    for step in steps.iter_mut().rev() {
        let inside = nested(&mut step.kind, &live);
        let (own_reads, writes) = reads_and_writes(&step.kind);
        let mut reads = inside.clone();
        reads.extend(own_reads);
        let mut held = reads.clone();
        held.extend(&writes);
        held.extend(left(&step.kind));
        step.last_use = held.difference(&live).copied().collect();
        step.last_use.sort_unstable();
        if let StepKind::For { carried, .. } | StepKind::While { carried, .. } = &mut step.kind {
            for c in carried {
                c.takes_init = !live.contains(&c.init) && !inside.contains(&c.init);
            }
        }
        for slot in &writes {
            live.remove(slot);
        }
        live.extend(reads);
    }
    live
}

/// Slots that the steps of a list themselves write.
pub(super) fn written(steps: &[Step]) -> HashSet<Slot> {
    steps
        .iter()
        .flat_map(|s| reads_and_writes(&s.kind).1)
        .collect()
}

/// Marks the steps inside a step; gives the slots from outside that they read.
fn nested(kind: &mut StepKind, live: &HashSet<Slot>) -> HashSet<Slot> {
    match kind {
        StepKind::For {
            carried,
            body,
            index,
            ..
        } => {
            let mut outside = outside_reads(body);
            outside.remove(index);
            carried.iter().for_each(|c| {
                outside.remove(&c.current);
            });
            mark(body, &after_body(carried, live, &outside));
            outside
        }
        StepKind::While {
            cond,
            go,
            carried,
            body,
        } => {
            let mut outside = outside_reads(cond);
            outside.extend(outside_reads(body));
            carried.iter().for_each(|c| {
                outside.remove(&c.current);
            });
            let mut after_cond = after_body(carried, live, &outside);
            after_cond.insert(*go);
            after_cond.extend(carried.iter().map(|c| c.current));
            mark(cond, &after_cond);
            mark(body, &after_body(carried, live, &outside));
            outside
        }
        StepKind::If {
            then,
            otherwise,
            results,
            ..
        } => {
            let mut outside = HashSet::new();
            let picks = [
                results.iter().map(|r| r.1).collect::<Vec<_>>(),
                results.iter().map(|r| r.2).collect(),
            ];
            for (branch, picked) in [then, otherwise].into_iter().zip(picks) {
                let written: HashSet<Slot> = branch
                    .iter()
                    .flat_map(|s| reads_and_writes(&s.kind).1)
                    .collect();
                outside.extend(outside_reads(branch));
                outside.extend(picked.iter().filter(|s| !written.contains(s)));
                let mut after = live.clone();
                after.extend(picked);
                mark(branch, &after);
            }
            outside
        }
        StepKind::Run { .. }
        | StepKind::Constant { .. }
        | StepKind::Host { .. }
        | StepKind::Effect { .. } => HashSet::new(),
    }
}

/// Slots that the steps inside a step have written and it has read at its end: what a branch gives lies in the `if`'s own
/// slot then, and would count as held twice.
fn left(kind: &StepKind) -> Vec<Slot> {
    match kind {
        StepKind::While { go, .. } => vec![*go],
        StepKind::If {
            then,
            otherwise,
            results,
            ..
        } => {
            let mut inside = written(then);
            inside.extend(written(otherwise));
            let picked = results.iter().flat_map(|r| [r.1, r.2]);
            picked.filter(|slot| inside.contains(slot)).collect()
        }
        StepKind::For { .. }
        | StepKind::Run { .. }
        | StepKind::Constant { .. }
        | StepKind::Host { .. }
        | StepKind::Effect { .. } => vec![],
    }
}

fn after_body(carried: &[Carried], live: &HashSet<Slot>, outside: &HashSet<Slot>) -> HashSet<Slot> {
    live.iter()
        .chain(outside)
        .copied()
        .chain(carried.iter().map(|c| c.next))
        .collect()
}

/// Slots that steps read before any of them writes them.
fn outside_reads(steps: &[Step]) -> HashSet<Slot> {
    let mut written: HashSet<Slot> = HashSet::new();
    let mut outside = HashSet::new();
    for step in steps {
        let (reads, writes) = reads_and_writes(&step.kind);
        let (lists, own): (Vec<&[Step]>, Vec<Slot>) = match &step.kind {
            StepKind::For {
                body,
                index,
                carried,
                ..
            } => (
                vec![body],
                carried.iter().map(|c| c.current).chain([*index]).collect(),
            ),
            StepKind::While {
                cond,
                body,
                carried,
                ..
            } => (
                vec![cond, body],
                carried.iter().map(|c| c.current).collect(),
            ),
            StepKind::If {
                then, otherwise, ..
            } => (vec![then, otherwise], vec![]),
            StepKind::Run { .. }
            | StepKind::Constant { .. }
            | StepKind::Host { .. }
            | StepKind::Effect { .. } => (vec![], vec![]),
        };
        let inner = lists
            .into_iter()
            .flat_map(outside_reads)
            .filter(|s| !own.contains(s));
        outside.extend(
            reads
                .into_iter()
                .chain(inner)
                .filter(|s| !written.contains(s)),
        );
        written.extend(writes);
    }
    outside
}

/// What a step itself reads and writes; the steps inside it speak for themselves.
fn reads_and_writes(kind: &StepKind) -> (Vec<Slot>, Vec<Slot>) {
    match kind {
        StepKind::Run {
            inputs, outputs, ..
        } => (inputs.clone(), outputs.clone()),
        StepKind::Constant { output, .. } => (vec![], vec![*output]),
        StepKind::Host {
            inputs, outputs, ..
        } => (inputs.clone(), outputs.clone()),
        StepKind::Effect { inputs, .. } => (inputs.clone(), vec![]),
        StepKind::For { carried, .. } | StepKind::While { carried, .. } => (
            carried.iter().map(|c| c.init).collect(),
            carried.iter().map(|c| c.result).collect(),
        ),
        StepKind::If { pred, results, .. } => (vec![*pred], results.iter().map(|r| r.0).collect()),
    }
}
