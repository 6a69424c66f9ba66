"""`sensitivities`: derivatives of a run's results over time, by the variational equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.compiler.mechanism_source import MechanismSource
from kinegraph.model.expressions import Scalar
from kinegraph.simulate.inputs import Input
from kinegraph.simulate.run import save_at
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Method, Solver
from kinegraph.solve.methods.step_control import Tolerance
from kinegraph.solve.recording import Statistics
from kinegraph.tabular import Tabular
from kinegraph.tasks.differentiated_run import (
    Results,
    derivative_columns,
    derivative_table,
    differentiated,
    run_request,
)
from kinegraph.tasks.operating_point import Floats, name_index

#: The default number of equal intervals to save.
INTERVALS = 100


@dataclass(frozen=True)
class Sensitivities(Tabular):
    """Results by row of time, and `derivatives[time, result, variable]`, in units of result over variable.

    at: the values of the variables at which the derivatives are taken.
    """

    model: str
    times: Floats
    outputs: tuple[str, ...]
    by: tuple[str, ...]
    values: Floats
    derivatives: Floats
    at: Floats
    statistics: Statistics

    def __getitem__(self, result: str) -> Floats:
        """One result over time."""
        return np.asarray(self.values[:, name_index(result, self.outputs, "output")])

    def __contains__(self, name: object) -> bool:
        return name in self.outputs

    def derivative(self, result: str, by: str) -> Floats:
        """The derivative of one result by one variable, over time."""
        row, column = name_index(result, self.outputs, "output"), name_index(by, self.by, "variable")
        return np.asarray(self.derivatives[:, row, column])

    @property
    def final(self) -> Floats:
        """The derivatives at the end: a row for each result, a column for each variable."""
        return np.asarray(self.derivatives[-1])

    def __str__(self) -> str:
        title = f"{self.model}: derivatives at t = {self.times[-1]:.9g}"
        return derivative_table(title, self.outputs, self.by, self.final, self.values[-1])

    def _table(self) -> Mapping[str, Floats]:
        return derivative_columns(self.times, self.outputs, self.by, self.values, self.derivatives)

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {
            "t": self.times.tolist(), "outputs": self.outputs, "by": self.by, "at": self.at.tolist(),
            "values": self.values.tolist(), "derivatives": self.derivatives.tolist(),
        }  # fmt: skip


def sensitivities(
    model: MechanismSource,
    duration: float,
    by: Sequence[str] | str,
    *,
    outputs: Results | None = None,
    integrals: Mapping[str, Scalar] | None = None,
    state: Mapping[str, Scalar] | ArrayLike | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    times: int | ArrayLike | None = INTERVALS,
    t0: float = 0.0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-10,
    atol: Tolerance | None = None,
    native: Native = "auto",
    progress: bool | None = None,
) -> Sensitivities:
    """Compute exact derivatives of a run by parameters (`m1`) and initial values (`q1(0)`, `q1'(0)`).

    outputs: formulas of the state, time, parameters, points (`tip.x`), energies and momenta; by default the state.
    integrals: formulas by name; their integrals over time are outputs too.
    Initial values that the model writes as formulas of parameters change with these, unless they are named in `by` or
    given in `state` as numbers. The other arguments are those of `simulate`.
    """
    mechanism, span, settings = run_request(
        model, duration, t0, (rtol, atol), method, state, parameters, inputs, native, progress
    )
    save = save_at(times, span)
    run = differentiated(mechanism, by, settings, outputs, integrals)
    rows = run.at(run.values, span, save)
    return Sensitivities(
        mechanism.name, rows.times, run.results, run.by, rows.values, rows.derivatives, run.values, rows.statistics
    )
