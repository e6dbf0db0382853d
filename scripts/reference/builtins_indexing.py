"""Brackets, gathers, updates, sorting and searching."""

import jax
import jax.numpy as jnp
import numpy as np
from builtins_table import FLOATS, INTS, TYPES, some, special
from jax import lax

CUBE = (4, 3, 5)

# Basic indexing: expression after `{0}`, and the same in Python.
BRACKETS = [
    ("[1]", np.s_[1]), ("[-1]", np.s_[-1]), ("[1:3]", np.s_[1:3]), ("[:2]", np.s_[:2]), ("[2:]", np.s_[2:]),
    ("[-3:-1]", np.s_[-3:-1]), ("[::2]", np.s_[::2]), ("[::-1]", np.s_[::-1]),
    ("[:, 1]", np.s_[:, 1]), ("[.., 0]", np.s_[..., 0]), ("[.., -1, :]", np.s_[..., -1, :]), ("[0, .., 2]", np.s_[0, ..., 2]),
    ("[none]", np.s_[None]), ("[:, none]", np.s_[:, None]), ("[.., none]", np.s_[..., None]), ("[1, none, :, 2:4]", np.s_[1, None, :, 2:4]),
    ("[1:1]", np.s_[1:1]), ("[0, 1, 2]", np.s_[0, 1, 2]), ("[1:3, ::2, -1]", np.s_[1:3, ::2, -1]),
    ("[::-1, ::-1, ::-2]", np.s_[::-1, ::-1, ::-2]),
]  # fmt: skip


def clamped(i, n):
    """A position out of range is the nearest in range."""
    return jnp.clip(i.astype(jnp.int32) if i.dtype != jnp.int64 else i, 0, n - 1)


def cases(t):
    x = some("f32", CUBE, 1)
    for text, index in BRACKETS:
        t.case(f"x{text}", "{0}" + text, lambda v, i=index: v[i], x)
    gathers(t, x)
    takes(t)
    updates(t)


def gathers(t, x):
    i = np.array([2, 0, 3, 3], np.int32)
    j = np.array([[1, 2], [0, 0]], np.int32)
    far = np.array([5, -1, 100, -100], np.int32)
    t.case("x[i]", "{0}[{1}]", lambda v, i: v[i], x, i)
    t.case("x[j] of a matrix", "{0}[{1}]", lambda v, j: v[j], x, j)
    t.case("x[:, j]", "{0}[:, {1}]", lambda v, j: v[:, j], x, j)
    t.case("x[.., j]", "{0}[.., {1}]", lambda v, j: v[..., j], x, j)
    t.case("x[i, i] pairs", "{0}[{1}, {2}]", lambda v, i, k: v[i, k], x, i, np.array([0, 1, 2, 0], np.int32))
    t.case("x[j, k] broadcast", "{0}[{1}, {2}]", lambda v, j, k: v[j, k], x, j, np.array([2, 0], np.int32))
    t.case("x[i, :, k] apart", "{0}[{1}, :, {2}]", lambda v, i, k: v[i, :, k], x, i, np.array([4, 1, 2, 0], np.int32))
    t.case("x[i, 1:, 0] with an integer", "{0}[{1}, 1:, 0]", lambda v, i: v[i, 1:, 0], x, i)
    t.case("x[1, i]", "{0}[1, {1}]", lambda v, i: v[1, i], x, np.array([2, 2, 0], np.int32))
    t.case("x[k] of a scalar", "{0}[{1}]", lambda v, k: v[k], x, np.int32(2))
    t.case("x[k, l] of scalars", "{0}[{1}, {2}]", lambda v, k, m: v[k, m], x, np.int32(2), np.int32(1))
    t.case("x[i] out of range", "{0}[{1}]", lambda v, i: v[clamped(i, 4)], x, far)
    t.case("x[:, i] out of range", "{0}[:, {1}]", lambda v, i: v[:, clamped(i, 3)], x, far)
    t.case("x[k] out of range", "{0}[{1}]", lambda v, k: v[clamped(k, 4)], x, np.int32(-7))
    t.case("x[i] of no positions", "{0}[{1}]", lambda v, i: v[i], x, np.zeros(0, np.int32))
    t.case("x[i, none]", "{0}[{1}, none]", lambda v, i: v[i, None], x, i)
    for element in INTS:
        t.case(f"x[i] by {element}", "{0}[{1}]", lambda v, i: v[i], x, i.astype(TYPES[element]))
    for element in [*FLOATS[1:], *INTS, "bool"]:
        t.case(f"x[i] of {element}", "{0}[{1}]", lambda v, i: v[i], some(element, (4, 2), 2), i)
    u = np.array([2**32 - 1, 1], np.uint32)
    t.case("x[i] far out of range, u32", "{0}[{1}]", lambda v, i: v[jnp.minimum(i, 3)], x, u)
    w = np.array([2**40, -(2**40), 1], np.int64)
    t.case("x[i] far out of range, i64", "{0}[{1}]", lambda v, i: v[jnp.clip(i, 0, 3)], x, w)


