//! Slices at run-time positions, gathers and scatters whose positions are known.

use super::shape::{ranges, slice};
use crate::ir::literal::decode_i64;
use crate::ir::op::{BinaryOp, CompareOp, DotDims, GatherDims, Op, ReduceOp};
use crate::ir::types::{Elem, Type};
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    Rule::build("dynamic-slice-all",      Exact, "dynamic_slice.s(*)",                     "x, where everything is taken",        dynamic_slice_all),
    Rule::build("dynamic-slice-known",    Exact, "dynamic_slice.s(*)",                     "slice(x), at constant starts",        dynamic_slice_known),
    Rule::build("dynamic-slice-spread",   Exact, "dynamic_slice.s(*)",                     "broadcast(dynamic_slice(x))",         dynamic_slice_broadcast),
    Rule::build("dynamic-slice-unary",    Exact, "dynamic_slice.s(*)",                     "f(dynamic_slice(x))",                 dynamic_slice_unary),
    Rule::build("update-all",             Exact, "dynamic_update_slice.u(*)",              "the update, where it covers all",     update_all),
    Rule::build("update-nothing",         Exact, "dynamic_update_slice.u(*)",              "x, where the update is empty",        update_nothing),
    Rule::build("update-then-slice",      Exact, "dynamic_slice.s(*)",                     "the update, read back where it was put", update_then_slice),
    Rule::build("one-hot-dot",            Fast,  "dot.d(convert.c(eq(broadcast.b(i), iota.j())), x)", "gather(x, i), times 0 where i is outside", one_hot_dot).when("int i"),
    Rule::build("gather-by-one-hot",  Fast,  "gather.g(x, i)",                         "dot(one_hot(i), x), of halves, which a product keeps", gather_by_one_hot),
    Rule::build("gather-of-gather",       Exact, "gather.g(gather.h(x, i), j)",            "gather(x, gather(i, j)), of rows",    gather_of_gather),
    Rule::build("largest-of-sorted",      Harmless, "slice.s(sort.k(x))",                  "reduce_max(x), where that end is kept", largest_of_sorted),
    Rule::build("smallest-of-sorted",     Fast,  "slice.s(sort.k(x))",                     "reduce_min(x), where that end is kept", smallest_of_sorted),
    Rule::build("gather-rows-known",      Exact, "gather.g(x, C)",                         "slice(x), of one row over and over",  gather_rows_known),
];

/// Starts as constants, clamped so that `sizes` fit.
fn known_starts(rw: &Rw, starts: &[Id], shape: &[usize], sizes: &[usize]) -> Option<Vec<usize>> {
    starts
        .iter()
        .zip(shape.iter().zip(sizes))
        .map(|(&s, (&size, &taken))| {
            let data = rw.graph.data(s);
            let start = decode_i64(data.ty().elem, data.splat()?);
            let last = size.checked_sub(taken)? as i64;
            Some(start.clamp(0, last) as usize)
        })
        .collect()
}

fn dynamic_slice_all(rw: &mut Rw) -> Option<Id> {
    let x = rw.args('s')[0];
    let all = rw.ty(x) == rw.ty(rw.root());
    all.then_some(x)
}

fn dynamic_slice_known(rw: &mut Rw) -> Option<Id> {
    let args = rw.args('s');
    let Op::DynamicSlice { sizes } = rw.op('s')? else {
        return None;
    };
    let shape = rw.shape(args[0]);
    let starts = known_starts(rw, &args[1..], &shape, &sizes)?;
    let ranges: Vec<_> = starts
        .iter()
        .zip(&sizes)
        .map(|(&s, &n)| (s, s + n, 1))
        .collect();
    slice(rw, args[0], &ranges)
}

fn dynamic_slice_broadcast(rw: &mut Rw) -> Option<Id> {
    let args = rw.args('s');
    let Op::DynamicSlice { sizes } = rw.op('s')? else {
        return None;
    };
    let node = rw.find(args[0], crate::opt::graph::Kind::Broadcast, |_| true)?;
    let Op::Broadcast { shape, dims } = rw.graph.op_of(&node)? else {
        return None;
    };
    let x = node.children[0];
    let from = rw.shape(x);
    if dims.iter().zip(&from).any(|(&d, &size)| shape[d] != size) {
        return None;
    }
    let inner = if dims.is_empty() {
        x
    } else {
        let mut inner = vec![x];
        inner.extend(dims.iter().map(|&d| args[1 + d]));
        let sizes = dims.iter().map(|&d| sizes[d]).collect();
        rw.add(Op::DynamicSlice { sizes }, &inner)?
    };
    rw.broadcast(inner, sizes, dims)
}

