//! Inference variables and unification.
//!
//! Variables stand for the element of a literal, and for the generic parameters of a function while a call to it is
//! checked. The parameters of the function being checked itself are rigid: they unify with themselves only.

use super::poly;
use crate::ast::{GenericKind, Name};
use crate::typed::{Atom, Dim, Elem, ElemTy, Generic, GenericArg, GenericId, Shape, ShapeItem, Ty};
use std::collections::HashMap;

/// Which elements a variable may stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Class {
    #[default]
    Any,
    Num,
    Int,
    Float,
}

impl Class {
    /// The elements that are in both.
    fn meet(self, other: Class) -> Option<Class> {
        match (self, other) {
            (Class::Any, c) | (c, Class::Any) | (Class::Num, c) | (c, Class::Num) => Some(c),
            (a, b) => (a == b).then_some(a),
        }
    }

    pub fn of(kind: GenericKind) -> Class {
        match kind {
            GenericKind::Float => Class::Float,
            GenericKind::Int => Class::Int,
            GenericKind::Num => Class::Num,
            GenericKind::Dim | GenericKind::Spread | GenericKind::Tree => Class::Any,
        }
    }

    /// What a literal of the class is on its own.
    fn default(self) -> Elem {
        match self {
            Class::Float => Elem::F32,
            Class::Any | Class::Num | Class::Int => Elem::I32,
        }
    }

    pub fn has(self, elem: Elem) -> bool {
        match self {
            Class::Any => true,
            Class::Num => elem.is_float() || elem.is_int(),
            Class::Int => elem.is_int(),
            Class::Float => elem.is_float(),
        }
    }

    /// Whether every element of `self` is one of `other`.
    fn within(self, other: Class) -> bool {
        self.meet(other) == Some(self)
    }
}

#[derive(Clone, Debug)]
struct ElemVar {
    bound: Option<ElemTy>,
    class: Class,
    /// Whether a literal stands behind it, so that it may take its default.
    literal: bool,
}

/// Why two types do not unify, at the place where they first differ.
#[derive(Clone, Debug, PartialEq)]
pub enum Clash {
    /// A tensor against a record, a tuple of two against one of three, …
    Kind,
    Elem,
    Rank,
    Dim(Dim, Dim),
    /// Records with other field names.
    Fields,
    /// `2*N` against 7: not a whole number.
    Inexact(Dim, Dim),
}

pub type Unify = Result<(), Clash>;

#[derive(Clone, Debug, Default)]
pub struct Infer {
    elems: Vec<ElemVar>,
    dims: Vec<Option<Dim>>,
    shapes: Vec<Option<Shape>>,
    types: Vec<Option<Ty>>,
    /// No literal before this one is open.
    settled: usize,
    /// Equations with more than one unknown, tried again at the end of the call.
    deferred: Vec<(Dim, Dim)>,
    /// Kinds of the rigid parameters of the function being checked.
    kinds: Vec<GenericKind>,
    /// What the leaves of its rigid trees are taken to be.
    leaves: Class,
}

impl Infer {
    pub fn new(generics: &[Generic]) -> Infer {
        Infer {
            kinds: generics.iter().map(|g| g.kind).collect(),
            leaves: Class::Float,
            ..Infer::default()
        }
    }

    /// The element of a literal, or of what has a default like one.
    pub fn literal(&mut self, class: Class) -> ElemTy {
        self.elem_var(class, true)
    }

    fn elem_var(&mut self, class: Class, literal: bool) -> ElemTy {
        self.elems.push(ElemVar {
            bound: None,
            class,
            literal,
        });
        ElemTy::Var(self.elems.len() as u32 - 1)
    }

    /// What the leaves of rigid trees are taken to be.
    pub fn leaves(&self) -> Class {
        self.leaves
    }

    pub fn take_leaves_for(&mut self, class: Class) {
        self.leaves = class;
    }

    /// What a type variable is bound to.
    pub fn type_of_var(&self, v: u32) -> Option<&Ty> {
        self.types[v as usize].as_ref()
    }

