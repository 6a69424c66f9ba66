"""First use on a machine with empty caches, then the same request again; and what an installation takes.

`python -m benchmarks first-use --source SRC=PYTHON` measures another copy of the source beside this one, each with an
interpreter that has its dependencies. Compare ratios: the clock depends on how busy the machine is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

from benchmarks.self.first_result import Seconds, processor_of_children

_CALLED = "from kinegraph.cli import main; main({!r})"
#: What is asked, as a program of one line.
REQUESTS = {
    "import kinegraph": "import kinegraph",
    "eval double-pendulum -q tau": _CALLED.format(["eval", "double-pendulum", "-q", "tau"]),
    "simulate double-pendulum --for 1000": _CALLED.format(["simulate", "double-pendulum", "--for", "1000"]),
    "simulate bouncing-ball": _CALLED.format(["simulate", "bouncing-ball", "--for", "3"]),
    "study of 10,000 cases": _CALLED.format(
        ["study", "double-pendulum", "--for", "1", "--cases", "10000", "--vary", "q1=uniform(-1,1)"]
    ),
    "reduce puma560 tau, normal effort": (
        "import kinegraph as kg; kg.reduce(kg.derive(kg.load('puma560'), 'tau'), kg.Effort.NORMAL, seconds=10)"
    ),
}


def timed(source: Path, python: str, program: str, cache: str) -> Seconds:
    """Seconds of one process; its standard output is dropped."""
    environment = {**os.environ, "PYTHONPATH": str(source), "KINEGRAPH_CACHE": cache}
    begun, before = perf_counter(), processor_of_children()
    subprocess.run([python, "-c", program], env=environment, check=True, stdout=subprocess.DEVNULL, cwd=cache)
    return Seconds(perf_counter() - begun, processor_of_children() - before)


def measured(source: Path, python: str) -> dict[str, dict[str, Seconds]]:
    """For each request the seconds with an empty cache, and the least of two more processes with a full one."""
    found = {}
    for name, program in REQUESTS.items():
        with tempfile.TemporaryDirectory() as cache:
            first = timed(source, python, program, cache)
            again = min((timed(source, python, program, cache) for _ in range(2)), key=lambda one: one.processor)
            found[name] = {"empty": first, "again": again}
    return found


def installed(python: str) -> dict[str, int]:
    """What the environment of an interpreter holds: packages, and megabytes on disk."""
    program = (
        "import importlib.metadata as m, sysconfig, os; p = sysconfig.get_path('purelib');"
        "print(len(list(m.distributions())), sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(p)"
        " for f in fs if not os.path.islink(os.path.join(d, f))) // 1000000)"
    )
    packages, megabytes = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    return {"packages": int(packages), "MB": int(megabytes)}


def main(words: Sequence[str] | None = None) -> None:
    """Print a table for each source."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks first-use", description=__doc__)
    parser.add_argument("--source", action="append", default=[], help="SRC=PYTHON, in turn with this source")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    here = f"{Path(__file__).resolve().parents[2] / 'src'}={sys.executable}"
    table = {}
    for pair in (*options.source, here):
        source, _, python = pair.partition("=")
        table[pair] = measured(Path(source), python or sys.executable), installed(python or sys.executable)
    if options.json:
        plain = {
            source: {"installed": size} | {name: {k: asdict(v) for k, v in row.items()} for name, row in rows.items()}
            for source, (rows, size) in table.items()
        }
        print(json.dumps(plain, indent=1))
        return
    for source, (rows, size) in table.items():
        print(f"{source}: {size['packages']} packages, {size['MB']} MB")
        for name, row in rows.items():
            print(f"  {name:40} empty cache {row['empty']}   again {row['again']}")


if __name__ == "__main__":
    main()
