"""Where a path begins: the position on it that is nearest to the one a user describes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.assembly.places import angle_names
from kinegraph.errors import AssemblyError, TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.kernels import called, kernel_of
from kinegraph.tasks.kinematics.inverse_kinematics import inverse_kinematics
from kinegraph.tasks.kinematics.path import leaders
from kinegraph.tasks.operating_point import Floats

_CLOSE = 1e-6


def begin(
    underlying: Mechanism,
    mechanism: Mechanism,
    start: Mapping[str, Scalar],
    time: float,
    parameters: Mapping[str, Scalar] | None,
) -> Floats:
    """A position at the beginning of the path; `mechanism` is the one that is led, `underlying` the one as it was."""
    assembler = Assembler(mechanism, parameters)
    try:
        q, v = assembler.start(start)
    except AssemblyError as error:
        raise TaskError(str(error)) from error
    followed = leaders(mechanism)
    if followed and not is_constrained(underlying):
        q = _nearest(underlying, mechanism, q, time, parameters)
    try:
        found = assembler.assembled(q, v, (), time).q
    except AssemblyError as error:
        raise TaskError(f"the path cannot be reached at its beginning, t = {time:.6g}: {error}") from error
    for body, leader in followed.items():
        apart = _poses(mechanism, found, time, (body, leader), parameters)
        if np.max(np.abs(apart[body] - apart[leader])) > _CLOSE:
            raise TaskError(f"{body} did not find its pose at t = {time:.6g}: give start=, a position nearer to it")
    return found


def _nearest(
    underlying: Mechanism, mechanism: Mechanism, q: Floats, time: float, parameters: Mapping[str, Scalar] | None
) -> Floats:
    """Of all positions with the pose of the first body that is led, the one nearest to q."""
    body, leader = next(iter(leaders(mechanism).items()))
    wanted = _poses(mechanism, q, time, (leader,), parameters)[leader]
    found = inverse_kinematics(underlying, body, wanted, parameters=parameters, limits=False)
    if not found.solutions:
        raise TaskError(
            f"the path cannot be reached at its beginning, t = {time:.6g}: {body} misses its pose by "
            f"{found.nearest.error:.3g} at least"
        )
    angles = angle_names(underlying)
    turns = np.array([name in angles for name in underlying.layout.positions])
    apart = np.array([one.q - q for one in found.solutions])
    apart[:, turns] = (apart[:, turns] + np.pi) % (2 * np.pi) - np.pi
    return np.asarray(q + apart[int(np.argmin(np.linalg.norm(apart, axis=1)))])


def _poses(
    mechanism: Mechanism, q: Floats, time: float, bodies: tuple[str, ...], parameters: Mapping[str, Scalar] | None
) -> dict[str, Floats]:
    found = called(kernel_of(mechanism, [f"pose:{body}" for body in bodies], parameters), {"q": q, "t": time})
    return {body: found[f"pose:{body}"] for body in bodies}
