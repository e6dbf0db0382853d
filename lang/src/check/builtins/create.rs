//! Builtins that make arrays, and those that make or read the parts of a matrix.

use super::args::{Args, Given, dim_attr, flag_attr, shape_attr};
use super::linalg::not_a_matrix;
use super::{Default, Kind, Out, Param, Row, opt, out, req, row};
use crate::ast::GenericKind;
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::poly;
use crate::check::problem::Problem;
use crate::check::shape;
use crate::span::Span;
use crate::typed::{Attr, Builtin, Dim, Elem, ElemTy, Expr, Shape, ShapeItem, Static, Ty};

const X: Param = req("x", Kind::Value);

const DTYPE: Param = opt("dtype", Kind::Elem, Default::Absent);

const K_0: Param = opt("k", Kind::Int, Default::Int(0));

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("tril",         Builtin::Tril,        &[X, K_0], triangle),
    row("triu",         Builtin::Triu,        &[X, K_0], triangle),
    row("diag",         Builtin::Diag,        &[X, K_0], diag),
    row("eye",          Builtin::Eye,         &[req("n", Kind::Int), opt("m", Kind::Int, Default::Absent), K_0, DTYPE], eye),
    row("zeros",        Builtin::Zeros,       &[req("shape", Kind::Shape), DTYPE], filled),
    row("ones",         Builtin::Ones,        &[req("shape", Kind::Shape), DTYPE], filled),
    row("full",         Builtin::Full,        &[req("shape", Kind::Shape), req("value", Kind::Value), DTYPE], full),
    row("arange",       Builtin::Arange,
        &[req("start", Kind::Number), opt("stop", Kind::Number, Default::Absent), opt("step", Kind::Number, Default::Int(1)), DTYPE], arange),
    row("linspace",     Builtin::Linspace,
        &[req("start", Kind::Value), req("stop", Kind::Value), opt("num", Kind::Int, Default::Int(50)),
          opt("endpoint", Kind::Flag, Default::Flag(true))], linspace),
    row("zeros_like",   Builtin::ZerosLike,   &[X], like),
    row("ones_like",    Builtin::OnesLike,    &[X], like),
];

/// That an operand has at least two dimensions at its end.
fn matrix(cx: &mut Cx, x: &Expr, what: &'static str) -> Option<(ElemTy, Shape)> {
    let (elem, items) = cx.require_class(x, what, Class::Any)?;
    match items.as_slice() {
        [.., ShapeItem::Dim(_), ShapeItem::Dim(_)] => Some((elem, items)),
        _ => not_a_matrix(cx, x, what),
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
    cx.require_class(&x, "diag", Class::Any)?;
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
        _ => return not_a_matrix(cx, &x, "diag"),
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
    cx.require_class(&value, "full", Class::Any)?;
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
    if (0..3).any(|i| a.real(i).is_some()) {
        return float_range(cx, a);
    }
    let (start, stop) = match a.int(1) {
        Some(stop) => (a.int(0)?, stop),
        None => (Dim::int(0), a.int(0)?),
    };
    let step = a.int(2)?;
    let elem = a.elem(3).unwrap_or(ElemTy::Known(Elem::I32));
    expect_number(cx, &elem, a.span)?;
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

fn expect_number(cx: &mut Cx, elem: &ElemTy, span: Span) -> Option<()> {
    if *elem != ElemTy::Known(Elem::Bool) {
        return Some(());
    }
    cx.report(Problem::ElemArg {
        span,
        kind: GenericKind::Num,
        found: Ty::scalar(Elem::Bool),
    });
    None
}

/// The same of floats, f32 unless asked otherwise. All must be known, since the length is: ceil((stop − start) / step).
fn float_range(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let number = |i| a.real(i).or_else(|| Some(a.int(i)?.as_int()? as f64));
    let (first, second, step) = (number(0), number(1), number(2));
    let has_stop = !matches!(a.given[1], Given::Absent);
    let (Some(first), Some(step), true) = (first, step, second.is_some() || !has_stop) else {
        cx.report(Problem::NotStatic {
            span: a.span,
            what: "numbers",
        });
        return None;
    };
    let (start, stop) = second.map_or((0.0, first), |stop| (first, stop));
    let length = ((stop - start) / step).ceil().max(0.0);
    if step == 0.0 {
        cx.report(Problem::ZeroStep { span: a.span });
        return None;
    }
    // NaN is no length, and neither is what no memory holds.
    let length = (length < f64::from(i32::MAX)).then_some(length as i64)?;
    let elem = a.elem(3).unwrap_or(ElemTy::Known(Elem::F32));
    expect_number(cx, &elem, a.span)?;
    let float = |name, x| Attr {
        name,
        value: Static::Float(x),
    };
    let attrs = vec![float("start", start), float("step", step)];
    let items = vec![ShapeItem::Dim(Dim::int(length))];
    out(a, Vec::new(), attrs, elem, items)
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
