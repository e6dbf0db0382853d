//! `x[…]`: slices, positions, gathers and new axes in one pass over the brackets.

use super::Call;
use super::attrs::{Arg, Index};
use crate::ir::num::Num;
use crate::ir::op::GatherDims;
use crate::ir::{self, BinaryOp, Builder, Op, Value};
use crate::specialise::error::{BuildError, Result};

/// One dimension of the operand, or a new one, after the static part of the index.
pub(super) enum Axis {
    /// Kept in the result.
    Kept,
    /// Taken at one position: dropped.
    Dropped,
    New,
    /// Indexed by this operand.
    By(Value),
}

/// The static part of an index: what becomes of each dimension, and the slice to take.
pub(super) struct Plan {
    shape: Vec<usize>,
    axes: Vec<Axis>,
    start: Vec<usize>,
    limit: Vec<usize>,
    stride: Vec<usize>,
    flip: Vec<usize>,
}

impl Plan {
    fn new(shape: Vec<usize>) -> Plan {
        Plan {
            shape,
            axes: vec![],
            start: vec![],
            limit: vec![],
            stride: vec![],
            flip: vec![],
        }
    }

    /// Takes the next `n` dimensions whole.
    fn whole(&mut self, n: usize) {
        for _ in 0..n {
            let size = self.shape[self.start.len()];
            self.axes.push(Axis::Kept);
            self.start.push(0);
            self.limit.push(size);
            self.stride.push(1);
        }
    }

    /// Takes the next dimension with another fate; gives its number.
    fn next(&mut self, fate: Axis) -> usize {
        self.whole(1);
        let last = self.axes.len() - 1;
        self.axes[last] = fate;
        self.start.len() - 1
    }

    fn rest(&self) -> usize {
        self.shape.len() - self.start.len()
    }

    /// What the brackets say of an array of this shape; fails where a constant position is out of range.
    pub(super) fn of(
        shape: Vec<usize>,
        items: &[Index],
        tensors: &[Value],
        c: &Call,
    ) -> Result<Plan> {
        let mut plan = Plan::new(shape);
        let mut tensors = tensors.iter().copied();
        // A key array has a further dimension that no bracket speaks of.
        let hidden = usize::from(c.is_key());
        let used = items
            .iter()
            .filter(|i| !matches!(i, Index::Rest | Index::NewAxis))
            .count();
        for item in items {
            match item {
                Index::Rest => plan.whole(plan.shape.len() - hidden - used),
                Index::NewAxis => plan.axes.push(Axis::New),
                Index::Tensor => {
                    if let Some(v) = tensors.next() {
                        plan.next(Axis::By(v));
                    }
                }
                Index::At(i) => {
                    let axis = plan.next(Axis::Dropped);
                    let size = plan.shape[axis];
                    let at = if *i < 0 { *i + size as i64 } else { *i };
                    let at = usize::try_from(at).ok().filter(|&a| a < size);
                    let at = at.ok_or_else(|| {
                        BuildError::IndexOutOfRange {
                            index: *i,
                            axis,
                            size,
                        }
                        .at(c.span)
                    })?;
                    (plan.start[axis], plan.limit[axis]) = (at, at + 1);
                }
                Index::Range { lo, hi, step } => {
                    let axis = plan.next(Axis::Kept);
                    let (lo, hi, step, reverse) =
                        range(plan.shape[axis], *lo, *hi, step.unwrap_or(1));
                    (plan.start[axis], plan.limit[axis], plan.stride[axis]) = (lo, hi, step);
                    if reverse {
                        plan.flip.push(axis);
                    }
                }
            }
        }
        plan.whole(plan.rest());
        Ok(plan)
    }
}

pub(super) fn index(b: &mut Builder, c: &Call) -> Result<Value> {
    let x = c.args[0];
    let items: &[Index] = match c.attrs.get("index") {
        Some(Arg::Index(items)) => items,
        _ => &[],
    };
    let plan = Plan::of(b.shape_of(x), items, &c.args[1..], c)?;
    Ok(apply(b, x, plan))
}

