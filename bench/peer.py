"""What the JAX peers share: MNIST from its local files, and the one form in which they report. Not a benchmark itself."""

import json
import os
import pathlib
import sys
import time

import numpy as np

STARTED = time.perf_counter()
ROOT = pathlib.Path(__file__).resolve().parent.parent


def mnist():
    """Training images (60000, 784) u8 and labels (60000,) u8, then those of the test set (10000 of each)."""
    folder = pathlib.Path(os.environ.get("TPUC_MNIST") or ROOT / ".deps/data/mnist")
    return (
        _idx(folder / "train-images-idx3-ubyte").reshape(-1, 784),
        _idx(folder / "train-labels-idx1-ubyte"),
        _idx(folder / "t10k-images-idx3-ubyte").reshape(-1, 784),
        _idx(folder / "t10k-labels-idx1-ubyte"),
    )


def _idx(path):
    data = path.read_bytes()
    zero, kind, rank = int.from_bytes(data[:2], "big"), data[2], data[3]
    if zero != 0 or kind != 8:
        sys.exit(f"{path} is not an IDX file of bytes")
    shape = np.frombuffer(data, ">i4", rank, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


class Epochs:
    """Prints each epoch's line as it ends, and at the end one line of JSON with the times that only the program knows."""

    def __init__(self, count):
        self.count = count
        self.setup = time.perf_counter() - STARTED
        self.train = []
        self.evaluate = []

    def end(self, loss, train_acc, test_acc, train_seconds, evaluate_seconds):
        self.train.append(train_seconds)
        self.evaluate.append(evaluate_seconds)
        print(
            f"epoch {len(self.train)}/{self.count}  loss={loss:.4f}  "
            f"train_acc={train_acc:.4f}  test_acc={test_acc:.4f}",
            flush=True,
        )

    def done(self):
        seconds = {"setup": self.setup, "train": self.train, "evaluate": self.evaluate}
        print(json.dumps({"seconds": seconds}), flush=True)


def laps(state, step, count, steps, name):
    """Trains for `count` laps of `steps` steps, printing the last step's figure at the end of each.

    `step(state, i)` gives the next state and the figure; `i` counts over all laps. With `--scan` a lap is one
    `lax.scan` whose state is donated; without, a Python loop over the jitted step. With `--start FILE` nothing is
    trained: the file gets what the training starts from.
    """
    import jax
    import jax.numpy as jnp

    if "--start" in sys.argv[1:]:
        return save_start(state)
    if "--scan" in sys.argv[1:]:

        def body(state, first):
            state, figures = jax.lax.scan(step, state, first + jnp.arange(steps))
            return state, figures[-1]

        lap = jax.jit(body, donate_argnums=0)
    else:
        one = jax.jit(step)

        def lap(state, first):
            figure = None
            for i in range(steps):
                state, figure = one(state, first + i)
            return state, figure

    for k in range(count):
        state, figure = lap(state, k * steps)
        print(f"lap {k + 1}/{count}  {name}={float(figure):.6g}", flush=True)


def save_start(state):
    """Writes the arrays of a state for the peers that cannot draw the same numbers, as the `.npz` file named on the command line.

    What stands in dictionaries goes by its keys, as in `first/attend/q`; the other arrays by their place among themselves.
    The optimiser's state, a tuple, starts at zero everywhere and is left out.
    """
    import jax

    arrays = {}
    for part in state if isinstance(state, tuple) else (state,):
        if isinstance(part, dict):
            for path, leaf in jax.tree_util.tree_leaves_with_path(part):
                arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = leaf
        elif not isinstance(part, tuple):
            arrays[str(sum(name.isdigit() for name in arrays))] = part
    file = sys.argv[sys.argv.index("--start") + 1]
    np.savez(file, **{name: np.ascontiguousarray(array) for name, array in arrays.items()})


def training(loss, optimizer):
    """A step over (parameters, the optimiser's state, data…): the gradient of `loss(parameters, *data)`, applied."""
    import jax
    import optax

    def step(state, _):
        params, opt, *data = state
        value, grads = jax.value_and_grad(loss)(params, *data)
        updates, opt = optimizer.update(grads, opt, params)
        return (optax.apply_updates(params, updates), opt, *data), value

    return step
