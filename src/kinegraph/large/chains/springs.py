"""Springs and dampers between two points: what they need to know of other chains, and the forces they exert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.errors import KernelError
from kinegraph.large.chains.records import POINT, VELOCITY_OF_POINT
from kinegraph.large.flat.flatten import FlatMechanism
from kinegraph.large.flat.frames import Frame
from kinegraph.large.records import Floats
from kinegraph.model.elements import Anchor, Damper, Linear, Span, Spring
from kinegraph.model.mechanism import Mechanism, Point


@dataclass(frozen=True)
class Springs:
    """By element: stiffness, rest length, damping. Element k pulls at the frames 2k and 2k + 1 (of these alone)."""

    stiffness: Floats
    rest: Floats
    damping: Floats

    def __len__(self) -> int:
        return len(self.stiffness)

    def forces(self, first: Floats, second: Floats) -> Floats:
        """The force on every second point, from the motion of the ends; on the first it acts the other way."""
        apart = second[:, POINT : POINT + 3] - first[:, POINT : POINT + 3]
        rate = (
            second[:, VELOCITY_OF_POINT : VELOCITY_OF_POINT + 3] - first[:, VELOCITY_OF_POINT : VELOCITY_OF_POINT + 3]
        )
        length = np.sqrt(np.sum(apart * apart, axis=1))
        directions = np.divide(apart, length[:, None], out=np.zeros_like(apart), where=length[:, None] > 0)
        size = self.stiffness * (length - self.rest) + self.damping * np.sum(directions * rate, axis=1)
        return np.asarray(-size[:, None] * directions)


def springs_of(mechanism: Mechanism, flat: FlatMechanism) -> tuple[Springs, list[Frame]]:
    """The springs and dampers of a mechanism and the frames they pull at. Raises KernelError for other elements."""
    table: list[tuple[float, float, float]] = []
    frames: list[Frame] = []
    for element in mechanism.elements:
        if (
            not isinstance(element, (Spring, Damper))
            or not isinstance(element.on, Span)
            or not isinstance(element.law, Linear)
        ):
            raise KernelError(
                f"{element.name} is no linear spring or damper between two points, which is all that loops over chains "
                "take\n  compile with loops=False"
            )
        coefficient = flat.numbers.constant(element.law.coefficient)
        rest = flat.numbers.constant(element.rest) if isinstance(element, Spring) else 0.0
        table.append((coefficient, rest, 0.0) if isinstance(element, Spring) else (0.0, 0.0, coefficient))
        frames += [_frame(anchor, mechanism, flat) for anchor in (element.on.first, element.on.second)]
    values = np.array(table, dtype=float).reshape(-1, 3)
    return Springs(values[:, 0].copy(), values[:, 1].copy(), values[:, 2].copy()), frames


def _frame(anchor: Anchor, mechanism: Mechanism, flat: FlatMechanism) -> Frame:
    """The frame of an anchor: a point of a body or of the ground, or an output point by its name."""
    points: dict[str | None, Point] = {point.name: point for point in mechanism.points}
    of, position = anchor.of, anchor.position
    if of in points and of not in flat.frames:
        point = points[of]
        of, position = point.body, point.position
    frame = flat.frames[of]
    return Frame(frame.step, frame.turn, _shifted(frame, [flat.numbers.constant(item) for item in position]))


def _shifted(frame: Frame, by: Sequence[float]) -> tuple[float, ...]:
    m = frame.turn
    return tuple(frame.origin[row] + sum(m[3 * row + k] * by[k] for k in range(3)) for row in range(3))