    pub fn type_var(&mut self) -> Ty {
        self.types.push(None);
        Ty::Var(self.types.len() as u32 - 1)
    }

    /// A variable for a generic parameter; solved dimensions keep the name of what they were solved to.
    pub fn instantiate(&mut self, generic: &Generic) -> GenericArg {
        match generic.kind {
            GenericKind::Dim => {
                self.dims.push(None);
                GenericArg::Dim(Dim::atom(Atom::Var(self.dims.len() as u32 - 1)))
            }
            GenericKind::Spread => {
                self.shapes.push(None);
                GenericArg::Spread(vec![ShapeItem::Var(self.shapes.len() as u32 - 1)])
            }
            GenericKind::Tree => GenericArg::Tree(self.type_var()),
            kind @ (GenericKind::Float | GenericKind::Int | GenericKind::Num) => {
                GenericArg::Elem(self.elem_var(Class::of(kind), false))
            }
        }
    }

    /// How many element variables there are: those made later belong to what is checked later.
    pub fn mark(&self) -> usize {
        self.elems.len()
    }

    /// Gives the literals made since `mark` that met nothing their default.
    pub fn settle(&mut self, mark: usize) {
        for var in &mut self.elems[mark..] {
            if var.bound.is_none() && var.literal {
                var.bound = Some(ElemTy::Known(var.class.default()));
            }
        }
    }

    /// Gives one element its default, where it is that of a literal which has met nothing yet.
    pub fn settle_elem(&mut self, elem: &ElemTy) -> ElemTy {
        if let ElemTy::Var(v) = self.elem(elem) {
            let var = &mut self.elems[v as usize];
            if var.literal {
                var.bound = Some(ElemTy::Known(var.class.default()));
            }
        }
        self.elem(elem)
    }

    /// What each literal that has met nothing yet would become, for messages.
    pub fn defaults(&mut self) -> HashMap<u32, Elem> {
        let is_open = |v: &ElemVar| v.bound.is_none() && v.literal;
        // What has been settled stays so.
        let settled = self.elems[self.settled..]
            .iter()
            .take_while(|v| !is_open(v));
        self.settled += settled.count();
        let rest = self.elems.iter().enumerate().skip(self.settled);
        rest.filter(|(_, v)| is_open(v))
            .map(|(i, v)| (i as u32, v.class.default()))
            .collect()
    }

    // What is known so far.

    pub fn elem(&self, elem: &ElemTy) -> ElemTy {
        let mut elem = elem;
        while let ElemTy::Var(v) = elem {
            match &self.elems[*v as usize].bound {
                Some(bound) => elem = bound,
                None => break,
            }
        }
        elem.clone()
    }

    /// The default an unsolved literal would take; `None` for anything else.
    pub fn literal_class(&self, elem: &ElemTy) -> Option<Class> {
        match self.elem(elem) {
            ElemTy::Var(v) if self.elems[v as usize].literal => Some(self.elems[v as usize].class),
            _ => None,
        }
    }

    /// Whether the element is known to be of the class; an unsolved variable counts by its own class.
    pub fn is(&self, elem: &ElemTy, class: Class) -> bool {
        match self.elem(elem) {
            ElemTy::Known(e) => class.has(e),
            ElemTy::LeafOf(_) => self.leaves.within(class),
            ElemTy::Param(g) => self.rigid_class(g).within(class),
            ElemTy::Var(v) => self.elems[v as usize].class.within(class),
        }
    }

    fn rigid_class(&self, g: GenericId) -> Class {
        self.kinds
            .get(g.0 as usize)
            .map_or(Class::Any, |&k| Class::of(k))
    }

    pub fn dim(&self, dim: &Dim) -> Dim {
        if !poly::has_var(dim) {
            return dim.clone();
        }
        let lookup = |atom: &Atom| match atom {
            Atom::Var(v) => self.dims[*v as usize].as_ref().map(|d| self.dim(d)),
            Atom::Param(_) | Atom::Elements(_) | Atom::LeafElements(_) | Atom::Quot(..) => None,
        };
        // A lone variable keeps the name of its solution.
        if let Some(Atom::Var(v)) = poly::single_atom(dim)
            && let Some(d) = &self.dims[*v as usize]
        {
            return self.dim(d);
        }
        dim.substitute(&lookup).unwrap_or_else(|| dim.clone())
    }

