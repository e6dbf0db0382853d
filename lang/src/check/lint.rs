//! Warnings: code that is allowed, and probably not meant.

use super::cx::Cx;
use super::expr::constant;
use super::func::{is_builtin, is_common};
use super::infer::Class;
use super::konst::Const;
use super::load::PRELUDE;
use super::problem::Problem;
use super::world::Item;
use crate::ast::{self, Ident, Name};
use crate::span::Span;
use crate::typed::{ElemTy, Expr, GenericId, Ty};

impl<'a> Cx<'a, '_> {
    /// Comparing floats with `==`, unless against a whole number or an infinity, which they can be exactly.
    pub fn lint_float_equality(&mut self, op: Span, l: &Expr, r: &Expr, elem: &ElemTy) {
        let is_exact = |x: &Expr| match self.const_of(x) {
            Some(Const::Float(value)) => value.is_infinite() || value.fract() == 0.0,
            Some(Const::Int(_) | Const::Dim(_)) => true,
            _ => false,
        };
        if !self.infer.is(elem, Class::Float) || is_exact(l) || is_exact(r) {
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

    /// Variables and parameters never read, at the end of a body.
    pub fn lint_unused(&mut self) {
        let unused = std::mem::take(&mut self.scope.unused);
        if self.w.module(self.module).std {
            return;
        }
        for (name, span, binder) in unused {
            let what = binder.what();
            let field = self.shorthands.contains(&span);
            self.report(Problem::Unused {
                what,
                name,
                span,
                field,
            });
        }
    }

    /// Parameters in brackets that nothing mentions.
    pub fn lint_generics(&mut self, generics: &[ast::GenericParam]) {
        if self.w.module(self.module).std {
            return;
        }
        for (i, generic) in generics.iter().enumerate() {
            let id = GenericId(i as u32);
            let Ident { node: name, span } = &generic.name;
            if !self.used_generics.contains(&id) && !name.starts_with('_') {
                self.report(Problem::Unused {
                    what: "parameter",
                    name: name.clone(),
                    span: *span,
                    field: false,
                });
            }
        }
    }

    /// A name of the user's that is the name of a builtin. A variable `e` is not taken for the number.
    pub fn lint_shadowed(&mut self, name: &Name, span: Span, what: &'static str) {
        let scope = self.w.module(self.module);
        let is_function =
            self.w.module(PRELUDE).items.contains_key(name) || is_builtin(name) && !is_common(name);
        let is_constant = constant(name).is_some() && !matches!(what, "variable" | "parameter");
        if !scope.std && (is_function || is_constant) {
            self.report(Problem::Shadows {
                span,
                name: name.clone(),
                what,
            });
        }
    }

    /// The items of a module, likewise.
    pub fn lint_items(&mut self) {
        let scope = self.w.module(self.module);
        let mut named: Vec<(Name, Span, &'static str)> = Vec::new();
        for (name, span) in &scope.imports {
            named.push((name.clone(), *span, "import"));
        }
        for item in scope.items.values() {
            let (name, what) = match item {
                Item::Const(id) => (&self.w.consts[id.0].def.name, "constant"),
                Item::Type(id) => (&self.w.types[id.0].def.name, "type"),
                Item::Fn(id) => (&self.w.fns[id.0].def.name, "function"),
                Item::Module(_) => continue,
            };
            named.push((name.node.clone(), name.span, what));
        }
        for (name, span, what) in named {
            self.lint_shadowed(&name, span, what);
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
                field: false,
            });
        }
    }
}
