"""The ratios of all kept results as one SVG: tpuc's steady lap over each peer's."""

import statistics

import cases
import report

WIDTH, ROW, LABEL, SCALE = 860, 22, 330, 300  # pixels; SCALE is the length of a ratio of 1


def svg(results):
    """Bars below 1 end before the line: there tpuc is ahead."""
    bars = [bar for result in results for bar in _bars(result)]
    height = ROW * (len(bars) + 2)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LABEL}" y="{ROW - 7}">a lap of tpuc over one of the peer (1 is the line)</text>',
    ]
    for k, (label, value) in enumerate(bars):
        y = ROW * (k + 1)
        colour = "#3b74c4" if value <= 1 else "#c4823b"
        length = min(value * SCALE, WIDTH - LABEL - 60)
        parts.append(f'<text x="{LABEL - 8}" y="{y + 15}" text-anchor="end">{label}</text>')
        parts.append(f'<rect x="{LABEL}" y="{y + 3}" width="{length:.1f}" height="{ROW - 6}" fill="{colour}"/>')
        parts.append(f'<text x="{LABEL + length + 6:.1f}" y="{y + 15}">{value:.2f}</text>')
    line = LABEL + SCALE
    parts.append(f'<path d="M{line} {ROW}V{height - ROW}" stroke="#444" stroke-dasharray="3 3"/>')
    return "\n".join([*parts, "</svg>", ""])


def _bars(result):
    ours, *peers = result["programs"]
    if ours["name"] != cases.OURS or not all(report.steady(run) for one in result["programs"] for run in one["runs"]):
        return []
    lap = lambda run: statistics.median(report.steady(run))
    return [(f"{result['case']} / {peer['name']}", report.ratio(ours["runs"], peer["runs"], lap)) for peer in peers]
