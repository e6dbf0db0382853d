"""Writes what all peers start from: parameters, images and labels, and each epoch's order. `start.py --start FILE`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import numpy as np

import model

x, y, x_test, y_test = peer.mnist()
rng = np.random.default_rng(model.SEED)
orders = np.stack([rng.permutation(len(x)) for _ in range(model.EPOCHS)]).astype(np.uint32)
peer.save_start((jax.jit(model.init)(jax.random.PRNGKey(model.SEED)), x, y, x_test, y_test, orders))
