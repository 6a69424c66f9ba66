"""`point_motion`: pose, velocity, and acceleration of any point, at a state or along a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from kinegraph.codegen.kernel import Kernel
from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.model.expressions import Scalar, expression
from kinegraph.model.mechanism import Mechanism, Point
from kinegraph.model.names import did_you_mean
from kinegraph.solve.solution import Solution
from kinegraph.tabular import Tabular
from kinegraph.tasks.operating_point import Floats, called, called_rows, kernel_of, operating_point
from kinegraph.tasks.run_states import run_states

#: A body's origin or an output by name, or a body with a point in its frame.
PointLike: TypeAlias = "str | tuple[str, Sequence[Scalar]]"
_OWN = "point of point_motion"


@dataclass(frozen=True)
class PointMotion(Tabular):
    """The motion of a point and its body, in fixed axes; rows are times if there are several.

    pose: 4 x 4 matrix. velocity, acceleration of the point; angular_velocity, angular_acceleration of its body.
    """

    point: str
    pose: Floats
    velocity: Floats
    acceleration: Floats
    angular_velocity: Floats
    angular_acceleration: Floats

    @property
    def place(self) -> Floats:
        """The position of the point."""
        return np.asarray(self.pose[..., :3, 3])

    def __str__(self) -> str:
        if self.pose.ndim == 3:
            speeds, accelerations = (np.linalg.norm(part, axis=1) for part in (self.velocity, self.acceleration))
            return f"{self.point}: up to {speeds.max():.6g} m/s and {accelerations.max():.6g} m/s^2"
        lines = [self.point]
        for name, value in (
            ("position [m]", self.place), ("velocity [m/s]", self.velocity),
            ("acceleration [m/s^2]", self.acceleration), ("angular velocity [rad/s]", self.angular_velocity),
            ("angular acceleration [rad/s^2]", self.angular_acceleration),
        ):  # fmt: skip
            lines.append(f"  {name}: {', '.join(f'{x:.9g}' for x in value)}")
        return "\n".join(lines)

    def _table(self) -> Mapping[str, Floats]:
        parts = {
            "": self.place, "velocity.": self.velocity, "acceleration.": self.acceleration,
            "angular_velocity.": self.angular_velocity, "angular_acceleration.": self.angular_acceleration,
        }  # fmt: skip
        rows = {prefix: np.atleast_2d(part) for prefix, part in parts.items()}
        return {f"{prefix}{axis}": part[:, k] for prefix, part in rows.items() for k, axis in enumerate("xyz")}

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        return {name: value.tolist() for name, value in vars(self).items() if name != "point"}


def point_motion(
    model: MechanismSource | Solution,
    point: PointLike,
    state: Mapping[str, Scalar] | None = None,
    *,
    parameters: Mapping[str, Scalar] | None = None,
) -> PointMotion:
    """Compute pose, velocity and acceleration of a point, at a state or along a run.

    model: a Mechanism, a path, a library name, or a solution.
    point: a body or an output by name, or ("Body", (x, y, z)) for any point of a body.
    state: `q1`, `q1'`, `tau:q1`, an input, `t`, as for `reactions`.
    """
    if isinstance(model, Solution):
        states = run_states(model)
        mechanism, name, word = _with_point(states.mechanism, point)
        forward = called_rows(kernel_of(states.mechanism, "qdd", states.parameters), states.arguments)["qdd"]
        found = called_rows(_kernel(mechanism, word, states.parameters), {**states.arguments, "a": forward})
    else:
        given_mechanism = mechanism_of(model)
        mechanism, name, word = _with_point(given_mechanism, point)
        place = operating_point(given_mechanism, state, parameters)
        forward = called(kernel_of(given_mechanism, "qdd", parameters), place.arguments())["qdd"]
        found = called(_kernel(mechanism, word, parameters), place.arguments(forward))
    velocity, acceleration = found[f"velocity:{word}"], found[f"acceleration:{word}"]
    return PointMotion(
        name, found[f"pose:{word}"], velocity[..., :3], acceleration[..., :3], velocity[..., 3:], acceleration[..., 3:]
    )


def _kernel(mechanism: Mechanism, word: str, parameters: Mapping[str, Scalar] | None) -> Kernel:
    return kernel_of(mechanism, [f"pose:{word}", f"velocity:{word}", f"acceleration:{word}"], parameters)


def _with_point(mechanism: Mechanism, point: PointLike) -> tuple[Mechanism, str, str]:
    """The mechanism with the point, the point's printed name, and its name in the mechanism."""
    known = (*mechanism.body_by_name, *(one.name for one in mechanism.points))
    body = point if isinstance(point, str) else point[0]
    if body not in known or (not isinstance(point, str) and body not in mechanism.body_by_name):
        raise TaskError(f"unknown body or point {body!r}\n  {did_you_mean(str(body), known)}")
    if isinstance(point, str):
        return mechanism, point, point
    try:
        x, y, z = (expression(value) for value in point[1])
    except (TypeError, ValueError):
        raise TaskError(f"a point of {body} needs three numbers, not {point[1]!r:.40}") from None
    point_text = ", ".join(str(value) for value in point[1])
    return replace(mechanism, points=(*mechanism.points, Point(_OWN, body, (x, y, z)))), f"{body}({point_text})", _OWN
