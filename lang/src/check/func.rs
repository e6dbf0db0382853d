//! Functions as they are named, passed and bound: resolved at compile time, instantiated at each use.

use super::builtins::{self, Row};
use super::cx::Cx;
use super::load::PRELUDE;
use super::near::near;
use super::problem::Problem;
use super::scope::Bound;
use super::transform::{self, Spec};
use super::world::{ConstValue, Item, ItemFn, Signature};
use crate::ast::{self, ExprKind as A, GenericKind, Ident, IndexArg, LambdaParam, Name};
use crate::span::Span;
use crate::typed::{Elem, ElemTy, Expr, LocalId, Ty};
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
    Debug,
    Save,
    Assert,
    AssertClose,
    Dataset,
    Load,
    Batches,
    NumpyPermutations,
    Time,
    /// `log(step, loss=l)`, which the named arguments tell from the logarithm.
    Log,
}

const FORMS: &[(&str, Form)] = &[
    ("map", Form::Map),
    ("fold", Form::Fold),
    ("scan", Form::Scan),
    ("shape", Form::Shape),
    ("print", Form::Print),
    ("debug", Form::Debug),
    ("save", Form::Save),
    ("assert", Form::Assert),
    ("assert_close", Form::AssertClose),
    ("dataset", Form::Dataset),
    ("load", Form::Load),
    ("batches", Form::Batches),
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
            .map_or("log", |(n, _)| n)
    }

    /// Whether it does something to the outside.
    pub fn is_effect(self) -> bool {
        matches!(
            self,
            Form::Print | Form::Debug | Form::Save | Form::Assert | Form::AssertClose | Form::Log
        )
    }
}

/// Whether a builtin's name is too common to warn of its use for something else.
pub fn is_common(name: &str) -> bool {
    Form::of(name) == Some(Form::Batches)
}

pub fn is_builtin(name: &str) -> bool {
    builtins::find(name).is_some() || Form::of(name).is_some() || transform::is_name(name)
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
    /// Whether what stands there is the argument itself, and not the function that is passed, or the tree whose leaves
    /// are arguments.
    pub itself: bool,
}

impl ArgTy {
    pub fn of(e: &Expr) -> ArgTy {
        ArgTy {
            ty: e.ty.clone(),
            span: e.span,
            itself: true,
        }
    }

    pub fn made_from(ty: Ty, span: Span) -> ArgTy {
        ArgTy {
            ty,
            span,
            itself: false,
        }
    }
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
                    Bound::Const(..) | Bound::Shape(_) | Bound::Bad => false,
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

    /// The function of a file that a name stands for, without a word about anything else.
    pub fn called_item(&mut self, e: &ast::Expr) -> Option<ItemFn> {
        let item = match &e.kind {
            A::Name(name) => match self.scope.get(name) {
                Some(_) => None,
                None => self.w.lookup(self.module, name),
            },
            A::Field(base, name) => {
                let module = self.module_of(base)?;
                self.w.module(module).items.get(&name.node).copied()
            }
            _ => None,
        };
        match item? {
            Item::Fn(id) => Some(id),
            _ => None,
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

    /// Whether a call is a transform and what it transforms, `grad(f)`: a function that is not called itself.
    pub fn transforms_a_function(&mut self, callee: &ast::Expr, args: &'a [ast::Expr]) -> bool {
        self.transform_name(callee).is_some() && args.first().is_some_and(|f| self.is_function(f))
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
                if let A::Name(module) = &base.kind
                    && self.is_foreign(module)
                {
                    let is_std = crate::std::names().contains(&&**module);
                    let is_known = !is_std && self.is_builtin_or_prelude(&name.node);
                    self.report(Problem::ForeignModule {
                        span: base.span,
                        module: module.clone(),
                        name: is_known.then(|| name.node.clone()),
                    });
                    return None;
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

    /// Whether a name is that of a library of another language, and nothing here has it.
    pub fn is_foreign(&mut self, name: &Name) -> bool {
        let known = [
            "np", "jnp", "numpy", "jax", "lax", "torch", "math", "optax", "random",
        ];
        (known.contains(&&**name) || crate::std::names().contains(&&**name))
            && self.scope.get(name).is_none()
            && self.generic(name).is_none()
            && self.w.lookup(self.module, name).is_none()
            && !self.w.module(self.module).broken.contains(name)
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
                Bound::Const(..) | Bound::Shape(_) => {
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
        if let Some(row) = builtins::find(name) {
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
            Item::Const(id) => match self.const_item(id, span) {
                ConstValue::Bad => return None,
                ConstValue::Scalar(..) | ConstValue::Inline => "a constant",
            },
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
        if module.is_empty() || item.module == self.module || item.module == PRELUDE {
            format!("`{}`", item.def.name.node)
        } else {
            format!("`{module}.{}`", item.def.name.node)
        }
    }

    /// Names near an unknown parameter name of a call.
    pub fn near_param(&self, name: &str, signature: &Signature) -> Option<String> {
        near(name, signature.params.iter().map(|p| &*p.name))
    }
}
