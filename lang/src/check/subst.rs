//! Substitution of generic parameters, and other walks over types.

use crate::ast::{GenericKind, Name};
use crate::typed::{
    Atom, Dim, ElemTy, GenericArg, GenericId, Glance, Shape, ShapeItem, Ty, elements,
};

/// Replaces the parameters of a signature by what they stand for at a use.
pub struct Subst<'s> {
    pub args: &'s [GenericArg],
    /// The leaf of a tree parameter that is being replaced, while its leaf type is visited.
    leaf: Option<(GenericId, &'s ElemTy, &'s [ShapeItem])>,
}

impl<'s> Subst<'s> {
    pub fn new(args: &'s [GenericArg]) -> Self {
        Subst { args, leaf: None }
    }

    /// `None` where a quotient does not divide, or on overflow.
    pub fn dim(&self, dim: &Dim) -> Option<Dim> {
        if let Some(Atom::Param(g)) = super::poly::single_atom(dim)
            && let Some(GenericArg::Dim(d)) = self.args.get(g.0 as usize)
        {
            return Some(d.clone());
        }
        dim.substitute(&|atom| match atom {
            Atom::Param(g) => match self.args.get(g.0 as usize) {
                Some(GenericArg::Dim(d)) => Some(d.clone()),
                _ => None,
            },
            Atom::Elements(g) => match self.args.get(g.0 as usize) {
                Some(GenericArg::Spread(items)) => elements(items),
                _ => None,
            },
            Atom::LeafElements(g) => match (&self.leaf, self.args.get(g.0 as usize)) {
                (Some((of, _, items)), _) if of == g => elements(items),
                (_, Some(GenericArg::Tree(Ty::Tree { param, .. }))) => {
                    Some(Dim::atom(Atom::LeafElements(*param)))
                }
                _ => None,
            },
            Atom::Var(_) | Atom::Quot(..) => None,
        })
    }

    pub fn elem(&self, elem: &ElemTy) -> ElemTy {
        match elem {
            ElemTy::Param(g) => match self.args.get(g.0 as usize) {
                Some(GenericArg::Elem(e)) => e.clone(),
                _ => elem.clone(),
            },
            ElemTy::LeafOf(g) => match (&self.leaf, self.args.get(g.0 as usize)) {
                (Some((of, e, _)), _) if of == g => (*e).clone(),
                (_, Some(GenericArg::Tree(Ty::Tree { param, .. }))) => ElemTy::LeafOf(*param),
                _ => elem.clone(),
            },
            ElemTy::Known(_) | ElemTy::Var(_) => elem.clone(),
        }
    }

    pub fn shape(&self, shape: &[ShapeItem]) -> Option<Shape> {
        let mut out = Vec::with_capacity(shape.len());
        for item in shape {
            match item {
                ShapeItem::Dim(d) => out.push(ShapeItem::Dim(self.dim(d)?)),
                ShapeItem::Spread(g) => match self.args.get(g.0 as usize) {
                    Some(GenericArg::Spread(items)) => out.extend(items.iter().cloned()),
                    _ => out.push(item.clone()),
                },
                ShapeItem::LeafOf(g) => match (&self.leaf, self.args.get(g.0 as usize)) {
                    (Some((of, _, s)), _) if of == g => out.extend(s.iter().cloned()),
                    (_, Some(GenericArg::Tree(Ty::Tree { param, .. }))) => {
                        out.push(ShapeItem::LeafOf(*param));
                    }
                    _ => out.push(item.clone()),
                },
                ShapeItem::Var(_) => out.push(item.clone()),
            }
        }
        Some(out)
    }

    pub fn ty(&self, ty: &Ty) -> Option<Ty> {
        Some(match ty {
            Ty::Tensor(elem, shape) => Ty::Tensor(self.elem(elem), self.shape(shape)?),
            Ty::Tuple(fields) => {
                Ty::Tuple(fields.iter().map(|t| self.ty(t)).collect::<Option<_>>()?)
            }
            Ty::Record(_) if !mentions_parameters(ty) => ty.clone(),
            Ty::Record(fields) => Ty::Record(
                fields
                    .iter()
                    .map(|(n, t)| Some((n.clone(), self.ty(t)?)))
                    .collect::<Option<_>>()?,
            ),
            Ty::Tree { param, leaf } => match (self.args.get(param.0 as usize), leaf) {
                (Some(GenericArg::Tree(tree)), None) => tree.clone(),
                (Some(GenericArg::Tree(tree)), Some(leaf)) => {
                    self.with_leaves(*param, tree, leaf)?
                }
                _ => ty.clone(),
            },
            Ty::Fn(params, ret) => Ty::Fn(
                params.iter().map(|t| self.ty(t)).collect::<Option<_>>()?,
                Box::new(self.ty(ret)?),
            ),
            Ty::Var(_) | Ty::Error => ty.clone(),
        })
    }

