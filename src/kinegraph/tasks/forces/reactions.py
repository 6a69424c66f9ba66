"""`reactions`: the force and moment in a joint, at a state or along a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from kinegraph.compiler.load import MechanismSource, mechanism_of
from kinegraph.display import RichDisplay
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.tasks.forces.axes import Axes
from kinegraph.tasks.forces.loop_motion import JACOBIAN
from kinegraph.tasks.kernels import called, called_at, kernel_of
from kinegraph.tasks.operating_point import Floats, OperatingPoint, operating_point

#: Rows whose singular values are below this part of the largest say nothing new.
_RANK = 1e-9


@dataclass(frozen=True)
class Reaction(RichDisplay):
    """What the parent exerts on the body through their joint, at the joint's point; a loop's first frame on its second.

    force in N, moment in N m about the joint's point; rows are states if there are several. The moment about a
    revolute axis (the force along a prismatic one) is what drives the joint. determinate: of each component of force
    and moment, whether the motion determines it; where rows of loops are redundant, it may not, and what stands there
    is one of many possible values.
    """

    body: str
    axes: Axes
    force: Floats
    moment: Floats
    determinate: tuple[bool, ...] = (True,) * 6

    @property
    def worst(self) -> tuple[float, float]:
        """The largest force and moment over all states."""
        sizes = (np.linalg.norm(part, axis=-1) for part in (self.force, self.moment))
        force, moment = (float(np.max(size, initial=0.0)) for size in sizes)
        return force, moment


def reactions(
    mechanism: MechanismSource,
    joint: str,
    at: Mapping[str, Scalar] | None = None,
    *,
    axes: Axes = Axes.WORLD,
    parameters: Mapping[str, Scalar] | None = None,
) -> Reaction:
    """The reaction in a joint, as the mechanism moves from the state `at` under its forces.

    joint: the body it carries, a coordinate that moves it alone, or a loop.
    """
    mechanism = mechanism_of(mechanism)
    point = operating_point(mechanism, at, parameters)
    word = f"reaction:{joint}@{axes.value}"
    found = called_at(mechanism, word, point, parameters)[word]
    return Reaction(joint, axes, found[:3], found[3:], determinate(mechanism, joint, axes, point, parameters))


def determinate(
    mechanism: Mechanism,
    joint: str,
    axes: Axes,
    point: OperatingPoint,
    parameters: Mapping[str, Scalar] | None = None,
) -> tuple[bool, ...]:
    """Which components of a reaction the motion determines: those that no self-stress of the loops changes."""
    if not is_constrained(mechanism):
        return (True,) * 6
    word = f"transmission:{joint}@{axes.value}"
    found = called(kernel_of(mechanism, [word, JACOBIAN], parameters), point.arguments())
    stresses = null_space(found[JACOBIAN].T, rcond=_RANK)
    changed = np.max(np.abs(found[word] @ stresses), axis=1, initial=0.0)
    return tuple((changed < _RANK * max(1.0, float(np.max(np.abs(found[word]), initial=0.0)))).tolist())
