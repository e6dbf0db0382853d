"""Derivatives of composite `.tl` functions by JAX, for tests/gradients.rs.

    python scripts/reference/gradients_tl.py > tests/gradients.jsonl

Each function of gradients_tl_cases/ stands there once as `.tl` text and once in JAX. A line of the result has the
text, the inputs (float ones as f32), cotangents and tangents, and what JAX makes of them in f64: the value, the gradient of the
cotangents times the value, the tangent of the value, and the derivative of the gradient along the tangents.
"""

import json
import pathlib
import re
import sys
import zlib

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from gradients_tl_cases import CASES, REVERSE  # noqa: E402

jax.config.update("jax_enable_x64", True)


def signature(text):
    """Name and parameters (name, element type, shape) of the first function of a text."""
    head = re.search(r"fn (\w+)\((.*?)\) ->", text, re.S)
    params = re.findall(r"(\w+): (\w+)(?:\[([\d, ]*)\])?", head[2])
    return head[1], [(n, e, tuple(int(d) for d in s.split(",")) if s else ()) for n, e, s in params]


def array(rng, elem, shape, how):
    if isinstance(how, (int, float, list)):
        return np.full(shape, how, "f4") if elem == "f32" and not isinstance(how, list) else np.array(how, "f4" if elem == "f32" else "i4").reshape(shape)
    if callable(how):
        return np.asarray(how(rng, shape)).astype("f4" if elem == "f32" else "i4")
    assert elem == "f32", "an integer input says what it is"
    return rng.normal(size=shape).astype("f4")


def numbers(x):
    """The elements of an array, short; f64 results are rounded to f32, which is what they are compared as."""
    x = np.asarray(x)
    if x.dtype.kind in "ib":
        return [int(v) for v in x.ravel()]
    return [float(str(v)) if np.isfinite(v) else str(v) for v in x.astype("f4").ravel()]


def line(text, fn, how, order):
    name, params = signature(text)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    inputs = [array(rng, e, s, how.get(n)) for n, e, s in params]
    floats = [i for i, (_, e, _) in enumerate(params) if e == "f32"]
    wide = [jnp.asarray(x.astype("f8") if x.dtype.kind == "f" else x) for x in inputs]

    def of_floats(*xs):
        args = list(wide)
        for i, x in zip(floats, xs):
            args[i] = x
        return fn(*args)

    def derivatives(point, along, cotangent):
        out = {"value": of_floats(*point)}
        if order != REVERSE:
            out["tangent"] = jax.jvp(of_floats, point, along)[1]
        if order != 0:
            gradient = jax.grad(lambda *xs: jnp.sum(of_floats(*xs) * cotangent), tuple(range(len(point))))
            out["gradient"] = gradient(*point)
            if order == 2:
                out["second"] = jax.jvp(gradient, point, along)[1]
        return out

    point = tuple(wide[i] for i in floats)
    shape = jax.eval_shape(of_floats, *point).shape
    cotangent = rng.normal(size=shape).astype("f4")
    tangents = [rng.normal(size=x.shape).astype("f4") for x in point]
    found = jax.jit(derivatives)(point, tuple(t.astype("f8") for t in tangents), cotangent.astype("f8"))
    assert found["value"].dtype == np.float64, name
    case = {"name": name, "text": text.strip(), "params": [[n, e, list(s)] for n, e, s in params]}
    case |= {"inputs": [numbers(x) for x in inputs], "shape": list(shape)}
    case |= {"cotangent": numbers(cotangent), "tangents": [numbers(t) for t in tangents]}
    for key, value in found.items():
        case[key] = [numbers(v) for v in value] if isinstance(value, tuple) else numbers(value)
    return case


def main():
    names = set()
    for text, fn, how, order in CASES:
        case = line(text, fn, how, order)
        assert case["name"] not in names, case["name"]
        names.add(case["name"])
        print(json.dumps(case, separators=(",", ":")))


main()
