"""Positions of a robot as points of a manifold: neutral, random, integrate, difference, interpolate, limits."""

from __future__ import annotations

from math import inf, pi

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.assembly.initial_values import angle_names
from kinegraph.model.evaluate import Value, number
from kinegraph.model.expressions import Name
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.robot_data import JointLimits, coordinate_limits
from kinegraph.robot.joint_order import JointOrder


class Configurations:
    """Positions in the order of a convention; q may be one state or rows of states.

    Displacements have one entry for each velocity. Those of a free joint of Pinocchio are twists (the exponential of
    SE(3)), those of all others a shift and a rotation beside each other, as in MuJoCo.
    """

    def __init__(self, mechanism: Mechanism, order: JointOrder, values: dict[str, Value]) -> None:
        self._mechanism, self._order, self._values = mechanism, order, values
        #: Of each coordinate: where it begins in q and in v, and whether it is an ordinary one.
        self._spans: list[tuple[int, int, bool]] = []
        place = column = 0
        for coordinate in mechanism.coordinates:
            ordinary = isinstance(coordinate, Coordinate)
            self._spans.append((place, column, ordinary))
            place, column = (place + 1, column + 1) if ordinary else (place + 4, column + 3)

    @property
    def neutral(self) -> Floats:
        """All coordinates zero, all quaternions without rotation."""
        q = np.zeros(len(self._mechanism.layout.positions))
        q[list(self._mechanism.layout.quaternions)] = 1.0
        return self._order.to_q(q)

    def random(self, generator: np.random.Generator, count: int | None = None) -> Floats:
        """Within the limits; without limits angles within half a turn, lengths within 1 m, rotations uniform."""
        names, angles = self._mechanism.layout.positions, angle_names(self._mechanism)
        limits = coordinate_limits(self._mechanism, self._values)
        reach = np.array([pi if name in angles else 1.0 for name in names])
        low, high = np.array([limits.get(name, (-inf, inf)) for name in names]).reshape(-1, 2).T
        low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
        high = np.where(np.isfinite(high), high, low + 2 * reach)
        q = generator.uniform(low, high, (count or 1, len(names)))
        for first in self._mechanism.layout.quaternions:
            normal = generator.normal(size=(len(q), 4))
            q[:, first : first + 4] = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        found = self._order.to_q(q)
        return found if count else found[0]

    def integrate(self, q: Floats, displacement: Floats) -> Floats:
        """The positions after a displacement: a velocity times a time."""
        own = self._order.from_q(q)
        moved = self._order.from_last(own, self._twisted(displacement))
        found = own.copy()
        for place, column, ordinary in self._spans:
            if ordinary:
                found[..., place] += moved[..., column]
            else:
                turn = exponential(moved[..., column : column + 3])
                found[..., place : place + 4] = product(own[..., place : place + 4], turn)
        return self._order.to_q(found)

    def difference(self, start: Floats, end: Floats) -> Floats:
        """The displacement from start to end: `integrate(start, difference(start, end))` is end."""
        one, two = self._order.from_q(start), self._order.from_q(end)
        size = len(self._mechanism.layout.velocities)
        moved = np.empty((*np.broadcast_shapes(one.shape[:-1], two.shape[:-1]), size))
        for place, column, ordinary in self._spans:
            if ordinary:
                moved[..., column] = two[..., place] - one[..., place]
                if self._order.positions.count(f"{self._mechanism.layout.positions[place]}:cos"):
                    moved[..., column] = pi - np.mod(pi - moved[..., column], 2 * pi)
            else:
                back = one[..., place : place + 4] * (1, -1, -1, -1)
                moved[..., column : column + 3] = logarithm(product(back, two[..., place : place + 4]))
        return self._untwisted(self._order.to_last(one, moved))

    def normalized(self, q: Floats) -> Floats:
        """Positions with quaternions of unit length."""
        own = self._order.from_q(q).copy()
        for first in self._mechanism.layout.quaternions:
            own[..., first : first + 4] /= np.linalg.norm(own[..., first : first + 4], axis=-1, keepdims=True)
        return self._order.to_q(own)

    def position_limits(self) -> tuple[Floats, Floats]:
        """Lower and upper limits of q; infinite where there are none, and for quaternions, cosines and sines."""
        limits = coordinate_limits(self._mechanism, self._values)
        ends = np.array([limits.get(name, (-inf, inf)) for name in self._order.positions]).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]

    def drive_limits(self, what: str) -> Floats:
        """The largest `velocity` or `effort` of each entry of v; infinite where there is no limit."""
        found = {}
        for extra in self._mechanism.extras:
            if isinstance(extra, JointLimits) and len(extra.displacement) == 1:
                (moved,), stated = extra.displacement, getattr(extra, what)
                if isinstance(moved, Name) and stated is not None:
                    found[f"{moved.text}'"] = float(number(stated, self._values))
        return np.array([found.get(name, inf) for name in self._order.velocities])

    def _twisted(self, displacement: Floats) -> Floats:
        """Twists of free joints as a shift in body axes and a rotation."""
        found = np.array(displacement, dtype=float)
        for one in self._order.free:
            turn = found[..., one.velocity + 3 : one.velocity + 6]
            shift = found[..., one.velocity : one.velocity + 3]
            found[..., one.velocity : one.velocity + 3] = (average_rotation(turn) @ shift[..., None])[..., 0]
        return found

    def _untwisted(self, displacement: Floats) -> Floats:
        found = displacement.copy()
        for one in self._order.free:
            turn = found[..., one.velocity + 3 : one.velocity + 6]
            shift = found[..., one.velocity : one.velocity + 3]
            solved = np.linalg.solve(average_rotation(turn), shift[..., None])
            found[..., one.velocity : one.velocity + 3] = solved[..., 0]
        return found