def takes(t):
    x = some("f32", CUBE, 1)
    j = np.array([[1, 2], [0, 0]], np.int32)
    for axis in [0, 1, 2, -1, -3]:
        t.case(f"take axis={axis}", "take({0}, {1}, axis=" + f"{axis})", lambda v, j, a=axis: jnp.take(v, j, axis=a), x, j)
    t.case("take", "take({0}, {1})", lambda v, j: jnp.take(v, j, axis=0), x, j)
    t.case("take of a scalar", "take({0}, {1}, axis=1)", lambda v, j: jnp.take(v, j, axis=1), x, np.int32(2))
    far = np.array([7, -9, 1], np.int32)
    t.case("take out of range", "take({0}, {1}, axis=1)", lambda v, i: jnp.take(v, i, axis=1, mode="clip"), x, far)
    for element in [*FLOATS, *INTS, "bool"]:
        t.case(f"take of {element}", "take({0}, {1}, axis=-1)", lambda v, j: jnp.take(v, j, axis=-1), some(element, (2, 3), 1), j)
    for axis in [0, 1, -1]:
        shape = list(CUBE)
        shape[axis] = 2
        i = np.random.default_rng(1).integers(0, CUBE[axis], shape).astype(np.int32)
        t.case(f"take_along_axis axis={axis}", "take_along_axis({0}, {1}, axis=" + f"{axis})",
               lambda v, i, a=axis: jnp.take_along_axis(v, i, axis=a), x, i)  # fmt: skip
    i = np.array([[[1]], [[0]], [[2]], [[0]]], np.int32)
    t.case("take_along_axis broadcast", "take_along_axis({0}, {1}, axis=1)", lambda v, i: jnp.take_along_axis(v, i, axis=1), x, i)
    v, i = some("f32", (5,), 1), np.array([4, 0, 9, -6], np.int32)
    t.case("take_along_axis out of range", "take_along_axis({0}, {1}, 0)", lambda v, i: v[clamped(i, 5)], v, i)
    t.case("take_along_axis i64 at -1", "take_along_axis({0}, {1}, axis=-1)", lambda v, i: jnp.take_along_axis(v, i, axis=-1),
           some("f32", (2, 3), 1), np.array([[2, 0], [1, 1]], np.int64))  # fmt: skip


def dropping(update):
    """What is out of range, below too, is dropped; equal positions go in order."""
    return lambda v, i, u: update(v.at[jnp.where((i < 0) | (i >= len(v)), len(v), i)], u)


