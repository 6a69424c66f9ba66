"""`model_page`: a mechanism to be moved by hand, joint by joint, as one HTML file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinegraph.compiler.request import bound_parameters
from kinegraph.derive.tree.links import JointKind
from kinegraph.graph.angle import linear_form
from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.evaluate import initial_positions, number, parameter_values
from kinegraph.model.expression import TIME, Name, Scalar
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.model.robot.data import JointLimits
from kinegraph.solve.problem.problem import Floats
from kinegraph.view.page import facts
from kinegraph.view.page.frames import Frames
from kinegraph.view.page.scene import Scene, scene_of
from kinegraph.view.page.template import page_of, page_path


def model_page(mechanism: Mechanism, path: str | Path, parameters: Mapping[str, Scalar] | None = None) -> Path:
    """Write a page that shows the mechanism where it starts, with a slider for each coordinate."""
    path = page_path(path)
    at_start = initial_positions(mechanism, parameter_values(mechanism, parameters))
    start = dict(zip(mechanism.layout.positions, at_start, strict=True))
    states = {name: np.array([value]) for name, value in start.items()} | {TIME: np.zeros(1)}
    scene = scene_of(mechanism, bound_parameters(mechanism, True, parameters), states)
    chain = _chain(scene.frames, states)
    data = scene.data() | {"chain": chain, "coordinates": _sliders(scene, chain, start), "names": list(start)}
    path.write_text(page_of(scene, data, facts.freedom(mechanism)), encoding="utf-8")
    return path


def _chain(frames: Frames, states: Mapping[str, Floats]) -> list[dict[str, Any]]:
    """Every link: where its joint sits on which link, and how the coordinates move it."""
    displacements = frames.displacements(states)
    found = []
    for index, link in enumerate(frames.tree.links):
        if link.joint is None:
            continue
        place, amounts = frames.joint_place(index), displacements[str(index)][0]
        entry: dict[str, Any] = {"parent": place.link, "place": place.numbers, "axis": link.joint.axis}
        if link.joint.kind is JointKind.SPHERICAL:
            entry |= {"kind": "fixed", "turn": [float(amounts[k]) for k in (1, 2, 3, 0)]}
        else:
            slopes = _slopes(frames, link.joint.displacement.index)
            moved = sum(slope * float(states[name][0]) for name, slope in slopes.items())
            entry |= {"kind": link.joint.kind.value, "slopes": slopes, "rest": float(amounts[0]) - moved}
        found.append(entry)
    return found


def _slopes(frames: Frames, displacement: int) -> dict[str, float]:
    """The coordinates a displacement is linear in; any other part of it stands still."""
    found = {}
    for monomial, factor in linear_form(frames.nodes, displacement).items():
        node = frames.nodes[monomial[0][0]] if len(monomial) == 1 and monomial[0][1] == 1 else None
        if isinstance(node, Symbol) and node.kind is Kind.COORDINATE:
            found[node.name] = float(factor)
    return found


def _sliders(scene: Scene, chain: list[dict[str, Any]], start: Mapping[str, float]) -> list[dict[str, Any]]:
    """Every coordinate: where it is, and how far it goes; half a turn, or about the size of it all, if not said."""
    limits = _limits(scene)
    size = max(1.0, float(np.abs(scene.motion.positions).max()))
    sliding = {name for entry in chain if entry["kind"] == "prismatic" for name in entry["slopes"]}
    found = []
    for coordinate in scene.mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            name, value = coordinate.name, start[coordinate.name]
            reach = size if name in sliding else math.pi
            lower, upper = limits.get(name, (value - reach, value + reach))
            found.append({"name": name, "value": value, "lower": min(lower, value), "upper": max(upper, value)})
    return found


def _limits(scene: Scene) -> dict[str, tuple[float, float]]:
    """The limits a robot file states for single coordinates."""
    found = {}
    for extra in scene.mechanism.extras:
        if isinstance(extra, JointLimits) and extra.lower is not None and extra.upper is not None:
            displacement = extra.displacement[0]
            if isinstance(displacement, Name):
                found[displacement.text] = number(extra.lower, scene.values), number(extra.upper, scene.values)
    return found
