"""How bodies are joined while they move: an impulse that takes away their velocity against each other, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.docking.latches.held_form import IMPULSES, STATE
from kinegraph.docking.modes import ModeEquations
from kinegraph.graph.interpret import interpret
from kinegraph.solve.problem.problem import Floats


@dataclass(frozen=True)
class Joining:
    """A joint that closed: when, the impulse between the bodies, the energy that went into the latch.

    impulse: force and moment impulse on the target, along the axes of the first body, at the joint [N s, N m s].
    misalignment [m, rad]: how far the bodies stood from each other, and turned.
    """

    joint: str
    time: float
    impulse: Floats
    lost: float
    pose: tuple[float, ...]

    @property
    def shift(self) -> float:
        """The lateral distance of the two frames [m]."""
        return float(np.hypot(self.pose[0], self.pose[1]))

    @property
    def tilt(self) -> float:
        """The angle between the two frames, roll included [rad]."""
        return float(2 * np.arctan2(np.linalg.norm(self.pose[4:]), abs(self.pose[3])))


def closed(mode: ModeEquations, time: float, state: Floats, known: Mapping[str, float]) -> tuple[Floats, Floats]:
    """The state of all bodies after rows have closed where they are, and the impulses along the rows."""
    form, values = mode.held, dict(zip(mode.all_names, state, strict=True))
    row = np.concatenate([mode.taken(state), [time], mode.signals.values(np.array([time]))[0], mode.parameters(known)])
    found = interpret(form.closing, {symbol.name: value for symbol, value in zip(form.symbols, row, strict=True)})
    values |= {name: value for name, value in zip(form.names, found[STATE], strict=True) if name in values}
    return np.array([values[name] for name in mode.all_names]), np.asarray(found[IMPULSES])


def without_velocity_against(
    mode: ModeEquations, time: float, q: Floats, v: Floats, known: Mapping[str, float]
) -> tuple[Floats, Floats, float]:
    """Velocities after the joints of a mode have closed, the impulses in all rows, and the energy lost.

    M (v+ - v) = J^T p with J v+ = 0: what is lost is the energy of the velocities that J sees. Rows that other rows
    contain get the least impulses.
    """
    inertia, rows = mode.quantities("H,constraint_jacobian", q, v, time, known)
    opening = rows @ v
    moved = np.linalg.solve(inertia, rows.T)
    compliance = rows @ moved
    seen = np.diag(compliance)
    scale = np.divide(1, np.sqrt(seen), out=np.zeros_like(seen), where=seen > 0)
    impulses = -scale * (np.linalg.pinv(scale[:, None] * compliance * scale, rcond=1e-10) @ (scale * opening))
    after = v + moved @ impulses
    lost = 0.5 * (v @ inertia @ v - after @ inertia @ after)
    return after, impulses, float(lost)
