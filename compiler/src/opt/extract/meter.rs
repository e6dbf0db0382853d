//! The score of a selection, kept up to date while single choices are exchanged: only the kernels near an exchange are
//! cut anew. What it says is what [`super::Judge`] says of the whole selection.

use super::order::Order;
use super::{Score, Selection, Snapshot};
use crate::opt::cost::roofline::{Around, alone, ends_kernel, pass, shares};
use crate::opt::cost::{Cost, DeviceCost, Kernel, Profile, Role};
use smallvec::SmallVec;
use std::collections::BinaryHeap;

/// A class in use.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Its uses: by which class, as which operand. Roots are used by the outside too.
    users: Vec<(usize, usize)>,
    root: bool,
    around: Around,
    ends: bool,
    /// What it adds to each kernel: arithmetic and bytes.
    shares: SmallVec<[(usize, u64, u64); 2]>,
    /// The kernel that ends here, if one does.
    kernel: Sums,
    counted: bool,
    /// Whether it has to be looked at whatever surrounds it.
    new: bool,
    queued: bool,
}

/// What a kernel does, in sums that are exact.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    compute: u128,
    bytes: u128,
    inside: u64,
}

impl Node {
    fn used(&self) -> bool {
        self.root || !self.users.is_empty()
    }
}

/// Sums that are exact, so that what was added can be taken away again.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    time: u128,
    compute: u128,
    flops: u128,
    bytes: u128,
    kernels: u128,
    insts: u128,
    changed: u64,
}

impl Total {
    fn add(&mut self, cost: &Cost, sign: Sign) {
        let each = [
            (&mut self.time, cost.time),
            (&mut self.compute, cost.compute),
            (&mut self.flops, cost.flops),
            (&mut self.bytes, cost.bytes),
            (&mut self.kernels, cost.kernels),
            (&mut self.insts, cost.insts),
        ];
        for (sum, value) in each {
            sign.apply(sum, value);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Plus,
    Minus,
}

impl Sign {
    fn apply(self, sum: &mut u128, value: u64) {
        match self {
            Sign::Plus => *sum += u128::from(value),
            Sign::Minus => *sum -= u128::from(value),
        }
    }
}

fn whole(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

pub struct Meter<'a> {
    snapshot: &'a Snapshot,
    device: &'a DeviceCost,
    pub selection: Selection,
    nodes: Vec<Node>,
    order: Order,
    total: Total,
    touched: Vec<usize>,
    /// Nodes looked at so far.
    pub work: u64,
}

impl<'a> Meter<'a> {
    /// `None` where the selection runs in a circle.
    pub fn new(
        snapshot: &'a Snapshot,
        device: &'a DeviceCost,
        selection: Selection,
    ) -> Option<Meter<'a>> {
        let count = snapshot.entries.len();
        let mut meter = Meter {
            snapshot,
            device,
            selection,
            nodes: vec![Node::default(); count],
            // Classes are numbered from the roots down.
            order: Order::reversed(count),
            total: Total::default(),
            touched: Vec::new(),
            work: 0,
        };
        for &root in &snapshot.roots {
            if meter.nodes[root].used() {
                meter.nodes[root].root = true;
                continue;
            }
            meter.nodes[root].root = true;
            meter.enter(root);
            if !meter.link(root) {
                return None;
            }
        }
        meter.settle();
        Some(meter)
    }

    pub fn score(&self) -> Score {
        let total = &self.total;
        let cost = Cost {
            time: whole(total.time),
            compute: whole(total.compute),
            flops: whole(total.flops),
            bytes: whole(total.bytes),
            kernels: whole(total.kernels),
            insts: whole(total.insts),
        };
        (cost, total.changed)
    }

    /// Exchanges the choice of a class in use; `false`, and nothing changes, where that would run in a circle.
    pub fn exchange(&mut self, class: usize, choice: usize) -> bool {
        let before = self.selection[class];
        self.alone(class, Sign::Minus);
        self.selection[class] = choice;
        self.alone(class, Sign::Plus);
        if !self.link(class) {
            self.alone(class, Sign::Minus);
            self.selection[class] = before;
            self.alone(class, Sign::Plus);
            return false;
        }
        self.unlink(class, before);
        self.nodes[class].new = true;
        self.touch(class);
        self.settle();
        true
    }

    pub fn in_use(&self, class: usize) -> bool {
        self.nodes[class].used()
    }

    fn profile(&self, class: usize) -> &'a Profile {
        &self.snapshot.entries[class].choices[self.selection[class]].profile
    }

