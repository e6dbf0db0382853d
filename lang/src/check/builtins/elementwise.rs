//! Elementwise builtins, casts of bits, and identities.

use super::args::{Args, flag_attr};
use super::{Default, Kind, Out, Row, opt, req};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::problem::Problem;
use crate::typed::{Attr, Builtin, Elem, ElemTy, Static, Ty};

const X: &[super::Param] = &[req("x", Kind::Value)];
const XY: &[super::Param] = &[req("x", Kind::Value), req("y", Kind::Value)];

const fn row(
    name: &'static str,
    builtin: Builtin,
    params: &'static [super::Param],
    rule: super::Rule,
) -> Row {
    Row {
        name,
        builtin,
        params,
        rule,
    }
}

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("exp",       Builtin::Exp,      X, float_unary),
    row("expm1",     Builtin::Expm1,    X, float_unary),
    row("log",       Builtin::Log,      X, float_unary),
    row("log1p",     Builtin::Log1p,    X, float_unary),
    row("sqrt",      Builtin::Sqrt,     X, float_unary),
    row("rsqrt",     Builtin::Rsqrt,    X, float_unary),
    row("cbrt",      Builtin::Cbrt,     X, float_unary),
    row("sin",       Builtin::Sin,      X, float_unary),
    row("cos",       Builtin::Cos,      X, float_unary),
    row("tan",       Builtin::Tan,      X, float_unary),
    row("tanh",      Builtin::Tanh,     X, float_unary),
    row("sigmoid",   Builtin::Sigmoid,  X, float_unary),
    row("erf",       Builtin::Erf,      X, float_unary),
    row("erfc",      Builtin::Erfc,     X, float_unary),
    row("erf_inv",   Builtin::ErfInv,   X, float_unary),
    row("lgamma",    Builtin::Lgamma,   X, float_unary),
    row("digamma",   Builtin::Digamma,  X, float_unary),
    row("floor",     Builtin::Floor,    X, float_unary),
    row("ceil",      Builtin::Ceil,     X, float_unary),
    row("round",     Builtin::Round,    X, float_unary),
    row("trunc",     Builtin::Trunc,    X, float_unary),
    row("abs",       Builtin::Abs,      X, number_unary),
    row("sign",      Builtin::Sign,     X, number_unary),
    row("is_nan",    Builtin::IsNan,    X, float_test),
    row("is_finite", Builtin::IsFinite, X, float_test),
    row("atan2",     Builtin::Atan2,    XY, float_binary),
    row("pow",       Builtin::Pow,      XY, number_binary),
    row("isclose",   Builtin::IsClose,
        &[req("x", Kind::Value), req("y", Kind::Value), opt("rtol", Kind::Real, Default::Real(1e-5)),
          opt("atol", Kind::Real, Default::Real(1e-8)), opt("equal_nan", Kind::Flag, Default::Flag(false))], isclose),
    row("clamp",     Builtin::Clamp,
        &[req("x", Kind::Value), req("lo", Kind::Value), req("hi", Kind::Value)], clamp),
    row("where",     Builtin::Where,
        &[req("condition", Kind::Value), req("x", Kind::Value), req("y", Kind::Value)], select),
    row("bitcast",   Builtin::Bitcast, &[req("x", Kind::Value), req("dtype", Kind::Elem)], bitcast),
    row("stop_gradient", Builtin::StopGradient, X, identity),
    row("shard",     Builtin::Shard, &[req("x", Kind::Value), req("axes", Kind::MeshAxes)], shard),
];

fn unary(cx: &mut Cx, a: &mut Args, class: Class) -> Option<Out> {
    let x = a.value(0);
    let (elem, shape) = cx.require_class(&x, a.row.name, class)?;
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, shape),
    })
}

fn float_unary(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    unary(cx, a, Class::Float)
}

fn number_unary(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    unary(cx, a, Class::Num)
}

fn float_test(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let out = unary(cx, a, Class::Float)?;
    let Ty::Tensor(_, shape) = out.ty else {
        return None;
    };
    Some(Out {
        ty: Ty::Tensor(ElemTy::Known(Elem::Bool), shape),
        ..out
    })
}

