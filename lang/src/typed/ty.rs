//! Types of the language.

use super::dim::{Atom, Dim, GenericId};
use super::glance::Glance;
use crate::ast::Name;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    F32,
    BF16,
    F16,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    /// A PRNG key.
    Key,
}

impl Elem {
    pub const ALL: [Elem; 14] = [
        Elem::F32,
        Elem::BF16,
        Elem::F16,
        Elem::F64,
        Elem::I8,
        Elem::I16,
        Elem::I32,
        Elem::I64,
        Elem::U8,
        Elem::U16,
        Elem::U32,
        Elem::U64,
        Elem::Bool,
        Elem::Key,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Elem::F32 => "f32",
            Elem::BF16 => "bf16",
            Elem::F16 => "f16",
            Elem::F64 => "f64",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::U8 => "u8",
            Elem::U16 => "u16",
            Elem::U32 => "u32",
            Elem::U64 => "u64",
            Elem::Bool => "bool",
            Elem::Key => "key",
        }
    }

    pub fn from_name(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.name() == name)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::BF16 | Elem::F16 | Elem::F64)
    }

    pub fn is_int(self) -> bool {
        matches!(
            self,
            Elem::I8
                | Elem::I16
                | Elem::I32
                | Elem::I64
                | Elem::U8
                | Elem::U16
                | Elem::U32
                | Elem::U64
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ElemTy {
    Known(Elem),
    /// A rigid element parameter, `D: float`.
    Param(GenericId),
    /// The element type of a leaf of the rigid tree parameter, inside a function mapped over it.
    LeafOf(GenericId),
    /// An inference variable of the checker (a literal's element, a parameter to infer); none is left after checking.
    Var(u32),
}

/// One entry of a shape.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShapeItem {
    Dim(Dim),
    /// A rigid `..S`.
    Spread(GenericId),
    /// All dimensions of a leaf of the rigid tree parameter.
    LeafOf(GenericId),
    /// An inference variable for any number of dimensions; none is left after checking.
    Var(u32),
}

pub type Shape = Vec<ShapeItem>;

/// The number of elements; `None` on overflow, and where an inference variable is in the way.
pub fn elements(shape: &[ShapeItem]) -> Option<Dim> {
    shape.iter().try_fold(Dim::int(1), |n, item| match item {
        ShapeItem::Dim(d) => n.mul(d),
        ShapeItem::Spread(id) => n.mul(&Dim::atom(Atom::Elements(*id))),
        ShapeItem::LeafOf(id) => n.mul(&Dim::atom(Atom::LeafElements(*id))),
        ShapeItem::Var(_) => None,
    })
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// `f32[B, 784]`; rank 0 with an empty shape.
    Tensor(ElemTy, Shape),
    /// `()` is the empty tuple.
    Tuple(Vec<Ty>),
    /// Two records are equal when names, order and types are.
    Record(Fields),
    /// A rigid `T: tree`, each leaf replaced by `leaf` (over [`ElemTy::LeafOf`] and [`ShapeItem::LeafOf`]) if given.
    Tree {
        param: GenericId,
        leaf: Option<Box<Ty>>,
    },
    /// A function, resolved at compile time.
    Fn(Vec<Ty>, Box<Ty>),
    /// An inference variable of the checker; none is left after checking.
    Var(u32),
    /// Already reported; fits everything.
    Error,
}

impl Ty {
    pub fn scalar(elem: Elem) -> Ty {
        Ty::Tensor(ElemTy::Known(elem), Vec::new())
    }

    /// A tensor of known sizes.
    pub fn tensor(elem: Elem, sizes: &[i64]) -> Ty {
        Ty::Tensor(
            ElemTy::Known(elem),
            sizes.iter().map(|&s| ShapeItem::Dim(Dim::int(s))).collect(),
        )
    }

    pub fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }
}

/// The fields of a record in the order of their declaration. Each use of a value has its type, so they are shared.
#[derive(Clone)]
pub struct Fields(Rc<Table>);

/// So many fields are looked through one by one.
const FEW: usize = 16;

struct Table {
    list: Box<[(Name, Ty)]>,
    /// Of many fields, where each stands; made when first asked for.
    places: OnceCell<HashMap<Name, usize>>,
    glance: Glance,
}

impl Fields {
    /// Where a field stands.
    pub fn place(&self, name: &str) -> Option<usize> {
        let list = &self.0.list;
        if list.len() <= FEW {
            return list.iter().position(|(n, _)| **n == *name);
        }
        let places = self.0.places.get_or_init(|| {
            let each = list.iter().enumerate();
            each.map(|(i, (n, _))| (n.clone(), i)).collect()
        });
        places.get(name).copied()
    }

    /// What their types say at a glance, all together.
    pub fn glance(&self) -> Glance {
        self.0.glance
    }

    /// Whether they are one and the same in memory, which says at once that they are equal.
    pub fn is(&self, other: &Fields) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Fields {
    type Target = [(Name, Ty)];

    fn deref(&self) -> &[(Name, Ty)] {
        &self.0.list
    }
}

impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.0.list.fmt(f)
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Fields) -> bool {
        self.is(other) || self.0.list == other.0.list
    }
}
impl Eq for Fields {}
impl std::hash::Hash for Fields {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.list.hash(state);
    }
}
impl PartialOrd for Fields {
    fn partial_cmp(&self, other: &Fields) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Fields {
    fn cmp(&self, other: &Fields) -> std::cmp::Ordering {
        self.0.list.cmp(&other.0.list)
    }
}

impl<'f> IntoIterator for &'f Fields {
    type Item = &'f (Name, Ty);
    type IntoIter = std::slice::Iter<'f, (Name, Ty)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.list.iter()
    }
}

impl FromIterator<(Name, Ty)> for Fields {
    fn from_iter<I: IntoIterator<Item = (Name, Ty)>>(fields: I) -> Fields {
        let list: Box<[(Name, Ty)]> = fields.into_iter().collect();
        Fields(Rc::new(Table {
            places: OnceCell::new(),
            glance: Glance::all(list.iter().map(|(_, t)| t)),
            list,
        }))
    }
}

/// What a generic parameter stands for at a use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GenericArg {
    Dim(Dim),
    Spread(Shape),
    Tree(Ty),
    Elem(ElemTy),
}
