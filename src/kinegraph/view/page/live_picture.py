"""How the picture of a live page follows the parameters: which numbers of its parts are which frames of the mechanism.

Parts are drawn with numbers. A part is drawn a second time with slightly other parameters; a vector that has changed
belongs to the frame that is at the vector's place both times, and the page moves it with that frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from kinegraph.extras import Foreign
from kinegraph.model.evaluate import Value, parameter_values
from kinegraph.model.expressions import PI, TIME, Expression, expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.view.page.frames import FrameOnLink, Frames, States
from kinegraph.view.page.meshes import Part
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.slider_page import initial_closed_positions

#: The relative change of the second drawing, and how near two places are the same, relative to the model.
_CHANGE, _NEAR = 1e-3, 1e-9
#: Vectors of parts, of which a place has a rotation too; and what follows from the motion or the forces.
_VECTORS = ("from", "to", "position", "place")
_FREE = {"reach", "middle", "vectors"}


@dataclass(frozen=True)
class LivePicture:
    """The scene at the start, its parts with references to frames, and the parameters that have to stay as they are.

    A reference is the number of a frame in `Frames.placements`.
    """

    scene: Scene
    parts: list[Part]
    fixed: frozenset[str]

    @classmethod
    def of(cls, mechanism: Mechanism, numbers: Mapping[str, Expression]) -> LivePicture:
        """With as many free parameters as the drawing can follow."""
        values = parameter_values(mechanism, numbers)
        start = initial_closed_positions(mechanism, numbers, values)
        columns = {name: np.array([value]) for name, value in zip(mechanism.layout.positions, start, strict=True)}
        columns |= {name: np.zeros(1) for name in (TIME, *mechanism.layout.velocities, *mechanism.layout.states)}
        drawn = partial(scene_of, mechanism, states=States(columns))
        scene = drawn(bound=numbers)

        def followed(free: Sequence[str]) -> list[Part] | None:
            return _followed(scene, drawn(bound=_changed(numbers, values, free)))

        free = [name for name in numbers if not names(numbers[name]) - {PI}]  # the others follow from these
        parts = followed(free)
        if parts is None:
            free = [name for name in free if followed([name]) is not None]
            parts = followed(free)
        if parts is None:
            return cls(scene, scene.drawing.parts, frozenset(numbers))
        return cls(scene, parts, frozenset(numbers) - {*free})


def _changed(
    numbers: Mapping[str, Expression], values: Mapping[str, Value], free: Sequence[str]
) -> dict[str, Expression]:
    """The parameters, of which some are slightly different, each by another factor."""
    found = dict(numbers)
    for count, name in enumerate(free, start=1):
        value, share = float(values[name]), _CHANGE * (1 + math.sqrt(2) * count % 1)
        found[name] = expression(value * (1 + share) if value else share)
    return found


def _followed(scene: Scene, other: Scene) -> list[Part] | None:
    """The parts with their references; None if a vector changes with the parameters and is at no frame."""
    if len(scene.drawing.parts) != len(other.drawing.parts):
        return None
    finder = _Finder(scene.frames, other.frames, 1 + float(np.abs(scene.motion.positions).max()))
    found = [finder.part(one, same) for one, same in zip(scene.drawing.parts, other.drawing.parts, strict=True)]
    return None if finder.lost else found


class _Finder:
    """Finds the frames at which vectors are in both drawings."""

    def __init__(self, first: Frames, second: Frames, size: float) -> None:
        self.frames: tuple[list[FrameOnLink], list[FrameOnLink]] = (first.numbers(), second.numbers())
        self.near = _NEAR * size
        self.lost = False

    def part(self, one: Part, same: Part) -> Part:
        """A part with its references; `lost` if there is a change without a frame."""
        found = dict(one)
        if one.keys() != same.keys():
            self.lost = True
            return found
        for key in one.keys() - _FREE:
            before: Foreign = one[key]
            after: Foreign = same[key]
            if key == "ends":
                found["ends"] = [self.part(*pair) for pair in zip(before, after, strict=True)]
            elif key in _VECTORS:
                found |= self._reference(one["link"], key, before, after)
            elif before != after:
                self.lost = True
        return found

    def _reference(self, link: object, key: str, before: list[float], after: list[float]) -> dict[str, object]:
        """The number of the frame under the name of the vector, if the vector changes."""
        if np.allclose(before, after, rtol=0, atol=self.near):
            return {}
        for number, (first, second) in enumerate(zip(*self.frames, strict=True)):
            if first.link == link and self._at(first, before) and self._at(second, after):
                return {f"{key}_at": number}
        self.lost = True
        return {}

    def _at(self, frame: FrameOnLink, vector: list[float]) -> bool:
        numbers = np.array(frame.numbers)
        if len(vector) == 7 and numbers[3:] @ vector[3:] < 0:
            numbers[3:] *= -1
        return bool(np.allclose(numbers[: len(vector)], vector, rtol=0, atol=self.near))
