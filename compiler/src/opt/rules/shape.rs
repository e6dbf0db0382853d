//! Reshapes, transposes, slices, padding and concatenation among themselves, and moved through elementwise primitives.

use crate::ir::op::Op;
use crate::opt::graph::Kind;
use crate::opt::rewrite::{Class::*, Rule, Rw};
use egg::Id;

#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    // Among themselves.
    Rule::build("reshape-same",           Exact, "reshape.r(x)",                    "x, of its own shape",                 same_type),
    Rule::new("reshape-reshape",          Exact, "reshape.r(reshape.s(x))",         "reshape.r(x)"),
    Rule::build("transpose-same",         Exact, "transpose.p(x)",                  "x, where p is the identity",          same_order),
    Rule::build("transpose-transpose",    Exact, "transpose.p(transpose.q(x))",     "transpose by q after p",              transpose_transpose),
    Rule::build("transpose-of-ones",      Exact, "transpose.p(x)",                  "reshape(x), if only 1s move",         transpose_of_ones),
    Rule::build("reverse-ones",           Exact, "reverse.r(x)",                    "reverse of axes longer than 1",       reverse_ones),
    Rule::build("reverse-reverse",        Exact, "reverse.r(reverse.s(x))",         "reverse of the axes in one of them",  reverse_reverse),
    Rule::build("slice-same",             Exact, "slice.s(x)",                      "x, where s is everything",            same_type),
    Rule::build("slice-slice",            Exact, "slice.s(slice.t(x))",             "slice(x)",                            slice_slice),
    Rule::build("slice-pad",              Exact, "slice.s(pad.p(x, y))",            "slice(x), inside the padding",        slice_pad),
    Rule::build("slice-concat",           Exact, "slice.s(concat.c(*))",            "slice of the one operand",            slice_concat),
    Rule::build("slice-transpose",        Exact, "slice.s(transpose.p(x))",         "transpose.p(slice(x))",               slice_transpose),
    Rule::build("slice-reverse",          Exact, "slice.s(reverse.r(x))",           "reverse(slice(x))",                   slice_reverse),
    Rule::build("pad-same",               Exact, "pad.p(x, y)",                     "x, where p is nothing",               same_type),
    Rule::build("pad-pad",                Exact, "pad.p(pad.q(x, y), y)",           "pad by both",                         pad_pad),
    Rule::build("pad-negative",           Exact, "pad.p(x, y)",                     "slice(x), if p only takes away",      pad_negative),
    Rule::build("concat-one",             Exact, "concat.c(*)",                     "the only operand",                    concat_one),
    Rule::build("concat-empty",           Exact, "concat.c(*)",                     "without empty operands",              concat_empty),
    Rule::build("concat-concat",          Exact, "concat.c(*)",                     "without concats inside",              concat_concat),
    Rule::build("concat-slices",          Exact, "concat.c(*)",                     "slice, of neighbouring slices",       concat_slices),
    Rule::build("concat-padding",         Exact, "concat.c(*)",                     "pad, of constants around a value",    concat_padding),

    // Out of elementwise primitives, where they may meet their inverse.
    Rule::new("transpose-out-of-unary",   Exact, "unary.f(transpose.p(x))",                      "transpose.p(unary.f(x))"),
    Rule::new("transpose-out-of-convert", Exact, "convert.c(transpose.p(x))",                    "transpose.p(convert.c(x))"),
    Rule::new("transpose-out-of-binary",  Exact, "binary.f(transpose.p(x), transpose.p(y))",     "transpose.p(binary.f(x, y))"),
    Rule::new("transpose-out-of-compare", Exact, "compare.f(transpose.p(x), transpose.p(y))",    "transpose.p(compare.f(x, y))"),
    Rule::new("transpose-out-of-select",  Exact, "select(transpose.p(c), transpose.p(x), transpose.p(y))", "transpose.p(select(c, x, y))"),
    Rule::build("transpose-past-right",   Exact, "binary.f(transpose.p(x), C)",                  "transpose.p(binary.f(x, C))",                past_right_const),
    Rule::build("transpose-past-left",    Exact, "binary.f(C, transpose.p(x))",                  "transpose.p(binary.f(C, x))",                past_left_const),
    Rule::build("transpose-past-compare", Exact, "compare.f(transpose.p(x), C)",                 "transpose.p(compare.f(x, C))",               past_right_const),
    Rule::build("transpose-past-spread",  Exact, "binary.f(transpose.p(x), broadcast.b(y))",     "transpose.p(binary.f(x, broadcast.b(y) back))", past_right_broadcast),
    Rule::build("transpose-past-spread-left", Exact, "binary.f(broadcast.b(y), transpose.p(x))", "transpose.p(binary.f(broadcast.b(y) back, x))", past_left_broadcast),
    Rule::new("reshape-out-of-unary",     Exact, "unary.f(reshape.r(x))",                        "reshape.r(unary.f(x))"),
    Rule::new("reshape-out-of-convert",   Exact, "convert.c(reshape.r(x))",                      "reshape.r(convert.c(x))"),
    Rule::new("reshape-out-of-binary",    Exact, "binary.f(reshape.r(x), reshape.r(y))",         "reshape.r(binary.f(x, y))"),
    Rule::build("reshape-past-right",     Exact, "binary.f(reshape.r(x), C)",                    "reshape.r(binary.f(x, C))",                  past_right_const),
    Rule::build("reshape-past-left",      Exact, "binary.f(C, reshape.r(x))",                    "reshape.r(binary.f(C, x))",                  past_left_const),
    Rule::new("reverse-out-of-unary",     Exact, "unary.f(reverse.r(x))",                        "reverse.r(unary.f(x))"),
    Rule::new("reverse-out-of-binary",    Exact, "binary.f(reverse.r(x), reverse.r(y))",         "reverse.r(binary.f(x, y))"),

    // Slices into what they need.
    Rule::new("slice-into-unary",         Exact, "slice.s(unary.f(x))",                          "unary.f(slice.s(x))"),
    Rule::new("slice-into-convert",       Exact, "slice.s(convert.c(x))",                        "convert.c(slice.s(x))"),
    Rule::new("slice-into-binary",        Exact, "slice.s(binary.f(x, y))",                      "binary.f(slice.s(x), slice.s(y))"),
    Rule::new("slice-into-select",        Exact, "slice.s(select(c, x, y))",                     "select(slice.s(c), slice.s(x), slice.s(y))"),

    // Counting.
    Rule::build("transpose-iota",         Exact, "transpose.p(iota.i())",                        "iota along another axis",             transpose_iota),
    Rule::build("iota-of-one",            Exact, "iota.i()",                                     "0, along an axis of length 1",        iota_of_one),
];

