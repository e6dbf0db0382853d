//! The end of a body: every type as inference has found it, no variable left.

use super::cx::Cx;
use super::problem::Problem;
use crate::span::Span;
use crate::typed::{
    Block, Body, Callee, Effect, Elem, ElemTy, Expr, ExprKind, ForIter, Lambda, PrintPiece,
    ShapeItem, Static, Stmt, StmtKind, Transform, Ty,
};
use std::rc::Rc;

impl Cx<'_, '_> {
    /// Takes the body's locals and resolves all types in it.
    pub fn finish(&mut self, mut block: Block) -> Body {
        self.zonk_block(&mut block);
        let mut locals = std::mem::take(&mut self.locals);
        for local in &mut locals {
            self.zonk_ty(&mut local.ty);
        }
        Body { locals, block }
    }

    pub fn zonk_block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            self.zonk_stmt(stmt);
        }
        if let Some(value) = &mut block.value {
            self.zonk_expr(value);
        }
    }

    fn zonk_stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } => self.zonk_expr(value),
            StmtKind::For { iter, body, .. } => {
                match iter {
                    ForIter::Range(lo, hi) => {
                        self.zonk_expr(lo);
                        self.zonk_expr(hi);
                    }
                    ForIter::Over(e) => self.zonk_expr(e),
                    ForIter::Batches(b) => {
                        self.zonk_expr(&mut b.key);
                        self.zonk_ty(&mut b.ty);
                    }
                }
                self.zonk_block(body);
            }
            StmtKind::While { cond, body, .. } => {
                self.zonk_expr(cond);
                self.zonk_block(body);
            }
            StmtKind::Expr(e) => self.zonk_expr(e),
            StmtKind::Effect(effect) => self.zonk_effect(effect),
        }
    }

    fn zonk_effect(&mut self, effect: &mut Effect) {
        match effect {
            Effect::Print(pieces) | Effect::Debug(pieces) => self.zonk_pieces(pieces),
            Effect::Save { value, .. } => self.zonk_expr(value),
            Effect::Assert { cond, message } => {
                self.zonk_expr(cond);
                self.zonk_pieces(message);
            }
            Effect::Log { step, values } => {
                self.zonk_expr(step);
                values
                    .iter_mut()
                    .for_each(|(_, value)| self.zonk_expr(value));
            }
            Effect::AssertClose {
                actual, expected, ..
            } => {
                self.zonk_expr(actual);
                self.zonk_expr(expected);
            }
        }
    }

    fn zonk_pieces(&mut self, pieces: &mut [PrintPiece]) {
        for piece in pieces {
            if let PrintPiece::Value { value, .. } = piece {
                self.zonk_expr(value);
            }
        }
    }

    fn check_fits(&mut self, value: i128, ty: &Ty, span: Span) {
        if !fits(value, ty) {
            let ty = ty.clone();
            self.report(Problem::LiteralRange { span, value, ty });
        }
    }

    fn check_finite(&mut self, value: f64, ty: &Ty, span: Span) {
        if value.is_finite() && overflows(value, ty) {
            let ty = ty.clone();
            self.report(Problem::BecomesInfinite { span, ty });
        }
    }

    fn zonk_expr(&mut self, e: &mut Expr) {
        self.zonk_ty(&mut e.ty);
        match &mut e.kind {
            ExprKind::Int(n) => {
                self.check_fits(*n, &e.ty, e.span);
                self.check_finite(*n as f64, &e.ty, e.span);
            }
            ExprKind::Float(x) => self.check_finite(*x, &e.ty, e.span),
            ExprKind::Dim(d) => {
                if let Some(n) = d.as_int() {
                    self.check_fits(i128::from(n), &e.ty, e.span);
                }
            }
            ExprKind::Bool(_) | ExprKind::Local(_) | ExprKind::Host(_) => {}
            ExprKind::Fields(parts) => parts.iter_mut().for_each(|p| self.zonk_expr(p)),
            ExprKind::Field(inner, _) => self.zonk_expr(inner),
            ExprKind::Builtin { args, attrs, .. } => {
                args.iter_mut().for_each(|a| self.zonk_expr(a));
                for attr in attrs {
                    if let Static::Shape(shape) = &mut attr.value
                        && has_var(shape)
                    {
                        *shape = self.infer.shape(shape);
                    }
                }
            }
            ExprKind::Call(callee, args) => {
                self.zonk_callee(callee);
                args.iter_mut().for_each(|a| self.zonk_expr(a));
            }
            ExprKind::Function(callee) => self.zonk_callee(callee),
            ExprKind::Map { callees, trees } => {
                callees.iter_mut().for_each(|c| self.zonk_callee(c));
                trees.iter_mut().for_each(|t| self.zonk_expr(t));
            }
            ExprKind::Fold {
                callees,
                init,
                tree,
            } => {
                callees.iter_mut().for_each(|c| self.zonk_callee(c));
                self.zonk_expr(init);
                self.zonk_expr(tree);
            }
            ExprKind::Scan { callee, init, xs } => {
                self.zonk_callee(callee);
                self.zonk_expr(init);
                self.zonk_expr(xs);
            }
            ExprKind::If {
                cond,
                then,
                otherwise,
                ..
            } => {
                self.zonk_expr(cond);
                self.zonk_block(then);
                self.zonk_block(otherwise);
            }
            ExprKind::Block(block) => self.zonk_block(block),
        }
    }

    fn zonk_callee(&mut self, callee: &mut Callee) {
        match callee {
            Callee::Fn { generics, .. } => {
                for g in generics {
                    *g = self.infer.generic_arg(g);
                }
            }
            Callee::Lambda(lambda) => {
                let mut inner = match Rc::try_unwrap(std::mem::replace(lambda, empty_lambda())) {
                    Ok(inner) => inner,
                    Err(shared) => (*shared).clone(),
                };
                inner.param_types.iter_mut().for_each(|t| self.zonk_ty(t));
                self.zonk_expr(&mut inner.body);
                *lambda = Rc::new(inner);
            }
            Callee::Local(_) => {}
            Callee::Transform(t) => self.zonk_transform(t),
        }
    }

    fn zonk_transform(&mut self, t: &mut Transform) {
        self.zonk_callee(&mut t.callee);
        t.params.iter_mut().for_each(|p| self.zonk_ty(p));
        self.zonk_ty(&mut t.ret);
    }

    fn zonk_ty(&self, ty: &mut Ty) {
        match ty {
            // By far the most types have nothing to resolve, and stay where they are.
            Ty::Tensor(elem, shape) => {
                if matches!(elem, ElemTy::Var(_)) {
                    *elem = self.infer.elem(elem);
                }
                if has_var(shape) {
                    *shape = self.infer.shape(shape);
                }
            }
            Ty::Tuple(fields) => fields.iter_mut().for_each(|t| self.zonk_ty(t)),
            Ty::Record(_) => *ty = self.infer.ty(ty),
            Ty::Tree { leaf, .. } => {
                if let Some(leaf) = leaf {
                    self.zonk_ty(leaf);
                }
            }
            Ty::Fn(params, ret) => {
                params.iter_mut().for_each(|t| self.zonk_ty(t));
                self.zonk_ty(ret);
            }
            Ty::Var(_) => *ty = self.infer.ty(ty),
            Ty::Error => {}
        }
    }
}

