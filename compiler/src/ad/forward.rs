//! The forward-derivative table: for each primitive, its results and their tangents from its operands and theirs.
//!
//! A rule may emit what it likes on the primal side (`cx.e`), and only operations linear in tangents on the tangent
//! side (`cx.lin` and its kin). A tangent of `None` is zero. Integer and bool values never have one. The table is
//! entered only when some operand (or captured value) has a tangent.

use super::control::{branch, custom, remat, scan, while_loop};
use super::cx::{Cx, Dual, Env};
use super::error::{AdError, AdErrorKind};
use super::rules::{elementwise, index, linalg, reduce, shape};
use super::tape::Operand;
use crate::ir::op::{Effect, ScatterOp};
use crate::ir::{Func, Inst, Op, Value};

/// Emits the primal and the tangent of one instruction; a dual a result.
pub fn forward<'f>(
    cx: &mut Cx<'f>,
    f: &'f Func,
    inst: &'f Inst,
    args: &[Dual],
    env: &mut Env,
) -> Result<Vec<Dual>, AdError> {
    let op = &inst.op;
    Ok(match op {
        // Sources have no operands, so no tangents.
        Op::Constant(_) | Op::Iota { .. } | Op::Host(_) => constant(cx, op, args),

        Op::Unary(u) => {
            let y = primal(cx, op, args);
            let t = elementwise::unary(cx, *u, args[0], y)
                .map_err(|kind| AdError::new(kind, cx.e.span_of(y)))?;
            vec![Dual::new(y, t)]
        }
        Op::Binary(b) => vec![elementwise::binary(cx, *b, args[0], args[1])],
        Op::Compare(_) => constant(cx, op, args),
        Op::Select => {
            let y = primal(cx, op, args);
            let t = cx.lin_select(args[0].primal, args[1].tangent, args[2].tangent);
            vec![Dual::new(y, t)]
        }
        Op::Clamp => {
            let y = primal(cx, op, args);
            let t = elementwise::clamp(cx, args[0], args[1], args[2]);
            vec![Dual::new(y, t)]
        }
        Op::Convert(to) => {
            let y = primal(cx, op, args);
            let t = args[0]
                .tangent
                .filter(|_| to.is_float())
                .map(|t| cx.lin_convert(t, *to));
            vec![Dual::new(y, t)]
        }
        Op::Bitcast(_) | Op::Threefry => constant(cx, op, args),

        Op::Broadcast { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Reverse { .. } => linear(cx, op, args),
        Op::Pad { .. } => linear(cx, op, args),
        Op::Concat { axis } => vec![shape::concat(cx, *axis, args)],
        Op::DynamicSlice { .. } => with_coefficients(cx, op, args, &[0]),
        Op::DynamicUpdateSlice => with_coefficients(cx, op, args, &[0, 1]),
        Op::Gather(_) => with_coefficients(cx, op, args, &[0]),
        Op::Scatter {
            op: ScatterOp::Set, ..
        } => with_coefficients(cx, op, args, &[0, 2]),
        Op::Scatter {
            op: ScatterOp::Add, ..
        } => {
            if args[2].tangent.is_some() {
                with_coefficients(cx, op, args, &[0, 2])
            } else {
                vec![Dual::new(primal(cx, op, args), args[0].tangent)]
            }
        }

        Op::Reduce { op: r, axes } => vec![reduce::reduce(cx, *r, axes, args[0])],
        Op::ArgReduce { .. } => constant(cx, op, args),
        Op::Cumulate {
            op: r,
            axis,
            reverse,
        } => vec![reduce::cumulate(cx, *r, *axis, *reverse, args[0])],
        Op::ReduceWindow { op: r, window } => {
            vec![reduce::reduce_window(cx, *r, window, args[0])]
        }
        Op::WindowGather { .. } | Op::WindowScatter { .. } => with_coefficients(cx, op, args, &[1]),

        Op::Dot(_) | Op::Conv(_) => bilinear(cx, op, args),
        Op::Cholesky => vec![linalg::cholesky(cx, args[0])],
        Op::TriangularSolve {
            left,
            lower,
            transpose,
            unit_diagonal,
        } => {
            let solve = linalg::Solve {
                left: *left,
                lower: *lower,
                transpose: *transpose,
                unit_diagonal: *unit_diagonal,
            };
            vec![linalg::triangular_solve(cx, solve, args[0], args[1])]
        }

        Op::Sort { axis, .. } => index::sort(cx, op, *axis, args),

        Op::Scan {
            length,
            reverse,
            carry,
        } => scan::forward(cx, f, inst, args, env, (*length, *reverse, *carry))?,
        Op::While => while_loop::forward(cx, f, inst, args, env)?,
        Op::If => branch::forward(cx, f, inst, args[0].primal, env)?,
        Op::CustomVjp => custom::forward(cx, f, inst, args, env)?,
        Op::Remat => remat::forward(cx, f, inst, args)?,

        Op::StopGradient => constant(cx, op, args),
        Op::Barrier => {
            let results = primals(cx, op, args);
            results
                .into_iter()
                .zip(args)
                .map(|(y, a)| Dual::new(y, a.tangent))
                .collect()
        }
        Op::Shard { .. } => linear(cx, op, args),

        Op::Effect(Effect::Debug(_), _) => constant(cx, op, args),
        Op::Effect(..) => {
            let span = args.first().map(|a| cx.e.span_of(a.primal));
            return Err(AdError::new(AdErrorKind::Effect, span.unwrap_or_default()));
        }
    })
}

fn primals(cx: &mut Cx, op: &Op, args: &[Dual]) -> Vec<Value> {
    let args = args.iter().map(|a| a.primal).collect();
    cx.e.push(op.clone(), args, Vec::new())
}

fn primal(cx: &mut Cx, op: &Op, args: &[Dual]) -> Value {
    primals(cx, op, args)[0]
}

/// Results without tangents.
fn constant(cx: &mut Cx, op: &Op, args: &[Dual]) -> Vec<Dual> {
    let results = primals(cx, op, args);
    results.into_iter().map(Dual::constant).collect()
}

/// Linear in all operands together.
fn linear(cx: &mut Cx, op: &Op, args: &[Dual]) -> Vec<Dual> {
    let all: Vec<usize> = (0..args.len()).collect();
    with_coefficients(cx, op, args, &all)
}

/// Linear in the operands at `places` together; the others are coefficients whose tangents do not count.
fn with_coefficients(cx: &mut Cx, op: &Op, args: &[Dual], places: &[usize]) -> Vec<Dual> {
    let y = primal(cx, op, args);
    if places.iter().all(|&i| args[i].tangent.is_none()) {
        return vec![Dual::constant(y)];
    }
    let operands = args
        .iter()
        .enumerate()
        .map(|(i, a)| {
            if places.contains(&i) {
                cx.operand(a)
            } else {
                Operand::Coef(a.primal)
            }
        })
        .collect();
    let t = cx.lin(op.clone(), operands);
    vec![Dual::new(y, Some(t))]
}

/// Linear in each of two operands.
fn bilinear(cx: &mut Cx, op: &Op, args: &[Dual]) -> Vec<Dual> {
    let y = primal(cx, op, args);
    let (a, b) = (args[0], args[1]);
    let first = a
        .tangent
        .map(|t| cx.lin(op.clone(), vec![Operand::Lin(t), Operand::Coef(b.primal)]));
    let second = b
        .tangent
        .map(|t| cx.lin(op.clone(), vec![Operand::Coef(a.primal), Operand::Lin(t)]));
    let t = cx.lin_add(first, second);
    vec![Dual::new(y, t)]
}
