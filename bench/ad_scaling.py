"""How long differentiating and lowering take, by the size of the program. Prints a table; docs/ad.md has one.

    python bench/ad_scaling.py target/release/tpuc

The first part is a stack of transformer blocks, differentiated by all its weights and lowered to StableHLO. The second
is a chain of elementwise operations, up to 100,000 of them before differentiation, without the optimiser.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

REPEATS = 3

BLOCK = """
type Block = {{ q: f32[{d}, {d}], k: f32[{d}, {d}], v: f32[{d}, {d}], o: f32[{d}, {d}], u: f32[{d}, {h}], w: f32[{h}, {d}], a: f32[{d}], b: f32[{d}], c: f32[{d}], e: f32[{d}] }}
fn normed(x: f32[{t}, {d}], g: f32[{d}], b: f32[{d}]) -> f32[{t}, {d}] {{
    (x - mean(x, axis=1, keepdims=true)) * rsqrt(var(x, axis=1, keepdims=true) + 1e-5) * g + b
}}
fn block(p: Block, x: f32[{t}, {d}]) -> f32[{t}, {d}] {{
    let n = normed(x, p.a, p.b);
    let split = |y| transpose(reshape(y, [{t}, 4, {d} / 4]), (1, 0, 2));
    let s = split(n @ p.q) @ swapaxes(split(n @ p.k), 1, 2) / sqrt({d}.0 / 4.0);
    let m = where(tril(ones([{t}, {t}])) > 0, s, -1e9);
    let y = x + reshape(transpose(softmax(m) @ split(n @ p.v), (1, 0, 2)), [{t}, {d}]) @ p.o;
    y + gelu(normed(y, p.c, p.e) @ p.u) @ p.w
}}
"""


def transformer(layers):
    text = BLOCK.format(d=64, h=256, t=32)
    params = ", ".join(f"p{i}: Block" for i in range(layers))
    body = "".join(f"    let x{i + 1} = block(p{i}, x{i});\n" for i in range(layers))
    names = ", ".join(f"p{i}" for i in range(layers))
    wrt = ", ".join(str(i) for i in range(layers))
    text += f"fn loss({params}, x0: f32[32, 64]) -> f32 {{\n{body}    mean(square(x{layers}))\n}}\n"
    types = params + ", x: f32[32, 64]"
    block_types = ", ".join(["Block"] * layers)
    return text + f"fn step({types}) -> ({block_types}) {{ grad(loss, wrt=({wrt}))({names}, x) }}\n"


def chain(n):
    lines = ["    let y0 = x;\n"]
    for i in range(n // 4):
        lines.append(f"    let y{i + 1} = sin(y{i}) * x + y{i} * 0.5;\n")
    return (
        "fn loss(x: f32[8]) -> f32 {\n" + "".join(lines) + f"    sum(y{n // 4})\n}}\n"
        "fn step(x: f32[8]) -> f32[8] { grad(loss)(x) }\n"
    )


def run(tpuc, path, *args):
    """The best wall time of some runs, and the output."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        done = subprocess.run([tpuc, "dump-hlo", path, *args], capture_output=True, text=True)
        best = min(best, time.perf_counter() - start)
        if done.returncode != 0:
            sys.exit(done.stderr)
    return best, done.stdout


def operations(ir):
    return len(re.findall(r"^ *%\S+.* = ", ir, re.M))


def row(tpuc, name, text, opt):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.tl")
        with open(path, "w") as f:
            f.write(text)
        value, ir = run(tpuc, path, "--fn", "loss", "--stage", "ir", "--opt", opt)
        grad, after = run(tpuc, path, "--fn", "step", "--stage", "grad", "--opt", opt)
        lowered, _ = run(tpuc, path, "--fn", "step", "--stage", "stablehlo", "--opt", opt)
    n = operations(ir)
    print(f"| {name} | {n} | {operations(after)} | {value:.2f} | {grad:.2f} | {lowered:.2f} |", flush=True)


def main():
    tpuc = sys.argv[1]
    print("| program | ops before | ops after | specialised, s | differentiated, s | lowered, s |")
    print("|---|---|---|---|---|---|")
    for layers in [1, 3, 12]:
        row(tpuc, f"{layers} transformer blocks", transformer(layers), "0")
    row(tpuc, "12 transformer blocks, optimised", transformer(12), "1")
    for n in [1_000, 10_000, 100_000]:
        row(tpuc, f"a chain of {n:,}", chain(n), "0")


main()
