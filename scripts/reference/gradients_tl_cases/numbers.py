"""Activations, norms, losses, softmax variants, statistics, physics."""

import jax
import jax.numpy as jnp
from jax import lax, nn
from jax.scipy import special

from .cases import below, case, distribution, open01, positive, unit

# Activations.

for name in ["relu", "relu6", "leaky_relu", "elu", "selu", "silu", "softplus", "log_sigmoid", "sigmoid", "hard_tanh"]:
    case(f"fn act_{name}(x: f32[4, 3]) -> f32[4, 3] {{ {name}(3 * x) * x }}",
         lambda x, f=getattr(nn, name): f(3 * x) * x)
case("fn act_gelu(x: f32[6]) -> f32[6] { gelu(x) }", lambda x: nn.gelu(x, approximate=False))
case("fn act_gelu_tanh(x: f32[6]) -> f32[6] { gelu_tanh(x) }", lambda x: nn.gelu(x))
case("fn mish(x: f32[6]) -> f32[6] { x * tanh(softplus(x)) }", nn.mish)
case("fn swiglu(x: f32[3, 8]) -> f32[3, 4] { silu(x[:, 0:4]) * x[:, 4:8] }",
     lambda x: nn.silu(x[:, :4]) * x[:, 4:])
case("fn hyper(x: f32[6]) -> f32[6] { sinh(x) * cosh(x) + asinh(x) * tanh(x) }",
     lambda x: jnp.sinh(x) * jnp.cosh(x) + jnp.arcsinh(x) * jnp.tanh(x))
case("fn arcs(x: f32[6]) -> f32[6] { asin(x) * acos(x) + atan(x) + atanh(x) }",
     lambda x: jnp.arcsin(x) * jnp.arccos(x) + jnp.arctan(x) + jnp.arctanh(x), x=unit)
case("fn arcosh(x: f32[5]) -> f32[5] { acosh(x + 1.5) * exp2(x) * log2(x) }",
     lambda x: jnp.arccosh(x + 1.5) * jnp.exp2(x) * jnp.log2(x), x=positive)
case("fn trig(x: f32[6]) -> f32[6] { sin(x) * cos(2 * x) / (1.5 + tan(x / 3)) }",
     lambda x: jnp.sin(x) * jnp.cos(2 * x) / (1.5 + jnp.tan(x / 3)), x=unit)
case("fn bearings(y: f32[5], x: f32[5]) -> f32[5] { atan2(y, x) * sqrt(x * x + y * y) }",
     lambda y, x: jnp.arctan2(y, x) * jnp.sqrt(x * x + y * y))
case("fn roots(x: f32[5]) -> f32[5] { sqrt(x) + cbrt(x) * rsqrt(x) + reciprocal(x) }",
     lambda x: jnp.sqrt(x) + jnp.cbrt(x) * lax.rsqrt(x) + 1 / x, x=positive)
case("fn exponentials(x: f32[5]) -> f32[5] { expm1(x) * log1p(x) + exp(-x) * log(x) }",
     lambda x: jnp.expm1(x) * jnp.log1p(x) + jnp.exp(-x) * jnp.log(x), x=positive)
case("fn gammas(x: f32[5]) -> f32[5] { lgamma(x) + digamma(x) * x }",
     lambda x: special.gammaln(x) + special.digamma(x) * x, x=positive)
case("fn errors(x: f32[5]) -> f32[5] { erf(x) * erfc(x) + erf_inv(x) }",
     lambda x: special.erf(x) * special.erfc(x) + special.erfinv(x), x=unit)
case("fn powers(x: f32[5], y: f32[5]) -> f32[5] { x ** y + pow(y, 3) - x ** -2 + x ** 0.5 }",
     lambda x, y: x ** y + y ** 3 - x ** -2 + x ** 0.5, x=positive)
case("fn remainders(x: f32[5], y: f32[5]) -> f32[5] { (5 * x) % y + x * floor(x) }",
     lambda x, y: lax.rem(5 * x, y) + x * jnp.floor(x), y=positive)
case("fn pieces(x: f32[8], y: f32[8]) -> f32[8] { max(x, y) * min(x, 2 * y) + clamp(x, -0.5, 0.5) * abs(y) }",
     lambda x, y: jnp.maximum(x, y) * jnp.minimum(x, 2 * y) + jnp.clip(x, -0.5, 0.5) * jnp.abs(y))
