"""Forces on the bodies of an MJCF file: gravity compensation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from kinegraph.io.mjcf.transforms import cleaned
from kinegraph.io.robot.placement import linear
from kinegraph.model.elements import Anchor, PointForce
from kinegraph.model.evaluate import number
from kinegraph.model.expressions import Number
from kinegraph.model.mechanism import ZERO, Body, Mechanism
from kinegraph.model.poses import pose
from kinegraph.model.robot_data import GRAVITY_COMPENSATION, PassiveElement


def gravity_compensation(shares: Mapping[str, Fraction], mechanism: Mechanism) -> Iterator[PassiveElement]:
    """The forces against the weight of bodies, each at its center of mass; `shares` are parts of the weight."""
    for body in mechanism.bodies:
        share = shares.get(body.name)
        if share and body.inertia.mass != ZERO and any(item != ZERO for item in mechanism.gravity):
            mass = body.inertia.mass
            factor = -share * (mass.value if isinstance(mass, Number) else Fraction(repr(number(mass, {}))))
            x, y, z = (linear(factor, item) if item != ZERO else ZERO for item in mechanism.gravity)
            force = PointForce(body.name, center_of_mass(body), (x, y, z))
            yield PassiveElement(body.name, GRAVITY_COMPENSATION, force)


def center_of_mass(body: Body) -> Anchor:
    """The center of mass of a body with numbers as transforms."""
    x, y, z = cleaned(pose(body.inertia.central)[1])
    return Anchor(body.name, (x, y, z))
