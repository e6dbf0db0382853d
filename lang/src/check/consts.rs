//! Constants: those of modules, evaluated on first use, and those of blocks.

use super::cx::{Cx, Place};
use super::konst::Const;
use super::problem::{Context, Problem};
use super::scope::{Binder, Bound};
use super::world::{ConstId, ConstValue, State};
use crate::ast::{self, ExprKind as A, Ident};
use crate::span::Span;
use crate::typed::{Callee, Elem, ElemTy, Expr, ExprKind, Pattern, StmtKind, Ty};
use std::rc::Rc;

/// What a constant of a block is.
enum Known {
    Scalar(Const, Option<Elem>),
    Value(Expr),
}

impl<'a> Cx<'a, '_> {
    /// The value of a constant, evaluated on first use.
    pub fn const_item(&mut self, id: ConstId, span: Span) -> ConstValue {
        let item = &mut self.w.consts[id.0];
        match &item.value {
            State::Done(value) => return value.clone(),
            State::Busy => {
                let problem = Problem::ConstCycle {
                    span,
                    name: item.def.name.node.clone(),
                    definition: item.def.name.span,
                };
                self.report(problem);
                return ConstValue::Bad;
            }
            State::Open => item.value = State::Busy,
        }
        let (def, module, set) = (item.def, item.module, item.set.clone());
        if !self.open_definition(span) {
            self.w.consts[id.0].value = State::Open;
            return ConstValue::Bad;
        }
        let mut cx = Cx::new(&mut *self.w, module, Place::Pure, Rc::default());
        let value = cx.evaluate(def, set);
        self.close_definition();
        self.w.consts[id.0].value = State::Done(value.clone());
        value
    }

    fn evaluate(&mut self, def: &'a ast::ConstDef, set: Option<Const>) -> ConstValue {
        if let Some(text) = self.static_text(&def.value) {
            return ConstValue::Scalar(set.unwrap_or(Const::Str(text)), None);
        }
        let value = self.const_expr(def);
        if super::cx::is_bad(&value) {
            return ConstValue::Bad;
        }
        match self.folded(&value) {
            Some(known) if self.fits_own(&known, &value) => {
                ConstValue::Scalar(set.unwrap_or(known), self.own_elem(&value))
            }
            Some(_) => ConstValue::Bad,
            None => ConstValue::Inline,
        }
    }

    /// A number too large for the type that its constant states is wrong there, not where the constant is used.
    fn fits_own(&mut self, known: &Const, value: &Expr) -> bool {
        let ty = self.infer.ty(&value.ty);
        match known {
            Const::Int(n) if !super::zonk::fits(*n, &ty) => {
                self.report(Problem::LiteralRange {
                    span: value.span,
                    value: *n,
                    ty,
                });
                false
            }
            _ => true,
        }
    }

    /// The element type of a scalar that is more than a literal: it was declared, or cast.
    fn own_elem(&self, value: &Expr) -> Option<Elem> {
        match self.infer.ty(&value.ty) {
            Ty::Tensor(ElemTy::Known(e), shape) if shape.is_empty() && e != Elem::Bool => Some(e),
            _ => None,
        }
    }

    /// The defining expression of a constant, of the type it states.
    pub fn const_expr(&mut self, def: &'a ast::ConstDef) -> Expr {
        match &def.ty {
            Some(t) => {
                let want = self.resolve_type(t);
                let name = def.name.node.clone();
                self.check(&def.value, &want, Context::Const { name, ty: t.span })
            }
            None => self.expr(&def.value, None),
        }
    }

    /// `const N = …;` in a block: a number, or whatever needs no data, which is a variable that nothing changes.
    pub fn local_const(&mut self, def: &'a ast::ConstDef) -> Option<StmtKind> {
        let Ident { node, span } = &def.name;
        let (bound, stmt) = match self.local_const_value(def) {
            Some(Known::Scalar(value, elem)) => (Bound::Const(value, elem), None),
            Some(Known::Value(value)) => {
                let ty = self.infer.ty(&value.ty);
                let id = self.local(node.clone(), ty, false, *span);
                if let Some(parts) = super::fold::parts(&value)
                    && let Some(sizes) = parts.iter().map(|p| self.folded(p)).collect()
                {
                    self.local_sizes.insert(id, sizes);
                }
                self.const_values.insert(id, value.clone());
                let pattern = Pattern::Local(id);
                (Bound::Local(id), Some(StmtKind::Let { pattern, value }))
            }
            None => (Bound::Bad, None),
        };
        self.bind(node.clone(), *span, Binder::Constant, bound);
        stmt
    }

    fn local_const_value(&mut self, def: &'a ast::ConstDef) -> Option<Known> {
        if let Some(text) = self.static_text(&def.value) {
            return Some(Known::Scalar(Const::Str(text), None));
        }
        let mark = self.infer.mark();
        let value = self.const_expr(def);
        if super::cx::is_bad(&value) {
            return None;
        }
        if let Some(known) = self.folded(&value) {
            return self
                .fits_own(&known, &value)
                .then(|| Known::Scalar(known, self.own_elem(&value)));
        }
        // A quotient of parameters is a constant too, where it is exact.
        match &def.value.kind {
            A::Binary(..) if value.ty == Ty::scalar(Elem::I32) || self.is_int(&value.ty) => {
                let dim = self.static_dim(&def.value)?;
                self.need_whole(&dim, def.value.span);
                Some(Known::Scalar(Const::of_dim(dim), self.own_elem(&value)))
            }
            _ if self.needs_no_data(&value) => {
                self.infer.settle(mark);
                Some(Known::Value(value))
            }
            _ => {
                self.report(Problem::NotStatic {
                    span: def.value.span,
                    what: "a constant",
                });
                None
            }
        }
    }

    fn needs_no_data(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Dim(_) => true,
            ExprKind::Local(id) => {
                self.local_consts.contains_key(id) || self.const_values.contains_key(id)
            }
            ExprKind::Field(e, _) => self.needs_no_data(e),
            ExprKind::Fields(all) | ExprKind::Builtin { args: all, .. } => {
                all.iter().all(|e| self.needs_no_data(e))
            }
            ExprKind::Call(Callee::Fn { .. }, args) => args.iter().all(|e| self.needs_no_data(e)),
            _ => false,
        }
    }

    fn is_int(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Tensor(elem, shape) => {
                shape.is_empty()
                    && (self.infer.is(elem, super::infer::Class::Int)
                        || self.infer.literal_class(elem) == Some(super::infer::Class::Num))
            }
            _ => false,
        }
    }
}
