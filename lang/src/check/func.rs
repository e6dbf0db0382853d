//! Functions as they are named, passed and bound: resolved at compile time, instantiated at each use.

use super::builtins::{self, Row};
use super::cx::Cx;
use super::near::near;
use super::problem::{Context, Problem};
use super::scope::Bound;
use super::transform::{self, Spec};
use super::world::{Item, ItemFn, Signature};
use crate::ast::{self, ExprKind as A, GenericKind, Ident, IndexArg, LambdaParam, Name};
use crate::span::Span;
use crate::typed::{
    Callee, Elem, ElemTy, Expr, ExprKind, FnId, GenericArg, Lambda, LocalId, Shape, Ty,
};
use std::rc::Rc;

#[derive(Clone, Debug)]
pub enum FnRef<'a> {
    Item {
        id: ItemFn,
        /// `f[3]`
        explicit: Option<&'a [IndexArg]>,
        span: Span,
    },
    Lambda {
        params: &'a [LambdaParam],
        body: &'a ast::Expr,
        span: Span,
        /// When it was bound by `let`: what it sees of the names in scope.
        defined: Option<u32>,
    },
    /// A parameter of function type.
    Local(LocalId),
    Builtin(&'static Row, Span),
    Cast(ElemTy, Span),
    Form(Form, Span),
    Transform {
        spec: Rc<Spec>,
        inner: Rc<FnRef<'a>>,
        span: Span,
    },
}

impl FnRef<'_> {
    /// The function as bound by a `let`: its lambdas see the names in scope there.
    pub fn defined_at(self, now: u32) -> Self {
        match self {
            FnRef::Lambda {
                params,
                body,
                span,
                defined: None,
            } => FnRef::Lambda {
                params,
                body,
                span,
                defined: Some(now),
            },
            FnRef::Transform { spec, inner, span } => FnRef::Transform {
                spec,
                inner: Rc::new((*inner).clone().defined_at(now)),
                span,
            },
            other => other,
        }
    }
}

/// Builtins with a syntax or typing of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Map,
    Fold,
    Scan,
    Shape,
    Print,
    Save,
    Assert,
    AssertClose,
    Dataset,
    Load,
    NumpyPermutations,
    Time,
}

const FORMS: &[(&str, Form)] = &[
    ("map", Form::Map),
    ("fold", Form::Fold),
    ("scan", Form::Scan),
    ("shape", Form::Shape),
    ("print", Form::Print),
    ("save", Form::Save),
    ("assert", Form::Assert),
    ("assert_close", Form::AssertClose),
    ("dataset", Form::Dataset),
    ("load", Form::Load),
    ("numpy_permutations", Form::NumpyPermutations),
    ("time", Form::Time),
];

impl Form {
    pub fn of(name: &str) -> Option<Form> {
        FORMS.iter().find(|(n, _)| *n == name).map(|(_, f)| *f)
    }

    pub fn name(self) -> &'static str {
        FORMS
            .iter()
            .find(|(_, f)| *f == self)
            .map_or("", |(n, _)| n)
    }

    /// Whether it does something to the outside.
    pub fn is_effect(self) -> bool {
        matches!(
            self,
            Form::Print | Form::Save | Form::Assert | Form::AssertClose
        )
    }
}

pub fn is_builtin(name: &str) -> bool {
    builtins::row(name).is_some() || Form::of(name).is_some() || transform::is_name(name)
}

pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
        .chain(FORMS.iter().map(|(n, _)| *n))
        .chain(transform::NAMES.iter().copied())
}

/// The type of an argument, and where it stands.
#[derive(Clone, Debug)]
pub struct ArgTy {
    pub ty: Ty,
    pub span: Span,
}

