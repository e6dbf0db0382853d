#!/usr/bin/env python3
"""Reference values of the IR's primitives, from NumPy, SciPy and JAX.

Run with numpy, scipy, ml_dtypes and jax installed:

    python scripts/reference/primitives.py > compiler/src/interp/primitives.jsonl

One JSON object a line: a function in the IR's text form, its inputs and results as types and bit patterns (hex), and
by how much a float result may differ: `ulps` units in the last place of its type, or `relative` of its size.
"""

import json
import sys

import jax
import ml_dtypes
import numpy as np
import scipy.special as sp
from jax import lax

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(7)

NAMES = {
    np.dtype(np.float32): "f32",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(np.float16): "f16",
    np.dtype(np.float64): "f64",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "u8",
    np.dtype(np.uint16): "u16",
    np.dtype(np.uint32): "u32",
    np.dtype(np.uint64): "u64",
    np.dtype(np.bool_): "bool",
}
DTYPES = {name: dtype for dtype, name in NAMES.items()}
FLOATS = ["f32", "bf16", "f16", "f64"]
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


def type_of(a):
    shape = ", ".join(str(d) for d in a.shape)
    return NAMES[a.dtype] + (f"[{shape}]" if a.shape else "")


def bits(a):
    width = a.dtype.itemsize
    flat = np.ascontiguousarray(a).reshape(-1).view(f"u{width}")
    return " ".join(f"{int(x):x}" for x in flat)


def emit(name, body, inputs, outputs, ulps=0, relative=0.0):
    """`body` defines one value for each output, `%r0`, `%r1`, …, from `%a0`, `%a1`, …"""
    inputs = [np.asarray(a) for a in inputs]
    outputs = [np.asarray(a) for a in outputs]
    params = ", ".join(f"%a{i}: {type_of(a)}" for i, a in enumerate(inputs))
    results = ", ".join(type_of(a) for a in outputs)
    values = ", ".join(f"%r{i}" for i in range(len(outputs)))
    ir = f"func case({params}) -> ({results}) {{\n{body}\nreturn {values}\n}}"
    record = {
        "name": name,
        "ir": ir,
        "inputs": [bits(a) for a in inputs],
        "outputs": [bits(a) for a in outputs],
        "ulps": ulps,
        "relative": relative,
    }
    print(json.dumps(record))


def op(name, text, inputs, outputs, **tolerance):
    """A case of one primitive, `text` being its name and attributes."""
    inputs = [np.asarray(a) for a in inputs]
    outputs = [np.asarray(a) for a in outputs]
    operands = ", ".join(f"%a{i}" for i in range(len(inputs)))
    results = ", ".join(f"%r{i}" for i in range(len(outputs)))
    types = ", ".join(type_of(a) for a in outputs)
    emit(name, f"{results} = {text} {operands} : {types}", inputs, outputs, **tolerance)


def specials(dtype):
    info = ml_dtypes.finfo(dtype)
    tiny = [float(info.tiny), -float(info.tiny), float(info.smallest_subnormal) * 3]
    values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.3, -0.7, 0.999, -0.999, 3.7, -3.7, 1e-3, -1e-3, 1e-6]
    values += [5.25, -5.25, 10, -10, 20.5, -20.5, 80, -80, 1000.5, np.inf, -np.inf, np.nan, float(info.max)]
    with np.errstate(all="ignore"):
        return np.array(values + tiny).astype(dtype)


def randoms(dtype, shape, low=-3.0, high=3.0):
    return rng.uniform(low, high, shape).astype(dtype)


def integers(dtype, shape):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def edges(dtype):
    info = np.iinfo(dtype)
    small = [0, 1, 2, 3, 7, 8, 31, 32, 63, 100]
    if info.min < 0:
        small += [-1, -2, -3, -7, -8, -100]
    return np.array([dtype.type(v) for v in small + [int(info.min), int(info.max), int(info.max) - 1]])


def few_edges(dtype):
    info = np.iinfo(dtype)
    small = [0, 1, 2, 7, 33] + ([-1, -3] if info.min < 0 else [])
    return np.array([dtype.type(v) for v in small + [int(info.min), int(info.max)]])


def pairs(values):
    a, b = np.meshgrid(values, values, indexing="ij")
    return a.reshape(-1), b.reshape(-1)


# ---- Elementwise, one operand: in f64 by NumPy and SciPy, rounded once.


def lgamma(x):
    return np.where(np.isneginf(x), np.inf, sp.gammaln(x))


UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "logistic": sp.expit,
    "erf": sp.erf,
    "erfc": sp.erfc,
    "erf_inv": sp.erfinv,
    "lgamma": lgamma,
}
EXACT = {"neg", "abs", "sign", "floor", "ceil", "round", "sqrt"}


