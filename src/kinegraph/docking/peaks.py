"""The largest loads of a phase: looked for inside every step, on its dense output, as studies do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.docking.loads import LATCH, LEG, signed_loads, squared_loads
from kinegraph.docking.modes import ModeEquations
from kinegraph.solve.batch.cases import CaseProblem, CaseRows
from kinegraph.solve.batch.outputs import Outputs
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.execution import Execution
from kinegraph.solve.problem.problem import CauchyProblem, Floats, Signals


@dataclass(frozen=True)
class Peak:
    """The largest value of a load [N, N m], when, and where: the leg or the latch, else ""."""

    value: float
    time: float
    where: str = ""


@dataclass(frozen=True)
class Stretch:
    """A phase as it was run: from which state, over what time, by what code."""

    mode: ModeEquations
    state: Floats
    span: tuple[float, float]
    known: Mapping[str, float]
    signals: Signals
    execution: Execution

    def peaks(self, solver: Solver, control: Control) -> dict[str, Peak]:
        """The largest loads by name; nothing for methods that have no dense output.

        The phase is run once more, to its end and without events.
        """
        tableau = solver.capabilities.lanes
        if tableau is None or not self.span[1] > self.span[0]:
            return {}
        signed, squared = signed_loads(self.mode), squared_loads(self.mode)
        wanted = (*(frozenset({"high", "low"}) for _ in signed), *(frozenset({"high"}) for _ in squared))
        graph = self.mode.graph((*signed.values(), *squared.values()))
        outputs = Outputs(self.mode.equations.function(graph, self._native), wanted)
        problem = self._problem()
        rows = CaseProblem(tableau, problem, control, outputs=outputs, lanes=False).run(
            self.state[None], problem.parameters[None]
        )
        return _named([*signed, *squared], rows, len(signed))

    @property
    def _native(self) -> bool:
        return self.execution is not Execution.INTERPRETED

    def _problem(self) -> CauchyProblem:
        rhs = self.mode.equations.right_hand_side(native=self._native)
        parameters = self.mode.parameters(self.known)
        loops = self.execution is Execution.NATIVE
        return CauchyProblem(rhs, self.state, *self.span, parameters, self.signals, loops)


def _named(names: Sequence[str], rows: CaseRows, signed: int) -> dict[str, Peak]:
    """Peaks by name: of signed loads the larger of both sides, of squares the root."""
    found = {}
    for place, name in enumerate(names):
        high, low = float(rows.high[0, place]), float(rows.low[0, place])
        if place >= signed:
            found[name] = Peak(float(np.sqrt(max(high, 0.0))), float(rows.high_at[0, place]))
        else:
            at = rows.high_at if abs(high) >= abs(low) else rows.low_at
            found[name] = Peak(max(abs(high), abs(low)), float(at[0, place]))
    return found


def largest(phases: Sequence[Mapping[str, Peak]]) -> dict[str, Peak]:
    """The largest of all phases: `leg`, `latch`, `ring`, `interface`, `bending`."""
    found: dict[str, Peak] = {}
    for one in phases:
        for name, peak in one.items():
            kind, colon, where = name.partition(":")
            kind = {LEG: "leg", LATCH: "latch"}.get(f"{kind}{colon}", kind)
            if kind not in found or peak.value > found[kind].value:
                found[kind] = replace(peak, where=where)
    return found
