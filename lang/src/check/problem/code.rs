//! The code of each problem: one for each kind of mistake, with a page in `docs/errors/`.

use super::{Context, Problem};

impl Problem {
    pub fn code(&self) -> &'static str {
        use Problem as P;
        match self {
            P::UnknownName { what: "type", .. } => "E0202",
            P::UnknownName { .. } | P::ForeignModule { .. } => "E0201",
            P::Duplicate { .. } | P::ReservedName { .. } => "E0203",
            P::ImportFailed { .. } | P::UnknownModule { .. } => "E0204",
            P::ImportCycle { .. } => "E0205",
            P::SetUnknown { .. } => "E0206",
            P::SetKind { .. } => "E0207",
            P::ConstCycle { .. } => "E0208",
            P::TypeCycle { .. } => "E0209",
            P::Recursion { .. } => "E0210",
            P::NotAType { .. } | P::NotAValue { .. } => "E0211",
            P::NotAssignable { .. } => "E0212",
            P::ConstOverflow { .. } | P::ConstDivisionByZero { .. } => "E0213",
            P::FunctionAsValue { .. }
            | P::BareTransform { .. }
            | P::FormAsFunction { .. }
            | P::BuiltinAsFunction { .. }
            | P::ShapeOfPassed { .. } => "E0214",
            P::Misplaced { .. } => "E0215",

            P::ElemMix { .. } => "E0301",
            P::MatMulInner { .. } | P::MatMulScalar { .. } => "E0302",
            P::NoBroadcast { .. } | P::BroadcastTo { .. } | P::IndicesDiffer { .. } => "E0303",
            P::Mismatch { context, .. } => mismatch(context),
            P::ArgCount { .. } => "E0305",
            P::ArgTwice { .. } | P::UnknownArg { .. } => "E0306",
            P::FunctionResult { .. } | P::ShapeArg { .. } => "E0307",
            P::NoField { .. } => "E0308",
            P::NoTupleField { .. } => "E0309",
            P::NotATensor { .. }
            | P::NotAScalar { .. }
            | P::NotAVector { .. }
            | P::NotAMatrix { .. }
            | P::NotSquare { .. }
            | P::NotATree { .. } => "E0310",
            P::WrongElem { .. } => "E0311",
            P::NotIndexable { .. }
            | P::BadIndex { .. }
            | P::TooManyIndices { .. }
            | P::TwoRests { .. }
            | P::DynamicRange { .. } => "E0312",
            P::AxisRange { .. }
            | P::AxisTwice { .. }
            | P::OneAxis { .. }
            | P::Permutation { .. }
            | P::SqueezeSize { .. }
            | P::RollAxes { .. } => "E0313",
            P::ReshapeCount { .. } | P::TwoOpenSizes { .. } => "E0314",
            P::CannotInfer { .. } | P::Deferred { .. } => "E0315",
            P::NotStatic { .. } => "E0316",
            P::BranchesDiffer { .. } | P::IfWithoutElse { .. } => "E0318",
            P::NotACondition { .. } => "E0319",
            P::LiteralRange { .. } => "E0320",
            P::PatternMismatch { .. } => "E0321",
            P::NotCallable { .. } => "E0322",
            P::TreesDiffer { .. } | P::LeafResult { .. } | P::Leaves { .. } => "E0323",
            P::ReturnHere { .. } | P::MissingValue { .. } | P::TooManyReturns { .. } => "E0324",
            P::Einsum { .. } | P::EinsumSizes { .. } => "E0325",
            P::EmptyList { .. } => "E0326",
            P::GenericArgCount { .. }
            | P::TypeForDimension { .. }
            | P::DimensionForType { .. }
            | P::ElemArg { .. }
            | P::NoInstantiation { .. } => "E0327",
            P::UnknownRank { .. }
            | P::IndexIntoRank { .. }
            | P::OpenDiagonal { .. }
            | P::RigidTree { .. } => "E0328",
            P::NoRows { .. } | P::RowsDiffer { .. } => "E0329",
            P::NegativeSize { .. } => "E0330",
            P::Inexact { .. } => "E0331",
            P::IndexOutOfRange { .. } | P::IndexBeyond { .. } | P::RangeOutside { .. } => "E0332",
            P::NoExtreme { .. } => "E0334",
            P::ConvRanks { .. }
            | P::ConvChannels { .. }
            | P::PoolRank { .. }
            | P::PerDimension { .. }
            | P::WindowTooLarge { .. }
            | P::EmptyWindow { .. }
            | P::NothingToSlide { .. }
            | P::PadRank { .. } => "E0335",
            P::UpdateShape { .. }
            | P::ConcatShapes { .. }
            | P::AlongShapes { .. }
            | P::SolveShapes { .. }
            | P::LabelShape { .. }
            | P::SliceSize { .. }
            | P::StartsCount { .. }
            | P::ShardRank { .. } => "E0336",
            P::OneOfTexts { .. }
            | P::ExtremeOfTwo { .. }
            | P::MatrixNorm { .. }
            | P::Rate { .. }
            | P::ZeroStep { .. } => "E0337",
            P::BitcastWidth { .. } => "E0338",
            P::TooLarge { .. } => "E0339",
            P::MeshAxisTwice { .. } => "E0346",
            P::Declaration { .. } => "E0347",

            P::KeyReuse { .. } => "E0401",
            P::NotAKey { .. } => "E0402",

            P::GradOfNonScalar { .. } => "E0501",
            P::GradOfInteger { .. } => "E0502",
            P::WrtRange { .. } => "E0503",
            P::AuxResult { .. } => "E0504",
            P::ReverseThroughWhile { .. } => "E0505",
            P::ProductArgs { .. } => "E0506",
            P::VmapAxesCount { .. }
            | P::VmapNothing { .. }
            | P::VmapNoAxis { .. }
            | P::VmapSizes { .. }
            | P::VmapOut { .. } => "E0507",
            P::ScanResult { .. } => "E0508",
            P::VjpParams { .. } | P::VjpFunctionParam { .. } => "E0509",

            P::EffectHere { .. } => "E0602",
            P::HostHere { .. } => "E0603",
            P::FormatSpec { .. } => "E0604",
            P::TwoMains { .. } => "E0605",
            P::SaveFormat { .. } => "E0606",
            P::Batches { .. } => "E0608",
            P::LogValue { .. } => "E0609",
            P::Data { error, .. } => error.code,

            P::BothStretch { .. } => "W0101",
            P::Unused { what: "import", .. } => "W0104",
            P::Unused {
                what: "parameter", ..
            } => "W0103",
            P::Unused { .. } => "W0102",
            P::Unreachable { .. } => "W0105",
            P::Shadows { .. } => "W0106",
            P::FloatEquality { .. } => "W0107",
            P::Dropped { .. } => "W0108",
            P::BecomesInfinite { .. } => "W0109",
        }
    }
}

fn mismatch(context: &Context) -> &'static str {
    match context {
        Context::Arg { .. } | Context::LambdaParam { .. } | Context::Operand { .. } => "E0307",
        Context::Assign { in_loop: true, .. } | Context::Carry { .. } => "E0317",
        Context::Element { .. } => "E0326",
        Context::Product { .. } => "E0506",
        Context::Cotangent { .. } => "E0509",
        Context::Let { .. }
        | Context::Const { .. }
        | Context::Return { .. }
        | Context::Field { .. }
        | Context::Assign { in_loop: false, .. }
        | Context::Bound
        | Context::Close { .. } => "E0304",
    }
}
