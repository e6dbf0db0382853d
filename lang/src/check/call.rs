//! Calls.

use super::args::Given;
use super::cx::{Cx, bad, is_bad};
use super::func::{ArgTy, FnRef};
use super::subst::Subst;
use super::world::{ItemFn, Signature};
use crate::ast::{self, Ident, IndexArg};
use crate::span::Span;
use crate::typed::{Callee, Expr, ExprKind, Ty};

/// When an argument is checked, in this order.
#[derive(Clone, Copy, PartialEq)]
enum Turn {
    Value,
    /// A call whose result takes its dimensions from the parameter, `layer_norm_init()`: the other arguments tell them.
    Open,
    /// The types of its parameters follow from the other arguments.
    Function,
}

impl<'a> Cx<'a, '_> {
    pub fn call(
        &mut self,
        callee: &'a ast::Expr,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        if self.transforms_a_function(callee, args) {
            return self.function_as_value(&self.short_call(callee, span), span);
        }
        let f = self.fn_ref(callee);
        let Some(f) = f.filter(|_| !is_misordered(args, named)) else {
            self.arguments_alone(args, named);
            return bad(span);
        };
        match &f {
            FnRef::Item { id, explicit, .. } => {
                self.call_item(*id, *explicit, args, named, want, span)
            }
            FnRef::Builtin(row, _) => self.builtin_call(row, args, named, want, span),
            FnRef::Form(form, _) => self.form(*form, args, named, want, span),
            FnRef::Cast(elem, _) => {
                if !self.no_named(&f, named) {
                    return bad(span);
                }
                let [arg] = args else {
                    self.wrong_arity(&f, 1, args.len(), span);
                    return bad(span);
                };
                let x = self.expr(arg, None);
                if is_bad(&x) {
                    return bad(span);
                }
                self.cast(elem.clone(), x, span)
            }
            FnRef::Local(id) => {
                if !self.no_named(&f, named) {
                    return bad(span);
                }
                let Ty::Fn(params, _) = self.local_ty(*id).clone() else {
                    return bad(span);
                };
                let exprs: Vec<Expr> = args
                    .iter()
                    .enumerate()
                    .map(|(i, a)| match params.get(i) {
                        Some(want @ Ty::Fn(..)) => self.function_arg(a, want),
                        want => self.expr(a, want),
                    })
                    .collect();
                self.call_applied(&f, exprs, want, span)
            }
            FnRef::Lambda { .. } => {
                if !self.no_named(&f, named) {
                    return bad(span);
                }
                let exprs = args.iter().map(|a| self.expr(a, None)).collect();
                self.call_applied(&f, exprs, want, span)
            }
            FnRef::Transform { .. } => {
                let Some(exprs) = self.transform_args(&f, args, named, span) else {
                    return bad(span);
                };
                self.call_applied(&f, exprs, want, span)
            }
        }
    }

    /// A call as written, without its arguments where they are long.
    fn short_call(&self, callee: &ast::Expr, span: Span) -> ast::Name {
        let text = self.text(span);
        match text.len() < 40 && !text.contains('\n') {
            true => text.into(),
            false => format!("{}(…)", self.text(callee.span)).into(),
        }
    }

    fn call_applied(
        &mut self,
        f: &FnRef<'a>,
        exprs: Vec<Expr>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        if exprs.iter().any(is_bad) {
            return bad(span);
        }
        let types: Vec<ArgTy> = exprs.iter().map(ArgTy::of).collect();
        match self.apply(f, &types, span, want) {
            Some((callee, ty)) => Expr {
                kind: ExprKind::Call(callee, exprs),
                ty,
                span,
            },
            None => bad(span),
        }
    }

    fn call_item(
        &mut self,
        id: ItemFn,
        explicit: Option<&'a [IndexArg]>,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let signature = self.signature(id);
        let Some(given) = self.match_args(id, &signature, args, named, span) else {
            self.arguments_alone(args, named);
            return match self.closed_ret(&signature) {
                // What follows is checked against the result all the same.
                Some(ty) => Expr { ty, ..bad(span) },
                None => bad(span),
            };
        };
        let since = self.infer.deferred();
        let Some(generics) = self.instantiate(id, &signature, explicit, span) else {
            return bad(span);
        };
        let mut exprs: Vec<Option<Expr>> = vec![None; given.len()];
        let mut failed = false;
        let turns: Vec<Turn> = (given.iter().zip(&signature.params))
            .map(|(given, param)| match given {
                _ if matches!(param.ty, Ty::Fn(..)) => Turn::Function,
                Given::Written(e) if self.is_open_call(e) => Turn::Open,
                _ => Turn::Value,
            })
            .collect();
        for turn in [Turn::Value, Turn::Open, Turn::Function] {
            let functions = turn == Turn::Function;
            if turn == Turn::Open && turns.contains(&turn) {
                self.take_hint(&signature, &generics, want, since);
            }
            for (i, param) in signature.params.iter().enumerate() {
                if turns[i] != turn || failed && turn != Turn::Value {
                    continue;
                }
                let want = Subst::new(&generics).ty(&param.ty).unwrap_or(Ty::Error);
                let arg = match given[i] {
                    Given::Written(e) if param.shape.is_some() => {
                        self.shape_arg(id, &signature, &generics, i, e)
                    }
                    Given::Default => self.default_arg(param.default.clone(), &want, span),
                    Given::Written(e) if functions => self.function_arg(e, &want),
                    Given::Written(e) => {
                        let hint = self.infer.ty(&want);
                        let value = self.expr(e, Some(&hint));
                        if let Err(clash) = self.infer.unify(&want, &value.ty) {
                            let arg = ArgTy {
                                span: e.span,
                                ..ArgTy::of(&value)
                            };
                            self.arg_mismatch(id, &signature, &generics, i, &arg, clash);
                            bad(e.span)
                        } else {
                            value
                        }
                    }
                };
                failed |= is_bad(&arg);
                exprs[i] = Some(arg);
            }
        }
        if failed {
            return match self.closed_ret(&signature) {
                Some(ty) => Expr { ty, ..bad(span) },
                None => bad(span),
            };
        }
        let Some((callee, ty)) = self.finish_item(id, &signature, generics, want, span, since)
        else {
            return bad(span);
        };
        let args = exprs.into_iter().flatten().collect();
        Expr {
            kind: ExprKind::Call(callee, args),
            ty,
            span,
        }
    }

    /// Whether an expression is, or is made of, a call that does not tell all parameters of its function.
    fn is_open_call(&mut self, e: &ast::Expr) -> bool {
        match &e.kind {
            ast::ExprKind::Call {
                callee,
                args,
                named,
            } => match self.called_item(callee) {
                Some(id) => {
                    let mut args = args.iter().chain(named.iter().map(|(_, e)| e));
                    !self.signature(id).is_told || args.any(|e| self.is_open_call(e))
                }
                None => false,
            },
            ast::ExprKind::Tuple(parts) => parts.iter().any(|e| self.is_open_call(e)),
            ast::ExprKind::Record(fields) => fields.iter().any(|(_, e)| self.is_open_call(e)),
            _ => false,
        }
    }

    /// The result type of a call that failed, if its arguments have no say in it.
    fn closed_ret(&self, signature: &Signature) -> Option<Ty> {
        let ret = &signature.ret;
        let closed = !super::subst::mentions_parameters(ret) && !super::subst::has_error(ret);
        closed.then(|| ret.clone())
    }

    /// A function from source applied to types; for forms that call it on parts of their arguments.
    pub fn apply_to(
        &mut self,
        f: &FnRef<'a>,
        types: &[Ty],
        at: &[Span],
        span: Span,
    ) -> Option<(Callee, Ty)> {
        let args: Vec<ArgTy> = types
            .iter()
            .zip(at)
            .map(|(ty, &span)| ArgTy::made_from(ty.clone(), span))
            .collect();
        self.apply(f, &args, span, None)
    }
}

/// Whether a positional argument stands behind a named one: where it belongs is not known, and it has been reported.
fn is_misordered(args: &[ast::Expr], named: &[(Ident, ast::Expr)]) -> bool {
    match (args.last(), named.first()) {
        (Some(last), Some((name, _))) => last.span.start > name.span.start,
        _ => false,
    }
}
