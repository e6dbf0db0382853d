//! Numbers by a format spec, as CPython writes them.

use super::digits::{self, exponent_text, from_scientific, trimmed};
use super::spec::{Align, FormatSpec, Presentation, Sign};
use crate::host::{DType, Scalar};

/// A number's text in its parts. Grouping and zero padding apply to `integer` only.
struct Parts {
    is_negative: bool,
    prefix: &'static str,
    /// Empty for `nan` and `inf`.
    integer: String,
    /// From the point on; `nan`, `inf`, exponents and percent signs belong here.
    rest: String,
}

/// `spec` has been checked against the type.
pub(super) fn format(spec: &FormatSpec, dtype: DType, scalar: Scalar) -> String {
    match (scalar, spec.presentation) {
        (Scalar::B(bool), None) => {
            let align = spec.align.unwrap_or(Align::Left);
            pad(spec, align, "", &bool.to_string())
        }
        (Scalar::F(float), _) => number(spec, float_parts(spec, dtype, float)),
        (_, None) => number(spec, int_parts(spec, scalar, 10)),
        (_, Some(Presentation::Decimal)) => number(spec, int_parts(spec, scalar, 10)),
        (_, Some(Presentation::Binary)) => number(spec, int_parts(spec, scalar, 2)),
        (_, Some(Presentation::Octal)) => number(spec, int_parts(spec, scalar, 8)),
        (_, Some(Presentation::Hex { .. })) => number(spec, int_parts(spec, scalar, 16)),
        (_, Some(_)) => number(spec, float_parts(spec, DType::F64, scalar.to_f64())),
    }
}

fn int_parts(spec: &FormatSpec, scalar: Scalar, base: u32) -> Parts {
    let (is_negative, magnitude) = match scalar {
        Scalar::I(int) => (int < 0, int.unsigned_abs()),
        Scalar::U(int) => (false, int),
        Scalar::B(bool) => (false, u64::from(bool)),
        // Not reached: floats have no integer presentation.
        Scalar::F(float) => (float < 0.0, float.abs() as u64),
    };
    let upper = spec.presentation == Some(Presentation::Hex { upper: true });
    let (integer, prefix) = match base {
        2 => (format!("{magnitude:b}"), "0b"),
        8 => (format!("{magnitude:o}"), "0o"),
        16 if upper => (format!("{magnitude:X}"), "0X"),
        16 => (format!("{magnitude:x}"), "0x"),
        _ => (magnitude.to_string(), ""),
    };
    Parts {
        is_negative,
        prefix: if spec.alternate { prefix } else { "" },
        integer,
        rest: String::new(),
    }
}

fn float_parts(spec: &FormatSpec, dtype: DType, float: f64) -> Parts {
    let percent = spec.presentation == Some(Presentation::Percent);
    let float = if percent { float * 100.0 } else { float };
    let is_negative = float.is_sign_negative() && !float.is_nan();
    let float = float.abs();
    let upper = matches!(
        spec.presentation,
        Some(
            Presentation::Exponent { upper: true }
                | Presentation::Fixed { upper: true }
                | Presentation::General { upper: true }
        )
    );
    let mut text = if float.is_nan() {
        "nan".to_owned()
    } else if float.is_infinite() {
        "inf".to_owned()
    } else {
        finite(spec, dtype, float)
    };
    if upper {
        text.make_ascii_uppercase();
    }
    if percent {
        text.push('%');
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let rest = text.split_off(end);
    let is_zero =
        || !text.contains(|c| c != '0') && !mantissa(&rest).contains(|c| ('1'..='9').contains(&c));
    Parts {
        is_negative: is_negative && !(spec.positive_zero && float.is_finite() && is_zero()),
        prefix: "",
        integer: text,
        rest,
    }
}

/// What precedes an exponent.
fn mantissa(rest: &str) -> &str {
    rest.split(['e', 'E']).next().unwrap_or(rest)
}

fn finite(spec: &FormatSpec, dtype: DType, float: f64) -> String {
    let precision = spec.precision.unwrap_or(6);
    match spec.presentation {
        Some(Presentation::Fixed { .. } | Presentation::Percent) => {
            let point = if spec.alternate && precision == 0 {
                "."
            } else {
                ""
            };
            format!("{float:.precision$}{point}")
        }
        Some(Presentation::Exponent { .. }) => {
            let decimal = from_scientific(&format!("{float:.precision$e}"));
            scientific(&decimal.digits, decimal.exponent, spec.alternate)
        }
        Some(Presentation::General { .. }) => {
            general(float, precision.max(1), spec.alternate, false)
        }
        _ => match spec.precision {
            Some(precision) => general(float, precision.max(1), spec.alternate, true),
            None => {
                let text = digits::magnitude(dtype, float);
                match text.split_once('e') {
                    Some((mantissa, exponent)) if spec.alternate && !mantissa.contains('.') => {
                        format!("{mantissa}.e{exponent}")
                    }
                    _ => text,
                }
            }
        },
    }
}

/// `precision` significant digits, written out or with an exponent, whichever suits the size. `is_float` asks
/// for the form that always shows as a float: `3.0`, and an exponent one digit earlier.
fn general(float: f64, precision: usize, alternate: bool, is_float: bool) -> String {
    let rounded = from_scientific(&format!("{float:.*e}", precision - 1));
    let exponent = rounded.exponent;
    let most = precision as i32 - i32::from(is_float);
    let is_positional = (-4..most).contains(&exponent);
    let decimal = if alternate { rounded } else { trimmed(rounded) };
    if !is_positional {
        return scientific(&decimal.digits, exponent, alternate);
    }
    let (integer, fraction) = if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        ("0".to_owned(), zeros + &decimal.digits)
    } else {
        let whole = exponent as usize + 1;
        let mut digits = decimal.digits;
        while digits.len() < whole {
            digits.push('0');
        }
        let fraction = digits.split_off(whole);
        (digits, fraction)
    };
    match (fraction.is_empty(), alternate, is_float) {
        (false, ..) => format!("{integer}.{fraction}"),
        (true, _, true) => format!("{integer}.0"),
        (true, true, false) => format!("{integer}."),
        (true, false, false) => integer,
    }
}

