//! The tape: the linear half of a linearised function, as data.
//!
//! A tape is a list of instructions whose results depend linearly on the tangents among their operands. Its
//! *linear* values (tangents) are names in the arena of the function being built which no instruction there defines;
//! its *coefficients* are ordinary values of the primal half. A tape is never executed: it is only transposed
//! ([`super::transpose`]). Forward mode does not make one, it emits its linear operations in place.

use crate::ir::{BinaryOp, Func, Inst, Op, Region, Type, Value};
use std::collections::{HashMap, HashSet};

/// An operand of a linear primitive.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A tangent.
    Lin(Value),
    /// A value of the primal half.
    Coef(Value),
    /// A tangent known to be zero.
    Zero(Type),
}

pub type Tape<'f> = Vec<LinInst<'f>>;

#[derive(Debug)]
pub struct LinInst<'f> {
    pub op: LinOp<'f>,
    pub results: Vec<Value>,
}

#[derive(Debug)]
pub enum LinOp<'f> {
    /// A primitive with one result, linear in its [`Operand::Lin`] operands taken together.
    Prim {
        op: Op,
        args: Vec<Operand>,
    },
    Scan(Box<LinScan<'f>>),
    If(Box<LinIf<'f>>),
    Custom(LinCustom<'f>),
    Remat(LinRemat<'f>),
}

/// The linear half of a scan. Its results: the tangents of `carries`, then of `ys`.
#[derive(Debug)]
pub struct LinScan<'f> {
    pub length: usize,
    pub reverse: bool,
    pub carries: Vec<LinCarry>,
    /// (tangent of the stacked array, tangent of its slice in the body).
    pub xs: Vec<(Value, Value)>,
    /// Tangents in the body of the y slices.
    pub ys: Vec<Value>,
    pub body: LinBody<'f>,
    /// The position of the iteration in the primal body, which coefficients may be made from.
    pub index: Value,
}

#[derive(Debug)]
pub struct LinCarry {
    /// Before the loop; `None` is zero.
    pub init: Option<Value>,
    /// In the body, at the start of an iteration.
    pub param: Value,
    /// In the body, at its end; `None` is zero.
    pub out: Option<Value>,
}

#[derive(Debug)]
pub struct LinIf<'f> {
    pub predicate: Value,
    pub branches: [LinBranch<'f>; 2],
}

#[derive(Debug)]
pub struct LinBranch<'f> {
    pub body: LinBody<'f>,
    pub outs: Vec<Option<Value>>,
}

/// A tape inside a region, and how to come by its coefficients again when the region is over.
#[derive(Debug)]
pub struct LinBody<'f> {
    pub tape: Tape<'f>,
    /// (value of a loop's body, the stack of what it was in all iterations).
    pub stacks: Vec<(Value, Value)>,
    /// (value of the region, the same value outside).
    pub aliases: Vec<(Value, Value)>,
    /// Instructions of the primal region to run again: cheaper than keeping what they give.
    pub replay: Vec<Inst>,
    /// Tangents from outside that the tape uses, each once.
    pub captures: Vec<Value>,
    /// Values of the primal half, outside the region, that the tape, `stacks`, `aliases` and `replay` use.
    pub coefficients: Vec<Value>,
}

/// A function with its own derivative: transposed by running the user's block. Results: the float results' tangents.
#[derive(Debug)]
pub struct LinCustom<'f> {
    pub func: &'f Func,
    /// (arguments, results, cotangents of float results → cotangents of float arguments).
    pub block: &'f Region,
    /// Values of the block's parameters but the cotangents.
    pub primals: Vec<Value>,
    /// For each of those, whether the block reads it.
    pub used: Vec<bool>,
    /// Tangents of the float arguments.
    pub tangents: Vec<Option<Value>>,
}

/// A function computed again when the tape is transposed. Results: tangents of its active results.
#[derive(Debug)]
pub struct LinRemat<'f> {
    pub func: &'f Func,
    pub region: &'f Region,
    pub args: Vec<Value>,
    /// Tangents of the arguments.
    pub tangents: Vec<Option<Value>>,
    /// Which results have a tangent.
    pub active: Vec<bool>,
}

