//! The values of numbers as written.

use super::token::Tok;
use crate::parser::error::NumberFault;

/// What to go on with after a malformed number.
type Fault = (NumberFault, Tok);

pub fn int(digits: &str, radix: u32) -> Result<Tok, Fault> {
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    if digits.is_empty() {
        return Err((NumberFault::Letters, Tok::Int(0)));
    }
    u128::from_str_radix(&digits, radix)
        .map(Tok::Int)
        .map_err(|_| (NumberFault::TooLarge, Tok::Int(0)))
}

/// Rounds to the nearest double; a number past the largest is an error, as the user can write `inf`.
pub fn float(text: &str) -> Result<Tok, Fault> {
    let digits: String = text.chars().filter(|c| *c != '_').collect();
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Tok::Float(value)),
        _ => Err((NumberFault::TooLarge, Tok::Float(0.0))),
    }
}
