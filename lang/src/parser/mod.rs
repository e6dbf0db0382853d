//! Tokens to syntax tree.
//!
//! The grammar is `grammar.lalrpop`. Around it: [`reserved`] and [`brackets`] prepare the tokens, this file feeds each
//! block to the parser from the innermost outwards and cuts blocks into statements, [`recover`] goes on behind an
//! error, [`build`] makes the nodes, and [`message`] has the prose. Names are not resolved here.

pub(crate) mod brackets;
mod build;
mod deep;
pub mod error;
mod expected;
pub(crate) mod format_spec;
mod message;
mod recover;
mod reserved;

#[allow(clippy::all, unused)]
mod grammar {
    include!(concat!(env!("OUT_DIR"), "/parser/grammar.rs"));
}

use crate::ast::*;
use crate::diag::Diagnostic;
use crate::lexer::token::{BlockId, Tok, Token};
use crate::lexer::{self, Comment};
use crate::span::{FileId, Span};
use brackets::Balance;
use build::{Builder, Chunk, LetHead};
use deep::{Deep, deepest};
use error::SyntaxError;
use lalrpop_util::ParseError;

/// One file, parsed as far as it could be.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub module: Module,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// All of them, doc comments included, in order.
    pub comments: Vec<Comment>,
    /// Names of the items that could not be read: whoever resolves names should not report these as unknown.
    pub broken: Vec<Ident>,
    /// Byte offsets at which statements and values of blocks start, in order.
    pub statements: Vec<u32>,
}

/// Parses a file. Never fails: what could not be read is in the diagnostics, and stands as `Error` nodes in the tree.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let lexed = lexer::lex(file, text);
    let renamed = reserved::read_as_names(file, text, lexed.tokens);
    let balanced = brackets::balance(file, text, &renamed.tokens);
    let mut lower = lexed.errors;
    lower.extend(renamed.errors);
    lower.extend(balanced.errors);
    lower.sort_by_key(|e| e.span().start);
    let mut parser = Parser {
        raw: &renamed.tokens,
        lower: lower.iter().map(|e| e.span().start).collect(),
        grammar: Grammars::default(),
        broken: Vec::new(),
        b: Builder {
            file,
            text,
            errors: lower,
            blocks: Vec::new(),
            statements: Vec::new(),
            trial: false,
            cut: false,
        },
    };
    let top = parser.blocks(balanced.tokens);
    let items = parser.items(&top, &lexed.comments);
    let starts: Vec<u32> = parser
        .item_starts(&top)
        .iter()
        .filter_map(|&i| top.get(i).map(|t| t.start))
        .collect();
    let mut errors = parser.b.errors;
    errors.sort_by_key(|e| (e.span().start, e.span().end));
    errors.dedup();
    one_depth_an_item(&mut errors, &starts);
    let mut statements = parser.b.statements;
    statements.sort_unstable();
    statements.dedup();
    Parsed {
        module: Module { items },
        diagnostics: errors.iter().map(SyntaxError::to_diagnostic).collect(),
        comments: lexed.comments,
        broken: parser.broken,
        statements,
    }
}

/// Of what is nested too deeply, each part that is cut off would be an error of its own.
fn one_depth_an_item(errors: &mut Vec<SyntaxError>, starts: &[u32]) {
    let mut told = None;
    errors.retain(|e| {
        let item = starts.partition_point(|s| *s <= e.span().start);
        !matches!(e, SyntaxError::TooDeep { .. }) || told.replace(item) != Some(item)
    });
}

#[derive(Default)]
struct Grammars {
    item: grammar::ItemParser,
    chunk: grammar::ChunkParser,
    let_head: grammar::LetHeadParser,
}

struct Parser<'a> {
    raw: &'a [Token],
    /// Where lexer and brackets had errors, in order: an error of the grammar at such a place is a consequence.
    lower: Vec<u32>,
    grammar: Grammars,
    broken: Vec<Ident>,
    b: Builder<'a>,
}

/// Why tokens did not fit the grammar.
#[derive(Debug)]
struct Misfit {
    /// Index of the token that could not be; the number of tokens if one more was needed.
    index: usize,
    /// The terminals that could have been.
    expected: Vec<String>,
}

