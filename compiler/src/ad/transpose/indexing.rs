//! Transposes of slices and updates at run-time places, of gathers and of scatters.
//!
//! A gather clamps its indices and a scatter drops those outside, so each transpose has to see to the difference.
//! A cotangent that is there already is added to in place, which in a loop costs the slice and not the array.

use super::Transposer;
use crate::ad::error::AdErrorKind;
use crate::ad::tape::Operand;
use crate::ir::op::{GatherDims, ScatterDims, ScatterOp};
use crate::ir::{CompareOp, Elem, Literal, Op, ReduceOp, Type, Value};

pub fn dynamic_slice(tx: &mut Transposer, args: &[Operand], ct: Value) -> Result<(), AdErrorKind> {
    let Operand::Lin(t) = args[0] else {
        return Ok(());
    };
    let starts = coefficients(tx, &args[1..])?;
    let mut update = ct;
    let target = tx.take(t);
    if let Some(sum) = target {
        let sizes = tx.cx.e.shape(ct).to_vec();
        let mut operands = vec![sum];
        operands.extend(&starts);
        let before = tx.cx.e.op(Op::DynamicSlice { sizes }, &operands);
        update = tx.cx.e.add(before, ct);
    }
    let target = tx.or_zeros(target, t);
    let mut operands = vec![target, update];
    operands.extend(&starts);
    let ct = tx.cx.e.op(Op::DynamicUpdateSlice, &operands);
    tx.set(t, ct);
    Ok(())
}

pub fn dynamic_update_slice(
    tx: &mut Transposer,
    args: &[Operand],
    ct: Value,
) -> Result<(), AdErrorKind> {
    let starts = coefficients(tx, &args[2..])?;
    let ty = operand_type(tx, &args[1]);
    if let Operand::Lin(t) = args[1] {
        let mut operands = vec![ct];
        operands.extend(&starts);
        let sizes = ty.shape.clone();
        let part = tx.cx.e.op(Op::DynamicSlice { sizes }, &operands);
        tx.add(t, part);
    }
    if let Operand::Lin(t) = args[0] {
        let zeros = tx.cx.e.zeros(&ty);
        let mut operands = vec![ct, zeros];
        operands.extend(&starts);
        let rest = tx.cx.e.op(Op::DynamicUpdateSlice, &operands);
        tx.add(t, rest);
    }
    Ok(())
}

pub fn gather(
    tx: &mut Transposer,
    dims: &GatherDims,
    args: &[Operand],
    ct: Value,
) -> Result<(), AdErrorKind> {
    let Operand::Lin(t) = args[0] else {
        return Ok(());
    };
    let indices = tx.coefficient_of(&args[1])?;
    let shape = tx.cx.e.shape(t).to_vec();
    let limits: Vec<i64> = dims
        .start_index_map
        .iter()
        .map(|&d| shape[d] as i64 - dims.slice_sizes[d] as i64)
        .collect();
    let indices = clamped(tx, indices, &limits, dims.index_vector_dim);
    let target = tx.take(t);
    let target = tx.or_zeros(target, t);
    let back = Op::Scatter {
        op: ScatterOp::Add,
        dims: scatter_dims(dims),
    };
    let ct = tx.cx.e.op(back, &[target, indices, ct]);
    tx.set(t, ct);
    Ok(())
}

pub fn scatter(
    tx: &mut Transposer,
    op: ScatterOp,
    dims: &ScatterDims,
    args: &[Operand],
    ct: Value,
) -> Result<(), AdErrorKind> {
    let indices = tx.coefficient_of(&args[1])?;
    let updates = operand_type(tx, &args[2]);
    // Where nothing can be written, the updates count for nothing.
    let is_empty = tx.cx.e.shape(ct).contains(&0);
    if let Operand::Lin(t) = args[2]
        && !is_empty
    {
        let part = match op {
            ScatterOp::Add => read_back(tx, dims, indices, &updates, ct),
            ScatterOp::Set => read_winners(tx, dims, indices, &updates, ct),
        };
        tx.add(t, part);
    }
    if let Operand::Lin(t) = args[0] {
        let rest = match op {
            ScatterOp::Add => ct,
            // What was overwritten has no cotangent.
            ScatterOp::Set => {
                let zeros = tx.cx.e.zeros(&updates);
                let over = Op::Scatter {
                    op,
                    dims: dims.clone(),
                };
                tx.cx.e.op(over, &[ct, indices, zeros])
            }
        };
        tx.add(t, rest);
    }
    Ok(())
}

/// Each update's window of `ct`; zero for windows that the scatter dropped.
fn read_back(
    tx: &mut Transposer,
    dims: &ScatterDims,
    indices: Value,
    updates: &Type,
    ct: Value,
) -> Value {
    let shape = tx.cx.e.shape(ct).to_vec();
    let gather = gather_dims(dims, shape.len(), &updates.shape);
    let limits: Vec<i64> = dims
        .scatter_dims_to_operand_dims
        .iter()
        .map(|&d| shape[d] as i64 - gather.slice_sizes[d] as i64)
        .collect();
    let read = tx.cx.e.op(Op::Gather(gather), &[ct, indices]);
    let inside = clamped(tx, indices, &limits, dims.index_vector_dim);
    let same = tx.cx.e.compare(CompareOp::Eq, indices, inside);
    let rank = tx.cx.e.rank(indices);
    let same = if dims.index_vector_dim < rank {
        tx.cx
            .e
            .reduce(ReduceOp::Min, same, &[dims.index_vector_dim])
    } else {
        same
    };
    let mask = tx
        .cx
        .e
        .expand(same, &updates.shape, &dims.update_window_dims);
    let zeros = tx.cx.e.zeros(updates);
    tx.cx.e.select(mask, read, zeros)
}

