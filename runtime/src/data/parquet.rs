//! parquet: a table of columns, each an array of its own with an element for each row, or a row of them where the column
//! is of lists of one length. Columns of numbers and bools are read, packed in any way; a missing value is an error.

use std::path::Path;

use half::f16;
use parquet::basic::{LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::source::open_file;
use super::{Found, Wanted};
use crate::error::{DataError, Error};
use crate::host::{DType, Element, HostArray, TensorSpec};

pub fn describe(path: &Path) -> Result<Found<TensorSpec>, Error> {
    let file = open(path)?;
    columns(path, &file)
}

pub fn read(path: &Path, wanted: Wanted<'_>) -> Result<Found<HostArray>, Error> {
    let file = open(path)?;
    let columns = columns(path, &file)?;
    let named = columns.into_iter().enumerate();
    named
        .filter(|(_, (name, _))| wanted(name))
        .map(|(i, (name, spec))| {
            let array = match spec {
                Ok(spec) => Ok(column(path, &file, i, &name, &spec)?),
                Err(error) => Err(error),
            };
            Ok((name, array))
        })
        .collect()
}

type File = SerializedFileReader<std::fs::File>;

fn open(path: &Path) -> Result<File, Error> {
    let (file, _) = open_file(path)?;
    SerializedFileReader::new(file).map_err(|error| malformed(path, &error))
}

fn malformed(path: &Path, error: &ParquetError) -> Error {
    let text = error.to_string();
    let reason = text.strip_prefix("Parquet error: ").unwrap_or(&text);
    DataError::malformed(path, "parquet", reason)
}

/// Names and types of the columns.
fn columns(path: &Path, file: &File) -> Result<Found<TensorSpec>, Error> {
    let metadata = file.metadata().file_metadata();
    let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
    let columns = metadata.schema_descr().columns().iter().enumerate();
    columns
        .map(|(index, column)| {
            let name = name(column);
            let Some(dtype) = element(column) else {
                let error = Error::Data(DataError::UnsupportedElement {
                    path: path.to_path_buf(),
                    found: format!("{} in the column `{name}`", kind(column)),
                });
                return Ok((name, Err(error)));
            };
            let mut shape = vec![rows];
            if column.max_rep_level() > 0 {
                let first = first_length(file, index).map_err(|e| malformed(path, &e))?;
                shape.push(first);
            }
            Ok((name, Ok(TensorSpec::new(dtype, shape))))
        })
        .collect()
}

/// A column of lists stands two levels below its name, `x.list.element`.
fn name(column: &ColumnDescriptor) -> String {
    let parts = column.path().parts();
    match column.max_rep_level() {
        1 if parts.len() > 2 => parts[..parts.len() - 2].join("."),
        _ => parts.join("."),
    }
}

/// What a column is of, as its errors call it.
fn kind(column: &ColumnDescriptor) -> String {
    match column.logical_type_ref() {
        _ if column.max_rep_level() > 1 => "lists of lists".to_owned(),
        Some(LogicalType::String | LogicalType::Json | LogicalType::Enum) => "text".to_owned(),
        Some(LogicalType::Date) => "dates".to_owned(),
        Some(LogicalType::Time { .. } | LogicalType::Timestamp { .. }) => "times".to_owned(),
        Some(LogicalType::Decimal { .. }) => "decimal numbers".to_owned(),
        _ => column.physical_type().to_string(),
    }
}

/// How long the list of the first row is; 0 where there is no row.
fn first_length(file: &File, index: usize) -> Result<usize, ParquetError> {
    for group in 0..file.num_row_groups() {
        let rows = file.get_row_group(group)?;
        if rows.metadata().num_rows() > 0 {
            let levels = match rows.get_column_reader(index)? {
                ColumnReader::BoolColumnReader(r) => first_levels(r),
                ColumnReader::Int32ColumnReader(r) => first_levels(r),
                ColumnReader::Int64ColumnReader(r) => first_levels(r),
                ColumnReader::Int96ColumnReader(r) => first_levels(r),
                ColumnReader::FloatColumnReader(r) => first_levels(r),
                ColumnReader::DoubleColumnReader(r) => first_levels(r),
                ColumnReader::ByteArrayColumnReader(r) => first_levels(r),
                ColumnReader::FixedLenByteArrayColumnReader(r) => first_levels(r),
            };
            return levels;
        }
    }
    Ok(0)
}

/// The number of values of the first row.
fn first_levels<D: DataType>(mut reader: ColumnReaderImpl<D>) -> Result<usize, ParquetError> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    reader.read_records(1, Some(&mut defined), Some(&mut repeated), &mut values)?;
    Ok(values.len())
}

