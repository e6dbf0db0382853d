"""The k-means of `program.tl` in JAX."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

from jax import random

N, D, K, LAPS, STEPS = 200000, 32, 64, 4, 5


def step(state, _):
    x, c = state
    d = jnp.sum(x * x, axis=1, keepdims=True) - 2.0 * x @ c.T + jnp.sum(c * c, axis=1)
    belongs = jax.nn.one_hot(jnp.argmin(d, axis=1), K)
    count = jnp.sum(belongs, axis=0)[:, None]
    c = jnp.where(count > 0, belongs.T @ x / jnp.maximum(count, 1.0), c)
    return (x, c), jnp.mean(jnp.min(d, axis=1))


x = random.normal(random.PRNGKey(0), (N, D))
peer.laps((x, x[:K]), step, LAPS, STEPS, "inertia")
