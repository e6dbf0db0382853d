//! What is said about each problem. Types are shown with the user's names for them; nothing internal is.

mod mismatch;
mod names;
mod shapes;
mod transforms;
mod values;

use super::{Operand, Problem};
use crate::check::show::Names;
use crate::diag::{Code, Diagnostic};
use crate::span::Span;

/// The start of every message.
fn error(
    p: &Problem,
    message: impl Into<String>,
    span: Span,
    label: impl Into<String>,
) -> Diagnostic {
    Diagnostic::error(Code(p.code()), message, span, label)
}

/// Adds a help line if there is one to give.
trait MaybeHelp {
    fn maybe(self, help: Option<String>) -> Self;
    fn all(self, help: &[String]) -> Self;
}

impl MaybeHelp for Diagnostic {
    fn maybe(self, help: Option<String>) -> Self {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    fn all(self, help: &[String]) -> Self {
        help.iter().fold(self, |d, h| d.help(h.clone()))
    }
}

fn did_you_mean(near: &Option<String>) -> Option<String> {
    near.as_ref().map(|n| format!("did you mean `{n}`?"))
}

/// `1 argument`, `2 arguments`.
fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else if what.ends_with('x') {
        format!("{n} {what}es")
    } else {
        format!("{n} {what}s")
    }
}

/// Both operands labelled with their types.
fn operands(d: Diagnostic, n: &Names, left: &Operand, right: &Operand) -> Diagnostic {
    d.label(left.span, n.ty(&left.ty))
        .label(right.span, n.ty(&right.ty))
}

