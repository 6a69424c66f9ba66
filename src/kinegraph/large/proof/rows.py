"""The rows of closed loops in the fixed frame: how what they miss accelerates, and the forces they exert.

Which rows a joint has is decided where equations are derived (`derive.constraints.joint_rows`); here its two frames
stand at a point of a field, with their first and second derivatives in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from kinegraph.derive.constraints.joint_rows import PointAxes, joint_rows
from kinegraph.derive.constraints.rows import Pair, Row
from kinegraph.derive.tree.links import first_frame, second_frame
from kinegraph.large.proof.fixed_frame import FixedFrame, Jet, LinkPose, Numbers
from kinegraph.model.constraints.records import Loop, row_names
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class RowAtPoint:
    """The second derivative of what a row misses, and by velocity the generalized force of a multiplier of one."""

    change: float
    force: Numbers

    def negative(self) -> RowAtPoint:
        """The same condition with the other sign."""
        return RowAtPoint(-self.change, -self.force)


@dataclass(frozen=True)
class PairAtPoint:
    """The two frames of a closing joint with the links they sit on; A is its second frame, B its first."""

    frame: FixedFrame
    a: LinkPose
    b: LinkPose
    links: tuple[int, int]

    def coincide(self, axis: int) -> RowAtPoint:
        """The points agree along an axis of the fixed frame."""
        along = self.frame.places[0].axes.value[:, axis]
        change = self.a.origin.acceleration[axis] - self.b.origin.acceleration[axis]
        moments = [np.cross(place.origin.value, along) for place in (self.a, self.b)]
        return RowAtPoint(change, self._on_both((along, moments[0]), (-along, -moments[1])))

    def perpendicular(self, first: int, second: int) -> RowAtPoint:
        """An axis of A is perpendicular to an axis of B."""
        u, w = (Jet(*(one[:, axis] for one in place.axes)) for place, axis in ((self.a, first), (self.b, second)))
        change = cast(float, u.acceleration @ w.value + 2 * (u.rate @ w.rate) + u.value @ w.acceleration)
        moment = np.cross(u.value, w.value)
        return RowAtPoint(change, self._on_both((0 * moment, moment), (0 * moment, -moment)))

    def _on_both(self, on_a: tuple[Numbers, Numbers], on_b: tuple[Numbers, Numbers]) -> Numbers:
        """What a force with its moment about the fixed origin does on each of the two links."""
        return cast(
            Numbers, sum(self.frame.projections(k, *one) for k, one in zip(self.links, (on_a, on_b), strict=True))
        )


def rows_at_point(mechanism: Mechanism, frame: FixedFrame, wanted: Sequence[str]) -> Iterator[RowAtPoint]:
    """The rows of these names."""
    for loop in mechanism.loops:
        assert isinstance(loop, Loop), "loops over bodies refuse couplings"
        places = [frame.tree.bodies[name] for name in (second_frame(loop), first_frame(loop))]
        a, b = (frame.placed(one) for one in places)
        pair = PairAtPoint(frame, a, b, (places[0].link, places[1].link))
        found = joint_rows(loop.joint, cast(Pair, pair), None, PointAxes.ANCESTOR)
        yield from (one for name, one in zip(row_names(loop), _rows(found), strict=True) if name in wanted)


def _rows(found: Sequence[Row]) -> Sequence[RowAtPoint]:
    return cast("Sequence[RowAtPoint]", found)
