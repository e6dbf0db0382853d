"""The transformer of `program.tl` in PyTorch."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

T, E, HEADS, BATCH, LAPS, STEPS = 64, 256, 4, 16, 4, 5


def dense(p, at, x):
    return x @ p[at + "/w"] + p[at + "/b"]


def layer_norm(p, at, x):
    return F.layer_norm(x, (E,), p[at + "/scale"], p[at + "/bias"], 1e-6)


def attention(p, at, x):
    q, k, v = ((x @ p[f"{at}/{name}"]).view(BATCH, T, HEADS, E // HEADS).transpose(1, 2) for name in "qkv")
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return mixed.transpose(1, 2).reshape(BATCH, T, E) @ p[at + "/out"]


def block(p, at, x):
    x = x + attention(p, at + "/attend", layer_norm(p, at + "/norm1", x))
    up = F.gelu(dense(p, at + "/up", layer_norm(p, at + "/norm2", x)), approximate="tanh")
    return x + dense(p, at + "/down", up)


def loss(p, letters):
    x = block(p, "second", block(p, "first", F.embedding(letters[:, :-1], p["letter"]) + p["place"]))
    logits = dense(p, "out", layer_norm(p, "norm", x))
    return F.cross_entropy(logits.flatten(0, 1), letters[:, 1:].flatten())


params = torch_peer.start()
letters = params.pop("0").long()
step = torch_peer.training(loss, params, 1e-3)
torch_peer.laps(lambda _: step(letters), LAPS, STEPS, "loss")
