//! Tuples, records and lists, and their fields.

use super::cx::{Cx, bad, is_bad};
use super::expr::builtin;
use super::near::near;
use super::problem::{Context, Problem};
use crate::ast::{self, Ident, Name};
use crate::span::Span;
use crate::typed::{Builtin, Dim, Expr, ExprKind, Fields, ShapeItem, Ty};
use std::collections::HashMap;

impl<'a> Cx<'a, '_> {
    /// A record does not have a field: it may be one that the data it was loaded with has and no type can hold.
    pub fn no_field(&mut self, name: &Ident, base: Span, fields: Fields) {
        let left_out = self.left_out.iter().find(|(n, _)| **n == *name.node);
        let problem = match left_out {
            Some((_, error)) => Problem::Data {
                span: name.span,
                error: error.clone(),
            },
            None => Problem::NoField {
                span: name.span,
                name: name.node.clone(),
                base,
                near: near(&name.node, fields.iter().map(|(n, _)| &**n)),
                ty: Ty::Record(fields),
            },
        };
        self.report(problem);
    }

    pub(super) fn field(&mut self, base: &'a ast::Expr, name: &Ident, span: Span) -> Expr {
        if let Some(module) = self.module_of(base) {
            return self.module_value(module, base, name, span);
        }
        let base = self.expr(base, None);
        if is_bad(&base) {
            return bad(span);
        }
        match self.infer.head(&base.ty) {
            Ty::Record(fields) => match fields.place(&name.node) {
                Some(index) => project(base, index, fields[index].1.clone(), span),
                None => {
                    self.no_field(name, base.span, fields);
                    bad(span)
                }
            },
            Ty::Error => bad(span),
            other => {
                let call = format!("{}({})", name.node, self.text(base.span));
                let is_call = self.is_builtin_or_prelude(&name.node);
                self.report(Problem::NoField {
                    span: name.span,
                    name: name.node.clone(),
                    base: base.span,
                    ty: other,
                    // `x.sum()` of other languages.
                    near: is_call.then_some(call),
                });
                bad(span)
            }
        }
    }

    pub(super) fn tuple_field(&mut self, base: &'a ast::Expr, index: u32, span: Span) -> Expr {
        let base = self.expr(base, None);
        if is_bad(&base) {
            return bad(span);
        }
        match self.infer.head(&base.ty) {
            Ty::Tuple(fields) if (index as usize) < fields.len() => {
                let index = index as usize;
                project(base, index, fields[index].clone(), span)
            }
            ty => {
                self.report(Problem::NoTupleField { span, index, ty });
                bad(span)
            }
        }
    }

    pub(super) fn tuple(&mut self, items: &'a [ast::Expr], want: Option<&Ty>, span: Span) -> Expr {
        let wants = match want.map(|w| self.infer.head(w)) {
            Some(Ty::Tuple(fields)) if fields.len() == items.len() => fields,
            _ => Vec::new(),
        };
        let fields: Vec<Expr> = items
            .iter()
            .enumerate()
            .map(|(i, item)| self.expr(item, wants.get(i)))
            .collect();
        let ty = Ty::Tuple(fields.iter().map(|f| f.ty.clone()).collect());
        Expr {
            kind: ExprKind::Fields(fields),
            ty,
            span,
        }
    }

    /// Fields in the order of the type that is wanted, where it has just these; in their own otherwise.
    pub(super) fn record(
        &mut self,
        fields: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        if !self.no_duplicates("field", fields.iter().map(|(name, _)| name)) {
            return bad(span);
        }
        let record = want.map_or(Ty::Error, |w| self.infer.head(w));
        let wants: HashMap<&Name, (usize, &Ty)> = match &record {
            Ty::Record(wants) => {
                let places = wants.iter().enumerate();
                places.map(|(i, (n, t))| (n, (i, t))).collect()
            }
            _ => HashMap::new(),
        };
        let mut values: Vec<(Name, Expr)> = fields
            .iter()
            .map(|(n, e)| {
                let value = match wants.get(&n.node) {
                    Some((_, want)) => {
                        let got = self.expr(e, Some(want));
                        self.coerce_with(got, want, |cx| Context::Field {
                            name: n.node.clone(),
                            declared: cx.field_origin(&record, &n.node),
                        })
                    }
                    None => self.expr(e, None),
                };
                (n.node.clone(), value)
            })
            .collect();
        if wants.len() == values.len() && values.iter().all(|(n, _)| wants.contains_key(n)) {
            values.sort_by_key(|(n, _)| wants.get(n).map(|(i, _)| *i));
        }
        let ty = Ty::Record(
            values
                .iter()
                .map(|(n, v)| (n.clone(), v.ty.clone()))
                .collect(),
        );
        Expr {
            kind: ExprKind::Fields(values.into_iter().map(|(_, v)| v).collect()),
            ty,
            span,
        }
    }

    /// `[a, b]`: elements of one type, stacked along a new axis 0.
    pub(super) fn list(&mut self, items: &'a [ast::Expr], span: Span) -> Expr {
        let mut args: Vec<Expr> = Vec::with_capacity(items.len());
        for item in items {
            let arg = self.expr(item, None);
            if is_bad(&arg) {
                return bad(span);
            }
            let head = self.infer.head(&arg.ty);
            if !matches!(head, Ty::Tensor(..)) {
                self.report(Problem::NotATensor {
                    span: arg.span,
                    what: "a list".into(),
                    ty: head,
                });
                return bad(span);
            }
            if let Some(first) = args.first() {
                let want = first.ty.clone();
                let arg = self.coerce(arg, &want, Context::Element { first: first.span });
                if is_bad(&arg) {
                    return bad(span);
                }
                args.push(arg);
            } else {
                args.push(arg);
            }
        }
        let Some(Ty::Tensor(elem, shape)) = args.first().map(|a| self.infer.head(&a.ty)) else {
            self.report(Problem::EmptyList { span });
            return bad(span);
        };
        let mut stacked = vec![ShapeItem::Dim(Dim::int(args.len() as i64))];
        stacked.extend(shape);
        builtin(
            Builtin::StackList,
            args,
            Vec::new(),
            Ty::Tensor(elem, stacked),
            span,
        )
    }
}

/// A field by position. Of something just put together it is the part itself.
pub fn project(base: Expr, index: usize, ty: Ty, span: Span) -> Expr {
    if let ExprKind::Fields(mut fields) = base.kind {
        let mut field = fields.swap_remove(index);
        field.span = span;
        return field;
    }
    Expr {
        kind: ExprKind::Field(Box::new(base), index),
        ty,
        span,
    }
}
