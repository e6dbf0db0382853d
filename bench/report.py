"""What the runs of a case come to: a table for the terminal, and `RESULTS.md` out of the kept results of all cases."""

import json
import statistics

import cases
import chart

RESULTS = cases.BENCH / "results"

_HEAD = """# Results

Written by `make bench` out of `bench/results/`; `bench/README.md` says what is measured and how. Medians, with the least and the
greatest in brackets. The floor is what the machine's best product and copy would take for the work of a lap. A ratio is ours over the peer's in the same round, the median of the rounds: below 1 tpuc is ahead.

![Ratios of all cases](RESULTS.svg)
"""


def table(result):
    """A case's figures as a Markdown table, followed by the ratios and what compiling costs."""
    rows = [["program", "epoch", "first epoch ends", "whole process", "CPU", "peak memory", "last figures"]]
    for program in result["programs"]:
        runs = program["runs"]
        rows.append([
            program["name"],
            spread([lap for run in runs for lap in steady(run)], "s"),
            spread([run["laps"][0]["at"] for run in runs], "s"),
            spread([run["wall"] for run in runs], "s"),
            spread([run["user"] + run["system"] for run in runs], "s"),
            spread([run["peak"] / 2**20 for run in runs], "MiB", 0),
            " ".join(f"{name} {value:g}" for name, value in runs[-1]["laps"][-1]["figures"].items()),
        ])
    parts = [_grid(rows)]
    if ratios := _ratios(result["programs"]):
        parts.append(_grid(ratios))
    if line := _warm(result):
        parts.append(line)
    if line := _floor(result):
        parts.append(line)
    if result["compiler"]:
        parts.append(_compiler(result["compiler"], result["source"]))
    if result.get("binary"):
        parts.append(f"The command is a file of {result['binary'] / 2**20:.1f} MiB.")
    return "\n\n".join(parts)


def keep(result):
    """Stores a result and writes `RESULTS.md` anew."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{result['case']}.json").write_text(json.dumps(result, indent=1) + "\n")
    write()


def write():
    """Writes `RESULTS.md` out of all results, then the sections that others have written themselves."""
    kept = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    others = [path.read_text() for path in sorted(RESULTS.glob("*.md"))]
    (cases.BENCH / "RESULTS.md").write_text("".join([_HEAD, *map(_section, kept), *others]))
    (cases.BENCH / "RESULTS.svg").write_text(chart.svg(kept))


def _section(result):
    machine = result["machine"]
    about = [
        f"`make bench-{result['case']}`, {result['date']}, {result['rounds']} rounds, on {machine['processor']}, {machine['system']};",
        f"{'; '.join(machine['versions'])}.",
        "",
        *(f"- **{program['name']}**: {program['what']}" for program in result["programs"]),
    ]
    return f"\n## {result['title']}\n\n" + "\n".join(about) + f"\n\n{table(result)}\n"


def steady(run):
    """Seconds of each lap but the first, which holds what is done once."""
    times = [lap["at"] for lap in run["laps"]]
    return [late - early for early, late in zip(times, times[1:])]


def spread(values, unit, digits=2):
    """`median unit (least to greatest)`."""
    if not values:
        return "-"
    low, middle, high = (f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} {unit} ({low} to {high})"


def ratio(ours, peers, of):
    """The median over the rounds of ours over the peer's. `of` takes a run to its figure."""
    return statistics.median(of(a) / of(b) for a, b in zip(ours, peers))


def _ratios(programs):
    if programs[0]["name"] != cases.OURS or len(programs) < 2:
        return None
    ours = programs[0]["runs"]
    measures = {
        "epoch": lambda run: statistics.median(steady(run)),
        "first epoch ends": lambda run: run["laps"][0]["at"],
        "whole process": lambda run: run["wall"],
        "peak memory": lambda run: run["peak"],
    }
    if not all(steady(run) for program in programs for run in program["runs"]):
        del measures["epoch"]
    rows = [["tpuc over", *measures]]
    for peer in programs[1:]:
        rows.append([peer["name"], *(f"{ratio(ours, peer['runs'], of):.2f}" for of in measures.values())])
    return rows


def floor(result):
    """Seconds that a lap takes at least on this machine: its products at the best rate, or its traffic."""
    least, rates = result["floor"], result["floor"]["rates"]
    return max(least["flops"] / rates["flops"], least["bytes"] / rates["bytes"])


def _warm(result):
    """The whole process when an earlier one has filled the cache, and the time to its first lap."""
    if not (runs := result.get("warm")):
        return None
    middle = lambda of, runs: statistics.median(of(run) for run in runs)
    whole, first = (lambda run: run["wall"]), (lambda run: run["laps"][0]["at"])
    ours, *peers = result["programs"]
    over = ", ".join(f"{middle(whole, runs) / middle(whole, peer['runs']):.2f} of {peer['name']}" for peer in peers)
    return (
        f"From a warm cache {ours['name']}'s first epoch ends after {middle(first, runs):.2f} s and the whole process takes "
        f"{spread([whole(run) for run in runs], 's')}: {over}."
    )


def _floor(result):
    runs = result["programs"][0]["runs"]
    if "floor" not in result or not all(steady(run) for run in runs):
        return None
    least, seconds = result["floor"], floor(result)
    ours = statistics.median(lap for run in runs for lap in steady(run))
    return (
        f"The floor of an epoch is {seconds:.3f} s: {least['flops'] / 1e9:.2f} Gflop in products at {least['rates']['flops'] / 1e9:.0f} Gflop/s, "
        f"{least['bytes'] / 1e9:.2f} GB at {least['rates']['bytes'] / 1e9:.1f} GB/s; {result['programs'][0]['name']} takes {ours / seconds:.2f} × of it."
    )


def _compiler(times, source):
    load, emit = times["version"], times["stablehlo"]
    rows = [
        ["command", "wall", "user", "CPU"],
        *(
            [name, *(f"{1000 * times[key][kind]:.0f} ms" for kind in ("wall", "user", "cpu"))]
            for name, key in (
                ("`tpuc --version` (loading only)", "version"),
                (f"`tpuc check {source}`", "check"),
                (f"`tpuc dump-hlo {source} --stage stablehlo`", "stablehlo"),
            )
        ),
        ["source to StableHLO, loading taken off", *(f"{1000 * (emit[k] - load[k]):.0f} ms" for k in ("wall", "user", "cpu"))],
    ]
    return _grid(rows)


def _grid(rows):
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
