"""CasADi: Pinocchio's algorithms run on CasADi's symbols, the generated C compiled by gcc -O3 -march=native.

Two peers come of it. "CasADi C" is the best that can be made of it: placements swept of rounding dust, the convention
with fewer operations. "CasADi world" takes the model as it is read and the world convention; it is the peer that the
promised ratios were measured with.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.peers.sides.build import (
    Unavailable,
    built,
    cpp_compiler,
    pinocchio_options,
    shared_library,
    work_folder,
)
from benchmarks.peers.sides.peer import Function, Loop, Peer, Sweep, third_argument
from benchmarks.peers.sides.pinocchio_cpp import PinocchioModel
from benchmarks.peers.states import Array, State

_OPTIONS = ("-O3", "-march=native", "-lm")
_BEST = {"H": ("H", "H world"), "qdd": ("qdd", "qdd world")}
_WORLD = {"H": ("H world",), "qdd": ("qdd world",)}
#: gcc needs minutes for one function of more operations than this.
MOST_OPERATIONS = 60_000

_ENTRY = """
void entry(const double *x, double *y) {{
    const double *arguments[{slots}] = {{x, x + {positions}, x + {positions} + {velocities}}};
    double *results[{slots}] = {{y}};
    f0(arguments, results, 0, 0, 0);
}}
"""


@dataclass(frozen=True)
class Written:
    """Generated C: the file, and how many operations it holds."""

    path: Path
    mul: int
    add: int
    other: int

    @property
    def total(self) -> int:
        """Products and sums together."""
        return self.mul + self.add


@cache
def writer() -> Path:
    """The program that writes C, compiled against the wheels of Pinocchio and CasADi."""
    import casadi

    folder = Path(casadi.__file__).parent
    libraries = sorted(folder.glob("libcasadi.so.*"))
    if not libraries:
        raise Unavailable("the casadi wheel has no shared library to link with")
    options = (
        "-O1", *pinocchio_options(), "-isystem", f"{folder}/include",
        f"-L{folder}", f"-l:{libraries[0].name}", f"-Wl,-rpath,{folder}",
    )  # fmt: skip
    return built("casadi_writer.cpp", cpp_compiler(), (), options, "")


class CasadiC(Peer):
    """Straight-line C by CasADi."""

    def __init__(self, robot: PinocchioModel, quantities: Sequence[str], world: bool = False) -> None:
        self.name = "CasADi world" if world else "CasADi C"
        self.robot = robot
        self._archive = robot.archive_as_read if world else robot.archive
        self._variants = _WORLD if world else _BEST
        self.wanted = frozenset(quantities)
        self.compile_seconds: dict[str, float] = {}
        self._written: dict[str, Written] = {}
        self._functions: dict[str, Function] = {}
        writer()

    def offers(self, quantity: str) -> bool:
        return quantity in self.wanted and self.written(quantity).total <= MOST_OPERATIONS

    def written(self, quantity: str) -> Written:
        """The C of the cheapest variant."""
        if quantity not in self._written:
            variants = [self._write(variant) for variant in self._variants.get(quantity, (quantity,))]
            self._written[quantity] = min(variants, key=lambda one: one.total)
        return self._written[quantity]

    def _write(self, variant: str) -> Written:
        stem = "".join(letter if letter.isalnum() else "_" for letter in f"{self._archive.stem}_{variant}")
        path = work_folder() / f"casadi_{stem}.c"
        command = [str(writer()), str(self._archive), str(path), variant]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"CasADi cannot write {variant} of {self._archive.stem}: {done.stderr[-300:]}")
        mul, add, other = (int(word) for word in done.stdout.strip().split("\t")[1:])
        model = self.robot.model
        with path.open("a") as file:
            file.write(_ENTRY.format(slots=8, positions=model.nq, velocities=model.nv))
        return Written(path, mul, add, other)

    def function(self, quantity: str) -> Function:
        """The generated code of a quantity, compiled by gcc at the first call."""
        if quantity not in self._functions:
            start = perf_counter()
            library = shared_library(self.written(quantity).path, "gcc", _OPTIONS)
            self.compile_seconds[quantity] = perf_counter() - start
            address = ctypes.cast(library.entry, ctypes.c_void_p).value or 0
            self._functions[quantity] = Function(address, _outputs(quantity, self.robot.model.nv))
        return self._functions[quantity]

    def rows(self, quantity: str, states: Sequence[State]) -> Array:
        """The arguments of a quantity, a row for each state."""
        return np.array([np.concatenate([one.q, one.v, third_argument(quantity, one)]) for one in states])

    def value(self, quantity: str, state: State) -> Array:
        return self.function(quantity)(self.rows(quantity, [state])[0])

    def loop(self, quantity: str, states: Sequence[State]) -> Loop:
        return self.function(quantity).loop(self.rows(quantity, states))

    def sweep(self, quantity: str, states: Sequence[State]) -> Sweep:
        return self.function(quantity).sweep(self.rows(quantity, states))

    def operations(self, quantity: str) -> int:
        return self.written(quantity).total


def _outputs(quantity: str, n: int) -> int:
    return {"tau": n, "qdd": n, "H": n * n, "coriolis": n * n}.get(quantity, 3 * n * n)
