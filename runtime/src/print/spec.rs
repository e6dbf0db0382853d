//! Python's format specs: their grammar and what they may be applied to.
//!
//! `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`

use super::format;
use crate::error::{Error, ValueError};
use crate::host::{DType, Kind, Scalar};

/// Widths and precisions above this are taken for mistakes.
const LIMIT: usize = 100_000;

/// A parsed format spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatSpec {
    /// As written, for errors.
    text: String,
    pub(super) fill: char,
    pub(super) align: Option<Align>,
    pub(super) sign: Sign,
    /// `z`: a negative number that rounds to zero loses its sign.
    pub(super) positive_zero: bool,
    /// `#`: always a point; no trailing zeros removed; a prefix such as `0x`.
    pub(super) alternate: bool,
    pub(super) width: usize,
    pub(super) grouping: Option<char>,
    pub(super) precision: Option<usize>,
    pub(super) presentation: Option<Presentation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    Center,
    /// Padding between the sign and the digits.
    AfterSign,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    OnlyMinus,
    Always,
    Space,
}

/// The type at a spec's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presentation {
    Binary,
    Octal,
    Decimal,
    Hex { upper: bool },
    Exponent { upper: bool },
    Fixed { upper: bool },
    General { upper: bool },
    Percent,
}

impl FormatSpec {
    /// Parses what follows the colon of `{x:.4f}`. The empty spec shows a value as `print` does.
    pub fn parse(text: &str) -> Result<FormatSpec, Error> {
        let fail = |reason: &str| {
            Error::Value(ValueError::FormatSpec {
                spec: text.to_owned(),
                reason: reason.to_owned(),
            })
        };
        let mut rest = Cursor(text);
        let mut spec = FormatSpec {
            text: text.to_owned(),
            fill: ' ',
            align: None,
            sign: Sign::OnlyMinus,
            positive_zero: false,
            alternate: false,
            width: 0,
            grouping: None,
            precision: None,
            presentation: None,
        };
        let mut has_fill = false;
        let mut first_two = text.chars();
        if let (Some(fill), Some(align)) = (first_two.next(), first_two.next().and_then(align_of)) {
            (spec.fill, spec.align, has_fill) = (fill, Some(align), true);
            rest = Cursor(first_two.as_str());
        } else if let Some(align) = rest.next_as(align_of) {
            spec.align = Some(align);
        }
        if let Some(sign) = rest.next_as(sign_of) {
            spec.sign = sign;
        }
        spec.positive_zero = rest.next_is('z');
        spec.alternate = rest.next_is('#');
        // After an explicit fill, a zero is a part of the width.
        if !has_fill && rest.next_is('0') {
            spec.fill = '0';
            spec.align = spec.align.or(Some(Align::AfterSign));
        }
        spec.width = rest.number().map_err(fail)?.unwrap_or(0);
        spec.grouping = rest.next_as(|c| matches!(c, ',' | '_').then_some(c));
        if rest.next_is('.') {
            let precision = rest.number().map_err(fail)?;
            spec.precision = Some(precision.ok_or_else(|| fail("a precision follows the point"))?);
        }
        spec.presentation = rest.next_as(presentation_of);
        if !rest.0.is_empty() {
            return Err(fail(&format!("\"{}\" is not understood", rest.0)));
        }
        spec.check_grouping()?;
        Ok(spec)
    }

    /// Whether values of an element type can be shown this way.
    pub fn check(&self, dtype: DType) -> Result<(), Error> {
        let is_integral = matches!(
            self.presentation,
            Some(
                Presentation::Binary
                    | Presentation::Octal
                    | Presentation::Decimal
                    | Presentation::Hex { .. }
            )
        );
        match (dtype.kind(), self.presentation) {
            (Kind::Float, _) if is_integral => {
                Err(self.fail(format!("it is for integers, and the value is {dtype}")))
            }
            (Kind::Signed | Kind::Unsigned, None) | (_, Some(_)) if self.is_bad_integer() => {
                Err(self.fail("an integer has no precision and no `z`".to_owned()))
            }
            (Kind::Bool, None) if !self.is_only_width() => {
                Err(self.fail("a bool takes a fill, an alignment and a width".to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// A value as Python shows it; an empty type shows floats shortest for their element type, and bools
    /// as `true` and `false`, aligned like words. Errors as [`FormatSpec::check`].
    pub fn format(&self, dtype: DType, scalar: Scalar) -> Result<String, Error> {
        self.check(dtype)?;
        Ok(format::format(self, dtype, scalar))
    }

    /// As [`FormatSpec::format`] for an integer presentation.
    fn is_bad_integer(&self) -> bool {
        let is_integer = matches!(
            self.presentation,
            None | Some(
                Presentation::Binary
                    | Presentation::Octal
                    | Presentation::Decimal
                    | Presentation::Hex { .. }
            )
        );
        is_integer && (self.precision.is_some() || self.positive_zero)
    }

    fn is_only_width(&self) -> bool {
        self.sign == Sign::OnlyMinus
            && !self.positive_zero
            && !self.alternate
            && self.grouping.is_none()
            && self.precision.is_none()
            && self.align != Some(Align::AfterSign)
    }

    fn check_grouping(&self) -> Result<(), Error> {
        let is_bits = matches!(
            self.presentation,
            Some(Presentation::Binary | Presentation::Octal | Presentation::Hex { .. })
        );
        if self.grouping == Some(',') && is_bits {
            return Err(self.fail("a comma groups decimal digits only".to_owned()));
        }
        Ok(())
    }

    fn fail(&self, reason: String) -> Error {
        Error::Value(ValueError::FormatSpec {
            spec: self.text.clone(),
            reason,
        })
    }
}

/// What is left to parse.
struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    /// Takes the next character if `read` knows it.
    fn next_as<T>(&mut self, read: impl Fn(char) -> Option<T>) -> Option<T> {
        let mut chars = self.0.chars();
        let value = read(chars.next()?)?;
        self.0 = chars.as_str();
        Some(value)
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.next_as(|c| (c == wanted).then_some(())).is_some()
    }

    fn number(&mut self) -> Result<Option<usize>, &'static str> {
        let end = self
            .0
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        if digits.is_empty() {
            return Ok(None);
        }
        self.0 = rest;
        match digits.parse() {
            Ok(number) if number <= LIMIT => Ok(Some(number)),
            _ => Err("the number is too large"),
        }
    }
}

fn align_of(c: char) -> Option<Align> {
    match c {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Center),
        '=' => Some(Align::AfterSign),
        _ => None,
    }
}

fn sign_of(c: char) -> Option<Sign> {
    match c {
        '-' => Some(Sign::OnlyMinus),
        '+' => Some(Sign::Always),
        ' ' => Some(Sign::Space),
        _ => None,
    }
}

fn presentation_of(c: char) -> Option<Presentation> {
    match c {
        'b' => Some(Presentation::Binary),
        'o' => Some(Presentation::Octal),
        'd' => Some(Presentation::Decimal),
        'x' | 'X' => Some(Presentation::Hex { upper: c == 'X' }),
        'e' | 'E' => Some(Presentation::Exponent { upper: c == 'E' }),
        'f' | 'F' => Some(Presentation::Fixed { upper: c == 'F' }),
        'g' | 'G' => Some(Presentation::General { upper: c == 'G' }),
        '%' => Some(Presentation::Percent),
        _ => None,
    }
}
