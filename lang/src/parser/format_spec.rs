//! The form of a format spec, as in Python: `[[fill]align][sign][0][width][,][.precision][type]`.
//!
//! Whether a spec fits the value it formats depends on its type, and is not asked here.

pub fn is_valid(spec: &str) -> bool {
    let mut rest = strip_alignment(spec);
    rest = rest.strip_prefix(['+', '-', ' ']).unwrap_or(rest);
    let Some(after_width) = strip_number(rest) else {
        return false;
    };
    rest = after_width.strip_prefix(',').unwrap_or(after_width);
    if let Some(precision) = rest.strip_prefix('.') {
        match strip_number(precision) {
            Some(after) if after.len() < precision.len() => rest = after,
            _ => return false,
        }
    }
    matches!(rest, "" | "f" | "e" | "g" | "d" | "x" | "%")
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
