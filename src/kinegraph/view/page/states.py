"""What is known at the times of a page: coordinates, velocities, points, inputs; each a column by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinegraph.model.elements import Element, expressions
from kinegraph.model.expression import TIME, Expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page.frames import Frames, LinkPoses

AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class States:
    """Columns of one length by name, time among them.

    inputs: what acts from outside, by input symbol (`tau:q1` is a force in a joint), as formulas of the columns.
    """

    columns: Mapping[str, Floats]
    inputs: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def times(self) -> Floats:
        """The times of the page."""
        return self.columns[TIME]


def completed(states: States, mechanism: Mechanism, frames: Frames, motion: LinkPoses) -> States:
    """The states with what laws of elements may use besides: points that they mention, and the values of inputs."""
    columns = dict(states.columns)
    for name in _mentioned_points(mechanism, states):
        columns |= _point_columns(name, mechanism, frames, motion, states.times)
    for symbol, formula in states.inputs.items():
        found = frames.evaluate([formula], columns)
        if found is not None:
            columns[symbol] = found[:, 0]
    return States(columns, states.inputs)


def _mentioned_points(mechanism: Mechanism, states: States) -> list[str]:
    known = {point.name for point in mechanism.points} | {body.name for body in mechanism.bodies}
    used = {name for root in _laws(mechanism.elements, states) for name in names(root)}
    return sorted({name.rpartition(".")[0] for name in used} & known)


def _laws(elements: tuple[Element, ...], states: States) -> Iterator[Expression]:
    for element in elements:
        yield from expressions(element)
    yield from states.inputs.values()


def _point_columns(
    name: str, mechanism: Mechanism, frames: Frames, motion: LinkPoses, times: Floats
) -> dict[str, Floats]:
    """`tip.x`, `tip.x'`, ...: where a point is and how fast it moves, in the fixed frame."""
    bodies = [body.name for body in mechanism.bodies]
    points = [point.name for point in mechanism.points]
    place = frames.body(name) if name in bodies else frames.point(points.index(name))
    positions = motion.at(place)[1]
    rates = np.gradient(positions, times, axis=0) if len(times) > 1 else np.zeros_like(positions)
    found: dict[str, Floats] = {}
    for letter, axis in AXES.items():
        found |= {f"{name}.{letter}": positions[:, axis], f"{name}.{letter}'": rates[:, axis]}
    return found
