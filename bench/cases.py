"""What a case is: a folder under `cases/` whose `case.toml` names a .tl program and the peers that do the same work."""

import pathlib
import sys
import tomllib
from dataclasses import dataclass

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
OURS = "tpuc"


@dataclass
class Program:
    name: str
    what: str
    command: list[str]


@dataclass
class Case:
    name: str
    title: str
    source: str  # of the .tl program, relative to the checkout
    lap: str  # pattern of a line that ends a lap
    tolerance: dict[str, float]
    expect: dict[str, list[float]]
    programs: list[Program]  # ours first
    flops: float = 0.0  # of matrix products in a lap, the least that the work needs
    bytes: float = 0.0  # through the main memory in a lap, likewise


def names():
    return sorted(path.parent.name for path in BENCH.glob("cases/*/case.toml"))


def load(name):
    folder = BENCH / "cases" / name
    table = tomllib.loads((folder / "case.toml").read_text())
    source = table["program"]
    ours = Program(OURS, f"`tpuc run {source}`", [str(tpuc()), "run", str(ROOT / source)])
    peers = [
        Program(peer["name"], peer["what"], [sys.executable, str(folder / peer["run"][0]), *peer["run"][1:]])
        for peer in table["peers"]
    ]
    return Case(name, table["title"], source, table["lap"], table["tolerance"], table.get("expect", {}),
                [ours, *peers], table["floor"]["flops"], table["floor"]["bytes"])


def tpuc():
    return ROOT / "target/release/tpuc"