fn scientific(digits: &str, exponent: i32, alternate: bool) -> String {
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() && !alternate {
        ""
    } else {
        "."
    };
    format!("{first}{point}{rest}{}", exponent_text(exponent, 'e'))
}

/// Puts sign, grouping and padding around a number's parts.
fn number(spec: &FormatSpec, parts: Parts) -> String {
    let sign = match (parts.is_negative, spec.sign) {
        (true, _) => "-",
        (false, Sign::Always) => "+",
        (false, Sign::Space) => " ",
        (false, Sign::OnlyMinus) => "",
    };
    let align = spec.align.unwrap_or(Align::Right);
    let lead = format!("{sign}{}", parts.prefix);
    let mut integer = parts.integer;
    if let (Some(separator), false) = (spec.grouping, integer.is_empty()) {
        let zeros_fill = spec.fill == '0' && align == Align::AfterSign;
        let others = lead.chars().count() + parts.rest.chars().count();
        let width = if zeros_fill {
            spec.width.saturating_sub(others)
        } else {
            0
        };
        integer = grouped(&integer, separator, group_size(spec), width);
    }
    pad(spec, align, &lead, &format!("{integer}{}", parts.rest))
}

fn group_size(spec: &FormatSpec) -> usize {
    match spec.presentation {
        Some(Presentation::Binary | Presentation::Octal | Presentation::Hex { .. }) => 4,
        _ => 3,
    }
}

/// Digits in groups, with zeros in front to make up `width`. A group is never begun with a separator, so it may
/// come out one longer.
fn grouped(digits: &str, separator: char, size: usize, width: usize) -> String {
    // Built from the last digit to the first.
    let mut reversed = String::new();
    let mut digits = digits.chars().rev();
    let mut count = 0;
    loop {
        let next = digits.next();
        if next.is_none() && reversed.len() >= width {
            break;
        }
        if count > 0 && count % size == 0 {
            reversed.push(separator);
        }
        reversed.push(next.unwrap_or('0'));
        count += 1;
    }
    reversed.chars().rev().collect()
}

fn pad(spec: &FormatSpec, align: Align, lead: &str, text: &str) -> String {
    let len = lead.chars().count() + text.chars().count();
    let missing = spec.width.saturating_sub(len);
    let fill = |count: usize| spec.fill.to_string().repeat(count);
    match align {
        Align::Left => format!("{lead}{text}{}", fill(missing)),
        Align::Right => format!("{}{lead}{text}", fill(missing)),
        Align::Center => {
            let left = missing / 2;
            format!("{}{lead}{text}{}", fill(left), fill(missing - left))
        }
        Align::AfterSign => format!("{lead}{}{text}", fill(missing)),
    }
}
