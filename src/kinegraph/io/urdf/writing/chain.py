"""A body's transforms as joints of URDF, one behind the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import cos, sin

from kinegraph.errors import ModelError
from kinegraph.io.urdf.writing.affine import ZERO, Affine, affine, located
from kinegraph.io.urdf.writing.pose import Attitude, Move, Step, Vector, apply, joined, pose, steps, transposed, unit
from kinegraph.model.evaluate import Value
from kinegraph.model.expression import TIME, Name, names
from kinegraph.model.mechanism import Axis, Body, Mechanism, Quaternion, Rotation, Shift, Transform


@dataclass(frozen=True, eq=False)  # two joints may be equal and yet not the same
class Hinge:
    """A joint about or along an axis: the fixed way to it, the axis in the frame behind that way, what moves it."""

    way: tuple[Step, ...]
    axis: Vector
    prismatic: bool
    moved: Affine


@dataclass(frozen=True)
class Freely:
    """A joint with six degrees of freedom; its coordinates x, y, z and its quaternion by name."""

    way: tuple[Step, ...]
    names: tuple[str, ...]


Joint = Hinge | Freely


@dataclass(frozen=True)
class Chain:
    """What leads from a body's base to the body: joints, and a fixed way behind the last of them."""

    joints: tuple[Joint, ...]
    rest: tuple[Step, ...]


def chain_of(body: Body, mechanism: Mechanism, values: Mapping[str, Value]) -> Chain:
    """The chain of a body; ModelError names the body where URDF has no such joint."""
    return _Reader(body, mechanism, values).chain()


class _Reader:
    def __init__(self, body: Body, mechanism: Mechanism, values: Mapping[str, Value]) -> None:
        self.body = body
        self.where = f"body {body.name}"
        self.coordinates = mechanism.layout.positions
        self.values = values

    def chain(self) -> Chain:
        joints: list[Joint] = []
        way: list[Step] = []
        for item in self._items():
            if isinstance(item, Freely):
                joints.append(replace(item, way=tuple(way)))
                way = []
            elif isinstance(item, tuple):
                transform, moved = item
                prismatic = isinstance(transform, Shift)
                joints.append(Hinge(tuple(way), unit(transform.axis), prismatic, moved))
                way = []
            else:
                way = joined(way, [item])
        return _drawn_in(Chain(tuple(joints), tuple(way)))

    def _items(self) -> Iterator[Step | Freely | tuple[Rotation | Shift, Affine]]:
        transforms = list(self.body.transforms)
        while transforms:
            freely = _freely(transforms, self.coordinates)
            if freely is not None:
                yield freely
                del transforms[:4]
                continue
            transform = transforms.pop(0)
            if isinstance(transform, Quaternion):
                yield self._attitude(transform)
                continue
            moved = self._moved(transform)
            yield steps([transform], self.values, self.where)[0] if moved.coordinate is None else (transform, moved)

    def _attitude(self, transform: Quaternion) -> Step:
        if any(names(component) & set(self.coordinates) for component in transform.components):
            remedy = "URDF has no ball joint: describe it by three revolute joints, or export to another format"
            raise ModelError(f"{self.where} turns about a point by a quaternion", remedy=remedy)
        return steps([transform], self.values, self.where)[0]

    def _moved(self, transform: Rotation | Shift) -> Affine:
        root = transform.angle if isinstance(transform, Rotation) else transform.distance
        if TIME in names(root):
            remedy = "URDF knows no prescribed motion: remove t, or export to another format"
            raise ModelError(f"{self.where} is moved by time itself", remedy=remedy)
        try:
            return affine(root, self.coordinates, self.values)
        except ModelError as error:
            raise located(error, self.where) from None


def _freely(transforms: Sequence[Transform], coordinates: Sequence[str]) -> Freely | None:
    """Sx(x), Sy(y), Sz(z), Q(...) with nothing but names of coordinates."""
    if len(transforms) < 4 or not isinstance(transforms[3], Quaternion):
        return None
    found = []
    for transform, axis in zip(transforms[:3], Axis, strict=True):
        if not isinstance(transform, Shift) or transform.axis is not axis:
            return None
        found.append(transform.distance)
    found += transforms[3].components
    if not all(isinstance(item, Name) and item.text in coordinates for item in found):
        return None
    return Freely((), tuple(item.text for item in found if isinstance(item, Name)))


def _drawn_in(chain: Chain) -> Chain:
    """The fixed way behind the last joint drawn to its front where the motion does not mind.

    Rot(a) S = S Rot(S^-1 a) if S turns only; a slide lets S be anything.
    """
    if not chain.joints or not chain.rest:
        return chain
    *before, last = chain.joints
    if not isinstance(last, Hinge) or not (last.prismatic or all(not isinstance(step, Move) for step in chain.rest)):
        return chain
    turned, _ = pose(chain.rest)
    axis = apply(transposed(turned), last.axis)
    return Chain((*before, replace(last, way=tuple(joined(last.way, chain.rest)), axis=axis)), ())


def with_offset(hinge: Hinge) -> Hinge:
    """The same joint, the offset of its displacement made part of the fixed way."""
    x, y, z = hinge.axis
    amount = float(hinge.moved.offset)
    half = amount / 2
    turn = Attitude((cos(half), x * sin(half), y * sin(half), z * sin(half)))
    moves = [Move(axis, part * amount) for axis, part in zip(Axis, hinge.axis, strict=True)]
    offset = list(moves) if hinge.prismatic else [turn] if amount else []
    moved = Affine(hinge.moved.coordinate, hinge.moved.factor, ZERO)
    return replace(hinge, way=tuple(joined(hinge.way, offset)), moved=moved)
