"""Motion near a state: the tangent space of the constraints, derivatives of accelerations, and singular positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.constraints.conditions import dependent_columns, row_rank
from kinegraph.derive.constraints.redundancy import holonomic_rows, row_names_of
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.simulate.checks.singular_coordinates import PivotMeasure, singular_words, usual_compliance
from kinegraph.tasks.operating_point import (
    ACCELERATION,
    FORCE,
    INERTIA,
    JACOBIAN,
    RATE,
    Floats,
    OperatingPoint,
    called,
    force_kernel,
    kernel_of,
    row_kernel,
    slope,
)

# Displacements and velocities that constraints allow near a state, by the independent ones. With J v = 0 for all rows
# and J d = 0 for position constraints, the dependent entries are solved for. In a tree everything is independent.


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
    """The tangent space at a state that satisfies the constraints."""
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
    """The independent columns, and all columns by them where the rows vanish; names: of the rows of a mechanism."""
    size = jacobian.shape[1]
    rows = list(row_rank(jacobian, names).independent)
    dependent = list(dependent_columns(jacobian[rows])) if rows else []
    independent = [index for index in range(size) if index not in dependent]
    basis = np.zeros((size, len(independent)))
    basis[independent] = np.eye(len(independent))
    if dependent:
        basis[dependent] = -np.linalg.solve(jacobian[np.ix_(rows, dependent)], jacobian[np.ix_(rows, independent)])
    return tuple(independent), basis


# Accelerations and their derivatives by displacements, velocities, forces, inputs and first-order states. With loops
# and constraints H a + h(q, v) = tau + J^T lambda, and the accelerations of the rows are zero. The derivatives of a
# follow by implicit differentiation: no solved quantity is differentiated as a formula.


@dataclass(frozen=True)
class AccelerationSlopes:
    """Accelerations at a state and their derivatives."""

    accelerations: Floats
    by_displacement: Floats
    by_velocity: Floats
    by_force: Floats
    by_input: Floats
    by_state: Floats


def acceleration_slopes(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None = None
) -> AccelerationSlopes:
    """The accelerations at a state and their derivatives, on trees and with constraints."""
    if is_constrained(mechanism):
        return _constrained(mechanism, point, parameters)
    layout = mechanism.layout
    by = ["dq", "v", "tau", *(["u"] if layout.inputs else []), *(["z"] if layout.states else [])]
    names = [slope("qdd", item) for item in by]
    found = called(kernel_of(mechanism, ["qdd", *names], parameters, point.runtime), point.arguments())
    inputs, states = (found.get(slope("qdd", by), np.zeros((len(point.v), 0))) for by in "uz")
    by_displacement, by_velocity, by_force = (found[name] for name in names[:3])
    return AccelerationSlopes(found["qdd"], by_displacement, by_velocity, by_force, inputs, states)


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
    others = (forces.get(slope(FORCE, by), np.zeros((size, 0))) for by in "uz")
    by_displacement = system.solved(held - forces[slope(FORCE, "dq")], -rows[slope(ACCELERATION, "dq")][taken])
    by_velocity = system.solved(-forces[slope(FORCE, "v")], -rows[slope(ACCELERATION, "v")][taken])
    by_force = system.solved(np.eye(size), none)
    by_input, by_state = (system.solved(-one, np.zeros((len(taken), one.shape[1]))) for one in others)
    return AccelerationSlopes(
        accelerations, by_displacement[:size], by_velocity[:size], by_force[:size], by_input[:size], by_state[:size]
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
    """The independent rows. Their number is the usual one, otherwise the position is singular."""
    rows = list(row_rank(jacobian, row_names_of(mechanism)).independent)
    usual = _usual_rank(
        mechanism, tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    )
    if usual is not None and len(rows) < usual:
        raise TaskError(
            f"{mechanism.name}: the position is singular: {len(rows)} constraint rows are independent here, "
            f"{usual} elsewhere, so accelerations are not determined\n"
            "  choose a nearby state"
        )
    return rows


@lru_cache(maxsize=32)
def _usual_rank(mechanism: Mechanism, parameters: tuple[tuple[str, Expression], ...]) -> int | None:
    found = mobility(mechanism, dict(parameters))
    return None if found.dof is None else found.velocities - found.dof


# Singular positions: dependent loop rows, or singular coordinates of a tree. Results that depend on accelerations are
# not given there.

#: This close to a singular position Newton's method ends with unbounded forces and open loops, and has not converged if
#: the residual relative to the largest slope is larger than this; closer than the first nothing converges.
_AT, _NEAR, _ARRIVED = 1e-4, 1e-2, 1e-13
#: Inertia matrices with a larger condition number have no inverse.
_REGULAR = 1e14


@dataclass(frozen=True)
class SingularPlace:
    """A position with dependent rows, or near which a search ended: equilibrium is not determined there.

    coordinates: the singular ones; forces on them vanish at rest or not. reason: why the position has no result, if
    it is neither of both.
    """

    q: Floats
    rows: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        if self.rows:
            return f"{', '.join(self.rows)} depends on other rows, so equilibrium is not determined there"
        if self.coordinates:
            return (
                f"the coordinates are singular there ({', '.join(self.coordinates)}), so equilibrium is not "
                "determined in them"
            )
        return self.reason


def refuse_singular(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, what: str
) -> None:
    """TaskError naming the rows if a point is singular."""
    if is_constrained(mechanism):
        values = {**(parameters or {}), **dict(point.given)}
        message = Assembler(mechanism, values, point.runtime).singular_message(what, point.q, point.t)
        if message:
            raise TaskError(message)


def refuse_singular_coordinates(
    mechanism: Mechanism,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None,
    by_force: Floats,
    what: str,
) -> None:
    """TaskError naming the coordinates if they are singular; by_force: the accelerations by forces."""
    pivots = pivots_beside(mechanism, point, parameters)
    lost = pivots.lost(np.diagonal(by_force)) if np.isfinite(by_force).all() else pivots.singular(point.q)
    if lost:
        raise TaskError(f"{what}: {singular_words(mechanism, lost)}")


def singular_places(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, places: Sequence[tuple[OperatingPoint, float]]
) -> list[SingularPlace | None]:
    """For every point found by a search, with its residual: the singular position it is, or None."""
    if not places:
        return []
    assembler = None
    if is_constrained(mechanism):
        assembler = Assembler(mechanism, {**(parameters or {}), **dict(places[0][0].given)})
    found: list[SingularPlace | None] = []
    for point, missing in places:
        near = _NEAR if missing > _ARRIVED else _AT
        if assembler is not None and (rows := assembler.singular_rows(point.q, point.t, near)):
            found.append(SingularPlace(point.q, rows))
        elif lost := pivots_beside(mechanism, point, parameters).singular(point.q):
            found.append(SingularPlace(point.q, coordinates=lost))
        else:
            found.append(None)
    return found


def pivots_beside(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> PivotMeasure:
    """The pivots at positions near a point, and the usual ones."""
    given = tuple(sorted((name, expression(value, name)) for name, value in (parameters or {}).items()))
    resting = replace(point, v=np.zeros_like(point.v))
    usual = _usual(mechanism, given, _PointKey(resting))
    known = {**(parameters or {}), **dict(point.given)}
    return PivotMeasure(mechanism, lambda rows: _compliance(mechanism, resting, parameters, rows), usual, known)


class _PointKey:
    """A point that does not count in a cache key: the first point determines the usual pivots."""

    def __init__(self, point: OperatingPoint) -> None:
        self.point = point

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _PointKey) and self.point.runtime == other.point.runtime

    def __hash__(self) -> int:
        return hash(self.point.runtime)


@lru_cache(maxsize=32)
def _usual(mechanism: Mechanism, parameters: tuple[tuple[str, Expression], ...], key: _PointKey) -> Floats:
    point, values = key.point, dict(parameters)
    known: dict[str, Scalar] = {**values, **dict(point.given)}
    compliance = _tree_compliance if is_constrained(mechanism) else _compliance
    return usual_compliance(mechanism, point.q, lambda rows: compliance(mechanism, point, values, rows), known)


def _tree_compliance(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, rows: Floats
) -> Floats:
    """The same for the spanning tree: loops only reduce compliance, in any position, assembled or not.

    If loops carry massless bodies there is none, and nothing is judged.
    """
    kernel = force_kernel(mechanism, parameters, point.runtime)
    found = np.full((len(rows), len(point.v)), np.nan)
    for index, q in enumerate(rows):
        inertia = called(kernel, point.at(q).arguments())[INERTIA]
        if np.isfinite(inertia).all() and np.linalg.cond(inertia) < _REGULAR:
            found[index] = np.diagonal(np.linalg.inv(inertia))
    return found


def _compliance(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, rows: Floats
) -> Floats:
    """The diagonal of H^-1 for rows of positions; NaN where it does not exist."""
    found = np.full((len(rows), len(point.v)), np.nan)
    for index, q in enumerate(rows):
        with np.errstate(all="ignore"), suppress(TaskError):
            found[index] = np.diagonal(acceleration_slopes(mechanism, point.at(q), parameters).by_force)
    return found


def apart(places: Sequence[SingularPlace]) -> tuple[SingularPlace, ...]:
    """Each singular position once: several searches end near it."""
    found: list[SingularPlace] = []
    for place in places:
        if all(np.max(np.abs(np.sin((place.q - other.q) / 2))) > 2 * _NEAR for other in found):
            found.append(place)
    return tuple(found)
