"""Shapes, indexing, order, running reductions."""

import jax
import jax.numpy as jnp
from jax import lax

from .cases import below, case, positive

# Shape.

case("fn shuffled(x: f32[2, 3, 4]) -> f32[4, 6] { reshape(transpose(x, (2, 0, 1)), [4, 6]) * flip(reshape(x, [4, 6]), axis=1) }",
     lambda x: x.transpose(2, 0, 1).reshape(4, 6) * jnp.flip(x.reshape(4, 6), 1))
case("fn moved(x: f32[2, 3, 4]) -> f32[4, 2, 3] { moveaxis(x, 2, 0) * swapaxes(swapaxes(x, 0, 2), 1, 2) }",
     lambda x: jnp.moveaxis(x, 2, 0) * x.swapaxes(0, 2).swapaxes(1, 2))
case("fn joined(x: f32[2, 3], y: f32[2, 2]) -> f32[2, 7] { let z = concat((x, y, x[:, 0:2]), axis=1); z * z }",
     lambda x, y: jnp.concatenate([x, y, x[:, :2]], 1) ** 2)
case("fn stacked(x: f32[3], y: f32[3]) -> f32[3, 2] { stack((x * y, y / x), axis=1) }",
     lambda x, y: jnp.stack([x * y, y / x], 1), x=positive)
case("fn parted(x: f32[7]) -> f32 { let (a, b, c) = split_at(x, (2, 5)); sum(a) * sum(b * b) - prod(c) }",
     lambda x: jnp.sum(x[:2]) * jnp.sum(x[2:5] ** 2) - jnp.prod(x[5:]))
case("fn padded(x: f32[2, 3]) -> f32[4, 6] { let p = pad(x, ((1, 1), (2, 1)), 3.0); p * p }",
     lambda x: jnp.pad(x, ((1, 1), (2, 1)), constant_values=3.0) ** 2)
case("fn edge_padded(x: f32[4]) -> f32[9] { let p = pad(x, (2, 3), mode=\"edge\"); p * p * p }",
     lambda x: jnp.pad(x, (2, 3), mode="edge") ** 3)
case("fn repeated(x: f32[3]) -> f32[6] { repeat(x, 2) * tile(x, (2)) }", lambda x: jnp.repeat(x, 2) * jnp.tile(x, 2))
case("fn triangles(x: f32[4, 4]) -> f32[4, 4] { tril(x) @ triu(x, k=1) + diag(diag(x) ** 2) }",
     lambda x: jnp.tril(x) @ jnp.triu(x, 1) + jnp.diag(jnp.diag(x) ** 2))
case("fn rolled(x: f32[3, 4]) -> f32[3, 4] { roll(x, 1, axis=1) * roll(x, 5) }",
     lambda x: jnp.roll(x, 1, axis=1) * jnp.roll(x, 5))
case("fn strides(x: f32[10]) -> f32[4] { x[1:9:2] * x[0:8:2] + x[-4:] }", lambda x: x[1:9:2] * x[0:8:2] + x[-4:])
case("fn broadcasts(x: f32[3, 1], y: f32[4], z: f32) -> f32[3, 4] { x * broadcast_to(y, [3, 4]) + z / (1 + square(x)) }",
     lambda x, y, z: x * y + z / (1 + x * x))
case("fn halves(x: f32[8]) -> f32[4] { x[0:4] * exp(x[4:8]) }", lambda x: x[:4] * jnp.exp(x[4:]))
case("fn thirds(x: f32[3, 6]) -> f32[3, 2] { x[:, 0:2] * sin(x[:, 2:4]) - tanh(x[:, 4:6]) }",
     lambda x: x[:, :2] * jnp.sin(x[:, 2:4]) - jnp.tanh(x[:, 4:]))
case("fn rows_apart(x: f32[3, 2]) -> f32[2] { x[0] * x[1] / (2 + square(x[2])) }", lambda x: x[0] * x[1] / (2 + x[2] ** 2))
case("fn curve(a: f32, b: f32) -> f32[5] { linspace(0, 1, 5) * a + exp(-linspace(0, 2, 5) * b) }",
     lambda a, b: jnp.linspace(0, 1, 5) * a + jnp.exp(-jnp.linspace(0, 2, 5) * b))
