//! What later checks ask of a checked function: whether reverse mode can go through it.

use crate::span::Span;
use crate::typed::{Block, Builtin, Callee, Expr, ExprKind, FnDef, ForIter, Stmt, StmtKind};

/// A loop whose number of rounds is only known when it runs.
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

impl Facts {
    pub fn of(def: &FnDef, known: &[Facts]) -> Facts {
        let open_loop = match def.vjp {
            // Its own derivative is used, whatever it does inside.
            Some(_) => None,
            None => in_block(&def.body.block, known),
        };
        Facts { open_loop }
    }
}

pub fn loop_in(callee: &Callee, known: &[Facts]) -> Option<OpenLoop> {
    match callee {
        Callee::Fn { id, .. } => known.get(id.0 as usize).and_then(|f| f.open_loop),
        Callee::Lambda(lambda) => in_expr(&lambda.body, known),
        Callee::Local(_) => None,
        Callee::Transform(t) => loop_in(&t.callee, known),
    }
}

fn in_block(block: &Block, known: &[Facts]) -> Option<OpenLoop> {
    let in_stmts = block.stmts.iter().find_map(|s| in_stmt(s, known));
    in_stmts.or_else(|| block.value.as_deref().and_then(|e| in_expr(e, known)))
}

fn in_stmt(stmt: &Stmt, known: &[Facts]) -> Option<OpenLoop> {
    match &stmt.kind {
        StmtKind::Let { value, .. } | StmtKind::Assign { value, .. } => in_expr(value, known),
        StmtKind::For { iter, body, .. } => {
            let is_open = match iter {
                ForIter::Range(lo, hi) => !is_constant(lo) || !is_constant(hi),
                ForIter::Over(_) | ForIter::Batches(_) => false,
            };
            if is_open {
                return Some(OpenLoop {
                    span: stmt.span,
                    is_for: true,
                });
            }
            in_block(body, known)
        }
        StmtKind::While { .. } => Some(OpenLoop {
            span: stmt.span,
            is_for: false,
        }),
        StmtKind::Expr(e) => in_expr(e, known),
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

fn in_expr(e: &Expr, known: &[Facts]) -> Option<OpenLoop> {
    let each = |exprs: &[Expr]| exprs.iter().find_map(|e| in_expr(e, known));
    match &e.kind {
        ExprKind::Builtin {
            builtin: Builtin::StopGradient,
            ..
        } => None,
        ExprKind::Builtin { args, .. } | ExprKind::Fields(args) => each(args),
        ExprKind::Field(inner, _) => in_expr(inner, known),
        ExprKind::Call(callee, args) => loop_in(callee, known).or_else(|| each(args)),
        ExprKind::Function(callee) => loop_in(callee, known),
        ExprKind::Map { callees, trees } => callees
            .iter()
            .find_map(|c| loop_in(c, known))
            .or_else(|| each(trees)),
        ExprKind::Fold {
            callees,
            init,
            tree,
        } => callees
            .iter()
            .find_map(|c| loop_in(c, known))
            .or_else(|| in_expr(init, known))
            .or_else(|| in_expr(tree, known)),
        ExprKind::Scan { callee, init, xs } => loop_in(callee, known)
            .or_else(|| in_expr(init, known))
            .or_else(|| in_expr(xs, known)),
        ExprKind::If {
            cond,
            then,
            otherwise,
            ..
        } => in_expr(cond, known)
            .or_else(|| in_block(then, known))
            .or_else(|| in_block(otherwise, known)),
        ExprKind::Block(block) => in_block(block, known),
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Dim(_)
        | ExprKind::Local(_)
        | ExprKind::Host(_) => None,
    }
}
