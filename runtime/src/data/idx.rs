//! IDX, the format of the MNIST files: two zero bytes, an element type, a rank, the dimensions as
//! big-endian 32-bit numbers, the elements in big-endian order.

use super::rows::Rows;
use super::source::{Source, array, swap_bytes};
use crate::error::{DataError, Error};
use crate::host::{DType, HostArray, TensorSpec};

pub fn describe(mut source: Source<'_>) -> Result<TensorSpec, Error> {
    let spec = header(&mut source, None)?;
    source.check_array(&spec)?;
    Ok(spec)
}

pub fn read(source: Source<'_>) -> Result<HostArray, Error> {
    read_as(source, None)
}

/// As [`read`], for a file that must start with `magic`.
pub fn read_as(mut source: Source<'_>, magic: Option<[u8; 4]>) -> Result<HostArray, Error> {
    let spec = header(&mut source, magic)?;
    let mut bytes = source.array_bytes(&spec)?;
    swap_bytes(&mut bytes, spec.dtype.size());
    array(spec, bytes)
}

/// As [`describe`], for a file that must start with `magic`.
pub fn describe_as(mut source: Source<'_>, magic: [u8; 4]) -> Result<TensorSpec, Error> {
    let spec = header(&mut source, Some(magic))?;
    source.check_array(&spec)?;
    Ok(spec)
}

/// The rows, of which only those being taken are in memory.
pub fn rows(mut source: Source<'static>) -> Result<Rows, Error> {
    let spec = header(&mut source, None)?;
    source.check_array(&spec)?;
    let is_wide = spec.dtype.size() > 1;
    Rows::of_source(spec, source, is_wide)
}

fn header(source: &mut Source<'_>, magic: Option<[u8; 4]>) -> Result<TensorSpec, Error> {
    let start = source.take(4)?;
    let start = start.as_slice();
    let dtype = match start {
        [0, 0, 0x08, _] => Some(DType::U8),
        [0, 0, 0x09, _] => Some(DType::I8),
        [0, 0, 0x0b, _] => Some(DType::I16),
        [0, 0, 0x0c, _] => Some(DType::I32),
        [0, 0, 0x0d, _] => Some(DType::F32),
        [0, 0, 0x0e, _] => Some(DType::F64),
        _ => None,
    };
    let dtype = match (dtype, magic) {
        (Some(dtype), None) => dtype,
        (Some(dtype), Some(magic)) if start == magic => dtype,
        _ => {
            return Err(Error::Data(DataError::WrongMagic {
                path: source.path().to_path_buf(),
                expected: match magic {
                    Some([a, b, c, d]) => format!("{a:02x} {b:02x} {c:02x} {d:02x}"),
                    None => "00 00, an element type (08 to 0e) and a rank".to_owned(),
                },
                found: start.to_vec(),
            }));
        }
    };
    let rank = usize::from(start[3]);
    let dims = source.take(4 * rank)?;
    let dims = dims.as_slice();
    if dims.len() < 4 * rank {
        return Err(source.truncated(4 + 4 * rank as u64, 4 + dims.len() as u64));
    }
    let shape: Vec<usize> = dims
        .chunks_exact(4)
        .map(|dim| u32::from_be_bytes([dim[0], dim[1], dim[2], dim[3]]) as usize)
        .collect();
    Ok(TensorSpec { dtype, shape })
}
