"""What is drawn of contacts: floors and walls that points meet, and the forces there as arrows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kinegraph.model.constraints.records import Contact
from kinegraph.model.expression import TIME, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import Component, component
from kinegraph.simulate.contacts.columns import force_columns
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page.elements import arrow, plane
from kinegraph.view.page.frames import FrameOnLink, Frames, LinkPoses
from kinegraph.view.page.geometry.packing import Part
from kinegraph.view.page.states import AXES, States


class ContactDrawer:
    """The parts of a scene that stand for contacts of a point and a plane of the fixed frame."""

    def __init__(self, mechanism: Mechanism, frames: Frames, motion: LinkPoses, states: States) -> None:
        self.mechanism, self.frames, self.motion, self.states = mechanism, frames, motion, states
        self.points: Mapping[str, FrameOnLink] = {
            point.name: frames.point(place) for place, point in enumerate(mechanism.points)
        }

    def parts(self) -> Iterator[Part]:
        """Floors, each once, and forces."""
        drawn: set[tuple[int, float, float]] = set()
        for contact in self.mechanism.contacts:
            surface = self._contact_frame(contact)
            if surface is None:
                continue
            place, axis, level, side = surface
            if (axis, level, side) not in drawn:
                drawn.add((axis, level, side))
                yield plane(contact.name, self.motion.at(place)[1], axis, level, side)
            yield from self._force(contact, place, axis, side)

    def _contact_frame(self, contact: Contact) -> tuple[FrameOnLink, int, float, float] | None:
        """The place that meets a plane, the axis across it, its level and its free side; None for other contacts."""
        found = [component(name) for name in names(contact.gap)]
        moving = [one for one in found if one is not None and not one.rate]
        if len(moving) != 1 or TIME in names(contact.gap):
            return None
        one = moving[0]
        name = f"{one.point}.{one.axis}"
        ends = [self.frames.evaluate([contact.gap], {name: np.full(1, value)}) for value in (0.0, 1.0)]
        if ends[0] is None or ends[1] is None:
            return None
        at_zero, slope = float(ends[0][0, 0]), float(ends[1][0, 0] - ends[0][0, 0])
        if abs(slope) != 1.0:
            return None
        return self._place(one), AXES[one.axis], -at_zero / slope, slope

    def _place(self, one: Component) -> FrameOnLink:
        return self.points[one.point] if one.point in self.points else self.frames.body(one.point)

    def _force(self, contact: Contact, place: FrameOnLink, axis: int, side: float) -> Iterator[Part]:
        """The force on the point, where a run has computed it."""
        columns = force_columns(contact)
        if not all(column in self.states.columns for column in columns):
            return
        normal, *sliding = (self.states.columns[column] for column in columns)
        vectors: Floats = np.zeros((len(normal), 3))
        vectors[:, axis] = side * normal
        for law, force in zip(contact.slip, sliding, strict=True):
            along = [component(name) for name in names(law)]
            if len(along) == 1 and along[0] is not None and along[0].rate:
                vectors[:, AXES[along[0].axis]] += force
        yield arrow("force", contact.name, place, 0, vectors)