case("fn clamped_between(x: f32[8], lo: f32[8], hi: f32[8]) -> f32[8] { clamp(x, lo - 0.5, hi + 0.5) * x }",
     lambda x, lo, hi: jnp.clip(x, lo - 0.5, hi + 0.5) * x)
case("fn chosen(x: f32[8]) -> f32[8] { where(x > 0, log(where(x > 0, x, 1)), x * x) }",
     lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), x * x))

# Softmax and its relatives.

case("fn softmax_rows(x: f32[3, 5]) -> f32[3, 5] { softmax(x, axis=1) }", nn.softmax)
case("fn softmax_columns(x: f32[3, 5]) -> f32[3, 5] { softmax(x, axis=0) }", lambda x: nn.softmax(x, axis=0))
case("fn log_softmax_rows(x: f32[3, 5]) -> f32[3, 5] { log_softmax(x) }", nn.log_softmax)
case("fn softmax_by_hand(x: f32[3, 5]) -> f32[3, 5] { let e = exp(x - max(x, axis=1, keepdims=true)); e / sum(e, axis=1, keepdims=true) }",
     nn.softmax)
case("fn masked_softmax(x: f32[4, 4]) -> f32[4, 4] { softmax(where(tril(ones([4, 4])) > 0, x, -inf)) }",
     lambda x: nn.softmax(jnp.where(jnp.tril(jnp.ones((4, 4))) > 0, x, -jnp.inf)))
case("fn tempered(x: f32[5], t: f32) -> f32[5] { softmax(x / t) }", lambda x, t: nn.softmax(x / t), t=1.5)
case("fn lse_all(x: f32[3, 5]) -> f32 { logsumexp(x) }", special.logsumexp)
case("fn lse_of_none(x: f32[3, 2]) -> f32[3] { logsumexp(x + 1000, axis=1) }", lambda x: special.logsumexp(x + 1000, axis=1))
case("fn entropy(x: f32[3, 5]) -> f32[3] { let l = log_softmax(x); -sum(exp(l) * l, axis=1) }",
     lambda x: -jnp.sum(nn.softmax(x) * nn.log_softmax(x), axis=1))
case("fn sparsemax_like(x: f32[3, 5]) -> f32[3, 5] { let z = relu(x - mean(x, axis=1, keepdims=true)); z / (sum(z, axis=1, keepdims=true) + 1e-3) }",
     lambda x: (z := nn.relu(x - x.mean(1, keepdims=True))) / (z.sum(1, keepdims=True) + 1e-3))
case("fn gumbel_softmax(x: f32[3, 5], u: f32[3, 5]) -> f32[3, 5] { softmax((x - log(-log(u))) / 0.7) }",
     lambda x, u: nn.softmax((x - jnp.log(-jnp.log(u))) / 0.7), u=open01)

# Norms and statistics.

case("fn norm_all(x: f32[3, 4]) -> f32 { norm(x) }", lambda x: jnp.sqrt(jnp.sum(x * x)))
case("fn norm_rows(x: f32[3, 4]) -> f32[3] { norm(x, axis=1) }", lambda x: jnp.linalg.norm(x, axis=1))
case("fn unit_rows(x: f32[3, 4]) -> f32[3, 4] { x / norm(x, axis=1, keepdims=true) }",
     lambda x: x / jnp.linalg.norm(x, axis=1, keepdims=True))
case("fn p_norm(x: f32[6]) -> f32 { sum(abs(x) ** 3) ** (1.0 / 3.0) }",
     lambda x: jnp.sum(jnp.abs(x) ** 3) ** (1 / 3))
case("fn moments(x: f32[3, 4]) -> f32[4] { mean(x, axis=0) + var(x, axis=0) * std(x, axis=0) }",
     lambda x: x.mean(0) + x.var(0) * x.std(0))
case("fn skewness(x: f32[9]) -> f32 { mean(((x - mean(x)) / std(x)) ** 3) }",
     lambda x: jnp.mean(((x - x.mean()) / x.std()) ** 3))
case("fn correlation(x: f32[7], y: f32[7]) -> f32 { mean((x - mean(x)) * (y - mean(y))) / (std(x) * std(y)) }",
     lambda x, y: jnp.mean((x - x.mean()) * (y - y.mean())) / (x.std() * y.std()))
case("fn ddof_var(x: f32[5, 2]) -> f32[2] { var(x, axis=0, ddof=1) }", lambda x: x.var(0, ddof=1))
case("fn ranges(x: f32[3, 4]) -> f32[3] { max(x, axis=1) - min(x, axis=1) + prod(x, axis=1) }",
     lambda x: x.max(1) - x.min(1) + x.prod(1))
