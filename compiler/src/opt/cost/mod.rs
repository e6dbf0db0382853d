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
use std::collections::HashMap;

/// The cost of a function, everything in its text counted, dead instructions included.
pub fn of_func(func: &Func, device: &DeviceCost) -> Cost {
    of_region(func, &func.body, device)
}

fn of_region(func: &Func, region: &Region, device: &DeviceCost) -> Cost {
    listing(func, region, device).cut(device).1
}

/// A region as a graph.
struct Listing {
    nodes: Listed,
    roots: Vec<usize>,
    /// The node of each instruction.
    insts: Vec<usize>,
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
    let mut nodes = Listed(Vec::new());
    let mut position = HashMap::new();
    let mut insts = Vec::new();
    let outside = region.captures();
    let one = |v: Value| Profile::stored(std::slice::from_ref(func.ty(v)));
    for &v in region.params.iter().chain(&outside) {
        position.insert(v, nodes.0.len());
        nodes.0.push((one(v), SmallVec::new()));
    }
    for inst in &region.insts {
        let at = nodes.0.len();
        let captured = captures(inst);
        let operands = inst.args.iter().chain(&captured);
        let operands = operands.map(|v| position[v]).collect();
        nodes.0.push((of_inst(func, inst, device), operands));
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
    }
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
    let args: Vec<&Type> = inst.args.iter().map(|&v| func.ty(v)).collect();
    let results: Vec<Type> = inst.results.iter().map(|&v| func.ty(v).clone()).collect();
    let bodies: Vec<Cost> = inst
        .regions
        .iter()
        .map(|r| of_region(func, r, device))
        .collect();
    profile(&inst.op, &args, &results, &bodies, device)
}

/// What the regions of an instruction use from around it, each once.
pub(super) fn captures(inst: &Inst) -> Vec<Value> {
    let mut all = Vec::new();
    for v in inst.regions.iter().flat_map(Region::captures) {
        if !all.contains(&v) {
            all.push(v);
        }
    }
    all
}