def unary():
    for name, f in UNARY.items():
        for elem in FLOATS:
            dtype = DTYPES[elem]
            x = np.concatenate([specials(dtype), randoms(dtype, 20), randoms(dtype, 10, -30, 30)])
            if name == "lgamma" and elem == "f64":
                # At subnormal numbers SciPy overflows, which the logarithm does not.
                x = x[~((x != 0) & (np.abs(x) < 1e-300))]
            with np.errstate(all="ignore"):
                y = f(x.astype(np.float64)).astype(dtype)
            ulps = 0 if name in EXACT else (8 if elem == "f64" else 1)
            relative = 1e-12 if name in ("lgamma", "logistic", "erfc") and elem == "f64" else 0.0
            op(f"{name} {elem}", name, [x], [y], ulps=ulps, relative=relative)
    for elem in FLOATS:
        x = specials(DTYPES[elem])
        op(f"is_finite {elem}", "is_finite", [x], [np.isfinite(x.astype(np.float64))])
    for elem in INTS:
        x = edges(DTYPES[elem])
        with np.errstate(all="ignore"):
            op(f"neg {elem}", "neg", [x], [np.negative(x)])
            op(f"not {elem}", "not", [x], [np.invert(x)])
            if elem[0] == "i":
                op(f"abs {elem}", "abs", [x], [np.abs(x)])
                op(f"sign {elem}", "sign", [x], [np.sign(x)])
    mask = np.array([True, False])
    op("not bool", "not", [mask], [~mask])


def jax_conventions():
    """Where conventions differ between libraries, JAX's: poles, edges, half-way cases."""
    x = np.array([0, -0.0, -1, -2, -0.5, -1.5, -7.25, -33.3, 0.1, 1, 1.4616321, 2, 5, 11.5, 100, 1e6, np.nan, -np.inf])
    for elem, relative in [("f32", 2e-5), ("f64", 1e-12)]:
        x_ = x.astype(DTYPES[elem])
        y = np.asarray(jax.jit(lax.digamma)(np.append(x_[x_ != x_[10]], np.inf).astype(x_.dtype)))
        op(f"digamma {elem}", "polygamma[order = 0]", [np.append(x_[x_ != x_[10]], np.inf).astype(x_.dtype)], [y], relative=relative)
        for order in (1, 2, 3, 5):
            # Further below 0, JAX's series begins too early to be exact.
            near = x_[(x_ > -2.5) | ~np.isfinite(x_)]
            n = np.full_like(near, order)
            y = np.asarray(jax.jit(lax.polygamma)(n, near))
            op(f"polygamma {order} {elem}", f"polygamma[order = {order}]", [near], [y], relative=relative * 10)
        edge = np.array([0, -0.0, 1, -1, 1.5, -2, np.nan, 0.1, -0.3, 0.75, 0.99, -0.999], x_.dtype)
        op(f"erf_inv edges {elem}", "erf_inv", [edge], [jax.jit(lax.erf_inv)(edge)], relative=2e-5 if elem == "f32" else 1e-12)
        poles = np.array([0, -0.0, -1, -2, np.inf, -np.inf, np.nan, -0.5, 0.5, 3, 30], x_.dtype)
        op(f"lgamma edges {elem}", "lgamma", [poles], [jax.jit(lax.lgamma)(poles)], relative=2e-5 if elem == "f32" else 1e-12)
    far = np.array([-7.25, -19.9, -40.25, -100.5, -33.3, -1000.125])
    for order in (1, 2, 3):
        # The series itself, up to where SciPy's zeta function takes over.
        total = sum((far + k) ** -(order + 1.0) for k in range(2000))
        total = total + sp.zeta(order + 1, far + 2000)
        y = (-1.0) ** (order + 1) * sp.factorial(order) * total
        op(f"polygamma {order} far below", f"polygamma[order = {order}]", [far], [y], relative=1e-10)


# ---- Elementwise, two and three operands.

BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "rem": np.fmod,
    "pow": np.power,
    "max": np.maximum,
    "min": np.minimum,
    "atan2": np.arctan2,
}
COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def binary():
    values = [0.0, -0.0, 1, -1, 0.5, -2, 3, 7.25, -7.25, 100, 1e-3, np.inf, -np.inf, np.nan]
    for elem in FLOATS:
        dtype = DTYPES[elem]
        a, b = pairs(np.array(values).astype(dtype))
        for name, f in BINARY.items():
            with np.errstate(all="ignore"):
                y = f(a.astype(np.float64), b.astype(np.float64)).astype(dtype)
            if name in ("max", "min"):
                # NumPy leaves the sign of a zero open.
                zeros = (a == 0) & (b == 0)
                negative = np.signbit(a) & np.signbit(b) if name == "max" else np.signbit(a) | np.signbit(b)
                y = np.where(zeros, np.where(negative, -0.0, 0.0).astype(dtype), y)
            ulps = {"pow": 2, "atan2": 2}.get(name, 0)
            op(f"{name} {elem}", name, [a, b], [y], ulps=ulps)
        for name, f in COMPARE.items() if elem in ("f32", "f16") else ():
            op(f"{name} {elem}", name, [a, b], [f(a.astype(np.float64), b.astype(np.float64))])
    for elem in INTS:
        dtype = DTYPES[elem]
        a, b = pairs(few_edges(dtype))
        width = dtype.itemsize * 8
        with np.errstate(all="ignore"):
            for name in ("add", "sub", "mul", "max", "min"):
                op(f"{name} {elem}", name, [a, b], [BINARY[name](a, b)])
            op(f"div {elem}", "div", [a, b], [jax.jit(lax.div)(a, b)])
            op(f"rem {elem}", "rem", [a, b], [jax.jit(lax.rem)(a, b)])
            op(f"and {elem}", "and", [a, b], [a & b])
            op(f"or {elem}", "or", [a, b], [a | b])
            op(f"xor {elem}", "xor", [a, b], [a ^ b])
            op(f"shl {elem}", "shl", [a, b], [jax.jit(lax.shift_left)(a, b)])
            op(f"shr_arith {elem}", "shr_arith", [a, b], [jax.jit(lax.shift_right_arithmetic)(a, b)])
            op(f"shr_logical {elem}", "shr_logical", [a, b], [jax.jit(lax.shift_right_logical)(a, b)])
            positive = b >= 0
            power = [pow(int(x), int(y), 2**width) for x, y in zip(a[positive], b[positive])]
            wrapped = np.array(power, np.uint64).astype(f"u{dtype.itemsize}").view(dtype)
            op(f"pow {elem}", "pow", [a[positive], b[positive]], [wrapped])
        if elem in ("i8", "i32", "u64"):
            for name, f in COMPARE.items():
                op(f"{name} {elem}", name, [a, b], [f(a, b)])
    p, q = pairs(np.array([False, True]))
    for name, f in {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "max": np.logical_or, "min": np.logical_and}.items():
        op(f"{name} bool", name, [p, q], [f(p, q)])
    for name, f in COMPARE.items():
        op(f"{name} bool", name, [p, q], [f(p, q)])


def ternary():
    for elem in ["f32", "i32", "u8", "bf16"]:
        dtype = DTYPES[elem]
        base = specials(dtype) if elem in FLOATS else edges(dtype)
        x, y = np.resize(base, 40), np.resize(base[::-1], 40)
        c = rng.integers(0, 2, 40).astype(bool)
        op(f"select {elem}", "select", [c, x, y], [np.where(c, x, y)])
        lo, hi = np.resize(base[3:], 40), np.resize(base[5:], 40)
        # NumPy leaves the sign of a zero open.
        keep = (x != 0) & (lo != 0) & (hi != 0)
        lo, x, hi = lo[keep], x[keep], hi[keep]
        op(f"clamp {elem}", "clamp", [lo, x, hi], [np.minimum(np.maximum(x, lo), hi)])


def conversions():
    f = np.array([0, -0.0, 0.4, -0.6, 1.9, -1.9, 127, 128, -129, 255.5, 256, 70000, 3e9, -3e9, 1e19, 1e20, -1e20, np.inf, -np.inf, np.nan])
    for source in FLOATS:
        with np.errstate(all="ignore"):
            x = f.astype(DTYPES[source])
        for target in FLOATS:
            with np.errstate(all="ignore"):
                op(f"convert {source} {target}", "convert", [x], [x.astype(np.float64).astype(DTYPES[target])])
        for target in INTS:
            info = np.iinfo(DTYPES[target])
            saturated = [0 if np.isnan(v) else info.max if v >= info.max else info.min if v <= info.min else int(v) for v in x.astype(np.float64)]
            op(f"convert {source} {target}", "convert", [x], [np.array(saturated, DTYPES[target])])
        op(f"convert {source} bool", "convert", [x], [x.astype(np.float64) != 0])
    for source in INTS:
        x = edges(DTYPES[source])
        for target in INTS + ["f32", "f64", "f16", "bf16"]:
            op(f"convert {source} {target}", "convert", [x], [x.astype(DTYPES[target])])
        op(f"convert {source} bool", "convert", [x], [x != 0])
    mask = np.array([True, False])
    for target in INTS + FLOATS:
        op(f"convert bool {target}", "convert", [mask], [mask.astype(DTYPES[target])])
    big = np.array([2**24 + 1, 2**25 + 3, 2**53 + 1, 2**62 + 2**38 + 1, -(2**62) - 2**38 - 1], np.int64)
    op("convert i64 f32 once rounded", "convert", [big], [big.astype(np.float32)])
    # Half a unit and a little above: twice rounded, it would go down.
    half = np.array([1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-8, 1 + 3 * 2.0**-8, 2.0**-134, 2.0**-133 * 1.5, 3.4e38])
    expected = [1 + 2.0**-7, 1.0, 1 + 2 * 2.0**-7, 0.0, 2.0**-132, np.inf]
    op("convert f64 bf16 once rounded", "convert", [half], [np.array(expected).astype(ml_dtypes.bfloat16)])
    x = specials(np.dtype(np.float32))
    finite = x[~np.isnan(x)]
    op("bitcast f32 u32", "bitcast", [finite], [finite.view(np.uint32)])
    op("bitcast u32 f32", "bitcast", [finite.view(np.uint32)], [finite])
    h = specials(np.dtype(np.float16))
    h = h[~np.isnan(h)]
    op("bitcast f16 i16", "bitcast", [h], [h.view(np.int16)])
    u = edges(np.dtype(np.uint64))
    op("bitcast u64 i64", "bitcast", [u], [u.view(np.int64)])


