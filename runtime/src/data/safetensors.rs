//! safetensors: the length of a JSON header, the header, the elements.

use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::rows::Rows;
use super::source::{Source, array, section};
use super::{Found, Named, Wanted};
use crate::error::{DataError, Error};
use crate::host::{DType, HostArray, TensorSpec};
use crate::save::ORDER;

/// Longer headers are taken for damage.
const MAX_HEADER: u64 = 100_000_000;

pub fn describe(path: &Path) -> Result<Found<TensorSpec>, Error> {
    let Header { entries, order, .. } = header(path)?;
    let specs = entries.into_iter().map(|entry| (entry.name, entry.spec));
    Ok(in_order(specs.collect(), &order))
}

pub fn read(path: &Path, wanted: Wanted<'_>) -> Result<Found<HostArray>, Error> {
    let Header {
        mut source,
        entries,
        order,
    } = header(path)?;
    let mut arrays = Vec::new();
    // The header's reader has checked that the arrays follow each other without gaps.
    for entry in entries {
        let len = entry.end - entry.start;
        let spec = match entry.spec {
            Ok(spec) if wanted(&entry.name) => spec,
            other => {
                source.skip(len as u64)?;
                if let (Err(error), true) = (other, wanted(&entry.name)) {
                    arrays.push((entry.name, Err(error)));
                }
                continue;
            }
        };
        let bytes = source.take(len)?;
        let found = bytes.as_slice().len();
        if found < len {
            return Err(source.truncated(len as u64, found as u64));
        }
        arrays.push((entry.name, Ok(array(spec, bytes)?)));
    }
    Ok(in_order(arrays, &order))
}

/// The rows of each array that is wanted, of which only those being taken are in memory.
pub fn rows(path: &Path, wanted: Wanted<'_>) -> Result<Named<Rows>, Error> {
    let Header {
        source,
        entries,
        order,
    } = header(path)?;
    let start = source.taken();
    let entries = entries.into_iter().filter(|entry| wanted(&entry.name));
    let rows = entries.map(|entry| {
        let len = (entry.end - entry.start) as u64;
        let elements = section(path, start + entry.start as u64, len)?;
        let source = Source::new(path, elements, Some(len));
        Ok((entry.name, Rows::of_source(entry.spec?, source, false)?))
    });
    Ok(in_order(rows.collect::<Result<_, Error>>()?, &order))
}

struct Header {
    /// At the first element.
    source: Source<'static>,
    /// In the order of their elements.
    entries: Vec<Entry>,
    /// The names in the order in which they were saved, where the file tells.
    order: Vec<String>,
}

/// An array's place among the elements, in bytes.
struct Entry {
    name: String,
    spec: Result<TensorSpec, Error>,
    start: usize,
    end: usize,
}

/// The arrays in the order in which they were saved; names that it does not have come last.
fn in_order<T>(mut arrays: Named<T>, order: &[String]) -> Named<T> {
    arrays.sort_by_key(|(name, _)| order.iter().position(|n| n == name).unwrap_or(order.len()));
    arrays
}

fn header(path: &Path) -> Result<Header, Error> {
    let mut source = Source::open(path)?;
    let start = source.take(8)?;
    let start: [u8; 8] = start
        .as_slice()
        .try_into()
        .map_err(|_| source.truncated(8, start.as_slice().len() as u64))?;
    let header_len = u64::from_le_bytes(start);
    if header_len > MAX_HEADER {
        let expected = "the length of a header";
        return Err(DataError::wrong_magic(path, expected, &start));
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
        entries.push(entry(path, name, info));
    }
    let order = metadata.metadata().as_ref().and_then(|m| m.get(ORDER));
    // What another program wrote under this name says nothing here.
    let order = order.and_then(|names| serde_json::from_str(names).ok());
    Ok(Header {
        source,
        entries,
        order: order.unwrap_or_default(),
    })
}

fn entry(path: &Path, name: String, info: &TensorInfo) -> Entry {
    let dtype = element(info.dtype).ok_or_else(|| {
        Error::Data(DataError::UnsupportedElement {
            path: path.join(&name),
            found: format!("{:?}", info.dtype),
        })
    });
    Entry {
        name,
        spec: dtype.map(|dtype| TensorSpec {
            dtype,
            shape: info.shape.clone(),
        }),
        start: info.data_offsets.0,
        end: info.data_offsets.1,
    }
}

fn element(dtype: Dtype) -> Option<DType> {
    DType::ALL
        .into_iter()
        .find(|&own| crate::save::safetensors_dtype(own) == dtype)
}
