"""Points at which derivatives have gone wrong in public reports about JAX, Autograd, PyTorch and TensorFlow: ties, kinks,
zeros, infinities, saturation, masked and empty arrays."""

import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy import special

from .cases import case

INF = float("inf")

# Kinks and ties.

KINKS = [-2.0, -1.0, 0.0, 0.5, 1.0, 6.0, 7.0]
for name in ["relu", "relu6", "leaky_relu", "elu", "selu", "hard_tanh"]:
    case(f"fn kink_{name}(x: f32[7]) -> f32[7] {{ {name}(x) }}", getattr(nn, name), order=1, x=KINKS)
case("fn kink_abs(x: f32[7]) -> f32[7] { abs(x) * 2 }", lambda x: jnp.where(x == 0, 0, jnp.abs(x)) * 2, order=1, x=KINKS)
case("fn kink_clamp(x: f32[7]) -> f32[7] { clamp(x, -1, 6) ** 2 }", lambda x: jnp.clip(x, -1, 6) ** 2, order=0, x=[-2.0, -1.5, 0.0, 0.5, 1.0, 5.5, 7.0])
case("fn kink_huber(x: f32[7]) -> f32[7] { huber_loss(x, zeros([7])) }", lambda x: jnp.where(jnp.abs(x) <= 1, 0.5 * x * x, jnp.abs(x) - 0.5), order=1, x=[-2.0, -1.0, -0.5, 0.5, 1.0, 1.5, 7.0])
case("fn tie_max(x: f32[4], y: f32[4]) -> f32[4] { max(x, y) * 3 }", lambda x, y: jnp.maximum(x, y) * 3, order=1, x=[1.0, 2.0, 0.0, -1.0], y=[1.0, 1.0, 0.0, -1.0])
case("fn tie_min(x: f32[4], y: f32[4]) -> f32[4] { min(x, y) * 3 }", lambda x, y: jnp.minimum(x, y) * 3, order=1, x=[1.0, 2.0, 0.0, -1.0], y=[1.0, 1.0, 0.0, -1.0])
case("fn tie_max_all(x: f32[2, 3]) -> f32 { max(x) ** 2 }", lambda x: jnp.max(x) ** 2, order=1, x=[3.0, 3.0, 1.0, 0.0, 3.0, 2.0])
case("fn tie_max_axis(x: f32[2, 3]) -> f32[2] { max(x, axis=1) ** 2 }", lambda x: jnp.max(x, 1) ** 2, order=1, x=[3.0, 3.0, 1.0, 0.0, 3.0, 2.0])
case("fn tie_running_max(x: f32[5]) -> f32[5] { cummax(x, axis=0) ** 2 }", lambda x: lax.cummax(x) ** 2, order=0, x=[1.0, 3.0, 2.0, 4.0, 0.0])
case("fn tie_sort(x: f32[5]) -> f32[5] { sort(x) * arange(5, dtype=f32) }", lambda x: jnp.sort(x) * jnp.arange(5.0), order=1, x=[1.0, 0.0, 1.0, 0.0, 1.0])
case("fn tie_top(x: f32[5]) -> f32[2] { top_k(x, 2).0 * stack((1.0, 3.0)) }", lambda x: lax.top_k(x, 2)[0] * jnp.array([1.0, 3.0]), order=1, x=[1.0, 2.0, 2.0, 2.0, 0.0])
case("fn tie_pool(x: f32[1, 4, 1]) -> f32[1, 2, 1] { max_pool(x, 2, stride=2) ** 2 }", lambda x: lax.reduce_window(x, -INF, lax.max, (1, 2, 1), (1, 2, 1), "VALID") ** 2, order=1, x=[2.0, 2.0, 1.0, 3.0])
case("fn relu_sums(x: f32[4]) -> f32 { sum(relu(x)) + sum(relu(-x)) }", lambda x: jnp.sum(nn.relu(x)) + jnp.sum(nn.relu(-x)), x=[0.0, 1.0, -1.0, 0.0])

# Zeros.

case("fn zero_prod(x: f32[4]) -> f32 { prod(x) }", jnp.prod, x=[2.0, 0.0, 3.0, 4.0])
case("fn zeros_prod(x: f32[4]) -> f32 { prod(x) }", jnp.prod, x=[2.0, 0.0, 0.0, 4.0])
for i, at in enumerate([[0.0, 2.0, 3.0], [2.0, 3.0, 0.0], [0.0, 0.0, 3.0]]):
    case(f"fn zero_cumprod_{i}(x: f32[3]) -> f32[3] {{ cumprod(x, axis=0) }}", lambda x: jnp.cumprod(x), x=at)