def updates(t):
    setting, adding = (lambda at, u: at.set(u, mode="drop")), (lambda at, u: at.add(u, mode="drop"))
    i = np.array([2, 0, 3], np.int32)
    same = np.array([2, 0, 2, 2], np.int32)
    far = np.array([1, -1, 4, 100, -100], np.int32)
    for element in [*FLOATS, *INTS]:
        x, u = some(element, (4, 2), 1), some(element, (3, 2), 2)
        t.case(f"set {element}", "set({0}, {1}, {2})", dropping(setting), x, i, u)
        t.case(f"add_at {element}", "add_at({0}, {1}, {2})", dropping(adding), x, i, u)
    x = some("f32", (4, 2), 1)
    t.case("set bool", "set({0}, {1}, {2})", dropping(setting), some("bool", (4,), 1), i, np.array([True, False, True]))
    t.case("add_at of equal positions", "add_at({0}, {1}, {2})", dropping(adding), x, same, some("f32", (4, 2), 5), tol="ulp 2")
    t.case("add_at of equal positions, i32", "add_at({0}, {1}, {2})", dropping(adding), some("i32", (4,), 1), same, some("i32", (4,), 5))
    t.case("set out of range", "set({0}, {1}, {2})", dropping(setting), x, far, some("f32", (5, 2), 5))
    t.case("add_at out of range", "add_at({0}, {1}, {2})", dropping(adding), x, far, some("f32", (5, 2), 5))
    t.case("set with a scalar value", "set({0}, {1}, 7.0)", lambda v, i: v.at[i].set(7.0), x, i)
    t.case("set at a scalar", "set({0}, {1}, {2})", dropping(setting), x, np.int32(1), some("f32", (2,), 5))
    t.case("set at a scalar out of range", "set({0}, {1}, {2})", dropping(setting), x, np.int32(9), some("f32", (2,), 5))
    t.case("set at a literal", "set({0}, 1, {1})", lambda v, u: v.at[1].set(u), x, some("f32", (2,), 5))
    t.case("set at a negative literal", "set({0}, -1, {1})", lambda v, u: v.at[-1].set(u), x, some("f32", (2,), 5))
    t.case("set at a pair", "set({0}, ({1}, {2}), 9.0)", lambda v, i, j: v.at[i, j].set(9.0), x, i, np.array([0, 1, 1], np.int32))
    t.case("add_at a pair", "add_at({0}, ({1}, {2}), {3})", lambda v, i, j, u: v.at[i, j].add(u), x, same, np.array([0, 1, 0, 1], np.int32), some("f32", (4,), 6), tol="ulp 2")
    t.case("set at literal pairs", "set({0}, (1, -1), 5.0)", lambda v: v.at[1, -1].set(5.0), x)
    t.case("add_at, value broadcast", "add_at({0}, {1}, {2})", dropping(adding), x, i, some("f32", (1, 2), 5))
    t.case("set at no positions", "set({0}, {1}, {2})", dropping(setting), x, np.zeros(0, np.int32), np.zeros((0, 2), np.float32))
    j = np.array([[0, 1], [3, 2]], np.int32)
    t.case("set at a matrix", "set({0}, {1}, {2})", dropping(setting), x, j, some("f32", (2, 2, 2), 5))
    t.case("add_at by i64", "add_at({0}, {1}, {2})", dropping(adding), x, np.array([2**40, 1, 0], np.int64), some("f32", (3, 2), 5))


