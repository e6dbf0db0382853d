//! What the actions of the grammar call: makes nodes, and checks what the grammar cannot say.

use super::deep::{Deep, Depth, MAX_NESTING, deepest, gather, pair};
use super::error::{BadTarget, SyntaxError};
use super::format_spec;
use crate::ast::*;
use crate::lexer::token::BlockId;
use crate::span::{FileId, Span, Spanned};

fn gather_named<T>(items: Vec<(Ident, Deep<T>)>) -> Deep<Vec<(Ident, T)>> {
    gather(items.into_iter().map(|(name, d)| d.map(|t| (name, t))))
}

pub fn first_and<T>(first: T, mut rest: Vec<T>) -> Vec<T> {
    rest.insert(0, first);
    rest
}

/// Statements up to a semicolon or to the end of the block, there perhaps with a value.
pub struct Chunk {
    pub stmts: Vec<Deep<Stmt>>,
    pub value: Option<Deep<Expr>>,
}

impl Chunk {
    pub fn new(stmts: Vec<Deep<Stmt>>, value: Option<Deep<Expr>>) -> Self {
        Chunk { stmts, value }
    }
}

pub struct LetHead {
    pub mutable: bool,
    pub pattern: Pattern,
    pub ty: Option<Deep<TypeExpr>>,
}

pub enum Iter {
    Over(Deep<Expr>),
    Range(Deep<Expr>, Deep<Expr>),
}

pub enum Arg {
    Positional(Deep<Expr>),
    Named(Ident, Deep<Expr>),
}

/// A field of a record literal; without a value it is an error.
pub struct Entry {
    pub name: Ident,
    pub value: Option<Deep<Expr>>,
}

pub struct Builder<'s> {
    pub file: FileId,
    pub text: &'s str,
    pub errors: Vec<SyntaxError>,
    /// The blocks that [`BlockId`]s stand for, each taken by the one node that it belongs to.
    pub blocks: Vec<Option<Deep<Block>>>,
    /// Where each statement starts, for the formatter.
    pub statements: Vec<u32>,
    /// Only asks whether the tokens fit the grammar: blocks stay where they are.
    pub trial: bool,
    /// Whether the run in progress already cut off something too deep.
    pub cut: bool,
}