fn has_var(shape: &[ShapeItem]) -> bool {
    shape.iter().any(|i| match i {
        ShapeItem::Dim(d) => super::poly::has_var(d),
        ShapeItem::Var(_) => true,
        ShapeItem::Spread(_) | ShapeItem::LeafOf(_) => false,
    })
}

fn empty_lambda() -> Rc<Lambda> {
    let span = crate::span::Span::default();
    Rc::new(Lambda {
        params: Vec::new(),
        param_types: Vec::new(),
        body: super::cx::bad(span),
        span,
    })
}

/// Whether a number rounds to an infinity in the float type that its literal has got.
fn overflows(x: f64, ty: &Ty) -> bool {
    let Ty::Tensor(ElemTy::Known(elem), _) = ty else {
        return false;
    };
    // Half a unit in the last place beyond the largest number.
    let limit = match elem {
        Elem::F16 => 65520.0,
        Elem::BF16 => (2.0 - 2f64.powi(-8)) * 2f64.powi(127),
        Elem::F32 => (2.0 - 2f64.powi(-24)) * 2f64.powi(127),
        _ => return false,
    };
    x.abs() >= limit
}

/// Whether an integer literal has a value in the type it has got.
pub fn fits(n: i128, ty: &Ty) -> bool {
    let Ty::Tensor(ElemTy::Known(elem), _) = ty else {
        return true;
    };
    match elem {
        Elem::I8 => i8::try_from(n).is_ok(),
        Elem::I16 => i16::try_from(n).is_ok(),
        Elem::I32 => i32::try_from(n).is_ok(),
        Elem::I64 => i64::try_from(n).is_ok(),
        Elem::U8 => u8::try_from(n).is_ok(),
        Elem::U16 => u16::try_from(n).is_ok(),
        Elem::U32 => u32::try_from(n).is_ok(),
        Elem::U64 => u64::try_from(n).is_ok(),
        Elem::F32 | Elem::BF16 | Elem::F16 | Elem::F64 | Elem::Bool | Elem::Key => true,
    }
}
