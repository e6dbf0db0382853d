//! Reductions, running reductions, and what normalises along an axis.

use super::args::{Args, flag_attr, int_attr, ints_attr};
use super::elementwise::binary;
use super::{Default, Kind, Out, Param, Row, opt, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::problem::Problem;
use crate::check::require::Need;
use crate::typed::{Attr, Builtin, Dim, Elem, ElemTy, Expr, Shape, ShapeItem, Static, Ty};

const AXES: &[Param] = &[
    req("x", Kind::Value),
    opt("axis", Kind::Ints, Default::Absent),
    opt("keepdims", Kind::Flag, Default::Flag(false)),
];
const LAST_AXIS: &[Param] = &[
    req("x", Kind::Value),
    opt("axis", Kind::Ints, Default::Int(-1)),
];
const DDOF: &[Param] = &[
    req("x", Kind::Value),
    opt("axis", Kind::Ints, Default::Absent),
    opt("ddof", Kind::Int, Default::Int(0)),
    opt("keepdims", Kind::Flag, Default::Flag(false)),
];
/// `max(x, axis=…)` reduces, `max(x, y)` compares.
const EXTREME: &[Param] = &[
    req("x", Kind::Value),
    opt("y", Kind::Value, Default::Absent),
    opt("axis", Kind::Ints, Default::Absent),
    opt("keepdims", Kind::Flag, Default::Flag(false)),
];

const RUNNING: &[Param] = &[
    req("x", Kind::Value),
    opt("axis", Kind::Ints, Default::Absent),
    opt("reverse", Kind::Flag, Default::Flag(false)),
];
const NORM: &[Param] = &[
    req("x", Kind::Value),
    opt("ord", Kind::Real, Default::Absent),
    opt("axis", Kind::Ints, Default::Absent),
    opt("keepdims", Kind::Flag, Default::Flag(false)),
];

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("sum",         Builtin::Sum,        AXES,      accumulate),
    row("prod",        Builtin::Prod,       AXES,      accumulate),
    row("mean",        Builtin::Mean,       AXES,      average),
    row("var",         Builtin::Var,        DDOF,      spread),
    row("std",         Builtin::Std,        DDOF,      spread),
    row("min",         Builtin::MinReduce,  EXTREME,   extreme),
    row("max",         Builtin::MaxReduce,  EXTREME,   extreme),
    row("any",         Builtin::Any,        AXES,      logical),
    row("all",         Builtin::All,        AXES,      logical),
    row("argmin",      Builtin::ArgMin,     AXES,      position),
    row("argmax",      Builtin::ArgMax,     AXES,      position),
    row("norm",        Builtin::Norm,       NORM,      norm),
    row("logsumexp",   Builtin::LogSumExp,  AXES,      float_reduce),
    row("softmax",     Builtin::Softmax,    LAST_AXIS, normalise),
    row("log_softmax", Builtin::LogSoftmax, LAST_AXIS, normalise),
    row("cumsum",      Builtin::CumSum,     RUNNING,   running),
    row("cumprod",     Builtin::CumProd,    RUNNING,   running),
    row("cummax",      Builtin::CumMax,     RUNNING,   running),
    row("cummin",      Builtin::CumMin,     RUNNING,   running),
];

