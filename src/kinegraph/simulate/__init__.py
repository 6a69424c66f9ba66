"""Motion: from a mechanism to the problem `solve` integrates, and from its result to named columns."""

from __future__ import annotations

from kinegraph.simulate.run import simulate
from kinegraph.simulate.sweep import Sweep, sweep
from kinegraph.solve.control import Adaptive, FixedStep
from kinegraph.solve.events import Action, Direction, Event
from kinegraph.solve.methods import Method
from kinegraph.solve.problem import Sampled
from kinegraph.solve.solution import Solution
from kinegraph.solve.status import Status

__all__ = [
    "Action", "Adaptive", "Direction", "Event", "FixedStep", "Method", "Sampled", "Solution", "Status",
    "Sweep", "simulate", "sweep",
]  # fmt: skip
