//! Safetensors files of f32 and i32, written and read plainly.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

pub struct Tensor {
    pub name: String,
    /// `f32` or `i32`.
    pub elem: String,
    pub shape: Vec<usize>,
    pub numbers: Vec<f64>,
}

pub fn write(path: &Path, tensors: &[Tensor]) {
    let mut header = String::from("{");
    let mut data: Vec<u8> = Vec::new();
    for t in tensors {
        let from = data.len();
        for &x in &t.numbers {
            match t.elem.as_str() {
                "f32" => data.extend((x as f32).to_le_bytes()),
                "i32" => data.extend((x as i32).to_le_bytes()),
                other => panic!("an element type that the tests do not write: {other}"),
            }
        }
        let comma = if header.len() > 1 { "," } else { "" };
        let _ = write!(
            header,
            "{comma}\"{}\":{{\"dtype\":\"{}\",\"shape\":{:?},\"data_offsets\":[{from},{}]}}",
            t.name,
            t.elem.to_uppercase(),
            t.shape,
            data.len()
        );
    }
    header.push('}');
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend(data);
    std::fs::write(path, file).expect("the file can be written");
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    data_offsets: [usize; 2],
}

/// The elements of each tensor, by its name.
pub fn read(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let file = std::fs::read(path).expect("the program has saved its results");
    let (length, rest) = file.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("8 bytes")) as usize;
    let (header, data) = rest.split_at(length);
    let mut header: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(header).expect("a header");
    header.remove("__metadata__");
    let mut out = BTreeMap::new();
    for (name, entry) in header {
        let entry: Entry = serde_json::from_value(entry).expect("an entry");
        let [from, to] = entry.data_offsets;
        out.insert(name, numbers(&entry.dtype, &data[from..to]));
    }
    out
}

fn numbers(dtype: &str, bytes: &[u8]) -> Vec<f64> {
    let words = bytes.chunks_exact(4).map(|b| [b[0], b[1], b[2], b[3]]);
    match dtype {
        "F32" => words.map(|w| f32::from_le_bytes(w).into()).collect(),
        "I32" => words.map(|w| i32::from_le_bytes(w).into()).collect(),
        other => panic!("an element type that the tests do not read: {other}"),
    }
}
