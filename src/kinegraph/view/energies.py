"""The energies of a solution as curves that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.solve.problem.problem import Floats
from kinegraph.solve.results.solution import Solution

_ENERGIES = ("kinetic", "potential", "energy")
_TRANSFERRED = ("work", "dissipated", "supplied")
#: A potential this many times larger than all changes of energy would make every curve a straight line.
_FAR = 3.0


@dataclass(frozen=True)
class Energies:
    """Curves by name; the potential and the total energy are counted from `level`, in joules."""

    curves: Mapping[str, Floats]
    level: float


def energies(solution: Solution) -> Energies:
    """Energies and what was transferred, from the start of the potential where its level would flatten all curves."""
    level = _far_level(solution)
    curves = {}
    for name in (*_ENERGIES, *_TRANSFERRED):
        if name in solution:
            moved = level if name in ("potential", "energy") else 0.0
            curves["total" if name == "energy" else name] = solution[name] - moved
    return Energies(curves, level)


def _far_level(solution: Solution) -> float:
    """The potential at the start if it is far from zero compared with how much energies change; else zero."""
    curves = [solution[name] for name in _ENERGIES if name in solution and len(solution[name])]
    if len(curves) < len(_ENERGIES):
        return 0.0
    change = max(float(np.ptp(curve)) for curve in curves)
    start = float(solution["potential"][0])
    return start if abs(start) > _FAR * max(change, float(np.max(solution["kinetic"]))) else 0.0
