//! What can be wrong with a request for a derivative or a batch, as data; and its prose.

use crate::ir::Elem;
use tpuc_lang::diag::{Code, Diagnostic};
use tpuc_lang::span::Span;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdError {
    pub kind: AdErrorKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AdErrorKind {
    /// Reverse mode reached a `while` whose carried values have derivatives.
    WhileReverse,
    /// Forward mode reached a function whose own `vjp` block is not linear in the cotangents.
    BlockNotLinear,
    /// Differentiation with respect to an input that is not a float.
    NotDifferentiable { input: usize, elem: Elem },
    /// An effect inside a transformed function.
    Effect,
    /// A gradient of something that is not one float.
    NotScalar { found: String },
    /// A mapped axis beyond the rank that the input has with it.
    MappedAxis {
        input: usize,
        axis: usize,
        rank: usize,
    },
    /// A tape held an operation that has no transpose: a bug of the forward table.
    NotLinear { op: String },
}

impl AdError {
    pub fn new(kind: AdErrorKind, span: Span) -> Self {
        AdError { kind, span }
    }

    pub fn code(&self) -> Code {
        // The first three are mistakes that the checker too may find, under the same codes.
        Code(match self.kind {
            AdErrorKind::NotScalar { .. } => "E0501",
            AdErrorKind::NotDifferentiable { .. } => "E0502",
            AdErrorKind::WhileReverse => "E0505",
            AdErrorKind::BlockNotLinear => "E0510",
            AdErrorKind::Effect => "E0511",
            AdErrorKind::MappedAxis { .. } => "E0512",
            AdErrorKind::NotLinear { .. } => "E0599",
        })
    }

    /// The message in words, with a second label at the transform that was asked for.
    pub fn at(&self, request: Span) -> Box<Diagnostic> {
        let mut d = self.diagnostic();
        if self.span == Span::default() {
            d.primary.span = request;
        } else if self.span != request {
            d = d.label(request, "asked for here");
        }
        Box::new(d)
    }

    /// The message in words.
    pub fn diagnostic(&self) -> Diagnostic {
        let d = |message: String, label: &str| {
            Diagnostic::error(self.code(), message, self.span, label)
        };
        match &self.kind {
            AdErrorKind::WhileReverse => d(
                "reverse-mode derivative through `while`".into(),
                "how often this loop runs is not known when the program is compiled",
            )
            .help("write it as a `for` loop over a constant range, whose iterations can be kept for the backward pass")
            .help("forward mode (`jvp`) works through `while`"),
            AdErrorKind::BlockNotLinear => d(
                "forward-mode derivative of a function whose `vjp` block is not linear in the cotangent".into(),
                "this function is differentiated in forward mode",
            )
            .note("forward mode transposes the block, which is only possible when the block is linear in its cotangents"),
            AdErrorKind::NotDifferentiable { input, elem } => d(
                format!("derivative with respect to `{elem}`"),
                &format!("input {input} holds `{elem}`, which has no derivative"),
            )
            .help("only float tensors can be differentiated with respect to; cast first, or choose other inputs with `wrt=`"),
            AdErrorKind::Effect => d(
                "an effect inside a transformed function".into(),
                "this happens on the host",
            ),
            AdErrorKind::NotScalar { found } => d(
                "gradient of something that is not a single float".into(),
                &format!("this is {found}"),
            )
            .help("reduce it first, with `sum` or `mean`, or use `jacobian`"),
            AdErrorKind::MappedAxis { input, axis, rank } => d(
                format!("input {input} has no axis {axis} to map over"),
                &format!("with the mapped axis it has rank {rank}"),
            ),
            AdErrorKind::NotLinear { op } => d(
                format!("no transpose of {op}: please report this"),
                "while differentiating this",
            ),
        }
    }
}
