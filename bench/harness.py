"""The benchmark: each case's programs side by side in one sitting, alternating; `run.sh` starts it.

One run of each comes first and is thrown away, after its figures were compared. `report.py` says what comes of the rest.
A program whose first run took longer than SLOW runs in the first round only.
"""

import argparse
import datetime
import importlib.metadata
import json
import platform
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict

import agree
import cases
import measure
import report

OUT = cases.BENCH / "out"
COMPILER_RUNS = 10
SLOW = 30  # seconds
PEER_PACKAGES = ["jax", "optax", "torch"]


def main():
    options = arguments()
    OUT.mkdir(exist_ok=True)
    for name in options.case or cases.names():
        if name not in cases.names():
            sys.exit(f"bench: error: there is no case {name}; there are {', '.join(cases.names())}")
        case = cases.load(name)
        leave_out(case)
        if options.peers_only:
            case.programs = case.programs[1:]
        elif not cases.tpuc().exists():
            sys.exit("bench: error: target/release/tpuc is not built; `make bench` builds it first")
        try:
            result = bench(case, options.rounds)
        except measure.Failed as failure:
            sys.exit(f"bench: error: {failure}")
        print(report.table(result), flush=True)
        # Only a whole comparison is worth keeping.
        if not options.peers_only:
            report.keep(result)


def arguments():
    parser = argparse.ArgumentParser(prog="bench/run.sh", description="Measures tpuc beside what people would use instead.")
    parser.add_argument("case", nargs="*", help=f"of {', '.join(cases.names())}; all when none is named")
    parser.add_argument("--rounds", type=int, default=5, help="how often each program runs (5)")
    parser.add_argument("--peers-only", action="store_true", help="leave tpuc out, and record nothing")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    return options


def leave_out(case):
    """Drops the peers that are not installed, and says how to have them."""
    missing = dict.fromkeys(program.extra for program in case.programs if not cases.installed(program.extra))
    for extra in missing:
        print(f"bench: {case.name}: without {extra}, which is not installed; `bench/run.sh --with {extra}` installs it", file=sys.stderr)
    case.programs = [program for program in case.programs if program.extra not in missing]


def write_start(case):
    """What all programs start from, for those that read it from a file."""
    file, script = cases.start_file(case.name), pathlib.Path(case.start)
    if file.exists() and file.stat().st_mtime > script.stat().st_mtime:
        return
    say(f"{case.name}: writing what all start from")
    file.parent.mkdir(parents=True, exist_ok=True)
    measure.run([sys.executable, case.start, "--start", str(file)], OUT)


def takes_part(first, k):
    """Whether a program whose first run was `first` runs in round `k` too."""
    return k == 0 or first.wall <= SLOW


def bench(case, rounds):
    """One case, as the plain data that is kept in `results/`."""
    if any(program.extra for program in case.programs):
        write_start(case)
    say(f"{case.name}: one run of each, to compare what they compute")
    first = {program.name: run(program, case) for program in case.programs}
    agree.check(case, first)
    runs = {program.name: [] for program in case.programs}
    for k in range(rounds):
        # Each round begins with another program, so that none always runs after the same one.
        programs = [program for program in case.programs if takes_part(first[program.name], k)]
        start = k % len(programs)
        for program in programs[start:] + programs[:start]:
            say(f"{case.name}: round {k + 1}/{rounds}, {program.name}")
            runs[program.name].append(run(program, case))
        agree.check(case, {program.name: runs[program.name][k] for program in programs})
    ours = case.programs[0].name == cases.OURS
    alone = compiler(case) if ours else {}
    warm = warm_runs(case, rounds) if ours else []
    say("")
    return {
        "case": case.name,
        "title": case.title,
        "source": case.source,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "rounds": rounds,
        "programs": [{"name": one.name, "what": one.what, "runs": [asdict(r) for r in runs[one.name]]} for one in case.programs],
        "compiler": alone,
        "warm": [asdict(r) for r in warm],
        "binary": cases.tpuc().stat().st_size if ours else 0,
        "floor": {"flops": case.flops, "bytes": case.bytes, "rates": rates()},
    }


def rates():
    """The machine's best, in the same sitting: flops and bytes a second."""
    said = subprocess.run([sys.executable, str(cases.BENCH / "rates.py")], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def run(program, case):
    return measure.run(program.command, OUT, case.lap)


def warm_runs(case, rounds):
    """Ours once more, with the cache that a run before has filled."""
    with tempfile.TemporaryDirectory() as cache:
        ours = case.programs[0]
        say(f"{case.name}: {ours.name} from a warm cache")
        return [measure.run(ours.command, OUT, case.lap, cache) for _ in range(1 + rounds)][1:]


def compiler(case):
    """What compiling costs without running: medians in seconds, of whole processes."""
    tpuc, source = str(cases.tpuc()), str(cases.ROOT / case.source)
    commands = {
        "version": [tpuc, "--version"],
        "check": [tpuc, "check", source],
        "stablehlo": [tpuc, "dump-hlo", source, "--stage", "stablehlo", *case.options],
    }
    runs = {name: [] for name in commands}
    say(f"{case.name}: the compiler alone")
    for _ in range(COMPILER_RUNS):
        for name, command in commands.items():
            runs[name].append(measure.run(command, OUT))
    return {
        name: {
            "wall": statistics.median(r.wall for r in of),
            "user": statistics.median(r.user for r in of),
            "cpu": statistics.median(r.user + r.system for r in of),
        }
        for name, of in runs.items()
    }


def machine():
    processors = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    versions = [f"{package} {importlib.metadata.version(package)}" for package in PEER_PACKAGES if cases.installed(package)]
    if cases.installed("candle"):
        versions.append(subprocess.run([cases.CANDLE, "--version"], capture_output=True, text=True).stdout.strip())
    if cases.tpuc().exists():
        said = subprocess.run([cases.tpuc(), "--version"], capture_output=True, text=True).stdout
        # Where the plugin lies says nothing of the machine.
        said = re.sub(r"\(/\S*/", "(", said).splitlines()
        versions.insert(0, "; ".join(line.strip() for line in said if line.strip()))
    return {
        "processor": f"{len(processors)} × {processors[0]}" if processors else platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "versions": versions,
    }


def say(what):
    """Shows what is going on, on a terminal; nothing clears the line again."""
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
