//! Words, values, strings and marks of the text form. `#` starts a comment.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or a number.
    Word(String),
    /// `%name`, without the sign.
    Value(String),
    /// A quoted string, unescaped.
    Text(String),
    Mark(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(w) => write!(f, "`{w}`"),
            Token::Value(v) => write!(f, "`%{v}`"),
            Token::Text(t) => write!(f, "{t:?}"),
            Token::Mark(m) => write!(f, "`{m}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

const MARKS: [&str; 10] = ["->", "(", ")", "[", "]", "{", "}", ",", ":", "="];

pub struct Lexer<'a> {
    rest: &'a str,
    /// Line of the token given last, from 1.
    pub line: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Lexer {
            rest: text,
            line: 1,
        }
    }

    pub fn next(&mut self) -> Result<Token, String> {
        self.skip_space();
        if self.rest.is_empty() {
            return Ok(Token::End);
        }
        if let Some(mark) = MARKS.into_iter().find(|m| self.rest.starts_with(m)) {
            self.rest = &self.rest[mark.len()..];
            return Ok(Token::Mark(mark));
        }
        if self.rest.starts_with('"') {
            return self.text();
        }
        if let Some(after) = self.rest.strip_prefix('%') {
            self.rest = after;
            return match self.word() {
                "" => Err("`%` without a name".into()),
                name => Ok(Token::Value(name.to_string())),
            };
        }
        match self.word() {
            "" => Err(format!(
                "stray `{}`",
                self.rest.chars().next().unwrap_or(' ')
            )),
            word => Ok(Token::Word(word.to_string())),
        }
    }

    fn skip_space(&mut self) {
        loop {
            let trimmed = self.rest.trim_start();
            self.line += self.rest[..self.rest.len() - trimmed.len()]
                .matches('\n')
                .count();
            self.rest = trimmed;
            if !self.rest.starts_with('#') {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.rest = &self.rest[end..];
        }
    }

    /// Letters, digits, `_` and `.`; a sign at the start of a number and in its exponent.
    fn word(&mut self) -> &'a str {
        let bytes = self.rest.as_bytes();
        let signed = bytes.first() == Some(&b'-');
        let mut end = usize::from(signed);
        let numeric = bytes.get(end).is_some_and(u8::is_ascii_digit);
        let hex = self.rest[end..].starts_with("0x");
        while let Some(&c) = bytes.get(end) {
            let exponent_sign =
                numeric && !hex && (c == b'-' || c == b'+') && bytes[end - 1] == b'e';
            if c.is_ascii_alphanumeric() || c == b'_' || c == b'.' || exponent_sign {
                end += 1;
            } else {
                break;
            }
        }
        if signed && end == 1 {
            end = 0;
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn text(&mut self) -> Result<Token, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(Token::Text(text));
                }
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    Some((at, 'u')) => {
                        let digits = self.rest[at + 1..]
                            .strip_prefix('{')
                            .and_then(|s| s.split('}').next())
                            .unwrap_or_default();
                        let code = u32::from_str_radix(digits, 16).ok();
                        let c = code.and_then(char::from_u32).ok_or("wrong `\\u{…}`")?;
                        text.push(c);
                        // The braces and what is between them.
                        chars.nth(digits.len() + 1);
                    }
                    _ => return Err("unknown escape in a string".into()),
                },
                '\n' => return Err("a string ends at the end of its line".into()),
                c => text.push(c),
            }
        }
        Err("a string has no end".into())
    }
}
