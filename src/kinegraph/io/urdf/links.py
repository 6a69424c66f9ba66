"""Contents of a URDF link: origins, inertia, visual and collision shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import PurePosixPath

from kinegraph.errors import ModelError
from kinegraph.io.meshes import MeshFinder, mesh_scale
from kinegraph.io.robot.placement import AngleReader, shifts
from kinegraph.io.robot.xml import Element, Written, single, vector
from kinegraph.model.expressions import Expression, Number
from kinegraph.model.mechanism import Inertia, Transform
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import Shape, ShapeKind, ShapeRole


def origin_of(element: Element, angle_reader: AngleReader, what: str) -> tuple[Transform, ...]:
    """The transforms of the <origin> of an element; empty if it has none."""
    origin = element.first("origin")
    if origin is None:
        return ()
    return placed(origin, angle_reader, what)


def placed(origin: Element, angle_reader: AngleReader, what: str) -> tuple[Transform, ...]:
    """The transforms of an element with xyz and rpy or quat_xyzw."""
    xyz = vector(origin, "xyz", 3)
    moved = shifts([item.value for item in xyz]) if xyz else ()
    return (*moved, *_turned(origin, angle_reader, what))


def _turned(origin: Element, angle_reader: AngleReader, what: str) -> tuple[Transform, ...]:
    rpy, quaternion = vector(origin, "rpy", 3), vector(origin, "quat_xyzw", 4)
    if rpy and quaternion:
        message = f"the origin of {what} has both rpy and quat_xyzw"
        raise ModelError(message, origin.place, "remove one of them")
    if quaternion:
        x, y, z, scalar = quaternion
        return angle_reader.quaternion((scalar, x, y, z), what, origin.place, "0 0 0 1")
    return angle_reader.roll_pitch_yaw(rpy, what, origin.place) if rpy else ()


def read_inertia(link: Element, name: str, angle_reader: AngleReader) -> Inertia:
    """The inertia of a link; zero without <inertial> or without <mass> in it, as in urdfdom.

    URDF has the entries of the inertia tensor, so a product of inertia (the sum of m x y) is -ixy.
    """
    inertial = link.first("inertial")
    if inertial is None:
        return Inertia()
    mass = inertial.first("mass")
    if mass is None:
        has_tensor = inertial.first("inertia") is not None
        kind = FindingKind.LEFT_OUT if has_tensor else FindingKind.ASSUMED
        message = "<inertia> without <mass>" if has_tensor else "<inertial> without <mass>: the link has no mass"
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


Color = tuple[float, float, float, float]

_SIZES = {
    ShapeKind.BOX: (("size", 3),),
    ShapeKind.SPHERE: (("radius", 1),),
    ShapeKind.CYLINDER: (("radius", 1), ("length", 1)),
    ShapeKind.CAPSULE: (("radius", 1), ("length", 1)),
}


class UrdfShapeReader:
    """Reads the shapes of links, with the named materials of the robot."""

    def __init__(self, root: Element, meshes: MeshFinder, angle_reader: AngleReader) -> None:
        self.meshes = meshes
        self.angle_reader = angle_reader
        named = ((material.get("name") or "", _rgba(material)) for material in root.all("material"))
        self._colors: Mapping[str, Color | None] = dict(named)

    def shapes(self, link: Element, name: str, body: str) -> Iterator[Shape]:
        """The shapes of a link, on its body."""
        for role in (ShapeRole.VISUAL, ShapeRole.COLLISION):
            for element in link.all(role.value):
                geometry = element.first("geometry")
                for form in geometry.children if geometry is not None else ():
                    shape = self._shape(form, element, f"a shape of {name}", body, role)
                    if shape is not None:
                        yield shape

    def _shape(self, form: Element, element: Element, what: str, body: str, role: ShapeRole) -> Shape | None:
        place = origin_of(element, self.angle_reader, what)
        color = self._color(element)
        if form.tag == ShapeKind.MESH.value:
            reference = form.required("filename")
            file = self.meshes.file(reference)
            if fault := self.meshes.fault(reference):
                name = PurePosixPath(reference).name
                self.angle_reader.findings.count(FindingKind.MESH, "meshes not drawn", fault, form.place, name)
            scale = mesh_scale(form, self.angle_reader.findings)
            return Shape(ShapeKind.MESH, body, scale, place, role, reference, file, color)
        kind = next((kind for kind in _SIZES if kind.value == form.tag), None)
        if kind is None:
            return None  # the vocabulary reports it
        sizes = [entry for name, count in _SIZES[kind] for entry in _expressions(vector(form, name, count))]
        return Shape(kind, body, tuple(sizes), place, role, color=color)

    def _color(self, element: Element) -> Color | None:
        material = element.first("material")
        if material is None:
            return None
        return _rgba(material) or self._colors.get(material.get("name") or "")


def _rgba(material: Element) -> Color | None:
    color = material.first("color")
    found = vector(color, "rgba", 4) if color is not None else None
    if found is None:
        return None
    red, green, blue, opacity = (float(item.value) for item in found)
    return red, green, blue, opacity


def _expressions(found: tuple[Written, ...] | None) -> tuple[Expression, ...]:
    return tuple(Number(item.value) for item in found or ())
