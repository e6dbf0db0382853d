"""Convolution, pooling, and losses."""

import jax.numpy as jnp
import numpy as np
import optax
from builtins_table import CLOSE, FLOATS, some, terms
from jax import lax

# Input and kernel shapes, and options.
CONVS = [
    ((1, 7, 2), (3, 2, 4), {}),
    ((2, 8, 3), (3, 3, 2), {"stride": 2}),
    ((2, 8, 3), (4, 3, 2), {"padding": "valid"}),
    ((2, 9, 3), (3, 3, 2), {"dilation": 2}),
    ((2, 9, 3), (3, 3, 2), {"dilation": 2, "stride": 3, "padding": "valid"}),
    ((1, 9, 4), (3, 2, 6), {"groups": 2}),
    ((1, 9, 4), (3, 1, 8), {"groups": 4}),
    ((1, 9, 1), (2, 1, 1), {"padding": ((2, 1),)}),
    ((1, 5, 1), (1, 1, 3), {}),
    ((1, 1, 1), (1, 1, 1), {}),
    ((0, 5, 2), (3, 2, 2), {}),
    ((2, 5, 2), (3, 2, 0), {}),
    ((1, 6, 7, 2), (3, 3, 2, 3), {}),
    ((2, 6, 7, 2), (3, 2, 2, 3), {"padding": "valid"}),
    ((2, 6, 7, 2), (3, 3, 2, 3), {"stride": 2}),
    ((2, 6, 7, 2), (3, 3, 2, 3), {"stride": (1, 2), "padding": "same"}),
    ((2, 6, 7, 2), (3, 3, 2, 3), {"dilation": (2, 1)}),
    ((2, 8, 7, 2), (2, 3, 2, 3), {"dilation": (2, 2), "stride": (2, 1), "padding": ((1, 0), (2, 2))}),
    ((1, 6, 7, 4), (3, 3, 1, 8), {"groups": 4}),
    ((1, 6, 7, 4), (3, 3, 2, 2), {"groups": 2, "stride": 2, "padding": "valid"}),
    ((1, 6, 7, 1), (6, 7, 1, 2), {"padding": "valid"}),
    ((1, 4, 4, 1), (5, 5, 1, 1), {}),
    ((1, 4, 5, 3, 2), (2, 3, 3, 2, 3), {}),
    ((2, 4, 5, 3, 2), (2, 2, 2, 2, 3), {"stride": 2, "padding": "valid"}),
    ((1, 4, 5, 3, 2), (2, 2, 1, 1, 4), {"groups": 2, "dilation": (1, 2, 1)}),
    ((1, 4, 5, 3, 1), (2, 2, 2, 1, 1), {"stride": (1, 2, 1), "padding": ((1, 0), (0, 1), (1, 1))}),
]
POOLS = [
    ((2, 6, 3), 2, {}),
    ((2, 7, 3), 2, {}),
    ((2, 7, 3), 3, {"stride": 1}),
    ((2, 7, 3), 3, {"stride": 2, "padding": "same"}),
    ((2, 7, 3), 3, {"stride": 1, "padding": ((2, 1),)}),
    ((2, 6, 3), 1, {}),
    ((2, 6, 3), 6, {}),
    ((2, 6, 8, 2), 2, {}),
    ((2, 6, 8, 2), (2, 4), {}),
    ((2, 6, 7, 2), (3, 2), {"stride": (1, 2)}),
    ((2, 6, 7, 2), 3, {"stride": 2, "padding": "same"}),
    ((2, 6, 7, 2), 3, {"padding": ((1, 1), (0, 2))}),
    ((1, 4, 5, 6, 1), 2, {}),
    ((1, 4, 5, 6, 1), (1, 2, 3), {"stride": (2, 1, 2)}),
    ((1, 4, 5, 6, 1), 3, {"stride": 2, "padding": "same"}),
    ((0, 6, 3), 2, {}),
]


def written(options):
    return "".join(f', {k}="{v}"' if isinstance(v, str) else f", {k}={v}" for k, v in options.items())


def each(value, n):
    return value if isinstance(value, tuple) else (value,) * n


def conv(x, w, stride=1, padding="same", dilation=1, groups=1):
    n = x.ndim - 2
    letters = "DHW"[3 - n :]
    dims = lax.conv_dimension_numbers(x.shape, w.shape, (f"N{letters}C", f"{letters}IO", f"N{letters}C"))
    padding = padding.upper() if isinstance(padding, str) else padding
    return lax.conv_general_dilated(
        x, w, each(stride, n), padding, rhs_dilation=each(dilation, n), dimension_numbers=dims, feature_group_count=groups
    )


def window(x, size, stride=None, padding="valid"):
    n = x.ndim - 2
    size = each(size, n)
    stride = size if stride is None else each(stride, n)
    padding = padding.upper() if isinstance(padding, str) else ((0, 0), *padding, (0, 0))
    return (1, *size, 1), (1, *stride, 1), padding


def max_pool(x, size, **options):
    dims, stride, padding = window(x, size, **options)
    return lax.reduce_window(x, np.array(-np.inf, x.dtype), lax.max, dims, stride, padding)


