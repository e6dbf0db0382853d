//! Gathers, updates, sorting and searching.

use super::args::{Args, dim_attr, flag_attr, int_attr};
use super::{Default, Kind, Out, Param, Row, opt, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::problem::Problem;
use crate::check::require::Need;
use crate::check::shape::{self, broadcast, same_shape};
use crate::typed::{
    Attr, Builtin, Dim, Elem, ElemTy, Expr, ExprKind, Shape, ShapeItem, Static, Ty,
};

const X: Param = req("x", Kind::Value);
const IDX: Param = req("idx", Kind::Value);
const AXIS_LAST: Param = opt("axis", Kind::Int, Default::Int(-1));

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("take",            Builtin::Take,          &[X, IDX, opt("axis", Kind::Int, Default::Int(0))], take),
    row("take_along_axis", Builtin::TakeAlongAxis, &[X, IDX, req("axis", Kind::Int)], take_along_axis),
    row("set",             Builtin::Set,           &[X, req("idx", Kind::Positions), req("v", Kind::Value)], update),
    row("add_at",          Builtin::AddAt,         &[X, req("idx", Kind::Positions), req("v", Kind::Value)], update),
    row("sort",            Builtin::Sort,          &[X, AXIS_LAST, opt("descending", Kind::Flag, Default::Flag(false))], sort),
    row("argsort",         Builtin::ArgSort,       &[X, AXIS_LAST, opt("descending", Kind::Flag, Default::Flag(false))], sort),
    row("top_k",           Builtin::TopK,          &[X, req("k", Kind::Int), AXIS_LAST], top_k),
    row("searchsorted",    Builtin::SearchSorted,
        &[req("a", Kind::Value), req("v", Kind::Value), opt("side", Kind::Text, Default::Text("left"))], searchsorted),
    row("nonzero",         Builtin::Nonzero,
        &[X, req("size", Kind::Int), opt("fill_value", Kind::Int, Default::Int(0))], nonzero),
    row("one_hot",         Builtin::OneHot,
        &[X, req("n", Kind::Int), opt("dtype", Kind::Elem, Default::Absent), AXIS_LAST], one_hot),
];