def skew(a: Floats) -> Floats:
    """The matrix of the cross product with a vector."""
    found = np.zeros((*a.shape[:-1], 3, 3))
    found[..., 2, 1], found[..., 0, 2], found[..., 1, 0] = a[..., 0], a[..., 1], a[..., 2]
    return found - np.swapaxes(found, -1, -2)


def exponential(turn: Floats) -> Floats:
    """The quaternion of a rotation vector."""
    half = np.linalg.norm(turn, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), turn / 2 * np.sinc(half / pi)], axis=-1)


def logarithm(e: Floats) -> Floats:
    """The rotation vector of a quaternion, at most half a turn long."""
    e = np.where(e[..., :1] < 0, -e, e)
    sine = np.linalg.norm(e[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, e[..., :1])
    small = sine < 1e-9
    factor = np.where(small, 2 / np.where(small, e[..., :1], 1.0), angle / np.where(small, 1.0, sine))
    result: Floats = factor * e[..., 1:]
    return result


def product(a: Floats, b: Floats) -> Floats:
    """The product of quaternions, scalar part first."""
    s, u, t, w = a[..., :1], a[..., 1:], b[..., :1], b[..., 1:]
    scalar = s * t - np.sum(u * w, axis=-1, keepdims=True)
    return np.concatenate([scalar, s * w + t * u + np.cross(u, w)], axis=-1)


def average_rotation(turn: Floats) -> Floats:
    """The mean of the rotations from none to `turn`: it moves the linear part of a twist into a shift."""
    squared = np.sum(turn * turn, axis=-1)[..., None, None]
    angle, cross = np.sqrt(squared), skew(turn)
    small = squared < 1e-4  # beyond these terms the series adds less than rounding
    safe = np.where(small, 1.0, squared)
    first = np.where(small, 0.5 - squared / 24 + squared**2 / 720, (1 - np.cos(angle)) / safe)
    second = np.where(
        small, 1 / 6 - squared / 120 + squared**2 / 5040, (angle - np.sin(angle)) / (safe * np.sqrt(safe))
    )
    result: Floats = np.eye(3) + first * cross + second * (cross @ cross)
    return result
