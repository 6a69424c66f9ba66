"""`model_page`: a mechanism as one HTML file, with a slider for each coordinate.

The page's script keeps loops closed while a coordinate moves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.request import bound_parameters
from kinegraph.errors import AssemblyError
from kinegraph.files import written_to
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import Value, initial_positions, parameter_values
from kinegraph.model.expressions import TIME, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.robot_data import coordinate_limits
from kinegraph.view.page import tables
from kinegraph.view.page.chain import chain_data, closing_program
from kinegraph.view.page.frames import LENGTH, States
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.solution_page import page_of, page_path

# `model_page`.

Limits = Mapping[str, tuple[float, float]]


def model_page(
    mechanism: Mechanism,
    path: str | Path,
    parameters: Mapping[str, Scalar] | None = None,
    source: str | None = None,
) -> Path:
    """Write a page that shows the mechanism at its initial position, with a slider for each coordinate.

    With loops the other coordinates follow the moved one; a slider stops where loops cannot close. A coordinate that
    starts outside its limits is drawn at the nearest limit, with a note. source: the name of the model on the
    command line, a file or a library name.
    """
    path = page_path(path)
    text = slider_text(mechanism, parameters, source)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def slider_text(
    mechanism: Mechanism,
    parameters: Mapping[str, Scalar] | None = None,
    source: str | None = None,
    *,
    hosted: bool = False,
) -> str:
    """The page as text; hosted: for a frame in a notebook."""
    values = parameter_values(mechanism, parameters)
    stated = dict(zip(mechanism.layout.positions, initial_closed_positions(mechanism, parameters, values), strict=True))
    limits = two_sided_limits(mechanism, values)
    start = {name: _within(value, limits.get(name)) for name, value in stated.items()}
    columns = {name: np.array([value]) for name, value in start.items()}
    columns |= {name: np.zeros(1) for name in (TIME, *mechanism.layout.velocities)}
    bound = bound_parameters(mechanism, True, parameters)
    scene = scene_of(mechanism, bound, States(columns))
    sliders = slider_ranges(scene, stated, start, limits)
    closing = closing_program(mechanism, bound, start, mechanism.layout.positions) if sliders else None
    chain = chain_data(mechanism, scene.frames, start)
    data = scene.data() | chain | {"coordinates": sliders, "closing": closing}
    headline = tables.size(mechanism) + _slider_note(mechanism, closing is not None)
    return page_of(scene, data, headline, source, hosted=hosted)


def _slider_note(mechanism: Mechanism, closed: bool) -> str:
    """How sliders treat loops, for the line below the title."""
    if not is_constrained(mechanism):
        return ""
    if closed:
        return " · move one slider; the other coordinates follow to keep loops closed"
    return " · sliders move single coordinates and do not keep loops closed"


def initial_closed_positions(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, values: Mapping[str, Value]
) -> Sequence[float]:
    """The initial positions; assembled if there are loops and they can be closed."""
    if is_constrained(mechanism):
        with suppress(AssemblyError):
            return [float(value) for value in Assembler(mechanism, parameters).assemble().q]
    return initial_positions(mechanism, values)


def _within(value: float, limits: tuple[float, float] | None) -> float:
    return value if limits is None else min(max(value, limits[0]), limits[1])


def slider_ranges(
    scene: Scene, stated: Mapping[str, float], start: Mapping[str, float], limits: Limits
) -> list[dict[str, object]]:
    """Every coordinate: its value, its unit, and its range; by default half a turn, or the size of the mechanism.

    `stated` is the initial value of the model if that is outside the limits.
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


def two_sided_limits(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, tuple[float, float]]:
    """The limits of single coordinates in a robot file, on both sides."""
    stated = coordinate_limits(mechanism, values)
    return {name: ends for name, ends in stated.items() if all(map(math.isfinite, ends))}
