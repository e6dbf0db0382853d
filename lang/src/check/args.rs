//! The arguments of calls: by place, by name and by default.

use super::cx::{Cx, bad};
use super::func::{ArgTy, FnRef};
use super::konst::Const;
use super::problem::Problem;
use super::subst::Subst;
use super::world::{ItemFn, Signature};
use crate::ast::{self, Ident};
use crate::span::Span;
use crate::typed::{Expr, ExprKind, GenericArg, Ty};

/// Where an argument of a parameter comes from.
#[derive(Clone, Copy)]
pub(super) enum Given<'a> {
    Written(&'a ast::Expr),
    Default,
}

impl<'a> Cx<'a, '_> {
    /// The arguments of a call that cannot be checked: their own errors are still worth reporting, but not that nothing
    /// tells the parameters of a call among them. The parameter that it is for might have.
    pub(super) fn arguments_alone(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
    ) {
        let mark = self.w.diagnostics.len();
        for arg in args.iter().chain(named.iter().map(|(_, e)| e)) {
            if !self.is_function(arg) && !is_static_only(arg) {
                self.expr(arg, None);
            }
        }
        let mut found = self.w.diagnostics.split_off(mark);
        found.retain(|d| d.code.0 != "E0315");
        self.w.diagnostics.append(&mut found);
    }

    /// Whether a call has no named arguments; reports the first of them.
    pub fn no_named(&mut self, f: &FnRef<'a>, named: &[(Ident, ast::Expr)]) -> bool {
        if let Some((name, _)) = named.first() {
            let callee = self.fn_name(f);
            self.report(Problem::UnknownArg {
                span: name.span,
                name: name.node.clone(),
                callee,
                near: None,
                known: Vec::new(),
            });
        }
        named.is_empty()
    }

    /// Arguments of a transformed function; those given by name go where the function has them.
    pub(super) fn transform_args(
        &mut self,
        f: &FnRef<'a>,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Vec<Expr>> {
        let FnRef::Transform { spec, inner, .. } = f else {
            return None;
        };
        let item = match (&**inner, spec.keeps_arguments()) {
            (FnRef::Item { id, .. }, true) => Some(*id),
            _ => None,
        };
        let Some(id) = item else {
            if !self.no_named(f, named) {
                return None;
            }
            return Some(args.iter().map(|a| self.expr(a, None)).collect());
        };
        let signature = self.signature(id);
        let given = self.match_args(id, &signature, args, named, span)?;
        let exprs = given
            .into_iter()
            .zip(&signature.params)
            .map(|(g, param)| match g {
                Given::Written(e) => self.expr(e, None),
                Given::Default => match &param.default {
                    Some(value) => self.konst(value.clone(), None, span),
                    None => bad(span),
                },
            })
            .collect();
        Some(exprs)
    }

    /// Sizes for a parameter `shape: [B, N]`: they tell the dimensions, and nothing is passed.
    pub(super) fn shape_arg(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        generics: &[GenericArg],
        index: usize,
        e: &'a ast::Expr,
    ) -> Expr {
        let param = &signature.params[index];
        let Some(found) = self.static_shape(e) else {
            return bad(e.span);
        };
        let want = param.shape.as_ref();
        let want = want.and_then(|s| Subst::new(generics).shape(s));
        let before = self.infer.clone();
        let fits = want.is_some_and(|want| self.infer.unify_shape(&want, &found).is_ok());
        if !fits {
            self.infer = before;
            self.report(Problem::ShapeArg {
                span: e.span,
                callee: self.item_name(id),
                param: param.name.clone(),
                definition: param.span,
                expected: self.shown_shape(signature, generics, index),
                found,
            });
            return bad(e.span);
        }
        super::stmt::unit(e.span)
    }

    pub(super) fn default_arg(&mut self, default: Option<Const>, want: &Ty, span: Span) -> Expr {
        let Some(value) = default else {
            return bad(span);
        };
        let value = self.konst(value, None, span);
        match self.infer.unify(want, &value.ty) {
            Ok(()) => value,
            Err(_) => bad(span),
        }
    }

    /// A function passed for a parameter of function type.
    pub fn function_arg(&mut self, e: &'a ast::Expr, want: &Ty) -> Expr {
        let Ty::Fn(params, ret) = self.infer.ty(want) else {
            return bad(e.span);
        };
        let Some(f) = self.fn_ref(e) else {
            return bad(e.span);
        };
        let args: Vec<ArgTy> = params
            .iter()
            .map(|ty| ArgTy::made_from(ty.clone(), e.span))
            .collect();
        let Some((callee, found)) = self.apply(&f, &args, e.span, Some(&ret)) else {
            return bad(e.span);
        };
        if self.infer.unify(&ret, &found).is_err() {
            let (expected, found) = (self.infer.ty(&ret), self.infer.ty(&found));
            self.report(Problem::FunctionResult {
                span: e.span,
                function: self.fn_name(&f),
                expected,
                found,
            });
            return bad(e.span);
        }
        Expr {
            kind: ExprKind::Function(callee),
            ty: Ty::Fn(params, ret),
            span: e.span,
        }
    }

    /// Puts arguments in the order of the parameters; reports what is missing, too much, or unknown.
    pub(super) fn match_args(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<Vec<Given<'a>>> {
        let params = &signature.params;
        let callee = self.item_name(id);
        let def = self.w.fns[id.0].def;
        let definition = Some(def.name.span);
        // A default that is wrong has been reported where it stands; the parameter has one all the same.
        let optional = def.params.iter().filter(|p| p.default.is_some()).count();
        if args.len() > params.len() {
            self.report(Problem::ArgCount {
                span,
                callee,
                expected: params.len(),
                optional,
                found: args.len() + named.len(),
                missing: Vec::new(),
                definition,
            });
            return None;
        }
        let mut given: Vec<Option<Given>> = args.iter().map(|e| Some(Given::Written(e))).collect();
        given.resize(params.len(), None);
        let mut ok = true;
        for (name, value) in named {
            match params.iter().position(|p| p.name == name.node) {
                Some(i) if given[i].is_none() => given[i] = Some(Given::Written(value)),
                Some(_) => {
                    self.report(Problem::ArgTwice {
                        span: name.span,
                        name: name.node.clone(),
                        callee: callee.clone(),
                    });
                    ok = false;
                }
                None => {
                    let near = self.near_param(&name.node, signature);
                    self.report(Problem::UnknownArg {
                        span: name.span,
                        name: name.node.clone(),
                        callee: callee.clone(),
                        near,
                        known: params.iter().map(|p| p.name.clone()).collect(),
                    });
                    ok = false;
                }
            }
        }
        let mut missing = Vec::new();
        let mut defaults_known = true;
        for ((param, slot), written) in params.iter().zip(&mut given).zip(&def.params) {
            if slot.is_none() {
                match param.default {
                    Some(_) => *slot = Some(Given::Default),
                    None if written.default.is_some() => defaults_known = false,
                    None => missing.push(param.name.clone()),
                }
            }
        }
        if !missing.is_empty() && ok {
            self.report(Problem::ArgCount {
                span,
                callee,
                expected: params.len(),
                optional,
                found: args.len() + named.len(),
                missing,
                definition,
            });
            return None;
        }
        (ok && defaults_known).then(|| given.into_iter().flatten().collect())
    }
}

/// Arguments that are no values: checking them alone would only report that.
fn is_static_only(e: &ast::Expr) -> bool {
    matches!(e.kind, ast::ExprKind::Str(_) | ast::ExprKind::None)
}
