//! What the optimiser did, for `--explain-opt` and for tests.

use super::cost::Cost;
use super::explain::Change;
use super::rewrite::saturate::Stop;
use std::collections::BTreeMap;
use std::fmt;

/// Sums over the function and its regions, but for `iterations` and `stop`, which are the worst of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Rules of the level.
    pub rules: usize,
    /// Nodes and classes of the e-graphs when saturation stopped.
    pub nodes: usize,
    pub classes: usize,
    pub iterations: usize,
    pub stop: Stop,
    pub before: Cost,
    pub after: Cost,
    /// How often each rule made two classes equal.
    pub fired: BTreeMap<&'static str, usize>,
    /// How often what a rule built stands in the result in place of what it matched.
    pub decisive: BTreeMap<&'static str, usize>,
    /// What stands in the place of what, where that was asked for; the bodies of loops and branches first.
    pub changes: Vec<Change>,
    /// Why the input was kept, where the result did not pass its checks: always a bug, never a wrong program.
    pub rejected: Option<String>,
}

impl Report {
    pub(super) fn new(before: Cost) -> Report {
        Report {
            rules: 0,
            nodes: 0,
            classes: 0,
            iterations: 0,
            stop: Stop::Saturated,
            before,
            after: before,
            fired: BTreeMap::new(),
            decisive: BTreeMap::new(),
            changes: Vec::new(),
            rejected: None,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} rules, {} nodes in {} classes, {} iterations: {}",
            self.rules,
            self.nodes,
            self.classes,
            self.iterations,
            self.stop.name()
        )?;
        for (name, cost) in [("before", self.before), ("after", self.after)] {
            writeln!(
                f,
                "{name:6}  {:.3} us, {} flops, {} bytes, {} kernels, {} instructions",
                cost.time as f64 * 1e-6,
                cost.flops,
                cost.bytes,
                cost.kernels,
                cost.insts
            )?;
        }
        for (title, rules) in [("decisive", &self.decisive), ("fired", &self.fired)] {
            let list: Vec<String> = rules.iter().map(|(n, c)| format!("{n} {c}")).collect();
            writeln!(f, "{title}: {}", list.join(", "))?;
        }
        if let Some(why) = &self.rejected {
            writeln!(f, "input kept: {why}")?;
        }
        Ok(())
    }
}