fn same_type(rw: &mut Rw) -> Option<Id> {
    let x = rw.var('x');
    let same = rw.ty(x) == rw.ty(rw.root());
    let op = match rw.graph.op_of(&first_node(rw)?)? {
        // Padding that takes away on one side what it adds on the other keeps the type.
        Op::Pad {
            low,
            high,
            interior,
        } => low.iter().chain(&high).all(|&p| p == 0) && interior.iter().all(|&p| p == 0),
        _ => true,
    };
    (same && op).then_some(x)
}

/// The node of whichever shape primitive the left side binds.
fn first_node(rw: &Rw) -> Option<crate::opt::graph::Node> {
    rw.bound().first().map(|(_, node)| node.clone())
}

pub(super) fn perm(rw: &Rw, name: char) -> Option<Vec<usize>> {
    match rw.op(name)? {
        Op::Transpose { perm } => Some(perm),
        _ => None,
    }
}

pub(super) fn inverse(perm: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; perm.len()];
    for (i, &p) in perm.iter().enumerate() {
        inverse[p] = i;
    }
    inverse
}

fn same_order(rw: &mut Rw) -> Option<Id> {
    let identity = perm(rw, 'p')?.iter().enumerate().all(|(i, &p)| i == p);
    identity.then(|| rw.var('x'))
}

fn transpose_transpose(rw: &mut Rw) -> Option<Id> {
    let (p, q) = (perm(rw, 'p')?, perm(rw, 'q')?);
    let both = p.iter().map(|&i| q[i]).collect();
    rw.transpose(rw.var('x'), both)
}

fn transpose_of_ones(rw: &mut Rw) -> Option<Id> {
    let (x, p) = (rw.var('x'), perm(rw, 'p')?);
    let shape = rw.shape(x);
    let long: Vec<usize> = p.iter().copied().filter(|&d| shape[d] != 1).collect();
    let kept = long.windows(2).all(|w| w[0] < w[1]);
    kept.then(|| rw.reshape(x, p.iter().map(|&d| shape[d]).collect()))?
}

fn axes(rw: &Rw, name: char) -> Option<Vec<usize>> {
    match rw.op(name)? {
        Op::Reverse { axes } => Some(axes),
        _ => None,
    }
}

