"""Functions of one array, element by element, and the activations."""

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np
from builtins_table import EXACT, FLOATS, INTS, TYPES, mixed, some, special, ulp
from jax import lax


def in_single(f, x):
    """16 bits by way of f32, where JAX rounds an argument that is then multiplied by much."""
    wide = jnp.promote_types(x.dtype, jnp.float32)
    return f(x.astype(wide)).astype(x.dtype)


EXACT_FUNCTIONS = [
    ("sqrt", jnp.sqrt), ("square", jnp.square), ("abs", jnp.abs), ("sign", jnp.sign),
    ("floor", jnp.floor), ("ceil", jnp.ceil), ("round", jnp.round), ("trunc", jnp.trunc),
    ("is_nan", jnp.isnan), ("is_finite", jnp.isfinite), ("reciprocal", jnp.reciprocal), ("-", lambda x: -x),
]  # fmt: skip

SMOOTH_FUNCTIONS = [
    ("exp", jnp.exp), ("exp2", lambda x: in_single(jnp.exp2, x)), ("log", jnp.log), ("log2", jnp.log2), ("log1p", jnp.log1p),
    ("expm1", jnp.expm1), ("rsqrt", lax.rsqrt), ("cbrt", jnp.cbrt), ("sin", jnp.sin), ("cos", jnp.cos),
    ("tan", jnp.tan), ("asin", jnp.arcsin), ("acos", jnp.arccos), ("atan", jnp.arctan), ("sinh", jnp.sinh),
    ("cosh", jnp.cosh), ("tanh", jnp.tanh), ("asinh", jnp.arcsinh), ("acosh", jnp.arccosh), ("atanh", jnp.arctanh),
    ("sigmoid", jax.nn.sigmoid), ("erf", lax.erf), ("erfc", lax.erfc), ("erf_inv", lax.erf_inv),
    ("lgamma", lax.lgamma), ("digamma", jsp.digamma),
]  # fmt: skip

ACTIVATIONS = [
    ("relu({0})", jax.nn.relu), ("relu6({0})", jax.nn.relu6), ("leaky_relu({0})", jax.nn.leaky_relu),
    ("leaky_relu({0}, 0.25)", lambda x: jax.nn.leaky_relu(x, 0.25)),
    ("leaky_relu({0}, negative_slope=0.5)", lambda x: jax.nn.leaky_relu(x, negative_slope=0.5)),
    ("elu({0})", jax.nn.elu), ("elu({0}, alpha=0.5)", lambda x: jax.nn.elu(x, alpha=0.5)),
    ("selu({0})", jax.nn.selu), ("gelu({0})", lambda x: jax.nn.gelu(x, approximate=False)),
    ("gelu_tanh({0})", lambda x: jax.nn.gelu(x, approximate=True)), ("silu({0})", jax.nn.silu),
    ("softplus({0})", jax.nn.softplus), ("log_sigmoid({0})", jax.nn.log_sigmoid),
    ("hard_tanh({0})", jax.nn.hard_tanh),
]  # fmt: skip

SHAPES = [(), (1,), (0,), (2, 0, 3), (3, 4), (2, 1, 3), (2, 3, 1, 2)]


def units(element):
    return {"f32": ulp(4), "f64": ulp(4), "bf16": ulp(2), "f16": ulp(2)}[element]


def tolerance(name, element):
    if name in ("lgamma", "digamma"):
        # Their zeros on the negative axis are no numbers: what is left of a difference there is not relative.
        return mixed({"f32": 1e-6, "f64": 4e-15, "bf16": 2**-7, "f16": 2**-10}[element])
    return units(element)


def call(name):
    return "-{0}" if name == "-" else name + "({0})"


def moderate(element):
    """Numbers at which no function is badly conditioned, of both signs and several sizes."""
    x = np.concatenate([np.linspace(-8.3, 8.6, 61), np.linspace(-0.97, 0.98, 40), np.geomspace(1e-4, 3e4, 40)])
    return x.astype(TYPES[element])


def unary(t):
    for i, (name, f) in enumerate(EXACT_FUNCTIONS + SMOOTH_FUNCTIONS):
        smooth = i >= len(EXACT_FUNCTIONS)
        for element in FLOATS:
            tol = tolerance(name, element) if smooth else EXACT
            t.case(f"{name} {element} special", call(name), f, special(element), tol=tol)
            if smooth:
                t.case(f"{name} {element} moderate", call(name), f, moderate(element), tol=tol)
        # The shapes in turn, and all of them for some.
        for k, shape in enumerate(SHAPES):
            if name not in ("exp", "asinh", "round", "erf_inv") and k != i % len(SHAPES):
                continue
            low = 1.1 if name == "acosh" else 0.05
            x = some("f32", shape, i, low, 2.9 if name == "acosh" else 0.95)
            t.case(f"{name} f32 {shape}", call(name), f, x, tol=tolerance(name, "f32") if smooth else EXACT)
    for element in INTS:
        for name, f in [("abs", jnp.abs), ("sign", jnp.sign), ("square", jnp.square), ("-", lambda x: -x)]:
            if name != "-" or element[0] == "i":
                t.case(f"{name} {element} special", call(name), f, special(element))


# What the device makes of subnormal arguments is the result at zero of their sign; what they give else is computed
# in double precision and rounded.
def subnormal(t):
    bits = np.array([1, 2, 0x1234, 0x400000, 0x7FFFFF], np.uint32)
    x = np.concatenate([bits, bits | 0x80000000]).astype(np.uint32).view(np.float32)
    for i, (name, f) in enumerate(EXACT_FUNCTIONS + SMOOTH_FUNCTIONS):
        with jax.enable_x64(True):
            exact = np.asarray(f(jnp.asarray(x.astype(np.float64))))
        if exact.dtype != np.bool_:
            exact = exact.astype(np.float32)
        smooth = i >= len(EXACT_FUNCTIONS)
        t.case(f"{name} f32 subnormal", call(name), f, x, tol=ulp(4) if smooth else EXACT, exact=exact)


def activations(t):
    for i, (expression, f) in enumerate(ACTIVATIONS):
        piecewise = expression.startswith(("relu", "hard_tanh"))
        for element in FLOATS:
            # In 16 bits JAX rounds each operation, here only the last; 1 + tanh and 1 + erf cancel.
            tol = {"f32": ulp(6), "f64": ulp(6), "bf16": mixed(0.016), "f16": mixed(0.003)}[element]
            if expression.startswith("gelu_tanh") and element[-2:] != "16":
                tol = mixed({"f32": 1e-6, "f64": 4e-15}[element])
            tol = EXACT if piecewise else tol
            name = expression.format("x")
            t.case(f"{name} {element} special", expression, f, special(element), tol=tol)
            t.case(f"{name} {element} moderate", expression, f, moderate(element), tol=tol)
        x = some("f32", SHAPES[i % len(SHAPES)], 5)
        t.case(f"{expression.format('x')} f32 {x.shape}", expression, f, x, tol=EXACT if piecewise else mixed(1e-6))
    # Integers stay integers, where JAX makes floats of them.
    for name, f in [("relu", jax.nn.relu), ("relu6", lambda x: jnp.clip(x, 0, 6)), ("hard_tanh", jax.nn.hard_tanh)]:
        for element in ["i8", "i32", "i64", "u8", "u32"]:
            if name != "hard_tanh" or element[0] == "i":
                t.case(f"{name} {element}", name + "({0})", f, special(element))
