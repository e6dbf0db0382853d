//! Shapes: what does not go together, and what lies outside.

use super::{MaybeHelp, count, elsewhere, error, operands};
use crate::check::problem::{Operand, Problem};
use crate::check::show::Names;
use crate::diag::Diagnostic;
use crate::span::Span;
use crate::typed::{Dim, ShapeItem, Ty};

fn item(n: &Names, item: &ShapeItem) -> String {
    let shown = n.shape(std::slice::from_ref(item));
    shown[1..shown.len() - 1].to_string()
}

fn rank(ty: &Ty) -> usize {
    match ty {
        Ty::Tensor(_, shape) => shape.len(),
        _ => 0,
    }
}

/// Where in a generic function a demand comes from.
fn origin(d: Diagnostic, callee: &Option<(crate::ast::Name, Span)>) -> Diagnostic {
    match callee {
        Some((name, at)) => d.label(*at, format!("`{name}` needs it here")),
        None => d,
    }
}

fn axis_length(n: &Names, size: &Dim) -> String {
    match size.as_int() {
        Some(1) => "the axis has 1 element".to_string(),
        _ => format!("the axis has {} elements", n.dim(size)),
    }
}

pub fn say(p: &Problem, n: &Names) -> Diagnostic {
    use Problem as P;
    match p {
        P::ElemMix {
            op,
            op_span,
            left,
            right,
            help,
        } => {
            let d = error(
                p,
                format!("`{op}` mixes element types"),
                *op_span,
                "there is no silent conversion",
            );
            operands(d, n, left, right).maybe(help.clone())
        }
        P::MatMulInner { left, right, help } => mat_mul(p, n, left, right).all(help),
        P::MatMulScalar { span, ty } => error(
            p,
            "matrix product: an operand is a scalar",
            *span,
            format!("this is {}", n.ty(ty)),
        )
        .help("use `*` to scale"),
        P::NoBroadcast {
            op,
            op_span,
            left,
            right,
            clash,
            help,
        } => {
            let d = error(
                p,
                format!("`{op}`: the shapes do not broadcast"),
                *op_span,
                format!("{} against {}", item(n, &clash.left), item(n, &clash.right)),
            );
            operands(d, n, left, right).all(help)
        }
        P::BroadcastTo { span, from, to } => error(
            p,
            format!("{} does not broadcast to {}", n.ty(from), n.shape(to)),
            *span,
            "its dimensions must be 1 or the same, counted from the last",
        ),
        P::IndicesDiffer { span, left, right } => error(
            p,
            "the index tensors do not broadcast",
            *span,
            format!("{} against {}", item(n, left), item(n, right)),
        ),
        P::TooManyIndices { span, used, ty } => error(
            p,
            format!(
                "{} for {}",
                count(*used, "index").replace("indexs", "indexes"),
                n.ty(ty)
            ),
            *span,
            format!("it has {}", count(rank(ty), "dimension")),
        ),
        P::TwoRests { span } => error(
            p,
            "`..` stands twice in an index",
            *span,
            "only one can stand for the dimensions left",
        ),
        P::DynamicRange { span } => error(
            p,
            "a range in an index must be known at compile time",
            *span,
            "only known when it runs",
        )
        .help("for a start known at run time: `slice(x, start, size)` or `dynamic_slice`"),
        P::RangeOutside {
            span,
            lo,
            hi,
            crossed,
            size,
        } => error(
            p,
            match crossed {
                true => format!("the range from {lo} to {hi} runs against its step"),
                false => format!("the range from {lo} to {hi} is outside the axis"),
            },
            *span,
            axis_length(n, size),
        ),
        P::IndexOutOfRange {
            span,
            index,
            size,
            callee,
        } => {
            let d = error(
                p,
                format!("index {index} is out of range"),
                *span,
                axis_length(n, size),
            );
            origin(d, callee)
        }
        P::IndexBeyond { span, index, size } => error(
            p,
            format!("index {} is out of range", n.dim(index)),
            *span,
            axis_length(n, size),
        ),
        P::AxisRange {
            span,
            what,
            axis,
            ty,
        } => {
            let is_open =
                matches!(ty, Ty::Tensor(_, s) if s.iter().any(|i| !matches!(i, ShapeItem::Dim(_))));
            let d = error(
                p,
                format!("`{what}`: there is no axis {axis}"),
                *span,
                match is_open {
                    true => format!("{} has no axis {axis} for every `..`", n.ty(ty)),
                    false => {
                        format!("{} has {}", n.ty(ty), count(rank(ty), "dimension"))
                    }
                },
            );
            match is_open {
                true => d.help("count from the other end: -1 is the last axis"),
                false => d,
            }
        }
        P::AxisTwice { span, what, axis } => error(
            p,
            format!("`{what}`: axis {axis} is given twice"),
            *span,
            "each axis once",
        ),
        P::OneAxis { span, what } => error(
            p,
            format!("`{what}` takes one axis"),
            *span,
            "several are given",
        ),
        P::Permutation { span, found, ty } => error(
            p,
            format!(
                "{} given for {}",
                count(*found, "axis").replace("axiss", "axes"),
                n.ty(ty)
            ),
            *span,
            format!("it has {}", count(rank(ty), "dimension")),
        ),
        P::SqueezeSize { span, axis, ty } => error(
            p,
            format!("`squeeze`: axis {axis} is not 1"),
            *span,
            format!("of {}", n.ty(ty)),
        ),
        P::RollAxes { span, shifts, axes } => error(
            p,
            format!("`roll`: {shifts} shifts for {axes} axes"),
            *span,
            "one shift for each axis",
        ),
        P::ReshapeCount {
            span,
            from,
            to,
            have,
            want,
        } => reshape(p, n, *span, from, to, have, want),
        P::TwoOpenSizes { span } => error(
            p,
            "`reshape`: only one size can be -1",
            *span,
            "two are left open",
        ),
        P::UnknownRank { span, what, ty } => error(
            p,
            format!("{what} needs to know the number of dimensions"),
            *span,
            format!("{} has any number of them", n.ty(ty)),
        )
        .help("name the dimensions: `f32[A, B]` in place of `f32[..S]`"),
        P::IndexIntoRank { span, ty } => error(
            p,
            "an index reaches into a `..` part",
            *span,
            format!("of {}", n.ty(ty)),
        )
        .help("leave it whole with `..`: `x[.., 0]` indexes the last dimension"),
        P::OpenDiagonal {
            span,
            rows,
            columns,
        } => error(
            p,
            "the length of the diagonal is not known",
            *span,
            format!("the smaller of {} and {}", n.dim(rows), n.dim(columns)),
        ),
        P::NoRows { span, ty } => error(
            p,
            "there is no axis 0 to go over",
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::RowsDiffer {
            span,
            path,
            first,
            other,
        } => error(
            p,
            "the tensors have different lengths on axis 0",
            *span,
            format!("{} at first, {} in `{path}`", n.dim(first), n.dim(other)),
        ),
        P::NoExtreme { span, callee } => {
            let d = error(
                p,
                "an axis without elements has no smallest or largest",
                *span,
                "the axis has 0 elements",
            );
            origin(d, callee)
        }
        P::NegativeSize { span, size, callee } => {
            let d = error(
                p,
                format!("a dimension would be {size}"),
                *span,
                "sizes cannot be negative",
            );
            origin(d, callee)
        }
        P::Inexact { span, callee, text } => {
            let d = error(
                p,
                match text {
                    Some(text) => format!("`{text}` is not a whole number"),
                    None => "a dimension is not a whole number here".to_string(),
                },
                *span,
                "this division leaves a remainder",
            );
            origin(d, callee)
        }
        P::Einsum { span, reason } => error(
            p,
            format!("`einsum`: {reason}"),
            *span,
            "as in \"ij,jk->ik\"",
        ),
        P::EinsumSizes {
            span,
            letter,
            dots,
            first,
            other,
        } => {
            let what = match dots {
                true => "...".to_string(),
                false => letter.to_string(),
            };
            error(
                p,
                format!("`einsum`: `{what}` stands for two sizes"),
                *span,
                format!("{} and {}", n.item(first), n.item(other)),
            )
        }
        P::BothStretch {
            op,
            op_span,
            left,
            right,
            result,
        } => {
            let d = error(
                p,
                format!("`{op}` stretches both operands"),
                *op_span,
                format!("the result is {}", n.shape(result)),
            );
            operands(d, n, left, right)
                .note("often a missing `keepdims=true` or an index too many; `broadcast_to` says that it is meant")
        }
        _ => windows(p, n),
    }
}

/// Convolutions, updates, and other pairs of shapes.
fn windows(p: &Problem, n: &Names) -> Diagnostic {
    use Problem as P;
    let pair = |message: &str, at: &Operand, a: &Operand, b: &Operand, label: String| {
        let d = error(p, message, at.span, label);
        let (first, second) = (n.ty(&a.ty), n.ty(&b.ty));
        if at.span == b.span {
            d.label(a.span, first)
        } else {
            d.label(b.span, second)
        }
    };
    match p {
        P::ConvRanks { input, kernel } => pair(
            "`conv`: the numbers of dimensions do not fit",
            kernel,
            input,
            kernel,
            n.ty(&kernel.ty),
        )
        .note("x is [N, spatial…, I] and w is [spatial…, I, O], with 1 to 3 spatial dimensions"),
        P::ConvChannels {
            input,
            kernel,
            channels,
            taken,
            groups,
        } => {
            let per = match groups.as_int() {
                Some(1) => String::new(),
                _ => format!(" in each of {} groups", n.dim(groups)),
            };
            pair(
                "`conv`: the channels do not fit",
                kernel,
                input,
                kernel,
                format!("{}: takes {} channels{per}", n.ty(&kernel.ty), n.dim(taken)),
            )
            .note(format!(
                "the input has {} channels, its last dimension",
                n.dim(channels)
            ))
        }
        P::PoolRank { span, what, ty } => error(
            p,
            format!("`{what}` needs [N, spatial…, C]"),
            *span,
            format!("this is {}", n.ty(ty)),
        ),
        P::PerDimension {
            span,
            what,
            found,
            wanted,
        } => error(
            p,
            format!("`{what}` needs a positive number, or one for each spatial dimension"),
            *span,
            format!("{found} given, {wanted} wanted"),
        ),
        P::EmptyWindow { span } => error(
            p,
            "the window is empty",
            *span,
            "a spatial dimension of the kernel has 0 elements",
        ),
        P::NothingToSlide { span, axis } => error(
            p,
            "there is nothing to slide over",
            *span,
            format!("axis {axis} of the input has 0 elements"),
        ),
        P::WindowTooLarge { span, window, size } => error(
            p,
            "the window is larger than what it slides over",
            *span,
            format!("{} over {}", n.dim(window), n.dim(size)),
        ),
        P::PadRank { span, pads, ty } => error(
            p,
            format!("`pad`: {pads} pairs for {}", n.ty(ty)),
            *span,
            "one pair, or one for each dimension",
        ),
        P::UpdateShape {
            span,
            found,
            wanted,
        } => error(
            p,
            "the value does not fit what is updated",
            *span,
            format!("this is {}, the place is {}", n.ty(found), n.ty(wanted)),
        ),
        P::ConcatShapes { first, other, axis } => pair(
            &format!("`concat` along axis {axis}: the other dimensions differ"),
            other,
            first,
            other,
            n.ty(&other.ty),
        ),
        P::AlongShapes { array, index, axis } => pair(
            &format!("`take_along_axis`: the dimensions beside axis {axis} differ"),
            index,
            array,
            index,
            n.ty(&index.ty),
        ),
        P::SolveShapes { matrix, rhs, left } => pair(
            "`triangular_solve`: the shapes do not fit",
            rhs,
            matrix,
            rhs,
            format!(
                "{}: its {} must be those of the matrix",
                n.ty(&rhs.ty),
                if *left { "rows" } else { "columns" }
            ),
        )
        .help("without `left_side=true` it solves x @ a = b"),
        P::LabelShape {
            logits,
            labels,
            rows,
        } => pair(
            "the labels do not fit the logits",
            labels,
            logits,
            labels,
            n.ty(&labels.ty),
        )
        .note(format!(
            "labels are classes, {}, or distributions, {}",
            n.ty(rows),
            n.ty(&logits.ty)
        )),
        P::SliceSize { span, size, rows } => error(
            p,
            format!(
                "{} elements of an axis that has {}",
                n.dim(size),
                n.dim(rows)
            ),
            *span,
            "more than there are",
        ),
        P::StartsCount { span, found, ty } => error(
            p,
            format!("{found} positions or sizes for {}", n.ty(ty)),
            *span,
            format!("it has {}", count(rank(ty), "dimension")),
        ),
        P::ShardRank { span, axes, ty } => error(
            p,
            format!("`shard`: {axes} mesh axes for {}", n.ty(ty)),
            *span,
            "one, or `none`, for each dimension",
        ),
        P::MeshAxisTwice { span, name, before } => error(
            p,
            format!("mesh axis `{name}` stands on two dimensions of one tensor"),
            *span,
            "each device has one place along an axis",
        )
        .label(*before, "it stands here already"),
        _ => elsewhere(p),
    }
}

fn mat_mul(p: &Problem, n: &Names, left: &Operand, right: &Operand) -> Diagnostic {
    let last = |ty: &Ty| match ty {
        Ty::Tensor(_, shape) => shape.last().cloned(),
        _ => None,
    };
    let rows = |ty: &Ty| match ty {
        Ty::Tensor(_, shape) => match shape.as_slice() {
            [only] => Some(only.clone()),
            [.., rows, _] => Some(rows.clone()),
            [] => None,
        },
        _ => None,
    };
    let plain = |i: Option<ShapeItem>| match i {
        Some(ShapeItem::Dim(d)) => n.plain_dim(&d),
        Some(other) => item(n, &other),
        None => "1".to_string(),
    };
    let of_right = match rank(&right.ty) {
        1 => "elements",
        _ => "rows",
    };
    error(
        p,
        "matrix product: inner dimensions differ",
        left.span,
        format!(
            "{}: its last dimension is {}, and `{}` has {} {of_right}",
            n.ty(&left.ty),
            plain(last(&left.ty)),
            right.text,
            plain(rows(&right.ty)),
        ),
    )
    .label(right.span, n.ty(&right.ty))
}

fn reshape(
    p: &Problem,
    n: &Names,
    span: Span,
    from: &Ty,
    to: &[ShapeItem],
    have: &Dim,
    want: &Dim,
) -> Diagnostic {
    let open = to
        .iter()
        .any(|i| matches!(i, ShapeItem::Dim(d) if d.as_int() == Some(-1)));
    let d = error(
        p,
        format!("`reshape` from {} to {}", n.ty(from), n.shape(to)),
        span,
        match open {
            true => format!(
                "{} elements do not divide by {}",
                n.plain_dim(have),
                n.plain_dim(want)
            ),
            false => format!(
                "{} elements, {} wanted",
                n.plain_dim(have),
                n.plain_dim(want)
            ),
        },
    );
    // One size left open may be all it takes.
    let sizes: Vec<i64> = to
        .iter()
        .filter_map(|i| match i {
            ShapeItem::Dim(d) => d.as_int(),
            _ => None,
        })
        .collect();
    let Some(total) = have.as_int().filter(|_| !open && sizes.len() == to.len()) else {
        return d;
    };
    let fits = (0..sizes.len()).find_map(|i| {
        let others: i64 = sizes
            .iter()
            .enumerate()
            .filter(|(j, _)| *j != i)
            .map(|(_, s)| *s)
            .product();
        (others > 0 && total % others == 0).then(|| {
            let mut fixed = sizes.clone();
            fixed[i] = total / others;
            fixed
        })
    });
    match fits {
        Some(fixed) => {
            let text: Vec<String> = fixed.iter().map(i64::to_string).collect();
            d.help(format!("[{}] has as many elements", text.join(", ")))
        }
        None => d,
    }
}
