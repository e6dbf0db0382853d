"""The recurrent network of `program.tl` in PyTorch: the letters' embeddings and the logits stand outside the loop. What is
compiled is an iteration of the loop: `torch.compile` would unroll all 511."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch
import torch.nn.functional as F

HID, BATCH, LAPS, STEPS = 128, 16, 4, 5


@torch_peer.compiled
def cell(h, letter, w):
    return torch.tanh(letter + h @ w)


def loss(p, letters):
    read = F.embedding(letters[:-1], p["embed"]) + p["b"]
    h = torch.zeros(BATCH, HID)
    states = []
    for letter in read:
        h = cell(h, letter, p["w"])
        states.append(h)
    logits = torch.stack(states) @ p["out"]
    return F.cross_entropy(logits.flatten(0, 1), letters[1:].flatten())


params = torch_peer.start()
letters = params.pop("0").long()
step = torch_peer.training(loss, params, 1e-3, whole=False)
torch_peer.laps(lambda _: step(letters), LAPS, STEPS, "loss")
