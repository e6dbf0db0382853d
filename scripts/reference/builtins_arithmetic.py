"""Operators and functions of two or three arrays, broadcast together."""

import operator

import jax.numpy as jnp
import numpy as np
from builtins_table import EXACT, FLOATS, INTS, TYPES, some, special, ulp
from jax import lax

BROADCASTS = [((), ()), ((3,), ()), ((), (2, 3)), ((3,), (2, 3)), ((2, 1), (1, 3)), ((2, 1, 3), (4, 1)),
              ((1,), (2, 2, 1, 3)), ((0,), (1,)), ((2, 0, 3), (3,)), ((1, 1), (0, 2)), ((2, 3, 2, 1), (3, 1, 4))]  # fmt: skip

COMPARISONS = [("==", operator.eq), ("!=", operator.ne), ("<", operator.lt), ("<=", operator.le), (">", operator.gt),
               (">=", operator.ge)]  # fmt: skip


def grid(x):
    """Every pair of two of its elements."""
    return np.repeat(x, len(x)), np.tile(x, len(x))


def few(element):
    x = special(element)
    if element in FLOATS:
        keep = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 2.5, 3.0, -3.7, 7.25, 1e-3, -10.0, 1e10, -3e38]
        with np.errstate(over="ignore"):
            return np.array(keep).astype(TYPES[element])
    return x


def quotient(x, y):
    return jnp.divide(x, y) if jnp.issubdtype(x.dtype, jnp.floating) else lax.div(x, y)


def power(x, y):
    return jnp.power(x, y)


def cases(t):
    operators = [("{0} + {1}", jnp.add), ("{0} - {1}", jnp.subtract), ("{0} * {1}", jnp.multiply), ("{0} / {1}", quotient),
                 ("{0} % {1}", lax.rem), ("min({0}, {1})", jnp.minimum), ("max({0}, {1})", jnp.maximum)]  # fmt: skip
    for element in FLOATS + INTS:
        x, y = grid(few(element))
        for expression, f in operators:
            t.case(f"{expression.format('x', 'y')} {element}", expression, f, x, y)
    for element in FLOATS + ["i8", "i32", "i64", "u16", "u64"]:
        x, y = grid(few(element)[::2])
        for sign, f in COMPARISONS:
            t.case(f"x {sign} y {element}", "{0} " + sign + " {1}", f, x, y)
    floats = [("atan2({0}, {1})", jnp.arctan2), ("pow({0}, {1})", power), ("{0} ** {1}", power)]
    for element in FLOATS:
        x, y = grid(few(element))
        for expression, f in floats:
            tol = {"f32": ulp(4), "f64": ulp(4), "bf16": ulp(1), "f16": ulp(2)}[element]
            t.case(f"{expression.format('x', 'y')} {element}", expression, f, x, y, tol=tol)
        for flags in ["", ", equal_nan=true", ", rtol=0.5", ", atol=2.0, rtol=0.0"]:
            options = {k: eval(v.capitalize()) for k, v in (o.split("=") for o in flags.split(", ")[1:])}
            t.case(f"isclose(x, y{flags}) {element}", "isclose({0}, {1}" + flags + ")",
                   lambda a, b, o=options: jnp.isclose(a, b, **o), x, y)  # fmt: skip
        x = special(element)
        for n in [0, 1, 2, 3, 4, 5, 7, 10, -1, -2, -3, 0.5, -0.5, 1.5]:
            exact = n in (0, 1, 2)
            tol = EXACT if exact else {"f32": ulp(4), "f64": ulp(4), "bf16": ulp(2), "f16": ulp(2)}[element]
            whole = isinstance(n, int)
            f = (lambda a, n=n: lax.integer_pow(a, n)) if whole else (lambda a, n=n: jnp.power(a, n))
            t.case(f"x ** {n} {element}", "{0} ** " + (f"({n})" if n < 0 else str(n)), f, x, tol=tol)
    for element in INTS:
        x = special(element)
        for n in [0, 1, 2, 3, 6]:
            t.case(f"x ** {n} {element}", "{0} ** " + str(n), lambda a, n=n: lax.integer_pow(a, n), x)
        base, exponent = grid(np.array([0, 1, 2, 3, 5, 7, 10], TYPES[element]))
        t.case(f"x ** y {element}", "{0} ** {1}", power, base, exponent)
    shapes = [("{0} - {1}", jnp.subtract), ("max({0}, {1})", jnp.maximum), ("{0} < {1}", operator.lt)]
    for left, right in BROADCASTS:
        x, y = some("f32", left, 1), some("f32", right, 2)
        for expression, f in shapes:
            t.case(f"{expression.format('x', 'y')} {left} {right}", expression, f, x, y)
        t.case(f"x ** y {left} {right}", "abs({0}) ** {1}", lambda a, b: power(jnp.abs(a), b), x, y, tol=ulp(4))
        t.case(f"atan2 {left} {right}", "atan2({0}, {1})", jnp.arctan2, x, y, tol=ulp(4))
        t.case(f"isclose {left} {right}", "isclose({0}, {1}, atol=1.0)", lambda a, b: jnp.isclose(a, b, atol=1.0), x, y)
        c = some("bool", right, 3)
        t.case(f"where {left} {right}", "where({0}, {1}, {2})", jnp.where, c, x, y)
        clip = lambda v, lo, hi: jnp.minimum(jnp.maximum(v, lo), hi)  # noqa: E731
        t.case(f"clamp {left} {right}", "clamp({0}, {1}, {2})", clip, x, y, some("f32", (), 4))
    logical(t)
    clamps(t)


def logical(t):
    x, y = grid(np.array([False, True]))
    for sign, f in [("&&", jnp.logical_and), ("||", jnp.logical_or), ("==", operator.eq), ("!=", operator.ne)]:
        t.case(f"x {sign} y bool", "{0} " + sign + " {1}", f, x, y)
    t.case("!x bool", "!{0}", jnp.logical_not, x)
    for left, right in BROADCASTS[:6]:
        t.case(f"x && y {left} {right}", "{0} && {1}", jnp.logical_and, some("bool", left, 1), some("bool", right, 2))


def clamps(t):
    for element in FLOATS + INTS:
        x = few(element)
        lo, hi = (np.array(v, TYPES[element]) for v in (1, 3))
        t.case(f"clamp(x, 1, 3) {element}", "clamp({0}, 1, 3)", lambda v: jnp.clip(v, 1, 3), x)
        t.case(f"clamp bounds {element}", "clamp({0}, {1}, {2})", jnp.clip, x, lo, hi)
        t.case(f"clamp crossed {element}", "clamp({0}, {1}, {2})", jnp.clip, x, hi, lo)
        t.case(f"where {element}", "where({0}, {1}, {2})", jnp.where, np.arange(len(x)) % 3 == 0, x, x[::-1])
        t.case(f"where one side {element}", "where({0}, {1}, 0)", lambda c, v: jnp.where(c, v, 0), np.arange(len(x)) % 3 == 0, x)
    nan = np.array(np.nan, np.float32)
    t.case("clamp nan bound", "clamp({0}, {1}, {2})", jnp.clip, few("f32"), nan, np.float32(3))
