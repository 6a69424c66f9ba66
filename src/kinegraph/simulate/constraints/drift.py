"""What integration leaves of loops and constraints, and the states without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.projection import MISSED, PROJECTED
from kinegraph.graph.node import Graph
from kinegraph.simulate.equations import Equations, row_values, state_symbols
from kinegraph.solve.problem.problem import Floats

_STEPS = 3


@dataclass(frozen=True)
class Drift:
    """The largest miss by position and by velocity, over all saved states: of the integration, and what is left.

    closed: saved states were taken onto the constraints; otherwise what is left is what integration left.
    """

    position: float
    velocity: float
    left_position: float
    left_velocity: float
    closed: bool = True


def without_drift(
    equations: Equations, projection: Graph, times: Floats, q: Floats, v: Floats, parameters: Floats
) -> tuple[Floats, Floats, Drift]:
    """States taken back onto the constraints, and how far they were from them."""
    misses = []
    tail = np.hstack([times[:, None], np.tile(parameters, (len(times), 1))])
    size = q.shape[1]
    for _ in range(_STEPS + 1):
        found = row_values(projection, state_symbols(equations), np.hstack([q, v, tail]))
        half = found[MISSED].shape[1] // 2
        misses.append([float(np.max(np.abs(part), initial=0.0)) for part in np.split(found[MISSED], [half], axis=1)])
        if len(misses) <= _STEPS:
            q, v = found[PROJECTED][:, :size], found[PROJECTED][:, size:]
    left = misses[-1] if equations.keeps_closed else misses[0]
    return q, v, Drift(misses[0][0], misses[0][1], left[0], left[1], equations.keeps_closed)
