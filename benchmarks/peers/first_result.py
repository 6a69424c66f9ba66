"""From a robot file to the first number: a fresh process each time, with an empty cache and with a filled one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.robots import RobotCase

_PROGRAM = """
import json, sys, time
def now():
    return time.perf_counter(), time.process_time()
def since(start):
    return [b - a for a, b in zip(start, now())]
path, base, quantity = sys.argv[1:4]
start = now()
import numpy
from importlib import import_module
from kinegraph.io.options import UrdfOptions
from kinegraph.io.urdf import load_urdf
compiler = import_module("kinegraph.compiler.compile")
imported = since(start)
start = now()
mechanism = load_urdf(path, UrdfOptions(base=base, mimic=False)).mechanism
loaded = since(start)
kernel = compiler.compile(mechanism, quantity)
sizes = [len(argument.symbols) for argument in kernel.arguments]
result = kernel(*[numpy.full(size, 0.5) for size in sizes])
assert numpy.isfinite(result).all()
print(json.dumps({"imports": imported, "load": loaded, "total": since(start)}))
"""


@dataclass(frozen=True)
class FirstResult:
    """Seconds from the file to the first result, without imports: on the wall, and of the processor alone."""

    wall: float
    processor: float
    imports: float


def first_result(case: RobotCase, path: Path, quantity: str) -> tuple[FirstResult, FirstResult]:
    """Cold, then cached."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"KINEGRAPH_CACHE": folder, "PYTHONPATH": os.pathsep.join(sys.path)}
        Path(folder).chmod(0o700)
        command = [sys.executable, "-c", _PROGRAM, str(path), "floating" if case.floating else "fixed", quantity]
        cold, cached = (_run(command, environment) for _ in range(2))
    return cold, cached


def _run(command: list[str], environment: dict[str, str]) -> FirstResult:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return FirstResult(found["total"][0], found["total"][1], found["imports"][1])