fn dynamic_slice_unary(rw: &mut Rw) -> Option<Id> {
    let args = rw.args('s');
    let node = rw.find_where(args[0], |kind| {
        matches!(
            kind,
            crate::opt::graph::Kind::Unary(_) | crate::opt::graph::Kind::Convert
        )
    })?;
    let mut inner = args.clone();
    inner[0] = node.children[0];
    let sliced = rw.add(rw.op('s')?, &inner)?;
    rw.add(rw.graph.op_of(&node)?, &[sliced])
}

fn update_all(rw: &mut Rw) -> Option<Id> {
    let args = rw.args('u');
    let all = rw.ty(args[0]) == rw.ty(args[1]);
    all.then_some(args[1])
}

fn update_nothing(rw: &mut Rw) -> Option<Id> {
    let args = rw.args('u');
    let empty = rw.shape(args[1]).contains(&0);
    empty.then_some(args[0])
}

fn update_then_slice(rw: &mut Rw) -> Option<Id> {
    let args = rw.args('s');
    let node = rw.find(args[0], crate::opt::graph::Kind::DynamicUpdateSlice, |_| {
        true
    })?;
    let find = |id: &Id| rw.graph.egg.find(*id);
    let same = node.children[2..]
        .iter()
        .map(find)
        .eq(args[1..].iter().map(find));
    let update = node.children[1];
    (same && rw.ty(update) == rw.ty(rw.root())).then_some(update)
}

/// All positions are one number: along each indexed axis a slice, spread over the positions.
fn gather_rows_known(rw: &mut Rw) -> Option<Id> {
    let (x, c) = (rw.var('x'), rw.var('C'));
    let Op::Gather(g) = rw.op('g')? else {
        return None;
    };
    let shape = rw.shape(x);
    let plain = g.operand_batching_dims.is_empty() && g.start_indices_batching_dims.is_empty();
    if !plain || shape.iter().zip(&g.slice_sizes).any(|(&n, &s)| s > n) {
        return None;
    }
    let data = rw.graph.data(c);
    let at = decode_i64(data.ty().elem, data.splat()?);
    let ranges: Vec<_> = (0..shape.len())
        .map(|d| {
            let taken = g.slice_sizes[d];
            let last = (shape[d] - taken) as i64;
            let indexed = g.start_index_map.contains(&d);
            let start = if indexed {
                at.clamp(0, last) as usize
            } else {
                0
            };
            (start, start + taken, 1)
        })
        .collect();
    let sliced = slice(rw, x, &ranges)?;
    let kept = (0..shape.len()).filter(|d| !g.collapsed_slice_dims.contains(d));
    let kept = kept.map(|d| g.slice_sizes[d]).collect();
    let rows = rw.reshape(sliced, kept)?;
    let to = rw.shape(rw.root());
    rw.broadcast(rows, to, g.offset_dims)
}

/// The gather that picks whole rows along an axis, at positions of this rank, which come first in the result.
fn rows(from: &[usize], axis: usize, rank: usize) -> GatherDims {
    let mut slice_sizes = from.to_vec();
    slice_sizes[axis] = 1;
    GatherDims {
        offset_dims: (rank..rank + from.len() - 1).collect(),
        collapsed_slice_dims: vec![axis],
        operand_batching_dims: vec![],
        start_indices_batching_dims: vec![],
        start_index_map: vec![axis],
        index_vector_dim: rank,
        slice_sizes,
    }
}

/// Rows of rows are picked by their positions in the first array; either picking takes the nearest row for a position outside.
fn gather_of_gather(rw: &mut Rw) -> Option<Id> {
    let (x, i, j) = (rw.var('x'), rw.var('i'), rw.var('j'));
    let (Op::Gather(outer), Op::Gather(inner)) = (rw.op('g')?, rw.op('h')?) else {
        return None;
    };
    let (from, at) = (rw.shape(x), rw.shape(i));
    let rank = rw.shape(j).len().checked_sub(1)?;
    let [axis] = inner.collapsed_slice_dims[..] else {
        return None;
    };
    let mut picked = vec![at[0]];
    picked.extend((0..from.len()).filter(|&d| d != axis).map(|d| from[d]));
    let plain = inner == rows(&from, axis, 1) && outer == rows(&picked, 0, rank);
    if !plain || at.len() != 2 || at[0] == 0 {
        return None;
    }
    let mut places = rows(&at, 0, rank);
    places.slice_sizes = vec![1, 1];
    let places = rw.add(Op::Gather(places), &[i, j])?;
    rw.add(Op::Gather(rows(&from, axis, rank)), &[x, places])
}

fn largest_of_sorted(rw: &mut Rw) -> Option<Id> {
    end_of_sorted(rw, ReduceOp::Max)
}

fn smallest_of_sorted(rw: &mut Rw) -> Option<Id> {
    end_of_sorted(rw, ReduceOp::Min)
}

