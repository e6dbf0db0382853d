//! Bounds on what small programs can make large: a chain of definitions, each of which uses the one before twice, doubles
//! with every line. What goes beyond is an error, not memory.

use super::cx::Cx;
use super::infer::Infer;
use super::problem::{Growth, Problem};
use super::subst::has_error;
use crate::span::Span;
use crate::typed::Ty;

/// The greatest number of parts of a type.
const MAX_PARTS: u32 = 10_000;
/// How deep tuples and records may nest.
const MAX_DEPTH: u32 = 200;
/// How many lambdas and constants one body may expand.
const MAX_EXPANSIONS: u32 = 10_000;
/// How many of them, or of aliases and constants not yet known, may be open at once.
const MAX_OPEN: u32 = 100;

impl Cx<'_, '_> {
    /// Whether a type is within bounds; reports it if it is not.
    pub fn type_fits(&mut self, ty: &Ty, span: Span) -> bool {
        let mut parts = MAX_PARTS;
        let fits = self.infer.fits(ty, MAX_DEPTH, &mut parts);
        // One made of another that was too large has been reported with it.
        if !fits && !has_error(ty) {
            self.report(Problem::TooLarge {
                span,
                what: Growth::Type,
            });
        }
        fits
    }

    /// Enters a definition that is worked out at its use; `false` once that goes too deep, which is reported.
    pub fn open_definition(&mut self, span: Span) -> bool {
        if self.w.open_definitions >= MAX_OPEN {
            self.report(Problem::TooLarge {
                span,
                what: Growth::Nesting,
            });
            return false;
        }
        self.w.open_definitions += 1;
        true
    }

    pub fn close_definition(&mut self) {
        self.w.open_definitions -= 1;
    }

    /// Counts one more expansion of a lambda or constant; `false` once there are too many, which is reported once.
    pub fn expand(&mut self, span: Span) -> bool {
        self.expansions += 1;
        if self.expansions == MAX_EXPANSIONS + 1 {
            self.report(Problem::TooLarge {
                span,
                what: Growth::Code,
            });
        }
        self.expansions <= MAX_EXPANSIONS
    }
}

impl Infer {
    fn fits(&self, ty: &Ty, depth: u32, parts: &mut u32) -> bool {
        let Some(left) = parts.checked_sub(1) else {
            return false;
        };
        *parts = left;
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        match ty {
            Ty::Tensor(..) | Ty::Error => true,
            Ty::Tuple(fields) => fields.iter().all(|t| self.fits(t, depth, parts)),
            Ty::Record(fields) if !fields.glance().is_open => {
                let glance = fields.glance();
                let left = parts.checked_sub(glance.parts);
                *parts = left.unwrap_or(0);
                left.is_some() && glance.depth <= depth
            }
            Ty::Record(fields) => fields.iter().all(|(_, t)| self.fits(t, depth, parts)),
            Ty::Tree { leaf, .. } => leaf.as_ref().is_none_or(|t| self.fits(t, depth, parts)),
            Ty::Fn(params, ret) => {
                params.iter().all(|t| self.fits(t, depth, parts)) && self.fits(ret, depth, parts)
            }
            Ty::Var(v) => self
                .type_of_var(*v)
                .is_none_or(|t| self.fits(t, depth, parts)),
        }
    }
}
