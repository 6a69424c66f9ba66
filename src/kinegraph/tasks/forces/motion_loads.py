"""What joints of the tree carry in a given motion under given forces, by the principle of release.

No accelerations are solved for, so bodies without mass are welcome. With loops the multipliers of their rows are those
that, beside the given forces, cause the motion: J^T lambda = tau needed - tau given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import null_space

from kinegraph.errors import TaskError
from kinegraph.model.changes.release import RELEASED, released
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.forces.axes import Axes
from kinegraph.tasks.forces.force_equations import with_inputs
from kinegraph.tasks.forces.loop_motion import JACOBIAN
from kinegraph.tasks.forces.motion_law import SampledMotion
from kinegraph.tasks.forces.reactions import Reaction
from kinegraph.tasks.forces.unknown_forces import ForceProblem
from kinegraph.tasks.kernels import called_rows, kernel_of
from kinegraph.tasks.operating_point import Floats

_SIX = len(RELEASED)
_SMALL = 1e-9


@dataclass(frozen=True, eq=False)
class MotionLoads:
    """A motion of a mechanism and the forces on coordinates, tau, and inputs, u, that act in it."""

    mechanism: Mechanism
    parameters: Mapping[str, Scalar] | None
    motion: SampledMotion
    tau: Floats
    u: Floats

    def reaction(self, body: str, axes: Axes) -> Reaction:
        """What the parent exerts on a body through its joint; rows are times."""
        if body not in self.mechanism.body_by_name:
            raise TaskError(f"there is no body {body!r}\n  {did_you_mean(body, self.mechanism.body_by_name)}")
        freed = released(self.mechanism, body)
        frame = {Axes.BODY: freed.body, Axes.PARENT: freed.base}.get(axes)
        poses = [f"pose:{name}" for name in dict.fromkeys((freed.joint, frame)) if name is not None]
        values = self._values(padded=True)
        found = called_rows(kernel_of(_tree(freed.mechanism), ["tau", *poses], self.parameters), values)
        turn = found[f"pose:{freed.joint}"][:, :3, :3]
        if frame is not None:
            turn = np.swapaxes(found[f"pose:{frame}"][:, :3, :3], 1, 2) @ turn
        wrench, sure = found["tau"][:, -_SIX:], (True,) * _SIX
        if is_constrained(self.mechanism):
            rows = called_rows(kernel_of(_ties(freed.mechanism), JACOBIAN, self.parameters), values)[JACOBIAN]
            passed = rows[:, :, -_SIX:]
            wrench = wrench - np.einsum("kri,kr->ki", passed, self._multipliers)
            sure = _determinate(self._jacobians[0], passed[0], turn[0])
        force, moment = (np.einsum("nij,nj->ni", turn, part) for part in (wrench[:, :3], wrench[:, 3:]))
        return Reaction(body, axes, force, moment, sure)

    def _values(self, padded: bool) -> dict[str, Floats | float]:
        motion = self.motion
        parts = {"q": motion.q, "v": motion.v, "a": motion.a}
        if padded:
            parts = {name: np.hstack([part, np.zeros((len(part), _SIX))]) for name, part in parts.items()}
        return {**parts, "u": self.u, "t": motion.times}

    @cached_property
    def _jacobians(self) -> Floats:
        return called_rows(kernel_of(_ties(self.mechanism), JACOBIAN, self.parameters), self._values(False))[JACOBIAN]

    @cached_property
    def _multipliers(self) -> Floats:
        needed = called_rows(kernel_of(_tree(self.mechanism), "tau", self.parameters), self._values(False))["tau"]
        pairs = zip(self._jacobians, needed - self.tau, strict=True)
        return np.array([np.linalg.lstsq(jacobian.T, force, rcond=_SMALL)[0] for jacobian, force in pairs])


def motion_loads(problem: ForceProblem, motion: SampledMotion, values: Floats) -> MotionLoads:
    """A motion with the unknown forces that were found for it; rows are times."""
    mechanism = with_inputs(problem.mechanism, problem.names)
    acting = dict(zip(problem.names, values.T, strict=True))
    nothing = np.zeros(len(motion.times))
    tau, u = (
        np.reshape([acting.get(name, nothing) for name in names], (-1, len(motion.times))).T
        for names in (mechanism.layout.forces, mechanism.layout.inputs)
    )
    return MotionLoads(mechanism, problem.parameters, motion, tau, u)


def _tree(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, loops=(), constraints=())


def _ties(mechanism: Mechanism) -> Mechanism:
    return replace(mechanism, elements=())


def _determinate(jacobian: Floats, passed: Floats, turn: Floats) -> tuple[bool, ...]:
    """Which components no self-stress of the loops changes."""
    stresses = null_space(jacobian.T, rcond=_SMALL)
    transmitted = passed.T @ stresses
    changed = np.vstack([turn @ transmitted[:3], turn @ transmitted[3:]])
    size = max(1.0, float(np.max(np.abs(passed), initial=0.0)))
    return tuple((np.max(np.abs(changed), axis=1, initial=0.0) < _SMALL * size).tolist())
