"""<visual> and <collision> of a link: shapes kept for the viewer and for contact; meshes as references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from kinegraph.io.robot.attributes import Written, vector
from kinegraph.io.robot.meshes import MeshFinder, mesh_scale
from kinegraph.io.robot.placement import AngleReader
from kinegraph.io.robot.xml import Element
from kinegraph.io.urdf.origin import origin_of
from kinegraph.model.expression import Expression, Number
from kinegraph.model.report import FindingKind
from kinegraph.model.robot.data import Shape, ShapeKind, ShapeRole

Colour = tuple[float, float, float, float]

_SIZES = {
    ShapeKind.BOX: (("size", 3),),
    ShapeKind.SPHERE: (("radius", 1),),
    ShapeKind.CYLINDER: (("radius", 1), ("length", 1)),
    ShapeKind.CAPSULE: (("radius", 1), ("length", 1)),
}


class ShapeReader:
    """Reads the shapes of links; materials defined for the whole robot are known by name."""

    def __init__(self, root: Element, meshes: MeshFinder, angle_reader: AngleReader) -> None:
        self.meshes = meshes
        self.angle_reader = angle_reader
        named = ((material.get("name") or "", _rgba(material)) for material in root.all("material"))
        self._colours: Mapping[str, Colour | None] = dict(named)

    def shapes(self, link: Element, name: str, body: str) -> Iterator[Shape]:
        """The shapes of one link, on the body it became."""
        for role in (ShapeRole.VISUAL, ShapeRole.COLLISION):
            for element in link.all(role.value):
                geometry = element.first("geometry")
                for form in geometry.children if geometry is not None else ():
                    shape = self._shape(form, element, f"a shape of {name}", body, role)
                    if shape is not None:
                        yield shape

    def _shape(self, form: Element, element: Element, what: str, body: str, role: ShapeRole) -> Shape | None:
        place = origin_of(element, self.angle_reader, what)
        colour = self._colour(element)
        if form.tag == ShapeKind.MESH.value:
            reference = form.required("filename")
            file = self.meshes.file(reference)
            if fault := self.meshes.fault(reference):
                name = PurePosixPath(reference).name
                self.angle_reader.findings.count(FindingKind.MESH, "meshes not drawn", fault, form.place, name)
            scale = mesh_scale(form, self.angle_reader.findings)
            return Shape(ShapeKind.MESH, body, scale, place, role, reference, file, colour)
        kind = next((kind for kind in _SIZES if kind.value == form.tag), None)
        if kind is None:
            return None  # the vocabulary reports it
        sizes = [entry for name, count in _SIZES[kind] for entry in _expressions(vector(form, name, count))]
        return Shape(kind, body, tuple(sizes), place, role, colour=colour)

    def _colour(self, element: Element) -> Colour | None:
        material = element.first("material")
        if material is None:
            return None
        return _rgba(material) or self._colours.get(material.get("name") or "")


def _rgba(material: Element) -> Colour | None:
    colour = material.first("color")
    found = vector(colour, "rgba", 4) if colour is not None else None
    if found is None:
        return None
    red, green, blue, opacity = (float(item.value) for item in found)
    return red, green, blue, opacity


def _expressions(found: tuple[Written, ...] | None) -> tuple[Expression, ...]:
    return tuple(Number(item.value) for item in found or ())
