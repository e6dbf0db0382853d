"""Casts between all element types, and `bitcast`."""

import jax.numpy as jnp
import numpy as np
from builtins_table import EXACT, FLOATS, INTS, TYPES, some, special, ulp
from jax import lax

WIDTH = {name: np.dtype(dtype).itemsize for name, dtype in TYPES.items()}


def wider(element):
    """The special values, and numbers around the ends of the ranges of integers."""
    x = special(element)
    if element not in FLOATS:
        return x
    ends = [127.0, 128.5, -128.0, -129.5, 255.0, 256.5, 32767.5, -32769.0, 65535.5, 65536.0, 2.0**31, -(2.0**31), 2.0**31 - 128,
            2.0**32, 2.0**63, -(2.0**63), 2.0**64, 1.99, -0.99, 0.4999]  # fmt: skip
    with np.errstate(over="ignore"):
        return np.concatenate([x, np.array(ends).astype(TYPES[element])])


def cases(t):
    for source in TYPES:
        x = wider(source)
        for target in TYPES:
            # From f64 to bf16 the device rounds twice, by way of f32.
            tol = ulp(1) if (source, target) == ("f64", "bf16") else EXACT
            f = lambda v, to=target: lax.convert_element_type(v, TYPES[to])  # noqa: E731
            if target == "bool":
                f = lambda v: v != 0  # noqa: E731
            t.case(f"{target} of {source}", target + "({0})", f, x, tol=tol, wide=target.endswith("64"))
    for shape in [(), (0,), (1, 3), (2, 0), (2, 1, 2, 2)]:
        t.case(f"i32 of f32 {shape}", "i32({0})", lambda v: v.astype(jnp.int32), some("f32", shape, 1, -9, 9))
        t.case(f"f32 of bool {shape}", "f32({0})", lambda v: v.astype(jnp.float32), some("bool", shape, 1))
    for source in FLOATS + INTS:
        for target in FLOATS + INTS:
            if WIDTH[source] == WIDTH[target]:
                x = special(source)
                if source in FLOATS:
                    x = x[~np.isnan(x)]
                f = lambda v, to=target: lax.bitcast_convert_type(v, TYPES[to])  # noqa: E731
                t.case(f"bitcast {source} {target}", "bitcast({0}, " + target + ")", f, x)


