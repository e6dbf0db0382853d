//! Statements, blocks and patterns.

use super::cx::{Cx, Place, bad, is_bad};
use super::problem::{Context, Problem};
use super::scope::Bound;
use crate::ast::{self, ExprKind as A, Ident, StmtKind as S};
use crate::span::Span;
use crate::typed::{
    Block, Expr, ExprKind, ForIter, LocalId, Pattern, ShapeItem, Stmt, StmtKind, Ty,
};
use std::collections::BTreeSet;

impl<'a> Cx<'a, '_> {
    /// A block as an expression: its statements in a scope of their own, then its value.
    pub fn block_value(&mut self, block: &'a ast::Block, want: Option<&Ty>, span: Span) -> Expr {
        let (block, ty) = self.block(block, want);
        if block.stmts.is_empty() {
            return match block.value {
                Some(value) => *value,
                None => unit(span),
            };
        }
        Expr {
            kind: ExprKind::Block(block),
            ty,
            span,
        }
    }

    pub fn block(&mut self, block: &'a ast::Block, want: Option<&Ty>) -> (Block, Ty) {
        let mark = self.scope.open();
        let mut out = Block::default();
        self.stmts(&block.stmts, &mut out.stmts);
        let ty = self.block_end(block.value.as_deref(), want, &mut out);
        self.scope.close(mark);
        (out, ty)
    }

    fn block_end(
        &mut self,
        value: Option<&'a ast::Expr>,
        want: Option<&Ty>,
        out: &mut Block,
    ) -> Ty {
        match value {
            // An effect may stand last without its semicolon.
            Some(e) if self.is_effect(e) => {
                let settle = self.infer.mark();
                out.stmts.extend(self.effect(e));
                self.infer.settle(settle);
                Ty::unit()
            }
            Some(e) => {
                let value = self.expr(e, want);
                let ty = value.ty.clone();
                out.value = Some(Box::new(value));
                ty
            }
            None => Ty::unit(),
        }
    }

    pub fn stmts(&mut self, stmts: &'a [ast::Stmt], out: &mut Vec<Stmt>) {
        for stmt in stmts {
            let mark = self.infer.mark();
            self.stmt(stmt, out);
            self.infer.settle(mark);
        }
    }

    pub fn stmt(&mut self, stmt: &'a ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let kind = match &stmt.kind {
            S::Let {
                pattern,
                mutable,
                ty,
                value,
            } => self.let_stmt(pattern, *mutable, ty.as_ref(), value),
            S::Const(def) => {
                self.local_const(def);
                None
            }
            S::Assign { target, value } => self.assign(target, value, span),
            S::For {
                pattern,
                iter,
                body,
            } => self.for_stmt(pattern, iter, body),
            S::While { cond, body } => self.while_stmt(cond, body),
            S::Return(_) => {
                self.report(Problem::ReturnHere {
                    span,
                    in_loop: self.loop_depth > 0,
                });
                None
            }
            S::Expr(e) if self.is_effect(e) => {
                out.extend(self.effect(e));
                None
            }
            S::Expr(e) => self.expr_stmt(e),
            S::Error => None,
        };
        out.extend(kind.map(|kind| Stmt { kind, span }));
    }

    fn expr_stmt(&mut self, e: &'a ast::Expr) -> Option<StmtKind> {
        let value = match &e.kind {
            A::If {
                cond,
                then,
                otherwise,
            } => self.if_stmt(cond, then, otherwise.as_deref(), e.span),
            _ => self.expr(e, None),
        };
        if is_bad(&value) {
            return None;
        }
        if !matches!(e.kind, A::If { .. } | A::Block(_)) {
            self.lint_dropped(e, &value);
        }
        Some(StmtKind::Expr(value))
    }

    fn let_stmt(
        &mut self,
        pattern: &'a ast::Pattern,
        mutable: bool,
        ty: Option<&'a ast::TypeExpr>,
        value: &'a ast::Expr,
    ) -> Option<StmtKind> {
        if let (ast::Pattern::Name(name), false) = (pattern, mutable)
            && self.is_function(value)
        {
            if let Some(t) = ty {
                let want = self.resolve_type(t);
                if let Ty::Fn(..) = want {
                    self.function_arg(value, &want);
                }
            }
            let now = self.scope.now();
            let bound = match self.fn_ref(value) {
                Some(f) => Bound::Function(f.defined_at(now)),
                None => Bound::Bad,
            };
            self.scope.bind(name.node.clone(), name.span, bound);
            return None;
        }
        let mark = self.infer.mark();
        let value = match ty {
            Some(t) => {
                let want = self.resolve_type(t);
                let checked = self.check(value, &want, Context::Let { ty: t.span });
                // What the annotation says holds for what follows, even where the value did not fit it.
                if is_bad(&checked) {
                    self.bind_pattern(pattern, &want, mutable);
                    return None;
                }
                let layout = self.layout(t);
                let value = Expr {
                    ty: want,
                    ..checked
                };
                self.laid_out(value, &layout)
            }
            None => self.expr(value, None),
        };
        self.infer.settle(mark);
        let is_constant = !mutable && ty.is_none();
        let pattern = self.bind_value(pattern, &value, mutable, is_constant);
        if is_bad(&value) {
            return None;
        }
        Some(StmtKind::Let { pattern, value })
    }

    /// Binds a pattern to a value, keeping what of it is known at compile time.
    fn bind_value(
        &mut self,
        pattern: &ast::Pattern,
        value: &Expr,
        mutable: bool,
        is_constant: bool,
    ) -> Pattern {
        let ty = self.infer.ty(&value.ty);
        match (pattern, &value.kind) {
            (ast::Pattern::Name(name), ExprKind::Dim(d)) if is_constant => {
                let id = self.local(name.node.clone(), ty, false, name.span);
                let value = super::konst::Const::Dim(d.clone());
                self.scope
                    .bind(name.node.clone(), name.span, Bound::Const(value));
                Pattern::Local(id)
            }
            (ast::Pattern::Tuple(parts, _), ExprKind::Fields(fields))
                if parts.len() == fields.len() && matches!(ty, Ty::Tuple(_)) =>
            {
                let parts = parts.iter().zip(fields);
                Pattern::Fields(
                    parts
                        .map(|(p, f)| self.bind_value(p, f, mutable, is_constant))
                        .collect(),
                )
            }
            _ => {
                let bound = self.bind_pattern(pattern, &ty, mutable);
                if let (Pattern::Local(id), false, Some(known)) =
                    (&bound, mutable, self.const_of(value))
                {
                    self.local_consts.insert(*id, known);
                }
                if let (Pattern::Local(id), ExprKind::Builtin { attrs, .. }) = (&bound, &value.kind)
                    && attrs.iter().any(|a| a.name == "keepdims")
                {
                    self.initialisers.insert(*id, value.clone());
                }
                bound
            }
        }
    }

    /// Declares the names of a pattern for a value of a type.
    pub fn bind_pattern(&mut self, pattern: &ast::Pattern, ty: &Ty, mutable: bool) -> Pattern {
        match pattern {
            ast::Pattern::Name(name) => {
                Pattern::Local(self.declare(name.node.clone(), ty.clone(), mutable, name.span))
            }
            ast::Pattern::Wild(_) => Pattern::Wild,
            ast::Pattern::Tuple(parts, span) => self.bind_tuple(parts, *span, ty, mutable),
            ast::Pattern::Record(fields, span) => self.bind_record(fields, *span, ty, mutable),
        }
    }

    fn bind_tuple(
        &mut self,
        parts: &[ast::Pattern],
        span: Span,
        ty: &Ty,
        mutable: bool,
    ) -> Pattern {
        let types = match self.infer.ty(ty) {
            Ty::Tuple(types) if types.len() == parts.len() => types,
            Ty::Tensor(elem, shape) if self.is_key_row(&elem, &shape, parts.len()) => {
                vec![Ty::Tensor(elem, shape[1..].to_vec()); parts.len()]
            }
            Ty::Error => vec![Ty::Error; parts.len()],
            ty => {
                self.report(Problem::PatternMismatch {
                    span,
                    parts: parts.len(),
                    ty,
                });
                vec![Ty::Error; parts.len()]
            }
        };
        let bound = parts
            .iter()
            .zip(&types)
            .map(|(p, t)| self.bind_pattern(p, t, mutable))
            .collect();
        Pattern::Fields(bound)
    }

    /// Whether a tensor is an array of just so many keys: `let (k1, k2) = split(k);`
    fn is_key_row(&self, elem: &crate::typed::ElemTy, shape: &[ShapeItem], n: usize) -> bool {
        *elem == crate::typed::ElemTy::Known(crate::typed::Elem::Key)
            && matches!(shape.first(), Some(ShapeItem::Dim(d)) if d.as_int() == Some(n as i64))
    }

    fn bind_record(
        &mut self,
        fields: &[(Ident, ast::Pattern)],
        span: Span,
        ty: &Ty,
        mutable: bool,
    ) -> Pattern {
        let known = match self.infer.ty(ty) {
            Ty::Record(known) => known,
            Ty::Error => {
                for (_, p) in fields {
                    self.bind_pattern(p, &Ty::Error, mutable);
                }
                return Pattern::Wild;
            }
            ty => {
                self.report(Problem::PatternMismatch {
                    span,
                    parts: fields.len(),
                    ty,
                });
                for (_, p) in fields {
                    self.bind_pattern(p, &Ty::Error, mutable);
                }
                return Pattern::Wild;
            }
        };
        let mut bound: Vec<Pattern> = vec![Pattern::Wild; known.len()];
        for (name, p) in fields {
            match known.iter().position(|(n, _)| *n == name.node) {
                Some(i) => bound[i] = self.bind_pattern(p, &known[i].1, mutable),
                None => {
                    let near = super::near::near(&name.node, known.iter().map(|(n, _)| &**n));
                    self.report(Problem::NoField {
                        span: name.span,
                        name: name.node.clone(),
                        base: span,
                        ty: Ty::Record(known.clone()),
                        near,
                    });
                    self.bind_pattern(p, &Ty::Error, mutable);
                }
            }
        }
        Pattern::Fields(bound)
    }

    fn assign(
        &mut self,
        target: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let Some((local, path, ty)) = self.assigned_place(target) else {
            self.expr(value, None);
            return None;
        };
        let index = local.0 as usize;
        let context = Context::Assign {
            name: self.text(target.span).into(),
            definition: self.locals[index].span,
            in_loop: self.loop_depth > self.local_depth[index],
        };
        let value = self.check(value, &ty, context);
        if let Some(set) = self.assigned.last_mut() {
            set.insert(local);
        }
        self.local_consts.remove(&local);
        let _ = span;
        if is_bad(&value) {
            return None;
        }
        Some(StmtKind::Assign { local, path, value })
    }

    /// The variable and the fields down to what is assigned; reports what cannot be.
    fn assigned_place(&mut self, target: &'a ast::Expr) -> Option<(LocalId, Vec<usize>, Ty)> {
        match &target.kind {
            A::Name(name) => {
                let Some(local) = self.scope.get_for_assignment(name) else {
                    if self.scope.get(name).is_none()
                        && self.w.lookup(self.module, name).is_none()
                        && self.generic(name).is_none()
                    {
                        self.unknown(&Ident::new(name.clone(), target.span), "variable");
                    } else {
                        self.report(Problem::NotAssignable {
                            span: target.span,
                            name: name.clone(),
                            definition: None,
                            in_lambda: false,
                        });
                    }
                    return None;
                };
                let info = &self.locals[local.0 as usize];
                if matches!(info.ty, Ty::Error) {
                    return None;
                }
                let in_lambda = self.lambda_depth > 0 && local.0 < self.lambda_floor;
                if !info.mutable || in_lambda {
                    let definition = Some(info.span).filter(|_| !in_lambda);
                    self.report(Problem::NotAssignable {
                        span: target.span,
                        name: name.clone(),
                        definition,
                        in_lambda,
                    });
                    return None;
                }
                let ty = info.ty.clone();
                Some((local, Vec::new(), ty))
            }
            A::Field(base, name) => {
                let (local, mut path, ty) = self.assigned_place(base)?;
                match self.infer.head(&ty) {
                    Ty::Record(fields) => match fields.iter().position(|(n, _)| *n == name.node) {
                        Some(i) => {
                            path.push(i);
                            Some((local, path, fields[i].1.clone()))
                        }
                        None => {
                            let near =
                                super::near::near(&name.node, fields.iter().map(|(n, _)| &**n));
                            self.report(Problem::NoField {
                                span: name.span,
                                name: name.node.clone(),
                                base: base.span,
                                ty: Ty::Record(fields),
                                near,
                            });
                            None
                        }
                    },
                    ty => {
                        self.report(Problem::NoField {
                            span: name.span,
                            name: name.node.clone(),
                            base: base.span,
                            ty,
                            near: None,
                        });
                        None
                    }
                }
            }
            A::TupleField(base, index) => {
                let (local, mut path, ty) = self.assigned_place(base)?;
                match self.infer.head(&ty) {
                    Ty::Tuple(fields) if (index.node as usize) < fields.len() => {
                        path.push(index.node as usize);
                        Some((local, path, fields[index.node as usize].clone()))
                    }
                    ty => {
                        self.report(Problem::NoTupleField {
                            span: target.span,
                            index: index.node,
                            ty,
                        });
                        None
                    }
                }
            }
            // The parser has reported anything else.
            _ => None,
        }
    }

    // Loops.

    /// Runs `f` and gives the variables from outside that it assigned, in order.
    pub fn watching<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Vec<LocalId>) {
        let floor = LocalId(self.locals.len() as u32);
        self.assigned.push(BTreeSet::new());
        let out = f(self);
        let set = self.assigned.pop().unwrap_or_default();
        let outside: Vec<LocalId> = set.into_iter().filter(|id| *id < floor).collect();
        if let Some(outer) = self.assigned.last_mut() {
            outer.extend(outside.iter().copied());
        }
        (out, outside)
    }

    fn for_stmt(
        &mut self,
        pattern: &'a ast::Pattern,
        iter: &'a ast::ForIter,
        body: &'a ast::Block,
    ) -> Option<StmtKind> {
        let (iter, item) = match iter {
            ast::ForIter::Range(lo, hi) => {
                let i32 = Ty::scalar(crate::typed::Elem::I32);
                let lo = self.check(lo, &i32, Context::Bound);
                let hi = self.check(hi, &i32, Context::Bound);
                (ForIter::Range(lo, hi), i32)
            }
            ast::ForIter::Over(e) => {
                let rows = self.expr(e, None);
                let item = self.row_type(&rows).unwrap_or(Ty::Error);
                (ForIter::Over(rows), item)
            }
        };
        let ((pattern, body), carried) = self.watching(|cx| {
            let mark = cx.scope.open();
            cx.loop_depth += 1;
            let pattern = cx.bind_pattern(pattern, &item, false);
            let body = cx.loop_body(body);
            cx.loop_depth -= 1;
            cx.scope.close(mark);
            (pattern, body)
        });
        let failed = match &iter {
            ForIter::Range(lo, hi) => is_bad(lo) || is_bad(hi),
            ForIter::Over(e) => is_bad(e) || matches!(item, Ty::Error),
        };
        (!failed).then_some(StmtKind::For {
            pattern,
            iter,
            body,
            carried,
        })
    }

    fn loop_body(&mut self, body: &'a ast::Block) -> Block {
        let (block, ty) = self.block(body, None);
        self.lint_loop_value(body, &ty);
        block
    }

    fn while_stmt(&mut self, cond: &'a ast::Expr, body: &'a ast::Block) -> Option<StmtKind> {
        let ((cond, body), carried) = self.watching(|cx| {
            cx.loop_depth += 1;
            let cond = cx.condition(cond);
            let body = cx.loop_body(body);
            cx.loop_depth -= 1;
            (cond, body)
        });
        (!is_bad(&cond)).then_some(StmtKind::While {
            cond,
            body,
            carried,
        })
    }

    /// The type of what a loop or `scan` meets: a row of a tensor, or of every tensor of a tree of equal lengths.
    pub fn row_type(&mut self, rows: &Expr) -> Option<Ty> {
        let ty = self.infer.ty(&rows.ty);
        if matches!(ty, Ty::Error) {
            return None;
        }
        let mut length: Option<crate::typed::Dim> = None;
        for (path, leaf) in super::subst::leaves(&ty) {
            let first = match &leaf {
                Ty::Tensor(_, shape) => match shape.first() {
                    Some(ShapeItem::Dim(d)) => Some(d.clone()),
                    _ => None,
                },
                _ => None,
            };
            let Some(first) = first else {
                self.report(Problem::NoRows {
                    span: rows.span,
                    ty: leaf,
                });
                return None;
            };
            match &length {
                Some(n) if !super::poly::equal(n, &first) => {
                    self.report(Problem::RowsDiffer {
                        span: rows.span,
                        path,
                        first: n.clone(),
                        other: first,
                    });
                    return None;
                }
                Some(_) => {}
                None => length = Some(first),
            }
        }
        if length.is_none() {
            self.report(Problem::NoRows {
                span: rows.span,
                ty,
            });
            return None;
        }
        Some(super::subst::map_leaves(&ty, &mut |leaf| match leaf {
            Ty::Tensor(elem, shape) => Ty::Tensor(elem.clone(), shape[1..].to_vec()),
            other => other.clone(),
        }))
    }

    // Branches.

    pub fn condition(&mut self, cond: &'a ast::Expr) -> Expr {
        let cond = self.expr(cond, None);
        if is_bad(&cond) {
            return cond;
        }
        let bool = Ty::scalar(crate::typed::Elem::Bool);
        if self.infer.unify(&bool, &cond.ty).is_err() {
            let ty = self.infer.ty(&cond.ty);
            self.report(Problem::NotACondition {
                span: cond.span,
                ty,
                text: self.text(cond.span).into(),
            });
            return bad(cond.span);
        }
        cond
    }

    fn if_stmt(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Block,
        otherwise: Option<&'a ast::Expr>,
        span: Span,
    ) -> Expr {
        let cond = self.condition(cond);
        let ((then, otherwise), assigned) = self.watching(|cx| {
            let then = cx.branch_for_effect(then);
            let otherwise = match otherwise.map(|e| (&e.kind, e.span)) {
                None => Block::default(),
                Some((A::Block(block), _)) => cx.branch_for_effect(block),
                Some((
                    A::If {
                        cond,
                        then,
                        otherwise,
                    },
                    span,
                )) => {
                    let nested = cx.if_stmt(cond, then, otherwise.as_deref(), span);
                    block_of(nested)
                }
                Some(_) => Block::default(),
            };
            (then, otherwise)
        });
        if is_bad(&cond) {
            return bad(span);
        }
        Expr {
            kind: ExprKind::If {
                cond: Box::new(cond),
                then,
                otherwise,
                assigned,
            },
            ty: Ty::unit(),
            span,
        }
    }

    /// A branch of an `if` whose value nobody takes.
    fn branch_for_effect(&mut self, block: &'a ast::Block) -> Block {
        let (mut out, ty) = self.block(block, None);
        self.lint_loop_value(block, &ty);
        if let Some(value) = out.value.take()
            && !is_bad(&value)
        {
            let span = value.span;
            out.stmts.push(Stmt {
                kind: StmtKind::Expr(*value),
                span,
            });
        }
        out
    }

    pub fn if_value(
        &mut self,
        cond: &'a ast::Expr,
        then: &'a ast::Block,
        otherwise: Option<&'a ast::Expr>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let cond = self.condition(cond);
        let ((then, then_ty, otherwise, other_ty, other_span), assigned) = self.watching(|cx| {
            let (then, then_ty) = cx.block(then, want);
            let (otherwise, other_ty, other_span) = match otherwise {
                None => (Block::default(), Ty::unit(), span),
                Some(e) => {
                    let at = match &e.kind {
                        A::Block(b) => b.value.as_ref().map_or(e.span, |v| v.span),
                        _ => e.span,
                    };
                    let (block, ty) = match &e.kind {
                        A::Block(block) => cx.block(block, want),
                        _ => {
                            let value = cx.expr(e, want);
                            let ty = value.ty.clone();
                            (block_of(value), ty)
                        }
                    };
                    (block, ty, at)
                }
            };
            (then, then_ty, otherwise, other_ty, other_span)
        });
        if otherwise_missing(&otherwise, &other_ty, &then_ty) && other_span == span {
            self.report(Problem::IfWithoutElse {
                span,
                ty: self.infer.ty(&then_ty),
            });
            return bad(span);
        }
        if self.infer.unify(&then_ty, &other_ty).is_err() {
            let (first, second) = (self.infer.ty(&then_ty), self.infer.ty(&other_ty));
            let first_span = then.value.as_ref().map_or(span, |v| v.span);
            self.report(Problem::BranchesDiffer {
                first,
                first_span,
                second,
                second_span: other_span,
            });
            return bad(span);
        }
        if is_bad(&cond) {
            return bad(span);
        }
        let ty = if matches!(then_ty, Ty::Error) {
            other_ty
        } else {
            then_ty
        };
        Expr {
            kind: ExprKind::If {
                cond: Box::new(cond),
                then,
                otherwise,
                assigned,
            },
            ty,
            span,
        }
    }

    /// Whether effects may stand here.
    pub fn in_script(&self) -> bool {
        self.place == Place::Script && self.lambda_depth == 0
    }
}

fn otherwise_missing(otherwise: &Block, other: &Ty, then: &Ty) -> bool {
    otherwise.stmts.is_empty()
        && otherwise.value.is_none()
        && *other == Ty::unit()
        && *then != Ty::unit()
        && !matches!(then, Ty::Error)
}

fn block_of(value: Expr) -> Block {
    Block {
        stmts: Vec::new(),
        value: Some(Box::new(value)),
    }
}

pub fn unit(span: Span) -> Expr {
    Expr {
        kind: ExprKind::Fields(Vec::new()),
        ty: Ty::unit(),
        span,
    }
}
