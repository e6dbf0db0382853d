//! Whether a program may take the largest element out of exponentials everywhere: dividing `exp(x)` by `exp(m)` must
//! cancel in all that leaves it, or come back out of a logarithm.

use crate::ir::func::{Func, Inst, Region, Value};
use crate::ir::op::{BinaryOp, Op, ReduceOp, UnaryOp};
use std::collections::{HashMap, HashSet};

/// A value that is `exp(degree * m)` times as large as after the shift.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Scale {
    degree: i32,
    /// The axis of the value along which each axis of `m` lies.
    axes: Vec<usize>,
}

/// The logarithms out of which `m` has to come back, if the factor cancels everywhere else, and if it matters: if
/// something is divided by a sum, or its logarithm taken.
pub fn cancels(func: &Func, exp: Value, kept: &[usize]) -> Option<HashSet<Value>> {
    let scale = Scale {
        degree: 1,
        axes: kept.to_vec(),
    };
    let mut search = Search {
        func,
        zeros: HashSet::new(),
        scales: HashMap::from([(exp, scale)]),
        logs: HashSet::new(),
        divided: false,
    };
    search.region(&func.body)?;
    (search.divided || !search.logs.is_empty()).then_some(search.logs)
}

struct Search<'a> {
    func: &'a Func,
    /// Constants that are zero everywhere: they have every scale.
    zeros: HashSet<Value>,
    scales: HashMap<Value, Scale>,
    logs: HashSet<Value>,
    divided: bool,
}

impl Search<'_> {
    fn region(&mut self, region: &Region) -> Option<()> {
        for inst in &region.insts {
            self.inst(inst)?;
            for inner in &inst.regions {
                self.region(inner)?;
            }
        }
        let leaves = region.results.iter().any(|v| self.scales.contains_key(v));
        (!leaves).then_some(())
    }

    fn inst(&mut self, inst: &Inst) -> Option<()> {
        if let (Op::Constant(literal), [result]) = (&inst.op, &inst.results[..])
            && literal.splat_value() == Some(0.0)
        {
            self.zeros.insert(*result);
        }
        if !inst.args.iter().any(|v| self.scales.contains_key(v)) {
            return Some(());
        }
        let [result] = inst.results[..] else {
            return None;
        };
        let scale = self.of(inst)?;
        if scale.degree != 0 {
            self.scales.insert(result, scale);
        }
        Some(())
    }

    /// The scale of a result of which an operand has one; `None` where it has no single one.
    fn of(&mut self, inst: &Inst) -> Option<Scale> {
        let first = self.scales.get(&inst.args[0]).cloned();
        let shape = |v: Value| &self.func.ty(v).shape;
        match &inst.op {
            Op::Unary(UnaryOp::Neg | UnaryOp::Abs) | Op::StopGradient => first,
            Op::Unary(UnaryOp::Log) => {
                let Scale { degree, axes } = first?;
                let whole = axes.iter().copied().eq(0..shape(inst.args[0]).len());
                self.logs.insert(inst.results[0]);
                (degree == 1 && whole).then_some(Scale { degree: 0, axes })
            }
            Op::Binary(op @ (BinaryOp::Mul | BinaryOp::Div)) => {
                let second = self.scales.get(&inst.args[1]).cloned();
                let sign = if *op == BinaryOp::Div { -1 } else { 1 };
                self.divided |= sign == -1 && second.is_some();
                match (first, second) {
                    (Some(a), Some(b)) => (a.axes == b.axes).then_some(Scale {
                        degree: a.degree + sign * b.degree,
                        axes: a.axes,
                    }),
                    (Some(a), None) => Some(a),
                    (None, b) => b.map(|b| Scale {
                        degree: sign * b.degree,
                        ..b
                    }),
                }
            }
            Op::Binary(BinaryOp::Add | BinaryOp::Sub) => self.alike(&inst.args),
            Op::Select if !self.scales.contains_key(&inst.args[0]) => self.alike(&inst.args[1..]),
            Op::Broadcast { shape: to, dims } => {
                let Scale { degree, axes } = first?;
                let from = shape(inst.args[0]);
                let kept = axes.iter().all(|&a| from[a] == to[dims[a]]);
                let axes = axes.iter().map(|&a| dims[a]).collect();
                kept.then_some(Scale { degree, axes })
            }
            Op::Reshape { shape: to } => {
                let Scale { degree, axes } = first?;
                let axes = through_ones(shape(inst.args[0]), to, &axes)?;
                Some(Scale { degree, axes })
            }
            Op::Reduce {
                op: ReduceOp::Sum,
                axes: summed,
            } => {
                let Scale { degree, axes } = first?;
                if axes.iter().any(|a| summed.contains(a)) {
                    return None;
                }
                let before = |a: usize| summed.iter().filter(|&&s| s < a).count();
                let axes = axes.iter().map(|&a| a - before(a)).collect();
                Some(Scale { degree, axes })
            }
            _ => None,
        }
    }

    /// The scale that all of these have, zeros aside.
    fn alike(&self, values: &[Value]) -> Option<Scale> {
        let mut found = values
            .iter()
            .filter(|v| !self.zeros.contains(v))
            .map(|v| self.scales.get(v));
        let first = found.next()??;
        found.all(|s| s == Some(first)).then(|| first.clone())
    }
}

/// Where axes are after a reshape that only puts in or takes out axes of length 1.
fn through_ones(from: &[usize], to: &[usize], axes: &[usize]) -> Option<Vec<usize>> {
    let long =
        |shape: &[usize]| -> Vec<usize> { (0..shape.len()).filter(|&d| shape[d] != 1).collect() };
    let (old, new) = (long(from), long(to));
    let sizes = |shape: &[usize], axes: &[usize]| -> Vec<usize> {
        axes.iter().map(|&d| shape[d]).collect()
    };
    if sizes(from, &old) != sizes(to, &new) {
        return None;
    }
    let place = |a: &usize| old.iter().position(|o| o == a).map(|i| new[i]);
    axes.iter().map(place).collect()
}
