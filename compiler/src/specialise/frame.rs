//! The environment of one function body while it is specialised, and the substitution of its generic parameters.

use super::error::{BuildError, Result};
use super::val::Val;
use std::collections::HashMap;
use std::rc::Rc;
use tpuc_lang::span::Span;
use tpuc_lang::typed::{
    Atom, Dim, ElemTy, FnId, GenericArg, GenericId, LocalId, Shape, ShapeItem, Ty, elements,
};

#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The function whose body it is; `None` in `main` and tests.
    pub function: Option<FnId>,
    /// What the generic parameters stand for, concretely.
    pub generics: Rc<Vec<GenericArg>>,
    /// The leaf of a tree parameter that is being visited by `map` or `fold`.
    pub leaves: HashMap<GenericId, (ElemTy, Shape)>,
    pub locals: HashMap<LocalId, Val>,
}

impl Frame {
    /// The variable of a body that the checker has resolved.
    pub fn local(&self, id: LocalId) -> &Val {
        match self.locals.get(&id) {
            Some(val) => val,
            None => unreachable!("the checker binds a variable before its use"),
        }
    }

    /// A dimension's value. Fails where a quotient does not divide, on overflow, and below zero.
    pub fn size(&self, dim: &Dim, span: Span) -> Result<usize> {
        let value = self.int(dim, span)?;
        usize::try_from(value).map_err(|_| BuildError::NegativeSize { size: value }.at(span))
    }

    /// The value of a compile-time integer, of either sign.
    pub fn int(&self, dim: &Dim, span: Span) -> Result<i64> {
        self.dim(dim, span)?
            .as_int()
            .ok_or_else(|| BuildError::Inexact.at(span))
    }

    fn dim(&self, dim: &Dim, span: Span) -> Result<Dim> {
        let lookup = |atom: &Atom| match atom {
            Atom::Param(id) => match self.generics.get(id.0 as usize) {
                Some(GenericArg::Dim(d)) => Some(d.clone()),
                _ => None,
            },
            Atom::Elements(id) => match self.generics.get(id.0 as usize) {
                Some(GenericArg::Spread(items)) => elements(items),
                _ => None,
            },
            Atom::LeafElements(id) => self.leaves.get(id).and_then(|(_, s)| elements(s)),
            Atom::Var(_) | Atom::Quot(..) => None,
        };
        dim.substitute(&lookup)
            .ok_or_else(|| BuildError::Inexact.at(span))
    }

    pub fn elem(&self, elem: &ElemTy) -> ElemTy {
        match elem {
            ElemTy::Known(_) | ElemTy::Var(_) => elem.clone(),
            ElemTy::Param(id) => match self.generics.get(id.0 as usize) {
                Some(GenericArg::Elem(e)) => e.clone(),
                _ => elem.clone(),
            },
            ElemTy::LeafOf(id) => self
                .leaves
                .get(id)
                .map_or_else(|| elem.clone(), |(e, _)| e.clone()),
        }
    }

    pub fn shape(&self, shape: &[ShapeItem], span: Span) -> Result<Shape> {
        let mut out = Vec::new();
        for item in shape {
            match item {
                ShapeItem::Dim(d) => {
                    let size = self.size(d, span)?;
                    let mut named = Dim::int(size as i64);
                    named.origin = d.origin.clone();
                    out.push(ShapeItem::Dim(named));
                }
                ShapeItem::Spread(id) => match self.generics.get(id.0 as usize) {
                    Some(GenericArg::Spread(items)) => out.extend(items.iter().cloned()),
                    _ => out.push(item.clone()),
                },
                ShapeItem::LeafOf(id) => match self.leaves.get(id) {
                    Some((_, items)) => out.extend(items.iter().cloned()),
                    None => out.push(item.clone()),
                },
                ShapeItem::Var(_) => out.push(item.clone()),
            }
        }
        Ok(out)
    }

