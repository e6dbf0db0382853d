//! Constants as text: decimal where that gives the same bits back, otherwise the bits themselves.

use super::attr::Attr;
use crate::ir::literal::{Literal, decode_i64, encode_f64, encode_i64};
use crate::ir::types::{Elem, Type};

/// One word for a splat, a flat list, row-major, otherwise.
pub fn write_literal(literal: &Literal) -> Attr {
    let elem = literal.ty().elem;
    match literal.splat() {
        Some(bits) => Attr::Word(write_bits(elem, bits)),
        None => Attr::List(
            literal
                .iter_bits()
                .map(|b| Attr::Word(write_bits(elem, b)))
                .collect(),
        ),
    }
}

/// The constant of type `ty` that was written as `attr`.
pub fn read_literal(attr: &Attr, ty: &Type) -> Result<Literal, String> {
    match attr {
        Attr::Word(w) => Ok(Literal::splat_bits(ty.clone(), read_bits(ty.elem, w)?)),
        Attr::List(items) => {
            let bits: Vec<u64> = items
                .iter()
                .map(|item| match item {
                    Attr::Word(w) => read_bits(ty.elem, w),
                    other => Err(format!("`{other}` is not a number")),
                })
                .collect::<Result<_, _>>()?;
            if bits.len() == ty.numel() {
                Ok(Literal::dense_bits(ty.clone(), bits))
            } else {
                Err(format!("{} numbers for {ty}", bits.len()))
            }
        }
        other => Err(format!("`{other}` is not a constant")),
    }
}

/// The text of one element. Every text but hexadecimal is a value; hexadecimal is a bit pattern.
pub fn write_bits(elem: Elem, bits: u64) -> String {
    let text = match elem {
        Elem::Bool => (bits != 0).to_string(),
        Elem::U64 => bits.to_string(),
        Elem::F64 => format!("{:?}", f64::from_bits(bits)).to_lowercase(),
        Elem::F32 => format!("{:?}", f32::from_bits(bits as u32)).to_lowercase(),
        Elem::BF16 => format!("{:?}", half::bf16::from_bits(bits as u16).to_f32()).to_lowercase(),
        Elem::F16 => format!("{:?}", half::f16::from_bits(bits as u16).to_f32()).to_lowercase(),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 => {
            decode_i64(elem, bits).to_string()
        }
    };
    if read_bits(elem, &text) == Ok(bits) {
        text
    } else {
        format!("{bits:#x}")
    }
}

fn read_bits(elem: Elem, text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no {elem}");
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).map_err(|_| wrong());
    }
    match elem {
        Elem::Bool => text
            .parse()
            .map(|b: bool| u64::from(b))
            .map_err(|_| wrong()),
        Elem::U64 => text.parse().map_err(|_| wrong()),
        Elem::F32 => text
            .parse()
            .map(|x: f32| u64::from(x.to_bits()))
            .map_err(|_| wrong()),
        Elem::F64 | Elem::BF16 | Elem::F16 => text
            .parse()
            .map(|x: f64| encode_f64(elem, x))
            .map_err(|_| wrong()),
        Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64 | Elem::U8 | Elem::U16 | Elem::U32 => {
            let value: i64 = text.parse().map_err(|_| wrong())?;
            let bits = encode_i64(elem, value);
            (decode_i64(elem, bits) == value)
                .then_some(bits)
                .ok_or_else(wrong)
        }
    }
}
