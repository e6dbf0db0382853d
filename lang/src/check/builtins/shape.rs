//! Builtins that move elements about, and those that make arrays.

use super::args::{Args, Given, dim_attr, flag_attr, int_attr, ints_attr, pads_attr, shape_attr};
use super::{Default, Kind, Out, Param, Row, Rule, opt, req};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::poly;
use crate::check::problem::{Context, Problem};
use crate::check::require::Need;
use crate::check::shape::{self, broadcast, same_shape};
use crate::span::Span;
use crate::typed::{
    Attr, Builtin, Dim, Elem, ElemTy, Expr, Shape, ShapeItem, Static, Ty, elements,
};

const fn row(name: &'static str, builtin: Builtin, params: &'static [Param], rule: Rule) -> Row {
    Row {
        name,
        builtin,
        params,
        rule,
    }
}

const X: Param = req("x", Kind::Value);
const DTYPE: Param = opt("dtype", Kind::Elem, Default::Absent);
const AXIS_ALL: Param = opt("axis", Kind::Ints, Default::Absent);
const AXIS_0: Param = opt("axis", Kind::Ints, Default::Int(0));
const K_0: Param = opt("k", Kind::Int, Default::Int(0));

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("reshape",      Builtin::Reshape,     &[X, req("shape", Kind::OpenShape)], reshape),
    row("transpose",    Builtin::Transpose,   &[X, opt("axes", Kind::Ints, Default::Absent)], transpose),
    row("swapaxes",     Builtin::SwapAxes,    &[X, req("axis1", Kind::Int), req("axis2", Kind::Int)], swapaxes),
    row("moveaxis",     Builtin::MoveAxis,    &[X, req("source", Kind::Ints), req("destination", Kind::Ints)], moveaxis),
    row("broadcast_to", Builtin::BroadcastTo, &[X, req("shape", Kind::Shape)], broadcast_to),
    row("expand_dims",  Builtin::ExpandDims,  &[X, req("axis", Kind::Ints)], expand_dims),
    row("squeeze",      Builtin::Squeeze,     &[X, AXIS_ALL], squeeze),
    row("flatten",      Builtin::Flatten,     &[X], flatten),
    row("concat",       Builtin::Concat,      &[req("arrays", Kind::Values), AXIS_0], concat),
    row("stack",        Builtin::Stack,       &[req("arrays", Kind::Values), AXIS_0], stack),
    row("pad",          Builtin::Pad,
        &[X, req("widths", Kind::Pads), opt("value", Kind::Value, Default::Literal(0.0)), opt("mode", Kind::Text, Default::Text("constant"))], pad),
    row("flip",         Builtin::Flip,        &[X, AXIS_ALL], flip),
    row("roll",         Builtin::Roll,        &[X, req("shift", Kind::Ints), AXIS_ALL], roll),
    row("repeat",       Builtin::Repeat,      &[X, req("repeats", Kind::Int), AXIS_ALL], repeat),
    row("tile",         Builtin::Tile,        &[X, req("reps", Kind::Ints)], tile),
    row("split_at",     Builtin::SplitAt,     &[X, req("indices", Kind::Ints), AXIS_0], split_at),
    row("slice",        Builtin::Slice,       &[X, req("start", Kind::Value), req("size", Kind::Int)], slice),
    row("dynamic_slice", Builtin::DynamicSlice,
        &[X, req("starts", Kind::Values), req("sizes", Kind::Shape)], dynamic_slice),
    row("dynamic_update_slice", Builtin::DynamicUpdateSlice,
        &[X, req("update", Kind::Value), req("starts", Kind::Values)], dynamic_update_slice),
    row("tril",         Builtin::Tril,        &[X, K_0], triangle),
    row("triu",         Builtin::Triu,        &[X, K_0], triangle),
    row("diag",         Builtin::Diag,        &[X, K_0], diag),
    row("eye",          Builtin::Eye,         &[req("n", Kind::Int), opt("m", Kind::Int, Default::Absent), K_0, DTYPE], eye),
    row("zeros",        Builtin::Zeros,       &[req("shape", Kind::Shape), DTYPE], filled),
    row("ones",         Builtin::Ones,        &[req("shape", Kind::Shape), DTYPE], filled),
    row("full",         Builtin::Full,        &[req("shape", Kind::Shape), req("value", Kind::Value), DTYPE], full),
    row("arange",       Builtin::Arange,
        &[req("start", Kind::Int), opt("stop", Kind::Int, Default::Absent), opt("step", Kind::Int, Default::Int(1)), DTYPE], arange),
    row("linspace",     Builtin::Linspace,
        &[req("start", Kind::Value), req("stop", Kind::Value), opt("num", Kind::Int, Default::Int(50)),
          opt("endpoint", Kind::Flag, Default::Flag(true))], linspace),
    row("zeros_like",   Builtin::ZerosLike,   &[X], like),
    row("ones_like",    Builtin::OnesLike,    &[X], like),
];

