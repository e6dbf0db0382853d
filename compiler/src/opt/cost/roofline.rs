//! The cost of a whole graph: it is cut into kernels as a fusing compiler would, and each takes the longer of its
//! arithmetic and its memory traffic.
//!
//! Fused nodes are computed inside their users. One with users in several kernels is computed again in each where
//! that is cheap, and stored otherwise. Operands of products, sorts and other closed kernels lie in memory: that of the
//! chip, where there is one and they fit, unless they are results of the whole.

use super::device::{DeviceCost, ON_CHIP_SPEED};
use super::profile::{Profile, Role, picoseconds};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// What a graph costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Picoseconds by the roofline.
    pub time: u64,
    /// Picoseconds of arithmetic alone, what memory hides included.
    pub compute: u64,
    /// Arithmetic operations.
    pub flops: u64,
    /// Bytes to and from memory.
    pub bytes: u64,
    /// Kernels run.
    pub kernels: u64,
    /// Instructions in the text, those of regions counted once.
    pub insts: u64,
}

impl Cost {
    /// Run `n` times; the text stays.
    pub fn times(self, n: u64) -> Cost {
        Cost {
            time: self.time.saturating_mul(n),
            compute: self.compute.saturating_mul(n),
            flops: self.flops.saturating_mul(n),
            bytes: self.bytes.saturating_mul(n),
            kernels: self.kernels.saturating_mul(n),
            insts: self.insts,
        }
    }

    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            time: self.time.saturating_add(other.time),
            compute: self.compute.saturating_add(other.compute),
            flops: self.flops.saturating_add(other.flops),
            bytes: self.bytes.saturating_add(other.bytes),
            kernels: self.kernels.saturating_add(other.kernels),
            insts: self.insts + other.insts,
        }
    }

    /// One or the other is run; the text holds both.
    pub fn worst(self, other: Cost) -> Cost {
        let run = if self.time >= other.time { self } else { other };
        Cost {
            insts: self.insts + other.insts,
            ..run
        }
    }
}

/// Less time first; then less text, then less arithmetic, then less traffic.
impl Ord for Cost {
    fn cmp(&self, other: &Cost) -> Ordering {
        let key = |c: &Cost| (c.time, c.insts, c.compute, c.bytes, c.flops, c.kernels);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Cost) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A graph whose nodes have numbers.
pub trait Nodes {
    /// A node and the numbers of its operands.
    fn node(&self, at: usize) -> (&Profile, &[usize]);
}

/// Kernels that a cheap node is computed again in, at most.
const COPIES: usize = 3;

/// Kernels that use a node, each named by the node that it ends in, with the bytes of it that each reads if it is
/// stored. By kernel, ascending.
pub type Users = SmallVec<[(usize, u64); 2]>;

/// What surrounds a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Around {
    pub users: Users,
    /// Whether it has to lie in memory.
    pub stored: bool,
    /// Whether it is a result of the whole.
    pub kept: bool,
    /// Whether a product is computed from it in the same kernel.
    pub fed: bool,
}

impl Around {
    fn used(&mut self, kernel: usize, bytes: u64) {
        match self.users.binary_search_by_key(&kernel, |(k, _)| *k) {
            Ok(i) => self.users[i].1 = self.users[i].1.saturating_add(bytes),
            Err(i) => self.users.insert(i, (kernel, bytes)),
        }
    }
}

/// Whether a kernel ends in a node.
pub fn ends_kernel(profile: &Profile, around: &Around) -> bool {
    match profile.role {
        Role::Free | Role::View | Role::Stored => false,
        Role::Fused | Role::Picked => {
            let users = around.users.len();
            let copied = users == 1 || (profile.cheap && users <= COPIES);
            around.stored || users == 0 || !copied
        }
        Role::Product => around.stored || around.fed || around.users.len() != 1,
        Role::Reducing | Role::Kernel => true,
    }
}

/// Calls `give` with what a node adds to each kernel: its arithmetic to those that compute it, its bytes to those that
/// read or write it.
pub fn shares(
    profile: &Profile,
    at: usize,
    around: &Around,
    ends: bool,
    device: &DeviceCost,
    mut give: impl FnMut(usize, u64, u64),
) {
    let stored = ends || profile.role == Role::Stored;
    let on_chip = ends && !around.kept && profile.bytes <= device.on_chip;
    let traffic = |bytes: u64| {
        if on_chip {
            bytes.div_ceil(ON_CHIP_SPEED)
        } else {
            bytes
        }
    };
    if ends {
        let written = profile.moved.unwrap_or(profile.bytes);
        give(at, profile.compute, traffic(written));
    }
    for &(kernel, bytes) in &around.users {
        match profile.role {
            Role::Free | Role::View => {}
            _ if stored => give(kernel, 0, traffic(bytes.min(profile.bytes))),
            _ => give(kernel, profile.compute, 0),
        }
    }
}

