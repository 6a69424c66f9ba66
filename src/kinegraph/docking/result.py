"""How a docking went: its outcome, phases, touches, peaks, and what was kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum

import numpy as np

from kinegraph.docking.latches.joining import Joining
from kinegraph.docking.peaks import Peak
from kinegraph.solve.problem.problem import Floats


class Outcome(Enum):
    """How a docking ended; the value is the message."""

    DOCKED = "hard joint closed"
    CAPTURED = "captured; the hard joint has not closed"
    BOUNCED = "bounced off"
    OUT_OF_STROKE = "a leg left its stroke"
    OVERLOAD = "a leg or the interface was overloaded"
    NOT_CAPTURED = "not captured in time"
    FAILED = "the integration ended early"


@dataclass(frozen=True)
class Fault:
    """What was too much: `stroke` or `overload`, of which leg, latch or `interface` or `bending`, and when [s]."""

    what: str
    where: str
    time: float


@dataclass(frozen=True)
class Overlap:
    """A guide whose shapes lie in each other at the start, and how deep [m]."""

    guide: str
    depth: float


@dataclass(frozen=True)
class Phase:
    """A part of a docking: contact, damping, drawing in, joined. Columns by name, all of one length as the times."""

    name: str
    times: Floats
    states: Floats
    columns: Mapping[str, Floats]
    steps: int


@dataclass(frozen=True)
class DockingRun:
    """A docking from first contact to its end.

    touches: when the guides met after they had been apart, and the start if they touch there. latches: when each latch
    caught, by its point (if they close at once: when each was ready first).
    fault: what was too much, if the run ended so.
    peaks: largest forces [N] and moments [N m]: `leg`, `ring` (all legs on the ring), `interface`, `bending`, `latch`.
    momentum, energy: by how much they moved along all phases, relative to their size; capture's loss is counted.
    overlaps: guides that lie in each other at the start, the deepest first: forces there are those of no docking.
    """

    outcome: Outcome
    phases: tuple[Phase, ...]
    touches: tuple[float, ...]
    latches: Mapping[str, float]
    joinings: tuple[Joining, ...]
    peaks: Mapping[str, Peak]
    momentum: float
    energy: float
    fault: Fault | None = None
    overlaps: tuple[Overlap, ...] = ()

    @property
    def captured(self) -> float | None:
        """When all latches engaged; None if never."""
        return next((one.time for one in self.joinings if one.joint == "captured"), None)

    @property
    def times(self) -> Floats:
        """The times of all phases; where two meet there are two, before and after."""
        return np.concatenate([np.zeros(0), *(phase.times for phase in self.phases)])

    def __getitem__(self, name: str) -> Floats:
        """A column along all phases: a coordinate, a velocity, `energy`, `interface`, the length of a leg."""
        return np.concatenate([np.zeros(0), *(phase.columns[name] for phase in self.phases)])

    def __contains__(self, name: object) -> bool:
        return any(name in phase.columns for phase in self.phases)

    def report(self) -> dict[str, object]:
        """All that JSON can hold."""
        return {
            "outcome": self.outcome.name.lower(),
            "message": self.outcome.value,
            "captured": self.captured,
            "touches": list(self.touches),
            "latches": dict(self.latches),
            "phases": [
                {"name": one.name, "from": float(one.times[0]), "to": float(one.times[-1]), "steps": one.steps}
                for one in self.phases
            ],
            "joints": [
                {"joint": one.joint, "time": one.time, "impulse": one.impulse.tolist(), "energy lost": one.lost,
                 "shift": one.shift, "tilt": one.tilt}
                for one in self.joinings
            ],
            "peaks": {name: asdict(one) for name, one in self.peaks.items()},
            "fault": None if self.fault is None else asdict(self.fault),
            "overlaps": [asdict(one) for one in self.overlaps],
            "momentum": self.momentum,
            "energy": self.energy,
        }  # fmt: skip