/// The shape left after reducing, and the attributes that say how.
fn reduced(
    cx: &mut Cx,
    a: &Args,
    x: &Expr,
    shape: &[ShapeItem],
    (axis, keepdims): (usize, usize),
) -> Option<(Shape, Vec<Attr>)> {
    let keep = a.flag(keepdims);
    let one = || ShapeItem::Dim(Dim::int(1));
    let Some((axes, _)) = a.ints(axis) else {
        let left = match keep {
            // A `..` part cannot be kept as so many ones.
            true if shape.iter().all(|i| matches!(i, ShapeItem::Dim(_))) => {
                shape.iter().map(|_| one()).collect()
            }
            true => {
                let problem = Problem::UnknownRank {
                    span: a.span,
                    what: "`keepdims=true` without `axis`".into(),
                    ty: cx.infer.ty(&x.ty),
                };
                cx.report(problem);
                return None;
            }
            false => Shape::new(),
        };
        return Some((left, vec![flag_attr("keepdims", keep)]));
    };
    let axes = cx.axes_of(a.row.name, a.span, &axes, shape, &x.ty)?;
    let mut left = Shape::new();
    for (i, item) in shape.iter().enumerate() {
        match (axes.iter().any(|(at, _)| *at == i), keep) {
            (true, true) => left.push(one()),
            (true, false) => {}
            (false, _) => left.push(item.clone()),
        }
    }
    let given = axes.iter().map(|(_, given)| *given);
    Some((
        left,
        vec![ints_attr("axis", given), flag_attr("keepdims", keep)],
    ))
}

fn reduce(cx: &mut Cx, a: &Args, x: Expr, elem: ElemTy, places: (usize, usize)) -> Option<Out> {
    let (_, shape) = cx.tensor(&x, a.row.name)?;
    let (left, attrs) = reduced(cx, a, &x, &shape, places)?;
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs,
        ty: Ty::Tensor(elem, left),
    })
}

/// The smallest or largest of nothing is no number.
fn need_elements(cx: &mut Cx, a: &Args, x: &Expr, axis: usize) -> Option<()> {
    let (_, shape) = cx.tensor(x, a.row.name)?;
    let axes = match a.ints(axis) {
        Some((axes, _)) => Some(cx.axes_of(a.row.name, a.span, &axes, &shape, &x.ty)?),
        None => None,
    };
    for (i, item) in shape.iter().enumerate() {
        let reduces = axes
            .as_ref()
            .is_none_or(|all| all.iter().any(|(at, _)| *at == i));
        if let (ShapeItem::Dim(size), true) = (item, reduces) {
            cx.need(Need::NotEmpty(size.clone()), a.span);
        }
    }
    Some(())
}

/// As NumPy: bools and narrow integers are counted in 32 bits.
pub fn widened(cx: &mut Cx, x: Expr, elem: &ElemTy) -> (Expr, ElemTy) {
    let to = match cx.infer.elem(elem) {
        ElemTy::Known(Elem::Bool | Elem::I8 | Elem::I16) => Elem::I32,
        ElemTy::Known(Elem::U8 | Elem::U16) => Elem::U32,
        other => return (x, other),
    };
    (cx.cast_to(x, to), ElemTy::Known(to))
}

fn accumulate(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, _) = cx.require_class(&x, a.row.name, Class::Any)?;
    let (x, elem) = widened(cx, x, &elem);
    reduce(cx, a, x, elem, (1, 2))
}

/// Means are of floats; integers and bools become f32 as in JAX.
fn as_float(cx: &mut Cx, x: Expr, what: &'static str) -> Option<(Expr, ElemTy)> {
    let (elem, _) = cx.require_class(&x, what, Class::Any)?;
    if cx.infer.literal_class(&elem).is_some() {
        cx.infer.require(&elem, Class::Float).ok()?;
    }
    match cx.infer.elem(&elem) {
        ElemTy::Known(e) if !e.is_float() => {
            Some((cx.cast_to(x, Elem::F32), ElemTy::Known(Elem::F32)))
        }
        elem if cx.infer.is(&elem, Class::Float) => Some((x, elem)),
        // An element parameter that may be an integer.
        _ => {
            cx.require_class(&x, what, Class::Float)?;
            None
        }
    }
}

fn average(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (x, elem) = as_float(cx, x, a.row.name)?;
    reduce(cx, a, x, elem, (1, 2))
}

fn spread(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (x, elem) = as_float(cx, x, a.row.name)?;
    let ddof = a.int(2)?;
    let mut out = reduce(cx, a, x, elem, (1, 3))?;
    out.attrs.push(super::args::dim_attr("ddof", ddof));
    Some(out)
}