    pub fn shape(&self, shape: &[ShapeItem]) -> Shape {
        let mut out = Vec::with_capacity(shape.len());
        for item in shape {
            match item {
                ShapeItem::Dim(d) => out.push(ShapeItem::Dim(self.dim(d))),
                ShapeItem::Var(v) => match &self.shapes[*v as usize] {
                    Some(items) => out.extend(self.shape(items)),
                    None => out.push(item.clone()),
                },
                ShapeItem::Spread(_) | ShapeItem::LeafOf(_) => out.push(item.clone()),
            }
        }
        out
    }

    pub fn ty(&self, ty: &Ty) -> Ty {
        match ty {
            Ty::Tensor(elem, shape) => Ty::Tensor(self.elem(elem), self.shape(shape)),
            Ty::Tuple(fields) => Ty::Tuple(fields.iter().map(|t| self.ty(t)).collect()),
            Ty::Record(fields) if fields.glance().is_open => {
                let each = fields.iter().map(|(n, t)| (n.clone(), self.ty(t)));
                Ty::Record(each.collect())
            }
            // By far the most records have nothing to resolve, and stay shared.
            Ty::Record(_) => ty.clone(),
            Ty::Tree { param, leaf } => Ty::Tree {
                param: *param,
                leaf: leaf.as_ref().map(|l| Box::new(self.ty(l))),
            },
            Ty::Fn(params, ret) => Ty::Fn(
                params.iter().map(|t| self.ty(t)).collect(),
                Box::new(self.ty(ret)),
            ),
            Ty::Var(v) => match &self.types[*v as usize] {
                Some(bound) => self.ty(bound),
                None => ty.clone(),
            },
            Ty::Error => Ty::Error,
        }
    }

    /// Only as deep as needed to see what kind of type it is.
    pub fn head(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Var(v) = ty {
            match &self.types[*v as usize] {
                Some(bound) => ty = bound,
                None => break,
            }
        }
        ty.clone()
    }

    pub fn generic_arg(&self, arg: &GenericArg) -> GenericArg {
        match arg {
            GenericArg::Dim(d) => GenericArg::Dim(self.dim(d)),
            GenericArg::Spread(s) => GenericArg::Spread(self.shape(s)),
            GenericArg::Tree(t) => GenericArg::Tree(self.ty(t)),
            GenericArg::Elem(e) => GenericArg::Elem(self.elem(e)),
        }
    }

    /// Whether nothing is left open that only the call at hand could still tell.
    pub fn is_solved(&self, arg: &GenericArg) -> bool {
        match arg {
            GenericArg::Dim(d) => !poly::has_var(&self.dim(d)),
            GenericArg::Spread(s) => self
                .shape(s)
                .iter()
                .all(|i| !matches!(i, ShapeItem::Var(_))),
            GenericArg::Tree(t) => !matches!(self.head(t), Ty::Var(_)),
            GenericArg::Elem(e) => match self.elem(e) {
                ElemTy::Var(v) => self.elems[v as usize].literal,
                _ => true,
            },
        }
    }

    // Unification.

