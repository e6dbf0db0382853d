"""Writes the parameters that all peers start from: `start.py --start FILE`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax

import model

peer.save_start((jax.jit(model.init)(jax.random.PRNGKey(model.SEED)),))
