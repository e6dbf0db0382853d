//! Builtins that put arrays together, repeat, shift and cut them.

use super::args::{Args, Given, dim_attr, int_attr, ints_attr, pads_attr, shape_attr};
use super::{Default, Kind, Out, Param, Row, opt, out, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::konst::Const;
use crate::check::problem::{Context, Problem};
use crate::check::require::Need;
use crate::check::shape;
use crate::typed::{Attr, Builtin, Dim, Elem, ElemTy, Shape, ShapeItem, Static, Ty};

const X: Param = req("x", Kind::Value);

const AXIS_ALL: Param = opt("axis", Kind::Ints, Default::Absent);

const AXIS_0: Param = opt("axis", Kind::Ints, Default::Int(0));

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("concat",       Builtin::Concat,      &[req("arrays", Kind::Values), AXIS_0], concat),
    row("stack",        Builtin::Stack,       &[req("arrays", Kind::Values), AXIS_0], stack),
    row("pad",          Builtin::Pad,
        &[X, req("widths", Kind::Pads), opt("mode", Kind::TextOrValue, Default::Text("constant")),
          opt("constant_values", Kind::Value, Default::Absent), opt("value", Kind::Value, Default::Absent)], pad),
    row("flip",         Builtin::Flip,        &[X, AXIS_ALL], flip),
    row("roll",         Builtin::Roll,        &[X, req("shift", Kind::IntsOrValues), AXIS_ALL], roll),
    row("repeat",       Builtin::Repeat,      &[X, req("repeats", Kind::Int), AXIS_ALL], repeat),
    row("tile",         Builtin::Tile,        &[X, req("reps", Kind::Ints)], tile),
    row("split_at",     Builtin::SplitAt,     &[X, req("indices", Kind::Ints), AXIS_0], split_at),
];

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

const PAD_MODES: &[&str] = &["constant", "edge", "reflect", "symmetric", "wrap"];

/// `pad(x, widths, mode, constant_values)` as in NumPy; the constant may also stand in the mode's place.
fn pad(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let in_place_of_mode = matches!(a.given[2], Given::Value(_)).then_some(2);
    let place = [2, 4, 3]
        .into_iter()
        .find(|&i| matches!(a.given[i], Given::Value(_)));
    let x = a.value(0);
    let value = place.map(|i| a.value(i));
    let Given::Pads(pads) = a.given[1].clone() else {
        return None;
    };
    let (elem, dims) = cx.known_dims(&x, "pad")?;
    let nothing = match elem {
        ElemTy::Known(Elem::Bool) => Const::Bool(false),
        _ => Const::Int(0),
    };
    let value = value.unwrap_or_else(|| cx.konst(nothing, None, a.span));
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
    let mode = match in_place_of_mode {
        Some(_) => "constant".to_string(),
        None => cx.one_of(a, 2, "mode", PAD_MODES)?,
    };
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

/// Shifts and axes go pairwise, one of either for all of the other; those of one axis add up. Without an axis it rolls the
/// flattened array and gives it its shape again, as NumPy does.
fn roll(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let known = a.ints(1).map(|(shifts, _)| shifts);
    let found = a.values(1);
    let (elem, items) = cx.tensor(&x, "roll")?;
    let count = match &known {
        Some(shifts) => shifts.len(),
        None => cx.positions("roll", &found)?,
    };
    let mut attrs = Vec::new();
    if let Some(shifts) = known {
        attrs.push(shape_attr("shift", shape::of_dims(shifts)));
    }
    if let Some((axes, _)) = a.ints(2) {
        let each = axes.iter();
        let axes: Vec<(usize, i64)> = each
            .map(|axis| cx.axis_of("roll", a.span, axis, &items, &x.ty))
            .collect::<Option<_>>()?;
        if count != 1 && axes.len() != 1 && count != axes.len() {
            cx.report(Problem::RollAxes {
                span: a.span,
                shifts: count,
                axes: axes.len(),
            });
            return None;
        }
        attrs.push(ints_attr("axis", axes.iter().map(|(_, given)| *given)));
    }
    let args = std::iter::once(x).chain(found).collect();
    out(a, args, attrs, elem, items)
}

fn repeat(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let repeats = a.int(1)?;
    cx.need_size(&repeats, a.span);
    let (elem, items) = cx.require_class(&x, "repeat", Class::Any)?;
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
    cx.require_class(&x, "tile", Class::Any)?;
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
/// Where an index cuts: counted from the end if negative, at an end if it is outside, as far as that is known.
fn cut(index: &Dim, size: &Dim) -> Option<Dim> {
    let from_start = match index.as_int() {
        Some(n) if n < 0 => size.add(index)?,
        _ => index.clone(),
    };
    Some(match (from_start.as_int(), size.as_int()) {
        (Some(at), Some(n)) if !(0..=n).contains(&at) => Dim::int(at.clamp(0, n)),
        _ => from_start,
    })
}

fn split_at(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (mut indices, _) = a.ints(1)?;
    let axis = one_axis(cx, a, 2)??;
    let (elem, items) = cx.tensor(&x, "split_at")?;
    let (at, given) = cx.axis_of("split_at", a.span, &axis, &items, &x.ty)?;
    let ShapeItem::Dim(size) = items[at].clone() else {
        return None;
    };
    for index in &mut indices {
        *index = cut(index, &size)?;
    }
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
