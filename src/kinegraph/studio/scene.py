"""The mechanism as the page draws and moves it, and what it is ready for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.request import bound_parameters
from kinegraph.errors import AssemblyError, KinegraphError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import Value, float_values, initial_positions, parameter_values
from kinegraph.model.expressions import TIME, Expression, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.robot_data import Shape
from kinegraph.notation.mathml import math, name_mathml
from kinegraph.studio.model_text import described, read_model, statements
from kinegraph.studio.requests import Arguments, Channel
from kinegraph.view.page.chain import chain_data, closing_program
from kinegraph.view.page.frames import States
from kinegraph.view.page.scene import scene_of
from kinegraph.view.page.slider_page import slider_ranges, two_sided_limits
from kinegraph.view.page.tables import size

#: A parameter without a value is drawn with this one, and the page says so.
STAND_IN = expression(1)


def scene(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """The scene at the initial position, or the error of the text; in both cases the statements of the text."""
    text = str(arguments["text"])
    outline = {"statements": [asdict(one) for one in statements(text)]}
    try:
        return outline | _drawn(read_model(arguments), arguments)
    except KinegraphError as error:
        return outline | {"error": described(error, text)}


def _drawn(mechanism: Mechanism, arguments: Arguments) -> dict[str, object]:
    given = settings(mechanism, arguments)
    missing = [one.name for one in mechanism.parameters if one.value is None and one.name not in given]
    known: dict[str, Expression] = {**given, **dict.fromkeys(missing, STAND_IN)}
    drawable = within(mechanism, arguments)
    values = parameter_values(drawable, known)
    limits = two_sided_limits(drawable, values)
    positions, gap = _start(drawable, known, values)
    start = dict(zip(drawable.layout.positions, positions, strict=True))
    columns = {name: np.array([value]) for name, value in start.items()}
    columns |= {name: np.zeros(1) for name in (TIME, *drawable.layout.velocities)}
    bound = bound_parameters(drawable, True, known)
    found = scene_of(drawable, bound, States(columns))
    numbers = float_values(values)
    return found.data() | chain_data(drawable, found.frames, start) | {
        "coordinates": slider_ranges(found, start, start, limits),
        "velocities": list(drawable.layout.velocities),
        "units": found.units,
        "closing": closing_program(drawable, bound, start, drawable.layout.positions),
        "parameters": [
            {"name": one.name, "value": None if one.name in missing else numbers[one.name]}
            for one in drawable.parameters
        ],
        "points": [one.name for one in drawable.points],
        "notation": {name: math(name_mathml(name)) for name in drawable.layout.initial},
        "readiness": readiness(mechanism, missing, gap),
        "size": size(mechanism),
        "left_out": [str(one) for one in mechanism.report.findings][:50],
        "missing_shapes": found.drawing.missing,
    }  # fmt: skip


def settings(mechanism: Mechanism, arguments: Arguments) -> dict[str, Expression]:
    """The parameters that the page has changed; those the text no longer has are left out."""
    given = arguments.get("parameters") or {}
    assert isinstance(given, Mapping)
    names = {one.name for one in mechanism.parameters}
    return {name: expression(value, name) for name, value in given.items() if name in names}


def within(mechanism: Mechanism, arguments: Arguments) -> Mechanism:
    """The mechanism without shapes whose files are outside the studio's folder."""
    root = arguments.get("root")
    if not any(isinstance(one, Shape) and one.file for one in mechanism.extras) or root is None:
        return mechanism
    inside = Path(str(root)).resolve()
    allowed = tuple(
        replace(one, file=None)
        if isinstance(one, Shape) and one.file and not Path(one.file).resolve().is_relative_to(inside)
        else one
        for one in mechanism.extras
    )
    return replace(mechanism, extras=allowed)


def _start(
    mechanism: Mechanism, known: Mapping[str, Expression], values: Mapping[str, Value]
) -> tuple[list[float], str]:
    """The initial positions, assembled; why not, if the loops cannot be closed."""
    if is_constrained(mechanism):
        try:
            return [float(value) for value in Assembler(mechanism, known).assemble().q], ""
        except AssemblyError as error:
            return list(map(float, initial_positions(mechanism, values))), str(error)
    return list(map(float, initial_positions(mechanism, values))), ""


def forces(arguments: Arguments, channel: Channel) -> dict[str, object]:
    """The vectors of the scene's arrows at a state of the page, in the order of its parts."""
    mechanism = within(read_model(arguments), arguments)
    given = settings(mechanism, arguments)
    missing = [one.name for one in mechanism.parameters if one.value is None and one.name not in given]
    known: dict[str, Expression] = {**given, **dict.fromkeys(missing, STAND_IN)}
    state = arguments.get("state")
    names = (*mechanism.layout.positions, *mechanism.layout.velocities, TIME)
    found = state if isinstance(state, Mapping) else {}
    columns = {name: np.array([float(found.get(name, 0.0))]) for name in names}
    parts = scene_of(mechanism, bound_parameters(mechanism, True, known), States(columns)).drawing.parts
    return {"vectors": [part["vectors"] for part in parts if "vectors" in part]}


# Readiness: what can be done with the model now, and what blocks what.


def readiness(mechanism: Mechanism, missing: Sequence[str], gap: str) -> list[dict[str, object]]:
    """What can be done with the model: a name, whether it is ready, and what blocks it.

    missing: parameters without a value. gap: why the loops do not close, if they do not.
    """
    no_value = _without_values(missing)
    moves = "" if mechanism.layout.velocities else "there are no coordinates: declare `coordinates q;`"
    blocked = no_value or moves or gap
    drawn = f"drawn with {missing[0]} = 1" if missing else ""
    chips = [("drawing", drawn), ("equations", moves), ("simulation", blocked), ("tasks", blocked)]
    if is_constrained(mechanism):
        chips.insert(1, ("loops", gap))
    return [{"name": name, "ready": not why, "why": why} for name, why in chips]


def _without_values(missing: Sequence[str]) -> str:
    if not missing:
        return ""
    if len(missing) == 1:
        return f"parameter {missing[0]} has no value"
    return f"parameters {', '.join(missing[:5])}{', ...' if len(missing) > 5 else ''} have no value"
