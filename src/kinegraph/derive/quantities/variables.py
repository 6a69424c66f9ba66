"""What quantities are functions of: positions, velocities, states, accelerations, forces, inputs, time, parameters.

The same words name the arguments of kernels and what derivatives are taken by.
"""

from __future__ import annotations

from enum import StrEnum

from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.expressions import TIME, expressions, names
from kinegraph.model.mechanism import Mechanism

#: What derivatives along displacements are taken by: one for every velocity, where `q` means one for every position.
DISPLACEMENTS = "dq"

#: `all:u` means the inputs, whatever is called u in the model; `u` alone is what is called so, if anything is.
ALL = "all:"


class Variables(StrEnum):
    """The groups of variables, in the order in which kernels take them."""

    POSITIONS = "q"
    VELOCITIES = "v"
    #: Those of first-order equations.
    STATES = "z"
    ACCELERATIONS = "a"
    FORCES = "tau"
    INPUTS = "u"
    TIME = "t"
    PARAMETERS = "p"

    @property
    def kind(self) -> Kind:
        """What kind of symbol they are."""
        return _KINDS[self]

    @property
    def meaning(self) -> str:
        """What they are, in words."""
        return _MEANINGS[self]

    def names(self, mechanism: Mechanism) -> tuple[str, ...]:
        """The names of a mechanism's variables of this group, in order."""
        match self:
            case Variables.POSITIONS:
                return mechanism.layout.positions
            case Variables.VELOCITIES:
                return mechanism.layout.velocities
            case Variables.STATES:
                return mechanism.layout.states
            case Variables.ACCELERATIONS:
                return mechanism.layout.accelerations
            case Variables.FORCES:
                return mechanism.layout.forces
            case Variables.INPUTS:
                return mechanism.layout.inputs
            case Variables.TIME:
                return (TIME,)
            case Variables.PARAMETERS:
                return tuple(parameter.name for parameter in mechanism.parameters)

    def symbols(self, mechanism: Mechanism) -> tuple[Symbol, ...]:
        """The symbols of a mechanism's variables of this group, in order."""
        return tuple(Symbol(self.kind, name) for name in self.names(mechanism))


_KINDS = {
    Variables.POSITIONS: Kind.COORDINATE,
    Variables.VELOCITIES: Kind.VELOCITY,
    Variables.STATES: Kind.STATE,
    Variables.ACCELERATIONS: Kind.ACCELERATION,
    Variables.FORCES: Kind.INPUT,
    Variables.INPUTS: Kind.INPUT,
    Variables.TIME: Kind.TIME,
    Variables.PARAMETERS: Kind.PARAMETER,
}

_MEANINGS = {
    Variables.POSITIONS: "positions",
    Variables.VELOCITIES: "velocities",
    Variables.STATES: "first-order states",
    Variables.ACCELERATIONS: "accelerations",
    Variables.FORCES: "generalized forces",
    Variables.INPUTS: "inputs",
    Variables.TIME: "time",
    Variables.PARAMETERS: "parameters",
}


def depends_on_time(mechanism: Mechanism) -> bool:
    """True if a transform, gravity, an input, an element, a state, a loop, a constraint or a contact changes by time
    alone."""
    tied = (mechanism.loops, mechanism.constraints, mechanism.contacts)
    placed = (mechanism.gravity, *(body.transforms for body in mechanism.bodies))
    acting = (mechanism.inputs, mechanism.elements, mechanism.states)
    return any(TIME in names(item) for item in expressions((*placed, *tied, *acting)))


def is_single(by: str, mechanism: Mechanism) -> bool:
    """Is one variable named, and not a group of them? A name of the model comes before a word for a group."""
    return any(by in group.names(mechanism) for group in Variables)


def group_word(by: str, mechanism: Mechanism | None) -> str:
    """The word for the group of variables that is meant, such as q or dq; nothing if it is a single variable."""
    if mechanism is not None and is_single(by, mechanism):
        return ""
    return by.removeprefix(ALL)
