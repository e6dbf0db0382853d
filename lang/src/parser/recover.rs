//! Going on behind a syntax error.
//!
//! A statement that does not fit costs one message. What stands before it in its chunk is kept, a `let` keeps its
//! names (so that their uses are not errors too), and reading goes on at the next statement.

use super::deep::Deep;
use super::error::{Expected, Found, SyntaxError};
use super::expected::expected;
use super::message::is_foreign_word;
use super::reserved::is_operator;
use super::{Misfit, Parser};
use crate::ast::*;
use crate::lexer::token::{Tok, Token};
use crate::span::{Span, Spanned};

impl Parser<'_> {
    /// Parses as much of a chunk as makes sense, knowing that all of it does not.
    pub(super) fn recover_chunk(
        &mut self,
        mut tokens: &[Token],
        mut misfit: Misfit,
        stmts: &mut Vec<Deep<Stmt>>,
    ) -> Option<Deep<Expr>> {
        loop {
            let rest = self.recover_once(tokens, &misfit, stmts);
            if rest.is_empty() {
                return None;
            }
            tokens = rest;
            match self.try_chunk(tokens, None) {
                Ok(chunk) => {
                    stmts.extend(chunk.stmts);
                    return chunk.value;
                }
                Err(next) => misfit = next,
            }
        }
    }

    /// Deals with the first misfit of a chunk; returns the tokens to go on with, fewer than were given.
    fn recover_once<'t>(
        &mut self,
        tokens: &'t [Token],
        misfit: &Misfit,
        stmts: &mut Vec<Deep<Stmt>>,
    ) -> &'t [Token] {
        let at = misfit.index;
        if self.lacks_semicolon(tokens, at)
            && let Ok(chunk) = self.try_chunk(&tokens[..at], Some(Tok::Semi))
        {
            stmts.extend(chunk.stmts);
            let end = tokens[at - 1].end;
            if !self.is_consequence(&tokens[..at], end) {
                let after = self.b.span(end, end);
                self.b.errors.push(SyntaxError::MissingSemicolon { after });
            }
            return &tokens[at..];
        }
        let start = self.keep_whole_statements(tokens, at, stmts);
        let (broken, at) = (&tokens[start..], at - start);
        if let Some(rest) = self.nested_item(broken, at) {
            return rest;
        }
        let end = resume(broken, at, |i| self.first_on_line(broken, i));
        let (broken, rest) = broken.split_at(end);
        let stop = broken.last().map_or(0, |t| t.end);
        if !self.is_consequence(broken, stop) {
            self.report(broken, at, &misfit.expected, false);
        }
        stmts.push(Deep::leaf(self.salvage(broken, at)));
        rest
    }

    /// Whether a semicolon before the token at `at` may be all that is missing.
    fn lacks_semicolon(&self, tokens: &[Token], at: usize) -> bool {
        let Some(token) = tokens.get(at) else {
            return at > 0;
        };
        let begins = token.tok.begins_statement()
            || self.first_on_line(tokens, at)
                && (token.tok.is_name()
                    || matches!(
                        token.tok,
                        Tok::If | Tok::Block(_) | Tok::Int(_) | Tok::Float(_) | Tok::StrOpen
                    ));
        at > 0 && begins
    }

    /// Parses what precedes the broken statement in its chunk; returns where that one starts.
    fn keep_whole_statements(
        &mut self,
        tokens: &[Token],
        at: usize,
        stmts: &mut Vec<Deep<Stmt>>,
    ) -> usize {
        let mut depth = 0;
        let mut start = 0;
        for (i, token) in tokens[..at].iter().enumerate() {
            match token.tok {
                Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => depth += 1,
                Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => depth -= 1,
                Tok::Block(_) if depth == 0 => start = i + 1,
                _ => {}
            }
        }
        if start == 0 {
            return 0;
        }
        match self.try_chunk(&tokens[..start], None) {
            Ok(chunk) if chunk.value.is_none() => {
                stmts.extend(chunk.stmts);
                start
            }
            _ => 0,
        }
    }

    /// A function or another item where a statement should be: reported and skipped as a whole.
    fn nested_item<'t>(&mut self, tokens: &'t [Token], at: usize) -> Option<&'t [Token]> {
        let token = tokens.get(at).filter(|_| at == 0)?;
        let word = match token.tok {
            Tok::Fn | Tok::Type | Tok::Import | Tok::Main | Tok::Test => token.tok.keyword()?,
            _ => return None,
        };
        let at = self.b.span(token.start, token.end);
        self.b.errors.push(SyntaxError::ItemInBlock { at, word });
        if let Some(name) = tokens.get(1)
            && let Tok::Ident(text) = &name.tok
        {
            let span = self.b.span(name.start, name.end);
            self.broken.push(Spanned::new(text.clone(), span));
        }
        let body = tokens
            .iter()
            .position(|t| matches!(t.tok, Tok::Block(_)))
            .filter(|_| !matches!(token.tok, Tok::Type | Tok::Import));
        let next = tokens
            .iter()
            .skip(1)
            .position(|t| t.tok.begins_statement())
            .map(|n| n + 1);
        let end = body.map(|n| n + 1).or(next).unwrap_or(tokens.len());
        Some(&tokens[end..])
    }

    /// What can be known of a statement that is broken at a token.
    fn salvage(&mut self, tokens: &[Token], at: usize) -> Stmt {
        let span = self.extent(tokens);
        let error = StmtKind::Error;
        let kind = match tokens.first().map(|t| &t.tok) {
            Some(Tok::Let) => {
                let end = tokens.iter().position(|t| t.tok == Tok::Assign);
                let head = &tokens[..end.unwrap_or(tokens.len())];
                // `let (mut a, b)` was meant as `let mut (a, b)`.
                let (muts, mut plain): (Vec<Token>, Vec<Token>) =
                    head.iter().cloned().partition(|t| t.tok == Tok::Mut);
                plain.splice(1..1, muts.into_iter().take(1));
                let plain = plain.as_slice();
                let head = plain;
                let with_type = self.try_let_head(head);
                let colon = head.iter().position(|t| t.tok == Tok::Colon);
                let head = with_type.or_else(|e| match colon {
                    Some(colon) => self.try_let_head(&head[..colon]),
                    None => Err(e),
                });
                // Of `let (y, z) 3;` at least the names; of `let y 3;` with `mut` or without.
                let starts = [at, 3, 2].map(|n| &tokens[..n.min(tokens.len())]);
                let head = head.or_else(|e| match names_in_parentheses(plain) {
                    Some(head) => self.try_let_head(&head),
                    None => Err(e),
                });
                let head = starts.into_iter().fold(head, |head, start| {
                    head.or_else(|_| self.try_let_head(start))
                });
                match head {
                    Ok(head) => StmtKind::Let {
                        pattern: head.pattern,
                        mutable: head.mutable,
                        ty: head.ty.map(|t| t.node),
                        value: Expr {
                            kind: ExprKind::Error,
                            span,
                        },
                    },
                    Err(_) => error,
                }
            }
            Some(Tok::Const) => match self.name_at(tokens, 1) {
                Some(name) => StmtKind::Const(ConstDef {
                    name,
                    ty: None,
                    value: Expr {
                        kind: ExprKind::Error,
                        span,
                    },
                }),
                None => error,
            },
            _ => error,
        };
        Stmt { kind, span }
    }

    /// The item that the tokens start with, if they do; reports the rest.
    pub(super) fn recover_item(&mut self, tokens: &[Token], misfit: Misfit) -> Option<Item> {
        let at = misfit.index;
        let kept = if at > 0 && at < tokens.len() {
            self.try_item(&tokens[..at]).ok()
        } else {
            None
        };
        let from = if kept.is_some() { at } else { 0 };
        let stop = tokens.last().map_or(0, |t| t.end);
        if !self.is_consequence(&tokens[from..], stop) {
            let token = tokens.get(at);
            let statement = (kept.is_some() || at == 0)
                && token.is_some_and(|t| {
                    t.tok.begins_statement()
                        || t.tok == Tok::If
                        || t.tok.is_name()
                            && matches!(
                                tokens.get(at + 1).map(|t| &t.tok),
                                Some(Tok::Assign | Tok::LParen | Tok::Dot)
                            )
                });
            match token {
                Some(token) if statement => {
                    let at = self.b.span(token.start, token.end);
                    self.b.errors.push(SyntaxError::StatementOutside { at });
                }
                _ => self.report(tokens, at, &misfit.expected, true),
            }
        }
        // Of `typ T = …` behind an item, too.
        let misspelled = tokens.get(at).is_some_and(|t| t.tok.is_name());
        match kept {
            None => self.broken.extend(self.name_at(tokens, 1)),
            Some(_) if misspelled => self.broken.extend(self.name_at(tokens, at + 1)),
            Some(_) => {}
        }
        kept
    }

    fn name_at(&self, tokens: &[Token], i: usize) -> Option<Ident> {
        let token = tokens.get(i)?;
        match &token.tok {
            Tok::Ident(name) => Some(Spanned::new(
                name.clone(),
                self.b.span(token.start, token.end),
            )),
            _ => None,
        }
    }

    fn extent(&self, tokens: &[Token]) -> Span {
        let start = tokens.first().map_or(0, |t| t.start);
        let end = tokens.last().map_or(start, |t| t.end);
        self.b.span(start, end)
    }

    /// Whether lexer or brackets already reported an error among these tokens (inside of their blocks does not count).
    fn is_consequence(&self, tokens: &[Token], end: u32) -> bool {
        let Some(first) = tokens.first() else {
            return false;
        };
        let from = self.lower.partition_point(|p| *p < first.start);
        let to = self.lower.partition_point(|p| *p <= end);
        self.lower[from..to].iter().any(|p| {
            let i = tokens.partition_point(|t| t.end <= *p);
            tokens
                .get(i)
                .is_none_or(|t| *p <= t.start || !matches!(t.tok, Tok::Block(_)))
        })
    }

    /// Reports the token at `at`, or that one more is needed.
    fn report(&mut self, tokens: &[Token], at: usize, terminals: &[String], item: bool) {
        let expected = expected(terminals, item);
        if let Some(i) = at.checked_sub(1)
            && let Some(Tok::Ident(word)) = tokens.get(i).map(|t| &t.tok)
            && is_foreign_word(word)
        {
            // It was read as a name, so the error came one token late.
            self.b.errors.push(SyntaxError::Unexpected {
                at: self.b.span(tokens[i].start, tokens[i].end),
                found: Found::Token(word.to_string()),
                expected: match &**word {
                    "not" | "lambda" => Expected::Expression,
                    _ => Expected::Statement,
                },
            });
            return;
        }
        let at = match expected {
            Expected::Tokens(_) if missing_condition(tokens, at) => at - 1,
            _ => at,
        };
        let expected = match tokens.get(at).map(|t| &t.tok) {
            Some(Tok::Block(_)) => Expected::Expression,
            _ => expected,
        };
        let begins = at == 0 && expected == Expected::Statement;
        // Then the next token is none of these.
        let is_missing = at >= tokens.len();
        let raw = match tokens.get(at) {
            Some(token) => self.raw.partition_point(|t| t.start < token.start),
            None => {
                let end = tokens.last().map_or(0, |t| t.end);
                self.raw.partition_point(|t| t.start < end)
            }
        };
        let Some(token) = self.raw.get(raw) else {
            let end = self.b.text.trim_end().len() as u32;
            self.b.errors.push(SyntaxError::Unexpected {
                at: self.b.span(end, end),
                found: Found::EndOfFile,
                expected,
            });
            return;
        };
        if self.lower.binary_search(&token.start).is_ok() {
            return;
        }
        let at = self.b.span(token.start, token.end);
        let next = self.raw.get(raw + 1).map(|t| &t.tok);
        if let Some(word) = super::reserved::word(&token.tok)
            && !is_missing
            && is_meant_as_name(&expected, next)
        {
            self.b.errors.push(SyntaxError::Reserved { at, word });
            return;
        }
        // What stands behind a word that was meant as a name is not in the wrong place.
        let before = raw.checked_sub(1).map(|i| self.raw[i].start);
        let named = |e: &SyntaxError| matches!(e, SyntaxError::Reserved { at, .. } if Some(at.start) == before);
        if self.b.errors.iter().any(named) {
            return;
        }
        // `if c { x } else { y } * 2.0` at the start of a statement.
        if begins
            && continues_a_value(&token.tok)
            && let Some(end) = raw.checked_sub(1).map(|i| &self.raw[i])
            && end.tok == Tok::RBrace
        {
            let value = self.b.span(end.start, end.end);
            self.b.errors.push(SyntaxError::LostValue { at, value });
            return;
        }
        let found = match token.tok {
            Tok::StrOpen => Found::Str,
            _ => Found::Token(self.b.text[at.start as usize..at.end as usize].to_string()),
        };
        self.b.errors.push(SyntaxError::Unexpected {
            at,
            found,
            expected,
        });
    }
}

