//! The printed name of every primitive.

use crate::ir::op::{BinaryOp, CompareOp, Effect, HostSource, Op, ReduceOp, ScatterOp, UnaryOp};

/// All names, in the order of [`Op`].
pub const NAMES: [&str; 105] = [
    "constant",
    "iota",
    "neg",
    "not",
    "abs",
    "sign",
    "floor",
    "ceil",
    "round",
    "exp",
    "expm1",
    "log",
    "log1p",
    "sqrt",
    "rsqrt",
    "cbrt",
    "sin",
    "cos",
    "tan",
    "tanh",
    "logistic",
    "is_finite",
    "erf",
    "erfc",
    "erf_inv",
    "lgamma",
    "polygamma",
    "add",
    "sub",
    "mul",
    "div",
    "rem",
    "pow",
    "max",
    "min",
    "atan2",
    "and",
    "or",
    "xor",
    "shl",
    "shr_arith",
    "shr_logical",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "select",
    "clamp",
    "convert",
    "bitcast",
    "threefry",
    "broadcast",
    "reshape",
    "transpose",
    "slice",
    "pad",
    "concat",
    "reverse",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "scatter_set",
    "scatter_add",
    "reduce_sum",
    "reduce_prod",
    "reduce_max",
    "reduce_min",
    "argmax",
    "argmin",
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "reduce_window_sum",
    "reduce_window_prod",
    "reduce_window_max",
    "reduce_window_min",
    "window_gather_max",
    "window_gather_min",
    "window_scatter_max",
    "window_scatter_min",
    "dot_general",
    "conv",
    "cholesky",
    "triangular_solve",
    "sort",
    "scan",
    "while",
    "if",
    "custom_vjp",
    "remat",
    "stop_gradient",
    "barrier",
    "shard",
    "dataset",
    "load",
    "numpy_permutations",
    "time",
    "print",
    "debug",
    "save",
    "assert",
    "assert_close",
];

impl Op {
    /// The printed name.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Constant(_) => "constant",
            Op::Iota { .. } => "iota",
            Op::Unary(op) => op.name(),
            Op::Binary(op) => op.name(),
            Op::Compare(op) => op.name(),
            Op::Select => "select",
            Op::Clamp => "clamp",
            Op::Convert(_) => "convert",
            Op::Bitcast(_) => "bitcast",
            Op::Threefry => "threefry",
            Op::Broadcast { .. } => "broadcast",
            Op::Reshape { .. } => "reshape",
            Op::Transpose { .. } => "transpose",
            Op::Slice { .. } => "slice",
            Op::Pad { .. } => "pad",
            Op::Concat { .. } => "concat",
            Op::Reverse { .. } => "reverse",
            Op::DynamicSlice { .. } => "dynamic_slice",
            Op::DynamicUpdateSlice => "dynamic_update_slice",
            Op::Gather(_) => "gather",
            Op::Scatter { op, .. } => match op {
                ScatterOp::Set => "scatter_set",
                ScatterOp::Add => "scatter_add",
            },
            Op::Reduce { op, .. } => match op {
                ReduceOp::Sum => "reduce_sum",
                ReduceOp::Prod => "reduce_prod",
                ReduceOp::Max => "reduce_max",
                ReduceOp::Min => "reduce_min",
            },
            Op::ArgReduce { max: true, .. } => "argmax",
            Op::ArgReduce { max: false, .. } => "argmin",
            Op::Cumulate { op, .. } => match op {
                ReduceOp::Sum => "cumsum",
                ReduceOp::Prod => "cumprod",
                ReduceOp::Max => "cummax",
                ReduceOp::Min => "cummin",
            },
            Op::ReduceWindow { op, .. } => match op {
                ReduceOp::Sum => "reduce_window_sum",
                ReduceOp::Prod => "reduce_window_prod",
                ReduceOp::Max => "reduce_window_max",
                ReduceOp::Min => "reduce_window_min",
            },
            Op::WindowGather { max: true, .. } => "window_gather_max",
            Op::WindowGather { max: false, .. } => "window_gather_min",
            Op::WindowScatter { max: true, .. } => "window_scatter_max",
            Op::WindowScatter { max: false, .. } => "window_scatter_min",
            Op::Dot(_) => "dot_general",
            Op::Conv(_) => "conv",
            Op::Cholesky => "cholesky",
            Op::TriangularSolve { .. } => "triangular_solve",
            Op::Sort { .. } => "sort",
            Op::Scan { .. } => "scan",
            Op::While => "while",
            Op::If => "if",
            Op::CustomVjp => "custom_vjp",
            Op::Remat => "remat",
            Op::StopGradient => "stop_gradient",
            Op::Barrier => "barrier",
            Op::Shard { .. } => "shard",
            Op::Host(source) => match source {
                HostSource::Dataset { .. } => "dataset",
                HostSource::Load { .. } => "load",
                HostSource::Batches { .. } => "batches",
                HostSource::NumpyPermutations { .. } => "numpy_permutations",
                HostSource::Time => "time",
            },
            Op::Effect(effect, _) => match effect {
                Effect::Print(_) => "print",
                Effect::Debug(_) => "debug",
                Effect::Save { .. } => "save",
                Effect::Assert(_) => "assert",
                Effect::Metrics { .. } => "metrics",
                Effect::AssertClose { .. } => "assert_close",
            },
        }
    }
}

