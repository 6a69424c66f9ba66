"""The motion of the demo: legs whose joints are led through a gait by springs and dampers."""

from __future__ import annotations

from dataclasses import dataclass

import kinegraph as kg
from kinegraph.solve.results.solution import Solution

DURATION = 5.0
#: How many moments are saved.
_INTERVALS = 500
#: Seconds in which a joint that is off its way comes back.
_DAMPING = 1 / 22


@dataclass(frozen=True)
class Leading:
    """What leads a joint: a stiffness in N m/rad, and where the joint should be at the phase P of a step, in rad."""

    stiffness: float
    aim: str


_GAIT = {
    "gamma": Leading(900, "0.18 + 0.42*sin(P)"),
    "beta": Leading(500, "0.55 + 0.5*sin(P - 1.9)"),
    "nu": Leading(90, "0.1 + 0.15*sin(P - 0.6)"),
    "alfa": Leading(600, "0.02"),
    "teta": Leading(120, "0"),
    "epsilon": Leading(60, "0"),
}
_PHASES = {"L": "(5*t)", "R": "(5*t + pi)"}
_START = {"beta$L": 0.1, "beta$R": 1, "gamma$L": 0.18, "gamma$R": 0.18}


def walk(legs: kg.Mechanism, progress: bool | None = None) -> Solution:
    """The legs, hung up, walking in the air."""
    return kg.simulate(legs, DURATION, inputs=forces(), initial=_START, grid=_INTERVALS, progress=progress)


def forces() -> dict[str, str]:
    """The force in each joint as a formula."""
    return {
        f"{joint}${side}": _force(f"{joint}${side}", leading, phase)
        for side, phase in _PHASES.items()
        for joint, leading in _GAIT.items()
    }


def _force(name: str, leading: Leading, phase: str) -> str:
    aim = leading.aim.replace("P", phase)
    return f"{leading.stiffness}*({aim} - {name}) - {leading.stiffness * _DAMPING}*{name}'"
