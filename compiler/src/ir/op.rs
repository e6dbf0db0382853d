//! The primitives. A primitive is a name and its static attributes; what it means stands in one table per
//! interpretation (`shape`, `interp`, `ad::jvp`, `ad::transpose`, `batch`, `lower`, `cost`), each a match over
//! [`Op`] in this order, without a wildcard arm.
//!
//! Conventions: elementwise operands have equal types (broadcasts are explicit); axes are counted from 0; indices
//! are i32; an index out of range is clamped by [`Op::Gather`], [`Op::DynamicSlice`] and [`Op::DynamicUpdateSlice`],
//! and dropped by [`Op::Scatter`].

use super::literal::Literal;
use super::types::{Elem, Shape, Type};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use tpuc_lang::span::Span;

/// Elementwise, one operand, result of the same type unless said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnaryOp {
    Neg,
    /// Bitwise on integers, logical on bool.
    Not,
    Abs,
    /// Floats: NaN to NaN, ±0 to itself.
    Sign,
    Floor,
    Ceil,
    /// To nearest, ties to even.
    Round,
    Exp,
    Expm1,
    Log,
    Log1p,
    Sqrt,
    Rsqrt,
    Cbrt,
    Sin,
    Cos,
    Tan,
    Tanh,
    /// 1 / (1 + exp(−x)).
    Logistic,
    /// Result bool.
    IsFinite,
    Erf,
    Erfc,
    ErfInv,
    Lgamma,
    /// The n-th derivative of digamma; 0 is digamma itself.
    Polygamma(u8),
}

/// Elementwise, two operands of equal type, result of that type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// Integers truncate toward zero; by zero −1 (all bits set), MIN / −1 is MIN.
    Div,
    /// Sign of the dividend; by zero the dividend.
    Rem,
    Pow,
    /// NaN if either is; on bool, or.
    Max,
    Min,
    Atan2,
    And,
    Or,
    Xor,
    /// Shifts of at least the width give 0 (or all sign bits for `ShrArith`).
    Shl,
    ShrArith,
    ShrLogical,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The combination of a reduction. On bool, `Max` is or and `Min` is and.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReduceOp {
    Sum,
    Prod,
    Max,
    Min,
}

/// Contraction: the result has the batch dimensions, then the free ones of the left, then of the right operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DotDims {
    pub lhs_batch: Vec<usize>,
    pub rhs_batch: Vec<usize>,
    pub lhs_contract: Vec<usize>,
    pub rhs_contract: Vec<usize>,
}

/// As StableHLO's gather dimension numbers. Operands: the array, then the start indices (i32).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GatherDims {
    pub offset_dims: Vec<usize>,
    pub collapsed_slice_dims: Vec<usize>,
    pub operand_batching_dims: Vec<usize>,
    pub start_indices_batching_dims: Vec<usize>,
    pub start_index_map: Vec<usize>,
    pub index_vector_dim: usize,
    pub slice_sizes: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScatterOp {
    Set,
    Add,
}

/// As StableHLO's scatter dimension numbers. Operands: the array, the indices (i32), the updates.
/// `Set` with indices that meet keeps the last update in row-major order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScatterDims {
    pub update_window_dims: Vec<usize>,
    pub inserted_window_dims: Vec<usize>,
    pub input_batching_dims: Vec<usize>,
    pub scatter_indices_batching_dims: Vec<usize>,
    pub scatter_dims_to_operand_dims: Vec<usize>,
    pub index_vector_dim: usize,
}

/// A sliding window over every dimension of the operand (1 where it does not slide).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Window {
    pub size: Vec<usize>,
    pub stride: Vec<usize>,
    /// Low and high padding, with the identity of the reduction; may be negative.
    pub padding: Vec<(i64, i64)>,
    pub base_dilation: Vec<usize>,
    pub window_dilation: Vec<usize>,
}