impl UnaryOp {
    /// All but `Polygamma`, which has an order.
    pub const ALL: [UnaryOp; 24] = [
        UnaryOp::Neg,
        UnaryOp::Not,
        UnaryOp::Abs,
        UnaryOp::Sign,
        UnaryOp::Floor,
        UnaryOp::Ceil,
        UnaryOp::Round,
        UnaryOp::Exp,
        UnaryOp::Expm1,
        UnaryOp::Log,
        UnaryOp::Log1p,
        UnaryOp::Sqrt,
        UnaryOp::Rsqrt,
        UnaryOp::Cbrt,
        UnaryOp::Sin,
        UnaryOp::Cos,
        UnaryOp::Tan,
        UnaryOp::Tanh,
        UnaryOp::Logistic,
        UnaryOp::IsFinite,
        UnaryOp::Erf,
        UnaryOp::Erfc,
        UnaryOp::ErfInv,
        UnaryOp::Lgamma,
    ];

    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Not => "not",
            UnaryOp::Abs => "abs",
            UnaryOp::Sign => "sign",
            UnaryOp::Floor => "floor",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Round => "round",
            UnaryOp::Exp => "exp",
            UnaryOp::Expm1 => "expm1",
            UnaryOp::Log => "log",
            UnaryOp::Log1p => "log1p",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Cbrt => "cbrt",
            UnaryOp::Sin => "sin",
            UnaryOp::Cos => "cos",
            UnaryOp::Tan => "tan",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Logistic => "logistic",
            UnaryOp::IsFinite => "is_finite",
            UnaryOp::Erf => "erf",
            UnaryOp::Erfc => "erfc",
            UnaryOp::ErfInv => "erf_inv",
            UnaryOp::Lgamma => "lgamma",
            UnaryOp::Polygamma(_) => "polygamma",
        }
    }
}

impl BinaryOp {
    pub const ALL: [BinaryOp; 15] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::Pow,
        BinaryOp::Max,
        BinaryOp::Min,
        BinaryOp::Atan2,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Xor,
        BinaryOp::Shl,
        BinaryOp::ShrArith,
        BinaryOp::ShrLogical,
    ];

    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Rem => "rem",
            BinaryOp::Pow => "pow",
            BinaryOp::Max => "max",
            BinaryOp::Min => "min",
            BinaryOp::Atan2 => "atan2",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::Shl => "shl",
            BinaryOp::ShrArith => "shr_arith",
            BinaryOp::ShrLogical => "shr_logical",
        }
    }
}

impl CompareOp {
    pub const ALL: [CompareOp; 6] = [
        CompareOp::Eq,
        CompareOp::Ne,
        CompareOp::Lt,
        CompareOp::Le,
        CompareOp::Gt,
        CompareOp::Ge,
    ];

    pub fn name(self) -> &'static str {
        match self {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        }
    }
}

impl ReduceOp {
    pub const ALL: [ReduceOp; 4] = [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min];

    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Sum => "sum",
            ReduceOp::Prod => "prod",
            ReduceOp::Max => "max",
            ReduceOp::Min => "min",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::NAMES;

    #[test]
    fn the_manual_names_every_primitive_and_pass() {
        let manual = include_str!("../../../../docs/ir.md");
        let passes = crate::passes::REGISTRY.iter().map(|p| p.name);
        for name in NAMES.into_iter().chain(passes) {
            assert!(manual.contains(&format!("`{name}`")), "{name}");
        }
    }
}
