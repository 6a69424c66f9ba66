"""Motion: from a mechanism to the problem `solve` integrates, and from its result to named columns."""

from __future__ import annotations

from kinegraph.simulate.constraints.baumgarte import Baumgarte
from kinegraph.simulate.run import simulate
from kinegraph.simulate.sweep import Sweep, sweep
from kinegraph.solve.methods.by_name import Method
from kinegraph.solve.methods.step_control import Adaptive, FixedStep
from kinegraph.solve.problem.events import Action, Direction, Event
from kinegraph.solve.problem.problem import Sampled
from kinegraph.solve.results.solution import Solution
from kinegraph.solve.results.status import Status

__all__ = [
    "Action", "Adaptive", "Baumgarte", "Direction", "Event", "FixedStep", "Method", "Sampled", "Solution", "Status",
    "Sweep", "simulate", "sweep",
]  # fmt: skip
