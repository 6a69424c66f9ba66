"""Poses over time: moving links, frames fixed to them, the known columns of a state, and their units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.spatial.transform import Rotation as Turn

from kinegraph.derive.tree.expressions import Names
from kinegraph.derive.tree.links import Joint, JointKind, Placement, Tree, build_tree
from kinegraph.errors import DerivationError
from kinegraph.graph.angle import linear_form
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.model.constraints import Frame, Loop
from kinegraph.model.elements import Element, expressions
from kinegraph.model.expressions import TIME, Expression, names
from kinegraph.model.mechanism import Axis, Body, Mechanism, QuaternionCoordinates, Shift, Transform
from kinegraph.model.robot_data import Shape
from kinegraph.solve.problem import Floats

# Moving links, and frames fixed to them. The mechanism is cut into elementary steps (`derive.links`): every variable
# transform makes a link, and everything between two of them is a fixed frame on a link. The page gets the motion of the
# links; bodies, joints, centers of mass and shapes are drawn at their frames.

#: No body can have such a name: names in models contain letters, digits, _ and $ only.
_STEP, CENTER, _SHAPE, _POINT, _LOOP = "#step", "#center", "#shape", "#point", "#loop"


@dataclass(frozen=True)
class FrameOnLink:
    """A frame fixed to a link (0 is the fixed frame)."""

    link: int
    rotation: Floats
    position: Floats

    @property
    def numbers(self) -> list[float]:
        """Position, then the quaternion x, y, z, w, in the order of the page's script."""
        if not (np.isfinite(self.position).all() and np.isfinite(self.rotation).all()):
            raise DerivationError(
                "a body has no finite position: check the values of parameters and locked coordinates"
            )
        return [*map(float, self.position), *map(float, Turn.from_matrix(self.rotation).as_quat())]


@dataclass(frozen=True)
class LinkPoses:
    """The poses of the links at some times: rotations (time, link, 3, 3) and positions (time, link, 3)."""

    rotations: Floats
    positions: Floats

    def at(self, place: FrameOnLink) -> tuple[Floats, Floats]:
        """Rotations and positions of a frame over time."""
        rotation, position = self.rotations[:, place.link], self.positions[:, place.link]
        return rotation @ place.rotation, position + rotation @ place.position

    @property
    def numbers(self) -> Floats:
        """Position and quaternion (x, y, z, w) of every link but the fixed one, as 32-bit floats."""
        times, links = self.positions.shape[:2]
        turned = Turn.from_matrix(self.rotations[:, 1:].reshape(-1, 3, 3)).as_quat().reshape(times, links - 1, 4)
        return np.concatenate([self.positions[:, 1:], turned], axis=2).astype(np.float32)


