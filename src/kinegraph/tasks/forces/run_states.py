"""The states of a run together with the forces and inputs that acted, as kernels take them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.tree.convert import Names
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Output
from kinegraph.model.expression import TIME, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.results.solution import SimulatedModel, Solution
from kinegraph.tasks.operating_point import Floats, OperatingPoint


@dataclass(frozen=True)
class RunStates:
    """Rows of states with the forces that act."""

    mechanism: Mechanism
    parameters: Mapping[str, Scalar] | None
    times: Floats
    q: Floats
    v: Floats
    tau: Floats
    u: Floats

    @property
    def first(self) -> OperatingPoint:
        """The first instant as an operating point."""
        return OperatingPoint(self.q[0], self.v[0], self.tau[0], self.u[0], float(self.times[0]))

    @property
    def arguments(self) -> dict[str, Floats | float]:
        """What kernels take, by name."""
        return {"q": self.q, "v": self.v, "tau": self.tau, "u": self.u, "t": self.times}


def run_states(run: Solution) -> RunStates:
    """The states of a run with the forces and inputs that acted."""
    if run.simulated is None:
        raise TaskError("a run that was read from a file does not know its mechanism: simulate again")
    simulated, layout = run.simulated, run.simulated.mechanism.layout
    driving = {name: np.zeros(len(run.t)) for name in (*layout.forces, *layout.inputs)} | _driving(run, simulated)
    q, v, tau, u = (
        np.reshape([one[name] for name in names], (-1, len(run.t))).T
        for one, names in (
            (run, layout.positions), (run, layout.velocities), (driving, layout.forces), (driving, layout.inputs),
        )
    )  # fmt: skip
    return RunStates(simulated.mechanism, simulated.parameters, run.t, q, v, tau, u)


def _driving(run: Solution, simulated: SimulatedModel) -> dict[str, Floats]:
    """Forces and inputs along a run: its formulas and its samples."""
    builder = GraphBuilder()
    names = Names(builder, simulated.mechanism, simulated.parameters)
    outputs = [Output(name, (), (names.scalar(law).index,)) for name, law in simulated.inputs.items()]
    found = interpret(builder.graph(outputs), {TIME: run.t, **run.columns}) if outputs else {}
    rows = {name: np.broadcast_to(found[name], run.t.shape) for name in simulated.inputs}
    if simulated.signals is not None and simulated.sampled:
        rows |= zip(simulated.sampled, simulated.signals.values(run.t).T, strict=True)
    return rows
