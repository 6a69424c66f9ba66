"""What is missing for rest: the equations that `equilibria` solves, on trees and with loops.

The unknowns are the positions, and with constraints a multiplier for every row: bias(q) - tau - J^T lambda = 0 and
constraints(q) = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.errors import TaskError
from kinegraph.jit.kernel import Kernel
from kinegraph.model.constraints.classify import ConstraintKind, constraint_kind
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats, OperatingPoint

_FORCE, _ROWS, _JACOBIAN = "bias", "constraints", "constraint_jacobian"


@dataclass(frozen=True)
class Balance:
    """The equations of rest under the forces of a point, for rows of unknowns at once."""

    kernel: Kernel
    point: OperatingPoint
    rows: int

    @property
    def positions(self) -> int:
        """How many of the unknowns are positions; the others are multipliers."""
        return len(self.point.q)

    def started(self, q: Floats) -> Floats:
        """Unknowns to begin with: the multipliers that come nearest to balance."""
        if not self.rows:
            return q
        found = self._found(q)
        missing = found[_FORCE] - self.point.tau
        pairs = zip(found[_JACOBIAN], missing, strict=True)
        multipliers = [np.linalg.lstsq(jacobian.T, force, rcond=1e-12)[0] for jacobian, force in pairs]
        return np.hstack([q, np.reshape(multipliers, (len(q), self.rows))])

    def missing(self, unknowns: Floats) -> tuple[Floats, Floats]:
        """What is missing for rest, and its derivative by the unknowns, row by row."""
        found = self._found(unknowns[:, : self.positions])
        force, slope = found[_FORCE] - self.point.tau, found[_slope(_FORCE)]
        if not self.rows:
            return np.asarray(force), slope
        multipliers, jacobian = unknowns[:, self.positions :], found[_JACOBIAN]
        force = force - np.einsum("kri,kr->ki", jacobian, multipliers)
        slope = slope - np.einsum("krij,kr->kij", found[_slope(_JACOBIAN)], multipliers)
        upper = np.concatenate([slope, -jacobian.transpose(0, 2, 1)], axis=2)
        none = np.zeros((len(unknowns), self.rows, self.rows))
        lower = np.concatenate([found[_slope(_ROWS)], none], axis=2)
        return np.hstack([force, found[_ROWS]]), np.concatenate([upper, lower], axis=1)

    def _found(self, q: Floats) -> dict[str, Floats]:
        still = np.zeros_like(self.point.v)
        return called_rows(self.kernel, {**self.point.arguments(), "v": still, "a": still, "q": q})


def balance(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None) -> Balance:
    """The equations of rest of a mechanism."""
    wanted = [_FORCE, _slope(_FORCE)]
    rows = 0
    if is_constrained(mechanism):
        _require_positions(mechanism)
        rows = len(row_names_of(mechanism))
        wanted += [_ROWS, _slope(_ROWS), _JACOBIAN, _slope(_JACOBIAN)]
    return Balance(kernel_of(mechanism, wanted, parameters), point, rows)


def _slope(quantity: str) -> str:
    return f"d({quantity})/d(all:dq)"


def _require_positions(mechanism: Mechanism) -> None:
    for one in mechanism.constraints:
        if constraint_kind(mechanism, one) is ConstraintKind.NONHOLONOMIC:
            raise TaskError(
                f"{mechanism.name}: {one.name} restricts velocities only and can hold the mechanism anywhere, so its "
                "equilibria are not isolated\n  leave it out here, or hold coordinates with lock"
            )
