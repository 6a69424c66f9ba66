"""`model_page`: a mechanism as one HTML file, with a slider for each coordinate.

The page's script keeps loops closed while a coordinate moves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import pi
from pathlib import Path

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.quantities.derivation import constraint_graph
from kinegraph.derive.tree.links import JointKind
from kinegraph.errors import AssemblyError
from kinegraph.files import written_to
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Function, Graph, Kind, Node, Output, Polynomial, Symbol
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import Value, initial_positions, parameter_values
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.robot_data import coordinate_limits
from kinegraph.solve.problem import Floats
from kinegraph.view.page import tables
from kinegraph.view.page.frames import LENGTH, Frames, States
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.solution_page import page_of, page_path

# The program with which the page's script closes loops while a coordinate moves: a graph as plain numbers.

#: The maximum number of nodes that a page evaluates in one step; beyond, sliders move single coordinates.
MOST_NODES = 30_000
_MOST_ENTRIES = 40_000  # rows times coordinates: their derivatives are nodes


def closing_program(
    mechanism: Mechanism, bound: Mapping[str, Expression], start: Mapping[str, float], sliders: Sequence[str]
) -> dict[str, object] | None:
    """Residual rows of loops and constraints, and their derivatives by the coordinates of sliders; None if there are no
    rows or too many.

    `nodes` are in order of computation: a number is itself, ["q", k] the value of slider k, ["+", terms] a sum of
    terms [coefficient, node, power, ...], and [name, node, ...] a function. `rows` and `jacobian` are nodes.
    """
    if not is_constrained(mechanism) or not sliders:
        return None
    stated = constraint_graph(mechanism, tuple(sorted(bound.items())))
    rows = [node for node in stated.output("value").nodes if stated.nodes[node] != Polynomial(())]
    if not rows or len(stated) > MOST_NODES or len(rows) * len(sliders) > _MOST_ENTRIES:
        return None
    graph = _with_derivatives(stated, rows, sliders)
    if len(graph) > MOST_NODES:
        return None
    place = {name: k for k, name in enumerate(sliders)}
    fixed = {name: value for name, value in start.items() if name not in place} | {TIME: 0.0}
    width = len(sliders)
    jacobian = graph.output("jacobian").nodes
    return {
        "nodes": [_entry(node, place, fixed) for node in graph.nodes],
        "rows": list(graph.output("rows").nodes),
        "jacobian": [list(jacobian[i : i + width]) for i in range(0, len(jacobian), width)],
    }


def _with_derivatives(graph: Graph, rows: Sequence[int], sliders: Sequence[str]) -> Graph:
    """The rows of a graph and their derivatives by coordinates."""
    builder = GraphBuilder()
    found = moved([Output("rows", (len(rows),), tuple(rows))], transfer(graph, builder))[0]
    columns = []
    for name in sliders:
        along = ForwardDerivative(builder, {builder.symbol(Kind.COORDINATE, name): builder.one})
        columns.append([along(node) for node in found.nodes])
    entries = tuple(node for row in zip(*columns, strict=True) for node in row)
    return builder.graph([found, Output("jacobian", (len(rows), len(sliders)), entries)])


def _entry(node: Node, place: Mapping[str, int], fixed: Mapping[str, float]) -> object:
    if isinstance(node, Polynomial):
        terms = [[float(c), *(number for factor in factors for number in factor)] for c, factors in node.terms]
        return ["+", *terms]
    if isinstance(node, Function):
        return [node.name, *node.arguments]
    assert isinstance(node, Symbol)
    if node.kind is Kind.COORDINATE and node.name in place:
        return ["q", place[node.name]]
    return pi if node.kind is Kind.CONSTANT else fixed.get(node.name, 0.0)


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
    headline = tables.size(mechanism) + _slider_note(mechanism, closing is not None)
    text = page_of(scene, data, headline, source)
    with written_to(path):
        path.write_text(text, encoding="utf-8")
    return path


def _slider_note(mechanism: Mechanism, closed: bool) -> str:
    """How sliders treat loops, for the line below the title."""
    if not is_constrained(mechanism):
        return ""
    if closed:
        return " · move one slider; the other coordinates follow to keep loops closed"
    return " · sliders move single coordinates and do not keep loops closed"


def _start(
    mechanism: Mechanism, parameters: Mapping[str, Scalar] | None, values: Mapping[str, Value]
) -> Sequence[float]:
    """The initial positions; assembled if there are loops and they can be closed."""
    if is_constrained(mechanism):
        with suppress(AssemblyError):
            return [float(value) for value in Assembler(mechanism, parameters).assemble().q]
    return initial_positions(mechanism, values)


def _within(value: float, limits: tuple[float, float] | None) -> float:
    return value if limits is None else min(max(value, limits[0]), limits[1])


def _chain(frames: Frames, columns: Mapping[str, Floats]) -> list[dict[str, object]]:
    """Every link: the frame of its joint, its parent link, and how the coordinates move it."""
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


def _limits(mechanism: Mechanism, values: Mapping[str, Value]) -> dict[str, tuple[float, float]]:
    """The limits of single coordinates in a robot file, on both sides."""
    stated = coordinate_limits(mechanism, values)
    return {name: ends for name, ends in stated.items() if all(map(math.isfinite, ends))}