/// `while { … }`, `for i in { … }`: the body was read as the condition, so the error came behind it.
fn missing_condition(tokens: &[Token], at: usize) -> bool {
    let before = |n| at.checked_sub(n).map(|i| &tokens[i].tok);
    matches!(before(1), Some(Tok::Block(_)))
        && matches!(before(2), Some(Tok::In | Tok::While | Tok::If))
}

/// `let a, b = …` as `let (a, b) = …`.
fn names_in_parentheses(head: &[Token]) -> Option<Vec<Token>> {
    let first = head.iter().position(|t| t.tok.is_name())?;
    let (start, names) = head.split_at(first);
    let all = |t: &Token| t.tok.is_name() || t.tok == Tok::Comma;
    let has_comma = names.iter().any(|t| t.tok == Tok::Comma);
    let bracket = |tok, at| Token {
        tok,
        start: at,
        end: at,
    };
    let (open, close) = (names.first()?.start, names.last()?.end);
    let is_list = names.iter().all(all) && has_comma;
    is_list.then(|| {
        let mut out = start.to_vec();
        out.push(bracket(Tok::LParen, open));
        out.extend(names.iter().cloned());
        out.push(bracket(Tok::RParen, close));
        out
    })
}

/// Whether a reserved word stands where a name should.
fn is_meant_as_name(expected: &Expected, next: Option<&Tok>) -> bool {
    match expected {
        Expected::Name | Expected::Pattern | Expected::Field | Expected::Parameter => true,
        Expected::Expression | Expected::Statement | Expected::Dimension => matches!(
            next,
            Some(
                Tok::Assign
                    | Tok::Comma
                    | Tok::Semi
                    | Tok::RParen
                    | Tok::RBracket
                    | Tok::Dot
                    | Tok::Plus
                    | Tok::Star
                    | Tok::Slash
                    | Tok::At
            )
        ),
        _ => false,
    }
}

/// Whether it stands between operands, and begins none.
fn continues_a_value(tok: &Tok) -> bool {
    match tok {
        Tok::OrOr | Tok::Minus => false,
        _ => is_operator(tok) || *tok == Tok::Dot,
    }
}

/// Where to read on: at the next line, from `at` on, that starts a statement; else behind all.
fn resume(tokens: &[Token], at: usize, first_on_line: impl Fn(usize) -> bool) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && i >= at && depth == 0 && first_on_line(i) {
            let after_block = matches!(tokens[i - 1].tok, Tok::Block(_));
            if after_block || token.tok.begins_statement() || token.tok == Tok::If {
                return i;
            }
        }
        match token.tok {
            Tok::LParen | Tok::LBracket | Tok::LBrace | Tok::InterpOpen => depth += 1,
            Tok::RParen | Tok::RBracket | Tok::RBrace | Tok::InterpClose => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}
