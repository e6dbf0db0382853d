//! `x[…]`.

use super::cx::{Cx, bad, is_bad};
use super::expr::builtin;
use super::infer::Class;
use super::konst::Const;
use super::problem::Problem;
use super::require::Need;
use super::shape::broadcast;
use crate::ast::{self, IndexArg};
use crate::span::Span;
use crate::typed::{
    Attr, Builtin, Dim, Elem, ElemTy, Expr, ExprKind, IndexItem, Shape, ShapeItem, Static, Ty,
};

/// A bracket position, checked.
enum Position {
    At(Dim),
    /// An operand and its shape.
    Tensor(Expr, Shape),
    Range {
        lo: Option<Dim>,
        hi: Option<Dim>,
        step: Option<Dim>,
        span: Span,
    },
    Rest,
    NewAxis,
}

/// What a position makes of the dimensions it meets.
enum Part {
    /// Dimensions of the result.
    Kept(Shape),
    /// A position or positions along one axis: the shape of the positions.
    Picked(Shape),
}

impl<'a> Cx<'a, '_> {
    pub fn index(&mut self, base: &'a ast::Expr, items: &'a [IndexArg], span: Span) -> Expr {
        if self.is_function(base) {
            self.report(Problem::FunctionAsValue {
                span,
                name: Some(self.text(base.span).into()),
            });
            return bad(span);
        }
        let x = self.expr(base, None);
        let positions = self.bracket_positions(items);
        let Some(positions) = positions.filter(|_| !is_bad(&x)) else {
            return bad(span);
        };
        let ty = self.infer.ty(&x.ty);
        let Ty::Tensor(elem, dims) = ty else {
            if !matches!(ty, Ty::Error) {
                self.report(Problem::NotIndexable { span, ty });
            }
            return bad(span);
        };
        self.index_of(x, elem, dims, positions, span)
    }

    /// One that is no position tells enough: where a comma is forgotten before a list, all of its elements are none.
    fn bracket_positions(&mut self, items: &'a [IndexArg]) -> Option<Vec<(Position, Span)>> {
        let mut known = Some(Vec::new());
        for item in items {
            if let Some(positions) = &mut known {
                match self.position(item) {
                    Some(position) => positions.push(position),
                    None => known = None,
                }
            } else if let IndexArg::Expr(e) = item {
                self.expr(e, None);
            }
        }
        known
    }

    fn position(&mut self, item: &'a IndexArg) -> Option<(Position, Span)> {
        match item {
            IndexArg::Expr(e) => Some((self.single_position(e)?, e.span)),
            IndexArg::Range { lo, hi, step, span } => {
                let mut is_open = false;
                let lo = self.bound(lo.as_ref(), &mut is_open);
                let hi = self.bound(hi.as_ref(), &mut is_open);
                let step = self.bound(step.as_ref(), &mut is_open);
                if is_open {
                    self.report(Problem::DynamicRange { span: *span });
                    return None;
                }
                let (lo, hi, step) = (lo?, hi?, step?);
                if step.as_ref().is_some_and(|s| s.as_int() == Some(0)) {
                    self.report(Problem::ZeroStep { span: *span });
                    return None;
                }
                Some((
                    Position::Range {
                        lo,
                        hi,
                        step,
                        span: *span,
                    },
                    *span,
                ))
            }
            IndexArg::Rest(span) => Some((Position::Rest, *span)),
            IndexArg::NewAxis(span) => Some((Position::NewAxis, *span)),
            IndexArg::Spread(name) => {
                self.report(Problem::BadIndex {
                    span: name.span,
                    ty: None,
                    is_bool: false,
                    text: String::new(),
                });
                None
            }
            IndexArg::Type(t) => {
                self.report(Problem::BadIndex {
                    span: t.span,
                    ty: None,
                    is_bool: false,
                    text: String::new(),
                });
                None
            }
        }
    }

    fn single_position(&mut self, e: &'a ast::Expr) -> Option<Position> {
        let i = self.expr(e, None);
        if is_bad(&i) {
            return None;
        }
        let ty = self.infer.ty(&i.ty);
        let Ty::Tensor(elem, dims) = &ty else {
            self.report(Problem::BadIndex {
                span: e.span,
                ty: Some(ty),
                is_bool: false,
                text: self.text(e.span).into(),
            });
            return None;
        };
        // Literals and sizes are positions known now; a variable with a known value stays a variable.
        let known = match self.const_of(&i) {
            Some(Const::Int(n)) => i64::try_from(n).ok().map(Dim::int),
            Some(Const::Dim(d)) => Some(d),
            _ => None,
        };
        let is_integer =
            self.infer.literal_class(elem) == Some(Class::Num) || self.infer.is(elem, Class::Int);
        if let (Some(d), true) = (known, is_integer && dims.is_empty()) {
            self.need_whole(&d, e.span);
            return Some(Position::At(d));
        }
        if self.infer.require(elem, Class::Int).is_err() {
            let is_bool = *elem == ElemTy::Known(Elem::Bool);
            self.report(Problem::BadIndex {
                span: e.span,
                ty: Some(ty),
                is_bool,
                text: self.text(e.span).into(),
            });
            return None;
        }
        let dims = dims.clone();
        Some(Position::Tensor(i, dims))
    }

    /// A bound of a range: the outer `None` is a failure, reported unless the bound is only known when it runs.
    #[allow(clippy::option_option)]
    pub(super) fn bound(
        &mut self,
        e: Option<&'a ast::Expr>,
        is_open: &mut bool,
    ) -> Option<Option<Dim>> {
        let Some(e) = e else {
            return Some(None);
        };
        let value = self.expr(e, None);
        if is_bad(&value) {
            return None;
        }
        if !self.is_made_of_sizes(&value) {
            *is_open = true;
            return None;
        }
        let dim = self.static_dim(e)?;
        self.need_whole(&dim, e.span);
        Some(Some(dim))
    }

    /// Whether an expression is a constant integer, or arithmetic of some: a quotient of sizes is one only in a bound.
    fn is_made_of_sizes(&self, value: &Expr) -> bool {
        match &value.kind {
            ExprKind::Builtin {
                builtin: Builtin::Add | Builtin::Sub | Builtin::Mul | Builtin::Div | Builtin::Neg,
                args,
                ..
            } => args.iter().all(|a| self.is_made_of_sizes(a)),
            _ => self.const_of(value).is_some_and(|c| c.dim().is_some()),
        }
    }

    fn index_of(
        &mut self,
        x: Expr,
        elem: ElemTy,
        dims: Shape,
        positions: Vec<(Position, Span)>,
        span: Span,
    ) -> Expr {
        let takes_axis = |p: &Position| !matches!(p, Position::Rest | Position::NewAxis);
        let used = positions.iter().filter(|(p, _)| takes_axis(p)).count();
        let rests: Vec<Span> = positions
            .iter()
            .filter(|(p, _)| matches!(p, Position::Rest))
            .map(|(_, s)| *s)
            .collect();
        if let [_, second, ..] = rests.as_slice() {
            self.report(Problem::TwoRests { span: *second });
            return bad(span);
        }
        let after_rest = positions
            .iter()
            .rev()
            .take_while(|(p, _)| !matches!(p, Position::Rest))
            .filter(|(p, _)| takes_axis(p))
            .count();
        let from_back = if rests.is_empty() { 0 } else { after_rest };
        let from_front = used - from_back;
        let is_dim = |i: &ShapeItem| matches!(i, ShapeItem::Dim(_));
        let all_known = dims.iter().all(is_dim);
        let fits = used <= dims.len()
            && dims[..from_front].iter().all(is_dim)
            && dims[dims.len() - from_back..].iter().all(is_dim);
        if !fits {
            let ty = Ty::Tensor(elem, dims);
            self.report(if all_known {
                Problem::TooManyIndices { span, used, ty }
            } else {
                Problem::IndexIntoRank { span, ty }
            });
            return bad(span);
        }
        let middle: Shape = dims[from_front..dims.len() - from_back].to_vec();
        let mut front = dims[..from_front].iter().cloned();
        let mut back = dims[dims.len() - from_back..].iter().cloned();
        let mut after = false;
        let mut parts = Vec::new();
        let mut args = vec![x];
        let mut given = Vec::new();
        for (position, at) in positions {
            let (item, part) = match position {
                Position::Rest => {
                    after = true;
                    (IndexItem::Rest, Part::Kept(middle.clone()))
                }
                Position::NewAxis => (
                    IndexItem::NewAxis,
                    Part::Kept(vec![ShapeItem::Dim(Dim::int(1))]),
                ),
                taking => {
                    let next = if after { back.next() } else { front.next() };
                    let Some(ShapeItem::Dim(size)) = next else {
                        return bad(span);
                    };
                    match self.take_axis(taking, &size, at, &mut args) {
                        Some(done) => done,
                        None => return bad(span),
                    }
                }
            };
            given.push(item);
            parts.push(part);
        }
        if rests.is_empty() {
            parts.push(Part::Kept(middle));
        }
        let Some(result) = self.index_shape(parts, span) else {
            return bad(span);
        };
        let attrs = vec![Attr {
            name: "index",
            value: Static::Index(given),
        }];
        builtin(Builtin::Index, args, attrs, Ty::Tensor(elem, result), span)
    }

    fn take_axis(
        &mut self,
        position: Position,
        size: &Dim,
        at: Span,
        args: &mut Vec<Expr>,
    ) -> Option<(IndexItem, Part)> {
        match position {
            Position::At(d) => {
                self.need(
                    Need::InRange {
                        index: d.clone(),
                        size: size.clone(),
                    },
                    at,
                );
                Some((IndexItem::At(d), Part::Picked(Shape::new())))
            }
            Position::Tensor(i, dims) => {
                args.push(self.literal_positions(i, size));
                Some((IndexItem::Tensor, Part::Picked(dims)))
            }
            Position::Range { lo, hi, step, span } => {
                let length =
                    self.range_length(lo.as_ref(), hi.as_ref(), step.as_ref(), size, span)?;
                Some((
                    IndexItem::Range { lo, hi, step },
                    Part::Kept(vec![ShapeItem::Dim(length)]),
                ))
            }
            Position::Rest | Position::NewAxis => None,
        }
    }

    /// NumPy's result shape: positions next to each other stay in place, others come first.
    fn index_shape(&mut self, parts: Vec<Part>, span: Span) -> Option<Shape> {
        let mut positions: Shape = Shape::new();
        let has_tensor = parts
            .iter()
            .any(|p| matches!(p, Part::Picked(s) if !s.is_empty()));
        if !has_tensor {
            return Some(
                parts
                    .into_iter()
                    .flat_map(|p| match p {
                        Part::Kept(s) => s,
                        Part::Picked(_) => Shape::new(),
                    })
                    .collect(),
            );
        }
        for part in &parts {
            if let Part::Picked(s) = part {
                match broadcast(&positions, s) {
                    Ok(b) => positions = b.shape,
                    Err(clash) => {
                        self.report(Problem::IndicesDiffer {
                            span,
                            left: clash.left,
                            right: clash.right,
                        });
                        return None;
                    }
                }
            }
        }
        let picked: Vec<usize> = parts
            .iter()
            .enumerate()
            .filter(|(_, p)| matches!(p, Part::Picked(_)))
            .map(|(i, _)| i)
            .collect();
        let together = picked.windows(2).all(|w| w[1] == w[0] + 1);
        let first = picked.first().copied().unwrap_or(0);
        let mut out = if together {
            Shape::new()
        } else {
            positions.clone()
        };
        for (i, part) in parts.into_iter().enumerate() {
            match part {
                Part::Kept(s) => out.extend(s),
                Part::Picked(_) if together && i == first => out.extend(positions.clone()),
                Part::Picked(_) => {}
            }
        }
        Some(out)
    }
}