class Frames:
    """The frames of a mechanism with numbers for its parameters."""

    def __init__(self, mechanism: Mechanism, bound: Mapping[str, Expression]) -> None:
        self.mechanism = mechanism
        self._builder = GraphBuilder()
        self._names = Names(self._builder, mechanism, bound)
        self.tree: Tree = build_tree(_dissected(mechanism), self._names)

    # places

    def body(self, name: str | None) -> FrameOnLink:
        """The frame of a body; the fixed frame if there is no name."""
        return self._places[name] if name is not None else FrameOnLink(0, np.eye(3), np.zeros(3))

    def steps(self, body: Body) -> list[FrameOnLink]:
        """The frames before a body's first transform and after each of them."""
        own = [self._places[_step_name(body, number)] for number in range(1, len(body.transforms))]
        return [self.body(body.base), *own, *([self.body(body.name)] if body.transforms else [])]

    def center(self, body: Body) -> FrameOnLink:
        """The central frame of a body's inertia."""
        return self._places[body.name + CENTER]

    def shape(self, number: int) -> FrameOnLink:
        """The frame of the shape that is the extra of this number."""
        return self._places[f"{_SHAPE}{number}"]

    def point(self, number: int) -> FrameOnLink:
        """The frame of an output point."""
        return self._places[f"{_POINT}{number}"]

    def closings(self, body: str) -> list[FrameOnLink]:
        """The frames of closing joints on a body."""
        return [self._places[name] for name, one in _closing_frames(self.mechanism) if one.body == body]

    def joint_place(self, link: int) -> FrameOnLink:
        """The frame of the joint before a link, on the previous link."""
        return self._joint_places[link]

    @cached_property
    def _places(self) -> dict[str, FrameOnLink]:
        return dict(zip(self.tree.bodies, self._numbers(list(self.tree.bodies.values())), strict=True))

    @cached_property
    def _joint_places(self) -> dict[int, FrameOnLink]:
        moving = {index: link.origin for index, link in enumerate(self.tree.links) if link.origin is not None}
        return dict(zip(moving, self._numbers(list(moving.values())), strict=True))

    def _numbers(self, placements: Sequence[Placement]) -> list[FrameOnLink]:
        outputs = [self._output(str(number), _entries(one), (4, 3)) for number, one in enumerate(placements)]
        found = interpret(self._builder.graph(outputs), {})
        return [
            FrameOnLink(one.link, found[str(number)][:3], found[str(number)][3])
            for number, one in enumerate(placements)
        ]

    # motion

    def motion(self, values: Mapping[str, Floats]) -> LinkPoses:
        """The links at the given values of coordinates and time, arrays of equal length."""
        count = len(next(iter(values.values())))
        displacements = self.displacements(values)
        rotations = np.tile(np.eye(3), (count, len(self.tree.links), 1, 1))
        positions = np.zeros((count, len(self.tree.links), 3))
        for index, link in enumerate(self.tree.links):
            if link.joint is None:
                continue
            place = self.joint_place(index)
            turn, step = _moved(link.joint, displacements[str(index)])
            before = rotations[:, place.link] @ place.rotation
            rotations[:, index] = before @ turn
            along = np.einsum("nij,nj->ni", before, step)
            positions[:, index] = positions[:, place.link] + rotations[:, place.link] @ place.position + along
        return LinkPoses(rotations, positions)

    def slopes(self, link: int) -> dict[str, float]:
        """The coordinates in which the displacement before a link is linear, each with its factor."""
        joint = self.tree.links[link].joint
        if joint is None or joint.quaternion is not None:
            return {}
        found = {}
        for monomial, factor in linear_form(self._builder.nodes, joint.displacement.index).items():
            node = self._builder.nodes[monomial[0][0]] if len(monomial) == 1 and monomial[0][1] == 1 else None
            if isinstance(node, Symbol) and node.kind is Kind.COORDINATE:
                found[node.name] = float(factor)
        return found

    def evaluate(self, roots: Sequence[Expression], values: Mapping[str, Floats]) -> Floats | None:
        """Expressions at some times, as rows; None if they use a name without a value."""
        used = frozenset[str]().union(*map(names, roots))
        if any(name not in values and not self._declared(name) for name in used):
            return None
        given = {name: self._given(name) for name in used if name in values}
        entries = [self._names.scalar(root, given) for root in roots]
        graph = self._builder.graph([self._output("values", entries, None)])
        if any(symbol.name not in values for symbol in graph.symbols() if symbol.kind is not Kind.CONSTANT):
            return None
        count = len(next(iter(values.values())))
        return np.broadcast_to(interpret(graph, values)["values"], (count, len(entries)))

    def _declared(self, name: str) -> bool:
        try:
            return self._names[name] is not None
        except DerivationError:
            return False

    def _given(self, name: str) -> Scalar:
        """A name as a symbol, regardless of its meaning in the model: its values are known."""
        kind = Kind.TIME if name == TIME else Kind.INPUT
        if name in self.mechanism.layout.positions:
            kind = Kind.COORDINATE
        return Scalar(self._builder, self._builder.symbol(kind, name))

    def gravity(self, time: float) -> Floats:
        """The acceleration of gravity at a time, in the fixed frame."""
        graph = self._builder.graph([self._output("gravity", self.tree.gravity, (3,))])
        return interpret(graph, {"t": time})["gravity"]

    def displacements(self, values: Mapping[str, Floats]) -> dict[str, Floats]:
        """The displacement of every joint, by the number of its link: one value, or a quaternion."""
        outputs = [self._output(str(index), entries, None) for index, entries in self._displacements]
        return interpret(self._builder.graph(outputs), values)

    @cached_property
    def placements(self) -> list[Placement]:
        """All frames: those of the joints in the order of their links, then those of bodies, centers and points."""
        joints = [link.origin for link in self.tree.links if link.origin is not None]
        return [*joints, *self.tree.bodies.values()]

    def numbers(self) -> list[FrameOnLink]:
        """All frames in the order of `placements`."""
        return [*self._joint_places.values(), *self._places.values()]

    def number_of(self, name: str) -> int:
        """The place of a body's frame in `placements`."""
        return len(self.placements) - len(self.tree.bodies) + list(self.tree.bodies).index(name)

    def placement_graph(self, name: str) -> Graph:
        """Rotation by rows and position of all frames, then mass and inertia of every body, as one output."""
        entries = [entry for one in self.placements for entry in _entries(one)]
        for body in self.mechanism.bodies:
            inertia = body.inertia
            moments = (inertia.Jx, inertia.Jy, inertia.Jz, inertia.Jxy, inertia.Jyz, inertia.Jxz)
            entries += [self._names.scalar(one) for one in (inertia.mass, *moments)]
        return self._builder.graph([self._output(name, entries, None)])

    def displacement_graph(self, name: str) -> Graph:
        """The displacements of all joints in the order of their links, as one output of this name."""
        entries = tuple(entry for _, own in self._displacements for entry in own)
        return self._builder.graph([self._output(name, entries, None)])

    @property
    def _displacements(self) -> list[tuple[int, tuple[Scalar, ...]]]:
        joints = ((index, link.joint) for index, link in enumerate(self.tree.links) if link.joint is not None)
        return [(index, tuple(joint.quaternion or (joint.displacement,))) for index, joint in joints]

    @staticmethod
    def _output(name: str, entries: Sequence[Scalar], shape: tuple[int, ...] | None) -> Output:
        return Output(name, shape or (len(entries),), tuple(entry.index for entry in entries))


