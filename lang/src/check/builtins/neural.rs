//! Convolution, pooling, dropout and losses.

use super::args::{Args, Given, int_attr, ints_attr, pads_attr};
use super::{Default, Kind, Out, Param, Row, opt, req, row};
use crate::check::cx::Cx;
use crate::check::infer::Class;
use crate::check::poly;
use crate::check::problem::Problem;
use crate::check::require::Need;
use crate::check::shape::{self, same_shape};
use crate::typed::{Attr, Builtin, Dim, Elem, ElemTy, Shape, ShapeItem, Static, Ty};

const POOL: &[Param] = &[
    req("x", Kind::Value),
    req("window", Kind::Ints),
    opt("stride", Kind::Ints, Default::Absent),
    opt("padding", Kind::Padding, Default::Text("valid")),
];

#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    row("conv", Builtin::Conv,
        &[req("x", Kind::Value), req("w", Kind::Value), opt("stride", Kind::Ints, Default::Int(1)),
          opt("padding", Kind::Padding, Default::Text("same")), opt("dilation", Kind::Ints, Default::Int(1)),
          opt("groups", Kind::Int, Default::Int(1))], conv),
    row("max_pool", Builtin::MaxPool, POOL, pool),
    row("avg_pool", Builtin::AvgPool, POOL, pool),
    row("dropout",  Builtin::Dropout,
        &[req("k", Kind::Value), req("x", Kind::Value), req("rate", Kind::Value)], dropout),
    row("softmax_cross_entropy", Builtin::SoftmaxCrossEntropy,
        &[req("logits", Kind::Value), req("labels", Kind::Value)], softmax_cross_entropy),
    row("sigmoid_binary_cross_entropy", Builtin::SigmoidBinaryCrossEntropy,
        &[req("logits", Kind::Value), req("labels", Kind::Value)], pairwise),
    row("l2_loss",    Builtin::L2Loss,
        &[req("predictions", Kind::Value), opt("targets", Kind::Value, Default::Absent)], l2_loss),
    row("huber_loss", Builtin::HuberLoss,
        &[req("predictions", Kind::Value), opt("targets", Kind::Value, Default::Absent), opt("delta", Kind::Real, Default::Real(1.0))],
        huber_loss),
];

/// Low and high padding of each spatial dimension.
type Pads = Vec<(Dim, Dim)>;

/// A window along the spatial dimensions.
struct Window {
    size: Vec<Dim>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
}

impl Cx<'_, '_> {
    /// One number for each spatial dimension; a single one stands for all.
    fn per_dimension(
        &mut self,
        a: &Args,
        i: usize,
        n: usize,
        least: i64,
        what: &'static str,
    ) -> Option<Vec<i64>> {
        let (list, scalar) = a.ints(i)?;
        let numbers: Option<Vec<i64>> = list.iter().map(Dim::as_int).collect();
        let numbers = numbers.filter(|v| v.iter().all(|&x| x >= least));
        match numbers {
            Some(v) if scalar => Some(vec![v[0]; n]),
            Some(v) if v.len() == n => Some(v),
            _ => {
                self.report(Problem::PerDimension {
                    span: a.span,
                    what,
                    found: list.len(),
                    wanted: n,
                });
                None
            }
        }
    }

    /// The padding of each spatial dimension, and the size that comes out.
    fn windowed(
        &mut self,
        a: &Args,
        padding: usize,
        sizes: &[Dim],
        window: &Window,
    ) -> Option<(Vec<Dim>, Pads)> {
        let n = sizes.len();
        let mut out = Vec::new();
        let mut pads = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            let stride = Dim::int(window.stride[i]);
            if window.size[i].as_int() == Some(0) {
                self.report(Problem::EmptyWindow { span: a.span });
                return None;
            }
            if size.as_int() == Some(0) {
                let span = a.span;
                self.report(Problem::NothingToSlide { span, axis: i + 1 });
                return None;
            }
            self.need(Need::NotNegative(window.size[i].sub(&Dim::int(1))?), a.span);
            // The reach of a dilated window.
            let reach = window.size[i]
                .sub(&Dim::int(1))?
                .mul(&Dim::int(window.dilation[i]))?
                .add(&Dim::int(1))?;
            let (low, high) = match &a.given[padding] {
                Given::Text(t) if &**t == "valid" => (Dim::int(0), Dim::int(0)),
                Given::Text(t) if &**t == "same" => same_padding(size, &stride, &reach)?,
                Given::Pads(pads) if pads.len() == 1 => pads[0].clone(),
                Given::Pads(pads) if pads.len() == n => pads[i].clone(),
                Given::Text(t) => {
                    let problem = Problem::OneOfTexts {
                        span: a.span,
                        what: "padding",
                        found: t.to_string(),
                        known: &["same", "valid"],
                    };
                    self.report(problem);
                    return None;
                }
                other => {
                    let found = match other {
                        Given::Pads(pads) => pads.len(),
                        _ => 0,
                    };
                    self.report(Problem::PerDimension {
                        span: a.span,
                        what: "padding",
                        found,
                        wanted: n,
                    });
                    return None;
                }
            };
            let padded = size.add(&low)?.add(&high)?;
            let room = padded.sub(&reach)?;
            if room.as_int().is_some_and(|r| r < 0) {
                self.report(Problem::WindowTooLarge {
                    span: a.span,
                    window: reach,
                    size: padded,
                });
                return None;
            }
            self.need(Need::NotNegative(room.clone()), a.span);
            let steps = match (room.as_int(), stride.as_int()) {
                (Some(r), Some(s)) => Dim::int(r.div_euclid(s)),
                _ => room.div(&stride)?,
            };
            self.need_whole(&steps, a.span);
            out.push(steps.add(&Dim::int(1))?);
            pads.push((low, high));
        }
        Some((out, pads))
    }
}