case("fn zero_square(x: f32[3]) -> f32[3] { exp(-(x ** 2)) }", lambda x: jnp.exp(-x ** 2), x=[0.0, 0.5, -1.0])
case("fn zero_fourth(x: f32[3]) -> f32[3] { vmap(grad(grad(grad(grad(|x| exp(-(x ** 2)))))))(x) }", jax.vmap(jax.grad(jax.grad(jax.grad(jax.grad(lambda x: jnp.exp(-x * x)))))), x=[0.0, 0.5, -1.0])
case("fn zero_cube(x: f32[3]) -> f32[3] { x ** 3 + x ** 1 + x ** 0 }", lambda x: x ** 3 + x + 1, x=[0.0, 0.5, -1.0])
case("fn zero_base(y: f32[3]) -> f32[3] { pow(zeros([3]), y) }", lambda y: jnp.where(y == 0, 1.0, 0.0) * jnp.ones_like(y), order=1, y=[1.0, 2.0, 0.5])
case("fn zero_exponent(x: f32[3]) -> f32[3] { pow(x, zeros([3])) }", lambda x: jnp.ones_like(x) + 0 * x, order=1, x=[0.0, 2.0, -1.0])
case("fn negative_base(x: f32[3]) -> f32[3] { pow(x, full([3], 3.0)) }", lambda x: x ** 3, order=1, x=[-2.0, -0.5, 2.0])
case("fn zero_norm(x: f32[3]) -> f32 { norm(x) ** 2 }", lambda x: jnp.sum(x * x), order=1, x=[0.0, 0.0, 0.0])
case("fn zero_norm_rows(x: f32[2, 2]) -> f32[2] { norm(x, axis=1) }",
     lambda x: (s := jnp.sum(x * x, 1), jnp.where(s > 0, jnp.sqrt(jnp.where(s > 0, s, 1)), 0))[1], order=1, x=[0.0, 0.0, 3.0, 4.0])
case("fn zero_log_sigmoid(x: f32[3]) -> f32[3] { log_sigmoid(x) }", nn.log_sigmoid, x=[0.0, 30.0, -30.0])
case("fn zero_softplus(x: f32[3]) -> f32[3] { softplus(x) }", nn.softplus, x=[0.0, 100.0, -100.0])
case("fn zero_sinc(x: f32[3]) -> f32[3] { where(x == 0, 1, sin(x) / where(x == 0, 1, x)) }", lambda x: jnp.where(x == 0, 1, jnp.sin(x) / jnp.where(x == 0, 1, x)), x=[0.0, 1.0, -2.0])
case("fn zero_atan2(y: f32[4], x: f32[4]) -> f32[4] { atan2(y, x) }", jnp.arctan2, y=[0.0, 0.0, 1.0, -1.0], x=[1.0, -1.0, 0.0, 0.0])
case("fn zero_asinh(x: f32[3]) -> f32[3] { asinh(x) + atanh(x) + sinh(x) }", lambda x: jnp.arcsinh(x) + jnp.arctanh(x) + jnp.sinh(x), x=[0.0, 1e-4, -1e-4])
case("fn zero_small(x: f32[3]) -> f32[3] { log1p(x) + expm1(x) + tan(x) + erf(x) + erf_inv(x) }",
     lambda x: jnp.log1p(x) + jnp.expm1(x) + jnp.tan(x) + special.erf(x) + special.erfinv(x), x=[0.0, 1e-4, -1e-5])

# Guards: what is not chosen has no part in the derivative.

case("fn guard_sqrt(x: f32[4]) -> f32[4] { where(x > 0, sqrt(where(x > 0, x, 1)), 0) }", lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1)), 0), x=[0.0, -1.0, 4.0, 0.25])
case("fn guard_ratio(x: f32[4], y: f32[4]) -> f32[4] { let ok = y != 0; where(ok, x / where(ok, y, 1), 0) }",
     lambda x, y: jnp.where(y != 0, x / jnp.where(y != 0, y, 1), 0), y=[0.0, 2.0, 0.0, -1.0])