/// Convolution over any layout. Dimension numbers name, for each of the three arrays, where its dimensions stand.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConvDims {
    pub stride: Vec<usize>,
    pub padding: Vec<(i64, i64)>,
    pub lhs_dilation: Vec<usize>,
    pub rhs_dilation: Vec<usize>,
    /// Whether the kernel is mirrored along each spatial dimension.
    pub reverse: Vec<bool>,
    pub input_batch: usize,
    pub input_feature: usize,
    pub input_spatial: Vec<usize>,
    pub kernel_input: usize,
    pub kernel_output: usize,
    pub kernel_spatial: Vec<usize>,
    pub output_batch: usize,
    pub output_feature: usize,
    pub output_spatial: Vec<usize>,
    pub feature_groups: usize,
    pub batch_groups: usize,
}

/// How a printed value is laid out over the operands of a print, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TreeShape {
    /// One operand.
    Leaf,
    Tuple(Vec<TreeShape>),
    Record(Vec<(String, TreeShape)>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PrintPiece {
    Text(String),
    /// The next operands; with a Python format spec for a scalar.
    Value {
        tree: TreeShape,
        spec: Option<String>,
    },
}

/// What `main` does to the outside, and [`Effect::Debug`], which any function may. Operands are what it needs; no results.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    Print(Vec<PrintPiece>),
    /// Prints as often as the function that holds it runs: derivatives keep it, batching prints for each element.
    Debug(Vec<PrintPiece>),
    /// The operands are the leaves named by `names`.
    Save {
        path: String,
        names: Vec<String>,
    },
    /// The condition, one bool, then what its message is made of.
    Assert(Vec<PrintPiece>),
    /// What is measured at a step: an integer, then one number for each name.
    Metrics {
        names: Vec<String>,
    },
    /// Two operand lists of equal length, `actual` then `expected`; the tolerance is relative and absolute.
    AssertClose {
        tolerance_bits: u64,
    },
}

/// Data that comes from the host. No operands unless said; one result a field, of the types given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HostSource {
    Dataset {
        name: String,
        fields: Vec<(String, Type)>,
    },
    Load {
        path: String,
        fields: Vec<(String, Type)>,
    },
    /// (key u32[2], i i32): the i-th of `count` batches of the rows in files, in an order drawn from the key.
    Batches {
        path: String,
        fields: Vec<(String, Type)>,
        count: usize,
    },
    /// i32[count, n].
    NumpyPermutations { seed: u64, n: usize, count: usize },
    /// f64 seconds on a monotonic clock; an effect: it keeps its place among the others.
    Time,
}

