//! What a program costs on a device: a roofline over the kernels that a fusing compiler would make of it.

pub mod device;
pub mod groups;
pub mod lines;
pub mod profile;
pub mod roofline;

pub use device::DeviceCost;
pub use profile::{Profile, Role, profile};
pub use roofline::{Cost, Cutter, Kernel, Nodes};

use crate::ir::{Func, Inst, Region, Type, Value};
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet};

/// The cost of a function, everything in its text counted, dead instructions included.
pub fn of_func(func: &Func, device: &DeviceCost) -> Cost {
    of_region(func, &func.body, device).0
}

fn of_region(func: &Func, region: &Region, device: &DeviceCost) -> (Cost, Vec<Value>) {
    let listing = listing(func, region, device);
    (listing.cut(device).1, listing.outside)
}

/// A region as a graph.
struct Listing {
    nodes: Listed,
    roots: Vec<usize>,
    /// The node of each instruction.
    insts: Vec<usize>,
    /// What is used from around the region, each once.
    outside: Vec<Value>,
}

impl Listing {
    /// The region cut into kernels, and what they cost.
    fn cut(&self, device: &DeviceCost) -> (Cutter, Cost) {
        let order: Vec<usize> = (0..self.nodes.0.len()).collect();
        let mut cutter = Cutter::default();
        let cost = cutter.cost(&self.nodes, order.len(), &order, &self.roots, device);
        (cutter, cost)
    }
}

fn listing(func: &Func, region: &Region, device: &DeviceCost) -> Listing {
    // Regions inside are gone through once, however deep they lie.
    let inner: Vec<(Profile, Vec<Value>)> = region
        .insts
        .iter()
        .map(|inst| with_captures(func, inst, device))
        .collect();
    let outside = outside(region, &inner);
    let mut nodes = Listed(Vec::new());
    let mut position = HashMap::new();
    let mut insts = Vec::new();
    let one = |v: Value| Profile::stored(std::slice::from_ref(func.ty(v)));
    for &v in region.params.iter().chain(&outside) {
        position.insert(v, nodes.0.len());
        nodes.0.push((one(v), SmallVec::new()));
    }
    for (inst, (profile, captured)) in region.insts.iter().zip(inner) {
        let at = nodes.0.len();
        let operands = inst.args.iter().chain(&captured);
        let operands = operands.map(|v| position[v]).collect();
        nodes.0.push((profile, operands));
        insts.push(at);
        if let [result] = inst.results[..] {
            position.insert(result, at);
            continue;
        }
        for &v in &inst.results {
            position.insert(v, nodes.0.len());
            nodes.0.push((one(v), SmallVec::from_elem(at, 1)));
        }
    }
    let roots = region.results.iter().map(|v| position[v]).collect();
    Listing {
        nodes,
        roots,
        insts,
        outside,
    }
}

/// What a region uses from around it, each once, given what its instructions capture.
fn outside(region: &Region, inner: &[(Profile, Vec<Value>)]) -> Vec<Value> {
    let mut seen: HashSet<Value> = region.params.iter().copied().collect();
    let mut found = Vec::new();
    let mut used = |seen: &mut HashSet<Value>, v: Value| {
        if seen.insert(v) {
            found.push(v);
        }
    };
    for (inst, (_, captured)) in region.insts.iter().zip(inner) {
        let operands = inst.args.iter().chain(captured);
        operands.for_each(|&v| used(&mut seen, v));
        seen.extend(&inst.results);
    }
    region.results.iter().for_each(|&v| used(&mut seen, v));
    found
}

/// Nodes by position, with their operands.
struct Listed(Vec<(Profile, SmallVec<[usize; 4]>)>);

impl Nodes for Listed {
    fn node(&self, at: usize) -> (&Profile, &[usize]) {
        let (profile, operands) = &self.0[at];
        (profile, operands)
    }
}

pub(super) fn of_inst(func: &Func, inst: &Inst, device: &DeviceCost) -> Profile {
    with_captures(func, inst, device).0
}

/// What an instruction costs, and what its regions use from around it, each once.
fn with_captures(func: &Func, inst: &Inst, device: &DeviceCost) -> (Profile, Vec<Value>) {
    let args: Vec<&Type> = inst.args.iter().map(|&v| func.ty(v)).collect();
    let results: Vec<Type> = inst.results.iter().map(|&v| func.ty(v).clone()).collect();
    let mut bodies = Vec::new();
    let (mut seen, mut captured) = (HashSet::new(), Vec::new());
    for region in &inst.regions {
        let (cost, outside) = of_region(func, region, device);
        bodies.push(cost);
        captured.extend(outside.into_iter().filter(|&v| seen.insert(v)));
    }
    (
        profile(&inst.op, &args, &results, &bodies, device),
        captured,
    )
}