def avg_pool(x, size, **options):
    dims, stride, padding = window(x, size, **options)
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    total = lax.reduce_window(wide, np.array(0, wide.dtype), lax.add, dims, stride, padding)
    return (total / np.prod(dims)).astype(x.dtype)


def cases(t):
    for left, right, options in CONVS:
        x, w = some("f32", left, 1), some("f32", right, 2)
        f = lambda x, w, o=options: conv(x, w, **o)  # noqa: E731
        t.case(f"conv {left} {right} {options}", "conv({0}, {1}" + written(options) + ")", f, x, w, tol=terms(np.prod(right[:-1])))
    for element in FLOATS[1:]:
        for left, right, options in [CONVS[1], CONVS[16], CONVS[22]]:
            x, w = some(element, left, 1), some(element, right, 2)
            f = lambda x, w, o=options: conv(x, w, **o)  # noqa: E731
            t.case(f"conv {element} {left} {options}", "conv({0}, {1}" + written(options) + ")", f, x, w, tol=terms(np.prod(right[:-1]), element))
    for shape, size, options in POOLS:
        for element in FLOATS if len(shape) == 4 else ["f32"]:
            x = some(element, shape, 1)
            text = f", {size}" + written(options)
            t.case(f"max_pool {element} {shape}{text}", "max_pool({0}" + text + ")", lambda v, s=size, o=options: max_pool(v, s, **o), x)
            t.case(f"avg_pool {element} {shape}{text}", "avg_pool({0}" + text + ")", lambda v, s=size, o=options: avg_pool(v, s, **o), x, tol=terms(9, element))
    x = some("f32", (1, 6, 1), 1)
    x[0, 1], x[0, 4] = np.nan, -np.inf
    t.case("max_pool with nan", "max_pool({0}, 2)", lambda v: max_pool(v, 2), x)
    t.case("avg_pool with nan", "avg_pool({0}, 2)", lambda v: avg_pool(v, 2), x, tol=terms(2))


def losses(t):
    for element in FLOATS:
        tol = f"close {4 * CLOSE[element]:.3g}"
        for shape in [(4, 3), (3,), (2, 2, 5), (2, 1), (0, 3)]:
            if element != "f32" and len(shape) != 2:
                continue
            x = some(element, shape, 1)
            y = np.random.default_rng(2).integers(0, shape[-1], shape[:-1]).astype(np.int32)
            t.case(f"softmax_cross_entropy {element} {shape} classes", "softmax_cross_entropy({0}, {1})",
                   optax.softmax_cross_entropy_with_integer_labels, x, y, tol=tol)  # fmt: skip
            p = some(element, shape, 3, 0.1, 1)
            p = (p / np.sum(p, -1, keepdims=True)).astype(p.dtype)
            t.case(f"softmax_cross_entropy {element} {shape} distribution", "softmax_cross_entropy({0}, {1})", optax.softmax_cross_entropy, x, p, tol=tol)
        x, y = some(element, (3, 4), 4), some(element, (3, 4), 5, 0, 1)
        t.case(f"sigmoid_binary_cross_entropy {element}", "sigmoid_binary_cross_entropy({0}, {1})", optax.sigmoid_binary_cross_entropy, x, y, tol=tol)
        t.case(f"l2_loss {element}", "l2_loss({0}, {1})", optax.l2_loss, x, y, tol="ulp 1")
        t.case(f"l2_loss of errors {element}", "l2_loss({0})", optax.l2_loss, x, tol="ulp 1")
        t.case(f"huber_loss {element}", "huber_loss({0}, {1})", optax.huber_loss, x, y, tol="ulp 2")
        t.case(f"huber_loss of errors {element}", "huber_loss({0})", optax.huber_loss, x, tol="ulp 2")
        t.case(f"huber_loss delta {element}", "huber_loss({0}, {1}, delta=0.5)", lambda x, y: optax.huber_loss(x, y, delta=0.5), x, y, tol="ulp 2")
    tol = f"close {CLOSE['f32']:.3g}"
    for row, label in [([1e4, 0.0, -1e4], 0), ([1e4, 0.0, -1e4], 2), ([3e38, 0.0, 1.0], 1), ([-np.inf, 0.0, 1.0], 1), ([np.nan, 0.0, 1.0], 1), ([0.0] * 3, 2)]:
        t.case(f"softmax_cross_entropy of {row} at {label}", "softmax_cross_entropy({0}, {1})", optax.softmax_cross_entropy_with_integer_labels,
               np.array(row, np.float32), np.int32(label), tol=tol)  # fmt: skip
    edge = np.array([0.0, -0.0, 100.0, -100.0, 1e4, -1e4, np.inf, -np.inf, np.nan], np.float32)
    for y in [0.0, 1.0, 0.5]:
        t.case(f"sigmoid_binary_cross_entropy at the ends, label {y}", "sigmoid_binary_cross_entropy({0}, {1})",
               optax.sigmoid_binary_cross_entropy, edge, np.float32(y), tol=tol)  # fmt: skip
    t.case("huber_loss at the ends", "huber_loss({0})", optax.huber_loss, edge, tol="ulp 2")


