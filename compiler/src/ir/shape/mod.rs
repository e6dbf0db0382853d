//! The shape rule of every primitive: result types from operand types, attributes and the result types of regions.
//!
//! A rule either gives the result types or a sentence on why the operands do not fit. It sees no values and no
//! region parameters; what regions must take is checked by the verifier with [`region_params`].

mod control;
mod elementwise;
mod indexing;
mod linalg;
mod reduce;
mod structural;

#[cfg(test)]
mod tests;

pub use control::{region_count, region_params};
pub use linalg::conv_output;
pub use reduce::window_output;

use super::op::Op;
use super::types::{Elem, Type};

/// Result types of a primitive, or a sentence on why the operands do not fit.
/// `regions` holds the result types of each of its regions.
pub fn infer(op: &Op, args: &[&Type], regions: &[Vec<Type>]) -> Result<Vec<Type>, String> {
    expect_regions(op, regions)?;
    let results = match op {
        Op::Constant(literal) => {
            let [] = operands(args)?;
            vec![literal.ty().clone()]
        }
        Op::Iota { ty, axis } => {
            let [] = operands(args)?;
            vec![structural::iota(ty, *axis)?]
        }

        Op::Unary(op) => vec![elementwise::unary(*op, args)?],
        Op::Binary(op) => vec![elementwise::binary(*op, args)?],
        Op::Compare(_) => vec![elementwise::compare(args)?],
        Op::Select => vec![elementwise::select(args)?],
        Op::Clamp => vec![elementwise::clamp(args)?],
        Op::Convert(to) => {
            let [x] = operands(args)?;
            vec![x.with_elem(*to)]
        }
        Op::Bitcast(to) => vec![elementwise::bitcast(*to, args)?],
        Op::Threefry => elementwise::threefry(args)?,

        Op::Broadcast { shape, dims } => vec![structural::broadcast(shape, dims, args)?],
        Op::Reshape { shape } => vec![structural::reshape(shape, args)?],
        Op::Transpose { perm } => vec![structural::transpose(perm, args)?],
        Op::Slice {
            start,
            limit,
            stride,
        } => vec![structural::slice(start, limit, stride, args)?],
        Op::Pad {
            low,
            high,
            interior,
        } => vec![structural::pad(low, high, interior, args)?],
        Op::Concat { axis } => vec![structural::concat(*axis, args)?],
        Op::Reverse { axes } => vec![structural::reverse(axes, args)?],
        Op::DynamicSlice { sizes } => vec![indexing::dynamic_slice(sizes, args)?],
        Op::DynamicUpdateSlice => vec![indexing::dynamic_update_slice(args)?],
        Op::Gather(dims) => vec![indexing::gather(dims, args)?],
        Op::Scatter { op, dims } => vec![indexing::scatter(*op, dims, args)?],

        Op::Reduce { op, axes } => vec![reduce::reduce(*op, axes, args)?],
        Op::ArgReduce { max: _, axis } => vec![reduce::arg_reduce(*axis, args)?],
        Op::Cumulate {
            op,
            axis,
            reverse: _,
        } => vec![reduce::cumulate(*op, *axis, args)?],
        Op::ReduceWindow { op, window } => vec![reduce::reduce_window(*op, window, args)?],
        Op::WindowGather { max: _, window } => vec![reduce::window_gather(window, args)?],
        Op::WindowScatter { max: _, window } => vec![reduce::window_scatter(window, args)?],

        Op::Dot(dims) => vec![linalg::dot(dims, args)?],
        Op::Conv(dims) => vec![linalg::conv(dims, args)?],
        Op::Cholesky => vec![linalg::cholesky(args)?],
        Op::TriangularSolve {
            left,
            lower: _,
            transpose: _,
            unit_diagonal: _,
        } => vec![linalg::triangular_solve(*left, args)?],

        Op::Sort {
            axis,
            keys,
            descending: _,
            total: _,
        } => structural::sort(*axis, *keys, args)?,

        Op::Scan {
            length,
            reverse: _,
            carry,
        } => control::scan(*length, *carry, args, &regions[0])?,
        Op::While => control::while_loop(args, &regions[0], &regions[1])?,
        Op::If => control::branch(args, &regions[0], &regions[1])?,
        Op::CustomVjp => control::custom_vjp(args, &regions[0], &regions[1])?,
        Op::Remat => regions[0].clone(),

        Op::StopGradient => {
            let [x] = operands(args)?;
            vec![x.clone()]
        }
        Op::Barrier => args.iter().map(|&t| t.clone()).collect(),
        Op::Shard { axes } => vec![structural::shard(axes, args)?],

        Op::Host(source) => control::host(source, args)?,
        Op::Effect(effect, _) => {
            control::effect(effect, args)?;
            Vec::new()
        }
    };
    match results.iter().find(|t| !addressable(t)) {
        Some(t) => Err(format!("result {t} is larger than memory can be")),
        None => Ok(results),
    }
}

