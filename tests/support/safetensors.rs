//! Safetensors files of f32 and i32, written plainly; their elements as numbers.

use super::values::{self, Array};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use tpuc_compiler::ir::literal::decode_f64;

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

/// The elements of each tensor, by its name.
pub fn read(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let arrays = values::read(path).into_iter();
    let numbers = |a: Array| a.bits.iter().map(|&b| decode_f64(a.elem, b)).collect();
    arrays.map(|(name, a)| (name, numbers(a))).collect()
}
