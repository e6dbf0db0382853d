"""Gradients of composite functions by JAX, for the tests of compiler/src/ad.

    python scripts/reference/gradients.py > compiler/src/ad/tests/gradients.jsonl

Each line: the function as IR text, its inputs, its outputs, cotangents, the cotangents of its float inputs, tangents,
and the tangents of its float outputs; all arrays as the bits of their elements. Some have a second derivative too: the
directional derivative, along the tangents, of the input cotangents.
"""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from jaxpr_to_ir import to_ir

CASES = []


def case(*specs, second=True):
    """Registers a function with the shapes of its arguments: a tuple is a normal f32 array, others are as given."""

    def register(fn):
        CASES.append((fn.__name__, fn, specs, second))
        return fn

    return register


def positive(*shape):
    return lambda rng: rng.uniform(0.5, 2.0, shape).astype(np.float32)


def unit(*shape):
    return lambda rng: rng.uniform(-0.8, 0.8, shape).astype(np.float32)


def ints(high, *shape):
    return lambda rng: rng.integers(0, high, shape).astype(np.int32)


# Activations and elementwise compositions.


@case((4, 5))
def relu_sum(x):
    return jnp.sum(nn.relu(x) ** 2)


@case((6,))
def leaky(x):
    return nn.leaky_relu(x)


@case((6,))
def elu(x):
    return nn.elu(x)


@case((6,))
def selu(x):
    return nn.selu(x)


@case((6,))
def gelu_exact(x):
    return nn.gelu(x, approximate=False)


@case((6,))
def gelu_tanh(x):
    return nn.gelu(x, approximate=True)


@case((6,))
def silu(x):
    return nn.silu(x)


@case((6,))
def softplus(x):
    return jnp.where(x > 0, x + jnp.log1p(jnp.exp(-jnp.abs(x))), jnp.log1p(jnp.exp(-jnp.abs(x))))


@case((6,))
def log_sigmoid(x):
    return -jnp.log1p(jnp.exp(-x))


@case((6,))
def hard_tanh(x):
    return jnp.clip(x, -1.0, 1.0)


@case((6,))
def relu6(x):
    return jnp.minimum(jnp.maximum(x, 0.0), 6.0)


@case(positive(6))
def logs_and_roots(x):
    return jnp.log(x) * jnp.sqrt(x) + jnp.cbrt(x) / lax.rsqrt(x) - jnp.log1p(x) * jnp.expm1(-x)


@case((6,))
def trigonometry(x):
    return jnp.sin(x) * jnp.cos(2 * x) + jnp.tan(0.3 * x) * jnp.tanh(x)


@case(unit(6))
def inverse_trigonometry(x):
    return jnp.arctan2(x, 1 + x * x) + lax.erf_inv(x) * lax.erf(x) + lax.erfc(2 * x)


@case(positive(6))
def gammas(x):
    return lax.lgamma(x) + 0.5 * lax.digamma(x + 1)


@case(positive(6), (6,))
def powers(x, y):
    return x**y + x**3 - x ** (-0.5) + jnp.abs(y) ** 1.5


@case(positive(6), positive(6))
def quotients(x, y):
    return x / y + lax.rem(5 * x, y) - (x - y) / (x + y)


@case((6,), (6,))
def extrema(x, y):
    return jnp.maximum(x, y) * jnp.minimum(x, 2 * y) + jnp.clip(x, y - 1, y + 1)


@case((6,))
def double_where(x):
    safe = jnp.where(x > 0, x, 1.0)
    return jnp.where(x > 0, jnp.sqrt(safe) * jnp.log(safe), 0.0)


# Reductions, norms, statistics.


@case((3, 4))
def mean_and_variance(x):
    mean = jnp.mean(x, axis=1, keepdims=True)
    return jnp.mean((x - mean) ** 2, axis=1)


@case((3, 4))
def norms(x):
    return jnp.sqrt(jnp.sum(x * x, axis=0)) + jnp.sum(jnp.abs(x), axis=0)


@case((3, 4))
def largest_and_smallest(x):
    return jnp.max(x, axis=1) * jnp.min(x, axis=1)


@case((3, 4))
def products(x):
    return jnp.prod(x, axis=1) + jnp.prod(x)


@case((5,))
def product_with_zero(x):
    return jnp.prod(x * jnp.array([1.0, 0.0, 1.0, 1.0, 2.0]))


@case((2, 6))
def running(x):
    return jnp.cumsum(x, axis=1) * lax.cumprod(x, axis=1) + lax.cummax(x, axis=1) - lax.cummin(x, axis=1, reverse=True)


