//! What one primitive costs on its own: its operations, and how it takes part in fusion.

use super::device::DeviceCost;
use super::roofline::Cost;
use crate::ir::op::{BinaryOp, Op, ReduceOp, UnaryOp};
use crate::ir::types::{Elem, Type};

/// Iterations assumed of a loop whose count is not known.
pub const WHILE_TRIPS: u64 = 100;

/// How a node takes part in fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In memory already: inputs, stored constants, results of a kernel with several.
    Stored,
    /// Costs nothing anywhere: a constant that is one number, a tuple.
    Free,
    /// The same bytes under another type.
    View,
    /// Computed inside whoever uses it.
    Fused,
    /// As `Fused`, but no two in one kernel: a matrix product of a device that computes what is around it along with it.
    Product,
    /// As `Fused`, and reads only as much of its first operand as it gives.
    Picked,
    /// A kernel that computes its fused operands as it goes.
    Reducing,
    /// A kernel whose operands lie in memory.
    Kernel,
}

/// The cost of a node apart from its surroundings.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    pub role: Role,
    /// Arithmetic operations.
    pub flops: u64,
    /// Picoseconds of arithmetic.
    pub compute: u64,
    /// Cheap enough to be computed again by each of several users.
    pub cheap: bool,
    /// Bytes of the result.
    pub bytes: u64,
    /// For kernels that touch only part of their operands: bytes moved, instead of all of them.
    pub moved: Option<u64>,
    /// Instructions that it stands for in the printed program.
    pub insts: u64,
    /// Of primitives with regions, all iterations together.
    pub body: Option<Cost>,
}

impl Profile {
    /// What is in memory, and takes no instruction and no time.
    pub fn stored(types: &[Type]) -> Profile {
        Profile {
            role: Role::Stored,
            flops: 0,
            compute: 0,
            cheap: true,
            bytes: types.iter().map(|t| t.bytes() as u64).sum(),
            moved: None,
            insts: 0,
            body: None,
        }
    }

    pub fn free() -> Profile {
        Profile {
            role: Role::Free,
            ..Profile::stored(&[])
        }
    }
}

