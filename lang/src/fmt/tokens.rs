//! The tokens of a correct program, prepared for layout: strings whole, brackets paired, operators told apart,
//! comments attached, and what the layout itself decides (last commas, needless semicolons) left out.

use crate::lexer::token::{Tok, Token};
use crate::lexer::{Comment, Lexed};
use crate::parser::brackets::{self, Balance};
use crate::span::FileId;
use std::collections::HashSet;

#[derive(Clone, Debug)]
pub struct Piece {
    /// Of a string, its `StrOpen`.
    pub tok: Tok,
    pub start: usize,
    pub end: usize,
    /// The matching bracket; of everything else, itself.
    pub partner: usize,
    pub role: Role,
    /// Whether a statement, or the value of a block, starts here.
    pub starts_statement: bool,
    /// Comments on lines of their own above it, indices into the comments.
    pub above: std::ops::Range<usize>,
    /// The comment behind it on its line.
    pub behind: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plain,
    /// A brace of a block.
    Block,
    /// An operator with an operand on its left; how loosely it binds, loosest 1.
    Binary(u8),
    /// `-x`, `!x`
    Unary,
    /// `|` before, or behind, the parameters of a lambda.
    BarOpen,
    BarClose,
    /// `||` of a lambda without parameters.
    Bars,
    /// `=` of a named argument, `:` of a slice: without spaces.
    Tight,
}

/// `statements` are the byte offsets at which statements start.
pub fn prepare(text: &str, lexed: &Lexed, statements: &[u32]) -> Vec<Piece> {
    let balanced = brackets::balance(FileId(0), text, &lexed.tokens);
    let blocks: HashSet<u32> = balanced
        .tokens
        .iter()
        .filter_map(|t| match t {
            Balance::Open(start) => Some(*start),
            _ => None,
        })
        .collect();
    let mut p = Preparer {
        tokens: &lexed.tokens,
        blocks,
        statements,
        levels: vec![Level::default()],
        out: Vec::new(),
    };
    let mut i = 0;
    while i < lexed.tokens.len() {
        i = p.token(i);
    }
    let mut pieces = p.out;
    attach(text, &lexed.comments, &mut pieces);
    pieces
}

#[derive(Default)]
struct Level {
    /// Index of the opening bracket, among the pieces.
    open: usize,
    tok: Option<Tok>,
    /// A parenthesis that is no list of arguments or parameters.
    grouping: bool,
    /// Brackets with the parameters of a `fn` or `type`.
    generics: bool,
    bars: bool,
    commas: usize,
    /// The first token of the statement we are in.
    head: Option<Tok>,
}

struct Preparer<'a> {
    tokens: &'a [Token],
    blocks: HashSet<u32>,
    statements: &'a [u32],
    levels: Vec<Level>,
    out: Vec<Piece>,
}

