//! `map` and `fold` over trees.

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::Val;
use tpuc_lang::span::Span;
use tpuc_lang::typed::{Callee, Expr, GenericId, Ty};

impl Specialiser<'_> {
    pub(crate) fn map(
        &mut self,
        frame: &mut Frame,
        callees: &[Callee],
        trees: &[Expr],
        span: Span,
    ) -> Result<Val> {
        let vals = trees
            .iter()
            .map(|t| self.expr(frame, t))
            .collect::<Result<Vec<_>>>()?;
        let mut callees = callees.iter();
        self.map_at(frame, &trees[0].ty, &mut callees, vals, span)
    }

    /// Follows the generic structure, which says where each callee belongs.
    fn map_at<'c>(
        &mut self,
        frame: &mut Frame,
        ty: &Ty,
        callees: &mut impl Iterator<Item = &'c Callee>,
        vals: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        match ty {
            Ty::Tuple(fields) => self.map_fields(frame, fields.iter(), callees, vals, span),
            Ty::Record(fields) => {
                self.map_fields(frame, fields.iter().map(|(_, t)| t), callees, vals, span)
            }
            Ty::Tree { param, .. } => {
                let callee = next(callees);
                let tree = frame.tree(*param);
                self.map_rigid(frame, *param, &tree, callee, vals, span)
            }
            Ty::Tensor(..) | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
                let callee = next(callees);
                self.call(frame, callee, vals, span)
            }
        }
    }

    fn map_fields<'t, 'c>(
        &mut self,
        frame: &mut Frame,
        types: impl Iterator<Item = &'t Ty>,
        callees: &mut impl Iterator<Item = &'c Callee>,
        vals: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let mut out = Vec::new();
        for (i, ty) in types.enumerate() {
            let parts = vals.iter().map(|v| v.fields()[i].clone()).collect();
            out.push(self.map_at(frame, ty, callees, parts, span)?);
        }
        Ok(Val::Fields(out))
    }

    /// Over the concrete tree of a rigid parameter: one callee for all its leaves.
    fn map_rigid(
        &mut self,
        frame: &mut Frame,
        param: GenericId,
        tree: &Ty,
        callee: &Callee,
        vals: Vec<Val>,
        span: Span,
    ) -> Result<Val> {
        let each: Vec<&Ty> = match tree {
            Ty::Tuple(fields) => fields.iter().collect(),
            Ty::Record(fields) => fields.iter().map(|(_, t)| t).collect(),
            Ty::Tensor(elem, shape) => {
                let mut inner = frame.at_leaf(param, elem.clone(), shape.clone());
                return self.call(&mut inner, callee, vals, span);
            }
            Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
                unreachable!("the tree is concrete")
            }
        };
        let mut out = Vec::new();
        for (i, ty) in each.into_iter().enumerate() {
            let parts = vals.iter().map(|v| v.fields()[i].clone()).collect();
            out.push(self.map_rigid(frame, param, ty, callee, parts, span)?);
        }
        Ok(Val::Fields(out))
    }

    pub(crate) fn fold(
        &mut self,
        frame: &mut Frame,
        callees: &[Callee],
        init: &Expr,
        tree: &Expr,
        span: Span,
    ) -> Result<Val> {
        let acc = self.expr(frame, init)?;
        let val = self.expr(frame, tree)?;
        let mut callees = callees.iter();
        self.fold_at(frame, &tree.ty, &mut callees, acc, &val, span)
    }

    fn fold_at<'c>(
        &mut self,
        frame: &mut Frame,
        ty: &Ty,
        callees: &mut impl Iterator<Item = &'c Callee>,
        mut acc: Val,
        val: &Val,
        span: Span,
    ) -> Result<Val> {
        let each: Vec<&Ty> = match ty {
            Ty::Tuple(fields) => fields.iter().collect(),
            Ty::Record(fields) => fields.iter().map(|(_, t)| t).collect(),
            Ty::Tree { param, .. } => {
                let callee = next(callees);
                let tree = frame.tree(*param);
                return self.fold_rigid(frame, *param, &tree, callee, acc, val, span);
            }
            Ty::Tensor(..) | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
                let callee = next(callees);
                return self.call(frame, callee, vec![acc, val.clone()], span);
            }
        };
        for (ty, part) in each.into_iter().zip(val.fields()) {
            acc = self.fold_at(frame, ty, callees, acc, part, span)?;
        }
        Ok(acc)
    }

    #[allow(clippy::too_many_arguments)]
    fn fold_rigid(
        &mut self,
        frame: &mut Frame,
        param: GenericId,
        tree: &Ty,
        callee: &Callee,
        mut acc: Val,
        val: &Val,
        span: Span,
    ) -> Result<Val> {
        let each: Vec<&Ty> = match tree {
            Ty::Tuple(fields) => fields.iter().collect(),
            Ty::Record(fields) => fields.iter().map(|(_, t)| t).collect(),
            Ty::Tensor(elem, shape) => {
                let mut inner = frame.at_leaf(param, elem.clone(), shape.clone());
                return self.call(&mut inner, callee, vec![acc, val.clone()], span);
            }
            Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
                unreachable!("the tree is concrete")
            }
        };
        for (ty, part) in each.into_iter().zip(val.fields()) {
            acc = self.fold_rigid(frame, param, ty, callee, acc, part, span)?;
        }
        Ok(acc)
    }
}

fn next<'c>(callees: &mut impl Iterator<Item = &'c Callee>) -> &'c Callee {
    match callees.next() {
        Some(c) => c,
        None => unreachable!("the checker gives one callee for each leaf of the structure"),
    }
}
