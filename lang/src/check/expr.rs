//! Expressions: names, literals, fields, lists. Operators, calls and indexing have files of their own.

use super::cx::{Cx, bad, is_bad};
use super::infer::Class;
use super::konst::Const;
use super::near::near;
use super::problem::{Context, Problem};
use super::scope::Bound;
use super::world::{ConstId, ConstValue, Item};
use crate::ast::{self, ExprKind as A, GenericKind, Ident, Name};
use crate::span::Span;
use crate::typed::{
    Attr, Builtin, Dim, Elem, ElemTy, Expr, ExprKind, Fields, LocalId, ShapeItem, Ty,
};
use std::collections::HashMap;

impl<'a> Cx<'a, '_> {
    /// Checks an expression. `want` is a hint (what the place it stands in has), not yet a demand.
    pub fn expr(&mut self, e: &'a ast::Expr, want: Option<&Ty>) -> Expr {
        let out = self.any_expr(e, want);
        if is_bad(&out) || self.type_fits(&out.ty, e.span) {
            return out;
        }
        bad(e.span)
    }

    fn any_expr(&mut self, e: &'a ast::Expr, want: Option<&Ty>) -> Expr {
        match &e.kind {
            A::Int(n) => match i128::try_from(*n) {
                Ok(n) => self.konst(Const::Int(n), None, e.span),
                Err(_) => {
                    self.report(Problem::ConstOverflow { span: e.span });
                    bad(e.span)
                }
            },
            A::Float(x) => self.konst(Const::Float(*x), None, e.span),
            A::Bool(b) => self.konst(Const::Bool(*b), None, e.span),
            A::None => self.misplaced(e.span, "`none`"),
            A::Str(_) => self.misplaced(e.span, "a string"),
            A::Name(name) => self.name(name, e.span),
            A::Field(base, name) => self.field(base, name, e.span),
            A::TupleField(base, index) => self.tuple_field(base, index.node, e.span),
            A::Tuple(items) => self.tuple(items, want, e.span),
            A::List(items) => self.list(items, e.span),
            A::Spread(_) => self.misplaced(e.span, "a `..` parameter"),
            A::Record(fields) => self.record(fields, want, e.span),
            A::Unary(op, inner) => self.unary(*op, inner, e.span),
            A::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            A::Call {
                callee,
                args,
                named,
            } => self.call(callee, args, named, want, e.span),
            A::Index(base, items) => self.index(base, items, e.span),
            // Where a function was declared as a value, that has been told.
            A::Lambda(..) if matches!(want, Some(Ty::Error)) => bad(e.span),
            A::Lambda(..) => {
                self.report(Problem::FunctionAsValue {
                    span: e.span,
                    name: None,
                });
                bad(e.span)
            }
            A::If {
                cond,
                then,
                otherwise,
            } => self.if_value(cond, then, otherwise.as_deref(), want, e.span),
            A::Block(block) => self.block_value(block, want, e.span),
            A::Error => bad(e.span),
        }
    }

    /// Checks an expression that must have a given type.
    pub fn check(&mut self, e: &'a ast::Expr, want: &Ty, context: Context) -> Expr {
        let got = self.expr(e, Some(want));
        self.coerce(got, want, context)
    }

    /// Demands a type of a checked expression.
    pub fn coerce(&mut self, got: Expr, want: &Ty, context: Context) -> Expr {
        self.coerce_with(got, want, |_| context)
    }

    fn coerce_with(
        &mut self,
        got: Expr,
        want: &Ty,
        context: impl FnOnce(&Self) -> Context,
    ) -> Expr {
        let Err(clash) = self.infer.unify(want, &got.ty) else {
            return got;
        };
        let (expected, found) = (self.infer.ty(want), self.infer.ty(&got.ty));
        let context = context(self);
        let help = match context {
            Context::Element { first } => self
                .cast_help((&expected, first), (&found, got.span))
                .into_iter()
                .collect(),
            Context::Return { .. } if expected == Ty::unit() => {
                self.name_literals();
                vec![format!(
                    "declare its result: `-> {}`",
                    self.names.ty(&found)
                )]
            }
            _ => self.mismatch_help(&expected, &found, got.span),
        };
        self.report(Problem::Mismatch {
            context,
            span: got.span,
            expected,
            found,
            clash,
            help,
        });
        bad(got.span)
    }

    fn misplaced(&mut self, span: Span, what: &'static str) -> Expr {
        self.report(Problem::Misplaced { span, what });
        bad(span)
    }

    /// A constant as an expression: with its own element type, or one to be found like a literal's.
    pub fn konst(&mut self, value: Const, elem: Option<Elem>, span: Span) -> Expr {
        let literal = |cx: &mut Self, class| match elem {
            Some(e) => ElemTy::Known(e),
            None => cx.infer.literal(class),
        };
        let (kind, elem) = match value {
            Const::Int(n) => (ExprKind::Int(n), literal(self, Class::Num)),
            Const::Dim(d) => (ExprKind::Dim(d), literal(self, Class::Num)),
            Const::Float(x) => (ExprKind::Float(x), literal(self, Class::Float)),
            Const::Bool(b) => (ExprKind::Bool(b), ElemTy::Known(Elem::Bool)),
            Const::Str(_) => return self.misplaced(span, "a string"),
        };
        Expr {
            kind,
            ty: Ty::Tensor(elem, Vec::new()),
            span,
        }
    }

    /// The compile-time value of a checked expression, if it is one.
    pub fn const_of(&self, e: &Expr) -> Option<Const> {
        match &e.kind {
            ExprKind::Int(n) if self.is_float(e) => Some(Const::Float(*n as f64)),
            ExprKind::Int(n) => Some(Const::Int(*n)),
            // A size that has become a float is known as a number only.
            ExprKind::Dim(d) if self.is_float(e) => d.as_int().map(|n| Const::Float(n as f64)),
            ExprKind::Dim(d) => Some(Const::of_dim(d.clone())),
            ExprKind::Float(x) => Some(Const::Float(*x)),
            ExprKind::Bool(b) => Some(Const::Bool(*b)),
            ExprKind::Local(id) => self.local_consts.get(id).cloned(),
            ExprKind::Field(base, i) => match base.kind {
                ExprKind::Local(id) => self.local_sizes.get(&id)?.get(*i).cloned(),
                _ => None,
            },
            _ => None,
        }
    }

    /// A whole number may have been given, or have met, a float type: it divides like one.
    fn is_float(&self, e: &Expr) -> bool {
        match &e.ty {
            Ty::Tensor(elem, _) => self.infer.is(elem, Class::Float),
            _ => false,
        }
    }

    fn name(&mut self, name: &Name, span: Span) -> Expr {
        if let Some(binding) = self.scope.get(name) {
            return match binding.bound.clone() {
                Bound::Local(id) => self.local_value(id, span),
                Bound::Const(value, elem) => self.konst(value, elem, span),
                Bound::Shape(shape) => self.sizes_value(&shape, name, span),
                Bound::Function(_) => self.function_as_value(name, span),
                Bound::Bad => bad(span),
            };
        }
        if let Some((id, kind)) = self.generic(name) {
            return match kind {
                GenericKind::Dim => self.konst(Const::Dim(Dim::param(id)), None, span),
                _ => {
                    self.report(Problem::NotAValue {
                        span,
                        name: name.clone(),
                        what: "a type parameter",
                    });
                    bad(span)
                }
            };
        }
        match self.w.lookup(self.module, name) {
            Some(item) => self.item_value(item, name, span),
            None => match constant(name) {
                Some(value) => self.konst(value, None, span),
                None if super::func::is_builtin(name) => self.function_as_value(name, span),
                None => {
                    let ident = Ident::new(name.clone(), span);
                    self.unknown(&ident, "name");
                    bad(span)
                }
            },
        }
    }

    fn local_value(&mut self, id: LocalId, span: Span) -> Expr {
        let ty = self.local_ty(id).clone();
        if let Ty::Fn(..) = ty {
            let name = self.locals[id.0 as usize].name.clone();
            return self.function_as_value(&name, span);
        }
        Expr {
            kind: ExprKind::Local(id),
            ty,
            span,
        }
    }

    pub fn function_as_value(&mut self, name: &Name, span: Span) -> Expr {
        self.report(Problem::FunctionAsValue {
            span,
            name: Some(name.clone()),
        });
        bad(span)
    }

    fn item_value(&mut self, item: Item, name: &Name, span: Span) -> Expr {
        let what = match item {
            Item::Const(id) => return self.const_value(id, span),
            Item::Fn(_) => return self.function_as_value(name, span),
            Item::Type(_) => "a type",
            Item::Module(_) => "a module",
        };
        self.report(Problem::NotAValue {
            span,
            name: name.clone(),
            what,
        });
        bad(span)
    }

    pub fn const_value(&mut self, id: ConstId, span: Span) -> Expr {
        match self.const_item(id, span) {
            ConstValue::Scalar(value, elem) => self.konst(value, elem, span),
            ConstValue::Inline if !self.expand(span) => bad(span),
            ConstValue::Inline => {
                let (module, def) = (self.w.consts[id.0].module, self.w.consts[id.0].def);
                let mut value = self.in_module(module, |cx| cx.const_expr(def));
                value.span = span;
                value
            }
            ConstValue::Bad => bad(span),
        }
    }

    /// Runs `f` as if the code stood at the top of a module: none of the local names are seen.
    pub fn in_module<T>(
        &mut self,
        module: super::load::ModuleId,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let home = std::mem::replace(&mut self.module, module);
        self.scope.hide(0);
        let out = f(self);
        self.scope.show();
        self.module = home;
        out
    }

    /// Whether nothing in sight has a name.
    pub fn means_nothing(&mut self, name: &Name) -> bool {
        self.scope.get(name).is_none()
            && self.generic(name).is_none()
            && self.w.lookup(self.module, name).is_none()
            && constant(name).is_none()
            && !super::func::is_builtin(name)
    }

    /// Reports a name that nothing has, with the nearest that something does.
    pub fn unknown(&mut self, name: &Ident, what: &'static str) {
        if self.w.module(self.module).broken.contains(&name.node) {
            return;
        }
        let near = self.near_value(&name.node);
        self.report(Problem::UnknownName {
            what,
            name: name.node.clone(),
            module: None,
            span: name.span,
            near,
        });
    }

    fn near_value(&self, name: &str) -> Option<String> {
        if self.w.has_many_problems() {
            return None;
        }
        let local = self.scope.visible().map(|(n, _)| &**n);
        let generic = self.generic_names().map(|n| &**n);
        let own = self.w.module(self.module).items.keys().map(|n| &**n);
        let prelude = self
            .w
            .module(super::load::PRELUDE)
            .items
            .keys()
            .map(|n| &**n);
        if let Some(here) = super::near::elsewhere(name) {
            return Some(here);
        }
        // What stands nearer in scope is offered first.
        near(name, local.chain(generic))
            .or_else(|| near(name, ["true", "false"].into_iter()))
            .or_else(|| near(name, own))
            .or_else(|| {
                let builtins = super::func::builtin_names().map(|n: &str| n);
                near(name, prelude.chain(builtins))
            })
    }

    /// A record does not have a field: it may be one that the data it was loaded with has and no type can hold.
    pub fn no_field(&mut self, name: &Ident, base: Span, fields: Fields) {
        let left_out = self.left_out.iter().find(|(n, _)| **n == *name.node);
        let problem = match left_out {
            Some((_, error)) => Problem::Data {
                span: name.span,
                error: error.clone(),
            },
            None => Problem::NoField {
                span: name.span,
                name: name.node.clone(),
                base,
                near: near(&name.node, fields.iter().map(|(n, _)| &**n)),
                ty: Ty::Record(fields),
            },
        };
        self.report(problem);
    }

    fn field(&mut self, base: &'a ast::Expr, name: &Ident, span: Span) -> Expr {
        if let Some(module) = self.module_of(base) {
            return self.module_value(module, base, name, span);
        }
        let base = self.expr(base, None);
        if is_bad(&base) {
            return bad(span);
        }
        match self.infer.head(&base.ty) {
            Ty::Record(fields) => match fields.place(&name.node) {
                Some(index) => project(base, index, fields[index].1.clone(), span),
                None => {
                    self.no_field(name, base.span, fields);
                    bad(span)
                }
            },
            Ty::Error => bad(span),
            other => {
                let call = format!("{}({})", name.node, self.text(base.span));
                let is_call = self.is_builtin_or_prelude(&name.node);
                self.report(Problem::NoField {
                    span: name.span,
                    name: name.node.clone(),
                    base: base.span,
                    ty: other,
                    // `x.sum()` of other languages.
                    near: is_call.then_some(call),
                });
                bad(span)
            }
        }
    }

    pub fn is_builtin_or_prelude(&self, name: &str) -> bool {
        let prelude = self.w.module(super::load::PRELUDE);
        super::func::is_builtin(name) || prelude.items.contains_key(name)
    }

    /// The module that an expression before a dot names, unless a variable has that name.
    pub fn module_of(&mut self, base: &ast::Expr) -> Option<super::load::ModuleId> {
        let A::Name(name) = &base.kind else {
            return None;
        };
        if self.scope.get(name).is_some() || self.generic(name).is_some() {
            return None;
        }
        match self.w.lookup(self.module, name) {
            Some(Item::Module(m)) => Some(m),
            _ => None,
        }
    }

    fn module_value(
        &mut self,
        module: super::load::ModuleId,
        base: &ast::Expr,
        name: &Ident,
        span: Span,
    ) -> Expr {
        match self.module_item(module, base, name) {
            Some(item) => self.item_value(item, &name.node, span),
            None => bad(span),
        }
    }

    /// An item of an imported module; reports when it has none of that name.
    pub fn module_item(
        &mut self,
        module: super::load::ModuleId,
        base: &ast::Expr,
        name: &Ident,
    ) -> Option<Item> {
        let scope = self.w.module(module);
        let items = &scope.items;
        match items.get(&name.node) {
            None if scope.broken.contains(&name.node) => None,
            Some(Item::Module(_)) | None => {
                let known = items
                    .iter()
                    .filter(|(_, i)| !matches!(i, Item::Module(_)))
                    .map(|(n, _)| &**n);
                let near = near(&name.node, known);
                self.report(Problem::UnknownName {
                    what: "name",
                    name: name.node.clone(),
                    module: Some(self.text(base.span).into()),
                    span: name.span,
                    near,
                });
                None
            }
            Some(item) => Some(*item),
        }
    }

    fn tuple_field(&mut self, base: &'a ast::Expr, index: u32, span: Span) -> Expr {
        let base = self.expr(base, None);
        if is_bad(&base) {
            return bad(span);
        }
        match self.infer.head(&base.ty) {
            Ty::Tuple(fields) if (index as usize) < fields.len() => {
                let index = index as usize;
                project(base, index, fields[index].clone(), span)
            }
            ty => {
                self.report(Problem::NoTupleField { span, index, ty });
                bad(span)
            }
        }
    }

    fn tuple(&mut self, items: &'a [ast::Expr], want: Option<&Ty>, span: Span) -> Expr {
        let wants = match want.map(|w| self.infer.head(w)) {
            Some(Ty::Tuple(fields)) if fields.len() == items.len() => fields,
            _ => Vec::new(),
        };
        let fields: Vec<Expr> = items
            .iter()
            .enumerate()
            .map(|(i, item)| self.expr(item, wants.get(i)))
            .collect();
        let ty = Ty::Tuple(fields.iter().map(|f| f.ty.clone()).collect());
        Expr {
            kind: ExprKind::Fields(fields),
            ty,
            span,
        }
    }

    /// Fields in the order of the type that is wanted, where it has just these; in their own otherwise.
    fn record(&mut self, fields: &'a [(Ident, ast::Expr)], want: Option<&Ty>, span: Span) -> Expr {
        if !self.no_duplicates("field", fields.iter().map(|(name, _)| name)) {
            return bad(span);
        }
        let record = want.map_or(Ty::Error, |w| self.infer.head(w));
        let wants: HashMap<&Name, (usize, &Ty)> = match &record {
            Ty::Record(wants) => {
                let places = wants.iter().enumerate();
                places.map(|(i, (n, t))| (n, (i, t))).collect()
            }
            _ => HashMap::new(),
        };
        let mut values: Vec<(Name, Expr)> = fields
            .iter()
            .map(|(n, e)| {
                let value = match wants.get(&n.node) {
                    Some((_, want)) => {
                        let got = self.expr(e, Some(want));
                        self.coerce_with(got, want, |cx| Context::Field {
                            name: n.node.clone(),
                            declared: cx.field_origin(&record, &n.node),
                        })
                    }
                    None => self.expr(e, None),
                };
                (n.node.clone(), value)
            })
            .collect();
        if wants.len() == values.len() && values.iter().all(|(n, _)| wants.contains_key(n)) {
            values.sort_by_key(|(n, _)| wants.get(n).map(|(i, _)| *i));
        }
        let ty = Ty::Record(
            values
                .iter()
                .map(|(n, v)| (n.clone(), v.ty.clone()))
                .collect(),
        );
        Expr {
            kind: ExprKind::Fields(values.into_iter().map(|(_, v)| v).collect()),
            ty,
            span,
        }
    }

    /// `[a, b]`: elements of one type, stacked along a new axis 0.
    fn list(&mut self, items: &'a [ast::Expr], span: Span) -> Expr {
        let mut args: Vec<Expr> = Vec::with_capacity(items.len());
        for item in items {
            let arg = self.expr(item, None);
            if is_bad(&arg) {
                return bad(span);
            }
            let head = self.infer.head(&arg.ty);
            if !matches!(head, Ty::Tensor(..)) {
                self.report(Problem::NotATensor {
                    span: arg.span,
                    what: "a list".into(),
                    ty: head,
                });
                return bad(span);
            }
            if let Some(first) = args.first() {
                let want = first.ty.clone();
                let arg = self.coerce(arg, &want, Context::Element { first: first.span });
                if is_bad(&arg) {
                    return bad(span);
                }
                args.push(arg);
            } else {
                args.push(arg);
            }
        }
        let Some(Ty::Tensor(elem, shape)) = args.first().map(|a| self.infer.head(&a.ty)) else {
            self.report(Problem::EmptyList { span });
            return bad(span);
        };
        let mut stacked = vec![ShapeItem::Dim(Dim::int(args.len() as i64))];
        stacked.extend(shape);
        builtin(
            Builtin::StackList,
            args,
            Vec::new(),
            Ty::Tensor(elem, stacked),
            span,
        )
    }
}

/// A field by position. Of something just put together it is the part itself.
pub fn project(base: Expr, index: usize, ty: Ty, span: Span) -> Expr {
    if let ExprKind::Fields(mut fields) = base.kind {
        let mut field = fields.swap_remove(index);
        field.span = span;
        return field;
    }
    Expr {
        kind: ExprKind::Field(Box::new(base), index),
        ty,
        span,
    }
}

pub fn builtin(builtin: Builtin, args: Vec<Expr>, attrs: Vec<Attr>, ty: Ty, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Builtin {
            builtin,
            args,
            attrs,
        },
        ty,
        span,
    }
}

/// The constants that are built in.
pub fn constant(name: &str) -> Option<Const> {
    match name {
        "pi" => Some(Const::Float(std::f64::consts::PI)),
        "e" => Some(Const::Float(std::f64::consts::E)),
        "inf" => Some(Const::Float(f64::INFINITY)),
        "nan" => Some(Const::Float(f64::NAN)),
        _ => None,
    }
}