fn out(a: &Args, args: Vec<Expr>, attrs: Vec<Attr>, elem: ElemTy, items: Shape) -> Option<Out> {
    Some(Out {
        builtin: a.row.builtin,
        args,
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

fn take(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, idx) = (a.value(0), a.value(1));
    let axis = a.int(2)?;
    let (elem, items) = cx.tensor(&x, "take")?;
    let (_, positions) = cx.require_class(&idx, "take", Class::Int)?;
    let (at, given) = cx.axis_of("take", a.span, &axis, &items, &x.ty)?;
    let idx = match &items[at] {
        ShapeItem::Dim(size) => cx.literal_positions(idx, size),
        _ => idx,
    };
    let mut result = items[..at].to_vec();
    result.extend(positions);
    result.extend_from_slice(&items[at + 1..]);
    let attrs = vec![int_attr("axis", given)];
    out(a, vec![x, idx], attrs, elem, result)
}

/// Shapes agree but for the axis, up to broadcasting of 1s.
fn take_along_axis(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, idx) = (a.value(0), a.value(1));
    let axis = a.int(2)?;
    let (elem, items) = cx.require_class(&x, "take_along_axis", Class::Any)?;
    let (_, positions) = cx.require_class(&idx, "take_along_axis", Class::Int)?;
    let (at, given) = cx.axis_of("take_along_axis", a.span, &axis, &items, &x.ty)?;
    let without = |s: &Shape| {
        let mut s = s.clone();
        if at < s.len() {
            s.remove(at);
        }
        s
    };
    let common = broadcast(&without(&items), &without(&positions));
    let common = match common {
        Ok(b) if items.len() == positions.len() => b.shape,
        _ => {
            let problem = Problem::AlongShapes {
                array: cx.operand(&x),
                index: cx.operand(&idx),
                axis: given,
            };
            cx.report(problem);
            return None;
        }
    };
    let mut result = common;
    result.insert(at, positions[at].clone());
    let attrs = vec![int_attr("axis", given)];
    out(a, vec![x, idx], attrs, elem, result)
}

/// `set(x, idx, v)`, `add_at(x, (i, j), v)`: positions along the first axes; `v` broadcasts to what they pick.
fn update(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let positions = a.values(1);
    let v = a.value(2);
    let class = match a.row.builtin {
        Builtin::AddAt => Class::Num,
        _ => Class::Any,
    };
    let (elem, items) = cx.require_class(&x, a.row.name, class)?;
    let count = positions.len();
    let reachable = count <= items.len()
        && items[..count.min(items.len())]
            .iter()
            .all(|i| matches!(i, ShapeItem::Dim(_)));
    if count == 0 || !reachable {
        let problem = Problem::TooManyIndices {
            span: a.span,
            used: count,
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    let mut picked = Shape::new();
    let mut before: Option<&Expr> = None;
    for (position, item) in positions.iter().zip(&items) {
        let (_, dims) = cx.require_class(position, a.row.name, Class::Int)?;
        if let (ExprKind::Int(n), ShapeItem::Dim(size)) = (&position.kind, item)
            && let Ok(n) = i64::try_from(*n)
        {
            let need = Need::InRange {
                index: Dim::int(n),
                size: size.clone(),
            };
            cx.need(need, position.span);
        }
        picked = match before {
            None => dims,
            Some(other) => cx.broadcast_of(a.row.name, a.span, other, &picked, position, &dims)?,
        };
        before = Some(position);
    }
    picked.extend_from_slice(&items[count..]);
    cx.same_elem(a.row.name, &x, &v)?;
    let (_, given) = cx.tensor(&v, a.row.name)?;
    let fits = broadcast(&given, &picked).is_ok_and(|b| same_shape(&b.shape, &picked));
    if !fits {
        let problem = Problem::UpdateShape {
            span: v.span,
            found: cx.infer.ty(&v.ty),
            wanted: Ty::Tensor(cx.infer.elem(&elem), picked),
        };
        cx.report(problem);
        return None;
    }
    let mut args = vec![x];
    args.extend(positions);
    args.push(v);
    let elem = cx.infer.elem(&elem);
    out(a, args, Vec::new(), elem, items)
}

fn sort(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let axis = a.int(1)?;
    let descending = a.flag(2);
    let (elem, items) = cx.require_class(&x, a.row.name, Class::Any)?;
    let (_, given) = cx.axis_of(a.row.name, a.span, &axis, &items, &x.ty)?;
    let attrs = vec![int_attr("axis", given), flag_attr("descending", descending)];
    let elem = match a.row.builtin {
        Builtin::ArgSort => ElemTy::Known(Elem::I32),
        _ => elem,
    };
    out(a, vec![x], attrs, elem, items)
}

/// (values, positions) of the `k` largest along an axis, the last unless said.
fn top_k(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let k = a.int(1)?;
    let axis = a.int(2)?;
    cx.need_size(&k, a.span);
    let (elem, mut items) = cx.require_class(&x, "top_k", Class::Num)?;
    let (at, given) = match items.last() {
        Some(ShapeItem::Dim(_)) => cx.axis_of("top_k", a.span, &axis, &items, &x.ty)?,
        _ => (items.len(), -1),
    };
    let Some(ShapeItem::Dim(n)) = items.get(at).cloned() else {
        let problem = Problem::NoRows {
            span: x.span,
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    };
    if let (Some(n_known), Some(k_known)) = (n.as_int(), k.as_int())
        && k_known > n_known
    {
        cx.report(Problem::SliceSize {
            span: a.span,
            size: k,
            rows: n,
        });
        return None;
    }
    cx.need(Need::NotNegative(n.sub(&k)?), a.span);
    items[at] = ShapeItem::Dim(k.clone());
    Some(Out {
        builtin: Builtin::TopK,
        args: vec![x],
        attrs: vec![dim_attr("k", k), int_attr("axis", given)],
        ty: Ty::Tuple(vec![
            Ty::Tensor(elem, items.clone()),
            Ty::Tensor(ElemTy::Known(Elem::I32), items),
        ]),
    })
}

fn searchsorted(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (sorted, v) = (a.value(0), a.value(1));
    let side = cx.one_of(a, 2, "side", &["left", "right"])?;
    cx.require_class(&sorted, "searchsorted", Class::Num)?;
    cx.same_elem("searchsorted", &sorted, &v)?;
    let (_, items) = cx.tensor(&sorted, "searchsorted")?;
    if !matches!(items.as_slice(), [ShapeItem::Dim(_)]) {
        let problem = Problem::NotAVector {
            span: sorted.span,
            what: "searchsorted",
            ty: cx.infer.ty(&sorted.ty),
        };
        cx.report(problem);
        return None;
    }
    let (_, result) = cx.tensor(&v, "searchsorted")?;
    let attrs = vec![Attr {
        name: "side",
        value: Static::Str(side),
    }];
    out(a, vec![sorted, v], attrs, ElemTy::Known(Elem::I32), result)
}

/// A tuple of the positions along each axis, `size` of them, filled up with zeros.
fn nonzero(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let size = a.int(1)?;
    cx.need_size(&size, a.span);
    let (_, items) = cx.require_class(&x, "nonzero", Class::Any)?;
    if items.is_empty() || shape::dims(&items).is_none() {
        let problem = Problem::UnknownRank {
            span: x.span,
            what: "`nonzero`".into(),
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    }
    let each = Ty::Tensor(ElemTy::Known(Elem::I32), vec![ShapeItem::Dim(size.clone())]);
    Some(Out {
        builtin: Builtin::Nonzero,
        args: vec![x],
        attrs: vec![dim_attr("size", size), dim_attr("fill_value", a.int(2)?)],
        ty: Ty::Tuple(vec![each; items.len()]),
    })
}

fn one_hot(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let n = a.int(1)?;
    cx.need_size(&n, a.span);
    let elem = match a.elem(2) {
        Some(elem) => elem,
        None => cx.infer.literal(Class::Float),
    };
    let axis = a.int(3)?;
    let (_, items) = cx.require_class(&x, "one_hot", Class::Int)?;
    let mut grown = items;
    let is_dim = |i: &ShapeItem| matches!(i, ShapeItem::Dim(_));
    let given = if axis.as_int() == Some(-1) {
        grown.push(ShapeItem::Dim(n.clone()));
        -1
    } else {
        let mut frame = grown.clone();
        frame.push(ShapeItem::Dim(n.clone()));
        let (at, given) = cx.axis_of("one_hot", a.span, &axis, &frame, &x.ty)?;
        if !grown.iter().all(is_dim) && axis.as_int() != Some(0) {
            let problem = Problem::UnknownRank {
                span: a.span,
                what: "`one_hot` along that axis".into(),
                ty: cx.infer.ty(&x.ty),
            };
            cx.report(problem);
            return None;
        }
        grown.insert(at, ShapeItem::Dim(n.clone()));
        given
    };
    let attrs = vec![dim_attr("n", n), int_attr("axis", given)];
    out(a, vec![x], attrs, elem, grown)
}
