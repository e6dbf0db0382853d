//! `map`, `fold` and `scan`.

use super::cx::{Cx, bad, is_bad};
use super::func::FnRef;
use super::problem::{Context, Problem};
use super::require::Need;
use super::subst::map_leaves;
use crate::ast::{self, Ident};
use crate::span::Span;
use crate::typed::{Callee, ElemTy, Expr, ExprKind, GenericId, ShapeItem, Ty};

impl<'a> Cx<'a, '_> {
    /// The function and the values of a form that takes them in this order.
    fn form_args(
        &mut self,
        name: &'static str,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        wanted: std::ops::RangeInclusive<usize>,
        span: Span,
    ) -> Option<(FnRef<'a>, Vec<Expr>)> {
        if let Some((name_given, _)) = named.first() {
            self.report(Problem::UnknownArg {
                span: name_given.span,
                name: name_given.node.clone(),
                callee: format!("`{name}`"),
                near: None,
                known: Vec::new(),
            });
        }
        if !wanted.contains(&args.len()) {
            self.report(Problem::ArgCount {
                span,
                callee: format!("`{name}`"),
                expected: *wanted.start(),
                optional: 0,
                found: args.len(),
                missing: Vec::new(),
                definition: None,
            });
            return None;
        }
        let f = self.fn_ref(&args[0]);
        let mut values = Vec::new();
        for arg in &args[1..] {
            // Behind what is no function, a function is only out of place.
            if f.is_some() || !self.is_function(arg) {
                values.push(self.expr(arg, None));
            }
        }
        if values.iter().any(is_bad) {
            return None;
        }
        Some((f?, values))
    }

    /// `map(f, t1, t2, …)`.
    pub fn map_form(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let Some((f, trees)) = self.form_args("map", args, named, 2..=usize::MAX, span) else {
            return bad(span);
        };
        let types: Vec<Ty> = trees.iter().map(|t| self.infer.ty(&t.ty)).collect();
        for (tree, ty) in trees.iter().zip(&types).skip(1) {
            if !same_structure(&types[0], ty) {
                self.report(Problem::TreesDiffer {
                    span: tree.span,
                    first_span: trees[0].span,
                    first: types[0].clone(),
                    other: ty.clone(),
                });
                return bad(span);
            }
        }
        let spans: Vec<Span> = trees.iter().map(|t| t.span).collect();
        let mut walk = Walk {
            f: &f,
            spans,
            callees: Vec::new(),
            span,
        };
        match self.map_walk(&mut walk, &types) {
            Some(ty) => Expr {
                kind: ExprKind::Map {
                    callees: walk.callees,
                    trees,
                },
                ty,
                span,
            },
            None => bad(span),
        }
    }

    fn map_walk(&mut self, walk: &mut Walk<'_, 'a>, types: &[Ty]) -> Option<Ty> {
        match &types[0] {
            Ty::Tuple(fields) => {
                let each = (0..fields.len()).map(|i| self.map_walk(walk, &parts(types, i)));
                Some(Ty::Tuple(each.collect::<Option<_>>()?))
            }
            Ty::Record(fields) => {
                let mut out = Vec::new();
                for (i, (name, _)) in fields.iter().enumerate() {
                    out.push((name.clone(), self.map_walk(walk, &parts(types, i))?));
                }
                Some(Ty::Record(out.into_iter().collect()))
            }
            Ty::Tree { param, .. } => {
                let param = *param;
                self.need(Need::Leaves(param, self.infer.leaves()), walk.span);
                let leaves: Vec<Ty> = types.iter().map(|t| leaf_of(t, param)).collect();
                let ret = self.leaf_call(walk, &leaves)?;
                let ret = self.infer.ty(&ret);
                match ret {
                    Ty::Tensor(ElemTy::LeafOf(g), shape)
                        if g == param && shape == [ShapeItem::LeafOf(param)] =>
                    {
                        Some(Ty::Tree { param, leaf: None })
                    }
                    leaf @ Ty::Tensor(..) => Some(Ty::Tree {
                        param,
                        leaf: Some(Box::new(leaf)),
                    }),
                    Ty::Error => None,
                    ty => {
                        self.report(Problem::LeafResult {
                            span: walk.span,
                            ty,
                        });
                        None
                    }
                }
            }
            Ty::Tensor(..) => self.leaf_call(walk, types),
            ty => {
                self.report(Problem::NotATree {
                    span: walk.spans[0],
                    ty: ty.clone(),
                });
                None
            }
        }
    }

    fn leaf_call(&mut self, walk: &mut Walk<'_, 'a>, types: &[Ty]) -> Option<Ty> {
        let (callee, ret) = self.apply_to(walk.f, types, &walk.spans, walk.span)?;
        walk.callees.push(callee);
        Some(ret)
    }

    /// `fold(f, init, t)`.
    pub fn fold_form(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let Some((f, mut values)) = self.form_args("fold", args, named, 3..=3, span) else {
            return bad(span);
        };
        let (Some(tree), Some(init)) = (values.pop(), values.pop()) else {
            return bad(span);
        };
        let ty = self.infer.ty(&tree.ty);
        let mut callees = Vec::new();
        for (_, leaf) in super::subst::leaves(&ty) {
            let leaf = match &leaf {
                Ty::Tree { param, .. } => {
                    self.need(Need::Leaves(*param, self.infer.leaves()), span);
                    leaf_of(&leaf, *param)
                }
                Ty::Tensor(..) => leaf,
                _ => {
                    self.report(Problem::NotATree {
                        span: tree.span,
                        ty: leaf,
                    });
                    return bad(span);
                }
            };
            let types = [init.ty.clone(), leaf];
            let Some((callee, ret)) = self.apply_to(&f, &types, &[init.span, tree.span], span)
            else {
                return bad(span);
            };
            if !self.carry_fits("fold", &init, &ret, span) {
                return bad(span);
            }
            callees.push(callee);
        }
        let ty = init.ty.clone();
        Expr {
            kind: ExprKind::Fold {
                callees,
                init: Box::new(init),
                tree: Box::new(tree),
            },
            ty,
            span,
        }
    }

    /// `scan(f, init, xs)`.
    pub fn scan_form(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let Some((f, mut values)) = self.form_args("scan", args, named, 3..=3, span) else {
            return bad(span);
        };
        let (Some(xs), Some(init)) = (values.pop(), values.pop()) else {
            return bad(span);
        };
        let Some(row) = self.row_type(&xs) else {
            return bad(span);
        };
        let length = first_dim(&self.infer.ty(&xs.ty));
        let types = [init.ty.clone(), row];
        let Some((callee, ret)) = self.apply_to(&f, &types, &[init.span, xs.span], span) else {
            return bad(span);
        };
        let (carry, y) = match self.infer.ty(&ret) {
            Ty::Tuple(mut parts) if parts.len() == 2 => {
                let y = parts.pop().unwrap_or(Ty::Error);
                (parts.pop().unwrap_or(Ty::Error), y)
            }
            ty => {
                self.report(Problem::ScanResult { span, ty });
                return bad(span);
            }
        };
        if !self.carry_fits("scan", &init, &carry, span) {
            return bad(span);
        }
        let Some(length) = length else {
            return bad(span);
        };
        let ys = map_leaves(&self.infer.ty(&y), &mut |leaf| match leaf {
            Ty::Tensor(elem, shape) => {
                let mut stacked = vec![length.clone()];
                stacked.extend(shape.iter().cloned());
                Ty::Tensor(elem.clone(), stacked)
            }
            other => other.clone(),
        });
        if super::subst::leaves(&ys)
            .iter()
            .any(|(_, t)| !matches!(t, Ty::Tensor(..)))
        {
            self.report(Problem::ScanResult { span, ty: y });
            return bad(span);
        }
        let ty = Ty::Tuple(vec![init.ty.clone(), ys]);
        Expr {
            kind: ExprKind::Scan {
                callee,
                init: Box::new(init),
                xs: Box::new(xs),
            },
            ty,
            span,
        }
    }

    fn carry_fits(&mut self, what: &'static str, init: &Expr, carry: &Ty, span: Span) -> bool {
        match self.infer.unify(&init.ty, carry) {
            Ok(()) => true,
            Err(clash) => {
                let (expected, found) = (self.infer.ty(&init.ty), self.infer.ty(carry));
                self.report(Problem::Mismatch {
                    context: Context::Carry {
                        what,
                        init: init.span,
                    },
                    span,
                    expected,
                    found,
                    clash,
                    help: Vec::new(),
                });
                false
            }
        }
    }
}