def threefry():
    from jax.extend.random import threefry2x32_p

    k = integers(np.uint32, (2, 16))
    x = integers(np.uint32, (2, 16))
    y = jax.jit(threefry2x32_p.bind)(k[0], k[1], x[0], x[1])
    op("threefry", "threefry", [k[0], k[1], x[0], x[1]], y)


# ---- Structural.


def structural():
    x = randoms(np.float32, (2, 3, 4))
    emit("iota", "%r0 = iota[axis = 1] : i32[2, 3, 2]\n%r1 = iota[axis = 0] : bf16[300]", [], [lax.broadcasted_iota(np.int32, (2, 3, 2), 1), np.arange(300).astype(ml_dtypes.bfloat16)])
    op("broadcast", "broadcast[dims = [0, 2]]", [x[:, :1, 0].copy()], [np.broadcast_to(x[:, :1, 0][:, None, :], (2, 5, 3))])
    op("broadcast scalar", "broadcast[dims = []]", [np.float32(3)], [np.full((2, 0, 3), 3, np.float32)])
    op("reshape", "reshape", [x], [x.reshape(4, 6)])
    op("transpose", "transpose[perm = [2, 0, 1]]", [x], [x.transpose(2, 0, 1)])
    op("slice", "slice[start = [0, 1, 0], limit = [2, 3, 4], stride = [1, 1, 3]]", [x], [x[0:2, 1:3, 0:4:3]])
    for low, high, interior in [((1, 0, 2), (0, 1, 1), (0, 2, 1)), ((-1, 2, -2), (0, -3, 3), (1, 0, 2)), ((0, -2, 0), (0, -4, 0), (0, 3, 0))]:
        y = jax.jit(lambda x: lax.pad(x, np.float32(9), list(zip(low, high, interior))))(x)
        op(f"pad {low} {high} {interior}", f"pad[low = {list(low)}, high = {list(high)}, interior = {list(interior)}]", [x, np.float32(9)], [y])
    op("pad empty", "pad[low = [2], high = [1], interior = [3]]", [np.zeros(0, np.int32), np.int32(5)], [np.full(3, 5, np.int32)])
    op("concat", "concat[axis = 1]", [x, x[:, :1], x[:, :0]], [np.concatenate([x, x[:, :1]], 1)])
    op("reverse", "reverse[axes = [2, 0]]", [x], [x[::-1, :, ::-1]])


def dynamic():
    x = randoms(np.float32, (5, 6))
    for i, j in [(0, 0), (2, 3), (4, 5), (-1, -7), (100, 2)]:
        starts = [np.int32(i), np.int32(j)]
        ci, cj = min(max(i, 0), 3), min(max(j, 0), 2)
        op(f"dynamic_slice {i} {j}", "dynamic_slice[sizes = [2, 4]]", [x] + starts, [x[ci : ci + 2, cj : cj + 4]])
        update = randoms(np.float32, (2, 4))
        z = np.array(x)
        z[ci : ci + 2, cj : cj + 4] = update
        op(f"dynamic_update_slice {i} {j}", "dynamic_update_slice", [x, update] + starts, [z])


def gather_text(d, sizes):
    return (
        f"gather[offset_dims = {list(d.offset_dims)}, collapsed_slice_dims = {list(d.collapsed_slice_dims)}, "
        f"operand_batching_dims = {list(d.operand_batching_dims)}, start_indices_batching_dims = {list(d.start_indices_batching_dims)}, "
        f"start_index_map = {list(d.start_index_map)}, index_vector_dim = VECTOR, slice_sizes = {list(sizes)}]"
    )


def scatter_text(op, d):
    return (
        f"scatter_{op}[update_window_dims = {list(d.update_window_dims)}, inserted_window_dims = {list(d.inserted_window_dims)}, "
        f"input_batching_dims = {list(d.operand_batching_dims)}, scatter_indices_batching_dims = {list(d.scatter_indices_batching_dims)}, "
        f"scatter_dims_to_operand_dims = {list(d.scatter_dims_to_operand_dims)}, index_vector_dim = VECTOR]"
    )


