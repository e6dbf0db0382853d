//! safetensors: the length of a JSON header, the header, the elements.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::Named;
use super::rows::Rows;
use super::source::{Source, array, section};
use crate::error::Error;
use crate::host::{DType, HostArray, TensorSpec};

/// Longer headers are taken for damage.
const MAX_HEADER: u64 = 100_000_000;

pub fn describe(path: &Path) -> Result<Named<TensorSpec>, Error> {
    let (_, entries) = header(path)?;
    Ok(entries
        .into_iter()
        .map(|entry| (entry.name, entry.spec))
        .collect())
}

pub fn read(path: &Path) -> Result<Named<HostArray>, Error> {
    let (mut source, entries) = header(path)?;
    // The header's reader has checked that the arrays follow each other without gaps.
    entries
        .into_iter()
        .map(|entry| {
            let len = entry.end - entry.start;
            let bytes = source.take(len)?;
            let found = bytes.as_slice().len();
            if found < len {
                return Err(source.truncated(len as u64, found as u64));
            }
            Ok((entry.name, array(entry.spec, bytes)?))
        })
        .collect()
}

/// The rows of each array, of which only those being taken are in memory.
pub fn rows(path: &Path) -> Result<Named<Rows>, Error> {
    let (source, entries) = header(path)?;
    let start = source.taken();
    let rows = entries.into_iter().map(|entry| {
        let len = (entry.end - entry.start) as u64;
        let elements = section(path, start + entry.start as u64, len)?;
        let source = Source::new(path, elements, Some(len));
        Ok((entry.name, Rows::of_source(entry.spec, source, false)?))
    });
    rows.collect()
}

/// An array's place among the elements, in bytes.
struct Entry {
    name: String,
    spec: TensorSpec,
    start: usize,
    end: usize,
}

/// The arrays in the order of their elements, and the source at the first of them.
fn header(path: &Path) -> Result<(Source<'static>, Vec<Entry>), Error> {
    let mut source = Source::open(path)?;
    let start = source.take(8)?;
    let start: [u8; 8] = start
        .as_slice()
        .try_into()
        .map_err(|_| source.truncated(8, start.as_slice().len() as u64))?;
    let header_len = u64::from_le_bytes(start);
    if header_len > MAX_HEADER {
        return Err(Error::WrongMagic {
            path: path.to_path_buf(),
            expected: "the length of a header".to_owned(),
            found: start.to_vec(),
        });
    }
    source.check_len(8 + header_len)?;
    let header = source.take(header_len as usize)?;
    let metadata: Metadata = serde_json::from_slice(header.as_slice())
        .map_err(|error| source.malformed("safetensors", error.to_string()))?;
    let expected = 8 + header_len + metadata.data_len() as u64;
    source.check_len(expected)?;
    if source.len().is_some_and(|len| len > expected) {
        let reason = "there are more bytes than its header announces";
        return Err(source.malformed("safetensors", reason));
    }
    let mut entries = Vec::new();
    for name in metadata.offset_keys() {
        let Some(info) = metadata.info(&name) else {
            continue;
        };
        entries.push(entry(path, name, info)?);
    }
    Ok((source, entries))
}

fn entry(path: &Path, name: String, info: &TensorInfo) -> Result<Entry, Error> {
    let dtype = element(info.dtype).ok_or_else(|| Error::UnsupportedElement {
        path: path.to_path_buf(),
        found: format!("{:?}", info.dtype),
    })?;
    Ok(Entry {
        name,
        spec: TensorSpec {
            dtype,
            shape: info.shape.clone(),
        },
        start: info.data_offsets.0,
        end: info.data_offsets.1,
    })
}

fn element(dtype: Dtype) -> Option<DType> {
    DType::ALL
        .into_iter()
        .find(|&own| crate::save::safetensors_dtype(own) == dtype)
}
