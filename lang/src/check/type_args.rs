//! The arguments of generic types and functions.

use super::cx::Cx;
use super::problem::Problem;
use super::types::{good, names_elem};
use crate::ast::{Expr, ExprKind, GenericKind, Ident, IndexArg, Name, TypeArg};
use crate::span::Span;
use crate::typed::{Elem, ElemTy, GenericArg, Ty};

impl<'a> Cx<'a, '_> {
    /// Arguments in brackets for generic parameters: `optim.Adam[Params]`, `Pair[3, f32]`.
    pub(super) fn generic_args(
        &mut self,
        name: &str,
        generics: &[crate::typed::Generic],
        args: &'a [TypeArg],
        span: Span,
    ) -> Option<Vec<GenericArg>> {
        let spreads = generics
            .iter()
            .filter(|g| g.kind == GenericKind::Spread)
            .count();
        let fixed = generics.len() - spreads;
        if args.len() < fixed || (spreads == 0 && args.len() > fixed) || spreads > 1 {
            self.report(Problem::GenericArgCount {
                span,
                name: name.into(),
                expected: fixed,
                found: args.len(),
            });
            return None;
        }
        let mut rest = args;
        let mut out = Vec::new();
        for (i, g) in generics.iter().enumerate() {
            let after = generics.len() - i - 1;
            if g.kind == GenericKind::Spread {
                let (mine, others) = rest.split_at(rest.len() - after);
                out.push(GenericArg::Spread(self.sizes(mine)?));
                rest = others;
            } else {
                let (first, others) = rest.split_first()?;
                out.push(self.generic_arg(g.kind, first, span)?);
                rest = others;
            }
        }
        Some(out)
    }

    pub(super) fn generic_arg(
        &mut self,
        kind: GenericKind,
        arg: &'a TypeArg,
        span: Span,
    ) -> Option<GenericArg> {
        match (kind, arg) {
            (GenericKind::Dim, TypeArg::Dim { size, .. }) => self.size(size).map(GenericArg::Dim),
            (GenericKind::Dim | GenericKind::Spread, _) => {
                self.report(Problem::TypeForDimension { span });
                None
            }
            (GenericKind::Tree, TypeArg::Type(t)) => {
                good(self.resolve_type(t)).map(GenericArg::Tree)
            }
            (GenericKind::Tree, TypeArg::Dim { size, .. }) => {
                good(self.type_of_expr(size)?).map(GenericArg::Tree)
            }
            (GenericKind::Float | GenericKind::Int | GenericKind::Num, arg) => {
                let ty = match arg {
                    TypeArg::Type(t) => self.resolve_type(t),
                    TypeArg::Dim { size, .. } => self.type_of_expr(size)?,
                    TypeArg::Spread(_) => Ty::Error,
                };
                self.elem_arg(kind, ty, span)
            }
            (GenericKind::Tree, TypeArg::Spread(name)) => {
                self.report(Problem::TypeForDimension { span: name.span });
                None
            }
        }
    }

    /// An element type given for `D: float` and the like.
    pub fn elem_arg(&mut self, kind: GenericKind, ty: Ty, span: Span) -> Option<GenericArg> {
        match ty {
            Ty::Tensor(elem, shape)
                if shape.is_empty() && self.infer.is(&elem, super::infer::Class::of(kind)) =>
            {
                Some(GenericArg::Elem(elem))
            }
            Ty::Error => None,
            other => {
                self.report(Problem::ElemArg {
                    span,
                    kind,
                    found: other,
                });
                None
            }
        }
    }

    /// A type that the grammar has read as an expression: `Params`, `f32[3]`, `(f32, optim.Schedule)`.
    pub fn type_of_expr(&mut self, e: &'a Expr) -> Option<Ty> {
        match &e.kind {
            ExprKind::Tuple(parts) => {
                let parts: Option<Vec<Ty>> = parts.iter().map(|p| self.type_of_expr(p)).collect();
                return parts.map(Ty::Tuple);
            }
            ExprKind::Record(fields) => {
                self.no_duplicates("field", fields.iter().map(|(name, _)| name));
                let fields: Option<Vec<(Name, Ty)>> = fields
                    .iter()
                    .map(|(n, f)| Some((n.node.clone(), self.type_of_expr(f)?)))
                    .collect();
                return Some(Ty::Record(fields?.into_iter().collect()));
            }
            _ => {}
        }
        let (head, args) = match &e.kind {
            ExprKind::Index(head, args) => (&**head, args.as_slice()),
            _ => (e, &[] as &[IndexArg]),
        };
        let (module, name) = match &head.kind {
            ExprKind::Name(name) => (None, Ident::new(name.clone(), head.span)),
            ExprKind::Field(module, name) => match &module.kind {
                ExprKind::Name(m) => (Some(Ident::new(m.clone(), module.span)), name.clone()),
                _ => {
                    self.report(Problem::DimensionForType { span: e.span });
                    return None;
                }
            },
            _ => {
                self.report(Problem::DimensionForType { span: e.span });
                return None;
            }
        };
        if args.is_empty() {
            return Some(self.path_type(module.as_ref(), &name, &[], e.span));
        }
        self.indexed_type(module.as_ref(), &name, args, e.span)
    }

    /// `f32[3]`, `D[B, N]` or `Layer[2, f32]` where an expression stands.
    fn indexed_type(
        &mut self,
        module: Option<&Ident>,
        name: &Ident,
        args: &'a [IndexArg],
        span: Span,
    ) -> Option<Ty> {
        let elem = match (module, Elem::from_name(&name.node)) {
            (None, Some(elem)) => Some(ElemTy::Known(elem)),
            (None, None) => match self.generic(&name.node) {
                Some((id, GenericKind::Float | GenericKind::Int | GenericKind::Num)) => {
                    Some(ElemTy::Param(id))
                }
                Some((id, kind)) => return Some(self.generic_type(id, kind, name, &[], span)),
                None => None,
            },
            (Some(_), _) => None,
        };
        if let Some(elem) = elem {
            return Some(Ty::Tensor(elem, self.explicit_shape(args, span)?));
        }
        let id = self.type_item(module, name)?;
        let alias = self.alias(id, span)?;
        let given = self.explicit_args(&alias.shown, &alias.generics, args, span)?;
        let is_spread = |i: usize| alias.generics[i].kind == GenericKind::Spread;
        let given: Vec<GenericArg> = (given.into_iter().enumerate())
            .map_while(|(i, arg)| arg.or_else(|| is_spread(i).then(|| GenericArg::Spread(vec![]))))
            .collect();
        if given.len() < alias.generics.len() {
            self.report(Problem::GenericArgCount {
                span,
                name: alias.shown.as_str().into(),
                expected: alias.generics.len(),
                found: args.len(),
            });
            return None;
        }
        Some(self.open_alias(&alias, &given, span))
    }

    /// A dimension in a type or a shape: exact, and not negative.
    pub fn size(&mut self, e: &'a Expr) -> Option<crate::typed::Dim> {
        if names_elem(e) {
            self.report(Problem::TypeForDimension { span: e.span });
            return None;
        }
        let dim = self.static_dim(e)?;
        self.need_size(&dim, e.span);
        Some(dim)
    }
}
