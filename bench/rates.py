"""What this machine does at its best: operations a second in a matrix product, bytes a second in a copy. Prints both as JSON."""

import json
import time

import numpy as np

SIZE = 2048
BYTES = 256 << 20


def best(work, rounds=5):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    a = np.random.default_rng(0).random((SIZE, SIZE), np.float32)
    product = np.empty_like(a)
    source = np.ones(BYTES // 8)
    target = np.zeros_like(source)
    matmul = 2 * SIZE**3 / best(lambda: np.matmul(a, a, out=product))
    # A copy reads and writes.
    copy = 2 * BYTES / best(lambda: np.copyto(target, source))
    print(json.dumps({"flops": matmul, "bytes": copy}))


if __name__ == "__main__":
    main()
