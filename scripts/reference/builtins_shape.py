"""What moves elements about and makes arrays: every bit is kept."""

import jax.numpy as jnp
import numpy as np
from builtins_table import FLOATS, INTS, TYPES, extremes, mixed, some, terms
from jax import lax

# Expression and function over one array, by its shape.
MOVES = [
    ((2, 3, 4), "reshape({0}, [6, 4])", lambda x: x.reshape(6, 4)),
    ((2, 3, 4), "reshape({0}, [-1, 2])", lambda x: x.reshape(-1, 2)),
    ((2, 3, 4), "reshape({0}, [4, -1, 3])", lambda x: x.reshape(4, -1, 3)),
    ((2, 3, 4), "reshape({0}, [24])", lambda x: x.reshape(24)),
    ((1, 1), "reshape({0}, [])", lambda x: x.reshape(())),
    ((), "reshape({0}, [1, 1])", lambda x: x.reshape(1, 1)),
    ((0, 3), "reshape({0}, [3, 0, 2])", lambda x: x.reshape(3, 0, 2)),
    ((2, 3, 4), "transpose({0})", jnp.transpose),
    ((2, 3, 4), "transpose({0}, (1, 0, 2))", lambda x: jnp.transpose(x, (1, 0, 2))),
    ((2, 3, 4), "transpose({0}, (-1, 0, 1))", lambda x: jnp.transpose(x, (-1, 0, 1))),
    ((2, 1, 3, 2), "transpose({0}, axes=(3, 1, 0, 2))", lambda x: jnp.transpose(x, (3, 1, 0, 2))),
    ((5,), "transpose({0})", jnp.transpose),
    ((), "transpose({0})", jnp.transpose),
    ((0, 3), "transpose({0})", jnp.transpose),
    ((2, 3, 4), "swapaxes({0}, 0, 2)", lambda x: jnp.swapaxes(x, 0, 2)),
    ((2, 3, 4), "swapaxes({0}, -1, 1)", lambda x: jnp.swapaxes(x, -1, 1)),
    ((2, 3, 4), "moveaxis({0}, 0, -1)", lambda x: jnp.moveaxis(x, 0, -1)),
    ((2, 3, 4), "moveaxis({0}, -1, 0)", lambda x: jnp.moveaxis(x, -1, 0)),
    ((2, 1, 3, 2), "moveaxis({0}, (0, 1), (-1, -2))", lambda x: jnp.moveaxis(x, (0, 1), (-1, -2))),
    ((2, 1, 3, 2), "moveaxis({0}, (3, 0), (0, 1))", lambda x: jnp.moveaxis(x, (3, 0), (0, 1))),
    ((3,), "broadcast_to({0}, [2, 3])", lambda x: jnp.broadcast_to(x, (2, 3))),
    ((2, 1), "broadcast_to({0}, [4, 2, 3])", lambda x: jnp.broadcast_to(x, (4, 2, 3))),
    ((), "broadcast_to({0}, [2, 0])", lambda x: jnp.broadcast_to(x, (2, 0))),
    ((1,), "broadcast_to({0}, [0])", lambda x: jnp.broadcast_to(x, (0,))),
    ((), "broadcast_to({0}, [2, 2])", lambda x: jnp.broadcast_to(x, (2, 2))),
    ((2, 3), "expand_dims({0}, 0)", lambda x: jnp.expand_dims(x, 0)),
    ((2, 3), "expand_dims({0}, -1)", lambda x: jnp.expand_dims(x, -1)),
    ((2, 3), "expand_dims({0}, (0, 2))", lambda x: jnp.expand_dims(x, (0, 2))),
    ((2, 3), "expand_dims({0}, (-1, 1))", lambda x: jnp.expand_dims(x, (-1, 1))),
    ((), "expand_dims({0}, 0)", lambda x: jnp.expand_dims(x, 0)),
    ((1, 3, 1, 2), "squeeze({0})", jnp.squeeze),
    ((1, 3, 1, 2), "squeeze({0}, axis=0)", lambda x: jnp.squeeze(x, 0)),
    ((1, 3, 1, 2), "squeeze({0}, axis=-2)", lambda x: jnp.squeeze(x, -2)),
    ((1, 3, 1, 2), "squeeze({0}, (0, 2))", lambda x: jnp.squeeze(x, (0, 2))),
    ((1, 1), "squeeze({0})", jnp.squeeze),
    ((2, 3, 4), "flatten({0})", jnp.ravel),
    ((), "flatten({0})", jnp.ravel),
    ((2, 0), "flatten({0})", jnp.ravel),
    ((2, 3, 4), "flip({0})", jnp.flip),
    ((2, 3, 4), "flip({0}, 1)", lambda x: jnp.flip(x, 1)),
    ((2, 3, 4), "flip({0}, axis=-1)", lambda x: jnp.flip(x, -1)),
    ((2, 3, 4), "flip({0}, axis=(0, 2))", lambda x: jnp.flip(x, (0, 2))),
    ((), "flip({0})", jnp.flip),
    ((0,), "flip({0})", jnp.flip),
    ((2, 3, 4), "roll({0}, 5)", lambda x: jnp.roll(x, 5)),
    ((2, 3, 4), "roll({0}, -1, axis=1)", lambda x: jnp.roll(x, -1, axis=1)),
    ((2, 3, 4), "roll({0}, 9, axis=-1)", lambda x: jnp.roll(x, 9, axis=-1)),
    ((2, 3, 4), "roll({0}, (1, -2), axis=(0, 2))", lambda x: jnp.roll(x, (1, -2), axis=(0, 2))),
    ((2, 3, 4), "roll({0}, 0)", lambda x: jnp.roll(x, 0)),
    ((0, 3), "roll({0}, 2, axis=0)", lambda x: jnp.roll(x, 2, axis=0)),
    ((5,), "roll({0}, 2)", lambda x: jnp.roll(x, 2)),
    ((2, 3), "repeat({0}, 2)", lambda x: jnp.repeat(x, 2)),
    ((2, 3), "repeat({0}, 2, axis=0)", lambda x: jnp.repeat(x, 2, axis=0)),
    ((2, 3), "repeat({0}, 3, axis=-1)", lambda x: jnp.repeat(x, 3, axis=-1)),
    ((2, 3), "repeat({0}, 0, axis=1)", lambda x: jnp.repeat(x, 0, axis=1)),
    ((), "repeat({0}, 3)", lambda x: jnp.repeat(x, 3)),
    ((2, 3), "tile({0}, 2)", lambda x: jnp.tile(x, 2)),
    ((2, 3), "tile({0}, (2, 1))", lambda x: jnp.tile(x, (2, 1))),
    ((2, 3), "tile({0}, (2, 1, 3))", lambda x: jnp.tile(x, (2, 1, 3))),
    ((3,), "tile({0}, (2, 2))", lambda x: jnp.tile(x, (2, 2))),
    ((2, 3), "tile({0}, 0)", lambda x: jnp.tile(x, 0)),
    ((), "tile({0}, 3)", lambda x: jnp.tile(x, 3)),
    ((2, 1, 3), "tile({0}, (2, 1))", lambda x: jnp.tile(x, (2, 1))),
    ((7, 2), "split_at({0}, (2, 5))", lambda x: jnp.split(x, (2, 5))),
    ((7, 2), "split_at({0}, (0, 7))", lambda x: jnp.split(x, (0, 7))),
    ((2, 6), "split_at({0}, (1, 4), axis=1)", lambda x: jnp.split(x, (1, 4), axis=1)),
    ((2, 6), "split_at({0}, (3,), axis=-1)", lambda x: jnp.split(x, (3,), axis=-1)),
    ((2, 6), "split_at({0}, 3, axis=-1)", lambda x: jnp.split(x, (3,), axis=-1)),
    ((4, 5), "tril({0})", jnp.tril),
    ((4, 5), "triu({0})", jnp.triu),
    ((4, 5), "tril({0}, 1)", lambda x: jnp.tril(x, 1)),
    ((4, 5), "triu({0}, k=-1)", lambda x: jnp.triu(x, -1)),
    ((5, 3), "tril({0}, -7)", lambda x: jnp.tril(x, -7)),
    ((5, 3), "triu({0}, 9)", lambda x: jnp.triu(x, 9)),
    ((2, 3, 3), "tril({0}, -1)", lambda x: jnp.tril(x, -1)),
    ((0, 3), "triu({0})", jnp.triu),
    ((4, 5), "diag({0})", jnp.diag),
    ((4, 5), "diag({0}, 2)", lambda x: jnp.diag(x, 2)),
    ((4, 5), "diag({0}, -1)", lambda x: jnp.diag(x, -1)),
    ((4,), "diag({0})", jnp.diag),
    ((4,), "diag({0}, k=2)", lambda x: jnp.diag(x, 2)),
    ((4,), "diag({0}, -1)", lambda x: jnp.diag(x, -1)),
    ((0,), "diag({0})", jnp.diag),
    ((2, 3), "zeros_like({0})", jnp.zeros_like),
    ((2, 0), "ones_like({0})", jnp.ones_like),
    ((), "ones_like({0})", jnp.ones_like),
    ((2, 3), "pad({0}, 1)", lambda x: jnp.pad(x, 1)),
    ((2, 3), "pad({0}, (1, 2))", lambda x: jnp.pad(x, (1, 2))),
    ((2, 3), "pad({0}, ((1, 0), (0, 2)))", lambda x: jnp.pad(x, ((1, 0), (0, 2)))),
    ((2, 3), "pad({0}, 1, constant_values=3)", lambda x: jnp.pad(x, 1, constant_values=3)),
    ((2, 3), "pad({0}, 1, \"constant\", 3)", lambda x: jnp.pad(x, 1, "constant", constant_values=3)),
    ((0, 2), "pad({0}, 1)", lambda x: jnp.pad(x, 1)),
    ((2, 3, 1, 2), "pad({0}, ((0, 0), (1, 1), (0, 2), (0, 0)))", lambda x: jnp.pad(x, ((0, 0), (1, 1), (0, 2), (0, 0)))),
]  # fmt: skip

