#!/usr/bin/env python3
"""Fits the polynomials of compiler/src/lower/special/lgamma_single.rs; needs NumPy.

Each is the quotient of log Γ by the distance to one of its zeros, fitted by least squares at Chebyshev nodes whose
weights are raised where the relative error is large, until it is even.
"""

import math

import numpy as np

DEGREE = 12
NODES = 400
ROUNDS = 60


def fit(low, high, zero):
    angles = (np.arange(NODES) + 0.5) * np.pi / NODES
    x = (low + high) / 2 + (high - low) / 2 * np.cos(angles)
    value = np.vectorize(math.lgamma)(x) / (x - zero)
    powers = np.vander(x - zero, DEGREE + 1)
    weights = np.ones(NODES)
    for _ in range(ROUNDS):
        scale = np.sqrt(weights) / np.abs(value)
        coefficients, *_ = np.linalg.lstsq(powers * scale[:, None], value * scale, rcond=None)
        weights *= np.abs(powers @ coefficients / value - 1) + 1e-30
        weights /= weights.sum()
    return coefficients


for one, two in zip(fit(0.5, 1.5, 1.0), fit(1.5, 3.0, 2.0)):
    print(f"    ({np.float32(one)!s}, {np.float32(two)!s}),")
