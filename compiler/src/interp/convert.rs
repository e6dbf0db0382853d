//! Conversions of values and of bits.

use super::array::{Array, wrap_int, wrap_uint};
use super::reduce::{greatest_uint, least_int};
use super::{Data, Precision};
use crate::ir::types::Elem;

pub fn convert(x: &Array, to: Elem, p: Precision) -> Array {
    if to == x.ty.elem {
        return x.clone();
    }
    let ty = x.ty.with_elem(to);
    if to.is_float() {
        let values: Vec<f64> = match &x.data {
            Data::Float(v) => v.iter().map(|&x| p.round(to, x)).collect(),
            // Straight to f32: by way of f64, large integers would be rounded twice.
            Data::Int(v) if to == Elem::F32 && p == Precision::Element => {
                v.iter().map(|&x| f64::from(x as f32)).collect()
            }
            Data::Uint(v) if to == Elem::F32 && p == Precision::Element => {
                v.iter().map(|&x| f64::from(x as f32)).collect()
            }
            _ => x.to_f64().iter().map(|&x| p.round(to, x)).collect(),
        };
        return Array::floats(ty, values);
    }
    if to == Elem::Bool {
        return Array::bools(ty, truth(&x.data));
    }
    if to.is_signed_int() {
        let least = least_int(to);
        let values = match &x.data {
            Data::Float(v) => v.iter().map(|&x| (x as i64).clamp(least, !least)).collect(),
            Data::Int(v) => v.iter().map(|&x| wrap_int(to, x)).collect(),
            Data::Uint(v) => v.iter().map(|&x| wrap_int(to, x as i64)).collect(),
            Data::Bool(v) => v.iter().map(|&x| i64::from(x)).collect(),
        };
        return Array::ints(ty, values);
    }
    let greatest = greatest_uint(to);
    let values = match &x.data {
        Data::Float(v) => v.iter().map(|&x| (x as u64).min(greatest)).collect(),
        Data::Int(v) => v.iter().map(|&x| wrap_uint(to, x as u64)).collect(),
        Data::Uint(v) => v.iter().map(|&x| wrap_uint(to, x)).collect(),
        Data::Bool(v) => v.iter().map(|&x| u64::from(x)).collect(),
    };
    Array::uints(ty, values)
}

fn truth(data: &Data) -> Vec<bool> {
    match data {
        Data::Float(v) => v.iter().map(|&x| x != 0.0).collect(),
        Data::Int(v) => v.iter().map(|&x| x != 0).collect(),
        Data::Uint(v) => v.iter().map(|&x| x != 0).collect(),
        Data::Bool(v) => v.to_vec(),
    }
}

/// Bits are those of the element type, whatever the precision.
pub fn bitcast(x: &Array, to: Elem) -> Array {
    Array::from_bits(x.ty.with_elem(to), x.to_bits())
}
