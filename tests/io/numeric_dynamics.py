"""Inertia matrix and gravity forces of a mechanism by plain numpy, independent of everything Kinegraph derives."""

from __future__ import annotations

import numpy as np

from kinegraph.model import (
    Coordinate,
    Mechanism,
    Quaternion,
    Rotation,
    Shift,
    Transform,
    initial_positions,
    number,
    parameter_values,
)


class Chain:
    """Pose of a frame and the columns of its angular and linear velocity per coordinate rate."""

    def __init__(self, n: int) -> None:
        self.R, self.p = np.eye(3), np.zeros(3)
        self.joints: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]] = []
        self.n = n

    def copy(self) -> Chain:
        new = Chain(self.n)
        new.R, new.p, new.joints = self.R, self.p, list(self.joints)
        return new

    def jacobians(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        angular, linear = np.zeros((3, self.n)), np.zeros((3, self.n))
        for kind, axis, origin, rates in self.joints:
            if kind == "R":
                angular += np.outer(axis, rates)
                linear += np.outer(np.cross(axis, point - origin), rates)
            else:
                linear += np.outer(axis, rates)
        return angular, linear


class Numbers:
    """A mechanism of ordinary coordinates at one position."""

    def __init__(self, mechanism: Mechanism, q: list[float] | None = None) -> None:
        assert all(isinstance(c, Coordinate) for c in mechanism.coordinates)
        self.mechanism = mechanism
        self.parameters = parameter_values(mechanism)
        self.q = np.array(initial_positions(mechanism, self.parameters) if q is None else q, float)
        self.frames: dict[str, Chain] = {}

    def _values(self, q: np.ndarray) -> dict[str, float]:
        return {**self.parameters, **dict(zip(self.mechanism.layout.positions, map(float, q), strict=True)), "t": 0.0}

    def _rates(self, root) -> np.ndarray:
        step = 0.5 * np.eye(len(self.q))  # displacements are linear in q, so the difference is exact
        return np.array([number(root, self._values(self.q + h)) - number(root, self._values(self.q - h)) for h in step])

    def walk(self, chain: Chain, transforms: tuple[Transform, ...]) -> Chain:
        chain = chain.copy()
        for transform in transforms:
            assert not isinstance(transform, Quaternion)
            unit = np.eye(3)[transform.axis.value]
            amount = transform.angle if isinstance(transform, Rotation) else transform.distance
            value = number(amount, self._values(self.q))
            chain.joints.append(("RS"[isinstance(transform, Shift)], chain.R @ unit, chain.p, self._rates(amount)))
            if isinstance(transform, Rotation):
                K = np.cross(np.eye(3), unit)
                chain.R = chain.R @ (np.eye(3) + np.sin(value) * K + (1 - np.cos(value)) * K @ K)
            else:
                chain.p = chain.p + chain.R @ unit * value
        return chain

    def frame(self, name: str | None) -> Chain:
        if name is None:
            return Chain(len(self.q))
        if name not in self.frames:
            body = self.mechanism.body(name)
            self.frames[name] = self.walk(self.frame(body.base), body.transforms)
        return self.frames[name]

    def inertia_and_gravity(self) -> tuple[np.ndarray, np.ndarray]:
        n = len(self.q)
        H, h = np.zeros((n, n)), np.zeros(n)
        g = np.array([number(c, self._values(self.q)) for c in self.mechanism.gravity])
        for body in self.mechanism.bodies:
            central = self.walk(self.frame(body.name), body.inertia.central)
            angular, linear = central.jacobians(central.p)
            moment = {k: number(getattr(body.inertia, k), self.parameters) for k in ("mass", "Jx", "Jy", "Jz")}
            J = central.R @ np.diag([moment["Jx"], moment["Jy"], moment["Jz"]]) @ central.R.T
            H += moment["mass"] * linear.T @ linear + angular.T @ J @ angular
            h -= moment["mass"] * linear.T @ g
        return H, h