case("fn guard_power(x: f32[3]) -> f32[3] { where(x > 0, where(x > 0, x, 1) ** 0.5, x) }", lambda x: jnp.where(x > 0, jnp.where(x > 0, x, 1) ** 0.5, x), x=[0.0, -2.0, 4.0])
case("fn guard_angle(y: f32[3], x: f32[3]) -> f32[3] { let ok = x * x + y * y > 0; where(ok, atan2(where(ok, y, 0), where(ok, x, 1)), 0) }",
     lambda y, x: (ok := x * x + y * y > 0, jnp.where(ok, jnp.arctan2(jnp.where(ok, y, 0), jnp.where(ok, x, 1)), 0))[1], y=[0.0, 2.0, 0.0], x=[0.0, 1.0, 2.0])
case("fn guard_distance(x: f32[3, 2]) -> f32 { let d = x[:, none, :] - x[none, :, :]; let s = sum(d * d, axis=2); let off = eye(3) == 0; sum(where(off, 1 / sqrt(where(off, s, 1)), 0)) }",
     lambda x: (s := jnp.sum((x[:, None] - x[None]) ** 2, 2), off := jnp.eye(3) == 0, jnp.sum(jnp.where(off, 1 / jnp.sqrt(jnp.where(off, s, 1)), 0)))[-1])
case("fn guard_branch(x: f32) -> f32 { if x > 0 { sqrt(x) } else { x * x } }", lambda x: x * x, x=0.0)
case("fn guard_infinite(x: f32[3]) -> f32[3] { where(x > 0, 0, x) + where(is_finite(1 / x), x, 0) }", lambda x: jnp.where(x > 0, 0, x) + jnp.where(x == 0, 0, x), x=[0.0, 1.0, -1.0])
case("fn guard_scalar(x: f32[3], a: f32) -> f32[3] { where(x > 0, a, x) * where(x > 0, x, a) }", lambda x, a: jnp.where(x > 0, a, x) * jnp.where(x > 0, x, a), a=0.5)

# Infinities and saturation.

case("fn masked_lse(x: f32[4]) -> f32 { logsumexp(where(arange(4) < 2, x, -inf)) }", lambda x: special.logsumexp(x[:2]))
case("fn masked_log_softmax(x: f32[2, 4]) -> f32[2] { log_softmax(where(arange(4) < 2, x, -inf))[:, 0] }", lambda x: nn.log_softmax(x[:, :2])[:, 0])
case("fn large_softmax(x: f32[2, 3]) -> f32[2, 3] { softmax(x) }", nn.softmax, x=[1000.0, 0.0, -1000.0, 1000.0, 1000.0, 999.0])
case("fn large_xent(x: f32[2, 3], y: i32[2]) -> f32[2] { softmax_cross_entropy(x, y) }", lambda x, y: -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1)[:, 0],
     x=[100.0, 0.0, -100.0, 80.0, 80.0, 79.0], y=[0, 2])
case("fn large_bce(x: f32[4], p: f32[4]) -> f32[4] { sigmoid_binary_cross_entropy(x, p) }", lambda x, p: jnp.maximum(x, 0) - x * p + jnp.log1p(jnp.exp(-jnp.abs(x))),
     order=1, x=[100.0, -100.0, 50.0, 1.0], p=[1.0, 0.0, 0.0, 0.5])
case("fn saturated(x: f32[4]) -> f32[4] { tanh(x) + sigmoid(x) + erf(x) }", lambda x: jnp.tanh(x) + nn.sigmoid(x) + special.erf(x), x=[50.0, -50.0, 0.0, 5.0])
case("fn large_gelu(x: f32[4]) -> f32[4] { gelu(x) + silu(x) }", lambda x: nn.gelu(x, approximate=False) + nn.silu(x), x=[20.0, -20.0, 0.0, 3.0])
case("fn large_log_cosh(x: f32[3]) -> f32[3] { let a = abs(x); a + log1p(exp(-2 * a)) }", lambda x: jnp.abs(x) + jnp.log1p(jnp.exp(-2 * jnp.abs(x))), order=1, x=[90.0, -90.0, 1.0])
case("fn gammas_left(x: f32[4]) -> f32[4] { lgamma(x) + digamma(x) }", lambda x: special.gammaln(x) + special.digamma(x), x=[1.0, 2.0, -0.5, 10.0])
case("fn infinite_limits(x: f32[4]) -> f32[4] { exp(-x) + tanh(x) }", lambda x: jnp.exp(-x) + jnp.tanh(x), order=1, x=[INF, 1.0, 0.0, 3.0])
case("fn poles(x: f32[4]) -> f32[4] { sqrt(x) + log(x) }", lambda x: jnp.sqrt(x) + jnp.log(x), order=1, x=[0.0, 1.0, 4.0, 0.25])
case("fn log_of_zero(x: f32[3]) -> f32 { sum(where(x > 0, x * log(where(x > 0, x, 1)), 0)) }", lambda x: jnp.sum(jnp.where(x > 0, x * jnp.log(jnp.where(x > 0, x, 1)), 0)), x=[0.0, 0.5, 0.25])
case("fn constant_rows(x: f32[2, 3]) -> f32[2, 3] { (x - mean(x, axis=1, keepdims=true)) * rsqrt(var(x, axis=1, keepdims=true) + 1e-5) }",
     lambda x: (x - x.mean(1, keepdims=True)) * lax.rsqrt(x.var(1, keepdims=True) + 1e-5), order=1, x=[1.0, 1.0, 1.0, 2.0, 2.0, 2.0])

