//! `x: f32[B @ data, 784]`: dimensions laid on axes of the device mesh.
//!
//! Types themselves know nothing of it: a layout never changes a value. Where a type with axes is written, for a
//! parameter, a result or a `let`, the value is passed through `shard`.

use super::composite::project;
use super::cx::{Cx, is_bad};
use super::expr::builtin;
use super::load::ModuleId;
use super::scope::Bound;
use super::world::{Item, State};
use crate::ast::{self, Name, TypeArg, TypeExpr, TypeExprKind};
use crate::span::Span;
use crate::typed::{Attr, Block, Builtin, Expr, ExprKind, Pattern, Static, Stmt, StmtKind, Ty};
use std::collections::HashMap;

/// The axes written in a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Layout {
    /// None anywhere in it.
    Free,
    /// Of a tensor, one entry a dimension.
    Tensor(Vec<Option<Name>>),
    /// Of a tuple or record.
    Fields(Vec<Layout>),
}

impl<'a> Cx<'a, '_> {
    /// The layout that a written type asks for; free in a program without a mesh.
    pub fn layout(&self, t: &'a TypeExpr) -> Layout {
        if self.mesh_axes().is_empty() {
            return Layout::Free;
        }
        self.layout_in(t, self.module, &HashMap::new(), 0)
    }

    fn layout_in(
        &self,
        t: &'a TypeExpr,
        module: ModuleId,
        params: &HashMap<&str, Layout>,
        depth: u32,
    ) -> Layout {
        match &t.kind {
            TypeExprKind::Tuple(fields) => {
                let parts = fields
                    .iter()
                    .map(|f| self.layout_in(f, module, params, depth));
                of_fields(parts.collect())
            }
            TypeExprKind::Record(fields) => {
                let parts = fields
                    .iter()
                    .map(|(_, f)| self.layout_in(f, module, params, depth));
                of_fields(parts.collect())
            }
            TypeExprKind::Path {
                module: prefix,
                name,
                args,
            } => self.layout_of_path(prefix.as_ref(), name, args, module, params, depth),
            TypeExprKind::Fn(..) | TypeExprKind::Shape(_) | TypeExprKind::Error => Layout::Free,
        }
    }

    fn layout_of_path(
        &self,
        prefix: Option<&ast::Ident>,
        name: &ast::Ident,
        args: &'a [TypeArg],
        module: ModuleId,
        params: &HashMap<&str, Layout>,
        depth: u32,
    ) -> Layout {
        if prefix.is_none()
            && let Some(layout) = params.get(&*name.node)
        {
            return layout.clone();
        }
        let axes: Vec<Option<Name>> = args
            .iter()
            .map(|a| match a {
                TypeArg::Dim { axis, .. } => axis.as_ref().map(|a| a.node.clone()),
                TypeArg::Spread(_) | TypeArg::Type(_) => None,
            })
            .collect();
        if axes.iter().any(Option::is_some) {
            return Layout::Tensor(axes);
        }
        let scope = self.w.module(module);
        let home = match prefix {
            Some(p) => match scope.items.get(&p.node) {
                Some(Item::Module(m)) => *m,
                _ => return Layout::Free,
            },
            None => module,
        };
        // A type that contains itself has been reported, and is not followed for ever.
        let Some(Item::Type(id)) = self.w.module(home).items.get(&name.node).copied() else {
            return Layout::Free;
        };
        let item = &self.w.types[id.0];
        if depth > 64 || !matches!(item.resolved, State::Done(_)) {
            return Layout::Free;
        }
        let mut inner: HashMap<&str, Layout> = HashMap::new();
        for (g, arg) in item.def.generics.iter().zip(args) {
            if let TypeArg::Type(t) = arg {
                inner.insert(&g.name.node, self.layout_in(t, module, params, depth + 1));
            } else if let TypeArg::Dim { size, .. } = arg
                && let ast::ExprKind::Name(n) = &size.kind
            {
                let ident = ast::Ident::new(n.clone(), size.span);
                let layout = self.layout_of_path(None, &ident, &[], module, params, depth + 1);
                inner.insert(&g.name.node, layout);
            }
        }
        self.layout_in(&item.def.ty, home, &inner, depth + 1)
    }

    /// A value laid out: each tensor with axes goes through `shard`.
    pub fn laid_out(&mut self, value: Expr, layout: &Layout) -> Expr {
        let (span, ty) = (value.span, self.infer.ty(&value.ty));
        match (layout, &ty) {
            (Layout::Free, _) => value,
            _ if is_bad(&value) => value,
            (Layout::Tensor(axes), Ty::Tensor(_, dims)) if dims.len() == axes.len() => {
                let axes = axes.iter().map(|a| a.as_ref().map(|a| a.to_string()));
                let attr = Attr {
                    name: "axes",
                    value: Static::Axes(axes.collect()),
                };
                builtin(Builtin::Shard, vec![value], vec![attr], ty, span)
            }
            (Layout::Fields(parts), Ty::Tuple(_) | Ty::Record(_)) => {
                self.fields_laid_out(value, parts, ty, span)
            }
            _ => value,
        }
    }

    /// The value is computed once, then put together again from its parts.
    fn fields_laid_out(&mut self, value: Expr, parts: &[Layout], ty: Ty, span: Span) -> Expr {
        let types: Vec<Ty> = match &ty {
            Ty::Tuple(types) => types.clone(),
            Ty::Record(fields) => fields.iter().map(|(_, t)| t.clone()).collect(),
            _ => return value,
        };
        let whole = self.local("laid_out".into(), ty.clone(), false, span);
        let fields = types
            .into_iter()
            .zip(parts)
            .enumerate()
            .map(|(i, (part, layout))| {
                let base = Expr {
                    kind: ExprKind::Local(whole),
                    ty: ty.clone(),
                    span,
                };
                let field = project(base, i, part, span);
                self.laid_out(field, layout)
            })
            .collect();
        let block = Block {
            stmts: vec![Stmt {
                kind: StmtKind::Let {
                    pattern: Pattern::Local(whole),
                    value,
                },
                span,
            }],
            value: Some(Box::new(Expr {
                kind: ExprKind::Fields(fields),
                ty: ty.clone(),
                span,
            })),
        };
        Expr {
            kind: ExprKind::Block(block),
            ty,
            span,
        }
    }

    /// Lays a parameter out: from here on its name means the value that went through `shard`.
    pub fn lay_out_param(
        &mut self,
        param: crate::typed::LocalId,
        written: &'a ast::Param,
    ) -> Option<Stmt> {
        let layout = self.layout(&written.ty);
        if layout == Layout::Free {
            return None;
        }
        let (ty, span) = (self.local_ty(param).clone(), written.name.span);
        let value = Expr {
            kind: ExprKind::Local(param),
            ty: ty.clone(),
            span,
        };
        let value = self.laid_out(value, &layout);
        let id = self.local(written.name.node.clone(), ty, false, span);
        self.scope
            .rebind(&written.name.node, span, Bound::Local(id));
        Some(Stmt {
            kind: StmtKind::Let {
                pattern: Pattern::Local(id),
                value,
            },
            span,
        })
    }
}

fn of_fields(parts: Vec<Layout>) -> Layout {
    if parts.iter().all(|p| *p == Layout::Free) {
        Layout::Free
    } else {
        Layout::Fields(parts)
    }
}
