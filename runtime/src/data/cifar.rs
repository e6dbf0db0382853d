//! CIFAR-10 in its binary form: records of a label and 3 × 32 × 32 bytes, a plane for each colour.
//!
//! Images come out as the convolutions of the language want them, colours last.

use std::path::{Path, PathBuf};

use super::dataset::Field;
use super::source::{Source, array};
use crate::error::Error;
use crate::host::{Bytes, DType, HostArray, TensorSpec};

const SIDE: usize = 32;
const COLOURS: usize = 3;
const RECORD: usize = 1 + COLOURS * SIDE * SIDE;

/// The files of the training and of the test set.
pub const TRAIN: [&str; 5] = [
    "data_batch_1.bin",
    "data_batch_2.bin",
    "data_batch_3.bin",
    "data_batch_4.bin",
    "data_batch_5.bin",
];
pub const TEST: &str = "test_batch.bin";

fn files(folder: &Path, field: Field) -> Vec<PathBuf> {
    let names: &[&str] = match field {
        Field::XTrain | Field::YTrain => &TRAIN,
        Field::XTest | Field::YTest => &[TEST],
    };
    names.iter().map(|name| folder.join(name)).collect()
}

pub fn describe(folder: &Path, field: Field) -> Result<TensorSpec, Error> {
    let mut rows = 0;
    for path in files(folder, field) {
        rows += records(&Source::open(&path)?)?;
    }
    Ok(spec(field, rows))
}

pub fn read(folder: &Path, field: Field) -> Result<HostArray, Error> {
    let spec = describe(folder, field)?;
    let mut bytes = Bytes::zeroed(spec.shape.iter().product());
    let row_len: usize = spec.shape[1..].iter().product();
    let mut rows = bytes.as_mut_slice().chunks_exact_mut(row_len);
    for path in files(folder, field) {
        let mut source = Source::open(&path)?;
        let wanted = records(&source)? * RECORD;
        let taken = source.take(wanted)?;
        for (record, row) in taken.as_slice().chunks_exact(RECORD).zip(&mut rows) {
            let (label, planes) = record.split_at(1);
            match field {
                Field::YTrain | Field::YTest => row.copy_from_slice(label),
                Field::XTrain | Field::XTest => interleave(planes, row),
            }
        }
    }
    array(spec, bytes)
}

/// From a plane for each colour to the colours of each point.
fn interleave(planes: &[u8], points: &mut [u8]) {
    for (colour, plane) in planes.chunks_exact(SIDE * SIDE).enumerate() {
        for (point, &value) in points.chunks_exact_mut(COLOURS).zip(plane) {
            point[colour] = value;
        }
    }
}

fn records(source: &Source<'_>) -> Result<usize, Error> {
    let len = source.len().unwrap_or(0) as usize;
    if !len.is_multiple_of(RECORD) {
        let whole = len.next_multiple_of(RECORD);
        return Err(source.truncated(whole as u64, len as u64));
    }
    Ok(len / RECORD)
}

fn spec(field: Field, rows: usize) -> TensorSpec {
    match field {
        Field::XTrain | Field::XTest => TensorSpec::new(DType::U8, [rows, SIDE, SIDE, COLOURS]),
        Field::YTrain | Field::YTest => TensorSpec::new(DType::U8, [rows]),
    }
}
