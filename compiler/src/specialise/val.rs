//! Values while a program is specialised: trees of IR values, and functions known at compile time.

use super::frame::Frame;
use crate::ir::{Elem, Type, Value};
use std::rc::Rc;
use tpuc_lang::typed::{self, Callee, ElemTy, ShapeItem, Ty};

/// What an expression of the typed program stands for.
#[derive(Clone, Debug)]
pub enum Val {
    Tensor(Value),
    /// A tuple, or a record in the order of its type.
    Fields(Vec<Val>),
    /// A function with the variables it was made among.
    Closure(Rc<Closure>),
}

#[derive(Debug)]
pub struct Closure {
    pub callee: Callee,
    pub frame: Frame,
}

impl Val {
    pub fn unit() -> Val {
        Val::Fields(Vec::new())
    }

    /// The tensor of a value that the checker has typed as one.
    pub fn tensor(&self) -> Value {
        match self {
            Val::Tensor(v) => *v,
            Val::Fields(_) | Val::Closure(_) => {
                unreachable!("the checker has typed this value as a tensor")
            }
        }
    }

    /// The parts of a value that the checker has typed as a tuple or record.
    pub fn fields(&self) -> &[Val] {
        match self {
            Val::Fields(fields) => fields,
            Val::Tensor(_) | Val::Closure(_) => {
                unreachable!("the checker has typed this value as a tuple or record")
            }
        }
    }

    /// Tensors in order; functions have none.
    pub fn leaves(&self) -> Vec<Value> {
        let mut out = Vec::new();
        self.collect(&mut out);
        out
    }

    fn collect(&self, out: &mut Vec<Value>) {
        match self {
            Val::Tensor(v) => out.push(*v),
            Val::Fields(fields) => fields.iter().for_each(|f| f.collect(out)),
            Val::Closure(_) => {}
        }
    }

    /// The same structure over other tensors, taken from the front of `leaves`.
    pub fn rebuild(&self, leaves: &mut impl Iterator<Item = Value>) -> Val {
        match self {
            Val::Tensor(v) => Val::Tensor(leaves.next().unwrap_or(*v)),
            Val::Fields(fields) => Val::Fields(fields.iter().map(|f| f.rebuild(leaves)).collect()),
            Val::Closure(c) => Val::Closure(c.clone()),
        }
    }

    /// A value of a concrete type over tensors taken from the front of `leaves`, which must be enough.
    pub fn of_type(ty: &Ty, leaves: &mut impl Iterator<Item = Value>) -> Val {
        match ty {
            Ty::Tuple(fields) => {
                Val::Fields(fields.iter().map(|t| Val::of_type(t, leaves)).collect())
            }
            Ty::Record(fields) => Val::Fields(
                fields
                    .iter()
                    .map(|(_, t)| Val::of_type(t, leaves))
                    .collect(),
            ),
            Ty::Tensor(..) | Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => {
                match leaves.next() {
                    Some(v) => Val::Tensor(v),
                    None => unreachable!("one leaf was made for each tensor of the type"),
                }
            }
        }
    }
}

/// The IR types of the leaves of a concrete type, in order.
pub fn leaf_types(ty: &Ty) -> Vec<Type> {
    let mut out = Vec::new();
    collect_leaf_types(ty, &mut out);
    out
}

fn collect_leaf_types(ty: &Ty, out: &mut Vec<Type>) {
    match ty {
        Ty::Tensor(elem, shape) => out.push(tensor_type(elem, shape)),
        Ty::Tuple(fields) => fields.iter().for_each(|t| collect_leaf_types(t, out)),
        Ty::Record(fields) => fields.iter().for_each(|(_, t)| collect_leaf_types(t, out)),
        Ty::Fn(..) => {}
        Ty::Tree { .. } | Ty::Var(_) | Ty::Error => unreachable!("the type is concrete"),
    }
}

/// The IR type of a concrete tensor type; a key is its two words, on a last axis.
pub fn tensor_type(elem: &ElemTy, shape: &[ShapeItem]) -> Type {
    let mut sizes = sizes(shape);
    let elem = match elem {
        ElemTy::Known(e) => elem_type(*e),
        ElemTy::Param(_) | ElemTy::LeafOf(_) | ElemTy::Var(_) => {
            unreachable!("the type is concrete")
        }
    };
    match elem {
        Some(elem) => Type::new(elem, sizes),
        None => {
            sizes.push(2);
            Type::new(Elem::U32, sizes)
        }
    }
}

/// The sizes of a concrete shape.
pub fn sizes(shape: &[ShapeItem]) -> Vec<usize> {
    let size = |item: &ShapeItem| match item {
        ShapeItem::Dim(d) => d.as_int().and_then(|n| usize::try_from(n).ok()),
        ShapeItem::Spread(_) | ShapeItem::LeafOf(_) | ShapeItem::Var(_) => None,
    };
    shape
        .iter()
        .map(|item| size(item).unwrap_or_else(|| unreachable!("the shape is concrete: {shape:?}")))
        .collect()
}

/// `None` for a key.
pub fn elem_type(elem: typed::Elem) -> Option<Elem> {
    match elem {
        typed::Elem::F32 => Some(Elem::F32),
        typed::Elem::BF16 => Some(Elem::BF16),
        typed::Elem::F16 => Some(Elem::F16),
        typed::Elem::F64 => Some(Elem::F64),
        typed::Elem::I8 => Some(Elem::I8),
        typed::Elem::I16 => Some(Elem::I16),
        typed::Elem::I32 => Some(Elem::I32),
        typed::Elem::I64 => Some(Elem::I64),
        typed::Elem::U8 => Some(Elem::U8),
        typed::Elem::U16 => Some(Elem::U16),
        typed::Elem::U32 => Some(Elem::U32),
        typed::Elem::U64 => Some(Elem::U64),
        typed::Elem::Bool => Some(Elem::Bool),
        typed::Elem::Key => None,
    }
}
