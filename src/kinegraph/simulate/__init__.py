"""Motion: from a mechanism to the problem `solve` integrates, and from its result to named columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.on_demand import load_on_demand

if TYPE_CHECKING:
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

load_on_demand(
    __name__,
    {
        "Baumgarte": "kinegraph.simulate.constraints.baumgarte",
        "simulate": "kinegraph.simulate.run",
        **dict.fromkeys(("Sweep", "sweep"), "kinegraph.simulate.sweep"),
        "Method": "kinegraph.solve.methods.by_name",
        **dict.fromkeys(("Adaptive", "FixedStep"), "kinegraph.solve.methods.step_control"),
        **dict.fromkeys(("Action", "Direction", "Event"), "kinegraph.solve.problem.events"),
        "Sampled": "kinegraph.solve.problem.problem",
        "Solution": "kinegraph.solve.results.solution",
        "Status": "kinegraph.solve.results.status",
    },
)