/// As XLA's SAME: the result has `ceil(size / stride)` elements, an odd pad goes to the end.
fn same_padding(size: &Dim, stride: &Dim, reach: &Dim) -> Option<(Dim, Dim)> {
    let total = match (size.as_int(), stride.as_int()) {
        (_, Some(1)) => reach.sub(&Dim::int(1))?,
        (Some(n), Some(s)) => {
            let count = (n + s - 1).div_euclid(s);
            let total = Dim::int((count - 1) * s).add(reach)?.sub(&Dim::int(n))?;
            clamp_known(total)
        }
        // A size that the stride divides: what the last window reaches beyond its step.
        _ => clamp_known(reach.sub(stride)?),
    };
    let low = match total.as_int() {
        Some(t) => Dim::int(t.div_euclid(2)),
        None => total.div(&Dim::int(2))?,
    };
    let high = total.sub(&low)?;
    Some((low, high))
}

fn clamp_known(d: Dim) -> Dim {
    match d.as_int() {
        Some(n) if n < 0 => Dim::int(0),
        _ => d,
    }
}

/// x[N, spatial…, I], w[spatial…, I / groups, O] → [N, spatial…, O].
fn conv(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (x, w) = (a.value(0), a.value(1));
    cx.require_class(&x, "conv", Class::Float)?;
    cx.require_class(&w, "conv", Class::Float)?;
    let elem = cx.same_elem("conv", &x, &w)?;
    let (_, xs) = cx.tensor(&x, "conv")?;
    let (_, ws) = cx.tensor(&w, "conv")?;
    let ranks = (shape::dims(&xs), shape::dims(&ws));
    let (xd, wd) = match ranks {
        (Some(xd), Some(wd)) if xd.len() == wd.len() && (3..=5).contains(&xd.len()) => (xd, wd),
        _ => {
            let problem = Problem::ConvRanks {
                input: cx.operand(&x),
                kernel: cx.operand(&w),
            };
            cx.report(problem);
            return None;
        }
    };
    let n = xd.len() - 2;
    let groups = a.int(5)?;
    let channels = &xd[n + 1];
    let (taken, produced) = (&wd[n], &wd[n + 1]);
    let wanted = taken.mul(&groups)?;
    if !poly::equal(&wanted, channels) || groups.as_int().is_none_or(|g| g < 1) {
        let problem = Problem::ConvChannels {
            input: cx.operand(&x),
            kernel: cx.operand(&w),
            channels: channels.clone(),
            taken: taken.clone(),
            groups,
        };
        cx.report(problem);
        return None;
    }
    cx.need(Need::Divides(produced.clone(), groups.clone()), a.span);
    let window = Window {
        size: wd[..n].to_vec(),
        stride: cx.per_dimension(a, 2, n, 1, "stride")?,
        dilation: cx.per_dimension(a, 4, n, 1, "dilation")?,
    };
    let (sizes, pads) = cx.windowed(a, 3, &xd[1..=n], &window)?;
    let mut out = vec![xd[0].clone()];
    out.extend(sizes);
    out.push(produced.clone());
    let mut attrs = vec![ints_attr("stride", window.stride)];
    attrs.push(pads_attr("padding", pads));
    attrs.push(ints_attr("dilation", window.dilation));
    attrs.push(int_attr("groups", groups.as_int()?));
    Some(Out {
        builtin: Builtin::Conv,
        args: vec![x, w],
        attrs,
        ty: Ty::Tensor(elem, shape::of_dims(out)),
    })
}

