"""The scene of a page: links with their poses, and shapes, bars, joints and ellipsoids drawn on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from kinegraph.derive.tree.links import JointKind
from kinegraph.model.evaluate import Value, number, parameter_values
from kinegraph.model.expressions import Expression
from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.model.robot_data import Shape, ShapeKind, ShapeRole
from kinegraph.solve.problem import Floats
from kinegraph.version import __version__
from kinegraph.view.page.contact_shapes import ContactShapeDrawer
from kinegraph.view.page.elements import ContactDrawer, ElementDrawer
from kinegraph.view.page.frames import FrameOnLink, Frames, LinkPoses, States, column_units
from kinegraph.view.page.meshes import MOST_TRIANGLES as MESH_TRIANGLES
from kinegraph.view.page.meshes import PageMesh, Part, packed, read_mesh

# Links as bars, for bodies without shapes: along the translations between joints, and to pins, centers of mass and
# outputs.

#: A path of translations longer than its straight line by this factor is drawn with its corners.
_BENT = 1.15


class Skeleton:
    """Links as bars: along the translations between joints, and to centers of mass and output points."""

    def __init__(self, mechanism: Mechanism, frames: Frames) -> None:
        self.mechanism = mechanism
        self.frames = frames
        self.bars: list[Part] = []
        self._corners: dict[int, list[Floats]] = {}
        for place, body in enumerate(mechanism.bodies):
            self._along(place, body)
        for place, body in enumerate(mechanism.bodies):
            self._outward(place, body)

    def _along(self, number: int, body: Body) -> None:
        """Bars along the transforms of a body; the part of a path on the fixed frame is not drawn."""
        steps = self.frames.steps(body)
        run = [steps[0].position]
        for before, after in pairwise(steps):
            if before.link != after.link:
                self._path(before.link, run, number, body)
                run = []
            run.append(after.position)
        self._path(steps[-1].link, run, number, body)

    def _path(self, link: int, run: list[Floats], number: int, body: Body) -> None:
        if link == 0 and body.base is None:
            self._corners.setdefault(0, []).append(run[-1])
            return
        owner = number if link == self.frames.body(body.name).link else self._owner(body, number)
        points = [run[0], *(point for last, point in pairwise(run) if _apart(last, point) > 0)]
        straight = _apart(points[0], points[-1])
        if sum(_apart(a, b) for a, b in pairwise(points)) < _BENT * straight:
            points = [points[0], points[-1]]
        self._corners.setdefault(link, []).extend(points)
        for start, end in pairwise(points):
            self._bar(link, start, end, owner)

    def _owner(self, body: Body, number: int) -> int:
        """The owner of the bar before a body's joint is the parent body."""
        order = [one.name for one in self.mechanism.bodies]
        return order.index(body.base) if body.base is not None else number

    def _outward(self, number: int, body: Body) -> None:
        """Bars to the closing joints, the center of mass and the output points of a body not reached so far."""
        ends = [self.frames.point(k) for k, p in enumerate(self.mechanism.points) if p.body == body.name]
        own = self.frames.body(body.name)
        size = self.size
        for end in [*self.frames.closings(body.name), self.frames.center(body), *ends]:
            corners = self._corners.setdefault(own.link, [own.position])
            gaps = [_gap(bar, end.position) for bar in self.bars if bar["link"] == own.link]
            if min([*gaps, *(_apart(corner, end.position) for corner in corners)]) > 0.04 * size:
                nearest = min(corners, key=lambda corner: _apart(corner, end.position))
                self._bar(own.link, nearest, end.position, number)
                corners.append(end.position)

    @property
    def size(self) -> float:
        """A typical length: that of the longest bar so far."""
        return max((float(_apart(np.array(bar["from"]), np.array(bar["to"]))) for bar in self.bars), default=0.0)

    def _bar(self, link: int, start: Floats, end: Floats, body: int) -> None:
        self.bars.append({"kind": "bar", "link": link, "from": start.tolist(), "to": end.tolist(), "body": body})


def _apart(a: Floats, b: Floats) -> float:
    return float(np.linalg.norm(a - b))


def _gap(bar: Part, point: Floats) -> float:
    """The distance of a point from a bar."""
    start, end = np.array(bar["from"]), np.array(bar["to"])
    along = end - start
    share = np.clip((point - start) @ along / (along @ along), 0.0, 1.0)
    return _apart(start + share * along, point)


# Parts of a mechanism: shapes if the model gives them, otherwise bars, joints and ellipsoids.

