"""Initial leg coordinates from the pose of the platform, and architecture singularities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kinegraph.errors import ModelError
from kinegraph.model import poses
from kinegraph.model.evaluate import Value, initial_positions, known_parameter_values, number
from kinegraph.model.expressions import expression, names
from kinegraph.model.mechanism import Body, Coordinate, Mechanism, Transform, amounts
from kinegraph.model.platforms.leg_table import check_places
from kinegraph.model.platforms.recognition import Platform, RecognizedLeg, legs_of
from kinegraph.model.poses import Floats, about

#: Joints nearer than this, in meters, coincide.
_COINCIDENT = 1e-9


def fitted(mechanism: Mechanism) -> Mechanism:
    """The mechanism with legs that reach the initial pose of the platform; unchanged if a parameter has no value."""
    legs = legs_of(mechanism)
    values = known_parameter_values(mechanism)
    if not legs or any(parameter.name not in values for parameter in mechanism.parameters):
        return mechanism
    at: dict[str, Value] = {**values, "t": 0.0}
    at |= dict(zip(mechanism.layout.positions, initial_positions(mechanism, values), strict=True))
    found = {name: value for leg in legs for name, value in leg_start(mechanism, leg, at).items()}
    for platform in dict.fromkeys(leg.loop.second.body for leg in legs):
        _check_joint_places([leg for leg in legs if leg.loop.second.body == platform], mechanism, at)
    moved = tuple(_started(one, found) if isinstance(one, Coordinate) else one for one in mechanism.coordinates)
    return replace(mechanism, coordinates=moved)


def _check_joint_places(legs: Sequence[RecognizedLeg], mechanism: Mechanism, at: Mapping[str, Value]) -> None:
    ends = [frames_of_joints(mechanism, leg, at) for leg in legs]
    base, platform = (np.array([end[k][:3, 3] for end in ends]) for k in range(2))
    check_places([leg.name for leg in legs], base, platform)


def frames_of_joints(mechanism: Mechanism, leg: RecognizedLeg, at: Mapping[str, Value]) -> tuple[Floats, Floats]:
    """The frames of a leg's joints on base and platform."""
    base = body_pose(mechanism, leg.first.base, at) @ pose(leg.at_base, at)
    return base, body_pose(mechanism, leg.loop.second.body, at) @ pose(leg.loop.second.transforms, at)


def _started(coordinate: Coordinate, found: Mapping[str, float]) -> Coordinate:
    if coordinate.name not in found:
        return coordinate
    return replace(coordinate, position=expression(round(found[coordinate.name], 12)))


def leg_start(mechanism: Mechanism, leg: RecognizedLeg, at: Mapping[str, Value]) -> dict[str, float]:
    """The coordinates of a leg that reach the platform, all others given; an error if there are none."""
    base, end = frames_of_joints(mechanism, leg, at)
    d = base[:3, :3].T @ (end[:3, 3] - base[:3, 3])
    if np.linalg.norm(d) < _COINCIDENT:
        message = f"the leg {leg.name} has no direction: its joints on base and platform coincide"
        raise ModelError(message, remedy="change the initial position of the platform, or move one of the two joints")
    across = base[:3, :3].T @ end[:3, 1]
    if not leg.type.has_crank:
        _check_axis(leg, d, np.array([1.0, 0.0, 0.0]), "first axis of its joint on the base, x of that frame")
        if leg.twist:
            _check_axis(leg, d, across, "second axis of its joint on the platform, y of that frame")
    return _crank_angles(leg, d, across, at) if leg.type.has_crank else _strut_angles(leg, d, across)


def _check_axis(leg: RecognizedLeg, d: Floats, axis: Floats, what: str) -> None:
    if np.linalg.norm(np.cross(axis, d)) < _COINCIDENT * np.linalg.norm(d):
        message = f"the leg {leg.name} is parallel to the {what}: its universal joint is singular"
        raise ModelError(message, remedy="rotate that frame, e.g. by `Rz(pi/2)`, or move the platform")


def _strut_angles(leg: RecognizedLeg, d: Floats, across: Floats) -> dict[str, float]:
    alpha, beta = math.atan2(-d[1], d[2]), math.atan2(d[0], math.hypot(d[1], d[2]))
    found = {leg.drive: float(np.linalg.norm(d)), leg.alpha: alpha, leg.beta: beta}
    if leg.twist:
        lower = about(0, alpha) @ about(1, beta)
        x = lower.T @ np.cross(across, d)  # perpendicular to the leg and to the axis on the platform
        found[leg.twist] = math.atan2(x[1], x[0])
    return found