/// Each update's window of `ct`; zero for elements that a later update, or none, was written to. Which update won is
/// found by scattering their numbers.
fn read_winners(
    tx: &mut Transposer,
    dims: &ScatterDims,
    indices: Value,
    updates: &Type,
    ct: Value,
) -> Value {
    let index_rank = tx.cx.e.rank(indices);
    let windows: usize = tx
        .cx
        .e
        .shape(indices)
        .iter()
        .enumerate()
        .filter(|(d, _)| *d != dims.index_vector_dim || index_rank == dims.index_vector_dim)
        .map(|(_, n)| n)
        .product();
    if windows <= 1 {
        return read_back(tx, dims, indices, updates, ct);
    }
    let ct_type = tx.cx.e.type_of(ct);
    let count = Type::new(Elem::I32, [updates.numel()]);
    let numbers = tx.cx.e.iota(count, 0);
    let numbers = tx.cx.e.reshape(numbers, &updates.shape);
    let nobody = Literal::splat_i64(ct_type.with_elem(Elem::I32), -1);
    let nobody = tx.cx.e.constant(nobody);
    let over = Op::Scatter {
        op: ScatterOp::Set,
        dims: dims.clone(),
    };
    let winners = tx.cx.e.op(over, &[nobody, indices, numbers]);
    let gather = Op::Gather(gather_dims(dims, ct_type.rank(), &updates.shape));
    let winner = tx.cx.e.op(gather.clone(), &[winners, indices]);
    let won = tx.cx.e.compare(CompareOp::Eq, winner, numbers);
    let read = tx.cx.e.op(gather, &[ct, indices]);
    let zeros = tx.cx.e.zeros(updates);
    tx.cx.e.select(won, read, zeros)
}

/// Indices brought into `0..=limit`, a limit for each component of an index vector.
fn clamped(tx: &mut Transposer, indices: Value, limits: &[i64], vector_dim: usize) -> Value {
    let ty = tx.cx.e.type_of(indices);
    let zero = tx.cx.e.constant(Literal::splat_i64(ty.clone(), 0));
    let high = match limits {
        [first, rest @ ..] if rest.iter().all(|l| l == first) => {
            tx.cx.e.constant(Literal::splat_i64(ty, *first))
        }
        [] => return indices,
        _ => {
            let bits = limits.iter().map(|&l| l as u64).collect();
            let vector = Literal::dense_bits(Type::new(Elem::I32, [limits.len()]), bits);
            let vector = tx.cx.e.constant(vector);
            tx.cx.e.broadcast(vector, &ty.shape, &[vector_dim])
        }
    };
    tx.cx.e.op(Op::Clamp, &[zero, indices, high])
}

/// The scatter that writes where a gather reads.
pub fn scatter_dims(dims: &GatherDims) -> ScatterDims {
    ScatterDims {
        update_window_dims: dims.offset_dims.clone(),
        inserted_window_dims: dims.collapsed_slice_dims.clone(),
        input_batching_dims: dims.operand_batching_dims.clone(),
        scatter_indices_batching_dims: dims.start_indices_batching_dims.clone(),
        scatter_dims_to_operand_dims: dims.start_index_map.clone(),
        index_vector_dim: dims.index_vector_dim,
    }
}

/// The gather that reads where a scatter writes.
pub fn gather_dims(dims: &ScatterDims, rank: usize, updates: &[usize]) -> GatherDims {
    let mut window = dims.update_window_dims.iter().map(|&d| updates[d]);
    let slice_sizes = (0..rank)
        .map(|d| {
            let dropped =
                dims.inserted_window_dims.contains(&d) || dims.input_batching_dims.contains(&d);
            if dropped {
                1
            } else {
                window.next().unwrap_or(1)
            }
        })
        .collect();
    GatherDims {
        offset_dims: dims.update_window_dims.clone(),
        collapsed_slice_dims: dims.inserted_window_dims.clone(),
        operand_batching_dims: dims.input_batching_dims.clone(),
        start_indices_batching_dims: dims.scatter_indices_batching_dims.clone(),
        start_index_map: dims.scatter_dims_to_operand_dims.clone(),
        index_vector_dim: dims.index_vector_dim,
        slice_sizes,
    }
}

fn coefficients(tx: &Transposer, args: &[Operand]) -> Result<Vec<Value>, AdErrorKind> {
    args.iter().map(|a| tx.coefficient_of(a)).collect()
}

fn operand_type(tx: &Transposer, arg: &Operand) -> Type {
    match arg {
        Operand::Lin(v) | Operand::Coef(v) => tx.cx.e.type_of(*v),
        Operand::Zero(ty) => ty.clone(),
    }
}
