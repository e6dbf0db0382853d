"""Runs one program and measures it from outside: laps by the arrival of its lines, memory and CPU by what the kernel says.

Kept small and free of imports: a child starts as a copy of this process, and the kernel counts that in its peak memory.
"""

import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

_FIGURE = re.compile(r"(\w+)=(-?(?:[0-9.]+(?:[eE][-+]?[0-9]+)?|nan|inf))")


class Failed(Exception):
    """A program ended badly, or its figures are not what they must be."""


@dataclass
class Lap:
    at: float  # seconds after the start of the process
    figures: dict[str, float]


@dataclass
class Run:
    wall: float  # seconds
    user: float  # seconds of CPU
    system: float
    peak: int  # bytes
    laps: list[Lap] = field(default_factory=list)


def run(command, folder, lap=None, cache=None):
    """Runs `command` in `folder`; `lap` is the pattern of a line that ends a lap. Without `cache`, with an empty cache folder of its own."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryDirectory() as empty:
        cache = cache or empty
        environment = os.environ | {"XDG_CACHE_HOME": cache, "TORCHINDUCTOR_CACHE_DIR": os.path.join(cache, "torchinductor"),
                                    "JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1"}
        start = time.perf_counter()
        child = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=errors)
        laps = []
        for line in child.stdout:
            at = time.perf_counter() - start
            text = line.decode(errors="replace")
            if lap and re.search(lap, text):
                laps.append(Lap(at, figures(text)))
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stdout.close()
        if child.returncode != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()[-2000:]
            raise Failed(f"{' '.join(command)} ended with status {child.returncode}:\n{said}")
    return Run(wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024, laps)


def figures(line):
    """The `name=number` pairs of a line."""
    return {name: float(number) for name, number in _FIGURE.findall(line)}
