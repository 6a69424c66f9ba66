"""Names for expressions: `define gamma = q1 + q2;` and `quasivelocity w = q1' + cos(q1)*q2';`.

In a mechanism that was read or built, each use of such a name contains its definition (`Defined`), so expressions can
be read without a lookup.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from kinegraph.errors import ModelError
from kinegraph.model import tables
from kinegraph.model.expressions import Defined, Expression, Name, as_written, renamed, rewritten
from kinegraph.model.report import Places

if TYPE_CHECKING:
    from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class Definition:
    """`define name = value;`: a name for an expression of coordinates, velocities, points, inputs and time."""

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class QuasiVelocity:
    """`quasivelocity name = value;`: a name for a linear form of velocities.

    Its integral over time, in general not a function of the positions, is an output of every simulation.
    """

    name: str
    value: Expression

    @property
    def integral(self) -> str:
        """The name of its integral."""
        return f"{self.name}.integral"


AnyDefinition = Definition | QuasiVelocity


def resolved(mechanism: Mechanism, places: Places | None = None) -> Mechanism:
    """The mechanism in which each defined name contains its definition, and each use of a table its points."""
    where = places or Places()
    mechanism = _with_tables(mechanism, where)
    known: dict[str, AnyDefinition] = {one.name: one for one in named_expressions(mechanism)}
    if not known:
        return mechanism
    meaning: dict[str, Expression] = {}

    def change(name: Name | Defined) -> Expression:
        text = name.text if isinstance(name, Name) else name.name
        return where.renew(name, Defined(text, (meaning[text],))) if text in meaning else name

    for name in _in_order(known, where):
        meaning[name] = renamed(known[name].value, change)
    return rewritten(mechanism, change, where)


def _with_tables(mechanism: Mechanism, places: Places) -> Mechanism:
    """The mechanism in which calls of a table's name are lookups."""
    if not mechanism.tables:
        return mechanism
    return rewritten(mechanism, lambda name: name, places, tables.lookups(mechanism.tables))


def unresolved(mechanism: Mechanism) -> Mechanism:
    """The mechanism in which defined names are plain names, as written."""
    if not named_expressions(mechanism):
        return mechanism
    return rewritten(mechanism, lambda name: Name(name.name) if isinstance(name, Defined) else name)


def named_expressions(mechanism: Mechanism) -> tuple[AnyDefinition, ...]:
    """All definitions and quasi-velocities."""
    return (*mechanism.definitions, *mechanism.quasivelocities)


def _in_order(known: Mapping[str, AnyDefinition], places: Places) -> list[str]:
    """All names, each after those that its definition uses."""
    used = {name: _mentioned(one.value) & known.keys() for name, one in known.items()}
    try:
        return list(TopologicalSorter(used).static_order())
    except CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        remedy = "define one of them without the others"
        place = places.of(known[error.args[1][0]])
        raise ModelError(f"the definitions form a cycle: {circle}", place, remedy) from None


def _mentioned(root: Expression) -> set[str]:
    written = (part for part in as_written(root))
    return {part.text if isinstance(part, Name) else part.name for part in written if isinstance(part, Name | Defined)}


def replaced(mechanism: Mechanism, change: Mapping[str, Expression]) -> Mechanism:
    """The mechanism with names replaced by expressions, also inside definitions."""
    as_named = unresolved(mechanism)
    return resolved(rewritten(as_named, lambda name: change.get(name.text, name) if isinstance(name, Name) else name))