    fn operands(&self, class: usize, choice: usize) -> &'a [usize] {
        match self.snapshot.entries[class].choices.get(choice) {
            Some(choice) => &choice.children,
            None => &[],
        }
    }

    fn touch(&mut self, class: usize) {
        if !self.nodes[class].queued {
            self.nodes[class].queued = true;
            self.touched.push(class);
        }
    }

    /// Counts what a class costs wherever it is computed.
    fn alone(&mut self, class: usize, sign: Sign) {
        let choices = &self.snapshot.entries[class].choices;
        let Some(choice) = choices.get(self.selection[class]) else {
            return;
        };
        self.total.add(&alone(&choice.profile), sign);
        if !choice.written {
            match sign {
                Sign::Plus => self.total.changed += 1,
                Sign::Minus => self.total.changed -= 1,
            }
        }
    }

    fn enter(&mut self, class: usize) {
        self.alone(class, Sign::Plus);
        self.nodes[class].new = true;
        self.touch(class);
    }

    /// Takes a class that nothing uses any more out of all sums.
    fn leave(&mut self, class: usize) {
        self.alone(class, Sign::Minus);
        self.withdraw(class);
        let node = &mut self.nodes[class];
        node.around = Around::default();
        node.ends = false;
    }

    /// Adds the uses that a class makes of its operands, and those make of theirs if they are new; `false`, and nothing
    /// changes, where that runs in a circle.
    fn link(&mut self, class: usize) -> bool {
        let mut added: Vec<(usize, usize, usize)> = Vec::new();
        let mut todo = vec![class];
        while let Some(user) = todo.pop() {
            // A class without nodes cannot be chosen.
            let choices = self.snapshot.entries[user].choices.len();
            let mut fits = self.selection[user] < choices;
            for (index, &child) in self.operands(user, self.selection[user]).iter().enumerate() {
                fits = fits && self.ordered(child, user);
                if !fits {
                    break;
                }
                let first = !self.nodes[child].used();
                self.nodes[child].users.push((user, index));
                added.push((user, index, child));
                if first {
                    self.enter(child);
                    todo.push(child);
                } else {
                    self.touch(child);
                }
            }
            if !fits {
                for &(user, index, child) in added.iter().rev() {
                    if self.forget(child, user, index) {
                        self.leave(child);
                    }
                }
                return false;
            }
        }
        true
    }

    fn ordered(&mut self, operand: usize, user: usize) -> bool {
        let nodes = &self.nodes;
        let (snapshot, selection) = (self.snapshot, &self.selection);
        self.order.before(
            operand,
            user,
            |n, out| out.extend(nodes[n].users.iter().map(|u| u.0)),
            |n, out| {
                if nodes[n].used()
                    && let Some(choice) = snapshot.entries[n].choices.get(selection[n])
                {
                    out.extend(&choice.children);
                }
            },
        )
    }

    /// Drops one use; whether it was the last.
    fn forget(&mut self, child: usize, user: usize, index: usize) -> bool {
        let users = &mut self.nodes[child].users;
        if let Some(at) = users.iter().rposition(|&u| u == (user, index)) {
            users.swap_remove(at);
        }
        !self.nodes[child].used()
    }

    /// Drops the uses that a class made by a choice, and those of what nothing uses then.
    fn unlink(&mut self, class: usize, choice: usize) {
        let mut todo = vec![(class, choice)];
        while let Some((user, choice)) = todo.pop() {
            for (index, &child) in self.operands(user, choice).iter().enumerate() {
                if self.forget(child, user, index) {
                    self.leave(child);
                    todo.push((child, self.selection[child]));
                } else {
                    self.touch(child);
                }
            }
        }
    }

    /// Looks again at what was touched, users first, as far down as anything changes.
    fn settle(&mut self) {
        let touched = std::mem::take(&mut self.touched);
        let mut heap: BinaryHeap<(usize, usize)> = touched
            .into_iter()
            .map(|n| (self.order.place(n), n))
            .collect();
        while let Some((_, class)) = heap.pop() {
            self.nodes[class].queued = false;
            if !self.nodes[class].used() || !self.look(class) {
                continue;
            }
            for &child in self.operands(class, self.selection[class]) {
                // What is free and needs nothing is the same wherever it is used.
                let leaf = self.profile(child).role == Role::Free
                    && self.operands(child, self.selection[child]).is_empty();
                if !leaf && !self.nodes[child].queued {
                    self.nodes[child].queued = true;
                    heap.push((self.order.place(child), child));
                }
            }
        }
    }

    /// Finds what surrounds a class; whether that is new for its operands.
    fn look(&mut self, class: usize) -> bool {
        self.work += 1;
        let profile = self.profile(class);
        let mut around = Around {
            stored: self.nodes[class].root,
            kept: self.nodes[class].root,
            ..Around::default()
        };
        for &(user, index) in &self.nodes[class].users {
            let node = &self.nodes[user];
            let operand = (index, profile.bytes);
            pass(
                self.profile(user),
                user,
                &node.around,
                node.ends,
                operand,
                &mut around,
            );
        }
        let ends = ends_kernel(profile, &around);
        let node = &self.nodes[class];
        if !node.new && node.around == around && node.ends == ends {
            return false;
        }
        self.withdraw(class);
        let mut new: SmallVec<[(usize, u64, u64); 2]> = SmallVec::new();
        shares(
            profile,
            class,
            &around,
            ends,
            self.device,
            |kernel, compute, bytes| {
                new.push((kernel, compute, bytes));
            },
        );
        for &(kernel, compute, bytes) in &new {
            self.share(kernel, compute, bytes, Sign::Plus);
        }
        if ends {
            self.nodes[class].kernel.inside = profile.body.map_or(0, |b| b.time);
            self.count(class, Sign::Plus);
        }
        let node = &mut self.nodes[class];
        node.around = around;
        node.ends = ends;
        node.shares = new;
        node.new = false;
        true
    }

    /// Takes what a class added to kernels away again.
    fn withdraw(&mut self, class: usize) {
        let shares = std::mem::take(&mut self.nodes[class].shares);
        for (kernel, compute, bytes) in shares {
            self.share(kernel, compute, bytes, Sign::Minus);
        }
        if self.nodes[class].ends {
            self.count(class, Sign::Minus);
        }
    }

    fn share(&mut self, kernel: usize, compute: u64, bytes: u64, sign: Sign) {
        let counted = self.nodes[kernel].counted;
        if counted {
            self.count(kernel, Sign::Minus);
        }
        let sums = &mut self.nodes[kernel].kernel;
        sign.apply(&mut sums.compute, compute);
        sign.apply(&mut sums.bytes, bytes);
        if counted {
            self.count(kernel, Sign::Plus);
        }
    }

    /// Counts the kernel that ends in a class.
    fn count(&mut self, class: usize, sign: Sign) {
        let node = &mut self.nodes[class];
        node.counted = sign == Sign::Plus;
        let kernel = Kernel {
            compute: whole(node.kernel.compute),
            bytes: whole(node.kernel.bytes),
            inside: node.kernel.inside,
        };
        let cost = Cost {
            time: kernel.time(self.device),
            bytes: kernel.bytes,
            kernels: 1,
            ..Cost::default()
        };
        self.total.add(&cost, sign);
    }
}
