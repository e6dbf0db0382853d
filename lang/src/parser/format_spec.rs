//! The form of a format spec, as in Python: `[[fill]align][sign][0][width][,][.precision][type]`.
//!
//! Whether a spec fits the value it formats depends on its type, and is not asked here.

/// What a spec asks of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub has_precision: bool,
    /// `f e g d x %`
    pub presentation: Option<char>,
}

/// Reads a spec; `None` if it is none, whatever it formats.
pub fn read(spec: &str) -> Option<Form> {
    let mut rest = strip_alignment(spec);
    rest = rest.strip_prefix(['+', '-', ' ']).unwrap_or(rest);
    rest = strip_number(rest)?;
    let grouped = rest.strip_prefix(',');
    rest = grouped.unwrap_or(rest);
    let precision = rest.strip_prefix('.');
    if let Some(digits) = precision {
        rest = strip_number(digits)?;
        if rest.len() == digits.len() {
            return None;
        }
    }
    let presentation = match rest {
        "" => None,
        "f" | "e" | "g" | "d" | "x" | "%" => rest.chars().next(),
        _ => return None,
    };
    let is_whole = matches!(presentation, Some('d' | 'x'));
    let has_precision = precision.is_some();
    if is_whole && has_precision || presentation == Some('x') && grouped.is_some() {
        return None;
    }
    Some(Form {
        has_precision,
        presentation,
    })
}

fn strip_alignment(spec: &str) -> &str {
    let align = ['<', '>', '=', '^'];
    let mut chars = spec.chars();
    if chars.next().is_some() && chars.next().is_some_and(|c| align.contains(&c)) {
        return chars.as_str();
    }
    spec.strip_prefix(align).unwrap_or(spec)
}

/// Leaves out leading digits; `None` where there are too many for a width that anyone could want.
fn strip_number(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (text.len() - rest.len() <= 4).then_some(rest)
}
