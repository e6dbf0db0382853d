#!/usr/bin/env python3
"""Optax's paths and schedules, for tests/std/optim.tl and tests/std/schedules.tl.

Run in the root of the repository with jax, numpy and optax 0.2.8 installed:

    python scripts/reference/optim.py

writes tests/std/optim.txt and tests/std/schedules.txt: what the two programs print, but for rounding.
"""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 100
FOLDER = Path("tests/std")


def quadratic(x):
    return 0.5 * jnp.sum(jnp.array([1.0, 10.0, 0.1, 3.0]) * (x - jnp.array([0.0, 0.0, 2.0, 1.0])) ** 2)


def rosenbrock(x):
    return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2


OPTIMISERS = {
    "sgd": optax.sgd(1e-3),
    "momentum": optax.sgd(2e-4, momentum=0.8),
    "nesterov": optax.sgd(2e-4, momentum=0.9, nesterov=True),
    "adam": optax.adam(1e-2),
    "adam eps": optax.adam(1e-2, b1=0.8, b2=0.99, eps=1e-2, eps_root=1e-3),
    "adamw": optax.adamw(1e-2, weight_decay=0.1),
    "lion": optax.lion(1e-3),
    "rmsprop": optax.rmsprop(2e-3),
    "adagrad": optax.adagrad(5e-2),
    "nesterov decay": optax.sgd(5e-4, momentum=0.6, nesterov=True),
    "adamw all": optax.adamw(2e-2, b1=0.7, b2=0.95, eps=1e-3, eps_root=1e-4, weight_decay=0.03),
    "lion all": optax.lion(2e-3, b1=0.8, b2=0.95, weight_decay=0.2),
    "rmsprop all": optax.rmsprop(3e-3, decay=0.8, eps=1e-2),
    "adagrad all": optax.adagrad(1e-1, initial_accumulator_value=0.5, eps=1e-3),
    "adam scheduled": optax.adam(optax.warmup_cosine_decay_schedule(0.0, 5e-2, 20, 90, end_value=1e-3)),
    "sgd scheduled": optax.sgd(optax.exponential_decay(1e-3, 20, 0.5, staircase=True)),
    "clipped by norm, decayed": optax.chain(
        optax.clip_by_global_norm(2.0), optax.add_decayed_weights(0.1), optax.sgd(1e-2)
    ),
    "clipped": optax.chain(optax.clip(1.5), optax.sgd(1e-3)),
}

SCHEDULES = {
    "constant": optax.constant_schedule(0.3),
    "linear": optax.linear_schedule(1.0, 0.1, 50),
    "linear begin": optax.linear_schedule(0.1, 2.0, 60, transition_begin=20),
    "cosine": optax.cosine_decay_schedule(0.5, 100),
    "cosine alpha": optax.cosine_decay_schedule(0.5, 80, alpha=0.1),
    "warmup cosine": optax.warmup_cosine_decay_schedule(0.0, 1.0, 10, 100),
    "warmup cosine end": optax.warmup_cosine_decay_schedule(0.1, 2.0, 25, 90, end_value=0.05),
    "exponential": optax.exponential_decay(0.8, 10, 0.9),
    "exponential staircase": optax.exponential_decay(0.8, 10, 0.7, transition_begin=5, staircase=True),
    "cosine beyond": optax.cosine_decay_schedule(2.0, 37, alpha=0.25),
    "exponential growth": optax.exponential_decay(1e-3, 30, 1.7, transition_begin=10),
    "linear from 7": optax.linear_schedule(0.5, 0.5, 10, transition_begin=7),
    "linear without steps": optax.linear_schedule(0.5, 0.1, 0),
    "linear from before": optax.linear_schedule(0.5, 0.1, 10, transition_begin=-5),
    "exponential without steps": optax.exponential_decay(0.5, 0, 0.9),
    "exponential without rate": optax.exponential_decay(0.5, 10, 0.0, transition_begin=20),
    "exponential from before": optax.exponential_decay(0.5, 10, 0.9, transition_begin=-5),
    "warmup cosine without warm-up": optax.warmup_cosine_decay_schedule(0.1, 2.0, 0, 90),
    "warmup cosine without peak": optax.warmup_cosine_decay_schedule(0.1, 0.0, 25, 90, end_value=0.05),
    "piecewise to zero": optax.piecewise_constant_schedule(1.0, {10: 0.0, 40: 5.0}),
    "piecewise": optax.piecewise_constant_schedule(1.0, {10: 0.5, 40: 0.1, 80: 2.0}),
}


def path(optimiser, f, x):
    """Where the parameters are after each step, [STEPS, N]."""

    @jax.jit
    def step(x, state):
        updates, state = optimiser.update(jax.grad(f)(x), state, x)
        return optax.apply_updates(x, updates), state

    x = jnp.array(x, jnp.float32)
    state = optimiser.init(x)
    xs = []
    for _ in range(STEPS):
        x, state = step(x, state)
        xs.append(np.asarray(x))
    return np.stack(xs)


def text(a):
    if a.ndim == 0:
        return str(a[()])
    return "[" + ", ".join(text(row) for row in a) + "]"


def main():
    with open(FOLDER / "optim.txt", "w") as out:
        for name, optimiser in OPTIMISERS.items():
            both = (path(optimiser, quadratic, [3.0, -2.0, 1.0, 4.0]), path(optimiser, rosenbrock, [-1.2, 1.0]))
            print(name, text(np.concatenate(both, axis=1)), file=out)
    with open(FOLDER / "schedules.txt", "w") as out:
        for name, schedule in SCHEDULES.items():
            values = np.array([np.float32(schedule(jnp.int32(i))) for i in range(120)])
            print(name, text(values), file=out)


main()
