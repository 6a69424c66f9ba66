"""The motions that constraints leave near a state: displacements and velocities by the independent ones.

With J v = 0 for all rows and J d = 0 for those that hold by position, the dependent entries are solved for. For a tree
everything is independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.analysis import holonomic_rows, row_names_of
from kinegraph.derive.constraints.rank import dependent_columns, row_rank
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.equations import JACOBIAN, RATE, row_kernel, slope
from kinegraph.tasks.kernels import called
from kinegraph.tasks.operating_point import Floats, OperatingPoint


@dataclass(frozen=True)
class Tangent:
    """d = positions z and v = rotating z + velocities w, for small z and w.

    z are the displacements with the indices `displaced`, w the velocities with the indices `moving`.
    """

    displaced: tuple[int, ...]
    moving: tuple[int, ...]
    positions: Floats
    velocities: Floats
    rotating: Floats


def tangent(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None) -> Tangent:
    """The tangent space at a state that fits the constraints."""
    size = len(mechanism.layout.velocities)
    every = tuple(range(size))
    if not is_constrained(mechanism):
        return Tangent(every, every, np.eye(size), np.eye(size), np.zeros((size, size)))
    found = called(row_kernel(mechanism, parameters, point.runtime), point.arguments())
    jacobian, turned = found[JACOBIAN], found[slope(RATE, "dq")]
    if not (np.all(np.isfinite(jacobian)) and np.all(np.isfinite(turned))):
        raise TaskError(f"{mechanism.name}: the constraints have no finite derivative here: choose another state")
    names, holonomic = row_names_of(mechanism), holonomic_rows(mechanism)
    displaced, positions = solved_columns(jacobian[holonomic], [names[k] for k in holonomic])
    moving, velocities = solved_columns(jacobian, names)
    rows = list(row_rank(jacobian, names).independent)
    dependent = [index for index in every if index not in moving]
    rotating = np.zeros((size, len(displaced)))
    rotating[dependent] = -np.linalg.solve(jacobian[np.ix_(rows, dependent)], turned[rows] @ positions)
    return Tangent(displaced, moving, positions, velocities, rotating)


def solved_columns(jacobian: Floats, names: Sequence[str] = ()) -> tuple[tuple[int, ...], Floats]:
    """The independent columns, and all columns by them where the rows are zero; names: of the rows of a mechanism."""
    size = jacobian.shape[1]
    rows = list(row_rank(jacobian, names).independent)
    dependent = list(dependent_columns(jacobian[rows])) if rows else []
    independent = [index for index in range(size) if index not in dependent]
    basis = np.zeros((size, len(independent)))
    basis[independent] = np.eye(len(independent))
    if dependent:
        basis[dependent] = -np.linalg.solve(jacobian[np.ix_(rows, dependent)], jacobian[np.ix_(rows, independent)])
    return tuple(independent), basis
