"""One case of a study by its index: its numbers, its row, its motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from numpy.typing import ArrayLike

from kinegraph.errors import StudyError
from kinegraph.model.expression import Scalar
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import INTERVALS, simulate
from kinegraph.solve.problem.execution import Native
from kinegraph.solve.problem.problem import Sampled
from kinegraph.solve.results.solution import Solution
from kinegraph.studies.plan import Plan
from kinegraph.studies.running.cases import runner_of
from kinegraph.studies.running.starts import starts
from kinegraph.studies.sampling.samples import case_seed


@dataclass(frozen=True)
class Case:
    """A case: the values of what is varied, its seed, its row of the table, made again, and its motion."""

    plan: Plan
    index: int

    def __post_init__(self) -> None:
        if not 0 <= self.index < self.plan.samples.total:
            raise StudyError(f"there is no case {self.index}: the study has cases 0 to {self.plan.samples.total - 1}")

    @property
    def values(self) -> dict[str, float]:
        """What is varied, by name."""
        row = self.plan.samples.rows(self.index, self.index + 1)[0]
        return dict(zip(self.plan.samples.names, row.tolist(), strict=True))

    @property
    def seed(self) -> int:
        """A seed that belongs to this case alone."""
        return case_seed(self.plan.samples.seed, self.index)

    @cached_property
    def row(self) -> dict[str, bool | int | float | str]:
        """The case run again: every column of the table, bit for bit as the study has them."""
        table = runner_of(self.plan).run(self.index, self.index + 1)
        return {name: column[0].item() for name, column in table.columns.items()}

    def simulate(self, grid: int | ArrayLike | None = INTERVALS, native: Native = "auto") -> Solution:
        """The motion of this case with all its columns."""
        plan = self.plan
        equations = plan.equations()
        columns = plan.samples.rows(self.index, self.index + 1)
        varied = dict(zip(plan.samples.names, columns.T, strict=True))
        begun = starts(plan, equations, varied)
        if begun.faults:
            raise StudyError(f"case {self.index} cannot start: {begun.faults[0]}")
        q, v = equations.unpack(begun.states, begun.parameters[0])
        layout = plan.mechanism.layout
        values = dict(zip(plan.runtime, begun.parameters[0].tolist(), strict=True))
        parameters: dict[str, Scalar] = {**plan.parameters, **values}
        return simulate(
            plan.mechanism,
            plan.span[1] - plan.span[0],
            method=plan.solver,
            initial=dict(zip((*layout.positions, *layout.velocities), [*q[0].tolist(), *v[0].tolist()], strict=True)),
            parameters=parameters,
            inputs=self._inputs(),
            events=plan.events,
            grid=grid,
            start=plan.span[0],
            control=plan.control,
            native=native,
        )

    def _inputs(self) -> dict[str, Input]:
        """Inputs as `simulate` takes them; pieces of polynomials are sampled so finely that a spline is the same."""
        found: dict[str, Input] = dict(self.plan.forces.formulas)
        for place, name in enumerate(self.plan.forces.sampled):
            knots = self.plan.signals.knots
            found[name] = Sampled(knots, self.plan.signals.values(knots)[:, place])
        return found