struct Walk<'f, 'a> {
    f: &'f FnRef<'a>,
    spans: Vec<Span>,
    callees: Vec<Callee>,
    span: Span,
}

fn parts(types: &[Ty], i: usize) -> Vec<Ty> {
    types
        .iter()
        .map(|t| match t {
            Ty::Tuple(fields) => fields[i].clone(),
            Ty::Record(fields) => fields[i].1.clone(),
            other => other.clone(),
        })
        .collect()
}

/// Whether two trees have their leaves in the same places.
pub fn same_structure(a: &Ty, b: &Ty) -> bool {
    match (a, b) {
        (Ty::Tuple(x), Ty::Tuple(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same_structure(x, y))
        }
        (Ty::Record(x), Ty::Record(y)) => {
            x.len() == y.len()
                && x.iter()
                    .zip(y)
                    .all(|((n, x), (m, y))| n == m && same_structure(x, y))
        }
        (Ty::Tree { param: p, .. }, Ty::Tree { param: q, .. }) => p == q,
        (Ty::Tensor(..), Ty::Tensor(..)) => true,
        _ => false,
    }
}

/// The type of one leaf of a rigid tree.
fn leaf_of(tree: &Ty, param: GenericId) -> Ty {
    match tree {
        Ty::Tree {
            leaf: Some(leaf), ..
        } => (**leaf).clone(),
        _ => Ty::Tensor(ElemTy::LeafOf(param), vec![ShapeItem::LeafOf(param)]),
    }
}

/// The length that all leaves share on axis 0.
fn first_dim(ty: &Ty) -> Option<ShapeItem> {
    super::subst::leaves(ty)
        .into_iter()
        .find_map(|(_, t)| match t {
            Ty::Tensor(_, shape) => shape.first().cloned(),
            _ => None,
        })
}
