"""The convolutional network of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

BATCH, LAPS, STEPS = 64, 4, 20


def loss(p, x, y):
    h = F.max_pool2d(F.relu(F.conv2d(x, p["c1"], p["b1"], padding="same")), 2)
    h = F.max_pool2d(F.relu(F.conv2d(h, p["c2"], p["b2"], padding="same")), 2)
    return F.cross_entropy(h.flatten(1) @ p["w"] + p["b"], y)


params = torch_peer.start()
x, y = params.pop("0").permute(0, 3, 1, 2).contiguous(), params.pop("1").long()
for name in ("c1", "c2"):
    params[name] = params[name].permute(3, 2, 0, 1).contiguous()
# The rows of the dense layer in the order of channels first.
params["w"] = params["w"].view(7, 7, 32, 10).permute(2, 0, 1, 3).reshape(-1, 10)
step = torch_peer.training(loss, params, 1e-3)


def on_batch(i):
    at = slice(i * BATCH, (i + 1) * BATCH)
    return step(x[at], y[at])


torch_peer.laps(on_batch, LAPS, STEPS, "loss")
