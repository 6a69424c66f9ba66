"""Simulation: build the problem that `solve` integrates from a mechanism, and turn its result into named columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.lazy_imports import load_on_demand

if TYPE_CHECKING:
    from kinegraph.simulate.contacts.stepped import ContactSettings
    from kinegraph.simulate.run import simulate
    from kinegraph.simulate.stabilization import Baumgarte
    from kinegraph.simulate.sweep import Sweep, sweep
    from kinegraph.solve.methods.method import Method
    from kinegraph.solve.methods.step_control import Adaptive, FixedStep
    from kinegraph.solve.problem import Action, Direction, Event, Sampled
    from kinegraph.solve.recording import Status
    from kinegraph.solve.solution import Solution

__all__ = [
    "Action", "Adaptive", "Baumgarte", "ContactSettings", "Direction", "Event", "FixedStep", "Method", "Sampled",
    "Solution", "Status", "Sweep", "simulate", "sweep",
]  # fmt: skip

load_on_demand(
    __name__,
    {
        "Baumgarte": "kinegraph.simulate.stabilization",
        "ContactSettings": "kinegraph.simulate.contacts.stepped",
        "simulate": "kinegraph.simulate.run",
        **dict.fromkeys(("Sweep", "sweep"), "kinegraph.simulate.sweep"),
        "Method": "kinegraph.solve.methods.method",
        **dict.fromkeys(("Adaptive", "FixedStep"), "kinegraph.solve.methods.step_control"),
        **dict.fromkeys(("Action", "Direction", "Event"), "kinegraph.solve.problem"),
        "Sampled": "kinegraph.solve.problem",
        "Solution": "kinegraph.solve.solution",
        "Status": "kinegraph.solve.recording",
    },
)
