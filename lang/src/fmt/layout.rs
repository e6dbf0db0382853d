//! From tokens to a document: items, blocks, statements and operators. Lists are in [`super::lists`].

use super::doc::{Doc, Trailing};
use super::print::WIDTH;
use super::spacing::space_between;
use super::tokens::{Piece, Role};
use crate::lexer::Comment;
use crate::lexer::token::Tok;

pub struct Layout<'a> {
    pub text: &'a str,
    pub comments: &'a [Comment],
    pub pieces: &'a [Piece],
}

impl Layout<'_> {
    /// The whole file; `items` are the byte offsets at which items start.
    pub fn file(&self, items: &[usize]) -> Doc {
        let mut out = Vec::new();
        let mut starts: Vec<usize> = items
            .iter()
            .map(|start| self.pieces.partition_point(|p| p.start < *start))
            .collect();
        starts.push(self.pieces.len());
        let mut apart_before = false;
        for (n, range) in starts.windows(2).enumerate() {
            let (lo, hi) = (range[0], range[1]);
            if lo == hi {
                continue;
            }
            let item = self.seq(lo, hi);
            let apart = self.stands_apart(lo, &item);
            if n > 0 {
                let blank = apart_before || apart || self.blank_before(lo);
                out.push(if blank { Doc::Blank } else { Doc::Hard });
            }
            apart_before = apart;
            out.push(self.above(lo));
            out.push(item);
            out.push(self.behind(hi - 1));
        }
        out.push(self.rest_of_comments());
        Doc::Concat(out)
    }

    /// Whether empty lines separate the item from its neighbours: one with a body of several lines.
    fn stands_apart(&self, start: usize, item: &Doc) -> bool {
        let has_body = matches!(
            self.pieces[start].tok,
            Tok::Fn | Tok::Main | Tok::Test | Tok::Mesh
        );
        has_body && (item.is_broken() || item.flat().chars().count() > WIDTH)
    }

    fn rest_of_comments(&self) -> Doc {
        let (mut next, mut end) = (0, 0);
        if let Some(last) = self.pieces.last() {
            next = last.behind.map_or(last.above.end, |c| c + 1);
            end = last.behind.map_or(last.end, |c| self.comment_end(c));
        }
        let mut out = Vec::new();
        for c in next..self.comments.len() {
            let blank = self.has_blank(end, self.comment_start(c));
            out.push(if blank { Doc::Blank } else { Doc::Hard });
            out.push(self.comment(c));
            end = self.comment_end(c);
        }
        Doc::Concat(out)
    }

    // ---- Blocks

    /// The braces of a block, and what is between. Where it may stand on one line, its breaks belong to the group
    /// around it, so that all branches of an `if` are broken or none.
    pub fn block(&self, open: usize) -> Doc {
        let close = self.pieces[open].partner;
        let segments = self.segments(open + 1, close);
        let commented = self.pieces[open].behind.is_some() || !self.pieces[close].above.is_empty();
        if segments.is_empty() && !commented {
            return Doc::text("{}");
        }
        let inside = &self.text[self.pieces[open].end..self.pieces[close].start];
        if let [(lo, hi)] = segments[..]
            && !inside.contains('\n')
            && self.is_value(lo, hi)
        {
            let value = Doc::Concat(vec![Doc::Line(" "), self.seq(lo, hi)]);
            return Doc::Concat(vec![
                Doc::text("{"),
                value.nest(),
                Doc::Line(" "),
                Doc::text("}"),
            ]);
        }
        let mut out = Vec::new();
        for (n, (lo, hi)) in segments.iter().copied().enumerate() {
            let blank = n > 0 && self.blank_before(lo);
            out.push(if blank { Doc::Blank } else { Doc::Hard });
            out.push(self.above(lo));
            out.push(self.seq(lo, hi));
            out.push(self.behind(hi - 1));
        }
        out.push(self.comments_before_close(open, close));
        Doc::Concat(vec![
            Doc::text("{"),
            self.behind(open),
            Doc::Concat(out).nest(),
            Doc::Hard,
            Doc::text("}"),
        ])
    }

    /// The statements, and the value, between two tokens.
    fn segments(&self, lo: usize, hi: usize) -> Vec<(usize, usize)> {
        let mut starts = Vec::new();
        let mut i = lo;
        while i < hi {
            if self.pieces[i].starts_statement || i == lo {
                starts.push(i);
            }
            i = self.pieces[i].partner.max(i) + 1;
        }
        starts.push(hi);
        starts.windows(2).map(|w| (w[0], w[1])).collect()
    }

    fn is_value(&self, lo: usize, hi: usize) -> bool {
        let first = &self.pieces[lo].tok;
        self.pieces[hi - 1].tok != Tok::Semi && !first.begins_statement()
    }

    // ---- Statements and expressions

    /// A statement, an element of a list, an item: tokens in a row, without the comments around it.
    pub fn seq(&self, lo: usize, hi: usize) -> Doc {
        let mut out = Vec::new();
        let mut i = lo;
        while i < hi {
            if i > lo {
                out.push(self.gap(i));
            }
            let end = self.part_end(i, hi);
            out.push(if is_delimiter(&self.pieces[i]) {
                self.word(i)
            } else if self.pieces[i].role == Role::Block {
                self.block(i)
            } else {
                self.run(i, end)
            });
            if end < hi {
                out.push(self.behind(end - 1));
            }
            i = end;
        }
        Doc::Concat(out).group()
    }

    /// The end of the part of a statement that starts at `i`: a word, a block, or operands with their operators.
    fn part_end(&self, i: usize, hi: usize) -> usize {
        if is_delimiter(&self.pieces[i]) {
            return i + 1;
        }
        if self.pieces[i].role == Role::Block {
            return self.pieces[i].partner + 1;
        }
        let mut end = i;
        while end < hi && !is_delimiter(&self.pieces[end]) && self.pieces[end].role != Role::Block {
            end = self.pieces[end].partner.max(end) + 1;
        }
        end
    }

    /// Operands and operators. Broken, if it must be, before its loosest operators.
    fn run(&self, lo: usize, hi: usize) -> Doc {
        let mut loosest = u8::MAX;
        self.each(lo, hi, |i| {
            if let Role::Binary(level) = self.pieces[i].role {
                loosest = loosest.min(level);
            }
        });
        if loosest == u8::MAX {
            return self.operand(lo, hi);
        }
        let mut out = Vec::new();
        let mut first = Doc::nil();
        let mut start = lo;
        self.each(lo, hi, |i| {
            if self.pieces[i].role == Role::Binary(loosest) {
                // Behind a block the run starts with its operator, and the gap is there already.
                if i > lo {
                    match start == lo {
                        true => first = self.run(start, i),
                        false => out.push(self.run(start, i)),
                    }
                    out.push(self.behind(i - 1));
                    out.push(match self.pieces[i].above.is_empty() {
                        true => Doc::Line(" "),
                        false => self.gap(i),
                    });
                }
                out.push(self.word(i));
                out.push(self.behind(i));
                out.push(self.gap(i + 1));
                start = i + 1;
            }
        });
        out.push(self.run(start, hi));
        Doc::Concat(vec![first, Doc::Concat(out).nest()]).group()
    }

    /// A name, literal or bracket with signs before it and calls, fields and indices behind it.
    fn operand(&self, lo: usize, hi: usize) -> Doc {
        let mut out = Vec::new();
        let mut i = lo;
        while i < hi {
            if i > lo {
                out.push(self.gap(i));
            }
            let end = self.pieces[i].partner.max(i) + 1;
            out.push(if end > i + 1 {
                self.bracket(i)
            } else {
                self.word(i)
            });
            if end < hi {
                out.push(self.behind(end - 1));
            }
            i = end;
        }
        Doc::Concat(out)
    }

    /// Calls `f` with the tokens between that are in no bracket of their own.
    fn each(&self, lo: usize, hi: usize, mut f: impl FnMut(usize)) {
        let mut i = lo;
        while i < hi {
            f(i);
            i = self.pieces[i].partner.max(i) + 1;
        }
    }

    pub fn word(&self, i: usize) -> Doc {
        Doc::text(&self.text[self.pieces[i].start..self.pieces[i].end])
    }

    /// What separates a token from the one before it: nothing, a space, or comments that stand in between.
    fn gap(&self, i: usize) -> Doc {
        if !self.pieces[i].above.is_empty() {
            return Doc::Concat(vec![Doc::Hard, self.above(i)]).nest();
        }
        match space_between(&self.pieces[i - 1], &self.pieces[i]) {
            true => Doc::text(" "),
            false => Doc::nil(),
        }
    }

    // ---- Comments and empty lines

    /// The comments above a token, each with the line break behind it.
    pub fn above(&self, i: usize) -> Doc {
        let mut out = Vec::new();
        for c in self.pieces[i].above.clone() {
            out.push(self.comment(c));
            let next = match c + 1 < self.pieces[i].above.end {
                true => self.comment_start(c + 1),
                false => self.pieces[i].start,
            };
            let blank = self.has_blank(self.comment_end(c), next);
            out.push(if blank { Doc::Blank } else { Doc::Hard });
        }
        Doc::Concat(out)
    }

    /// The comments between the last thing in a bracket and its end.
    pub fn comments_before_close(&self, open: usize, close: usize) -> Doc {
        let mut out = Vec::new();
        for c in self.pieces[close].above.clone() {
            let first = c == self.pieces[close].above.start;
            let before = match first {
                true => self.end_with_comment(close - 1),
                false => self.comment_end(c - 1),
            };
            let blank =
                !(first && close - 1 == open) && self.has_blank(before, self.comment_start(c));
            out.push(if blank { Doc::Blank } else { Doc::Hard });
            out.push(self.comment(c));
        }
        Doc::Concat(out)
    }

    /// The comment behind a token on its line.
    pub fn behind(&self, i: usize) -> Doc {
        let Some(c) = self.pieces[i].behind else {
            return Doc::nil();
        };
        let start = self.comment_start(c);
        let line = self.text[..start].rfind('\n').map_or(0, |n| n + 1);
        let line = &self.text[line..start];
        let column = line.chars().count();
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        // A comment that close was put nowhere in particular.
        let aligned = start - self.pieces[i].end > 1;
        Doc::Trailing(Trailing {
            text: self.comment_text(c).to_string(),
            column,
            offset: if aligned { column - indent } else { 0 },
        })
    }

    /// Whether an empty line stands before the token or the comments above it.
    pub fn blank_before(&self, i: usize) -> bool {
        let start = match self.pieces[i].above.is_empty() {
            true => self.pieces[i].start,
            false => self.comment_start(self.pieces[i].above.start),
        };
        i > 0 && self.has_blank(self.end_with_comment(i - 1), start)
    }

    fn end_with_comment(&self, i: usize) -> usize {
        match self.pieces[i].behind {
            Some(c) => self.comment_end(c),
            None => self.pieces[i].end,
        }
    }

    fn has_blank(&self, from: usize, to: usize) -> bool {
        from < to && self.text[from..to].matches('\n').count() > 1
    }

    fn comment(&self, c: usize) -> Doc {
        Doc::text(self.comment_text(c))
    }

    fn comment_text(&self, c: usize) -> &str {
        &self.text[self.comment_start(c)..self.comment_end(c)]
    }

    fn comment_start(&self, c: usize) -> usize {
        self.comments[c].span.start as usize
    }

    fn comment_end(&self, c: usize) -> usize {
        self.comments[c].span.end as usize
    }
}

/// A token that is no part of an operand or operator.
fn is_delimiter(piece: &Piece) -> bool {
    let word = match piece.tok {
        Tok::True | Tok::False | Tok::None => false,
        _ => piece.tok.keyword().is_some(),
    };
    let sign = matches!(
        piece.tok,
        Tok::Assign | Tok::Arrow | Tok::Colon | Tok::Comma | Tok::Semi | Tok::DotDot
    );
    let bar = matches!(piece.role, Role::BarOpen | Role::BarClose | Role::Bars);
    word || sign || bar
}