def indexing():
    G, S = lax.GatherDimensionNumbers, lax.ScatterDimensionNumbers
    x = randoms(np.float32, (5, 4, 3))
    cases = [
        ("rows", G((1, 2), (0,), (0,)), (1, 4, 3), np.array([[0], [4], [-2], [9], [2]], np.int32)),
        ("middle", G((0, 3), (1,), (1,)), (5, 1, 3), np.array([[[0], [3]], [[-1], [7]]], np.int32)),
        ("points", G((), (0, 1, 2), (2, 0, 1)), (1, 1, 1), np.array([[0, 1, 2], [2, 4, 3], [-5, 9, 1]], np.int32)),
        ("windows", G((1, 2, 3), (), (0, 2)), (2, 4, 2), np.array([[0, 0], [3, 1], [4, 2], [-1, 9]], np.int32)),
        ("batched", G((1,), (1,), (1,), (0,), (0,)), (1, 1, 3), np.array([[0], [3], [9], [-1], [2]], np.int32)),
        ("batched twice", G((2,), (1,), (1,), (0,), (1,)), (1, 1, 3), integers(np.int32, (2, 5, 1)) % 6),
    ]
    for name, dims, sizes, idx in cases:
        y = jax.jit(lambda x, i: lax.gather(x, i, dims, sizes, mode="clip"))(x, idx)
        text = gather_text(dims, sizes).replace("VECTOR", str(idx.ndim - 1))
        op(f"gather {name}", text, [x, idx], [y])
    flat = np.array([3, 0, 9], np.int32)
    op("gather vector of one", gather_text(G((1, 2), (0,), (0,)), (1, 4, 3)).replace("VECTOR", "1"), [x, flat], [x[[3, 0, 4]]])
    moved = np.array([[0, 4, 1], [1, 2, 3]], np.int32)
    y = jax.jit(lambda x, i: lax.gather(x, i, G((1,), (0, 1), (0, 1)), (1, 1, 3), mode="clip"))(x, moved.T)
    op("gather vector first", gather_text(G((1,), (0, 1), (0, 1)), (1, 1, 3)).replace("VECTOR", "0"), [x, moved], [y])

    cases = [
        ("rows", S((1, 2), (0,), (0,)), np.array([[0], [4], [-2], [9], [2], [4]], np.int32), (6, 4, 3)),
        ("middle", S((0, 3), (1,), (1,)), np.array([[[0], [3]], [[0], [7]]], np.int32), (5, 2, 2, 3)),
        ("points", S((), (0, 1, 2), (2, 0, 1)), np.array([[0, 1, 2], [2, 4, 3], [-5, 9, 1], [0, 1, 2]], np.int32), (4,)),
        ("windows", S((1, 2, 3), (), (0, 2)), np.array([[0, 0], [3, 1], [4, 1], [-1, 0], [2, 1]], np.int32), (5, 2, 4, 2)),
        ("batched", S((1,), (1,), (1,), (0,), (0,)), np.array([[0], [3], [9], [-1], [2]], np.int32), (5, 3)),
    ]
    for name, dims, idx, shape in cases:
        updates = randoms(np.float32, shape)
        add = jax.jit(lambda x, i, u: lax.scatter_add(x, i, u, dims, mode="drop"))(x, idx, updates)
        text = scatter_text("add", dims).replace("VECTOR", str(idx.ndim - 1))
        op(f"scatter_add {name}", text, [x, idx, updates], [add], ulps=2)
        put = jax.jit(lambda x, i, u: lax.scatter(x, i, u, dims, mode="drop"))(x, idx, updates)
        text = scatter_text("set", dims).replace("VECTOR", str(idx.ndim - 1))
        op(f"scatter_set {name}", text, [x, idx, updates], [put])
    bytes_ = integers(np.uint8, (5,))
    idx = np.array([[1], [1], [3], [1]], np.int32)
    ups = np.array([200, 100, 255, 7], np.uint8)
    y = jax.jit(lambda x, i, u: lax.scatter_add(x, i, u, S((), (0,), (0,)), mode="drop"))(bytes_, idx, ups)
    op("scatter_add u8", scatter_text("add", S((), (0,), (0,))).replace("VECTOR", "1"), [bytes_, idx, ups], [y])


# ---- Reductions.


