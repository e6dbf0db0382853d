//! Between lexer and grammar: balances the brackets, limits how deep they nest, and tells the braces of blocks from
//! those of records.
//!
//! A bracket that is not closed is closed where the source makes plain that it should have been (at the end of a
//! statement, before an item at the start of a line), so that the error stays local.

use super::deep::MAX_NESTING;
use super::error::SyntaxError;
use crate::lexer::token::{Tok, Token};
use crate::span::{FileId, Span};

/// No line that someone wrote has more tokens.
const LONGEST_LINE: usize = 1000;

pub struct Balanced {
    pub tokens: Vec<Balance>,
    pub errors: Vec<SyntaxError>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Balance {
    /// For the grammar, `{` and `}` only of records.
    Token(Token),
    /// `{` of statements, at this byte.
    Open(u32),
    /// `}` of statements, ending at this byte.
    Close(u32),
}

/// Every bracket in the result has its partner.
pub fn balance(file: FileId, text: &str, tokens: &[Token]) -> Balanced {
    let mut b = Balancer {
        file,
        text,
        tokens,
        levels: vec![Level::new(Kind::File, 0, 0, 0)],
        suspect: None,
        line: 0,
        indent: 0,
        at_end: false,
        out: Balanced {
            tokens: Vec::with_capacity(tokens.len()),
            errors: Vec::new(),
        },
    };
    let mut i = 0;
    while i < tokens.len() {
        i = b.token(i);
    }
    b.at_end = true;
    b.close_down_to(1, text.trim_end().len() as u32);
    b.out
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Paren,
    Bracket,
    Record,
    Block,
    Interpolation,
}

struct Level {
    kind: Kind,
    open: u32,
    /// The line that it opens on, and that line's indentation.
    line: u32,
    indent: u32,
    names: Names,
    /// Whether it is part of a pattern.
    pattern: bool,
    /// Whether a string in it was never closed, so that its own end may have been taken for text.
    swallowed: bool,
}

impl Level {
    fn new(kind: Kind, open: u32, line: u32, indent: u32) -> Self {
        Level {
            kind,
            open,
            line,
            indent,
            names: Names::Not,
            pattern: false,
            swallowed: false,
        }
    }

    fn binds(&self) -> bool {
        self.pattern || matches!(self.names, Names::Head | Names::Bars)
    }
}

/// Whether names are being bound at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    Not,
    /// From `let` or `for` to `:`, `=` or `in`.
    Head,
    /// Between the bars of a lambda.
    Bars,
    /// Between the bars, in the type of a parameter.
    BarsType,
}

struct Balancer<'a> {
    file: FileId,
    text: &'a str,
    tokens: &'a [Token],
    levels: Vec<Level>,
    /// The first pair of braces, in this item, whose lines are indented differently.
    suspect: Option<(Span, Span)>,
    /// Of the current token: its line, counted over lines that have any, and that line's indentation.
    line: u32,
    indent: u32,
    at_end: bool,
    out: Balanced,
}