fn reverse(rw: &mut Rw, x: Id, axes: Vec<usize>) -> Option<Id> {
    if axes.is_empty() {
        return Some(x);
    }
    rw.add(Op::Reverse { axes }, &[x])
}

fn reverse_ones(rw: &mut Rw) -> Option<Id> {
    let (x, axes) = (rw.var('x'), axes(rw, 'r')?);
    let shape = rw.shape(x);
    let long: Vec<usize> = axes.iter().copied().filter(|&a| shape[a] > 1).collect();
    if long.len() == axes.len() {
        return None;
    }
    reverse(rw, x, long)
}

fn reverse_reverse(rw: &mut Rw) -> Option<Id> {
    let (r, s) = (axes(rw, 'r')?, axes(rw, 's')?);
    let rank = rw.shape(rw.root()).len();
    let once = (0..rank)
        .filter(|a| r.contains(a) != s.contains(a))
        .collect();
    reverse(rw, rw.var('x'), once)
}

/// Start, limit and stride of each dimension.
type Range = (usize, usize, usize);

pub(super) fn ranges(rw: &Rw, name: char) -> Option<Vec<Range>> {
    let Op::Slice {
        start,
        limit,
        stride,
    } = rw.op(name)?
    else {
        return None;
    };
    let both = start.into_iter().zip(limit).zip(stride);
    Some(both.map(|((a, b), c)| (a, b, c)).collect())
}

pub(super) fn slice(rw: &mut Rw, x: Id, ranges: &[Range]) -> Option<Id> {
    let shape = rw.shape(x);
    let all = ranges
        .iter()
        .zip(&shape)
        .all(|(&r, &size)| r.0 == 0 && r.1 == size && (r.2 == 1 || size <= 1));
    if all {
        return Some(x);
    }
    rw.add(
        Op::Slice {
            start: ranges.iter().map(|r| r.0).collect(),
            limit: ranges.iter().map(|r| r.1).collect(),
            stride: ranges.iter().map(|r| r.2).collect(),
        },
        &[x],
    )
}

fn length((start, limit, stride): Range) -> usize {
    limit.saturating_sub(start).div_ceil(stride)
}

fn slice_slice(rw: &mut Rw) -> Option<Id> {
    let (outer, inner) = (ranges(rw, 's')?, ranges(rw, 't')?);
    let both: Vec<Range> = outer
        .iter()
        .zip(&inner)
        .map(|(&o, &i)| {
            let (start, stride) = (i.0 + o.0 * i.2, i.2 * o.2);
            match length(o) {
                0 => (i.0, i.0, 1),
                n => (start, start + (n - 1) * stride + 1, stride),
            }
        })
        .collect();
    slice(rw, rw.var('x'), &both)
}

fn slice_pad(rw: &mut Rw) -> Option<Id> {
    let (x, ranges) = (rw.var('x'), ranges(rw, 's')?);
    let Op::Pad { low, interior, .. } = rw.op('p')? else {
        return None;
    };
    let shape = rw.shape(x);
    let mut inside = Vec::new();
    for (d, &(start, limit, stride)) in ranges.iter().enumerate() {
        let low = usize::try_from(low[d]).ok()?;
        let within = start >= low && limit >= start && limit - low.min(limit) <= shape[d];
        if interior[d] != 0 || !within {
            return None;
        }
        inside.push((start - low, limit - low, stride));
    }
    slice(rw, x, &inside)
}

fn concat_axis(rw: &Rw, name: char) -> Option<usize> {
    match rw.op(name)? {
        Op::Concat { axis } => Some(axis),
        _ => None,
    }
}

pub(super) fn concat(rw: &mut Rw, args: &[Id], axis: usize) -> Option<Id> {
    match args {
        [one] => Some(*one),
        _ => rw.add(Op::Concat { axis }, args),
    }
}

fn slice_concat(rw: &mut Rw) -> Option<Id> {
    let (axis, mut ranges) = (concat_axis(rw, 'c')?, ranges(rw, 's')?);
    let (start, limit, stride) = ranges[axis];
    if length(ranges[axis]) == 0 {
        return None;
    }
    let mut before = 0;
    for part in rw.args('c') {
        let size = rw.shape(part)[axis];
        if start >= before && start < before + size && limit <= before + size {
            ranges[axis] = (start - before, limit - before, stride);
            return slice(rw, part, &ranges);
        }
        before += size;
    }
    None
}