def reductions():
    x = randoms(np.float32, (3, 4, 5))
    x[0, 1, 2] = np.nan
    x[2, 3, 4] = np.inf
    fs = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
    cums = {"sum": lax.cumsum, "prod": lax.cumprod, "max": lax.cummax, "min": lax.cummin}
    for name, f in fs.items():
        for axes in [(), (0,), (1,), (0, 2), (0, 1, 2)]:
            y = f(x.astype(np.float64), axis=axes).astype(np.float32)
            op(f"reduce_{name} {axes}", f"reduce_{name}[axes = {list(axes)}]", [x], [y], ulps=1)
        for elem in ["i8", "u8", "i32"]:
            v = integers(DTYPES[elem], (3, 4))
            y = f(v, axis=0, dtype=v.dtype) if name in ("sum", "prod") else f(v, axis=0)
            op(f"reduce_{name} {elem}", f"reduce_{name}[axes = [0]]", [v], [y])
            for reverse in (False, True):
                y = jax.jit(lambda v: cums[name](v, axis=1, reverse=reverse))(v)
                flag = ", reverse" if reverse else ""
                op(f"cum{name} {elem}{flag}", f"cum{name}[axis = 1{flag}]", [v], [y])
        finite = randoms(np.float32, (3, 6))
        for axis in (0, 1):
            for reverse in (False, True):
                y = jax.jit(lambda v: cums[name](v, axis=axis, reverse=reverse))(finite.astype(np.float64))
                flag = ", reverse" if reverse else ""
                op(f"cum{name} {axis}{flag}", f"cum{name}[axis = {axis}{flag}]", [finite], [np.asarray(y).astype(np.float32)], ulps=1)
    with np.errstate(all="ignore"):
        empty = {"sum": 0.0, "prod": 1.0, "max": -np.inf, "min": np.inf}
    for name, value in empty.items():
        op(f"reduce_{name} empty", f"reduce_{name}[axes = [0]]", [np.zeros((0, 2), np.float32)], [np.full(2, value, np.float32)])
    op("reduce_max empty i8", "reduce_max[axes = [0]]", [np.zeros(0, np.int8)], [np.int8(-128)])
    op("reduce_min empty u16", "reduce_min[axes = [0]]", [np.zeros(0, np.uint16)], [np.uint16(65535)])
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    op("reduce_max bool", "reduce_max[axes = [1]]", [mask], [mask.any(1)])
    op("reduce_min bool", "reduce_min[axes = [1]]", [mask], [mask.all(1)])
    op("cummax bool", "cummax[axis = 1]", [mask], [np.logical_or.accumulate(mask, 1)])
    ties = np.array([[1, 3, 3, 0], [np.nan, 9, np.nan, 1], [-0.0, 0.0, -1, -1], [2, np.inf, np.nan, 1]], np.float32)
    for axis in (0, 1):
        op(f"argmax {axis}", f"argmax[axis = {axis}]", [ties], [jax.jit(lambda v: lax.argmax(v, axis, np.int32))(ties)])
        op(f"argmin {axis}", f"argmin[axis = {axis}]", [ties], [jax.jit(lambda v: lax.argmin(v, axis, np.int32))(ties)])
    v = np.array([[200, 3, 255, 255], [0, 9, 0, 1]], np.uint8)
    op("argmax u8", "argmax[axis = 1]", [v], [np.argmax(v, 1).astype(np.int32)])
    op("argmin u8", "argmin[axis = 1]", [v], [np.argmin(v, 1).astype(np.int32)])


def window_text(size, stride, padding, base, dilation):
    return f"[size = {list(size)}, stride = {list(stride)}, padding = {list(padding)}, base_dilation = {list(base)}, window_dilation = {list(dilation)}]"


def windows():
    x = randoms(np.float32, (6, 7))
    forms = [
        ((2, 3), (2, 1), [(0, 0), (0, 0)], (1, 1), (1, 1)),
        ((3, 2), (1, 2), [(1, 2), (0, 1)], (1, 1), (1, 2)),
        ((2, 2), (1, 3), [(-1, 0), (2, -2)], (2, 1), (1, 3)),
        ((1, 9), (1, 1), [(0, 0), (0, 0)], (1, 1), (1, 1)),
    ]
    combine = {"sum": (lax.add, 0.0), "prod": (lax.mul, 1.0), "max": (lax.max, -np.inf), "min": (lax.min, np.inf)}
    for form in forms:
        size, stride, padding, base, dilation = form
        for name, (f, start) in combine.items():
            y = jax.jit(lambda x: lax.reduce_window(x, np.float64(start), f, size, stride, padding, base, dilation))(x.astype(np.float64))
            op(f"reduce_window_{name} {form}", f"reduce_window_{name}{window_text(*form)}", [x], [np.asarray(y).astype(np.float32)], ulps=1)
    ints = integers(np.int32, (5, 5)) % 10
    y = jax.jit(lambda x: lax.reduce_window(x, np.int32(0), lax.add, (3, 3), (1, 1), [(1, 1), (1, 1)]))(ints)
    op("reduce_window_sum i32", f"reduce_window_sum{window_text((3, 3), (1, 1), [(1, 1), (1, 1)], (1, 1), (1, 1))}", [ints], [y])

    from jax._src.lax import windowed_reductions as wr

    ties = np.round(randoms(np.float32, (6, 6)))
    for size, stride, padding in [((2, 2), (2, 2), ((0, 0), (0, 0))), ((3, 2), (1, 2), ((1, 1), (0, 0))), ((2, 3), (1, 1), ((0, 1), (1, 1)))]:
        one = (1, 1)
        text = window_text(size, stride, [tuple(p) for p in padding], one, one)
        for which, select in (("max", lax.ge_p), ("min", lax.le_p)):
            shape = lax.reduce_window_shape_tuple(ties.shape, size, stride, padding, one, one)
            s = randoms(np.float32, shape)
            y = wr._select_and_scatter_add(s, ties, select, size, stride, padding)
            op(f"window_scatter_{which} {size}", f"window_scatter_{which}{text}", [ties, s], [y], relative=1e-5)
            t = randoms(np.float32, ties.shape)
            z = wr._select_and_gather_add(t, ties, select, size, stride, padding, one, one)
            op(f"window_gather_{which} {size}", f"window_gather_{which}{text}", [ties, t], [z])


# ---- Linear algebra and order.


