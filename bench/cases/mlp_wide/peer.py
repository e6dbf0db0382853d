"""The wide perceptron of `program.tl` in JAX and Optax."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

import optax
from jax import random

BATCH, LAPS, STEPS = 128, 4, 2
optimizer = optax.adam(1e-4)


def init(k):
    k1, k2, k3 = random.split(k, 3)
    return {
        "w1": random.normal(k1, (1024, 4096)) * jnp.sqrt(2.0 / 1024),
        "b1": jnp.zeros(4096),
        "w2": random.normal(k2, (4096, 4096)) * jnp.sqrt(2.0 / 4096),
        "b2": jnp.zeros(4096),
        "w3": random.normal(k3, (4096, 1000)) * jnp.sqrt(2.0 / 4096),
        "b3": jnp.zeros(1000),
    }


def loss(p, x, y):
    h = jax.nn.relu(x @ p["w1"] + p["b1"])
    h = jax.nn.relu(h @ p["w2"] + p["b2"])
    return optax.softmax_cross_entropy_with_integer_labels(h @ p["w3"] + p["b3"], y).mean()


k, kx, ky = random.split(random.PRNGKey(0), 3)
params = jax.jit(init)(k)
x, y = random.normal(kx, (BATCH, 1024)), random.randint(ky, (BATCH,), 0, 1000)
peer.laps((params, optimizer.init(params), x, y), peer.training(loss, optimizer), LAPS, STEPS, "loss")
