//! What the model takes to be one kernel: elementwise chains with the reduction or product that they end in or feed.

use super::{DeviceCost, Kernel, Nodes, listing};
use crate::ir::print::numbers;
use crate::ir::{Func, Inst, Region, Value};
use std::collections::HashMap;
use std::fmt::Write;

/// One kernel of a region.
#[derive(Clone, Debug)]
pub struct Group {
    /// The instructions computed in it, in order; one that is cheap may be in several.
    pub members: Vec<usize>,
    pub flops: u64,
    pub kernel: Kernel,
}

/// The kernels of a region of `func` by the instruction that each ends in, in order.
pub fn groups(func: &Func, region: &Region, device: &DeviceCost) -> Vec<Group> {
    let listing = listing(func, region, device);
    let (cutter, _) = listing.cut(device);
    let mut found: HashMap<usize, Group> = HashMap::new();
    let inst_of: HashMap<usize, usize> =
        (0..).zip(&listing.insts).map(|(i, &at)| (at, i)).collect();
    for at in 0..listing.nodes.0.len() {
        let (Some(&inst), profile) = (inst_of.get(&at), listing.nodes.node(at).0) else {
            continue;
        };
        cutter.computed_in(at, profile, |end, kernel| {
            let group = found.entry(end).or_insert(Group {
                members: Vec::new(),
                flops: 0,
                kernel,
            });
            group.members.push(inst);
            group.flops += profile.flops;
        });
    }
    let mut ends: Vec<usize> = found.keys().copied().collect();
    ends.sort_unstable();
    ends.iter().filter_map(|end| found.remove(end)).collect()
}

/// The kernels of a function, those of its loops and branches too, as comments.
pub fn text(func: &Func, device: &DeviceCost) -> String {
    let mut text = String::new();
    let numbers = numbers(func);
    let number = |v: Value| numbers[v.0 as usize].unwrap_or(v.0);
    let cost = super::of_func(func, device);
    let _ = writeln!(
        text,
        "// fusion on {}: {} kernels, {} flops, {} bytes",
        device.name, cost.kernels, cost.flops, cost.bytes
    );
    write_region(func, &func.body, device, &number, 0, &mut text);
    text
}

fn write_region(
    func: &Func,
    region: &Region,
    device: &DeviceCost,
    number: &impl Fn(Value) -> u32,
    depth: usize,
    text: &mut String,
) {
    let indent = "  ".repeat(depth + 1);
    let name = |inst: &Inst| match inst.results.first() {
        Some(&v) => format!("%{} {}", number(v), inst.op.name()),
        None => inst.op.name().to_string(),
    };
    for group in groups(func, region, device) {
        let names: Vec<String> = group
            .members
            .iter()
            .map(|&i| name(&region.insts[i]))
            .collect();
        let last = group.members.last().map(|&i| &region.insts[i]);
        let Some(last) = last else { continue };
        if !last.regions.is_empty() {
            let _ = writeln!(text, "// {indent}in {}:", name(last));
            for inner in &last.regions {
                write_region(func, inner, device, number, depth + 1, text);
            }
            continue;
        }
        let _ = writeln!(
            text,
            "// {indent}{}: {} flops, {} bytes",
            names.join(", "),
            group.flops,
            group.kernel.bytes
        );
    }
}
