//! Element types, and element type with shape.

use std::fmt;

use crate::error::ValueError;

/// An element type of the language (keys are `u32[2]` by the time they get here).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DType {
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

/// How a type's bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
}

impl DType {
    pub const ALL: [DType; 13] = [
        DType::F32,
        DType::BF16,
        DType::F16,
        DType::F64,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::U8,
        DType::U16,
        DType::U32,
        DType::U64,
        DType::Bool,
    ];

    /// The language's name of it, such as `bf16`.
    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::BF16 => "bf16",
            DType::F16 => "f16",
            DType::F64 => "f64",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::Bool => "bool",
        }
    }

    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            DType::I8 | DType::U8 | DType::Bool => 1,
            DType::BF16 | DType::F16 | DType::I16 | DType::U16 => 2,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F64 | DType::I64 | DType::U64 => 8,
        }
    }

    pub fn kind(self) -> Kind {
        match self {
            DType::F32 | DType::BF16 | DType::F16 | DType::F64 => Kind::Float,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Kind::Signed,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => Kind::Unsigned,
            DType::Bool => Kind::Bool,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a tensor, written as in the language: `f32[2, 3]`, `i32`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorSpec {
    pub dtype: DType,
    pub shape: Vec<usize>,
}

impl TensorSpec {
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>) -> TensorSpec {
        TensorSpec {
            dtype,
            shape: shape.into(),
        }
    }

    /// Bytes of a dense array of this type. `None` when that does not fit a signed 64-bit number,
    /// which is where plugins abort.
    pub fn byte_len(&self) -> Option<usize> {
        // The product of the other dimensions must fit also where one of them is 0: XLA computes it in an
        // order of its own.
        let mut nonzero = self.shape.iter().filter(|&&dim| dim != 0);
        let most = nonzero.try_fold(self.dtype.size(), |bytes, &dim| bytes.checked_mul(dim))?;
        if i64::try_from(most).is_err() {
            return None;
        }
        Some(if self.shape.contains(&0) { 0 } else { most })
    }

    /// As [`TensorSpec::byte_len`]; an error where that does not fit.
    pub fn checked_len(&self) -> Result<usize, ValueError> {
        self.byte_len()
            .ok_or_else(|| ValueError::TensorTooLarge { spec: self.clone() })
    }
}

impl fmt::Display for TensorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.dtype)?;
        for (i, dim) in self.shape.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "[" } else { ", " })?;
        }
        if !self.shape.is_empty() {
            f.write_str("]")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_print_as_in_the_language() {
        assert_eq!(TensorSpec::new(DType::F32, [2, 3]).to_string(), "f32[2, 3]");
        assert_eq!(TensorSpec::new(DType::Bool, []).to_string(), "bool");
    }

    #[test]
    fn names_round_trip() {
        for dtype in DType::ALL {
            assert_eq!(DType::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(DType::from_name("c64"), None);
    }

    #[test]
    fn sizes_that_overflow_are_found() {
        let len = |shape: &[usize]| TensorSpec::new(DType::F32, shape).byte_len();
        assert_eq!(len(&[]), Some(4));
        assert_eq!(len(&[2, 0, 3]), Some(0));
        assert_eq!(len(&[4611686018427387904]), None);
        assert_eq!(len(&[1 << 40, 1 << 40]), None);
        assert_eq!(len(&[1 << 40, 0, 1 << 40]), None);
        assert_eq!(len(&[1 << 60]), Some(1 << 62));
    }
}