fn expect_regions(op: &Op, regions: &[Vec<Type>]) -> Result<(), String> {
    let expected = region_count(op);
    if regions.len() == expected {
        Ok(())
    } else {
        Err(format!("{} regions instead of {expected}", regions.len()))
    }
}

/// Whether the elements can be counted, and their bytes be addressed.
pub(super) fn addressable(ty: &Type) -> bool {
    ty.shape
        .iter()
        .try_fold(ty.elem.bytes(), |n, &d| n.checked_mul(d))
        .is_some_and(|bytes| isize::try_from(bytes).is_ok())
}

/// The operands, when there are exactly `N`.
fn operands<'a, const N: usize>(args: &[&'a Type]) -> Result<[&'a Type; N], String> {
    args.try_into()
        .map_err(|_| format!("{} operands instead of {N}", args.len()))
}

/// The first operand and the others, when there is one.
fn first<'a, 'b>(args: &'b [&'a Type]) -> Result<(&'a Type, &'b [&'a Type]), String> {
    match args {
        [x, rest @ ..] => Ok((x, rest)),
        [] => Err("no operands".into()),
    }
}

fn same_type(a: &Type, b: &Type) -> Result<(), String> {
    require(a == b, || format!("operand types differ: {a} and {b}"))
}

fn same_elem(a: &Type, b: &Type) -> Result<(), String> {
    require(a.elem == b.elem, || {
        format!("element types differ: {a} and {b}")
    })
}

fn same_shape(a: &Type, b: &Type) -> Result<(), String> {
    require(a.shape == b.shape, || {
        format!("operand shapes differ: {a} and {b}")
    })
}

fn scalar_i32(t: &Type) -> Result<(), String> {
    require(t.elem == Elem::I32 && t.rank() == 0, || {
        format!("index is {t} instead of i32")
    })
}

fn is_float(t: &Type) -> Result<(), String> {
    require(t.elem.is_float(), || format!("operand is {t}, not a float"))
}

fn is_numeric(t: &Type) -> Result<(), String> {
    require(t.elem != Elem::Bool, || {
        format!("operand is {t}, not a number")
    })
}

fn in_range(axis: usize, rank: usize) -> Result<(), String> {
    require(axis < rank, || {
        format!("axis {axis} is out of range for rank {rank}")
    })
}

/// Axes strictly ascending and in range.
fn ascending(axes: &[usize], rank: usize) -> Result<(), String> {
    axes.iter().try_for_each(|&a| in_range(a, rank))?;
    require(axes.windows(2).all(|w| w[0] < w[1]), || {
        format!("axes {axes:?} do not ascend")
    })
}

/// Axes in range, none twice.
fn distinct(axes: &[usize], rank: usize) -> Result<(), String> {
    let mut seen = vec![false; rank];
    for &a in axes {
        in_range(a, rank)?;
        require(!seen[a], || format!("axis {a} stands twice in {axes:?}"))?;
        seen[a] = true;
    }
    Ok(())
}

/// An attribute with one entry a dimension.
fn entries(what: &str, count: usize, rank: usize) -> Result<(), String> {
    require(count == rank, || {
        format!("{what} has {count} entries for rank {rank}")
    })
}

fn require(condition: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(message()) }
}
