#!/usr/bin/env python3
"""Initialisers and layers as JAX has them, for tests/std/nn.tl.

Run in the root of the repository with jax and numpy installed:

    python scripts/reference/nn.py

writes tests/std/nn.txt: what the program prints, the initialisers to the bit, the others but for rounding.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

OUT = Path("tests/std/nn.txt")
INIT = jax.nn.initializers


def text(a):
    if isinstance(a, tuple):
        return "(" + ", ".join(text(x) for x in a) + ")"
    if isinstance(a, dict):
        return "{" + ", ".join(f"{k}: {text(v)}" for k, v in a.items()) + "}"
    a = np.asarray(a)
    if a.ndim == 0:
        return str(a[()])
    return "[" + ", ".join(text(row) for row in a) + "]"


def digest(w):
    bits = np.asarray(w).view(np.uint32).ravel()
    return text((bits[:6].view(np.int32), np.sum(bits, dtype=np.uint32)))


def initialisers(out):
    keys = (jax.random.key(n) for n in range(101, 122))
    for name in ["he_normal", "he_uniform", "glorot_normal", "glorot_uniform", "lecun_normal", "lecun_uniform"]:
        make = getattr(INIT, name)()
        print(name, *(digest(make(next(keys), s)) for s in [(784, 256), (3, 3, 5, 7), (5, 4, 6)]), file=out)
    print(
        "truncated",
        digest(INIT.truncated_normal()(next(keys), (784, 256))),
        digest(INIT.truncated_normal(2.5)(next(keys), (7,))),
        digest(INIT.truncated_normal(0.3, lower=-1.0, upper=3.0)(next(keys), (3, 3))),
        file=out,
    )


def batch_norm(p, x):
    return jax.nn.standardize(x, axis=(0, 1), epsilon=1e-5) * p["scale"] + p["bias"]


# jax.nn has the sequence before the heads.
def attention(q, k, v, causal=False, mask=None):
    def swap(t):
        return jnp.swapaxes(t, 1, 2)

    return swap(jax.nn.dot_product_attention(swap(q), swap(k), swap(v), is_causal=causal, mask=mask))


def layers(out):
    kx, kw, kb, ks, kt = jax.random.split(jax.random.key(8), 5)
    x = jax.random.normal(kx, (2, 5, 8))
    scale, bias = jax.random.normal(ks, (8,)), jax.random.normal(kt, (8,))
    print("dense", text(x @ jax.random.normal(kw, (8, 3)) + jax.random.normal(kb, (3,))), file=out)
    print("layer_norm", text(jax.nn.standardize(x, axis=-1, epsilon=1e-6) * scale + bias), file=out)
    print("rms_norm", text(x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-3) * scale), file=out)

    p = {"scale": scale, "bias": bias}
    new = {"mean": 0.9 * bias + 0.1 * x.mean((0, 1)), "var": 0.9 * scale**2 + 0.1 * x.var((0, 1))}
    print("batch_norm", text(batch_norm(p, x)), file=out)
    print("batch_norm statistics", text(new), file=out)
    stored = jax.nn.standardize(x, mean=new["mean"], variance=new["var"], epsilon=1e-5) * scale + bias
    print("batch_norm inference", text(stored), file=out)
    gp, gx = jax.grad(lambda p, x: jnp.sum(jnp.sin(batch_norm(p, x))), argnums=(0, 1))(p, x)
    print("batch_norm gradient", text({n: gp[n] for n in ["scale", "bias"]}), text(gx), file=out)

    kq, kk, kv = jax.random.split(jax.random.key(9), 3)
    q, k, v = (jax.random.normal(key, (2, 3, n, 4)) for key, n in [(kq, 5), (kk, 6), (kv, 6)])
    print("attention", text(attention(q, k, v)), file=out)
    k, v = k[:, :, :5], v[:, :, :5]
    print("attention causal", text(attention(q, k, v, causal=True)), file=out)
    gradient = jax.grad(lambda *a: jnp.sum(attention(*a, causal=True) ** 2), argnums=(0, 1, 2))(q, k, v)
    print("attention gradient", text(gradient), file=out)
    # The second position sees nothing.
    mask = jnp.array([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1]], bool)
    print("attention masked", text(attention(q, k, v, mask=mask)), file=out)
    gradient = jax.grad(lambda *a: jnp.sum(attention(*a, mask=mask) ** 2), argnums=(0, 1, 2))(q, k, v)
    print("attention masked gradient", text(gradient), file=out)
    keep = jax.random.bernoulli(jax.random.key(10), 1 - 0.3, x.shape)
    print("dropout", text(jnp.where(keep, x / (1 - 0.3), 0)), file=out)


with open(OUT, "w") as out:
    initialisers(out)
    layers(out)