/// `x` at the places of a plan made for its shape.
pub(super) fn apply(b: &mut Builder, x: Value, plan: Plan) -> Value {
    let mut y = x;
    if plan.limit != plan.shape
        || plan.start.iter().any(|&s| s != 0)
        || plan.stride.iter().any(|&s| s != 1)
    {
        y = b.op(
            Op::Slice {
                start: plan.start,
                limit: plan.limit,
                stride: plan.stride,
            },
            &[y],
        );
    }
    if !plan.flip.is_empty() {
        y = b.op(Op::Reverse { axes: plan.flip }, &[y]);
    }
    by_tensors(b, y, &plan.axes)
}

/// A run-time position as i32. Wider integers saturate, so that what is out of range stays so.
pub(super) fn position(b: &mut Builder, x: Value) -> Value {
    let last = i32::MAX as f64;
    let x = match b.elem_of(x) {
        ir::Elem::U32 | ir::Elem::U64 => {
            let last = b.like(x, last);
            b.binary(BinaryOp::Min, x, last)
        }
        ir::Elem::I64 => {
            let (first, last) = (b.like(x, -last), b.like(x, last));
            b.op(Op::Clamp, &[first, x, last])
        }
        _ => x,
    };
    b.convert(x, ir::Elem::I32)
}

/// Whole slices of one axis, at the positions of `idx`.
pub(super) fn along_axis(b: &mut Builder, x: Value, idx: Value, axis: usize) -> Value {
    let axes: Vec<Axis> = (0..b.ty(x).rank())
        .map(|d| if d == axis { Axis::By(idx) } else { Axis::Kept })
        .collect();
    by_tensors(b, x, &axes)
}

/// Python's meaning of `lo:hi:step` on an axis: an ascending slice, and whether to reverse it.
fn range(size: usize, lo: Option<i64>, hi: Option<i64>, step: i64) -> (usize, usize, usize, bool) {
    let n = size as i64;
    let wrap = |i: i64| if i < 0 { i + n } else { i };
    if step > 0 {
        let lo = wrap(lo.unwrap_or(0)).clamp(0, n);
        let hi = wrap(hi.unwrap_or(n)).clamp(lo, n);
        return (lo as usize, hi as usize, step as usize, false);
    }
    let first = lo.map_or(n - 1, |i| wrap(i).clamp(-1, n - 1));
    let stop = hi.map_or(-1, |i| wrap(i).clamp(-1, n - 1)).min(first);
    let step = -step;
    let count = (first - stop + step - 1) / step;
    if count == 0 {
        return (0, 0, 1, true);
    }
    let lowest = first - (count - 1) * step;
    (lowest as usize, first as usize + 1, step as usize, true)
}

