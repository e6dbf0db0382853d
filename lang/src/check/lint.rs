//! Warnings: code that is allowed, and probably not meant.

use super::cx::Cx;
use super::func::is_builtin;
use super::infer::Class;
use super::load::PRELUDE;
use super::problem::Problem;
use crate::ast::{self, Name};
use crate::span::Span;
use crate::typed::{ElemTy, Expr, Ty};

impl<'a> Cx<'a, '_> {
    /// Comparing floats with `==`, unless against a constant.
    pub fn lint_float_equality(&mut self, op: Span, l: &Expr, r: &Expr, elem: &ElemTy) {
        let is_float = self.infer.is(elem, Class::Float);
        if !is_float || self.const_of(l).is_some() || self.const_of(r).is_some() {
            return;
        }
        let (left, right) = (self.text(l.span).to_string(), self.text(r.span).to_string());
        let negated = self.text(op).starts_with('!');
        self.report(Problem::FloatEquality {
            span: op,
            left,
            right,
            negated,
        });
    }

    /// A value computed by a statement and not used.
    pub fn lint_dropped(&mut self, e: &'a ast::Expr, value: &Expr) {
        let ty = self.infer.ty(&value.ty);
        if ty != Ty::unit() && !matches!(ty, Ty::Error) {
            self.report(Problem::Dropped { span: e.span, ty });
        }
    }

    /// A value at the end of a loop's body or of a branch that is a statement.
    pub fn lint_loop_value(&mut self, block: &'a ast::Block, ty: &Ty) {
        let ty = self.infer.ty(ty);
        if let Some(value) = block.value.as_deref()
            && ty != Ty::unit()
            && !matches!(ty, Ty::Error)
        {
            self.report(Problem::Dropped {
                span: value.span,
                ty,
            });
        }
    }

    /// Variables never read, at the end of a body.
    pub fn lint_unused(&mut self, params: &[Span]) {
        let unused = std::mem::take(&mut self.scope.unused);
        if self.w.module(self.module).std {
            return;
        }
        for (name, span) in unused {
            let what = if params.contains(&span) {
                "parameter"
            } else {
                "variable"
            };
            self.report(Problem::Unused { what, name, span });
        }
    }

    /// A function of the user's that takes the name of a builtin.
    pub fn lint_shadowed(&mut self, name: &Name, span: Span) {
        let scope = self.w.module(self.module);
        let in_prelude = self.w.module(PRELUDE).items.contains_key(name);
        if !scope.std && (in_prelude || is_builtin(name)) {
            self.report(Problem::Shadows {
                span,
                name: name.clone(),
                what: "function",
            });
        }
    }

    /// Imports that nothing refers to.
    pub fn lint_imports(&mut self) {
        let scope = self.w.module(self.module);
        if scope.std {
            return;
        }
        let unused: Vec<(Name, Span)> = scope
            .imports
            .iter()
            .filter(|(name, _)| !scope.used_imports.contains(name))
            .cloned()
            .collect();
        for (name, span) in unused {
            self.report(Problem::Unused {
                what: "import",
                name,
                span,
            });
        }
    }
}
