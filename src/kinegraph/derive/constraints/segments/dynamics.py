"""The motion of a planar loop from its segments: accelerations, and force and compliance of the closing joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from kinegraph.derive.constraints.multipliers import guarded, pivots_of
from kinegraph.derive.constraints.segments.cuts import Cuts
from kinegraph.derive.constraints.segments.lanes import Lanes
from kinegraph.derive.constraints.segments.ring import Bar, Ring
from kinegraph.derive.constraints.segments.segment import BarMotion, Segment, constants
from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar

#: Both directions of the plane belong to one joint.
_NAMES = ("closing.x", "closing.y")
_GROUPS = ("closing", "closing")


def lengths_of(ring: Ring, length: int) -> list[int]:
    """How many bars the segments have: `length`, and what is left over beside the closing joint, which is a cut."""
    before, after = ring.closing, len(ring.bars) - ring.closing
    return [*_parts(before, length), *_parts(after, length)[::-1]]


def _parts(bars: int, length: int) -> list[int]:
    return [length] * (bars // length) + [bars % length] * (bars % length > 0)


@dataclass(frozen=True)
class SegmentedRing:
    """A ring cut into segments, under generalized forces on all velocities. `lanes` notes what is done side by side."""

    ring: Ring
    lengths: tuple[int, ...]
    forces: Sequence[Scalar]
    names: Sequence[str]
    lanes: Lanes | None = None

    @cached_property
    def cuts_at(self) -> list[int]:
        """How many bars come before each cut."""
        return [0, *accumulate(self.lengths)]

    @cached_property
    def last_cut(self) -> int:
        """The cut that is solved last: the closing joint."""
        return self.cuts_at.index(self.ring.closing)

    @cached_property
    def _moments(self) -> dict[int, Scalar]:
        """By link: what the moments in its joints do on it."""
        own = {bar.link: bar.sign * self.forces[bar.velocity] for bar in self.ring.bars}
        found = dict(own)
        for bar in self.ring.bars:
            if bar.parent:
                found[bar.parent] = found[bar.parent] - own[bar.link]
        return found

    @cached_property
    def segments(self) -> list[Segment]:
        """All segments, reduced to their ends."""
        rows = [self.ring.bars[first:last] for first, last in pairwise(self.cuts_at)]
        still = [constants(bars) for bars in rows]
        motions = [self._bar_motion(bars) for bars in rows]
        if self.lanes is not None:
            still = self.lanes.same_shape(still)
            self.lanes.take([[*one.sine, *one.cosine, *one.rate, *one.moment] for one in motions])
        return [
            Segment(one, moving, [self.names[bar.velocity] for bar in bars])
            for one, moving, bars in zip(still, motions, rows, strict=True)
        ]

    def _bar_motion(self, bars: Sequence[Bar]) -> BarMotion:
        return BarMotion(
            tuple(bar.sine for bar in bars),
            tuple(bar.cosine for bar in bars),
            tuple(bar.rate for bar in bars),
            tuple(self._moments[bar.link] for bar in bars),
        )

    @cached_property
    def cuts(self) -> Cuts:
        """The system of the forces at the cuts: each acts on the segment after it, and against the one before."""
        none = self.ring.gravity[0].number(0)
        ground = [[none, none], [none, none]]
        fixed = [-item for item in self.ring.gravity]
        starts = [*([row[:2] for row in one.compliance[:2]] for one in self.segments), ground]
        ends = [ground, *([row[2:] for row in one.compliance[2:]] for one in self.segments)]
        coupling = [[[-item for item in row[2:]] for row in one.compliance[:2]] for one in self.segments]
        after = [*(one.free[:2] for one in self.segments), fixed]
        before = [fixed, *(one.free[2:] for one in self.segments)]
        diagonal = [_sum(a, b) for a, b in zip(starts, ends, strict=True)]
        right = [[e - s for s, e in zip(a, b, strict=True)] for a, b in zip(after, before, strict=True)]
        return Cuts(diagonal, coupling, right, self.last_cut)

    @cached_property
    def compliance(self) -> Square:
        """J H^-1 J^T of the joint at the last cut, along the directions of the plane."""
        return self.cuts.compliance

    @cached_property
    def factorised(self) -> Factorised:
        """The compliance, ready to be solved with."""
        return Factorised(self.compliance, range(2), ("the closing joint", "the closing joint"))

    @cached_property
    def closing_force(self) -> list[Scalar]:
        """The force at the last cut on what comes after it."""
        return guarded(self.compliance, self.factorised, _GROUPS).solve(self.cuts.remaining)

    def multipliers(self) -> list[Scalar]:
        """The force at the closing joint, in the order of the rows."""
        return [self.closing_force[place] for place in self._in_order]

    def pivots(self) -> list[Scalar]:
        """For every row of the closing joint how independent it is of those before it, as in the multiplier form."""
        compliance = [[self.compliance[i][j] for j in self._in_order] for i in self._in_order]
        return pivots_of(compliance, Factorised(compliance, range(2), _NAMES), _GROUPS)

    @property
    def _in_order(self) -> list[int]:
        """The directions of the plane in the order of the rows."""
        return sorted(range(2), key=lambda place: self.ring.rows[place])

    def accelerations(self) -> list[Scalar]:
        """By velocity."""
        angular = self._angular()
        found = [self.forces[0]] * len(self.forces)
        for bar in self.ring.bars:
            change = angular[bar.link] - angular[bar.parent] if bar.parent else angular[bar.link]
            found[bar.velocity] = bar.sign * change
        return found

    def _angular(self) -> dict[int, Scalar]:
        """The angular acceleration of every link."""
        forces = self.cuts.forces(self.closing_force)
        own = self.lanes.own if self.lanes is not None else (lambda scalar: scalar)
        taken = [[*start, *map(own, end)] for start, end in pairwise(forces)]
        if self.lanes is not None:
            self.lanes.take(taken)
        found: dict[int, Scalar] = {}
        for segment, (sx, sy, ex, ey), first in zip(self.segments, taken, self.cuts_at, strict=False):
            accelerations = segment.accelerations((sx, sy, -ex, -ey))
            bars = self.ring.bars[first : first + segment.size]
            found.update((bar.link, item) for bar, item in zip(bars, accelerations, strict=True))
        return found


def _sum(a: Square, b: Square) -> Square:
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]
