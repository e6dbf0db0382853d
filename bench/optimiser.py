#!/usr/bin/env python3
"""What the optimiser gains: each function of `optimiser.tl` at --opt 2 beside the same at --opt 0, both through XLA.

usage: bench/optimiser.py [TPUC] [--rounds N] [--only NAME,…]
       with the benchmark's Python (bench/run.sh makes bench/.venv) and a release build; about five minutes

Work and traffic are those that XLA's own analysis finds in what it compiled, after its simplifier has seen either
program. The times to compile and to run are processor time, of one thread where it runs. In every round both programs are
compiled anew and run in turn, and the best time of each in that round gives a ratio: the median of the rounds' ratios
counts, so that a load that comes and goes does not. Of a program that the optimiser leaves as it is all ratios are 1.
Sums of exponentials that overflow as they are written are made stable, so they are measured beside JAX's own functions too.
`model` is the ratio of the two costs by tpuc's model of the CPU; how the model ranks all programs beside their times is
said at the end, and how its figures of a TPU rank them beside the TPU compiler's own analysis (`tpuc compile`). Writes
bench/OPTIMISER.md, unless only some programs were asked for.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

# One thread: the processor time is then the time on a machine that does nothing else.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"

import jax
import numpy as np
from jaxlib import xla_client

BENCH = pathlib.Path(__file__).parent
SOURCE = BENCH / "optimiser.tl"
TARGET = "v6e:1x1"
TYPES = {"f32": np.float32, "i32": np.int32, "ui32": np.uint32, "i1": np.bool_, "i8": np.int8}


def dump(tpuc, name, level):
    args = [tpuc, "dump-hlo", str(SOURCE), "--fn", name, "--opt", str(level)]
    text = subprocess.run(args, check=True, capture_output=True, text=True).stdout
    said = subprocess.run(
        args + ["--stage", "opt", "--explain-opt"], check=True, capture_output=True, text=True
    ).stderr
    modelled = float(re.search(r"^after +([0-9.]+) us", said, re.M).group(1))
    return text, modelled


def inputs(text):
    """Random data for the parameters of `main`; positions are kept inside of what they index."""
    params = re.search(r"@main\((.*?)\) ->", text).group(1)
    random = np.random.default_rng(0)
    made = []
    for shape in re.findall(r"tensor<([^>]*)>", params):
        *sizes, elem = shape.split("x")
        sizes = [int(n) for n in sizes]
        if elem == "f32":
            data = random.standard_normal(sizes) * 0.5
        else:
            data = random.integers(0, 8, sizes)
        made.append(jax.device_put(np.asarray(data, TYPES[elem])))
    return made


def compiled(client, text):
    start = time.process_time()
    executable = client.compile_and_load(text, client.local_devices()[:1], xla_client.CompileOptions())
    return executable, time.process_time() - start


TURNS = 8
BATCH_SECONDS = 0.01


def batch(executable, data, count):
    """Seconds of one call."""
    start = time.process_time()
    for _ in range(count):
        out = executable.execute(data)
    jax.block_until_ready(out)
    return (time.process_time() - start) / count


def running(executables, data):
    """The best times of one call of each, run in turn in batches long enough to be measured."""
    counts = []
    for executable in executables:
        batch(executable, data, 2)
        counts.append(max(1, int(BATCH_SECONDS / max(batch(executable, data, 1), 1e-5))))
    best = [math.inf] * len(executables)
    for _ in range(TURNS):
        for i, executable in enumerate(executables):
            best[i] = min(best[i], batch(executable, data, counts[i]))
    return best


def close(one, other):
    for a, b in zip(one, other, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        scale = max(1.0, float(np.max(np.abs(np.nan_to_num(a)), initial=0.0)))
        if not np.allclose(a, b, atol=1e-4 * scale, rtol=1e-3, equal_nan=True):
            return False
    return True


# What JAX has for the programs of which the optimiser makes the stable form.
JAX_FORMS = {
    "naive_log_sum_exp": lambda x: jax.nn.logsumexp(x, axis=1),
    "naive_softmax": lambda x: jax.nn.softmax(x, axis=1),
    "naive_log_softmax": lambda x: jax.nn.log_softmax(x, axis=1),
    "naive_cross_entropy_gradient": lambda z, y: jax.grad(
        lambda z: -jax.numpy.mean(jax.numpy.sum(jax.nn.one_hot(y, 256) * jax.nn.log_softmax(z, axis=1), axis=1))
    )(z),
    "naive_attention": lambda q, k, v: jax.nn.softmax(q @ k.T / 8.0, axis=1) @ v,
}


def compared(compilers, data, rounds):
    """What each program takes, in the order given: the best times, and the median ratio of each to the first."""
    compile_time = np.full((rounds, len(compilers)), np.inf)
    runs = np.full((rounds, len(compilers)), np.inf)
    for round in range(rounds):
        executables = [None] * len(compilers)
        # There and back: what is compiled first after a run finds the caches cold, and pays for it.
        order = list(range(len(compilers)))
        for i in order + order[::-1]:
            executables[i], seconds = compilers[i]()
            compile_time[round, i] = min(compile_time[round, i], seconds)
        runs[round] = running(executables, data)
    costs = [e.cost_analysis() for e in executables]
    results = [e.execute(data) for e in executables]
    return {
        "flops": [c.get("flops", 0.0) for c in costs],
        "bytes": [c.get("bytes accessed", 0.0) for c in costs],
        "compile": list(compile_time.min(axis=0)),
        "compile_ratio": float(np.median(compile_time[:, -1] / compile_time[:, 0])),
        "run": list(runs.min(axis=0)),
        "run_ratio": float(np.median(runs[:, -1] / runs[:, 0])),
    }, results


def measure(tpuc, client, name, rounds):
    texts, models = zip(*(dump(tpuc, name, level) for level in (0, 2)), strict=True)
    data = inputs(texts[0])
    same = texts[0] == texts[1]
    row, results = compared([lambda t=t: compiled(client, t) for t in texts], data, 1 if same else rounds)
    assert close(*results), f"{name}: the results differ"
    if same:
        row |= {"compile_ratio": 1.0, "run_ratio": 1.0}
        for key in ("compile", "run"):
            row[key] = [min(row[key])] * 2
    operations = [collections.Counter(re.findall(r"= stablehlo\.(\w+)", text)) for text in texts]
    row |= {"name": name, "same": same, "model": models, "operations": operations}
    if name in JAX_FORMS:
        text = str(jax.jit(JAX_FORMS[name]).lower(*data).compiler_ir("stablehlo"))
        forms = [lambda: compiled(client, text), lambda: compiled(client, texts[1])]
        row["jax"], results = compared(forms, data, rounds)
        assert close(*results), f"{name}: not what JAX finds"
    return row


def for_a_tpu(tpuc, names):
    """What the TPU's compiler counts and what tpuc's model does, for both levels of all programs without loops."""
    functions = [word for name in names for word in ("--fn", name)]
    found = []
    for level in (0, 2):
        args = [tpuc, "compile", str(SOURCE), "--target", TARGET, "--opt", str(level), "--json"]
        text = subprocess.run(args + functions, check=True, capture_output=True, text=True).stdout
        for program in json.loads(text)["programs"]:
            if program["compiler_seconds"] and not program["time"]["loops"]:
                found.append(program)
    return found


def ratio(pair):
    return pair[1] / pair[0] if pair[0] else 1.0


def ranks(values):
    below = [sum(other < value for other in values) for value in values]
    equal = [sum(other == value for other in values) for value in values]
    return [b + (e - 1) / 2 for b, e in zip(below, equal, strict=True)]


def rank_correlation(a, b):
    a, b = np.asarray(ranks(a)), np.asarray(ranks(b))
    return float(np.corrcoef(a, b)[0, 1])


def tpu_ranks(tpu, figure):
    return rank_correlation([p[f"model_{figure}"] for p in tpu], [p[f"compiler_{figure}"] for p in tpu])


def report(rows, tpu):
    lines = [
        "# What the optimiser gains",
        "",
        "Written by `bench/optimiser.py`: each function of `bench/optimiser.tl` at `--opt 2` over the same at `--opt 0`, both",
        "compiled by XLA for the CPU. Times are processor time. Below 1 the optimiser gains. flops and bytes are XLA's own count of what it compiled.",
        "",
        "| program | flops | bytes | XLA's compile time | run time | run time at --opt 0 | tpuc's model |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [f"{ratio(row[k]):.2f}" for k in ("flops", "bytes")]
        cells += [f"{row[k]:.2f}" for k in ("compile_ratio", "run_ratio")]
        cells += [f"{row['run'][0] * 1e3:.3f} ms", f"{ratio(row['model']):.2f}"]
        lines.append(f"| {row['name']} | " + " | ".join(cells) + " |")
    mean = math.exp(sum(math.log(r["compile_ratio"]) for r in rows) / len(rows))
    less = sum(1 for r in rows if ratio(r["flops"]) <= 1 / 1.5 or ratio(r["bytes"]) <= 1 / 1.5)
    more = [r["name"] for r in rows if ratio(r["flops"]) > 1.001 or ratio(r["bytes"]) > 1.001]
    slower = [r["name"] for r in rows if r["run_ratio"] > 1.05]
    times = [t for r in rows for t in r["run"]]
    models = [m for r in rows for m in r["model"]]
    gains = rank_correlation([ratio(r["model"]) for r in rows], [r["run_ratio"] for r in rows])
    before, step = next(r["operations"] for r in rows if r["name"] == "mnist_step")
    kinds = ", ".join(f"{n} {kind}" for kind, n in step.most_common() if kind != "constant")
    lines += [
        "",
        f"`mnist_step` is {step.total()} operations, {step['constant']} of them constants ({before.total()} and {before['constant']} at"
        f" `--opt 0`). The others: {kinds}.",
        "",
        "Sums of exponentials that overflow as they are written are made stable, which takes the largest of each row, so that they",
        "do more than `--opt 0` by intent. Beside JAX's own stable functions, compiled by the same XLA:",
        "",
        "| program | flops | bytes | run time |",
        "|---|---|---|---|",
        *(
            f"| {r['name']} | {ratio(r['jax']['flops']):.2f} | {ratio(r['jax']['bytes']):.2f} | {r['jax']['run_ratio']:.2f} |"
            for r in rows
            if "jax" in r
        ),
        "",
        f"{len(rows)} programs, {sum(r['same'] for r in rows)} left as they are. At least 1.5 times less work or traffic on {less}. More work or traffic: "
        + (", ".join(more) or "none") + ".",
        f"Compile time of XLA, geometric mean: {mean:.2f}. More than 5 % slower: " + (", ".join(slower) or "none") + ".",
        f"Rank correlation of the model with the measured times, {len(times)} variants: {rank_correlation(models, times):.2f};"
        f" of the ratios: {gains:.2f}.",
        "",
        f"{TARGET}: rank correlation of the model's figures, before compilation, with those of the TPU compiler's own"
        f" analysis, {len(tpu)} variants without loops: traffic {tpu_ranks(tpu, 'bytes'):.2f}, time {tpu_ranks(tpu, 'seconds'):.2f}."
        f" The analysis counts traffic alone, that within the chip too; with the traffic through the main memory of what was"
        f" compiled: {rank_correlation([p['model_bytes'] for p in tpu], [p['work']['bytes'] for p in tpu]):.2f}. That traffic itself"
        f" with the analysis: {rank_correlation([p['work']['bytes'] for p in tpu], [p['compiler_bytes'] for p in tpu]):.2f}.",
        "",
    ]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description="What the optimiser gains.")
    parser.add_argument("tpuc", nargs="?", default=str(BENCH.parent / "target/release/tpuc"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", help="these functions, by commas; bench/OPTIMISER.md stays as it is")
    args = parser.parse_args()
    client = jax.local_devices(backend="cpu")[0].client
    names = re.findall(r"^fn (\w+)", SOURCE.read_text(), re.M)
    rows = []
    for name in args.only.split(",") if args.only else names:
        rows.append(measure(args.tpuc, client, name, args.rounds))
        print(json.dumps(rows[-1]), flush=True)
    if args.only:
        return
    text = report(rows, for_a_tpu(args.tpuc, names))
    (BENCH / "OPTIMISER.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