# Of two arrays.
JOINS = [
    ((2, 3), (1, 3), "concat(({0}, {1}))", lambda x, y: jnp.concatenate((x, y))),
    ((2, 3), (2, 2), "concat(({0}, {1}), axis=1)", lambda x, y: jnp.concatenate((x, y), axis=1)),
    ((2, 3), (2, 0), "concat(({0}, {1}, {0}), axis=-1)", lambda x, y: jnp.concatenate((x, y, x), axis=-1)),
    ((0,), (2,), "concat(({0}, {1}))", lambda x, y: jnp.concatenate((x, y))),
    ((2, 3), (2, 3), "stack(({0}, {1}))", lambda x, y: jnp.stack((x, y))),
    ((2, 3), (2, 3), "stack(({0}, {1}), axis=1)", lambda x, y: jnp.stack((x, y), axis=1)),
    ((2, 3), (2, 3), "stack([{0}, {1}], axis=-1)", lambda x, y: jnp.stack((x, y), axis=-1)),
    ((), (), "stack(({0}, {1}))", lambda x, y: jnp.stack((x, y))),
    ((2, 0), (2, 0), "stack(({0}, {1}), axis=2)", lambda x, y: jnp.stack((x, y), axis=2)),
    ((2, 3), (2, 3), "[{0}, {1}]", lambda x, y: jnp.stack((x, y))),
    ((2, 3), (), "pad({0}, 1, {1})", lambda x, y: jnp.pad(x, 1, constant_values=y)),
    ((), (), "full([2, 3], {1})", lambda x, y: jnp.full((2, 3), y)),
    ((), (), "full([], {1})", lambda x, y: jnp.full((), y)),
    ((), (), "full([2, 0], {1})", lambda x, y: jnp.full((2, 0), y)),
]