/// A primitive with its static attributes. Operands and regions are described with each.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    // Sources.
    Constant(Literal),
    /// Counts along one axis: element `[…, i, …]` is `i`.
    Iota {
        ty: Type,
        axis: usize,
    },

    // Elementwise.
    Unary(UnaryOp),
    Binary(BinaryOp),
    /// Result bool. Floats compare as IEEE (NaN is unequal to all).
    Compare(CompareOp),
    /// (bool, T, T) of equal shapes: the second operand where true.
    Select,
    /// (lo, x, hi) of equal types: min(max(x, lo), hi).
    Clamp,
    /// Numeric conversion; float to int truncates and saturates, to bool is `!= 0`.
    Convert(Elem),
    /// Same bits, an element type of equal width.
    Bitcast(Elem),
    /// Threefry-2x32, 20 rounds: (k0, k1, x0, x1) u32 of one shape → (y0, y1).
    Threefry,

    // Shape.
    /// Operand dimension `i` becomes result dimension `dims[i]` (its size equal, or 1 and stretched); `dims` ascend.
    Broadcast {
        shape: Shape,
        dims: Vec<usize>,
    },
    Reshape {
        shape: Shape,
    },
    /// Result dimension `i` is operand dimension `perm[i]`.
    Transpose {
        perm: Vec<usize>,
    },
    Slice {
        start: Vec<usize>,
        limit: Vec<usize>,
        stride: Vec<usize>,
    },
    /// (array, scalar): low, high (may be negative) and interior padding of each dimension.
    Pad {
        low: Vec<i64>,
        high: Vec<i64>,
        interior: Vec<usize>,
    },
    /// One or more operands along one axis.
    Concat {
        axis: usize,
    },
    Reverse {
        axes: Vec<usize>,
    },
    /// (array, one scalar i32 a dimension): starts are clamped so that the slice lies inside.
    DynamicSlice {
        sizes: Shape,
    },
    /// (array, update, one scalar i32 a dimension): starts are clamped likewise.
    DynamicUpdateSlice,
    Gather(GatherDims),
    Scatter {
        op: ScatterOp,
        dims: ScatterDims,
    },

    // Reductions.
    /// Drops `axes` (ascending). An empty reduction is the identity.
    Reduce {
        op: ReduceOp,
        axes: Vec<usize>,
    },
    /// Position (i32) of the largest or smallest along an axis: the first of equal ones; NaN counts as the extreme.
    ArgReduce {
        max: bool,
        axis: usize,
    },
    /// Running reduction along an axis, from the end if `reverse`.
    Cumulate {
        op: ReduceOp,
        axis: usize,
        reverse: bool,
    },
    ReduceWindow {
        op: ReduceOp,
        window: Window,
    },
    /// (x, t) of one shape: in each window, `t` at the place of the first largest (or smallest) `x`. Linear in `t`.
    WindowGather {
        max: bool,
        window: Window,
    },
    /// (x, s): adds each `s` (one a window) at the place of the first largest (or smallest) `x`; 0 elsewhere. Linear in `s`.
    WindowScatter {
        max: bool,
        window: Window,
    },

    // Linear algebra.
    Dot(DotDims),
    Conv(ConvDims),
    /// Lower factor of a symmetric positive-definite matrix (batched over leading dimensions); the strict upper part is 0. Reads the lower triangle.
    Cholesky,
    /// (a, b), batched: solves op(a) x = b (`left`) or x op(a) = b.
    TriangularSolve {
        left: bool,
        lower: bool,
        transpose: bool,
        unit_diagonal: bool,
    },

    // Order.
    /// Sorts all operands (equal shapes) along an axis by the first `keys` of them, stably; NaN is largest, −0 equals 0.
    /// With `total`, floats are in IEEE 754's totalOrder, in which −0 comes before 0, and NaN after ∞, with its sign before −∞.
    Sort {
        axis: usize,
        keys: usize,
        descending: bool,
        total: bool,
    },

    // Control. Regions may use values from outside.
    /// `length` iterations. Operands: `carry` initial values, then arrays read slice by slice along axis 0 (`xs`).
    /// Region: (i: i32, carries, x slices) → (carries, y slices). Results: final carries, then the stacked ys.
    /// `i` is the position 0..length; with `reverse` it runs from the last to the first, for xs and ys too.
    Scan {
        length: usize,
        reverse: bool,
        carry: usize,
    },
    /// Operands and results: the carries. Regions: condition (carries → bool), body (carries → carries).
    While,
    /// Operand: a bool scalar. Two regions without parameters, then and else, with equal result types.
    If,
    /// Operands: arguments. Regions: the function (arguments → results), and its own derivative
    /// (arguments, results, cotangents of the float results → cotangents of the float arguments). No captures.
    CustomVjp,
    /// Operands: arguments. Region: the function, without captures, computed again in the backward pass.
    Remat,

    // Identities with a meaning for transforms.
    /// Identity with derivative 0.
    StopGradient,
    /// Identity on all its operands together, which the optimiser and XLA do not see through.
    Barrier,
    /// Lays the operand on the axes of the device mesh, one entry a dimension; identity in value.
    Shard {
        axes: Vec<Option<String>>,
    },

    // The outside; only in the IR of `main` and of tests.
    Host(HostSource),
    Effect(Effect, Here),
}

impl Op {
    /// An effect that stands nowhere in the source.
    pub fn effect(effect: Effect) -> Op {
        Op::Effect(effect, Here::default())
    }
}

/// Where an operation without results stands: the side table of a function has the places of values alone. As there,
/// comparing and hashing ignore it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Here(pub Span);

impl PartialEq for Here {
    fn eq(&self, _: &Here) -> bool {
        true
    }
}

impl Eq for Here {}

impl Hash for Here {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl PartialOrd for Here {
    fn partial_cmp(&self, other: &Here) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Here {
    fn cmp(&self, _: &Here) -> Ordering {
        Ordering::Equal
    }
}
