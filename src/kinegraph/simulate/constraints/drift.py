"""What integration leaves of loops and constraints, and the states without it."""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.simulate.equations import Equations, largest
from kinegraph.solve.problem.problem import Floats

_STEPS = 3


@dataclass(frozen=True)
class Drift:
    """The largest miss by position and by velocity, over all saved states: of the integration, and what is left.

    closed: saved states were taken onto the constraints; otherwise what is left is what integration left.
    speed: the largest velocity, beside which what is missed by velocity has to be seen: rounding grows with it.
    """

    position: float
    velocity: float
    left_position: float
    left_velocity: float
    closed: bool = True
    speed: float = 1.0

    @property
    def relative_velocity(self) -> float:
        """What is left by velocity, relative to the largest velocity if that is more than one."""
        return self.left_velocity / max(1.0, self.speed)


def without_drift(
    equations: Equations, times: Floats, q: Floats, v: Floats, parameters: Floats
) -> tuple[Floats, Floats, Drift]:
    """States taken back onto the constraints, and how far they were from them."""
    misses = []
    for _ in range(_STEPS):
        found = equations.taken_back(times, q, v, parameters)
        misses.append((found.position, found.velocity))
        q, v = found.q, found.v
    last = equations.taken_back(times, q, v, parameters)
    left = (last.position, last.velocity) if equations.keeps_closed else misses[0]
    return q, v, Drift(*misses[0], *left, equations.keeps_closed, largest(v))
