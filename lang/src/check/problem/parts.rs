//! What problems are told with.

use crate::ast::Name;
use crate::span::Span;
use crate::typed::{Dim, Ty};

/// An operand in a message.
#[derive(Clone, Debug)]
pub struct Operand {
    pub span: Span,
    pub ty: Ty,
    /// As written.
    pub text: String,
}

/// Why a type was expected somewhere.
#[derive(Clone, Debug)]
pub enum Context {
    Let {
        ty: Span,
    },
    Const {
        name: Name,
        ty: Span,
    },
    Return {
        name: Name,
        ty: Span,
    },
    /// `shown`: the parameter's type with what the other arguments tell of it.
    Arg {
        callee: String,
        param: Name,
        definition: Span,
        shown: String,
        /// Whether the place is that of the argument, and not of what it is made from.
        itself: bool,
    },
    LambdaParam {
        ty: Span,
    },
    /// `declared`: the field in the type's definition.
    Field {
        name: Name,
        declared: Option<Span>,
    },
    Assign {
        name: Name,
        definition: Span,
        in_loop: bool,
    },
    /// The value that `scan` or `fold` hands from step to step.
    Carry {
        what: &'static str,
        init: Span,
    },
    /// Of a list or `stack`.
    Element {
        first: Span,
    },
    /// Of a range in `for`.
    Bound,
    Operand {
        what: &'static str,
    },
    /// The tangents of `jvp`, the cotangent of `vjp`.
    Product {
        what: &'static str,
    },
    /// Of `assert_close`.
    Close {
        first: Span,
    },
    /// What a function's own `vjp` block gives.
    Cotangent {
        params: Span,
    },
}

/// What is wrong with `batches`.
#[derive(Clone, Debug, PartialEq)]
pub enum BatchesFault {
    /// It stands elsewhere than after `in`.
    Place,
    /// It is given something else than `load(…)`.
    NotLoad,
    /// No batch is full.
    TooFew { rows: i64, size: Dim },
}

/// Why one place uses a key more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    Loop,
    Lambda,
    /// `vmap(f, in=none)`: one key for all the calls.
    Map,
}

/// What grows without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The parts of a type.
    Type,
    /// Lambdas and constants, checked anew at each use.
    Code,
    /// Constants, aliases and lambdas defined by one another.
    Nesting,
}
