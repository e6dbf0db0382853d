//! What names stand for: values in scope, items of this module and of others.

use super::cx::{Cx, bad};
use super::expr::constant;
use super::konst::Const;
use super::near::near;
use super::problem::Problem;
use super::scope::Bound;
use super::world::{ConstId, ConstValue, Item};
use crate::ast::{self, ExprKind as A, GenericKind, Ident, Name};
use crate::span::Span;
use crate::typed::{Dim, Expr, ExprKind, LocalId, Ty};

impl<'a> Cx<'a, '_> {
    pub(super) fn name(&mut self, name: &Name, span: Span) -> Expr {
        if let Some(binding) = self.scope.get(name) {
            return match binding.bound.clone() {
                Bound::Local(id) => self.local_value(id, span),
                Bound::Const(value, elem) => self.konst(value, elem, span),
                Bound::Shape(shape) => self.sizes_value(&shape, name, span),
                Bound::Function(_) => self.function_as_value(name, span),
                Bound::Bad => bad(span),
            };
        }
        if let Some((id, kind)) = self.generic(name) {
            return match kind {
                GenericKind::Dim => self.konst(Const::Dim(Dim::param(id)), None, span),
                _ => {
                    self.report(Problem::NotAValue {
                        span,
                        name: name.clone(),
                        what: "a type parameter",
                    });
                    bad(span)
                }
            };
        }
        match self.w.lookup(self.module, name) {
            Some(item) => self.item_value(item, name, span),
            None => match constant(name) {
                Some(value) => self.konst(value, None, span),
                None if super::func::is_builtin(name) => self.function_as_value(name, span),
                None => {
                    let ident = Ident::new(name.clone(), span);
                    self.unknown(&ident, "name");
                    bad(span)
                }
            },
        }
    }

    fn local_value(&mut self, id: LocalId, span: Span) -> Expr {
        let ty = self.local_ty(id).clone();
        if let Ty::Fn(..) = ty {
            let name = self.locals[id.0 as usize].name.clone();
            return self.function_as_value(&name, span);
        }
        Expr {
            kind: ExprKind::Local(id),
            ty,
            span,
        }
    }

    pub fn function_as_value(&mut self, name: &Name, span: Span) -> Expr {
        self.report(Problem::FunctionAsValue {
            span,
            name: Some(name.clone()),
        });
        bad(span)
    }

    fn item_value(&mut self, item: Item, name: &Name, span: Span) -> Expr {
        let what = match item {
            Item::Const(id) => return self.const_value(id, span),
            Item::Fn(_) => return self.function_as_value(name, span),
            Item::Type(_) => "a type",
            Item::Module(_) => "a module",
        };
        self.report(Problem::NotAValue {
            span,
            name: name.clone(),
            what,
        });
        bad(span)
    }

    pub fn const_value(&mut self, id: ConstId, span: Span) -> Expr {
        match self.const_item(id, span) {
            ConstValue::Scalar(value, elem) => self.konst(value, elem, span),
            ConstValue::Inline if !self.expand(span) => bad(span),
            ConstValue::Inline => {
                let (module, def) = (self.w.consts[id.0].module, self.w.consts[id.0].def);
                let mut value = self.in_module(module, |cx| cx.const_expr(def));
                value.span = span;
                value
            }
            ConstValue::Bad => bad(span),
        }
    }

    /// Runs `f` as if the code stood at the top of a module: none of the local names are seen.
    pub fn in_module<T>(
        &mut self,
        module: super::load::ModuleId,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let home = std::mem::replace(&mut self.module, module);
        self.scope.hide(0);
        let out = f(self);
        self.scope.show();
        self.module = home;
        out
    }

    /// Whether nothing in sight has a name.
    pub fn means_nothing(&mut self, name: &Name) -> bool {
        self.scope.get(name).is_none()
            && self.generic(name).is_none()
            && self.w.lookup(self.module, name).is_none()
            && constant(name).is_none()
            && !super::func::is_builtin(name)
    }

    /// Reports a name that nothing has, with the nearest that something does.
    pub fn unknown(&mut self, name: &Ident, what: &'static str) {
        if self.w.module(self.module).broken.contains(&name.node) {
            return;
        }
        let near = self.near_value(&name.node);
        self.report(Problem::UnknownName {
            what,
            name: name.node.clone(),
            module: None,
            span: name.span,
            near,
        });
    }

    fn near_value(&self, name: &str) -> Option<String> {
        if self.w.has_many_problems() {
            return None;
        }
        let local = self.scope.visible().map(|(n, _)| &**n);
        let generic = self.generic_names().map(|n| &**n);
        let own = self.w.module(self.module).items.keys().map(|n| &**n);
        let prelude = self
            .w
            .module(super::load::PRELUDE)
            .items
            .keys()
            .map(|n| &**n);
        if let Some(here) = super::near::elsewhere(name) {
            return Some(here);
        }
        // What stands nearer in scope is offered first.
        near(name, local.chain(generic))
            .or_else(|| near(name, ["true", "false"].into_iter()))
            .or_else(|| near(name, own))
            .or_else(|| {
                let builtins = super::func::builtin_names().map(|n: &str| n);
                near(name, prelude.chain(builtins))
            })
    }

    pub fn is_builtin_or_prelude(&self, name: &str) -> bool {
        let prelude = self.w.module(super::load::PRELUDE);
        super::func::is_builtin(name) || prelude.items.contains_key(name)
    }

    /// The module that an expression before a dot names, unless a variable has that name.
    pub fn module_of(&mut self, base: &ast::Expr) -> Option<super::load::ModuleId> {
        let A::Name(name) = &base.kind else {
            return None;
        };
        if self.scope.get(name).is_some() || self.generic(name).is_some() {
            return None;
        }
        match self.w.lookup(self.module, name) {
            Some(Item::Module(m)) => Some(m),
            _ => None,
        }
    }

    pub(super) fn module_value(
        &mut self,
        module: super::load::ModuleId,
        base: &ast::Expr,
        name: &Ident,
        span: Span,
    ) -> Expr {
        match self.module_item(module, base, name) {
            Some(item) => self.item_value(item, &name.node, span),
            None => bad(span),
        }
    }

    /// An item of an imported module; reports when it has none of that name.
    pub fn module_item(
        &mut self,
        module: super::load::ModuleId,
        base: &ast::Expr,
        name: &Ident,
    ) -> Option<Item> {
        let scope = self.w.module(module);
        let items = &scope.items;
        match items.get(&name.node) {
            None if scope.broken.contains(&name.node) => None,
            Some(Item::Module(_)) | None => {
                let known = items
                    .iter()
                    .filter(|(_, i)| !matches!(i, Item::Module(_)))
                    .map(|(n, _)| &**n);
                let near = near(&name.node, known);
                self.report(Problem::UnknownName {
                    what: "name",
                    name: name.node.clone(),
                    module: Some(self.text(base.span).into()),
                    span: name.span,
                    near,
                });
                None
            }
            Some(item) => Some(*item),
        }
    }
}
