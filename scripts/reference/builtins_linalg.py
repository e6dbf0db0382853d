"""Products of matrices, factors, solves, and `einsum`."""

import jax.numpy as jnp
import numpy as np
from builtins_table import EXACT, FLOATS, INTS, some, terms
from jax import lax

MATMULS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)),
           ((5, 1, 2, 3), (2, 3, 4)), ((2, 1, 2, 3), (1, 2, 3, 1)), ((3,), (2, 3, 4)), ((2, 2, 3), (3,)), ((0, 3), (3, 2)),
           ((2, 0), (0, 3)), ((1, 1), (1, 1)), ((2, 3, 0), (2, 0, 2))]  # fmt: skip
DOTS = [((), ()), ((), (2, 3)), ((3,), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (4, 3, 2)),
        ((2, 3), (4, 3, 2)), ((2, 2, 3), (3,)), ((0,), (0,)), ((2, 0), (0, 2))]  # fmt: skip
OUTERS = [((3,), (4,)), ((2, 2), (3,)), ((), (3,)), ((0,), (2,)), ((1, 2), (2, 1))]
TRACES = [(3, 3), (2, 4), (4, 2), (3, 3, 2), (2, 3, 1, 2), (0, 3)]


def tolerance(element, n):
    return EXACT if element in INTS else terms(n, element)


def cases(t):
    products = [("{0} @ {1}", jnp.matmul, MATMULS), ("matmul({0}, {1})", jnp.matmul, MATMULS), ("dot({0}, {1})", jnp.dot, DOTS),
                ("outer({0}, {1})", jnp.outer, OUTERS)]  # fmt: skip
    for expression, f, shapes in products:
        for left, right in shapes:
            x, y = some("f32", left, 1), some("f32", right, 2)
            t.case(f"{expression.format('a', 'b')} {left} {right}", expression, f, x, y, tol=terms(4))
        for element in FLOATS[1:] + INTS:
            left, right = ((4,), (3,)) if f is jnp.outer else ((2, 4), (4, 3))
            x, y = some(element, left, 1), some(element, right, 2)
            t.case(f"{expression.format('a', 'b')} {element}", expression, f, x, y, tol=tolerance(element, 4))
    for shape in TRACES:
        t.case(f"trace {shape}", "trace({0})", jnp.trace, some("f32", shape, 1), tol=terms(4))
    for axis1, axis2 in [(0, 1), (1, 0), (2, 0), (-1, 1)]:
        for offset in [0, 1, -2, 5]:
            f = lambda v, o=offset, a=axis1, b=axis2: jnp.trace(v, o, a, b)  # noqa: E731
            t.case(f"trace of axes {axis1} {axis2} offset {offset}", "trace({0}, " + f"{offset}, {axis1}, {axis2})", f, some("f32", (3, 4, 2), 1), tol=terms(4))
    for element in FLOATS[1:] + INTS:
        t.case(f"trace {element}", "trace({0})", jnp.trace, some(element, (3, 3), 1), tol=tolerance(element, 3))
    wide = [some("f32", (17, 130), 1, -1, 1), some("f32", (130, 19), 2, -1, 1)]
    t.case("matmul of many terms", "{0} @ {1}", jnp.matmul, *wide, tol=terms(130))
    inf = np.array([[np.inf, 0.0], [1.0, np.nan]], np.float32)
    t.case("matmul with inf and nan", "{0} @ {1}", jnp.matmul, inf, np.eye(2, dtype=np.float32))
    factors(t)
    solves(t)


def positive(element, shape):
    x = np.asarray(some(element, shape, 3)).astype(np.float64)
    n = shape[-1]
    return (x @ np.swapaxes(x, -1, -2) + n * np.eye(n)).astype(some(element, (), 0).dtype)


def factors(t):
    for element in ["f32", "f64"]:
        for shape in [(1, 1), (2, 2), (4, 4), (2, 3, 3), (2, 1, 2, 2), (9, 9)]:
            t.case(f"cholesky {element} {shape}", "cholesky({0})", jnp.linalg.cholesky, positive(element, shape), tol=terms(shape[-1], element))
    skew = positive("f32", (3, 3)) + np.triu(some("f32", (3, 3), 8), 1)
    t.case("cholesky of what is not symmetric", "cholesky({0})", jnp.linalg.cholesky, skew.astype(np.float32), tol=terms(3))
    for options in [{"upper": True}, {"symmetrize_input": False}, {"upper": True, "symmetrize_input": False}]:
        text = "".join(f", {k}={str(v).lower()}" for k, v in options.items())
        t.case(f"cholesky{text}", "cholesky({0}" + text + ")", lambda v, o=options: jnp.linalg.cholesky(v, **o), skew.astype(np.float32), tol=terms(3))
    t.case("cholesky of what is not positive", "cholesky({0})", jnp.linalg.cholesky, np.array([[1.0, 2.0], [2.0, 1.0]], np.float32), tol=terms(2))
    t.case("cholesky of nothing", "cholesky({0})", jnp.linalg.cholesky, np.zeros((0, 0), np.float32))


