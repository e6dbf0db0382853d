"""The k-means of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

K, LAPS, STEPS = 64, 4, 5


@torch_peer.compiled
def better(x, c):
    d = (x * x).sum(1, keepdim=True) - 2.0 * x @ c.T + (c * c).sum(1)
    nearest, index = d.min(1)
    belongs = F.one_hot(index, K).float()
    count = belongs.sum(0)[:, None]
    return torch.where(count > 0, belongs.T @ x / count.clamp(min=1.0), c), nearest.mean()


start = torch_peer.start()
x, c = start["0"], start["1"]


def step(_):
    global c
    c, inertia = better(x, c)
    return inertia


with torch.no_grad():
    torch_peer.laps(step, LAPS, STEPS, "inertia")
