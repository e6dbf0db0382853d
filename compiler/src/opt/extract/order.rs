//! A topological order that is kept while edges are added: only what stands between the two ends of an edge that runs
//! against the order is moved.

/// Places of nodes, operands before their users.
pub struct Order {
    place: Vec<usize>,
    marked: Vec<bool>,
}

impl Order {
    /// Nodes below `count`, the last first.
    pub fn reversed(count: usize) -> Order {
        Order {
            place: (0..count).rev().collect(),
            marked: vec![false; count],
        }
    }

    pub fn place(&self, node: usize) -> usize {
        self.place[node]
    }

    /// Makes `operand` stand before `user`; `false`, and nothing changes, where `operand` needs `user`. The closures
    /// push the users and the operands of a node.
    pub fn before(
        &mut self,
        operand: usize,
        user: usize,
        users: impl Fn(usize, &mut Vec<usize>),
        operands: impl Fn(usize, &mut Vec<usize>),
    ) -> bool {
        let (low, high) = (self.place[user], self.place[operand]);
        if high < low {
            return true;
        }
        let after = self.reach(user, users, |place| place <= high);
        let circular = after.contains(&operand);
        let mut moved = if circular {
            Vec::new()
        } else {
            self.reach(operand, operands, |place| place >= low)
        };
        moved.extend(after);
        for &node in &moved {
            self.marked[node] = false;
        }
        if circular {
            return false;
        }
        let mut places: Vec<usize> = moved.iter().map(|&n| self.place[n]).collect();
        places.sort_unstable();
        for (&node, place) in moved.iter().zip(places) {
            self.place[node] = place;
        }
        true
    }

    /// What is reached from a node within some places, in the present order; left marked.
    fn reach(
        &mut self,
        from: usize,
        next: impl Fn(usize, &mut Vec<usize>),
        within: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut stack = vec![from];
        let mut found = Vec::new();
        while let Some(node) = stack.pop() {
            if !self.marked[node] && within(self.place[node]) {
                self.marked[node] = true;
                found.push(node);
                next(node, &mut stack);
            }
        }
        found.sort_unstable_by_key(|&n| self.place[n]);
        found
    }
}
