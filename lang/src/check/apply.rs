//! Functions applied to arguments of given types.

use super::cx::Cx;
use super::func::{ArgTy, FnRef};
use super::problem::{Context, Problem};
use super::scope::Binder;
use super::world::ItemFn;
use crate::ast::{self, IndexArg, LambdaParam, Name};
use crate::span::Span;
use crate::typed::{Callee, Elem, ElemTy, Expr, ExprKind, Lambda, LocalId, Ty};
use std::rc::Rc;

impl<'a> Cx<'a, '_> {
    /// Resolves a function for arguments of given types; reports what does not fit.
    pub fn apply(
        &mut self,
        f: &FnRef<'a>,
        args: &[ArgTy],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<(Callee, Ty)> {
        match f {
            FnRef::Item {
                id,
                explicit,
                span: at,
            } => self.apply_item(*id, *explicit, *at, args, span, want),
            FnRef::Lambda {
                params,
                body,
                span: at,
                defined,
            } => self.apply_lambda(params, body, *at, *defined, args, want),
            FnRef::Local(id) => self.apply_local(*id, args, span),
            FnRef::Builtin(row, at) => {
                let row = *row;
                self.eta(args, *at, |cx, exprs| cx.builtin_applied(row, exprs, *at))
            }
            FnRef::Cast(elem, at) => {
                if args.len() != 1 {
                    self.wrong_arity(f, 1, args.len(), span);
                    return None;
                }
                self.eta(args, *at, |cx, mut exprs| match exprs.pop() {
                    Some(x) => cx.cast(elem.clone(), x, *at),
                    None => super::cx::bad(*at),
                })
            }
            FnRef::Form(form, at) => {
                self.report(Problem::FormAsFunction {
                    span: *at,
                    name: form.name(),
                });
                None
            }
            FnRef::Transform {
                spec,
                inner,
                span: at,
            } => self.apply_transform(spec, inner, args, *at),
        }
    }

    pub fn wrong_arity(&mut self, f: &FnRef<'a>, expected: usize, found: usize, span: Span) {
        let name = self.fn_name(f);
        let definition = match f {
            FnRef::Item { id, .. } => Some(self.w.fns[id.0].def.name.span),
            FnRef::Lambda { span, .. } => Some(*span),
            _ => None,
        };
        self.report(Problem::ArgCount {
            span,
            callee: name,
            expected,
            optional: 0,
            found,
            missing: Vec::new(),
            definition,
        });
    }

    fn apply_item(
        &mut self,
        id: ItemFn,
        explicit: Option<&'a [IndexArg]>,
        at: Span,
        args: &[ArgTy],
        span: Span,
        want: Option<&Ty>,
    ) -> Option<(Callee, Ty)> {
        let signature = self.signature(id);
        if args.len() != signature.params.len() {
            let f = FnRef::Item { id, explicit, span };
            self.wrong_arity(&f, signature.params.len(), args.len(), span);
            return None;
        }
        if let Some(param) = signature.params.iter().find(|p| p.shape.is_some()) {
            let (name, needs) = (self.item_name(id), param.name.clone());
            let span = at;
            self.report(Problem::ShapeOfPassed { span, name, needs });
            return None;
        }
        let since = self.infer.deferred();
        let generics = self.instantiate(id, &signature, explicit, at)?;
        let subst = super::subst::Subst::new(&generics);
        for (i, arg) in args.iter().enumerate() {
            let want = subst.ty(&signature.params[i].ty)?;
            if let Err(clash) = self.infer.unify(&want, &arg.ty) {
                self.arg_mismatch(id, &signature, &generics, i, arg, clash);
                return None;
            }
        }
        self.finish_item(id, &signature, generics, want, span, since)
    }

    fn apply_local(&mut self, id: LocalId, args: &[ArgTy], span: Span) -> Option<(Callee, Ty)> {
        let Ty::Fn(params, ret) = self.local_ty(id).clone() else {
            return None;
        };
        if params.len() != args.len() {
            self.wrong_arity(&FnRef::Local(id), params.len(), args.len(), span);
            return None;
        }
        for (i, (want, arg)) in params.iter().zip(args).enumerate() {
            if let Err(clash) = self.infer.unify(want, &arg.ty) {
                self.fn_param_mismatch(id, i, want, arg, clash);
                return None;
            }
        }
        Some((Callee::Local(id), *ret))
    }

    pub fn fn_param_mismatch(
        &mut self,
        id: LocalId,
        index: usize,
        want: &Ty,
        arg: &ArgTy,
        clash: super::infer::Clash,
    ) {
        let (expected, found) = (self.infer.ty(want), self.infer.ty(&arg.ty));
        let help = self.arg_help(&expected, &found, arg);
        let local = &self.locals[id.0 as usize];
        let context = Context::Arg {
            callee: format!("`{}`", local.name),
            param: format!("{}", index + 1).into(),
            definition: local.span,
            shown: self.names.ty(&expected),
            itself: arg.itself,
        };
        self.report(Problem::Mismatch {
            context,
            span: arg.span,
            expected,
            found,
            clash,
            help,
        });
    }

    pub fn apply_lambda(
        &mut self,
        params: &'a [LambdaParam],
        body: &'a ast::Expr,
        span: Span,
        defined: Option<u32>,
        args: &[ArgTy],
        want: Option<&Ty>,
    ) -> Option<(Callee, Ty)> {
        if params.len() != args.len() {
            self.report(Problem::ArgCount {
                span,
                callee: "this lambda".into(),
                expected: params.len(),
                optional: 0,
                found: args.len(),
                missing: Vec::new(),
                definition: None,
            });
            return None;
        }
        self.applied.insert(span);
        self.no_name_twice(params.iter().map(|p| &p.pattern));
        if !self.expand(span) || !self.open_definition(span) {
            return None;
        }
        if let Some(defined) = defined {
            self.scope.hide(defined);
        }
        let mark = self.scope.open();
        let floor = std::mem::replace(&mut self.lambda_floor, self.locals.len() as u32);
        self.lambda_depth += 1;
        let mut patterns = Vec::new();
        let mut param_types = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            let ty = match &param.ty {
                Some(t) => {
                    let written = self.resolve_type(t);
                    if let Err(clash) = self.infer.unify(&written, &arg.ty) {
                        let found = self.infer.ty(&arg.ty);
                        let help = self.arg_help(&written, &found, arg);
                        self.report(Problem::Mismatch {
                            context: Context::LambdaParam { ty: t.span },
                            span: arg.span,
                            expected: written.clone(),
                            found,
                            clash,
                            help,
                        });
                    }
                    written
                }
                None => self.infer.ty(&arg.ty),
            };
            patterns.push(self.bind_pattern(&param.pattern, &ty, Binder::Parameter));
            param_types.push(ty);
        }
        let body = self.expr(body, want);
        self.lambda_depth -= 1;
        self.lambda_floor = floor;
        self.close_definition();
        self.scope.close(mark);
        if defined.is_some() {
            self.scope.show();
        }
        if super::cx::is_bad(&body) {
            return None;
        }
        let ret = body.ty.clone();
        let lambda = Lambda {
            params: patterns,
            param_types,
            body,
            span,
        };
        Some((Callee::Lambda(Rc::new(lambda)), ret))
    }

    /// Closes a scope. A lambda bound in it that nothing has applied is checked all the same, its parameters without
    /// a type fitting everything.
    pub fn close_scope(&mut self, mark: usize) {
        // One that calls another comes after it, and applies it.
        for f in self.scope.functions_since(mark).into_iter().rev() {
            let mut f = &f;
            while let FnRef::Transform { inner, .. } = f {
                f = inner;
            }
            if let FnRef::Lambda { params, span, .. } = f
                && !self.applied.contains(span)
            {
                let any = ArgTy::made_from(Ty::Error, *span);
                let args = vec![any; params.len()];
                let found = self.apply(f, &args, *span, None);
                self.uncalled.extend(found.map(|(callee, _)| callee));
            }
        }
        self.scope.close(mark);
    }

    /// A builtin passed as a function: a lambda that calls it.
    fn eta(
        &mut self,
        args: &[ArgTy],
        span: Span,
        body: impl FnOnce(&mut Self, Vec<Expr>) -> Expr,
    ) -> Option<(Callee, Ty)> {
        let mut exprs = Vec::new();
        let mut params = Vec::new();
        let mut param_types = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            let name: Name = format!("x{i}").into();
            let id = self.local(name, arg.ty.clone(), false, span);
            params.push(crate::typed::Pattern::Local(id));
            param_types.push(arg.ty.clone());
            exprs.push(Expr {
                kind: ExprKind::Local(id),
                ty: arg.ty.clone(),
                span,
            });
        }
        let body = body(self, exprs);
        if super::cx::is_bad(&body) {
            return None;
        }
        let ret = body.ty.clone();
        let lambda = Lambda {
            params,
            param_types,
            body,
            span,
        };
        Some((Callee::Lambda(Rc::new(lambda)), ret))
    }

    /// `f32(x)`, `D(x)`.
    pub fn cast(&mut self, to: ElemTy, x: Expr, span: Span) -> Expr {
        let Some((from, shape)) = self.tensor(&x, &self.names.elem(&to)) else {
            return super::cx::bad(span);
        };
        if self.infer.elem(&from) == ElemTy::Known(Elem::Key) {
            let what = self.names.elem(&to);
            self.wrong_class(&x, &what, "a number or a bool");
            return super::cx::bad(span);
        }
        // A literal is simply read as that type, so that `bf16(0.1)` is rounded once.
        if let Some(literal) = self.cast_literal(&to, &from, &x, span) {
            return literal;
        }
        super::expr::builtin(
            crate::typed::Builtin::Cast,
            vec![x],
            Vec::new(),
            Ty::Tensor(to, shape),
            span,
        )
    }

    fn cast_literal(&mut self, to: &ElemTy, from: &ElemTy, x: &Expr, span: Span) -> Option<Expr> {
        self.infer.literal_class(from)?;
        let Ty::Tensor(_, shape) = self.infer.ty(&x.ty) else {
            return None;
        };
        let ty = Ty::Tensor(to.clone(), shape);
        let is_float = self.infer.is(to, super::infer::Class::Float);
        let fits = match &x.kind {
            // One that does not fit is converted, as any tensor is.
            ExprKind::Builtin { .. } => is_list(x, &ty, is_float),
            ExprKind::Int(_) | ExprKind::Dim(_) => true,
            // An f32 would round the number before an integer could hold it.
            &ExprKind::Float(number)
                if !is_float && number.trunc() != f64::from(number as f32).trunc() =>
            {
                self.infer
                    .unify_elem(from, &ElemTy::Known(Elem::F64))
                    .ok()?;
                return None;
            }
            ExprKind::Float(_) => is_float,
            _ => false,
        };
        if !fits || self.infer.unify_elem(from, to).is_err() {
            return None;
        }
        Some(Expr {
            kind: x.kind.clone(),
            ty,
            span,
        })
    }
}

/// A list of numbers as written, or of such lists, each of which fits the type.
fn is_list(x: &Expr, ty: &Ty, floats: bool) -> bool {
    match &x.kind {
        ExprKind::Int(n) => super::zonk::fits(*n, ty),
        ExprKind::Float(_) => floats,
        ExprKind::Builtin {
            builtin: crate::typed::Builtin::StackList,
            args,
            ..
        } => args.iter().all(|a| is_list(a, ty, floats)),
        _ => false,
    }
}
