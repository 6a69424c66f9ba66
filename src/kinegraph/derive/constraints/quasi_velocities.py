"""Nonholonomic systems in quasi-velocities: constraints and quasi-velocities u together determine all velocities.

With J v = -drift and W v = u the square matrix (J, W) gives v = B u + c, and B^T projects the equations of motion
(Gibbs-Appell, Maggi). There are no multipliers, and as many equations as degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kinegraph.derive.constraints.closed_form import BlockElimination, Sample, triangular_blocks
from kinegraph.derive.constraints.constraint_rows import ConstraintEquations, ConstraintRow
from kinegraph.derive.constraints.partitioning import ReducedSystem
from kinegraph.derive.dynamics.composite_body import Square
from kinegraph.graph.build import Scalar


def quasi_velocity_rows(equations: ConstraintEquations) -> list[ConstraintRow]:
    """The quasi-velocities of a model as rows: `rate` is u, `jacobian` is W, `bias` is u' at v' = 0."""
    named = equations.mechanism.quasivelocities
    return [equations.nonholonomic(one.name, equations.names.scalar(one.value)) for one in named]


class QuasiVelocitySystem(ReducedSystem):
    """The equations of motion in quasi-velocities. sample: the entries of constraint rows at some state, by name."""

    def __init__(
        self, rows: Sequence[ConstraintRow], quasi: Sequence[ConstraintRow], sample: dict[str, tuple[float, ...]]
    ) -> None:
        self._rows, self._quasi = rows, quasi
        self.reduced_names = [one.name for one in quasi]
        self._matrix: Square = [list(row.jacobian) for row in (*rows, *quasi)]
        self._sample = sample

    @cached_property
    def _elimination(self) -> BlockElimination:
        blocks = triangular_blocks(self._matrix)
        return BlockElimination(self._matrix, blocks, range(len(self._matrix)), self._numbers)

    @property
    def _numbers(self) -> Sample | None:
        """The matrix at a state, if all quasi-velocities have constant coefficients."""
        whole = [[entry.value for entry in row.jacobian] for row in self._quasi]
        known = [[float(entry) for entry in row if entry is not None] for row in whole]
        rows = [self._sample.get(row.name, ()) for row in self._rows]
        complete = all(rows) and all(len(row) == len(self._matrix) for row in known)
        return [*rows, *known] if complete else None

    @cached_property
    def map(self) -> Square:
        """B, with rows by velocity and columns by quasi-velocity."""
        like = self._matrix[0][0]
        columns = []
        for k in range(len(self._quasi)):
            unit = [like.number(int(row == len(self._rows) + k)) for row in range(len(self._matrix))]
            columns.append(self._elimination.solve(unit))
        return [list(row) for row in zip(*columns, strict=True)]

    def offset(self, gamma: Sequence[Scalar]) -> list[Scalar]:
        """Accelerations of all coordinates at constant quasi-velocities."""
        return self._elimination.solve([*gamma, *(-one.bias for one in self._quasi)])