#: The maximum number of triangles of all meshes of a page; each mesh gets an equal share.
MOST_TRIANGLES = 150_000


@dataclass
class SceneDrawing:
    """The parts of a page's scene; parts that could not be drawn as in the model are in `missing`."""

    parts: list[Part] = field(default_factory=list)
    meshes: list[PageMesh] = field(default_factory=list)
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
        self.drawing = SceneDrawing()
        self._known: dict[str, int | None] = {}
        files = {extra.file for extra in mechanism.extras if isinstance(extra, Shape) and extra.file is not None}
        self._share = min(MESH_TRIANGLES, MOST_TRIANGLES // max(len(files), 1))

    def draw(self) -> SceneDrawing:
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
        self.drawing.parts += ContactShapeDrawer(self.mechanism, self.frames, self.values).parts()
        return self.drawing

    # shapes of the model

    def _shapes(self) -> set[str | None]:
        """Draw the shapes, and return the bodies that have some."""
        of_body: dict[str | None, list[tuple[int, Shape]]] = {}
        for place, extra in enumerate(self.mechanism.extras):
            if isinstance(extra, Shape) and extra.kind is not ShapeKind.PLANE:
                of_body.setdefault(extra.body, []).append((place, extra))
        return {body for body, shapes in of_body.items() if self._draw_first(body, shapes)}

    def _draw_first(self, body: str | None, shapes: list[tuple[int, Shape]]) -> bool:
        """Visual shapes, otherwise those for both, otherwise collision shapes: the first of these that can be drawn."""
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
            "color": shape.color, "body": self.order.get(shape.body or "", -1),
        }  # fmt: skip
        if shape.kind is ShapeKind.MESH:
            part["mesh"] = self._mesh(shape.file)
            return part if part["mesh"] is not None else None
        return part

    def _mesh(self, file: str | None) -> int | None:
        """The index of a mesh among those of the page, read once."""
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
            if prismatic > 1 or body.name in shaped:  # a free-floating body has no visible joint
                continue
            for link in links:
                yield self._joint(link, body)

    def _links_of(self, body: Body) -> list[int]:
        """The links made by a body's own transforms."""
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
        """The range of a slider along its axis during the motion."""
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
    """Axes (as columns, from the central frame) and semi-axes of the uniform ellipsoid with a body's inertia."""
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


# The data of a page's scene: links and their poses, bodies, and the parts drawn on them.


@dataclass(frozen=True)
class Scene:
    """A mechanism at some times: its frames, their motion and the parts to draw."""

    mechanism: Mechanism
    bound: Mapping[str, Expression]
    values: Mapping[str, Value]
    frames: Frames
    times: Floats
    motion: LinkPoses
    drawing: SceneDrawing

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of columns, if known."""
        return column_units(self.mechanism, self.frames)

    def data(self) -> dict[str, object]:
        """The data for the page's script."""
        return {
            "model": self.mechanism.name,
            "version": __version__,
            "times": packed(self.times.astype("<f8")),
            "links": len(self.frames.tree.links) - 1,
            "motion": packed(self.motion.numbers.astype("<f4")),
            "gravity": self.frames.gravity(float(self.times[0])).tolist(),
            "bodies": [self._body(body) for body in self.mechanism.bodies],
            "parts": self.drawing.parts,
            "meshes": [
                {"corners": packed(mesh.corners.astype("<f4")), "triangles": packed(mesh.triangles.astype("<u4"))}
                for mesh in self.drawing.meshes
            ],
        }

    def _body(self, body: Body) -> dict[str, object]:
        place, center = self.frames.body(body.name), self.frames.center(body)
        found = ellipsoid(body, self.values)
        if found is not None:
            center = FrameOnLink(center.link, center.rotation @ found[0], center.position)
        base = [one.name for one in self.mechanism.bodies].index(body.base) if body.base is not None else -1
        return {
            "name": body.name, "base": base, "link": place.link, "place": place.numbers, "center": center.numbers,
            "mass": number(body.inertia.mass, self.values), "ellipsoid": found[1] if found else None,
        }  # fmt: skip


def scene_of(mechanism: Mechanism, bound: Mapping[str, Expression], states: States) -> Scene:
    """The scene at the times of the states."""
    frames = Frames(mechanism, bound)
    motion = frames.motion(states.columns)
    drawing = Drawer(mechanism, frames, motion, bound, states).draw()
    return Scene(mechanism, bound, parameter_values(mechanism, bound), frames, states.times, motion, drawing)
