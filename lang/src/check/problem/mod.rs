//! Everything that can be wrong with a program that parses, as data. The prose stands in [`prose`], by subject.

mod code;
mod parts;
mod prose;

pub use parts::{BatchesFault, Context, Growth, Operand, Repeat};

use super::cx::Place;
use super::infer::{Clash, Class};
use super::shape::NoBroadcast;
use super::show::Names;
use crate::ast::{GenericKind, Name};
use crate::diag::{Diagnostic, Label, Severity};
use crate::source::LoadError;
use crate::span::Span;
use crate::typed::{Dim, Shape, ShapeItem, Ty};

#[rustfmt::skip]
#[derive(Clone, Debug)]
pub enum Problem {
    // Names, imports, constants.
    UnknownName { what: &'static str, name: Name, module: Option<Name>, span: Span, near: Option<String> },
    UnknownModule { span: Span, name: Name, near: Option<String> },
    /// `np.sum`: libraries that programs in other languages import. The name, where there is a builtin of it.
    ForeignModule { span: Span, module: Name, name: Option<Name> },
    Duplicate { what: &'static str, name: Name, span: Span, before: Span },
    ReservedName { span: Span, name: Name },
    ImportFailed {
        span: Span, path: String, reason: String,
        /// The standard library's modules, where one of them may have been meant.
        std: Vec<&'static str>,
        near: Option<String>,
    },
    ImportCycle { chain: Vec<(String, Span)> },
    SetUnknown { span: Span, name: Name, near: Option<String> },
    SetKind { span: Span, name: Name, found: &'static str, wanted: &'static str, definition: Span },
    ConstCycle { span: Span, name: Name, definition: Span },
    TypeCycle { span: Span, name: Name, definition: Span },
    Recursion {
        /// The calls, each with the function that makes it, back to the first.
        cycle: Vec<(Name, Span)>,
    },
    NotAType { span: Span, name: Name, what: &'static str },
    NotAValue { span: Span, name: Name, what: &'static str },
    NotAssignable {
        span: Span, name: Name, in_lambda: bool,
        /// Of a variable, and whether it is a parameter or that of a loop.
        definition: Option<(Span, bool)>,
    },
    TooLarge { span: Span, what: Growth },
    ConstOverflow { span: Span },
    ConstDivisionByZero { span: Span },
    Misplaced { span: Span, what: &'static str },
    FunctionAsValue { span: Span, name: Option<Name> },
    BareTransform { span: Span, name: Name },
    FormAsFunction { span: Span, name: &'static str },
    BuiltinAsFunction { span: Span, name: &'static str, needs: &'static str },
    /// A function that takes sizes, passed where nothing gives them.
    ShapeOfPassed { span: Span, name: String, needs: Name },

    // Types and shapes.
    ElemMix { op: &'static str, op_span: Span, left: Operand, right: Operand, help: Option<String> },
    MatMulInner { left: Operand, right: Operand, help: Vec<String> },
    MatMulScalar { span: Span, ty: Ty },
    NoBroadcast { op: String, op_span: Span, left: Operand, right: Operand, clash: NoBroadcast, help: Vec<String> },
    BroadcastTo { span: Span, from: Ty, to: Shape },
    /// Sizes that do not fit a parameter `shape: [..S, I, O]`.
    ShapeArg { span: Span, callee: String, param: Name, definition: Span, expected: String, found: Shape },
    Mismatch { context: Context, span: Span, expected: Ty, found: Ty, clash: Clash, help: Vec<String> },
    /// A declared type under which several uses are wrong, and one under which all of them are right.
    Declaration {
        name: String, span: Span, declared: String, fits: String,
        /// Some of the uses with what was found there, and how many more there are.
        uses: Vec<Label>, more: usize,
    },
    ArgCount {
        span: Span, callee: String,
        /// With those that have defaults.
        expected: usize,
        optional: usize, found: usize, missing: Vec<Name>, definition: Option<Span>,
    },
    ArgTwice { span: Span, name: Name, callee: String },
    UnknownArg { span: Span, name: Name, callee: String, near: Option<String>, known: Vec<Name> },
    FunctionResult { span: Span, function: String, expected: Ty, found: Ty },
    NoField { span: Span, name: Name, base: Span, ty: Ty, near: Option<String> },
    NoTupleField { span: Span, index: u32, ty: Ty },
    NotATensor { span: Span, what: String, ty: Ty },
    NotAScalar { span: Span, what: String, ty: Ty },
    NotAVector { span: Span, what: &'static str, ty: Ty },
    NotAMatrix { span: Span, what: &'static str, ty: Ty },
    NotSquare { span: Span, what: &'static str, ty: Ty },
    NotATree { span: Span, ty: Ty },
    WrongElem { span: Span, what: String, wanted: &'static str, found: Ty, help: Option<String> },
    NotIndexable { span: Span, ty: Ty },
    BadIndex { span: Span, ty: Option<Ty>, is_bool: bool, text: String },
    TooManyIndices { span: Span, used: usize, ty: Ty },
    TwoRests { span: Span },
    DynamicRange { span: Span },
    RangeOutside {
        span: Span, lo: i64, hi: i64,
        /// Whether `hi` is on the wrong side of `lo`.
        crossed: bool,
        size: Dim,
    },
    IndicesDiffer { span: Span, left: ShapeItem, right: ShapeItem },
    IndexOutOfRange { span: Span, index: i64, size: Dim, callee: Option<(Name, Span)> },
    IndexBeyond { span: Span, index: Dim, size: Dim },
    AxisRange { span: Span, what: String, axis: i64, ty: Ty },
    AxisTwice { span: Span, what: String, axis: i64 },
    OneAxis { span: Span, what: &'static str },
    Permutation { span: Span, found: usize, ty: Ty },
    ReshapeCount { span: Span, from: Ty, to: Shape, have: Dim, want: Dim },
    TwoOpenSizes { span: Span },
    CannotInfer { span: Span, param: Name, callee: Name, definition: Span },
    Deferred { span: Span, callee: Name, clash: Clash },
    NotStatic { span: Span, what: &'static str },
    BranchesDiffer { first: Ty, first_span: Span, second: Ty, second_span: Span, help: Option<String> },
    IfWithoutElse { span: Span, ty: Ty },
    NotACondition { span: Span, ty: Ty, text: String },
    LiteralRange { span: Span, value: i128, ty: Ty },
    PatternMismatch { span: Span, parts: usize, ty: Ty },
    NotCallable { span: Span, ty: Option<Ty>, what: &'static str },
    TreesDiffer { span: Span, first_span: Span, first: Ty, other: Ty },
    LeafResult { span: Span, ty: Ty },
    Leaves { span: Span, callee: Name, class: Class, path: String, ty: Ty, origin: Span },
    ReturnHere { span: Span, in_loop: bool },
    MissingValue {
        span: Span, name: Name, ret: Ty,
        /// The expression whose semicolon drops the value.
        dropped: Option<Span>,
    },
    TooManyReturns { span: Span, name: Name },
    Einsum { span: Span, reason: String },
    EinsumSizes {
        span: Span, letter: char,
        /// Whether the letter stands in for an ellipsis.
        dots: bool,
        first: ShapeItem, other: ShapeItem,
    },
    EmptyList { span: Span },
    GenericArgCount { span: Span, name: Name, expected: usize, found: usize },
    TypeForDimension { span: Span },
    DimensionForType { span: Span },
    ElemArg { span: Span, kind: GenericKind, found: Ty },
    NoInstantiation { span: Span },
    UnknownRank { span: Span, what: String, ty: Ty },
    IndexIntoRank { span: Span, ty: Ty },
    OpenDiagonal { span: Span, rows: Dim, columns: Dim },
    RigidTree { span: Span, what: &'static str, ty: Ty },
    NoRows { span: Span, ty: Ty },
    RowsDiffer { span: Span, path: String, first: Dim, other: Dim },
    NoExtreme { span: Span, callee: Option<(Name, Span)> },
    NegativeSize { span: Span, size: i64, callee: Option<(Name, Span)> },
    Inexact { span: Span, callee: Option<(Name, Span)>, text: Option<String> },
    ConvRanks { input: Operand, kernel: Operand },
    ConvChannels { input: Operand, kernel: Operand, channels: Dim, taken: Dim, groups: Dim },
    PoolRank { span: Span, what: &'static str, ty: Ty },
    PerDimension { span: Span, what: &'static str, found: usize, wanted: usize },
    EmptyWindow { span: Span },
    NothingToSlide { span: Span, axis: usize },
    WindowTooLarge { span: Span, window: Dim, size: Dim },
    PadRank { span: Span, pads: usize, ty: Ty },
    UpdateShape { span: Span, found: Ty, wanted: Ty },
    ConcatShapes { first: Operand, other: Operand, axis: i64 },
    AlongShapes { array: Operand, index: Operand, axis: i64 },
    SolveShapes { matrix: Operand, rhs: Operand, left: bool },
    LabelShape { logits: Operand, labels: Operand, rows: Ty },
    SliceSize { span: Span, size: Dim, rows: Dim },
    StartsCount { span: Span, found: usize, ty: Ty },
    SqueezeSize { span: Span, axis: i64, ty: Ty },
    RollAxes { span: Span, shifts: usize, axes: usize },
    OneOfTexts { span: Span, what: &'static str, found: String, known: &'static [&'static str] },
    /// `max(x, y, axis=…)`.
    ExtremeOfTwo { span: Span, name: &'static str },
    /// `norm(x, ord=1)` of a matrix.
    MatrixNorm { span: Span },
    Rate { span: Span, rate: f64 },
    ZeroStep { span: Span },
    BitcastWidth { span: Span, from: Ty, to: Ty },
    ShardRank { span: Span, axes: usize, ty: Ty },
    /// `f32[N @ data, M @ data]`.
    MeshAxisTwice { span: Span, name: Name, before: Span },

    // Keys.
    KeyReuse {
        span: Span,
        /// The key as written.
        key: String,
        first: Span,
        /// The second use is the same place, in a later round of a loop or call of a function.
        repeats: Option<Repeat>,
    },
    NotAKey { span: Span, what: &'static str, ty: Ty },

    // Transforms.
    GradOfNonScalar { span: Span, transform: &'static str, function: String, ty: Ty, definition: Option<Span> },
    GradOfInteger { span: Span, transform: &'static str, transform_span: Span, path: String, leaf: Ty, ty: Ty },
    WrtRange { span: Span, wrt: i64, args: usize },
    AuxResult { span: Span, function: String, ty: Ty },
    ReverseThroughWhile { span: Span, transform: &'static str, loop_span: Span, is_for: bool },
    ProductArgs { span: Span, transform: &'static str, found: usize },
    VmapAxesCount { span: Span, axes: usize, args: usize },
    VmapNothing { span: Span },
    VmapNoAxis { span: Span, axis: i64, ty: Ty },
    VmapSizes { span: Span, first: Dim, first_span: Span, other: Dim, other_span: Span },
    VmapOut { span: Span, out: i64, ty: Ty },
    ScanResult { span: Span, ty: Ty },
    VjpParams { span: Span, found: usize, wanted: usize, name: Name },
    VjpFunctionParam { span: Span, name: Name },

    // main and effects.
    TwoMains { span: Span, before: Span },
    EffectHere { span: Span, name: &'static str, place: Place, in_lambda: bool },
    HostHere { span: Span, name: &'static str },
    FormatSpec { span: Span, value: Span, spec: String, ty: Ty, formats: &'static str },
    SaveFormat { span: Span, path: String },
    Batches { span: Span, fault: BatchesFault },
    LogValue { span: Span, name: Name, ty: Ty, wants_int: bool },
    Data { span: Span, error: LoadError },

    // Warnings.
    BothStretch { op: String, op_span: Span, left: Operand, right: Operand, result: Shape },
    Unused {
        what: &'static str, name: Name, span: Span,
        /// Whether it is named in a record pattern after the field that it takes.
        field: bool,
    },
    Unreachable { span: Span, after: Span },
    Shadows { span: Span, name: Name, what: &'static str },
    FloatEquality { span: Span, left: String, right: String, negated: bool },
    Dropped { span: Span, ty: Ty },
    BecomesInfinite { span: Span, ty: Ty },
}

impl Problem {
    pub fn is_error(&self) -> bool {
        !self.code().starts_with('W')
    }

    pub fn diagnostic(&self, names: &Names) -> Diagnostic {
        let mut d = prose::say(self, names);
        if !self.is_error() {
            d.severity = Severity::Warning;
        }
        d
    }
}
