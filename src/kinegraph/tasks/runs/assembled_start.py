"""Where a run of a mechanism with loops or constraints starts, and how that depends on parameters and initial values.

Independent coordinates and velocities start as the model or the user says; the others follow from the constraints, and
so do their derivatives: J dq = -d(constraints)/dp, J dv = -d(rates)/dq dq - d(rates)/dp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.analysis import holonomic_rows
from kinegraph.derive.constraints.rank import following_columns, row_rank
from kinegraph.errors import TaskError
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.derivatives.start_derivative import StartDerivative
from kinegraph.tasks.equations import JACOBIAN, RATE, VALUE, parameter_slope, row_kernel, slope
from kinegraph.tasks.kernels import called
from kinegraph.tasks.operating_point import Floats, OperatingPoint


class AssembledStart:
    """The start of a StartDerivative, made to fit at the time t.

    held: names of positions and velocities that are given. Which others are independent is decided at the first state.
    begun: where the run starts with the first values. All later starts are looked for beside it: near a dead point the
    guesses of the model may lead to another branch than that of the run.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        start: StartDerivative,
        values: Mapping[str, Scalar],
        runtime: Sequence[str],
        held: Sequence[str],
        first: tuple[Floats, Mapping[int, float]],
        begun: Floats,
        t: float = 0.0,
    ) -> None:
        if mechanism.layout.quaternions:
            raise TaskError(
                f"{mechanism.name}: derivatives of loops with free rotations (quaternions) are not computed\n"
                "  write the rotation with Rx, Ry, Rz"
            )
        self._mechanism, self._start, self._time = mechanism, start, t
        self._values, self._runtime = dict(values), tuple(runtime)
        self._kernel = row_kernel(mechanism, self._values, self._runtime)
        size = len(mechanism.layout.positions)
        raw, _ = start.at(*first)
        declared = mechanism.declared
        place = self._assembler(first[0]).assembled(begun[:size], begun[size:], held, t, declared).required()
        jacobian = self._rows(place.q, place.v, first[0])[JACOBIAN]
        names = (*mechanism.layout.positions, *mechanism.layout.velocities)
        given = [names.index(name) for name in place.independent]
        self._positions = _Split(jacobian[holonomic_rows(mechanism)], [k for k in given if k < size])
        self._velocities = _Split(jacobian, [k - size for k in given if k >= size])
        self._offset = np.concatenate([place.q, place.v]) - raw
        independent = [*self._positions.independent, *(size + k for k in self._velocities.independent)]
        self._independent = tuple(names[k] for k in independent)
        for index in first[1]:
            if index not in independent:
                free = ", ".join(name for name in place.independent if name in held) or "the other coordinates"
                raise TaskError(
                    f"{mechanism.name}: {names[index]}(0) cannot vary by itself: loops let it follow from {free}\n"
                    "  name as many initial values as there are degrees of freedom"
                )

    def raw(self, parameters: Floats) -> Floats:
        """q and v as they are written, moved by as much as the first ones were to fit."""
        return self._start.raw(parameters) + self._offset

    def at(self, parameters: Floats, given: Mapping[int, float]) -> tuple[Floats, Floats]:
        """q and v, and their derivatives: a column for each parameter, then one for each given initial value."""
        size = len(self._mechanism.layout.positions)
        state, columns = self._start.at(parameters, given)
        state = state + self._offset
        place = self._assembler(parameters).assembled(state[:size], state[size:], self._independent, self._time)
        found = self._rows(place.q, place.v, parameters)
        by_parameter = {name: [found[parameter_slope(word, name)] for word in (VALUE, RATE)] for name in self._runtime}
        values, rates = np.zeros((2, len(found[VALUE]), columns.shape[1]))
        for number, (value, rate) in enumerate(by_parameter.values()):
            values[:, number], rates[:, number] = value, rate
        holonomic = holonomic_rows(self._mechanism)
        q = self._positions.filled(found[JACOBIAN][holonomic], columns[:size], values[holonomic])
        v = self._velocities.filled(found[JACOBIAN], columns[size:], rates + found[slope(RATE, "dq")] @ q)
        return np.concatenate([place.q, place.v]), np.vstack([q, v])

    def _assembler(self, parameters: Floats) -> Assembler:
        return Assembler(self._mechanism, self._values | dict(zip(self._runtime, parameters.tolist(), strict=True)))

    def _rows(self, q: Floats, v: Floats, parameters: Floats) -> dict[str, Floats]:
        layout = self._mechanism.layout
        given = tuple(zip(self._runtime, parameters.tolist(), strict=True))
        point = OperatingPoint(q, v, np.zeros(len(layout.forces)), np.zeros(len(layout.inputs)), self._time, given)
        return called(self._kernel, point.arguments())


class _Split:
    """Which columns of a Jacobian are solved for, chosen once: those that are given are independent if they can be."""

    def __init__(self, jacobian: Floats, given: Sequence[int]) -> None:
        self._rows = list(row_rank(jacobian).independent)
        self._dependent = sorted(following_columns(jacobian, given))
        self.independent = [k for k in range(jacobian.shape[1]) if k not in self._dependent]

    def filled(self, jacobian: Floats, columns: Floats, missing: Floats) -> Floats:
        """Columns whose dependent entries make J columns + missing vanish."""
        found = columns.copy()
        if self._dependent:
            right = jacobian[self._rows][:, self.independent] @ columns[self.independent] + missing[self._rows]
            found[self._dependent] = -np.linalg.solve(jacobian[np.ix_(self._rows, self._dependent)], right)
        return found