def _crank_angles(leg: RecognizedLeg, d: Floats, across: Floats, at: Mapping[str, Value]) -> dict[str, float]:
    crank, rod = (number(one, at) for one in leg.lengths)
    reach = math.hypot(d[0], d[1])
    along = (d @ d) / (2 * crank) + (crank - rod) / (2 * crank) * (crank + rod)  # squares of lengths may overflow
    if not abs(along) <= reach or reach == 0:
        raise ModelError(
            f"the leg {leg.name} cannot reach the platform: its joints are {np.linalg.norm(d):.4g} apart, "
            f"crank and rod are {crank:g} and {rod:g} long",
            remedy="change the initial position of the platform, or the lengths",
        )
    theta = math.atan2(d[1], d[0]) - math.acos(along / reach)
    link = about(2, theta).T @ d - np.array([crank, 0.0, 0.0])
    _check_axis(leg, link, np.array([0.0, 0.0, 1.0]), "first axis of its universal joint, z of the crank")
    alpha, beta = math.atan2(link[1], link[0]), math.atan2(-link[2], math.hypot(link[0], link[1]))
    found = {leg.drive: theta, leg.alpha: alpha, leg.beta: beta}
    if leg.twist:
        turn = about(2, theta) @ about(2, alpha) @ about(1, beta)
        y = turn.T @ np.cross(across, turn[:, 0])
        found[leg.twist] = math.atan2(y[2], y[1])
    return found


def body_pose(mechanism: Mechanism, name: str | None, at: Mapping[str, Value]) -> Floats:
    """The numeric pose of a body, or of the fixed frame, as a 4 x 4 matrix."""
    chain: list[Body] = []
    while name is not None:
        chain.insert(0, mechanism.body(name))
        name = chain[0].base
    return pose((transform for body in chain for transform in body.transforms), at)


def pose(transforms: Iterable[Transform], at: Mapping[str, Value]) -> Floats:
    """The pose that transforms lead to, as a 4 x 4 matrix."""
    steps = tuple(transforms)
    missing = {name for step in steps for amount in amounts(step) for name in names(amount)} - set(at) - {"pi"}
    if missing:
        raise ModelError(f"the initial pose of the platform needs values of {', '.join(sorted(missing))}")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = poses.pose(steps, at)
    return matrix


# Architecture singularities: the drives never hold the platform, because the lines of its legs are always dependent.

#: The number of poses tried near the start, and the size of the random displacements (position and radians).
_POSES = 4
_AWAY = 0.05
#: Ratio of smallest to largest singular value below which lines are dependent.
_DEPENDENT = 1e-11


def never_holds(mechanism: Mechanism, platform: Platform) -> bool:
    """Whether the lines of all legs are dependent in every pose near the start; False if a parameter has no value."""
    values = known_parameter_values(mechanism)
    if any(parameter.name not in values for parameter in mechanism.parameters):
        return False
    start = dict(zip(mechanism.layout.positions, initial_positions(mechanism, values), strict=True))
    random, ratios = np.random.default_rng(0), []
    for _ in range(_POSES):
        moved = {name: start[name] + _AWAY * random.uniform(-1, 1) for name in platform.moving.coordinates}
        lines = _lines(mechanism, platform.legs, {**values, "t": 0.0, **start, **moved})
        if lines is not None:
            found = np.linalg.svd(lines, compute_uv=False)
            ratios.append(found[-1] / found[0])
    return bool(ratios) and max(ratios) < _DEPENDENT


def _lines(mechanism: Mechanism, legs: Sequence[RecognizedLeg], at: Mapping[str, Value]) -> Floats | None:
    """Directions and moments of the lines of the legs; None if a leg does not reach the platform."""
    rows = []
    for leg in legs:
        base, end = frames_of_joints(mechanism, leg, at)
        foot = base[:3, 3]
        if leg.type.has_crank:
            try:
                angle = leg_start(mechanism, leg, at)[leg.drive]
            except ModelError:
                return None
            crank = number(leg.lengths[0], at)
            foot = foot + crank * (base[:3, :3] @ np.array([np.cos(angle), np.sin(angle), 0.0]))
        along = (end[:3, 3] - foot) / np.linalg.norm(end[:3, 3] - foot)
        rows.append([*along, *np.cross(end[:3, 3], along)])
    return np.array(rows)