impl Builder<'_> {
    pub fn span(&self, l: u32, r: u32) -> Span {
        Span::new(self.file, l as usize, r as usize)
    }

    pub fn item(&self, l: u32, kind: ItemKind, r: u32) -> Item {
        Item {
            doc: None,
            kind,
            span: self.span(l, r),
        }
    }

    pub fn const_def(
        &mut self,
        name: Ident,
        ty: Option<Deep<TypeExpr>>,
        value: Deep<Expr>,
    ) -> Deep<ConstDef> {
        Deep {
            depth: value.depth.max(deepest(&ty)),
            node: ConstDef {
                name,
                ty: ty.map(|t| t.node),
                value: value.node,
            },
        }
    }

    pub fn generic(&mut self, name: Ident, kind: Ident) -> GenericParam {
        let known = match &*kind.node {
            "tree" => GenericKind::Tree,
            "float" => GenericKind::Float,
            "int" => GenericKind::Int,
            "num" => GenericKind::Num,
            _ => {
                self.errors.push(SyntaxError::UnknownKind { at: kind.span });
                GenericKind::Num
            }
        };
        GenericParam { name, kind: known }
    }

    // ---- Blocks

    pub fn block(&mut self, l: u32, id: BlockId, r: u32) -> Deep<Block> {
        let stored = if self.trial {
            None
        } else {
            self.blocks[id.0 as usize].take()
        };
        stored.unwrap_or_else(|| {
            Deep::leaf(Block {
                stmts: Vec::new(),
                value: None,
                span: self.span(l, r),
            })
        })
    }

    pub fn block_expr(&mut self, l: u32, id: BlockId, r: u32) -> Deep<Expr> {
        let block = self.block(l, id, r);
        self.expr(l, block.map(ExprKind::Block), r)
    }

    /// Braces that may only be empty here; whether they are.
    pub fn empty_braces(&mut self, l: u32, id: BlockId, r: u32) -> bool {
        let block = self.block(l, id, r).node;
        let is_empty = block.value.is_none() && block.stmts.is_empty();
        if !is_empty {
            let at = self.span(l, r);
            let others = Vec::new();
            self.errors
                .push(SyntaxError::FieldWithoutValue { at, others });
        }
        is_empty
    }

    /// `fn f() -> T { w: a }`: the braces of the record were taken for those of the body.
    pub fn record_as_body(&mut self, l: u32, fields: Vec<Entry>, r: u32) -> Deep<Block> {
        let at = self.span(l, r);
        self.errors.push(SyntaxError::RecordAsBody { at });
        let value = self.record(l, fields, r);
        value.map(|value| Block {
            stmts: Vec::new(),
            value: Some(Box::new(value)),
            span: at,
        })
    }

    // ---- Types

    fn ty(&mut self, l: u32, kind: Deep<TypeExprKind>, r: u32) -> Deep<TypeExpr> {
        let span = self.span(l, r);
        let Some(depth) = kind.depth.under_a_node() else {
            self.too_deep(l, kind.depth);
            let kind = TypeExprKind::Error;
            return Deep::leaf(TypeExpr { kind, span });
        };
        Deep {
            depth,
            node: TypeExpr {
                kind: kind.node,
                span,
            },
        }
    }

    pub fn path(
        &mut self,
        l: u32,
        module: Option<Ident>,
        name: Ident,
        args: Vec<Deep<TypeArg>>,
        r: u32,
    ) -> Deep<TypeExpr> {
        let kind = gather(args).map(|args| TypeExprKind::Path { module, name, args });
        self.ty(l, kind, r)
    }

    pub fn shape_type(&mut self, l: u32, sizes: Vec<Deep<TypeArg>>, r: u32) -> Deep<TypeExpr> {
        self.ty(l, gather(sizes).map(TypeExprKind::Shape), r)
    }

    pub fn tuple_type(&mut self, l: u32, items: Vec<Deep<TypeExpr>>, r: u32) -> Deep<TypeExpr> {
        self.ty(l, gather(items).map(TypeExprKind::Tuple), r)
    }

    pub fn record_type(
        &mut self,
        l: u32,
        fields: Vec<(Ident, Deep<TypeExpr>)>,
        r: u32,
    ) -> Deep<TypeExpr> {
        self.ty(l, gather_named(fields).map(TypeExprKind::Record), r)
    }

    pub fn empty_record_type(&mut self, l: u32, id: BlockId, r: u32) -> Deep<TypeExpr> {
        match self.empty_braces(l, id, r) {
            true => self.record_type(l, Vec::new(), r),
            false => self.broken_type(l, r),
        }
    }

    pub fn fn_type(
        &mut self,
        l: u32,
        params: Vec<Deep<TypeExpr>>,
        ret: Deep<TypeExpr>,
        r: u32,
    ) -> Deep<TypeExpr> {
        let kind = pair(gather(params), ret, |params, ret| {
            TypeExprKind::Fn(params, Box::new(ret))
        });
        self.ty(l, kind, r)
    }

    pub fn parenthesised_type(&mut self, l: u32, mut ty: Deep<TypeExpr>, r: u32) -> Deep<TypeExpr> {
        ty.node.span = self.span(l, r);
        ty
    }

    pub fn broken_type(&mut self, l: u32, r: u32) -> Deep<TypeExpr> {
        self.ty(l, Deep::leaf(TypeExprKind::Error), r)
    }

    pub fn dim_arg(&mut self, size: Deep<Expr>, axis: Option<Ident>) -> Deep<TypeArg> {
        size.map(|size| TypeArg::Dim { size, axis })
    }

    // ---- Statements

    pub fn stmt(&mut self, l: u32, kind: Deep<StmtKind>, r: u32) -> Deep<Stmt> {
        let span = self.span(l, r);
        if !self.trial {
            self.statements.push(l);
        }
        kind.map(|kind| Stmt { kind, span })
    }

    pub fn let_stmt(&mut self, l: u32, head: LetHead, value: Deep<Expr>, r: u32) -> Deep<Stmt> {
        let kind = Deep {
            depth: value.depth.max(deepest(&head.ty)),
            node: StmtKind::Let {
                pattern: head.pattern,
                mutable: head.mutable,
                ty: head.ty.map(|t| t.node),
                value: value.node,
            },
        };
        self.stmt(l, kind, r)
    }

    pub fn return_stmt(&mut self, l: u32, value: Option<Deep<Expr>>, r: u32) -> Deep<Stmt> {
        let kind = match value {
            Some(value) => value.map(|v| StmtKind::Return(Some(v))),
            None => Deep::leaf(StmtKind::Return(None)),
        };
        self.stmt(l, kind, r)
    }

    pub fn assign(&mut self, l: u32, target: Deep<Expr>, value: Deep<Expr>, r: u32) -> Deep<Stmt> {
        if let Some((at, bad)) = bad_target(&target.node) {
            self.errors
                .push(SyntaxError::NotAssignable { at, target: bad });
        }
        let kind = pair(target, value, |target, value| StmtKind::Assign {
            target,
            value,
        });
        self.stmt(l, kind, r)
    }

    pub fn for_stmt(
        &mut self,
        l: u32,
        pattern: Pattern,
        iter: Iter,
        body: Deep<Block>,
        r: u32,
    ) -> Deep<Stmt> {
        let iter = match iter {
            Iter::Over(e) => e.map(ForIter::Over),
            Iter::Range(a, b) => pair(a, b, ForIter::Range),
        };
        let kind = pair(iter, body, |iter, body| StmtKind::For {
            pattern,
            iter,
            body,
        });
        self.stmt(l, kind, r)
    }

    pub fn while_stmt(
        &mut self,
        l: u32,
        cond: Deep<Expr>,
        body: Deep<Block>,
        r: u32,
    ) -> Deep<Stmt> {
        let kind = pair(cond, body, |cond, body| StmtKind::While { cond, body });
        self.stmt(l, kind, r)
    }

    pub fn name_pattern(&self, name: Ident) -> Pattern {
        match &*name.node {
            "_" => Pattern::Wild(name.span),
            _ => Pattern::Name(name),
        }
    }

    // ---- Expressions

    pub fn expr(&mut self, l: u32, kind: Deep<ExprKind>, r: u32) -> Deep<Expr> {
        let span = self.span(l, r);
        let Some(depth) = kind.depth.under_a_node() else {
            self.too_deep(l, kind.depth);
            let kind = ExprKind::Error;
            return Deep::leaf(Expr { kind, span });
        };
        Deep {
            depth,
            node: Expr {
                kind: kind.node,
                span,
            },
        }
    }

    /// One message for each run: what is cut off inside may make what is around it too deep again.
    fn too_deep(&mut self, l: u32, depth: Depth) {
        if std::mem::replace(&mut self.cut, true) {
            return;
        }
        let at = self.span(l, l + 1);
        self.errors.push(match depth.nesting < MAX_NESTING {
            true => SyntaxError::TooLong { at },
            false => SyntaxError::TooDeep { at },
        });
    }

    pub fn leaf(&mut self, l: u32, kind: ExprKind, r: u32) -> Deep<Expr> {
        self.expr(l, Deep::leaf(kind), r)
    }

    pub fn parenthesised(&mut self, l: u32, mut e: Deep<Expr>, r: u32) -> Deep<Expr> {
        e.node.span = self.span(l, r);
        e
    }

    pub fn op(&self, l: u32, op: BinaryOp, r: u32) -> Spanned<BinaryOp> {
        Spanned::new(op, self.span(l, r))
    }

    pub fn binary(
        &mut self,
        l: u32,
        mut a: Deep<Expr>,
        op: Spanned<BinaryOp>,
        b: Deep<Expr>,
        r: u32,
    ) -> Deep<Expr> {
        if matches!(a.node.kind, ExprKind::Binary(..)) {
            a.depth = a.depth.continued();
        }
        let kind = pair(a, b, |a, b| ExprKind::Binary(op, Box::new(a), Box::new(b)));
        self.expr(l, kind, r)
    }

    /// `a < b < c`, where `a < b` is the first of the comparisons.
    pub fn chained(
        &mut self,
        l: u32,
        first_of: Deep<Expr>,
        op: Spanned<BinaryOp>,
        b: Deep<Expr>,
        r: u32,
    ) -> Deep<Expr> {
        if let ExprKind::Binary(inner, ..) = &first_of.node.kind {
            let first = inner.span;
            let second = op.span;
            self.errors
                .push(SyntaxError::ChainedComparison { first, second });
            let reported = pair(first_of, b, |_, _| ExprKind::Error);
            return self.expr(l, reported, r);
        }
        self.binary(l, first_of, op, b, r)
    }

    pub fn unary(&mut self, l: u32, op: UnaryOp, e: Deep<Expr>, r: u32) -> Deep<Expr> {
        let kind = e.map(|e| ExprKind::Unary(op, Box::new(e)));
        self.expr(l, kind, r)
    }

    pub fn call(&mut self, l: u32, callee: Deep<Expr>, args: Vec<Arg>, r: u32) -> Deep<Expr> {
        let mut positional = Vec::new();
        let mut named = Vec::new();
        for arg in args {
            match arg {
                Arg::Named(name, value) => named.push((name, value)),
                Arg::Positional(value) => {
                    if let Some((name, _)) = named.last() {
                        let (at, named): (_, &Ident) = (value.node.span, name);
                        let named = named.span;
                        self.errors
                            .push(SyntaxError::PositionalAfterNamed { at, named });
                    }
                    positional.push(value);
                }
            }
        }
        let args = pair(gather(positional), gather_named(named), |args, named| {
            (args, named)
        });
        let kind = pair(callee, args, |callee, (args, named)| ExprKind::Call {
            callee: Box::new(callee),
            args,
            named,
        });
        self.expr(l, kind, r)
    }

    pub fn index(
        &mut self,
        l: u32,
        e: Deep<Expr>,
        args: Vec<Deep<IndexArg>>,
        r: u32,
    ) -> Deep<Expr> {
        let kind = pair(e, gather(args), |e, args| {
            ExprKind::Index(Box::new(e), args)
        });
        self.expr(l, kind, r)
    }

    pub fn index_expr(&mut self, e: Deep<Expr>) -> Deep<IndexArg> {
        match e.node.kind {
            ExprKind::None => Deep::leaf(IndexArg::NewAxis(e.node.span)),
            _ => e.map(IndexArg::Expr),
        }
    }

    pub fn range(
        &mut self,
        l: u32,
        lo: Option<Deep<Expr>>,
        hi: Option<Deep<Expr>>,
        step: Option<Deep<Expr>>,
        r: u32,
    ) -> Deep<IndexArg> {
        Deep {
            depth: deepest([&lo, &hi, &step].into_iter().flatten()),
            node: IndexArg::Range {
                lo: lo.map(|e| e.node),
                hi: hi.map(|e| e.node),
                step: step.map(|e| e.node),
                span: self.span(l, r),
            },
        }
    }

    pub fn field(&mut self, l: u32, e: Deep<Expr>, name: Ident, r: u32) -> Deep<Expr> {
        let kind = e.map(|e| ExprKind::Field(Box::new(e), name));
        self.expr(l, kind, r)
    }

    /// `m.HID` among dimensions.
    pub fn qualified(&mut self, l: u32, module: Ident, name: Ident, r: u32) -> Deep<Expr> {
        let module_span = module.span;
        let e = self.leaf(
            module_span.start,
            ExprKind::Name(module.node),
            module_span.end,
        );
        self.field(l, e, name, r)
    }

    pub fn tuple_field(&mut self, l: u32, e: Deep<Expr>, nl: u32, n: u128, r: u32) -> Deep<Expr> {
        // No tuple has so many fields; the checker says so with the number as it stands in the source.
        let n = Spanned::new(u32::try_from(n).unwrap_or(u32::MAX), self.span(nl, r));
        let kind = e.map(|e| ExprKind::TupleField(Box::new(e), n));
        self.expr(l, kind, r)
    }

    pub fn tuple(&mut self, l: u32, items: Vec<Deep<Expr>>, r: u32) -> Deep<Expr> {
        self.expr(l, gather(items).map(ExprKind::Tuple), r)
    }

    pub fn list(&mut self, l: u32, items: Vec<Deep<Expr>>, r: u32) -> Deep<Expr> {
        self.expr(l, gather(items).map(ExprKind::List), r)
    }

    pub fn record(&mut self, l: u32, fields: Vec<Entry>, r: u32) -> Deep<Expr> {
        let mut complete = Vec::with_capacity(fields.len());
        let mut alone = Vec::new();
        for Entry { name, value } in fields {
            let value = value.unwrap_or_else(|| {
                let at = name.span;
                alone.push(at);
                self.leaf(at.start, ExprKind::Error, at.end)
            });
            complete.push((name, value));
        }
        if let [at, others @ ..] = alone.as_slice() {
            self.errors.push(SyntaxError::FieldWithoutValue {
                at: *at,
                others: others.to_vec(),
            });
        }
        self.expr(l, gather_named(complete).map(ExprKind::Record), r)
    }

    pub fn lambda(
        &mut self,
        l: u32,
        params: Vec<LambdaParam>,
        body: Deep<Expr>,
        r: u32,
    ) -> Deep<Expr> {
        let kind = body.map(|body| ExprKind::Lambda(params, Box::new(body)));
        self.expr(l, kind, r)
    }

    pub fn if_expr(
        &mut self,
        l: u32,
        cond: Deep<Expr>,
        then: Deep<Block>,
        otherwise: Option<Deep<Expr>>,
        r: u32,
    ) -> Deep<Expr> {
        let otherwise = match otherwise {
            Some(e) => e.map(|e| Some(Box::new(e))),
            None => Deep::leaf(None),
        };
        let head = pair(cond, then, |cond, then| (cond, then));
        let kind = pair(head, otherwise, |(cond, then), otherwise| ExprKind::If {
            cond: Box::new(cond),
            then,
            otherwise,
        });
        self.expr(l, kind, r)
    }

    pub fn string(&mut self, l: u32, parts: Vec<Deep<StrPart>>, r: u32) -> Deep<Expr> {
        self.expr(l, gather(parts).map(ExprKind::Str), r)
    }

    pub fn format_spec(&mut self, l: u32, text: String, r: u32) -> Spanned<String> {
        let spec = Spanned::new(text, self.span(l, r));
        if format_spec::read(&spec.node).is_none() {
            let at = self.span(l - 1, r);
            self.errors.push(SyntaxError::BadFormatSpec { at });
        }
        spec
    }
}

/// The part of an assignment's target that is no variable or field of one.
fn bad_target(target: &Expr) -> Option<(Span, BadTarget)> {
    let bad = match &target.kind {
        ExprKind::Name(_) | ExprKind::Error => return None,
        ExprKind::Field(e, _) | ExprKind::TupleField(e, _) => return bad_target(e),
        ExprKind::Index(..) => BadTarget::Element,
        ExprKind::Tuple(_) | ExprKind::Record(_) => BadTarget::Tuple,
        _ => BadTarget::Other,
    };
    Some((target.span, bad))
}
