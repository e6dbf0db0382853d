"""The per-example gradients of `program.tl` in JAX."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

import optax
from jax import random

BATCH, LAPS, STEPS = 128, 4, 20


def init(k):
    k1, k2 = random.split(k)
    return {
        "w1": random.normal(k1, (784, 128)) * jnp.sqrt(2.0 / 784),
        "b1": jnp.zeros(128),
        "w2": random.normal(k2, (128, 10)) * jnp.sqrt(2.0 / 128),
        "b2": jnp.zeros(10),
    }


def loss(p, x, y):
    logits = jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y)


def one(p, x, y):
    value, g = jax.value_and_grad(loss)(p, x, y)
    norm = jnp.sqrt(sum(jnp.sum(t * t) for t in jax.tree.leaves(g)))
    return value, jax.tree.map(lambda t: t / jnp.maximum(norm, 1.0), g)


def step(state, _):
    p, x, y = state
    values, g = jax.vmap(one, in_axes=(None, 0, 0))(p, x, y)
    return (jax.tree.map(lambda w, d: w - 0.1 * d.mean(0), p, g), x, y), values.mean()


k, kx, ky = random.split(random.PRNGKey(0), 3)
x, y = random.normal(kx, (BATCH, 784)), random.randint(ky, (BATCH,), 0, 10)
peer.laps((jax.jit(init)(k), x, y), step, LAPS, STEPS, "loss")