/// x[N, spatial…, C]; the stride is the window unless given.
fn pool(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let x = a.value(0);
    let (elem, xs) = cx.require_class(&x, a.row.name, Class::Float)?;
    let Some(xd) = shape::dims(&xs).filter(|d| (3..=5).contains(&d.len())) else {
        let problem = Problem::PoolRank {
            span: x.span,
            what: a.row.name,
            ty: cx.infer.ty(&x.ty),
        };
        cx.report(problem);
        return None;
    };
    let n = xd.len() - 2;
    let size = cx.per_dimension(a, 1, n, 1, "window")?;
    let stride = match a.given[2] {
        Given::Absent => size.clone(),
        _ => cx.per_dimension(a, 2, n, 1, "stride")?,
    };
    let window = Window {
        size: size.iter().map(|&s| Dim::int(s)).collect(),
        stride,
        dilation: vec![1; n],
    };
    let (sizes, pads) = cx.windowed(a, 3, &xd[1..=n], &window)?;
    let mut out = vec![xd[0].clone()];
    out.extend(sizes);
    out.push(xd[n + 1].clone());
    let mut attrs = vec![
        ints_attr("window", size),
        ints_attr("stride", window.stride),
    ];
    attrs.push(pads_attr("padding", pads));
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs,
        ty: Ty::Tensor(elem, shape::of_dims(out)),
    })
}

fn dropout(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (k, x, rate) = (a.value(0), a.value(1), a.value(2));
    super::random::key(cx, &k, "dropout")?;
    let (elem, items) = cx.require_class(&x, "dropout", Class::Float)?;
    cx.require_class(&rate, "dropout", Class::Float)?;
    let (rate_elem, dims) = cx.tensor(&rate, "dropout")?;
    if !dims.is_empty() {
        cx.scalar_like(&rate, "dropout", &rate_elem)?;
    }
    if cx.infer.literal_class(&rate_elem).is_some() {
        cx.infer.unify_elem(&rate_elem, &elem).ok()?;
    }
    if let crate::typed::ExprKind::Float(p) = rate.kind
        && !(0.0..=1.0).contains(&p)
    {
        cx.report(Problem::Rate {
            span: rate.span,
            rate: p,
        });
        return None;
    }
    Some(Out {
        builtin: Builtin::Dropout,
        args: vec![k, x, rate],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, items),
    })
}

/// Per row: `labels` are classes, one a row, or distributions of the shape of `logits`.
fn softmax_cross_entropy(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let (logits, labels) = (a.value(0), a.value(1));
    let (elem, items) = cx.require_class(&logits, a.row.name, Class::Float)?;
    let (label_elem, label_items) = cx.require_class(&labels, a.row.name, Class::Num)?;
    let [rows @ .., ShapeItem::Dim(_)] = items.as_slice() else {
        let problem = Problem::NoRows {
            span: logits.span,
            ty: cx.infer.ty(&logits.ty),
        };
        cx.report(problem);
        return None;
    };
    let is_float = cx.infer.is(&label_elem, Class::Float);
    let fits = if is_float {
        same_shape(&label_items, &items) && cx.infer.unify_elem(&elem, &label_elem).is_ok()
    } else {
        same_shape(&label_items, rows)
    };
    if !fits {
        let rows_ty = Ty::Tensor(ElemTy::Known(Elem::I32), rows.to_vec());
        let problem = Problem::LabelShape {
            logits: cx.operand(&logits),
            labels: cx.operand(&labels),
            rows: rows_ty,
        };
        cx.report(problem);
        return None;
    }
    let rows: Shape = rows.to_vec();
    Some(Out {
        builtin: Builtin::SoftmaxCrossEntropy,
        args: vec![logits, labels],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, rows),
    })
}

fn pairwise(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    super::elementwise::binary(cx, a, Class::Float, a.row.builtin)
}

fn l2_loss(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    if matches!(a.given[1], Given::Value(_)) {
        return pairwise(cx, a);
    }
    let x = a.value(0);
    let (elem, items) = cx.require_class(&x, a.row.name, Class::Float)?;
    Some(Out {
        builtin: a.row.builtin,
        args: vec![x],
        attrs: Vec::new(),
        ty: Ty::Tensor(elem, items),
    })
}

fn huber_loss(cx: &mut Cx, a: &mut Args) -> Option<Out> {
    let delta = a.real(2)?;
    let mut out = l2_loss(cx, a)?;
    out.attrs.push(Attr {
        name: "delta",
        value: Static::Float(delta),
    });
    Some(out)
}
