"""Reference of runtime/src/print: format specs and shortest floats by CPython and NumPy themselves.

Writes tab-separated lines `kind value spec text`: the value as hexadecimal bits for floats and decimal for
integers, the text as CPython gives it, or `!` where CPython refuses the spec. Lines of kind f32, f16 and bf16 have no
spec: their text is the shortest that reads back (NumPy's digits, written as Python writes a float).
The line f16-all has the CRC-32 of all finite f16 from 0 up, one a line. Run as
    python scripts/reference/python_format.py > runtime/tests/reference/python_format.txt
"""

import random
import struct
import zlib
from fractions import Fraction

import ml_dtypes
import numpy as np

rng = random.Random(0)

FLOATS = [
    0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.25, 0.125, 0.375, 3.0, 9.5, 9.995, 9.9949999, 99.95, 0.1, 0.3, 1 / 3, 2 / 3,
    1e-3, 1e-4, 1e-5, 1.5e-5, 0.00012345, 123.456, -123.456, 1234.5, 12345.678, 123456.0, 999999.5, 1234567.0, 1e6, 1e15,
    1e16, 1e17, 123456789012345680.0, 1e21, 1e22, 1e100, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308,
    float("inf"), float("-inf"), float("nan"), 0.045, 1.005, 2.675, 4.35, 0.0001, 0.99999, 0.999999, 0.9999995, 1e-7,
]
FLOAT_SPECS = [
    "", ".4f", ".0f", ".1f", ".2f", "f", "F", "e", "E", ".3e", ".0e", "g", "G", ".3g", ".1g", ".0g", ".10g", ".17g", "%", ".1%", ".0%",
    ".3", ".1", ".0", ".10", "10", "<10", ">10", "^10", "=10", "*^12", "0=12", "010", "<010", "x>10", "+", " ", "-", "+.2f", " .2f",
    "+10.2f", "010.2f", "+010.2f", ",", ",.2f", "_", "_.2f", "012,.1f", "015,.2f", "020,", "#", "#.0f", "#.0e", "#g", "#.3g", "#.0g",
    "z", "z.1f", "z.0f", "z.1e", "z.2g", "z.1%", "z+.1f", "8.3f", "12.4e", "<12.4g|"[:-1], "^+12.2f", "é^10.1f", "_e", ",e", ",g", ",%", "z,",
]
INTS = [0, 1, -1, 7, 42, -42, 255, 1000, -1000, 123456, 1234567, -1234567, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1]
INT_SPECS = [
    "", "d", "x", "X", "o", "b", "#x", "#X", "#o", "#b", "5", "<8", ">8", "^8", "=8", "08", "08d", "+d", " d", "+08d", ",", ",d", "_", "_d", "_x", "#_x", "_b",
    "08,", "012,d", "020_x", "#020_x", "*^15,d", "x<6", "f", ".2f", "e", ".3e", "g", ".3g", "%", ".1%", ",.1f", "#08x", "^#10x", "+,d", "05,", "06,", "07,", "<08",
]
BAD_FLOAT_SPECS = ["d", "x", "b", ",x", "c", ".", "10.", ".f", "abc", "s", "0x10", "+-", "<<<", ",,", "_,", "1f2", "zz", "##"]
BAD_INT_SPECS = [".2", ".2d", ",x", ",b", "z", "zd", "q", ".", "5.5d", "s", ",_", "<<<"]


def bits(x):
    return struct.pack(">d", x).hex()


def row(*cells):
    print("\t".join(cells))


def tried(value, spec):
    try:
        return format(value, spec)
    except ValueError:
        return "!"


for x in FLOATS + [rng.uniform(-1, 1) * 10 ** rng.randint(-12, 20) for _ in range(12)]:
    for spec in FLOAT_SPECS:
        row("f64", bits(x), spec, tried(x, spec))
for spec in BAD_FLOAT_SPECS:
    row("f64", bits(1.5), spec, tried(1.5, spec))
for i in INTS:
    for spec in INT_SPECS:
        row("int", str(i), spec, tried(i, spec))
for spec in BAD_INT_SPECS:
    row("int", "12", spec, tried(12, spec))

F32_BITS = [0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x7F7FFFFF, 0x7F800000, 0x3F800000, 0x3DCCCCCD, 0x4B800000, 0x5A0E1BCA, 0x38D1B717, 0x3727C5AC]
for b in F32_BITS + [rng.getrandbits(31) % 0x7F800000 for _ in range(150)]:
    row("f32", f"{b:08x}", "", repr(float(str(np.uint32(b).view(np.float32)))))
for b in [0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x3C00, 0x2E66, 0x4248] + [rng.getrandbits(15) % 0x7C00 for _ in range(150)]:
    row("f16", f"{b:04x}", "", repr(float(str(np.uint16(b).view(np.float16)))))
every = [repr(float(str(x))) for x in np.arange(0x7C00, dtype=np.uint16).view(np.float16)]
row("f16-all", "", "", f"{zlib.crc32(chr(10).join(every).encode()):08x}")


def bf16(b):
    return np.uint16(b).view(ml_dtypes.bfloat16)


def shortest_bf16(b):
    """By definition: the fewest digits, of those the nearest, within half a step of the number."""
    exact = Fraction(float(bf16(b)))
    for count in range(1, 10):
        exponent = 0
        while Fraction(10) ** (exponent + 1) <= exact:
            exponent += 1
        while Fraction(10) ** exponent > exact:
            exponent -= 1
        step = Fraction(10) ** (exponent - count + 1)
        floor = exact // step
        candidates = sorted([floor * step, (floor + 1) * step], key=lambda c: abs(c - exact))
        for candidate in candidates:
            if nearest_bf16(candidate) == b:
                return repr(float(candidate))
    raise AssertionError(b)


def nearest_bf16(x):
    """The bits of the bfloat16 nearest to a fraction, ties to even."""
    below = 0
    top = 0x7F80
    while top - below > 1:
        middle = (below + top) // 2
        value = Fraction(2) ** 128 if middle == 0x7F80 else Fraction(float(bf16(middle)))
        if value <= x:
            below = middle
        else:
            top = middle
    low = Fraction(float(bf16(below)))
    high = Fraction(2) ** 128 if top == 0x7F80 else Fraction(float(bf16(top)))
    if x - low < high - x or (x - low == high - x and below % 2 == 0):
        return below
    return top


for b in [1, 2, 0x7F, 0x80, 0x7F7F, 0x3F80, 0x3DCD, 0x4049] + [rng.getrandbits(15) % 0x7F80 for _ in range(150)]:
    row("bf16", f"{b:04x}", "", shortest_bf16(b))
