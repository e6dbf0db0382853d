#!/usr/bin/env python3
"""JAX's erf_inv in f32 on the CPU, bit for bit; needs jax.

    python scripts/reference/erf_inv.py > tests/reference/erf_inv_f32.txt

Each line is an argument and the result, as bit patterns in hex: the special values, an even grid, numbers ever nearer
to 1, and the uniform numbers that `jax.random.normal` would map.
"""

import jax
import numpy as np
from jax import lax

special = np.array([0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 1e-30, -0.5])
grid = np.linspace(-1, 1, 501)
near = 1 - 2.0 ** -np.linspace(1, 24, 200)
least = np.nextafter(np.float32(-1), np.float32(0))
uniform = np.asarray(jax.random.uniform(jax.random.key(0), (500,), minval=least, maxval=1.0))
x = np.concatenate([special, grid, near, -near, uniform]).astype(np.float32)
y = np.asarray(jax.jit(lax.erf_inv)(x))
for a, b in zip(x.view(np.uint32), y.view(np.uint32)):
    print(f"{a:08x} {b:08x}")
