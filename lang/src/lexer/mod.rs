//! Source text to tokens and comments.
//!
//! logos cuts the text ([`raw`]); this file switches between code and the inside of strings, reads numbers, and
//! repairs what it can so that a wrong character costs one message. It knows nothing of the grammar.

mod number;
mod raw;
pub mod token;

use crate::parser::error::{Foreign, NumberFault, SyntaxError};
use crate::span::{FileId, Span};
use logos::Logos;
use raw::{Code, InString};
use token::{Tok, Token};

#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// In order; string delimiters are balanced even where the source's are not.
    pub tokens: Vec<Token>,
    /// In order.
    pub comments: Vec<Comment>,
    pub errors: Vec<SyntaxError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// From the `#` to the end of the line, which is not included.
    pub span: Span,
    /// `##`: the text of the item below it.
    pub doc: bool,
}

pub fn lex(file: FileId, text: &str) -> Lexed {
    let mut lexer = Lexer {
        file,
        text,
        pos: if text.starts_with('\u{feff}') { 3 } else { 0 },
        frames: Vec::new(),
        out: Lexed::default(),
    };
    while lexer.code_token() {}
    lexer.out
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    pos: usize,
    /// The interpolations that we are inside of.
    frames: Vec<Interpolation>,
    out: Lexed,
}

struct Interpolation {
    /// The opening quote of the string it belongs to.
    quote: usize,
    /// Its `{`.
    open: usize,
    /// The brackets open in its expression.
    brackets: Vec<Code>,
}

