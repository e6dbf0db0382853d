"""Reference of runtime/src/numpy_random.rs: permutations by NumPy itself.

Writes a line for each case: seed, n, count, the first elements of the last permutation, and the CRC-32 of
all permutations as little-endian int32. Run as
    python scripts/reference/numpy_permutations.py > runtime/tests/reference/numpy_permutations.txt
"""

import zlib

import numpy as np

SEEDS = [0, 1, 7, 42, 2**31, 2**32 - 1, 2**32, 123456789012345, 2**63, 2**64 - 1]
SIZES = [0, 1, 2, 3, 10, 1000, 60000, 100000]
COUNT = 3

print(f"# NumPy {np.__version__}")
print("# seed n count first_of_last crc32")
for seed in SEEDS:
    for n in SIZES:
        rng = np.random.default_rng(seed)
        all_orders = np.stack([rng.permutation(n) for _ in range(COUNT)]).astype("<i4")
        first = ",".join(str(i) for i in all_orders[-1][:5]) or "-"
        print(seed, n, COUNT, first, f"{zlib.crc32(all_orders.tobytes()):08x}")
