//! Constant data, as bit patterns, so that it can be compared and hashed exactly (NaN and −0 included).

use super::types::{Elem, Type};

/// A constant tensor: one bit pattern for every element (a splat), or one each, row-major.
/// The pattern of an element stands in the low bits: f32 as its 32 bits, bf16 and f16 as their 16,
/// signed integers as two's complement of their width, bool as 0 or 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    ty: Type,
    bits: Vec<u64>,
}

impl Literal {
    /// Every element has the pattern `bits`.
    pub fn splat_bits(ty: Type, bits: u64) -> Self {
        Literal {
            ty,
            bits: vec![bits],
        }
    }

    /// One pattern an element, row-major; patterns that are all equal become a splat, so that equal data is equal.
    ///
    /// # Panics
    /// When the count is not that of the type: the caller has just computed both.
    pub fn dense_bits(ty: Type, bits: Vec<u64>) -> Self {
        assert_eq!(
            bits.len(),
            ty.numel(),
            "literal of {ty} needs one pattern an element"
        );
        match bits.first() {
            Some(&first) if bits.iter().all(|&b| b == first) => Literal {
                ty,
                bits: vec![first],
            },
            Some(_) => Literal { ty, bits },
            None => Literal { ty, bits: vec![0] },
        }
    }

    /// A splat of `value` rounded to the element type (nearest even; integers wrap).
    pub fn splat_f64(ty: Type, value: f64) -> Self {
        let bits = encode_f64(ty.elem, value);
        Literal {
            ty,
            bits: vec![bits],
        }
    }

    pub fn splat_i64(ty: Type, value: i64) -> Self {
        let bits = encode_i64(ty.elem, value);
        Literal {
            ty,
            bits: vec![bits],
        }
    }

    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The one pattern of a splat; also that of any one-element literal.
    pub fn splat(&self) -> Option<u64> {
        (self.bits.len() == 1).then(|| self.bits[0])
    }

    /// The pattern of the element at a row-major position.
    pub fn bit(&self, index: usize) -> u64 {
        if self.bits.len() == 1 {
            self.bits[0]
        } else {
            self.bits[index]
        }
    }

    /// All patterns, row-major, expanded.
    pub fn iter_bits(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.ty.numel()).map(|i| self.bit(i))
    }

    /// The splat value as f64, for float, integer and bool elements.
    pub fn splat_value(&self) -> Option<f64> {
        self.splat().map(|b| decode_f64(self.ty.elem, b))
    }

    /// The same splat data in another shape.
    ///
    /// # Panics
    /// When a dense literal would change its count of elements.
    pub fn with_shape(&self, shape: Vec<usize>) -> Literal {
        let ty = Type {
            elem: self.ty.elem,
            shape,
        };
        assert!(
            self.bits.len() == 1 || ty.numel() == self.bits.len(),
            "dense literal reshaped to {ty}"
        );
        Literal {
            ty,
            bits: self.bits.clone(),
        }
    }
}

/// The bit pattern of `value` rounded to `elem` (nearest even); for integers, the value truncated and wrapped.
pub fn encode_f64(elem: Elem, value: f64) -> u64 {
    match elem {
        Elem::F32 => u64::from((value as f32).to_bits()),
        Elem::F64 => value.to_bits(),
        Elem::BF16 => u64::from(half::bf16::from_f64(value).to_bits()),
        Elem::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        Elem::Bool => u64::from(value != 0.0),
        Elem::U64 => value as u64,
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 => {
            encode_i64(elem, value as i64)
        }
    }
}

/// The bit pattern of an integer in `elem`: wrapped for integers, rounded for floats.
pub fn encode_i64(elem: Elem, value: i64) -> u64 {
    match elem {
        Elem::I8 | Elem::U8 => value as u64 & 0xff,
        Elem::I16 | Elem::U16 => value as u64 & 0xffff,
        Elem::I32 | Elem::U32 => value as u64 & 0xffff_ffff,
        Elem::I64 | Elem::U64 => value as u64,
        Elem::Bool => u64::from(value != 0),
        Elem::F32 => u64::from((value as f32).to_bits()),
        Elem::F64 | Elem::BF16 | Elem::F16 => encode_f64(elem, value as f64),
    }
}

/// The value of a pattern as f64 (exact but for 64-bit integers beyond 2^53).
pub fn decode_f64(elem: Elem, bits: u64) -> f64 {
    match elem {
        Elem::F32 => f64::from(f32::from_bits(bits as u32)),
        Elem::F64 => f64::from_bits(bits),
        Elem::BF16 => half::bf16::from_bits(bits as u16).to_f64(),
        Elem::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Elem::U64 => bits as f64,
        Elem::I8
        | Elem::I16
        | Elem::I32
        | Elem::I64
        | Elem::U8
        | Elem::U16
        | Elem::U32
        | Elem::Bool => decode_i64(elem, bits) as f64,
    }
}

/// How many values of a float type lie between two, each of which is one of them.
pub fn ulps_between(elem: Elem, a: f64, b: f64) -> u64 {
    let place = |x: f64| {
        let magnitude = encode_f64(elem, x.abs()) as i64;
        if x.is_sign_negative() {
            -magnitude
        } else {
            magnitude
        }
    };
    place(a).abs_diff(place(b))
}

/// The value of an integer or bool pattern, sign-extended; floats are truncated.
pub fn decode_i64(elem: Elem, bits: u64) -> i64 {
    match elem {
        Elem::I8 => i64::from(bits as u8 as i8),
        Elem::I16 => i64::from(bits as u16 as i16),
        Elem::I32 => i64::from(bits as u32 as i32),
        Elem::U8 | Elem::U16 | Elem::U32 | Elem::I64 | Elem::U64 | Elem::Bool => bits as i64,
        Elem::F32 | Elem::F64 | Elem::BF16 | Elem::F16 => decode_f64(elem, bits) as i64,
    }
}
