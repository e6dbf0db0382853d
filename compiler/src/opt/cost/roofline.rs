//! The cost of a whole graph: it is cut into kernels as a fusing compiler would, and each takes the longer of its
//! arithmetic and its memory traffic.
//!
//! Fused nodes are computed inside their users. One with users in several kernels is computed again in each where
//! that is cheap, and stored otherwise. Operands of products, sorts and other closed kernels lie in memory.

use super::device::DeviceCost;
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

/// Who uses a node: kernels, with the bytes of it that each reads if it is stored.
type Users = SmallVec<[(usize, u64); 2]>;

/// A kernel, named by the position of the member that it ends in.
#[derive(Clone, Default)]
struct Kernel {
    compute: u64,
    bytes: u64,
    /// Time of its regions.
    inside: u64,
}

/// Cuts graphs into kernels; keeps its memory between calls.
#[derive(Default)]
pub struct Cutter {
    users: Vec<Users>,
    stored: Vec<bool>,
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
        self.users.resize(count, SmallVec::new());
        self.stored.resize(count, false);
        self.kernels.resize(count, None);
        for &at in order {
            self.users[at].clear();
            self.stored[at] = false;
            self.kernels[at] = None;
        }
        for &root in roots {
            self.stored[root] = true;
        }
        let mut total = Cost::default();
        for &at in order.iter().rev() {
            self.member(nodes, at);
            let (profile, _) = nodes.node(at);
            total.insts += profile.insts;
            total.compute += profile.compute;
            total.flops += profile.flops;
            if let Some(body) = profile.body {
                total = total.plus(Cost { time: 0, ..body });
            }
        }
        let launch = picoseconds(device.launch);
        for kernel in order.iter().filter_map(|&at| self.kernels[at].as_ref()) {
            let moving = picoseconds(kernel.bytes as f64 / device.bandwidth);
            let time = kernel.compute.max(moving) + launch;
            total.time = total
                .time
                .saturating_add(time)
                .saturating_add(kernel.inside);
            total.bytes = total.bytes.saturating_add(kernel.bytes);
            total.kernels += 1;
        }
        total
    }

    fn member(&mut self, nodes: &impl Nodes, at: usize) {
        let (profile, operands) = nodes.node(at);
        let users = std::mem::take(&mut self.users[at]);
        match profile.role {
            Role::Free | Role::View => {
                for &child in operands {
                    self.stored[child] |= self.stored[at];
                    users.iter().for_each(|u| self.used(child, *u));
                }
            }
            Role::Stored => {
                self.read(&users, profile.bytes);
                for &child in operands {
                    self.stored[child] = true;
                }
            }
            Role::Fused | Role::Picked => self.fused(nodes, at, users),
            Role::Reducing | Role::Kernel => {
                self.read(&users, profile.bytes);
                self.kernels[at] = Some(Kernel {
                    compute: profile.compute,
                    bytes: profile.moved.unwrap_or(profile.bytes),
                    inside: profile.body.map_or(0, |b| b.time),
                });
                for &child in operands {
                    let all = nodes.node(child).0.bytes;
                    let read = if profile.moved.is_some() { 0 } else { all };
                    self.used(child, (at, read));
                    self.stored[child] |= profile.role == Role::Kernel;
                }
            }
        }
    }

    fn fused(&mut self, nodes: &impl Nodes, at: usize, users: Users) {
        let (profile, operands) = nodes.node(at);
        let copied = users.len() == 1 || (profile.cheap && users.len() <= COPIES);
        let inside = if self.stored[at] || users.is_empty() || !copied {
            self.read(&users, profile.bytes);
            self.kernels[at] = Some(Kernel {
                compute: profile.compute,
                bytes: profile.bytes,
                inside: 0,
            });
            SmallVec::from_elem((at, 0), 1)
        } else {
            for (kernel, _) in &users {
                if let Some(k) = &mut self.kernels[*kernel] {
                    k.compute += profile.compute;
                }
            }
            users
        };
        for (i, &child) in operands.iter().enumerate() {
            let all = nodes.node(child).0.bytes;
            let picked = i == 0 && profile.role == Role::Picked;
            let read = if picked { all.min(profile.bytes) } else { all };
            for (kernel, _) in &inside {
                self.used(child, (*kernel, read));
            }
        }
    }

    fn used(&mut self, node: usize, (kernel, bytes): (usize, u64)) {
        let users = &mut self.users[node];
        match users.iter_mut().find(|(k, _)| *k == kernel) {
            Some((_, read)) => *read += bytes,
            None => users.push((kernel, bytes)),
        }
    }

    /// Each user reads what it needs of a stored node, at most all of it.
    fn read(&mut self, users: &Users, all: u64) {
        for (kernel, bytes) in users {
            if let Some(k) = &mut self.kernels[*kernel] {
                k.bytes += (*bytes).min(all);
            }
        }
    }
}
