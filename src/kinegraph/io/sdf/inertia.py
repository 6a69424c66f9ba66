"""<inertial> of a link."""

from __future__ import annotations

from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.attributes import single
from kinegraph.io.robot.xml import Element
from kinegraph.io.sdf.frames import Frames
from kinegraph.io.sdf.values import stated
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Inertia
from kinegraph.model.report import FindingKind

_MOMENTS = ("ixx", "iyy", "izz")
_PRODUCTS = ("ixy", "iyz", "ixz")


def read_inertia(link: Element, frames: Frames) -> Inertia:
    """The inertia of a link. SDFormat says 1 for a mass and a moment that are not stated, and zero for a product."""
    name = link.get("name")
    inertial = link.first("inertial") or Element("inertial", {}, link.place)
    if inertial.get("auto") in ("true", "1"):
        message = f"the inertia of {name} is to be computed from its shapes, which is not done"
        raise ModelError(message, inertial.place, "write <mass> and <inertia>")
    tensor = inertial.first("inertia") or Element("inertia", {}, inertial.place)
    stated_mass, entries = single(stated(inertial), "mass"), stated(tensor)
    moments = [single(entries, word) for word in _MOMENTS]
    if stated_mass is None or None in moments:
        message = "mass and moments that are not stated are 1, as SDFormat has it"
        frames.angle_reader.findings.count(FindingKind.ASSUMED, "inertia", message, inertial.place, name or "")
    xx, yy, zz = (Number(Fraction(1) if one is None else one) for one in moments)
    xy, yz, xz = (Number(-(single(entries, word) or Fraction(0))) for word in _PRODUCTS)
    central = frames.pose(inertial, f"the inertial frame of {name}")
    mass = Number(Fraction(1) if stated_mass is None else stated_mass)
    return Inertia(mass, xx, yy, zz, xy, yz, xz, central)
