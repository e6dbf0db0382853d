//! Work of instructions and functions, counted from their types: what derivatives are held to.
//!
//! A flop is a floating-point operation, whatever its width. It is a count, not an estimate of time: nothing is fused, and nothing is known of a
//! device. The weights are those of the Livermore loops (McMahon 1986):
//!
//! | operation | flops |
//! |---|---|
//! | `+`, `-`, `*`, a sign, an extremum, a comparison, a rounding to a whole number | 1 |
//! | a quotient, a remainder, a root | [`QUOTIENT`] |
//! | an exponential, a logarithm, a power, a trigonometric or a special function | [`ELEMENTARY`] |
//! | a contraction of `k` pairs, a convolution of `k` taps | 2 `k` an element |
//! | a triangular solve of size `n` | `n²` a right-hand side |
//! | a Cholesky factor of size `n` | `n³ / 3` |
//! | a reduction, a window of `k` | 1 an element read |
//! | a running reduction, which a device makes of a tree (Blelloch 1990) | 2 an element |
//! | a sort of `n` | `n log₂ n` comparisons |
//! | anything of integers, bools and keys; a choice, a conversion, whatever moves elements | 0 |
//!
//! Loops count as often as they turn, a `while` once, of a branch the dearer side.

use super::func::{Func, Inst, Region, Value};
use super::op::{BinaryOp, Op, ScatterOp, UnaryOp};
use super::types::Type;
use std::ops::Add;

/// Flops of a quotient, a remainder or a square root.
pub const QUOTIENT: u64 = 4;

/// Flops of a transcendental function.
pub const ELEMENTARY: u64 = 8;

/// Counts stop at `u64::MAX`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub flops: u64,
    /// Bytes of the operands read and of the results written, each primitive by itself.
    pub bytes: u64,
}

impl Work {
    /// The work of doing it `count` times.
    pub fn times(self, count: usize) -> Work {
        let count = count as u64;
        Work {
            flops: self.flops.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
        }
    }