impl Lexer<'_> {
    /// Reads one token of code, with the whole run of text that follows when it opens or resumes a string.
    /// False at the end.
    fn code_token(&mut self) -> bool {
        let mut raw = Code::lexer(&self.text[self.pos..]);
        let Some(kind) = raw.next() else {
            self.close_strings(self.text.len());
            return false;
        };
        let (start, end) = (self.pos + raw.span().start, self.pos + raw.span().end);
        if !self.frames.is_empty() && self.text[self.pos..start].contains('\n') {
            self.close_strings(self.pos);
            return true;
        }
        self.pos = end;
        match kind {
            Ok(kind) => self.code(kind, start, end),
            Err(()) => self.stray(start, end),
        }
        true
    }

    fn code(&mut self, kind: Code, start: usize, end: usize) {
        let tok = match kind {
            Code::Comment => return self.comment(start, end),
            Code::Word => word(&self.text[start..end]),
            Code::Int | Code::Hex | Code::Float | Code::BadNumber => {
                return self.number(kind, start, end);
            }
            Code::Quote => {
                if !self.frames.is_empty() && !self.rest_of_line(end).contains('"') {
                    return self.unclosed_interpolation(start, end);
                }
                self.push(Tok::StrOpen, start, end);
                return self.string(start);
            }
            Code::LParen | Code::LBracket | Code::LBrace => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.brackets.push(kind);
                }
                match kind {
                    Code::LParen => Tok::LParen,
                    Code::LBracket => Tok::LBracket,
                    _ => Tok::LBrace,
                }
            }
            Code::RParen => {
                self.leave_unclosed(Code::LParen, start);
                self.closer(Code::LParen, Tok::RParen)
            }
            Code::RBracket => {
                self.leave_unclosed(Code::LBracket, start);
                self.closer(Code::LBracket, Tok::RBracket)
            }
            Code::RBrace => {
                if let Some(frame) = self.frames.last()
                    && !frame.brackets.contains(&Code::LBrace)
                {
                    return self.resume_string(start, end);
                }
                self.closer(Code::LBrace, Tok::RBrace)
            }
            Code::Colon => {
                if self.frames.last().is_some_and(|f| f.brackets.is_empty()) {
                    return self.format_spec(end);
                }
                Tok::Colon
            }
            Code::Dot => return self.dot(start, end),
            Code::Comma => Tok::Comma,
            Code::Semi => Tok::Semi,
            Code::DotDot => Tok::DotDot,
            Code::Arrow => Tok::Arrow,
            Code::Assign => Tok::Assign,
            Code::Bar => Tok::Bar,
            Code::OrOr => Tok::OrOr,
            Code::AndAnd => Tok::AndAnd,
            Code::EqEq => Tok::EqEq,
            Code::NotEq => Tok::NotEq,
            Code::Lt => Tok::Lt,
            Code::Le => Tok::Le,
            Code::Gt => Tok::Gt,
            Code::Ge => Tok::Ge,
            Code::Plus => Tok::Plus,
            Code::Minus => Tok::Minus,
            Code::Star => Tok::Star,
            Code::Slash => Tok::Slash,
            Code::Percent => Tok::Percent,
            Code::At => Tok::At,
            Code::StarStar => Tok::StarStar,
            Code::Bang => Tok::Bang,
            Code::OpAssign => self.foreign(Foreign::OpAssign, start, end, Tok::Assign),
            Code::FatArrow => self.foreign(Foreign::FatArrow, start, end, Tok::Arrow),
            Code::Amp => self.foreign(Foreign::Ampersand, start, end, Tok::AndAnd),
            Code::Caret => self.foreign(Foreign::Caret, start, end, Tok::StarStar),
            Code::SlashSlash => {
                if self.at_statement_start(start) {
                    return self.slash_comment(start);
                }
                self.foreign(Foreign::FloorDivision, start, end, Tok::Slash)
            }
            Code::SingleQuoted => return self.single_quoted(start, end),
            Code::NonAscii => return self.stray(start, end),
        };
        self.push(tok, start, end);
    }

    fn push(&mut self, tok: Tok, start: usize, end: usize) {
        self.out.tokens.push(Token {
            tok,
            start: start as u32,
            end: end as u32,
        });
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn comment(&mut self, start: usize, end: usize) {
        let text = self.text[start..end].trim_end();
        self.out.comments.push(Comment {
            span: self.span(start, start + text.len()),
            // A ruler of hashes documents nothing.
            doc: text.starts_with("##") && !text.starts_with("###"),
        });
    }

    /// One message for a run of characters that mean nothing here.
    fn stray(&mut self, start: usize, end: usize) {
        if let Some(SyntaxError::StrayCharacter { at }) = self.out.errors.last_mut()
            && at.end as usize == start
        {
            at.end = end as u32;
            return;
        }
        let at = self.span(start, end);
        self.out.errors.push(SyntaxError::StrayCharacter { at });
    }

    fn foreign(&mut self, form: Foreign, start: usize, end: usize, instead: Tok) -> Tok {
        let at = self.span(start, end);
        self.out.errors.push(SyntaxError::Foreign { at, form });
        instead
    }

    fn single_quoted(&mut self, start: usize, end: usize) {
        let open = self.foreign(Foreign::SingleQuotes, start, end, Tok::StrOpen);
        let text = self.text[start + 1..end - 1].to_string();
        self.push(open, start, start + 1);
        if !text.is_empty() {
            self.push(Tok::StrText(text), start + 1, end - 1);
        }
        self.push(Tok::StrClose, end - 1, end);
    }

    fn slash_comment(&mut self, start: usize) {
        let end = start + self.rest_of_line(start).len();
        self.foreign(Foreign::SlashComment, start, start + 2, Tok::Slash);
        self.pos = end;
    }

    fn at_statement_start(&self, start: usize) -> bool {
        let line = self.text[..start].rsplit('\n').next().unwrap_or("");
        line.trim().is_empty()
            || self
                .out
                .tokens
                .last()
                .is_none_or(|t| matches!(t.tok, Tok::Semi | Tok::LBrace | Tok::RBrace))
    }

    /// A closing bracket that nothing in the interpolation opened, on a line without another quote, is meant as code.
    fn leave_unclosed(&mut self, opener: Code, start: usize) {
        let frame = self.frames.last();
        if frame.is_some_and(|f| !f.brackets.contains(&opener))
            && !self.rest_of_line(start).contains('"')
        {
            self.close_strings(start);
        }
    }

    fn closer(&mut self, opener: Code, tok: Tok) -> Tok {
        if let Some(frame) = self.frames.last_mut()
            && let Some(at) = frame.brackets.iter().rposition(|b| *b == opener)
        {
            frame.brackets.truncate(at);
        }
        tok
    }

    /// A number, or what looks like one. After a dot it is the index of a tuple field: `t.0.1` has two.
    fn number(&mut self, kind: Code, start: usize, end: usize) {
        let text = &self.text[start..end];
        let field = self.out.tokens.last().is_some_and(|t| t.tok == Tok::Dot);
        if field && kind == Code::Float && !text.contains(['e', 'E']) {
            let point = start + text.find('.').unwrap_or(0);
            self.number(Code::Int, start, point);
            self.push(Tok::Dot, point, point + 1);
            return self.number(Code::Int, point + 1, end);
        }
        let tok = match kind {
            Code::Int => number::int(text, 10),
            Code::Hex => number::int(&text[2..], 16),
            Code::Float => number::float(text),
            _ => Err((NumberFault::Letters, Tok::Int(0))),
        };
        let tok = tok.unwrap_or_else(|(fault, instead)| {
            let at = self.span(start, end);
            self.out
                .errors
                .push(SyntaxError::MalformedNumber { at, fault });
            instead
        });
        self.push(tok, start, end);
    }

    /// A dot, unless it makes `1.` or `.5` of the number beside it: those are one digit short of a float.
    fn dot(&mut self, start: usize, end: usize) {
        let next = self.text[end..].chars().next();
        let digit_after = next.is_some_and(|c| c.is_ascii_digit());
        let word_after = next.is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let tokens = &mut self.out.tokens;
        let operand = tokens.last().is_some_and(|t| t.tok.ends_operand());
        let field = tokens.len() >= 2 && tokens[tokens.len() - 2].tok == Tok::Dot;
        match tokens.last_mut() {
            Some(Token {
                tok: tok @ Tok::Int(_),
                start: first,
                end: last,
            }) if *last as usize == start && !field && !digit_after && !word_after => {
                let Tok::Int(n) = *tok else { return };
                *tok = Tok::Float(n as f64);
                *last = end as u32;
                let at = Span::new(self.file, *first as usize, end);
                let fault = NumberFault::Point;
                self.out
                    .errors
                    .push(SyntaxError::MalformedNumber { at, fault });
            }
            _ if digit_after && !operand => {
                let digits = self.text[end..]
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(self.text.len() - end);
                let at = self.span(start, end + digits);
                let fault = NumberFault::Point;
                self.out
                    .errors
                    .push(SyntaxError::MalformedNumber { at, fault });
                self.push(Tok::Float(0.0), start, end + digits);
                self.pos = end + digits;
            }
            _ => self.push(Tok::Dot, start, end),
        }
    }

    /// `:.4f}` of an interpolation: everything up to the brace is the spec.
    fn format_spec(&mut self, start: usize) {
        let rest = self.rest_of_line(start);
        let len = rest.find(['}', '"']).unwrap_or(rest.len());
        self.push(Tok::InterpSpec(rest[..len].to_string()), start, start + len);
        let end = start + len;
        self.pos = end;
        match self.text.as_bytes().get(end) {
            Some(b'}') => self.resume_string(end, end + 1),
            Some(b'"') => self.unclosed_interpolation(end, end + 1),
            _ => self.close_strings(end),
        }
    }

    /// The end of a string where its interpolation should have been closed first.
    fn unclosed_interpolation(&mut self, start: usize, end: usize) {
        if let Some(frame) = self.frames.pop() {
            let open = self.span(frame.open, frame.open + 1);
            self.out.errors.push(SyntaxError::LoneBrace { at: open });
            self.push(Tok::InterpClose, start, start);
            self.push(Tok::StrClose, start, end);
            self.pos = end;
        }
    }

    fn rest_of_line(&self, start: usize) -> &str {
        let rest = &self.text[start..];
        &rest[..rest.find('\n').unwrap_or(rest.len())]
    }

    /// The `}` that ends an interpolation, and the text after it.
    fn resume_string(&mut self, start: usize, end: usize) {
        self.push(Tok::InterpClose, start, end);
        self.pos = end;
        if let Some(frame) = self.frames.pop() {
            self.string(frame.quote);
        }
    }

    /// The inside of a string from `self.pos`, up to its end or to the next interpolation.
    fn string(&mut self, quote: usize) {
        let begin = self.pos;
        let mut raw = InString::lexer(&self.text[begin..]);
        let mut value = String::new();
        while let Some(kind) = raw.next() {
            let (start, end) = (begin + raw.span().start, begin + raw.span().end);
            let slice = &self.text[start..end];
            match kind {
                Ok(InString::Text) => value.push_str(slice),
                Ok(InString::OpenBraces) => value.push('{'),
                Ok(InString::CloseBraces) => value.push('}'),
                Ok(InString::Escape | InString::Unicode) => match escape(slice) {
                    Some(c) => value.push(c),
                    None => self.bad_escape(start, end),
                },
                Ok(InString::Backslash) | Err(()) => self.bad_escape(start, end),
                Ok(InString::Close) => {
                    let at = self.span(start, end);
                    self.out.errors.push(SyntaxError::LoneBrace { at });
                }
                Ok(InString::Open) => {
                    self.text_token(value, begin, start);
                    self.push(Tok::InterpOpen, start, end);
                    self.pos = end;
                    let brackets = Vec::new();
                    self.frames.push(Interpolation {
                        quote,
                        open: start,
                        brackets,
                    });
                    return;
                }
                Ok(InString::Quote) => {
                    self.text_token(value, begin, start);
                    self.push(Tok::StrClose, start, end);
                    self.pos = end;
                    return;
                }
                Ok(InString::Newline) => return self.unclosed(quote, begin, start, value),
            }
        }
        self.unclosed(quote, begin, self.text.len(), value);
    }

    fn text_token(&mut self, value: String, start: usize, end: usize) {
        if start < end {
            self.push(Tok::StrText(value), start, end);
        }
    }

    fn bad_escape(&mut self, start: usize, end: usize) {
        let at = self.span(start, end);
        self.out.errors.push(SyntaxError::BadEscape { at });
    }

    /// A string that the line ends in. The brackets and the semicolon at its end were most likely meant as code:
    /// taking them as such keeps one forgotten quote from unbalancing the rest of the file.
    fn unclosed(&mut self, quote: usize, begin: usize, end: usize, mut value: String) {
        let text = &self.text[begin..end];
        let code = |c: char| c.is_whitespace() || ")];,}".contains(c);
        let end = if self.frames.is_empty() {
            value.truncate(value.trim_end_matches(code).len());
            begin + text.trim_end_matches(code).len()
        } else {
            end
        };
        self.text_token(value, begin, end);
        self.push(Tok::StrClose, end, end);
        self.pos = end;
        // What else is wrong in it is so because it goes on too far.
        while let Some(SyntaxError::LoneBrace { at } | SyntaxError::BadEscape { at }) =
            self.out.errors.last()
            && at.start as usize > quote
        {
            self.out.errors.pop();
        }
        let closes = begin == quote + 1 && begin == end && self.ends_unclosed(quote);
        if self.frames.is_empty() && !closes {
            let open = self.span(quote, quote + 1);
            self.out.errors.push(SyntaxError::UnclosedString { open });
        }
        self.close_strings(end);
    }

    /// Whether a quote with nothing but brackets behind it is the end of a string that began on a line before, and has
    /// been reported.
    fn ends_unclosed(&self, quote: usize) -> bool {
        let Some(SyntaxError::UnclosedString { open }) = self.out.errors.last() else {
            return false;
        };
        let since = self.out.tokens.iter().rev();
        let mut since = since.take_while(|t| t.start > open.start);
        since.all(|t| t.tok != Tok::StrOpen || t.start as usize == quote)
    }

    /// Ends, in the middle of an interpolation, all strings that are open; one message for the outermost.
    fn close_strings(&mut self, at: usize) {
        let Some(first) = self.frames.first() else {
            return;
        };
        let open = self.span(first.quote, first.quote + 1);
        for _ in std::mem::take(&mut self.frames) {
            self.push(Tok::InterpClose, at, at);
            self.push(Tok::StrClose, at, at);
        }
        self.out.errors.push(SyntaxError::UnclosedString { open });
    }
}

fn word(text: &str) -> Tok {
    match text {
        "fn" => Tok::Fn,
        "type" => Tok::Type,
        "const" => Tok::Const,
        "import" => Tok::Import,
        "main" => Tok::Main,
        "test" => Tok::Test,
        "let" => Tok::Let,
        "mut" => Tok::Mut,
        "for" => Tok::For,
        "in" => Tok::In,
        "while" => Tok::While,
        "if" => Tok::If,
        "else" => Tok::Else,
        "return" => Tok::Return,
        "true" => Tok::True,
        "false" => Tok::False,
        "none" => Tok::None,
        "inf" => Tok::Float(f64::INFINITY),
        "nan" => Tok::Float(f64::NAN),
        "mesh" => Tok::Mesh,
        "as" => Tok::As,
        "vjp" => Tok::Vjp,
        _ => Tok::Ident(text.into()),
    }
}

/// The character that an escape stands for.
fn escape(text: &str) -> Option<char> {
    Some(match text.as_bytes().get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'0' => '\0',
        b'\\' => '\\',
        b'"' => '"',
        b'u' => {
            let digits = text.strip_prefix("\\u{")?.strip_suffix('}')?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
        }
        _ => return None,
    })
}