impl<'a> Cx<'a, '_> {
    /// Whether an expression denotes a function; reports nothing.
    pub fn is_function(&mut self, e: &'a ast::Expr) -> bool {
        match &e.kind {
            A::Lambda(..) => true,
            A::Name(name) => match self.scope.get(name) {
                Some(b) => match b.bound {
                    Bound::Function(_) => true,
                    Bound::Local(id) => matches!(self.local_ty(id), Ty::Fn(..)),
                    Bound::Const(_) | Bound::Bad => false,
                },
                None => match self.w.lookup(self.module, name) {
                    Some(item) => matches!(item, Item::Fn(_)),
                    None => is_builtin(name),
                },
            },
            A::Field(base, name) => match self.module_of(base) {
                Some(m) => matches!(self.w.module(m).items.get(&name.node), Some(Item::Fn(_))),
                None => false,
            },
            A::Index(base, _) => !matches!(base.kind, A::Lambda(..)) && self.is_function(base),
            A::Call { callee, .. } => self.transform_name(callee).is_some(),
            _ => false,
        }
    }

    /// The transform that a callee names, if nothing else has that name.
    fn transform_name(&mut self, callee: &ast::Expr) -> Option<&'static str> {
        let A::Name(name) = &callee.kind else {
            return None;
        };
        let known = transform::NAMES.iter().find(|n| ***n == **name)?;
        if self.scope.get(name).is_some() || self.w.lookup(self.module, name).is_some() {
            return None;
        }
        Some(known)
    }

    /// The function that an expression denotes; reports anything else.
    pub fn fn_ref(&mut self, e: &'a ast::Expr) -> Option<FnRef<'a>> {
        match &e.kind {
            A::Name(name) => self.named_fn(name, e.span),
            A::Field(base, name) => {
                if let Some(module) = self.module_of(base) {
                    let item = self.module_item(module, base, name)?;
                    return self.item_fn(item, &name.node, e.span);
                }
                self.not_callable(e)
            }
            A::Index(base, args) => match self.fn_ref(base)? {
                FnRef::Item {
                    id,
                    explicit: None,
                    span,
                } => Some(FnRef::Item {
                    id,
                    explicit: Some(args),
                    span,
                }),
                _ => {
                    self.report(Problem::NoInstantiation { span: e.span });
                    None
                }
            },
            A::Lambda(params, body) => Some(FnRef::Lambda {
                params,
                body,
                span: e.span,
                defined: None,
            }),
            A::Call {
                callee,
                args,
                named,
            } => match self.transform_name(callee) {
                Some(name) => self.transform_ref(name, callee.span, args, named, e.span),
                None => self.not_callable(e),
            },
            A::Error => None,
            _ => self.not_callable(e),
        }
    }

    fn named_fn(&mut self, name: &Name, span: Span) -> Option<FnRef<'a>> {
        if let Some(binding) = self.scope.get(name) {
            return match binding.bound.clone() {
                Bound::Function(f) => Some(f),
                Bound::Bad => None,
                Bound::Local(id) => match self.local_ty(id) {
                    Ty::Fn(..) => Some(FnRef::Local(id)),
                    Ty::Error => None,
                    ty => {
                        let ty = ty.clone();
                        self.report(Problem::NotCallable {
                            span,
                            ty: Some(ty),
                            what: "a value",
                        });
                        None
                    }
                },
                Bound::Const(_) => {
                    self.report(Problem::NotCallable {
                        span,
                        ty: None,
                        what: "a constant",
                    });
                    None
                }
            };
        }
        if let Some(elem) = Elem::from_name(name).filter(|e| *e != Elem::Key) {
            return Some(FnRef::Cast(ElemTy::Known(elem), span));
        }
        if let Some((id, kind)) = self.generic(name) {
            return match kind {
                GenericKind::Float | GenericKind::Int | GenericKind::Num => {
                    Some(FnRef::Cast(ElemTy::Param(id), span))
                }
                _ => {
                    self.report(Problem::NotCallable {
                        span,
                        ty: None,
                        what: "a parameter of the function",
                    });
                    None
                }
            };
        }
        if let Some(item) = self.w.lookup(self.module, name) {
            return self.item_fn(item, name, span);
        }
        if let Some(row) = builtins::row(name) {
            return Some(FnRef::Builtin(row, span));
        }
        if let Some(form) = Form::of(name) {
            return Some(FnRef::Form(form, span));
        }
        if transform::is_name(name) {
            self.report(Problem::BareTransform {
                span,
                name: name.clone(),
            });
            return None;
        }
        self.unknown(&Ident::new(name.clone(), span), "function");
        None
    }

    fn item_fn(&mut self, item: Item, name: &Name, span: Span) -> Option<FnRef<'a>> {
        let what = match item {
            Item::Fn(id) => {
                return Some(FnRef::Item {
                    id,
                    explicit: None,
                    span,
                });
            }
            Item::Const(_) => "a constant",
            Item::Type(_) => "a type",
            Item::Module(_) => "a module",
        };
        let _ = name;
        self.report(Problem::NotCallable {
            span,
            ty: None,
            what,
        });
        None
    }

    fn not_callable(&mut self, e: &'a ast::Expr) -> Option<FnRef<'a>> {
        let value = self.expr(e, None);
        if !super::cx::is_bad(&value) {
            let ty = self.infer.ty(&value.ty);
            self.report(Problem::NotCallable {
                span: e.span,
                ty: Some(ty),
                what: "a value",
            });
        }
        None
    }

    /// How many arguments a function takes, where that is fixed.
    pub fn arity(&self, f: &FnRef<'a>) -> Option<usize> {
        match f {
            FnRef::Item { id, .. } => Some(self.w.fns[id.0].def.params.len()),
            FnRef::Lambda { params, .. } => Some(params.len()),
            FnRef::Local(id) => match self.local_ty(*id) {
                Ty::Fn(params, _) => Some(params.len()),
                _ => None,
            },
            FnRef::Builtin(..) => None,
            FnRef::Cast(..) => Some(1),
            FnRef::Form(..) => None,
            FnRef::Transform { spec, inner, .. } => match **spec {
                Spec::Jvp | Spec::Vjp => Some(2),
                _ => self.arity(inner),
            },
        }
    }

    /// What a function is called in messages.
    pub fn fn_name(&self, f: &FnRef<'a>) -> String {
        match f {
            FnRef::Item { id, .. } => self.item_name(*id),
            FnRef::Lambda { .. } => "this lambda".into(),
            FnRef::Local(id) => format!("`{}`", self.locals[id.0 as usize].name),
            FnRef::Builtin(row, _) => format!("`{}`", row.name),
            FnRef::Cast(elem, _) => format!("`{}`", self.names.elem(elem)),
            FnRef::Form(form, _) => format!("`{}`", form.name()),
            FnRef::Transform { span, .. } => format!("`{}`", self.text(*span)),
        }
    }

    pub fn item_name(&self, id: ItemFn) -> String {
        let item = &self.w.fns[id.0];
        let module = &self.w.module(item.module).name;
        if module.is_empty() || item.module == self.module {
            format!("`{}`", item.def.name.node)
        } else {
            format!("`{module}.{}`", item.def.name.node)
        }
    }

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
        let generics = self.instantiate(id, &signature, explicit, at)?;
        let subst = super::subst::Subst::new(&generics);
        for (i, arg) in args.iter().enumerate() {
            let want = subst.ty(&signature.params[i].ty)?;
            if let Err(clash) = self.infer.unify(&want, &arg.ty) {
                self.arg_mismatch(id, &signature, &generics, i, arg.span, &arg.ty, clash);
                return None;
            }
        }
        self.finish_item(id, &signature, generics, want, span)
    }

    /// Fresh variables for the generic parameters, those given explicitly set.
    pub fn instantiate(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        explicit: Option<&'a [IndexArg]>,
        span: Span,
    ) -> Option<Vec<GenericArg>> {
        let mut args = Vec::with_capacity(signature.generics.len());
        for g in signature.generics.iter() {
            args.push(self.infer.instantiate(g));
        }
        let Some(explicit) = explicit else {
            return Some(args);
        };
        let mut kinds = signature.generics.iter().map(|g| g.kind);
        let before = kinds.position(|k| k == GenericKind::Spread);
        let fixed = args.len() - usize::from(before.is_some());
        // Without a `..` the last ones may be left to the arguments of the call.
        let found = explicit.len();
        let few = before.is_some_and(|at| found < fixed && found > at);
        if few || before.is_none() && found > fixed {
            let name = self.item_name(id);
            self.report(Problem::GenericArgCount {
                span,
                name: name.trim_matches('`').into(),
                expected: fixed,
                found,
            });
            return None;
        }
        // A `..` takes what is between the others; if that is nothing, it is inferred.
        let (first, rest) = explicit.split_at(before.map_or(found, |at| at.min(found)));
        let (middle, last) = rest.split_at(found.saturating_sub(fixed));
        let last_from = args.len() - last.len();
        let single = first.iter().enumerate();
        let single = single.chain(last.iter().enumerate().map(|(i, g)| (last_from + i, g)));
        for (i, given) in single {
            args[i] = self.explicit_arg(signature.generics[i].kind, given, span)?;
        }
        if let (Some(at), [_, ..]) = (before, middle) {
            let parts: Option<Vec<Shape>> =
                middle.iter().map(|g| self.explicit_dims(g, span)).collect();
            args[at] = GenericArg::Spread(parts?.concat());
        }
        Some(args)
    }

    /// Dimensions given for a `..S`: a size, `..T`, or a shape of several.
    fn explicit_dims(&mut self, given: &'a IndexArg, span: Span) -> Option<Shape> {
        match given {
            IndexArg::Spread(name) => self.spread(name).map(|s| vec![s]),
            IndexArg::Expr(e) => self.static_shape(e),
            _ => {
                self.report(Problem::TypeForDimension { span });
                None
            }
        }
    }

    fn explicit_arg(
        &mut self,
        kind: GenericKind,
        given: &'a IndexArg,
        span: Span,
    ) -> Option<GenericArg> {
        match (kind, given) {
            (GenericKind::Dim, IndexArg::Expr(e)) => self.size(e).map(GenericArg::Dim),
            (GenericKind::Spread, given) => self.explicit_dims(given, span).map(GenericArg::Spread),
            (GenericKind::Tree, IndexArg::Expr(e)) => self.type_of_expr(e).map(GenericArg::Tree),
            (GenericKind::Tree, IndexArg::Type(t)) => Some(GenericArg::Tree(self.resolve_type(t))),
            (GenericKind::Float | GenericKind::Int | GenericKind::Num, IndexArg::Expr(e)) => {
                let ty = self.type_of_expr(e)?;
                self.elem_arg(kind, ty, e.span)
            }
            (GenericKind::Float | GenericKind::Int | GenericKind::Num, IndexArg::Type(t)) => {
                let ty = self.resolve_type(t);
                self.elem_arg(kind, ty, t.span)
            }
            _ => {
                self.report(Problem::TypeForDimension { span });
                None
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn arg_mismatch(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        generics: &[GenericArg],
        index: usize,
        span: Span,
        found: &Ty,
        clash: super::infer::Clash,
    ) {
        let found = self.infer.ty(found);
        let param = &signature.params[index];
        let solved = self.solved_names(signature, generics);
        let expected = super::subst::Subst::new(&solved)
            .ty(&param.ty)
            .unwrap_or(Ty::Error);
        let actual = super::subst::Subst::new(generics)
            .ty(&param.ty)
            .map_or(Ty::Error, |t| self.infer.ty(&t));
        let help = self.mismatch_help(&actual, &found, span);
        // The parameters still open are shown by their names in the signature.
        let names = super::show::Names {
            generics: open_names(self, signature),
            literals: self.infer.defaults(),
            aliases: self.names.aliases.clone(),
        };
        let context = Context::Arg {
            callee: self.item_name(id),
            param: param.name.clone(),
            definition: param.span,
            shown: names.ty(&expected),
        };
        self.report(Problem::Mismatch {
            context,
            span,
            expected: actual,
            found,
            clash,
            help,
        });
    }

    /// The generic arguments for a message: solved sizes with the parameter's name, `B=128`; open ones as parameters.
    fn solved_names(&self, signature: &Signature, generics: &[GenericArg]) -> Vec<GenericArg> {
        let mine = self.generics.len() as u32;
        signature
            .generics
            .iter()
            .zip(generics)
            .enumerate()
            .map(|(i, (g, arg))| {
                let arg = self.infer.generic_arg(arg);
                if !self.infer.is_solved(&arg) {
                    // Numbered after the caller's own parameters, see `open_names`.
                    return super::subst::parameter(
                        g.kind,
                        crate::typed::GenericId(mine + i as u32),
                    );
                }
                match arg {
                    GenericArg::Dim(d) if d.as_int().is_some() => {
                        GenericArg::Dim(d.named(g.name.clone()))
                    }
                    arg => arg,
                }
            })
            .collect()
    }

    /// Ends a call: what the arguments did not tell may come from the wanted type; then nothing may be open.
    pub fn finish_item(
        &mut self,
        id: ItemFn,
        signature: &Signature,
        generics: Vec<GenericArg>,
        want: Option<&Ty>,
        span: Span,
    ) -> Option<(Callee, Ty)> {
        let name: Name = self.item_name(id).trim_matches('`').into();
        if let Err(clash) = self.infer.solve_deferred() {
            self.report(Problem::Deferred {
                span,
                callee: name,
                clash,
            });
            return None;
        }
        let is_open = |cx: &Self| generics.iter().any(|g| !cx.infer.is_solved(g));
        if is_open(self)
            && let Some(want) = want
            && let Some(ret) = super::subst::Subst::new(&generics).ty(&signature.ret)
        {
            // Only a hint: a clash shows where the result is used.
            let before = self.infer.clone();
            let fits = self.infer.unify(&ret, want).is_ok() && self.infer.solve_deferred().is_ok();
            if !fits {
                self.infer = before;
            }
        }
        if let Some(i) = generics.iter().position(|g| !self.infer.is_solved(g)) {
            self.report(Problem::CannotInfer {
                span,
                param: signature.generics[i].name.clone(),
                callee: name,
                definition: self.w.fns[id.0].def.name.span,
            });
            return None;
        }
        let generics: Vec<GenericArg> =
            generics.iter().map(|g| self.infer.generic_arg(g)).collect();
        self.require_float_leaves(id, &generics, &name, span);
        let requirements = self.w.fns[id.0].requirements.clone();
        if !self.prove(&requirements, &generics, &name, span) {
            return None;
        }
        let ret = match super::subst::Subst::new(&generics).ty(&signature.ret) {
            Some(ret) => ret,
            None => Ty::Error,
        };
        let id = self.w.fns[id.0].typed.unwrap_or(FnId(u32::MAX));
        Some((Callee::Fn { id, generics }, ret))
    }

    fn require_float_leaves(
        &mut self,
        id: ItemFn,
        generics: &[GenericArg],
        name: &Name,
        span: Span,
    ) {
        let requirements = self.w.fns[id.0].requirements.clone();
        for requirement in requirements.iter() {
            let super::require::Need::FloatLeaves(g) = requirement.need else {
                continue;
            };
            let Some(GenericArg::Tree(tree)) = generics.get(g.0 as usize) else {
                continue;
            };
            match super::require::leaf_without_float(tree, self) {
                Some((path, ty)) => self.report(Problem::FloatLeaves {
                    span,
                    callee: name.clone(),
                    path,
                    ty,
                    origin: requirement.span,
                }),
                None => {
                    for (_, leaf) in super::subst::leaves(tree) {
                        if let Ty::Tensor(elem, _) = leaf {
                            let _ = self.infer.require(&elem, super::infer::Class::Float);
                        }
                    }
                }
            }
        }
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
                self.fn_param_mismatch(id, i, want, arg.span, &arg.ty, clash);
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
        span: Span,
        found: &Ty,
        clash: super::infer::Clash,
    ) {
        let (expected, found) = (self.infer.ty(want), self.infer.ty(found));
        let help = self.mismatch_help(&expected, &found, span);
        let local = &self.locals[id.0 as usize];
        let context = Context::Arg {
            callee: format!("`{}`", local.name),
            param: format!("{}", index + 1).into(),
            definition: local.span,
            shown: self.names.ty(&expected),
        };
        self.report(Problem::Mismatch {
            context,
            span,
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
                        let help = self.mismatch_help(&written, &found, arg.span);
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
            patterns.push(self.bind_pattern(&param.pattern, &ty, false));
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
        let fits = match &x.kind {
            ExprKind::Int(_) | ExprKind::Dim(_) => true,
            ExprKind::Float(_) => self.infer.is(to, super::infer::Class::Float),
            _ => false,
        };
        if !fits || self.infer.unify_elem(from, to).is_err() {
            return None;
        }
        Some(Expr {
            kind: x.kind.clone(),
            ty: Ty::Tensor(to.clone(), Vec::new()),
            span,
        })
    }

    /// Names near an unknown parameter name of a call.
    pub fn near_param(&self, name: &str, signature: &Signature) -> Option<String> {
        near(name, signature.params.iter().map(|p| &*p.name))
    }
}

/// Generic names for messages about a signature: the caller's own, then the signature's.
fn open_names(cx: &Cx, signature: &Signature) -> Vec<Name> {
    let mine = cx.generics.iter().map(|g| g.name.clone());
    mine.chain(signature.generics.iter().map(|g| g.name.clone()))
        .collect()
}
