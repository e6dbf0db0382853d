"""Random functions: every bit is jax.random's."""

import jax.numpy as jnp
import numpy as np
from builtins_table import EXACT, FLOATS, INTS, TYPES, mixed, some
from jax import lax, random

SEEDS = [0, 1, 42, 2**31 - 1, -1]
SHAPES = [(), (1,), (5,), (6,), (0,), (3, 4), (2, 3, 5), (2, 1, 2, 3)]
LARGE = 70001
WORD = {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}


def size(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def digest(values):
    """The sum of all bits, and a sample: a large array in a few bytes."""
    word = WORD[values.dtype.itemsize]
    bits = values if values.dtype == word else lax.bitcast_convert_type(values, word)
    total = jnp.sum(bits.astype(jnp.uint64 if word == jnp.uint64 else jnp.uint32))
    return total, values[::997]


def digested(draw, element):
    width = np.dtype(TYPES[element]).itemsize * 8
    bits = "r" if element[0] == "u" else f"bitcast(r, u{width})"
    total = bits if width == 64 else f"u32({bits})"
    return "{ let r = " + draw + f"; (sum({total}), r[::997]) }}"


def cases(t):
    # The braces of a block are no places of arrays.
    def case(name, expression, f, *arrays, **options):
        if not arrays:
            expression = expression.replace("{", "{{").replace("}", "}}")
        t.case(name, expression, f, *arrays, **options)

    draws(case)
    keys(case)
    others(case)


def draws(case):
    functions = {
        "bits": lambda k, s, e: random.bits(k, s, TYPES[e]),
        "uniform": lambda k, s, e: random.uniform(k, s, TYPES[e]),
        "normal": lambda k, s, e: random.normal(k, s, TYPES[e]),
        "gumbel": lambda k, s, e: random.gumbel(k, s, TYPES[e]),
        "truncated_normal": lambda k, s, e: random.truncated_normal(k, -1.5, 2.0, s, TYPES[e]),
    }
    for name, f in functions.items():
        elements = UNSIGNED if name == "bits" else FLOATS
        default = "u32" if name == "bits" else "f32"
        bounds = ", -1.5, 2.0" if name == "truncated_normal" else ""
        for seed in SEEDS:
            for shape in SHAPES if seed == 0 else [(5,), (3, 4)]:
                case(f"{name} seed {seed} {shape}", f"{name}(key({seed}){bounds}, {size(shape)})",
                     lambda f=f, k=seed, s=shape: f(random.key(k), s, default), tol=tolerance(name, default))  # fmt: skip
        for element in elements:
            wide = element.endswith("64")
            for shape in [(7,), (2, 4)]:
                case(f"{name} {element} {shape}", f"{name}(key(7){bounds}, {size(shape)}, dtype={element})",
                     lambda f=f, s=shape, e=element: f(random.key(7), s, e), wide=wide, tol=tolerance(name, element))  # fmt: skip
            if tolerance(name, element) == EXACT:
                draw = f"{name}(key(3){bounds}, [{LARGE}], dtype={element})"
                case(f"{name} {element} of many", digested(draw, element),
                     lambda f=f, e=element: digest(f(random.key(3), (LARGE,), e)), wide=wide)  # fmt: skip
            else:
                draw = f"{name}(key(3){bounds}, [{LARGE}], dtype={element})"
                case(f"{name} {element} of many", draw + "[::97]", lambda f=f, e=element: f(random.key(3), (LARGE,), e)[::97],
                     wide=wide, tol=tolerance(name, element))  # fmt: skip
    for element in ["i8", "i32", "i64"]:
        case(f"bits {element}", f"bits(key(4), [6], dtype={element})",
             lambda e=element: lax.bitcast_convert_type(random.bits(random.key(4), (6,), TYPES["u" + e[1:]]), TYPES[e]), wide=element == "i64")  # fmt: skip


UNSIGNED = [name for name in INTS if name[0] == "u"]


def tolerance(name, element):
    """Logarithms are the device's own."""
    return mixed({"f32": 1e-6, "f64": 4e-15, "bf16": 2**-7, "f16": 2**-6}[element]) if name == "gumbel" else EXACT


def keys(case):
    bits = lambda k: random.bits(k, (3,), np.uint32)  # noqa: E731
    for seed in [0, 1, 2**32 - 1, -5]:
        case(f"split {seed}", f"{{ let (a, b) = split(key({seed})); (bits(a, [3]), bits(b, [3])) }}",
             lambda s=seed: tuple(bits(k) for k in random.split(random.key(s))))  # fmt: skip
    case("split in five", "{ let ks = split(key(9), 5); (bits(ks[0], [3]), bits(ks[4], [3])) }",
         lambda: tuple(bits(random.split(random.key(9), 5)[i]) for i in (0, 4)))  # fmt: skip
    case("split of a split", "{ let (_, b) = split(key(9)); let (c, _) = split(b); bits(c, [3]) }",
         lambda: bits(random.split(random.split(random.key(9))[1])[0]))  # fmt: skip
    for data in [0, 1, 12345, 2**31 - 1]:
        case(f"fold_in {data}", f"bits(fold_in(key(5), {data}), [3])", lambda d=data: bits(random.fold_in(random.key(5), d)))
    case("fold_in of a run-time number", "bits(fold_in(key(5), {0}), [3])", lambda d: bits(random.fold_in(random.key(5), d)), np.int32(77))
    case("key of a run-time seed", "bits(key({0}), [3])", lambda s: bits(random.key(s)), np.int32(-3))
    case("key of a wide seed", "bits(key({0}), [3])", lambda s: bits(random.key(s)), np.int64(2**40 + 3))


def others(case):
    for seed in SEEDS:
        case(f"bernoulli {seed}", f"bernoulli(key({seed}), 0.3, [4, 5])", lambda s=seed: random.bernoulli(random.key(s), 0.3, (4, 5)))
        case(f"randint {seed}", f"randint(key({seed}), [4, 5], -7, 1000)", lambda s=seed: random.randint(random.key(s), (4, 5), -7, 1000))
        case(f"permutation {seed}", f"permutation(key({seed}), 17)", lambda s=seed: random.permutation(random.key(s), 17))
    p = some("f32", (3, 1), 1, 0, 1)
    case("bernoulli of many probabilities", "bernoulli(key(1), {0}, [3, 4])", lambda p: random.bernoulli(random.key(1), p, (3, 4)), p)
    case("bernoulli of probabilities alone", "bernoulli(key(1), {0})", lambda p: random.bernoulli(random.key(1), p), p)
    case("bernoulli in bf16", "bernoulli(key(1), {0})", lambda p: random.bernoulli(random.key(1), p), p.astype(TYPES["bf16"]))
    case("bernoulli in f64", "bernoulli(key(1), {0})", lambda p: random.bernoulli(random.key(1), p), p.astype(np.float64))
    case("bernoulli by default", "bernoulli(key(8))", lambda: random.bernoulli(random.key(8)))
    case("bernoulli of many", f"sum(bernoulli(key(8), 0.25, [{LARGE}]))", lambda: jnp.sum(random.bernoulli(random.key(8), 0.25, (LARGE,))))
    case("uniform between", "uniform(key(2), [6], -2.0, 5.0)", lambda: random.uniform(random.key(2), (6,), minval=-2.0, maxval=5.0))
    case("uniform by names", "uniform(key(2), [6], lo=0.5, hi=0.75)", lambda: random.uniform(random.key(2), (6,), minval=0.5, maxval=0.75))
    lo = some("f32", (4,), 3)
    case("uniform of many bounds", "uniform(key(2), [3, 4], {0}, 9.0)", lambda v: random.uniform(random.key(2), (3, 4), minval=v, maxval=9.0), lo)
    ranges = {"i8": (-100, 100), "i16": (-3000, 3000), "i32": (-(2**31), 2**31 - 1), "i64": (-(2**40), 2**50), "u8": (3, 250),
              "u16": (0, 60000), "u32": (5, 2**32 - 1), "u64": (0, 2**62)}  # fmt: skip
    for element in INTS:
        a, b = (np.array(v, TYPES[element]) for v in ranges[element])
        case(f"randint {element}", "randint(key(6), [9], {0}, {1}, dtype=" + f"{element})",
             lambda a, b, e=element: random.randint(random.key(6), (9,), a, b, TYPES[e]), a, b)  # fmt: skip
    # The whole of a narrow type, whose end is no number of it, and bounds outside.
    for element, lo, hi in [("u8", 0, 256), ("i8", -128, 128), ("u16", 0, 65536), ("i16", -32768, 32768), ("u8", -7, 1000), ("i8", 100, 9000)]:
        case(f"randint {element} of {lo} to {hi}", f"randint(key(6), [9], {lo}, {hi}, dtype={element})",
             lambda lo=lo, hi=hi, e=element: random.randint(random.key(6), (9,), lo, hi, TYPES[e]))  # fmt: skip
    a, b = np.array([-1000, 0, 300], np.int32), np.array([256, 3, 301], np.int32)
    case("randint u8 by i32", "randint(key(6), [4, 3], {0}, {1}, dtype=u8)", lambda a, b: random.randint(random.key(6), (4, 3), a, b, np.uint8), a, b)
    case("randint of an empty range", "randint(key(6), [4], 5, 5)", lambda: random.randint(random.key(6), (4,), 5, 5))
    case("randint of a crossed range", "randint(key(6), [4], 5, 2)", lambda: random.randint(random.key(6), (4,), 5, 2))
    case("randint of many bounds", "randint(key(6), [2, 4], {0}, 50)", lambda v: random.randint(random.key(6), (2, 4), v, 50), np.arange(4, dtype=np.int32))
    case("randint of many", f"{{ let r = randint(key(6), [{LARGE}], 0, 12345); (sum(r), r[::997]) }}",
         lambda: (lambda r: (jnp.sum(r), r[::997]))(random.randint(random.key(6), (LARGE,), 0, 12345)))  # fmt: skip
    for n in [0, 1, 2, 3, 1000]:
        case(f"permutation of {n}", f"permutation(key(4), {n})", lambda n=n: random.permutation(random.key(4), n))
    case("permutation of many", f"permutation(key(4), {LARGE})[::997]", lambda: random.permutation(random.key(4), LARGE)[::997])
    case("permutation of a vector", "permutation(key(4), {0})", lambda v: random.permutation(random.key(4), v), some("f32", (9,), 1))
    case("permutation of rows", "permutation(key(4), {0})", lambda v: random.permutation(random.key(4), v), some("f32", (5, 2), 1))
    for shape, axis in [((5,), -1), ((3, 4), -1), ((3, 4), 0), ((2, 3, 4), 1)]:
        x = some("f32", shape, 2)
        case(f"categorical {shape} axis={axis}", "categorical(key(3), {0}, axis=" + f"{axis})", lambda v, a=axis: random.categorical(random.key(3), v, axis=a), x)
    case("categorical", "categorical(key(3), {0})", lambda v: random.categorical(random.key(3), v), some("f32", (50, 4), 2))
    case("categorical of many draws", "categorical(key(3), {0}, shape=[3, 5])", lambda v: random.categorical(random.key(3), v, shape=(3, 5)), some("f32", (5, 4), 2))
    case("categorical with impossible classes", "categorical(key(3), {0})", lambda v: random.categorical(random.key(3), v),
         np.array([[-np.inf, 0.0, -np.inf], [0.0, -np.inf, 1.0]], np.float32))  # fmt: skip
    for element in FLOATS[1:]:
        case(f"categorical {element}", "categorical(key(3), {0})", lambda v: random.categorical(random.key(3), v), some(element, (20, 4), 2))
    for lo, hi in [(-1.0, 1.0), (-10.0, 10.0), (2.0, 3.0), (-float("inf"), 0.5), (0.0, 1.0)]:
        case(f"truncated_normal between {lo} and {hi}", "truncated_normal(key(5), {0}, {1}, [40])",
             lambda a, b: random.truncated_normal(random.key(5), a, b, (40,), jnp.float32), np.float32(lo), np.float32(hi))  # fmt: skip
    bounds = some("f32", (3,), 1, -1, 0)
    case("truncated_normal of many bounds", "truncated_normal(key(5), {0}, 1.0)", lambda v: random.truncated_normal(random.key(5), v, 1.0), bounds)
    x = some("f32", (4, 5), 6)
    for rate in [0.0, 0.25, 0.5, 0.9]:
        keep = np.float32(1) - np.float32(rate)
        f = lambda v, k=keep: jnp.where(random.bernoulli(random.key(2), k, v.shape), v / k, 0)  # noqa: E731
        case(f"dropout {rate}", "dropout(key(2), {0}, " + f"{rate})", f, x)
    for element in FLOATS[1:]:
        # The mask is drawn in f32 at least.
        p = np.float64(0.75) if element == "f64" else np.float32(0.75)
        keep = np.asarray(0.75, TYPES[element])
        f = lambda v, p=p, k=keep: jnp.where(random.bernoulli(random.key(2), p, v.shape), v / k, jnp.zeros_like(v))  # noqa: E731
        case(f"dropout {element}", "dropout(key(2), {0}, 0.25)", f, x.astype(TYPES[element]))
