//! What looks like a call and is known to the compiler: casts, `shape` and sizes.

use super::cx::{Cx, bad, is_bad};
use super::func::{FnRef, Form};
use super::konst::Const;
use super::problem::{BatchesFault, Problem};
use crate::ast::{self, Ident, Name};
use crate::span::Span;
use crate::typed::{Expr, ExprKind, ShapeItem, Ty};

impl<'a> Cx<'a, '_> {
    /// Builtins with a form of their own.
    pub(super) fn form(
        &mut self,
        form: Form,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        match form {
            Form::Map => self.map_form(args, named, span),
            Form::Fold => self.fold_form(args, named, span),
            Form::Scan => self.scan_form(args, named, span),
            Form::Shape => self.shape_form(args, named, span),
            Form::Print
            | Form::Debug
            | Form::Save
            | Form::Assert
            | Form::AssertClose
            | Form::Log => {
                self.report(Problem::EffectHere {
                    span,
                    name: form.name(),
                    place: self.place,
                    in_lambda: self.lambda_depth > 0,
                });
                bad(span)
            }
            Form::Batches => {
                self.fault(span, BatchesFault::Place);
                bad(span)
            }
            Form::Dataset | Form::Load | Form::NumpyPermutations | Form::Time => {
                self.host_form(form, args, named, want, span)
            }
        }
    }

    /// `shape(x)`: a tuple of constants.
    fn shape_form(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let f = FnRef::Form(Form::Shape, span);
        self.no_named(&f, named);
        let [arg] = args else {
            self.wrong_arity(&f, 1, args.len(), span);
            return bad(span);
        };
        let x = self.expr(arg, None);
        if is_bad(&x) {
            return bad(span);
        }
        let Some((_, shape)) = self.tensor(&x, "shape") else {
            return bad(span);
        };
        if super::shape::dims(&shape).is_none() {
            self.report(Problem::UnknownRank {
                span,
                what: "`shape`".into(),
                ty: self.infer.ty(&x.ty),
            });
            return bad(span);
        }
        self.sizes_tuple(&shape, span)
    }

    /// A parameter `shape: [B, N]` as a value: a tuple of constants, like `shape(x)`.
    pub fn sizes_value(&mut self, shape: &[ShapeItem], name: &Name, span: Span) -> Expr {
        if super::shape::dims(shape).is_none() {
            self.report(Problem::NotAValue {
                span,
                name: name.clone(),
                what: "a shape of any rank",
            });
            return bad(span);
        }
        self.sizes_tuple(shape, span)
    }

    fn sizes_tuple(&mut self, shape: &[ShapeItem], span: Span) -> Expr {
        let dims = super::shape::dims(shape).unwrap_or_default();
        let fields: Vec<Expr> = dims
            .into_iter()
            .map(|d| self.konst(Const::Dim(d), None, span))
            .collect();
        let ty = Ty::Tuple(fields.iter().map(|f| f.ty.clone()).collect());
        Expr {
            kind: ExprKind::Fields(fields),
            ty,
            span,
        }
    }
}
