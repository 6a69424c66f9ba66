"""`model_page`: a mechanism to be moved by hand, joint by joint, as one HTML file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.tree.links import JointKind
from kinegraph.errors import AssemblyError
from kinegraph.files import written_to
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.evaluate import Value, initial_positions, parameter_values
from kinegraph.model.expression import TIME, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.robot.limits import coordinate_limits
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page import facts
from kinegraph.view.page.closing import closing_program
from kinegraph.view.page.frames import Frames
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.states import States
from kinegraph.view.page.template import page_of, page_path
from kinegraph.view.page.units import LENGTH

Limits = Mapping[str, tuple[float, float]]


def model_page(
    mechanism: Mechanism,
    path: str | Path,
    parameters: Mapping[str, Scalar] | None = None,
    source: str | None = None,
) -> Path:
    """Write a page that shows the mechanism where it starts, with a slider for each coordinate.

    With loops the other coordinates follow the one that is moved; a slider stops where they cannot close.
    A coordinate that starts outside its limits is drawn at the nearest limit, and the page says so.
    source: what the command line calls the model, a file or a name of the library.
    """
    path = page_path(path)
    values = parameter_values(mechanism, parameters)
    stated = dict(zip(mechanism.layout.positions, _start(mechanism, parameters, values), strict=True))
    limits = _limits(mechanism, values)
    start = {name: _within(value, limits.get(name)) for name, value in stated.items()}
    columns = {name: np.array([value]) for name, value in start.items()}
    columns |= {name: np.zeros(1) for name in (TIME, *mechanism.layout.velocities)}
    bound = bound_parameters(mechanism, True, parameters)
    scene = scene_of(mechanism, bound, States(columns))
    sliders = _sliders(scene, stated, start, limits)
    closing = closing_program(mechanism, bound, start, [str(one["name"]) for one in sliders])
    data = scene.data() | {
        "chain": _chain(scene.frames, columns),
        "coordinates": sliders,
        "names": list(start),
        "closing": closing,
    }
    headline = facts.size(mechanism) + _ties(mechanism, closing is not None)
    text = page_of(scene, data, headline, source)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def _ties(mechanism: Mechanism, closed: bool) -> str:
    """What sliders do with loops, in the line below the title."""
    if not is_constrained(mechanism):
        return ""
    if closed:
        return " · one slider moves, the other coordinates follow so that loops stay closed"
    return " · sliders move single coordinates and do not keep loops closed"


def _start(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, values: Mapping[str, Value]
) -> Sequence[float]:
    """The initial positions; assembled where there are loops that can be."""
    if is_constrained(mechanism):
        with suppress(AssemblyError):
            return [float(value) for value in Assembler(mechanism, parameters).assemble().q]
    return initial_positions(mechanism, values)


def _within(value: float, limits: tuple[float, float] | None) -> float:
    return value if limits is None else min(max(value, limits[0]), limits[1])


def _chain(frames: Frames, columns: Mapping[str, Floats]) -> list[dict[str, object]]:
    """Every link: where its joint sits on which link, and how the coordinates move it."""
    displacements = frames.displacements(columns)
    found = []
    for index, link in enumerate(frames.tree.links):
        if link.joint is None:
            continue
        place, amounts = frames.joint_place(index), displacements[str(index)][0]
        entry: dict[str, object] = {"parent": place.link, "place": place.numbers, "axis": link.joint.axis}
        if link.joint.kind is JointKind.SPHERICAL:
            entry |= {"kind": "fixed", "turn": [float(amounts[k]) for k in (1, 2, 3, 0)]}
        else:
            slopes = frames.slopes(index)
            moved = sum(slope * float(columns[name][0]) for name, slope in slopes.items())
            entry |= {"kind": link.joint.kind.value, "slopes": slopes, "rest": float(amounts[0]) - moved}
        found.append(entry)
    return found


def _sliders(
    scene: Scene, stated: Mapping[str, float], start: Mapping[str, float], limits: Limits
) -> list[dict[str, object]]:
    """Every coordinate: where it is, its unit, and how far it goes; half a turn, or the size of it all, if not said.

    `stated` is where the model starts it if that is outside its limits.
    """
    size = max(1.0, float(np.abs(scene.motion.positions).max()))
    found = []
    for coordinate in scene.mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            name, value = coordinate.name, start[coordinate.name]
            reach = size if scene.units[name] == LENGTH else math.pi
            lower, upper = limits.get(name, (value - reach, value + reach))
            slider: dict[str, object] = {"name": name, "value": value, "lower": lower, "upper": upper}
            slider |= {"unit": scene.units[name], "limited": name in limits}
            found.append(slider | ({"stated": stated[name]} if stated[name] != value else {}))
    return found


def _limits(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, tuple[float, float]]:
    """The limits a robot file states for single coordinates, on both sides."""
    stated = coordinate_limits(mechanism, values)
    return {name: ends for name, ends in stated.items() if all(map(math.isfinite, ends))}