    pub fn unify(&mut self, a: &Ty, b: &Ty) -> Unify {
        let (a, b) = (self.head(a), self.head(b));
        match (&a, &b) {
            (Ty::Error, _) | (_, Ty::Error) => Ok(()),
            (Ty::Var(v), Ty::Var(w)) if v == w => Ok(()),
            (Ty::Var(v), other) | (other, Ty::Var(v)) => {
                self.types[*v as usize] = Some(other.clone());
                Ok(())
            }
            (Ty::Tensor(d, s), Ty::Tensor(e, t)) => {
                self.unify_elem(d, e)?;
                self.unify_shape(s, t)
            }
            (Ty::Tuple(x), Ty::Tuple(y)) if x.len() == y.len() => {
                x.iter().zip(y).try_for_each(|(x, y)| self.unify(x, y))
            }
            (Ty::Record(x), Ty::Record(y)) if x.is(y) => Ok(()),
            (Ty::Record(x), Ty::Record(y)) => {
                if x.len() != y.len() || x.iter().zip(y).any(|((n, _), (m, _))| n != m) {
                    return Err(Clash::Fields);
                }
                x.iter()
                    .zip(y)
                    .try_for_each(|((_, x), (_, y))| self.unify(x, y))
            }
            (Ty::Tree { param: p, leaf: x }, Ty::Tree { param: q, leaf: y }) if p == q => {
                match (x, y) {
                    (None, None) => Ok(()),
                    (Some(x), Some(y)) => self.unify(x, y),
                    _ => Err(Clash::Kind),
                }
            }
            (Ty::Fn(x, r), Ty::Fn(y, s)) if x.len() == y.len() => {
                x.iter().zip(y).try_for_each(|(x, y)| self.unify(x, y))?;
                self.unify(r, s)
            }
            _ => Err(Clash::Kind),
        }
    }

    pub fn unify_elem(&mut self, a: &ElemTy, b: &ElemTy) -> Unify {
        let (a, b) = (self.elem(a), self.elem(b));
        if a == b {
            return Ok(());
        }
        match (&a, &b) {
            (ElemTy::Var(v), ElemTy::Var(w)) => {
                let class = self.elems[*v as usize]
                    .class
                    .meet(self.elems[*w as usize].class)
                    .ok_or(Clash::Elem)?;
                // The older one stays: a statement settles only what is its own.
                let (old, new) = (*v.min(w), *v.max(w));
                let literal = self.elems[new as usize].literal;
                self.elems[old as usize].class = class;
                self.elems[old as usize].literal |= literal;
                self.elems[new as usize].bound = Some(ElemTy::Var(old));
                Ok(())
            }
            (ElemTy::Var(v), other) | (other, ElemTy::Var(v)) => {
                if !self.is(other, self.elems[*v as usize].class) {
                    return Err(Clash::Elem);
                }
                self.elems[*v as usize].bound = Some(other.clone());
                Ok(())
            }
            _ => Err(Clash::Elem),
        }
    }

    /// Makes an element one of a class; a literal's variable is narrowed.
    pub fn require(&mut self, elem: &ElemTy, class: Class) -> Unify {
        match self.elem(elem) {
            ElemTy::Var(v) => {
                let var = &mut self.elems[v as usize];
                var.class = var.class.meet(class).ok_or(Clash::Elem)?;
                Ok(())
            }
            known if self.is(&known, class) => Ok(()),
            _ => Err(Clash::Elem),
        }
    }

