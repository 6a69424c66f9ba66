"""The walk through the code: functions, modules, depth and hops that everyday requests take, of this source or others.

A hop is a call from one module of ours into another; `hops` is the largest number of them on the call stack at once.
"""

from __future__ import annotations

import json as json_module
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kinegraph.cli.common import JsonOption, console, print_json

#: What is walked through. The second of two equal requests finds its code in the cache.
REQUESTS = {
    "compile double-pendulum, cold": "kg.compile(kg.load('double-pendulum'), 'tau')",
    "compile double-pendulum, cached": "kg.compile(kg.load('double-pendulum'), 'tau')",
    "simulate four-bar": "kg.simulate(kg.load('four-bar'), 1)",
    "simulate bouncing-ball": "kg.simulate(kg.load('bouncing-ball'), 1)",
    "study double-pendulum": "main(['study', 'double-pendulum', '--for', '1', '--vary=q1=uniform(-1,1)', '--cases=9'])",
}

_WORKER = """
import os, sys
import kinegraph as kg
def main(words):
    from kinegraph.cli import main
    main(words)
root = os.path.dirname(kg.__file__) + os.sep
functions, deepest, most = set(), 0, 0
def profile(frame, event, argument):
    global deepest, most
    if event != "call" or not frame.f_code.co_filename.startswith(root) or frame.f_code.co_name == "<module>":
        return
    functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
    depth = hops = 0
    last = None
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith(root):
            depth += 1
            hops += last is not None and name != last
            last = name
        frame = frame.f_back
    deepest, most = max(deepest, depth), max(most, hops)
sys.setprofile(profile)
try:
    REQUEST
except SystemExit as end:
    if end.code:
        raise
sys.setprofile(None)
ours = [name for name in sys.modules if name.startswith("kinegraph")]
import json
print(json.dumps({"functions": len(functions), "modules": len({file for file, _ in functions}), "imported": len(ours),
    "depth": deepest, "hops": most}))
"""


def run(
    source: Annotated[list[Path] | None, typer.Option(help="Other copies of the repository to walk through.")] = None,
    json: JsonOption = False,
) -> None:
    """Print the walk of each request, for this source and for others."""
    here = Path(__file__).resolve().parents[2]
    table = {str(folder.name): walks(folder) for folder in [*(source or ()), here]}
    if json:
        print_json(table)
        return
    columns = ("functions", "modules", "imported", "depth", "hops")
    for name, rows in table.items():
        shown = Table("request", *columns, title=name)
        for request, row in rows.items():
            shown.add_row(request, *(str(row[column]) for column in columns))
        console().print(shown)


def walks(folder: Path) -> dict[str, dict[str, int]]:
    """The walk of each request, each in a process of its own, all with one cache that begins empty."""
    with tempfile.TemporaryDirectory() as cache:
        return {name: _walk(folder, request, cache) for name, request in REQUESTS.items()}


def _walk(folder: Path, request: str, cache: str) -> dict[str, int]:
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "KINEGRAPH_CACHE": cache}
    command = [sys.executable, "-c", _WORKER.replace("REQUEST", request)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise typer.BadParameter(f"{folder}: {request}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, int] = json_module.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    typer.run(run)
