"""Contents of an SDF link: inertia, visual and collision shapes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.io.meshes import MeshFinder, mesh_scale
from kinegraph.io.robot.xml import Element, single, vector
from kinegraph.io.sdf.frames import WORLD, Frames, simplified, stated
from kinegraph.model.expressions import Expression, Number
from kinegraph.model.mechanism import Inertia, Transform
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import Shape, ShapeKind, ShapeRole

_MOMENTS = ("ixx", "iyy", "izz")
_PRODUCTS = ("ixy", "iyz", "ixz")


def read_inertia(link: Element, frames: Frames) -> Inertia:
    """The inertia of a link. In SDFormat, mass and moments have the default 1, products the default 0."""
    name = link.get("name")
    inertial = link.first("inertial") or Element("inertial", {}, link.place)
    if inertial.get("auto") in ("true", "1"):
        message = f"automatic inertia (of {name}) is not supported"
        raise ModelError(message, inertial.place, "write <mass> and <inertia>")
    tensor = inertial.first("inertia") or Element("inertia", {}, inertial.place)
    stated_mass, entries = single(stated(inertial), "mass"), stated(tensor)
    moments = [single(entries, word) for word in _MOMENTS]
    if stated_mass is None or None in moments:
        message = "mass and moments that are not given are 1, the default of SDFormat"
        frames.angle_reader.findings.count(FindingKind.ASSUMED, "inertia", message, inertial.place, name or "")
    xx, yy, zz = (Number(Fraction(1) if one is None else one) for one in moments)
    xy, yz, xz = (Number(-(single(entries, word) or Fraction(0))) for word in _PRODUCTS)
    central = frames.pose(inertial, f"the inertial frame of {name}")
    mass = Number(Fraction(1) if stated_mass is None else stated_mass)
    return Inertia(mass, xx, yy, zz, xy, yz, xz, central)


_SIZES = {
    ShapeKind.BOX: (("size", 3),),
    ShapeKind.SPHERE: (("radius", 1),),
    ShapeKind.CYLINDER: (("radius", 1), ("length", 1)),
    ShapeKind.CAPSULE: (("radius", 1), ("length", 1)),
    ShapeKind.ELLIPSOID: (("radii", 3),),
}


class SdfShapeReader:
    """Reads the shapes of links."""

    def __init__(self, frames: Frames, meshes: MeshFinder) -> None:
        self.frames = frames
        self.meshes = meshes

    def shapes(self, link: Element, body: str | None) -> Iterator[Shape]:
        """The shapes of a link, on its body or on the fixed frame."""
        for role in (ShapeRole.VISUAL, ShapeRole.COLLISION):
            for element in link.all(role.value):
                geometry = element.first("geometry")
                for form in geometry.children if geometry is not None else ():
                    shape = self._shape(form, element, link, body, role)
                    if shape is not None:
                        yield shape

    def _shape(self, form: Element, element: Element, link: Element, body: str | None, role: ShapeRole) -> Shape | None:
        place = self._place(element, link.required("name"))
        color = _color(element)
        values = stated(form)
        if form.tag == ShapeKind.MESH.value:
            reference = values.required("uri")
            file = self.meshes.file(reference)
            if fault := self.meshes.fault(reference):
                name = PurePosixPath(reference).name
                self.frames.angle_reader.findings.count(FindingKind.MESH, "meshes not drawn", fault, form.place, name)
            scale = mesh_scale(values, self.frames.angle_reader.findings)
            return Shape(ShapeKind.MESH, body, scale, place, role, reference, file, color)
        kind = next((kind for kind in _SIZES if kind.value == form.tag), None)
        if kind is None:
            return None  # the vocabulary reports it
        sizes = [entry for name, count in _SIZES[kind] for entry in _numbers(values, name, count)]
        return Shape(kind, body, tuple(sizes), place, role, color=color)

    def _place(self, element: Element, link: str) -> tuple[Transform, ...]:
        pose = element.first("pose")
        named = (pose.get("relative_to") if pose is not None else None) or link
        own = self.frames.pose(element, f"a shape of {link}")
        if link == WORLD:
            return simplified((*self.frames.world_pose, *own))
        return simplified((*self.frames.between(link, named, element), *own))


def _color(element: Element) -> tuple[float, float, float, float] | None:
    material = element.first("material")
    found = vector(stated(material), "diffuse", 4) if material is not None and material.first("diffuse") else None
    if found is None:
        return None
    red, green, blue, opacity = (float(item.value) for item in found)
    return red, green, blue, opacity


def _numbers(values: Element, name: str, count: int) -> tuple[Expression, ...]:
    return tuple(Number(item.value) for item in vector(values, name, count) or ())