/// Adds to what surrounds the operand `index` of a node, which has `bytes`.
pub fn pass(
    profile: &Profile,
    at: usize,
    around: &Around,
    ends: bool,
    (index, bytes): (usize, u64),
    operand: &mut Around,
) {
    match profile.role {
        Role::Free | Role::View => {
            operand.stored |= around.stored;
            operand.kept |= around.kept;
            operand.fed |= around.fed;
            for &(kernel, bytes) in &around.users {
                operand.used(kernel, bytes);
            }
        }
        Role::Stored => operand.stored = true,
        Role::Fused | Role::Picked | Role::Product => {
            operand.fed |= profile.role == Role::Product || (around.fed && !ends);
            let picked = index == 0 && profile.role == Role::Picked;
            let read = if picked {
                bytes.min(profile.bytes)
            } else {
                bytes
            };
            if ends {
                operand.used(at, read);
            } else {
                for &(kernel, _) in &around.users {
                    operand.used(kernel, read);
                }
            }
        }
        Role::Reducing | Role::Kernel => {
            operand.used(at, if profile.moved.is_some() { 0 } else { bytes });
            operand.stored |= profile.role == Role::Kernel;
        }
    }
}

/// What a kernel does: arithmetic, traffic, and the time of its regions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernel {
    pub compute: u64,
    pub bytes: u64,
    pub inside: u64,
}

impl Kernel {
    pub fn time(&self, device: &DeviceCost) -> u64 {
        let moving = picoseconds(self.bytes as f64 / device.bandwidth);
        let launch = picoseconds(device.launch);
        let time = self.compute.max(moving).saturating_add(launch);
        time.saturating_add(self.inside)
    }
}

/// Cuts graphs into kernels; keeps its memory between calls.
#[derive(Default)]
pub struct Cutter {
    around: Vec<Around>,
    /// By the node that each ends in.
    kernels: Vec<Option<Kernel>>,
}

impl Cutter {
    /// The cost of the nodes in `order`, operands first, of which `roots` are stored at the end. Numbers are below
    /// `count`.
    pub fn cost(
        &mut self,
        nodes: &impl Nodes,
        count: usize,
        order: &[usize],
        roots: &[usize],
        device: &DeviceCost,
    ) -> Cost {
        self.around.resize(count, Around::default());
        self.kernels.resize(count, None);
        for &at in order {
            self.around[at].users.clear();
            self.around[at].stored = false;
            self.around[at].kept = false;
            self.around[at].fed = false;
            self.kernels[at] = None;
        }
        for &root in roots {
            self.around[root].stored = true;
            self.around[root].kept = true;
        }
        let mut total = Cost::default();
        for &at in order.iter().rev() {
            self.member(nodes, at, device);
            total = total.plus(alone(nodes.node(at).0));
        }
        for kernel in order.iter().filter_map(|&at| self.kernels[at].as_ref()) {
            total.time = total.time.saturating_add(kernel.time(device));
            total.bytes = total.bytes.saturating_add(kernel.bytes);
            total.kernels += 1;
        }
        total
    }

    fn member(&mut self, nodes: &impl Nodes, at: usize, device: &DeviceCost) {
        let (profile, operands) = nodes.node(at);
        let around = std::mem::take(&mut self.around[at]);
        let ends = ends_kernel(profile, &around);
        if ends {
            self.kernels[at] = Some(Kernel {
                inside: profile.body.map_or(0, |b| b.time),
                ..Kernel::default()
            });
        }
        shares(
            profile,
            at,
            &around,
            ends,
            device,
            |kernel, compute, bytes| {
                if let Some(k) = &mut self.kernels[kernel] {
                    k.compute = k.compute.saturating_add(compute);
                    k.bytes = k.bytes.saturating_add(bytes);
                }
            },
        );
        for (index, &child) in operands.iter().enumerate() {
            let bytes = nodes.node(child).0.bytes;
            let operand = &mut self.around[child];
            pass(profile, at, &around, ends, (index, bytes), operand);
        }
        self.around[at] = around;
    }
}

impl Cutter {
    /// After [`Cutter::cost`]: the kernels that a node is computed in, each with the node that it ends in.
    pub fn computed_in(&self, at: usize, profile: &Profile, mut give: impl FnMut(usize, Kernel)) {
        let around = &self.around[at];
        let mut one = |end: usize| {
            if let Some(kernel) = self.kernels[end] {
                give(end, kernel);
            }
        };
        if ends_kernel(profile, around) {
            one(at);
        } else if matches!(
            profile.role,
            Role::Fused | Role::Picked | Role::View | Role::Product
        ) {
            around.users.iter().for_each(|&(end, _)| one(end));
        }
    }
}

/// What a node costs wherever it is computed: everything but time and traffic of its own.
pub fn alone(profile: &Profile) -> Cost {
    let body = profile.body.unwrap_or_default();
    Cost {
        time: 0,
        compute: body.compute.saturating_add(profile.compute),
        flops: body.flops.saturating_add(profile.flops),
        insts: body.insts + profile.insts,
        ..body
    }
}
