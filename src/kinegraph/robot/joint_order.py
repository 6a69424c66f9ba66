"""`order`: the coordinates of a robot as Pinocchio, MuJoCo or the robot file order and measure them.

The velocities w of another convention are w = T v, where T permutes the entries and, for a free joint of Pinocchio,
turns the linear velocity into the axes of the body. T is orthogonal, so forces follow the same rule: w . f = v . tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.arrays import Floats
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import ModelError, one_of
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.model.robot_data import FileJoint, FileJointKind


class Convention(Enum):
    """Whose order: that of the model, of the robot file, of MuJoCo, or of Pinocchio."""

    MODEL = "model"
    FILE = "file"
    MUJOCO = "mujoco"
    PINOCCHIO = "pinocchio"


@dataclass(frozen=True)
class FreeBody:
    """A free joint whose linear velocity is in body axes: where in v, in the model's q, and in q of the convention."""

    velocity: int
    quaternion: int
    position: int


@dataclass(frozen=True)
class JointOrder:
    """The entries of q, v and tau in the order of a convention; all functions take one state, or rows of states.

    positions, velocities: the model's names in that order; `NAME:cos` and `NAME:sin` where Pinocchio has an angle as
    its cosine and sine. `from_` functions take arrays of the convention and return those of the model, `to_` functions
    the other way round. q is in the convention of the array that is converted.
    """

    convention: Convention
    model: Mechanism
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    joints: tuple[FileJoint, ...]
    free: tuple[FreeBody, ...] = ()

    @cached_property
    def trivial(self) -> bool:
        """Whether arrays are those of the model."""
        layout = self.model.layout
        return self.positions == layout.positions and self.velocities == layout.velocities and not self.free

    def position(self, name: str) -> int:
        """The index in q of a coordinate, by its name in the model."""
        return _index(self.positions, name)

    def velocity(self, name: str) -> int:
        """The index in v and tau of a velocity, by its name in the model."""
        return _index(self.velocities, name if name in self.velocities else f"{name}'")

    def joint(self, name: str) -> tuple[slice, slice]:
        """Where a joint, by its name in the file, is in q and in v."""
        found = next((one for one in self.joints if one.name == name), None)
        if found is None:
            raise ModelError(f"unknown joint {name!r}", remedy=did_you_mean(name, [one.name for one in self.joints]))
        q = [k for k, one in enumerate(self.positions) if one.partition(":")[0] in found.positions]
        v = [self.velocities.index(one) for one in found.velocities]
        return slice(min(q), max(q) + 1), slice(min(v), max(v) + 1)

    # positions

    @cached_property
    def _places(self) -> list[int]:
        """For each entry of the model's q its index in the convention; for an angle that of its cosine."""
        index = {name.partition(":")[0]: k for k, name in reversed(list(enumerate(self.positions)))}
        return [index[name] for name in self.model.layout.positions]

    @cached_property
    def _angles(self) -> list[tuple[int, int]]:
        """Where an angle is in the model's q, and where its cosine is here."""
        places = enumerate(self.model.layout.positions)
        return [(k, self.positions.index(f"{one}:cos")) for k, one in places if f"{one}:cos" in self.positions]

    def from_q(self, q: ArrayLike) -> Floats:
        """Positions of the convention as those of the model."""
        given = _checked(q, self.positions, "q")
        if self.trivial:
            return given
        found = given[..., self._places]
        for own, there in self._angles:
            found[..., own] = np.arctan2(given[..., there + 1], given[..., there])
        return found

    def to_q(self, q: ArrayLike) -> Floats:
        """Positions of the model as those of the convention."""
        given = _checked(q, self.model.layout.positions, "q")
        if self.trivial:
            return given
        found = np.empty((*given.shape[:-1], len(self.positions)))
        found[..., self._places] = given
        for own, there in self._angles:
            found[..., there], found[..., there + 1] = np.cos(given[..., own]), np.sin(given[..., own])
        return found

    # velocities, forces, and all that has an index of velocities; q is that of the model

    @cached_property
    def _columns(self) -> list[int]:
        """For each entry of v here its index in the model's v."""
        return [self.model.layout.velocities.index(name) for name in self.velocities]

    def _rotations(self, q: Floats) -> list[tuple[slice, Floats]]:
        return [
            (slice(one.velocity, one.velocity + 3), rotation_matrix(q[..., one.quaternion : one.quaternion + 4]))
            for one in self.free
        ]

    def to_last(self, q: ArrayLike, array: ArrayLike) -> Floats:
        """An array whose last index is that of the model's v (v, tau, rows of a Jacobian), as the convention has it."""
        given = np.asarray(array, dtype=float)
        if self.trivial:
            return given
        found = given[..., self._columns]
        for place, rotation in self._rotations(np.asarray(q, dtype=float)):
            found[..., place] = _times(found[..., place], rotation)
        return found

    def from_last(self, q: ArrayLike, array: ArrayLike) -> Floats:
        """The way back from `to_last`."""
        given = _checked(array, self.velocities, "v")
        if self.trivial:
            return given
        own = np.asarray(q, dtype=float)
        given = np.array(_with_rows_of(given, own) if self.free else given)
        for place, rotation in self._rotations(own):
            given[..., place] = _times(given[..., place], np.swapaxes(rotation, -1, -2))
        found = np.empty_like(given)
        found[..., self._columns] = given
        return found

    def to_both(self, q: ArrayLike, matrix: ArrayLike) -> Floats:
        """A matrix whose two last indices are those of the model's v, such as the inertia matrix."""
        return np.swapaxes(self.to_last(q, np.swapaxes(self.to_last(q, matrix), -1, -2)), -1, -2)

    def to_a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """Accelerations of the model as those of the convention: of body axes, the rates of the components."""
        found = self.to_last(q, a)
        if not self.free:
            return found
        there = self.to_last(q, v)
        for one in self.free:
            found[..., one.velocity : one.velocity + 3] -= self._transport(one, there)
        return found

    def from_a(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """Accelerations of the convention as those of the model; v is that of the convention."""
        given = _checked(a, self.velocities, "a")
        if not self.free:
            return self.from_last(q, given)
        there = np.asarray(v, dtype=float)
        given = np.array(_with_rows_of(given, there))
        for one in self.free:
            given[..., one.velocity : one.velocity + 3] += self._transport(one, there)
        return self.from_last(q, given)

    @staticmethod
    def _transport(one: FreeBody, v: Floats) -> Floats:
        """What the rotation of the body axes adds to the rate of a velocity in them: w x v."""
        return np.cross(v[..., one.velocity + 3 : one.velocity + 6], v[..., one.velocity : one.velocity + 3])


def order(model: MechanismSource, convention: Convention | str = Convention.FILE) -> JointOrder:
    """The coordinates of a robot in the order of its "file", of "mujoco", of "pinocchio", or of the "model" itself.

    The model must come from a URDF or MJCF file, except for "model". Joints that follow another joint have no entry,
    as in Pinocchio with mimic=True.
    """
    mechanism, chosen = mechanism_of(model), one_of(Convention, convention, "order", ModelError)
    layout = mechanism.layout
    if chosen is Convention.MODEL:
        return JointOrder(chosen, mechanism, layout.positions, layout.velocities, mechanism.joints)
    joints = sorted(_joints_with_coordinates(mechanism, chosen), key=attrgetter(chosen.value))
    positions = [name for joint in joints for name in _positions(joint, chosen)]
    velocities = [name for joint in joints for name in joint.velocities]
    free = []
    if chosen is Convention.PINOCCHIO:
        for joint in joints:
            if joint.kind is FileJointKind.FREE:
                quaternion = layout.positions.index(joint.positions[3])
                place = velocities.index(joint.velocities[0]), quaternion, positions.index(joint.positions[0])
                free.append(FreeBody(*place))
    return JointOrder(chosen, mechanism, tuple(positions), tuple(velocities), tuple(joints), tuple(free))


def _joints_with_coordinates(mechanism: Mechanism, chosen: Convention) -> list[FileJoint]:
    """The joints of the file whose coordinates the mechanism has: others are locked."""
    layout = mechanism.layout
    joints = [one for one in mechanism.joints if set(one.positions) <= set(layout.positions)]
    known = {name for one in joints for name in one.positions}
    if other := [name for name in layout.positions if name not in known]:
        what = f"{mechanism.name}: {other[0]} is not the coordinate of a joint of a URDF or MJCF file"
        raise ModelError(f"{what}, so its place in the order of {chosen.value} is unknown", remedy='take order="model"')
    planar = next((one for one in joints if one.kind is FileJointKind.PLANAR), None)
    if planar is not None and chosen is not Convention.FILE:
        what = f"the planar joint {planar.name} has other coordinates in {chosen.value}"
        raise ModelError(what, remedy='take order="file" and convert this joint yourself')
    return joints


def _positions(joint: FileJoint, convention: Convention) -> Sequence[str]:
    """The names of a joint's entries of q: Pinocchio has the scalar part of a quaternion last, and unlimited angles as
    cosine and sine."""
    if convention is not Convention.PINOCCHIO:
        return joint.positions
    if joint.kind is FileJointKind.CONTINUOUS:
        return (f"{joint.positions[0]}:cos", f"{joint.positions[0]}:sin")
    if joint.kind in (FileJointKind.FREE, FileJointKind.BALL):
        *lengths, e0, e1, e2, e3 = joint.positions
        return (*lengths, e1, e2, e3, e0)
    return joint.positions


def rotation_matrix(e: Floats) -> Floats:
    """The rotation matrix of quaternions, scalar part first."""
    s, u = e[..., :1, None], e[..., 1:]
    cross = np.zeros((*e.shape[:-1], 3, 3))
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -u[..., 2], u[..., 1], -u[..., 0]
    cross -= np.swapaxes(cross, -1, -2).copy()
    outer = u[..., :, None] * u[..., None, :]
    squares = s * s - np.sum(u * u, axis=-1)[..., None, None]
    result: Floats = squares * np.eye(3) + 2 * outer + 2 * s * cross
    return result


def _times(array: Floats, rotation: Floats) -> Floats:
    """Rows times a matrix; of many states each with its own."""
    if rotation.ndim == 2:
        result: Floats = array @ rotation
        return result
    single = array.ndim == rotation.ndim - 1
    turned = (array[..., None, :] if single else array) @ rotation
    return turned[..., 0, :] if single else turned


def _with_rows_of(array: Floats, other: Floats) -> Floats:
    """An array repeated for each state of another one."""
    return np.broadcast_to(array, (*np.broadcast_shapes(array.shape[:-1], other.shape[:-1]), array.shape[-1]))


def _checked(array: ArrayLike, names: Sequence[str], what: str) -> Floats:
    found = np.asarray(array, dtype=float)
    if found.ndim == 0 or found.shape[-1] != len(names):
        raise ModelError(
            f"{what} needs {len(names)} entries, found an array of shape {found.shape}",
            remedy=f"its entries are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}",
        )
    return found


def _index(names: Sequence[str], name: str) -> int:
    if name not in names:
        raise ModelError(f"unknown coordinate {name!r}", remedy=did_you_mean(name, list(names)))
    return names.index(name)
