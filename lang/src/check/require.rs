//! What a generic function asks of its parameters, found while its body is checked and proved at each call.
//!
//! A body is checked with its dimensions as symbols. Most of what it does holds for all of them; a division of sizes,
//! a difference of sizes or a constant position does not, and becomes a requirement: decided at once where the sizes
//! are known, otherwise handed on to the callers.

use super::cx::Cx;
use super::infer::Class;
use super::poly;
use super::problem::Problem;
use super::subst::{Subst, leaves};
use crate::ast::Name;
use crate::span::Span;
use crate::typed::{Dim, ElemTy, GenericArg, GenericId, Ty};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A size, or a difference of sizes that may not be negative.
    NotNegative(Dim),
    /// The first divided by the second leaves no remainder.
    Divides(Dim, Dim),
    /// A constant position inside a size; the difference that must be positive or zero stands behind it.
    InRange { index: Dim, size: Dim },
    /// The leaves of a tree are of a class.
    Leaves(GenericId, Class),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    pub need: Need,
    /// Where in the function it comes from.
    pub span: Span,
}

/// The outcome of a need for given arguments.
enum Verdict {
    Holds,
    Fails(Box<Problem>),
    /// Depends on the caller's own parameters.
    Open(Vec<Need>),
}

impl Cx<'_, '_> {
    /// Records or decides something the code at `span` needs.
    pub fn need(&mut self, need: Need, span: Span) {
        match decide(&need, span, None) {
            Verdict::Holds => {}
            Verdict::Fails(problem) => self.report(*problem),
            Verdict::Open(needs) => self.keep(needs, span),
        }
    }

    fn keep(&mut self, needs: Vec<Need>, span: Span) {
        for need in needs {
            if self.need_set.insert(need.clone()) {
                self.needs.push(Requirement { need, span });
            }
        }
    }

    /// Proves what a callee needs, at a call with these arguments; `false` once something has been reported.
    pub fn prove(
        &mut self,
        requirements: &[Requirement],
        args: &[GenericArg],
        callee: &Name,
        span: Span,
    ) -> bool {
        let subst = Subst::new(args);
        let mut inexact = false;
        let mut holds = true;
        for requirement in requirements {
            let Some(need) = substitute(&requirement.need, &subst) else {
                // What is not whole is reported once, by the need that asks for just that.
                if !inexact {
                    self.report(Problem::Inexact {
                        span,
                        callee: Some((callee.clone(), requirement.span)),
                        text: None,
                    });
                }
                inexact = true;
                holds = false;
                continue;
            };
            for need in need {
                match decide(&need, span, Some((callee.clone(), requirement.span))) {
                    Verdict::Holds => {}
                    Verdict::Fails(problem) => {
                        inexact |= matches!(*problem, Problem::Inexact { .. });
                        holds = false;
                        self.report(*problem);
                    }
                    Verdict::Open(needs) => self.keep(needs, span),
                }
            }
        }
        holds
    }

    /// That a dimension divides exactly and is not negative, as a size must be.
    pub fn need_size(&mut self, dim: &Dim, span: Span) {
        self.need_whole(dim, span);
        if !poly::never_negative(dim) {
            self.need(Need::NotNegative(dim.clone()), span);
        }
    }

    /// That the quotients in a dimension divide.
    pub fn need_whole(&mut self, dim: &Dim, span: Span) {
        for (a, b) in poly::quotients(dim) {
            self.need(Need::Divides(a, b), span);
        }
    }
}

/// The needs after substitution; `None` where a size inside does not come out whole.
fn substitute(need: &Need, subst: &Subst) -> Option<Vec<Need>> {
    Some(match need {
        Need::NotNegative(d) => vec![Need::NotNegative(subst.dim(d)?)],
        Need::Divides(a, b) => vec![Need::Divides(subst.dim(a)?, subst.dim(b)?)],
        Need::InRange { index, size } => vec![Need::InRange {
            index: subst.dim(index)?,
            size: subst.dim(size)?,
        }],
        Need::Leaves(g, class) => match subst.args.get(g.0 as usize) {
            Some(GenericArg::Tree(tree)) => return Some(rigid_leaves(tree, *class)),
            _ => Vec::new(),
        },
    })
}

/// A tree whose leaves must be of a class: those of the rigid trees in it must be, too. A wrong leaf is found by
/// [`crate::check::call`], which has the argument's type at hand.
fn rigid_leaves(tree: &Ty, class: Class) -> Vec<Need> {
    leaves(tree)
        .iter()
        .filter_map(|(_, t)| match t {
            Ty::Tree { param, leaf: None } => Some(Need::Leaves(*param, class)),
            _ => None,
        })
        .collect()
}

/// The first leaf of a tree that is not of a class.
pub fn wrong_leaf(tree: &Ty, class: Class, cx: &Cx) -> Option<(String, Ty)> {
    leaves(tree).into_iter().find(|(_, t)| match t {
        Ty::Tensor(elem, _) => !cx.infer.is(elem, class) && !is_open(cx, elem),
        Ty::Tree { .. } | Ty::Error => false,
        Ty::Tuple(_) | Ty::Record(_) | Ty::Fn(..) | Ty::Var(_) => true,
    })
}

/// A literal that can still become any number.
fn is_open(cx: &Cx, elem: &ElemTy) -> bool {
    cx.infer.literal_class(elem).is_some()
}

fn decide(need: &Need, span: Span, callee: Option<(Name, Span)>) -> Verdict {
    match need {
        Need::NotNegative(d) => match d.as_int() {
            Some(n) if n >= 0 => Verdict::Holds,
            Some(size) => Verdict::Fails(Box::new(Problem::NegativeSize { span, size, callee })),
            None if poly::never_negative(d) => Verdict::Holds,
            None => Verdict::Open(vec![need.clone()]),
        },
        Need::Divides(a, b) => match (a.as_int(), b.as_int()) {
            (Some(x), Some(y)) if y != 0 && x % y == 0 => Verdict::Holds,
            (Some(x), Some(y)) => Verdict::Fails(Box::new(Problem::Inexact {
                span,
                callee,
                text: Some(format!("{x} / {y}")),
            })),
            _ => match a.div(b) {
                Some(d) if !poly::has_quotient(&d) => Verdict::Holds,
                _ => Verdict::Open(vec![need.clone()]),
            },
        },
        Need::InRange { index, size } => in_range(need, index, size, span, callee),
        Need::Leaves(..) => Verdict::Open(vec![need.clone()]),
    }
}

fn in_range(
    need: &Need,
    index: &Dim,
    size: &Dim,
    span: Span,
    callee: Option<(Name, Span)>,
) -> Verdict {
    if let (Some(i), Some(n)) = (index.as_int(), size.as_int()) {
        return if -n <= i && i < n {
            Verdict::Holds
        } else {
            Verdict::Fails(Box::new(Problem::IndexOutOfRange {
                span,
                index: i,
                size: size.clone(),
                callee,
            }))
        };
    }
    // What must not be negative: the elements after the position, and the position itself.
    let after = match index.as_int() {
        Some(i) if i < 0 => size.add(index),
        _ => size.sub(index).and_then(|d| d.sub(&Dim::int(1))),
    };
    let index_holds = poly::never_negative(index) || index.as_int().is_some();
    match after {
        Some(d) if d.as_int().is_some_and(|n| n < 0) => {
            Verdict::Fails(Box::new(Problem::IndexBeyond {
                span,
                index: index.clone(),
                size: size.clone(),
            }))
        }
        Some(d) if poly::never_negative(&d) && index_holds => Verdict::Holds,
        _ => Verdict::Open(vec![need.clone()]),
    }
}
