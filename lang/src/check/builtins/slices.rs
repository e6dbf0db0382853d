//! Builtins that take or replace a block of an array that starts where a run-time position says.

use super::args::{Args, dim_attr, shape_attr};
use super::{Kind, Out, Param, Row, out, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::problem::Problem;
use crate::check::require::Need;
use crate::check::shape;
use crate::typed::{Builtin, Expr, ShapeItem, Ty};

const X: Param = req("x", Kind::Value);

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("slice",        Builtin::Slice,       &[X, req("start", Kind::Value), req("size", Kind::Int)], slice),
    row("dynamic_slice", Builtin::DynamicSlice,
        &[X, req("starts", Kind::Values), req("sizes", Kind::Shape)], dynamic_slice),
    row("dynamic_update_slice", Builtin::DynamicUpdateSlice,
        &[X, req("update", Kind::Value), req("starts", Kind::Values)], dynamic_update_slice),
];

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

    /// Positions as integer scalars, or as one array of them; how many they are.
    pub fn positions(&mut self, what: &'static str, values: &[Expr]) -> Option<usize> {
        if let [one] = values
            && let Ty::Tensor(_, dims) = self.infer.ty(&one.ty)
            && let [ShapeItem::Dim(d)] = dims.as_slice()
            && let Some(n) = d.as_int()
        {
            self.require_class(one, what, Class::Int)?;
            return usize::try_from(n).ok();
        }
        for value in values {
            self.position_scalar(value, what)?;
        }
        Some(values.len())
    }
}

fn starts(cx: &mut Cx, a: &mut Args, i: usize, rank: usize, x: &Expr) -> Option<Vec<Expr>> {
    let starts = a.values(i);
    let count = cx.positions(a.row.name, &starts)?;
    if count != rank {
        let problem = Problem::StartsCount {
            span: a.span,
            found: count,
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
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
