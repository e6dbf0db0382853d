"""Reductions, running reductions, and what normalises along an axis."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from builtins_table import CLOSE, EXACT, FLOATS, INTS, TYPES, extremes, some, special, terms, ulp
from jax import lax

# A shape, and the axes it is reduced over.
PLACES = [
    ((), [None]),
    ((1,), [None, 0]),
    ((5,), [None, 0, -1]),
    ((3, 4), [None, 0, 1, -1, -2, (0, 1)]),
    ((2, 3, 4), [None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2)]),
    ((2, 1, 3, 2), [None, 0, 1, -1, (1, 2), (-1, -4)]),
    ((0,), [None, 0]),
    ((2, 0, 3), [None, 0, 1, -1, (0, 1)]),
    ((0, 2), [0, 1]),
]


def arguments(axis, keepdims):
    out = "" if axis is None else f", axis={axis}"
    return out + (", keepdims=true" if keepdims else "")


def size(shape, axis):
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis)
    return int(np.prod([shape[a] for a in axes]))


def places():
    for shape, axes in PLACES:
        for axis in axes:
            keepdims = isinstance(axis, tuple) or axis == 1 or shape == (1,)
            yield shape, axis, keepdims, arguments(axis, keepdims), size(shape, axis)


def norm(x, **options):
    """`jnp.linalg.norm` over all axes is of the flattened array."""
    if options["axis"] is None or isinstance(options["axis"], tuple) and len(options["axis"]) != 2:
        squares = jnp.sum(x * x, axis=options["axis"], keepdims=options["keepdims"])
        return jnp.sqrt(squares)
    return jnp.linalg.norm(x, **options)


def many(t, name, f, floats, others, tol, empty=True, axes=lambda axis: True):
    """The function over every place in f32, and over some in the other types."""
    for element in floats + others:
        for i, (shape, axis, keepdims, text, n) in enumerate(places()):
            if not axes(axis) or n == 0 and not empty or element != "f32" and i % 7 != (len(element) + len(name)) % 7:
                continue
            x = some(element, shape, i, 0.2 if name == "prod" and element in FLOATS else -3.0, 3.0)
            f_here = lambda v, a=axis, k=keepdims: f(v, axis=a, keepdims=k)  # noqa: E731
            t.case(f"{name} {element} {shape}{text}", name + "({0}" + text + ")", f_here, x, tol=tol(n, element))


def rounding(n, element):
    return EXACT if element not in FLOATS else terms(n, element)


def cases(t):
    exact = lambda n, element: EXACT  # noqa: E731
    many(t, "sum", jnp.sum, FLOATS, INTS + ["bool"], rounding)
    many(t, "prod", jnp.prod, FLOATS, INTS + ["bool"], rounding)
    many(t, "mean", jnp.mean, FLOATS, ["i8", "i32", "u8", "u16", "bool"], lambda n, e: terms(n, e if e in FLOATS else "f32"))
    many(t, "var", jnp.var, FLOATS, ["i32", "bool"], lambda n, e: terms(n, e if e in FLOATS else "f32"))
    many(t, "std", jnp.std, FLOATS, ["i32"], lambda n, e: terms(n, e if e in FLOATS else "f32"))
    many(t, "min", jnp.min, FLOATS, INTS + ["bool"], exact, empty=False)
    many(t, "max", jnp.max, FLOATS, INTS + ["bool"], exact, empty=False)
    many(t, "any", jnp.any, [], ["bool"], exact)
    many(t, "all", jnp.all, [], ["bool"], exact)
    one = lambda axis: not isinstance(axis, tuple)  # noqa: E731
    many(t, "argmin", jnp.argmin, FLOATS, INTS + ["bool"], exact, empty=False, axes=one)
    many(t, "argmax", jnp.argmax, FLOATS, INTS + ["bool"], exact, empty=False, axes=one)
    many(t, "norm", norm, FLOATS, [], rounding)
    many(t, "logsumexp", jax.nn.logsumexp, FLOATS, [], lambda n, e: f"close {4 * CLOSE[e]:.3g}", empty=False)
    options(t)
    edges(t)


def options(t):
    x = some("f32", (3, 4), 1)
    for ddof in [0, 1, 2, 4]:
        t.case(f"var ddof={ddof}", "var({0}, axis=1, ddof=" + f"{ddof})", lambda v, d=ddof: jnp.var(v, axis=1, ddof=d), x, tol=terms(4))
        t.case(f"std ddof={ddof}", "std({0}, 0, " + f"{ddof})", lambda v, d=ddof: jnp.std(v, axis=0, ddof=d), x, tol=terms(4))
    for order, text in [(1, "1"), (2, "2"), (3, "3"), (0, "0"), (0.5, "0.5"), (-1, "-1"), (math.inf, "inf"), (-math.inf, "-inf")]:
        f = lambda v, o=order: jnp.linalg.norm(v, ord=o, axis=-1)  # noqa: E731
        t.case(f"norm ord={text}", "norm({0}, ord=" + text + ", axis=-1)", f, x, tol=terms(16))
        f = lambda v, o=order: jnp.linalg.norm(v, o)  # noqa: E731
        t.case(f"norm of a vector, ord={text}", "norm({0}, " + text + ")", f, x[0], tol=terms(16))
    # Positional axes, as in NumPy.
    t.case("sum, axis by position", "sum({0}, 1)", lambda v: jnp.sum(v, 1), x, tol=terms(4))
    t.case("mean, axis by position", "mean({0}, (0, 1))", lambda v: jnp.mean(v, (0, 1)), x, tol=terms(12))
    t.case("argmax, axis by position", "argmax({0}, 1)", lambda v: jnp.argmax(v, 1), x)
    t.case("max, axis by name", "max({0}, axis=-1)", lambda v: jnp.max(v, -1), x)
    # Many terms.
    for element in FLOATS:
        x = some(element, (4097,), 2, -0.5, 1.0)
        t.case(f"sum of many {element}", "sum({0})", jnp.sum, x, tol=terms(4097, element))
        t.case(f"mean of many {element}", "mean({0})", jnp.mean, x, tol=terms(4097, element))
        t.case(f"var of many {element}", "var({0})", jnp.var, x, tol=terms(4097, element))
        t.case(f"norm of many {element}", "norm({0})", lambda v: jnp.sqrt(jnp.sum(v.astype(jnp.promote_types(v.dtype, "float32")) ** 2)).astype(v.dtype), x, tol=terms(4097, element))
    for element in INTS:
        x = np.full((9,), np.iinfo(TYPES[element]).max, TYPES[element])
        t.case(f"sum of large {element}", "sum({0})", jnp.sum, x)
        t.case(f"prod of large {element}", "prod({0})", jnp.prod, x)


EVERY = [("sum", jnp.sum), ("prod", jnp.prod), ("mean", jnp.mean), ("var", jnp.var), ("std", jnp.std), ("min", jnp.min),
         ("max", jnp.max), ("argmin", jnp.argmin), ("argmax", jnp.argmax), ("logsumexp", jax.nn.logsumexp)]  # fmt: skip


def edges(t):
    """NaN, infinities, zeros of both signs and ties, row by row."""
    rows = np.array(
        [
            [1.0, np.nan, 2.0, 0.5], [np.inf, 1.0, 2.0, 3.0], [-np.inf, 1.0, 2.0, 3.0], [np.inf, -np.inf, 0.0, 1.0],
            [0.0, -0.0, 0.0, -0.0], [-0.0, -0.0, -0.0, -0.0], [np.nan, np.nan, 1.0, np.inf], [2.0, 2.0, 2.0, 2.0],
            [-np.inf, -np.inf, -np.inf, -np.inf], [np.inf, np.inf, 1.0, np.inf], [1e30, 1e30, 1e30, 1e30], [1.0, 3.0, 3.0, -1.0],
            [1e-30, 1e-30, 1e30, -1.0], [300.0, 299.0, 100.0, -5.0],
        ]
    )  # fmt: skip
    for element in FLOATS:
        with np.errstate(over="ignore"):
            x = rows.astype(TYPES[element])
        for name, f in EVERY:
            exact = name in ("min", "max", "argmin", "argmax")
            for text, picked in [("", slice(0, 10)), (" at the ends of the range", slice(10, None))]:
                # Of zeros of both signs either is the extreme: it depends on the order of the reduction.
                tol = ulp(1) if exact else f"close {4 * CLOSE[element]:.3g}"
                f_here = lambda v, f=f: f(v, axis=1)  # noqa: E731
                t.case(f"{name} of extremes{text} {element}", name + "({0}, axis=1)", f_here, x[picked], tol=tol)
    for name, f in [("min", jnp.min), ("max", jnp.max), ("argmin", jnp.argmin), ("argmax", jnp.argmax)]:
        for element in INTS:
            x = np.tile(special(element)[::-1], 2)
            t.case(f"{name} of ties {element}", name + "({0})", f, x)


def running(t):
    functions = [("cumsum", jnp.cumsum, lax.cumsum), ("cumprod", jnp.cumprod, lax.cumprod),
                 ("cummax", lambda v: lax.cummax(v.reshape(-1)), lax.cummax), ("cummin", lambda v: lax.cummin(v.reshape(-1)), lax.cummin)]  # fmt: skip
    for name, flat, along in functions:
        exact = name in ("cummax", "cummin")
        tolerance = lambda e, n: EXACT if exact or e not in FLOATS else terms(n, e)  # noqa: E731
        low = 0.5 if name == "cumprod" else -3.0
        for shape in [(), (1,), (5,), (3, 4), (2, 3, 4), (0,), (2, 0, 3), (2, 1, 3, 2)]:
            x = some("f32", shape, 1, low, 1.5)
            t.case(f"{name} {shape}", name + "({0})", lambda v: flat(v.reshape(-1)), x, tol=tolerance("f32", 24))
            for axis in sorted({0, -1, len(shape) // 2} if shape else set()):
                for reverse in [False, True]:
                    text = f", axis={axis}" + (", reverse=true" if reverse else "")
                    f = lambda v, a=axis, r=reverse: along(v, axis=a % v.ndim, reverse=r)  # noqa: E731
                    t.case(f"{name} {shape}{text}", name + "({0}" + text + ")", f, x, tol=tolerance("f32", 24))
        for element in FLOATS[1:] + INTS:
            x = some(element, (4, 3), 2, 1 if name == "cumprod" else -3, 3)
            f = (lambda v: along(v, axis=1)) if exact else (lambda v: flat(v, axis=1))
            tol = EXACT if element not in FLOATS or exact else terms(9, element, 2.0)
            t.case(f"{name} {element} axis=1", name + "({0}, axis=1)", f, x, tol=tol)
        t.case(f"{name} of a bool" if not exact else f"{name} of ties", name + "({0})",
               flat, np.array([True, True, False, True]) if name == "cumsum" else np.array([2, 2, 1, 2, 3, 3], np.int32))  # fmt: skip
        for row in [[1.0, np.nan, 2.0, 3.0], [np.inf, 1.0, -np.inf, 2.0], [0.0, -0.0, 0.0, -0.0], [-0.0, 0.0, 1.0, 1.0]]:
            t.case(f"{name} of {row}", name + "({0})", flat, np.array(row, np.float32))
    x = some("f32", (3000,), 4, -1.0, 1.0)
    t.case("cumsum of many", "cumsum({0})", jnp.cumsum, x, tol=terms(3000))
    t.case("cummax of many", "cummax({0})", lax.cummax, x)


def normalise(t):
    functions = [("softmax", jax.nn.softmax), ("log_softmax", jax.nn.log_softmax)]
    for name, f in functions:
        for element in FLOATS:
            tolerance = {"f32": "close 2e-6", "f64": "close 1e-14", "bf16": "close 0.016", "f16": "close 0.002"}[element]
            for shape in [(5,), (1,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (2, 0), (0, 3)]:
                for axis in sorted({-1, 0}):
                    if element != "f32" and len(shape) != 2:
                        continue
                    x = some(element, shape, 1)
                    t.case(f"{name} {element} {shape} axis={axis}", name + "({0}, axis=" + f"{axis})",
                           lambda v, a=axis: f(v, axis=a), x, tol=tolerance)  # fmt: skip
            x = some(element, (2, 3, 4), 2)
            t.case(f"{name} {element}", name + "({0})", f, x, tol=tolerance)
            t.case(f"{name} {element} two axes", name + "({0}, axis=(0, -1))", lambda v: f(v, axis=(0, -1)), x, tol=tolerance)
        rows = [[1.0, np.nan, 0.0], [np.inf, 1.0, 0.0], [-np.inf, 1.0, 0.0], [-np.inf] * 3, [np.inf, np.inf, 0.0], [1e4, 1e4, -1e4],
                [3e38, -3e38, 0.0], [0.0, -0.0, 0.0], [100.0, 0.0, -100.0]]  # fmt: skip
        for row in rows:
            t.case(f"{name} of {row}", name + "({0})", f, np.array(row, np.float32), tol="close 2e-6")
    for element in FLOATS:
        x = some(element, (3, 4), 7, -50.0, 50.0)
        t.case(f"logsumexp far apart {element}", "logsumexp({0}, axis=1)", lambda v: jax.nn.logsumexp(v, axis=1), x, tol=f"close {2 * CLOSE[element]:.3g}")


