"""Accelerations and their derivatives by displacements, velocities, forces and inputs, at one state.

With loops and constraints H a + h(q, v) = tau + J^T lambda, and the rows' accelerations are zero. The derivatives of a
follow from these equations by implicit differentiation: nothing that is solved for is differentiated as a formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kinegraph.derive.constraints.analysis import row_names_of
from kinegraph.derive.constraints.rank import row_rank
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.equations import ACCELERATION, FORCE, INERTIA, JACOBIAN, force_kernel, row_kernel, slope
from kinegraph.tasks.kernels import called, kernel_of
from kinegraph.tasks.operating_point import Floats, OperatingPoint


@dataclass(frozen=True)
class AccelerationSlopes:
    """Accelerations at a state and their derivatives."""

    accelerations: Floats
    by_displacement: Floats
    by_velocity: Floats
    by_force: Floats
    by_input: Floats


def acceleration_slopes(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None
) -> AccelerationSlopes:
    """The accelerations at a state and their derivatives, on trees and with constraints."""
    if is_constrained(mechanism):
        return _constrained(mechanism, point, parameters)
    by = ["dq", "v", "tau", *(["u"] if mechanism.layout.inputs else [])]
    names = [slope("qdd", item) for item in by]
    found = called(kernel_of(mechanism, ["qdd", *names], parameters, point.runtime), point.arguments())
    inputs = found.get(slope("qdd", "u"), np.zeros((len(point.v), 0)))
    by_displacement, by_velocity, by_force = (found[name] for name in names[:3])
    return AccelerationSlopes(found["qdd"], by_displacement, by_velocity, by_force, inputs)


def _constrained(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None
) -> AccelerationSlopes:
    kernels = [kernel(mechanism, parameters, point.runtime) for kernel in (force_kernel, row_kernel)]
    forces, rows = (called(kernel, point.arguments()) for kernel in kernels)
    _require_finite(mechanism, (*forces.values(), *rows.values()))
    taken = _independent_rows(mechanism, rows[JACOBIAN], parameters)
    system = _System(mechanism, forces[INERTIA], rows[JACOBIAN][taken])
    found = system.solved(point.tau - forces[FORCE], -rows[ACCELERATION][taken])
    size = len(point.v)
    accelerations, multipliers = found[:size], np.zeros(len(rows[JACOBIAN]))
    multipliers[taken] = found[size:]
    forces, rows = (called(kernel, point.arguments(accelerations)) for kernel in kernels)
    held = np.einsum("r,rij->ij", multipliers, rows[slope(JACOBIAN, "dq")])
    none = np.zeros((len(taken), size))
    inputs = forces.get(slope(FORCE, "u"), np.zeros((size, 0)))
    by_displacement = system.solved(held - forces[slope(FORCE, "dq")], -rows[slope(ACCELERATION, "dq")][taken])
    by_velocity = system.solved(-forces[slope(FORCE, "v")], -rows[slope(ACCELERATION, "v")][taken])
    by_force = system.solved(np.eye(size), none)
    by_input = system.solved(-inputs, np.zeros((len(taken), inputs.shape[1])))
    return AccelerationSlopes(
        accelerations, by_displacement[:size], by_velocity[:size], by_force[:size], by_input[:size]
    )


class _System:
    """[H, -J^T; J, 0] (a, lambda) = (force, row), for any number of right-hand sides."""

    def __init__(self, mechanism: Mechanism, inertia: Floats, jacobian: Floats) -> None:
        self._name = mechanism.name
        count = len(jacobian)
        self._matrix = np.block([[inertia, -jacobian.T], [jacobian, np.zeros((count, count))]])

    def solved(self, force: Floats, row: Floats) -> Floats:
        """The solution, accelerations first."""
        try:
            return np.asarray(np.linalg.solve(self._matrix, np.concatenate([force, row])))
        except np.linalg.LinAlgError:
            raise TaskError(
                f"{self._name}: the accelerations here are not finite: the configuration is singular"
            ) from None


def _require_finite(mechanism: Mechanism, arrays: tuple[Floats, ...]) -> None:
    if not all(np.isfinite(array).all() for array in arrays):
        raise TaskError(
            f"{mechanism.name}: the equations have no finite derivative here: the state is singular, choose another"
        )


def _independent_rows(mechanism: Mechanism, jacobian: Floats, parameters: Mapping[str, Scalar] | None) -> list[int]:
    """The rows that restrict the motion: as many as anywhere, else the position is singular."""
    rows = list(row_rank(jacobian, row_names_of(mechanism)).independent)
    usual = _usual_rank(
        mechanism, tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    )
    if usual is not None and len(rows) < usual:
        raise TaskError(
            f"{mechanism.name}: the position is singular: {len(rows)} rows of the constraints are independent here, "
            f"{usual} elsewhere, so accelerations are not determined\n  choose a state beside this one"
        )
    return rows


@lru_cache(maxsize=32)
def _usual_rank(mechanism: Mechanism, parameters: tuple[tuple[str, Expression], ...]) -> int | None:
    found = mobility(mechanism, dict(parameters))
    return None if found.dof is None else found.velocities - found.dof
