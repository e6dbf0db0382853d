//! Arrays of the interpreter: row-major elements, shared until written.

use super::Precision;
use crate::ir::literal::{Literal, decode_f64, decode_i64, encode_f64, encode_i64};
use crate::ir::types::{Elem, Type};
use std::fmt;
use std::sync::Arc;

/// A tensor's value.
#[derive(Clone, PartialEq)]
pub struct Array {
    pub ty: Type,
    pub data: Data,
}

/// The elements, row-major: floats of every width as f64, signed integers sign-extended, unsigned ones and bool as they are.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    Float(Arc<Vec<f64>>),
    Int(Arc<Vec<i64>>),
    Uint(Arc<Vec<u64>>),
    Bool(Arc<Vec<bool>>),
}

/// Builds data of the kind of `$data` from its elements `$v`.
macro_rules! same_kind {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            Data::Float($v) => Data::Float(std::sync::Arc::new($body)),
            Data::Int($v) => Data::Int(std::sync::Arc::new($body)),
            Data::Uint($v) => Data::Uint(std::sync::Arc::new($body)),
            Data::Bool($v) => Data::Bool(std::sync::Arc::new($body)),
        }
    };
}

/// Writes into `$target` from the elements `$s` of `$source`, which are of its kind.
macro_rules! write_same_kind {
    ($target:expr, $source:expr, $t:ident, $s:ident => $body:expr) => {
        match ($target, $source) {
            (Data::Float($t), Data::Float($s)) => {
                let $t = std::sync::Arc::make_mut($t);
                $body
            }
            (Data::Int($t), Data::Int($s)) => {
                let $t = std::sync::Arc::make_mut($t);
                $body
            }
            (Data::Uint($t), Data::Uint($s)) => {
                let $t = std::sync::Arc::make_mut($t);
                $body
            }
            (Data::Bool($t), Data::Bool($s)) => {
                let $t = std::sync::Arc::make_mut($t);
                $body
            }
            _ => unreachable!("the shape rule wants one element type"),
        }
    };
}

pub(super) use {same_kind, write_same_kind};

impl Array {
    /// # Panics
    /// When the elements are not as many as the type's, or of another kind.
    pub fn new(ty: Type, data: Data) -> Array {
        assert_eq!(data.len(), ty.numel(), "elements of {ty}");
        assert!(data.is_of(ty.elem), "kind of the elements of {ty}");
        Array { ty, data }
    }

    /// Floats, as they are: the caller has rounded them.
    pub fn floats(ty: Type, values: Vec<f64>) -> Array {
        Array::new(ty, Data::Float(Arc::new(values)))
    }

    pub fn ints(ty: Type, values: Vec<i64>) -> Array {
        Array::new(ty, Data::Int(Arc::new(values)))
    }

    pub fn uints(ty: Type, values: Vec<u64>) -> Array {
        Array::new(ty, Data::Uint(Arc::new(values)))
    }

    pub fn bools(ty: Type, values: Vec<bool>) -> Array {
        Array::new(ty, Data::Bool(Arc::new(values)))
    }

    /// Values of any element type, rounded or wrapped into it.
    pub fn of(ty: Type, values: &[f64]) -> Array {
        let bits = values.iter().map(|&x| encode_f64(ty.elem, x)).collect();
        Array::from_bits(ty, bits)
    }

    /// Every element has the pattern `bits`.
    pub fn splat_bits(ty: Type, bits: u64) -> Array {
        let count = ty.numel();
        Array::from_bits(ty, vec![bits; count])
    }

    /// One pattern an element, as in a [`Literal`].
    pub fn from_bits(ty: Type, bits: Vec<u64>) -> Array {
        let elem = ty.elem;
        if elem.is_float() {
            Array::floats(ty, bits.iter().map(|&b| decode_f64(elem, b)).collect())
        } else if elem.is_signed_int() {
            Array::ints(ty, bits.iter().map(|&b| decode_i64(elem, b)).collect())
        } else if elem == Elem::Bool {
            Array::bools(ty, bits.iter().map(|&b| b != 0).collect())
        } else {
            Array::uints(ty, bits)
        }
    }

    pub fn from_literal(literal: &Literal) -> Array {
        Array::from_bits(literal.ty().clone(), literal.iter_bits().collect())
    }

    /// The elements as patterns; floats are rounded to the element type.
    pub fn to_bits(&self) -> Vec<u64> {
        let elem = self.ty.elem;
        match &self.data {
            Data::Float(v) => v
                .iter()
                .map(|&x| encode_f64(elem, round(elem, x)))
                .collect(),
            Data::Int(v) => v.iter().map(|&x| encode_i64(elem, x)).collect(),
            Data::Uint(v) => v.to_vec(),
            Data::Bool(v) => v.iter().map(|&x| u64::from(x)).collect(),
        }
    }

    pub fn to_literal(&self) -> Literal {
        Literal::dense_bits(self.ty.clone(), self.to_bits())
    }

