"""Of what kind a constraint is: of positions, of positions and time, or of velocities."""

from __future__ import annotations

from enum import Enum

from kinegraph.model.changes.rewrite import expressions
from kinegraph.model.constraints.records import AnyLoop, Constraint
from kinegraph.model.expression import TIME, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component


class ConstraintKind(Enum):
    """The classical kinds."""

    HOLONOMIC = "holonomic"  # positions alone
    RHEONOMIC = "rheonomic"  # positions and time
    NONHOLONOMIC = "nonholonomic"  # linear in the velocities, perhaps with time


def constraint_kind(mechanism: Mechanism, tie: AnyLoop | Constraint) -> ConstraintKind:
    """The kind of a loop or constraint by what is written in it. Where transforms of bodies depend on time, so does
    the equation, whatever its kind."""
    used = frozenset[str]().union(*(names(root) for root in expressions(tie)))
    velocities = set(mechanism.layout.velocities)
    if any(name in velocities or ((found := component(name)) is not None and found.rate) for name in used):
        return ConstraintKind.NONHOLONOMIC
    prescribed = {given.name for given in mechanism.inputs if given.value is not None}
    return ConstraintKind.RHEONOMIC if used & {TIME, *prescribed} else ConstraintKind.HOLONOMIC
