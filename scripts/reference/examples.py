#!/usr/bin/env python3
"""What examples print, computed with JAX and Optax: the same models, keys and data.

Run in the root of the repository with jax, numpy and optax installed and the data set up (`make setup`):

    python scripts/reference/examples.py

writes examples/expected/NAME.txt for the examples named below; the others' outputs are their own, and they assert
what they have to reach.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import grad, lax, nn

FOLDER = Path("examples/expected")
DATA = Path(".deps/data/mnist")
key, split = jax.random.key, jax.random.split


def descend(loss, p, optimiser, steps, *data):
    """The parameters after some steps on the same data."""

    def step(carry, _):
        p, state = carry
        updates, state = optimiser.update(grad(loss)(p, *data), state, p)
        return (optax.apply_updates(p, updates), state), None

    return lax.scan(step, (p, optimiser.init(p)), length=steps)[0][0]


def linear_regression():
    kx, kn = split(key(0))
    x = jax.random.uniform(kx, (200,), minval=-2.0, maxval=2.0)
    y = 3.0 * x - 1.0 + 0.1 * jax.random.normal(kn, (200,))

    def loss(p):
        return jnp.mean((p[0] * x + p[1] - y) ** 2)

    p = descend(loss, jnp.zeros(2), optax.sgd(0.1), 300)
    slope = jnp.mean((x - x.mean()) * (y - y.mean())) / jnp.var(x)
    q = jnp.array([slope, y.mean() - slope * x.mean()])
    yield f"descent  y = {p[0]:.4f} x {p[1]:+.4f}   loss {loss(p):.5f}"
    yield f"exact    y = {q[0]:.4f} x {q[1]:+.4f}   loss {loss(q):.5f}"


def logistic_regression():
    def clouds(k):
        kc, kn = split(k)
        side = jax.random.bernoulli(kc, 0.5, (400,)).astype(jnp.float32)
        return 2.0 * side[:, None] - 1.0 + jax.random.normal(kn, (400, 2)), side

    def logit(p, x):
        return x @ p["w"] + p["b"]

    def loss(p, x, y):
        return jnp.mean(optax.sigmoid_binary_cross_entropy(logit(p, x), y))

    def accuracy(p, x, y):
        return jnp.mean((logit(p, x) > 0) == (y > 0.5))

    seen, unseen = clouds(key(0)), clouds(key(1))
    start = {"w": jnp.zeros(2), "b": jnp.zeros(())}
    p = descend(loss, start, optax.sgd(0.5, momentum=0.9), 200, *seen)
    yield f"loss before {loss(start, *seen):.4f}"
    yield f"loss after  {loss(p, *seen):.4f}"
    yield f"line        {p['w'][0]:.3f} x {p['w'][1]:+.3f} y {p['b']:+.3f} = 0"
    yield f"accuracy    {accuracy(p, *seen):.1%} seen, {accuracy(p, *unseen):.1%} not seen"


def kmeans():
    middles = jnp.array([[0.0, 4.0], [4.0, 0.0], [-3.0, -2.0]])
    x = jnp.repeat(middles, 100, axis=0) + jax.random.normal(key(0), (300, 2))

    def distances(c):
        return jnp.sum((x[:, None] - c) ** 2, axis=-1)

    def inertia(c):
        return jnp.mean(jnp.min(distances(c), axis=1))

    c = x[:3]
    yield f"inertia {inertia(c):.3f}"
    for _ in range(10):
        member = jnp.argmin(distances(c), axis=1)
        c = jnp.stack([x[member == i].mean(0) for i in range(3)])
    yield f"inertia {inertia(c):.3f}"
    for row in c:
        yield f"centre  {row[0]:+.2f} {row[1]:+.2f}"
    counts = np.bincount(np.argmin(distances(c), axis=1)).astype(float)
    yield f"points  {counts.tolist()}"


def newton():
    def valley(x):
        return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2

    x = jnp.array([-1.2, 1.0])
    for i in range(6):
        factor = jax.scipy.linalg.cho_factor(jax.hessian(valley)(x), lower=True)
        x = x - jax.scipy.linalg.cho_solve(factor, grad(valley)(x))
        yield f"{i + 1}  x = {x[0]:+.6f} {x[1]:+.6f}   f = {valley(x):.2e}"


def dense(k, i, o):
    return nn.initializers.lecun_normal()(k, (i, o)), jnp.zeros(o)


def cnn_mnist():
    def images(name, count):
        raw = np.fromfile(DATA / f"{name}-images-idx3-ubyte", np.uint8)[16:].reshape(-1, 28, 28, 1)[:count]
        labels = np.fromfile(DATA / f"{name}-labels-idx1-ubyte", np.uint8)[8:][:count].astype(np.int32)
        return jnp.array(raw, jnp.float32) / 255.0, jnp.array(labels)

    def conv(x, w, stride=1):
        return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def forward(p, x):
        h = nn.relu(conv(x, p["c1"], 2) + p["b1"])
        h = nn.relu(conv(h, p["c2"]) + p["b2"])
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return h.reshape(len(x), -1) @ p["w"] + p["b"]

    def loss(p, x, y):
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(forward(p, x), y))

    (x, y), (xt, yt) = images("train", 5120), images("t10k", 1000)
    k1, k2, k3 = split(key(0), 3)
    he = nn.initializers.he_normal()
    w, b = dense(k3, 784, 10)
    p = {"c1": he(k1, (5, 5, 1, 8)), "b1": jnp.zeros(8), "c2": he(k2, (3, 3, 8, 16)), "b2": jnp.zeros(16), "w": w, "b": b}
    optimiser = optax.adam(5e-3)
    state = optimiser.init(p)

    @jax.jit
    def step(p, state, x, y):
        updates, state = optimiser.update(grad(loss)(p, x, y), state)
        return optax.apply_updates(p, updates), state

    def line(i):
        return f"step {i:>3}   accuracy {jnp.mean(jnp.argmax(forward(p, xt), axis=1) == yt):.3f}"

    yield line(0)
    for i in range(80):
        p, state = step(p, state, x[i * 64 : i * 64 + 64], y[i * 64 : i * 64 + 64])
        if i % 20 == 19:
            yield line(i + 1)


def neural_ode():
    def rk4(f, y):
        k1 = f(y)
        k2 = f(y + 0.05 * k1)
        k3 = f(y + 0.05 * k2)
        k4 = f(y + 0.1 * k3)
        return y + 0.1 / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def solve(f):
        return lax.scan(lambda y, _: (rk4(f, y), y), jnp.array([2.0, 0.0]), length=40)[1]

    path = solve(lambda y: jnp.array([y[1], -4.0 * y[0] - 0.5 * y[1]]))
    t = 0.1 * jnp.arange(40)
    w = jnp.sqrt(4.0 - 0.25 * 0.25)
    exact = 2.0 * jnp.exp(-0.25 * t) * (jnp.cos(w * t) + 0.25 / w * jnp.sin(w * t))
    yield f"error of RK4 {jnp.max(jnp.abs(path[:, 0] - exact)):.1e}"

    def loss(p):
        (w1, b1), (w2, b2) = p
        return jnp.mean((solve(lambda y: jnp.tanh(y @ w1 + b1) @ w2 + b2) - path) ** 2)

    ka, kb = split(key(0))
    p = (dense(ka, 2, 32), dense(kb, 32, 2))
    yield f"loss before  {loss(p):.4f}"
    p = descend(loss, p, optax.adam(optax.cosine_decay_schedule(2e-2, 600)), 600)
    yield f"loss after   {loss(p):.4f}"


for example in [linear_regression, logistic_regression, kmeans, newton, cnn_mnist, neural_ode]:
    (FOLDER / f"{example.__name__}.txt").write_text("".join(line + "\n" for line in example()))