@case((3, 5))
def logsumexp(x):
    m = lax.stop_gradient(jnp.max(x, axis=1, keepdims=True))
    return jnp.log(jnp.sum(jnp.exp(x - m), axis=1)) + m[:, 0]


@case((3, 5))
def softmax(x):
    return nn.softmax(x, axis=-1)


@case((3, 5))
def log_softmax_entropy(x):
    logp = nn.log_softmax(x)
    return -jnp.sum(jnp.exp(logp) * logp)


# Losses.


@case((4, 3), ints(3, 4))
def cross_entropy(logits, labels):
    logp = nn.log_softmax(logits)
    hot = labels[:, None] == jnp.arange(3)[None, :]
    return -jnp.mean(jnp.sum(jnp.where(hot, logp, 0.0), axis=1))


@case((4, 3), ints(3, 4))
def cross_entropy_by_gather(logits, labels):
    logp = nn.log_softmax(logits)
    return -jnp.mean(jnp.take_along_axis(logp, labels[:, None], axis=1, mode="clip"))


@case((5,), unit(5))
def binary_cross_entropy(logits, targets):
    return jnp.mean(jnp.maximum(logits, 0) - logits * targets + jnp.log1p(jnp.exp(-jnp.abs(logits))))


@case((6,), (6,))
def huber(x, y):
    e = jnp.abs(x - y)
    return jnp.sum(jnp.where(e < 1, 0.5 * e * e, e - 0.5))


@case((4, 3), (4, 3))
def cosine_similarity(x, y):
    n = jnp.sum(x * y, axis=1)
    return n / (jnp.sqrt(jnp.sum(x * x, axis=1)) * jnp.sqrt(jnp.sum(y * y, axis=1)))


@case((3, 4), (3, 4))
def kl_of_gaussians(mean, logvar):
    return -0.5 * jnp.sum(1 + logvar - mean**2 - jnp.exp(logvar))


# Linear algebra.


@case((3, 4), (4, 2))
def matmul(a, b):
    return a @ b


@case((2, 3, 4), (2, 4, 2))
def batched_matmul(a, b):
    return jnp.einsum("bij,bjk->bik", a, b)


@case((3, 3), (3,))
def quadratic_form(a, x):
    return x @ a @ x


@case((3, 4))
def gram_trace(a):
    g = a @ a.T
    return jnp.sum(jnp.where(jnp.eye(3, dtype=bool), g @ g, 0.0))


@case((3, 3), (3,))
def cholesky_log_density(a, x):
    cov = a @ a.T + 3 * jnp.eye(3)
    l = lax.linalg.cholesky(cov)
    z = lax.linalg.triangular_solve(l, x[:, None], left_side=True, lower=True)[:, 0]
    diag = jnp.sum(jnp.where(jnp.eye(3, dtype=bool), l, 0.0), axis=1)
    return -0.5 * jnp.sum(z * z) - jnp.sum(jnp.log(diag))


@case((2, 3, 3), (2, 3, 2))
def solve_by_cholesky(a, b):
    spd = jnp.einsum("bij,bkj->bik", a, a) + 2 * jnp.eye(3)
    l = lax.linalg.cholesky(spd)
    y = lax.linalg.triangular_solve(l, b, left_side=True, lower=True)
    return lax.linalg.triangular_solve(l, y, left_side=True, lower=True, transpose_a=True)


@case((2, 4, 3))
def bilinear_outer(x):
    return jnp.einsum("bik,bjk->bij", x, x) * jnp.einsum("bik,bjk->ij", x, x)


# Networks.


@case((4, 6), (6, 5), (5,), (5, 3), (3,))
def mlp(x, w1, b1, w2, b2):
    return nn.tanh(x @ w1 + b1) @ w2 + b2


@case((4, 6), (6, 5), (5,), (5, 3), (3,), ints(3, 4))
def mlp_loss(x, w1, b1, w2, b2, y):
    logits = nn.relu(x @ w1 + b1) @ w2 + b2
    logp = nn.log_softmax(logits)
    hot = y[:, None] == jnp.arange(3)[None, :]
    return -jnp.mean(jnp.sum(jnp.where(hot, logp, 0.0), axis=1))


