"""Logistic regression of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

LAPS, STEPS = 4, 10


@torch_peer.compiled
def loss(w, x, y):
    return F.binary_cross_entropy_with_logits(x @ w, y)


start = torch_peer.start()
w, x, y = start["0"].requires_grad_(True), start["1"], start["2"]


def step(_):
    w.grad = None
    value = loss(w, x, y)
    value.backward()
    with torch.no_grad():
        w.sub_(w.grad)
    return value.detach()


torch_peer.laps(step, LAPS, STEPS, "loss")