/// Gathers the axes indexed by tensors, drops and adds axes. As in NumPy, the index tensors broadcast together and
/// their dimensions stand where they do if they are adjacent, else in front.
fn by_tensors(b: &mut Builder, x: Value, axes: &[Axis]) -> Value {
    let tensors: Vec<Value> = axes
        .iter()
        .filter_map(|a| if let Axis::By(v) = a { Some(*v) } else { None })
        .collect();
    if tensors.is_empty() {
        let mut shape = Vec::new();
        let mut at = 0;
        for axis in axes {
            match axis {
                Axis::New => shape.push(1),
                Axis::Dropped => at += 1,
                Axis::Kept | Axis::By(_) => {
                    shape.push(b.ty(x).shape[at]);
                    at += 1;
                }
            }
        }
        // Dimensions beyond the brackets: the words of a key.
        shape.extend(b.ty(x).shape[at..].iter().copied());
        return b.reshape(x, &shape);
    }
    let indices: Vec<Value> = tensors.iter().map(|&t| position(b, t)).collect();
    let indices = b.together(&indices);
    let index_shape = b.shape_of(indices[0]);
    let operand_shape = b.shape_of(x);

    // Operand axes by fate, and the layout of the result.
    let (mut indexed, mut collapsed, mut kept) = (vec![], vec![], vec![]);
    let mut at = 0;
    for axis in axes {
        match axis {
            Axis::New => continue,
            Axis::Kept => kept.push(at),
            Axis::Dropped => collapsed.push(at),
            Axis::By(_) => {
                indexed.push(at);
                collapsed.push(at);
            }
        }
        at += 1;
    }
    kept.extend(at..operand_shape.len());
    // Of nothing there is nothing to take: zeros stand for what a gather cannot even be written for.
    let nothing = indexed.iter().any(|&d| operand_shape[d] == 0);
    let positions: Vec<usize> = axes
        .iter()
        .enumerate()
        .filter(|(_, a)| matches!(a, Axis::By(_) | Axis::Dropped))
        .map(|(i, _)| i)
        .collect();
    let adjacent = positions.windows(2).all(|w| w[1] == w[0] + 1);
    let first = if adjacent {
        kept.iter().filter(|&&k| k < collapsed[0]).count()
    } else {
        0
    };
    let batch = index_shape.len();
    let offset_dims: Vec<usize> = (0..kept.len())
        .map(|i| if i < first { i } else { i + batch })
        .collect();
    let columns: Vec<Value> = indices
        .iter()
        .map(|&i| {
            let shape: Vec<usize> = index_shape.iter().copied().chain([1]).collect();
            b.reshape(i, &shape)
        })
        .collect();
    let starts = b.concat(&columns, batch);
    let slice_sizes = operand_shape
        .iter()
        .enumerate()
        .map(|(d, &n)| if collapsed.contains(&d) { 1 } else { n })
        .collect();
    let dims = GatherDims {
        offset_dims,
        collapsed_slice_dims: collapsed,
        operand_batching_dims: vec![],
        start_indices_batching_dims: vec![],
        start_index_map: indexed,
        index_vector_dim: batch,
        slice_sizes,
    };
    let gathered = if nothing {
        let kept: Vec<usize> = kept.iter().map(|&k| operand_shape[k]).collect();
        let shape = [&kept[..first], &index_shape, &kept[first..]].concat();
        b.full(b.elem_of(x), &shape, 0.0)
    } else {
        b.op(Op::Gather(dims), &[x, starts])
    };
    insert_new_axes(b, gathered, axes, adjacent, batch)
}

/// Size-1 axes where the brackets had `none`.
fn insert_new_axes(
    b: &mut Builder,
    x: Value,
    axes: &[Axis],
    adjacent: bool,
    batch: usize,
) -> Value {
    let old = b.shape_of(x);
    let mut shape = Vec::new();
    let mut rest = old.iter().copied();
    let mut placed = false;
    if !adjacent {
        shape.extend(rest.by_ref().take(batch));
        placed = true;
    }
    for axis in axes {
        match axis {
            Axis::New => shape.push(1),
            Axis::Dropped => {}
            Axis::Kept => shape.extend(rest.next()),
            Axis::By(_) if !placed => {
                shape.extend(rest.by_ref().take(batch));
                placed = true;
            }
            Axis::By(_) => {}
        }
    }
    shape.extend(rest);
    b.reshape(x, &shape)
}

/// `slice(x, start, size)` along axis 0, clamped inside.
pub(super) fn slice(b: &mut Builder, c: &Call) -> Value {
    let (x, start) = (c.args[0], c.args[1]);
    let rank = b.ty(x).rank();
    let mut starts = vec![x, position(b, start)];
    for _ in 1..rank {
        starts.push(b.int(ir::Elem::I32, 0));
    }
    let mut sizes = b.shape_of(x);
    sizes[0] = c.out().shape[0];
    b.op(Op::DynamicSlice { sizes }, &starts)
}
