"""Keyframes of MJCF as named states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from kinegraph.errors import ModelError
from kinegraph.io.robot.findings import Findings
from kinegraph.io.robot.xml import Element, numbers
from kinegraph.model.expressions import Expression, Number
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.report import FindingKind
from kinegraph.model.robot_data import ActuatorData, Keyframe


def keyframes(root: Element, mechanism: Mechanism, findings: Findings) -> Iterator[Keyframe]:
    """The keyframes with positions and velocities, and activations and inputs if all actuators are driven.

    `qpos` and `qvel` of MuJoCo have the order of our coordinates.
    """
    layout = mechanism.layout
    actuators = [one for one in mechanism.extras if isinstance(one, ActuatorData)]
    elements = [one for group in root.all("keyframe") for one in group.all("key")]
    for place, element in enumerate(elements):
        name = element.get("name") or f"key{place}"
        state = (*_named(element, "qpos", layout.positions), *_named(element, "qvel", layout.velocities))
        given = {word: [item.value for item in numbers(element, word) or ()] for word in ("ctrl", "act")}
        complete = {
            "ctrl": sum(len(one.inputs) for one in actuators), "act": sum(bool(one.state) for one in actuators)
        }  # fmt: skip
        for word in [word for word, values in given.items() if values and len(values) != complete[word]]:
            what = f"{word} of <key>, because not all actuators are driven"
            findings.count(FindingKind.LEFT_OUT, "keyframes", what, element.place, name)
            given[word] = []
        inputs = _named_values((one for actuator in actuators for one in actuator.inputs), given["ctrl"])
        activations = _named_values((one.state for one in actuators if one.state), given["act"])
        yield Keyframe(name, (*state, *activations), tuple(inputs))


def _named_values(names: Iterable[str], values: Sequence[Fraction]) -> Iterator[tuple[str, Expression]]:
    """The given values with their names; nothing if there are none."""
    return ((name, Number(value)) for name, value in zip(names, values, strict=False))


def _named(element: Element, word: str, names: tuple[str, ...]) -> Iterator[tuple[str, Expression]]:
    given = numbers(element, word) or ()
    if given and len(given) != len(names):
        message = f"{word} of <key> has {len(given)} numbers, the model has {len(names)}"
        raise ModelError(message, element.place, "write one for each coordinate")
    return ((one, Number(item.value)) for one, item in zip(names, given, strict=False))