fn extreme(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    if matches!(a.given[1], super::Given::Value(_)) {
        if a.ints(2).is_some() || a.flag(3) {
            cx.report(Problem::ExtremeOfTwo {
                span: a.span,
                name: a.row.name,
            });
            return None;
        }
        let builtin = match a.row.builtin {
            Builtin::MinReduce => Builtin::Min2,
            _ => Builtin::Max2,
        };
        return binary(cx, a, Class::Num, builtin);
    }
    let x = a.value(0);
    let (elem, _) = cx.require_class(&x, a.row.name, Class::Any)?;
    need_elements(cx, a, &x, 2)?;
    reduce(cx, a, x, elem, (2, 3))
}

fn logical(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    cx.require_elem(&x, a.row.name, Elem::Bool, "a bool")?;
    reduce(cx, a, x, ElemTy::Known(Elem::Bool), (1, 2))
}

fn position(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    cx.require_class(&x, a.row.name, Class::Any)?;
    need_elements(cx, a, &x, 1)?;
    reduce(cx, a, x, ElemTy::Known(Elem::I32), (1, 2))
}

fn float_reduce(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, _) = cx.require_class(&x, a.row.name, Class::Float)?;
    reduce(cx, a, x, elem, (1, 2))
}

/// The root of the sum of squares, over vectors another `ord`: 1, 2, `inf`, `-inf`, 0 or any power.
fn norm(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let ord = a.real(1);
    let x = a.value(0);
    let (elem, shape) = cx.require_class(&x, a.row.name, Class::Float)?;
    let vectors = match a.ints(2) {
        Some((axes, _)) => axes.len() == 1,
        None => shape.len() == 1,
    };
    if ord.is_some_and(|o| o != 2.0) && !vectors {
        cx.report(Problem::MatrixNorm { span: a.span });
        return None;
    }
    let mut out = reduce(cx, a, x, elem, (2, 3))?;
    out.attrs.extend(ord.filter(|o| *o != 2.0).map(|o| Attr {
        name: "ord",
        value: Static::Float(o),
    }));
    Some(out)
}

fn normalise(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, shape) = cx.require_class(&x, a.row.name, Class::Float)?;
    let (axes, _) = a.ints(1)?;
    let axes = cx.axes_of(a.row.name, a.span, &axes, &shape, &x.ty)?;
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs: vec![ints_attr("axis", axes.iter().map(|(_, given)| *given))],
        ty: Ty::Tensor(elem, shape),
    })
}

/// Without an axis the array is flattened, as in NumPy; a vector has only the one.
fn running(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let is_sum = matches!(a.row.builtin, Builtin::CumSum | Builtin::CumProd);
    let class = if is_sum { Class::Any } else { Class::Num };
    let (elem, _) = cx.require_class(&x, a.row.name, class)?;
    // Bools are counted in 32 bits; integers keep their width, as in JAX.
    let (x, elem) = match cx.infer.elem(&elem) {
        ElemTy::Known(Elem::Bool) => widened(cx, x, &elem),
        _ => (x, elem),
    };
    let (_, shape) = cx.tensor(&x, a.row.name)?;
    let (shape, attrs) = match a.ints(1) {
        Some((axes, _)) => {
            let [axis] = axes.as_slice() else {
                let problem = Problem::OneAxis {
                    span: a.span,
                    what: a.row.name,
                };
                cx.report(problem);
                return None;
            };
            let (_, given) = cx.axis_of(a.row.name, a.span, axis, &shape, &x.ty)?;
            (shape, vec![int_attr("axis", given)])
        }
        None if shape.len() == 1 && matches!(shape[0], ShapeItem::Dim(_)) => {
            (shape, vec![int_attr("axis", 0)])
        }
        None => (vec![cx.flat(&x, &shape, a.span)?], Vec::new()),
    };
    let mut attrs = attrs;
    if a.flag(2) {
        attrs.push(flag_attr("reverse", true));
    }
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs,
        ty: Ty::Tensor(elem, shape),
    })
}
