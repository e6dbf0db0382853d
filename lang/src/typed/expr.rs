//! Expressions, statements and functions with every name resolved and every type known, still generic over the
//! parameters of the function they stand in.

use super::builtin::{Attr, Builtin};
use super::dim::Dim;
use super::ty::{GenericArg, Ty};
use crate::ast::{GenericKind, Name};
use crate::span::Span;
use std::rc::Rc;

/// Index into [`Program::fns`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FnId(pub u32);

/// A variable: index into the [`Body::locals`] of the body it stands in (those of its lambdas included).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// A checked program: the file, what it imports, and the prelude.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub fns: Vec<FnDef>,
    pub main: Option<Body>,
    pub tests: Vec<TestDef>,
    /// Axis names and sizes of `mesh { … }`, in order.
    pub mesh: Vec<(Name, i64)>,
}

impl Program {
    /// How many devices the mesh has; 1 without one.
    pub fn devices(&self) -> usize {
        let sizes = self.mesh.iter().map(|&(_, n)| n as usize);
        sizes.fold(1, usize::saturating_mul)
    }
}

/// The module of the prelude's functions: no file can have this name.
pub const PRELUDE: &str = "<prelude>";

#[derive(Clone, Debug)]
pub struct FnDef {
    pub name: Name,
    /// `optim` for `optim.adam`; empty for the user's own file, [`PRELUDE`] for what is in scope everywhere.
    pub module: Name,
    pub doc: Option<String>,
    pub generics: Vec<Generic>,
    pub params: Vec<Param>,
    pub ret: Ty,
    pub body: Body,
    pub vjp: Option<Vjp>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Generic {
    pub name: Name,
    pub kind: GenericKind,
}

/// A parameter; calls are complete (defaults filled in) and in this order.
#[derive(Clone, Debug)]
pub struct Param {
    pub local: LocalId,
    pub name: Name,
    pub ty: Ty,
}

/// A function's own derivative: its block gives the cotangent of the only parameter, or a tuple of those of all.
#[derive(Clone, Debug)]
pub struct Vjp {
    /// In the locals of `body`: the parameters, then the result, then its cotangent.
    pub params: Vec<LocalId>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub struct TestDef {
    pub name: String,
    pub body: Body,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Body {
    pub locals: Vec<Local>,
    pub block: Block,
}

#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub ty: Ty,
    pub mutable: bool,
    pub span: Span,
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    /// `None`: the empty tuple.
    pub value: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// `return` is gone: the checker has moved what follows an `if` that returns into its other branch.
#[derive(Clone, Debug)]
pub enum StmtKind {
    Let {
        pattern: Pattern,
        value: Expr,
    },
    /// `s.w.0 = e`: the local, the positions of the fields down to the place, the value.
    Assign {
        local: LocalId,
        path: Vec<usize>,
        value: Expr,
    },
    /// `carried`: the locals from outside that the body assigns, in order of their ids.
    For {
        pattern: Pattern,
        iter: ForIter,
        body: Block,
        carried: Vec<LocalId>,
    },
    While {
        cond: Expr,
        body: Block,
        carried: Vec<LocalId>,
    },
    /// An expression whose value is dropped (an `if` that assigns, a block).
    Expr(Expr),
    /// Only in `main` and tests.
    Effect(Effect),
}

#[derive(Clone, Debug)]
pub enum ForIter {
    /// i32 bounds.
    Range(Expr, Expr),
    /// A tensor (over axis 0), or a tree of tensors whose leaves all have the same size on axis 0.
    Over(Expr),
    /// Only in `main` and tests.
    Batches(Box<Batches>),
}

/// Shuffled batches of the rows in files.
#[derive(Clone, Debug)]
pub struct Batches {
    pub path: String,
    pub count: usize,
    pub key: Expr,
    /// Of one batch.
    pub ty: Ty,
}

#[derive(Clone, Debug)]
pub enum Pattern {
    Local(LocalId),
    Wild,
    /// Of a tuple or record, by position; one entry for every field.
    Fields(Vec<Pattern>),
}

#[derive(Clone, Debug)]
pub enum Effect {
    Print(Vec<PrintPiece>),
    /// As `Print`, and may stand in a function.
    Debug(Vec<PrintPiece>),
    /// `save(value, "path")`.
    Save {
        value: Expr,
        path: String,
    },
    /// The message is put together when the condition is false.
    Assert {
        cond: Expr,
        message: Vec<PrintPiece>,
    },
    /// `log(step, name=value, …)`, the values numbers.
    Log {
        step: Expr,
        values: Vec<(Name, Expr)>,
    },
    AssertClose {
        actual: Expr,
        expected: Expr,
        tolerance: f64,
    },
}

#[derive(Clone, Debug)]
pub enum PrintPiece {
    Text(String),
    Value { value: Expr, spec: Option<String> },
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Ty,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A literal of the scalar type `ty`: an integer one may have a float type.
    Int(i128),
    Float(f64),
    Bool(bool),
    /// An integer known when the function is specialised: a dimension parameter, `shape(x).0`, arithmetic of them.
    Dim(Dim),
    Local(LocalId),
    /// A tuple, or a record with its fields in the order of the type.
    Fields(Vec<Expr>),
    /// Of a tuple or record, by position.
    Field(Box<Expr>, usize),
    /// Operators, casts and indexing are builtins too. Broadcasting is left to the builtin's meaning.
    Builtin {
        builtin: Builtin,
        args: Vec<Expr>,
        attrs: Vec<Attr>,
    },
    Call(Callee, Vec<Expr>),
    /// A function as a value: an argument of function type, or bound by `let`.
    Function(Callee),
    /// `map(f, t1, t2, …)`: one callee for each leaf of the (common) structure, in order; a rigid tree counts as
    /// one leaf, its callee then typed over [`super::ty::ElemTy::LeafOf`] and [`super::ty::ShapeItem::LeafOf`].
    Map {
        callees: Vec<Callee>,
        trees: Vec<Expr>,
    },
    /// `fold(f, init, t)`, callees as in `Map`, each taking (accumulator, leaf).
    Fold {
        callees: Vec<Callee>,
        init: Box<Expr>,
        tree: Box<Expr>,
    },
    /// `scan(f, init, xs)`.
    Scan {
        callee: Callee,
        init: Box<Expr>,
        xs: Box<Expr>,
    },
    /// `assigned`: the locals from outside that either branch assigns, in order of their ids.
    /// Decided at compile time where the condition is known then.
    If {
        cond: Box<Expr>,
        then: Block,
        otherwise: Block,
        assigned: Vec<LocalId>,
    },
    Block(Block),
    /// Data from the host; only in `main` and tests.
    Host(Host),
}

#[derive(Clone, Debug)]
pub enum Host {
    Dataset { name: String },
    Load { path: String },
    NumpyPermutations { seed: u64, n: Dim, count: Dim },
    Time,
}

/// A function that is called or passed, fully resolved.
#[derive(Clone, Debug)]
pub enum Callee {
    Fn {
        id: FnId,
        generics: Vec<GenericArg>,
    },
    /// Typed anew for each use; its locals are in the body it stands in.
    Lambda(Rc<Lambda>),
    /// A parameter of function type, or a function bound by `let`.
    Local(LocalId),
    Transform(Box<Transform>),
}

#[derive(Clone, Debug)]
pub struct Lambda {
    pub params: Vec<Pattern>,
    pub param_types: Vec<Ty>,
    pub body: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Transform {
    pub kind: TransformKind,
    pub callee: Callee,
    /// Types of the arguments and of the result of `callee` here.
    pub params: Vec<Ty>,
    pub ret: Ty,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TransformKind {
    /// `grad` or, with `value`, `value_and_grad`. `wrt`: positions; `tuple`: whether it was written as a tuple,
    /// so that the gradient is one.
    Grad {
        wrt: Vec<usize>,
        tuple: bool,
        value: bool,
        aux: bool,
    },
    /// Called with (tuple of primals, tuple of tangents); a tuple even of one when written as one.
    /// `tuple`: whether the function's arguments came as a tuple (else there is one argument, given bare).
    Jvp {
        tuple: bool,
    },
    /// Called with (primals, cotangent).
    Vjp {
        tuple: bool,
    },
    /// With respect to the first argument.
    Jacobian,
    Hessian,
    /// One entry an argument (for all its leaves), and one for the result; axes already counted from 0 in the mapped
    /// array, or from its end if negative.
    Vmap {
        axes: Vec<Option<i64>>,
        out: i64,
        size: Dim,
    },
    Checkpoint,
}
