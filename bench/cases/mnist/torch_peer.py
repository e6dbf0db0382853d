"""The perceptron of `examples/mnist.tl` in PyTorch, the images as numbers on the device."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer
import torch_peer

import torch
import torch.nn.functional as F

BATCH, LR = 128, 1e-3


def forward(p, x):
    return F.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def loss(p, x, y):
    return F.cross_entropy(forward(p, x), y)


@torch_peer.compiled
@torch.no_grad()
def accuracy(p, x, y):
    return (forward(p, x).argmax(1) == y).float().mean()


def main():
    params = torch_peer.start()
    x, y, x_test, y_test, orders = (params.pop(str(k)) for k in range(5))
    x, x_test, y, y_test = x.float() / 255.0, x_test.float() / 255.0, y.long(), y_test.long()
    step = torch_peer.training(loss, params, LR)
    steps = len(x) // BATCH  # the last partial batch is dropped
    epochs = peer.Epochs(len(orders))
    for order in orders.long():
        begin = time.perf_counter()
        losses = [step(x[batch], y[batch]) for batch in order[: steps * BATCH].view(steps, BATCH)]
        mean = float(torch.stack(losses).mean())
        trained = time.perf_counter()
        accuracies = float(accuracy(params, x, y)), float(accuracy(params, x_test, y_test))
        epochs.end(mean, *accuracies, trained - begin, time.perf_counter() - trained)
    epochs.done()


if __name__ == "__main__":
    main()
