"""Forces on the bodies of an MJCF file: gravity compensation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from kinegraph.io.mjcf.joints import MjcfJoint, force_range
from kinegraph.io.mjcf.settings import Settings
from kinegraph.io.mjcf.transforms import cleaned
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.placement import linear
from kinegraph.model.elements import Anchor, PointForce
from kinegraph.model.evaluate import number
from kinegraph.model.expressions import Number
from kinegraph.model.mechanism import ZERO, Body, Mechanism
from kinegraph.model.poses import pose
from kinegraph.model.report import FindingKind
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


def report_actuated_compensation(
    joints: Iterable[MjcfJoint], settings: Settings, driven: bool, findings: Findings
) -> None:
    """Report `actuatorgravcomp` where it changes forces; `driven`: the file has actuators, and they are enabled.

    MuJoCo then counts gravity compensation as a force of actuators. It is limited with them, and vanishes if the model
    has no actuators.
    """
    for joint in joints:
        if joint.element.get("actuatorgravcomp") != "true":
            continue
        if not driven:
            what = "actuatorgravcomp without actuators: gravity is compensated here, and not in MuJoCo"
        elif force_range(joint, settings) is not None:
            what = "actuatorgravcomp with actuatorfrcrange: the limit does not include gravity compensation"
        else:
            continue
        findings.count(FindingKind.LEFT_OUT, ACTUATED_COMPENSATION, what, joint.element.place, joint.name)


#: The topic of findings on gravity compensation by actuators.
ACTUATED_COMPENSATION = "gravity compensation by actuators"


def center_of_mass(body: Body) -> Anchor:
    """The center of mass of a body with numbers as transforms."""
    x, y, z = cleaned(pose(body.inertia.central)[1])
    return Anchor(body.name, (x, y, z))
