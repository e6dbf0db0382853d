"""A Python loop over jitted steps, each batch made with NumPy and copied to the device: how tutorials train."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import peer

import jax
import jax.numpy as jnp
import numpy as np

import model


def main():
    x, y, x_test, y_test = peer.mnist()
    x = x.astype(np.float32) / 255.0
    x_test = x_test.astype(np.float32) / 255.0
    y, y_test = y.astype(np.int32), y_test.astype(np.int32)

    params = model.init(jax.random.PRNGKey(model.SEED))
    opt_state = model.optimizer.init(params)
    step = jax.jit(lambda params, opt_state, x, y: model.step(params, opt_state, x, y))
    accuracy = jax.jit(model.accuracy)

    steps = len(x) // model.BATCH  # the last partial batch is dropped
    rng = np.random.default_rng(model.SEED)
    epochs = peer.Epochs(model.EPOCHS)
    for _ in range(model.EPOCHS):
        start = time.perf_counter()
        order = rng.permutation(len(x))
        losses = []
        for i in range(steps):
            batch = order[i * model.BATCH : (i + 1) * model.BATCH]
            params, opt_state, loss = step(params, opt_state, jnp.asarray(x[batch]), jnp.asarray(y[batch]))
            losses.append(loss)  # stays on the device: one wait an epoch, not one a step
        mean = float(jnp.mean(jnp.stack(losses)))
        trained = time.perf_counter()
        train_acc = float(accuracy(params, jnp.asarray(x), jnp.asarray(y)))
        test_acc = float(accuracy(params, jnp.asarray(x_test), jnp.asarray(y_test)))
        epochs.end(mean, train_acc, test_acc, trained - start, time.perf_counter() - trained)
    epochs.done()


if __name__ == "__main__":
    main()
