"""Whether the programs of a case computed the same thing. Nothing is timed for the record before they did."""

from measure import Failed


def check(case, runs):
    """`runs` maps the name of each program to one run of it. Raises `Failed` with every difference found."""
    reference, laps = next(iter(runs.items()))
    laps = laps.laps
    wrong = []
    for name, run in runs.items():
        if not run.laps or len(run.laps) != len(laps):
            wrong.append(f"{name} printed {len(run.laps)} laps, {reference} {len(laps)}")
            continue
        for k, lap in enumerate(run.laps):
            for figure, tolerance in case.tolerance.items():
                if figure not in lap.figures:
                    wrong.append(f"{name}, lap {k + 1}: no {figure}")
                    continue
                expected = _expected(case, figure, k)
                if expected is None:
                    expected = laps[k].figures.get(figure)
                # Written so that a NaN is a difference.
                if expected is None or not abs(lap.figures[figure] - expected) <= tolerance:
                    wrong.append(f"{name}, lap {k + 1}: {figure} is {lap.figures[figure]}, not {expected} ± {tolerance}")
    if wrong:
        raise Failed(f"{case.name}: the programs do not agree, so their times mean nothing:\n  " + "\n  ".join(wrong))


def _expected(case, figure, k):
    values = case.expect.get(figure, [])
    return values[k] if k < len(values) else None
