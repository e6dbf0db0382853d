//! Written types → types: names resolved, aliases opened, dimensions in their normal form.

use super::cx::{Cx, Place, generics_of};
use super::load::ModuleId;
use super::near::near;
use super::problem::Problem;
use super::show::Alias;
use super::subst::Subst;
use super::world::{Item, State, TypeId};
use crate::ast::{
    Expr, ExprKind, GenericKind, Ident, IndexArg, Name, TypeArg, TypeExpr, TypeExprKind,
};
use crate::span::Span;
use crate::typed::{Elem, ElemTy, GenericArg, GenericId, Shape, ShapeItem, Ty};
use std::collections::HashMap;
use std::rc::Rc;

impl<'a> Cx<'a, '_> {
    pub fn resolve_type(&mut self, t: &'a TypeExpr) -> Ty {
        let ty = self.any_type(t);
        if matches!(ty, Ty::Error) || self.type_fits(&ty, t.span) {
            return ty;
        }
        Ty::Error
    }

    /// The type of a part of a value, or of a result: a function is none.
    pub fn value_type(&mut self, t: &'a TypeExpr) -> Ty {
        let ty = self.resolve_type(t);
        if let Ty::Fn(..) = ty {
            self.report(Problem::FunctionAsValue {
                span: t.span,
                name: None,
            });
            return Ty::Error;
        }
        ty
    }

    fn any_type(&mut self, t: &'a TypeExpr) -> Ty {
        match &t.kind {
            TypeExprKind::Path { module, name, args } => {
                self.path_type(module.as_ref(), name, args, t.span)
            }
            TypeExprKind::Tuple(fields) => {
                Ty::Tuple(fields.iter().map(|f| self.value_type(f)).collect())
            }
            TypeExprKind::Record(fields) => {
                let names = fields.iter().map(|(name, _)| name);
                self.no_duplicates("field", names);
                Ty::Record(
                    fields
                        .iter()
                        .map(|(n, f)| (n.node.clone(), self.value_type(f)))
                        .collect(),
                )
            }
            TypeExprKind::Fn(params, ret) => Ty::Fn(
                params.iter().map(|p| self.resolve_type(p)).collect(),
                Box::new(self.resolve_type(ret)),
            ),
            // Nothing is passed: the sizes are known at compile time.
            TypeExprKind::Shape(_) => Ty::unit(),
            TypeExprKind::Error => Ty::Error,
        }
    }

    fn path_type(
        &mut self,
        module: Option<&Ident>,
        name: &Ident,
        args: &'a [TypeArg],
        span: Span,
    ) -> Ty {
        if module.is_none() {
            if let Some(elem) = Elem::from_name(&name.node) {
                return self.tensor_type(ElemTy::Known(elem), args);
            }
            if let Some((id, kind)) = self.generic(&name.node) {
                return self.generic_type(id, kind, name, args, span);
            }
        }
        match self.type_item(module, name) {
            Some(id) => self.alias_type(id, args, span),
            None => Ty::Error,
        }
    }

    fn generic_type(
        &mut self,
        id: GenericId,
        kind: GenericKind,
        name: &Ident,
        args: &'a [TypeArg],
        span: Span,
    ) -> Ty {
        match kind {
            GenericKind::Float | GenericKind::Int | GenericKind::Num => {
                self.tensor_type(ElemTy::Param(id), args)
            }
            GenericKind::Tree => {
                if !args.is_empty() {
                    self.report(Problem::GenericArgCount {
                        span,
                        name: name.node.clone(),
                        expected: 0,
                        found: args.len(),
                    });
                }
                Ty::Tree {
                    param: id,
                    leaf: None,
                }
            }
            GenericKind::Dim | GenericKind::Spread => {
                self.report(Problem::NotAType {
                    span: name.span,
                    name: name.node.clone(),
                    what: "a dimension",
                });
                Ty::Error
            }
        }
    }

    /// The alias that a name means; reports when there is none.
    pub fn type_item(&mut self, module: Option<&Ident>, name: &Ident) -> Option<TypeId> {
        let home = match module {
            Some(m) => self.module_named(m)?,
            None => self.module,
        };
        match self.w.lookup(home, &name.node) {
            Some(Item::Type(id)) => return Some(id),
            Some(Item::Const(_)) => self.not_a_type(name, "a constant"),
            Some(Item::Fn(_)) => self.not_a_type(name, "a function"),
            Some(Item::Module(_)) => self.not_a_type(name, "a module"),
            None if self.w.module(home).broken.contains(&name.node) => {}
            None => {
                let mut known: Vec<String> = self
                    .w
                    .module(home)
                    .items
                    .iter()
                    .filter(|(_, item)| matches!(item, Item::Type(_)))
                    .map(|(n, _)| n.to_string())
                    .collect();
                if module.is_none() {
                    known.extend(Elem::ALL.iter().map(|e| e.name().to_string()));
                    known.extend(self.generic_names().map(|n| n.to_string()));
                }
                let near = super::near::elsewhere(&name.node)
                    .or_else(|| near(&name.node, known.iter().map(String::as_str)));
                self.report(Problem::UnknownName {
                    what: "type",
                    name: name.node.clone(),
                    module: module.map(|m| m.node.clone()),
                    span: name.span,
                    near,
                });
            }
        }
        None
    }

    fn not_a_type(&mut self, name: &Ident, what: &'static str) {
        self.report(Problem::NotAType {
            span: name.span,
            name: name.node.clone(),
            what,
        });
    }

    /// The module that a name before a dot means; reports when there is none.
    pub fn module_named(&mut self, name: &Ident) -> Option<ModuleId> {
        match self.w.lookup(self.module, &name.node) {
            Some(Item::Module(m)) => Some(m),
            None if self.w.module(self.module).broken.contains(&name.node) => None,
            _ => {
                let std = crate::std::names();
                let near = match std.contains(&&*name.node) {
                    true => Some(name.node.to_string()),
                    false => near(&name.node, std.iter().copied()),
                };
                self.report(Problem::UnknownModule {
                    span: name.span,
                    name: name.node.clone(),
                    near,
                });
                None
            }
        }
    }

    fn tensor_type(&mut self, elem: ElemTy, args: &'a [TypeArg]) -> Ty {
        match self.sizes(args) {
            Some(shape) => Ty::Tensor(elem, shape),
            None => Ty::Error,
        }
    }

    /// The sizes in the brackets of a type.
    pub fn sizes(&mut self, args: &'a [TypeArg]) -> Option<Shape> {
        let axes: Vec<(Name, Span)> = args
            .iter()
            .filter_map(|arg| match arg {
                TypeArg::Dim { axis, .. } => axis.as_ref().map(|a| (a.node.clone(), a.span)),
                TypeArg::Spread(_) | TypeArg::Type(_) => None,
            })
            .collect();
        self.check_axes_once(&axes);
        let mut shape = Shape::new();
        for arg in args {
            match arg {
                TypeArg::Dim { size, axis } => {
                    if let Some(axis) = axis {
                        self.check_axis(axis);
                    }
                    if let ExprKind::Name(name) = &size.kind
                        && !names_elem(size)
                        && self.means_nothing(name)
                    {
                        self.unknown(&Ident::new(name.clone(), size.span), "dimension");
                        return None;
                    }
                    shape.push(ShapeItem::Dim(self.size(size)?));
                }
                TypeArg::Spread(name) => shape.push(self.spread(name)?),
                TypeArg::Type(t) => {
                    self.report(Problem::TypeForDimension { span: t.span });
                    return None;
                }
            }
        }
        Some(shape)
    }

    /// A `..S` parameter in a shape.
    pub fn spread(&mut self, name: &Ident) -> Option<ShapeItem> {
        match self.generic(&name.node) {
            Some((id, GenericKind::Spread)) => Some(ShapeItem::Spread(id)),
            _ => {
                self.report(Problem::UnknownName {
                    what: "`..` parameter",
                    name: name.node.clone(),
                    module: None,
                    span: name.span,
                    near: None,
                });
                None
            }
        }
    }

    fn check_axis(&mut self, axis: &Ident) {
        let known: Vec<String> = self.mesh_axes();
        if !known.is_empty() && !known.iter().any(|a| **a == *axis.node) {
            let near = near(&axis.node, known.iter().map(String::as_str));
            self.report(Problem::UnknownName {
                what: "mesh axis",
                name: axis.node.clone(),
                module: None,
                span: axis.span,
                near,
            });
        }
    }

    pub fn mesh_axes(&self) -> Vec<String> {
        let name = |n: &Ident| n.node.to_string();
        match self.w.meshes.first() {
            Some((axes, _)) => axes.iter().map(|(n, _)| name(n)).collect(),
            None => self.w.mesh_options.iter().map(|(n, _)| name(n)).collect(),
        }
    }

    /// One axis cannot cut two dimensions of a tensor.
    pub fn check_axes_once(&mut self, axes: &[(Name, Span)]) -> bool {
        for (i, (name, span)) in axes.iter().enumerate() {
            if let Some((_, before)) = axes[..i].iter().find(|(n, _)| n == name) {
                self.report(Problem::MeshAxisTwice {
                    name: name.clone(),
                    span: *span,
                    before: *before,
                });
                return false;
            }
        }
        true
    }

    fn alias_type(&mut self, id: TypeId, args: &'a [TypeArg], span: Span) -> Ty {
        let Some(alias) = self.alias(id, span) else {
            return Ty::Error;
        };
        let Some(args) = self.generic_args(&alias.shown, &alias.generics, args, span) else {
            return Ty::Error;
        };
        self.open_alias(&alias, &args, span)
    }

    fn open_alias(&mut self, alias: &Alias, args: &[GenericArg], span: Span) -> Ty {
        if args.is_empty() {
            return alias.ty.clone();
        }
        match Subst::new(args).ty(&alias.ty) {
            Some(ty) => ty,
            None => {
                self.report(Problem::Inexact {
                    span,
                    callee: None,
                    text: None,
                });
                Ty::Error
            }
        }
    }

    /// What an alias stands for, resolving it on first use.
    pub fn alias(&mut self, id: TypeId, span: Span) -> Option<Rc<Alias>> {
        let item = &mut self.w.types[id.0];
        match &item.resolved {
            State::Done(alias) => return Some(alias.clone()),
            State::Busy => {
                let problem = Problem::TypeCycle {
                    span,
                    name: item.def.name.node.clone(),
                    definition: item.def.name.span,
                };
                self.report(problem);
                return None;
            }
            State::Open => item.resolved = State::Busy,
        }
        let (def, module) = (item.def, item.module);
        if !self.open_definition(span) {
            self.w.types[id.0].resolved = State::Open;
            return None;
        }
        let generics = generics_of(&def.generics);
        let mut cx = Cx::new(&mut *self.w, module, Place::Pure, generics.clone());
        cx.no_duplicates("parameter", def.generics.iter().map(|g| &g.name));
        let ty = cx.resolve_type(&def.ty);
        cx.lint_generics(&def.generics);
        let shown = def.name.node.to_string();
        let alias = Rc::new(Alias {
            shown,
            generics: generics.to_vec(),
            ty,
        });
        self.close_definition();
        self.w.types[id.0].resolved = State::Done(alias.clone());
        Some(alias)
    }

    /// Reports names that stand twice; whether there are none.
    pub fn no_duplicates<'n>(
        &mut self,
        what: &'static str,
        names: impl Iterator<Item = &'n Ident>,
    ) -> bool {
        let mut first: HashMap<&str, Span> = HashMap::new();
        let mut ok = true;
        for name in names {
            if let Some(&before) = first.get(&*name.node) {
                self.report(Problem::Duplicate {
                    what,
                    name: name.node.clone(),
                    span: name.span,
                    before,
                });
                ok = false;
            } else {
                first.insert(&name.node, name.span);
            }
        }
        ok
    }

    /// Arguments in brackets for generic parameters: `optim.Adam[Params]`, `Pair[3, f32]`.
    fn generic_args(
        &mut self,
        name: &str,
        generics: &[crate::typed::Generic],
        args: &'a [TypeArg],
        span: Span,
    ) -> Option<Vec<GenericArg>> {
        let spreads = generics
            .iter()
            .filter(|g| g.kind == GenericKind::Spread)
            .count();
        let fixed = generics.len() - spreads;
        if args.len() < fixed || (spreads == 0 && args.len() > fixed) || spreads > 1 {
            self.report(Problem::GenericArgCount {
                span,
                name: name.into(),
                expected: fixed,
                found: args.len(),
            });
            return None;
        }
        let mut rest = args;
        let mut out = Vec::new();
        for (i, g) in generics.iter().enumerate() {
            let after = generics.len() - i - 1;
            if g.kind == GenericKind::Spread {
                let (mine, others) = rest.split_at(rest.len() - after);
                out.push(GenericArg::Spread(self.sizes(mine)?));
                rest = others;
            } else {
                let (first, others) = rest.split_first()?;
                out.push(self.generic_arg(g.kind, first, span)?);
                rest = others;
            }
        }
        Some(out)
    }

    fn generic_arg(
        &mut self,
        kind: GenericKind,
        arg: &'a TypeArg,
        span: Span,
    ) -> Option<GenericArg> {
        match (kind, arg) {
            (GenericKind::Dim, TypeArg::Dim { size, .. }) => self.size(size).map(GenericArg::Dim),
            (GenericKind::Dim | GenericKind::Spread, _) => {
                self.report(Problem::TypeForDimension { span });
                None
            }
            (GenericKind::Tree, TypeArg::Type(t)) => {
                good(self.resolve_type(t)).map(GenericArg::Tree)
            }
            (GenericKind::Tree, TypeArg::Dim { size, .. }) => {
                good(self.type_of_expr(size)?).map(GenericArg::Tree)
            }
            (GenericKind::Float | GenericKind::Int | GenericKind::Num, arg) => {
                let ty = match arg {
                    TypeArg::Type(t) => self.resolve_type(t),
                    TypeArg::Dim { size, .. } => self.type_of_expr(size)?,
                    TypeArg::Spread(_) => Ty::Error,
                };
                self.elem_arg(kind, ty, span)
            }
            (GenericKind::Tree, TypeArg::Spread(name)) => {
                self.report(Problem::TypeForDimension { span: name.span });
                None
            }
        }
    }

    /// An element type given for `D: float` and the like.
    pub fn elem_arg(&mut self, kind: GenericKind, ty: Ty, span: Span) -> Option<GenericArg> {
        match ty {
            Ty::Tensor(elem, shape)
                if shape.is_empty() && self.infer.is(&elem, super::infer::Class::of(kind)) =>
            {
                Some(GenericArg::Elem(elem))
            }
            Ty::Error => None,
            other => {
                self.report(Problem::ElemArg {
                    span,
                    kind,
                    found: other,
                });
                None
            }
        }
    }

    /// A type that the grammar has read as an expression: `Params`, `f32[3]`, `(f32, optim.Schedule)`.
    pub fn type_of_expr(&mut self, e: &'a Expr) -> Option<Ty> {
        match &e.kind {
            ExprKind::Tuple(parts) => {
                let parts: Option<Vec<Ty>> = parts.iter().map(|p| self.type_of_expr(p)).collect();
                return parts.map(Ty::Tuple);
            }
            ExprKind::Record(fields) => {
                self.no_duplicates("field", fields.iter().map(|(name, _)| name));
                let fields: Option<Vec<(Name, Ty)>> = fields
                    .iter()
                    .map(|(n, f)| Some((n.node.clone(), self.type_of_expr(f)?)))
                    .collect();
                return Some(Ty::Record(fields?.into_iter().collect()));
            }
            _ => {}
        }
        let (head, args) = match &e.kind {
            ExprKind::Index(head, args) => (&**head, args.as_slice()),
            _ => (e, &[] as &[IndexArg]),
        };
        let (module, name) = match &head.kind {
            ExprKind::Name(name) => (None, Ident::new(name.clone(), head.span)),
            ExprKind::Field(module, name) => match &module.kind {
                ExprKind::Name(m) => (Some(Ident::new(m.clone(), module.span)), name.clone()),
                _ => {
                    self.report(Problem::DimensionForType { span: e.span });
                    return None;
                }
            },
            _ => {
                self.report(Problem::DimensionForType { span: e.span });
                return None;
            }
        };
        if args.is_empty() {
            return Some(self.path_type(module.as_ref(), &name, &[], e.span));
        }
        self.indexed_type(module.as_ref(), &name, args, e.span)
    }

    /// `f32[3]`, `D[B, N]` or `Layer[2, f32]` where an expression stands.
    fn indexed_type(
        &mut self,
        module: Option<&Ident>,
        name: &Ident,
        args: &'a [IndexArg],
        span: Span,
    ) -> Option<Ty> {
        let elem = match (module, Elem::from_name(&name.node)) {
            (None, Some(elem)) => Some(ElemTy::Known(elem)),
            (None, None) => match self.generic(&name.node) {
                Some((id, GenericKind::Float | GenericKind::Int | GenericKind::Num)) => {
                    Some(ElemTy::Param(id))
                }
                Some((id, kind)) => return Some(self.generic_type(id, kind, name, &[], span)),
                None => None,
            },
            (Some(_), _) => None,
        };
        if let Some(elem) = elem {
            return Some(Ty::Tensor(elem, self.explicit_shape(args, span)?));
        }
        let id = self.type_item(module, name)?;
        let alias = self.alias(id, span)?;
        let given = self.explicit_args(&alias.shown, &alias.generics, args, span)?;
        let is_spread = |i: usize| alias.generics[i].kind == GenericKind::Spread;
        let given: Vec<GenericArg> = (given.into_iter().enumerate())
            .map_while(|(i, arg)| arg.or_else(|| is_spread(i).then(|| GenericArg::Spread(vec![]))))
            .collect();
        if given.len() < alias.generics.len() {
            self.report(Problem::GenericArgCount {
                span,
                name: alias.shown.as_str().into(),
                expected: alias.generics.len(),
                found: args.len(),
            });
            return None;
        }
        Some(self.open_alias(&alias, &given, span))
    }

    /// A dimension in a type or a shape: exact, and not negative.
    pub fn size(&mut self, e: &'a Expr) -> Option<crate::typed::Dim> {
        if names_elem(e) {
            self.report(Problem::TypeForDimension { span: e.span });
            return None;
        }
        let dim = self.static_dim(e)?;
        self.need_size(&dim, e.span);
        Some(dim)
    }
}

/// No value is called as an element type is.
fn names_elem(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if Elem::from_name(name).is_some())
}

fn good(ty: Ty) -> Option<Ty> {
    (!matches!(ty, Ty::Error)).then_some(ty)
}
