//! Broadcasting of two operands.

use super::cx::Cx;
use super::ops::is_simple;
use super::problem::Problem;
use super::shape::broadcast;
use crate::span::Span;
use crate::typed::{Expr, ExprKind, Shape, ShapeItem, Ty};

impl<'a> Cx<'a, '_> {
    /// The common shape of two operands, reporting where there is none and warning where both stretch.
    pub fn broadcast_of(
        &mut self,
        what: &str,
        op_span: Span,
        l: &Expr,
        ls: &Shape,
        r: &Expr,
        rs: &Shape,
    ) -> Option<Shape> {
        match broadcast(ls, rs) {
            Ok(result) => {
                if result.both_stretch {
                    let problem = Problem::BothStretch {
                        op: what.into(),
                        op_span,
                        left: self.operand(l),
                        right: self.operand(r),
                        result: result.shape.clone(),
                    };
                    self.report(problem);
                }
                Some(result.shape)
            }
            Err(clash) => {
                let problem = Problem::NoBroadcast {
                    op: what.into(),
                    op_span,
                    left: self.operand(l),
                    right: self.operand(r),
                    clash,
                    help: self.broadcast_help(l, ls, r, rs),
                };
                self.report(problem);
                None
            }
        }
    }

    /// A new axis or a transposition that makes two operands broadcast.
    fn broadcast_help(&mut self, l: &Expr, ls: &Shape, r: &Expr, rs: &Shape) -> Vec<String> {
        self.name_literals();
        let shown = |x: &Expr, shape: &Shape| match self.infer.ty(&x.ty) {
            Ty::Tensor(elem, _) => self.names.plain(&Ty::Tensor(elem, shape.clone())),
            _ => String::new(),
        };
        let simple = |x: &Expr| {
            let text = self.text(x.span);
            if is_simple(text) {
                text.to_string()
            } else {
                format!("({text})")
            }
        };
        for (x, xs, other) in [(l, ls, rs), (r, rs, ls)] {
            if xs.len() < other.len() {
                let mut wider = xs.clone();
                wider.push(ShapeItem::Dim(crate::typed::Dim::int(1)));
                if broadcast(&wider, other).is_ok_and(|b| !b.both_stretch) {
                    let index = match xs.len() {
                        1 => "[:, none]",
                        _ => "[.., none]",
                    };
                    let made = match x.kind {
                        ExprKind::Local(id) => self.initialisers.get(&id).unwrap_or(x),
                        _ => x,
                    };
                    let shown = shown(x, &wider);
                    return vec![match self.reduced_without_keepdims(made) {
                        Some(call) => format!(
                            "keep the reduced dimension: `{call}, keepdims=true)` is {shown}"
                        ),
                        None => format!("`{}{index}` is {shown}", simple(x)),
                    }];
                }
            }
        }
        let mut help = Vec::new();
        for (x, xs, other) in [(l, ls, rs), (r, rs, ls)] {
            if let [a, b] = xs.as_slice() {
                let turned = vec![b.clone(), a.clone()];
                if broadcast(&turned, other).is_ok_and(|b| !b.both_stretch) {
                    help.push(format!(
                        "`transpose({})` is {}",
                        self.text(x.span),
                        shown(x, &turned)
                    ));
                }
            }
        }
        help
    }

    /// The text of a reduction call up to its closing parenthesis, where it drops an axis.
    fn reduced_without_keepdims(&self, x: &Expr) -> Option<&'a str> {
        let ExprKind::Builtin { attrs, .. } = &x.kind else {
            return None;
        };
        let is_dropped = attrs
            .iter()
            .any(|a| a.name == "keepdims" && a.value == crate::typed::Static::Bool(false));
        let text = self.text(x.span);
        (is_dropped && !text.contains("keepdims"))
            .then(|| text.strip_suffix(')'))
            .flatten()
    }
}