impl Preparer<'_> {
    fn token(&mut self, i: usize) -> usize {
        let token = &self.tokens[i];
        if self.is_needless(i) {
            return i + 1;
        }
        let mut end = i + 1;
        if token.tok == Tok::StrOpen {
            end = string_end(self.tokens, i);
        }
        let starts_statement = self.statements.binary_search(&token.start).is_ok();
        let role = self.role(i);
        let index = self.out.len();
        let level = self.levels.len() - 1;
        let level = &mut self.levels[level];
        if starts_statement {
            level.head = Some(token.tok.clone());
        }
        match role {
            Role::BarOpen => level.bars = true,
            Role::BarClose => level.bars = false,
            _ if token.tok == Tok::Comma && !level.bars => level.commas += 1,
            _ => {}
        }
        let mut partner = index;
        match token.tok {
            Tok::LParen | Tok::LBracket | Tok::LBrace => {
                self.open(index, &token.tok, starts_statement)
            }
            Tok::RParen | Tok::RBracket | Tok::RBrace => {
                if self.levels.len() > 1
                    && let Some(level) = self.levels.pop()
                {
                    partner = level.open;
                    self.out[partner].partner = index;
                }
            }
            _ => {}
        }
        let role = match token.tok {
            Tok::RBrace => self.out[partner].role,
            _ => role,
        };
        self.out.push(Piece {
            tok: token.tok.clone(),
            start: token.start as usize,
            end: self.tokens[end - 1].end as usize,
            partner,
            role,
            starts_statement,
            above: 0..0,
            behind: None,
        });
        end
    }

    fn open(&mut self, index: usize, tok: &Tok, starts_statement: bool) {
        let before = |n: usize| index.checked_sub(n).map(|i| &self.out[i].tok);
        let call =
            !starts_statement && before(1).is_some_and(|t| t.ends_operand() || *t == Tok::Fn);
        self.levels.push(Level {
            open: index,
            tok: Some(tok.clone()),
            grouping: *tok == Tok::LParen && !call,
            generics: *tok == Tok::LBracket && matches!(before(2), Some(Tok::Fn | Tok::Type)),
            ..Level::default()
        });
    }

    /// A comma before a closing bracket, except that of `(a,)`; a semicolon that ends nothing.
    fn is_needless(&self, i: usize) -> bool {
        let level = &self.levels[self.levels.len() - 1];
        let next = self.tokens.get(i + 1).map(|t| &t.tok);
        match self.tokens[i].tok {
            Tok::Comma if level.bars => next == Some(&Tok::Bar),
            Tok::Comma => {
                let last = matches!(next, Some(Tok::RParen | Tok::RBracket | Tok::RBrace));
                last && !(level.grouping && level.commas == 0)
            }
            Tok::Semi => {
                let loops = matches!(level.head, Some(Tok::For | Tok::While));
                let block = self
                    .out
                    .last()
                    .is_some_and(|p| p.tok == Tok::RBrace && p.role == Role::Block);
                let empty = self
                    .out
                    .last()
                    .is_none_or(|p| matches!(p.tok, Tok::Semi | Tok::LBrace));
                // Behind the last `if` of a block it makes a statement of what would be the value.
                let branches = matches!(level.head, Some(Tok::If | Tok::LBrace));
                let inner = next != Some(&Tok::RBrace);
                self.levels.len() == 1 || empty || block && (loops || branches && inner)
            }
            _ => false,
        }
    }

    fn role(&self, i: usize) -> Role {
        let token = &self.tokens[i];
        let level = &self.levels[self.levels.len() - 1];
        let before = self.out.last();
        let starts_statement = self.statements.binary_search(&token.start).is_ok();
        let operand = !starts_statement && before.is_some_and(|p| p.tok.ends_operand());
        match token.tok {
            Tok::LBrace if self.blocks.contains(&token.start) => Role::Block,
            Tok::Bar if level.bars => Role::BarClose,
            Tok::Bar => Role::BarOpen,
            Tok::OrOr if !operand => Role::Bars,
            Tok::Minus | Tok::Bang if !operand => Role::Unary,
            Tok::OrOr => Role::Binary(1),
            Tok::AndAnd => Role::Binary(2),
            Tok::EqEq | Tok::NotEq | Tok::Lt | Tok::Le | Tok::Gt | Tok::Ge => Role::Binary(3),
            Tok::Plus | Tok::Minus => Role::Binary(4),
            Tok::Star | Tok::Slash | Tok::Percent | Tok::At => Role::Binary(5),
            Tok::StarStar => Role::Binary(6),
            Tok::Colon if level.tok == Some(Tok::LBracket) && !level.generics && !level.bars => {
                Role::Tight
            }
            Tok::Assign if level.tok == Some(Tok::LParen) && !level.bars => {
                let two = self.out.len().checked_sub(2).map(|i| &self.out[i]);
                let first = two.is_some_and(|p| matches!(p.tok, Tok::LParen | Tok::Comma));
                if first { Role::Tight } else { Role::Plain }
            }
            _ => Role::Plain,
        }
    }
}

/// The index behind the string that opens at `i`.
fn string_end(tokens: &[Token], i: usize) -> usize {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate().skip(i) {
        match token.tok {
            Tok::StrOpen => depth += 1,
            Tok::StrClose => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return n + 1;
        }
    }
    tokens.len()
}

/// Gives each comment to the token it stands behind on a line, or to the next one below it.
fn attach(text: &str, comments: &[Comment], pieces: &mut [Piece]) {
    let mut next = 0;
    for i in 0..pieces.len() {
        let first = next;
        while next < comments.len() && (comments[next].span.start as usize) < pieces[i].start {
            next += 1;
        }
        pieces[i].above = first..next;
        if i > 0 && first < next {
            let gap = &text[pieces[i - 1].end..comments[first].span.start as usize];
            if !gap.contains('\n') {
                pieces[i - 1].behind = Some(first);
                pieces[i].above = first + 1..next;
            }
        }
        // Before a comma there is no place for comments, so they go to what follows it.
        if i > 0 && pieces[i - 1].tok == Tok::Comma && !pieces[i - 1].above.is_empty() {
            pieces[i].above.start = pieces[i - 1].above.start;
            pieces[i - 1].above = 0..0;
            pieces[i - 1].behind = None;
        }
    }
    if let Some(last) = pieces.last_mut()
        && let Some(comment) = comments.get(next)
        && !text[last.end..comment.span.start as usize].contains('\n')
    {
        last.behind = Some(next);
    }
}
