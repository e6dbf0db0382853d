//! Element types, tensor types and constant data.

use std::fmt;

/// The element of a tensor in the IR. A PRNG key of the language is `u32[2]` here.
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
}

impl Elem {
    pub const ALL: [Elem; 13] = [
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
    ];

    /// As in `.tl` source and in the printed IR.
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
        }
    }

    pub fn from_name(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.name() == name)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Elem::F32 | Elem::BF16 | Elem::F16 | Elem::F64)
    }

    pub fn is_signed_int(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    pub fn is_unsigned_int(self) -> bool {
        matches!(self, Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64)
    }

    pub fn is_int(self) -> bool {
        self.is_signed_int() || self.is_unsigned_int()
    }

    /// Width of the value in bits; a bool counts 8, as it is stored.
    pub fn bits(self) -> usize {
        self.bytes() * 8
    }

    /// Bytes of one stored element.
    pub fn bytes(self) -> usize {
        match self {
            Elem::I8 | Elem::U8 | Elem::Bool => 1,
            Elem::BF16 | Elem::F16 | Elem::I16 | Elem::U16 => 2,
            Elem::F32 | Elem::I32 | Elem::U32 => 4,
            Elem::F64 | Elem::I64 | Elem::U64 => 8,
        }
    }
}

pub type Shape = Vec<usize>;

/// A tensor's element type and static shape; rank 0 is a scalar.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    pub elem: Elem,
    pub shape: Shape,
}

impl Type {
    pub fn new(elem: Elem, shape: impl Into<Shape>) -> Self {
        Type {
            elem,
            shape: shape.into(),
        }
    }

    pub fn scalar(elem: Elem) -> Self {
        Type {
            elem,
            shape: Vec::new(),
        }
    }

    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    pub fn bytes(&self) -> usize {
        self.numel() * self.elem.bytes()
    }

    pub fn with_elem(&self, elem: Elem) -> Type {
        Type {
            elem,
            shape: self.shape.clone(),
        }
    }

    pub fn with_shape(&self, shape: impl Into<Shape>) -> Type {
        Type {
            elem: self.elem,
            shape: shape.into(),
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `f32`, `f32[2, 3]`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.elem.name())?;
        if !self.shape.is_empty() {
            write!(f, "[")?;
            for (i, d) in self.shape.iter().enumerate() {
                if i > 0 {
                    write!(f, ", ")?;
                }
                write!(f, "{d}")?;
            }
            write!(f, "]")?;
        }
        Ok(())
    }
}