    pub fn unify_shape(&mut self, a: &[ShapeItem], b: &[ShapeItem]) -> Unify {
        let (a, b) = (self.shape(a), self.shape(b));
        // Nothing is learned from shapes that cannot agree.
        if a.len() != b.len() && !a.iter().chain(&b).any(|i| self.is_open(i)) {
            return Err(Clash::Rank);
        }
        let (mut a, mut b) = (a.as_slice(), b.as_slice());
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            if self.is_open(x) || self.is_open(y) {
                break;
            }
            self.unify_item(x, y)?;
            (a, b) = (rest_a, rest_b);
        }
        while let ([rest_a @ .., x], [rest_b @ .., y]) = (a, b) {
            if self.is_open(x) || self.is_open(y) {
                break;
            }
            self.unify_item(x, y)?;
            (a, b) = (rest_a, rest_b);
        }
        match (a, b) {
            ([], []) => Ok(()),
            ([ShapeItem::Var(v)], [ShapeItem::Var(w)]) if v == w => Ok(()),
            ([ShapeItem::Var(v)], rest) | (rest, [ShapeItem::Var(v)]) => {
                self.shapes[*v as usize] = Some(rest.to_vec());
                Ok(())
            }
            _ => match self.repeated(a, b).or_else(|| self.repeated(b, a)) {
                Some((v, each)) => {
                    self.shapes[v as usize] = Some(each);
                    self.unify_shape(a, b)
                }
                None => Err(Clash::Rank),
            },
        }
    }

    /// What a `..S` stands for that is in `some` more than once, all of `whole` being known: as many dimensions each time.
    fn repeated(&self, some: &[ShapeItem], whole: &[ShapeItem]) -> Option<(u32, Shape)> {
        let at = some.iter().position(|i| self.is_open(i))?;
        let ShapeItem::Var(v) = some[at] else {
            return None;
        };
        let times = some.iter().filter(|i| self.is_open(i)).count();
        let is_known = |i: &ShapeItem| !self.is_open(i);
        let is_it = |i: &ShapeItem| is_known(i) || *i == some[at];
        if !some.iter().all(is_it) || !whole.iter().all(is_known) {
            return None;
        }
        let rest = whole.len().checked_sub(some.len() - times)?;
        let each = whole.get(at..at + rest / times)?;
        (rest % times == 0).then(|| (v, each.to_vec()))
    }

    fn is_open(&self, item: &ShapeItem) -> bool {
        matches!(item, ShapeItem::Var(_))
    }

    fn unify_item(&mut self, a: &ShapeItem, b: &ShapeItem) -> Unify {
        match (a, b) {
            (ShapeItem::Dim(x), ShapeItem::Dim(y)) => self.unify_dim(x, y),
            (x, y) if x == y => Ok(()),
            _ => Err(Clash::Rank),
        }
    }

    pub fn unify_dim(&mut self, a: &Dim, b: &Dim) -> Unify {
        let (a, b) = (self.dim(a), self.dim(b));
        if poly::equal(&a, &b) {
            return Ok(());
        }
        let difference = a.sub(&b).ok_or_else(|| Clash::Dim(a.clone(), b.clone()))?;
        match poly::variables(&difference).as_slice() {
            [] => Err(Clash::Dim(a, b)),
            [v] => {
                // A lone variable takes the other side as it is, with its name.
                let solution = match (poly::single_atom(&a), poly::single_atom(&b)) {
                    (Some(Atom::Var(_)), _) => Some(b.clone()),
                    (_, Some(Atom::Var(_))) => Some(a.clone()),
                    // A size is not negative.
                    _ => poly::solve(&difference, *v).filter(|d| d.as_int().is_none_or(|n| n >= 0)),
                };
                match solution {
                    Some(d) => {
                        self.dims[*v as usize] = Some(d);
                        Ok(())
                    }
                    None => Err(Clash::Inexact(a, b)),
                }
            }
            _ => {
                // A lone variable can be the other side even when that has unknowns of its own.
                match (poly::single_atom(&a), poly::single_atom(&b)) {
                    (Some(Atom::Var(v)), _) => self.dims[*v as usize] = Some(b),
                    (_, Some(Atom::Var(v))) => self.dims[*v as usize] = Some(a),
                    _ => self.deferred.push((a, b)),
                }
                Ok(())
            }
        }
    }

    /// How many equations are deferred: those to come belong to the call that begins here, or to calls inside it.
    pub fn deferred(&self) -> usize {
        self.deferred.len()
    }

    /// Tries the equations deferred since then until nothing more comes of them.
    pub fn solve_deferred(&mut self, since: usize) -> Unify {
        loop {
            let before = self.deferred.len();
            for (a, b) in self.deferred.split_off(since) {
                self.unify_dim(&a, &b)?;
            }
            if self.deferred.len() == before || self.deferred.len() == since {
                return Ok(());
            }
        }
    }

    /// At the end of a call: what it could not tell, nothing can.
    pub fn drop_deferred(&mut self, since: usize) {
        self.deferred.truncate(since);
    }
}

/// The name and kind of the parameters, for messages.
pub fn generic_names(generics: &[Generic]) -> Vec<Name> {
    generics.iter().map(|g| g.name.clone()).collect()
}
