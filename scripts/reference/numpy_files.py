"""Reference of runtime/src/data: small files by NumPy itself, and safetensors by its definition.

Writes lines `name hex`, the bytes of a file each. What they hold is written out in runtime/tests/data.rs. Run as
    python scripts/reference/numpy_files.py > runtime/tests/reference/numpy_files.txt
"""

import io
import json

import numpy as np


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(save, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def safetensors(header, data):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


matrix = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)
cube = np.arange(24).reshape(2, 3, 4)
FILES = {
    "f32.npy": npy(matrix),
    "columns.npy": npy(np.asfortranarray(cube.astype(np.int16))),
    "big.npy": npy(np.array([1, -2, 3], dtype=">i4")),
    "f64.npy": npy(np.array(1.5)),
    "f16.npy": npy(np.array([1.5, -0.5], dtype=np.float16)),
    "bool.npy": npy(np.array([True, False])),
    "u64.npy": npy(np.array([2**64 - 1], dtype=np.uint64)),
    "empty.npy": npy(np.zeros((0, 3), dtype=np.int8)),
    "complex.npy": npy(np.array([1j])),
    "object.npy": npy(np.array([None]), allow_pickle=True),
    "text.npy": npy(np.array(["ab"])),
    "two.npz": npz(np.savez, x=matrix, n=np.int64(7)),
    "packed.npz": npz(np.savez_compressed, zeros=np.zeros(1000, dtype=np.float32), y=np.array([1, 2], dtype=np.uint8)),
    "two.safetensors": safetensors(
        {
            "__metadata__": {"made": "by hand"},
            "b": {"dtype": "BF16", "shape": [2], "data_offsets": [24, 28]},
            "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        },
        matrix.tobytes() + bytes.fromhex("803f00c0"),
    ),
    "f8.safetensors": safetensors({"x": {"dtype": "F8_E4M3", "shape": [1], "data_offsets": [0, 1]}}, b"\0"),
    "overlap.safetensors": safetensors(
        {
            "a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]},
            "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]},
        },
        b"\0\0\0",
    ),
}
for name, data in FILES.items():
    print(name, data.hex())