    /// The concrete type that a type of this body stands for.
    pub fn ty(&self, ty: &Ty, span: Span) -> Result<Ty> {
        Ok(match ty {
            Ty::Tensor(elem, shape) => {
                let (elem, shape) = (self.elem(elem), self.shape(shape, span)?);
                expect_addressable(&shape, span)?;
                Ty::Tensor(elem, shape)
            }
            Ty::Tuple(fields) => Ty::Tuple(
                fields
                    .iter()
                    .map(|t| self.ty(t, span))
                    .collect::<Result<_>>()?,
            ),
            Ty::Record(fields) => Ty::Record(
                fields
                    .iter()
                    .map(|(n, t)| Ok((n.clone(), self.ty(t, span)?)))
                    .collect::<Result<_>>()?,
            ),
            Ty::Tree { param, leaf } => {
                let tree = self.tree(*param);
                match leaf {
                    None => tree,
                    Some(leaf) => self.with_leaves(*param, &tree, leaf, span)?,
                }
            }
            Ty::Fn(params, ret) => Ty::Fn(
                params
                    .iter()
                    .map(|t| self.ty(t, span))
                    .collect::<Result<_>>()?,
                Box::new(self.ty(ret, span)?),
            ),
            Ty::Var(_) | Ty::Error => ty.clone(),
        })
    }

    pub fn arg(&self, arg: &GenericArg, span: Span) -> Result<GenericArg> {
        Ok(match arg {
            GenericArg::Dim(d) => GenericArg::Dim(Dim::int(self.size(d, span)? as i64)),
            GenericArg::Spread(s) => GenericArg::Spread(self.shape(s, span)?),
            GenericArg::Tree(t) => GenericArg::Tree(self.ty(t, span)?),
            GenericArg::Elem(e) => GenericArg::Elem(self.elem(e)),
        })
    }

    /// The concrete tree that a tree parameter stands for.
    pub fn tree(&self, param: GenericId) -> Ty {
        match self.generics.get(param.0 as usize) {
            Some(GenericArg::Tree(t)) => t.clone(),
            _ => unreachable!("the checker gives every tree parameter a tree"),
        }
    }

    /// This frame while the leaf of `param` being visited has the given type.
    pub fn at_leaf(&self, param: GenericId, elem: ElemTy, shape: Shape) -> Frame {
        let mut frame = self.clone();
        frame.leaves.insert(param, (elem, shape));
        frame
    }

    fn with_leaves(&self, param: GenericId, tree: &Ty, leaf: &Ty, span: Span) -> Result<Ty> {
        Ok(match tree {
            Ty::Tensor(elem, shape) => self
                .at_leaf(param, elem.clone(), shape.clone())
                .ty(leaf, span)?,
            Ty::Tuple(fields) => Ty::Tuple(
                fields
                    .iter()
                    .map(|t| self.with_leaves(param, t, leaf, span))
                    .collect::<Result<_>>()?,
            ),
            Ty::Record(fields) => Ty::Record(
                fields
                    .iter()
                    .map(|(n, t)| Ok((n.clone(), self.with_leaves(param, t, leaf, span)?)))
                    .collect::<Result<_>>()?,
            ),
            Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => tree.clone(),
        })
    }
}

/// No memory holds as many elements. What a builtin makes on the way to its result may still be some hundred times larger.
const MOST_ELEMENTS: u64 = 1 << 53;

/// Fails for a tensor that no memory holds. Sizes that are still open count as one.
fn expect_addressable(shape: &[ShapeItem], span: Span) -> Result<()> {
    let sizes = shape.iter().filter_map(|item| match item {
        ShapeItem::Dim(d) => d.as_int(),
        ShapeItem::Spread(_) | ShapeItem::LeafOf(_) | ShapeItem::Var(_) => None,
    });
    let sizes: Vec<u64> = sizes.map(i64::unsigned_abs).collect();
    // Not even where another size is 0: what is addressed is counted in strides.
    let count = sizes
        .iter()
        .try_fold(1u64, |n, &size| n.checked_mul(size.max(1)));
    if count.is_some_and(|n| n <= MOST_ELEMENTS) {
        return Ok(());
    }
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let what = format!("its sizes are [{}]", sizes.join(", "));
    Err(BuildError::TooLarge { what }.at(span))
}
