//! The static arguments of a builtin call, at concrete sizes.

use crate::specialise::error::Result;
use crate::specialise::frame::Frame;
use crate::specialise::val::sizes;
use tpuc_lang::span::Span;
use tpuc_lang::typed::{Attr, Dim, Elem, ElemTy, IndexItem, ShapeItem, Static};

/// A static argument whose dimensions have become numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    Int(i64),
    Ints(Vec<i64>),
    Bool(bool),
    Float(f64),
    Str(String),
    Elem(Elem),
    Axes(Vec<Option<String>>),
    Index(Vec<Index>),
}

/// One bracket position of an index.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    At(i64),
    Tensor,
    Range {
        lo: Option<i64>,
        hi: Option<i64>,
        step: Option<i64>,
    },
    Rest,
    NewAxis,
}

/// By the name they have in the language.
#[derive(Clone, Debug, Default)]
pub struct Attrs(Vec<(&'static str, Arg)>);

impl Attrs {
    pub fn resolve(frame: &Frame, attrs: &[Attr], span: Span) -> Result<Attrs> {
        let mut out = Vec::new();
        for attr in attrs {
            out.push((attr.name, resolve(frame, &attr.value, span)?));
        }
        Ok(Attrs(out))
    }

    pub fn get(&self, name: &str) -> Option<&Arg> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, a)| a)
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name)? {
            Arg::Int(n) => Some(*n),
            Arg::Ints(v) if v.len() == 1 => Some(v[0]),
            _ => None,
        }
    }

    pub fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.get(name)? {
            Arg::Int(n) => Some(vec![*n]),
            Arg::Ints(v) => Some(v.clone()),
            _ => None,
        }
    }

    pub fn float(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Arg::Float(x) => Some(*x),
            Arg::Int(n) => Some(*n as f64),
            _ => None,
        }
    }

    /// Absent is false.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Arg::Bool(true)))
    }

    pub fn str(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Arg::Str(s) => Some(s),
            _ => None,
        }
    }

    /// Axes of a tensor of `rank` from `axis=`, counted from 0, ascending; absent: all of them.
    pub fn axes(&self, rank: usize) -> Vec<usize> {
        let mut axes = match self.ints("axis") {
            Some(v) => v.into_iter().map(|a| wrap(a, rank)).collect(),
            None => (0..rank).collect::<Vec<_>>(),
        };
        axes.sort_unstable();
        axes
    }

    /// The single axis `axis=`, or `default`, counted from 0.
    pub fn axis(&self, rank: usize, default: i64) -> usize {
        wrap(self.int("axis").unwrap_or(default), rank)
    }
}

/// A possibly negative axis of a tensor of `rank`; the checker has checked that it is one.
pub fn wrap(axis: i64, rank: usize) -> usize {
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(axis).unwrap_or(0)
}

fn resolve(frame: &Frame, value: &Static, span: Span) -> Result<Arg> {
    let int = |d: &Dim| frame.int(d, span);
    let bound = |d: &Option<Dim>| d.as_ref().map(|d| frame.int(d, span)).transpose();
    Ok(match value {
        Static::Int(d) => Arg::Int(int(d)?),
        Static::Shape(items) => Arg::Ints(ints(frame, items, span)?),
        Static::Bool(b) => Arg::Bool(*b),
        Static::Float(x) => Arg::Float(*x),
        Static::Str(s) => Arg::Str(s.clone()),
        Static::Elem(e) => match frame.elem(e) {
            ElemTy::Known(e) => Arg::Elem(e),
            other => unreachable!("the element type is concrete: {other:?}"),
        },
        Static::Axes(axes) => Arg::Axes(axes.clone()),
        Static::Index(items) => Arg::Index(
            items
                .iter()
                .map(|item| {
                    Ok(match item {
                        IndexItem::At(d) => Index::At(int(d)?),
                        IndexItem::Tensor => Index::Tensor,
                        IndexItem::Range { lo, hi, step } => Index::Range {
                            lo: bound(lo)?,
                            hi: bound(hi)?,
                            step: bound(step)?,
                        },
                        IndexItem::Rest => Index::Rest,
                        IndexItem::NewAxis => Index::NewAxis,
                    })
                })
                .collect::<Result<_>>()?,
        ),
    })
}

/// Axes may be negative, so a list of plain dimensions is read as integers; one with spreads is a shape.
fn ints(frame: &Frame, items: &[ShapeItem], span: Span) -> Result<Vec<i64>> {
    if items.iter().all(|i| matches!(i, ShapeItem::Dim(_))) {
        let each = items.iter().filter_map(|i| match i {
            ShapeItem::Dim(d) => Some(frame.int(d, span)),
            ShapeItem::Spread(_) | ShapeItem::LeafOf(_) | ShapeItem::Var(_) => None,
        });
        return each.collect();
    }
    let shape = frame.shape(items, span)?;
    Ok(sizes(&shape).into_iter().map(|n| n as i64).collect())
}
