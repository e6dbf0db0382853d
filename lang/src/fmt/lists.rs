//! Brackets with elements between commas: arguments, parameters, tuples, records, indices.

use super::doc::{Doc, INDENT};
use super::layout::Layout;
use super::print::WIDTH;
use super::spacing::space_between;
use super::tokens::Role;
use crate::lexer::token::Tok;

/// How wide all elements beside a broken one may be for the brackets to stay close to them.
const HUGGED_WIDTH: usize = 40;

/// The tokens of an element, without the comma behind it.
type Element = (usize, usize);

impl Layout<'_> {
    /// A bracket with its contents, no block.
    pub fn bracket(&self, open: usize) -> Doc {
        let close = self.pieces[open].partner;
        let elements = self.elements(open, close);
        let list = List {
            open,
            close,
            last_comma: self.last_comma(open, close, &elements),
            pad: if self.pieces[open].tok == Tok::LBrace {
                " "
            } else {
                ""
            },
        };
        if elements.is_empty() {
            return self.empty(&list);
        }
        // Each once: what nests would take time without end otherwise.
        let docs: Vec<Doc> = elements.iter().map(|(lo, hi)| self.seq(*lo, *hi)).collect();
        if self.is_broken_by_user(&list, &elements) {
            return self.rows(&list, &elements, docs);
        }
        if self.is_hugged(&elements, &docs) {
            return self.hugged(&list, docs);
        }
        let each = self.is_long_head(open, close);
        let list = self.one_line_or_each(&list, &elements, docs);
        match each {
            true => list.broken(),
            false => list,
        }
    }

    /// Whether these are the parameters of a function whose head is too long for a line: they are what is broken then,
    /// not its result.
    fn is_long_head(&self, open: usize, close: usize) -> bool {
        let before = |i: usize| i.checked_sub(1);
        if self.pieces[open].tok != Tok::LParen {
            return false;
        }
        let name = before(open).and_then(|i| match self.pieces[i].tok {
            Tok::RBracket => before(self.pieces[i].partner),
            _ => Some(i),
        });
        let Some(head) = name
            .and_then(before)
            .filter(|i| self.pieces[*i].tok == Tok::Fn)
        else {
            return false;
        };
        let mut end = close + 1;
        while end < self.pieces.len() && self.pieces[end].role != Role::Block {
            end = self.pieces[end].partner.max(end) + 1;
        }
        // As wide as its tokens with the spaces between them, and the brace.
        let widths = (head..end).map(|i| {
            let text = &self.text[self.pieces[i].start..self.pieces[i].end];
            let space = i > head && space_between(&self.pieces[i - 1], &self.pieces[i]);
            text.chars().count() + usize::from(space)
        });
        widths.sum::<usize>() + " {".len() > WIDTH
    }

    fn elements(&self, open: usize, close: usize) -> Vec<Element> {
        let mut elements = Vec::new();
        let mut bars = false;
        let mut lo = open + 1;
        let mut i = lo;
        while i < close {
            match self.pieces[i].role {
                Role::BarOpen => bars = true,
                Role::BarClose => bars = false,
                _ => {}
            }
            if self.pieces[i].tok == Tok::Comma && !bars {
                elements.push((lo, i));
                lo = i + 1;
            }
            i = self.pieces[i].partner.max(i) + 1;
        }
        if lo < close {
            elements.push((lo, close));
        }
        elements
    }

    fn last_comma(&self, open: usize, close: usize, elements: &[Element]) -> LastComma {
        let call = open > 0 && !self.pieces[open].starts_statement && {
            let before = &self.pieces[open - 1].tok;
            before.ends_operand() || *before == Tok::Fn
        };
        match elements {
            [_] if self.pieces[open].tok == Tok::LParen && !call => {
                match self.pieces[close - 1].tok == Tok::Comma {
                    true => LastComma::Always,
                    false => LastComma::Never,
                }
            }
            _ => LastComma::IfBroken,
        }
    }

    fn empty(&self, list: &List) -> Doc {
        let comments = self.comments_before_close(list.open, list.close);
        let behind = self.behind(list.open);
        if !comments.is_broken() && !behind.is_broken() {
            return Doc::Concat(vec![self.word(list.open), self.word(list.close)]);
        }
        Doc::Concat(vec![
            self.word(list.open),
            behind,
            comments.nest(),
            Doc::Hard,
            self.word(list.close),
        ])
    }

    /// Whether the first element stands on a new line, or comments demand lines of their own.
    fn is_broken_by_user(&self, list: &List, elements: &[Element]) -> bool {
        let first = elements[0].0;
        let newline =
            self.text[self.pieces[list.open].end..self.pieces[first].start].contains('\n');
        let comments = elements
            .iter()
            .any(|(lo, _)| !self.pieces[*lo].above.is_empty());
        let behind = elements.iter().any(|(_, hi)| {
            let comma = *hi < list.close && self.pieces[*hi].behind.is_some();
            comma || self.pieces[*hi - 1].behind.is_some()
        });
        newline || comments || behind || !self.pieces[list.close].above.is_empty()
    }

    /// Whether the brackets stay close to their contents: a string alone, which no break makes shorter; a bracket
    /// alone; one element with a block or record that is broken anyway, first or last.
    fn is_hugged(&self, elements: &[Element], docs: &[Doc]) -> bool {
        if let [(lo, hi)] = elements {
            let string = self.pieces[*lo].tok == Tok::StrOpen && lo + 1 == *hi;
            let bracket = self.pieces[*lo].partner == *hi - 1 && *lo + 1 < *hi;
            if string || bracket {
                return true;
            }
        }
        let broken: Vec<usize> = (0..docs.len()).filter(|i| docs[*i].is_broken()).collect();
        match broken[..] {
            [i] if i == 0 || i + 1 == docs.len() => {
                let last = elements[i].1 - 1;
                let others = docs.iter().filter(|d| !d.is_broken());
                let width: usize = others.map(|d| d.flat().chars().count() + 2).sum();
                self.pieces[last].partner < last && width <= HUGGED_WIDTH
            }
            _ => false,
        }
    }

    fn hugged(&self, list: &List, docs: Vec<Doc>) -> Doc {
        let mut out = vec![self.word(list.open), Doc::text(list.pad)];
        let last = docs.len() - 1;
        let alone = docs.len() == 1;
        for (i, doc) in docs.into_iter().enumerate() {
            // The short ones beside it are never broken, so that there is no second way to lay them out.
            out.push(if alone || doc.is_broken() {
                doc
            } else {
                Doc::text(doc.flat())
            });
            if i < last {
                out.push(Doc::text(", "));
            }
        }
        if list.last_comma == LastComma::Always {
            out.push(Doc::text(","));
        }
        out.push(Doc::text(list.pad));
        out.push(self.word(list.close));
        Doc::Concat(out)
    }

    fn one_line_or_each(&self, list: &List, elements: &[Element], docs: Vec<Doc>) -> Doc {
        let mut inside = vec![Doc::Line(list.pad)];
        let last = elements.len() - 1;
        for (i, doc) in docs.into_iter().enumerate() {
            inside.push(doc);
            if i < last {
                inside.push(Doc::text(","));
                inside.push(Doc::Line(" "));
            }
        }
        inside.push(match list.last_comma {
            LastComma::Always => Doc::text(","),
            LastComma::IfBroken => Doc::IfBroken(","),
            LastComma::Never => Doc::nil(),
        });
        Doc::Concat(vec![
            self.word(list.open),
            self.behind(list.open),
            Doc::Concat(inside).nest(),
            Doc::Line(list.pad),
            self.word(list.close),
        ])
        .group()
    }

    /// Broken as the user did: elements that share a line keep sharing it, if they fit.
    fn rows(&self, list: &List, elements: &[Element], docs: Vec<Doc>) -> Doc {
        let rows = self.user_rows(elements);
        let widths = self.column_widths(&rows, &docs);
        let mut inside = Vec::new();
        let comma = list.last_comma != LastComma::Never;
        let mut docs = docs.into_iter();
        for (n, row) in rows.iter().enumerate() {
            let first = row[0].0;
            let blank = n > 0 && self.blank_before(first);
            inside.push(if blank { Doc::Blank } else { Doc::Hard });
            inside.push(self.above(first));
            let comma = row.last() != elements.last() || comma;
            let docs: Vec<Doc> = docs.by_ref().take(row.len()).collect();
            inside.push(self.row(row, docs, &widths, comma));
        }
        inside.push(self.comments_before_close(list.open, list.close));
        Doc::Concat(vec![
            self.word(list.open),
            self.behind(list.open),
            Doc::Concat(inside).nest(),
            Doc::Hard,
            self.word(list.close),
        ])
    }

    /// Elements on a line, padded to the widths of their columns, and the comment behind the last.
    fn row(&self, row: &[Element], docs: Vec<Doc>, widths: &[usize], last_comma: bool) -> Doc {
        let mut cells = Vec::new();
        let mut behind = Doc::nil();
        for (k, ((_, hi), doc)) in row.iter().copied().zip(docs).enumerate() {
            let width = match widths.is_empty() {
                true => 0,
                false => doc.flat().chars().count(),
            };
            cells.push(doc);
            if k + 1 < row.len() {
                cells.push(Doc::text(","));
                let padding = widths.get(k).map_or(0, |w| w.saturating_sub(width));
                cells.push(match padding {
                    0 => Doc::Line(" "),
                    n => Doc::text(" ".repeat(n + 1)),
                });
            } else {
                if last_comma {
                    cells.push(Doc::text(","));
                }
                let comma = match self.pieces[hi].tok {
                    Tok::Comma => self.behind(hi),
                    _ => Doc::nil(),
                };
                behind = Doc::Concat(vec![self.behind(hi - 1), comma]);
            }
        }
        Doc::Concat(vec![Doc::Concat(cells).group(), behind])
    }

    fn user_rows(&self, elements: &[Element]) -> Vec<Vec<Element>> {
        let mut rows: Vec<Vec<Element>> = Vec::new();
        for (lo, hi) in elements.iter().copied() {
            let gap = &self.text[self.pieces[lo - 1].end..self.pieces[lo].start];
            let behind = |i: usize| self.pieces[i].behind.is_some();
            let apart = gap.contains('\n')
                || !self.pieces[lo].above.is_empty()
                || behind(lo - 1)
                || behind(lo - 2);
            match rows.last_mut() {
                Some(row) if !apart => row.push((lo, hi)),
                _ => rows.push(vec![(lo, hi)]),
            }
        }
        rows
    }

    /// The widths of the columns, where the user aligned the elements of several rows; else nothing.
    fn column_widths(&self, rows: &[Vec<Element>], docs: &[Doc]) -> Vec<usize> {
        if docs.iter().any(Doc::is_broken) {
            return Vec::new();
        }
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut padded = false;
        let mut widths = vec![0; columns];
        for k in 1..columns {
            let mut starts = rows
                .iter()
                .filter_map(|r| r.get(k))
                .map(|e| self.column(e.0));
            let first = starts.next();
            let mut others = starts.peekable();
            if others.peek().is_none() || others.any(|s| Some(s) != first) {
                return Vec::new();
            }
        }
        let mut docs = docs.iter();
        for row in rows {
            for ((k, (lo, _)), doc) in row.iter().copied().enumerate().zip(docs.by_ref()) {
                if k + 1 < row.len() {
                    widths[k] = widths[k].max(doc.flat().chars().count());
                }
                let gap = self.pieces[lo].start - self.pieces[lo - 1].end;
                padded |= k > 0 && gap > 1;
            }
        }
        let total: usize = widths.iter().map(|w| w + 2).sum();
        let fits = total + 2 * INDENT <= WIDTH;
        if padded && fits { widths } else { Vec::new() }
    }

    /// The column, in the source, at which a token starts.
    fn column(&self, i: usize) -> usize {
        let start = self.pieces[i].start;
        let line = self.text[..start].rfind('\n').map_or(0, |n| n + 1);
        self.text[line..start].chars().count()
    }
}

struct List {
    open: usize,
    close: usize,
    last_comma: LastComma,
    /// Inside of the brackets, on one line.
    pad: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastComma {
    /// Of a tuple of one.
    Always,
    IfBroken,
    /// In a parenthesis that only groups.
    Never,
}
