//! Random numbers. What uses a key up is told in [`crate::check::keys`].

use super::args::{Args, dim_attr, int_attr, shape_attr};
use super::{Default, Kind, Out, Param, Row, opt, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::problem::Problem;
use crate::check::shape::{broadcast, same_shape};
use crate::typed::{Builtin, Elem, ElemTy, Expr, Shape, ShapeItem, Ty};

const K: Param = req("k", Kind::Value);
const SHAPE: Param = req("shape", Kind::Shape);
const SHAPE_OPT: Param = opt("shape", Kind::Shape, Default::Absent);
const DTYPE: Param = opt("dtype", Kind::Elem, Default::Absent);

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("key",         Builtin::Key,         &[req("seed", Kind::Value)], key_of),
    row("split",       Builtin::Split,       &[K, opt("n", Kind::Int, Default::Int(2))], split),
    row("fold_in",     Builtin::FoldIn,      &[K, req("i", Kind::Value)], fold_in),
    row("bits",        Builtin::Bits,        &[K, SHAPE_OPT, DTYPE], bits),
    row("uniform",     Builtin::Uniform,
        &[K, SHAPE_OPT, opt("lo", Kind::Value, Default::Literal(0.0)), opt("hi", Kind::Value, Default::Literal(1.0)), DTYPE], uniform),
    row("normal",      Builtin::Normal,      &[K, SHAPE_OPT, DTYPE], drawn),
    row("gumbel",      Builtin::Gumbel,      &[K, SHAPE_OPT, DTYPE], drawn),
    row("bernoulli",   Builtin::Bernoulli,   &[K, opt("p", Kind::Value, Default::Literal(0.5)), SHAPE_OPT], bernoulli),
    row("randint",     Builtin::RandInt,     &[K, SHAPE, req("lo", Kind::Value), req("hi", Kind::Value), DTYPE], randint),
    row("permutation", Builtin::Permutation, &[K, req("n", Kind::Value)], permutation),
    row("categorical", Builtin::Categorical,
        &[K, req("logits", Kind::Value), opt("axis", Kind::Int, Default::Int(-1)), SHAPE_OPT], categorical),
    row("truncated_normal", Builtin::TruncatedNormal,
        &[K, req("lower", Kind::Value), req("upper", Kind::Value), SHAPE_OPT, DTYPE], truncated_normal),
];

/// That an operand is one key.
pub fn key(cx: &mut Cx, k: &Expr, what: &'static str) -> Option<()> {
    match cx.infer.ty(&k.ty) {
        Ty::Tensor(ElemTy::Known(Elem::Key), dims) if dims.is_empty() => Some(()),
        Ty::Error => None,
        ty => {
            cx.report(Problem::NotAKey {
                span: k.span,
                what,
                ty,
            });
            None
        }
    }
}

fn key_ty(items: Shape) -> Ty {
    Ty::Tensor(ElemTy::Known(Elem::Key), items)
}

fn key_of(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let seed = a.value(0);
    cx.position_scalar(&seed, "key")?;
    // A seed too large for the default element takes the narrowest that holds it.
    if let (crate::typed::ExprKind::Int(n), Ty::Tensor(elem, _)) = (&seed.kind, &seed.ty)
        && cx.infer.literal_class(elem).is_some()
    {
        let wide = match *n {
            n if i32::try_from(n).is_ok() => Elem::I32,
            n if u32::try_from(n).is_ok() => Elem::U32,
            n if i64::try_from(n).is_ok() => Elem::I64,
            _ => Elem::U64,
        };
        cx.infer.unify_elem(elem, &ElemTy::Known(wide)).ok()?;
    }
    Some(Out {
        builtin: Builtin::Key,
        args: vec![seed],
        attrs: Vec::new(),
        ty: key_ty(Shape::new()),
    })
}

fn split(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let k = a.value(0);
    let n = a.int(1)?;
    cx.need_size(&n, a.span);
    key(cx, &k, "split")?;
    Some(Out {
        builtin: Builtin::Split,
        args: vec![k],
        attrs: vec![dim_attr("n", n.clone())],
        ty: key_ty(vec![ShapeItem::Dim(n)]),
    })
}

fn fold_in(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, i) = (a.value(0), a.value(1));
    key(cx, &k, "fold_in")?;
    cx.position_scalar(&i, "fold_in")?;
    Some(Out {
        builtin: Builtin::FoldIn,
        args: vec![k, i],
        attrs: Vec::new(),
        ty: key_ty(Shape::new()),
    })
}