# The half of a matrix that is not read; repeated and outlying positions; nothing at all.

case("fn other_triangle(a: f32[3, 3], b: f32[3, 1]) -> f32[3, 1] { triangular_solve(a, b, left_side=true, lower=true) }",
     lambda a, b: lax.linalg.triangular_solve(jnp.tril(a), b, left_side=True, lower=True), a=[2.0, 5.0, 7.0, 0.5, 1.5, 9.0, 0.25, -0.5, 1.0])
case("fn symmetric_factor(a: f32[2, 2]) -> f32[2, 2] { cholesky(a) }", jnp.linalg.cholesky, a=[4.0, 1.0, 1.0, 3.0])
case("fn same_position(x: f32[3], i: i32[4]) -> f32[4] { x[i] * arange(4, dtype=f32) }", lambda x, i: x[i] * jnp.arange(4.0), i=[1, 1, 1, 0])
case("fn outlying_position(x: f32[3], i: i32) -> f32 { x[i] ** 2 }", lambda x, i: x[2] ** 2, i=7)
case("fn outlying_row(x: f32[3, 2], i: i32, v: f32[2]) -> f32[3, 2] { set(x, i, v) ** 2 }", lambda x, i, v: x ** 2 + 0 * v.sum(), i=5)
case("fn own_row(x: f32[3, 2]) -> f32[3, 2] { set(x, 1, x[0] * x[2]) ** 2 }", lambda x: x.at[1].set(x[0] * x[2]) ** 2)
case("fn own_update(x: f32[4]) -> f32[4] { dynamic_update_slice(x, x[0:2] * x[2:4], (1)) ** 2 }", lambda x: lax.dynamic_update_slice(x, x[:2] * x[2:], (1,)) ** 2)
case("fn empty_sums(x: f32[3]) -> f32[3] { x * sum(x[0:0]) + prod(x[3:3]) * x }", lambda x: x + 0)
case("fn empty_loop(x: f32[3], w: f32[0, 3]) -> f32[3] { let mut h = x; for r in w { h = h * r; } h * h }", lambda x, w: x * x)
case("fn empty_product(a: f32[2, 0], b: f32[0, 3]) -> f32[2, 3] { a @ b + 1 }", lambda a, b: a @ b + 1)
case("fn unused(x: f32[3], y: f32[3]) -> f32[3] { let z = exp(y); x * x }", lambda x, y: x * x)
case("fn constant_result(x: f32[3]) -> f32[3] { stop_gradient(x) + floor(x) }", lambda x: lax.stop_gradient(x + jnp.floor(x)))
case("fn integer_carry(x: f32[3], n: i32) -> f32[3] { let mut h = x; let mut k = n; for i in 0..4 { h = h * f32(k); k = k + 1; } h }", lambda x, n: x * 2 * 3 * 4 * 5, n=2)
case("fn unused_carry(x: f32[3]) -> f32[3] { let mut h = x; let mut k = x; for i in 0..4 { k = sin(k); h = h * 1.5; } h }", lambda x: x * 1.5 ** 4)
case("fn passed_carry(x: f32[3], y: f32[3]) -> f32[3] { let mut a = x; let mut b = y; for i in 0..3 { let t = a; a = b; b = t * t; } a * b }",
     lambda x, y: (s := lax.scan(lambda s, _: ((s[1], s[0] * s[0]), None), (x, y), None, 3)[0], s[0] * s[1])[1])
