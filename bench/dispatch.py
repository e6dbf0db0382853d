"""Microseconds to start a small program and have its result: the runtime's, and JAX's `jit` of the same program.

    bench/.venv/bin/python bench/dispatch.py
"""

import pathlib
import statistics
import subprocess
import time

import jax
import jax.numpy as jnp

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS, STEPS = 21, 5000


def of_jax():
    add = jax.jit(lambda x, y: x + y, donate_argnums=0)
    x, y = jnp.ones(4), jnp.ones(4)
    x = add(x, y).block_until_ready()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(STEPS):
            x = add(x, y).block_until_ready()
        times.append((time.perf_counter() - start) / STEPS * 1e6)
    return statistics.median(times)


def main():
    command = ["cargo", "run", "--quiet", "--locked", "--release", "-p", "tpuc-runtime", "--example", "dispatch"]
    ours = float(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    peer = of_jax()
    print(f"tpuc {ours:.1f} µs, JAX {peer:.1f} µs, ratio {ours / peer:.2f}")


if __name__ == "__main__":
    main()
