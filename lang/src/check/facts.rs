//! What later checks ask of a checked function: whether reverse mode can go through it.

use crate::span::Span;
use crate::typed::{
    Block, Builtin, Callee, ElemTy, Expr, ExprKind, FnDef, ForIter, Local, LocalId, Stmt, StmtKind,
    Ty,
};

/// A loop whose number of rounds is only known when it runs, and that changes what may have a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLoop {
    pub span: Span,
    /// A `for` with a computed bound, not a `while`.
    pub is_for: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// The first open loop that differentiating the function meets.
    pub open_loop: Option<OpenLoop>,
}

/// What the search for open loops looks up.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Of the functions checked so far.
    pub known: &'a [Facts],
    pub locals: &'a [Local],
}

impl Around<'_> {
    /// Whether a loop changes something that may have a derivative.
    fn carries_floats(self, carried: &[LocalId]) -> bool {
        carried
            .iter()
            .any(|id| may_be_float(&self.locals[id.0 as usize].ty))
    }
}

fn may_be_float(ty: &Ty) -> bool {
    match ty {
        Ty::Tensor(ElemTy::Known(elem), _) => elem.is_float(),
        Ty::Tuple(parts) => parts.iter().any(may_be_float),
        Ty::Record(fields) => fields.iter().any(|(_, ty)| may_be_float(ty)),
        Ty::Tensor(..) | Ty::Tree { .. } | Ty::Fn(..) | Ty::Var(_) | Ty::Error => true,
    }
}

impl Facts {
    pub fn of(def: &FnDef, known: &[Facts]) -> Facts {
        let around = Around {
            known,
            locals: &def.body.locals,
        };
        let open_loop = match def.vjp {
            // Its own derivative is used, whatever it does inside.
            Some(_) => None,
            None => in_block(&def.body.block, around),
        };
        Facts { open_loop }
    }
}

pub fn loop_in(callee: &Callee, around: Around) -> Option<OpenLoop> {
    match callee {
        Callee::Fn { id, .. } => around.known.get(id.0 as usize).and_then(|f| f.open_loop),
        Callee::Lambda(lambda) => in_expr(&lambda.body, around),
        Callee::Local(_) => None,
        Callee::Transform(t) => loop_in(&t.callee, around),
    }
}

fn in_block(block: &Block, around: Around) -> Option<OpenLoop> {
    let in_stmts = block.stmts.iter().find_map(|s| in_stmt(s, around));
    in_stmts.or_else(|| block.value.as_deref().and_then(|e| in_expr(e, around)))
}

fn in_stmt(stmt: &Stmt, around: Around) -> Option<OpenLoop> {
    match &stmt.kind {
        StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } => in_expr(value, around),
        StmtKind::For {
            iter,
            body,
            carried,
            ..
        } => {
            let is_open = match iter {
                ForIter::Range(lo, hi) => !is_constant(lo) || !is_constant(hi),
                ForIter::Over(_) | ForIter::Batches(_) => false,
            };
            if is_open && around.carries_floats(carried) {
                return Some(OpenLoop {
                    span: stmt.span,
                    is_for: true,
                });
            }
            in_block(body, around)
        }
        StmtKind::While { carried, .. } => around.carries_floats(carried).then_some(OpenLoop {
            span: stmt.span,
            is_for: false,
        }),
        StmtKind::Expr(e) => in_expr(e, around),
        StmtKind::Effect(_) => None,
    }
}

fn is_constant(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Int(_) | ExprKind::Dim(_) => true,
        // Arithmetic of constants that only a call decides, `N / 2`.
        ExprKind::Builtin { args, .. } => args.iter().all(is_constant),
        _ => false,
    }
}

fn in_expr(e: &Expr, around: Around) -> Option<OpenLoop> {
    let each = |exprs: &[Expr]| exprs.iter().find_map(|e| in_expr(e, around));
    match &e.kind {
        ExprKind::Builtin {
            builtin: Builtin::StopGradient,
            ..
        } => None,
        ExprKind::Builtin { args, .. } | ExprKind::Fields(args) => each(args),
        ExprKind::Field(inner, _) => in_expr(inner, around),
        ExprKind::Call(callee, args) => loop_in(callee, around).or_else(|| each(args)),
        ExprKind::Function(callee) => loop_in(callee, around),
        ExprKind::Map { callees, trees } => callees
            .iter()
            .find_map(|c| loop_in(c, around))
            .or_else(|| each(trees)),
        ExprKind::Fold {
            callees,
            init,
            tree,
        } => callees
            .iter()
            .find_map(|c| loop_in(c, around))
            .or_else(|| in_expr(init, around))
            .or_else(|| in_expr(tree, around)),
        ExprKind::Scan { callee, init, xs } => loop_in(callee, around)
            .or_else(|| in_expr(init, around))
            .or_else(|| in_expr(xs, around)),
        ExprKind::If {
            cond,
            then,
            otherwise,
            ..
        } => in_expr(cond, around)
            .or_else(|| in_block(then, around))
            .or_else(|| in_block(otherwise, around)),
        ExprKind::Block(block) => in_block(block, around),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Dim(_)
        | ExprKind::Local(_)
        | ExprKind::Host(_) => None,
    }
}
