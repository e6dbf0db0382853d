//! Reserved words where only a name can stand, `fn for(…)`, `{ in: 1 }`, `x.type`: each is reported, and read as that
//! name, so that nothing else about the program seems wrong. `mut x = 1;` is likewise read with the `let` that it lacks,
//! and the second of `let let` is left out.

use super::error::{Expected, Found, SyntaxError};
use crate::lexer::token::{Tok, Token};
use crate::span::{FileId, Span};

pub struct Renamed {
    pub tokens: Vec<Token>,
    pub errors: Vec<SyntaxError>,
}

pub fn read_as_names(file: FileId, text: &str, tokens: Vec<Token>) -> Renamed {
    let mut errors = Vec::new();
    let mut open = Vec::new();
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        match token.tok {
            Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => open.push(&token.tok),
            Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => {
                open.pop();
            }
            _ => {}
        }
        let mut token = token.clone();
        if let Some(word) = word(&token.tok) {
            let place = Place {
                text,
                before: &out,
                at: &tokens[i],
                next: tokens.get(i + 1),
                in_brackets: open.last() == Some(&&Tok::LBracket),
            };
            let at = Span::new(file, token.start as usize, token.end as usize);
            if place.lacks_let() {
                errors.push(SyntaxError::Reserved { at, word });
                out.push(Token {
                    tok: Tok::Let,
                    start: token.start,
                    end: token.start,
                });
            } else if place.is_doubled() {
                let found = Found::Token(word.to_string());
                let expected = Expected::Pattern;
                errors.push(SyntaxError::Unexpected {
                    at,
                    found,
                    expected,
                });
                continue;
            } else if place.is_of_a_name() {
                errors.push(SyntaxError::Reserved { at, word });
                token.tok = Tok::Ident(word.into());
            }
        }
        out.push(token);
    }
    Renamed {
        tokens: out,
        errors,
    }
}

/// The word, if it is one that cannot be a name.
pub fn word(tok: &Tok) -> Option<&'static str> {
    match tok {
        Tok::Float(x) if x.is_nan() => Some("nan"),
        Tok::Float(x) if x.is_infinite() => Some("inf"),
        _ => tok.keyword(),
    }
}

/// Where a reserved word stands.
struct Place<'a> {
    text: &'a str,
    before: &'a [Token],
    at: &'a Token,
    next: Option<&'a Token>,
    in_brackets: bool,
}

impl Place<'_> {
    fn is_of_a_name(&self) -> bool {
        let next = self.next.map(|t| &t.tok);
        let at = &self.at.tok;
        match self.before_on_line(1) {
            Some(Tok::Fn | Tok::Const | Tok::Type | Tok::Import | Tok::Dot) => return true,
            Some(Tok::As) if self.ends_import() => return true,
            Some(Tok::Let) if *at != Tok::Mut => return is_defined(next),
            Some(Tok::Mut) => return is_defined(next),
            Some(Tok::For) => return next == Some(&Tok::In),
            _ => {}
        }
        let before = self.before.last().map(|t| &t.tok);
        let (Some(before), Some(next)) = (before, next) else {
            return false;
        };
        // `{ in: 1 }`, `(for: f32)`, `|type: f32|`; `x[true:]` is another mistake.
        let heads = matches!(before, Tok::LParen | Tok::LBrace | Tok::Comma | Tok::Bar);
        if heads && *next == Tok::Colon {
            return !self.in_brackets;
        }
        // `f(type=1)`: `in` is the name of an argument.
        if matches!(before, Tok::LParen | Tok::Comma) && *next == Tok::Assign {
            return *at != Tok::In;
        }
        let is_value = matches!(at, Tok::True | Tok::False | Tok::None | Tok::Float(_));
        let is_statement = *before == Tok::LBrace && (at.begins_statement() || *at == Tok::If);
        !is_value && !is_statement && is_before_operand(before) && is_behind_operand(next)
    }

    /// `mut x = 1;`
    fn lacks_let(&self) -> bool {
        let before = self.before.last().map(|t| &t.tok);
        let begins = matches!(before, Some(Tok::LBrace | Tok::RBrace | Tok::Semi));
        let next = self.next.map(|t| &t.tok);
        let binds = next.is_some_and(|t| t.is_name() || matches!(t, Tok::LParen | Tok::LBrace));
        self.at.tok == Tok::Mut && begins && binds
    }

    /// `let let x = 1;`, `let mut mut x = 1;`
    fn is_doubled(&self) -> bool {
        let is_let = matches!(self.at.tok, Tok::Let | Tok::Mut);
        let next = self.next.map(|t| &t.tok);
        is_let && self.before_on_line(1) == Some(&self.at.tok) && !is_defined(next)
    }

    /// The token so many places before, if it is on the same line.
    fn before_on_line(&self, n: usize) -> Option<&Tok> {
        let token = &self.before[self.before.len().checked_sub(n)?];
        let gap = &self.text[token.end as usize..self.at.start as usize];
        (!gap.contains('\n')).then_some(&token.tok)
    }

    /// `import optim as`, `import "a.tl" as`
    fn ends_import(&self) -> bool {
        match self.before_on_line(2) {
            Some(Tok::StrClose) => true,
            Some(tok) => tok.is_name() && self.before_on_line(3) == Some(&Tok::Import),
            None => false,
        }
    }
}

fn is_defined(next: Option<&Tok>) -> bool {
    matches!(next, Some(Tok::Assign | Tok::Colon))
}

fn is_before_operand(tok: &Tok) -> bool {
    is_operator(tok)
        || matches!(
            tok,
            Tok::LParen
                | Tok::LBracket
                | Tok::LBrace
                | Tok::Comma
                | Tok::Assign
                | Tok::Bar
                | Tok::Bang
                | Tok::DotDot
                | Tok::InterpOpen
        )
}

fn is_behind_operand(tok: &Tok) -> bool {
    is_operator(tok) && *tok != Tok::Minus
        || matches!(
            tok,
            Tok::RParen
                | Tok::RBracket
                | Tok::RBrace
                | Tok::Comma
                | Tok::Semi
                | Tok::Dot
                | Tok::Bar
                | Tok::InterpClose
                | Tok::InterpSpec(_)
        )
}

/// Whether it stands between two operands.
pub(super) fn is_operator(tok: &Tok) -> bool {
    matches!(
        tok,
        Tok::OrOr
            | Tok::AndAnd
            | Tok::EqEq
            | Tok::NotEq
            | Tok::Lt
            | Tok::Le
            | Tok::Gt
            | Tok::Ge
            | Tok::Plus
            | Tok::Minus
            | Tok::Star
            | Tok::Slash
            | Tok::Percent
            | Tok::At
            | Tok::StarStar
    )
}