/// The element of the numbers drawn: f32 unless asked for another float.
fn float_dtype(cx: &mut Cx, a: &Args, i: usize) -> Option<ElemTy> {
    let Some(elem) = a.elem(i) else {
        return Some(ElemTy::Known(Elem::F32));
    };
    if cx.infer.is(&elem, Class::Float) {
        return Some(elem);
    }
    cx.report(Problem::ElemArg {
        span: a.span,
        kind: crate::ast::GenericKind::Float,
        found: Ty::Tensor(elem, Shape::new()),
    });
    None
}

/// The element of whole numbers drawn: the default unless another integer is asked for.
fn int_dtype(cx: &mut Cx, a: &Args, i: usize, default: Elem) -> Option<ElemTy> {
    let elem = a.elem(i).unwrap_or(ElemTy::Known(default));
    if cx.infer.is(&elem, Class::Int) {
        return Some(elem);
    }
    cx.report(Problem::ElemArg {
        span: a.span,
        kind: crate::ast::GenericKind::Int,
        found: Ty::Tensor(elem, Shape::new()),
    });
    None
}

fn bits(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let k = a.value(0);
    let items = a.shape(1).unwrap_or_default();
    let elem = int_dtype(cx, a, 2, Elem::U32)?;
    key(cx, &k, "bits")?;
    let attrs = vec![shape_attr("shape", items.clone())];
    Some(Out {
        builtin: Builtin::Bits,
        args: vec![k],
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

fn drawn(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let k = a.value(0);
    let items = a.shape(1).unwrap_or_default();
    let elem = float_dtype(cx, a, 2)?;
    key(cx, &k, a.row.name)?;
    let attrs = vec![shape_attr("shape", items.clone())];
    Some(Out {
        builtin: a.row.builtin,
        args: vec![k],
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

/// Operands that set a distribution must broadcast to the shape that is drawn.
fn fits_shape(cx: &mut Cx, a: &Args, operands: &[&Expr], items: &Shape) -> Option<()> {
    for x in operands {
        let (_, dims) = cx.tensor(x, a.row.name)?;
        if !broadcast(&dims, items).is_ok_and(|b| same_shape(&b.shape, items)) {
            let problem = Problem::BroadcastTo {
                span: x.span,
                from: cx.infer.ty(&x.ty),
                to: items.clone(),
            };
            cx.report(problem);
            return None;
        }
    }
    Some(())
}

fn with_elem(cx: &mut Cx, a: &Args, x: &Expr, elem: &ElemTy) -> Option<()> {
    let (found, dims) = cx.tensor(x, a.row.name)?;
    if cx.infer.unify_elem(&found, elem).is_ok() {
        return Some(());
    }
    let expected = Ty::Tensor(elem.clone(), dims);
    let found = cx.infer.ty(&x.ty);
    let help = cx.mismatch_help(&expected, &found, x.span);
    cx.report(Problem::Mismatch {
        context: crate::check::problem::Context::Operand { what: a.row.name },
        span: x.span,
        expected,
        found,
        clash: crate::check::infer::Clash::Elem,
        help,
    });
    None
}

fn uniform(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, lo, hi) = (a.value(0), a.value(2), a.value(3));
    let items = a.shape(1).unwrap_or_default();
    let elem = float_dtype(cx, a, 4)?;
    key(cx, &k, "uniform")?;
    with_elem(cx, a, &lo, &elem)?;
    with_elem(cx, a, &hi, &elem)?;
    fits_shape(cx, a, &[&lo, &hi], &items)?;
    let attrs = vec![shape_attr("shape", items.clone())];
    Some(Out {
        builtin: Builtin::Uniform,
        args: vec![k, lo, hi],
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

fn bernoulli(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, p) = (a.value(0), a.value(1));
    key(cx, &k, "bernoulli")?;
    let (_, dims) = cx.require_class(&p, "bernoulli", Class::Float)?;
    let items = a.shape(2).unwrap_or(dims);
    fits_shape(cx, a, &[&p], &items)?;
    let attrs = vec![shape_attr("shape", items.clone())];
    Some(Out {
        builtin: Builtin::Bernoulli,
        args: vec![k, p],
        attrs,
        ty: Ty::Tensor(ElemTy::Known(Elem::Bool), items),
    })
}

/// Of the type drawn, or for a narrow one of `i32`, which has a number above the largest: 256 for `u8`.
fn bound(cx: &mut Cx, a: &Args, x: &Expr, elem: &ElemTy) -> Option<()> {
    let (found, _) = cx.tensor(x, a.row.name)?;
    let is_narrow = matches!(
        elem,
        ElemTy::Known(Elem::I8 | Elem::I16 | Elem::U8 | Elem::U16)
    );
    if is_narrow
        && cx
            .infer
            .unify_elem(&found, &ElemTy::Known(Elem::I32))
            .is_ok()
    {
        return Some(());
    }
    with_elem(cx, a, x, elem)
}

fn randint(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, lo, hi) = (a.value(0), a.value(2), a.value(3));
    let items = a.shape(1)?;
    let elem = int_dtype(cx, a, 4, Elem::I32)?;
    key(cx, &k, "randint")?;
    bound(cx, a, &lo, &elem)?;
    bound(cx, a, &hi, &elem)?;
    fits_shape(cx, a, &[&lo, &hi], &items)?;
    let attrs = vec![shape_attr("shape", items.clone())];
    Some(Out {
        builtin: Builtin::RandInt,
        args: vec![k, lo, hi],
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

/// Of the numbers below `n`, or of the rows of an array.
fn permutation(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, n) = (a.value(0), a.value(1));
    key(cx, &k, "permutation")?;
    let (elem, items) = cx.require_class(&n, "permutation", Class::Any)?;
    if let Some(count) = cx
        .const_of(&n)
        .and_then(|c| c.dim())
        .filter(|_| items.is_empty())
    {
        cx.need_size(&count, n.span);
        return Some(Out {
            builtin: Builtin::Permutation,
            args: vec![k],
            attrs: vec![dim_attr("n", count.clone())],
            ty: Ty::Tensor(ElemTy::Known(Elem::I32), vec![ShapeItem::Dim(count)]),
        });
    }
    let Some(ShapeItem::Dim(rows)) = items.first().cloned() else {
        let problem = if items.is_empty() {
            Problem::NotStatic {
                span: n.span,
                what: "a number of elements",
            }
        } else {
            Problem::NoRows {
                span: n.span,
                ty: cx.infer.ty(&n.ty),
            }
        };
        cx.report(problem);
        return None;
    };
    // The rows of an array in the order of a permutation of their numbers.
    let order = crate::check::expr::builtin(
        Builtin::Permutation,
        vec![k],
        vec![dim_attr("n", rows.clone())],
        Ty::Tensor(ElemTy::Known(Elem::I32), vec![ShapeItem::Dim(rows)]),
        a.span,
    );
    Some(Out {
        builtin: Builtin::Take,
        args: vec![n, order],
        attrs: vec![int_attr("axis", 0)],
        ty: Ty::Tensor(elem, items),
    })
}

fn categorical(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, logits) = (a.value(0), a.value(1));
    let axis = a.int(2)?;
    key(cx, &k, "categorical")?;
    let (_, items) = cx.require_class(&logits, "categorical", Class::Float)?;
    let (at, given) = cx.axis_of("categorical", a.span, &axis, &items, &logits.ty)?;
    let mut rows = items;
    rows.remove(at);
    // A shape asks for further draws in front of the rows, or stretches them.
    if let Some(drawn) = a.shape(3) {
        if !broadcast(&rows, &drawn).is_ok_and(|b| same_shape(&b.shape, &drawn)) {
            let problem = Problem::BroadcastTo {
                span: logits.span,
                from: Ty::Tensor(ElemTy::Known(Elem::I32), rows),
                to: drawn,
            };
            cx.report(problem);
            return None;
        }
        rows = drawn;
    }
    let attrs = vec![int_attr("axis", given)];
    Some(Out {
        builtin: Builtin::Categorical,
        args: vec![k, logits],
        attrs,
        ty: Ty::Tensor(ElemTy::Known(Elem::I32), rows),
    })
}

fn truncated_normal(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, lower, upper) = (a.value(0), a.value(1), a.value(2));
    let elem = float_dtype(cx, a, 4)?;
    key(cx, &k, "truncated_normal")?;
    with_elem(cx, a, &lower, &elem)?;
    with_elem(cx, a, &upper, &elem)?;
    let items = match a.shape(3) {
        Some(items) => items,
        None => cx.broadcast_all("truncated_normal", a.span, &[&lower, &upper])?,
    };
    fits_shape(cx, a, &[&lower, &upper], &items)?;
    let attrs = vec![shape_attr("shape", items.clone())];
    Some(Out {
        builtin: Builtin::TruncatedNormal,
        args: vec![k, lower, upper],
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}
