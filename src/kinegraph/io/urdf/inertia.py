"""<inertial> of a link."""

from __future__ import annotations

from fractions import Fraction

from kinegraph.io.robot.attributes import single
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.xml import Element
from kinegraph.io.urdf.origin import origin_of
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Inertia
from kinegraph.model.report import FindingKind


def read_inertia(link: Element, name: str, angle_reader: AngleReader) -> Inertia:
    """The inertia of a link; a link without <inertial> has none, and one without mass in it neither, as in urdfdom.

    URDF gives the entries of the inertia tensor, so a product of inertia (the sum of m x y) is -ixy.
    """
    inertial = link.first("inertial")
    if inertial is None:
        return Inertia()
    mass = inertial.first("mass")
    if mass is None:
        said = inertial.first("inertia") is not None
        kind = FindingKind.LEFT_OUT if said else FindingKind.ASSUMED
        message = "<inertia> without <mass>" if said else "a link whose <inertial> states no mass has none"
        angle_reader.findings.count(kind, "inertia without mass", message, inertial.place, name)
        return Inertia()
    tensor = inertial.first("inertia")
    xx, yy, zz, xy, yz, xz = (_part(tensor, entry) for entry in ("ixx", "iyy", "izz", "ixy", "iyz", "ixz"))
    central = origin_of(inertial, angle_reader, f"the inertial frame of {name}")
    moments = (Number(xx), Number(yy), Number(zz), Number(-xy), Number(-yz), Number(-xz))
    return Inertia(Number(_entry(mass, "value")), *moments, central)


def _part(tensor: Element | None, entry: str) -> Fraction:
    return Fraction(0) if tensor is None else _entry(tensor, entry)


def _entry(element: Element, name: str) -> Fraction:
    return single(element, name) or Fraction(0)
