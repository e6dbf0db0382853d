//! Positions and ranges that are known when a program is checked.

use super::cx::Cx;
use super::problem::Problem;
use super::require::Need;
use super::shape::{self};
use crate::span::Span;
use crate::typed::{Builtin, Dim, Expr, ExprKind};

impl<'a> Cx<'a, '_> {
    /// Positions written as a list of numbers are as known as a single one: they lie inside, and negative ones count from
    /// the end.
    pub fn literal_positions(&mut self, mut i: Expr, size: &Dim) -> Expr {
        match &mut i.kind {
            ExprKind::Builtin {
                builtin: Builtin::StackList,
                args,
                ..
            } => {
                let items = std::mem::take(args);
                *args = items
                    .into_iter()
                    .map(|item| self.literal_positions(item, size))
                    .collect();
            }
            ExprKind::Int(_) | ExprKind::Dim(_) => {
                let Some(index) = self.const_of(&i).and_then(|c| c.dim()) else {
                    return i;
                };
                let need = Need::InRange {
                    index: index.clone(),
                    size: size.clone(),
                };
                self.need(need, i.span);
                if index.as_int().is_some_and(|n| n < 0)
                    && let Some(from_start) = size.add(&index)
                {
                    i.kind = ExprKind::Dim(from_start);
                }
            }
            _ => {}
        }
        i
    }

    /// The number of elements of `lo:hi:step` along an axis; bounds must lie inside it.
    pub(super) fn range_length(
        &mut self,
        lo: Option<&Dim>,
        hi: Option<&Dim>,
        step: Option<&Dim>,
        size: &Dim,
        span: Span,
    ) -> Option<Dim> {
        let one = Dim::int(1);
        let step = step.unwrap_or(&one);
        let Some(stride) = step.as_int() else {
            self.report(Problem::NotStatic {
                span,
                what: "a step that is a number",
            });
            return None;
        };
        let from_end = |d: &Dim| match d.as_int() {
            Some(n) if n < 0 => size.add(d),
            _ => Some(d.clone()),
        };
        if stride < 0 {
            let lo = lo.map(|d| from_end(d).ok_or(())).transpose().ok()?;
            let hi = hi.map(|d| from_end(d).ok_or(())).transpose().ok()?;
            return self.backward_length(lo, hi, -stride, size, span);
        }
        let lo = match lo {
            Some(d) => from_end(d)?,
            None => Dim::int(0),
        };
        let hi = match hi {
            Some(d) => from_end(d)?,
            None => size.clone(),
        };
        if let (Some(a), Some(b), Some(n)) = (lo.as_int(), hi.as_int(), size.as_int())
            && (a < 0 || b > n || a > b)
        {
            self.report(Problem::RangeOutside {
                span,
                lo: a,
                hi: b,
                crossed: a > b,
                size: size.clone(),
            });
            return None;
        }
        for needed in [Some(lo.clone()), size.sub(&hi), hi.sub(&lo)] {
            self.need(Need::NotNegative(needed?), span);
        }
        let length = hi.sub(&lo)?;
        let count = shape::ceil_div(&length, step)?;
        self.need_whole(&count, span);
        Some(match count.as_int() {
            // The whole axis keeps its name.
            Some(n) if size.as_int() == Some(n) => size.clone(),
            _ => count,
        })
    }

    /// Of `lo:hi:-stride`: from `lo`, or the last element, down to before `hi`, or to the first.
    fn backward_length(
        &mut self,
        lo: Option<Dim>,
        hi: Option<Dim>,
        stride: i64,
        size: &Dim,
        span: Span,
    ) -> Option<Dim> {
        let last = size.sub(&Dim::int(1))?;
        if let (Some(lo), Some(n)) = (
            lo.as_ref().or(Some(&last)).and_then(Dim::as_int),
            size.as_int(),
        ) && (!(0..n).contains(&lo) && n > 0
            || hi
                .as_ref()
                .and_then(Dim::as_int)
                .is_some_and(|hi| hi < 0 || hi > lo))
        {
            let hi = hi.as_ref().and_then(Dim::as_int).unwrap_or(0);
            self.report(Problem::RangeOutside {
                span,
                lo,
                hi,
                crossed: hi > lo,
                size: size.clone(),
            });
            return None;
        }
        if let Some(lo) = &lo {
            self.need(Need::NotNegative(lo.clone()), span);
            self.need(Need::NotNegative(last.sub(lo)?), span);
        }
        let first = lo.unwrap_or(last);
        let length = match &hi {
            None => first.add(&Dim::int(1))?,
            Some(hi) => {
                self.need(Need::NotNegative(hi.clone()), span);
                let length = first.sub(hi)?;
                self.need(Need::NotNegative(length.clone()), span);
                length
            }
        };
        let count = shape::ceil_div(&length, &Dim::int(stride))?;
        self.need_whole(&count, span);
        Some(count)
    }
}