fn element(column: &ColumnDescriptor) -> Option<DType> {
    if column.max_rep_level() > 1 {
        return None;
    }
    let (bits, signed) = match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => (integer.bit_width, integer.is_signed),
        Some(LogicalType::Float16) => return Some(DType::F16),
        None => (0, true),
        // Dates, decimals and texts are numbers only inside.
        Some(_) => return None,
    };
    match (column.physical_type(), bits, signed) {
        (Physical::BOOLEAN, ..) => Some(DType::Bool),
        (Physical::FLOAT, ..) => Some(DType::F32),
        (Physical::DOUBLE, ..) => Some(DType::F64),
        (Physical::INT32, 8, true) => Some(DType::I8),
        (Physical::INT32, 8, false) => Some(DType::U8),
        (Physical::INT32, 16, true) => Some(DType::I16),
        (Physical::INT32, 16, false) => Some(DType::U16),
        (Physical::INT32, _, true) => Some(DType::I32),
        (Physical::INT32, _, false) => Some(DType::U32),
        (Physical::INT64, _, true) => Some(DType::I64),
        (Physical::INT64, _, false) => Some(DType::U64),
        _ => None,
    }
}

fn column(
    path: &Path,
    file: &File,
    index: usize,
    name: &str,
    spec: &TensorSpec,
) -> Result<HostArray, Error> {
    let broken = |error: &ParquetError| malformed(path, error);
    let mut parts = Vec::new();
    for group in 0..file.num_row_groups() {
        let rows = file.get_row_group(group).map_err(|e| broken(&e))?;
        let wanted = usize::try_from(rows.metadata().num_rows()).unwrap_or(0);
        let reader = rows.get_column_reader(index).map_err(|e| broken(&e))?;
        let part = match reader {
            ColumnReader::BoolColumnReader(r) => part(r, wanted, spec, |b: bool| b),
            ColumnReader::FloatColumnReader(r) => part(r, wanted, spec, |x: f32| x),
            ColumnReader::DoubleColumnReader(r) => part(r, wanted, spec, |x: f64| x),
            ColumnReader::FixedLenByteArrayColumnReader(r) => part(r, wanted, spec, half_of),
            ColumnReader::Int32ColumnReader(r) => match spec.dtype {
                DType::I8 => part(r, wanted, spec, |n: i32| n as i8),
                DType::U8 => part(r, wanted, spec, |n: i32| n as u8),
                DType::I16 => part(r, wanted, spec, |n: i32| n as i16),
                DType::U16 => part(r, wanted, spec, |n: i32| n as u16),
                DType::U32 => part(r, wanted, spec, |n: i32| n as u32),
                _ => part(r, wanted, spec, |n: i32| n),
            },
            ColumnReader::Int64ColumnReader(r) => match spec.dtype {
                DType::U64 => part(r, wanted, spec, |n: i64| n as u64),
                _ => part(r, wanted, spec, |n: i64| n),
            },
            _ => Ok(None),
        };
        match part.map_err(|e| broken(&e))? {
            Some(array) => parts.push(array),
            None => {
                let lacks = match spec.shape.len() {
                    1 => "has rows without a value (null)",
                    _ => "has rows without a value (null), or lists of several lengths",
                };
                let reason = format!("the column `{name}` {lacks}");
                return Err(DataError::malformed(path, "parquet", reason));
            }
        }
    }
    super::files::stack(spec, parts.iter())
}

fn half_of(bytes: FixedLenByteArray) -> f16 {
    let mut own = [0; 2];
    own.copy_from_slice(&bytes.data()[..2]);
    f16::from_le_bytes(own)
}

/// The elements of one group of rows; `None` where a row has fewer or more of them than the others.
fn part<D: DataType, T: Element>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
    spec: &TensorSpec,
    convert: impl Fn(D::T) -> T,
) -> Result<Option<HostArray>, ParquetError> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let (read, ..) = reader.read_records(
            rows - done,
            Some(&mut defined),
            Some(&mut repeated),
            &mut values,
        )?;
        if read == 0 {
            return Ok(None);
        }
        done += read;
    }
    // A list starts where nothing is repeated. Each must have as many values as the first one of the file.
    let len: usize = spec.shape[1..].iter().product();
    let mut levels = repeated.iter().enumerate();
    let even = levels.all(|(i, &level)| (level == 0) == i.is_multiple_of(len.max(1)));
    if values.len() != rows * len || !even {
        return Ok(None);
    }
    let elements: Vec<T> = values.into_iter().map(convert).collect();
    debug_assert_eq!(T::DTYPE, spec.dtype);
    let shape: Vec<usize> = [&[rows], &spec.shape[1..]].concat();
    Ok(HostArray::from_elements(shape, &elements).ok())
}
