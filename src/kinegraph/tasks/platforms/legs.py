"""The legs of a platform in numbers, for many poses of its ring at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.compile import compile
from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.model.evaluate import Value, initial_positions, number, parameter_values
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.platforms.recognise import Platform, platform_of
from kinegraph.model.platforms.start import body_pose, pose

Floats = npt.NDArray[np.float64]


def platform_in(mechanism: MechanismSource) -> tuple[Mechanism, Platform]:
    """The mechanism and the platform it is, or an error."""
    found = mechanism_of(mechanism)
    platform = platform_of(found)
    if platform is None:
        raise TaskError(
            f"{found.name} is no platform: a free ring on legs UPS, SPU, UCU, RUS or RSU "
            "that stand on the fixed frame, on carriages that slide on it, or on one free body"
        )
    return found, platform


@dataclass(frozen=True)
class LegsInNumbers:
    """One platform: drives, their rates and points of its legs as functions of the ring's pose.

    `at` are coordinates of what legs stand on, where it is not where the model begins.
    """

    mechanism: Mechanism
    platform: Platform
    at: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def values(self) -> dict[str, Value]:
        """The parameters, and time zero."""
        return {**parameter_values(self.mechanism), "t": 0.0}

    @cached_property
    def start(self) -> Floats:
        """The initial positions; of what legs stand on those that are given."""
        found = np.array(initial_positions(self.mechanism, self.values))
        for name, value in self.at.items():
            if name not in self.platform.ring.coordinates:
                found[self.mechanism.layout.positions.index(name)] = value
        return found

    @cached_property
    def ring_places(self) -> list[int]:
        """Where the ring's coordinates are in q."""
        return [self.mechanism.layout.positions.index(name) for name in self.platform.ring.coordinates]

    @cached_property
    def ring_velocities(self) -> list[int]:
        """Where the ring's six velocities are in v."""
        return [self.mechanism.layout.velocities.index(name) for name in self.platform.ring.velocities]

    @cached_property
    def _order(self) -> list[str]:
        own = {name for leg in self.platform.legs for name in leg.coordinates}
        return [name for name in self.mechanism.layout.positions if name in own]

    @cached_property
    def _drives(self) -> list[int]:
        return [self._order.index(leg.drive) for leg in self.platform.legs]

    @cached_property
    def _positions(self) -> Kernel:
        return compile(self.mechanism, "leg_positions")

    @cached_property
    def _rates(self) -> Kernel:
        return compile(self.mechanism, "leg_velocities")

    def coordinates(self, q: Floats) -> Floats:
        """All coordinates of legs, one row for each row of q; not a number where a leg does not reach."""
        found = self._positions.batch(q, **self._time(self._positions))
        return np.asarray(found)

    def drives(self, q: Floats) -> Floats:
        """The driven coordinates, in the order of the legs."""
        return np.asarray(self.coordinates(q)[:, self._drives])

    def jacobian(self, q: Floats) -> Floats:
        """Rates of the drives by the ring's velocities: (rows, legs, 6)."""
        columns = []
        for index in self.ring_velocities:
            v = np.zeros((len(q), len(self.mechanism.layout.velocities)))
            v[:, index] = 1
            columns.append(np.asarray(self._rates.batch(q, v, **self._time(self._rates)))[:, self._drives])
        return np.stack(columns, axis=2)

    def _time(self, kernel: Kernel) -> dict[str, float]:
        return {"t": 0.0} if any(argument.name == "t" for argument in kernel.arguments) else {}

    # points

    @cached_property
    def size(self) -> float:
        """A length of the platform: the mean distance of the ring's joints from its origin."""
        return float(np.mean(np.linalg.norm(self.on_ring, axis=1)))

    @cached_property
    def on_ring(self) -> Floats:
        """The joints on the ring, in its axes."""
        back = np.linalg.inv(self._pose(self.platform.ring.body.name))
        ends = [leg.loop.second for leg in self.platform.legs]
        return np.array([(back @ self._pose(end.body) @ pose(end.transforms, self.values))[:3, 3] for end in ends])

    @cached_property
    def _at_start(self) -> dict[str, Value]:
        return {**self.values, **dict(zip(self.mechanism.layout.positions, self.start, strict=True))}

    def _pose(self, body: str | None) -> Floats:
        """Of a body at the start."""
        return body_pose(self.mechanism, body, self._at_start)

    @cached_property
    def bases(self) -> Floats:
        """The frames of the joints on the base, which stays where it is at the start: (legs, 4, 4)."""
        return np.array([self._pose(leg.first.base) @ pose(leg.at_base, self.values) for leg in self.platform.legs])

    def _ring_poses(self, q: Floats) -> Floats:
        found = []
        for row in q:
            at: dict[str, Value] = {**self.values, **dict(zip(self.mechanism.layout.positions, row, strict=True))}
            found.append(pose(self.platform.ring.body.transforms, at))
        return np.array(found)

    def ring_turns(self, q: Floats) -> Floats:
        """The matrices that lead from ring axes to fixed axes: (rows, 3, 3)."""
        return self._ring_poses(q)[:, :3, :3]

    def ring_points(self, q: Floats) -> Floats:
        """The joints on the ring in fixed axes: (rows, legs, 3)."""
        poses = self._ring_poses(q)
        return np.asarray(np.einsum("pij,kj->pki", poses[:, :3, :3], self.on_ring) + poses[:, None, :3, 3])

    def lacking(self, q: Floats) -> Floats:
        """By what length each leg does not reach the ring, not above zero where it does: (rows, legs)."""
        found = np.full((len(q), len(self.platform.legs)), -np.inf)
        ends = self.ring_points(q)
        for k, leg in enumerate(self.platform.legs):
            if leg.type.has_crank:
                crank, rod = (number(one, self.values) for one in leg.lengths)
                d = (ends[:, k] - self.bases[k, :3, 3]) @ self.bases[k, :3, :3]
                along = (np.sum(d * d, axis=1) + crank**2 - rod**2) / (2 * crank)
                found[:, k] = np.abs(along) - np.hypot(d[:, 0], d[:, 1])
        return found

    def segments(self, q: Floats) -> tuple[Floats, Floats]:
        """Both ends of the last part of every leg: (rows, legs, 3) each."""
        ends = self.ring_points(q)
        starts = np.broadcast_to(self.bases[:, :3, 3], ends.shape).copy()
        angles = self.drives(q)
        for k, leg in enumerate(self.platform.legs):
            if leg.type.has_crank:
                crank = number(leg.lengths[0], self.values)
                x, y = self.bases[k, :3, 0], self.bases[k, :3, 1]
                starts[:, k] += crank * (np.cos(angles[:, k, None]) * x + np.sin(angles[:, k, None]) * y)
        return starts, ends