case("fn empty_slices(x: f32[4]) -> f32 { sum(x[2:2]) + sum(concat((x[0:0], x * x))) }", lambda x: jnp.sum(x * x))
case("fn one_sized(x: f32[1, 3, 1]) -> f32[3] { squeeze(x) * squeeze(expand_dims(squeeze(x, axis=0), 0)) }", lambda x: x[0, :, 0] ** 2)

# Indexing.

case("fn lookup(t: f32[7, 3], i: i32[4]) -> f32[4, 3] { t[i] * t[i] }", lambda t, i: t[i] ** 2, i=below(7))
case("fn lookup_twice(t: f32[5], i: i32[2, 3]) -> f32[2, 3] { let r = t[i]; r * tanh(r) }",
     lambda t, i: t[i] * jnp.tanh(t[i]), i=below(5))
case("fn taken(x: f32[3, 6], i: i32[4]) -> f32[3, 4] { take(x, i, axis=1) ** 2 }",
     lambda x, i: jnp.take(x, i, axis=1) ** 2, i=below(6))
case("fn clipped_take(x: f32[4], i: i32[5]) -> f32[5] { exp(take(x, i)) }",
     lambda x, i: jnp.exp(jnp.take(x, i, mode="clip")), i=[-3, 0, 9, 3, 3])
case("fn taken_along(x: f32[3, 4], i: i32[3, 2]) -> f32[3, 2] { sin(take_along_axis(x, i, axis=1)) }",
     lambda x, i: jnp.sin(jnp.take_along_axis(x, i, 1)), i=below(4))
case("fn added(x: f32[5, 2], i: i32[4], v: f32[4, 2]) -> f32[5, 2] { square(add_at(x, i, v * v)) }",
     lambda x, i, v: x.at[i].add(v * v) ** 2, i=[1, 3, 1, 4])
case("fn added_outside(x: f32[4], i: i32[4], v: f32[4]) -> f32[4] { square(add_at(x, i, v)) }",
     lambda x, i, v: x.at[i].add(v, mode="drop") ** 2, i=[0, 9, 2, 2])
case("fn replaced(x: f32[5, 2], i: i32[2], v: f32[2, 2]) -> f32[5, 2] { square(set(x, i, v)) * x }",
     lambda x, i, v: x.at[i].set(v) ** 2 * x, i=[4, 1])
case("fn replaced_row(x: f32[4, 3], k: i32, v: f32[3]) -> f32[4, 3] { exp(set(x, k, v * x[k])) }",
     lambda x, k, v: jnp.exp(x.at[k].set(v * x[k])), k=2)
case("fn window(x: f32[8], i: i32) -> f32[3] { slice(x, i, 3) ** 2 }", lambda x, i: lax.dynamic_slice(x, (i,), (3,)) ** 2, i=4)
case("fn window_clamped(x: f32[8], i: i32) -> f32[3] { slice(x, i, 3) ** 2 }", lambda x, i: x[5:] ** 2, i=7)
case("fn block(x: f32[4, 5], i: i32, j: i32) -> f32[2, 2] { dynamic_slice(x, (i, j), [2, 2]) * x[0:2, 0:2] }",
     lambda x, i, j: lax.dynamic_slice(x, (i, j), (2, 2)) * x[:2, :2], i=1, j=3)
case("fn patched(x: f32[4, 5], u: f32[2, 2], i: i32, j: i32) -> f32[4, 5] { dynamic_update_slice(x, u * u, (i, j)) * x }",
     lambda x, u, i, j: lax.dynamic_update_slice(x, u * u, (i, j)) * x, i=1, j=9)
case("fn segment_sums(x: f32[6, 2], s: i32[6]) -> f32[3, 2] { tanh(add_at(zeros([3, 2]), s, x)) }",
     lambda x, s: jnp.tanh(jax.ops.segment_sum(x, s, 3)), s=below(3))
case("fn segment_softmax(x: f32[6], s: i32[6]) -> f32[6] { let e = exp(x); e / take(add_at(zeros([3]), s, e), s) }",
     lambda x, s: jnp.exp(x) / jax.ops.segment_sum(jnp.exp(x), s, 3)[s], s=[0, 1, 2, 0, 1, 0])
