//! One element, widened.

use super::dtype::{DType, Kind};

/// An element of any type: floats widened to `f64` and integers to 64 bits, both exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    F(f64),
    I(i64),
    U(u64),
    B(bool),
}

impl Scalar {
    /// Reads the element at the start of `bytes`, which has at least [`DType::size`] bytes.
    pub(super) fn read(dtype: DType, bytes: &[u8]) -> Scalar {
        let mut word = [0; 8];
        let size = dtype.size();
        word[..size].copy_from_slice(&bytes[..size]);
        let bits = u64::from_le_bytes(word);
        match (dtype, dtype.kind()) {
            (DType::F64, _) => Scalar::F(f64::from_bits(bits)),
            (DType::F32, _) => Scalar::F(f64::from(f32::from_bits(bits as u32))),
            (DType::F16, _) => Scalar::F(half::f16::from_bits(bits as u16).to_f64()),
            (DType::BF16, _) => Scalar::F(half::bf16::from_bits(bits as u16).to_f64()),
            (_, Kind::Bool) => Scalar::B(bits != 0),
            (_, Kind::Unsigned) => Scalar::U(bits),
            // Shifting up and back down extends the sign.
            (_, Kind::Signed | Kind::Float) => {
                let shift = 64 - 8 * size as u32;
                Scalar::I((bits << shift) as i64 >> shift)
            }
        }
    }

    /// The nearest `f64` (true is 1).
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::F(x) => x,
            Scalar::I(x) => x as f64,
            Scalar::U(x) => x as f64,
            Scalar::B(x) => f64::from(u8::from(x)),
        }
    }
}
