"""The same bodies and joints on another tree: another base, another joint cut, chains walked the other way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from scipy.spatial.transform import Rotation as Turn

from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.model.expressions import Name, expression, expressions, names
from kinegraph.model.mechanism import (
    Axis,
    Coordinate,
    Inertia,
    Mechanism,
    Quaternion,
    QuaternionCoordinates,
    Rotation,
    Shift,
    Transform,
)
from tests.metamorphic.descriptions import (
    Description,
    Floats,
    State,
    inverse,
    is_moving,
    is_quaternion,
    quasi_velocities,
)
from tests.metamorphic.facts import initial_state, placed


@dataclass(frozen=True)
class Edge:
    """A joint: second = first, before, motion, after. `joint` is what it is as a loop, None if it can be none."""

    name: str
    first: str | None
    second: str
    before: tuple[Transform, ...]
    motion: tuple[Transform, ...]
    after: tuple[Transform, ...]
    joint: Joint | None
    free: bool = False
    loop: bool = False


def other_base(mechanism: Mechanism, random: Random) -> Description:
    """Another body floats, and what held the first one is a loop."""
    own = {edge.second for edge in _edges(mechanism) if edge.free}
    # A body without mass or moments may hang on joints, but not float.
    heavy = [body.name for body in mechanism.bodies if body.name not in own and _floats(body.inertia)]
    if not heavy:
        raise CannotBeSpanned(mechanism.name)
    return _spanned(mechanism, random, random.choice(heavy))


def _floats(inertia: Inertia) -> bool:
    return expression(0) not in (inertia.mass, inertia.Jx, inertia.Jy, inertia.Jz)


def other_cut(mechanism: Mechanism, random: Random) -> Description:
    """Loops are closed at other joints, and some chains are walked the other way."""
    return _spanned(mechanism, random, None)


def _spanned(mechanism: Mechanism, random: Random, base: str | None) -> Description:
    edges = _edges(mechanism)
    needed = _mentioned(mechanism)
    random.shuffle(edges)
    left = [edge for edge in edges if edge.free and base]
    if base:
        free = Edge(f"{base}_free", None, base, (), (), (), None, free=True)
        edges = [free, *(edge for edge in edges if not edge.free)]
    if any(_coordinates_of(edge) & needed for edge in left):
        raise CannotBeSpanned(mechanism.name)  # other joints or elements use coordinates that would be left out
    # Joints that must stay joints of the tree come first: those that close no loop, and whose coordinates are used.
    edges.sort(key=lambda edge: not (edge.free or edge.joint is None or bool(_coordinates_of(edge) & needed)))
    tree, closing = _tree(edges)
    for edge in closing:
        if edge.joint is None or _coordinates_of(edge) & needed:
            raise CannotBeSpanned(edge.name)
    return _described(mechanism, tree, closing, {name for edge in left for name in _coordinates_of(edge)})


class CannotBeSpanned(Exception):
    """A joint would have to be cut that no loop can be written for."""


def _edges(mechanism: Mechanism) -> list[Edge]:
    found = []
    for body in mechanism.bodies:
        moving = [k for k, one in enumerate(body.transforms) if is_moving(mechanism, one)]
        start, stop = (moving[0], moving[-1] + 1) if moving else (len(body.transforms),) * 2
        before, motion, after = body.transforms[:start], body.transforms[start:stop], body.transforms[stop:]
        free = len(motion) == 4 and is_quaternion(mechanism, motion[3]) and body.base is None
        joint = None if free else _joint(mechanism, motion)
        found.append(Edge(body.name, body.base, body.name, before, motion, after, joint, free))
    for loop in mechanism.loops:
        if isinstance(loop, Loop) and loop.second.body is not None and loop.joint.type in _AS_MOTION:
            first, second, after = loop.first, loop.second, inverse(loop.second.transforms)
            found.append(Edge(loop.name, first.body, second.body or "", first.transforms, (), after,
                              loop.joint, loop=True))  # fmt: skip
    return found


_AS_MOTION = (JointType.FIXED, JointType.REVOLUTE, JointType.PRISMATIC, JointType.SPHERICAL)


def _joint(mechanism: Mechanism, motion: tuple[Transform, ...]) -> Joint | None:
    if not motion:
        return Joint(JointType.FIXED)
    own = {one.name for one in mechanism.coordinates if isinstance(one, Coordinate)}
    if len(motion) == 1:
        (one,) = motion
        if is_quaternion(mechanism, one):
            return Joint(JointType.SPHERICAL)
        if isinstance(one, Rotation) and isinstance(one.angle, Name) and one.angle.text in own:
            return Joint(JointType.REVOLUTE, (one.axis,))
        if isinstance(one, Shift) and isinstance(one.distance, Name) and one.distance.text in own:
            return Joint(JointType.PRISMATIC, (one.axis,))
    return None


def _mentioned(mechanism: Mechanism) -> set[str]:
    """Names that elements, constraints and several bodies use."""
    used: list[frozenset[str]] = [
        names(e) for part in (mechanism.elements, mechanism.constraints, mechanism.contacts, mechanism.inputs,
                              mechanism.definitions, mechanism.quasivelocities) for e in expressions(part)
    ]  # fmt: skip
    bodies = [frozenset().union(*(names(e) for e in expressions(body.transforms))) for body in mechanism.bodies]
    shared = {name for name in mechanism.layout.positions if sum(name in one for one in bodies) > 1}
    shared |= {name for loop in mechanism.loops if not isinstance(loop, Loop) for name in (loop.first, loop.second)}
    armature = {
        one.name for one in mechanism.coordinates if isinstance(one, Coordinate) and one.armature != expression(0)
    }
    plain = {name.rstrip("'") for one in used for name in one} | shared | armature
    groups = [one for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates)]
    turned = [one.names for one in groups if plain & {*one.names, *one.velocities} or one.armature != expression(0)]
    return plain | {name for group in turned for name in group}


def _coordinates_of(edge: Edge) -> set[str]:
    return {name for one in edge.motion for e in expressions(one) for name in names(e)}


def _tree(edges: list[Edge]) -> tuple[list[tuple[Edge, bool]], list[Edge]]:
    """Joints of a tree from the ground on, each with whether it is walked backwards, and the joints that remain."""
    group: dict[str | None, str | None] = {}

    def top(name: str | None) -> str | None:
        while group.get(name, name) != name:
            name = group[name]
        return name

    chosen, closing = [], []
    for edge in edges:
        a, b = top(edge.first), top(edge.second)
        if a == b:
            closing.append(edge)
        else:
            group[a] = b
            chosen.append(edge)
    reached: set[str | None] = {None}
    walked: list[tuple[Edge, bool]] = []
    while len(walked) < len(chosen):
        for edge in chosen:
            if (edge.first in reached) != (edge.second in reached):
                walked.append((edge, edge.second in reached))
                reached |= {edge.first, edge.second}
    return walked, closing


def _described(mechanism: Mechanism, tree: list[tuple[Edge, bool]], closing: list[Edge], left: set[str]) -> Description:
    known = {one.name if isinstance(one, Coordinate) else one.names[0]: one for one in mechanism.coordinates}
    values = parameter_values(mechanism)
    bodies, coordinates, fresh, joints = [], [], [], {}
    dropped = left | {name for edge in closing for name in _coordinates_of(edge)}
    for edge, backwards in tree:
        new = (
            edge.loop
            or (not edge.motion and edge.free)
            or (backwards and any(is_quaternion(mechanism, m) for m in edge.motion))
        )
        motion = _fresh_motion(edge) if new else edge.motion
        if new:
            dropped |= _coordinates_of(edge)
            fresh.append((edge, backwards))
            coordinates += _fresh_coordinates(edge)
        if backwards:
            back = motion if new and _is_turn(edge) else inverse(motion)
            transforms = inverse(edge.after) + back + inverse(edge.before)
        else:
            transforms = edge.before + motion + edge.after
        name, base = (edge.first, edge.second) if backwards else (edge.second, edge.first)
        assert name is not None
        bodies.append(replace(mechanism.body(name), base=base, transforms=transforms))
        if not edge.free:
            joints[edge.name] = (name, -1 if backwards else 1)
    loops = []
    for edge in closing:
        assert edge.joint is not None
        name = edge.name if edge.loop else f"{edge.name}_closed"
        loops.append(Loop(name, edge.joint, Frame(edge.first, edge.before), Frame(edge.second, inverse(edge.after))))
        joints[edge.name] = (name, 1)
    if any(one.armature != expression(0) for first, one in known.items() if first in dropped):
        raise CannotBeSpanned("inertia in a coordinate that is left out")
    kept = [one for one in mechanism.loops if not isinstance(one, Loop) or one.name not in joints]
    joints |= {one.name: (one.name, 1) for one in kept if isinstance(one, Loop)}
    left = [one for first, one in known.items() if first not in dropped]

    def state(first: State) -> State:
        given = {name: x for name, x in first.items()
                 if name.removeprefix("tau:").rstrip("'") not in dropped and name not in gone}  # fmt: skip
        where = placed(mechanism, first)
        for edge, backwards in fresh:
            given |= _fresh_state(edge, backwards, where, values)
        return {"t": 0.0} | given

    gone = {v for one in mechanism.coordinates if isinstance(one, QuaternionCoordinates) and one.names[0] in dropped
            for v in (*one.names, *one.velocities, *(f"tau:{w}" for w in one.velocities))}  # fmt: skip
    new = replace(mechanism, bodies=tuple(bodies), coordinates=(*left, *coordinates), loops=(*kept, *loops))
    begin = state(initial_state(mechanism))
    new = replace(new, coordinates=tuple(_starting(one, begin) for one in new.coordinates))
    return Description(new, state_map=state, joints=joints, quasi=quasi_velocities(mechanism))


def _starting(one: Coordinate | QuaternionCoordinates, state: State) -> Coordinate | QuaternionCoordinates:
    if isinstance(one, Coordinate):
        return replace(one, position=expression(state[one.name]), velocity=expression(state[f"{one.name}'"]))
    e0, e1, e2, e3 = (expression(state[name]) for name in one.names)
    wx, wy, wz = (expression(state[name]) for name in one.velocities)
    return replace(one, position=(e0, e1, e2, e3), velocity=(wx, wy, wz))


def _is_turn(edge: Edge) -> bool:
    """Whether its motion is a quaternion: those are taken the other way by their numbers."""
    return edge.free or (edge.joint is not None and edge.joint.type is JointType.SPHERICAL)


def _group(edge: Edge) -> QuaternionCoordinates:
    e0, e1, e2, e3 = (f"{edge.name}_e{k}" for k in range(4))
    wx, wy, wz = (f"{edge.name}_w{axis}" for axis in "xyz")
    return QuaternionCoordinates((e0, e1, e2, e3), (wx, wy, wz))


def _fresh_motion(edge: Edge) -> tuple[Transform, ...]:
    q = Name(f"{edge.name}_q")
    if edge.free or _is_turn(edge):
        e0, e1, e2, e3 = map(Name, _group(edge).names)
        turn = (Quaternion((e0, e1, e2, e3)),)
        shifts = tuple(Shift(axis, Name(f"{edge.name}_{axis.name.lower()}")) for axis in Axis)
        return shifts + turn if edge.free else turn
    assert edge.joint is not None
    if edge.joint.type is JointType.FIXED:
        return ()
    (axis,) = edge.joint.axes
    return (Rotation(axis, q),) if edge.joint.type is JointType.REVOLUTE else (Shift(axis, q),)


def _fresh_coordinates(edge: Edge) -> list[Coordinate | QuaternionCoordinates]:
    if edge.free:
        return [*(Coordinate(f"{edge.name}_{axis}") for axis in "xyz"), _group(edge)]
    if _is_turn(edge):
        return [_group(edge)]
    return [] if edge.joint and edge.joint.type is JointType.FIXED else [Coordinate(f"{edge.name}_q")]


def matrix(transforms: tuple[Transform, ...], values: Mapping[str, object]) -> Floats:
    """Constant transforms as a homogeneous matrix."""
    found = np.eye(4)
    for one in transforms:
        step = np.eye(4)
        if isinstance(one, Quaternion):
            w, x, y, z = (float(number(part, values)) for part in one.components)  # type: ignore[arg-type]
            step[:3, :3] = Turn.from_quat([x, y, z, w]).as_matrix()
        elif isinstance(one, Rotation):
            turn = np.zeros(3)
            turn[one.axis.value] = float(number(one.angle, values))  # type: ignore[arg-type]
            step[:3, :3] = Turn.from_rotvec(turn).as_matrix()
        else:
            step[one.axis.value, 3] = float(number(one.distance, values))  # type: ignore[arg-type]
        found = found @ step
    return found


Placed = Mapping[str | None, tuple[Floats, Floats]]


def _fresh_state(edge: Edge, backwards: bool, where: Placed, values: Mapping[str, object]) -> dict[str, float]:
    """Positions and velocities of a joint that had none, from the motion of its two bodies."""
    (first, va), (second, vb) = where[edge.first], where[edge.second]
    a = first @ matrix(edge.before, values)
    b = second @ np.linalg.inv(matrix(edge.after, values))
    relative = np.linalg.inv(a) @ b
    spin = vb[3:] - va[3:]
    slide = _at(b[:3, 3], second, vb) - _at(b[:3, 3], first, va)
    if _is_turn(edge):
        turn, rate = (relative[:3, :3].T, -a[:3, :3].T @ spin) if backwards else (relative[:3, :3], b[:3, :3].T @ spin)
        x, y, z, w = Turn.from_matrix(turn).as_quat()
        group = _group(edge)
        found = dict(zip((*group.names, *group.velocities), (w, x, y, z, *rate), strict=True))
        if edge.free:
            for k, axis in enumerate("xyz"):
                found |= {f"{edge.name}_{axis}": relative[k, 3], f"{edge.name}_{axis}'": slide[k]}
        return found
    assert edge.joint is not None
    if edge.joint.type is JointType.FIXED:
        return {}
    axis = edge.joint.axes[0].value
    direction = a[:3, axis]
    if edge.joint.type is JointType.REVOLUTE:
        j, k = (axis + 1) % 3, (axis + 2) % 3
        angle = np.arctan2(relative[k, j], relative[j, j])
        return {f"{edge.name}_q": float(angle), f"{edge.name}_q'": float(direction @ spin)}
    return {f"{edge.name}_q": float(relative[axis, 3]), f"{edge.name}_q'": float(direction @ slide)}


def _at(point: Floats, pose: Floats, twist: Floats) -> Floats:
    velocity: Floats = twist[:3] + np.cross(twist[3:], point - pose[:3, 3])
    return velocity
