"""The recurrent network of `program.tl` in JAX and Optax."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

import optax
from jax import random

LETTERS, HID, BATCH, T, LAPS, STEPS = 32, 128, 16, 512, 4, 5
optimizer = optax.adam(1e-3)


def init(k):
    ke, kw, ko = random.split(k, 3)
    return {
        "embed": 0.5 * random.normal(ke, (LETTERS, HID)),
        "w": random.normal(kw, (HID, HID)) * jnp.sqrt(1.0 / HID),
        "b": jnp.zeros(HID),
        "out": random.normal(ko, (HID, LETTERS)) * jnp.sqrt(1.0 / HID),
    }


def loss(p, letters):
    def read(h, pair):
        letter, following = pair
        h = jnp.tanh(p["embed"][letter] + h @ p["w"] + p["b"])
        return h, optax.softmax_cross_entropy_with_integer_labels(h @ p["out"], following).mean()

    _, losses = jax.lax.scan(read, jnp.zeros((BATCH, HID)), (letters[:-1], letters[1:]))
    return losses.mean()


k, kx = random.split(random.PRNGKey(0))
params = jax.jit(init)(k)
letters = random.randint(kx, (T, BATCH), 0, LETTERS)
peer.laps((params, optimizer.init(params), letters), peer.training(loss, optimizer), LAPS, STEPS, "loss")