impl LinInst<'_> {
    /// Tangents that this instruction reads.
    pub fn linear_operands(&self) -> Vec<Value> {
        match &self.op {
            LinOp::Prim { op: _, args } => args
                .iter()
                .filter_map(|a| match a {
                    Operand::Lin(v) => Some(*v),
                    Operand::Coef(_) | Operand::Zero(_) => None,
                })
                .collect(),
            LinOp::Scan(scan) => {
                let inits = scan.carries.iter().filter_map(|c| c.init);
                let xs = scan.xs.iter().map(|x| x.0);
                inits
                    .chain(xs)
                    .chain(scan.body.captures.iter().copied())
                    .collect()
            }
            LinOp::If(branch) => branch
                .branches
                .iter()
                .flat_map(|b| b.body.captures.iter().copied())
                .collect(),
            LinOp::Custom(custom) => custom.tangents.iter().copied().flatten().collect(),
            LinOp::Remat(remat) => remat.tangents.iter().copied().flatten().collect(),
        }
    }

    /// Values of the primal half that the transposition of this instruction may read.
    pub fn coefficients(&self) -> Vec<Value> {
        match &self.op {
            LinOp::Prim { op: _, args } => args
                .iter()
                .filter_map(|a| match a {
                    Operand::Coef(v) => Some(*v),
                    Operand::Lin(_) | Operand::Zero(_) => None,
                })
                .collect(),
            LinOp::Scan(scan) => scan.body.coefficients.clone(),
            LinOp::If(branch) => std::iter::once(branch.predicate)
                .chain(
                    branch
                        .branches
                        .iter()
                        .flat_map(|b| b.body.coefficients.iter().copied()),
                )
                .collect(),
            LinOp::Custom(custom) => custom
                .primals
                .iter()
                .zip(&custom.used)
                .filter_map(|(&v, &used)| used.then_some(v))
                .collect(),
            LinOp::Remat(remat) => remat.args.clone(),
        }
    }
}

/// Keeps only the instructions that the values in `wanted` need.
pub fn prune<'f>(tape: Tape<'f>, wanted: impl IntoIterator<Item = Value>) -> Tape<'f> {
    let mut live: HashSet<Value> = wanted.into_iter().collect();
    let mut kept: Tape<'f> = Vec::new();
    for inst in tape.into_iter().rev() {
        if inst.results.iter().any(|r| live.contains(r)) {
            live.extend(inst.linear_operands());
            kept.push(inst);
        }
    }
    kept.reverse();
    kept
}

/// Tangents that a tape uses and does not define, each once, in order of first use; `defined` holds those that
/// the region around it defines.
pub fn captures(
    tape: &[LinInst],
    mut defined: HashSet<Value>,
    outs: impl IntoIterator<Item = Value>,
) -> Vec<Value> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut visit = |defined: &HashSet<Value>, v: Value| {
        if !defined.contains(&v) && seen.insert(v) {
            found.push(v);
        }
    };
    for inst in tape {
        for v in inst.linear_operands() {
            visit(&defined, v);
        }
        defined.extend(&inst.results);
    }
    for v in outs {
        visit(&defined, v);
    }
    found
}

/// Coefficients of a tape, each once, in order of first use.
pub fn coefficients(tape: &[LinInst]) -> Vec<Value> {
    let mut seen = HashSet::new();
    tape.iter()
        .flat_map(LinInst::coefficients)
        .filter(|v| seen.insert(*v))
        .collect()
}