def order(t):
    rows = np.array([[3.0, np.nan, -0.0, 0.0, -np.inf], [np.inf, 1.0, 1.0, np.nan, -1.0], [2.0, 2.0, -2.0, 5.0, 2.0]])
    for element in FLOATS:
        x = rows.astype(TYPES[element])
        t.case(f"sort {element}", "sort({0})", jnp.sort, x)
        t.case(f"argsort {element}", "argsort({0})", jnp.argsort, x)
        t.case(f"sort {element} axis=0", "sort({0}, axis=0)", lambda v: jnp.sort(v, axis=0), x)
        t.case(f"sort {element} descending", "sort({0}, descending=true)", lambda v: jnp.sort(v, descending=True), x)
        t.case(f"argsort {element} descending", "argsort({0}, descending=true)", lambda v: jnp.argsort(v, descending=True), x)
        t.case(f"top_k {element}", "top_k({0}, 3)", lambda v: lax.top_k(v, 3), x)
        a = np.sort(some(element, (9,), 1))
        v = np.concatenate([a[::3], some(element, (4,), 2, -5, 5), np.array([np.nan, np.inf, -np.inf]).astype(TYPES[element])])
        for side in ["left", "right"]:
            t.case(f"searchsorted {element} {side}", "searchsorted({0}, {1}, side=\"" + side + "\")",
                   lambda s, v, side=side: jnp.searchsorted(s, v, side=side), a, v)  # fmt: skip
            nans = np.array([-0.0, 0.0, 1, 1, np.nan, np.nan]).astype(TYPES[element])
            t.case(f"searchsorted among NaN {element} {side}", "searchsorted({0}, {1}, \"" + side + "\")",
                   lambda s, v, side=side: jnp.searchsorted(s, v, side=side), nans, v)  # fmt: skip
        t.case(f"nonzero {element}", "nonzero({0}, size=7)", lambda v: jnp.nonzero(v, size=7), x)
    for element in INTS:
        x = np.tile(special(element), 2).reshape(2, -1)
        t.case(f"sort {element}", "sort({0})", jnp.sort, x)
        t.case(f"argsort {element}", "argsort({0})", jnp.argsort, x)
        t.case(f"argsort {element} descending", "argsort({0}, descending=true)", lambda v: jnp.argsort(v, descending=True), x)
        t.case(f"top_k {element}", "top_k({0}, 4)", lambda v: lax.top_k(v, 4), x)
        a = np.sort(x[0])
        t.case(f"searchsorted {element}", "searchsorted({0}, {1})", jnp.searchsorted, a, x[1])
        t.case(f"nonzero {element}", "nonzero({0}, 4)", lambda v: jnp.nonzero(v, size=4), some(element, (2, 3), 3))
        classes = np.array([0, 2, 1, 3, 5], TYPES[element])
        t.case(f"one_hot {element}", "one_hot({0}, 4)", lambda v: jax.nn.one_hot(v, 4, dtype=jnp.float32), classes)
    for shape, axis in [((1,), 0), ((0,), -1), ((2, 0), 1), ((2, 3, 4), 1), ((2, 3, 4), -3), ((2, 3, 1, 2), 1), ((2, 1, 3), 1)]:
        x = some("f32", shape, 9)
        t.case(f"sort {shape} axis={axis}", "sort({0}, axis=" + f"{axis})", lambda v, a=axis: jnp.sort(v, axis=a), x)
        t.case(f"argsort {shape} axis={axis}", "argsort({0}, " + f"{axis})", lambda v, a=axis: jnp.argsort(v, axis=a), x)
    t.case("sort bool", "sort({0})", jnp.sort, some("bool", (7,), 1))
    t.case("argsort bool", "argsort({0})", jnp.argsort, some("bool", (7,), 1))
    x = some("f32", (2000,), 1)
    t.case("sort of many", "sort({0})", jnp.sort, x)
    t.case("argsort of many ties", "argsort({0})", jnp.argsort, some("i8", (2000,), 1))
    for k in [0, 1, 4]:
        t.case(f"top_k of {k}", "top_k({0}, " + f"{k})", lambda v, k=k: lax.top_k(v, k), some("f32", (2, 3, 4), 2))
    for axis in [0, 1, -1, -2]:
        t.case(f"top_k axis={axis}", "top_k({0}, 2, axis=" + f"{axis})", lambda v, a=axis: lax.top_k(v, 2, axis=a), some("f32", (2, 3, 4), 2))
    kinds = np.array([1.5, -2.0, np.nan, np.inf, 0.0, -np.inf, -0.0, -2.0, -np.nan, 3e38, 1e-3])
    for element in FLOATS + ["i32"]:
        for shape, axis in [((300,), 0), ((3, 100), 1), ((100, 3), 0), ((2, 3, 50), 2), ((2, 50, 3), 1)]:
            many = kinds[np.arange(300) ** 2 % len(kinds)].astype(TYPES[element]).reshape(shape)
            t.case(f"top_k of many {element} {shape}", "top_k({0}, 17, axis=" + f"{axis})", lambda v, a=axis: lax.top_k(v, 17, axis=a), many)
    t.case("nonzero filled", "nonzero({0}, size=6, fill_value=-1)", lambda v: jnp.nonzero(v, size=6, fill_value=-1), np.array([0, 3, 0, 1], np.int32))
    t.case("searchsorted in nothing", "searchsorted({0}, {1})", jnp.searchsorted, np.zeros(0, np.float32), x[:3])
    t.case("searchsorted of a scalar", "searchsorted({0}, {1})", jnp.searchsorted, np.sort(x[:9]), x[4])
    t.case("searchsorted of a matrix", "searchsorted({0}, {1})", jnp.searchsorted, np.sort(x[:9]), x[:6].reshape(2, 3))
    for shape, size in [((6,), 2), ((6,), 0), ((0,), 3), ((2, 0), 2), ((2, 3, 2), 5), ((2, 3, 2), 12), ((2, 2), 9)]:
        t.case(f"nonzero {shape} size={size}", "nonzero({0}, size=" + f"{size})", lambda v, n=size: jnp.nonzero(v, size=n), some("bool", shape, 5))
    labels = np.array([[0, 2], [-1, 3]], np.int32)
    t.case("one_hot of a matrix", "one_hot({0}, 3)", lambda v: jax.nn.one_hot(v, 3, dtype=jnp.float32), labels)
    for axis in [0, 1, -1]:
        t.case(f"one_hot axis={axis}", "one_hot({0}, 3, axis=" + f"{axis})", lambda v, a=axis: jax.nn.one_hot(v, 3, axis=a, dtype=jnp.float32), labels)
    for element in ["bf16", "f64", "i32", "bool"]:
        t.case(f"one_hot in {element}", "one_hot({0}, 3, dtype=" + f"{element})", lambda v, e=element: jax.nn.one_hot(v, 3, dtype=TYPES[e]), labels, wide=element == "f64")
    t.case("one_hot of a scalar", "one_hot({0}, 3)", lambda v: jax.nn.one_hot(v, 3, dtype=jnp.float32), np.int32(1))
    t.case("one_hot of no classes", "one_hot({0}, 0)", lambda v: jax.nn.one_hot(v, 0, dtype=jnp.float32), labels)


