//! Forward rules, and dual arithmetic, of the shape primitives.

use crate::ad::cx::{Cx, Dual};
use crate::ir::{Op, Value};

/// One tangent among several operands is padded with zeros; several are joined.
pub fn concat(cx: &mut Cx, axis: usize, args: &[Dual]) -> Dual {
    let op = Op::Concat { axis };
    let primals: Vec<Value> = args.iter().map(|a| a.primal).collect();
    let y = cx.e.op(op.clone(), &primals);
    let mut active = args.iter().enumerate().filter(|(_, a)| a.tangent.is_some());
    let t = match (active.next(), active.next()) {
        (None, _) => None,
        (
            Some((
                i,
                Dual {
                    tangent: Some(t), ..
                },
            )),
            None,
        ) => {
            let size = |a: &Dual| cx.e.shape(a.primal)[axis] as i64;
            let mut low = vec![0; cx.e.rank(y)];
            let mut high = low.clone();
            low[axis] = args[..i].iter().map(size).sum();
            high[axis] = args[i + 1..].iter().map(size).sum();
            let interior = vec![0; low.len()];
            Some(cx.lin_pad(*t, &low, &high, &interior))
        }
        _ => {
            let operands = args.iter().map(|a| cx.operand(a)).collect();
            Some(cx.lin(op, operands))
        }
    };
    Dual::new(y, t)
}

pub fn reshape(cx: &mut Cx, x: Dual, shape: &[usize]) -> Dual {
    Dual {
        primal: cx.e.reshape(x.primal, shape),
        tangent: x.tangent.map(|t| cx.lin_reshape(t, shape)),
    }
}

/// Positions `from..to` of one axis, every `stride`-th.
pub fn slice_axis(
    cx: &mut Cx,
    x: Dual,
    axis: usize,
    (from, to, stride): (usize, usize, usize),
) -> Dual {
    Dual {
        primal: cx.e.slice_axis(x.primal, axis, from, to, stride),
        tangent: x
            .tangent
            .map(|t| cx.lin_slice_axis(t, axis, from, to, stride)),
    }
}

/// Pads one axis with a constant.
pub fn pad_axis(
    cx: &mut Cx,
    x: Dual,
    value: f64,
    axis: usize,
    (low, high, interior): (i64, i64, usize),
) -> Dual {
    let rank = cx.e.rank(x.primal);
    let at = |n: i64| {
        let mut v = vec![0; rank];
        v[axis] = n;
        v
    };
    let mut inner = vec![0; rank];
    inner[axis] = interior;
    Dual {
        primal: cx.e.pad(x.primal, value, &at(low), &at(high), &inner),
        tangent: x
            .tangent
            .map(|t| cx.lin_pad(t, &at(low), &at(high), &inner)),
    }
}
