"""What a case is: a folder under `cases/` whose `case.toml` names a .tl program and the peers that do the same work."""

import importlib.util
import pathlib
import sys
import tomllib
from dataclasses import dataclass, field

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent
OURS = "tpuc"
CANDLE = BENCH / "peers/candle/target/release/candle-peer"


@dataclass
class Program:
    name: str
    what: str
    command: list[str]
    extra: str | None = None  # what `run.sh --with` installs it by; None when it is always there


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
    start: str = ""  # the script that writes what all start from, for the peers that cannot draw the same numbers
    options: list[str] = field(default_factory=list)  # of `tpuc run`


def installed(extra):
    if extra == "candle":
        return CANDLE.exists()
    return extra is None or importlib.util.find_spec(extra) is not None


def start_file(name):
    return BENCH / "out/start" / f"{name}.npz"


def names():
    return sorted(path.parent.name for path in BENCH.glob("cases/*/case.toml"))


def load(name):
    folder = BENCH / "cases" / name
    table = tomllib.loads((folder / "case.toml").read_text())
    source = table["program"]
    options = table.get("options", [])
    shown = " ".join(["tpuc run", source, *options])
    ours = Program(OURS, f"`{shown}`", [str(tpuc()), "run", str(ROOT / source), *options])
    peers = [Program(peer["name"], peer["what"], _command(name, peer), peer.get("with")) for peer in table["peers"]]
    return Case(name, table["title"], source, table["lap"], table["tolerance"], table.get("expect", {}),
                [ours, *peers], table["floor"]["flops"], table["floor"]["bytes"],
                str(folder / table.get("start", "peer.py")), options)


def _command(case, peer):
    script, *options = peer["run"]
    match peer.get("with"):
        case None:
            return [sys.executable, str(BENCH / "cases" / case / script), *options]
        case "torch":
            return [sys.executable, str(BENCH / "cases" / case / script), str(start_file(case)), *options]
        case "candle":
            return [str(CANDLE), script, str(start_file(case)), *options]
        case other:
            raise ValueError(f"{case}: there is no {other} to install")


def tpuc():
    return ROOT / "target/release/tpuc"
