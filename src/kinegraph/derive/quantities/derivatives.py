"""Derivatives of quantities: by recursions of their own where the table has them, else of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegraph.derive.quantities.definitions import WRITTEN_DERIVATIVES
from kinegraph.derive.quantities.quantity import Quantity, dependencies
from kinegraph.derive.quantities.variables import DISPLACEMENTS, Variables, group_word
from kinegraph.derive.tree.expressions import output
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Scalar
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Kind, Output
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean

if TYPE_CHECKING:
    from kinegraph.derive.quantities.derivation import Derivation


def derivative(derivation: Derivation, quantity: Quantity) -> Output:
    """The output of a derivative; its last index is that of the variables, unless it is a single one."""
    by = quantity.by[-1]
    group = group_of(quantity, by, derivation.mechanism)
    if (written := _written(derivation, quantity)) is not None:
        return written
    inner = derivation.output(quantity.inner)
    word = group_word(by, derivation.mechanism)
    if word == DISPLACEMENTS:
        columns = [[along(root) for root in inner.nodes] for along in derivation.displacement_derivatives]
        entries = tuple(column[row] for row in range(len(inner.nodes)) for column in columns)
        return Output(str(quantity), (*inner.shape, derivation.size), entries)
    names = group.names(derivation.mechanism) if word else _with_its_quaternion(by, derivation.mechanism)
    symbols = [derivation.builder.symbol(group.kind, name) for name in names]
    rows = jacobian(derivation.builder, inner.nodes, symbols)
    if group is Variables.POSITIONS:
        rows = [_along_unit_quaternions(derivation, names, row) for row in rows]
    if not word:
        return Output(str(quantity), inner.shape, tuple(row[names.index(by)] for row in rows))
    return Output(str(quantity), (*inner.shape, len(symbols)), tuple(entry for row in rows for entry in row))


def _with_its_quaternion(name: str, mechanism: Mechanism) -> tuple[str, ...]:
    """The names whose derivatives that by one variable needs: its own, and those of its quaternion."""
    return next((four for four in _quaternions(mechanism) if name in four), (name,))


def _quaternions(mechanism: Mechanism) -> list[tuple[str, ...]]:
    """The names of the components of every quaternion."""
    layout = mechanism.layout
    return [layout.positions[first : first + 4] for first in layout.quaternions]


def _along_unit_quaternions(derivation: Derivation, names: tuple[str, ...], row: list[int]) -> list[int]:
    """Derivatives without what would change the length of a quaternion.

    Equations hold for quaternions of unit length and make use of it: what they say of others depends on how they were
    derived, and so do derivatives by components that are taken as free. Along unit quaternions there is one answer.
    """
    entries = [Scalar(derivation.builder, entry) for entry in row]
    for four in _quaternions(derivation.mechanism):
        if four[0] not in names:
            continue
        first = names.index(four[0])
        components = [entries[0].symbol(Kind.COORDINATE, name) for name in four]
        lengthening = sum((one * entries[first + k] for k, one in enumerate(components)), entries[0].number(0))
        entries[first : first + 4] = [entries[first + k] - one * lengthening for k, one in enumerate(components)]
    return [entry.index for entry in entries]


def _written(derivation: Derivation, quantity: Quantity) -> Output | None:
    """A first derivative by a recursion of its own, which is shorter than differentiating the graph."""
    recursion = WRITTEN_DERIVATIVES.get(quantity.name)
    if recursion is None or len(quantity.by) != 1:
        return None
    values = recursion(derivation, derivation.variable(quantity.by[0]))
    shape = derivation.shape(quantity.undifferentiated)
    return None if values is None else output(str(quantity), (*shape, derivation.size), values)


def group_of(quantity: Quantity, by: str, mechanism: Mechanism) -> Variables:
    """The group of variables that `by` names or belongs to.

    It must be one that the quantity depends on: what is zero or empty by the question alone is refused.
    """
    group = _named_group(quantity, by, mechanism)
    known = dependencies(quantity, mechanism)
    if group not in (*known, Variables.PARAMETERS):
        listed = ", ".join(known) or "nothing that moves"
        raise DerivationError(f"{quantity}: {quantity.undifferentiated} does not depend on {by}, only on {listed}")
    if not group.names(mechanism):
        raise DerivationError(f"{quantity}: {mechanism.name} has no {group.meaning} to differentiate by")
    return group


def _named_group(quantity: Quantity, by: str, mechanism: Mechanism) -> Variables:
    for group in Variables:
        if by in group.names(mechanism):
            return group
    word = group_word(by, mechanism)
    if word == DISPLACEMENTS:
        return Variables.POSITIONS
    if word in tuple(Variables):
        return Variables(word)
    names = [name for group in Variables for name in group.names(mechanism)]
    raise DerivationError(
        f"{quantity}: cannot differentiate by {by!r}\n  {_meant(by, names)}"
        "write q, dq (displacements), v, z (states), a, tau, u, p (all parameters), t or the name of one of them"
    )


def _meant(by: str, names: list[str]) -> str:
    if by in _SYNONYMS:
        return f"did you mean `{_SYNONYMS[by]}`? "
    close = did_you_mean(by, names)
    return f"{close} " if close.startswith("did you mean") else ""


#: What people write for the groups.
_SYNONYMS = {
    **dict.fromkeys(("qd", "qdot", "dq/dt", "q'", "dotq", "velocity", "velocities"), Variables.VELOCITIES),
    **dict.fromkeys(("qdd", "qddot", "q''", "ddq", "acceleration", "accelerations"), Variables.ACCELERATIONS),
    **dict.fromkeys(("torque", "torques", "forces"), Variables.FORCES),
    **dict.fromkeys(("time",), Variables.TIME),
    **dict.fromkeys(("position", "positions", "x"), Variables.POSITIONS),
    **dict.fromkeys(("parameters", "params"), Variables.PARAMETERS),
    **dict.fromkeys(("inputs", "input"), Variables.INPUTS),
    **dict.fromkeys(("states", "state"), Variables.STATES),
}
