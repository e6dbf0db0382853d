//! Carried sums that nothing in the loop reads.

use crate::ir::Builder;
use crate::ir::func::{Inst, Region, Value};
use crate::ir::op::{BinaryOp, DotDims, Op, ReduceOp, ScatterDims, ScatterOp};
use std::collections::{HashMap, HashSet};

/// The carry at a place is a sum, with one term an iteration.
pub struct Total {
    pub carry: usize,
    terms: Terms,
}

enum Terms {
    Plain(Value),
    /// Products of two values that differ from iteration to iteration.
    Products {
        dims: DotDims,
        lhs: Value,
        rhs: Value,
    },
    Sums {
        axes: Vec<usize>,
        of: Value,
    },
    Scattered {
        dims: ScatterDims,
        indices: Value,
        updates: Value,
    },
}

impl Total {
    /// Those of a loop's body, of which `varying` are the values that differ from iteration to iteration.
    pub fn all(body: &Region, carry: usize, varying: &HashSet<Value>) -> Vec<Total> {
        let uses = uses(body);
        let once = |v: &Value| uses.get(v) == Some(&1);
        let made = body.insts.iter();
        let makers: HashMap<Value, &Inst> = made
            .flat_map(|inst| inst.results.iter().map(move |&v| (v, inst)))
            .collect();
        let total = |j: usize| {
            let add = makers.get(&body.results[j])?;
            let alone = |v: Value| makers.get(&v).copied().filter(|_| once(&v));
            let terms = terms(body.params[1 + j], add, alone, varying)?;
            Some(Total { carry: j, terms })
        };
        (0..carry)
            .filter(|&j| once(&body.params[1 + j]) && once(&body.results[j]))
            .filter_map(total)
            .collect()
    }

    /// The values of the body that the terms are made of.
    pub fn wanted(&self) -> Vec<Value> {
        match &self.terms {
            Terms::Plain(v) | Terms::Sums { of: v, .. } => vec![*v],
            Terms::Products { lhs, rhs, .. } => vec![*lhs, *rhs],
            Terms::Scattered {
                indices, updates, ..
            } => vec![*indices, *updates],
        }
    }

    /// Whether many products become one.
    pub fn is_product(&self) -> bool {
        matches!(self.terms, Terms::Products { .. })
    }

    /// The sum over all iterations, which begins with `start`; `stack` gives the values of all iterations along axis 0.
    pub fn emit(&self, b: &mut Builder, start: Value, stack: impl Fn(Value) -> Value) -> Value {
        let sum = |axes: Vec<usize>| Op::Reduce {
            op: ReduceOp::Sum,
            axes,
        };
        let term = match &self.terms {
            Terms::Plain(v) => b.op(sum(vec![0]), &[stack(*v)]),
            Terms::Sums { axes, of } => b.op(sum(with_first(axes)), &[stack(*of)]),
            Terms::Products { dims, lhs, rhs } => {
                let dims = DotDims {
                    lhs_batch: behind(&dims.lhs_batch),
                    rhs_batch: behind(&dims.rhs_batch),
                    lhs_contract: with_first(&dims.lhs_contract),
                    rhs_contract: with_first(&dims.rhs_contract),
                };
                b.op(Op::Dot(dims), &[stack(*lhs), stack(*rhs)])
            }
            Terms::Scattered {
                dims,
                indices,
                updates,
            } => {
                let dims = ScatterDims {
                    update_window_dims: behind(&dims.update_window_dims),
                    scatter_indices_batching_dims: behind(&dims.scatter_indices_batching_dims),
                    index_vector_dim: dims.index_vector_dim + 1,
                    ..dims.clone()
                };
                let op = Op::Scatter {
                    op: ScatterOp::Add,
                    dims,
                };
                return b.op(op, &[start, stack(*indices), stack(*updates)]);
            }
        };
        b.op(Op::Binary(BinaryOp::Add), &[start, term])
    }
}

/// The terms of the sum that `add` continues; `alone` gives the instruction that makes a value which is used once.
fn terms<'i>(
    so_far: Value,
    add: &Inst,
    alone: impl Fn(Value) -> Option<&'i Inst>,
    varying: &HashSet<Value>,
) -> Option<Terms> {
    let term = match (&add.op, &add.args[..]) {
        (Op::Binary(BinaryOp::Add), &[a, b]) if a == so_far => b,
        (Op::Binary(BinaryOp::Add), &[a, b]) if b == so_far => a,
        (
            Op::Scatter {
                op: ScatterOp::Add,
                dims,
            },
            &[array, indices, updates],
        ) if array == so_far => {
            return Some(Terms::Scattered {
                dims: dims.clone(),
                indices,
                updates,
            });
        }
        _ => return None,
    };
    Some(match alone(term).map(|i| (&i.op, &i.args[..])) {
        Some((Op::Dot(dims), &[lhs, rhs])) if varying.contains(&lhs) && varying.contains(&rhs) => {
            Terms::Products {
                dims: dims.clone(),
                lhs,
                rhs,
            }
        }
        Some((
            Op::Reduce {
                op: ReduceOp::Sum,
                axes,
            },
            &[of],
        )) => Terms::Sums {
            axes: axes.clone(),
            of,
        },
        _ => Terms::Plain(term),
    })
}

/// How often each value is used in a region and those in it.
fn uses(region: &Region) -> HashMap<Value, usize> {
    fn count(region: &Region, uses: &mut HashMap<Value, usize>) {
        for inst in &region.insts {
            inst.args
                .iter()
                .for_each(|v| *uses.entry(*v).or_default() += 1);
            inst.regions.iter().for_each(|r| count(r, uses));
        }
        for v in &region.results {
            *uses.entry(*v).or_default() += 1;
        }
    }
    let mut found = HashMap::new();
    count(region, &mut found);
    found
}

/// Axes of an array, in one with another axis before them.
fn behind(axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|a| a + 1).collect()
}

fn with_first(axes: &[usize]) -> Vec<usize> {
    std::iter::once(0)
        .chain(axes.iter().map(|a| a + 1))
        .collect()
}
