//! The builtins that the compiler itself gives a meaning; the others are written in `.tl` (`std/prelude.tl`).

use super::dim::Dim;
use super::ty::ElemTy;

/// A static argument of a builtin, by the name it has in the language (`axis`, `keepdims`, `shape`, `stride`, …).
#[derive(Clone, Debug, PartialEq)]
pub struct Attr {
    pub name: &'static str,
    pub value: Static,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Static {
    Int(Dim),
    /// Axes, sizes, a shape: `..S` items stand in it as [`super::ty::ShapeItem`]s.
    Shape(super::ty::Shape),
    Bool(bool),
    Float(f64),
    Str(String),
    Elem(ElemTy),
    /// Mesh axes of `shard`, one a dimension.
    Axes(Vec<Option<String>>),
    /// How each bracket position of `x[…]` reads; the tensor indices among them are operands, in order.
    Index(Vec<IndexItem>),
}

/// One position in the brackets of an index. What is static here is a bound already checked as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexItem {
    /// A constant position (may be negative: from the end).
    At(Dim),
    /// The next operand: an integer scalar or tensor of positions.
    Tensor,
    /// `lo:hi:step`; the bounds as written, left out where they were.
    Range {
        lo: Option<Dim>,
        hi: Option<Dim>,
        step: Option<Dim>,
    },
    /// `..`: as many whole dimensions as are left.
    Rest,
    NewAxis,
}

/// Declares the enum with its `.tl` names and lists, in one place.
macro_rules! builtins {
    ($($variant:ident $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Builtin { $($variant,)* }

        impl Builtin {
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant,)*];

            /// The name in `.tl`; operators and forms without a name have one in angle brackets or as written.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$variant => $name,)* }
            }
        }
    };
}

builtins! {
    // Operators and forms.
    Add "+", Sub "-", Mul "*", Div "/", Rem "%", Pow "**", MatMul "@",
    Eq "==", Ne "!=", Lt "<", Le "<=", Gt ">", Ge ">=", And "&&", Or "||", Neg "neg", Not "!",
    Cast "<cast>", Index "<index>", StackList "<list>",
    // Elementwise, one operand.
    Exp "exp", Expm1 "expm1", Log "log", Log1p "log1p", Sqrt "sqrt", Rsqrt "rsqrt", Cbrt "cbrt", Sin "sin", Cos "cos",
    Tan "tan", Tanh "tanh", Sigmoid "sigmoid", Abs "abs", Sign "sign", Floor "floor", Ceil "ceil", Round "round",
    Trunc "trunc", Erf "erf", Erfc "erfc", ErfInv "erf_inv", Lgamma "lgamma", Digamma "digamma", IsNan "is_nan",
    IsFinite "is_finite",
    // Elementwise, several operands, broadcast together.
    Atan2 "atan2", Min2 "<min2>", Max2 "<max2>", Clamp "clamp", Where "where", IsClose "isclose",
    // Reductions: attributes axis (absent: all), keepdims.
    Sum "sum", Mean "mean", Prod "prod", MinReduce "min", MaxReduce "max", Var "var", Std "std", Any "any", All "all",
    ArgMin "argmin", ArgMax "argmax", Norm "norm", LogSumExp "logsumexp", Softmax "softmax", LogSoftmax "log_softmax",
    CumSum "cumsum", CumProd "cumprod", CumMax "cummax", CumMin "cummin",
    // Shape.
    Reshape "reshape", Transpose "transpose", SwapAxes "swapaxes", MoveAxis "moveaxis", BroadcastTo "broadcast_to",
    ExpandDims "expand_dims", Squeeze "squeeze", Flatten "flatten", Concat "concat", Stack "stack", Pad "pad", Flip "flip",
    Roll "roll", Repeat "repeat", Tile "tile", SplitAt "split_at", Slice "slice", DynamicSlice "dynamic_slice",
    DynamicUpdateSlice "dynamic_update_slice", Tril "tril", Triu "triu", Diag "diag", Eye "eye", Zeros "zeros",
    Ones "ones", Full "full", Arange "arange", Linspace "linspace", ZerosLike "zeros_like", OnesLike "ones_like",
    // Indexing.
    Take "take", TakeAlongAxis "take_along_axis", Set "set", AddAt "add_at", Sort "sort", ArgSort "argsort", TopK "top_k",
    SearchSorted "searchsorted", Nonzero "nonzero", OneHot "one_hot",
    // Linear algebra.
    Dot "dot", Einsum "einsum", Outer "outer", Trace "trace", Cholesky "cholesky", TriangularSolve "triangular_solve",
    // Neural.
    Conv "conv", MaxPool "max_pool", AvgPool "avg_pool", Dropout "dropout", SoftmaxCrossEntropy "softmax_cross_entropy",
    SigmoidBinaryCrossEntropy "sigmoid_binary_cross_entropy", L2Loss "l2_loss", HuberLoss "huber_loss",
    // Random.
    Key "key", Split "split", FoldIn "fold_in", Bits "bits", Uniform "uniform", Normal "normal", Bernoulli "bernoulli",
    RandInt "randint", Permutation "permutation", Categorical "categorical", TruncatedNormal "truncated_normal",
    Gumbel "gumbel",
    // Others.
    Bitcast "bitcast", StopGradient "stop_gradient", Shard "shard",
}
