"""Cyclic coordinates: those on which neither forces nor constraints depend, so that they may turn steadily."""

from __future__ import annotations

import numpy as np

from kinegraph.derive.constraints.analysis import holonomic_rows
from kinegraph.jit.kernel import Kernel
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.equations import FORCE, JACOBIAN, RATE, slope
from kinegraph.tasks.kernels import called
from kinegraph.tasks.operating_point import Floats, OperatingPoint

_SAMPLES = 6
_ROUNDING = 1e-10


def cyclic_velocities(
    mechanism: Mechanism, point: OperatingPoint, forces: Kernel, rows: Kernel | None
) -> tuple[int, ...]:
    """The velocities whose coordinates are cyclic, seen at random states: no slope by them differs from zero."""
    random = np.random.default_rng(5)
    largest = np.zeros(len(point.v))
    for _ in range(_SAMPLES):
        state = OperatingPoint(
            point.q + random.uniform(-1, 1, len(point.q)), random.uniform(-1, 1, len(point.v)), point.tau, point.u,
            point.t, point.given,
        )  # fmt: skip
        largest = np.maximum(largest, _largest_slopes(mechanism, state, forces, rows))
    return tuple(int(index) for index in np.flatnonzero(largest < _ROUNDING))


def _largest_slopes(mechanism: Mechanism, state: OperatingPoint, forces: Kernel, rows: Kernel | None) -> Floats:
    """For every displacement the largest slope by it, as a part of the largest of all; nothing where it has none."""
    size = len(state.v)
    slopes = [called(forces, state.arguments())[slope(FORCE, "dq")]]
    if rows is not None:
        found = called(rows, state.arguments())
        slopes += [found[JACOBIAN][holonomic_rows(mechanism)], found[slope(RATE, "dq")]]
        slopes.append(found[slope(JACOBIAN, "dq")].reshape(-1, size))
    parts = [np.abs(one) / max(float(np.max(np.abs(one), initial=0.0)), 1e-300) for one in slopes]
    found_largest = np.max(np.vstack(parts), axis=0, initial=0.0)
    return np.where(np.isfinite(found_largest), found_largest, 0.0)