case("fn softclip_norm(g: f32[4], h: f32[2, 3]) -> f32[4] { let n = sqrt(sum(g * g) + sum(h * h)); g * min(1.0, 0.5 / n) }",
     lambda g, h: g * jnp.minimum(1.0, 0.5 / jnp.sqrt(jnp.sum(g * g) + jnp.sum(h * h))))

# Losses.

case("fn xent(x: f32[4, 3], y: i32[4]) -> f32[4] { softmax_cross_entropy(x, y) }",
     lambda x, y: -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1)[:, 0], y=below(3))
case("fn xent_soft(x: f32[4, 3], p: f32[4, 3]) -> f32[4] { softmax_cross_entropy(x, p) }",
     lambda x, p: -jnp.sum(p * nn.log_softmax(x), 1), p=distribution)
case("fn bce(x: f32[6], p: f32[6]) -> f32[6] { sigmoid_binary_cross_entropy(4 * x, p) }",
     lambda x, p: -p * nn.log_sigmoid(4 * x) - (1 - p) * nn.log_sigmoid(-4 * x), p=open01)
case("fn huber(x: f32[6], y: f32[6]) -> f32[6] { huber_loss(2 * x, y) }",
     lambda x, y: jnp.where(jnp.abs(2 * x - y) <= 1, 0.5 * (2 * x - y) ** 2, jnp.abs(2 * x - y) - 0.5))
case("fn squared(x: f32[6], y: f32[6]) -> f32[6] { l2_loss(x, y) * x }", lambda x, y: 0.5 * (x - y) ** 2 * x)
case("fn focal(x: f32[6], p: f32[6]) -> f32 { let q = sigmoid(x); mean(-p * (1 - q) ** 2 * log(q) - (1 - p) * q ** 2 * log(1 - q)) }",
     lambda x, p: jnp.mean(-p * (1 - nn.sigmoid(x)) ** 2 * nn.log_sigmoid(x) - (1 - p) * nn.sigmoid(x) ** 2 * nn.log_sigmoid(-x)), p=open01)
case("fn smoothed(x: f32[4, 3], y: i32[4]) -> f32 { let t = one_hot(y, 3) * 0.9 + 0.1 / 3; mean(softmax_cross_entropy(x, t)) }",
     lambda x, y: jnp.mean(-jnp.sum((nn.one_hot(y, 3) * 0.9 + 0.1 / 3) * nn.log_softmax(x), 1)), y=below(3))
case("fn cosine(x: f32[4, 3], y: f32[4, 3]) -> f32[4] { sum(x * y, axis=1) / (norm(x, axis=1) * norm(y, axis=1)) }",
     lambda x, y: jnp.sum(x * y, 1) / (jnp.linalg.norm(x, axis=1) * jnp.linalg.norm(y, axis=1)))
case("fn kl_gaussians(m: f32[3, 4], s: f32[3, 4]) -> f32 { -0.5 * mean(1 + s - m * m - exp(s)) }",
     lambda m, s: -0.5 * jnp.mean(1 + s - m * m - jnp.exp(s)))
case("fn infonce(x: f32[4, 3], y: f32[4, 3]) -> f32 { let s = x @ transpose(y) / 0.5; mean(softmax_cross_entropy(s, arange(4))) }",
     lambda x, y: -jnp.mean(jnp.diag(nn.log_softmax(x @ y.T / 0.5))))
case("fn triplet(a: f32[3, 4], p: f32[3, 4], n: f32[3, 4]) -> f32 { mean(relu(sum(square(a - p), axis=1) - sum(square(a - n), axis=1) + 0.2)) }",
     lambda a, p, n: jnp.mean(nn.relu(jnp.sum((a - p) ** 2, 1) - jnp.sum((a - n) ** 2, 1) + 0.2)))
case("fn hinge(x: f32[4, 3], y: i32[4]) -> f32 { let right = take_along_axis(x, reshape(y, [4, 1]), axis=1); mean(sum(relu(x - right + 1), axis=1)) }",
     lambda x, y: jnp.mean(jnp.sum(nn.relu(x - jnp.take_along_axis(x, y[:, None], 1) + 1), 1)), y=below(3))
case("fn poisson(x: f32[5], k: f32[5]) -> f32 { mean(exp(x) - k * x + lgamma(k + 1)) }",
     lambda x, k: jnp.mean(jnp.exp(x) - k * x + special.gammaln(k + 1)), k=positive)
