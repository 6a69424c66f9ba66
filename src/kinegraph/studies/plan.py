"""The plan of a study: all that decides its results, and nothing of where it runs. It is what travels to workers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegraph.derive.dynamics.state_rate import Forces
from kinegraph.jit.contents import digest
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.constraints.form_for import form_for
from kinegraph.simulate.equations import Equations
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.problem import Floats, Signals
from kinegraph.studies.outcomes.table import OutcomeTable
from kinegraph.studies.sampling.samples import Samples


@dataclass(frozen=True)
class Plan:
    """A study. Names that are varied are parameters or initial values of the mechanism.

    mechanism: with a parameter for every name that only the study knows.
    sources: the parameters that differ from case to case, each with the varied name it takes its value from.
    initial, parameters: formulas of what differs from the model, without what is varied.
    grid: times at which states are stored; empty where none are. chunk: how many cases are one piece of work.
    """

    mechanism: Mechanism
    span: tuple[float, float]
    samples: Samples
    sources: Mapping[str, str]
    initial: Mapping[str, Expression]
    parameters: Mapping[str, Expression]
    forces: Forces
    signals: Signals
    events: tuple[Event, ...]
    outcome_table: OutcomeTable
    solver: Solver
    control: Control
    grid: tuple[float, ...] = ()
    native: bool = True
    chunk: int = 100

    @property
    def runtime(self) -> tuple[str, ...]:
        """Parameters that differ from case to case: they are arguments of kernels."""
        return tuple(self.sources)

    def runtime_values(self, varied: Mapping[str, Floats]) -> dict[str, Floats]:
        """Their values, from those of the names that are varied."""
        return {name: varied[source] for name, source in self.sources.items()}

    def equations(self) -> Equations:
        """The equations all cases share."""
        form = form_for(self.mechanism, self.solver)
        return form(self.mechanism, self.parameters, self.forces, self.runtime)

    @cached_property
    def facts(self) -> dict[str, object]:
        """What must be the same for cases to belong to one study, in words for messages."""
        samples = self.samples
        return {
            "model": digest(self.mechanism),
            "span": list(self.span),
            "vary": {", ".join(names): repr(law)[:500] for names, law in samples.laws.items()},
            "laws": digest(tuple(samples.laws.values())),
            "nominal": dict(samples.nominal),
            "design": samples.design.value,
            "seed": samples.seed,
            "cases": None if samples.design.extensible else samples.cases,
            "settings": digest(self.initial, self.parameters, self.forces),
            "signals": digest(self.signals.knots, self.signals.coefficients),
            "events": digest(self.events),
            "outcomes": dict(self.outcome_table.outcomes),
            "classes": dict(self.outcome_table.classes),
            "success": self.outcome_table.success,
            "method": self.solver.name,
            "control": repr(self.control),
            "grid": digest(self.grid),
            "native": self.native,
            "chunk": self.chunk,
        }

    @property
    def chunks(self) -> int:
        """How many pieces of work there are."""
        return -(-self.samples.total // self.chunk)

    def cases_of(self, chunk: int) -> tuple[int, int]:
        """The cases first <= index < last of a piece of work."""
        return chunk * self.chunk, min((chunk + 1) * self.chunk, self.samples.total)

    def grid_times(self) -> Floats:
        """The times at which states are stored."""
        return np.array(self.grid, dtype=float)
