//! Builtins that give an array another shape or order of dimensions.

use super::args::{Args, int_attr, ints_attr, shape_attr};
use super::{Default, Kind, Out, Param, Row, opt, out, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::poly;
use crate::check::problem::Problem;
use crate::check::shape::{self, broadcast, same_shape};
use crate::span::Span;
use crate::typed::{Builtin, Dim, ElemTy, Expr, Shape, ShapeItem, elements};

const X: Param = req("x", Kind::Value);

const AXIS_ALL: Param = opt("axis", Kind::Ints, Default::Absent);

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
    pub fn known_dims(&mut self, x: &Expr, what: &'static str) -> Option<(ElemTy, Vec<Dim>)> {
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
    let (elem, items) = cx.require_class(&x, "broadcast_to", Class::Any)?;
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
