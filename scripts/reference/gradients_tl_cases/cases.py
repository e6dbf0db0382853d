"""The list of cases, and ways to draw inputs."""

import numpy as np

CASES = []

# Orders of derivatives: 0 has only the tangent, 1 the gradient too, 2 the second derivative too; REVERSE has only the gradient.
REVERSE = -1


def case(text, fn, order=2, **how):
    """Registers a function; `how` draws an input by its name (a normal array if nothing is said)."""
    CASES.append((text, fn, how, order))


def positive(rng, shape):
    return rng.uniform(0.5, 2.0, shape)


def unit(rng, shape):
    return rng.uniform(-0.8, 0.8, shape)


def open01(rng, shape):
    return rng.uniform(0.1, 0.9, shape)


def below(n):
    return lambda rng, shape: rng.integers(0, n, shape)


def distribution(rng, shape):
    p = rng.uniform(0.1, 1.0, shape)
    return p / p.sum(-1, keepdims=True)


def definite(rng, shape):
    """Symmetric positive definite matrices."""
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


def triangular(rng, shape):
    """Lower triangular matrices, well conditioned."""
    return np.tril(rng.uniform(-0.5, 0.5, shape)) + 2 * np.eye(shape[-1])