def dots():
    forms = [
        ((3, 4), (4, 5), ((1,), (0,)), ((), ())),
        ((4, 3), (5, 4), ((0,), (1,)), ((), ())),
        ((2, 3, 4), (2, 4, 5), ((2,), (1,)), ((0,), (0,))),
        ((3, 2, 4, 5), (5, 6, 2, 3), ((3,), (0,)), ((1, 0), (2, 3))),
        ((3, 4, 5), (5, 4), ((1, 2), (1, 0)), ((), ())),
        ((3,), (4,), ((), ()), ((), ())),
        ((3, 0), (0, 4), ((1,), (0,)), ((), ())),
    ]
    for a, b, contract, batch in forms:
        text = f"dot_general[batch = {list(batch[0])} x {list(batch[1])}, contract = {list(contract[0])} x {list(contract[1])}]"
        for elem in ["f32", "i32", "u8", "bf16"]:
            dtype = DTYPES[elem]
            x = randoms(dtype, a) if elem in FLOATS else integers(dtype, a)
            y = randoms(dtype, b) if elem in FLOATS else integers(dtype, b)
            wide = np.float64 if elem in FLOATS else dtype
            z = np.asarray(jax.jit(lambda x, y: lax.dot_general(x, y, (contract, batch)))(x.astype(wide), y.astype(wide)))
            op(f"dot {a} {b} {elem}", text, [x, y], [z.astype(dtype)], ulps=1 if elem in FLOATS else 0)


def convolutions():
    cases = [
        ("2d", (2, 6, 7, 3), (3, 2, 3, 4), ("NHWC", "HWIO", "NHWC"), (1, 2), [(1, 1), (0, 2)], (1, 1), (1, 1), 1, 1),
        ("dilated", (2, 6, 7, 3), (3, 2, 3, 4), ("NHWC", "HWIO", "NHWC"), (1, 1), [(2, -1), (0, 2)], (2, 1), (1, 3), 1, 1),
        ("groups", (2, 6, 6), (3, 2, 9), ("NWC", "WIO", "NWC"), (2,), [(1, 0)], (1,), (1,), 3, 1),
        ("batch groups", (4, 6, 3), (3, 3, 6), ("NWC", "WIO", "NWC"), (1,), [(0, 0)], (1,), (1,), 1, 2),
        ("layout", (3, 5, 4, 2), (4, 3, 2, 3), ("CHWN", "OHWI", "HNWC"), (1, 1), [(0, 1), (1, 0)], (1, 1), (1, 1), 1, 1),
        ("3d", (1, 4, 4, 4, 2), (2, 2, 2, 2, 3), ("NDHWC", "DHWIO", "NDHWC"), (1, 2, 1), [(0, 1)] * 3, (1, 1, 1), (1, 1, 1), 1, 1),
        ("no space", (3, 4), (4, 5), ("NC", "IO", "NC"), (), [], (), (), 1, 1),
    ]
    for name, a, k, layout, stride, padding, lhs, rhs, groups, batch_groups in cases:
        if layout[0] == "CHWN":
            k = (3, 4, 2, 3)
        x, w = randoms(np.float32, a), randoms(np.float32, k)
        d = lax.conv_dimension_numbers(a, k, layout)
        for reverse in (False, True):
            w64 = w.astype(np.float64)
            if reverse:
                w64 = np.flip(w64, d.rhs_spec[2:])
            f = lambda x, w: lax.conv_general_dilated(x, w, stride, padding, lhs, rhs, layout, groups, batch_groups)
            y = np.asarray(jax.jit(f)(x.astype(np.float64), w64)).astype(np.float32)
            n, c, *s = d.lhs_spec
            o, i, *ks = d.rhs_spec
            on, oc, *os = d.out_spec
            flags = ", ".join(str(reverse).lower() for _ in stride)
            text = (
                f"conv[stride = {list(stride)}, padding = {list(padding)}, lhs_dilation = {list(lhs)}, rhs_dilation = {list(rhs)}, reverse = [{flags}], "
                f"input = {[n, c, *s]}, kernel = {[i, o, *ks]}, output = {[on, oc, *os]}, feature_groups = {groups}, batch_groups = {batch_groups}]"
            )
            op(f"conv {name} {reverse}", text, [x, w], [y], ulps=1)


