//! The typing of `grad`, `value_and_grad`, `jvp`, `vjp`, `jacobian`, `hessian`, `vmap` and `checkpoint`.

use super::cx::Cx;
use super::facts::{Around, loop_in};
use super::func::{ArgTy, FnRef};
use super::infer::Class;
use super::problem::Problem;
use super::require::Need;
use super::subst::{leaves, map_leaves};
use crate::ast::{self, ExprKind as A, Ident};
use crate::span::Span;
use crate::typed::{Callee, ElemTy, Shape, ShapeItem, Transform, TransformKind as Kind, Ty};
use std::rc::Rc;

pub const NAMES: &[&str] = &[
    "grad",
    "value_and_grad",
    "jvp",
    "vjp",
    "jacobian",
    "hessian",
    "vmap",
    "checkpoint",
];

pub fn is_name(name: &str) -> bool {
    NAMES.contains(&name)
}

/// A transform with its options, not yet applied to arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    Grad {
        wrt: Vec<i64>,
        tuple: bool,
        value: bool,
        aux: bool,
    },
    Jvp,
    Vjp,
    Jacobian,
    Hessian,
    Vmap {
        axes: MapAxes,
        out: i64,
    },
    Checkpoint,
}

/// `in=` of `vmap`.
#[derive(Clone, Debug, PartialEq)]
pub enum MapAxes {
    /// The same for every argument.
    All(i64),
    Each(Vec<Option<i64>>),
}

impl Spec {
    /// Whether the transformed function takes the arguments of the function itself.
    pub fn keeps_arguments(&self) -> bool {
        matches!(
            self,
            Spec::Grad { .. } | Spec::Jacobian | Spec::Hessian | Spec::Checkpoint
        )
    }
}

