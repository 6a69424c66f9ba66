"""The rows of every type of closing joint, from what the type fixes (`model/constraints/joint_types.py`).

Rows have the order and the names of the model: translations along, then turns about the axes of the first frame. Each
is the small displacement of the second frame along or about that axis, so its multiplier is the force or the moment
the first frame exerts on the second.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from kinegraph.derive.constraints.rows import Pair, Row
from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.graph.scalar import Scalar
from kinegraph.model.constraints.joint_types import Rotation, Translation
from kinegraph.model.constraints.records import Joint
from kinegraph.model.mechanism import Axis


class PointAxes(Enum):
    """How points that coincide are compared: all are one condition where they do.

    STATED: as the model states it, along axes of the first frame that turn while points are apart. OWN: along the same
    axes as they are. ANCESTOR: along the axes the ancestor is computed in, which takes the fewest operations.
    """

    STATED = auto()
    OWN = auto()
    ANCESTOR = auto()


def joint_rows(joint: Joint, pair: Pair, length: Scalar | None, axes: PointAxes) -> list[Row]:
    """The rows of a joint; A of the pair is its second frame, B its first."""
    fixes = joint.type.fixes
    translations = _translations(fixes.translation, joint.axes, pair, length, axes)
    return [*translations, *_rotations(fixes.rotation, joint.axes, pair)]


def _translations(
    fixed: Translation, axes: tuple[Axis, ...], pair: Pair, length: Scalar | None, compared: PointAxes
) -> Iterator[Row]:
    match fixed:
        case Translation.ALL:
            for axis in range(3):
                yield _coincide(pair, axis, compared)
        case Translation.ALONG:
            yield pair.level(axes[0].value)
        case Translation.ACROSS:
            for axis in range(3):
                if axis != axes[0].value:
                    yield pair.level(axis)
        case Translation.LENGTH:
            assert length is not None
            yield pair.distance(length)


def _coincide(pair: Pair, axis: int, compared: PointAxes) -> Row:
    match compared:
        case PointAxes.STATED:
            return pair.level(axis)
        case PointAxes.OWN:
            return pair.coincide_along(axis)
        case PointAxes.ANCESTOR:
            return pair.coincide(axis)


def _rotations(fixed: Rotation, axes: tuple[Axis, ...], pair: Pair) -> Iterator[Row]:
    match fixed:
        case Rotation.ALL:
            for axis in range(3):
                following, last = FOLLOWING[axis]
                yield pair.perpendicular(following, last)
        case Rotation.ACROSS:
            yield from _across(axes[0].value, pair)
        case Rotation.NORMAL:
            yield pair.perpendicular(axes[1].value, axes[0].value)


def _across(axis: int, pair: Pair) -> Iterator[Row]:
    """Turning the second frame about the following axis moves its own axis against the last one, and so on."""
    following, last = FOLLOWING[axis]
    rows = {following: pair.perpendicular(axis, last).negative(), last: pair.perpendicular(axis, following)}
    for turned in sorted(rows):
        yield rows[turned]