/// The profile of a primitive, from its types and the costs of its regions.
pub fn profile(
    op: &Op,
    args: &[&Type],
    results: &[Type],
    bodies: &[Cost],
    device: &DeviceCost,
) -> Profile {
    let base = Profile {
        role: Role::Kernel,
        cheap: false,
        insts: 1,
        ..Profile::stored(results)
    };
    let vector = |count: usize, weight: u64, role: Role| Profile {
        role,
        flops: if weight == 0 { 0 } else { count as u64 },
        compute: picoseconds((count as u64 * weight) as f64 / device.vector),
        cheap: weight <= 1 && matches!(role, Role::Fused | Role::Picked | Role::View),
        ..base.clone()
    };
    let product = |flops: usize, elem: Elem| Profile {
        role: match device.fuses_products {
            true => Role::Product,
            false => Role::Kernel,
        },
        flops: flops as u64,
        compute: picoseconds(flops as f64 / device.matrix(elem)),
        ..base.clone()
    };
    let matrix = |flops: usize, elem: Elem| Profile {
        flops: flops as u64,
        compute: picoseconds(flops as f64 / device.matrix(elem)),
        ..base.clone()
    };
    // Loops and effects move what their regions move, which is counted there.
    let around = |body: Option<Cost>| Profile {
        body,
        moved: Some(0),
        ..base.clone()
    };
    let numel = results.first().map_or(0, Type::numel);
    let operand = args.first().map_or(0, |t| t.numel());
    match op {
        Op::Constant(literal) if literal.splat().is_some() => Profile {
            insts: 1,
            ..Profile::free()
        },
        Op::Constant(_) | Op::Host(_) => Profile {
            insts: 1,
            ..Profile::stored(results)
        },
        Op::Iota { .. } => vector(numel, 0, Role::Fused),

        Op::Unary(u) => vector(numel, unary_weight(*u), Role::Fused),
        Op::Binary(b) => {
            let weight = binary_weight(*b, results[0].elem.is_float());
            vector(numel, weight, Role::Fused)
        }
        Op::Compare(_) | Op::Select | Op::Convert(_) => vector(numel, 1, Role::Fused),
        Op::Clamp => vector(numel, 2, Role::Fused),
        Op::Bitcast(_) => vector(numel, 0, Role::View),
        Op::Threefry => vector(numel, 100, Role::Kernel),

        Op::Broadcast { .. } | Op::Pad { .. } | Op::Concat { .. } | Op::Reverse { .. } => {
            vector(numel, 0, Role::Fused)
        }
        Op::Reshape { .. } => vector(numel, 0, Role::View),
        // A device that computes what is around a product along with it reads its operands in any order; elsewhere
        // moving data across memory is a kernel of its own.
        Op::Transpose { .. } if device.fuses_products => vector(numel, 0, Role::Fused),
        Op::Transpose { .. } => base,
        Op::Slice { .. } | Op::DynamicSlice { .. } => vector(numel, 0, Role::Picked),
        Op::Gather(dims) => {
            let row: usize = dims.slice_sizes.iter().product();
            let rows = numel / row.max(1);
            Profile {
                compute: picoseconds(rows as f64 * device.row),
                cheap: false,
                ..vector(numel, 0, Role::Picked)
            }
        }
        Op::DynamicUpdateSlice => Profile {
            moved: Some(2 * args[1].bytes() as u64),
            ..base
        },
        Op::Scatter { .. } => Profile {
            moved: Some(3 * args[2].bytes() as u64 + args[1].bytes() as u64),
            ..vector(args[2].numel(), 1, Role::Kernel)
        },

        Op::Reduce { op, .. } => {
            let weight = if *op == ReduceOp::Prod { 2 } else { 1 };
            vector(operand, weight, Role::Reducing)
        }
        Op::ArgReduce { .. } => vector(operand, 2, Role::Reducing),
        // Compilers make many small windows of it: measured beside a product with a triangle of ones.
        Op::Cumulate { .. } => vector(operand, 64, Role::Kernel),
        Op::ReduceWindow { window, .. } => {
            let reads: usize = window.size.iter().product();
            vector(numel * reads, 2, Role::Kernel)
        }
        Op::WindowGather { window, .. } | Op::WindowScatter { window, .. } => {
            let reads: usize = window.size.iter().product();
            let windows = numel.min(args[1].numel());
            vector(windows * reads, 2, Role::Kernel)
        }

        Op::Dot(dims) => {
            let sizes = dims.lhs_contract.iter().map(|&d| args[0].shape[d]);
            product(2 * numel * sizes.product::<usize>(), args[0].elem)
        }
        Op::Conv(dims) => {
            let kernel = dims.kernel_spatial.iter().chain([&dims.kernel_input]);
            let sizes = kernel.map(|&d| args[1].shape[d]);
            product(2 * numel * sizes.product::<usize>(), args[0].elem)
        }
        Op::Cholesky => {
            let n = results[0].shape.last().copied().unwrap_or(1);
            matrix(numel * n / 3, args[0].elem)
        }
        Op::TriangularSolve { .. } => {
            let n = args[0].shape.last().copied().unwrap_or(1);
            matrix(numel * n, args[0].elem)
        }

        Op::Sort { .. } => {
            let steps = (operand.max(2) as f64).log2().ceil() as u64;
            vector(operand * args.len(), 4 * steps, Role::Kernel)
        }

        Op::Scan { length, .. } => around(Some(bodies[0].times(*length as u64))),
        Op::While => around(Some(bodies[0].plus(bodies[1]).times(WHILE_TRIPS))),
        Op::If => around(Some(bodies[0].worst(bodies[1]))),
        // Only the function itself runs; its derivative has been taken before.
        Op::CustomVjp | Op::Remat => around(Some(bodies[0])),

        Op::StopGradient | Op::Shard { .. } => vector(numel, 0, Role::View),
        Op::Barrier | Op::Effect(..) => around(None),
    }
}

/// Seconds as whole picoseconds, so that costs add up exactly and ties are ties.
pub fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round() as u64
}

/// Vector operations that one element takes, about.
fn unary_weight(op: UnaryOp) -> u64 {
    match op {
        UnaryOp::Neg
        | UnaryOp::Not
        | UnaryOp::Abs
        | UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::IsFinite => 1,
        UnaryOp::Sqrt | UnaryOp::Rsqrt => 6,
        UnaryOp::Exp | UnaryOp::Log | UnaryOp::Tanh | UnaryOp::Logistic => 16,
        UnaryOp::Expm1 | UnaryOp::Log1p | UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Erf => 24,
        UnaryOp::Tan | UnaryOp::Cbrt | UnaryOp::Erfc | UnaryOp::ErfInv => 32,
        UnaryOp::Lgamma | UnaryOp::Polygamma(_) => 100,
    }
}

fn binary_weight(op: BinaryOp, float: bool) -> u64 {
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Max
        | BinaryOp::Min
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::ShrArith
        | BinaryOp::ShrLogical => 1,
        BinaryOp::Div if float => 4,
        BinaryOp::Div | BinaryOp::Rem => 16,
        BinaryOp::Pow | BinaryOp::Atan2 => 48,
    }
}