impl Balancer<'_> {
    /// Handles the token at `i`; returns the index of the next one to handle.
    fn token(&mut self, i: usize) -> usize {
        let token = &self.tokens[i];
        let first_on_line = self.first_on_line(i);
        if first_on_line && self.indent == 0 && self.levels.len() > 1 && self.begins_item(i) {
            self.close_down_to(1, self.before(i));
        }
        // An `else` stands behind a closed block.
        let closed = i > 0 && self.tokens[i - 1].tok == Tok::RBrace;
        let in_branch =
            self.levels.len() > 2 && self.levels.last().is_some_and(|l| l.kind == Kind::Block);
        if token.tok == Tok::Else && !closed && in_branch {
            self.close_down_to(self.levels.len() - 1, self.before(i));
        }
        let forgotten = match token.tok {
            Tok::Semi => !self.closes_soon(i),
            _ => first_on_line && token.tok.begins_statement(),
        };
        if forgotten {
            self.close_parens(self.before(i));
        }
        self.track_names(&token.tok);
        if token.tok == Tok::StrClose && token.start == token.end {
            self.levels.iter_mut().for_each(|l| l.swallowed = true);
        }
        match token.tok {
            Tok::LParen => self.open(i, Kind::Paren),
            Tok::LBracket => self.open(i, Kind::Bracket),
            Tok::LBrace if self.opens_record(i) => self.open(i, Kind::Record),
            Tok::LBrace => self.open(i, Kind::Block),
            Tok::InterpOpen => self.open(i, Kind::Interpolation),
            Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => {
                self.close(i, first_on_line);
                i + 1
            }
            _ => {
                self.out.tokens.push(Balance::Token(token.clone()));
                i + 1
            }
        }
    }

    fn span(&self, start: u32, end: u32) -> Span {
        Span::new(self.file, start as usize, end as usize)
    }

    fn top(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// The end of the token before.
    fn before(&self, i: usize) -> u32 {
        if i == 0 { 0 } else { self.tokens[i - 1].end }
    }

    /// Whether it is; if so the line's indentation is noted.
    fn first_on_line(&mut self, i: usize) -> bool {
        let start = self.tokens[i].start;
        let gap = &self.text[self.before(i) as usize..start as usize];
        let newline = gap.rfind('\n');
        if newline.is_none() && i > 0 {
            return false;
        }
        self.line += 1;
        self.indent = (gap.len() - newline.map_or(0, |n| n + 1)) as u32;
        true
    }

    fn begins_item(&self, i: usize) -> bool {
        let next = self.tokens.get(i + 1).map(|t| &t.tok);
        match self.tokens[i].tok {
            Tok::Fn | Tok::Type => next.is_some_and(Tok::is_name),
            Tok::Import => true,
            Tok::Main => next == Some(&Tok::LBrace),
            Tok::Test => next == Some(&Tok::StrOpen),
            _ => false,
        }
    }

    /// Whether the parenthesis around the semicolon at `i` is closed before anything that shows it was forgotten.
    fn closes_soon(&self, i: usize) -> bool {
        let mut depth = 0;
        for token in self.tokens[i + 1..].iter().take(64) {
            match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => depth += 1,
                Tok::RParen | Tok::RBracket if depth == 0 => return true,
                Tok::RBrace | Tok::InterpClose if depth == 0 => return false,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => depth -= 1,
                _ if token.tok.begins_statement() => return false,
                _ => {}
            }
        }
        false
    }

    fn track_names(&mut self, tok: &Tok) {
        let level = self.top();
        level.names = match (tok, level.names) {
            (Tok::Let | Tok::For, _) => Names::Head,
            (Tok::Assign | Tok::In | Tok::Colon | Tok::Semi, Names::Head) => Names::Not,
            (Tok::Bar, Names::Bars | Names::BarsType) => Names::Not,
            (Tok::Bar, _) => Names::Bars,
            (Tok::Colon, Names::Bars) => Names::BarsType,
            (Tok::Comma, Names::BarsType) => Names::Bars,
            (Tok::Semi, _) => Names::Not,
            (_, names) => names,
        };
    }

    /// `{ name: …`, `{ name, …`, and every brace in a pattern but none else, opens a record.
    fn opens_record(&self, i: usize) -> bool {
        let next = |n: usize| self.tokens.get(i + n).map(|t| &t.tok);
        let binds = self.levels.last().is_some_and(Level::binds);
        if binds {
            return true;
        }
        let named = next(1).is_some_and(|t| t.is_name() || t.keyword().is_some());
        named
            && (next(2) == Some(&Tok::Colon)
                || next(2) == Some(&Tok::Comma) && next(1).is_some_and(Tok::is_name))
    }

    fn open(&mut self, i: usize, kind: Kind) -> usize {
        let token = &self.tokens[i];
        if self.levels.len() > MAX_NESTING as usize {
            return self.skip(i);
        }
        let pattern = self.top().binds() && kind != Kind::Bracket && kind != Kind::Interpolation;
        let mut level = Level::new(kind, token.start, self.line, self.indent);
        level.pattern = pattern;
        self.levels.push(level);
        self.out.tokens.push(match kind {
            Kind::Block => Balance::Open(token.start),
            _ => Balance::Token(token.clone()),
        });
        i + 1
    }

    /// Leaves out a bracket that is too deep, with its contents.
    fn skip(&mut self, open: usize) -> usize {
        let start = self.tokens[open].start;
        let at = self.span(start, self.tokens[open].end);
        self.out.errors.push(SyntaxError::TooDeep { at });
        let mut depth = 0;
        let mut i = open;
        while i < self.tokens.len() {
            match self.tokens[i].tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => depth -= 1,
                _ => {}
            }
            i += 1;
            if depth == 0 {
                break;
            }
        }
        self.out.tokens.push(Balance::Token(Token {
            tok: Tok::Broken,
            start,
            end: self.tokens[i - 1].end,
        }));
        i
    }

    fn close(&mut self, i: usize, first_on_line: bool) {
        let token = &self.tokens[i];
        let matches = |kind| match token.tok {
            Tok::RParen => kind == Kind::Paren,
            Tok::RBracket => kind == Kind::Bracket,
            Tok::RBrace => kind == Kind::Record || kind == Kind::Block,
            _ => kind == Kind::Interpolation,
        };
        let partner = self.partner(matches);
        let is_stray = |at: &usize| self.is_stray(i, *at) || self.leaves_item_open(i, *at);
        let partner = partner.filter(|at| !is_stray(at));
        let Some(at) = partner else {
            if !self.ends_unclosed_string(i) {
                self.out.errors.push(SyntaxError::Unopened {
                    at: self.span(token.start, token.end),
                    bracket: match token.tok {
                        Tok::RParen => ")",
                        Tok::RBracket => "]",
                        _ => "}",
                    },
                });
            }
            return;
        };
        self.close_down_to(at + 1, self.before(i));
        if token.tok == Tok::RBrace && first_on_line && self.levels[at].indent != self.indent {
            let open = self.levels[at].open;
            let pair = (self.span(open, open + 1), self.span(token.start, token.end));
            self.suspect.get_or_insert(pair);
        }
        let kind = self.levels[at].kind;
        self.levels.truncate(at);
        if self.levels.len() == 1 {
            self.suspect = None;
        }
        self.out.tokens.push(match kind {
            Kind::Block => Balance::Close(token.end),
            _ => Balance::Token(token.clone()),
        });
    }

    /// Whether a brace at `i` that would end the block at a level stands inside of parentheses that are closed later on
    /// its line: `f(} x);`.
    fn is_stray(&self, i: usize, at: usize) -> bool {
        let inner = &self.levels[at + 1..];
        let here = inner.iter().all(|l| l.line == self.line);
        let is_brace = self.tokens[i].tok == Tok::RBrace;
        if !is_brace || inner.is_empty() || !here || self.levels[at].line == self.line {
            return false;
        }
        let mut open = inner.len();
        for pair in self.tokens[i..].windows(2).take(LONGEST_LINE) {
            let gap = &self.text[pair[0].end as usize..pair[1].start as usize];
            if gap.contains('\n') {
                return false;
            }
            match pair[1].tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => open += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => open -= 1,
                _ => {}
            }
            if open == 0 {
                return true;
            }
        }
        false
    }

    /// Whether a brace at `i` would end an item at a level in whose middle it stands: what follows is none, further in,
    /// and another brace is there to end it.
    fn leaves_item_open(&self, i: usize, at: usize) -> bool {
        let follows = |n: usize| self.tokens.get(i + n).map(|t| &t.tok);
        let is_brace = self.tokens[i].tok == Tok::RBrace;
        let ends = matches!(follows(1), None | Some(Tok::Vjp | Tok::Const | Tok::Mesh));
        if !is_brace || at != 1 || self.levels[1].kind != Kind::Block || ends {
            return false;
        }
        let gap = |a: &Token, b: &Token| &self.text[a.end as usize..b.start as usize];
        let pairs = || self.tokens[i..].windows(2).enumerate();
        // Where the line starts, if the token is the first on one.
        let column = |(a, b): (&Token, &Token)| {
            let gap = gap(a, b);
            gap.rfind('\n').map(|n| gap.len() - n - 1)
        };
        let is_inside = pairs()
            .next()
            .is_some_and(|(_, p)| column((&p[0], &p[1])).is_some_and(|c| c > 0));
        if !is_inside || self.begins_item(i + 1) {
            return false;
        }
        let mut depth = 0;
        for (n, pair) in pairs() {
            match pair[1].tok {
                Tok::LBrace => depth += 1,
                Tok::RBrace => depth -= 1,
                _ if column((&pair[0], &pair[1])) == Some(0) && self.begins_item(i + n + 1) => {
                    return false;
                }
                _ => {}
            }
            if depth < 0 {
                return true;
            }
        }
        false
    }

    /// Whether the closing bracket at `i` follows a string that was not closed: it is taken for code there only in case
    /// it is needed.
    fn ends_unclosed_string(&self, i: usize) -> bool {
        let before = self.tokens[..i].iter().rev().take(8).find(|t| {
            !matches!(
                t.tok,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::Comma | Tok::Semi
            )
        });
        before.is_some_and(|t| t.tok == Tok::StrClose && t.start == t.end)
    }

    /// The level that a closing bracket ends: the innermost of its kind in the same interpolation, unless
    /// braces that were opened on an earlier line stand between. Those are the safer guide.
    fn partner(&self, matches: impl Fn(Kind) -> bool) -> Option<usize> {
        for (at, level) in self.levels.iter().enumerate().skip(1).rev() {
            if matches(level.kind) {
                return Some(at);
            }
            let brace = matches!(level.kind, Kind::Record | Kind::Block);
            if level.kind == Kind::Interpolation || brace && level.line != self.line {
                return None;
            }
        }
        None
    }

    /// Closes, as not closed by the source, the parentheses and brackets that are open in this statement.
    fn close_parens(&mut self, at: u32) {
        let keep = self
            .levels
            .iter()
            .rposition(|l| !matches!(l.kind, Kind::Paren | Kind::Bracket))
            .map_or(1, |n| n + 1);
        self.close_down_to(keep, at);
    }

    /// Closes what is open above the first `keep` levels; one message, for the innermost of it.
    fn close_down_to(&mut self, keep: usize, at: u32) {
        if self.levels.len() <= keep {
            return;
        }
        let brace = |l: &&Level| matches!(l.kind, Kind::Block | Kind::Record);
        let open = &self.levels[keep..];
        let braces = open.iter().any(|l| brace(&l));
        let innermost = open.iter().rev().find(|l| !l.swallowed || brace(l));
        if let Some(innermost) = innermost {
            self.out.errors.push(SyntaxError::Unclosed {
                open: self.span(innermost.open, innermost.open + 1),
                bracket: match innermost.kind {
                    Kind::Paren => "(",
                    Kind::Bracket => "[",
                    _ => "{",
                },
                before: self.span(at, at),
                at_end: self.at_end,
                suspect: self.suspect.take().filter(|_| braces),
            });
        }
        for level in self.levels.drain(keep..).rev() {
            let tok = match level.kind {
                Kind::Paren => Tok::RParen,
                Kind::Bracket => Tok::RBracket,
                Kind::Record => Tok::RBrace,
                Kind::Interpolation => Tok::InterpClose,
                Kind::Block | Kind::File => {
                    self.out.tokens.push(Balance::Close(at));
                    continue;
                }
            };
            self.out.tokens.push(Balance::Token(Token {
                tok,
                start: at,
                end: at,
            }));
        }
    }
}
