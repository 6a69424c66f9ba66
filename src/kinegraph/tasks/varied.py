"""What is varied along a branch of equilibria: a parameter, a force, an input or the rate of a cyclic coordinate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinegraph.derive.quantities.variables import Variables
from kinegraph.errors import TaskError
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.tasks.operating_point import Floats, OperatingPoint

_GROUPS = (Variables.PARAMETERS, Variables.VELOCITIES, Variables.FORCES, Variables.INPUTS)


@dataclass(frozen=True)
class Varied:
    """One variable: its name, the group it belongs to, and its place there."""

    name: str
    group: Variables
    index: int

    def at(self, point: OperatingPoint, value: float) -> OperatingPoint:
        """The same point with another value of the variable."""
        match self.group:
            case Variables.PARAMETERS:
                return replace(point, given=((self.name, value),))
            case Variables.VELOCITIES:
                return replace(point, v=self._changed(point.v, value))
            case Variables.FORCES:
                return replace(point, tau=self._changed(point.tau, value))
            case _:
                return replace(point, u=self._changed(point.u, value))

    def _changed(self, entries: Floats, value: float) -> Floats:
        changed = entries.copy()
        changed[self.index] = value
        return changed


def varied_of(mechanism: Mechanism, name: str) -> Varied:
    """The variable of this name, or an error that says which there are."""
    for group in _GROUPS:
        names = group.names(mechanism)
        if name in names:
            return Varied(name, group, names.index(name))
    known = [name for group in _GROUPS for name in group.names(mechanism)]
    raise TaskError(f"{mechanism.name} has no parameter, rate, force or input {name!r}\n  {did_you_mean(name, known)}")
