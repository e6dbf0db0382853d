//! `let`, and the patterns that it and other forms bind.

use super::cx::{Cx, is_bad};
use super::problem::{Context, Problem};
use super::scope::{Binder, Bound};
use crate::ast::{self, Ident};
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Pattern, ShapeItem, StmtKind, Ty};

impl<'a> Cx<'a, '_> {
    pub fn let_stmt(
        &mut self,
        pattern: &'a ast::Pattern,
        mutable: bool,
        ty: Option<&'a ast::TypeExpr>,
        value: &'a ast::Expr,
    ) -> Option<StmtKind> {
        if let (ast::Pattern::Name(name), false) = (pattern, mutable)
            && self.is_function(value)
        {
            if let Some(t) = ty {
                let want = self.resolve_type(t);
                if let Ty::Fn(..) = want {
                    self.function_arg(value, &want);
                }
            }
            let now = self.scope.now();
            let bound = match self.fn_ref(value) {
                Some(f) => Bound::Function(f.defined_at(now)),
                None => Bound::Bad,
            };
            self.bind(name.node.clone(), name.span, Binder::Function, bound);
            return None;
        }
        self.no_name_twice(std::iter::once(pattern));
        let binder = match mutable {
            true => Binder::Mutable,
            false => Binder::Variable,
        };
        let mark = self.infer.mark();
        let value = match ty {
            Some(t) => {
                let want = self.resolve_type(t);
                let checked = self.check(value, &want, Context::Let { ty: t.span });
                // What the annotation says holds for what follows, even where the value did not fit it.
                if is_bad(&checked) {
                    self.bind_pattern(pattern, &want, binder);
                    return None;
                }
                let layout = self.layout(t);
                let value = Expr {
                    ty: want,
                    ..checked
                };
                self.laid_out(value, &layout)
            }
            None => self.expr(value, None),
        };
        let is_constant = !mutable && ty.is_none() && self.is_untyped(&value);
        self.infer.settle(mark);
        let pattern = self.bind_value(pattern, &value, binder, is_constant);
        if is_bad(&value) {
            return None;
        }
        Some(StmtKind::Let { pattern, value })
    }

    /// Whether sizes in the value are as they stand, `N`, and not cast, `f32(N)`.
    fn is_untyped(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Dim(_) => match &value.ty {
                Ty::Tensor(elem, _) => self.infer.literal_class(elem).is_some(),
                _ => false,
            },
            ExprKind::Fields(parts) => parts.iter().all(|p| self.is_untyped(p)),
            _ => true,
        }
    }

    /// Binds a pattern to a value, keeping what of it is known at compile time.
    fn bind_value(
        &mut self,
        pattern: &ast::Pattern,
        value: &Expr,
        binder: Binder,
        is_constant: bool,
    ) -> Pattern {
        let ty = self.infer.ty(&value.ty);
        match (pattern, &value.kind) {
            (ast::Pattern::Name(name), ExprKind::Dim(d)) if is_constant => {
                let id = self.local(name.node.clone(), ty, false, name.span);
                let value = super::konst::Const::Dim(d.clone());
                self.bind(
                    name.node.clone(),
                    name.span,
                    binder,
                    Bound::Const(value, None),
                );
                Pattern::Local(id)
            }
            (ast::Pattern::Tuple(parts, _), ExprKind::Fields(fields))
                if parts.len() == fields.len() && matches!(ty, Ty::Tuple(_)) =>
            {
                let parts = parts.iter().zip(fields);
                Pattern::Fields(
                    parts
                        .map(|(p, f)| self.bind_value(p, f, binder, is_constant))
                        .collect(),
                )
            }
            _ => {
                let bound = self.bind_pattern(pattern, &ty, binder);
                if let (Pattern::Local(id), Binder::Variable, Some(known)) =
                    (&bound, binder, self.const_of(value))
                {
                    self.local_consts.insert(*id, known);
                }
                if let (Pattern::Local(id), Binder::Variable, ExprKind::Fields(fields)) =
                    (&bound, binder, &value.kind)
                    && let Some(sizes) = fields.iter().map(|f| self.const_of(f)).collect()
                {
                    self.local_sizes.insert(*id, sizes);
                }
                if let (Pattern::Local(id), ExprKind::Builtin { attrs, .. }) = (&bound, &value.kind)
                    && attrs.iter().any(|a| a.name == "keepdims")
                {
                    self.initialisers.insert(*id, value.clone());
                }
                bound
            }
        }
    }

    /// One value cannot be two things of one name.
    pub fn no_name_twice<'p>(&mut self, patterns: impl Iterator<Item = &'p ast::Pattern>) {
        let mut names = Vec::new();
        patterns.for_each(|p| names_in(p, &mut names));
        names.retain(|name| !name.node.starts_with('_'));
        self.no_duplicates("name", names.into_iter());
    }

    /// Declares the names of a pattern for a value of a type.
    pub fn bind_pattern(&mut self, pattern: &ast::Pattern, ty: &Ty, binder: Binder) -> Pattern {
        match pattern {
            ast::Pattern::Name(name) => {
                Pattern::Local(self.declare(name.node.clone(), ty.clone(), binder, name.span))
            }
            ast::Pattern::Wild(_) => Pattern::Wild,
            ast::Pattern::Tuple(parts, span) => self.bind_tuple(parts, *span, ty, binder),
            ast::Pattern::Record(fields, span) => self.bind_record(fields, *span, ty, binder),
        }
    }

    fn bind_tuple(
        &mut self,
        parts: &[ast::Pattern],
        span: Span,
        ty: &Ty,
        binder: Binder,
    ) -> Pattern {
        let types = match self.infer.ty(ty) {
            Ty::Tuple(types) if types.len() == parts.len() => types,
            Ty::Tensor(elem, shape) if self.is_key_row(&elem, &shape, parts.len()) => {
                vec![Ty::Tensor(elem, shape[1..].to_vec()); parts.len()]
            }
            Ty::Error => vec![Ty::Error; parts.len()],
            ty => {
                self.report(Problem::PatternMismatch {
                    span,
                    parts: parts.len(),
                    ty,
                });
                vec![Ty::Error; parts.len()]
            }
        };
        let bound = parts
            .iter()
            .zip(&types)
            .map(|(p, t)| self.bind_pattern(p, t, binder))
            .collect();
        Pattern::Fields(bound)
    }

    /// Whether a tensor is an array of just so many keys: `let (k1, k2) = split(k);`
    fn is_key_row(&self, elem: &crate::typed::ElemTy, shape: &[ShapeItem], n: usize) -> bool {
        *elem == crate::typed::ElemTy::Known(crate::typed::Elem::Key)
            && matches!(shape.first(), Some(ShapeItem::Dim(d)) if d.as_int() == Some(n as i64))
    }

    fn bind_record(
        &mut self,
        fields: &[(Ident, ast::Pattern)],
        span: Span,
        ty: &Ty,
        binder: Binder,
    ) -> Pattern {
        let known = match self.infer.ty(ty) {
            Ty::Record(known) => known,
            Ty::Error => {
                for (_, p) in fields {
                    self.bind_pattern(p, &Ty::Error, binder);
                }
                return Pattern::Wild;
            }
            ty => {
                self.report(Problem::PatternMismatch {
                    span,
                    parts: fields.len(),
                    ty,
                });
                for (_, p) in fields {
                    self.bind_pattern(p, &Ty::Error, binder);
                }
                return Pattern::Wild;
            }
        };
        let mut bound: Vec<Pattern> = vec![Pattern::Wild; known.len()];
        for (name, p) in fields {
            self.shorthands.insert(name.span);
            match known.place(&name.node) {
                Some(i) => bound[i] = self.bind_pattern(p, &known[i].1, binder),
                None => {
                    self.no_field(name, span, known.clone());
                    self.bind_pattern(p, &Ty::Error, binder);
                }
            }
        }
        Pattern::Fields(bound)
    }
}

fn names_in<'p>(pattern: &'p ast::Pattern, out: &mut Vec<&'p Ident>) {
    match pattern {
        ast::Pattern::Name(name) => out.push(name),
        ast::Pattern::Wild(_) => {}
        ast::Pattern::Tuple(parts, _) => parts.iter().for_each(|p| names_in(p, out)),
        ast::Pattern::Record(fields, _) => fields.iter().for_each(|(_, p)| names_in(p, out)),
    }
}
