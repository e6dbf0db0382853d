"""What the tables of cases of the builtins share: inputs, cases, tolerances, and the files they are written to.

A case is a `.tl` expression over inputs, and what the JAX function of the same meaning gives for them. A subject is
three files of tests/data/builtins:

    SUBJECT.cases             a line each: name, tolerance and expression, set apart by tabs; `d.NAME` is an input
    SUBJECT.in.safetensors    the inputs
    SUBJECT.out.safetensors   the results: `cN` of the N-th case, `cN.i` where it gives a tuple. Where the device
                              takes subnormal numbers for zeros, `cN.exact` is what comes out if it did not
"""

import contextlib
import json
import math
import pathlib
import struct

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/data/builtins"

TYPES = {
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
}  # fmt: skip
NAMES = {np.dtype(dtype): name for name, dtype in TYPES.items()}
FLOATS = ["f32", "f64", "bf16", "f16"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTS = SIGNED + UNSIGNED
SAFETENSORS = {name: name.upper() for name in TYPES}

# Relative rounding of one operation, times what sums and products of many terms are allowed.
CLOSE = {"f32": 1e-5, "f64": 1e-14, "bf16": 2.0**-8, "f16": 2.0**-11}


def ulp(n=4):
    """Within n units in the last place of the element type."""
    return f"ulp {n}"


def terms(n, name="f32", factor=1.0):
    """For sums and products of n terms: relative to the largest result of the case."""
    return f"close {CLOSE[name] * factor * math.sqrt(max(n, 1)):.3g}"


def mixed(r):
    """Relative above 1, absolute below: for functions with zeros that are no numbers, and for what cancels."""
    return f"mixed {r:.3g}"


EXACT = ulp(0)

# What gives positions.
POSITIONS = ("arg", "nonzero", "searchsorted", "top_k", "categorical")


class Table:
    def __init__(self, subject):
        self.subject = subject
        self.inputs = {}
        self.names = {}
        self.lines = []
        self.outputs = {}

    def input(self, array):
        """The name of an input; equal arrays have one name."""
        array = np.asarray(array)
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self.names:
            self.names[key] = f"x{len(self.names)}"
            self.inputs[self.names[key]] = array
        return self.names[key]

    def case(self, name, expression, function, *arrays, tol=EXACT, wide=False, exact=None):
        """`{0}`, `{1}`, … of the expression are the arrays, which the function takes in that order."""
        arrays = [np.asarray(a) for a in arrays]
        number = len(self.lines)
        text = expression.format(*(f"d.{self.input(a)}" for a in arrays))
        kinds = {NAMES[a.dtype] for a in arrays if a.dtype in NAMES}
        wide = wide or any(k.endswith("64") for k in kinds)
        with jax.enable_x64(True) if wide else contextlib.nullcontext():
            found = function(*(jnp.asarray(a) for a in arrays))
            found = found if isinstance(found, (tuple, list)) else [found]
            found = [np.asarray(one) for one in found]
        if expression.startswith(POSITIONS):
            # JAX counts in 64 bits where it has them, the language in 32.
            values = 1 if expression.startswith("top_k") else 0
            found = found[:values] + [one.astype(np.int32) for one in found[values:]]
        self.lines.append(f"{name}\t{tol}\t{text}")
        several = len(found) > 1 or expression.startswith(("split_at", "nonzero"))
        for i, one in enumerate(found):
            self.outputs[f"c{number}.{i}" if several else f"c{number}"] = one
        if exact is not None:
            self.outputs[f"c{number}.exact"] = np.asarray(exact)

    def write(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{self.subject}.cases").write_text("".join(line + "\n" for line in self.lines))
        save(FOLDER / f"{self.subject}.in.safetensors", self.inputs)
        save(FOLDER / f"{self.subject}.out.safetensors", self.outputs)
        size = sum(f.stat().st_size for f in FOLDER.glob(f"{self.subject}.*"))
        print(f"{self.subject}: {len(self.lines)} cases, {size} bytes")


def save(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": SAFETENSORS[NAMES[array.dtype]],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


# Inputs.

SPECIAL = [
    math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, -1.5, 2.5, -2.5, 3.0, -3.7, 7.25,
    1e-3, -1e-3, 1e-6, -1e-6, 0.1, -0.1, 0.9, -0.99, 0.999, 1.001, 10.0, -10.0, 20.5, -20.5, 45.0, -45.0, 80.0, -80.0,
    11.2, -11.7, 87.5, 88.9, 89.3, 90.5, -87.5, -104.5, 127.6, 128.0, -127.5, 709.9, 710.4, 711.0, -745.5,
    1234.5, -1234.5, 1e10, -1e10, 3e38, -3e38, 2e-38, -2e-38,
]  # fmt: skip


def special(name):
    """NaN, infinities, both zeros, ties, and both ends of the range."""
    if name == "bool":
        return np.array([False, True, True, False])
    dtype = TYPES[name]
    if name in FLOATS:
        with np.errstate(over="ignore", under="ignore"):
            values = np.array(SPECIAL, np.float64).astype(dtype)
        tiny = ml_dtypes.finfo(dtype).tiny
        return values[~((values != 0) & (abs(values) < tiny))]
    info = np.iinfo(dtype)
    small = [0, 1, 2, 3, 5, 7, 10, 64, 100, info.max, info.max - 1, info.max // 2]
    low = [-1, -2, -3, -7, -100, info.min, info.min + 1] if info.min < 0 else []
    return np.array(small + low, dtype)


def some(name, shape, seed=0, low=-3.0, high=3.0):
    """Random numbers of a type; whole ones, small enough that their sums stay in range, for integers."""
    rng = np.random.default_rng([seed, *shape, len(shape)])
    if name == "bool":
        return rng.random(shape) < 0.5
    if name in FLOATS:
        return np.asarray(rng.uniform(low, high, shape)).astype(TYPES[name])
    low = max(int(low), 0) if name in UNSIGNED else int(low)
    return np.asarray(rng.integers(low, int(high) + 1, shape)).astype(TYPES[name])


def extremes(shape, name="f32", seed=0):
    """Some numbers with NaN, infinities and both zeros among them."""
    x = np.array(some(name, shape, seed))
    flat = x.reshape(-1)
    for i, value in enumerate([math.inf, -0.0, math.nan, -math.inf, 0.0]):
        if flat.size:
            flat[(i * 7 + seed) % flat.size] = value
    return x
