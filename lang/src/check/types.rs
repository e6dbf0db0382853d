//! Written types → types: names resolved, aliases opened, dimensions in their normal form.

use super::cx::Cx;
use super::load::ModuleId;
use super::near::near;
use super::problem::Problem;
use super::world::{Item, TypeId};
use crate::ast::{Expr, ExprKind, GenericKind, Ident, Name, TypeArg, TypeExpr, TypeExprKind};
use crate::span::Span;
use crate::typed::{Elem, ElemTy, GenericId, Shape, ShapeItem, Ty};

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

    pub(super) fn path_type(
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

    pub(super) fn generic_type(
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
}

/// No value is called as an element type is.
pub(super) fn names_elem(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Name(name) if Elem::from_name(name).is_some())
}

pub(super) fn good(ty: Ty) -> Option<Ty> {
    (!matches!(ty, Ty::Error)).then_some(ty)
}
