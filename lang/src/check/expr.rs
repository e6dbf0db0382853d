//! Expressions: literals and constants, and what each other form is checked by. Names, fields, operators, calls and indexing have files of their own.

use super::cx::{Cx, bad, is_bad};
use super::infer::Class;
use super::konst::Const;
use super::problem::{Context, Problem};
use crate::ast::{self, ExprKind as A};
use crate::span::Span;
use crate::typed::{Attr, Builtin, Elem, ElemTy, Expr, ExprKind, Ty};

impl<'a> Cx<'a, '_> {
    /// Checks an expression. `want` is a hint (what the place it stands in has), not yet a demand.
    pub fn expr(&mut self, e: &'a ast::Expr, want: Option<&Ty>) -> Expr {
        let out = self.any_expr(e, want);
        if is_bad(&out) || self.type_fits(&out.ty, e.span) {
            return out;
        }
        bad(e.span)
    }

    fn any_expr(&mut self, e: &'a ast::Expr, want: Option<&Ty>) -> Expr {
        match &e.kind {
            A::Int(n) => match i128::try_from(*n) {
                Ok(n) => self.konst(Const::Int(n), None, e.span),
                Err(_) => {
                    self.report(Problem::ConstOverflow { span: e.span });
                    bad(e.span)
                }
            },
            A::Float(x) => self.konst(Const::Float(*x), None, e.span),
            A::Bool(b) => self.konst(Const::Bool(*b), None, e.span),
            A::None => self.misplaced(e.span, "`none`"),
            A::Str(_) => self.misplaced(e.span, "a string"),
            A::Name(name) => self.name(name, e.span),
            A::Field(base, name) => self.field(base, name, e.span),
            A::TupleField(base, index) => self.tuple_field(base, index.node, e.span),
            A::Tuple(items) => self.tuple(items, want, e.span),
            A::List(items) => self.list(items, e.span),
            A::Spread(_) => self.misplaced(e.span, "a `..` parameter"),
            A::Record(fields) => self.record(fields, want, e.span),
            A::Unary(op, inner) => self.unary(*op, inner, e.span),
            A::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            A::Call {
                callee,
                args,
                named,
            } => self.call(callee, args, named, want, e.span),
            A::Index(base, items) => self.index(base, items, e.span),
            // Where a function was declared as a value, that has been told.
            A::Lambda(..) if matches!(want, Some(Ty::Error)) => bad(e.span),
            A::Lambda(..) => {
                self.report(Problem::FunctionAsValue {
                    span: e.span,
                    name: None,
                });
                bad(e.span)
            }
            A::If {
                cond,
                then,
                otherwise,
            } => self.if_value(cond, then, otherwise.as_deref(), want, e.span),
            A::Block(block) => self.block_value(block, want, e.span),
            A::Error => bad(e.span),
        }
    }

    /// Checks an expression that must have a given type.
    pub fn check(&mut self, e: &'a ast::Expr, want: &Ty, context: Context) -> Expr {
        let got = self.expr(e, Some(want));
        self.coerce(got, want, context)
    }

    /// Demands a type of a checked expression.
    pub fn coerce(&mut self, got: Expr, want: &Ty, context: Context) -> Expr {
        self.coerce_with(got, want, |_| context)
    }

    pub(super) fn coerce_with(
        &mut self,
        got: Expr,
        want: &Ty,
        context: impl FnOnce(&Self) -> Context,
    ) -> Expr {
        let Err(clash) = self.infer.unify(want, &got.ty) else {
            return got;
        };
        let (expected, found) = (self.infer.ty(want), self.infer.ty(&got.ty));
        let context = context(self);
        let help = match context {
            Context::Element { first } => self
                .cast_help((&expected, first), (&found, got.span))
                .into_iter()
                .collect(),
            Context::Return { .. } if expected == Ty::unit() => {
                self.name_literals();
                vec![format!(
                    "declare its result: `-> {}`",
                    self.names.ty(&found)
                )]
            }
            _ => self.mismatch_help(&expected, &found, got.span),
        };
        self.report(Problem::Mismatch {
            context,
            span: got.span,
            expected,
            found,
            clash,
            help,
        });
        bad(got.span)
    }

    fn misplaced(&mut self, span: Span, what: &'static str) -> Expr {
        self.report(Problem::Misplaced { span, what });
        bad(span)
    }

    /// A constant as an expression: with its own element type, or one to be found like a literal's.
    pub fn konst(&mut self, value: Const, elem: Option<Elem>, span: Span) -> Expr {
        let literal = |cx: &mut Self, class| match elem {
            Some(e) => ElemTy::Known(e),
            None => cx.infer.literal(class),
        };
        let (kind, elem) = match value {
            Const::Int(n) => (ExprKind::Int(n), literal(self, Class::Num)),
            Const::Dim(d) => (ExprKind::Dim(d), literal(self, Class::Num)),
            Const::Float(x) => (ExprKind::Float(x), literal(self, Class::Float)),
            Const::Bool(b) => (ExprKind::Bool(b), ElemTy::Known(Elem::Bool)),
            Const::Str(_) => return self.misplaced(span, "a string"),
        };
        Expr {
            kind,
            ty: Ty::Tensor(elem, Vec::new()),
            span,
        }
    }

    /// The compile-time value of a checked expression, if it is one.
    pub fn const_of(&self, e: &Expr) -> Option<Const> {
        match &e.kind {
            ExprKind::Int(n) if self.is_float(e) => Some(Const::Float(*n as f64)),
            ExprKind::Int(n) => Some(Const::Int(*n)),
            // A size that has become a float is known as a number only.
            ExprKind::Dim(d) if self.is_float(e) => d.as_int().map(|n| Const::Float(n as f64)),
            ExprKind::Dim(d) => Some(Const::of_dim(d.clone())),
            ExprKind::Float(x) => Some(Const::Float(*x)),
            ExprKind::Bool(b) => Some(Const::Bool(*b)),
            ExprKind::Local(id) => self.local_consts.get(id).cloned(),
            ExprKind::Field(base, i) => match base.kind {
                ExprKind::Local(id) => self.local_sizes.get(&id)?.get(*i).cloned(),
                _ => None,
            },
            _ => None,
        }
    }

    /// A whole number may have been given, or have met, a float type: it divides like one.
    pub(super) fn is_float(&self, e: &Expr) -> bool {
        match &e.ty {
            Ty::Tensor(elem, _) => self.infer.is(elem, Class::Float),
            _ => false,
        }
    }
}

pub fn builtin(builtin: Builtin, args: Vec<Expr>, attrs: Vec<Attr>, ty: Ty, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Builtin {
            builtin,
            args,
            attrs,
        },
        ty,
        span,
    }
}

/// The constants that are built in.
pub fn constant(name: &str) -> Option<Const> {
    match name {
        "pi" => Some(Const::Float(std::f64::consts::PI)),
        "e" => Some(Const::Float(std::f64::consts::E)),
        "inf" => Some(Const::Float(f64::INFINITY)),
        "nan" => Some(Const::Float(f64::NAN)),
        _ => None,
    }
}
