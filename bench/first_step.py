"""Seconds from the start of the process to the end of the first step of MNIST, with what was compiled before on disk:
`tpuc`, and JAX's plain loop.

    bench/.venv/bin/python bench/first_step.py [TPUC]

Of `tpuc` a run with `--profile` says when each program starts and how long it takes; the one that takes the longest is the
epoch, a loop over its steps on the device, so its start is that of the first step. The peer looks at its clock when
its first step is done.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MNIST = ROOT / "bench/cases/mnist"
ROUNDS = 7


def of_trace(trace, wall):
    """When the longest program starts, seconds after the start of the process. `wall`: how long that took in all.

    The trace begins when the source is checked, and ends with the process but for the writing of the trace, which so
    counts as if it were before: the figure is a little too long and never too short.
    """
    runs = [event for event in trace["traceEvents"] if event.get("cat") == "execute"]
    first = max(runs, key=lambda event: event["dur"])["ts"]
    end = max(event["ts"] + event["dur"] for event in trace["traceEvents"] if "dur" in event)
    return wall - (end - first) / 1e6


def of_tpuc(tpuc, environment):
    with tempfile.TemporaryDirectory() as folder:
        command = [tpuc, "run", "examples/mnist.tl", "--set", "EPOCHS=1", "--profile", folder]
        start = time.perf_counter()
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        wall = time.perf_counter() - start
        return of_trace(json.loads((pathlib.Path(folder) / "trace.json").read_text()), wall)


def of_peer(environment):
    start = time.perf_counter()
    command = [sys.executable, __file__, "--peer"]
    peer = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    peer.stdout.readline()
    took = time.perf_counter() - start
    if peer.wait() != 0:
        sys.exit("the peer failed")
    return took


def peer():
    """As `cases/mnist/jax_plain.py` until its first step is done."""
    sys.path[:0] = [str(MNIST.parent.parent), str(MNIST)]
    import jax
    import jax.numpy as jnp
    import model
    import numpy as np
    from peer import mnist

    x, y, _, _ = mnist()
    x, y = x.astype(np.float32) / 255.0, y.astype(np.int32)
    params = model.init(jax.random.PRNGKey(model.SEED))
    state = model.optimizer.init(params)
    batch = np.random.default_rng(model.SEED).permutation(len(x))[: model.BATCH]
    step = jax.jit(lambda params, state, x, y: model.step(params, state, x, y))
    jax.block_until_ready(step(params, state, jnp.asarray(x[batch]), jnp.asarray(y[batch])))
    print("done", flush=True)


def main():
    tpuc = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/tpuc")
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {
            "XDG_CACHE_HOME": cache,
            "JAX_COMPILATION_CACHE_DIR": f"{cache}/jax",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
        # The first round fills the caches.
        rounds = [(of_tpuc(tpuc, environment), of_peer(environment)) for _ in range(ROUNDS + 1)][1:]
    ours, theirs = (statistics.median(side) for side in zip(*rounds))
    print(f"tpuc {ours:.2f} s, JAX {theirs:.2f} s, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    peer() if sys.argv[1:] == ["--peer"] else main()