    /// The elements as f64 (exact but for 64-bit integers beyond 2^53).
    pub fn to_f64(&self) -> Vec<f64> {
        match &self.data {
            Data::Float(v) => v.to_vec(),
            Data::Int(v) => v.iter().map(|&x| x as f64).collect(),
            Data::Uint(v) => v.iter().map(|&x| x as f64).collect(),
            Data::Bool(v) => v.iter().map(|&x| f64::from(u8::from(x))).collect(),
        }
    }

    /// The same elements in another shape of equal size.
    pub fn reshaped(self, shape: Vec<usize>) -> Array {
        Array::new(self.ty.with_shape(shape), self.data)
    }

    /// Slice `i` along axis 0.
    pub(super) fn row(&self, i: usize) -> Array {
        let ty = self.ty.with_shape(&self.ty.shape[1..]);
        let n = ty.numel();
        let data = same_kind!(&self.data, v => v[i * n..(i + 1) * n].to_vec());
        Array { ty, data }
    }

    /// Arrays of type `ty` along a new axis 0.
    pub(super) fn stack(ty: &Type, rows: &[Array]) -> Array {
        let mut shape = vec![rows.len()];
        shape.extend(&ty.shape);
        let mut data = Data::empty(ty.elem);
        for row in rows {
            write_same_kind!(&mut data, &row.data, t, s => t.extend_from_slice(s));
        }
        Array::new(ty.with_shape(shape), data)
    }

    /// The condition of a branch or loop.
    pub(super) fn truth(&self) -> bool {
        self.data.bools()[0]
    }
}

/// `f32[2] [1.0, 2.0]`
impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.ty)?;
        match &self.data {
            Data::Float(v) => write!(f, "{v:?}"),
            Data::Int(v) => write!(f, "{v:?}"),
            Data::Uint(v) => write!(f, "{v:?}"),
            Data::Bool(v) => write!(f, "{v:?}"),
        }
    }
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::Float(v) => v.len(),
            Data::Int(v) => v.len(),
            Data::Uint(v) => v.len(),
            Data::Bool(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn empty(elem: Elem) -> Data {
        if elem.is_float() {
            Data::Float(Arc::default())
        } else if elem.is_signed_int() {
            Data::Int(Arc::default())
        } else if elem == Elem::Bool {
            Data::Bool(Arc::default())
        } else {
            Data::Uint(Arc::default())
        }
    }

    pub(super) fn is_of(&self, elem: Elem) -> bool {
        match self {
            Data::Float(_) => elem.is_float(),
            Data::Int(_) => elem.is_signed_int(),
            Data::Uint(_) => elem.is_unsigned_int(),
            Data::Bool(_) => elem == Elem::Bool,
        }
    }

    pub(super) fn bools(&self) -> &[bool] {
        match self {
            Data::Bool(v) => v,
            _ => unreachable!("the shape rule wants bool"),
        }
    }

    pub(super) fn ints(&self) -> &[i64] {
        match self {
            Data::Int(v) => v,
            _ => unreachable!("the shape rule wants signed integers"),
        }
    }

    pub(super) fn uints(&self) -> &[u64] {
        match self {
            Data::Uint(v) => v,
            _ => unreachable!("the shape rule wants unsigned integers"),
        }
    }

    pub(super) fn float_values(&self) -> &[f64] {
        match self {
            Data::Float(v) => v,
            _ => unreachable!("the shape rule wants floats"),
        }
    }
}

impl Precision {
    /// A float result of a computation in f64, as it is stored.
    pub(super) fn round(self, elem: Elem, x: f64) -> f64 {
        match self {
            Precision::Element => round(elem, x),
            Precision::F64 => x,
        }
    }
}

/// The nearest value of the element type, ties to even.
pub fn round(elem: Elem, x: f64) -> f64 {
    match elem {
        Elem::F32 => f64::from(x as f32),
        Elem::BF16 => round_to(x, 8, -126, 127),
        Elem::F16 => round_to(x, 11, -14, 15),
        _ => x,
    }
}

/// Rounds to `digits` binary digits, gradually fewer below 2^`min_exponent`, to infinity above 2^`max_exponent`'s binade.
fn round_to(x: f64, digits: i32, min_exponent: i32, max_exponent: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    // Subnormal f64 have exponent field 0 and lie far below the range of every narrower type.
    let exponent = ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let ulp = exponent.max(min_exponent) - (digits - 1);
    let rounded = (x * power_of_two(-ulp)).round_ties_even() * power_of_two(ulp);
    if rounded.abs() >= power_of_two(max_exponent + 1) {
        f64::INFINITY.copysign(x)
    } else {
        rounded
    }
}

/// 2^e for exponents of normal f64.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// An integer wrapped into the width of its element type.
pub(super) fn wrap_int(elem: Elem, x: i64) -> i64 {
    match elem {
        Elem::I8 => i64::from(x as i8),
        Elem::I16 => i64::from(x as i16),
        Elem::I32 => i64::from(x as i32),
        _ => x,
    }
}

pub(super) fn wrap_uint(elem: Elem, x: u64) -> u64 {
    match elem {
        Elem::U8 => u64::from(x as u8),
        Elem::U16 => u64::from(x as u16),
        Elem::U32 => u64::from(x as u32),
        _ => x,
    }
}
