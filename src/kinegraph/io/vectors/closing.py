"""Rows that close a series of a table of vectors: its last link is held in a frame with axes Q' of its own.

    [[closing]]
    link = 8                                      # the last link of the series
    r = [0, 0, -0.07]                             # from its centre of mass to the point that is held, in its axes
    at = [0.2, 0.27, 0.0302]                      # where that point is held on the ground
    axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]      # Q'_1, Q'_2, Q'_3; these if left out

The link stands as the ground does. The reaction sigma has its components along Q'.
"""

from __future__ import annotations

from dataclasses import dataclass

from kinegraph.io.vectors.zero_pose import Three, cross, quaternion, unit
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Frame, Joint, Loop
from kinegraph.model.expression import Number
from kinegraph.model.mechanism import Axis, Quaternion, Shift, Transform

WORDS = ("link", "r", "at", "axes")


@dataclass(frozen=True)
class Closing:
    """A row: the link, the point of it that is held, where, and the axes Q'."""

    link: int
    r: Three
    at: Three
    axes: tuple[Three, Three, Three]

    def loop(self, number: int) -> Loop:
        """The loop it stands for: six rows, along Q' and about them."""
        turn = _turn(self.axes)
        held, end = (*_shifts(self.at), *turn), (*_shifts(self.r), *turn)
        return Loop(f"closing{number}", Joint(JointType.FIXED), Frame(None, held), Frame(f"L{self.link}", end))

    @property
    def right_angled(self) -> bool:
        """Whether Q' are right-handed axes at right angles, up to their lengths."""
        x, y, z = map(unit, self.axes)
        return all(abs(float(a) - float(b)) < 1e-9 for a, b in zip(cross(x, y), z, strict=True)) and _across(x, y)


def _across(a: Three, b: Three) -> bool:
    return abs(float(sum(p * q for p, q in zip(a, b, strict=True)))) < 1e-9


def _shifts(vector: Three) -> tuple[Transform, ...]:
    return tuple(Shift(axis, Number(amount)) for axis, amount in zip(Axis, vector, strict=True) if amount)


def _turn(axes: tuple[Three, Three, Three]) -> tuple[Transform, ...]:
    """From the axes of the ground to Q', which are the columns of the matrix."""
    units = [unit(axis) for axis in axes]
    e0, e1, e2, e3 = quaternion([[units[j][i] for j in range(3)] for i in range(3)])
    if not (e1 or e2 or e3):
        return ()
    return (Quaternion((Number(e0), Number(e1), Number(e2), Number(e3))),)
