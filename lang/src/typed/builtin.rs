//! The builtins that the compiler itself gives a meaning; the others are written in `.tl` (`std/prelude.tl`).
//!
//! # Operands and attributes
//!
//! Operands are in the order given; an attribute in brackets may be absent. Axes are counted from 0 where the rank is
//! known when the function is checked, else from the end the dimensions are known at (negative). Sizes of the result are
//! also in the type of the expression, which has the element of what is made from nothing.
//!
//! | builtins | operands | attributes |
//! |---|---|---|
//! | `+ - * / % ** @ == … && \|\|`, `atan2 <min2> <max2>`, losses of two | a, b | |
//! | `neg !`, elementwise of one, `<cast>`, `bitcast`, `zeros_like ones_like` | x | |
//! | `<index>` | x, then the tensors among the positions | `index` |
//! | `<list>`, `concat`, `stack` | the parts | `axis` (not for `<list>`: 0) |
//! | `clamp` x, lo, hi; `where` c, a, b; `isclose` a, b | as said | `isclose`: `rtol`, `atol`, `equal_nan` |
//! | `sum mean prod min max any all argmin argmax logsumexp` | x | [`axis`: a list], `keepdims` |
//! | `var std` | x | [`axis`], `keepdims`, `ddof` |
//! | `norm` | x | [`axis`], `keepdims`, [`ord`: a float, of vectors] |
//! | `softmax log_softmax` | x | `axis`: a list |
//! | `cumsum cumprod cummax cummin` | x | [`axis`: absent flattens], [`reverse`] |
//! | `reshape broadcast_to` | x | `shape` |
//! | `transpose` | x | `axes`: the permutation |
//! | `swapaxes` | x | `axis1`, `axis2` |
//! | `moveaxis` | x | `source`, `destination`: lists |
//! | `expand_dims squeeze flip` | x | `axis`: a list (of `flip`: absent for all) |
//! | `flatten outer dot` | one or two | |
//! | `trace` | x | `k`, `axis1`, `axis2` |
//! | `cholesky` | x | `upper`, `symmetrize_input` |
//! | `pad` | x, value | `widths`: low and high of each dimension in turn, `mode` |
//! | `roll` | x, [integer scalars or an array of them, where there is no `shift`] | [`shift`: a list], [`axis`: a list, absent rolls the flattened array]; one of either stands for all of the other |
//! | `repeat` | x | `repeats`, [`axis`: absent flattens] |
//! | `tile` | x | `reps`: as many as the result has dimensions |
//! | `split_at` | x | `indices`, `axis`; the result is a tuple |
//! | `slice` | x, start | `size` |
//! | `dynamic_slice` | x, one start a dimension, or an array of them | `sizes` |
//! | `dynamic_update_slice` | x, update, one start a dimension | |
//! | `tril triu diag` | x | `k` |
//! | `eye` | | `n`, `m`, `k` |
//! | `zeros ones` | | `shape` |
//! | `full` | value | `shape` |
//! | `arange` | | `start`, `stop`, `step`; of floats `start` and `step` |
//! | `linspace` | start, stop | `num`, `endpoint` |
//! | `take`, `take_along_axis` | x, positions | `axis` |
//! | `set add_at` | x, positions along the first axes, v | |
//! | `sort argsort` | x | `axis`, `descending` |
//! | `top_k` | x | `k`, `axis`; the result is (values, positions) |
//! | `searchsorted` | sorted, v | `side` |
//! | `nonzero` | x | `size`, `fill_value`; the result is a tuple of positions |
//! | `one_hot` | x | `n`, `axis` (in the result) |
//! | `einsum` | the operands | `spec`: explicit, ellipses spelt out (their dimensions broadcast); as written over a `..S` |
//! | `triangular_solve` | a, b | `left_side`, `lower`, `transpose_a`, `unit_diagonal` |
//! | `conv` | x, w | `stride`, `padding`: as `widths`, over the spatial dimensions, `dilation`, `groups` |
//! | `max_pool avg_pool` | x | `window`, `stride`, `padding` |
//! | `dropout` | key, x, rate | |
//! | `softmax_cross_entropy` | logits, classes or distributions | |
//! | `l2_loss huber_loss` | predictions, [targets] | `huber_loss`: `delta` |
//! | `key` seed; `split` key; `fold_in` key, i | as said | `split`: `n` |
//! | `bits normal gumbel` | key | `shape` |
//! | `uniform randint truncated_normal` | key, lo, hi | `shape` |
//! | `bernoulli` | key, p | `shape` |
//! | `permutation` | key | `n` |
//! | `categorical` | key, logits | `axis` (of the logits); the result may have more draws in front |
//! | `stop_gradient` | any tree | |
//! | `shard` | x | `axes` |

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
