"""The elementwise chain of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch

LAPS, STEPS = 4, 4


def ten(x):
    a = x * 0.9 + 0.05
    b = torch.tanh(a) - a * a * 0.1
    c = torch.maximum(b, 0.01 * b)
    return c / (1.0 + torch.abs(c))


chain = torch_peer.compiled(lambda x: ten(ten(ten(ten(x)))))
x = torch_peer.start()["0"]


def step(i):
    global x
    x = chain(x)
    return x.mean() if i % STEPS == STEPS - 1 else None


with torch.no_grad():
    torch_peer.laps(step, LAPS, STEPS, "mean")
