//! `for b in batches(load("big/*.npz"), SIZE, key) { … }`: data from files, a shuffled batch for each turn.
//!
//! It is no value: a batch exists while the loop is at it. What a batch is has the type of what `load` gives, with
//! `SIZE` rows in place of all.

use super::cx::{Cx, is_bad};
use super::func::Form;
use super::problem::{BatchesFault, Problem};
use crate::ast::{self, ExprKind as A, Ident};
use crate::span::Span;
use crate::typed::{Batches, Dim, Expr, ExprKind, Host, ShapeItem, Ty};

impl<'a> Cx<'a, '_> {
    /// The builtin of this form that an expression calls, if nothing else has its name.
    pub fn calls_form(&mut self, e: &ast::Expr) -> Option<Form> {
        let A::Call {
            callee,
            args,
            named,
        } = &e.kind
        else {
            return None;
        };
        let A::Name(name) = &callee.kind else {
            return None;
        };
        let is_metrics = &**name == "log" && !args.is_empty() && !named.is_empty();
        let form = Form::of(name).or(is_metrics.then_some(Form::Log))?;
        let shadowed = self.scope.get(name).is_some() || self.w.lookup(self.module, name).is_some();
        (!shadowed).then_some(form)
    }

    /// What a `for` goes through, with the type of one turn's batch.
    pub fn batches(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<(Batches, Ty)> {
        if !self.in_script() {
            self.report(Problem::HostHere {
                span,
                name: Form::Batches.name(),
            });
            return None;
        }
        self.no_named(&super::func::FnRef::Form(Form::Batches, span), named);
        self.arg_count(Form::Batches, 3, args.len(), span)?;
        let data = self.loaded(&args[0]);
        let size = self.batch_size(&args[1]);
        let key = self.expr(&args[2], None);
        let is_key = !is_bad(&key) && super::builtins::check_key(self, &key, "batches").is_some();
        let (data, (size, length)) = (data?, size?);
        self.row_type(&data)?;
        let ExprKind::Host(Host::Load { path }) = &data.kind else {
            return None;
        };
        let rows = super::subst::leaves(&data.ty)
            .iter()
            .find_map(|(_, leaf)| known_rows(leaf))?;
        if rows < length {
            self.fault(args[1].span, BatchesFault::TooFew { rows, size });
            return None;
        }
        let ty = super::subst::map_leaves(&data.ty, &mut |leaf| match leaf {
            Ty::Tensor(elem, shape) => {
                let mut shape = shape.clone();
                if let Some(first) = shape.first_mut() {
                    *first = ShapeItem::Dim(size.clone());
                }
                Ty::Tensor(elem.clone(), shape)
            }
            other => other.clone(),
        });
        is_key.then_some(())?;
        let batches = Batches {
            path: path.clone(),
            count: (rows / length) as usize,
            key,
            ty: ty.clone(),
        };
        Some((batches, ty))
    }

    /// `load(…)` itself; reports anything else.
    fn loaded(&mut self, e: &'a ast::Expr) -> Option<Expr> {
        if self.calls_form(e) != Some(Form::Load) {
            self.fault(e.span, BatchesFault::NotLoad);
            return None;
        }
        Some(self.expr(e, None)).filter(|data| !is_bad(data))
    }

    /// How many rows a batch has, as it was named and as a number.
    fn batch_size(&mut self, e: &'a ast::Expr) -> Option<(Dim, i64)> {
        let size = self.size(e)?;
        let length = size.as_int().filter(|&n| n >= 1);
        if length.is_none() {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "a number of rows, at least 1",
            });
        }
        length.map(|n| (size, n))
    }

    pub fn fault(&mut self, span: Span, fault: BatchesFault) {
        self.report(Problem::Batches { span, fault });
    }
}

/// How many rows a tensor from a file has.
fn known_rows(leaf: &Ty) -> Option<i64> {
    let Ty::Tensor(_, shape) = leaf else {
        return None;
    };
    match shape.first()? {
        ShapeItem::Dim(dim) => dim.as_int(),
        _ => None,
    }
}
