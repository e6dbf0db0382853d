//! The syntax tree: what was written, with spans, before any name is resolved.
//!
//! It keeps the form of the source (parentheses are dropped, operators are not turned into calls),
//! so that the formatter and the error messages can speak of what the user wrote.

use crate::span::{Span, Spanned};
use std::rc::Rc;

/// An identifier as written.
pub type Name = Rc<str>;
pub type Ident = Spanned<Name>;

/// One file.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Module {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The `##` lines above the item, joined with newlines, without their markers.
    pub doc: Option<String>,
    pub kind: ItemKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `import optim`, `import "lib/layers.tl" as layers`
    Import(Import),
    /// `const HID = 256`, `const LR: f32 = 1e-3`
    Const(ConstDef),
    /// `type Adam[T: tree] = { … }`
    Type(TypeDef),
    /// `fn f[B, D: float](x: D[B]) -> D[B] { … } vjp(x, y, ct) { … }`
    Fn(FnDef),
    /// `main { … }`
    Main(Block),
    /// `test "name" { … }`
    Test(TestDef),
    /// `mesh { data: 4, model: 1 }`
    Mesh(Vec<(Ident, Expr)>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// `optim` or the text of the string.
    pub path: Spanned<Name>,
    /// Whether the path was a string (a file beside this one) or a name (the standard library, or a file NAME.tl).
    pub quoted: bool,
    pub alias: Option<Ident>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ConstDef {
    pub name: Ident,
    pub ty: Option<TypeExpr>,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TypeDef {
    pub name: Ident,
    pub generics: Vec<GenericParam>,
    pub ty: TypeExpr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FnDef {
    pub name: Ident,
    pub generics: Vec<GenericParam>,
    pub params: Vec<Param>,
    /// Left out: the function returns the empty tuple.
    pub ret: Option<TypeExpr>,
    pub body: Block,
    pub vjp: Option<VjpDef>,
}

/// `vjp(x, y, ct) { … }`: names for the arguments, the result and its cotangent.
#[derive(Clone, Debug, PartialEq)]
pub struct VjpDef {
    pub params: Vec<Ident>,
    pub body: Block,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TestDef {
    pub name: Spanned<String>,
    pub body: Block,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GenericParam {
    pub name: Ident,
    pub kind: GenericKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GenericKind {
    /// `N`
    Dim,
    /// `..S`: any number of dimensions.
    Spread,
    /// `T: tree`
    Tree,
    /// `D: float`
    Float,
    /// `D: int`
    Int,
    /// `D: num`
    Num,
}

/// `x: f32[B]`, with an optional default `lr: f32 = 1e-3`.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: Ident,
    pub ty: TypeExpr,
    pub default: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    pub kind: TypeExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// A name with or without brackets: `f32`, `f32[B, 784]`, `Params`, `optim.Adam[Params]`, `D[..S]`, `T`.
    /// What the arguments are (dimensions or types) is known only when the name is resolved.
    Path {
        module: Option<Ident>,
        name: Ident,
        args: Vec<TypeArg>,
    },
    Tuple(Vec<TypeExpr>),
    Record(Vec<(Ident, TypeExpr)>),
    /// `fn(f32[N], i32) -> f32`
    Fn(Vec<TypeExpr>, Box<TypeExpr>),
    /// `[..S, I, O]`: the sizes that a parameter takes, as `zeros` takes them. Only for parameters of a function.
    Shape(Vec<TypeArg>),
    /// What stands where the parser recovered from an error, already reported.
    Error,
}

/// One thing in the brackets of a type, or of an explicit instantiation `f[3](x)`.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeArg {
    /// A dimension expression, or a bare name that may also be a type; `H @ model` lays it on a mesh axis.
    Dim { size: Expr, axis: Option<Ident> },
    /// `..S`
    Spread(Ident),
    /// A type that cannot be read as an expression: `f32[N]`, `(f32, i32)`, `{…}`, `optim.Adam[P]`.
    Type(TypeExpr),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    /// The final expression without a semicolon.
    pub value: Option<Box<Expr>>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let mut s: State = e;`, `let (a, b) = e;`
    Let {
        pattern: Pattern,
        mutable: bool,
        ty: Option<TypeExpr>,
        value: Expr,
    },
    Const(ConstDef),
    /// `s = e;`, also `s.w = e;`, `t.0 = e;`
    Assign {
        target: Expr,
        value: Expr,
    },
    /// `for i in a..b { }`, `for row in x { }`
    For {
        pattern: Pattern,
        iter: ForIter,
        body: Block,
    },
    While {
        cond: Expr,
        body: Block,
    },
    Return(Option<Expr>),
    /// An expression for its effect, `print("…");`, or an `if` whose branches assign.
    Expr(Expr),
    /// Where the parser recovered; already reported.
    Error,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ForIter {
    Range(Expr, Expr),
    Over(Expr),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    Name(Ident),
    /// `_`
    Wild(Span),
    Tuple(Vec<Pattern>, Span),
    /// `{ w, b }`, `{ w: weight, b }`
    Record(Vec<(Ident, Pattern)>, Span),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int(u128),
    Float(f64),
    Bool(bool),
    /// `none`: only as an argument (`in=(0, none)`) or an index (a new axis).
    None,
    Str(Vec<StrPart>),
    Name(Name),
    /// `p.w`, `optim.adam`, `d.x_train`
    Field(Box<Expr>, Ident),
    /// `t.0`
    TupleField(Box<Expr>, Spanned<u32>),
    Tuple(Vec<Expr>),
    /// `[a, b]`: stacks along a new axis 0; a list of sizes where a shape is wanted.
    List(Vec<Expr>),
    /// `..S`: only among the sizes of a list, `zeros([..S, N])`.
    Spread(Ident),
    Record(Vec<(Ident, Expr)>),
    Unary(UnaryOp, Box<Expr>),
    Binary(Spanned<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `f(a, k=v)`
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
        named: Vec<(Ident, Expr)>,
    },
    /// `x[i, a:b]` as an index, or `f[3]` as an instantiation: resolved by what stands before the bracket.
    Index(Box<Expr>, Vec<IndexArg>),
    Lambda(Vec<LambdaParam>, Box<Expr>),
    If {
        cond: Box<Expr>,
        then: Block,
        otherwise: Option<Box<Expr>>,
    },
    Block(Block),
    /// Where the parser recovered; already reported.
    Error,
}

/// A parameter of a lambda; its type is that of the use unless written.
#[derive(Clone, Debug, PartialEq)]
pub struct LambdaParam {
    pub pattern: Pattern,
    pub ty: Option<TypeExpr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StrPart {
    Text(String),
    /// `{expr}` or `{expr:.4f}`; the spec without its colon.
    Expr(Expr, Option<Spanned<String>>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum IndexArg {
    /// `i`, `-1`, `idx`
    Expr(Expr),
    /// `a:b:s`, each part optional.
    Range {
        lo: Option<Expr>,
        hi: Option<Expr>,
        step: Option<Expr>,
        span: Span,
    },
    /// `..`
    Rest(Span),
    /// `..S`: only in an instantiation `f[..S]`.
    Spread(Ident),
    /// `none`
    NewAxis(Span),
    /// A type in an instantiation, `f[f32[3]]`, that cannot be read as an expression.
    Type(TypeExpr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Neg,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    MatMul,
    Pow,
}

impl BinaryOp {
    /// Whether two sizes make a size of it.
    pub fn is_of_sizes(self) -> bool {
        use BinaryOp::{Add, Div, Mul, Sub};
        matches!(self, Add | Sub | Mul | Div)
    }

    /// As written in source.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Or => "||",
            BinaryOp::And => "&&",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::MatMul => "@",
            BinaryOp::Pow => "**",
        }
    }
}
