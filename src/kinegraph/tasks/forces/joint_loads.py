"""`joint_loads`: what joints carry along a run or a given motion, with the worst of it and when that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.display import RichDisplay
from kinegraph.errors import TaskError
from kinegraph.model.constraints.records import Loop
from kinegraph.solve.results.solution import Solution
from kinegraph.tasks.forces.axes import Axes
from kinegraph.tasks.forces.motion_loads import motion_loads
from kinegraph.tasks.forces.reactions import Reaction, determinate
from kinegraph.tasks.forces.run_states import RunStates, run_states
from kinegraph.tasks.forces.unknown_forces import UnknownForces
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats


@dataclass(frozen=True)
class WorstLoad:
    """The largest force and moment in a joint, and when they occur."""

    joint: str
    force: float
    force_time: float
    moment: float
    moment_time: float


@dataclass(frozen=True)
class JointLoads(RichDisplay):
    """What joints carry at many times; a `Reaction` of rows for each joint."""

    model: str
    times: Floats
    axes: Axes
    reactions: tuple[Reaction, ...]

    def __getitem__(self, joint: str) -> Reaction:
        """One joint."""
        for one in self.reactions:
            if one.body == joint:
                return one
        raise TaskError(f"{joint!r} is none of the joints {', '.join(one.body for one in self.reactions)}")

    def __contains__(self, name: object) -> bool:
        return name in {one.body for one in self.reactions}

    @property
    def worst(self) -> tuple[WorstLoad, ...]:
        """By joint."""
        return tuple(_worst(self.times, one) for one in self.reactions)

    def __str__(self) -> str:
        lines = [f"{self.model}: the largest loads from t = {self.times[0]:.6g} to {self.times[-1]:.6g} s"]
        for one, reaction in zip(self.worst, self.reactions, strict=True):
            force = f"{one.force:.6g} N at t = {one.force_time:.6g}"
            unsure = "" if all(reaction.determinate) else " (one of many: loops have redundant rows)"
            moment = f"{one.moment:.6g} N m at t = {one.moment_time:.6g}"
            lines.append(f"  {one.joint}: force {force}, moment {moment}{unsure}")
        return "\n".join(lines)


def joint_loads(motion: Solution | UnknownForces, joints: Sequence[str] = (), *, axes: Axes = Axes.WORLD) -> JointLoads:
    """The reactions in joints along a run, or along a motion whose forces `inverse_dynamics` found.

    joints: bodies, for the joints that carry them, and of a run loops too; by default all.
    """
    if isinstance(motion, Solution):
        return _loads(run_states(motion), joints, axes)
    if not isinstance(motion, UnknownForces):
        raise TaskError(f"joint_loads takes a run or what inverse_dynamics found, not {motion!r:.60}")
    return _of_forces(motion, joints, axes)


def _loads(states: RunStates, joints: Sequence[str], axes: Axes) -> JointLoads:
    mechanism = states.mechanism
    loops = (one.name for one in mechanism.loops if isinstance(one, Loop))
    names = tuple(joints) or (*(body.name for body in mechanism.bodies), *loops)
    words = {name: f"reaction:{name}@{axes.value}" for name in names}
    found = called_rows(kernel_of(mechanism, list(words.values()), states.parameters), states.arguments)
    rows = []
    for name, word in words.items():
        known = determinate(mechanism, name, axes, states.first, states.parameters)
        rows.append(Reaction(name, axes, found[word][:, :3], found[word][:, 3:], known))
    return JointLoads(mechanism.name, states.times, axes, tuple(rows))


def _worst(times: Floats, one: Reaction) -> WorstLoad:
    force, moment = (np.linalg.norm(part, axis=1) for part in (one.force, one.moment))
    at_force, at_moment = int(np.argmax(force)), int(np.argmax(moment))
    return WorstLoad(
        one.body, float(force[at_force]), float(times[at_force]), float(moment[at_moment]), float(times[at_moment])
    )


def _of_forces(found: UnknownForces, joints: Sequence[str], axes: Axes) -> JointLoads:
    if not np.isfinite(found.values).all():
        raise TaskError("the motion does not determine all unknown forces, so the joints' loads are unknown too")
    loads = motion_loads(found.problem, found.motion, found.values)
    mechanism = found.problem.mechanism
    names = tuple(joints) or tuple(body.name for body in mechanism.bodies)
    return JointLoads(mechanism.name, found.times, axes, tuple(loads.reaction(name, axes) for name in names))
