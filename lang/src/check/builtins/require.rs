//! What the rules have in common: demands on operands, axes and words.

use super::Args;
use crate::check::cx::Cx;
use crate::check::infer::{Clash, Class};
use crate::check::problem::{Context, Problem};
use crate::check::shape;
use crate::span::Span;
use crate::typed::{Builtin, Dim, Elem, ElemTy, Expr, Shape, ShapeItem, Ty};

impl Cx<'_, '_> {
    /// That the elements of an operand are of a class; narrows literals.
    pub fn require_class(&mut self, x: &Expr, what: &str, class: Class) -> Option<(ElemTy, Shape)> {
        let (elem, dims) = self.tensor(x, what)?;
        let is_key = self.infer.elem(&elem) == ElemTy::Known(Elem::Key);
        if self.infer.require(&elem, class).is_ok() && !is_key {
            return Some((self.infer.elem(&elem), dims));
        }
        let wanted = match class {
            Class::Any => "a number or a bool",
            Class::Num => "a number",
            Class::Int => "an integer",
            Class::Float => "a float",
        };
        self.wrong_class(x, &format!("`{what}`"), wanted);
        None
    }

    pub fn require_elem(
        &mut self,
        x: &Expr,
        what: &str,
        elem: Elem,
        wanted: &'static str,
    ) -> Option<Shape> {
        let (found, dims) = self.tensor(x, what)?;
        if self.infer.unify_elem(&found, &ElemTy::Known(elem)).is_ok() {
            return Some(dims);
        }
        self.wrong_class(x, &format!("`{what}`"), wanted);
        None
    }

    /// That two operands have one element type.
    pub fn same_elem(&mut self, what: &'static str, a: &Expr, b: &Expr) -> Option<ElemTy> {
        let (x, _) = self.tensor(a, what)?;
        let (y, _) = self.tensor(b, what)?;
        if self.infer.unify_elem(&x, &y).is_err() {
            let problem = Problem::ElemMix {
                op: what,
                op_span: a.span.to(b.span),
                left: self.operand(a),
                right: self.operand(b),
                help: self.cast_help((&a.ty, a.span), (&b.ty, b.span)),
            };
            self.report(problem);
            return None;
        }
        Some(self.infer.elem(&x))
    }

    /// The common shape of operands under broadcasting.
    pub fn broadcast_all(&mut self, what: &str, span: Span, args: &[&Expr]) -> Option<Shape> {
        let mut shape = Shape::new();
        let mut last: Option<&Expr> = None;
        for arg in args {
            let (_, dims) = self.tensor(arg, what)?;
            shape = match last {
                None => dims,
                Some(before) => self.broadcast_of(what, span, before, &shape, arg, &dims)?,
            };
            last = Some(arg);
        }
        Some(shape)
    }

    /// An axis of a shape, reported if it is none: its place, and how it is handed on.
    pub fn axis_of(
        &mut self,
        what: &str,
        span: Span,
        axis: &Dim,
        shape: &[ShapeItem],
        ty: &Ty,
    ) -> Option<(usize, i64)> {
        let Some(n) = axis.as_int() else {
            self.report(Problem::NotStatic {
                span,
                what: "an axis that is a number",
            });
            return None;
        };
        let found = shape::axis(shape, n);
        if found.is_none() {
            self.report(Problem::AxisRange {
                span,
                what: what.into(),
                axis: n,
                ty: self.infer.ty(ty),
            });
        }
        found
    }

    /// Several axes, none twice.
    pub fn axes_of(
        &mut self,
        what: &str,
        span: Span,
        axes: &[Dim],
        shape: &[ShapeItem],
        ty: &Ty,
    ) -> Option<Vec<(usize, i64)>> {
        let mut out: Vec<(usize, i64)> = Vec::new();
        for axis in axes {
            let found = self.axis_of(what, span, axis, shape, ty)?;
            if out.iter().any(|(at, _)| *at == found.0) {
                self.report(Problem::AxisTwice {
                    span,
                    what: what.into(),
                    axis: axis.as_int().unwrap_or(0),
                });
                return None;
            }
            out.push(found);
        }
        Some(out)
    }

    /// One of a few words.
    pub fn one_of(
        &mut self,
        a: &Args,
        i: usize,
        what: &'static str,
        known: &'static [&'static str],
    ) -> Option<String> {
        let text = a.text(i)?;
        if known.contains(&&*text) {
            return Some(text.to_string());
        }
        self.report(Problem::OneOfTexts {
            span: a.span,
            what,
            found: text.to_string(),
            known,
        });
        None
    }

    /// An operand as another element type, by an explicit cast.
    pub fn cast_to(&mut self, x: Expr, elem: Elem) -> Expr {
        let (from, shape) = match self.infer.ty(&x.ty) {
            Ty::Tensor(from, shape) => (from, shape),
            _ => return x,
        };
        if from == ElemTy::Known(elem) {
            return x;
        }
        let span = x.span;
        let ty = Ty::Tensor(ElemTy::Known(elem), shape);
        crate::check::expr::builtin(Builtin::Cast, vec![x], Vec::new(), ty, span)
    }

    /// A literal operand made a scalar of an element type.
    pub fn scalar_like(&mut self, x: &Expr, what: &'static str, elem: &ElemTy) -> Option<()> {
        let (found, dims) = self.tensor(x, what)?;
        if !dims.is_empty() {
            self.report(Problem::NotAScalar {
                span: x.span,
                what: what.into(),
                ty: self.infer.ty(&x.ty),
            });
            return None;
        }
        if self.infer.unify_elem(&found, elem).is_err() {
            let expected = Ty::Tensor(elem.clone(), Vec::new());
            let found = self.infer.ty(&x.ty);
            let help = self.mismatch_help(&expected, &found, x.span);
            self.report(Problem::Mismatch {
                context: Context::Operand { what },
                span: x.span,
                expected,
                found,
                clash: Clash::Elem,
                help,
            });
            return None;
        }
        Some(())
    }
}
