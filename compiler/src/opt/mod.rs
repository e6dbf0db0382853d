//! The optimiser: equality saturation over each region, with named rules, and extraction by the cost of the whole
//! graph. `docs/optimiser.md` is its description; `rules/README.md` says what a legal rule is.
//!
//! A region becomes an e-graph ([`graph`]), rules are applied to it until nothing changes ([`rewrite`], [`rules`]),
//! one node is chosen for each class that is needed ([`extract`], judged by [`cost`]), and the choice is written as
//! instructions again. Regions inside are optimised before the one that holds them. Nothing here depends on time,
//! addresses or hash seeds: equal input gives equal output.

pub mod cost;
pub mod diff;
pub mod explain;
pub mod extract;
pub mod graph;
pub mod report;
pub mod rewrite;
pub mod rules;
#[cfg(test)]
mod soundness;
pub mod stable;
#[cfg(test)]
mod tests;

pub use cost::{Cost, DeviceCost};
pub use report::Report;

use crate::ir::Func;
use crate::ir::verify::verify;
use extract::{Selection, Snapshot};
use graph::Facts;
use graph::load::{self, Loaded};
use rewrite::RuleSet;
use rewrite::saturate::{Saturation, saturate};

/// How far to go: `--opt 0`, `1`, `2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Nothing at all.
    None,
    /// Exact rules, and the harmless ones.
    #[default]
    Default,
    /// All rules: rounding may move, and values are taken to be finite.
    Aggressive,
}

/// Functions out of whose regions something is moved are optimised so often at most.
const ROUNDS: usize = 3;

/// Optimises a verified function for a device. The result has the same inputs, outputs and effects, never costs more
/// by the device's model, and is checked; where a check fails the input is returned and the report says why.
pub fn optimise(func: &Func, level: Level, device: &DeviceCost) -> (Func, Report) {
    run(func, level, device, false)
}

/// As [`optimise`], and the report says of each value why it became what it did.
pub fn optimise_explained(func: &Func, level: Level, device: &DeviceCost) -> (Func, Report) {
    run(func, level, device, true)
}

fn run(func: &Func, level: Level, device: &DeviceCost, explain: bool) -> (Func, Report) {
    let shifted = (level == Level::Aggressive).then(|| stable::run(func, device));
    let func = shifted.as_ref().unwrap_or(func);
    let before = cost::of_func(func, device);
    let mut report = Report::new(before);
    if level == Level::None {
        return (func.clone(), report);
    }
    let mut optimiser = Optimiser {
        rules: RuleSet::of(level),
        device,
        report: &mut report,
        explain,
    };
    let mut result = optimiser.func(func, &[]);
    let mut after = cost::of_func(&result, device);
    // What was moved out of regions, and what is left in them, is looked at again.
    for _ in 1..ROUNDS {
        if !optimiser.moved() {
            break;
        }
        let again = optimiser.func(&result, &[]);
        let cost = cost::of_func(&again, device);
        if cost >= after {
            break;
        }
        (result, after) = (again, cost);
    }
    if let Err(why) = check(func, &result) {
        debug_assert!(false, "{why}");
        report.rejected.get_or_insert(why);
        return (func.clone(), report);
    }
    // What a region gains in itself it may lose at its border: then the input stays.
    if after > before {
        report
            .rejected
            .get_or_insert_with(|| format!("the result costs more: {after:?}, not {before:?}"));
        return (func.clone(), report);
    }
    report.rules = RuleSet::of(level).rules.len();
    report.after = after;
    (result, report)
}

/// What must hold of a result whatever the rules did.
fn check(func: &Func, result: &Func) -> Result<(), String> {
    if func.input_types() != result.input_types() || func.output_types() != result.output_types() {
        return Err("the signature changed".into());
    }
    if let Err(e) = verify(result) {
        return Err(format!("the result is not valid: {e}"));
    }
    Ok(())
}

struct Optimiser<'a> {
    rules: &'static RuleSet,
    device: &'a DeviceCost,
    report: &'a mut Report,
    explain: bool,
}

impl Optimiser<'_> {
    /// Whether a rule about regions made a difference.
    fn moved(&self) -> bool {
        let mut rules = rules::control::RULES.iter();
        rules.any(|r| self.report.decisive.contains_key(r.name))
    }

    /// Optimises a closed function, of whose inputs `facts` are known; regions inside first.
    fn func(&mut self, func: &Func, facts: &[Facts]) -> Func {
        let mut loaded = load::load(func, facts, &mut |body, facts| self.func(&body, facts));
        let saturation = saturate(&mut loaded.graph, self.rules);
        if let Some(why) = loaded.graph.egg.analysis.unsound.take() {
            self.report.rejected.get_or_insert(why);
            return func.clone();
        }
        let snapshot = Snapshot::take(&loaded, self.device);
        self.count(&loaded, &saturation);
        let Some((selection, _)) = extract::extract(&snapshot, self.device) else {
            let why = "no selection without a circle".to_string();
            self.report.rejected.get_or_insert(why);
            return func.clone();
        };
        self.credit(&loaded, &saturation, &snapshot, &selection);
        if self.explain {
            let rules = self.rules;
            let changes =
                explain::changes(func, &loaded, &saturation, rules, &snapshot, &selection);
            self.report.changes.extend(changes);
        }
        extract::emit::emit(func, &snapshot, &selection, loaded.effects)
    }

    fn count(&mut self, loaded: &Loaded, saturation: &Saturation) {
        let report = &mut self.report;
        report.nodes += loaded.graph.egg.total_size();
        report.classes += loaded.graph.egg.number_of_classes();
        if saturation.iterations > report.iterations {
            report.iterations = saturation.iterations;
        }
        if saturation.stop > report.stop {
            report.stop = saturation.stop;
        }
        for union in &saturation.unions {
            let name = self.rules.rules[union.rule].rule.name;
            *report.fired.entry(name).or_default() += 1;
        }
    }

    /// Counts the unions whose right side was chosen where the left side was not.
    fn credit(
        &mut self,
        loaded: &Loaded,
        saturation: &Saturation,
        snapshot: &Snapshot,
        selection: &Selection,
    ) {
        let egg = &loaded.graph.egg;
        let canonical = |id: egg::Id| {
            let node = egg.nodes()[usize::from(id)].clone();
            egg::Language::map_children(node, |c| egg.find(c))
        };
        let chosen: std::collections::HashMap<egg::Id, &graph::Node> = snapshot
            .entries
            .iter()
            .zip(selection)
            // A class that nothing needs may have no choice.
            .filter_map(|(entry, &choice)| Some((entry.id, &entry.choices.get(choice)?.node)))
            .collect();
        for union in &saturation.unions {
            let Some(&node) = chosen.get(&egg.find(union.left)) else {
                continue;
            };
            if canonical(union.right) == *node && canonical(union.left) != *node {
                let name = self.rules.rules[union.rule].rule.name;
                *self.report.decisive.entry(name).or_default() += 1;
            }
        }
    }
}