impl Parser<'_> {
    /// Parses all blocks, each before the one around it; returns the tokens outside of blocks.
    fn blocks(&mut self, tokens: Vec<Balance>) -> Vec<Token> {
        let mut open: Vec<(u32, Vec<Token>)> = Vec::new();
        let mut level = Vec::new();
        for token in tokens {
            match token {
                Balance::Token(token) => level.push(token),
                Balance::Open(start) => open.push((start, std::mem::take(&mut level))),
                Balance::Close(end) => {
                    let Some((start, outer)) = open.pop() else {
                        continue;
                    };
                    let block = self.block(&level, start, end);
                    level = outer;
                    let id = BlockId(self.b.blocks.len() as u32);
                    self.b.blocks.push(Some(block));
                    let tok = Tok::Block(id);
                    level.push(Token { tok, start, end });
                }
            }
        }
        level
    }

    fn block(&mut self, tokens: &[Token], start: u32, end: u32) -> Deep<Block> {
        let mut stmts = Vec::new();
        let mut value = None;
        let mut depth = 0;
        let mut from = 0;
        for (i, token) in tokens.iter().enumerate() {
            match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => depth -= 1,
                Tok::Semi if depth == 0 => {
                    self.chunk(&tokens[from..=i], &mut stmts);
                    from = i + 1;
                }
                _ => {}
            }
        }
        if from < tokens.len() {
            value = self.chunk(&tokens[from..], &mut stmts);
            if value.is_none() {
                value = take_value(&mut stmts);
            }
        }
        self.lost_values(&stmts, value.as_ref());
        if let Some(value) = &value {
            self.b.statements.push(value.node.span.start);
        }
        Deep {
            depth: deepest(&stmts).max(deepest(&value)),
            node: Block {
                stmts: stmts.into_iter().map(|s| s.node).collect(),
                value: value.map(|v| Box::new(v.node)),
                span: self.b.span(start, end),
            },
        }
    }

    /// `if c { x } else { y } - 1.0` at the start of a statement: reads like a difference, and is two statements.
    fn lost_values(&mut self, stmts: &[Deep<Stmt>], value: Option<&Deep<Expr>>) {
        let spans = stmts.iter().map(|s| s.node.span);
        let after = spans.chain(value.map(|v| v.node.span)).skip(1);
        for (stmt, next) in stmts.iter().zip(after) {
            let StmtKind::Expr(e) = &stmt.node.kind else {
                continue;
            };
            let text = self.b.text;
            let gap = text.get(e.span.end as usize..next.start as usize);
            // A new line begins another statement to the eye too.
            let ends_itself = gap.is_some_and(|gap| !gap.contains([';', '\n']));
            let continues = text[next.start as usize..].starts_with(['-', '(', '[']);
            if ends_itself && continues && yields(e) {
                let at = self.b.span(next.start, next.start + 1);
                self.b
                    .errors
                    .push(SyntaxError::LostValue { at, value: e.span });
            }
        }
    }

    /// Parses statements up to a semicolon or the end of the block, where a value may be left over.
    fn chunk(&mut self, tokens: &[Token], stmts: &mut Vec<Deep<Stmt>>) -> Option<Deep<Expr>> {
        match self.try_chunk(tokens, None) {
            Ok(chunk) => {
                stmts.extend(chunk.stmts);
                chunk.value
            }
            Err(misfit) => self.recover_chunk(tokens, misfit, stmts),
        }
    }

    /// Parses the tokens, and behind them one more.
    fn try_chunk(&mut self, tokens: &[Token], more: Option<Tok>) -> Result<Chunk, Misfit> {
        // Whoever takes a block out and then fails has lost it, so where there is one ask first.
        if tokens.iter().any(|t| matches!(t.tok, Tok::Block(_))) {
            self.trial(|p| p.run(tokens, more.clone(), |g, b, it| g.chunk.parse(b, it)))?;
        }
        let errors = self.b.errors.len();
        let chunk = self.run(tokens, more, |g, b, it| g.chunk.parse(b, it));
        if chunk.is_err() {
            self.b.errors.truncate(errors);
        }
        chunk
    }

    fn try_item(&mut self, tokens: &[Token]) -> Result<Item, Misfit> {
        self.trial(|p| p.run(tokens, None, |g, b, it| g.item.parse(b, it)))?;
        self.run(tokens, None, |g, b, it| g.item.parse(b, it))
    }

    fn try_let_head(&mut self, tokens: &[Token]) -> Result<LetHead, Misfit> {
        self.run(tokens, None, |g, b, it| g.let_head.parse(b, it))
    }

    /// Runs the parser for its verdict alone.
    fn trial<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Misfit>) -> Result<(), Misfit> {
        let errors = self.b.errors.len();
        self.b.trial = true;
        let verdict = run(self);
        self.b.trial = false;
        self.b.errors.truncate(errors);
        verdict.map(|_| ())
    }

    fn run<T>(
        &mut self,
        tokens: &[Token],
        more: Option<Tok>,
        parse: impl FnOnce(
            &Grammars,
            &mut Builder,
            &mut dyn Iterator<Item = (u32, Tok, u32)>,
        ) -> Result<T, ParseError<u32, Tok, ()>>,
    ) -> Result<T, Misfit> {
        self.b.cut = false;
        let end = tokens.last().map_or(0, |t| t.end);
        let mut stream = tokens
            .iter()
            .map(|t| (t.start, t.tok.clone(), t.end))
            .chain(more.map(|tok| (end, tok, end)));
        parse(&self.grammar, &mut self.b, &mut stream).map_err(|error| match error {
            ParseError::UnrecognizedToken { token, expected } => Misfit {
                index: tokens.partition_point(|t| (t.start, t.end) < (token.0, token.2)),
                expected,
            },
            ParseError::ExtraToken { token } => Misfit {
                index: tokens.partition_point(|t| (t.start, t.end) < (token.0, token.2)),
                expected: Vec::new(),
            },
            ParseError::UnrecognizedEof { expected, .. } => Misfit {
                index: tokens.len(),
                expected,
            },
            ParseError::InvalidToken { .. } | ParseError::User { .. } => Misfit {
                index: tokens.len(),
                expected: Vec::new(),
            },
        })
    }

    fn items(&mut self, tokens: &[Token], comments: &[Comment]) -> Vec<Item> {
        let mut items = Vec::new();
        let mut from = 0;
        for to in self.item_starts(tokens) {
            if from < to {
                self.item(&tokens[from..to], comments, &mut items);
            }
            from = to;
        }
        items
    }

    /// Indices at which items start, and the end.
    fn item_starts(&self, tokens: &[Token]) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut depth = 0;
        for (i, token) in tokens.iter().enumerate() {
            let next = tokens.get(i + 1).map(|t| &t.tok);
            let starts_item = match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => {
                    depth += 1;
                    false
                }
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => {
                    depth -= 1;
                    false
                }
                // `fn(` is a type, but for a function without a name.
                Tok::Fn => {
                    let before = i.checked_sub(1).map(|i| &tokens[i].tok);
                    let wants_type = matches!(before, Some(Tok::Arrow | Tok::Assign | Tok::Colon));
                    next != Some(&Tok::LParen) || self.first_on_line(tokens, i) && !wants_type
                }
                Tok::Mesh => matches!(next, Some(Tok::LBrace | Tok::Block(_))),
                Tok::Type | Tok::Const | Tok::Import | Tok::Main | Tok::Test => true,
                _ => false,
            };
            if starts_item && depth == 0 {
                starts.push(i);
            }
        }
        starts.push(tokens.len());
        starts
    }

    fn item(&mut self, tokens: &[Token], comments: &[Comment], items: &mut Vec<Item>) {
        let item = match self.try_item(tokens) {
            Ok(item) => Some(item),
            Err(misfit) => self.recover_item(tokens, misfit),
        };
        if let Some(mut item) = item {
            item.doc = self.doc(item.span, comments);
            items.push(item);
        }
    }

    /// The doc comment on the lines directly above an item.
    fn doc(&self, item: Span, comments: &[Comment]) -> Option<String> {
        let text = self.b.text;
        let above = comments.partition_point(|c| c.span.end <= item.start);
        let mut lines = Vec::new();
        let mut below = item.start as usize;
        for comment in comments[..above].iter().rev() {
            let gap = &text[comment.span.end as usize..below];
            if !gap.trim().is_empty() || gap.matches('\n').count() != 1 {
                break;
            }
            below = comment.span.start as usize;
            if comment.doc {
                let line = &text[below + 2..comment.span.end as usize];
                lines.push(line.strip_prefix(' ').unwrap_or(line));
            }
        }
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn first_on_line(&self, tokens: &[Token], i: usize) -> bool {
        let before = if i == 0 { 0 } else { tokens[i - 1].end };
        let gap = &self.b.text[before as usize..tokens[i].start as usize];
        i == 0 || gap.contains('\n')
    }
}