MADE = [
    ("zeros([2, 3])", lambda: jnp.zeros((2, 3))), ("ones([])", lambda: jnp.ones(())), ("zeros([0, 4])", lambda: jnp.zeros((0, 4))),
    ("eye(3)", lambda: jnp.eye(3)), ("eye(3, 5)", lambda: jnp.eye(3, 5)), ("eye(4, 3, -1)", lambda: jnp.eye(4, 3, -1)),
    ("eye(3, k=2)", lambda: jnp.eye(3, k=2)), ("eye(0)", lambda: jnp.eye(0)), ("eye(2, dtype=i32)", lambda: jnp.eye(2, dtype=jnp.int32)),
    ("arange(5)", lambda: jnp.arange(5)), ("arange(2, 9)", lambda: jnp.arange(2, 9)), ("arange(2, 9, 3)", lambda: jnp.arange(2, 9, 3)),
    ("arange(5, 0, -2)", lambda: jnp.arange(5, 0, -2)), ("arange(0)", lambda: jnp.arange(0)), ("arange(-3, 3)", lambda: jnp.arange(-3, 3)),
    ("arange(5, 2)", lambda: jnp.arange(5, 2)),
    ("ones([2], dtype=bool)", lambda: jnp.ones(2, bool)), ("full([2], 7, dtype=u8)", lambda: jnp.full(2, 7, jnp.uint8)),
    ("full([2], 1.5)", lambda: jnp.full(2, 1.5, jnp.float32)), ("full([2], -inf)", lambda: jnp.full(2, -jnp.inf, jnp.float32)),
]  # fmt: skip