/// The names, then types and shapes, then the rest, in the order of the codes.
pub fn say(p: &Problem, n: &Names) -> Diagnostic {
    use Problem as P;
    match p {
        P::UnknownName { .. }
        | P::UnknownModule { .. }
        | P::ForeignModule { .. }
        | P::Duplicate { .. }
        | P::ReservedName { .. }
        | P::ImportFailed { .. }
        | P::ImportCycle { .. }
        | P::SetUnknown { .. }
        | P::SetKind { .. }
        | P::ConstCycle { .. }
        | P::TypeCycle { .. }
        | P::Recursion { .. }
        | P::NotAType { .. }
        | P::NotAValue { .. }
        | P::NotAssignable { .. }
        | P::ConstOverflow { .. }
        | P::TooLarge { .. }
        | P::ConstDivisionByZero { .. }
        | P::Misplaced { .. }
        | P::FunctionAsValue { .. }
        | P::BareTransform { .. }
        | P::FormAsFunction { .. }
        | P::BuiltinAsFunction { .. }
        | P::ShapeOfPassed { .. } => names::say(p),

        P::Mismatch {
            context,
            span,
            expected,
            found,
            clash,
            help,
        } => mismatch::say(p, n, context, *span, expected, found, clash, help),
        P::Declaration {
            name,
            span,
            declared,
            fits,
            uses,
            more,
        } => {
            let message = format!("{name} is declared with a type that its uses contradict");
            let mut d = error(p, message, *span, format!("declared as {declared}"));
            for at in uses {
                d = d.label(at.span, at.text.clone());
            }
            if *more > 0 {
                d = d.note(format!("and {more} more like these"));
            }
            d.help(format!("with `{fits}` all of them fit"))
        }
        P::ShapeArg {
            span,
            callee,
            param,
            definition,
            expected,
            found,
        } => error(
            p,
            format!("argument `{param}` of {callee} has the wrong form"),
            *span,
            format!("this is {}, expected {expected}", n.shape(found)),
        )
        .label(*definition, format!("`{param}` is declared here")),
        P::FunctionResult {
            span,
            function,
            expected,
            found,
            ..
        } => error(
            p,
            format!("{function} gives another type than the one wanted here"),
            *span,
            format!("gives {}, expected {}", n.ty(found), n.ty(expected)),
        ),

        P::ElemMix { .. }
        | P::MatMulInner { .. }
        | P::MatMulScalar { .. }
        | P::NoBroadcast { .. }
        | P::BroadcastTo { .. }
        | P::IndicesDiffer { .. }
        | P::TooManyIndices { .. }
        | P::TwoRests { .. }
        | P::DynamicRange { .. }
        | P::RangeOutside { .. }
        | P::IndexOutOfRange { .. }
        | P::IndexBeyond { .. }
        | P::AxisRange { .. }
        | P::AxisTwice { .. }
        | P::OneAxis { .. }
        | P::Permutation { .. }
        | P::SqueezeSize { .. }
        | P::RollAxes { .. }
        | P::ReshapeCount { .. }
        | P::TwoOpenSizes { .. }
        | P::UnknownRank { .. }
        | P::IndexIntoRank { .. }
        | P::OpenDiagonal { .. }
        | P::NoRows { .. }
        | P::RowsDiffer { .. }
        | P::NoExtreme { .. }
        | P::EmptyWindow { .. }
        | P::NothingToSlide { .. }
        | P::NegativeSize { .. }
        | P::Inexact { .. }
        | P::ConvRanks { .. }
        | P::ConvChannels { .. }
        | P::PoolRank { .. }
        | P::PerDimension { .. }
        | P::WindowTooLarge { .. }
        | P::PadRank { .. }
        | P::UpdateShape { .. }
        | P::ConcatShapes { .. }
        | P::AlongShapes { .. }
        | P::SolveShapes { .. }
        | P::LabelShape { .. }
        | P::SliceSize { .. }
        | P::StartsCount { .. }
        | P::ShardRank { .. }
        | P::MeshAxisTwice { .. }
        | P::Einsum { .. }
        | P::EinsumSizes { .. }
        | P::BothStretch { .. } => shapes::say(p, n),

        P::ArgCount { .. }
        | P::ArgTwice { .. }
        | P::UnknownArg { .. }
        | P::NoField { .. }
        | P::NoTupleField { .. }
        | P::NotATensor { .. }
        | P::NotAScalar { .. }
        | P::NotAVector { .. }
        | P::NotAMatrix { .. }
        | P::NotSquare { .. }
        | P::NotATree { .. }
        | P::WrongElem { .. }
        | P::NotIndexable { .. }
        | P::BadIndex { .. }
        | P::CannotInfer { .. }
        | P::Deferred { .. }
        | P::NotStatic { .. }
        | P::BranchesDiffer { .. }
        | P::IfWithoutElse { .. }
        | P::NotACondition { .. }
        | P::LiteralRange { .. }
        | P::BecomesInfinite { .. }
        | P::PatternMismatch { .. }
        | P::NotCallable { .. }
        | P::TreesDiffer { .. }
        | P::LeafResult { .. }
        | P::Leaves { .. }
        | P::ReturnHere { .. }
        | P::MissingValue { .. }
        | P::TooManyReturns { .. }
        | P::EmptyList { .. }
        | P::GenericArgCount { .. }
        | P::TypeForDimension { .. }
        | P::DimensionForType { .. }
        | P::ElemArg { .. }
        | P::NoInstantiation { .. }
        | P::OneOfTexts { .. }
        | P::ExtremeOfTwo { .. }
        | P::MatrixNorm { .. }
        | P::Rate { .. }
        | P::ZeroStep { .. }
        | P::BitcastWidth { .. } => values::say(p, n),

        P::RigidTree { .. }
        | P::KeyReuse { .. }
        | P::NotAKey { .. }
        | P::GradOfNonScalar { .. }
        | P::GradOfInteger { .. }
        | P::WrtRange { .. }
        | P::AuxResult { .. }
        | P::ReverseThroughWhile { .. }
        | P::ProductArgs { .. }
        | P::VmapAxesCount { .. }
        | P::VmapNothing { .. }
        | P::VmapNoAxis { .. }
        | P::VmapSizes { .. }
        | P::VmapOut { .. }
        | P::ScanResult { .. }
        | P::VjpParams { .. }
        | P::VjpFunctionParam { .. }
        | P::TwoMains { .. }
        | P::EffectHere { .. }
        | P::HostHere { .. }
        | P::FormatSpec { .. }
        | P::SaveFormat { .. }
        | P::Batches { .. }
        | P::LogValue { .. }
        | P::Data { .. }
        | P::Unused { .. }
        | P::Unreachable { .. }
        | P::Shadows { .. }
        | P::FloatEquality { .. }
        | P::Dropped { .. } => transforms::say(p, n),
    }
}

/// For an arm that [`say`] does not send to a file.
fn elsewhere(p: &Problem) -> ! {
    unreachable!("{} is said in another file", p.code())
}
