"""What the PyTorch peers share: the values that the JAX peer starts from, and the one form in which they report.

Run as `cases/NAME/torch_peer.py START`; with `--compile`, what a step computes goes through `torch.compile`.
"""

import os
import sys

import numpy as np
import torch

# As many as XLA takes; PyTorch itself would take one a physical core.
torch.set_num_threads(len(os.sched_getaffinity(0)))


def start():
    """Tensors by name: PyTorch has no threefry, so the initial values come from a file that the JAX peer wrote."""
    with np.load(sys.argv[1]) as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


def compiled(function):
    return torch.compile(function) if "--compile" in sys.argv[1:] else function


def laps(step, count, steps, name):
    """`step(i)` gives the figure; `i` counts over all laps, and only the last one's figure of a lap is looked at."""
    for k in range(count):
        figure = None
        for i in range(steps):
            figure = step(k * steps + i)
        print(f"lap {k + 1}/{count}  {name}={float(figure):.6g}", flush=True)


def training(loss, params, lr, whole=True):
    """A step of Adam, in the form that is fastest on a CPU. `loss(params, *data)`; the step takes the data.
    `whole`: the loss is what `--compile` compiles."""
    for p in params.values():
        p.requires_grad_(True)
    optimizer = torch.optim.Adam(params.values(), lr=lr, fused=True)
    loss = compiled(loss) if whole else loss

    def step(*data):
        optimizer.zero_grad()
        value = loss(params, *data)
        value.backward()
        optimizer.step()
        return value.detach()

    return step
