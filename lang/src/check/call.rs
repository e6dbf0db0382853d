//! Calls.

use super::cx::{Cx, bad, is_bad};
use super::func::{ArgTy, FnRef, Form};
use super::konst::Const;
use super::problem::{BatchesFault, Problem};
use super::subst::Subst;
use super::world::{ItemFn, Signature};
use crate::ast::{self, Ident, IndexArg, Name};
use crate::span::Span;
use crate::typed::{Callee, Expr, ExprKind, GenericArg, ShapeItem, Ty};

/// Where an argument of a parameter comes from.
#[derive(Clone, Copy)]
enum Given<'a> {
    Written(&'a ast::Expr),
    Default,
}

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

    /// The arguments of a call that cannot be checked: their own errors are still worth reporting, but not that nothing
    /// tells the parameters of a call among them. The parameter that it is for might have.
    fn arguments_alone(&mut self, args: &'a [ast::Expr], named: &'a [(Ident, ast::Expr)]) {
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
    fn transform_args(
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

    /// Sizes for a parameter `shape: [B, N]`: they tell the dimensions, and nothing is passed.
    fn shape_arg(
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

    /// The result type of a call that failed, if its arguments have no say in it.
    fn closed_ret(&self, signature: &Signature) -> Option<Ty> {
        let ret = &signature.ret;
        let closed = !super::subst::mentions_parameters(ret) && !super::subst::has_error(ret);
        closed.then(|| ret.clone())
    }

    fn default_arg(&mut self, default: Option<Const>, want: &Ty, span: Span) -> Expr {
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
    fn match_args(
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

    /// Builtins with a form of their own.
    fn form(
        &mut self,
        form: Form,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        match form {
            Form::Map => self.map_form(args, named, span),
            Form::Fold => self.fold_form(args, named, span),
            Form::Scan => self.scan_form(args, named, span),
            Form::Shape => self.shape_form(args, named, span),
            Form::Print
            | Form::Debug
            | Form::Save
            | Form::Assert
            | Form::AssertClose
            | Form::Log => {
                self.report(Problem::EffectHere {
                    span,
                    name: form.name(),
                    place: self.place,
                    in_lambda: self.lambda_depth > 0,
                });
                bad(span)
            }
            Form::Batches => {
                self.fault(span, BatchesFault::Place);
                bad(span)
            }
            Form::Dataset | Form::Load | Form::NumpyPermutations | Form::Time => {
                self.host_form(form, args, named, want, span)
            }
        }
    }

    /// `shape(x)`: a tuple of constants.
    fn shape_form(
        &mut self,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let f = FnRef::Form(Form::Shape, span);
        self.no_named(&f, named);
        let [arg] = args else {
            self.wrong_arity(&f, 1, args.len(), span);
            return bad(span);
        };
        let x = self.expr(arg, None);
        if is_bad(&x) {
            return bad(span);
        }
        let Some((_, shape)) = self.tensor(&x, "shape") else {
            return bad(span);
        };
        if super::shape::dims(&shape).is_none() {
            self.report(Problem::UnknownRank {
                span,
                what: "`shape`".into(),
                ty: self.infer.ty(&x.ty),
            });
            return bad(span);
        }
        self.sizes_tuple(&shape, span)
    }

    /// A parameter `shape: [B, N]` as a value: a tuple of constants, like `shape(x)`.
    pub fn sizes_value(&mut self, shape: &[ShapeItem], name: &Name, span: Span) -> Expr {
        if super::shape::dims(shape).is_none() {
            self.report(Problem::NotAValue {
                span,
                name: name.clone(),
                what: "a shape of any rank",
            });
            return bad(span);
        }
        self.sizes_tuple(shape, span)
    }

    fn sizes_tuple(&mut self, shape: &[ShapeItem], span: Span) -> Expr {
        let dims = super::shape::dims(shape).unwrap_or_default();
        let fields: Vec<Expr> = dims
            .into_iter()
            .map(|d| self.konst(Const::Dim(d), None, span))
            .collect();
        let ty = Ty::Tuple(fields.iter().map(|f| f.ty.clone()).collect());
        Expr {
            kind: ExprKind::Fields(fields),
            ty,
            span,
        }
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

/// Arguments that are no values: checking them alone would only report that.
fn is_static_only(e: &ast::Expr) -> bool {
    matches!(e.kind, ast::ExprKind::Str(_) | ast::ExprKind::None)
}
