"""The chain of `program.tl` in JAX; with `--tuned`, re-associated by hand."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

from jax import random

N, LAPS, STEPS = 1200, 4, 20
TUNED = "--tuned" in sys.argv[1:]


def step(state, _):
    a, b, c, v = state
    w = a @ (b @ (c @ v)) if TUNED else (a @ b @ c) @ v
    v = w / jnp.sqrt(jnp.sum(w * w))
    return (a, b, c, v), jnp.sum(v)


ka, kb, kc, kv = random.split(random.PRNGKey(0), 4)
a, b, c = (random.uniform(k, (N, N)) for k in (ka, kb, kc))
peer.laps((a, b, c, random.uniform(kv, (N,))), step, LAPS, STEPS, "norm")