case("fn graph_layer(x: f32[4, 3], w: f32[3, 3], from: i32[5], to: i32[5]) -> f32[4, 3] { tanh(x + add_at(zeros([4, 3]), to, x[from] @ w)) }",
     lambda x, w, f, t: jnp.tanh(x + jnp.zeros((4, 3)).at[t].add(x[f] @ w)), **{"from": below(4), "to": below(4)})
case("fn hot(x: f32[3, 4], i: i32[3]) -> f32[3] { sum(one_hot(i, 4) * exp(x), axis=1) }",
     lambda x, i: jnp.exp(jnp.take_along_axis(x, i[:, None], 1))[:, 0], i=below(4))
case("fn interpolated(t: f32[6], x: f32[4]) -> f32[4] { let i = i32(floor(x)); let w = x - floor(x); t[i] * (1 - w) + t[i + 1] * w }",
     lambda t, x: (i := jnp.floor(x).astype("i4"), w := x - jnp.floor(x), t[i] * (1 - w) + t[i + 1] * w)[2],
     x=lambda rng, shape: rng.uniform(0, 4.9, shape))

# Order.

case("fn sorted(x: f32[6]) -> f32[6] { sort(x) * arange(6, dtype=f32) }", lambda x: jnp.sort(x) * jnp.arange(6))
case("fn sorted_rows(x: f32[3, 5]) -> f32[3, 5] { let s = sort(x, axis=1, descending=true); cumsum(s, axis=1) * s }",
     lambda x: jnp.cumsum(s := -jnp.sort(-x, 1), 1) * s)
case("fn sorted_columns(x: f32[3, 5]) -> f32[3, 5] { sort(x, axis=0) ** 3 }", lambda x: jnp.sort(x, 0) ** 3)
case("fn median(x: f32[7]) -> f32 { sort(x)[3] ** 2 }", lambda x: jnp.sort(x)[3] ** 2)
case("fn best(x: f32[3, 6]) -> f32[3, 2] { top_k(x, 2).0 ** 2 }", lambda x: lax.top_k(x, 2)[0] ** 2)
case("fn by_rank(x: f32[6], y: f32[6]) -> f32[6] { y[argsort(x)] * sort(x) }", lambda x, y: y[jnp.argsort(x)] * jnp.sort(x))
case("fn greatest_row(x: f32[4, 3]) -> f32[3] { x[argmax(sum(x, axis=1))] ** 2 }", lambda x: x[jnp.argmax(x.sum(1))] ** 2)
case("fn wasserstein(x: f32[6], y: f32[6]) -> f32 { mean(abs(sort(x) - sort(y))) }", lambda x, y: jnp.mean(jnp.abs(jnp.sort(x) - jnp.sort(y))))
case("fn trimmed_mean(x: f32[8]) -> f32 { mean(sort(x)[2:6]) * max(x) }", lambda x: jnp.mean(jnp.sort(x)[2:6]) * x.max())

# Running reductions.

case("fn running_sum(x: f32[2, 5]) -> f32[2, 5] { cumsum(x, axis=1) * cumsum(x, axis=0) }", lambda x: jnp.cumsum(x, 1) * jnp.cumsum(x, 0))
case("fn running_sum_back(x: f32[5]) -> f32[5] { cumsum(x, axis=0, reverse=true) ** 2 }", lambda x: lax.cumsum(x, reverse=True) ** 2)
case("fn running_product(x: f32[2, 5]) -> f32[2, 5] { cumprod(x, axis=1) }", lambda x: jnp.cumprod(x, 1))
case("fn running_extremes(x: f32[7]) -> f32[7] { cummax(x, axis=0) * cummin(x * x, axis=0) }", lambda x: lax.cummax(x) * lax.cummin(x * x))
case("fn discounted(r: f32[6], g: f32) -> f32[6] { let w = g ** arange(6, dtype=f32); cumsum(r * w, axis=0, reverse=true) / w }",
     lambda r, g: lax.cumsum(r * g ** jnp.arange(6.0), reverse=True) / g ** jnp.arange(6.0), g=0.9)
case("fn products_with_zero(x: f32[5]) -> f32 { prod(x) + sum(cumprod(x)) }", lambda x: jnp.prod(x) + jnp.sum(jnp.cumprod(x)), x=[1.5, 0.0, -2.0, 3.0, 0.5])
