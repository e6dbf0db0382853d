//! Arrays as safetensors files hold them, and how far two of them are apart.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use tpuc_compiler::ir::Elem;
use tpuc_compiler::ir::literal::{decode_f64, ulps_between};

/// An array, its elements as bit patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub elem: Elem,
    pub shape: Vec<u64>,
    pub bits: Vec<u64>,
}

/// The arrays of a file, by name.
pub fn read(path: &Path) -> BTreeMap<String, Array> {
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (length, rest) = bytes.split_at(8);
    let length = u64::from_le_bytes(length.try_into().expect("eight bytes")) as usize;
    let (header, data) = rest.split_at(length);
    let header: BTreeMap<String, Value> = serde_json::from_slice(header).expect("a header");
    header
        .into_iter()
        .filter(|(name, _)| name != "__metadata__")
        .map(|(name, entry)| (name, array(&entry, data)))
        .collect()
}

fn array(entry: &Value, data: &[u8]) -> Array {
    let numbers = |value: &Value| -> Vec<u64> {
        let list = value.as_array().into_iter().flatten();
        list.map(|n| n.as_u64().expect("a number")).collect()
    };
    let dtype = entry["dtype"].as_str().expect("a type").to_lowercase();
    let elem = Elem::from_name(&dtype).expect("an element type of the language");
    let offsets = numbers(&entry["data_offsets"]);
    let raw = &data[offsets[0] as usize..offsets[1] as usize];
    let bits = raw.chunks_exact(elem.bytes()).map(|chunk| {
        let shifted = chunk.iter().rev();
        shifted.fold(0, |bits, &byte| bits << 8 | u64::from(byte))
    });
    Array {
        elem,
        shape: numbers(&entry["shape"]),
        bits: bits.collect(),
    }
}

/// By how much a float may differ from the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Units in the last place of the element type.
    Ulps(u64),
    /// Relative to the largest finite number of the result, or one unit in the last place.
    Close(f64),
    /// Relative above 1, absolute below, or one unit in the last place.
    Mixed(f64),
}

impl Tolerance {
    pub fn parse(text: &str) -> Option<Tolerance> {
        match text.split_once(' ')? {
            ("ulp", n) => n.parse().ok().map(Tolerance::Ulps),
            ("close", r) => r.parse().ok().map(Tolerance::Close),
            ("mixed", r) => r.parse().ok().map(Tolerance::Mixed),
            _ => None,
        }
    }
}

/// What is wrong with `found`, in words.
pub fn difference(found: &Array, expected: &Array, tolerance: Tolerance) -> Option<String> {
    if (found.elem, &found.shape) != (expected.elem, &expected.shape) {
        let ty = |a: &Array| format!("{}{:?}", a.elem.name(), a.shape);
        return Some(format!("is {}, not {}", ty(found), ty(expected)));
    }
    let elem = expected.elem;
    let sizes = expected.bits.iter().map(|&b| decode_f64(elem, b).abs());
    let largest = sizes.filter(|x| x.is_finite()).fold(0.0, f64::max);
    let pairs = found.bits.iter().zip(&expected.bits).enumerate();
    let mut wrong = pairs.filter(|(_, (f, e))| !near(elem, **f, **e, tolerance, largest));
    let (at, (f, e)) = wrong.next()?;
    let others = match wrong.count() {
        0 => String::new(),
        n => format!(" (and {n} more of {})", found.bits.len()),
    };
    let (f, e) = (shown(elem, *f), shown(elem, *e));
    Some(format!("element {at} is {f}, not {e}{others}"))
}

fn near(elem: Elem, f: u64, e: u64, tolerance: Tolerance, largest: f64) -> bool {
    if f == e {
        return true;
    }
    if !elem.is_float() {
        return false;
    }
    let (x, y) = (decode_f64(elem, f), decode_f64(elem, e));
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    if is_tiny(elem, x) && is_tiny(elem, y) && (x != 0.0 || y != 0.0) {
        return true;
    }
    let ulps = match tolerance {
        Tolerance::Ulps(n) => n,
        Tolerance::Close(r) if (x - y).abs() <= r * largest => return true,
        Tolerance::Mixed(r) if (x - y).abs() <= r * y.abs().max(1.0) => return true,
        Tolerance::Close(_) | Tolerance::Mixed(_) => 1,
    };
    ulps > 0 && ulps_between(elem, x, y) <= ulps
}

/// Zero or subnormal where it is computed, which for 16 bits is in f32: the device may make a zero of it.
fn is_tiny(elem: Elem, x: f64) -> bool {
    let smallest = match elem {
        Elem::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    };
    x.abs() < smallest
}

fn shown(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::Bool => (bits != 0).to_string(),
        Elem::U64 => bits.to_string(),
        Elem::I64 => (bits as i64).to_string(),
        _ => format!("{:?} ({bits:#x})", decode_f64(elem, bits)),
    }
}