impl<'a> Cx<'a, '_> {
    /// `grad(f, wrt=(0, 1))` as a function.
    pub fn transform_ref(
        &mut self,
        name: &'static str,
        at: Span,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        span: Span,
    ) -> Option<FnRef<'a>> {
        let [inner] = args else {
            self.report(Problem::ArgCount {
                span,
                callee: format!("`{name}`"),
                expected: 1,
                optional: 0,
                found: args.len(),
                missing: Vec::new(),
                definition: None,
            });
            return None;
        };
        let inner = self.fn_ref(inner)?;
        let spec = self.spec(name, named)?;
        let _ = at;
        Some(FnRef::Transform {
            spec: Rc::new(spec),
            inner: Rc::new(inner),
            span,
        })
    }

    fn spec(&mut self, name: &'static str, named: &'a [(Ident, ast::Expr)]) -> Option<Spec> {
        let known: &[&str] = match name {
            "grad" | "value_and_grad" => &["wrt", "aux"],
            "vmap" => &["in", "out"],
            _ => &[],
        };
        for (option, _) in named {
            if !known.contains(&&*option.node) {
                let near = super::near::near(&option.node, known.iter().copied());
                self.report(Problem::UnknownArg {
                    span: option.span,
                    name: option.node.clone(),
                    callee: format!("`{name}`"),
                    near,
                    known: known.iter().map(|k| (*k).into()).collect(),
                });
                return None;
            }
        }
        let option = |key: &str| named.iter().find(|(n, _)| *n.node == *key).map(|(_, e)| e);
        Some(match name {
            "grad" | "value_and_grad" => {
                let (wrt, tuple) = match option("wrt") {
                    Some(e) => {
                        let tuple = matches!(e.kind, A::Tuple(_) | A::List(_));
                        (self.static_axes(e)?, tuple)
                    }
                    None => (vec![0], false),
                };
                let aux = match option("aux") {
                    Some(e) => self.static_flag(e)?,
                    None => false,
                };
                Spec::Grad {
                    wrt,
                    tuple,
                    value: name == "value_and_grad",
                    aux,
                }
            }
            "jvp" => Spec::Jvp,
            "vjp" => Spec::Vjp,
            "jacobian" => Spec::Jacobian,
            "hessian" => Spec::Hessian,
            "checkpoint" => Spec::Checkpoint,
            _ => {
                let axes = match option("in") {
                    Some(e) => self.map_axes(e)?,
                    None => MapAxes::All(0),
                };
                let out = match option("out") {
                    Some(e) => self.static_axes(e)?.first().copied().unwrap_or(0),
                    None => 0,
                };
                Spec::Vmap { axes, out }
            }
        })
    }

    fn map_axes(&mut self, e: &'a ast::Expr) -> Option<MapAxes> {
        match &e.kind {
            A::Tuple(items) | A::List(items) => {
                let mut axes = Vec::new();
                for item in items {
                    axes.push(match item.kind {
                        A::None => None,
                        _ => Some(self.static_axes(item)?.first().copied().unwrap_or(0)),
                    });
                }
                Some(MapAxes::Each(axes))
            }
            _ => {
                let axes = self.static_axes(e)?;
                Some(MapAxes::All(axes.first().copied().unwrap_or(0)))
            }
        }
    }

    pub fn apply_transform(
        &mut self,
        spec: &Spec,
        inner: &FnRef<'a>,
        args: &[ArgTy],
        at: Span,
    ) -> Option<(Callee, Ty)> {
        match spec {
            Spec::Grad {
                wrt,
                tuple,
                value,
                aux,
            } => self.apply_grad(inner, args, at, wrt, *tuple, *value, *aux),
            Spec::Jvp | Spec::Vjp => self.apply_products(spec, inner, args, at),
            Spec::Jacobian => self.apply_jacobian(inner, args, at),
            Spec::Hessian => self.apply_hessian(inner, args, at),
            Spec::Vmap { axes, out } => self.apply_vmap(inner, args, at, axes, *out),
            Spec::Checkpoint => {
                let (callee, ret) = self.apply(inner, args, at, None)?;
                let types = args.iter().map(|a| self.infer.ty(&a.ty)).collect();
                let ty = ret.clone();
                Some((transformed(Kind::Checkpoint, callee, types, ret, at), ty))
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn apply_grad(
        &mut self,
        inner: &FnRef<'a>,
        args: &[ArgTy],
        at: Span,
        wrt: &[i64],
        tuple: bool,
        value: bool,
        aux: bool,
    ) -> Option<(Callee, Ty)> {
        let name = if value { "value_and_grad" } else { "grad" };
        let (callee, ret) = self.apply(inner, args, at, None)?;
        let loss = self.loss_of(name, inner, &ret, aux, at)?;
        let mut positions = Vec::new();
        for &position in wrt {
            let index = usize::try_from(position).ok().filter(|&i| i < args.len());
            let Some(index) = index else {
                self.report(Problem::WrtRange {
                    span: at,
                    wrt: position,
                    args: args.len(),
                });
                return None;
            };
            self.differentiable(name, &args[index], at)?;
            positions.push(index);
        }
        self.no_while(name, &callee, at)?;
        let mut gradients: Vec<Ty> = positions
            .iter()
            .map(|&i| self.infer.ty(&args[i].ty))
            .collect();
        let gradient = match tuple {
            true => Ty::Tuple(gradients),
            false => gradients.swap_remove(0),
        };
        let ret = self.infer.ty(&ret);
        let ty = match (value, aux) {
            (true, _) => Ty::Tuple(vec![ret.clone(), gradient]),
            (false, false) => gradient,
            (false, true) => match &ret {
                Ty::Tuple(parts) => Ty::Tuple(vec![gradient, parts[1].clone()]),
                _ => return None,
            },
        };
        let _ = loss;
        let kind = Kind::Grad {
            wrt: positions,
            tuple,
            value,
            aux,
        };
        let types = args.iter().map(|a| self.infer.ty(&a.ty)).collect();
        Some((transformed(kind, callee, types, ret, at), ty))
    }

    /// The scalar that is differentiated; reports a result that has none.
    pub(super) fn loss_of(
        &mut self,
        name: &'static str,
        inner: &FnRef<'a>,
        ret: &Ty,
        aux: bool,
        at: Span,
    ) -> Option<Ty> {
        let ret = self.infer.ty(ret);
        let function = self.fn_name(inner);
        let loss = match (&ret, aux) {
            (Ty::Tuple(parts), true) if parts.len() == 2 => parts[0].clone(),
            (_, true) => {
                self.report(Problem::AuxResult {
                    span: at,
                    function,
                    ty: ret,
                });
                return None;
            }
            (_, false) => ret.clone(),
        };
        match &loss {
            Ty::Tensor(elem, shape)
                if shape.is_empty() && self.infer.require(elem, Class::Float).is_ok() =>
            {
                Some(loss)
            }
            Ty::Error => None,
            _ => {
                let definition = self.definition_of(inner);
                self.report(Problem::GradOfNonScalar {
                    span: at,
                    transform: name,
                    function,
                    ty: loss,
                    definition,
                });
                None
            }
        }
    }

    fn definition_of(&self, f: &FnRef<'a>) -> Option<Span> {
        match f {
            FnRef::Item { id, .. } => {
                let def = self.w.fns[id.0].def;
                Some(def.ret.as_ref().map_or(def.name.span, |r| r.span))
            }
            FnRef::Lambda { body, .. } => Some(body.span),
            _ => None,
        }
    }

    /// That every leaf of an argument is a float.
    pub(super) fn differentiable(
        &mut self,
        name: &'static str,
        arg: &ArgTy,
        at: Span,
    ) -> Option<()> {
        let ty = self.infer.ty(&arg.ty);
        for (path, leaf) in leaves(&ty) {
            match &leaf {
                Ty::Tensor(elem, _) if self.infer.require(elem, Class::Float).is_ok() => {}
                Ty::Tree { param, .. } => self.need(Need::Leaves(*param, Class::Float), at),
                Ty::Error => return None,
                _ => {
                    self.report(Problem::GradOfInteger {
                        span: arg.span,
                        transform: name,
                        transform_span: at,
                        path,
                        leaf,
                        ty,
                    });
                    return None;
                }
            }
        }
        Some(())
    }

    /// That reverse mode meets no `while`.
    pub(super) fn no_while(&mut self, name: &'static str, callee: &Callee, at: Span) -> Option<()> {
        let around = Around {
            known: &self.w.facts,
            locals: &self.locals,
        };
        match loop_in(callee, around) {
            Some(found) => {
                self.report(Problem::ReverseThroughWhile {
                    span: at,
                    transform: name,
                    loop_span: found.span,
                    is_for: found.is_for,
                });
                None
            }
            None => Some(()),
        }
    }
}

pub fn transformed(kind: Kind, callee: Callee, params: Vec<Ty>, ret: Ty, span: Span) -> Callee {
    Callee::Transform(Box::new(Transform {
        kind,
        callee,
        params,
        ret,
        span,
    }))
}

/// The tree of `input`, each leaf with the dimensions of `outer` before its own.
pub(super) fn with_leading(input: &Ty, outer: &Ty) -> Ty {
    let lead: Shape = match outer {
        Ty::Tensor(_, items) => items.clone(),
        _ => Shape::new(),
    };
    let grown = |elem: &ElemTy, items: &[ShapeItem]| {
        Ty::Tensor(elem.clone(), lead.iter().chain(items).cloned().collect())
    };
    map_leaves(input, &mut |leaf| match leaf {
        Ty::Tensor(elem, items) => grown(elem, items),
        Ty::Tree { param, leaf: None } => Ty::Tree {
            param: *param,
            leaf: Some(Box::new(grown(
                &ElemTy::LeafOf(*param),
                &[ShapeItem::LeafOf(*param)],
            ))),
        },
        other => other.clone(),
    })
}
