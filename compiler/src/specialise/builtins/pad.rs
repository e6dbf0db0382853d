//! Padding, by a value or by what the array holds.

use super::Call;
use crate::ir::num::Num;
use crate::ir::{Builder, Op, Value};

/// `pad(x, widths)` with a constant, or with elements of its own that the mode picks.
pub(super) fn pad(b: &mut Builder, c: &Call) -> Value {
    let x = c.args[0];
    let widths = c.attrs.ints("widths").unwrap_or_default();
    let sides: Vec<(i64, i64)> = widths.chunks_exact(2).map(|w| (w[0], w[1])).collect();
    let shape = b.shape_of(x);
    match c.attrs.str("mode") {
        // Where there is nothing to pick from, the constant stands.
        Some(mode) if mode != "constant" && !shape.contains(&0) => {
            let mut y = x;
            for (axis, &(low, high)) in sides.iter().enumerate() {
                let n = shape[axis] as i64;
                let mut parts = picked(b, y, axis, (-low..0).map(|p| source(mode, p, n)));
                parts.push(y);
                parts.extend(picked(
                    b,
                    y,
                    axis,
                    (n..n + high).map(|p| source(mode, p, n)),
                ));
                y = b.concat(&parts, axis);
            }
            y
        }
        _ => {
            let (low, high) = sides.into_iter().unzip();
            let interior = vec![0; shape.len()];
            let op = Op::Pad {
                low,
                high,
                interior,
            };
            b.op(op, &[x, c.args[1]])
        }
    }
}

/// The elements at positions of an axis, one after the other, as slices: what goes down is turned, what stays is stretched.
fn picked(b: &mut Builder, x: Value, axis: usize, at: impl Iterator<Item = i64>) -> Vec<Value> {
    let positions: Vec<i64> = at.collect();
    let mut parts = Vec::new();
    let mut rest = &positions[..];
    while let [first, after @ ..] = rest {
        let step = after.first().map(|next| next - first);
        let step = step.filter(|s| s.abs() == 1).unwrap_or(0);
        let count = 1 + rest.windows(2).take_while(|w| w[1] - w[0] == step).count();
        let last = rest[count - 1];
        let (low, high) = (*first.min(&last) as usize, *first.max(&last) as usize);
        let mut part = b.slice_axis(x, axis, low, high + 1);
        if step < 0 {
            part = b.op(Op::Reverse { axes: vec![axis] }, &[part]);
        }
        if step == 0 && count > 1 {
            let mut shape = b.shape_of(part);
            shape[axis] = count;
            let dims: Vec<usize> = (0..shape.len()).collect();
            part = b.broadcast_in(part, &shape, &dims);
        }
        parts.push(part);
        rest = &rest[count..];
    }
    parts
}

/// Which of `n` elements stands at position `p` of a padded axis, where those of the array begin at 0.
fn source(mode: &str, p: i64, n: i64) -> i64 {
    let mirrored = |period: i64, turn: i64| {
        let q = p.rem_euclid(period);
        if q < n { q } else { turn - q }
    };
    match mode {
        "wrap" => p.rem_euclid(n),
        "symmetric" => mirrored(2 * n, 2 * n - 1),
        "reflect" if n > 1 => mirrored(2 * n - 2, 2 * n - 2),
        _ => p.clamp(0, n - 1),
    }
}
