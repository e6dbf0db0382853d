//! The arguments of a builtin call as read, and the attributes that rules make of them.

use super::Row;
use crate::check::cx::bad;
use crate::check::shape;
use crate::span::Span;
use crate::typed::{Attr, Dim, ElemTy, Expr, Shape, Static};
use std::rc::Rc;

/// An argument as read.
#[derive(Clone, Debug)]
pub enum Given {
    Absent,
    Value(Expr),
    Values(Vec<Expr>),
    Int(Dim),
    /// `scalar`: whether it was one integer, not a list.
    Ints {
        list: Vec<Dim>,
        scalar: bool,
    },
    Shape(Shape),
    Pads(Vec<(Dim, Dim)>),
    Flag(bool),
    Real(f64),
    Elem(ElemTy),
    Text(Rc<str>),
    MeshAxes(Vec<Option<String>>),
}

/// The arguments of one call, in the order of the row's parameters.
pub struct Args {
    pub row: &'static Row,
    pub given: Vec<Given>,
    pub span: Span,
}

impl Args {
    /// The operand at a position; the row says that there is one.
    pub fn value(&mut self, i: usize) -> Expr {
        match std::mem::replace(&mut self.given[i], Given::Absent) {
            Given::Value(e) => e,
            _ => bad(self.span),
        }
    }

    pub fn values(&mut self, i: usize) -> Vec<Expr> {
        match std::mem::replace(&mut self.given[i], Given::Absent) {
            Given::Values(es) => es,
            Given::Value(e) => vec![e],
            _ => Vec::new(),
        }
    }

    pub fn int(&self, i: usize) -> Option<Dim> {
        match &self.given[i] {
            Given::Int(d) => Some(d.clone()),
            _ => None,
        }
    }

    pub fn ints(&self, i: usize) -> Option<(Vec<Dim>, bool)> {
        match &self.given[i] {
            Given::Ints { list, scalar } => Some((list.clone(), *scalar)),
            _ => None,
        }
    }

    pub fn shape(&self, i: usize) -> Option<Shape> {
        match &self.given[i] {
            Given::Shape(s) => Some(s.clone()),
            _ => None,
        }
    }

    pub fn flag(&self, i: usize) -> bool {
        matches!(self.given[i], Given::Flag(true))
    }

    pub fn real(&self, i: usize) -> Option<f64> {
        match self.given[i] {
            Given::Real(x) => Some(x),
            _ => None,
        }
    }

    pub fn elem(&self, i: usize) -> Option<ElemTy> {
        match &self.given[i] {
            Given::Elem(e) => Some(e.clone()),
            _ => None,
        }
    }

    pub fn text(&self, i: usize) -> Option<Rc<str>> {
        match &self.given[i] {
            Given::Text(t) => Some(t.clone()),
            _ => None,
        }
    }
}

pub fn int_attr(name: &'static str, value: i64) -> Attr {
    Attr {
        name,
        value: Static::Int(Dim::int(value)),
    }
}

pub fn dim_attr(name: &'static str, value: Dim) -> Attr {
    Attr {
        name,
        value: Static::Int(value),
    }
}

pub fn ints_attr(name: &'static str, values: impl IntoIterator<Item = i64>) -> Attr {
    Attr {
        name,
        value: Static::Shape(shape::of_dims(values.into_iter().map(Dim::int))),
    }
}

pub fn shape_attr(name: &'static str, shape: Shape) -> Attr {
    Attr {
        name,
        value: Static::Shape(shape),
    }
}

/// Low and high padding of each dimension, in one list.
pub fn pads_attr(name: &'static str, pads: Vec<(Dim, Dim)>) -> Attr {
    let flat = pads.into_iter().flat_map(|(low, high)| [low, high]);
    shape_attr(name, shape::of_dims(flat))
}

pub fn flag_attr(name: &'static str, value: bool) -> Attr {
    Attr {
        name,
        value: Static::Bool(value),
    }
}
