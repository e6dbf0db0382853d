//! The little data language of attributes, and reading fields out of it.

use std::fmt;
use std::str::FromStr;

/// An attribute's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attr {
    /// A name, a number or `_`, as it stands.
    Word(String),
    /// A quoted string.
    Text(String),
    /// `[a, b]`
    List(Vec<Attr>),
    /// `(a, b)`
    Tuple(Vec<Attr>),
    /// `{a: x, b: y}`
    Record(Vec<(String, Attr)>),
    /// `a x b`, for what belongs to the left and the right operand.
    Cross(Box<Attr>, Box<Attr>),
    /// `name(a, b)`
    Call(String, Vec<Attr>),
}

impl Attr {
    pub fn word(word: impl fmt::Display) -> Attr {
        Attr::Word(word.to_string())
    }

    pub fn words<T: fmt::Display>(items: &[T]) -> Attr {
        Attr::List(items.iter().map(Attr::word).collect())
    }

    pub fn pairs(items: &[(i64, i64)]) -> Attr {
        let pair = |&(a, b): &(i64, i64)| Attr::Tuple(vec![Attr::word(a), Attr::word(b)]);
        Attr::List(items.iter().map(pair).collect())
    }

    pub fn cross(left: &[usize], right: &[usize]) -> Attr {
        Attr::Cross(Box::new(Attr::words(left)), Box::new(Attr::words(right)))
    }

    /// A word that is a number or a name of some type.
    pub fn parse<T: FromStr>(&self) -> Result<T, String> {
        match self {
            Attr::Word(w) => w.parse().map_err(|_| format!("`{w}` does not belong here")),
            _ => Err(format!("`{self}` is not a single word")),
        }
    }

    pub fn list(&self) -> Result<&[Attr], String> {
        match self {
            Attr::List(items) => Ok(items),
            _ => Err(format!("`{self}` is not a list")),
        }
    }

    pub fn text(&self) -> Result<String, String> {
        match self {
            Attr::Text(t) => Ok(t.clone()),
            _ => Err(format!("`{self}` is not a string")),
        }
    }

    pub fn parse_list<T: FromStr>(&self) -> Result<Vec<T>, String> {
        self.list()?.iter().map(Attr::parse).collect()
    }
}

/// Whether a name can stand unquoted.
pub fn is_word(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        && !name.starts_with(|c: char| c.is_ascii_digit() || c == '.')
}

/// A name, quoted if it must be.
pub fn write_name(f: &mut impl fmt::Write, name: &str) -> fmt::Result {
    if is_word(name) {
        f.write_str(name)
    } else {
        write_text(f, name)
    }
}

fn write_text(f: &mut impl fmt::Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            c if c.is_control() => write!(f, "\\u{{{:x}}}", u32::from(c))?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::Word(w) => f.write_str(w),
            Attr::Text(t) => write_text(f, t),
            Attr::List(items) => bracketed(f, "[", items, "]"),
            Attr::Tuple(items) => bracketed(f, "(", items, ")"),
            Attr::Call(name, items) => {
                f.write_str(name)?;
                bracketed(f, "(", items, ")")
            }
            Attr::Record(fields) => {
                f.write_str("{")?;
                for (i, (name, value)) in fields.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write_name(f, name)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
            Attr::Cross(left, right) => write!(f, "{left} x {right}"),
        }
    }
}

fn bracketed(f: &mut fmt::Formatter<'_>, open: &str, items: &[Attr], close: &str) -> fmt::Result {
    f.write_str(open)?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str(close)
}

/// The attributes read with a primitive; each may be taken once, and all must be.
#[derive(Debug, Default)]
pub struct Attrs {
    items: Vec<(String, Attr)>,
}

impl Attrs {
    /// Adds one; a name that stands already is refused.
    pub fn push(&mut self, name: String, value: Attr) -> Result<(), String> {
        if self.items.iter().any(|(n, _)| *n == name) {
            return Err(format!("attribute `{name}` stands twice"));
        }
        self.items.push((name, value));
        Ok(())
    }

    pub fn take(&mut self, name: &str) -> Result<Attr, String> {
        self.take_if_there(name)
            .ok_or_else(|| format!("attribute `{name}` is missing"))
    }

    pub fn take_if_there(&mut self, name: &str) -> Option<Attr> {
        let at = self.items.iter().position(|(n, _)| n == name)?;
        Some(self.items.remove(at).1)
    }

    pub fn word<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        self.take(name)?.parse()
    }

    pub fn words<T: FromStr>(&mut self, name: &str) -> Result<Vec<T>, String> {
        self.take(name)?.parse_list()
    }

    pub fn text(&mut self, name: &str) -> Result<String, String> {
        self.take(name)?.text()
    }

    pub fn pairs(&mut self, name: &str) -> Result<Vec<(i64, i64)>, String> {
        let pair = |item: &Attr| match item {
            Attr::Tuple(two) if two.len() == 2 => Ok((two[0].parse()?, two[1].parse()?)),
            _ => Err(format!("`{item}` is not a pair")),
        };
        self.take(name)?.list()?.iter().map(pair).collect()
    }

    /// Two lists, both empty when the attribute is not written.
    pub fn cross(&mut self, name: &str) -> Result<(Vec<usize>, Vec<usize>), String> {
        match self.take_if_there(name) {
            None => Ok((Vec::new(), Vec::new())),
            Some(Attr::Cross(left, right)) => Ok((left.parse_list()?, right.parse_list()?)),
            Some(other) => Err(format!("`{other}` is not `[…] x […]`")),
        }
    }

    /// Whether a word stands alone.
    pub fn flag(&mut self, name: &str) -> Result<bool, String> {
        match self.take_if_there(name) {
            None => Ok(false),
            Some(Attr::Word(w)) if w == "true" => Ok(true),
            Some(other) => Err(format!("`{name}` takes no value `{other}`")),
        }
    }

    /// Refuses what no one took.
    pub fn finish(self) -> Result<(), String> {
        match self.items.first() {
            None => Ok(()),
            Some((name, _)) => Err(format!("attribute `{name}` does not belong here")),
        }
    }
}