fn slice_transpose(rw: &mut Rw) -> Option<Id> {
    let (ranges, p) = (ranges(rw, 's')?, perm(rw, 'p')?);
    let inner: Vec<Range> = inverse(&p).iter().map(|&i| ranges[i]).collect();
    let sliced = slice(rw, rw.var('x'), &inner)?;
    rw.transpose(sliced, p)
}

fn slice_reverse(rw: &mut Rw) -> Option<Id> {
    let (x, mut ranges, axes) = (rw.var('x'), ranges(rw, 's')?, axes(rw, 'r')?);
    let shape = rw.shape(x);
    for &a in &axes {
        let (start, _, stride) = ranges[a];
        let n = length(ranges[a]);
        if n == 0 {
            return None;
        }
        let last = start + (n - 1) * stride;
        ranges[a] = (shape[a] - 1 - last, shape[a] - start, stride);
    }
    let sliced = slice(rw, x, &ranges)?;
    reverse(rw, sliced, axes)
}

fn pad_pad(rw: &mut Rw) -> Option<Id> {
    let (
        Op::Pad {
            low: l1,
            high: h1,
            interior: i1,
        },
        Op::Pad {
            low: l2,
            high: h2,
            interior: i2,
        },
    ) = (rw.op('p')?, rw.op('q')?)
    else {
        return None;
    };
    let plain = i1.iter().chain(&i2).all(|&i| i == 0);
    let adds = l1.iter().chain(&h1).chain(&l2).chain(&h2).all(|&p| p >= 0);
    if !plain || !adds {
        return None;
    }
    let sum = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(x, y)| x + y).collect();
    rw.add(
        Op::Pad {
            low: sum(&l1, &l2),
            high: sum(&h1, &h2),
            interior: i1,
        },
        &[rw.var('x'), rw.var('y')],
    )
}

fn pad_negative(rw: &mut Rw) -> Option<Id> {
    let Op::Pad {
        low,
        high,
        interior,
    } = rw.op('p')?
    else {
        return None;
    };
    let x = rw.var('x');
    let takes = low.iter().chain(&high).all(|&p| p <= 0);
    if !takes || interior.iter().any(|&i| i != 0) {
        return None;
    }
    let shape = rw.shape(x);
    let mut inside = Vec::new();
    for (d, &size) in shape.iter().enumerate() {
        let (from, less) = (
            low[d].unsigned_abs() as usize,
            high[d].unsigned_abs() as usize,
        );
        let limit = size.checked_sub(less)?;
        if from > limit {
            return None;
        }
        inside.push((from, limit, 1));
    }
    slice(rw, x, &inside)
}

fn concat_one(rw: &mut Rw) -> Option<Id> {
    match rw.args('c')[..] {
        [one] => Some(one),
        _ => None,
    }
}

fn concat_empty(rw: &mut Rw) -> Option<Id> {
    let (axis, args) = (concat_axis(rw, 'c')?, rw.args('c'));
    let kept: Vec<Id> = args
        .iter()
        .copied()
        .filter(|&a| rw.shape(a)[axis] != 0)
        .collect();
    if kept.len() == args.len() || kept.is_empty() {
        return None;
    }
    concat(rw, &kept, axis)
}

fn concat_concat(rw: &mut Rw) -> Option<Id> {
    let (axis, args) = (concat_axis(rw, 'c')?, rw.args('c'));
    // A value is the concat of itself and of anything empty: that would nest without end.
    if args.iter().any(|&part| rw.shape(part)[axis] == 0) {
        return None;
    }
    let mut flat = Vec::new();
    let mut nested = false;
    for part in args {
        match rw.find(part, Kind::Concat, |op| *op == Op::Concat { axis }) {
            Some(inner) => {
                nested = true;
                flat.extend(inner.children.iter().copied());
            }
            None => flat.push(part),
        }
    }
    nested.then(|| concat(rw, &flat, axis))?
}

