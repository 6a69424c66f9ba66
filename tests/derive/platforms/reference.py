"""Platforms of the reference files as mechanisms, and states in their order."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kinegraph as kg
from kinegraph.codegen.kernel import Kernel
from kinegraph.model.builder import Builder, Rx, Ry, Rz, Sx, Sy, Sz, drive, inertia, leg
from kinegraph.model.mechanism import Inertia, Mechanism, Transform
from kinegraph.model.platforms.leg_table import LegRow

FOLDER = Path(__file__).parents[2] / "data" / "parallel"


def data(name: str) -> dict[str, Any]:
    """One reference file."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def turns(matrix: Any) -> tuple[Transform, ...]:
    """Rz Ry Rx of a rotation matrix."""
    m = np.array(matrix, dtype=float)
    about_y = math.atan2(-m[2, 0], math.hypot(m[0, 0], m[1, 0]))
    return Rz(math.atan2(m[1, 0], m[0, 0])), Ry(about_y), Rx(math.atan2(m[2, 1], m[2, 2]))


def frame_with_y(axis: Any) -> tuple[Transform, ...]:
    """Turns that lead y onto an axis: Rz, then Rx."""
    x, y, z = axis
    return Rz(math.atan2(-x, y)), Rx(math.atan2(z, math.hypot(x, y)))


def part(given: dict[str, Any]) -> Inertia:
    """The inertia of a part; off-diagonal entries are the tensor's."""
    j = given["inertia"]
    at = [shift(amount) for shift, amount in zip((Sx, Sy, Sz), given.get("com", (0, 0, 0)), strict=True) if amount]
    return inertia(given["mass"], j[0][0], j[1][1], j[2][2], -j[0][1], -j[1][2], -j[0][2], at=at)


@dataclass(frozen=True)
class Case:
    """A platform and how its states are ordered."""

    mechanism: Mechanism
    legs: int

    def q(self, position: Any, quaternion: Any) -> np.ndarray:
        """The ring's pose among all coordinates; legs are left at their start."""
        layout = self.mechanism.layout
        found = np.zeros(len(layout.positions))
        e = np.array(quaternion, dtype=float)
        found[self.legs : self.legs + 7] = [*position, *(e / np.linalg.norm(e))]
        return found

    def v(self, velocity: Any, spin: Any) -> np.ndarray:
        """The ring's velocities, or accelerations, among all."""
        found = np.zeros(len(self.mechanism.layout.velocities))
        found[self.legs : self.legs + 6] = [*velocity, *spin]
        return found

    def forces(self, efforts: Any) -> np.ndarray:
        """Efforts of the drives among all forces."""
        found = np.zeros(len(self.mechanism.layout.velocities))
        found[: self.legs] = efforts
        return found

    def in_legs(self, rows: Any) -> np.ndarray:
        """Values of the legs' coordinates, one row a leg in the order of the reference, in the order of ours."""
        rows = np.array(rows)
        driven = 0 if "theta" in self.mechanism.layout.positions[0] else 2
        passive = [column for column in range(rows.shape[1]) if column != driven]
        return np.concatenate([rows[:, driven], rows[:, passive].ravel()])

    def leg_part(self, values: np.ndarray) -> np.ndarray:
        """The entries of legs of a vector like v."""
        return np.concatenate([values[: self.legs], values[self.legs + 6 :]])


def case(name: str, gravity: bool = True, damping: float = 0.0, kind: str | None = None) -> Case:
    """The platform of a reference file; `kind` puts legs of another type in."""
    model = data(name)["model"]
    builder = Builder(name.replace("_", "-"), model["gravity_vector_when_on"] if gravity else (0, 0, 0))
    ring = builder.body("Ring", None, _free(builder, model["nominal_height"]), part(model["ring"]))
    crank = "crank" in model
    first, second = ("crank", "rod") if crank else ("lower", "upper")
    builder.platform(
        kind or model["type"], ring, rows(model), part(model[first]), part(model[second]),
        model.get("crank_length"), model.get("rod_length"), drive(damping=damping),
    )  # fmt: skip
    return Case(builder.build(), 6)


def _free(builder: Builder, height: float) -> tuple[Transform, ...]:
    x, y, z = builder.coordinate("x"), builder.coordinate("y"), builder.coordinate("z", height)
    return Sx(x), Sy(y), Sz(z), builder.quaternion(("e0", "e1", "e2", "e3"), ("wx", "wy", "wz"))


def rows(model: dict[str, Any], on: str | None = None) -> list[LegRow]:
    """The leg table."""
    axes = model.get("ring_universal_axes", [None] * 6)
    places = zip(model["base_joint_points"], model["ring_joint_points"], model["leg_base_frames"], axes, strict=True)
    return [
        leg(f"L{k}", base, ring, turns(frame), frame_with_y(axis) if axis else (), on)
        for k, (base, ring, frame, axis) in enumerate(places, 1)
    ]


def kernel(found: Case, quantity: str, **options: Any) -> Kernel:
    """A compiled quantity."""
    made = kg.compile(found.mechanism, quantity, **options)
    assert isinstance(made, Kernel)
    return made
