//! The difference of two functions by what they compute. Values are matched up ([`matching`]), so how they are numbered
//! and where they stand does not count; what is left is printed ([`text`]).

mod matching;
#[cfg(test)]
mod tests;
mod text;

use crate::ir::Func;

/// What differs between two functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// Instructions that both have.
    pub same: usize,
    /// Instructions matched whose primitive or operands differ.
    pub changed: usize,
    pub removed: usize,
    pub added: usize,
    /// One line for each instruction that differs: `-` as it was, `+` as it is.
    pub text: String,
}

impl Diff {
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }
}

/// From `old` to `new`.
pub fn diff(old: &Func, new: &Func) -> Diff {
    let pairs = matching::pairs(old, new);
    text::write(old, new, &pairs)
}

/// A function that only one side has.
pub fn one_sided(func: &Func, mark: char) -> Diff {
    let text = func.to_string();
    let mut count = 0;
    func.body.walk(&mut |_| count += 1);
    let (removed, added) = if mark == '-' { (count, 0) } else { (0, count) };
    Diff {
        removed,
        added,
        text: text.lines().map(|l| format!("{mark} {l}\n")).collect(),
        ..Diff::default()
    }
}
