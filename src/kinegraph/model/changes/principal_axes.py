"""Principal axes of inertia (K1): a report of bodies with products of inertia, and velocities about principal axes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from kinegraph.errors import ModelError
from kinegraph.model.evaluate import Value, known_parameter_values, number
from kinegraph.model.expressions import PI, Expression, Name, expression, names
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Inertia,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)
from kinegraph.model.poses import quaternion_of_matrix

# The axes are numeric, at the model's parameter values: the eigenvalue problem has no short exact solution.

Vector3 = tuple[float, float, float]
_MOMENTS = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")


@dataclass(frozen=True, slots=True)
class PrincipalAxes:
    """A body's principal moments, and their axes as unit vectors in the central frame of the model.

    The order is that of the nearest axes of the model; the axes are right-handed. `quaternion` rotates the central
    frame into them, scalar part first.
    """

    body: str
    moments: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    quaternion: tuple[float, float, float, float]


def principal_axes_report(mechanism: Mechanism) -> tuple[PrincipalAxes, ...]:
    """The principal axes of every body that has products of inertia and whose moments have values."""
    values = known_parameter_values(mechanism)
    found = (_principal(body, values) for body in mechanism.bodies if _has_products(body, values))
    return tuple(found)


def _has_products(body: Body, values: Mapping[str, Value]) -> bool:
    inertia = body.inertia
    if all(product == ZERO for product in (inertia.Jxy, inertia.Jyz, inertia.Jxz)):
        return False
    known = {*values, PI}
    if not all(names(getattr(inertia, moment)) <= known for moment in _MOMENTS):
        return False
    return any(number(product, values) != 0 for product in (inertia.Jxy, inertia.Jyz, inertia.Jxz))


def _principal(body: Body, values: Mapping[str, Value]) -> PrincipalAxes:
    jx, jy, jz, jxy, jyz, jxz = (number(getattr(body.inertia, moment), values) for moment in _MOMENTS)
    tensor = np.array([[jx, -jxy, -jxz], [-jxy, jy, -jyz], [-jxz, -jyz, jz]])
    moments, columns = np.linalg.eigh(tensor)
    order = max(permutations(range(3)), key=lambda choice: float(np.abs(np.diag(columns[:, choice])).sum()))
    matrix = _right_handed(columns[:, order])
    x, y, z = (_triple(column) for column in matrix.T)
    return PrincipalAxes(body.name, _triple(moments[list(order)]), (x, y, z), _quaternion(matrix))


def _right_handed(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each axis points along its nearest axis of the model; the least certain one is flipped if handedness needs it."""
    signs = np.where(np.diag(columns) < 0, -1.0, 1.0)
    matrix = columns * signs
    if np.linalg.det(matrix) < 0:
        matrix[:, int(np.argmin(np.abs(np.diag(matrix))))] *= -1
    return matrix


