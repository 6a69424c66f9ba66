"""`reactions`: the force and moment in a joint, at a state or along a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.forces.release import released
from kinegraph.tasks.kernels import called, called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats, OperatingPoint, operating_point

_SIX = 6


class Axes(Enum):
    """In whose axes a vector is given."""

    WORLD = "world"
    PARENT = "parent"
    BODY = "body"


@dataclass(frozen=True)
class Reaction(RichDisplay):
    """What the parent exerts on the body through their joint, at the joint's point.

    force in N, moment in N m about the joint's point; rows are states if there are several. The moment about a
    revolute axis (the force along a prismatic one) is what drives the joint.
    """

    body: str
    axes: Axes
    force: Floats
    moment: Floats

    @property
    def worst(self) -> tuple[float, float]:
        """The largest force and moment over all states."""
        sizes = (np.linalg.norm(part, axis=-1) for part in (self.force, self.moment))
        force, moment = (float(np.max(size, initial=0.0)) for size in sizes)
        return force, moment


def reactions(
    mechanism: MechanismSource,
    body: str,
    at: Mapping[str, Scalar] | None = None,
    *,
    axes: Axes = Axes.WORLD,
    parameters: Mapping[str, Scalar] | None = None,
) -> Reaction:
    """The reaction in the joint that carries `body`, as the mechanism moves from the state `at` under its forces."""
    mechanism = mechanism_of(mechanism)
    point = operating_point(mechanism, at, parameters)
    wanted = ["qdd", "multipliers"] if is_constrained(mechanism) else ["qdd"]
    found = called(kernel_of(mechanism, wanted, parameters), point.arguments())
    accelerations, multipliers = found["qdd"], found.get("multipliers")
    return _transmitted(mechanism, body, point, accelerations, multipliers, axes, parameters)


def reactions_of_motion(
    mechanism: Mechanism,
    body: str,
    point: OperatingPoint,
    accelerations: Floats,
    *,
    axes: Axes = Axes.WORLD,
    parameters: Mapping[str, Scalar] | None = None,
) -> Reaction:
    """The reaction for given accelerations. q, v and accelerations may be rows of many states."""
    if is_constrained(mechanism):
        raise TaskError("reactions in loops follow from the forces that act, not from the motion alone: use reactions")
    return _transmitted(mechanism, body, point, accelerations, None, axes, parameters)


def _transmitted(
    mechanism: Mechanism,
    body: str,
    point: OperatingPoint,
    accelerations: Floats,
    multipliers: Floats | None,
    axes: Axes,
    parameters: Mapping[str, Scalar] | None,
) -> Reaction:
    """What the joint transmits: what the bodies behind it need, less what loops give them."""
    freed = released(mechanism, body)
    frame = {Axes.BODY: freed.body, Axes.PARENT: freed.base}.get(axes)
    poses = [f"pose:{name}" for name in dict.fromkeys((freed.joint, frame)) if name is not None]
    tree = replace(freed.mechanism, loops=(), constraints=())
    kernel = kernel_of(tree, ["tau", *poses], parameters)
    values = point.arguments(accelerations)
    padded = {name: _padded(np.atleast_2d(values[name])) for name in ("q", "v", "a")}
    found = called_rows(kernel, values | padded)
    turn = found[f"pose:{freed.joint}"][:, :3, :3]
    if frame is not None:
        turn = np.swapaxes(found[f"pose:{frame}"][:, :3, :3], 1, 2) @ turn
    wrench = found["tau"][:, -_SIX:]
    if multipliers is not None:
        rows = called_rows(kernel_of(freed.mechanism, "constraint_jacobian", parameters), values | {"q": padded["q"]})
        wrench = wrench - (multipliers @ rows["constraint_jacobian"])[:, -_SIX:]
    force, moment = (np.einsum("nij,nj->ni", turn, part) for part in (wrench[:, :3], wrench[:, 3:]))
    single = point.q.ndim == 1 and np.ndim(accelerations) == 1
    return Reaction(body, axes, force[0] if single else force, moment[0] if single else moment)


def _padded(rows: Floats) -> Floats:
    return np.hstack([rows, np.zeros((len(rows), _SIX))])
