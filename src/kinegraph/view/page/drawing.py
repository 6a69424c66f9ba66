"""What is drawn of a mechanism: shapes where the model gives them, otherwise bars, joints and ellipsoids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kinegraph.derive.tree.links import JointKind
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.model.robot.data import Shape, ShapeKind, ShapeRole
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page.contacts import ContactDrawer
from kinegraph.view.page.elements import ElementDrawer
from kinegraph.view.page.frames import FrameOnLink, Frames, LinkPoses
from kinegraph.view.page.geometry.meshes import MOST_TRIANGLES as MESH_TRIANGLES
from kinegraph.view.page.geometry.meshes import Mesh, read_mesh
from kinegraph.view.page.geometry.packing import Part
from kinegraph.view.page.skeleton import Skeleton
from kinegraph.view.page.states import States

#: All meshes of a page together have no more triangles than this; each has its equal share.
MOST_TRIANGLES = 150_000


@dataclass
class Drawing:
    """The parts of a page's scene; what could not be drawn as the model says stands in `missing`."""

    parts: list[Part] = field(default_factory=list)
    meshes: list[Mesh] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


class Drawer:
    """Draws a mechanism with numbers for its parameters."""

    def __init__(
        self, mechanism: Mechanism, frames: Frames, motion: LinkPoses, bound: Mapping[str, Expression], states: States
    ) -> None:
        self.mechanism = mechanism
        self.frames = frames
        self.motion = motion
        self.states = states
        self.values: dict[str, Value] = parameter_values(mechanism, bound)
        self.order = {body.name: place for place, body in enumerate(mechanism.bodies)}
        self.drawing = Drawing()
        self._known: dict[str, int | None] = {}
        files = {extra.file for extra in mechanism.extras if isinstance(extra, Shape) and extra.file is not None}
        self._share = min(MESH_TRIANGLES, MOST_TRIANGLES // max(len(files), 1))

    def draw(self) -> Drawing:
        """All parts."""
        shaped = self._shapes()
        skeleton = Skeleton(self.mechanism, self.frames)
        links = {self.frames.body(name).link for name in shaped}
        self.drawing.parts += [bar for bar in skeleton.bars if bar["link"] not in links]
        self.drawing.parts += self._joints(shaped)
        self.drawing.parts += self._planes()
        elements = ElementDrawer(self.mechanism, self.frames, self.motion, self.values, self.states)
        self.drawing.parts += elements.parts()
        self.drawing.parts += ContactDrawer(self.mechanism, self.frames, self.motion, self.states).parts()
        return self.drawing

    # shapes of the model

    def _shapes(self) -> set[str | None]:
        """Draws the shapes and returns the bodies that have some."""
        of_body: dict[str | None, list[tuple[int, Shape]]] = {}
        for place, extra in enumerate(self.mechanism.extras):
            if isinstance(extra, Shape) and extra.kind is not ShapeKind.PLANE:
                of_body.setdefault(extra.body, []).append((place, extra))
        return {body for body, shapes in of_body.items() if self._draw_first(body, shapes)}

    def _draw_first(self, body: str | None, shapes: list[tuple[int, Shape]]) -> bool:
        """Shapes for the eye, else those for both, else those for contact: the first of these that can be drawn."""
        for role in (ShapeRole.VISUAL, ShapeRole.BOTH, ShapeRole.COLLISION):
            chosen = [(place, shape) for place, shape in shapes if shape.role is role]
            parts = [part for place, shape in chosen if (part := self._shape(place, shape))]
            if parts and len(parts) == len(chosen):
                self.drawing.parts += parts
                return True
        self.drawing.missing.append(body or "the fixed frame")
        return False

    def _shape(self, place: int, shape: Shape) -> Part | None:
        found = self.frames.shape(place)
        sizes = [number(size, self.values) for size in shape.sizes]
        part: Part = {
            "kind": shape.kind.value, "link": found.link, "place": found.numbers, "sizes": sizes,
            "colour": shape.colour, "body": self.order.get(shape.body or "", -1),
        }  # fmt: skip
        if shape.kind is ShapeKind.MESH:
            part["mesh"] = self._mesh(shape.file)
            return part if part["mesh"] is not None else None
        return part

    def _mesh(self, file: str | None) -> int | None:
        """The number of a mesh among those of the page, read once."""
        if file is None:
            return None
        if file not in self._known:
            mesh = read_mesh(file, self._share)
            self._known[file] = None if mesh is None else len(self.drawing.meshes)
            self.drawing.meshes += [mesh] if mesh else []
        return self._known[file]

    # joints and elements

    def _joints(self, shaped: set[str | None]) -> Iterator[Part]:
        for body in self.mechanism.bodies:
            links = self._links_of(body)
            prismatic = sum(self._kind(link) is JointKind.PRISMATIC for link in links)
            if prismatic > 1 or body.name in shaped:  # a body that flies has no joint to be seen
                continue
            for link in links:
                yield self._joint(link, body)

    def _links_of(self, body: Body) -> list[int]:
        """The links that a body's own transforms make."""
        steps = [place.link for place in self.frames.steps(body)]
        return [after for before, after in pairwise(steps) if before != after]

    def _kind(self, link: int) -> JointKind:
        joint = self.frames.tree.links[link].joint
        assert joint is not None
        return joint.kind

    def _joint(self, link: int, body: Body) -> Part:
        joint = self.frames.tree.links[link].joint
        assert joint is not None
        place = self.frames.joint_place(link)
        part: Part = {
            "kind": joint.kind.value, "link": place.link, "place": place.numbers, "axis": joint.axis,
            "body": self.order[body.name], "grounded": place.link == 0 and body.base is None, "moves": link,
        }  # fmt: skip
        if joint.kind is JointKind.PRISMATIC:
            part["reach"] = self._reach(link, place, joint.axis)
        return part

    def _reach(self, link: int, place: FrameOnLink, axis: int) -> list[float]:
        """How far a slider goes along its axis during the motion."""
        rotations, positions = self.motion.at(place)
        along = np.einsum("ni,ni->n", rotations[:, :, axis], self.motion.positions[:, link] - positions)
        return [min(0.0, float(along.min())), max(0.0, float(along.max()))]

    # floors

    def _planes(self) -> Iterator[Part]:
        """Planes of a robot file: floors and walls of the fixed frame."""
        for place_number, extra in enumerate(self.mechanism.extras):
            if isinstance(extra, Shape) and extra.kind is ShapeKind.PLANE:
                place = self.frames.shape(place_number)
                reach = 2 * max((number(size, self.values) for size in extra.sizes[:2]), default=0.0)
                if place.link == 0:
                    middle, normal = place.position.tolist(), place.rotation[:, 2].tolist()
                    yield {"kind": "plane", "name": "", "middle": middle, "normal": normal, "reach": reach}


def ellipsoid(body: Body, values: Mapping[str, Value]) -> tuple[Floats, list[float]] | None:
    """Axes (as columns, from the central frame) and half lengths of the uniform ellipsoid with a body's inertia."""
    inertia = body.inertia
    mass = number(inertia.mass, values)
    x, y, z = (number(moment, values) for moment in (inertia.Jx, inertia.Jy, inertia.Jz))
    xy, yz, xz = (number(moment, values) for moment in (inertia.Jxy, inertia.Jyz, inertia.Jxz))
    tensor = np.array([[x, -xy, -xz], [-xy, y, -yz], [-xz, -yz, z]])
    if mass <= 0 or not tensor.any():
        return None
    moments, axes = np.linalg.eigh(tensor)
    squares = 5 / (2 * mass) * (moments.sum() - 2 * moments)
    axes[:, 2] *= np.linalg.det(axes)
    return axes, np.sqrt(np.maximum(squares, 0.0)).tolist()
