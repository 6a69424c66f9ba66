"""What joints carry in a given motion under given forces: those of the tree by the principle of release.

No accelerations are solved for, so bodies without mass are welcome. With loops the multipliers of their rows are those
that, beside the given forces, cause the motion: J^T lambda = tau needed - tau given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.model.changes.release import RELEASED, released
from kinegraph.model.constraints.records import Loop, is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.forces.force_equations import with_inputs
from kinegraph.tasks.forces.joint_places import JointPlace, LoadView, joint_places
from kinegraph.tasks.forces.loop_motion import JACOBIAN
from kinegraph.tasks.forces.motion_law import SampledMotion
from kinegraph.tasks.forces.reactions import Reaction, SelfStresses, independent_count, seen_reaction, self_stresses
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

    def reactions(self, joints: Sequence[str], view: LoadView) -> tuple[Reaction, ...]:
        """What parents exert on bodies through their joints, and first frames of loops on second; rows are times."""
        loops = {one.name for one in self.mechanism.loops if isinstance(one, Loop)}
        for name in joints:
            if name not in self.mechanism.body_by_name and name not in loops:
                known = (*self.mechanism.body_by_name, *loops)
                raise TaskError(f"there is no body or loop {name!r}\n  {did_you_mean(name, known)}")
        values = self._values(padded=False)
        places = joint_places(self.mechanism, {name: name for name in joints}, view, values, self.parameters)
        return tuple((self._of_loop if name in loops else self._reaction)(name, view, places[name]) for name in joints)

    def _of_loop(self, loop: str, view: LoadView, place: JointPlace) -> Reaction:
        word = f"transmission:{loop}"
        passed = called_rows(kernel_of(_ties(self.mechanism), word, self.parameters), self._values(padded=False))[word]
        wrench = passed @ self._multipliers[:, :, None]
        return seen_reaction(loop, view, place, wrench[:, :, 0], passed, self._stresses)

    def _reaction(self, body: str, view: LoadView, place: JointPlace) -> Reaction:
        freed = released(self.mechanism, body)
        pose, values = f"pose:{freed.joint}", self._values(padded=True)
        found = called_rows(kernel_of(_tree(freed.mechanism), ["tau", pose], self.parameters), values)
        turn = np.kron(np.eye(2), found[pose][:, :3, :3])
        wrench, passed, stresses = found["tau"][:, -_SIX:, None], None, None
        if is_constrained(self.mechanism):
            rows = called_rows(kernel_of(_ties(freed.mechanism), JACOBIAN, self.parameters), values)[JACOBIAN]
            passed, stresses = np.swapaxes(rows[:, :, -_SIX:], 1, 2), self._stresses
            wrench = wrench - passed @ self._multipliers[:, :, None]
            passed = turn @ passed
        return seen_reaction(body, view, place, (turn @ wrench)[:, :, 0], passed, stresses)

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
    def _stresses(self) -> SelfStresses:
        return self_stresses(self._jacobians, independent_count(self.mechanism, self.parameters))

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
