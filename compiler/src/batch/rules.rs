//! The batching table: for each primitive, how it is done for a whole batch. It is entered only when some operand (or
//! captured value) is mapped.

use super::{Batcher, Lane, control, conv, indexing};
use crate::ad::{AdError, AdErrorKind};
use crate::ir::op::{DotDims, Effect, Window};
use crate::ir::{Elem, Func, Inst, Op, Type, Value};

pub fn batch(bx: &mut Batcher, f: &Func, inst: &Inst, args: &[Lane]) -> Result<Vec<Lane>, AdError> {
    let op = &inst.op;
    Ok(match op {
        // No operands, so never mapped.
        Op::Constant(_) | Op::Iota { .. } | Op::Host(_) => all_mapped(bx, op.clone(), args),

        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Bitcast(_)
        | Op::Threefry => all_mapped(bx, op.clone(), args),

        Op::Broadcast { shape, dims } => {
            let shape = bx.batched_shape(shape);
            let dims = with_zero(dims);
            let v = bx.e.broadcast(args[0].value(), &shape, &dims);
            vec![Lane::Mapped(v)]
        }
        Op::Reshape { shape } => {
            let shape = bx.batched_shape(shape);
            let v = bx.e.reshape(args[0].value(), &shape);
            vec![Lane::Mapped(v)]
        }
        Op::Transpose { perm } => {
            let v = bx.e.transpose(args[0].value(), &with_zero(perm));
            vec![Lane::Mapped(v)]
        }
        Op::Slice {
            start,
            limit,
            stride,
        } => {
            let op = Op::Slice {
                start: with_first(0, start),
                limit: with_first(bx.size, limit),
                stride: with_first(1, stride),
            };
            all_mapped(bx, op, args)
        }
        Op::Pad {
            low,
            high,
            interior,
        } => pad(bx, (low, high, interior), args),
        Op::Concat { axis } => all_mapped(bx, Op::Concat { axis: axis + 1 }, args),
        Op::Reverse { axes } => all_mapped(
            bx,
            Op::Reverse {
                axes: shifted(axes),
            },
            args,
        ),
        Op::DynamicSlice { sizes } => vec![indexing::dynamic_slice(bx, sizes, args)],
        Op::DynamicUpdateSlice => vec![indexing::dynamic_update_slice(bx, args)],
        Op::Gather(dims) => vec![indexing::gather(bx, dims, args[0], args[1])],
        Op::Scatter { op, dims } => {
            vec![indexing::scatter(
                bx,
                *op,
                dims,
                [args[0], args[1], args[2]],
            )]
        }

        Op::Reduce { op, axes } => {
            let op = Op::Reduce {
                op: *op,
                axes: shifted(axes),
            };
            all_mapped(bx, op, args)
        }
        Op::ArgReduce { max, axis } => {
            let op = Op::ArgReduce {
                max: *max,
                axis: axis + 1,
            };
            all_mapped(bx, op, args)
        }
        Op::Cumulate { op, axis, reverse } => {
            let op = Op::Cumulate {
                op: *op,
                axis: axis + 1,
                reverse: *reverse,
            };
            all_mapped(bx, op, args)
        }
        Op::ReduceWindow { op, window } => {
            let op = Op::ReduceWindow {
                op: *op,
                window: wider(window),
            };
            all_mapped(bx, op, args)
        }
        Op::WindowGather { max, window } => {
            let op = Op::WindowGather {
                max: *max,
                window: wider(window),
            };
            all_mapped(bx, op, args)
        }
        Op::WindowScatter { max, window } => {
            let op = Op::WindowScatter {
                max: *max,
                window: wider(window),
            };
            all_mapped(bx, op, args)
        }

        Op::Dot(dims) => vec![dot(bx, dims, args[0], args[1])],
        Op::Conv(dims) => vec![conv::conv(bx, dims, args[0], args[1])],
        // Batched over leading dimensions already.
        Op::Cholesky | Op::TriangularSolve { .. } => all_mapped(bx, op.clone(), args),

        Op::Sort {
            axis,
            keys,
            descending,
            total,
        } => {
            let op = Op::Sort {
                axis: axis + 1,
                keys: *keys,
                descending: *descending,
                total: *total,
            };
            all_mapped(bx, op, args)
        }

        Op::Scan {
            length,
            reverse,
            carry,
        } => control::scan(bx, f, inst, args, (*length, *reverse, *carry))?,
        Op::While => control::while_loop(bx, f, inst, args)?,
        Op::If => control::branch(bx, f, inst, args[0])?,
        Op::CustomVjp => control::custom_vjp(bx, f, inst, args)?,
        Op::Remat => control::remat(bx, f, inst, args)?,

        Op::StopGradient => all_mapped(bx, op.clone(), args),
        Op::Barrier => {
            let values = args.iter().map(|a| a.value()).collect();
            let results = bx.e.push(Op::Barrier, values, Vec::new());
            let lanes = results.into_iter().zip(args);
            lanes.map(|(v, a)| Lane::new(v, a.is_mapped())).collect()
        }
        Op::Shard { axes } => {
            let op = Op::Shard {
                axes: with_first(None, axes),
            };
            all_mapped(bx, op, args)
        }

        Op::Effect(Effect::Debug(_), _) => control::each(bx, op, args),
        Op::Effect(..) => {
            let span = args.first().map(|a| bx.e.span_of(a.value()));
            return Err(AdError::new(AdErrorKind::Effect, span.unwrap_or_default()));
        }
    })
}