@case((3, 8), (8,), (8,))
def layer_norm(x, scale, bias):
    mean = jnp.mean(x, -1, keepdims=True)
    var = jnp.mean((x - mean) ** 2, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + bias


@case((3, 8), (8,))
def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


@case((8, 3))
def batch_norm(x):
    mean = jnp.mean(x, 0)
    var = jnp.var(x, 0)
    return (x - mean) / jnp.sqrt(var + 1e-3)


@case((2, 4, 6), (6, 6), (6, 6), (6, 6))
def attention(x, wq, wk, wv):
    q, k, v = x @ wq, x @ wk, x @ wv
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / np.float32(np.sqrt(6.0))
    mask = jnp.tril(jnp.ones((4, 4), bool))
    scores = jnp.where(mask, scores, -1e9)
    return jnp.einsum("bqk,bkd->bqd", nn.softmax(scores), v)


@case((1, 3, 8), (8, 4), (4, 8), (8,))
def transformer_block(x, w1, w2, g):
    h = x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * g
    a = jnp.einsum("bqd,bkd->bqk", h, h)
    x = x + jnp.einsum("bqk,bkd->bqd", nn.softmax(a), h)
    return x + nn.gelu(x @ w1) @ w2


def conv(x, w, **kw):
    return lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **kw)


@case((2, 6, 6, 2), (3, 3, 2, 4))
def conv_same(x, w):
    return conv(x, w, window_strides=(1, 1), padding="SAME")


@case((1, 7, 6, 2), (3, 2, 2, 3))
def conv_strided_dilated(x, w):
    return conv(x, w, window_strides=(2, 1), padding="VALID", rhs_dilation=(1, 2))


@case((1, 5, 5, 4), (3, 3, 2, 6))
def conv_grouped(x, w):
    return conv(x, w, window_strides=(1, 1), padding="SAME", feature_group_count=2)


@case((1, 4, 4, 3), (3, 3, 3, 2))
def conv_transposed(x, w):
    return conv(x, w, window_strides=(1, 1), padding=((1, 2), (1, 2)), lhs_dilation=(2, 2))


@case((2, 6, 6, 1), (3, 3, 1, 2), (2,), second=False)
def cnn(x, w, b):
    h = nn.relu(conv(x, w, window_strides=(1, 1), padding="SAME") + b)
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jnp.mean(h, axis=(1, 2))


@case((1, 6, 6, 2))
def average_pool(x):
    return lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9.0


@case((7, 4), ints(7, 5))
def embedding(table, ids):
    return nn.tanh(table.at[ids].get(mode="clip"))


# Indexing and order.


@case((5, 3), ints(5, 4), (4, 3))
def scatter_updates(x, i, u):
    return jnp.sin(x.at[i].add(u, mode="drop")) * x


@case((5, 3), (3,))
def set_row(x, u):
    return jnp.exp(x.at[2].set(u)) * x


@case((3, 6))
def sort_weighted(x):
    return lax.sort(x, dimension=1) * jnp.arange(6.0)


@case((6,), (6,))
def sort_pairs(x, y):
    a, b = lax.sort((x, y), num_keys=1)
    return a * jnp.cumsum(b)


@case((4, 5))
def shapes(x):
    y = jnp.concatenate([x[::2, 1:], x[1::2, :-1] ** 2], axis=0)
    return jnp.pad(jnp.flip(y, 1), ((1, 0), (0, 2))).T.reshape(2, -1)


@case((6,), ints(4))
def dynamic_window(x, i):
    w = lax.dynamic_slice(x, (i,), (3,))
    return lax.dynamic_update_slice(jnp.cos(x), w * w, (i,))


# Loops and branches.


@case((3,), (3, 3), (2, 3), (5, 2))
def rnn(h, w, u, xs):
    def step(h, x):
        h = jnp.tanh(h @ w + x @ u)
        return h, h

    return lax.scan(step, h, xs)


@case((3,), (3,), (3, 12), (2, 12), (4, 2))
def lstm(h, c, w, u, xs):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(h @ w + x @ u, 4)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    (h, c), hs = lax.scan(step, (h, c), xs)
    return h, c, hs


@case((3,), (3, 9), (2, 9), (4, 2))
def gru(h, w, u, xs):
    def step(h, x):
        a, b = h @ w, x @ u
        r = nn.sigmoid(a[:3] + b[:3])
        z = nn.sigmoid(a[3:6] + b[3:6])
        n = jnp.tanh(a[6:] * r + b[6:])
        return (1 - z) * n + z * h, jnp.sum(n)

    return lax.scan(step, h, xs)


@case((2,), ())
def pendulum(state, length):
    def step(s, _):
        def rhs(s):
            return jnp.stack([s[1], -9.81 / (2 + length**2) * jnp.sin(s[0])])

        k1 = rhs(s)
        k2 = rhs(s + 0.025 * k1)
        k3 = rhs(s + 0.025 * k2)
        k4 = rhs(s + 0.05 * k3)
        return s + 0.05 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), s[0]

    return lax.scan(step, state, None, length=10)


