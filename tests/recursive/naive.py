"""Energy from first principles, for tests: poses by 4x4 matrices, velocities by differences in time.

Shares nothing with the loops but the mechanism's records.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.mechanism import Coordinate, Inertia, Mechanism, Rotation, Shift, Transform

Floats = NDArray[np.float64]


def slope(function: Callable[[float], Floats | float], step: float = 1e-3) -> Floats:
    """The derivative at zero by central differences, extrapolated twice: error O(step^6)."""
    d1, d2, d3 = ((np.asarray(function(h)) - function(-h)) / (2 * h) for h in (step, 2 * step, 3 * step))
    return np.asarray(1.5 * d1 - 0.6 * d2 + 0.1 * d3)


def advanced(mechanism: Mechanism, q: Floats, v: Floats, h: float) -> Floats:
    """q after time h at constant velocities; a quaternion is turned by its angular velocity in its own axes."""
    moved, i, k = q.copy(), 0, 0
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            moved[i] += h * v[k]
            i, k = i + 1, k + 1
        else:
            moved[i : i + 4] = _turned(q[i : i + 4], h * v[k : k + 3])
            i, k = i + 4, k + 3
    return moved


def _turned(e: Floats, angle: Floats) -> Floats:
    half = np.linalg.norm(angle) / 2
    w, u = np.cos(half), angle / 2 * np.sinc(half / np.pi)
    return np.array([e[0] * w - e[1:] @ u, *(e[0] * u + w * e[1:] + np.cross(e[1:], u))])


def energy(mechanism: Mechanism, q: Floats, v: Floats, t: float) -> tuple[float, float]:
    """Kinetic and potential energy."""
    rates = slope(lambda h: central_poses(mechanism, advanced(mechanism, q, v, h), t + h))
    poses = central_poses(mechanism, q, t)
    parameters = parameter_values(mechanism)
    gravity = np.array([number(g, parameters) for g in mechanism.gravity])
    kinetic = potential = 0.0
    for body, pose, rate in zip(mechanism.bodies, poses, rates, strict=True):
        mass = number(body.inertia.mass, parameters)
        turning = rate[:3, :3] @ second_moments(body.inertia, parameters) @ rate[:3, :3].T
        kinetic += 0.5 * mass * rate[:3, 3] @ rate[:3, 3] + 0.5 * np.trace(turning)
        potential -= mass * gravity @ pose[:3, 3]
    armature = np.array([number(item, parameters) for item in mechanism.armature])
    return kinetic + 0.5 * armature @ v**2, potential


def second_moments(inertia: Inertia, parameters: dict[str, Value]) -> Floats:
    """Sum of m x x' about the center of mass."""
    names = ("Jx", "Jy", "Jz", "Jxy", "Jyz", "Jxz")
    x, y, z, xy, yz, xz = (number(getattr(inertia, name), parameters) for name in names)
    return np.array([[(y + z - x) / 2, xy, xz], [xy, (z + x - y) / 2, yz], [xz, yz, (x + y - z) / 2]])


def central_poses(mechanism: Mechanism, q: Floats, t: float) -> Floats:
    """Poses of the central frames in the fixed frame, in the order of the bodies."""
    values: dict[str, Value] = {**parameter_values(mechanism), "t": t}
    values.update(zip(mechanism.layout.positions, q.tolist(), strict=True))
    by_name = mechanism.body_by_name
    known: dict[str | None, Floats] = {None: np.eye(4)}

    def link(name: str | None) -> Floats:
        if name not in known:
            body = by_name[name]
            known[name] = link(body.base) @ _pose(body.transforms, values)
        return known[name]

    return np.array([link(body.name) @ _pose(body.inertia.central, values) for body in mechanism.bodies])


def _pose(transforms: tuple[Transform, ...], values: dict[str, Value]) -> Floats:
    pose = np.eye(4)
    for transform in transforms:
        pose = pose @ _elementary(transform, values)
    return pose


def _elementary(transform: Transform, values: dict[str, Value]) -> Floats:
    pose = np.eye(4)
    if isinstance(transform, Shift):
        pose[transform.axis.value, 3] = number(transform.distance, values)
    elif isinstance(transform, Rotation):
        u, w = (transform.axis.value + 1) % 3, (transform.axis.value + 2) % 3
        angle = number(transform.angle, values)
        pose[u, u] = pose[w, w] = np.cos(angle)
        pose[w, u] = np.sin(angle)
        pose[u, w] = -np.sin(angle)
    else:
        e = np.array([number(component, values) for component in transform.components])
        w, (x, y, z) = e[0], e[1:]
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        right = np.array([[w, x, y, z], [-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])
        pose[:3, :3] = (left @ right)[1:, 1:] / (e @ e)
    return pose
