"""Where a run starts, and the derivatives of its first state by parameters and initial values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinegraph.derive.tree.convert import Names
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.expression import Expression, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.simulate.formula import formula
from kinegraph.solve.problem.problem import Floats


class StartDerivative:
    """q and v at the start as functions of parameters (`runtime`) and of initial values that are given.

    The model's `initial` expressions count. An initial value that is given does not depend on parameters.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        initial: Mapping[str, Scalar],
        bound: Mapping[str, Expression],
        runtime: Sequence[str],
    ) -> None:
        self._quaternions = mechanism.layout.quaternions
        self._runtime = tuple(runtime)
        self._graph = _graph(mechanism, initial, bound, runtime)

    def raw(self, parameters: Floats) -> Floats:
        """q and v as they are written; quaternions may have any length."""
        return self._evaluated(parameters)[0]

    def at(self, parameters: Floats, given: Mapping[int, float]) -> tuple[Floats, Floats]:
        """q and v, and their derivatives: a column for each parameter, then one for each given initial value.

        given: initial values by their place in [q, v].
        """
        state, slopes = self._evaluated(parameters)
        columns = np.zeros((len(state), len(self._runtime) + len(given)))
        columns[:, : len(self._runtime)] = slopes
        for number, (place, value) in enumerate(given.items(), len(self._runtime)):
            state[place] = value
            columns[place] = 0.0
            columns[place, number] = 1.0
        for start in self._quaternions:
            part = slice(start, start + 4)
            length = np.linalg.norm(state[part])
            state[part] /= length
            columns[part] = (columns[part] - np.outer(state[part], state[part] @ columns[part])) / length
        return state, columns

    def _evaluated(self, parameters: Floats) -> tuple[Floats, Floats]:
        found = interpret(self._graph, dict(zip(self._runtime, parameters.tolist(), strict=True)))
        return np.array(found["start"], dtype=float), np.array(found["slopes"], dtype=float)


def _graph(
    mechanism: Mechanism, initial: Mapping[str, Scalar], bound: Mapping[str, Expression], runtime: Sequence[str]
) -> Graph:
    """The outputs `start` and `slopes` (by the parameters of `runtime`)."""
    builder = GraphBuilder()
    scope = Names(builder, mechanism, bound)
    written = {name: formula(value, name) for name, value in initial.items()}
    nodes = tuple(scope.scalar(written.get(name, usual)).index for name, usual in _expressions(mechanism).items())
    symbols = [builder.symbol(Kind.PARAMETER, name) for name in runtime]
    slopes = tuple(entry for row in jacobian(builder, nodes, symbols) for entry in row) if symbols else ()
    return builder.graph([Output("start", (len(nodes),), nodes), Output("slopes", (len(nodes), len(symbols)), slopes)])


def _expressions(mechanism: Mechanism) -> dict[str, Expression]:
    """The model's own initial values, by name of the position or velocity."""
    positions: list[Expression] = []
    velocities: list[Expression] = []
    for one in mechanism.coordinates:
        positions += [one.position] if isinstance(one, Coordinate) else one.position
        velocities += [one.velocity] if isinstance(one, Coordinate) else one.velocity
    layout = mechanism.layout
    return dict(zip((*layout.positions, *layout.velocities), (*positions, *velocities), strict=True))
