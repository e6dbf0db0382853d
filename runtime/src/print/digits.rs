//! The decimal digits of numbers.

use half::{bf16, f16};

use crate::host::{DType, Scalar};

/// A finite number's magnitude: `digits` as d.ddd, times ten to the `exponent`.
pub(super) struct Decimal {
    pub digits: String,
    pub exponent: i32,
}

/// An element as text: the shortest number that reads back as the same element of its type. Floats look like
/// Python's (`1.0`, `1e-05`, `nan`, `-inf`); bools are `true` and `false`.
pub fn format_scalar(dtype: DType, scalar: Scalar) -> String {
    match scalar {
        Scalar::I(int) => int.to_string(),
        Scalar::U(int) => int.to_string(),
        Scalar::B(bool) => bool.to_string(),
        Scalar::F(float) => {
            let sign = if float.is_sign_negative() && !float.is_nan() {
                "-"
            } else {
                ""
            };
            format!("{sign}{}", magnitude(dtype, float.abs()))
        }
    }
}

/// A float without its sign, shortest.
pub(super) fn magnitude(dtype: DType, float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return "inf".to_owned();
    }
    let Decimal { digits, exponent } = shortest(dtype, float);
    // Python's limits for writing a number out.
    if (-4..16).contains(&exponent) {
        positional(&digits, exponent)
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}{}", exponent_text(exponent, 'e'))
    }
}

/// `e+05`, with two digits at least.
pub(super) fn exponent_text(exponent: i32, letter: char) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{letter}{sign}{:02}", exponent.unsigned_abs())
}

/// Digits written out with a point and at least one digit on each side of it.
fn positional(digits: &str, exponent: i32) -> String {
    if exponent < 0 {
        let zeros = "0".repeat((-exponent - 1) as usize);
        return format!("0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    match digits.split_at_checked(whole) {
        Some((integer, fraction)) if !fraction.is_empty() => format!("{integer}.{fraction}"),
        _ => format!("{digits}{}.0", "0".repeat(whole - digits.len())),
    }
}

/// The fewest digits that read back as the same number of the type. `float` is finite, not negative, and a
/// number of the type.
pub(super) fn shortest(dtype: DType, float: f64) -> Decimal {
    match dtype {
        DType::F32 => ties_to_even(float, &format!("{:e}", float as f32), |x| {
            f64::from(x as f32)
        }),
        DType::F16 => shortest_half(float, |x| f16::from_f64(x).to_f64()),
        DType::BF16 => shortest_half(float, |x| bf16::from_f64(x).to_f64()),
        _ => ties_to_even(float, &format!("{float:e}"), |x| x),
    }
}

/// Of two shortest decimals equally near, the standard library takes the larger and Python the even one.
fn ties_to_even(float: f64, shortest: &str, round: impl Fn(f64) -> f64) -> Decimal {
    let decimal = from_scientific(shortest);
    // Rounding to a given number of digits goes to the even one.
    let precision = decimal.digits.len() - 1;
    let nearest = format!("{float:.precision$e}");
    if round(parse(&nearest)) == float {
        trimmed(from_scientific(&nearest))
    } else {
        decimal
    }
}

/// As [`shortest`], for types that the standard library does not print: tries ever more digits. `round` takes
/// a number to the nearest of the type.
fn shortest_half(float: f64, round: impl Fn(f64) -> f64) -> Decimal {
    // Nine digits tell apart all numbers of 32 bits, and so of 16.
    for precision in 0..9 {
        let nearest = format!("{float:.precision$e}");
        if round(parse(&nearest)) == float {
            return trimmed(from_scientific(&nearest));
        }
        // Next to a power of two the number's own interval is wider above than below, and the
        // nearest decimal may be outside of it below while the next one up is inside.
        let above = next_up(&from_scientific(&nearest));
        if round(parse(&format!(
            "{}e{}",
            point(&above.digits),
            above.exponent
        ))) == float
        {
            return trimmed(above);
        }
    }
    from_scientific(&format!("{float:e}"))
}

/// The next decimal of as many digits.
fn next_up(decimal: &Decimal) -> Decimal {
    let mut digits: Vec<u8> = decimal.digits.bytes().collect();
    let mut exponent = decimal.exponent;
    let mut carry = true;
    for digit in digits.iter_mut().rev() {
        if carry {
            carry = *digit == b'9';
            *digit = if carry { b'0' } else { *digit + 1 };
        }
    }
    if carry {
        digits.insert(0, b'1');
        digits.pop();
        exponent += 1;
    }
    let digits = digits.into_iter().map(char::from).collect();
    Decimal { digits, exponent }
}

fn point(digits: &str) -> String {
    let (first, rest) = digits.split_at(1);
    format!("{first}.{rest}0")
}

/// Text that Rust wrote itself always parses.
fn parse(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Reads Rust's `d.ddde-5`.
pub(super) fn from_scientific(text: &str) -> Decimal {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    Decimal {
        digits: mantissa.replace('.', ""),
        exponent: exponent.parse().unwrap_or(0),
    }
}

/// Without the zeros at the end, but for a first one.
pub(super) fn trimmed(decimal: Decimal) -> Decimal {
    let kept = decimal.digits.trim_end_matches('0').len().max(1);
    Decimal {
        digits: decimal.digits[..kept].to_owned(),
        exponent: decimal.exponent,
    }
}
