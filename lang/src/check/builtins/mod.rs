//! The builtins: one table, a row each, in files by subject.
//!
//! A row has the name in the language, the parameters with their kinds and defaults in the order of the named JAX
//! function, and a rule that types a call. What a rule hands to the compiler (operands and attributes) is described in
//! [`crate::typed::builtin`].

mod args;
mod create;
mod elementwise;
mod indexing;
mod join;
mod linalg;
mod neural;
mod random;
mod read;
mod reduce;
mod require;
mod shape;
mod slices;

pub use args::{Args, Given};
pub use random::key as check_key;

use super::cx::{Cx, bad, is_bad};
use super::expr::builtin;
use super::problem::Problem;
use crate::ast::{self, Ident};
use crate::span::Span;
use crate::typed::{Attr, Builtin, ElemTy, Expr, Shape, Ty};
use std::collections::HashMap;
use std::sync::LazyLock;

/// One builtin.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub builtin: Builtin,
    pub params: &'static [Param],
    pub rule: Rule,
}

#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub kind: Kind,
    pub default: Default,
}

/// How an argument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value, an operand.
    Value,
    /// Several operands: a tuple or list of values, or a tensor's value alone.
    Values,
    /// One integer tensor, or a tuple of them, one an axis.
    Positions,
    /// All remaining positional arguments.
    Rest,
    /// An integer known at compile time.
    Int,
    /// The same, or a float known at compile time.
    Number,
    /// One or several of them: axes, repeats, positions.
    Ints,
    /// The same, or where they are not, one or several operands.
    IntsOrValues,
    /// Sizes.
    Shape,
    /// Sizes, one of which may be −1.
    OpenShape,
    /// Low and high padding: `1`, `(1, 2)`, `((1, 2), (0, 0))`.
    Pads,
    Flag,
    Real,
    Elem,
    Text,
    /// A string, or pads.
    Padding,
    /// A string, or an operand.
    TextOrValue,
    /// Mesh axes: `[data, none]`.
    MeshAxes,
}

/// What stands for an argument left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    Required,
    Absent,
    Int(i64),
    Flag(bool),
    Real(f64),
    Text(&'static str),
    /// A literal operand.
    Literal(f64),
}

/// The typed call, or `None` once a problem has been reported.
pub type Rule = fn(&mut Cx, &mut Args) -> Option<Out>;

pub struct Out {
    pub builtin: Builtin,
    pub args: Vec<Expr>,
    pub attrs: Vec<Attr>,
    pub ty: Ty,
}

const fn row(name: &'static str, builtin: Builtin, params: &'static [Param], rule: Rule) -> Row {
    Row {
        name,
        builtin,
        params,
        rule,
    }
}

const fn req(name: &'static str, kind: Kind) -> Param {
    Param {
        name,
        kind,
        default: Default::Required,
    }
}

const fn opt(name: &'static str, kind: Kind, default: Default) -> Param {
    Param {
        name,
        kind,
        default,
    }
}

/// A call that gives one tensor.
fn out(a: &Args, args: Vec<Expr>, attrs: Vec<Attr>, elem: ElemTy, items: Shape) -> Option<Out> {
    Some(Out {
        builtin: a.row.builtin,
        args,
        attrs,
        ty: Ty::Tensor(elem, items),
    })
}

static TABLE: LazyLock<HashMap<&'static str, &'static Row>> = LazyLock::new(|| {
    let files = [
        elementwise::ROWS,
        reduce::ROWS,
        shape::ROWS,
        join::ROWS,
        slices::ROWS,
        create::ROWS,
        indexing::ROWS,
        linalg::ROWS,
        neural::ROWS,
        random::ROWS,
    ];
    files
        .into_iter()
        .flatten()
        .map(|row| (row.name, row))
        .collect()
});

pub fn find(name: &str) -> Option<&'static Row> {
    TABLE.get(name).copied()
}

pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.keys().copied()
}

impl<'a> Cx<'a, '_> {
    /// A call of a builtin as written.
    pub fn builtin_call(
        &mut self,
        row: &'static Row,
        args: &'a [ast::Expr],
        named: &'a [(Ident, ast::Expr)],
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let _ = want;
        match self.read_args(row, args, named, span) {
            Some(given) => self.typed_call(row, given, span),
            None => bad(span),
        }
    }

    /// A builtin used as a function, on values already checked.
    pub fn builtin_applied(&mut self, row: &'static Row, values: Vec<Expr>, span: Span) -> Expr {
        let mut values = values.into_iter();
        let found = values.len();
        let mut given = Vec::new();
        for param in row.params {
            let one = match param.kind {
                Kind::Value => values.next().map(Given::Value),
                Kind::Rest => Some(Given::Values(values.by_ref().collect())),
                _ => None,
            };
            given.push(match one {
                Some(value) => value,
                None => match self.default_given(param, span) {
                    Some(value) => value,
                    None => {
                        self.report(Problem::BuiltinAsFunction {
                            span,
                            name: row.name,
                            needs: param.name,
                        });
                        return bad(span);
                    }
                },
            });
        }
        if values.next().is_some() {
            let wanted = row.params.iter().filter(|p| p.kind == Kind::Value).count();
            self.report(Problem::ArgCount {
                span,
                callee: format!("`{}`", row.name),
                expected: wanted,
                optional: 0,
                found,
                missing: Vec::new(),
                definition: None,
            });
            return bad(span);
        }
        self.typed_call(row, given, span)
    }

    fn typed_call(&mut self, row: &'static Row, given: Vec<Given>, span: Span) -> Expr {
        let broken = given.iter().any(|g| match g {
            Given::Value(e) => is_bad(e),
            Given::Values(es) => es.iter().any(is_bad),
            _ => false,
        });
        if broken {
            return bad(span);
        }
        let mut args = Args { row, given, span };
        let before = self.w.diagnostics.len();
        match (row.rule)(self, &mut args) {
            Some(out) => builtin(out.builtin, out.args, out.attrs, out.ty, span),
            None => {
                // A rule that says nothing could not carry out its arithmetic of sizes.
                if self.w.diagnostics.len() == before {
                    self.report(Problem::ConstOverflow { span });
                }
                bad(span)
            }
        }
    }
}