    /// `tree` with each leaf replaced by `leaf`, a type over that leaf of `param`.
    fn with_leaves(&self, param: GenericId, tree: &Ty, leaf: &Ty) -> Option<Ty> {
        let each = |t: &Ty| self.with_leaves(param, t, leaf);
        Some(match tree {
            Ty::Tensor(elem, shape) => Subst {
                args: self.args,
                leaf: Some((param, elem, shape)),
            }
            .ty(leaf)?,
            Ty::Tuple(fields) => Ty::Tuple(fields.iter().map(each).collect::<Option<_>>()?),
            Ty::Record(fields) => Ty::Record(
                fields
                    .iter()
                    .map(|(n, t)| Some((n.clone(), each(t)?)))
                    .collect::<Option<_>>()?,
            ),
            Ty::Tree { param, .. } => Ty::Tree {
                param: *param,
                leaf: Some(Box::new(self.ty(leaf)?)),
            },
            Ty::Fn(..) | Ty::Var(_) | Ty::Error => tree.clone(),
        })
    }
}

/// A generic parameter as an argument: it stands for itself.
pub fn parameter(kind: GenericKind, id: GenericId) -> GenericArg {
    match kind {
        GenericKind::Dim => GenericArg::Dim(Dim::param(id)),
        GenericKind::Spread => GenericArg::Spread(vec![ShapeItem::Spread(id)]),
        GenericKind::Tree => GenericArg::Tree(Ty::Tree {
            param: id,
            leaf: None,
        }),
        GenericKind::Float | GenericKind::Int | GenericKind::Num => {
            GenericArg::Elem(ElemTy::Param(id))
        }
    }
}

/// The leaves of a tree in order, each with its dotted path. A rigid tree is one leaf.
pub fn leaves(ty: &Ty) -> Vec<(String, Ty)> {
    fn go(ty: &Ty, path: &str, out: &mut Vec<(String, Ty)>) {
        let join = |name: &str| {
            if path.is_empty() {
                name.to_string()
            } else {
                format!("{path}.{name}")
            }
        };
        match ty {
            Ty::Tuple(fields) => {
                for (i, t) in fields.iter().enumerate() {
                    go(t, &join(&i.to_string()), out);
                }
            }
            Ty::Record(fields) => {
                for (n, t) in fields {
                    go(t, &join(n), out);
                }
            }
            Ty::Tensor(..) | Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
                out.push((path.to_string(), ty.clone()));
            }
        }
    }
    let mut out = Vec::new();
    go(ty, "", &mut out);
    out
}

/// The same structure with each leaf replaced.
pub fn map_leaves(ty: &Ty, f: &mut impl FnMut(&Ty) -> Ty) -> Ty {
    match ty {
        Ty::Tuple(fields) => Ty::Tuple(fields.iter().map(|t| map_leaves(t, f)).collect()),
        Ty::Record(fields) => Ty::Record(
            fields
                .iter()
                .map(|(n, t): &(Name, Ty)| (n.clone(), map_leaves(t, f)))
                .collect(),
        ),
        Ty::Tensor(..) | Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => f(ty),
    }
}

/// Whether an error stands anywhere in it.
pub fn has_error(ty: &Ty) -> bool {
    match ty {
        Ty::Error => true,
        Ty::Tuple(fields) => fields.iter().any(has_error),
        Ty::Record(fields) => fields.iter().any(|(_, t)| has_error(t)),
        Ty::Fn(params, ret) => params.iter().any(has_error) || has_error(ret),
        Ty::Tree { leaf, .. } => leaf.as_deref().is_some_and(has_error),
        Ty::Tensor(..) | Ty::Var(_) => false,
    }
}

/// Whether a type depends on the parameters of the function it stands in.
pub fn mentions_parameters(ty: &Ty) -> bool {
    Glance::of(ty).is_generic
}
