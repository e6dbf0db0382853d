"""How long differentiating and lowering take, by the size of the program: a section of RESULTS.md.

    make release; python bench/ad_scaling.py target/release/tpuc

The first part is a stack of transformer blocks, differentiated by all its weights and lowered to StableHLO. The second
is a chain of elementwise operations, up to 100,000 of them before differentiation, without the optimiser. Times are those of
the processor, the user's and the system's together, from the start of the process, the least of some runs.
"""

import datetime
import os
import re
import sys
import tempfile

import report

REPEATS = 3

BLOCK = """
type Block = {{ q: f32[{d}, {d}], k: f32[{d}, {d}], v: f32[{d}, {d}], o: f32[{d}, {d}], u: f32[{d}, {h}], w: f32[{h}, {d}], a: f32[{d}], b: f32[{d}], c: f32[{d}], e: f32[{d}] }}
fn normed(x: f32[{t}, {d}], g: f32[{d}], b: f32[{d}]) -> f32[{t}, {d}] {{
    (x - mean(x, axis=1, keepdims=true)) * rsqrt(var(x, axis=1, keepdims=true) + 1e-5) * g + b
}}
fn block(p: Block, x: f32[{t}, {d}]) -> f32[{t}, {d}] {{
    let n = normed(x, p.a, p.b);
    let heads = |y| transpose(reshape(y, [{t}, 4, {d} / 4]), (1, 0, 2));
    let s = heads(n @ p.q) @ swapaxes(heads(n @ p.k), 1, 2) / sqrt({d}.0 / 4.0);
    let m = where(tril(ones([{t}, {t}])) > 0, s, -1e9);
    let y = x + reshape(transpose(softmax(m) @ heads(n @ p.v), (1, 0, 2)), [{t}, {d}]) @ p.o;
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
    """The least processor time of some runs, and the output."""
    best = float("inf")
    with tempfile.TemporaryFile("w+") as out:
        for _ in range(REPEATS):
            out.seek(0)
            out.truncate()
            command = [tpuc, "dump-hlo", path, *args]
            pid = os.posix_spawn(tpuc, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
            _, status, usage = os.wait4(pid, 0)
            if status != 0:
                sys.exit(f"{' '.join(command)} failed")
            best = min(best, usage.ru_utime + usage.ru_stime)
        out.seek(0)
        return best, out.read()


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
    line = f"| {name} | {operations(ir):,} | {operations(after):,} | {value:.2f} | {grad:.2f} | {lowered:.2f} |"
    print(line, flush=True)
    return line


def main():
    tpuc = os.path.abspath(sys.argv[1])
    rows = []
    for layers in [1, 3, 12]:
        rows.append(row(tpuc, f"{layers} transformer blocks", transformer(layers), "0"))
    rows.append(row(tpuc, "12 transformer blocks, optimised", transformer(12), "1"))
    for n in [1_000, 10_000, 100_000]:
        rows.append(row(tpuc, f"a chain of {n:,}", chain(n), "0"))
    text = "\n".join([
        "\n## Differentiating and lowering, by size\n",
        f"`bench/ad_scaling.py`, {datetime.date.today()}; seconds of the processor, from the start of the process, to the end of each stage.\n",
        "| program | ops before | ops after | specialised | differentiated | lowered |",
        "|---|---|---|---|---|---|",
        *rows,
    ])
    (report.RESULTS / "differentiation.md").write_text(text + "\n")
    report.write()


main()