def _quaternion(matrix: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """The unit quaternion of a rotation matrix with a nonnegative scalar part."""
    e0, e1, e2, e3 = quaternion_of_matrix(matrix)
    return (e0, e1, e2, e3) if e0 >= 0 else (-e0, -e1, -e2, -e3)


def _triple(values: NDArray[np.float64]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z


# Velocities about principal axes (K1): a body with products of inertia and a quaternion becomes two records.
# `Body_principal` has the quaternion, the principal axes and the inertia, so Euler's equations are short. `Body` is
# fixed on it, in the axes of the model, and carries everything that is attached to the body.

_REMEDY = "give the inertia as numbers, with only shifts between Q(...) and the center of mass"


def in_principal_axes(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with the angular velocities of quaternions about principal axes where that is shorter.

    Quaternions of bodies with products of inertia then rotate the principal axes. The motion is the same. `pose:Body`
    and all other quantities of bodies keep the axes of the model.
    """
    found = _candidates(mechanism)
    return _with_principal_axes(mechanism, found, velocities=True) if found else mechanism


def declared_principal(mechanism: Mechanism, groups: Collection[tuple[str, ...]]) -> Mechanism:
    """The same for quaternions whose velocities are declared about principal axes; the declared values are kept."""
    found = {group: one for group, one in _candidates(mechanism).items() if group in groups}
    for group in groups:
        if group not in found and (body := _body_of(mechanism, group)) and _states_products(body):
            message = f"the principal axes of {body.name} (quaternion {', '.join(group)}) cannot be determined"
            raise ModelError(message, remedy=_REMEDY)
    return _with_principal_axes(mechanism, found, velocities=False) if found else mechanism


def _states_products(body: Body) -> bool:
    return any(item != ZERO for item in (body.inertia.Jxy, body.inertia.Jyz, body.inertia.Jxz))


def _candidates(mechanism: Mechanism) -> dict[tuple[str, ...], tuple[Body, PrincipalAxes]]:
    """The body of each quaternion, if it has products of inertia and only shifts follow the quaternion."""
    axes = {one.body: one for one in principal_axes_report(mechanism)}
    found: dict[tuple[str, ...], tuple[Body, PrincipalAxes]] = {}
    for group in mechanism.coordinates:
        if isinstance(group, QuaternionCoordinates):
            body = _body_of(mechanism, group.names)
            if body is not None and body.name in axes and _only_shifts((*_split(body)[1], *body.inertia.central)):
                found[group.names] = body, axes[body.name]
    return found


def _body_of(mechanism: Mechanism, group: Sequence[str]) -> Body | None:
    """The body whose record contains the quaternion."""
    e0, e1, e2, e3 = map(Name, group)
    wanted = Quaternion((e0, e1, e2, e3))
    return next((body for body in mechanism.bodies if wanted in body.transforms), None)


def _split(body: Body) -> tuple[tuple[Transform, ...], tuple[Transform, ...]]:
    """The transforms up to the quaternion, and those after it."""
    last = max(k for k, one in enumerate(body.transforms) if isinstance(one, Quaternion))
    return body.transforms[: last + 1], body.transforms[last + 1 :]


def _only_shifts(transforms: Sequence[Transform]) -> bool:
    return not any(isinstance(one, Quaternion | Rotation) for one in transforms)


def _with_principal_axes(
    mechanism: Mechanism, found: Mapping[tuple[str, ...], tuple[Body, PrincipalAxes]], velocities: bool
) -> Mechanism:
    bodies: list[Body] = []
    by_name = {body.name: axes for body, axes in found.values()}
    for body in mechanism.bodies:
        bodies += _two_records(body, by_name[body.name]) if body.name in by_name else [body]
    coordinates = tuple(
        _rotated_start(one, found[one.names][1], velocities)
        if isinstance(one, QuaternionCoordinates) and one.names in found
        else one
        for one in mechanism.coordinates
    )
    return replace(mechanism, bodies=tuple(bodies), coordinates=coordinates)


def _two_records(body: Body, axes: PrincipalAxes) -> list[Body]:
    before, after = _split(body)
    name = f"{body.name}_principal"
    e0, e1, e2, e3 = axes.quaternion
    turned = _exact((e0, -e1, -e2, -e3))
    back = Quaternion((turned[0], turned[1], turned[2], turned[3]))
    jx, jy, jz = _exact(axes.moments)
    central = _central_shifts((*after, *body.inertia.central), axes)
    inertia = Inertia(body.inertia.mass, jx, jy, jz, central=central, accepted=body.inertia.accepted)
    return [Body(name, body.base, before, inertia), Body(body.name, name, (back, *after))]


def _central_shifts(shifts: Sequence[Transform], axes: PrincipalAxes) -> tuple[Transform, ...]:
    """The shifts to the center of mass, in principal axes."""
    offset: list[Expression] = [ZERO, ZERO, ZERO]
    for one in shifts:
        if isinstance(one, Shift):
            offset[one.axis.value] = offset[one.axis.value] + one.distance
    if all(item == ZERO for item in offset):
        return ()
    return tuple(Shift(axis, _short(_dot(vector, offset))) for axis, vector in zip(Axis, axes.axes, strict=True))


def _rotated_start(group: QuaternionCoordinates, axes: PrincipalAxes, velocities: bool) -> QuaternionCoordinates:
    """The initial quaternion of the principal axes: that of the body times that of the axes."""
    e0, e1, e2, e3 = map(_short, _product(group.position, _exact(axes.quaternion)))
    turned = replace(group, position=(e0, e1, e2, e3))
    if not velocities:
        return turned
    x, y, z = (_short(_dot(axis, group.velocity)) for axis in axes.axes)
    return replace(turned, velocity=(x, y, z))


def _exact(values: Sequence[float]) -> tuple[Expression, ...]:
    return tuple(expression(item) for item in values)


def _short(item: Expression) -> Expression:
    """A single number if the expression contains only numbers."""
    return item if names(item) - {PI} else expression(float(number(item, {})))


def _dot(vector: Sequence[float], items: Sequence[Expression]) -> Expression:
    x, y, z = (a * b for a, b in zip(_exact(vector), items, strict=True))
    return x + y + z


def _product(p: Sequence[Expression], q: Sequence[Expression]) -> tuple[Expression, Expression, Expression, Expression]:
    """Hamilton's product: the rotation p, then q in the rotated axes."""
    a, b, c, d = p
    e, f, g, h = q
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )
