"""Platforms in maximal coordinates: every body has six accelerations, every joint its conditions, one dense system.

Nothing here knows of closed forms or of the program's derivations: the poses of bodies come from the records by plain
matrices, and are required to fit the joints.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinegraph.model.evaluate import number
from kinegraph.model.mechanism import Body, Mechanism, Quaternion, Rotation, amounts
from kinegraph.model.platforms.leg_table import LegType
from kinegraph.model.platforms.recognition import RecognizedLeg, legs_of

Floats = np.ndarray


def skew(a: Floats) -> Floats:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def pose(transforms: tuple, at: dict[str, float]) -> Floats:
    """The homogeneous matrix of a list of transforms."""
    found = np.eye(4)
    for one in transforms:
        step = np.eye(4)
        values = [number(amount, at) for amount in amounts(one)]
        if isinstance(one, Quaternion):
            w, *v = np.array(values) / np.linalg.norm(values)
            step[:3, :3] = np.eye(3) + 2 * w * skew(np.array(v)) + 2 * skew(np.array(v)) @ skew(np.array(v))
        elif isinstance(one, Rotation):
            axis = np.eye(3)[one.axis.value]
            step[:3, :3] = (
                np.eye(3) + np.sin(values[0]) * skew(axis) + (1 - np.cos(values[0])) * skew(axis) @ skew(axis)
            )
        else:
            step[one.axis.value, 3] = values[0]
        found = found @ step
    return found


@dataclass
class Rows:
    """Conditions on the twists (velocity of the origin, angular velocity, in fixed axes) of numbered bodies."""

    size: int
    poses: list[Floats]
    values: list[float] = field(default_factory=list)
    rows: list[Floats] = field(default_factory=list)
    biases: list[object] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)

    def _row(self, parts: list[tuple[int, Floats, Floats]]) -> Floats:
        row = np.zeros(self.size)
        for body, linear, angular in parts:
            if body >= 0:
                row[6 * body : 6 * body + 3] += linear
                row[6 * body + 3 : 6 * body + 6] += angular
        return row

    def turn(self, body: int) -> Floats:
        return self.poses[body][:3, :3] if body >= 0 else np.eye(3)

    def place(self, body: int, local: Floats) -> Floats:
        return self.turn(body) @ local + (self.poses[body][:3, 3] if body >= 0 else 0)

    def meet(self, a: int, at_a: Floats, b: int, at_b: Floats, owner: int) -> None:
        """Points of two bodies (-1: the base) coincide."""
        arms = self.turn(a) @ at_a, self.turn(b) @ at_b
        gap = self.place(a, at_a) - self.place(b, at_b)
        for axis in np.eye(3):
            parts = [(a, axis, np.cross(arms[0], axis)), (b, -axis, -np.cross(arms[1], axis))]

            def bias(spin, axis=axis):  # type: ignore[no-untyped-def]
                first = np.cross(spin(a), np.cross(spin(a), arms[0]))
                return axis @ (first - np.cross(spin(b), np.cross(spin(b), arms[1])))

            self._add(gap @ axis, self._row(parts), bias, owner)

    def square(self, a: int, u: Floats, b: int, w: Floats, owner: int) -> None:
        """An axis of a body is at right angles to one of another."""
        u, w = self.turn(a) @ u, self.turn(b) @ w
        moment = np.cross(u, w)

        def bias(spin):  # type: ignore[no-untyped-def]
            du, dw = np.cross(spin(a), u), np.cross(spin(b), w)
            return np.cross(spin(a), du) @ w + 2 * du @ dw + u @ np.cross(spin(b), dw)

        self._add(u @ w, self._row([(a, 0 * u, moment), (b, 0 * u, -moment)]), bias, owner)

    def level(self, a: int, at_a: Floats, b: int, u: Floats, owner: int) -> None:
        """A point of a lies in the plane through the origin of b across an axis of b."""
        arm, axis = self.turn(a) @ at_a, self.turn(b) @ u
        d = self.place(a, at_a) - self.place(b, np.zeros(3))
        parts = [(a, axis, np.cross(arm, axis)), (b, -axis, np.cross(axis, d))]

        def bias(spin, velocity):  # type: ignore[no-untyped-def]
            rate = velocity(a) + np.cross(spin(a), arm) - velocity(b)
            turned = np.cross(spin(b), axis)
            curl = np.cross(spin(a), np.cross(spin(a), arm))
            return np.cross(spin(b), turned) @ d + 2 * turned @ rate + axis @ curl

        self._add(axis @ d, self._row(parts), bias, owner)

    def _add(self, value: float, row: Floats, bias: object, owner: int) -> None:
        self.values.append(value)
        self.rows.append(row)
        self.biases.append(bias)
        self.owners.append(owner)


X, Y, Z = np.eye(3)
ORIGIN = np.zeros(3)


@dataclass
class Result:
    ring: Floats
    accelerations: Floats
    platform_forces: Floats
    leg_reactions: Floats
    twists: Floats


class Maximal:
    """One platform at one state; body 0 is the ring, then two for each leg."""

    def __init__(self, mechanism: Mechanism, q: Floats, t: float = 0.0) -> None:
        self.mechanism = mechanism
        self.legs = legs_of(mechanism)
        self.at = {**dict(zip(mechanism.layout.positions, map(float, q), strict=True)), "t": t}
        ring = mechanism.body(self.legs[0].loop.second.body)
        self.bodies = [ring, *(body for leg in self.legs for body in (leg.first, leg.second))]
        self.poses = [self._pose(body) for body in self.bodies]
        self.rows = Rows(6 * len(self.bodies), self.poses)
        for k, leg in enumerate(self.legs):
            self._leg(k, leg)
        assert np.max(np.abs(self.rows.values)) < 1e-12

    def _pose(self, body: Body) -> Floats:
        before = np.eye(4) if body.base is None else self._pose(self.mechanism.body(body.base))
        return before @ pose(body.transforms, self.at)

    def _leg(self, k: int, leg: RecognizedLeg) -> None:
        first, second, rows = 1 + 2 * k, 2 + 2 * k, self.rows
        base = pose(leg.at_base, self.at)
        ring = pose(leg.loop.second.transforms, self.at)
        stand, joint, across = base[:3, 3], ring[:3, 3], ring[:3, 1]
        rows.meet(first, ORIGIN, -1, stand, 3 * k)
        if leg.type.has_crank:
            crank, rod = (number(one, self.at) for one in leg.lengths)
            rows.square(first, Z, -1, base[:3, 0], 3 * k)
            rows.square(first, Z, -1, base[:3, 1], 3 * k)
            rows.meet(second, ORIGIN, first, crank * X, 3 * k + 1)
            if leg.type is LegType.RUS:
                rows.square(second, Y, first, Z, 3 * k + 1)
            rows.meet(0, joint, second, rod * X, 3 * k + 2)
            if leg.type is LegType.RSU:
                rows.square(second, Y, 0, across, 3 * k + 2)
            return
        if leg.type is not LegType.SPU:
            rows.square(first, Y, -1, base[:3, 0], 3 * k)
        rows.square(second, X, first, Z, 3 * k + 1)
        rows.square(second, Y, first, Z, 3 * k + 1)
        if leg.type is not LegType.UCU:
            rows.square(second, X, first, Y, 3 * k + 1)
        rows.level(second, ORIGIN, first, X, 3 * k + 1)
        rows.level(second, ORIGIN, first, Y, 3 * k + 1)
        rows.meet(0, joint, second, ORIGIN, 3 * k + 2)
        if leg.type.universal_at_platform:
            rows.square(second, X, 0, across, 3 * k + 2)

    def solve(self, velocity: Floats, spin_body: Floats, efforts: Floats) -> Result:
        """Accelerations and joint forces; `efforts` of the drives."""
        rows, size = self.rows, self.rows.size
        jacobian = np.array(rows.rows)
        ring = np.concatenate([velocity, self.poses[0][:3, :3] @ spin_body])
        rest = np.linalg.solve(jacobian[:, 6:], -jacobian[:, :6] @ ring)
        twists = np.concatenate([ring, rest])
        mass, force = self._inertia(twists)
        force += self._drives(efforts)
        bias = np.array([self._bias(one, twists) for one in rows.biases])
        whole = np.block([[mass, -jacobian.T], [jacobian, np.zeros((len(bias), len(bias)))]])
        found = np.linalg.solve(whole, np.concatenate([force, -bias]))
        found += np.linalg.solve(whole, np.concatenate([force, -bias]) - whole @ found)
        return self._result(found[:size], found[size:], twists, efforts)

    def _bias(self, one: object, twists: Floats) -> float:
        def spin(body: int) -> Floats:
            return twists[6 * body + 3 : 6 * body + 6] if body >= 0 else ORIGIN

        def velocity(body: int) -> Floats:
            return twists[6 * body : 6 * body + 3] if body >= 0 else ORIGIN

        wants_velocity = "velocity" in one.__code__.co_varnames[: one.__code__.co_argcount]  # type: ignore[attr-defined]
        return float(one(spin, velocity) if wants_velocity else one(spin))  # type: ignore[operator]

    def _inertia(self, twists: Floats) -> tuple[Floats, Floats]:
        """Mass matrix about the origins of the bodies, and gravity less velocity forces."""
        size = self.rows.size
        mass, force = np.zeros((size, size)), np.zeros(size)
        gravity = np.array([number(one, {}) for one in self.mechanism.gravity])
        for k, body in enumerate(self.bodies):
            own, turn = body.inertia, self.poses[k][:3, :3]
            m, *moments = (number(one, {}) for one in (own.mass, own.Jx, own.Jy, own.Jz, own.Jxy, own.Jyz, own.Jxz))
            x, y, z, xy, yz, xz = moments
            central = pose(own.central, {})
            tensor = turn @ central[:3, :3] @ np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]])
            tensor = tensor @ central[:3, :3].T @ turn.T
            c, w = turn @ central[:3, 3], twists[6 * k + 3 : 6 * k + 6]
            tensor = tensor + m * (c @ c * np.eye(3) - np.outer(c, c))
            block = np.block([[m * np.eye(3), -m * skew(c)], [m * skew(c), tensor]])
            place = slice(6 * k, 6 * k + 6)
            mass[place, place] = block
            curl = m * np.cross(w, np.cross(w, c))
            force[place] = np.concatenate([m * gravity - curl, np.cross(c, m * gravity) - np.cross(w, tensor @ w)])
        return mass, force

    def _drives(self, efforts: Floats) -> Floats:
        force = np.zeros(self.rows.size)
        for k, (leg, effort) in enumerate(zip(self.legs, efforts, strict=True)):
            axis = effort * self.poses[1 + 2 * k][:3, 2]
            first, second = 6 * (1 + 2 * k), 6 * (2 + 2 * k)
            if leg.type.has_crank:
                force[first + 3 : first + 6] += axis
            else:
                force[second : second + 3] += axis
                force[first : first + 3] -= axis
        return force

    def _result(self, accelerations: Floats, multipliers: Floats, twists: Floats, efforts: Floats) -> Result:
        owners, jacobian = np.array(self.rows.owners), np.array(self.rows.rows)
        on_ring, on_base = [], []
        for k, leg in enumerate(self.legs):
            own = owners == 3 * k + 2
            wrench = jacobian[own, :6].T @ multipliers[own]
            joint = self.poses[0][:3, :3] @ pose(leg.loop.second.transforms, self.at)[:3, 3]
            on_ring.append([*wrench[:3], *(wrench[3:] - np.cross(joint, wrench[:3]))])
            own = owners == 3 * k
            place = 6 * (1 + 2 * k)
            wrench = -(jacobian[own, place : place + 6].T @ multipliers[own])
            if leg.type.has_crank:
                wrench[3:] -= efforts[k] * self.poses[1 + 2 * k][:3, 2]
            stand = pose(leg.at_base, self.at)[:3, 3]
            on_base.append([*wrench[:3], *(wrench[3:] + np.cross(stand, wrench[:3]))])
        ring = accelerations[:6].copy()
        ring[3:] = self.poses[0][:3, :3].T @ ring[3:]
        return Result(ring, accelerations, np.array(on_ring), np.array(on_base), twists)
