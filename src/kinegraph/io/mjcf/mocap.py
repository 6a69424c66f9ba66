"""Mocap bodies of MJCF: they stay at their place, or move as a motion of time prescribes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from kinegraph.errors import ModelError
from kinegraph.io.mjcf.body_tree import MjcfBody
from kinegraph.io.robot.findings import Findings
from kinegraph.model.expressions import Scalar, expression
from kinegraph.model.mechanism import ZERO, Axis, Mechanism, Rotation, Shift, Transform
from kinegraph.model.names import did_you_mean
from kinegraph.model.report import FindingKind

_TOPIC = "mocap bodies"


@dataclass
class MocapBodies:
    """The mocap bodies of a model, and the motions that the user prescribes for them, by their names in the file."""

    motions: Mapping[str, Sequence[Scalar]]
    findings: Findings
    _moved: dict[str, tuple[Transform, ...]] = field(default_factory=dict)
    _names: list[str] = field(default_factory=list)

    def enter(self, body: MjcfBody, legal: str, has_joints: bool) -> None:
        """Take note of a mocap body and of its name in the mechanism."""
        element = body.element
        if has_joints or body.parent is None or body.parent.parent is not None:
            remedy = "put it directly inside <worldbody>, without joints"
            raise ModelError("a mocap body is fixed in the world until it is moved", element.place, remedy)
        name = element.get("name") or ""
        self._names.append(name)
        if name in self.motions:
            self._moved[legal] = _transforms(name, self.motions[name])
        else:
            message = f"the mocap body {name} stays at its place; kg.load(..., mocap={{{name!r}: (x, y, z)}}) moves it"
            self.findings.add(FindingKind.ASSUMED, message, element.place, _TOPIC)

    def moved(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with the motions. Raises a ModelError if one is prescribed for another body.

        The relative poses that constraints keep are those of the file, so this is the last step of the reader.
        """
        for name in self.motions:
            if name not in self._names:
                remedy = did_you_mean(name, self._names) or 'write mocap="true" in its <body>'
                raise ModelError(f"{name!r} is not a mocap body", remedy=remedy)
        bodies = (replace(one, transforms=self._moved.get(one.name, one.transforms)) for one in mechanism.bodies)
        return replace(mechanism, bodies=tuple(bodies)) if self._moved else mechanism


def _transforms(name: str, motion: Sequence[Scalar]) -> tuple[Transform, ...]:
    """The shifts and turns from the fixed frame to a mocap body."""
    if isinstance(motion, str) or len(motion) not in (3, 6):
        message = f"the motion of the mocap body {name} is {motion!r}"
        raise ModelError(message, remedy="give x, y, z, or x, y, z and three angles about the axes x, y, z")
    items = [expression(item, f"mocap {name}") for item in motion]
    shifts = (Shift(axis, item) for axis, item in zip(Axis, items, strict=False) if item != ZERO)
    turns = (Rotation(axis, angle) for axis, angle in zip(Axis, items[3:], strict=False) if angle != ZERO)
    return (*shifts, *turns)