fn concat_slices(rw: &mut Rw) -> Option<Id> {
    let (axis, args) = (concat_axis(rw, 'c')?, rw.args('c'));
    let mut parts: Vec<(Id, Vec<Range>)> = Vec::new();
    let mut joined = false;
    for part in args {
        let sliced = rw.find(part, Kind::Slice, |_| true);
        let piece = match sliced.as_ref().and_then(|n| rw.graph.op_of(n)) {
            Some(Op::Slice {
                start,
                limit,
                stride,
            }) if stride.iter().all(|&s| s == 1) => {
                let ranges: Vec<Range> =
                    (0..start.len()).map(|d| (start[d], limit[d], 1)).collect();
                let from = sliced.map(|n| n.children[0]);
                (from?, ranges)
            }
            _ => {
                let all = rw.shape(part).iter().map(|&n| (0, n, 1)).collect();
                (part, all)
            }
        };
        if let Some((from, ranges)) = parts.last_mut() {
            let beside = ranges
                .iter()
                .zip(&piece.1)
                .enumerate()
                .all(|(d, (a, b))| if d == axis { a.1 == b.0 } else { a == b });
            if rw.graph.egg.find(*from) == rw.graph.egg.find(piece.0) && beside {
                ranges[axis].1 = piece.1[axis].1;
                joined = true;
                continue;
            }
        }
        parts.push(piece);
    }
    if !joined {
        return None;
    }
    let mut args = Vec::new();
    for (from, ranges) in parts {
        args.push(slice(rw, from, &ranges)?);
    }
    concat(rw, &args, axis)
}

fn concat_padding(rw: &mut Rw) -> Option<Id> {
    let (axis, args) = (concat_axis(rw, 'c')?, rw.args('c'));
    let splat = |rw: &Rw, id: Id| rw.graph.data(id).splat();
    let value = args.iter().position(|&a| splat(rw, a).is_none())?;
    let around: Vec<Option<u64>> = (0..args.len())
        .filter(|&i| i != value)
        .map(|i| splat(rw, args[i]))
        .collect();
    let bits = (*around.first()?)?;
    if around.iter().any(|&b| b != Some(bits)) {
        return None;
    }
    let size = |rw: &Rw, ids: &[Id]| -> i64 { ids.iter().map(|&a| rw.shape(a)[axis] as i64).sum() };
    let x = args[value];
    let ty = rw.ty(x);
    let mut low = vec![0; ty.rank()];
    let mut high = vec![0; ty.rank()];
    low[axis] = size(rw, &args[..value]);
    high[axis] = size(rw, &args[value + 1..]);
    let scalar = rw.splat_bits(ty.with_shape([]), bits)?;
    rw.add(
        Op::Pad {
            low,
            high,
            interior: vec![0; ty.rank()],
        },
        &[x, scalar],
    )
}

/// `f(p(x), C)` as `p(f(x, C))` for a shape primitive `p`, the first one bound after `f`.
fn past_const(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, c) = (rw.var('x'), rw.var('C'));
    let shape = rw.shape(x);
    let c = rw.respread(c, &shape)?;
    let args = if left { [c, x] } else { [x, c] };
    let inner = rw.add(rw.op('f')?, &args)?;
    let moved = rw
        .bound()
        .iter()
        .find(|(name, _)| *name != 'f')
        .map(|(_, node)| node.clone())?;
    rw.add(rw.graph.op_of(&moved)?, &[inner])
}

fn past_right_const(rw: &mut Rw) -> Option<Id> {
    past_const(rw, false)
}

fn past_left_const(rw: &mut Rw) -> Option<Id> {
    past_const(rw, true)
}

fn past_broadcast(rw: &mut Rw, left: bool) -> Option<Id> {
    let (x, p) = (rw.var('x'), perm(rw, 'p')?);
    let spread = rw.add(rw.op('b')?, &[rw.var('y')])?;
    let back = rw.transpose(spread, inverse(&p))?;
    let args = if left { [back, x] } else { [x, back] };
    let inner = rw.add(rw.op('f')?, &args)?;
    rw.transpose(inner, p)
}

fn past_right_broadcast(rw: &mut Rw) -> Option<Id> {
    past_broadcast(rw, false)
}

fn past_left_broadcast(rw: &mut Rw) -> Option<Id> {
    past_broadcast(rw, true)
}

fn transpose_iota(rw: &mut Rw) -> Option<Id> {
    let (ty, p) = (rw.ty(rw.root()), perm(rw, 'p')?);
    let Op::Iota { axis, .. } = rw.op('i')? else {
        return None;
    };
    let axis = p.iter().position(|&d| d == axis)?;
    rw.add(Op::Iota { ty, axis }, &[])
}

fn iota_of_one(rw: &mut Rw) -> Option<Id> {
    let Op::Iota { ty, axis } = rw.op('i')? else {
        return None;
    };
    let one = ty.shape[axis] == 1;
    one.then(|| rw.splat_i64(ty, 0))?
}