/// The primitive on operands that all have the batch axis.
fn all_mapped(bx: &mut Batcher, op: Op, args: &[Lane]) -> Vec<Lane> {
    let args: Vec<Value> = args.iter().map(|&a| bx.mapped(a)).collect();
    let results = bx.e.push(op, args, Vec::new());
    results.into_iter().map(Lane::Mapped).collect()
}

fn pad(
    bx: &mut Batcher,
    (low, high, interior): (&[i64], &[i64], &[usize]),
    args: &[Lane],
) -> Vec<Lane> {
    let op = Op::Pad {
        low: with_first(0, low),
        high: with_first(0, high),
        interior: with_first(0, interior),
    };
    let x = bx.mapped(args[0]);
    let Lane::Mapped(fill) = args[1] else {
        let v = bx.e.op(op, &[x, args[1].value()]);
        return vec![Lane::Mapped(v)];
    };
    // A fill of its own for each element: it goes wherever a mask, padded alike, has not come from the operand.
    let ty = bx.e.type_of(x);
    let mask = Type::new(Elem::Bool, ty.shape.clone());
    let mask = bx.e.splat(&mask, 1.0);
    let outside = bx.e.splat(&Type::scalar(Elem::Bool), 0.0);
    let mask = bx.e.op(op.clone(), &[mask, outside]);
    let zero = bx.e.splat(&Type::scalar(ty.elem), 0.0);
    let padded = bx.e.op(op, &[x, zero]);
    let shape = bx.e.shape(padded).to_vec();
    let fill = bx.e.broadcast(fill, &shape, &[0]);
    let v = bx.e.select(mask, padded, fill);
    vec![Lane::Mapped(v)]
}

fn dot(bx: &mut Batcher, dims: &DotDims, lhs: Lane, rhs: Lane) -> Lane {
    let left = |mapped: bool| {
        let shift = |d: &Vec<usize>| if mapped { shifted(d) } else { d.clone() };
        (shift(&dims.lhs_batch), shift(&dims.lhs_contract))
    };
    let right = |mapped: bool| {
        let shift = |d: &Vec<usize>| if mapped { shifted(d) } else { d.clone() };
        (shift(&dims.rhs_batch), shift(&dims.rhs_contract))
    };
    let (mut lhs_batch, lhs_contract) = left(lhs.is_mapped());
    let (mut rhs_batch, rhs_contract) = right(rhs.is_mapped());
    // Where the batch axis comes out.
    let place = match (lhs, rhs) {
        (Lane::Mapped(_), Lane::Mapped(_)) => {
            lhs_batch.insert(0, 0);
            rhs_batch.insert(0, 0);
            0
        }
        (Lane::Mapped(_), Lane::Shared(_)) => dims.lhs_batch.len(),
        (Lane::Shared(v), _) => bx.e.rank(v) - dims.lhs_contract.len(),
    };
    let op = Op::Dot(DotDims {
        lhs_batch,
        rhs_batch,
        lhs_contract,
        rhs_contract,
    });
    let v = bx.e.op(op, &[lhs.value(), rhs.value()]);
    Lane::Mapped(bx.e.move_axis(v, place, 0))
}

/// Axes one place further on.
pub fn shifted(axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|d| d + 1).collect()
}

/// The batch axis, then the others one place further on.
pub fn with_zero(axes: &[usize]) -> Vec<usize> {
    with_first(0, &shifted(axes))
}

fn with_first<T: Clone>(first: T, rest: &[T]) -> Vec<T> {
    std::iter::once(first).chain(rest.iter().cloned()).collect()
}

/// A window that does not slide along the batch.
fn wider(window: &Window) -> Window {
    Window {
        size: with_first(1, &window.size),
        stride: with_first(1, &window.stride),
        padding: with_first((0, 0), &window.padding),
        base_dilation: with_first(1, &window.base_dilation),
        window_dilation: with_first(1, &window.window_dilation),
    }
}
