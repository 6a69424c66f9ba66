"""What compiling costs on this machine: numbers of a common machine, corrected by what was measured here.

Every compilation is timed; what it took in relation to what was expected is stored in the cache's folder.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace

from kinegraph.jit import cache as disk
from kinegraph.solve.loops.marks import loops_digest

_NAME = "costs-1"

#: Seconds to reduce and compile: once, and for each operation.
_COMPILING = 0.15, 3.5e-4
#: Seconds until the loops of a method are on disk, compiled for the first time, and until they are loaded from there.
_LOOPS_FIRST, _LOOPS_AGAIN = 8.0, 1.0
#: Seconds to call compiled code from Python, and for each of its operations.
_CALLING, _OPERATION = 3e-6, 1.5e-9
#: Seconds of an interpreted operation, and of an interpreted loop for each evaluation.
_INTERPRETED, _PYTHON_LOOP = 6e-8, 2e-5
#: Seconds for the part of a compiled loop that belongs to one evaluation.
_LOOP = 1e-7


@dataclass
class Costs:
    """How much longer (more than one) than expected compiling takes here; `loops` are seconds to load, by method."""

    compiling: float = 1.0
    first: float = 1.0
    loops: dict[str, float] = field(default_factory=dict)

    def compile(self, operations: int) -> float:
        """Seconds to compile kernels of so many operations."""
        return self.compiling * (_COMPILING[0] + _COMPILING[1] * operations)

    def load(self, method: str, ready: bool, on_disk: bool) -> float:
        """Seconds until compiled loops are ready; `ready` says that this process has used them before."""
        if ready:
            return 0.0
        again = self.loops.get(_key(method), self.first * _LOOPS_AGAIN)
        return again if on_disk else self.make() + again

    def make(self) -> float:
        """Seconds to compile the loops of a method for the first time."""
        return self.first * _LOOPS_FIRST

    @staticmethod
    def interpret(operations: int) -> float:
        """Seconds of an interpreted evaluation, with its part of the loop."""
        return _PYTHON_LOOP + _INTERPRETED * operations

    @staticmethod
    def step() -> float:
        """Seconds of an interpreted loop for each evaluation."""
        return _PYTHON_LOOP

    @staticmethod
    def call(operations: int) -> float:
        """Seconds of a call of compiled code from an interpreted loop."""
        return _CALLING + _OPERATION * operations

    @staticmethod
    def evaluate(operations: int) -> float:
        """Seconds of an evaluation within a compiled loop."""
        return _LOOP + _OPERATION * operations

    def compiled(self, operations: int, seconds: float) -> Costs:
        """Learn from a compilation."""
        expected = replace(self, compiling=1.0).compile(operations)
        return replace(self, compiling=_between(self.compiling, seconds / expected))

    def made(self, seconds: float) -> Costs:
        """Learn from loops that were compiled."""
        return replace(self, first=_between(self.first, seconds / _LOOPS_FIRST))

    def loaded(self, method: str, seconds: float) -> Costs:
        """Learn from loops that were loaded."""
        key = _key(method)
        loops = {name: value for name, value in self.loops.items() if name.startswith(loops_digest())}
        return replace(self, loops=loops | {key: _between(loops.get(key, seconds), seconds)})


def _key(method: str) -> str:
    """Loops that were changed are compiled anew."""
    return f"{loops_digest()} {method}"


def _between(old: float, new: float) -> float:
    """Half way: a machine that was busy for a moment is not slow."""
    return min(max((old + new) / 2, 1e-3), 1e3)


def stored() -> Costs:
    """What is known of this machine."""
    data = disk.load(_NAME)
    if data is None:
        return Costs()
    try:
        return Costs(**json.loads(data))
    except (ValueError, TypeError):
        return Costs()


def store(costs: Costs) -> None:
    """Keep it for the next run."""
    disk.save(_NAME, json.dumps(asdict(costs)).encode())