def matrices():
    m = randoms(np.float64, (2, 3, 4, 4))
    spd = (m @ m.swapaxes(-1, -2) + 2 * np.eye(4)).astype(np.float32)
    y = np.linalg.cholesky(spd.astype(np.float64)).astype(np.float32)
    noise = spd + np.triu(randoms(np.float32, (2, 3, 4, 4)), 1)
    op("cholesky reads the lower triangle", "cholesky", [noise], [y], ulps=4)
    bad = np.array([[[1, 2], [2, 1]], [[4, 2], [2, 9]]], np.float32)
    y = np.asarray(jax.jit(lambda a: lax.linalg.cholesky(a, symmetrize_input=False))(bad))
    op("cholesky of no such matrix", "cholesky", [bad], [y], ulps=2)
    a = (randoms(np.float64, (2, 3, 3)) + 3 * np.eye(3)).astype(np.float32)
    for left in (True, False):
        b = randoms(np.float32, (2, 3, 2) if left else (2, 2, 3))
        for lower in (True, False):
            for transpose in (True, False):
                for unit in (True, False):
                    y = lax.linalg.triangular_solve(a.astype(np.float64), b.astype(np.float64), left_side=left, lower=lower, transpose_a=transpose, unit_diagonal=unit)
                    flags = [("left", left), ("lower", lower), ("transpose", transpose), ("unit_diagonal", unit)]
                    on = ", ".join(n for n, set_ in flags if set_)
                    text = f"triangular_solve[{on}]" if on else "triangular_solve"
                    op(f"triangular_solve {on}", text, [a, b], [np.asarray(y).astype(np.float32)], ulps=4)


def sorts():
    x = np.array([[0.0, -0.0, np.nan, 3, -np.inf, 3, np.inf, -np.nan, 1]], np.float32)
    x = np.concatenate([x, x[:, ::-1]])
    payload = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    for axis in (0, 1):
        y = jax.jit(lambda x, p: lax.sort((x, p), dimension=axis, num_keys=1, is_stable=True))(x, payload)
        op(f"sort {axis}", f"sort[axis = {axis}, keys = 1]", [x, payload], y)
    k1 = rng.integers(0, 3, 12).astype(np.int32)
    k2 = rng.integers(0, 3, 12).astype(np.uint8)
    p = np.arange(12, dtype=np.float32)
    y = jax.jit(lambda a, b, c: lax.sort((a, b, c), num_keys=2, is_stable=True))(k1, k2, p)
    op("sort by two keys", "sort[axis = 0, keys = 2]", [k1, k2, p], y)
    order = np.array(sorted(range(12), key=lambda i: -int(k1[i])))
    op("sort descending stably", "sort[axis = 0, keys = 1, descending]", [k1, p], [k1[order], p[order]])
    # `top_k` of all is a sort by the total order.
    for dtype in ("f32", "bf16", "f64"):
        x = np.array([1.5, -0.0, np.nan, 0.0, -np.inf, -np.nan, 2.5, np.inf, -0.0, 1.5, -2.0, np.nan]).astype(DTYPES[dtype])
        places = np.arange(12, dtype=np.int32)
        values, taken = jax.jit(lambda x: lax.top_k(x, 12))(x)
        op(f"sort by the total order {dtype}", "sort[axis = 0, keys = 1, descending, total]", [x, places], [values, taken])


# ---- Control.


def control():
    xs = randoms(np.float32, (5, 3))
    c0 = randoms(np.float32, (3,))
    for reverse in (False, True):
        flag = ", reverse" if reverse else ""
        body = f"""
          %r0, %r1, %r2 = scan[length = 5, carry = 1{flag}] %a0, %a1 : f32[3], f32[5, 3], i32[5] body(%i: i32, %c: f32[3], %x: f32[3]) {{
            %half = constant 0.5 : f32[3]
            %scaled = mul %c, %half : f32[3]
            %next = add %scaled, %x : f32[3]
            %outside = mul %next, %a0 : f32[3]
            yield %next, %outside, %i
          }}"""

        def step(c, xi):
            x, i = xi
            n = c * np.float32(0.5) + x
            return n, (n * c0, i)

        last, (ys, positions) = lax.scan(step, c0, (xs, np.arange(5, dtype=np.int32)), reverse=reverse)
        emit(f"scan{flag}", body, [c0, xs], [last, ys, positions], ulps=2)
    body = """
      %r0, %r1 = while %a0, %a1 : f32, i32 cond(%x: f32, %n: i32) {
        %limit = constant 1000.0 : f32
        %more = lt %x, %limit : bool
        yield %more
      } body(%y: f32, %m: i32) {
        %double = add %y, %y : f32
        %one = constant 1 : i32
        %next = add %m, %one : i32
        yield %double, %next
      }"""
    for start in (1.5, 2000.0):
        x, n = np.float32(start), 0
        while x < 1000:
            x, n = x + x, n + 1
        emit(f"while {start}", body, [np.float32(start), np.int32(0)], [np.float32(x), np.int32(n)])
    body = """
      %r0, %r1 = if %a0 : f32, i32 then {
        %n = constant 1 : i32
        yield %a1, %n
      } else {
        %y = neg %a1 : f32
        %n2 = constant 2 : i32
        yield %y, %n2
      }"""
    for condition in (True, False):
        x = np.float32(3.5)
        emit(f"if {condition}", body, [np.bool_(condition), x], [x if condition else -x, np.int32(1 if condition else 2)])


def main():
    unary()
    jax_conventions()
    binary()
    ternary()
    conversions()
    threefry()
    structural()
    dynamic()
    indexing()
    reductions()
    windows()
    dots()
    convolutions()
    matrices()
    sorts()
    control()


if __name__ == "__main__":
    sys.exit(main())
