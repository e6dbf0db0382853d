//! What each builtin emits: one function a builtin, in files by subject; one match without a wildcard arm.
//!
//! The checker has settled types and static arguments; here everything has concrete sizes.

mod arithmetic;
pub mod attrs;
mod diagonal;
mod einsum;
mod fill;
mod index;
mod linalg;
mod losses;
mod neural;
mod order;
mod pad;
mod random;
mod reduce;
mod shape;
mod shard;
mod update;

use super::Specialiser;
use super::error::Result;
use super::frame::Frame;
use super::val::{Val, leaf_types};
use crate::ir::op::ScatterOp;
use crate::ir::{BinaryOp, Builder, CompareOp, ReduceOp, Type, UnaryOp, Value};
use attrs::Attrs;
use tpuc_lang::span::Span;
use tpuc_lang::typed::{Attr, Builtin, Elem, ElemTy, Expr, ExprKind, Ty};

/// One call of a builtin, everything concrete.
pub(crate) struct Call<'a> {
    pub args: Vec<Value>,
    /// The argument expressions, for what depends on how they were written (a literal exponent).
    pub exprs: &'a [Expr],
    pub attrs: Attrs,
    /// Concrete type of the result.
    pub ret: Ty,
    pub span: Span,
}

impl Call<'_> {
    /// The IR type of a result that is one tensor.
    pub fn out(&self) -> Type {
        leaf_types(&self.ret).remove(0)
    }

    /// Whether the result is an array of keys, whose words stand on one more dimension.
    pub fn is_key(&self) -> bool {
        matches!(self.ret, Ty::Tensor(ElemTy::Known(Elem::Key), _))
    }

    /// Whether the argument is a literal integer (or a whole float), and which.
    pub fn literal_int(&self, i: usize) -> Option<i64> {
        fn literal(e: &Expr) -> Option<i64> {
            match &e.kind {
                ExprKind::Int(n) => i64::try_from(*n).ok(),
                ExprKind::Dim(d) => d.as_int(),
                ExprKind::Builtin {
                    builtin: Builtin::Neg,
                    args,
                    ..
                } => literal(args.first()?)?.checked_neg(),
                _ => None,
            }
        }
        literal(self.exprs.get(i)?)
    }
}

impl Specialiser<'_> {
    pub(crate) fn builtin(
        &mut self,
        frame: &Frame,
        e: &Expr,
        builtin: Builtin,
        exprs: &[Expr],
        vals: Vec<Val>,
        attrs: &[Attr],
    ) -> Result<Val> {
        let call = Call {
            args: vals.iter().flat_map(Val::leaves).collect(),
            exprs,
            attrs: Attrs::resolve(frame, attrs, e.span)?,
            ret: frame.ty(&e.ty, e.span)?,
            span: e.span,
        };
        if builtin == Builtin::Shard {
            return self.shard(frame, e, &call);
        }
        let leaves = emit(&mut self.b, builtin, &call)?;
        Ok(Val::of_type(&call.ret, &mut leaves.into_iter()))
    }
}

