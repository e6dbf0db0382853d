//! Starting points of the search.

use super::{Selection, Snapshot};
use crate::opt::cost::profile::picoseconds;
use crate::opt::cost::{DeviceCost, Profile, Role};

/// Passes over all classes, at most; each settles at least the classes whose operands are settled.
const PASSES: usize = 64;

/// The program as it was written, where a class has a node from there.
pub fn as_written(snapshot: &Snapshot) -> Selection {
    // Written choices stand first.
    vec![0; snapshot.entries.len()]
}

/// From the leaves up: for each class the node whose operands, each counted once, add up to least. A node is
/// charged what it costs as if it were fused where it can be.
pub fn bottom_up(snapshot: &Snapshot, device: &DeviceCost) -> Selection {
    let count = snapshot.entries.len();
    let mut best: Vec<Option<Settled>> = vec![None; count];
    for _ in 0..PASSES {
        let mut changed = false;
        // Classes were numbered from the roots down, so operands tend to stand behind.
        for class in (0..count).rev() {
            for (index, choice) in snapshot.entries[class].choices.iter().enumerate() {
                let own = charge(&choice.profile, device);
                let limit = best[class].as_ref().map_or(u64::MAX, |b| b.cost);
                let better = settle(class, index, own, &choice.children, &best, limit);
                if better.is_some() {
                    best[class] = better;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    best.iter()
        .map(|b| b.as_ref().map_or(0, |b| b.choice))
        .collect()
}

#[derive(Clone)]
struct Settled {
    choice: usize,
    own: u64,
    cost: u64,
    /// The classes that it takes, itself included.
    needs: Vec<u64>,
}

/// `None` where an operand is not settled yet, where the class needs itself, or where that costs `limit` or more.
fn settle(
    class: usize,
    choice: usize,
    own: u64,
    children: &[usize],
    best: &[Option<Settled>],
    limit: u64,
) -> Option<Settled> {
    let settled: Option<Vec<&Settled>> = children.iter().map(|&c| best[c].as_ref()).collect();
    let settled = settled?;
    let (word, bit) = (class / 64, 1u64 << (class % 64));
    // The dearest operand is taken as a whole, of the others what it does not need.
    let first = (0..settled.len()).max_by_key(|&i| (settled[i].cost, std::cmp::Reverse(i)));
    let mut cost = own.saturating_add(first.map_or(0, |i| settled[i].cost));
    if cost >= limit || settled.iter().any(|s| s.needs[word] & bit != 0) {
        return None;
    }
    let mut needs = match first {
        Some(i) => settled[i].needs.clone(),
        None => vec![0u64; best.len().div_ceil(64)],
    };
    for (i, operand) in settled.iter().enumerate() {
        if Some(i) == first {
            continue;
        }
        for (w, (have, add)) in needs.iter_mut().zip(&operand.needs).enumerate() {
            let mut new = add & !*have;
            *have |= add;
            while new != 0 {
                let other = w * 64 + new.trailing_zeros() as usize;
                cost = cost.saturating_add(best[other].as_ref().map_or(0, |b| b.own));
                new &= new - 1;
            }
        }
    }
    needs[word] |= bit;
    (cost < limit).then_some(Settled {
        choice,
        own,
        cost,
        needs,
    })
}

/// Picoseconds for one node on its own. One more for being there, so that of two free ones the shorter wins.
fn charge(profile: &Profile, device: &DeviceCost) -> u64 {
    let moving = |bytes: u64| picoseconds(bytes as f64 / device.bandwidth);
    let launch = picoseconds(device.launch);
    let time = match profile.role {
        Role::Stored | Role::Free | Role::View => 0,
        Role::Fused | Role::Picked => profile.compute,
        Role::Reducing => profile.compute + launch,
        Role::Kernel | Role::Product => {
            let inside = profile.body.map_or(0, |b| b.time);
            let bytes = profile.moved.unwrap_or(2 * profile.bytes);
            profile.compute.max(moving(bytes)) + inside + launch
        }
    };
    time + profile.insts
}
