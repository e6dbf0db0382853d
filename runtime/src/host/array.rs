//! Dense row-major arrays.

use std::sync::Arc;

use super::bytes::Bytes;
use super::dtype::{DType, TensorSpec};
use super::scalar::Scalar;
use crate::error::{Error, ValueError};

/// A dense row-major array. Its bytes are exactly as many as its type says; clones share them.
#[derive(Clone, Debug, PartialEq)]
pub struct HostArray {
    spec: TensorSpec,
    bytes: Arc<Bytes>,
}

impl HostArray {
    /// Errors when the bytes are not as many as the type says, or the type is too large.
    /// Elements are little-endian; any non-zero byte is a true bool, and becomes 1.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>, bytes: Bytes) -> Result<Self, Error> {
        let spec = TensorSpec::new(dtype, shape);
        let expected = spec.checked_len()?;
        let found = bytes.as_slice().len();
        if found != expected {
            return Err(Error::Value(ValueError::ByteCount {
                spec,
                expected,
                found,
            }));
        }
        let mut bytes = bytes;
        if dtype == DType::Bool && bytes.as_slice().iter().any(|&byte| byte > 1) {
            for byte in bytes.as_mut_slice() {
                *byte = u8::from(*byte != 0);
            }
        }
        Ok(HostArray {
            spec,
            bytes: Arc::new(bytes),
        })
    }

    /// An array of Rust numbers. Errors when there are not as many as the shape says.
    pub fn from_elements<T: Element>(
        shape: impl Into<Vec<usize>>,
        elements: &[T],
    ) -> Result<Self, Error> {
        let mut bytes = Bytes::zeroed(size_of_val(elements));
        let chunks = bytes.as_mut_slice().chunks_exact_mut(T::DTYPE.size());
        for (target, &element) in chunks.zip(elements) {
            element.write(target);
        }
        HostArray::new(T::DTYPE, shape, bytes)
    }

    pub fn spec(&self) -> &TensorSpec {
        &self.spec
    }

    pub fn dtype(&self) -> DType {
        self.spec.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.spec.shape
    }

    /// Little-endian, row-major.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    pub(crate) fn shared_bytes(&self) -> &Arc<Bytes> {
        &self.bytes
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.dtype().size()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in row-major order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Scalar> + '_ {
        let dtype = self.dtype();
        self.bytes()
            .chunks_exact(dtype.size())
            .map(move |bytes| Scalar::read(dtype, bytes))
    }

    /// The only element of an array that has just one, of whatever rank.
    pub fn scalar(&self) -> Option<Scalar> {
        let mut elements = self.iter();
        elements.next().filter(|_| elements.len() == 0)
    }

    /// The elements as Rust numbers; `None` when `T` is not the element type.
    pub fn to_vec<T: Element>(&self) -> Option<Vec<T>> {
        (T::DTYPE == self.dtype()).then(|| {
            self.bytes()
                .chunks_exact(T::DTYPE.size())
                .map(T::read)
                .collect()
        })
    }
}

/// A Rust number that is an element type. The methods take exactly [`DType::size`] bytes.
pub trait Element: Copy {
    const DTYPE: DType;
    fn read(bytes: &[u8]) -> Self;
    fn write(self, bytes: &mut [u8]);
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {$(
        impl Element for $rust {
            const DTYPE: DType = DType::$dtype;

            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$rust>()];
                own.copy_from_slice(bytes);
                <$rust>::from_le_bytes(own)
            }

            fn write(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

elements! {
    f32 => F32,
    half::bf16 => BF16,
    half::f16 => F16,
    f64 => F64,
    i8 => I8,
    i16 => I16,
    i32 => I32,
    i64 => I64,
    u8 => U8,
    u16 => U16,
    u32 => U32,
    u64 => U64,
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn read(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }

    fn write(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_round_trip_and_widen() {
        let floats = HostArray::from_elements([3], &[1.5f32, -0.0, f32::MAX]).unwrap();
        assert_eq!(floats.to_vec::<f32>().unwrap(), [1.5, -0.0, f32::MAX]);
        assert_eq!(floats.to_vec::<i32>(), None);
        assert_eq!(floats.iter().last(), Some(Scalar::F(f64::from(f32::MAX))));

        let halves = HostArray::from_elements([1], &[half::bf16::from_f32(3.25)]).unwrap();
        assert_eq!(halves.scalar(), Some(Scalar::F(3.25)));
        let ints = HostArray::from_elements([2], &[i8::MIN, -1]).unwrap();
        assert_eq!(
            ints.iter().collect::<Vec<_>>(),
            [Scalar::I(-128), Scalar::I(-1)]
        );
        let wide = HostArray::from_elements([1, 1], &[u64::MAX]).unwrap();
        assert_eq!(wide.scalar(), Some(Scalar::U(u64::MAX)));
        let long = HostArray::from_elements([], &[i64::MIN]).unwrap();
        assert_eq!(long.scalar(), Some(Scalar::I(i64::MIN)));
    }

    #[test]
    fn counts_are_checked() {
        let error = HostArray::from_elements([2, 2], &[1i32, 2, 3]).unwrap_err();
        assert!(matches!(
            error,
            Error::Value(ValueError::ByteCount {
                expected: 16,
                found: 12,
                ..
            })
        ));
        let error = HostArray::new(DType::F64, [1 << 62], Bytes::zeroed(0)).unwrap_err();
        assert!(matches!(
            error,
            Error::Value(ValueError::TensorTooLarge { .. })
        ));
    }

    #[test]
    fn any_non_zero_byte_is_true() {
        let bools = HostArray::new(DType::Bool, [3], Bytes::from_slice(&[0, 7, 1])).unwrap();
        assert_eq!(bools.bytes(), [0, 1, 1]);
    }

    #[test]
    fn an_array_of_several_is_no_scalar() {
        assert_eq!(
            HostArray::from_elements([2], &[1u8, 2]).unwrap().scalar(),
            None
        );
        assert_eq!(
            HostArray::from_elements::<u8>([0], &[]).unwrap().scalar(),
            None
        );
    }
}
