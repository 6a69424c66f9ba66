"""Links as bars, for bodies without shapes: along the shifts between joints, on to pins, centres of mass, outputs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kinegraph.model.mechanism import Body, Mechanism
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page.frames import Frames
from kinegraph.view.page.geometry.packing import Part

#: A path of shifts this much longer than its straight line is drawn with its corners.
_BENT = 1.15


class Skeleton:
    """Links as bars: along the shifts between joints, and on to centres of mass and output points."""

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
        """Bars along the transforms of a body; the part of a path that stands on the fixed frame is not drawn."""
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
        """The bar before a body's joint belongs to the body it stands on."""
        order = [one.name for one in self.mechanism.bodies]
        return order.index(body.base) if body.base is not None else number

    def _outward(self, number: int, body: Body) -> None:
        """Bars to the closing joints, the centre of mass and the output points of a body not reached so far."""
        ends = [self.frames.point(k) for k, p in enumerate(self.mechanism.points) if p.body == body.name]
        own = self.frames.body(body.name)
        size = self.size
        for end in [*self.frames.closings(body.name), self.frames.centre(body), *ends]:
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
    """How far a point is from a bar."""
    start, end = np.array(bar["from"]), np.array(bar["to"])
    along = end - start
    share = np.clip((point - start) @ along / (along @ along), 0.0, 1.0)
    return _apart(start + share * along, point)
