//! Operators.

use super::cx::{Cx, bad, is_bad};
use super::expr::builtin;
use super::infer::Class;
use super::konst::{self, Fault};
use super::problem::Problem;
use super::shape::{self, broadcast};
use crate::ast::{self, BinaryOp, ExprKind as A, UnaryOp};
use crate::span::{Span, Spanned};
use crate::typed::{Builtin, Elem, ElemTy, Expr, ExprKind, Shape, ShapeItem, Ty};

impl<'a> Cx<'a, '_> {
    pub fn unary(&mut self, op: UnaryOp, inner: &'a ast::Expr, span: Span) -> Expr {
        let x = self.expr(inner, None);
        if is_bad(&x) {
            return bad(span);
        }
        let (symbol, class, what) = match op {
            UnaryOp::Neg => ("-", Class::Num, Builtin::Neg),
            UnaryOp::Not => ("!", Class::Any, Builtin::Not),
        };
        let Some((elem, _)) = self.tensor(&x, symbol) else {
            return bad(span);
        };
        let fits = match op {
            UnaryOp::Neg => self.infer.require(&elem, class).is_ok(),
            UnaryOp::Not => self
                .infer
                .unify_elem(&elem, &ElemTy::Known(Elem::Bool))
                .is_ok(),
        };
        if !fits {
            self.wrong_class(&x, symbol, class_words(op == UnaryOp::Not, class));
            return bad(span);
        }
        if let Some(folded) = self.fold(span, &[&x], |c| konst::unary(op, &c[0])) {
            return folded;
        }
        let ty = x.ty.clone();
        builtin(what, vec![x], Vec::new(), ty, span)
    }

    pub fn binary(
        &mut self,
        op: Spanned<BinaryOp>,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        // Chains (`a + b + c + …`) lean to the left and can be long: no recursion along them.
        let mut chain = vec![(op, b, span)];
        let mut first = a;
        while let A::Binary(op, a, b) = &first.kind {
            chain.push((*op, b, first.span));
            first = a;
        }
        let mut left = self.expr(first, None);
        let mut left_ast = Some(first);
        for (op, b, span) in chain.into_iter().rev() {
            let right = self.expr(b, None);
            left = self.binary_of(op, (left, left_ast), (right, Some(b)), span);
            left_ast = None;
        }
        left
    }

    /// An operator applied to checked operands; their source, where they have any, serves the help lines.
    pub fn binary_of(
        &mut self,
        op: Spanned<BinaryOp>,
        (l, l_ast): (Expr, Option<&'a ast::Expr>),
        (r, r_ast): (Expr, Option<&'a ast::Expr>),
        span: Span,
    ) -> Expr {
        if is_bad(&l) || is_bad(&r) {
            return bad(span);
        }
        let symbol = op.node.symbol();
        let Some((le, ls)) = self.tensor(&l, symbol) else {
            return bad(span);
        };
        let Some((re, rs)) = self.tensor(&r, symbol) else {
            return bad(span);
        };
        let is_logic = matches!(op.node, BinaryOp::And | BinaryOp::Or);
        let class = match op.node {
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::And | BinaryOp::Or => Class::Any,
            _ => Class::Num,
        };
        for (x, elem, other) in [(&l, &le, &re), (&r, &re, &le)] {
            let is_key = self.infer.elem(elem) == ElemTy::Known(Elem::Key);
            let fits = match is_logic {
                true => self
                    .infer
                    .unify_elem(elem, &ElemTy::Known(Elem::Bool))
                    .is_ok(),
                false => self.infer.require(elem, class).is_ok() && !is_key,
            };
            if !fits {
                self.wrong_class_beside(x, symbol, class_words(is_logic, class), Some(other));
                return bad(span);
            }
        }
        if self.infer.unify_elem(&le, &re).is_err() {
            let problem = Problem::ElemMix {
                op: symbol,
                op_span: op.span,
                left: self.operand(&l),
                right: self.operand(&r),
                help: self.cast_help((&l.ty, l.span), (&r.ty, r.span)),
            };
            self.report(problem);
            return bad(span);
        }
        if let Some(folded) = self.fold(span, &[&l, &r], |c| konst::binary(op.node, &c[0], &c[1])) {
            return folded;
        }
        if op.node == BinaryOp::MatMul {
            return self.matmul_of((l, l_ast), (r, r_ast), span);
        }
        let Some(shape) = self.broadcast_of(symbol, op.span, &l, &ls, &r, &rs) else {
            return bad(span);
        };
        let is_test = matches!(
            op.node,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        if matches!(op.node, BinaryOp::Eq | BinaryOp::Ne) {
            self.lint_float_equality(op.span, &l, &r, &le);
        }
        let elem = if is_test || is_logic {
            ElemTy::Known(Elem::Bool)
        } else {
            le
        };
        let ty = Ty::Tensor(elem, shape);
        builtin(builtin_of(op.node), vec![l, r], Vec::new(), ty, span)
    }

    /// The element and shape of an operand; reports what is no tensor.
    pub fn tensor(&mut self, x: &Expr, what: &str) -> Option<(ElemTy, Shape)> {
        match self.infer.ty(&x.ty) {
            Ty::Tensor(elem, shape) => Some((elem, shape)),
            Ty::Error => None,
            ty => {
                self.report(Problem::NotATensor {
                    span: x.span,
                    what: format!("`{what}`"),
                    ty,
                });
                None
            }
        }
    }

    /// Combines constants now, where every operand is a literal.
    pub(super) fn fold(
        &mut self,
        span: Span,
        args: &[&Expr],
        f: impl FnOnce(&[konst::Const]) -> Option<Result<konst::Const, Fault>>,
    ) -> Option<Expr> {
        let mut values = Vec::new();
        let mut is_dim = false;
        for arg in args {
            let Ty::Tensor(elem, _) = &arg.ty else {
                return None;
            };
            let is_bool = self.infer.elem(elem) == ElemTy::Known(Elem::Bool);
            if self.infer.literal_class(elem).is_none() && !is_bool {
                return None;
            }
            match arg.kind {
                ExprKind::Local(_) => return None,
                ExprKind::Dim(_) => is_dim = true,
                _ => {}
            }
            values.push(self.const_of(arg)?);
        }
        match f(&values)? {
            Ok(value) => {
                let mut kind = self.konst(value, None, span);
                // What is made of sizes stays a size.
                if let (true, ExprKind::Int(n)) = (is_dim, &kind.kind)
                    && let Ok(n) = i64::try_from(*n)
                {
                    kind.kind = ExprKind::Dim(crate::typed::Dim::int(n));
                }
                // The result meets what its operands meet.
                let (Ty::Tensor(mine, _), Ty::Tensor(theirs, _)) = (&kind.ty, &args[0].ty) else {
                    return Some(kind);
                };
                let _ = self.infer.unify_elem(mine, theirs);
                Some(kind)
            }
            Err(fault) => {
                self.report(match fault {
                    Fault::Overflow => Problem::ConstOverflow { span },
                    Fault::DivisionByZero => Problem::ConstDivisionByZero { span },
                });
                Some(bad(span))
            }
        }
    }

    // The matrix product.

    pub fn matmul_of(
        &mut self,
        (l, l_ast): (Expr, Option<&'a ast::Expr>),
        (r, r_ast): (Expr, Option<&'a ast::Expr>),
        span: Span,
    ) -> Expr {
        let (Ty::Tensor(elem, ls), Ty::Tensor(_, rs)) =
            (self.infer.ty(&l.ty), self.infer.ty(&r.ty))
        else {
            return bad(span);
        };
        for (x, shape) in [(&l, &ls), (&r, &rs)] {
            if shape.is_empty() {
                self.report(Problem::MatMulScalar {
                    span: x.span,
                    ty: self.infer.ty(&x.ty),
                });
                return bad(span);
            }
        }
        match matmul_shape(&ls, &rs) {
            Ok(shape) => builtin(
                Builtin::MatMul,
                vec![l, r],
                Vec::new(),
                Ty::Tensor(elem, shape),
                span,
            ),
            Err(MatMulClash::Inner) => {
                let help = self.matmul_help((&l, l_ast), (&r, r_ast));
                let problem = Problem::MatMulInner {
                    left: self.operand(&l),
                    right: self.operand(&r),
                    help,
                };
                self.report(problem);
                bad(span)
            }
            Err(MatMulClash::Batch(clash)) => {
                let problem = Problem::NoBroadcast {
                    op: "@".into(),
                    op_span: span,
                    left: self.operand(&l),
                    right: self.operand(&r),
                    clash,
                    help: Vec::new(),
                };
                self.report(problem);
                bad(span)
            }
        }
    }
}

pub enum MatMulClash {
    /// The contracted dimensions differ, or one of them is not known.
    Inner,
    Batch(shape::NoBroadcast),
}

/// NumPy's `matmul`: a vector loses its dimension, leading dimensions broadcast.
pub fn matmul_shape(l: &[ShapeItem], r: &[ShapeItem]) -> Result<Shape, MatMulClash> {
    let is_dim = |i: &ShapeItem| matches!(i, ShapeItem::Dim(_));
    let (l_lead, l_free, l_inner) = match l {
        [k] => (&[][..], None, k),
        [lead @ .., m, k] => (lead, Some(m), k),
        [] => return Err(MatMulClash::Inner),
    };
    let (r_lead, r_inner, r_free) = match r {
        [k] => (&[][..], k, None),
        [lead @ .., k, n] => (lead, k, Some(n)),
        [] => return Err(MatMulClash::Inner),
    };
    if !is_dim(l_inner) || !is_dim(r_inner) || !shape::same(l_inner, r_inner) {
        return Err(MatMulClash::Inner);
    }
    // What stands for a matrix dimension must be one dimension, unless the other operand has no batch to align.
    let (mut lead, l_free) = match l_free {
        Some(m) if !is_dim(m) && r_lead.is_empty() => {
            let mut lead = l_lead.to_vec();
            lead.push(m.clone());
            (lead, None)
        }
        m => match broadcast(l_lead, r_lead) {
            Ok(b) => (b.shape, m),
            Err(clash) => return Err(MatMulClash::Batch(clash)),
        },
    };
    lead.extend(l_free.cloned());
    lead.extend(r_free.cloned());
    Ok(lead)
}

/// Whether text can take an index after it without parentheses.
pub fn is_simple(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().all(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '.' | ')' | ']')
    })
}

fn class_words(is_logic: bool, class: Class) -> &'static str {
    match class {
        _ if is_logic => "a bool",
        Class::Any => "a number or a bool",
        Class::Num => "a number",
        Class::Int => "an integer",
        Class::Float => "a float",
    }
}

fn builtin_of(op: BinaryOp) -> Builtin {
    match op {
        BinaryOp::Or => Builtin::Or,
        BinaryOp::And => Builtin::And,
        BinaryOp::Eq => Builtin::Eq,
        BinaryOp::Ne => Builtin::Ne,
        BinaryOp::Lt => Builtin::Lt,
        BinaryOp::Le => Builtin::Le,
        BinaryOp::Gt => Builtin::Gt,
        BinaryOp::Ge => Builtin::Ge,
        BinaryOp::Add => Builtin::Add,
        BinaryOp::Sub => Builtin::Sub,
        BinaryOp::Mul => Builtin::Mul,
        BinaryOp::Div => Builtin::Div,
        BinaryOp::Rem => Builtin::Rem,
        BinaryOp::MatMul => Builtin::MatMul,
        BinaryOp::Pow => Builtin::Pow,
    }
}