/// A closing `if … else …` or block without a semicolon is the value of the block it ends.
fn take_value(stmts: &mut Vec<Deep<Stmt>>) -> Option<Deep<Expr>> {
    let StmtKind::Expr(e) = &stmts.last()?.node.kind else {
        return None;
    };
    if !has_value(e) {
        return None;
    }
    let last = stmts.pop()?;
    match last.node.kind {
        StmtKind::Expr(e) => Some(Deep {
            node: e,
            depth: last.depth,
        }),
        _ => None,
    }
}

/// Whether an `if` or a block gives a value, as far as its form tells: effects give none.
fn yields(e: &Expr) -> bool {
    let gives = |block: &Block| block.value.as_ref().is_some_and(|v| !is_effect(v));
    match &e.kind {
        ExprKind::Block(block) => gives(block),
        ExprKind::If { then, .. } => gives(then) && has_value(e),
        _ => false,
    }
}

fn is_effect(e: &Expr) -> bool {
    let ExprKind::Call { callee, .. } = &e.kind else {
        return false;
    };
    let effects = ["print", "debug", "save", "assert", "assert_close", "log"];
    matches!(&callee.kind, ExprKind::Name(name) if effects.contains(&&**name))
}

/// An `if` without `else` is never a value.
fn has_value(e: &Expr) -> bool {
    let mut e = e;
    loop {
        match &e.kind {
            ExprKind::If { otherwise, .. } => match otherwise {
                Some(next) => e = next,
                None => return false,
            },
            _ => return true,
        }
    }
}