    fn max(self, other: Work) -> Work {
        Work {
            flops: self.flops.max(other.flops),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

impl Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            flops: self.flops.saturating_add(other.flops),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

pub fn func_work(func: &Func) -> Work {
    region_work(func, &func.body)
}

/// The work of going through a region once.
pub fn region_work(func: &Func, region: &Region) -> Work {
    region
        .insts
        .iter()
        .fold(Work::default(), |sum, inst| sum + inst_work(func, inst))
}

/// The work of one instruction, that of its regions included.
pub fn inst_work(func: &Func, inst: &Inst) -> Work {
    let inside = |i: usize| region_work(func, &inst.regions[i]);
    match &inst.op {
        Op::Scan { length, .. } => inside(0).times(*length),
        Op::While => inside(0) + inside(1),
        Op::If => inside(0).max(inside(1)),
        // The derivative is not run, only differentiated code is.
        Op::CustomVjp | Op::Remat => inside(0),
        _ => own_work(inst, |v| func.ty(v)),
    }
}

/// The work of an instruction whose values have these types, its regions left out.
pub fn own_work<'t>(inst: &Inst, ty: impl Fn(Value) -> &'t Type) -> Work {
    let types = |values: &[Value]| -> Vec<Type> { values.iter().map(|&v| ty(v).clone()).collect() };
    op_work(&inst.op, &types(&inst.args), &types(&inst.results))
}

/// The work of a primitive without regions; nothing for one with.
pub fn op_work(op: &Op, args: &[Type], results: &[Type]) -> Work {
    let is_float = |t: &Type| t.elem.is_float();
    Work {
        // A comparison of floats has a bool for its result, so the operands tell.
        flops: match args.iter().chain(results).any(is_float) {
            true => flops(op, args, results),
            false => 0,
        },
        bytes: bytes(op, args, results) as u64,
    }
}

/// The flops of a primitive some of whose operands or results are floats.
fn flops(op: &Op, args: &[Type], results: &[Type]) -> u64 {
    let n = results.first().map_or(0, Type::numel);
    match op {
        Op::Unary(op) => n as u64 * unary(*op),
        Op::Binary(op) => n as u64 * binary(*op),
        Op::Compare(_) => n as u64,
        Op::Clamp => 2 * n as u64,
        Op::Constant(_)
        | Op::Iota { .. }
        | Op::Select
        | Op::Convert(_)
        | Op::Threefry
        | Op::Bitcast(_)
        | Op::Broadcast { .. }
        | Op::Reshape { .. }
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::Reverse { .. }
        | Op::DynamicSlice { .. }
        | Op::DynamicUpdateSlice
        | Op::Gather(_) => 0,
        Op::Scatter { op, .. } => match op {
            ScatterOp::Set => 0,
            ScatterOp::Add => args[2].numel() as u64,
        },
        Op::Reduce { .. } | Op::ArgReduce { .. } => args[0].numel() as u64,
        Op::Cumulate { .. } => 2 * n as u64,
        Op::ReduceWindow { op: _, window }
        | Op::WindowGather { max: _, window }
        | Op::WindowScatter { max: _, window } => {
            let windows = match op {
                Op::WindowScatter { .. } => args[1].numel(),
                _ => n,
            };
            (windows * window.size.iter().product::<usize>()) as u64
        }
        Op::Dot(dims) => {
            let contracted = dims.lhs_contract.iter().map(|&i| args[0].shape[i]);
            2 * (n * contracted.product::<usize>()) as u64
        }
        Op::Conv(dims) => {
            let taps = dims.kernel_spatial.iter().map(|&i| args[1].shape[i]);
            // What lies between the elements of a dilated input is nothing.
            let sparse = dims.lhs_dilation.iter().product::<usize>().max(1);
            let pairs = taps.product::<usize>() * args[1].shape[dims.kernel_input];
            (2 * n * pairs / sparse) as u64
        }
        Op::Cholesky => (n * last(&args[0]) / 3) as u64,
        Op::TriangularSolve { .. } => (n * last(&args[0])) as u64,
        Op::Sort { axis, .. } => {
            let length = args[0].shape[*axis].max(1);
            args[0].numel() as u64 * u64::from(length.next_power_of_two().ilog2())
        }
        Op::Scan { .. } | Op::While | Op::If | Op::CustomVjp | Op::Remat => 0,
        Op::StopGradient | Op::Barrier | Op::Shard { .. } => 0,
        Op::Host(_) | Op::Effect(..) => 0,
    }
}

/// The size of the last dimension.
fn last(ty: &Type) -> usize {
    ty.shape.last().copied().unwrap_or(1)
}

fn unary(op: UnaryOp) -> u64 {
    match op {
        UnaryOp::Neg
        | UnaryOp::Not
        | UnaryOp::Abs
        | UnaryOp::Sign
        | UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Round
        | UnaryOp::IsFinite => 1,
        UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Cbrt => QUOTIENT,
        UnaryOp::Exp
        | UnaryOp::Expm1
        | UnaryOp::Log
        | UnaryOp::Log1p
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Tanh
        | UnaryOp::Logistic
        | UnaryOp::Erf
        | UnaryOp::Erfc
        | UnaryOp::ErfInv
        | UnaryOp::Lgamma
        | UnaryOp::Polygamma(_) => ELEMENTARY,
    }
}

fn binary(op: BinaryOp) -> u64 {
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
        BinaryOp::Div | BinaryOp::Rem => QUOTIENT,
        BinaryOp::Pow | BinaryOp::Atan2 => ELEMENTARY,
    }
}

/// What is read and written. Renamings of the same bytes move none; a slice reads only itself, an update in place
/// writes only itself.
fn bytes(op: &Op, args: &[Type], results: &[Type]) -> usize {
    let sum = |types: &[Type]| types.iter().map(Type::bytes).sum::<usize>();
    match op {
        Op::Reshape { .. }
        | Op::Bitcast(_)
        | Op::StopGradient
        | Op::Barrier
        | Op::Shard { .. }
        | Op::Host(_)
        | Op::Effect(..)
        | Op::Scan { .. }
        | Op::While
        | Op::If
        | Op::CustomVjp
        | Op::Remat => 0,
        Op::Slice { .. } | Op::DynamicSlice { .. } => 2 * sum(results),
        Op::Gather(_) => 2 * sum(results) + args[1].bytes(),
        Op::DynamicUpdateSlice => 2 * args[1].bytes(),
        Op::Scatter { op, .. } => {
            let passes = match op {
                ScatterOp::Set => 2,
                ScatterOp::Add => 3,
            };
            passes * args[2].bytes() + args[1].bytes()
        }
        Op::Constant(_)
        | Op::Iota { .. }
        | Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select
        | Op::Clamp
        | Op::Convert(_)
        | Op::Threefry
        | Op::Broadcast { .. }
        | Op::Transpose { .. }
        | Op::Pad { .. }
        | Op::Concat { .. }
        | Op::Reverse { .. }
        | Op::Reduce { .. }
        | Op::ArgReduce { .. }
        | Op::Cumulate { .. }
        | Op::ReduceWindow { .. }
        | Op::WindowGather { .. }
        | Op::WindowScatter { .. }
        | Op::Dot(_)
        | Op::Conv(_)
        | Op::Cholesky
        | Op::TriangularSolve { .. }
        | Op::Sort { .. } => sum(args) + sum(results),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;

    fn work(text: &str) -> Work {
        func_work(&parse(text).expect(text))
    }

    #[test]
    fn contractions_count_two_a_product() {
        let w = work(
            "func f(%x: f32[128, 784], %w: f32[784, 256]) -> (f32[128, 256]) {
               %y = dot_general[contract = [1] x [0]] %x, %w : f32[128, 256]
               return %y
             }",
        );
        assert_eq!(w.flops, 2 * 128 * 784 * 256);
        assert_eq!(w.bytes, 4 * (128 * 784 + 784 * 256 + 128 * 256));
        let w = work(
            "func f(%x: f32[2, 8, 3], %k: f32[5, 3, 4]) -> (f32[2, 4, 4]) {
               %y = conv[stride = [1], padding = [(0, 0)], lhs_dilation = [1], rhs_dilation = [1], reverse = [false], input = [0, 2, 1], kernel = [1, 2, 0], output = [0, 2, 1], feature_groups = 1, batch_groups = 1] %x, %k : f32[2, 4, 4]
               return %y
             }",
        );
        assert_eq!(w.flops, 2 * (2 * 4 * 4) * 5 * 3);
    }

