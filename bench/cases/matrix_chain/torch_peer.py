"""The chain of `program.tl` in PyTorch; with `--tuned`, in the order that its own function finds."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import torch_peer

import torch

LAPS, STEPS = 4, 20
TUNED = "--tuned" in sys.argv[1:]


@torch_peer.compiled
def apply(a, b, c, v):
    w = torch.linalg.multi_dot([a, b, c, v]) if TUNED else (a @ b @ c) @ v
    return w / torch.sqrt((w * w).sum())


start = torch_peer.start()
a, b, c, v = (start[str(k)] for k in range(4))


def step(_):
    global v
    v = apply(a, b, c, v)
    return v.sum()


with torch.no_grad():
    torch_peer.laps(step, LAPS, STEPS, "norm")