def cases(t):
    for i, (shape, expression, f) in enumerate(MOVES):
        for element in ["f32", [*FLOATS[1:], *INTS, "bool"][i % 12]]:
            x = extremes(shape, element, i) if element in FLOATS else some(element, shape, i)
            t.case(f"{expression.format('x')} {element} {shape}", expression, f, x)
    for i, (left, right, expression, f) in enumerate(JOINS):
        for element in ["f32", [*FLOATS[1:], *INTS, "bool"][i % 12]]:
            x, y = some(element, left, i), some(element, right, i + 1)
            t.case(f"{expression.format('x', 'y')} {element} {left} {right}", expression, f, x, y)
    for expression, f in MADE:
        t.case(expression, expression, f)
    for element in [*FLOATS, *INTS]:
        # 16-bit floats count in whole numbers that they can hold.
        t.case(f"arange {element}", f"arange(1, 20, 3, dtype={element})", lambda e=element: jnp.arange(1, 20, 3, dtype=TYPES[e]),
               wide=element.endswith("64"))  # fmt: skip
        t.case(f"eye {element}", f"eye(3, dtype={element})", lambda e=element: jnp.eye(3, dtype=TYPES[e]), wide=element.endswith("64"))
    linspaces(t)
    slices(t)
    pads(t)


def linspaces(t):
    for element in FLOATS:
        a, b = np.array(-1.3, TYPES[element]), np.array(7.1, TYPES[element])
        for n in [0, 1, 2, 5, 50]:
            for endpoint in [True, False]:
                text = "linspace({0}, {1}, " + str(n) + ("" if endpoint else ", endpoint=false") + ")"
                f = lambda x, y, n=n, e=endpoint: jnp.linspace(x, y, n, endpoint=e)  # noqa: E731
                # JAX counts 16 bits in themselves, here it is in f32.
                tol = mixed({"bf16": 2**-6, "f16": 2**-9}[element]) if element[-2:] == "16" else terms(1, element, 0.1)
                t.case(f"{text.format('a', 'b')} {element}", text, f, a, b, tol=tol)
    t.case("linspace of 50", "linspace({0}, {1})", jnp.linspace, np.float32(0), np.float32(1), tol=terms(1, "f32", 0.1))
    t.case("linspace of literals", "linspace(0.0, 1.0, 11)", lambda: jnp.linspace(0.0, 1.0, 11), tol=terms(1, "f32", 0.1))
    t.case("linspace downwards", "linspace({0}, {1}, 7)", lambda x, y: jnp.linspace(x, y, 7), np.float32(3), np.float32(-2), tol=terms(1, "f32", 0.1))


def slices(t):
    x = some("f32", (6, 3), 1)
    for start in [0, 2, 4, 9]:
        i = np.int32(start)
        t.case(f"slice from {start}", "slice({0}, {1}, 2)", lambda v, i: lax.dynamic_slice_in_dim(v, i, 2), x, i)
        t.case(f"dynamic_slice from {start}", "dynamic_slice({0}, ({1}, 1), [2, 2])", lambda v, i: lax.dynamic_slice(v, (i, 1), (2, 2)), x, i)
        y = some("f32", (2, 1), 2)
        t.case(f"dynamic_update_slice at {start}", "dynamic_update_slice({0}, {2}, ({1}, 2))",
               lambda v, i, u: lax.dynamic_update_slice(v, u, (i, 2)), x, i, y)  # fmt: skip
    t.case("slice of nothing", "slice({0}, {1}, 0)", lambda v, i: lax.dynamic_slice_in_dim(v, i, 0), x, np.int32(2))
    t.case("slice of all", "slice({0}, {1}, 6)", lambda v, i: lax.dynamic_slice_in_dim(v, i, 6), x, np.int32(2))


def pads(t):
    for mode in ["edge", "reflect", "symmetric", "wrap"]:
        for shape, widths in [((5,), (0, 3)), ((5,), 2), ((2, 3), ((1, 0), (0, 2))), ((1,), 2), ((3,), (7, 8)), ((2, 3, 2), 1), ((2, 0), ((1, 1), (0, 0)))]:
            if 0 in shape and mode != "edge":
                continue
            f = lambda v, w=widths, m=mode: jnp.pad(v, w, mode=m)  # noqa: E731
            t.case(f"pad {mode} {shape} {widths}", "pad({0}, " + f'{widths}, mode="{mode}")', f, some("i32", shape, 1))
    t.case("pad, mode by position", 'pad({0}, 1, "reflect")', lambda v: jnp.pad(v, 1, "reflect"), some("bf16", (3, 4), 1))
