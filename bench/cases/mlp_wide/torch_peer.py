"""The wide perceptron of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

LAPS, STEPS = 4, 2


def loss(p, x, y):
    h = F.relu(x @ p["w1"] + p["b1"])
    h = F.relu(h @ p["w2"] + p["b2"])
    return F.cross_entropy(h @ p["w3"] + p["b3"], y)


params = torch_peer.start()
x, y = params.pop("0"), params.pop("1").long()
step = torch_peer.training(loss, params, 1e-4)
torch_peer.laps(lambda _: step(x, y), LAPS, STEPS, "loss")