/// What stands first or last among all in order is the smallest or the largest. NaN is last, as it is the largest of any.
fn end_of_sorted(rw: &mut Rw, op: ReduceOp) -> Option<Id> {
    let (x, mut ranges) = (rw.var('x'), ranges(rw, 's')?);
    let Op::Sort {
        axis,
        descending,
        total: false,
        ..
    } = rw.op('k')?
    else {
        return None;
    };
    let size = rw.shape(x)[axis];
    let first = descending == (op == ReduceOp::Max);
    let end = if first { 0 } else { size.checked_sub(1)? };
    let (start, limit, _) = ranges[axis];
    if rw.args('k').len() != 1 || start != end || limit != end + 1 {
        return None;
    }
    ranges[axis] = (0, size, 1);
    let sorted = slice(rw, x, &ranges)?;
    let axes = vec![axis];
    let extreme = rw.add(Op::Reduce { op, axes }, &[sorted])?;
    rw.reshape(extreme, rw.shape(rw.root()))
}

/// A product with one-hot rows picks rows. A position outside picks none, and gives 0.
fn one_hot_dot(rw: &mut Rw) -> Option<Id> {
    let (x, at) = (rw.var('x'), rw.var('i'));
    let (Op::Dot(d), Op::Iota { ty, axis }, Op::Broadcast { shape, dims }) =
        (rw.op('d')?, rw.op('j')?, rw.op('b')?)
    else {
        return None;
    };
    let ([contract], [row]) = (&d.lhs_contract[..], &d.rhs_contract[..]) else {
        return None;
    };
    let (size, from) = (shape[axis], rw.shape(x));
    let rank = dims.len();
    // Every axis but the counted one is that of the positions, in order.
    let positions: Vec<usize> = (0..shape.len()).filter(|&a| a != axis).collect();
    let whole = rw.shape(at) == positions.iter().map(|&a| shape[a]).collect::<Vec<_>>();
    let plain = d.lhs_batch.is_empty() && *contract == axis && dims == positions && whole;
    let counted = super::convert::counts_to(ty.elem) >= size as u64;
    if !plain || !counted || size == 0 {
        return None;
    }
    let mut indices = rw.shape(at);
    let small = rw.ty(at);
    indices.push(1);
    let starts = rw.reshape(at, indices)?;
    let picked = rw.add(Op::Gather(rows(&from, *row, rank)), &[x, starts])?;
    let zero = rw.splat_i64(small.clone(), 0)?;
    let last = rw.splat_i64(small, size as i64 - 1)?;
    let above = rw.compare(CompareOp::Le, zero, at)?;
    let below = rw.compare(CompareOp::Le, at, last)?;
    let inside = rw.binary(BinaryOp::And, above, below)?;
    let to = rw.ty(rw.root());
    let inside = rw.convert(inside, to.elem)?;
    let inside = rw.broadcast(inside, to.shape, (0..rank).collect())?;
    rw.binary(BinaryOp::Mul, picked, inside)
}

/// Rows picked one by one are a product with one-hot rows, which is worth it for a short table where picking is slow. Only
/// of halves: a product of f32 may round its operands. A position outside is the nearest row's.
fn gather_by_one_hot(rw: &mut Rw) -> Option<Id> {
    let (x, starts) = (rw.var('x'), rw.var('i'));
    let Op::Gather(g) = rw.op('g')? else {
        return None;
    };
    let (from, mut shape) = (rw.shape(x), rw.shape(starts));
    let elem = rw.ty(x).elem;
    let rank = shape.len().checked_sub(1)?;
    let [row] = g.collapsed_slice_dims[..] else {
        return None;
    };
    let whole = (0..from.len()).all(|d| g.slice_sizes[d] == if d == row { 1 } else { from[d] });
    let in_order = g
        .offset_dims
        .iter()
        .copied()
        .eq(rank..rank + from.len() - 1);
    let plain = g.operand_batching_dims.is_empty()
        && g.start_index_map == [row]
        && g.index_vector_dim == rank
        && shape.pop() == Some(1);
    let size = from[row];
    let counted = Type::new(Elem::I32, shape.clone());
    let wide = rw.ty(starts).elem == Elem::I32 && size <= i32::MAX as usize;
    let half = matches!(elem, Elem::BF16 | Elem::F16);
    if !(whole && in_order && plain && wide && half && size > 0) {
        return None;
    }
    let at = rw.reshape(starts, shape.clone())?;
    let first = rw.splat_i64(counted.clone(), 0)?;
    let last = rw.splat_i64(counted, size as i64 - 1)?;
    let at = rw.add(Op::Clamp, &[first, at, last])?;
    shape.push(size);
    let places = Type::new(Elem::I32, shape.clone());
    let at = rw.broadcast(at, shape, (0..rank).collect())?;
    let count = rw.add(
        Op::Iota {
            ty: places,
            axis: rank,
        },
        &[],
    )?;
    let hot = rw.compare(CompareOp::Eq, at, count)?;
    let hot = rw.convert(hot, elem)?;
    let picked = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![rank],
        rhs_contract: vec![row],
    };
    rw.add(Op::Dot(picked), &[hot, x])
}