def solves(t):
    for element in ["f32", "f64"]:
        for number in range(16):
            left, lower, transpose, unit = (bool(number >> i & 1) for i in range(4))
            if element == "f64" and number % 3:
                continue
            flags = {"left_side": left, "lower": lower, "transpose_a": transpose, "unit_diagonal": unit}
            text = "".join(f", {k}=true" for k, v in flags.items() if v)
            a = some(element, (2, 3, 3), number) * 0.3 + 2 * np.eye(3)
            b = some(element, (2, 3, 2) if left else (2, 2, 3), number + 1)
            a = a.astype(b.dtype)
            t.case(f"triangular_solve {element}{text}", "triangular_solve({0}, {1}" + text + ")",
                   lambda a, b, f=flags: lax.linalg.triangular_solve(a, b, **f), a, b, tol=terms(9, element, 3))  # fmt: skip
    a, b = np.array([[2.0]], np.float32), np.array([[3.0], [5.0]], np.float32)
    t.case("triangular_solve of one", "triangular_solve({0}, {1})", lax.linalg.triangular_solve, a, b)


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)), ("ij,ij->", (2, 3), (2, 3)),
    ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij->i", (2, 3), (2, 3)), ("i,j->ij", (2,), (3,)), ("i,j->ji", (2,), (3,)), ("i,i", (3,), (3,)),
    ("ij->ji", (2, 3)), ("ij", (2, 3)), ("ji", (2, 3)), ("ij->", (2, 3)), ("ij->i", (2, 3)), ("ij->j", (2, 3)), ("ii", (3, 3)),
    ("ii->i", (3, 3)), ("ii->", (3, 3)), ("iij->j", (3, 3, 2)), ("iij->ij", (3, 3, 2)), ("iii->i", (2, 2, 2)), ("ijij->ij", (2, 3, 2, 3)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 4)), ("...ij,...jk", (5, 1, 2, 3), (2, 3, 4)), ("...i->...", (2, 3, 4)), ("...i", (2, 3)),
    ("i...->...", (2, 3, 4)), ("i...,i...->i...", (2, 3), (2, 3)), ("...,...->...", (2, 3), (3,)), ("a...b,b->a...", (2, 3, 4), (4,)),
    ("...ii->...i", (2, 3, 3)), ("...ii", (2, 3, 3)), ("ab,bc,cd->ad", (2, 3), (3, 4), (4, 2)), ("ab,bc,cd", (2, 3), (3, 4), (4, 2)),
    ("i,i,i->i", (3,), (3,), (3,)), ("i,i,i->", (3,), (3,), (3,)), ("ij,i,j->", (2, 3), (2,), (3,)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), (",ij->ij", (), (2, 3)), (",->", (), ()), ("->", ()), ("ij,kl->ijkl", (2, 3), (1, 2)),
    ("ij,kj->ik", (2, 3), (4, 3)), ("ij,k->j", (2, 3), (4,)), ("i,ij->", (2,), (2, 3)), ("ijk,jil->kl", (2, 3, 4), (3, 2, 2)),
    ("Ab,bC->AC", (2, 3), (3, 4)), ("ij, jk -> ik", (2, 3), (3, 4)), ("bi,bi->b", (4, 3), (4, 3)), ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)), ("ii,ij->j", (3, 3), (3, 2)), ("iji,j->i", (3, 2, 3), (2,)), ("abc,cb->a", (2, 3, 4), (4, 3)),
    ("...a,...b->...ab", (2, 3), (2, 4)), ("ij,jk->ki", (2, 3), (3, 4)), ("zyx", (2, 3, 4)), ("ba,cb", (2, 3), (4, 2)),
]  # fmt: skip


def einsum(t):
    for spec, *shapes in EINSUMS:
        arrays = [some("f32", shape, i) for i, shape in enumerate(shapes)]
        places = ", ".join("{" + str(i) + "}" for i in range(len(arrays)))
        f = lambda *a, s=spec: jnp.einsum(s, *a)  # noqa: E731
        t.case(f"einsum {spec} {shapes}", f'einsum("{spec}", {places})', f, *arrays, tol=terms(24))
    for element in FLOATS[1:] + INTS:
        for spec, *shapes in [EINSUMS[2], EINSUMS[15], EINSUMS[12], EINSUMS[5]]:
            arrays = [some(element, shape, i) for i, shape in enumerate(shapes)]
            places = ", ".join("{" + str(i) + "}" for i in range(len(arrays)))
            f = lambda *a, s=spec: jnp.einsum(s, *a)  # noqa: E731
            t.case(f"einsum {spec} {element}", f'einsum("{spec}", {places})', f, *arrays, tol=tolerance(element, 6))
