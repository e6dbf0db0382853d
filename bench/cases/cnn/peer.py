"""The convolutional network of `program.tl` in JAX and Optax."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

import optax
from jax import lax, random

BATCH, LAPS, STEPS = 64, 4, 20
optimizer = optax.adam(1e-3)
he, lecun = jax.nn.initializers.he_normal(), jax.nn.initializers.lecun_normal()


def init(k):
    k1, k2, k3 = random.split(k, 3)
    return {
        "c1": he(k1, (5, 5, 1, 16)),
        "b1": jnp.zeros(16),
        "c2": he(k2, (3, 3, 16, 32)),
        "b2": jnp.zeros(32),
        "w": lecun(k3, (7 * 7 * 32, 10)),
        "b": jnp.zeros(10),
    }


def conv(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def loss(p, x, y):
    h = pool(jax.nn.relu(conv(x, p["c1"]) + p["b1"]))
    h = pool(jax.nn.relu(conv(h, p["c2"]) + p["b2"]))
    logits = h.reshape(len(x), -1) @ p["w"] + p["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def step(state, i):
    p, opt, x, y = state
    xb, yb = (lax.dynamic_slice_in_dim(t, i * BATCH, BATCH) for t in (x, y))
    value, g = jax.value_and_grad(loss)(p, xb, yb)
    updates, opt = optimizer.update(g, opt, p)
    return (optax.apply_updates(p, updates), opt, x, y), value


count = LAPS * STEPS * BATCH
images, labels, _, _ = peer.mnist()
x = jnp.asarray(images[:count]).reshape(count, 28, 28, 1).astype(jnp.float32) / 255.0
params = jax.jit(init)(random.PRNGKey(0))
peer.laps((params, optimizer.init(params), x, jnp.asarray(labels[:count]).astype(jnp.int32)), step, LAPS, STEPS, "loss")
