"""Where the machine code of the loops is kept. This module needs no Numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from kinegraph.ahead.compilation import Compilation
from kinegraph.ahead.folder import folder
from kinegraph.solve.loops.marks import loop_files


@cache
def loops_folder() -> Path:
    """The folder of all loops, named after the content of everything they are made of."""
    return folder("solve", loop_files())


def integrator(name: str, make: Callable[[], object]) -> Compilation:
    """The loops of a method, compiled ahead by `make`."""
    return Compilation(name, "the integrator", loops_folder(), make)