case("fn logcosh(x: f32[5], y: f32[5]) -> f32 { mean(log(cosh(x - y))) }",
     lambda x, y: jnp.mean(jnp.log(jnp.cosh(x - y))))
case("fn quantile_loss(x: f32[6], y: f32[6]) -> f32 { let e = y - x; mean(max(0.9 * e, -0.1 * e)) }",
     lambda x, y: jnp.mean(jnp.maximum(0.9 * (y - x), -0.1 * (y - x))))

# Physics.

case("fn kinetic(m: f32[4], v: f32[4, 3]) -> f32 { 0.5 * sum(m * sum(v * v, axis=1)) }",
     lambda m, v: 0.5 * jnp.sum(m * jnp.sum(v * v, 1)), m=positive)
case("fn lennard_jones(x: f32[4, 3]) -> f32 { let d = 2 * x[:, none, :] - 2 * x[none, :, :]; let r = sum(d * d, axis=2) + eye(4); let s = 1 / (r * r * r); sum((s * s - s) * (1 - eye(4))) / 2 }",
     lambda x: (s := 1 / (jnp.sum((2 * x[:, None] - 2 * x[None]) ** 2, 2) + jnp.eye(4)) ** 3, jnp.sum((s * s - s) * (1 - jnp.eye(4))) / 2)[1],
     x=lambda rng, shape: rng.permutation(12).reshape(shape) / 5 + rng.uniform(-.05, .05, shape))
case("fn coulomb(q: f32[4], x: f32[4, 2]) -> f32 { let d = x[:, none, :] - x[none, :, :]; let r = sqrt(sum(d * d, axis=2) + eye(4)); sum(outer(q, q) / r * (1 - eye(4))) }",
     lambda q, x: jnp.sum(jnp.outer(q, q) / jnp.sqrt(jnp.sum((x[:, None] - x[None]) ** 2, 2) + jnp.eye(4)) * (1 - jnp.eye(4))))
case("fn laplacian(u: f32[6, 6]) -> f32 { let l = u[0:4, 1:5] + u[2:6, 1:5] + u[1:5, 0:4] + u[1:5, 2:6] - 4 * u[1:5, 1:5]; sum(l * l) }",
     lambda u: jnp.sum((u[:4, 1:5] + u[2:, 1:5] + u[1:5, :4] + u[1:5, 2:] - 4 * u[1:5, 1:5]) ** 2))
case("fn upwind(u: f32[8]) -> f32[8] { u - 0.1 * u * (u - roll(u, 1)) + 0.05 * (roll(u, 1) - 2 * u + roll(u, -1)) }",
     lambda u: u - 0.1 * u * (u - jnp.roll(u, 1)) + 0.05 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)))
case("fn rosenbrock(x: f32[5]) -> f32 { sum(100 * (x[1:] - x[0:4] ** 2) ** 2 + (1 - x[0:4]) ** 2) }",
     lambda x: jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))
case("fn lagrangian(q: f32[2], v: f32[2]) -> f32 { 0.5 * v[0] ** 2 + 0.5 * (v[0] ** 2 + v[1] ** 2 + 2 * v[0] * v[1] * cos(q[0] - q[1])) + 9.8 * (2 * cos(q[0]) + cos(q[1])) }",
     lambda q, v: 0.5 * v[0] ** 2 + 0.5 * (v[0] ** 2 + v[1] ** 2 + 2 * v[0] * v[1] * jnp.cos(q[0] - q[1])) + 9.8 * (2 * jnp.cos(q[0]) + jnp.cos(q[1])))
case("fn rotation(t: f32[3], x: f32[3]) -> f32[3] { let c = cos(t[0]); let s = sin(t[0]); let r = stack(([c, -s, 0.0 * c], [s, c, 0.0 * c], [0.0 * c, 0.0 * c, 1 + 0.0 * c])); r @ x * t[1] + t[2] }",
     lambda t, x: jnp.array([[jnp.cos(t[0]), -jnp.sin(t[0]), 0], [jnp.sin(t[0]), jnp.cos(t[0]), 0], [0, 0, 1]]) @ x * t[1] + t[2])
case("fn planck(x: f32[5], t: f32) -> f32[5] { x ** 3 / expm1(x / t) }", lambda x, t: x ** 3 / jnp.expm1(x / t), x=positive, t=1.25)