def _dissected(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a massless body at every requested frame: after each transform, at centers and shapes."""
    bodies: list[Body] = []
    for body in mechanism.bodies:
        base = body.base
        for number, transform in enumerate(body.transforms[:-1], start=1):
            bodies.append(Body(_step_name(body, number), base, (transform,)))
            base = _step_name(body, number)
        bodies.append(Body(body.name, base, body.transforms[-1:]))
        bodies.append(Body(body.name + CENTER, body.name, body.inertia.central))
    for number, point in enumerate(mechanism.points):
        shifts: tuple[Transform, ...] = tuple(map(Shift, Axis, point.position))
        bodies.append(Body(f"{_POINT}{number}", point.body, shifts))
    for name, frame in _closing_frames(mechanism):
        bodies.append(Body(name, frame.body, frame.transforms))
    for number, extra in enumerate(mechanism.extras):
        if isinstance(extra, Shape):
            bodies.append(Body(f"{_SHAPE}{number}", extra.body, extra.place))
    return replace(mechanism, bodies=tuple(bodies))


def _closing_frames(mechanism: Mechanism) -> list[tuple[str, Frame]]:
    """The frames of closing joints, each with the name of the massless body that marks it."""
    frames = [one for loop in mechanism.loops if isinstance(loop, Loop) for one in (loop.first, loop.second)]
    return [(f"{_LOOP}{number}", frame) for number, frame in enumerate(frames)]


def _step_name(body: Body, number: int) -> str:
    return f"{body.name}{_STEP}{number}"


def _entries(placement: Placement) -> tuple[Scalar, ...]:
    return (*(item for row in placement.rotation for item in row), *placement.position)


def _moved(joint: Joint, values: Floats) -> tuple[Floats, Floats]:
    """The rotation and the translation of a joint over time."""
    count = len(values)
    if joint.quaternion is not None:
        return Turn.from_quat(values[:, [1, 2, 3, 0]]).as_matrix(), np.zeros((count, 3))
    along = np.zeros((count, 3))
    along[:, joint.axis] = values[:, 0]
    if joint.kind is JointKind.REVOLUTE:
        return Turn.from_rotvec(along).as_matrix(), np.zeros((count, 3))
    return np.tile(np.eye(3), (count, 1, 1)), along


# The known columns at the times of a page: coordinates, velocities, points, inputs.

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class States:
    """Columns of equal length by name, including time.

    inputs: external inputs by symbol (`tau:q1` is a force in a joint), as formulas of the columns.
    """

    columns: Mapping[str, Floats]
    inputs: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def times(self) -> Floats:
        """The times of the page."""
        return self.columns[TIME]


def completed(states: States, mechanism: Mechanism, frames: Frames, motion: LinkPoses) -> States:
    """The states with further names that elements may use: points, and the values of inputs."""
    columns = dict(states.columns)
    for name in _mentioned_points(mechanism, states):
        columns |= _point_columns(name, mechanism, frames, motion, states.times)
    for symbol, formula in states.inputs.items():
        found = frames.evaluate([formula], columns)
        if found is not None:
            columns[symbol] = found[:, 0]
    return States(columns, states.inputs)


def _mentioned_points(mechanism: Mechanism, states: States) -> list[str]:
    known = {point.name for point in mechanism.points} | {body.name for body in mechanism.bodies}
    used = {name for root in _expressions_in_use(mechanism.elements, states) for name in names(root)}
    return sorted({name.rpartition(".")[0] for name in used} & known)


def _expressions_in_use(elements: tuple[Element, ...], states: States) -> Iterator[Expression]:
    for element in elements:
        yield from expressions(element)
    yield from states.inputs.values()


def _point_columns(
    name: str, mechanism: Mechanism, frames: Frames, motion: LinkPoses, times: Floats
) -> dict[str, Floats]:
    """`tip.x`, `tip.x'`, ...: position and velocity of a point in the fixed frame."""
    bodies = [body.name for body in mechanism.bodies]
    points = [point.name for point in mechanism.points]
    place = frames.body(name) if name in bodies else frames.point(points.index(name))
    positions = motion.at(place)[1]
    rates = np.gradient(positions, times, axis=0) if len(times) > 1 else np.zeros_like(positions)
    found: dict[str, Floats] = {}
    for letter, axis in AXES.items():
        found |= {f"{name}.{letter}": positions[:, axis], f"{name}.{letter}'": rates[:, axis]}
    return found


# Units of coordinates and velocities, as far as their joints determine them.

ANGLE, LENGTH = "rad", "m"


def column_units(mechanism: Mechanism, frames: Frames) -> dict[str, str]:
    """The units of a run's columns: coordinates, velocities, output points and energies."""
    known = {f"{point.name}.{axis}": LENGTH for point in mechanism.points for axis in AXES}
    known |= dict.fromkeys(("kinetic", "potential", "energy", "work", "dissipated", "supplied"), "J")
    return known | units(mechanism, frames)


def units(mechanism: Mechanism, frames: Frames) -> dict[str, str]:
    """The unit of every coordinate and velocity by name; empty if joints do not determine it."""
    found = _coordinate_units(frames)
    of_positions = {name: found.get(name, "") for name in mechanism.layout.positions}
    of_velocities = {f"{name}'": f"{unit}/s" if unit else "" for name, unit in of_positions.items()}
    turned = {
        name: f"{ANGLE}/s"
        for one in mechanism.coordinates
        if isinstance(one, QuaternionCoordinates)
        for name in one.velocities
    }
    return of_positions | {name: (of_velocities | turned).get(name, "") for name in mechanism.layout.velocities}


def _coordinate_units(frames: Frames) -> dict[str, str]:
    """Angles for coordinates that rotate something; lengths for those that translate something directly and rotate
    nothing."""
    angles: set[str] = set()
    shifting: dict[str, list[float]] = {}
    for index, link in enumerate(frames.tree.links):
        if link.joint is None:
            continue
        for name, factor in frames.slopes(index).items():
            if link.joint.kind is JointKind.REVOLUTE:
                angles.add(name)
            else:
                shifting.setdefault(name, []).append(abs(factor))
    lengths = {name: LENGTH for name, factors in shifting.items() if 1.0 in factors}
    return lengths | dict.fromkeys(angles, ANGLE)


def joined(names: list[str], known: Mapping[str, str]) -> str:
    """The units of some columns, each once, as the label of an axis."""
    return ", ".join(dict.fromkeys(known[name] for name in names if known.get(name)))
