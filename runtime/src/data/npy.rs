//! npy, NumPy's format of one array.

use std::io::{Cursor, ErrorKind, Read};

use npyz::{DType as NpyType, Endianness, NpyHeader, Order, TypeChar};

use super::rows::Rows;
use super::source::{Source, array, swap_bytes};
use crate::error::{DataError, Error};
use crate::host::{Bytes, DType, HostArray, TensorSpec};

const MAGIC: &[u8] = b"\x93NUMPY";

pub fn describe(mut source: Source<'_>) -> Result<TensorSpec, Error> {
    let header = header(&mut source)?;
    source.check_array(&header.spec)?;
    Ok(header.spec)
}

pub fn read(mut source: Source<'_>) -> Result<HostArray, Error> {
    let header = header(&mut source)?;
    elements(source, header)
}

fn elements(mut source: Source<'_>, header: Header) -> Result<HostArray, Error> {
    let mut bytes = source.array_bytes(&header.spec)?;
    if header.is_big_endian {
        swap_bytes(&mut bytes, header.spec.dtype.size());
    }
    if header.is_column_major && header.spec.shape.len() > 1 {
        bytes = to_row_major(&header.spec, bytes.as_slice());
    }
    array(header.spec, bytes)
}

/// The rows, of which only those being taken are in memory, where the file has them one after another.
pub fn rows(mut source: Source<'static>) -> Result<Rows, Error> {
    let header = header(&mut source)?;
    source.check_array(&header.spec)?;
    if header.is_column_major && header.spec.shape.len() > 1 {
        return elements(source, header).and_then(Rows::of_array);
    }
    Rows::of_source(header.spec, source, header.is_big_endian)
}

struct Header {
    spec: TensorSpec,
    is_big_endian: bool,
    is_column_major: bool,
}

fn header(source: &mut Source<'_>) -> Result<Header, Error> {
    let start = source.take(MAGIC.len())?;
    let start = start.as_slice();
    if start != MAGIC {
        let expected = "93 4e 55 4d 50 59";
        return Err(DataError::wrong_magic(source.path(), expected, start));
    }
    let header =
        NpyHeader::from_reader(Cursor::new(start).chain(&mut *source)).map_err(|error| {
            let reason = match error.kind() {
                ErrorKind::UnexpectedEof => "it ends within its header".to_owned(),
                _ => error.to_string(),
            };
            source.malformed("npy", reason)
        })?;
    let unsupported = || {
        Error::Data(DataError::UnsupportedElement {
            path: source.path().to_path_buf(),
            found: header.dtype().descr(),
        })
    };
    let (dtype, is_big_endian) = element(&header.dtype()).ok_or_else(unsupported)?;
    let shape: Option<Vec<usize>> = header
        .shape()
        .iter()
        .map(|&dim| usize::try_from(dim).ok())
        .collect();
    let shape = shape.ok_or_else(|| source.malformed("npy", "a dimension is too large"))?;
    Ok(Header {
        spec: TensorSpec { dtype, shape },
        is_big_endian,
        is_column_major: header.order() == Order::Fortran,
    })
}

/// The element type, and whether its bytes are the wrong way round.
fn element(dtype: &NpyType) -> Option<(DType, bool)> {
    let NpyType::Plain(plain) = dtype else {
        return None;
    };
    let dtype = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Bool, 1) => DType::Bool,
        (TypeChar::Int, 1) => DType::I8,
        (TypeChar::Int, 2) => DType::I16,
        (TypeChar::Int, 4) => DType::I32,
        (TypeChar::Int, 8) => DType::I64,
        (TypeChar::Uint, 1) => DType::U8,
        (TypeChar::Uint, 2) => DType::U16,
        (TypeChar::Uint, 4) => DType::U32,
        (TypeChar::Uint, 8) => DType::U64,
        (TypeChar::Float, 2) => DType::F16,
        (TypeChar::Float, 4) => DType::F32,
        (TypeChar::Float, 8) => DType::F64,
        _ => return None,
    };
    Some((dtype, plain.endianness() == Endianness::Big))
}

/// Turns column-major elements (first axis fastest) into row-major ones.
fn to_row_major(spec: &TensorSpec, bytes: &[u8]) -> Bytes {
    let size = spec.dtype.size();
    let mut strides = Vec::with_capacity(spec.shape.len());
    let mut stride = size;
    for &dim in &spec.shape {
        strides.push(stride);
        stride *= dim;
    }
    let mut target = Bytes::zeroed(bytes.len());
    let mut index = vec![0; spec.shape.len()];
    for element in target.as_mut_slice().chunks_exact_mut(size) {
        let from: usize = index.iter().zip(&strides).map(|(i, s)| i * s).sum();
        element.copy_from_slice(&bytes[from..from + size]);
        // Counts up, last axis first.
        for (i, &dim) in index.iter_mut().zip(&spec.shape).rev() {
            *i += 1;
            if *i < dim {
                break;
            }
            *i = 0;
        }
    }
    target
}
