"""More points from public reports of wrong derivatives: second derivatives at kinks and limits, single and missing
elements, indices that meet, infinite and NaN inputs."""

import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy import special

from .cases import below, case

INF = float("inf")
NAN = float("nan")

# One element, or none.
case("fn one_var(x: f32[1]) -> f32 { var(x) + mean(x) }", lambda x: jnp.var(x) + jnp.mean(x))
case("fn one_std(x: f32[1]) -> f32 { std(x) }", jnp.std, order=1)
case("fn one_softmax(x: f32[3, 1]) -> f32[3, 1] { softmax(x) * log_softmax(x) + x }", lambda x: x + 0 * nn.softmax(x))
case("fn one_logsumexp(x: f32[1]) -> f32 { logsumexp(x) }", special.logsumexp)
case("fn one_sort(x: f32[1]) -> f32[1] { sort(x) * cumprod(x) * cummax(x) }", lambda x: x ** 3)
case("fn one_prod(x: f32[2, 1]) -> f32[2] { prod(x, axis=1) * max(x, axis=1) }", lambda x: x[:, 0] ** 2)
case("fn one_factor(x: f32[1, 1]) -> f32[1, 1] { cholesky(x * x + 1) }", lambda x: jnp.sqrt(x * x + 1))
case("fn none_joined(x: f32[0], y: f32[3]) -> f32[3] { concat((x, y * y, x)) }", lambda x, y: y * y)
case("fn none_norm(x: f32[2, 0]) -> f32[2] { norm(x, axis=1) + prod(x, axis=1) }", lambda x: jnp.ones(2) + x.sum(1))
case("fn none_taken(x: f32[3], i: i32[0]) -> f32 { sum(x[i]) + sum(x * x) }", lambda x, i: jnp.sum(x * x), i=[])
case("fn none_added(x: f32[3], i: i32[0], v: f32[0]) -> f32[3] { add_at(x, i, v) ** 2 }", lambda x, i, v: x * x + v.sum(), i=[])
case("fn none_sorted(x: f32[2, 0]) -> f32[2, 0] { sort(x) * cumsum(x, axis=1) }", lambda x: x * x)
case("fn none_conv(x: f32[0, 4, 2], w: f32[3, 2, 2]) -> f32[0, 4, 2] { conv(x, w) }",
     lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")))
case("fn none_product(a: f32[0, 3], b: f32[3, 2]) -> f32[0, 2] { a @ b }", lambda a, b: a @ b)

# Zeros, twice differentiated.
case("fn zero_twice(x: f32[3]) -> f32[3] { x ** 2 * sin(x) + x ** 3 }", lambda x: x * x * jnp.sin(x) + x * x * x, x=[0.0, 0.0, -1.0])
case("fn zero_tensor_power(x: f32[4], y: f32[4]) -> f32[4] { pow(x, y) }", lambda x, y: jnp.power(x, y), order=1, x=[0.5, 2.0, 3.0, 1.0], y=[0.0, -1.0, 0.5, 0.0])
case("fn zero_products(x: f32[2, 3]) -> f32[2] { prod(x, axis=1) }", lambda x: x[:, 0] * x[:, 1] * x[:, 2], x=[0.0, 2.0, 0.0, 0.0, 3.0, 4.0])
case("fn zero_running(x: f32[4]) -> f32[4] { cumprod(x) }", lambda x: jnp.stack([x[0], x[0] * x[1], x[0] * x[1] * x[2], x[0] * x[1] * x[2] * x[3]]), x=[2.0, 0.0, 3.0, 0.0])
case("fn zero_running_back(x: f32[4]) -> f32[4] { cumprod(x, reverse=true) }", lambda x: jnp.stack([x[0] * x[1] * x[2] * x[3], x[1] * x[2] * x[3], x[2] * x[3], x[3]]), x=[0.0, 2.0, 0.0, 3.0])
case("fn zero_divided(x: f32[3], y: f32[3]) -> f32[3] { x / y }", lambda x, y: x / y, order=1, x=[0.0, 1.0, -2.0], y=[1.0, -1.0, 4.0])
case("fn zero_cosine(x: f32[2], y: f32[2]) -> f32 { sum(x * y) / max(norm(x) * norm(y), 1e-8) }", lambda x, y: jnp.sum(x * y) / 1e-8, order=1, x=[0.0, 0.0], y=[1.0, 2.0])
case("fn zero_normalised(x: f32[3]) -> f32[3] { x * rsqrt(sum(x * x) + 1e-6) }", lambda x: x * lax.rsqrt(jnp.sum(x * x) + 1e-6), x=[0.0, 0.0, 0.0])
case("fn zero_entropy(p: f32[3]) -> f32 { sum(where(p > 0, -p * log(where(p > 0, p, 1)), 0)) }", lambda p: -(p[1] * jnp.log(p[1]) + p[2] * jnp.log(p[2])), p=[0.0, 0.25, 0.75])
case("fn zero_angle(x: f32[3]) -> f32[3] { atan2(x, 1) + atan2(x * x, 1 + x) }", lambda x: jnp.arctan2(x, 1.0) + jnp.arctan2(x * x, 1 + x), x=[0.0, -0.5, 0.5])
case("fn zero_hyper(x: f32[3]) -> f32[3] { tanh(x) ** 2 + cosh(x) - sinh(x) ** 3 }", lambda x: jnp.tanh(x) ** 2 + jnp.cosh(x) - jnp.sinh(x) ** 3, x=[0.0, 0.5, -2.0])
case("fn zero_activations(x: f32[3]) -> f32[3] { gelu(x) + silu(x) * softplus(x) + gelu_tanh(x) }", lambda x: nn.gelu(x, approximate=False) + nn.silu(x) * nn.softplus(x) + nn.gelu(x), x=[0.0, 1e-4, -1e-4])
case("fn zero_losses(x: f32[3], y: f32[3]) -> f32[3] { huber_loss(x, y) + l2_loss(x, y) + sigmoid_binary_cross_entropy(x, y) }",
     lambda x, y: 0.5 * (x - y) ** 2 * 2 + nn.softplus(x) - x * y, x=[0.0, 0.5, 0.25], y=[0.0, 0.5, 1.0])

# Negative and large arguments.
case("fn negative_powers(x: f32[3]) -> f32[3] { x ** 3 + x ** 2 - x ** -1 + x ** -3 }", lambda x: x * x * x + x * x - 1 / x + 1 / (x * x * x), x=[-2.0, -0.5, 1.0])
case("fn negative_tensor_power(x: f32[3], y: f32[3]) -> f32[3] { pow(x, stop_gradient(y)) }", lambda x, y: x ** 3 + 0 * y, x=[-2.0, -1.5, 1.0], y=[3.0, 3.0, 3.0])
case("fn negative_gammas(x: f32[4]) -> f32[4] { lgamma(x) }", lambda x: special.gammaln(x), order=1, x=[-0.5, -1.25, -2.75, 0.25])
case("fn negative_remainders(x: f32[4], y: f32[4]) -> f32[4] { x % y }", lambda x, y: lax.rem(x, y), order=1, x=[-3.5, 3.5, -0.5, 7.25], y=[2.0, -2.0, 1.0, 1.5])
case("fn negative_root(x: f32[3]) -> f32[3] { cbrt(x) }", jnp.cbrt, x=[-8.0, 27.0, -0.125])
case("fn large_softplus(x: f32[4]) -> f32[4] { softplus(x) + log_sigmoid(x) * 2 }", lambda x: nn.softplus(x) + 2 * nn.log_sigmoid(x), x=[40.0, -40.0, 90.0, -90.0])
case("fn large_logits(x: f32[2, 3], y: i32[2]) -> f32[2] { softmax_cross_entropy(x * 100, y) }", lambda x, y: -jnp.take_along_axis(nn.log_softmax(x * 100), y[:, None], 1)[:, 0], y=[0, 2], x=[1.0, -3.0, 2.0, 5.0, 4.0, -5.0])
case("fn large_normed(x: f32[3]) -> f32[3] { x / norm(x) }", lambda x: x / jnp.sqrt(jnp.sum(x * x)), x=[1e6, -2e6, 5e5])
case("fn large_variance(x: f32[4]) -> f32 { var(x) }", jnp.var, x=[1001.0, 1002.0, 1003.0, 1005.0])
case("fn small_normed(x: f32[3]) -> f32 { norm(x) }", lambda x: jnp.sqrt(jnp.sum(x * x)), order=1, x=[1e-6, 2e-6, -2e-6])

# Infinite and NaN inputs.
case("fn infinite_mask(x: f32[4]) -> f32 { logsumexp(x) }", special.logsumexp, order=1, x=[-INF, 1.0, -INF, 2.0])
case("fn infinite_rows(x: f32[2, 3]) -> f32[2, 3] { softmax(x) }", nn.softmax, order=1, x=[-INF, 1.0, 2.0, 0.0, -INF, -INF])
case("fn infinite_addition(x: f32[3], y: f32[3]) -> f32[3] { logsumexp(stack((x, y)), axis=0) }", lambda x, y: special.logsumexp(jnp.stack([x, y]), 0), order=1, x=[-INF, 0.0, -INF], y=[1.0, -INF, 2.0])
case("fn infinite_extremes(x: f32[4]) -> f32 { max(x) + min(x) }", lambda x: jnp.max(x) + jnp.min(x), order=1, x=[-INF, 1.0, 2.0, 2.0])
case("fn infinite_clamp(x: f32[4]) -> f32[4] { clamp(x, -1, 1) + relu6(x) }", lambda x: jnp.clip(x, -1, 1) + nn.relu6(x), order=1, x=[INF, -INF, 0.5, 2.0])
case("fn infinite_sigmoid(x: f32[2]) -> f32[2] { sigmoid(x) + softplus(-x) }", lambda x: nn.sigmoid(x) + nn.softplus(-x), order=0, x=[200.0, 90.0])
case("fn nan_hidden(x: f32[3]) -> f32 { sum(where(is_nan(x), 0, x) ** 2) }", lambda x: x[1] ** 2 + x[2] ** 2, order=1, x=[NAN, 1.0, 2.0])
case("fn nan_chosen(x: f32[2], y: f32[2]) -> f32[2] { where(is_finite(x), x, y) * 2 }", lambda x, y: jnp.where(jnp.isfinite(x), x, y) * 2, order=1, x=[NAN, 1.0], y=[3.0, 4.0])
case("fn nan_sorted(x: f32[4]) -> f32[3] { sort(x)[0:3] * 2 + x[2] }", lambda x: jnp.sort(x)[:3] * 2 + x[2], order=1, x=[NAN, 1.0, 0.0, 2.0])

# Ties, and indices that meet or lie outside.
case("fn tie_extremes_axis(x: f32[3, 2]) -> f32[2] { max(x, axis=0) * min(x, axis=0) }", lambda x: jnp.max(x, 0) * jnp.min(x, 0), order=1, x=[1.0, 2.0, 1.0, 2.0, 0.0, 2.0])
case("fn tie_norm_inf(x: f32[3]) -> f32 { max(abs(x)) }", lambda x: jnp.max(jnp.abs(x)), order=1, x=[2.0, -2.0, 1.0])
case("fn tie_abs_difference(x: f32[3], y: f32[3]) -> f32[3] { max(x, y) - min(x, y) }", lambda x, y: jnp.maximum(x, y) - jnp.minimum(x, y), order=1, x=[1.0, 2.0, 0.0], y=[1.0, 1.0, 0.0])
case("fn tie_leaky(x: f32[3]) -> f32[3] { leaky_relu(x) + elu(x) + selu(x) }", lambda x: nn.leaky_relu(x) + nn.elu(x) + nn.selu(x), order=1, x=[0.0, 1.0, -1.0])
case("fn tie_hard(x: f32[5]) -> f32[5] { hard_tanh(x) * 3 }", lambda x: nn.hard_tanh(x) * 3, order=1, x=[-1.0, 1.0, 0.0, 2.0, -2.0])
case("fn tie_clamped(x: f32[3], lo: f32[3], hi: f32[3]) -> f32[3] { clamp(x, lo, hi) }", lambda x, lo, hi: lax.clamp(lo, x, hi), order=1, x=[0.5, -1.0, 2.0], lo=[0.0, 0.0, 0.0], hi=[1.0, 1.0, 1.0])
case("fn tie_running_min(x: f32[5]) -> f32[5] { cummin(x) ** 2 }", lambda x: lax.cummin(x) ** 2, order=0, x=[3.0, 3.0, 2.0, 4.0, 1.0])
case("fn tie_sorted_pairs(x: f32[4], y: f32[4]) -> f32[4] { y[argsort(x)] * arange(4, dtype=f32) }", lambda x, y: y[jnp.argsort(x)] * jnp.arange(4.0), x=[1.0, 0.0, 1.0, 0.0])
case("fn tie_top_all(x: f32[3]) -> f32[3] { top_k(x, 3).0 * stack((1.0, 2.0, 3.0)) }", lambda x: lax.top_k(x, 3)[0] * jnp.array([1.0, 2.0, 3.0]), order=1, x=[2.0, 2.0, 2.0])
case("fn met_additions(x: f32[3], i: i32[4], v: f32[4]) -> f32[3] { add_at(x, i, v * v) * x }", lambda x, i, v: x.at[i].add(v * v) * x, i=[1, 1, 1, 0])
case("fn met_lookups(x: f32[3], i: i32[2, 2]) -> f32[2, 2] { exp(x[i] * x[i]) }", lambda x, i: jnp.exp(x[i] ** 2), i=[2, 2, 2, 0])
case("fn met_outside(x: f32[3], i: i32[3], v: f32[3]) -> f32[3] { add_at(x * x, i, v) }", lambda x, i, v: (x * x).at[1].add(v[1]) + 0 * v.sum(), i=[7, 1, 3])

# Indexing in more ways.
case("fn pads_reflect(x: f32[2, 4]) -> f32[2, 9] { exp(pad(x, ((0, 0), (2, 3)), mode=\"reflect\")) }", lambda x: jnp.exp(jnp.pad(x, ((0, 0), (2, 3)), mode="reflect")))
case("fn pads_symmetric(x: f32[3, 2]) -> f32[7, 5] { exp(pad(x, ((2, 2), (1, 2)), mode=\"symmetric\")) }", lambda x: jnp.exp(jnp.pad(x, ((2, 2), (1, 2)), mode="symmetric")))
case("fn pads_wrap(x: f32[3]) -> f32[10] { pad(x, (2, 5), mode=\"wrap\") ** 3 }", lambda x: jnp.pad(x, (2, 5), mode="wrap") ** 3)
case("fn pads_edge(x: f32[2, 3]) -> f32[4, 6] { exp(pad(x, ((1, 1), (0, 3)), mode=\"edge\")) }", lambda x: jnp.exp(jnp.pad(x, ((1, 1), (0, 3)), mode="edge")))
case("fn rolls(x: f32[3, 4]) -> f32[3, 4] { roll(x, (1, -2), axis=(0, 1)) * x }", lambda x: jnp.roll(x, (1, -2), (0, 1)) * x)
case("fn flips(x: f32[2, 3]) -> f32[2, 3] { flip(x) * flip(x, axis=0) }", lambda x: jnp.flip(x) * jnp.flip(x, 0))
case("fn diagonals(x: f32[3]) -> f32[4, 4] { let m = diag(x, k=1); m @ m + transpose(m) * m + m }", lambda x: (m := jnp.diag(x, 1), m @ m + m.T * m + m)[1])
case("fn new_axes(x: f32[3]) -> f32[3, 3] { x[:, none] * sin(x[none, :]) }", lambda x: x[:, None] * jnp.sin(x[None]))
case("fn backward_slices(x: f32[6]) -> f32[3] { x[-3:] * x[-6:-3] / (2 + x[1] * x[1]) }", lambda x: x[-3:] * x[:3] / (2 + x[1] ** 2))
case("fn two_indices(x: f32[3, 4], i: i32[2], j: i32[2]) -> f32[2, 2] { let r = x[i]; let t = take(r, j, axis=1); exp(t) * t + t }", lambda x, i, j: (jnp.exp(x[i][:, j]) + 1) * x[i][:, j], i=[2, 0], j=[1, 1])
case("fn strided_overlap(x: f32[9]) -> f32[4] { x[0:8:2] * x[1:9:2] * x[0:4] }", lambda x: x[0:8:2] * x[1:9:2] * x[:4])
case("fn sums_of_parts(x: f32[4, 6]) -> f32 { let (a, b) = split_at(x, (2), axis=1); sum(a * a) * sum(b) + sum(x[1:3, 2:4] ** 3) }",
     lambda x: jnp.sum(x[:, :2] ** 2) * jnp.sum(x[:, 2:]) + jnp.sum(x[1:3, 2:4] ** 3))
case("fn repeats(x: f32[2, 3]) -> f32[4, 3] { exp(repeat(x, 2, axis=0) + tile(x, (2, 1))) }", lambda x: jnp.exp(jnp.repeat(x, 2, 0) + jnp.tile(x, (2, 1))))
case("fn contracted_outer(a: f32[2], b: f32[3], c: f32[2, 3]) -> f32[3, 2] { einsum(\"i,j,ij->ji\", a, b, c) }", lambda a, b, c: (a[:, None] * b * c).T)
case("fn contracted_batch(q: f32[2, 3, 2, 4], k: f32[2, 5, 2, 4]) -> f32[2, 2, 3, 5] { einsum(\"bqhd,bkhd->bhqk\", q, k) }", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k))
case("fn contracted_sum(a: f32[2, 3], b: f32[4]) -> f32[2] { einsum(\"ij,k->i\", a * a, b) }", lambda a, b: jnp.sum(a * a, 1) * jnp.sum(b))

