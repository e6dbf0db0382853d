"""The transformer of `program.tl` in JAX and Optax."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp

import optax
from jax import random

VOCAB, T, E, HEADS, BATCH, LAPS, STEPS = 64, 64, 256, 4, 16, 4, 5
optimizer = optax.adam(1e-3)
lecun = jax.nn.initializers.lecun_normal()


def norm_init():
    return {"scale": jnp.ones(E), "bias": jnp.zeros(E)}


def dense_init(k, i, o):
    return {"w": lecun(k, (i, o)), "b": jnp.zeros(o)}


def block_init(k):
    ka, ku, kd = random.split(k, 3)
    attend = {name: lecun(one, (E, E)) for name, one in zip(("q", "k", "v", "out"), random.split(ka, 4))}
    return {"norm1": norm_init(), "attend": attend, "norm2": norm_init(),
            "up": dense_init(ku, E, 4 * E), "down": dense_init(kd, 4 * E, E)}


def init(k):
    kl, kp, k1, k2, ko = random.split(k, 5)
    return {"letter": random.normal(kl, (VOCAB, E)), "place": random.normal(kp, (T, E)),
            "first": block_init(k1), "second": block_init(k2),
            "norm": norm_init(), "out": dense_init(ko, E, VOCAB)}


def dense(p, x):
    return x @ p["w"] + p["b"]


def layer_norm(p, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * p["scale"] + p["bias"]


def attention(p, x):
    q, k, v = (jnp.swapaxes((x @ p[name]).reshape(BATCH, T, HEADS, E // HEADS), 1, 2) for name in "qkv")
    scores = q @ jnp.swapaxes(k, -1, -2) / jnp.sqrt(E / HEADS)
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((T, T), bool)), scores, -jnp.inf))
    return jnp.swapaxes(weights @ v, 1, 2).reshape(BATCH, T, E) @ p["out"]


def block(p, x):
    x = x + attention(p["attend"], layer_norm(p["norm1"], x))
    return x + dense(p["down"], jax.nn.gelu(dense(p["up"], layer_norm(p["norm2"], x))))


def loss(p, letters):
    x = block(p["second"], block(p["first"], p["letter"][letters[:, :-1]] + p["place"]))
    logits = dense(p["out"], layer_norm(p["norm"], x))
    return optax.softmax_cross_entropy_with_integer_labels(logits, letters[:, 1:]).mean()


k, kx = random.split(random.PRNGKey(0))
params = jax.jit(init)(k)
letters = random.randint(kx, (BATCH, T + 1), 0, VOCAB)
peer.laps((params, optimizer.init(params), letters), peer.training(loss, optimizer), LAPS, STEPS, "loss")