    #[test]
    fn loops_count_their_turns_and_branches_their_dearer_side() {
        let w = work(
            "func f(%x: f32[10], %c: bool) -> (f32[10], f32[10]) {
               %a = scan[length = 7, carry = 1] %x : f32[10] body(%i: i32, %p: f32[10]) {
                 %q = exp %p : f32[10]
                 %r = add %q, %p : f32[10]
                 yield %r
               }
               %b = if %c : f32[10] then {
                 yield %a
               } else {
                 %n = neg %a : f32[10]
                 %m = neg %n : f32[10]
                 yield %m
               }
               return %a, %b
             }",
        );
        assert_eq!(w.flops, 7 * (10 * ELEMENTARY + 10) + 2 * 10);
    }

    #[test]
    fn slices_read_themselves_and_renamings_nothing() {
        let w = work(
            "func f(%x: f32[1000, 8], %i: i32) -> (f32[8]) {
               %z = constant 0 : i32
               %s = dynamic_slice[sizes = [1, 8]] %x, %i, %z : f32[1, 8]
               %r = reshape %s : f32[8]
               return %r
             }",
        );
        assert_eq!((w.flops, w.bytes), (0, 4 + 2 * 32));
    }

    #[test]
    fn every_primitive_has_its_work() {
        let func = parse(include_str!("primitives.ir")).expect("parses");
        let w = func_work(&func);
        assert!(w.flops > 0 && w.bytes > 0);
        assert_eq!(w.times(usize::MAX).flops, u64::MAX);
    }
}
