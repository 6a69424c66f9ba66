"""Units of coordinates and velocities, as far as their joints tell them."""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.derive.tree.links import JointKind
from kinegraph.model.mechanism import Mechanism, QuaternionCoordinates
from kinegraph.view.page.frames import Frames

ANGLE, LENGTH = "rad", "m"


def units(mechanism: Mechanism, frames: Frames) -> dict[str, str]:
    """The unit of every coordinate and velocity by its name; empty where joints do not tell it."""
    found = _of_coordinates(frames)
    of_positions = {name: found.get(name, "") for name in mechanism.layout.positions}
    of_velocities = {f"{name}'": f"{unit}/s" if unit else "" for name, unit in of_positions.items()}
    turned = {
        name: f"{ANGLE}/s"
        for one in mechanism.coordinates
        if isinstance(one, QuaternionCoordinates)
        for name in one.velocities
    }
    return of_positions | {name: (of_velocities | turned).get(name, "") for name in mechanism.layout.velocities}


def _of_coordinates(frames: Frames) -> dict[str, str]:
    """Angles where a coordinate turns something; lengths where it shifts something by itself and turns nothing."""
    angles: set[str] = set()
    shifting: dict[str, list[float]] = {}
    for index, link in enumerate(frames.tree.links):
        if link.joint is None:
            continue
        for name, factor in frames.slopes(index).items():
            if link.joint.kind is JointKind.REVOLUTE:
                angles.add(name)
            else:
                shifting.setdefault(name, []).append(abs(factor))
    lengths = {name: LENGTH for name, factors in shifting.items() if 1.0 in factors}
    return lengths | dict.fromkeys(angles, ANGLE)


def joined(names: list[str], known: Mapping[str, str]) -> str:
    """The units of some columns, each once: what an axis is labelled with."""
    return ", ".join(dict.fromkeys(known[name] for name in names if known.get(name)))
