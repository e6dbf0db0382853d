//! What a generic function asks of its parameters, found while its body is checked and proved at each call.
//!
//! A body is checked with its dimensions as symbols. Most of what it does holds for all of them; a division of sizes,
//! a difference of sizes or a constant position does not, and becomes a requirement: decided at once where the sizes
//! are known, otherwise handed on to the callers.

use super::cx::Cx;
use super::infer::Class;
use super::konst::{self, Const};
use super::poly;
use super::problem::Problem;
use super::subst::{Subst, leaves};
use crate::ast::{BinaryOp, Name};
use crate::span::Span;
use crate::typed::{Builtin, Dim, ElemTy, Expr, ExprKind, GenericArg, GenericId, Ty};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A size, or a difference of sizes that may not be negative.
    NotNegative(Dim),
    /// The first divided by the second leaves no remainder.
    Divides(Dim, Dim),
    /// A constant position inside a size; the difference that must be positive or zero stands behind it.
    InRange { index: Dim, size: Dim },
    /// An axis whose extreme is asked for, which nothing has.
    NotEmpty(Dim),
    /// The leaves of a tree are of a class.
    Leaves(GenericId, Class),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    pub need: Need,
    /// What decides whether the code that needs it runs.
    pub guards: Vec<Guard>,
    /// Where in the function it comes from.
    pub span: Span,
}

/// A comparison of sizes that holds in a branch: `if N > 2 { x[2] } else { … }`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    pub op: BinaryOp,
    pub a: Dim,
    pub b: Dim,
}

impl Guard {
    /// Whether it holds, where that is known.
    fn holds(&self) -> Option<bool> {
        let of = |d: &Dim| Const::of_dim(d.clone());
        match konst::binary(self.op, &of(&self.a), &of(&self.b)) {
            Some(Ok(Const::Bool(holds))) => Some(holds),
            _ => None,
        }
    }
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
            Verdict::Open(needs) => self.keep(needs, &[], span),
        }
    }

    fn keep(&mut self, needs: Vec<Need>, more: &[Guard], span: Span) {
        for need in needs {
            let mut guards = self.guards.clone();
            guards.extend(more.iter().filter(|g| !self.guards.contains(g)).cloned());
            self.require(Requirement { need, guards, span });
        }
    }

    pub fn require(&mut self, requirement: Requirement) {
        let Requirement { need, guards, .. } = &requirement;
        if self.need_set.insert((need.clone(), guards.clone())) {
            self.needs.push(requirement);
        }
    }

    /// Runs `f` for the branch that is taken where a condition is as said.
    pub fn where_it_is<T>(
        &mut self,
        cond: &Expr,
        holds: bool,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.guards.len();
        self.guard(cond, holds);
        let out = f(self);
        self.guards.truncate(before);
        out
    }

    /// What a condition tells of sizes, if it holds or if it does not.
    fn guard(&mut self, cond: &Expr, holds: bool) {
        let ExprKind::Builtin { builtin, args, .. } = &cond.kind else {
            return;
        };
        match (builtin, args.as_slice(), holds) {
            (Builtin::Not, [c], _) => self.guard(c, !holds),
            (Builtin::And, [c, d], true) | (Builtin::Or, [c, d], false) => {
                self.guard(c, holds);
                self.guard(d, holds);
            }
            (_, [a, b], _) => {
                let Some(op) = comparison(*builtin, holds) else {
                    return;
                };
                let size = |e: &Expr| self.const_of(e).and_then(|c| c.dim());
                if let (Some(a), Some(b)) = (size(a), size(b)) {
                    self.guards.push(Guard { op, a, b });
                }
            }
            _ => {}
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
            let Some(guards) = open_guards(&requirement.guards, &subst) else {
                continue;
            };
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
                    Verdict::Fails(_) if !guards.is_empty() => {
                        self.keep(vec![need], &guards, span);
                    }
                    Verdict::Fails(problem) => {
                        inexact |= matches!(*problem, Problem::Inexact { .. });
                        holds = false;
                        self.report(*problem);
                    }
                    Verdict::Open(needs) => self.keep(needs, &guards, span),
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

/// The guards that arguments leave open; `None` where one does not hold, and the code does not run.
fn open_guards(guards: &[Guard], subst: &Subst) -> Option<Vec<Guard>> {
    let mut open = Vec::new();
    for guard in guards {
        // A size that does not come out whole decides nothing.
        let (Some(a), Some(b)) = (subst.dim(&guard.a), subst.dim(&guard.b)) else {
            continue;
        };
        let guard = Guard { a, b, ..*guard };
        match guard.holds() {
            Some(true) => {}
            Some(false) => return None,
            None => open.push(guard),
        }
    }
    Some(open)
}

/// The comparison that a builtin is, or its opposite.
fn comparison(builtin: Builtin, holds: bool) -> Option<BinaryOp> {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    let (op, opposite) = match builtin {
        Builtin::Eq => (Eq, Ne),
        Builtin::Ne => (Ne, Eq),
        Builtin::Lt => (Lt, Ge),
        Builtin::Le => (Le, Gt),
        Builtin::Gt => (Gt, Le),
        Builtin::Ge => (Ge, Lt),
        _ => return None,
    };
    Some(if holds { op } else { opposite })
}

/// The needs after substitution; `None` where a size inside does not come out whole.
fn substitute(need: &Need, subst: &Subst) -> Option<Vec<Need>> {
    Some(match need {
        Need::NotNegative(d) => vec![Need::NotNegative(subst.dim(d)?)],
        Need::NotEmpty(d) => vec![Need::NotEmpty(subst.dim(d)?)],
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
        Need::NotEmpty(d) => match d.as_int() {
            Some(0) => Verdict::Fails(Box::new(Problem::NoExtreme { span, callee })),
            Some(_) => Verdict::Holds,
            None => match d.sub(&Dim::int(1)) {
                Some(rest) if poly::never_negative(&rest) => Verdict::Holds,
                _ => Verdict::Open(vec![need.clone()]),
            },
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