/// The leaves of the result.
fn emit(b: &mut Builder, builtin: Builtin, c: &Call) -> Result<Vec<Value>> {
    use arithmetic as a;
    let one = match builtin {
        Builtin::Add => a::binary(b, c, BinaryOp::Add),
        Builtin::Sub => a::binary(b, c, BinaryOp::Sub),
        Builtin::Mul => a::binary(b, c, BinaryOp::Mul),
        Builtin::Div => a::binary(b, c, BinaryOp::Div),
        Builtin::Rem => a::binary(b, c, BinaryOp::Rem),
        Builtin::Pow => a::pow(b, c),
        Builtin::MatMul => linalg::matmul(b, c),
        Builtin::Eq => a::compare(b, c, CompareOp::Eq),
        Builtin::Ne => a::compare(b, c, CompareOp::Ne),
        Builtin::Lt => a::compare(b, c, CompareOp::Lt),
        Builtin::Le => a::compare(b, c, CompareOp::Le),
        Builtin::Gt => a::compare(b, c, CompareOp::Gt),
        Builtin::Ge => a::compare(b, c, CompareOp::Ge),
        Builtin::And => a::binary(b, c, BinaryOp::And),
        Builtin::Or => a::binary(b, c, BinaryOp::Or),
        Builtin::Neg => a::unary(b, c, UnaryOp::Neg),
        Builtin::Not => a::unary(b, c, UnaryOp::Not),
        Builtin::Cast => a::cast(b, c),
        Builtin::Index => index::index(b, c)?,
        Builtin::StackList => shape::stack(b, c, 0),
        Builtin::Exp => a::unary(b, c, UnaryOp::Exp),
        Builtin::Expm1 => a::unary(b, c, UnaryOp::Expm1),
        Builtin::Log => a::unary(b, c, UnaryOp::Log),
        Builtin::Log1p => a::unary(b, c, UnaryOp::Log1p),
        Builtin::Sqrt => a::unary(b, c, UnaryOp::Sqrt),
        Builtin::Rsqrt => a::unary(b, c, UnaryOp::Rsqrt),
        Builtin::Cbrt => a::unary(b, c, UnaryOp::Cbrt),
        Builtin::Sin => a::unary(b, c, UnaryOp::Sin),
        Builtin::Cos => a::unary(b, c, UnaryOp::Cos),
        Builtin::Tan => a::unary(b, c, UnaryOp::Tan),
        Builtin::Tanh => a::unary(b, c, UnaryOp::Tanh),
        Builtin::Sigmoid => a::unary(b, c, UnaryOp::Logistic),
        Builtin::Abs => a::abs(b, c),
        Builtin::Sign => a::sign(b, c),
        Builtin::Floor => a::rounding(b, c, UnaryOp::Floor),
        Builtin::Ceil => a::rounding(b, c, UnaryOp::Ceil),
        Builtin::Round => a::rounding(b, c, UnaryOp::Round),
        Builtin::Trunc => a::trunc(b, c),
        Builtin::Erf => a::unary(b, c, UnaryOp::Erf),
        Builtin::Erfc => a::unary(b, c, UnaryOp::Erfc),
        Builtin::ErfInv => a::unary(b, c, UnaryOp::ErfInv),
        Builtin::Lgamma => a::unary(b, c, UnaryOp::Lgamma),
        Builtin::Digamma => a::unary(b, c, UnaryOp::Polygamma(0)),
        Builtin::IsNan => a::is_nan(b, c),
        Builtin::IsFinite => a::is_finite(b, c),
        Builtin::Atan2 => a::binary(b, c, BinaryOp::Atan2),
        Builtin::Min2 => a::binary(b, c, BinaryOp::Min),
        Builtin::Max2 => a::binary(b, c, BinaryOp::Max),
        Builtin::Clamp => a::clamp(b, c),
        Builtin::Where => a::select(b, c),
        Builtin::IsClose => a::is_close(b, c),
        Builtin::Sum => reduce::sum(b, c),
        Builtin::Mean => reduce::mean(b, c),
        Builtin::Prod => reduce::prod(b, c),
        Builtin::MinReduce => reduce::extreme(b, c, ReduceOp::Min),
        Builtin::MaxReduce => reduce::extreme(b, c, ReduceOp::Max),
        Builtin::Var => reduce::var(b, c),
        Builtin::Std => reduce::std(b, c),
        Builtin::Any => reduce::extreme(b, c, ReduceOp::Max),
        Builtin::All => reduce::extreme(b, c, ReduceOp::Min),
        Builtin::ArgMin => reduce::arg(b, c, false),
        Builtin::ArgMax => reduce::arg(b, c, true),
        Builtin::Norm => reduce::norm(b, c),
        Builtin::LogSumExp => reduce::logsumexp(b, c),
        Builtin::Softmax => reduce::softmax(b, c),
        Builtin::LogSoftmax => reduce::log_softmax(b, c),
        Builtin::CumSum => reduce::cumulate(b, c, ReduceOp::Sum),
        Builtin::CumProd => reduce::cumulate(b, c, ReduceOp::Prod),
        Builtin::CumMax => reduce::cumulate(b, c, ReduceOp::Max),
        Builtin::CumMin => reduce::cumulate(b, c, ReduceOp::Min),
        Builtin::Reshape | Builtin::Flatten | Builtin::ExpandDims | Builtin::Squeeze => {
            shape::reshape(b, c)
        }
        Builtin::Transpose => shape::transpose(b, c),
        Builtin::SwapAxes => shape::swap_axes(b, c),
        Builtin::MoveAxis => shape::move_axis(b, c),
        Builtin::BroadcastTo => shape::broadcast_to(b, c),
        Builtin::Concat => shape::concat(b, c),
        Builtin::Stack => shape::stack_axis(b, c),
        Builtin::Pad => pad::pad(b, c),
        Builtin::Flip => shape::flip(b, c),
        Builtin::Roll => shape::roll(b, c),
        Builtin::Repeat => shape::repeat(b, c),
        Builtin::Tile => shape::tile(b, c),
        Builtin::SplitAt => return Ok(shape::split_at(b, c)),
        Builtin::Slice => index::slice(b, c),
        Builtin::DynamicSlice => update::dynamic_slice(b, c),
        Builtin::DynamicUpdateSlice => update::dynamic_update_slice(b, c),
        Builtin::Tril => linalg::tril(b, c),
        Builtin::Triu => linalg::triu(b, c),
        Builtin::Diag => diagonal::diag(b, c),
        Builtin::Eye => diagonal::eye(b, c),
        Builtin::Zeros | Builtin::ZerosLike => fill::filled(b, c, 0.0),
        Builtin::Ones | Builtin::OnesLike => fill::filled(b, c, 1.0),
        Builtin::Full => fill::full(b, c),
        Builtin::Arange => fill::arange(b, c),
        Builtin::Linspace => fill::linspace(b, c),
        Builtin::Take => update::take(b, c),
        Builtin::TakeAlongAxis => update::take_along_axis(b, c),
        Builtin::Set => update::update(b, c, ScatterOp::Set)?,
        Builtin::AddAt => update::update(b, c, ScatterOp::Add)?,
        Builtin::Sort => order::sort(b, c),
        Builtin::ArgSort => order::arg_sort(b, c),
        Builtin::TopK => return Ok(order::top_k(b, c)),
        Builtin::SearchSorted => order::search_sorted(b, c),
        Builtin::Nonzero => return Ok(order::nonzero(b, c)),
        Builtin::OneHot => order::one_hot(b, c),
        Builtin::Dot => linalg::dot(b, c),
        Builtin::Einsum => einsum::einsum(b, c),
        Builtin::Outer => linalg::outer(b, c),
        Builtin::Trace => linalg::trace(b, c),
        Builtin::Cholesky => linalg::cholesky(b, c),
        Builtin::TriangularSolve => linalg::triangular_solve(b, c),
        Builtin::Conv => neural::conv(b, c),
        Builtin::MaxPool => neural::max_pool(b, c),
        Builtin::AvgPool => neural::avg_pool(b, c),
        Builtin::Dropout => neural::dropout(b, c),
        Builtin::SoftmaxCrossEntropy => losses::softmax_cross_entropy(b, c),
        Builtin::SigmoidBinaryCrossEntropy => losses::sigmoid_binary_cross_entropy(b, c),
        Builtin::L2Loss => losses::l2_loss(b, c),
        Builtin::HuberLoss => losses::huber_loss(b, c),
        Builtin::Key => random::key(b, c),
        Builtin::Split => random::split(b, c),
        Builtin::FoldIn => random::fold_in(b, c),
        Builtin::Bits => random::bits(b, c),
        Builtin::Uniform => random::uniform(b, c),
        Builtin::Normal => random::normal(b, c),
        Builtin::Bernoulli => random::bernoulli(b, c),
        Builtin::RandInt => random::randint(b, c),
        Builtin::Permutation => random::permutation(b, c),
        Builtin::Categorical => random::categorical(b, c),
        Builtin::TruncatedNormal => random::truncated_normal(b, c),
        Builtin::Gumbel => random::gumbel(b, c),
        Builtin::Bitcast => update::bitcast(b, c),
        Builtin::StopGradient => return Ok(a::stop_gradient(b, c)),
        // Only the specialiser knows the mesh; it has dealt with this one.
        Builtin::Shard => c.args[0],
    };
    Ok(vec![one])
}