/// Adds to `live` every tangent that a live one depends on: those which will have a cotangent when the
/// tape is transposed with cotangents for `live`.
pub fn backward_live(tape: &[LinInst], live: &mut HashSet<Value>) {
    for inst in tape.iter().rev() {
        let results: Vec<bool> = inst.results.iter().map(|r| live.contains(r)).collect();
        if !results.contains(&true) {
            continue;
        }
        match &inst.op {
            LinOp::Scan(scan) => {
                let inner = scan.backward_live(&results);
                for (c, &l) in scan.carries.iter().zip(&inner.carries) {
                    if l {
                        live.extend(c.init);
                    }
                }
                live.extend(
                    scan.xs
                        .iter()
                        .filter(|x| inner.live.contains(&x.1))
                        .map(|x| x.0),
                );
                live.extend(scan.body.captures.iter().filter(|v| inner.live.contains(v)));
            }
            LinOp::If(branch) => live.extend(branch.backward_live(&results)),
            LinOp::Prim { .. } | LinOp::Custom(_) | LinOp::Remat(_) => {
                live.extend(inst.linear_operands());
            }
        }
    }
}

/// Which values of a linear loop have cotangents.
pub struct ScanLive {
    /// Those of the carries, at the start of an iteration.
    pub carries: Vec<bool>,
    /// All tangents of the body that do, captured ones included.
    pub live: HashSet<Value>,
}

impl LinScan<'_> {
    /// The fixpoint over iterations, from which results of the loop have a cotangent.
    pub fn backward_live(&self, results: &[bool]) -> ScanLive {
        let n = self.carries.len();
        let mut carries = results[..n].to_vec();
        loop {
            let mut live: HashSet<Value> = HashSet::new();
            for (c, &l) in self.carries.iter().zip(&carries) {
                if l {
                    live.extend(c.out);
                }
            }
            for (y, &l) in self.ys.iter().zip(&results[n..]) {
                if l {
                    live.insert(*y);
                }
            }
            backward_live(&self.body.tape, &mut live);
            let mut grown = false;
            for (c, l) in self.carries.iter().zip(&mut carries) {
                if !*l && live.contains(&c.param) {
                    *l = true;
                    grown = true;
                }
            }
            if !grown {
                return ScanLive { carries, live };
            }
        }
    }
}

impl LinScan<'_> {
    /// Whether the cotangent of a carry is the same in every iteration: the carry goes into its own next value as it is,
    /// as a summand, and nowhere else. So it is for a total that a loop adds up.
    pub fn is_running_sum(&self, carry: &LinCarry) -> bool {
        let Some(out) = carry.out else { return false };
        let outs = self.carries.iter().filter_map(|c| c.out);
        let leaving: Vec<Value> = outs.chain(self.ys.iter().copied()).collect();
        let mut users: HashMap<Value, Vec<&LinInst>> = HashMap::new();
        for inst in &self.body.tape {
            for v in inst.linear_operands() {
                users.entry(v).or_default().push(inst);
            }
        }
        let mut v = carry.param;
        loop {
            let left = leaving.iter().filter(|l| **l == v).count();
            match (users.get(&v).map(Vec::as_slice), left) {
                (None, 1) => return v == out,
                (Some([user]), 0) => match user.sum_with(v) {
                    Some(sum) => v = sum,
                    None => return false,
                },
                _ => return false,
            }
        }
    }
}

impl LinInst<'_> {
    /// The result, if it is `v` and something else added to it or taken from it.
    fn sum_with(&self, v: Value) -> Option<Value> {
        let LinOp::Prim { op, args } = &self.op else {
            return None;
        };
        let is_sum = match (op, &args[..]) {
            (Op::Binary(BinaryOp::Add), [Operand::Lin(_), Operand::Lin(_)]) => true,
            (Op::Binary(BinaryOp::Sub), [Operand::Lin(a), Operand::Lin(_)]) => *a == v,
            _ => false,
        };
        is_sum.then_some(self.results[0])
    }
}

impl LinIf<'_> {
    /// Captured tangents that have a cotangent after either branch, each once, in order of first use.
    pub fn backward_live(&self, results: &[bool]) -> Vec<Value> {
        let mut found = Vec::new();
        for branch in &self.branches {
            let mut live: HashSet<Value> = branch
                .outs
                .iter()
                .zip(results)
                .filter_map(|(out, &l)| out.filter(|_| l))
                .collect();
            backward_live(&branch.body.tape, &mut live);
            for v in &branch.body.captures {
                if live.contains(v) && !found.contains(v) {
                    found.push(*v);
                }
            }
        }
        found
    }
}