@case((4, 2), (4, 2))
def springs(x, v):
    def step(s, _):
        x, v = s
        d = jnp.roll(x, 1, 0) - 2 * x + jnp.roll(x, -1, 0)
        v = v + 0.1 * d
        x = x + 0.1 * v
        return (x, v), jnp.sum(v * v)

    return lax.scan(step, (x, v), None, length=6)


@case((5,), (3,))
def gradient_descent_inner(w, x):
    def loss(w):
        return jnp.sum((jnp.tanh(w[:3] * x) * w[3] + w[4] - 1) ** 2)

    def step(w, _):
        return w - 0.1 * jax.grad(loss)(w), None

    w, _ = lax.scan(step, w, None, length=3)
    return loss(w)


@case((3,), ints(2))
def branch(x, k):
    return lax.cond(k > 0, lambda x: jnp.sin(x) * x, lambda x: jnp.exp(-x), x)


@case((4,), (4,))
def branch_in_loop(x, w):
    def step(c, a):
        x, i = a
        c = lax.cond(i % 2 == 0, lambda c: jnp.sin(c * x) + w, lambda c: c * w * x, c)
        return c, jnp.sum(c)

    return lax.scan(step, jnp.zeros(4), (x, jnp.arange(4)))


@case((3, 3))
def matrix_power_loop(a):
    def step(m, _):
        return m @ a / 2, None

    m, _ = lax.scan(step, a, None, length=4)
    return m


@case((6,))
def newton_sqrt(x):
    target = x * x + 1

    def step(y, _):
        return 0.5 * (y + target / y), None

    return lax.scan(step, target, None, length=5)[0]


@case((3, 4), (4, 4))
def nested_loops(x, w):
    def outer(c, row):
        def inner(h, r):
            return jnp.tanh(h * r + w[0]), h.sum()

        h, s = lax.scan(inner, c, w * row)
        return h, s

    return lax.scan(outer, x[0], x)


# Derivatives inside.


@case((4,), second=False)
def hessian_vector(x):
    f = lambda x: jnp.sum(jnp.sin(x) * x**3)
    return jax.jvp(jax.grad(f), (x,), (jnp.ones(4),))[1]


@case((3, 2), (4, 3))
def per_example_gradients(w, x):
    f = lambda w, x: jnp.sum(jnp.tanh(x @ w) ** 2)
    return jax.vmap(jax.grad(f), (None, 0))(w, x)


@case((3,), second=False)
def jacobian_logdet(x):
    f = lambda x: x + 0.1 * jnp.tanh(x * x[::-1])
    j = jax.jacfwd(f)(x)
    l = lax.linalg.cholesky(j @ j.T)
    return jnp.sum(jnp.log(jnp.sum(jnp.where(jnp.eye(3, dtype=bool), l, 0.0), axis=1)))


def bits(x):
    x = np.asarray(x)
    kind = {"f": "u", "i": "u", "u": "u", "b": "u"}[x.dtype.kind]
    return " ".join(f"{int(v):x}" for v in x.ravel().view(f"{kind}{x.dtype.itemsize}"))


def is_float(x):
    return jnp.issubdtype(jnp.result_type(x), jnp.floating)


def main():
    for name, fn, specs, second in CASES:
        rng = np.random.default_rng(sum(map(ord, name)))
        normal = lambda shape: rng.normal(size=shape).astype(np.float32)
        args = [jnp.asarray(normal(s) if isinstance(s, tuple) else s(rng)) for s in specs]
        leaves = lambda *a: jax.tree.leaves(fn(*a))
        outs = leaves(*args)
        floats = [i for i, a in enumerate(args) if is_float(a)]

        def of_floats(*f):
            full = list(args)
            for i, v in zip(floats, f):
                full[i] = v
            return leaves(*full)

        primals = [args[i] for i in floats]
        cts = [normal(np.shape(o)) for o in outs if is_float(o)]
        tangents = [normal(np.shape(p)) for p in primals]

        def float_outs(*f):
            return [o for o in of_floats(*f) if is_float(o)]

        def pull(*f):
            return jax.vjp(float_outs, *f)[1](cts)

        _, dout = jax.jvp(float_outs, primals, tangents)
        grads = pull(*primals)
        record = {
            "name": name,
            "ir": to_ir(lambda *a: leaves(*a), *args),
            "inputs": [bits(a) for a in args],
            "outputs": [bits(o) for o in outs],
            "cotangents": [bits(c) for c in cts],
            "gradients": [bits(g) for g in grads],
            "tangents": [bits(t) for t in tangents],
            "derivatives": [bits(d) for d in dout],
            "second": [bits(s) for s in jax.jvp(pull, primals, tangents)[1]] if second else [],
        }
        json.dump(record, sys.stdout, separators=(",", ":"))
        print()


if __name__ == "__main__":
    main()
