//! What must be known at compile time: constants, sizes, axes, flags, strings.

use super::cx::Cx;
use super::konst::Const;
use super::problem::Problem;
use super::scope::Bound;
use super::world::{ConstValue, Item};
use crate::ast::{self, BinaryOp, ExprKind as A, GenericKind, StrPart, UnaryOp};
use crate::span::Span;
use crate::typed::{Dim, Elem, ElemTy, Shape, ShapeItem, Ty};
use std::rc::Rc;

impl<'a> Cx<'a, '_> {
    /// An integer known at compile time. Division in it must be exact.
    pub fn static_dim(&mut self, e: &'a ast::Expr) -> Option<Dim> {
        let dim = match &e.kind {
            A::Binary(op, a, b) if op.node.is_of_sizes() => {
                let dim = self.static_binary(op.node, a, b, e.span)?;
                return Some(match dim.as_int() {
                    Some(_) if mentions_name(e) => dim.named(self.text(e.span)),
                    _ => dim,
                });
            }
            A::Binary(..) => {
                let value = self.expr(e, None);
                if super::cx::is_bad(&value) {
                    return None;
                }
                let dim = self.folded(&value).and_then(|known| known.dim());
                if dim.is_none() {
                    self.report(Problem::NotStatic {
                        span: e.span,
                        what: "a dimension (`+ - * /` of sizes)",
                    });
                    return None;
                }
                dim
            }
            A::Unary(UnaryOp::Neg, inner) => {
                let dim = self.static_dim(inner)?;
                dim.neg()
            }
            A::Name(name) => {
                let value = self.static_value(e)?;
                value.dim().map(|d| named(d, name))
            }
            A::Field(..) if self.is_module_field(e) => {
                let text = self.text(e.span);
                let value = self.static_value(e)?;
                value.dim().map(|d| named(d, text))
            }
            _ => self.static_value(e)?.dim(),
        };
        if dim.is_none() {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "an integer",
            });
        }
        dim
    }

    fn is_module_field(&mut self, e: &'a ast::Expr) -> bool {
        match &e.kind {
            A::Field(base, _) => self.module_of(base).is_some(),
            _ => false,
        }
    }

    fn static_binary(
        &mut self,
        op: BinaryOp,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        span: Span,
    ) -> Option<Dim> {
        let (a, b) = (self.static_dim(a), self.static_dim(b));
        let (a, b) = (a?, b?);
        let result = match op {
            BinaryOp::Add => a.add(&b),
            BinaryOp::Sub => a.sub(&b),
            BinaryOp::Mul => a.mul(&b),
            _ => {
                let quotient = a.div(&b);
                if quotient.is_none() {
                    self.report(Problem::Inexact {
                        span,
                        callee: None,
                        text: Some(format!(
                            "{} / {}",
                            self.names.plain_dim(&a),
                            self.names.plain_dim(&b)
                        )),
                    });
                    return None;
                }
                quotient
            }
        };
        if result.is_none() {
            self.report(Problem::ConstOverflow { span });
        }
        result
    }

    /// Any constant. Reports where it is none.
    pub fn static_value(&mut self, e: &'a ast::Expr) -> Option<Const> {
        if let Some(text) = self.static_text(e) {
            return Some(Const::Str(text));
        }
        let value = self.expr(e, None);
        if super::cx::is_bad(&value) {
            return None;
        }
        let known = self.folded(&value);
        if known.is_none() {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "a constant",
            });
        }
        known
    }

    pub fn static_flag(&mut self, e: &'a ast::Expr) -> Option<bool> {
        match self.static_value(e)? {
            Const::Bool(b) => Some(b),
            _ => {
                self.report(Problem::NotStatic {
                    span: e.span,
                    what: "`true` or `false`",
                });
                None
            }
        }
    }

    pub fn static_float(&mut self, e: &'a ast::Expr) -> Option<f64> {
        match self.static_value(e)? {
            Const::Float(x) => Some(x),
            Const::Int(n) => Some(n as f64),
            _ => {
                self.report(Problem::NotStatic {
                    span: e.span,
                    what: "a number",
                });
                None
            }
        }
    }

    /// A string constant, its `{…}` parts constants; `None` without a report if it is not a string at all.
    pub fn static_text(&mut self, e: &'a ast::Expr) -> Option<Rc<str>> {
        match &e.kind {
            A::Str(parts) => {
                let mut out = String::new();
                for part in parts {
                    match part {
                        StrPart::Text(t) => out.push_str(t),
                        StrPart::Expr(inner, _) => match self.static_value(inner)? {
                            Const::Int(n) => out.push_str(&n.to_string()),
                            Const::Float(x) => out.push_str(&format!("{x:?}")),
                            Const::Bool(b) => out.push_str(&b.to_string()),
                            Const::Str(s) => out.push_str(&s),
                            Const::Dim(_) => {
                                self.report(Problem::NotStatic {
                                    span: inner.span,
                                    what: "a constant",
                                });
                                return None;
                            }
                        },
                    }
                }
                Some(out.into())
            }
            A::Name(name) => {
                if let Some(binding) = self.scope.get(name) {
                    return match &binding.bound {
                        Bound::Const(Const::Str(s), _) => Some(s.clone()),
                        _ => None,
                    };
                }
                match self.w.lookup(self.module, name) {
                    Some(Item::Const(id)) => match self.const_item(id, e.span) {
                        ConstValue::Scalar(Const::Str(s), _) => Some(s),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// A string constant; reports anything else.
    pub fn text_arg(&mut self, e: &'a ast::Expr) -> Option<Rc<str>> {
        let text = self.static_text(e);
        // What stands in a string has been reported by itself.
        if text.is_none() && !matches!(e.kind, A::Error | A::Str(_)) {
            self.report(Problem::NotStatic {
                span: e.span,
                what: "a string",
            });
        }
        text
    }

    /// Sizes: `[B, 784]`, `(3, 4)`, `5`, or `shape(x)`.
    pub fn static_shape(&mut self, e: &'a ast::Expr) -> Option<Shape> {
        match &e.kind {
            A::List(items) | A::Tuple(items) => {
                let sizes = self.each(items, |cx, i| cx.shape_item(i));
                sizes.into_iter().collect()
            }
            A::Call {
                callee,
                args,
                named,
            } if named.is_empty() && args.len() == 1 && is_name(callee, "shape") => {
                let x = self.expr(&args[0], None);
                match self.infer.ty(&x.ty) {
                    Ty::Tensor(_, shape) => Some(shape),
                    Ty::Error => None,
                    ty => {
                        self.report(Problem::NotATensor {
                            span: x.span,
                            what: "`shape`".into(),
                            ty,
                        });
                        None
                    }
                }
            }
            A::Name(name) if self.bound_shape(name).is_some() => self.bound_shape(name),
            A::Name(name) if self.bound_sizes(name).is_some() => {
                let sizes: Option<Vec<Dim>> =
                    self.bound_sizes(name)?.iter().map(Const::dim).collect();
                match sizes {
                    Some(sizes) => Some(sizes.into_iter().map(ShapeItem::Dim).collect()),
                    None => self.size(e).map(|d| vec![ShapeItem::Dim(d)]),
                }
            }
            A::Name(_) | A::Field(..) if self.inline_list(e).is_some() => {
                let (module, value) = self.inline_list(e)?;
                self.in_module(module, |cx| cx.static_shape(value))
            }
            _ => self.size(e).map(|d| vec![ShapeItem::Dim(d)]),
        }
    }

    /// Each element of a list of integers. One of floats is one mistake, told of at the first.
    pub fn each<T>(
        &mut self,
        items: &'a [ast::Expr],
        mut read: impl FnMut(&mut Self, &'a ast::Expr) -> T,
    ) -> Vec<T> {
        let mark = self.w.diagnostics.len();
        let all = items.iter().map(|i| read(self, i)).collect();
        let is_float = |span: Span| {
            let at = |e: &&ast::Expr| e.span == span && matches!(e.kind, A::Float(_));
            items.iter().any(|e| at(&e))
        };
        let mut found = self.w.diagnostics.split_off(mark);
        let mut told = false;
        found.retain(|d| {
            let again = d.code.0 == "E0316" && is_float(d.primary.span);
            !again || !std::mem::replace(&mut told, true)
        });
        self.w.diagnostics.append(&mut found);
        all
    }

    /// One size of a shape, or the dimensions that `..S` stands for.
    pub fn shape_item(&mut self, e: &'a ast::Expr) -> Option<ShapeItem> {
        match &e.kind {
            A::Spread(name) => self.spread(name),
            _ => self.size(e).map(ShapeItem::Dim),
        }
    }

    /// The sizes that a parameter `shape: [B, N]` stands for.
    fn bound_shape(&mut self, name: &str) -> Option<Shape> {
        match &self.scope.get(name)?.bound {
            Bound::Shape(shape) => Some(shape.clone()),
            _ => None,
        }
    }

    /// The numbers of a variable that is a tuple of constants, `let s = shape(x);`, or a constant list.
    fn bound_sizes(&mut self, name: &str) -> Option<Vec<Const>> {
        match &self.scope.get(name)?.bound {
            Bound::Local(id) => self.local_sizes.get(id).cloned(),
            _ => None,
        }
    }

    /// The list or tuple that a constant's name stands for.
    pub fn inline_list(
        &mut self,
        e: &'a ast::Expr,
    ) -> Option<(super::load::ModuleId, &'a ast::Expr)> {
        let A::Name(name) = &e.kind else {
            return None;
        };
        if self.scope.get(name).is_some() {
            return None;
        }
        match self.w.lookup(self.module, name) {
            Some(Item::Const(id)) => {
                let item = &self.w.consts[id.0];
                let is_list = match &item.def.value.kind {
                    A::List(_) | A::Tuple(_) => true,
                    A::Call { callee, .. } => is_name(callee, "shape"),
                    _ => false,
                };
                (is_list && item.set.is_none()).then_some((item.module, &item.def.value))
            }
            _ => None,
        }
    }

    /// Integers in a list or tuple, by itself or as a constant, or one alone: axes, positions, repeats.
    pub fn static_ints(&mut self, e: &'a ast::Expr) -> Option<Vec<Dim>> {
        match &e.kind {
            A::List(items) | A::Tuple(items) => {
                let all = self.each(items, |cx, i| cx.static_dim(i));
                all.into_iter().collect()
            }
            A::Name(name) if self.bound_sizes(name).is_some() => {
                let sizes: Option<Vec<Dim>> =
                    self.bound_sizes(name)?.iter().map(Const::dim).collect();
                match sizes {
                    Some(sizes) => Some(sizes),
                    None => self.static_dim(e).map(|d| vec![d]),
                }
            }
            A::Name(_) if self.inline_list(e).is_some() => {
                let (module, value) = self.inline_list(e)?;
                self.in_module(module, |cx| cx.static_ints(value))
            }
            _ => self.static_dim(e).map(|d| vec![d]),
        }
    }

    /// An element type as an argument: `bf16`, or a parameter `D: float`.
    pub fn static_elem(&mut self, e: &'a ast::Expr) -> Option<ElemTy> {
        match self.type_of_expr(e)? {
            Ty::Tensor(elem, shape) if shape.is_empty() => Some(elem),
            Ty::Error => None,
            _ => {
                self.report(Problem::NotStatic {
                    span: e.span,
                    what: "an element type",
                });
                None
            }
        }
    }

    /// The element type of an array that a builtin makes: keys come from `key` and `split` alone.
    pub fn number_elem(&mut self, e: &'a ast::Expr) -> Option<ElemTy> {
        let elem = self.static_elem(e)?;
        if elem == ElemTy::Known(Elem::Key) {
            self.report(Problem::ElemArg {
                span: e.span,
                kind: GenericKind::Num,
                found: Ty::scalar(Elem::Key),
            });
            return None;
        }
        Some(elem)
    }
}

pub fn is_name(e: &ast::Expr, name: &str) -> bool {
    matches!(&e.kind, A::Name(n) if **n == *name)
}

/// A constant's value keeps the constant's name; a parameter's name is already there.
fn named(dim: Dim, name: &str) -> Dim {
    match dim.as_int() {
        Some(_) => dim.named(name),
        None => dim,
    }
}

/// Whether the expression says more than its value: it names something.
fn mentions_name(e: &ast::Expr) -> bool {
    match &e.kind {
        A::Name(_) | A::Field(..) => true,
        A::Binary(_, a, b) => mentions_name(a) || mentions_name(b),
        A::Unary(_, a) => mentions_name(a),
        _ => false,
    }
}
