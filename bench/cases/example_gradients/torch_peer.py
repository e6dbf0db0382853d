"""The per-example gradients of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

LAPS, STEPS = 4, 20


def loss(p, x, y):
    logits = F.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
    return F.cross_entropy(logits, y)


def one(p, x, y):
    g, value = torch.func.grad_and_value(loss)(p, x, y)
    norm = torch.sqrt(sum((t * t).sum() for t in g.values()))
    return value, {name: t / norm.clamp(min=1.0) for name, t in g.items()}


@torch_peer.compiled
def update(p, x, y):
    values, g = torch.func.vmap(one, in_dims=(None, 0, 0))(p, x, y)
    return {name: w - 0.1 * g[name].mean(0) for name, w in p.items()}, values.mean()


params = torch_peer.start()
x, y = params.pop("0"), params.pop("1").long()


def step(_):
    global params
    params, value = update(params, x, y)
    return value


torch_peer.laps(step, LAPS, STEPS, "loss")