# Windows and convolutions in more ways.
case("fn pool_overlap(x: f32[1, 6, 1]) -> f32[1, 4, 1] { max_pool(x, 3, stride=1) ** 2 }", lambda x: lax.reduce_window(x, -INF, lax.max, (1, 3, 1), (1, 1, 1), "VALID") ** 2)
case("fn pool_of_pool(x: f32[1, 8, 2]) -> f32[1, 2, 2] { max_pool(avg_pool(x, 2, stride=2), 2, stride=2) ** 2 }", lambda x: jnp.max(x.reshape(1, 2, 2, 2, 2).mean(3), 2) ** 2)
case("fn conv_everything(x: f32[1, 9, 4], w: f32[3, 2, 4]) -> f32[1, 4, 4] { conv(x, w, stride=2, padding=((1, 2)), dilation=2, groups=2) ** 2 }",
     lambda x, w: lax.conv_general_dilated(x, w, (2,), [(1, 2)], rhs_dilation=(2,), dimension_numbers=("NHC", "HIO", "NHC"), feature_group_count=2) ** 2)
case("fn conv_even_kernel(x: f32[1, 5, 1], w: f32[4, 1, 2]) -> f32[1, 5, 2] { conv(x, w) ** 2 }",
     lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")) ** 2)
case("fn conv_of_itself(x: f32[1, 5, 1]) -> f32[1, 5, 1] { conv(x, reshape(x[:, 1:4], [3, 1, 1])) }",
     lambda x: lax.conv_general_dilated(x, x[0, 1:4].reshape(3, 1, 1), (1,), "SAME", dimension_numbers=("NHC", "HIO", "NHC")))
case("fn conv_wide_stride(x: f32[1, 7, 1], w: f32[2, 1, 1]) -> f32[1, 2, 1] { conv(x, w, stride=4, padding=\"valid\") ** 2 }",
     lambda x, w: lax.conv_general_dilated(x, w, (4,), "VALID", dimension_numbers=("NHC", "HIO", "NHC")) ** 2)

# Random numbers are constants; what is made of them is not.
case("fn reparametrised(m: f32[4], s: f32[4]) -> f32[4] { let e = normal(key(3), [4]); tanh(m + exp(s) * e) }",
     lambda m, s: jnp.tanh(m + jnp.exp(s) * jax.random.normal(jax.random.key(3), (4,), "f4").astype("f8")))
case("fn dropped(x: f32[8]) -> f32[8] { dropout(key(5), x * x, 0.5) }",
     lambda x: jnp.where(jax.random.bernoulli(jax.random.key(5), jnp.float32(0.5), (8,)), x * x * 2, 0))