/// Two operands of one element type, broadcast together.
pub fn binary(cx: &mut Cx, a: &mut Args, class: Class, builtin: Builtin) -> Option<Out> {
    let (x, y) = (a.value(0), a.value(1));
    cx.require_class(&x, a.row.name, class)?;
    cx.require_class(&y, a.row.name, class)?;
    let elem = cx.same_elem(a.row.name, &x, &y)?;
    let shape = cx.broadcast_all(a.row.name, a.span, &[&x, &y])?;
    Some(Out {
        builtin,
        args: vec![x, y],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, shape),
    })
}

fn float_binary(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    binary(cx, a, Class::Float, a.row.builtin)
}

fn number_binary(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    binary(cx, a, Class::Num, a.row.builtin)
}

fn isclose(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (rtol, atol) = (a.real(2)?, a.real(3)?);
    let out = binary(cx, a, Class::Num, Builtin::IsClose)?;
    let Ty::Tensor(_, shape) = out.ty else {
        return None;
    };
    let real = |name, x| Attr {
        name,
        value: Static::Float(x),
    };
    Some(Out {
        ty: Ty::Tensor(ElemTy::Known(Elem::Bool), shape),
        attrs: vec![
            real("rtol", rtol),
            real("atol", atol),
            flag_attr("equal_nan", a.flag(4)),
        ],
        ..out
    })
}

fn clamp(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, lo, hi) = (a.value(0), a.value(1), a.value(2));
    for e in [&x, &lo, &hi] {
        cx.require_class(e, "clamp", Class::Num)?;
    }
    cx.same_elem("clamp", &x, &lo)?;
    let elem = cx.same_elem("clamp", &x, &hi)?;
    let shape = cx.broadcast_all("clamp", a.span, &[&x, &lo, &hi])?;
    Some(Out {
        builtin: Builtin::Clamp,
        args: vec![x, lo, hi],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, shape),
    })
}

fn select(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (c, x, y) = (a.value(0), a.value(1), a.value(2));
    cx.require_elem(&c, "where", Elem::Bool, "a bool")?;
    let elem = cx.same_elem("where", &x, &y)?;
    let shape = cx.broadcast_all("where", a.span, &[&c, &x, &y])?;
    Some(Out {
        builtin: Builtin::Where,
        args: vec![c, x, y],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, shape),
    })
}

fn bitcast(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let to = a.elem(1)?;
    let (from, shape) = cx.require_class(&x, "bitcast", Class::Num)?;
    let widths = match (cx.infer.settle_elem(&from), &to) {
        (ElemTy::Known(f), ElemTy::Known(t)) => (bits(f), bits(*t)),
        _ => (None, None),
    };
    if widths.0.is_none() || widths.0 != widths.1 {
        let problem = Problem::BitcastWidth {
            span: a.span,
            from: cx.infer.ty(&x.ty),
            to: Ty::Tensor(to, Vec::new()),
        };
        cx.report(problem);
        return None;
    }
    Some(Out {
        builtin: Builtin::Bitcast,
        args: vec![x],
        attrs: Vec::new(),
        ty: Ty::Tensor(to, shape),
    })
}

fn bits(e: Elem) -> Option<u32> {
    Some(match e {
        Elem::I8 | Elem::U8 => 8,
        Elem::BF16 | Elem::F16 | Elem::I16 | Elem::U16 => 16,
        Elem::F32 | Elem::I32 | Elem::U32 => 32,
        Elem::F64 | Elem::I64 | Elem::U64 => 64,
        Elem::Bool | Elem::Key => return None,
    })
}

/// Of any tree.
fn identity(_: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let ty = x.ty.clone();
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs: Vec::new(),
        ty,
    })
}

fn shard(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let super::Given::MeshAxes(axes) = a.given[1].clone() else {
        return None;
    };
    let (elem, shape) = cx.tensor(&x, "shard")?;
    if shape.len() != axes.len() {
        let problem = Problem::ShardRank {
            span: a.span,
            axes: axes.len(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    Some(Out {
        builtin: Builtin::Shard,
        args: vec![x],
        attrs: vec![Attr {
            name: "axes",
            value: Static::Axes(axes),
        }],
        ty: Ty::Tensor(elem, shape),
    })
}
