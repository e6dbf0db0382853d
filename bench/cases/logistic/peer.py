"""Logistic regression of `program.tl` in JAX."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

from jax import random

N, D, LAPS, STEPS = 1000000, 100, 4, 10


def loss(w, x, y):
    z = x @ w
    return jnp.mean(jax.nn.softplus(z) - y * z)


def step(state, _):
    w, x, y = state
    value, g = jax.value_and_grad(loss)(w, x, y)
    return (w - g, x, y), value


kx, kw = random.split(random.PRNGKey(0))
x = random.normal(kx, (N, D))
y = (x @ random.normal(kw, (D,)) > 0.0).astype(jnp.float32)
peer.laps((jnp.zeros(D), x, y), step, LAPS, STEPS, "loss")