impl Cx<'_, '_> {
    /// All dimensions as one; reports where the rank is not known.
    pub fn flat(&mut self, x: &Expr, dims: &[ShapeItem], span: Span) -> Option<ShapeItem> {
        match elements(dims) {
            Some(d) => Some(ShapeItem::Dim(d)),
            None => {
                let ty = self.infer.ty(&x.ty);
                self.report(Problem::UnknownRank {
                    span,
                    what: "flattening".into(),
                    ty,
                });
                None
            }
        }
    }

    /// The dimensions of an operand, all of which must be known.
    fn known_dims(&mut self, x: &Expr, what: &'static str) -> Option<(ElemTy, Vec<Dim>)> {
        let (elem, items) = self.tensor(x, what)?;
        match shape::dims(&items) {
            Some(dims) => Some((elem, dims)),
            None => {
                let ty = self.infer.ty(&x.ty);
                self.report(Problem::UnknownRank {
                    span: x.span,
                    what: format!("`{what}`"),
                    ty,
                });
                None
            }
        }
    }
}

fn out(a: &Args, args: Vec<Expr>, attrs: Vec<Attr>, elem: ElemTy, items: Shape) -> Option<Out> {
    Some(Out {
        builtin: a.row.builtin,
        args,
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

fn reshape(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let wanted = a.shape(1)?;
    let (elem, from) = cx.tensor(&x, "reshape")?;
    let is_open = |i: &ShapeItem| matches!(i, ShapeItem::Dim(d) if d.as_int() == Some(-1));
    let open = wanted.iter().filter(|i| is_open(i)).count();
    let closed: Shape = wanted.iter().filter(|i| !is_open(i)).cloned().collect();
    let (Some(have), Some(want)) = (elements(&from), elements(&closed)) else {
        cx.report(Problem::ConstOverflow { span: a.span });
        return None;
    };
    let differ = |cx: &mut Cx, target: Shape| {
        let problem = Problem::ReshapeCount {
            span: a.span,
            from: cx.infer.ty(&x.ty),
            to: target,
            have: have.clone(),
            want: want.clone(),
        };
        cx.report(problem);
    };
    if open > 1 {
        cx.report(Problem::TwoOpenSizes { span: a.span });
        return None;
    }
    let target = if open == 1 {
        let missing = have.div(&want);
        let Some(missing) = missing.filter(|_| want.as_int() != Some(0)) else {
            differ(cx, wanted);
            return None;
        };
        cx.need_whole(&missing, a.span);
        wanted
            .iter()
            .map(|i| match is_open(i) {
                true => ShapeItem::Dim(missing.clone()),
                false => i.clone(),
            })
            .collect()
    } else {
        if !poly::equal(&have, &want) {
            differ(cx, wanted);
            return None;
        }
        wanted
    };
    let attrs = vec![shape_attr("shape", target.clone())];
    out(a, vec![x], attrs, elem, target)
}

fn transpose(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items) = cx.tensor(&x, "transpose")?;
    let Some((axes, _)) = a.ints(1) else {
        // A lone `..` part cannot be reversed; with it known to the caller only, its order stays open.
        if items.iter().any(|i| !matches!(i, ShapeItem::Dim(_))) {
            cx.known_dims(&x, "transpose")?;
            return None;
        }
        let order = (0..items.len() as i64).rev();
        let turned: Shape = items.iter().rev().cloned().collect();
        return out(a, vec![x], vec![ints_attr("axes", order)], elem, turned);
    };
    let found = cx.axes_of("transpose", a.span, &axes, &items, &x.ty)?;
    if found.len() != items.len() {
        let problem = Problem::Permutation {
            span: a.span,
            found: found.len(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    let turned: Shape = found.iter().map(|(at, _)| items[*at].clone()).collect();
    let attrs = vec![ints_attr("axes", found.iter().map(|(_, given)| *given))];
    out(a, vec![x], attrs, elem, turned)
}

fn swapaxes(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, mut items) = cx.tensor(&x, "swapaxes")?;
    let (first, second) = (a.int(1)?, a.int(2)?);
    let first = cx.axis_of("swapaxes", a.span, &first, &items, &x.ty)?;
    let second = cx.axis_of("swapaxes", a.span, &second, &items, &x.ty)?;
    items.swap(first.0, second.0);
    let attrs = vec![int_attr("axis1", first.1), int_attr("axis2", second.1)];
    out(a, vec![x], attrs, elem, items)
}

fn moveaxis(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, _) = cx.known_dims(&x, "moveaxis")?;
    let (_, items) = cx.tensor(&x, "moveaxis")?;
    let ((source, _), (destination, _)) = (a.ints(1)?, a.ints(2)?);
    if source.len() != destination.len() {
        let problem = Problem::Permutation {
            span: a.span,
            found: destination.len(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    let source = cx.axes_of("moveaxis", a.span, &source, &items, &x.ty)?;
    let destination = cx.axes_of("moveaxis", a.span, &destination, &items, &x.ty)?;
    // NumPy's: the axes not named stay in order, then each source goes to its place, lowest place first.
    let mut order: Vec<usize> = (0..items.len())
        .filter(|i| source.iter().all(|(at, _)| at != i))
        .collect();
    let mut moves: Vec<(usize, usize)> = destination
        .iter()
        .zip(&source)
        .map(|((to, _), (from, _))| (*to, *from))
        .collect();
    moves.sort_unstable();
    for (to, from) in moves {
        order.insert(to.min(order.len()), from);
    }
    let moved: Shape = order.iter().map(|&i| items[i].clone()).collect();
    let attrs = vec![
        ints_attr("source", source.iter().map(|(at, _)| *at as i64)),
        ints_attr("destination", destination.iter().map(|(at, _)| *at as i64)),
    ];
    out(a, vec![x], attrs, elem, moved)
}

fn broadcast_to(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let target = a.shape(1)?;
    let (elem, items) = cx.tensor(&x, "broadcast_to")?;
    match broadcast(&items, &target) {
        Ok(b) if same_shape(&b.shape, &target) => {
            let attrs = vec![shape_attr("shape", target.clone())];
            out(a, vec![x], attrs, elem, target)
        }
        _ => {
            let problem = Problem::BroadcastTo {
                span: a.span,
                from: cx.infer.ty(&x.ty),
                to: target,
            };
            cx.report(problem);
            None
        }
    }
}

fn expand_dims(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (axes, _) = a.ints(1)?;
    let (elem, items) = cx.tensor(&x, "expand_dims")?;
    let one = ShapeItem::Dim(Dim::int(1));
    let all_known = items.iter().all(|i| matches!(i, ShapeItem::Dim(_)));
    if !all_known {
        // From one end only, one axis at a time.
        let mut grown = items.clone();
        let mut given = Vec::new();
        for axis in &axes {
            let mut trial = grown.clone();
            let at = match axis.as_int() {
                Some(n) if n >= 0 => usize::try_from(n).ok(),
                Some(n) => (trial.len() + 1).checked_sub(usize::try_from(-n).unwrap_or(0)),
                None => None,
            };
            if let Some(at) = at.filter(|&at| at <= trial.len()) {
                trial.insert(at, one.clone());
            }
            let (_, kept) = cx.axis_of("expand_dims", a.span, axis, &trial, &x.ty)?;
            given.push(kept);
            grown = trial;
        }
        return out(a, vec![x], vec![ints_attr("axis", given)], elem, grown);
    }
    let frame: Shape = vec![one.clone(); items.len() + axes.len()];
    let mut places = cx.axes_of("expand_dims", a.span, &axes, &frame, &x.ty)?;
    places.sort_unstable();
    let mut grown = items;
    for (at, _) in &places {
        grown.insert(*at, one.clone());
    }
    let attrs = vec![ints_attr("axis", places.iter().map(|(at, _)| *at as i64))];
    out(a, vec![x], attrs, elem, grown)
}

fn squeeze(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items) = cx.tensor(&x, "squeeze")?;
    let places: Vec<(usize, i64)> = match a.ints(1) {
        Some((axes, _)) => {
            let places = cx.axes_of("squeeze", a.span, &axes, &items, &x.ty)?;
            for (at, axis) in &places {
                if !shape::is_one(&items[*at]) {
                    let problem = Problem::SqueezeSize {
                        span: a.span,
                        axis: *axis,
                        ty: cx.infer.ty(&x.ty),
                    };
                    cx.report(problem);
                    return None;
                }
            }
            places
        }
        None => {
            cx.known_dims(&x, "squeeze")?;
            let ones = items.iter().enumerate().filter(|(_, i)| shape::is_one(i));
            ones.map(|(i, _)| (i, i as i64)).collect()
        }
    };
    let left: Shape = items
        .iter()
        .enumerate()
        .filter(|(i, _)| places.iter().all(|(at, _)| at != i))
        .map(|(_, item)| item.clone())
        .collect();
    let attrs = vec![ints_attr("axis", places.iter().map(|(_, given)| *given))];
    out(a, vec![x], attrs, elem, left)
}

fn flatten(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items) = cx.tensor(&x, "flatten")?;
    let flat = cx.flat(&x, &items, a.span)?;
    out(a, vec![x], Vec::new(), elem, vec![flat])
}

fn one_axis(cx: &mut Cx, a: &Args, i: usize) -> Option<Option<Dim>> {
    match a.ints(i) {
        None => Some(None),
        Some((axes, _)) => match axes.as_slice() {
            [axis] => Some(Some(axis.clone())),
            _ => {
                cx.report(Problem::OneAxis {
                    span: a.span,
                    what: a.row.name,
                });
                None
            }
        },
    }
}

fn concat(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let parts = a.values(0);
    let axis = one_axis(cx, a, 1)??;
    let Some(first) = parts.first() else {
        cx.report(Problem::EmptyList { span: a.span });
        return None;
    };
    let (elem, items) = cx.tensor(first, "concat")?;
    let (at, given) = cx.axis_of("concat", a.span, &axis, &items, &first.ty)?;
    let mut total = Dim::int(0);
    let mut items = items;
    for part in &parts {
        cx.same_elem("concat", first, part)?;
        let (_, other) = cx.tensor(part, "concat")?;
        let fits = other.len() == items.len()
            && other
                .iter()
                .zip(&items)
                .enumerate()
                .all(|(i, (x, y))| i == at || shape::same(x, y));
        let size = match other.get(at) {
            Some(ShapeItem::Dim(d)) if fits => d.clone(),
            _ => {
                let problem = Problem::ConcatShapes {
                    first: cx.operand(first),
                    other: cx.operand(part),
                    axis: given,
                };
                cx.report(problem);
                return None;
            }
        };
        total = if parts.len() == 1 {
            size
        } else {
            total.add(&size)?
        };
    }
    items[at] = ShapeItem::Dim(total);
    let elem = cx.infer.elem(&elem);
    out(a, parts, vec![int_attr("axis", given)], elem, items)
}

fn stack(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let parts = a.values(0);
    let axis = one_axis(cx, a, 1)??;
    let Some(first) = parts.first() else {
        cx.report(Problem::EmptyList { span: a.span });
        return None;
    };
    let first = first.clone();
    let mut same = Vec::new();
    for part in parts {
        let part = cx.coerce(part, &first.ty, Context::Element { first: first.span });
        if crate::check::cx::is_bad(&part) {
            return None;
        }
        same.push(part);
    }
    let (elem, mut items) = cx.tensor(&first, "stack")?;
    let mut frame = items.clone();
    frame.push(ShapeItem::Dim(Dim::int(1)));
    let (at, given) = if items.iter().all(|i| matches!(i, ShapeItem::Dim(_))) {
        cx.axis_of("stack", a.span, &axis, &frame, &first.ty)?
    } else {
        match axis.as_int() {
            Some(0) => (0, 0),
            Some(-1) => (items.len(), -1),
            _ => {
                cx.known_dims(&first, "stack")?;
                return None;
            }
        }
    };
    items.insert(at, ShapeItem::Dim(Dim::int(same.len() as i64)));
    out(a, same, vec![int_attr("axis", given)], elem, items)
}

fn pad(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, value) = (a.value(0), a.value(2));
    let Given::Pads(pads) = a.given[1].clone() else {
        return None;
    };
    let (elem, dims) = cx.known_dims(&x, "pad")?;
    cx.scalar_like(&value, "pad", &elem)?;
    let pads = match pads.as_slice() {
        [both] => vec![both.clone(); dims.len()],
        each if each.len() == dims.len() => each.to_vec(),
        each => {
            let problem = Problem::PadRank {
                span: a.span,
                pads: each.len(),
                ty: cx.infer.ty(&x.ty),
            };
            cx.report(problem);
            return None;
        }
    };
    let mut items = Shape::new();
    for (d, (lo, hi)) in dims.iter().zip(&pads) {
        for side in [lo, hi] {
            cx.need(Need::NotNegative(side.clone()), a.span);
        }
        items.push(ShapeItem::Dim(d.add(lo)?.add(hi)?));
    }
    let mode = cx.one_of(a, 3, "mode", &["constant", "edge"])?;
    let attrs = vec![
        pads_attr("widths", pads),
        Attr {
            name: "mode",
            value: Static::Str(mode),
        },
    ];
    out(a, vec![x, value], attrs, elem, items)
}

fn flip(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items) = cx.tensor(&x, "flip")?;
    let attrs = match a.ints(1) {
        Some((axes, _)) => {
            let axes = cx.axes_of("flip", a.span, &axes, &items, &x.ty)?;
            vec![ints_attr("axis", axes.iter().map(|(_, given)| *given))]
        }
        None => Vec::new(),
    };
    out(a, vec![x], attrs, elem, items)
}

/// Without an axis it rolls the flattened array and gives it its shape again, as NumPy does.
fn roll(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (shift, _) = a.ints(1)?;
    let (elem, items) = cx.tensor(&x, "roll")?;
    let mut attrs = vec![Attr {
        name: "shift",
        value: Static::Shape(shape::of_dims(shift.clone())),
    }];
    if let Some((axes, _)) = a.ints(2) {
        let axes = cx.axes_of("roll", a.span, &axes, &items, &x.ty)?;
        if shift.len() != 1 && shift.len() != axes.len() {
            cx.report(Problem::RollAxes {
                span: a.span,
                shifts: shift.len(),
                axes: axes.len(),
            });
            return None;
        }
        attrs.push(ints_attr("axis", axes.iter().map(|(_, given)| *given)));
    }
    out(a, vec![x], attrs, elem, items)
}

fn repeat(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let repeats = a.int(1)?;
    cx.need_size(&repeats, a.span);
    let (elem, items) = cx.tensor(&x, "repeat")?;
    let mut attrs = vec![dim_attr("repeats", repeats.clone())];
    let items = match one_axis(cx, a, 2)? {
        Some(axis) => {
            let (at, given) = cx.axis_of("repeat", a.span, &axis, &items, &x.ty)?;
            attrs.push(int_attr("axis", given));
            let mut grown = items;
            if let ShapeItem::Dim(d) = &grown[at] {
                grown[at] = ShapeItem::Dim(d.mul(&repeats)?);
            }
            grown
        }
        None => match cx.flat(&x, &items, a.span)? {
            ShapeItem::Dim(d) => vec![ShapeItem::Dim(d.mul(&repeats)?)],
            _ => return None,
        },
    };
    out(a, vec![x], attrs, elem, items)
}

fn tile(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (reps, _) = a.ints(1)?;
    for rep in &reps {
        cx.need_size(rep, a.span);
    }
    let (elem, dims) = cx.known_dims(&x, "tile")?;
    let rank = dims.len().max(reps.len());
    let fill = |v: &[Dim]| -> Vec<Dim> {
        let ones = std::iter::repeat_n(Dim::int(1), rank - v.len());
        ones.chain(v.iter().cloned()).collect()
    };
    let (dims, reps) = (fill(&dims), fill(&reps));
    let items: Option<Vec<Dim>> = dims.iter().zip(&reps).map(|(d, r)| d.mul(r)).collect();
    let attrs = vec![shape_attr("reps", shape::of_dims(reps))];
    out(a, vec![x], attrs, elem, shape::of_dims(items?))
}

/// A tuple of the parts before, between and after the positions.
fn split_at(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (indices, _) = a.ints(1)?;
    let axis = one_axis(cx, a, 2)??;
    let (elem, items) = cx.tensor(&x, "split_at")?;
    let (at, given) = cx.axis_of("split_at", a.span, &axis, &items, &x.ty)?;
    let ShapeItem::Dim(size) = items[at].clone() else {
        return None;
    };
    let mut ends = vec![Dim::int(0)];
    ends.extend(indices.iter().cloned());
    ends.push(size);
    let mut parts = Vec::new();
    for pair in ends.windows(2) {
        let length = pair[1].sub(&pair[0])?;
        cx.need_size(&length, a.span);
        let mut part = items.clone();
        part[at] = ShapeItem::Dim(length);
        parts.push(Ty::Tensor(elem.clone(), part));
    }
    let attrs = vec![
        shape_attr("indices", shape::of_dims(indices)),
        int_attr("axis", given),
    ];
    Some(Out {
        builtin: Builtin::SplitAt,
        args: vec![x],
        attrs,
        ty: Ty::Tuple(parts),
    })
}

/// `size` rows from a start known at run time only.
fn slice(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, start) = (a.value(0), a.value(1));
    let size = a.int(2)?;
    cx.need_size(&size, a.span);
    let (elem, mut items) = cx.tensor(&x, "slice")?;
    cx.position_scalar(&start, "slice")?;
    let Some(ShapeItem::Dim(rows)) = items.first().cloned() else {
        let problem = Problem::NoRows {
            span: x.span,
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    };
    if let (Some(n), Some(m)) = (rows.as_int(), size.as_int())
        && m > n
    {
        cx.report(Problem::SliceSize {
            span: a.span,
            size: size.clone(),
            rows,
        });
        return None;
    }
    cx.need(Need::NotNegative(rows.sub(&size)?), a.span);
    items[0] = ShapeItem::Dim(size.clone());
    let attrs = vec![dim_attr("size", size)];
    out(a, vec![x, start], attrs, elem, items)
}

impl Cx<'_, '_> {
    /// An integer scalar that counts positions.
    pub fn position_scalar(&mut self, x: &Expr, what: &'static str) -> Option<()> {
        let (_, dims) = self.require_class(x, what, Class::Int)?;
        if dims.is_empty() {
            return Some(());
        }
        let ty = self.infer.ty(&x.ty);
        self.report(Problem::NotAScalar {
            span: x.span,
            what: what.into(),
            ty,
        });
        None
    }
}

fn starts(cx: &mut Cx, a: &mut Args, i: usize, rank: usize, x: &Expr) -> Option<Vec<Expr>> {
    let starts = a.values(i);
    if starts.len() != rank {
        let problem = Problem::StartsCount {
            span: a.span,
            found: starts.len(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    for start in &starts {
        cx.position_scalar(start, a.row.name)?;
    }
    Some(starts)
}

fn dynamic_slice(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let sizes = a.shape(2)?;
    let (elem, dims) = cx.known_dims(&x, "dynamic_slice")?;
    let starts = starts(cx, a, 1, dims.len(), &x)?;
    let Some(size_dims) = shape::dims(&sizes).filter(|s| s.len() == dims.len()) else {
        let problem = Problem::StartsCount {
            span: a.span,
            found: sizes.len(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    };
    for (d, s) in dims.iter().zip(&size_dims) {
        cx.need(Need::NotNegative(d.sub(s)?), a.span);
    }
    let mut args = vec![x];
    args.extend(starts);
    out(
        a,
        args,
        vec![shape_attr("sizes", sizes.clone())],
        elem,
        sizes,
    )
}

fn dynamic_update_slice(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, update) = (a.value(0), a.value(1));
    cx.same_elem("dynamic_update_slice", &x, &update)?;
    let (elem, dims) = cx.known_dims(&x, "dynamic_update_slice")?;
    let (_, part) = cx.known_dims(&update, "dynamic_update_slice")?;
    let starts = starts(cx, a, 2, dims.len(), &x)?;
    if part.len() != dims.len() {
        let problem = Problem::StartsCount {
            span: update.span,
            found: part.len(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    for (d, s) in dims.iter().zip(&part) {
        cx.need(Need::NotNegative(d.sub(s)?), a.span);
    }
    let mut args = vec![x, update];
    args.extend(starts);
    out(a, args, Vec::new(), elem, shape::of_dims(dims))
}

/// That an operand has at least two dimensions at its end.
fn matrix(cx: &mut Cx, x: &Expr, what: &'static str) -> Option<(ElemTy, Shape)> {
    let (elem, items) = cx.tensor(x, what)?;
    match items.as_slice() {
        [.., ShapeItem::Dim(_), ShapeItem::Dim(_)] => Some((elem, items)),
        _ => {
            let ty = cx.infer.ty(&x.ty);
            cx.report(Problem::NotAMatrix {
                span: x.span,
                what,
                ty,
            });
            None
        }
    }
}

fn triangle(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let k = a.int(1)?;
    let (elem, items) = matrix(cx, &x, a.row.name)?;
    out(a, vec![x], vec![dim_attr("k", k)], elem, items)
}

/// Of a vector the matrix with it on a diagonal, of a matrix its diagonal.
fn diag(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let k = a.int(1)?;
    let (elem, dims) = cx.known_dims(&x, "diag")?;
    let Some(offset) = k.as_int() else {
        cx.report(Problem::NotStatic {
            span: a.span,
            what: "a diagonal that is a number",
        });
        return None;
    };
    let items = match dims.as_slice() {
        [n] => {
            let side = n.add(&Dim::int(offset.abs()))?;
            vec![ShapeItem::Dim(side.clone()), ShapeItem::Dim(side)]
        }
        [n, m] => vec![ShapeItem::Dim(cx.diagonal(n, m, offset, a.span)?)],
        _ => {
            let ty = cx.infer.ty(&x.ty);
            cx.report(Problem::NotAMatrix {
                span: x.span,
                what: "diag",
                ty,
            });
            return None;
        }
    };
    out(a, vec![x], vec![dim_attr("k", k)], elem, items)
}

impl Cx<'_, '_> {
    /// The length of a diagonal: min(n, m − k) above, min(n + k, m) below.
    pub fn diagonal(&mut self, n: &Dim, m: &Dim, k: i64, span: Span) -> Option<Dim> {
        let (rows, columns) = if k >= 0 {
            (n.clone(), m.sub(&Dim::int(k))?)
        } else {
            (n.add(&Dim::int(k))?, m.clone())
        };
        if let (Some(r), Some(c)) = (rows.as_int(), columns.as_int()) {
            return Some(Dim::int(r.min(c).max(0)));
        }
        if poly::equal(n, m) || poly::equal(&rows, &columns) {
            let shorter = n.sub(&Dim::int(k.abs()))?;
            let length = if poly::equal(&rows, &columns) {
                rows
            } else {
                shorter
            };
            self.need_size(&length, span);
            return Some(length);
        }
        self.report(Problem::OpenDiagonal {
            span,
            rows,
            columns,
        });
        None
    }
}

/// The element of an array made from nothing: as asked for, or like a float literal.
fn made_elem(cx: &mut Cx, a: &Args, i: usize) -> ElemTy {
    match a.elem(i) {
        Some(elem) => elem,
        None => cx.infer.literal(Class::Float),
    }
}

fn eye(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let n = a.int(0)?;
    let m = a.int(1).unwrap_or_else(|| n.clone());
    let k = a.int(2)?;
    cx.need_size(&n, a.span);
    cx.need_size(&m, a.span);
    let elem = made_elem(cx, a, 3);
    let attrs = vec![
        dim_attr("n", n.clone()),
        dim_attr("m", m.clone()),
        dim_attr("k", k),
    ];
    out(a, Vec::new(), attrs, elem, shape::of_dims([n, m]))
}

fn filled(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let items = a.shape(0)?;
    let elem = made_elem(cx, a, 1);
    let attrs = vec![shape_attr("shape", items.clone())];
    out(a, Vec::new(), attrs, elem, items)
}

fn full(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let items = a.shape(0)?;
    let value = a.value(1);
    let elem = match a.elem(2) {
        Some(elem) => elem,
        None => cx.tensor(&value, "full")?.0,
    };
    cx.scalar_like(&value, "full", &elem)?;
    let attrs = vec![shape_attr("shape", items.clone())];
    out(a, vec![value], attrs, elem, items)
}

/// `arange(stop)`, `arange(start, stop)`, `arange(start, stop, step)`; i32 unless asked otherwise.
fn arange(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (start, stop) = match a.int(1) {
        Some(stop) => (a.int(0)?, stop),
        None => (Dim::int(0), a.int(0)?),
    };
    let step = a.int(2)?;
    let elem = a.elem(3).unwrap_or(ElemTy::Known(Elem::I32));
    if step.as_int() == Some(0) {
        cx.report(Problem::ZeroStep { span: a.span });
        return None;
    }
    let length = stop.sub(&start)?;
    let length = match (length.as_int(), step.as_int()) {
        (Some(n), Some(s)) if s < 0 => Dim::int((-n + (-s) - 1).div_euclid(-s).max(0)),
        (Some(n), Some(s)) => Dim::int((n + s - 1).div_euclid(s).max(0)),
        _ => shape::ceil_div(&length, &step)?,
    };
    // `arange(N)` keeps the name of `N`.
    let length = match (start.as_int(), step.as_int()) {
        (Some(0), Some(1)) if stop.as_int().is_none_or(|n| n >= 0) => stop.clone(),
        _ => length,
    };
    cx.need_size(&length, a.span);
    let attrs = vec![
        dim_attr("start", start),
        dim_attr("stop", stop),
        dim_attr("step", step),
    ];
    out(a, Vec::new(), attrs, elem, vec![ShapeItem::Dim(length)])
}

fn linspace(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (start, stop) = (a.value(0), a.value(1));
    let num = a.int(2)?;
    cx.need_size(&num, a.span);
    cx.require_class(&start, "linspace", Class::Float)?;
    cx.require_class(&stop, "linspace", Class::Float)?;
    let elem = cx.same_elem("linspace", &start, &stop)?;
    cx.scalar_like(&start, "linspace", &elem)?;
    cx.scalar_like(&stop, "linspace", &elem)?;
    let attrs = vec![
        dim_attr("num", num.clone()),
        flag_attr("endpoint", a.flag(3)),
    ];
    out(a, vec![start, stop], attrs, elem, vec![ShapeItem::Dim(num)])
}

fn like(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, items) = cx.require_class(&x, a.row.name, Class::Any)?;
    out(a, vec![x], Vec::new(), elem, items)
}
