"""Which mechanisms laws of time move: what drives them so does work, although no force is written down for it."""

from __future__ import annotations

from collections.abc import Iterable

from kinegraph.derive.tree.convert import Names
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.changes.rewrite import expressions
from kinegraph.model.constraints.classify import ConstraintKind, constraint_kind
from kinegraph.model.constraints.records import Constraint
from kinegraph.model.expression import TIME, Expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component


def moved_by_laws(mechanism: Mechanism) -> bool:
    """Whether transforms, gravity, loops or constraints move by themselves; contacts do not count."""
    placed = (mechanism.gravity, *(body.transforms for body in mechanism.bodies))
    tied = (*mechanism.loops, *mechanism.constraints)
    return _timed(mechanism, (*placed, *tied)) or any(_drives(mechanism, one) for one in mechanism.constraints)


def bodies_moved_by_laws(mechanism: Mechanism) -> bool:
    """Whether bodies, and points of them, move by themselves."""
    return _timed(mechanism, [body.transforms for body in mechanism.bodies])


def contacts_moved_by_laws(mechanism: Mechanism) -> bool:
    """Whether a surface that bodies touch moves by itself."""
    if _timed(mechanism, mechanism.contacts):
        return True
    return any(_leads(mechanism, slip) for contact in mechanism.contacts for slip in contact.slip)


def _timed(mechanism: Mechanism, records: Iterable[object]) -> bool:
    """Whether an expression of the records names time, or an input that is a law of time."""
    laws = {one.name for one in mechanism.inputs if one.value is not None and TIME in names(one.value)}
    return any(names(one) & {TIME, *laws} for record in records for one in expressions(record))


def _drives(mechanism: Mechanism, constraint: Constraint) -> bool:
    """Whether a constraint of velocities asks for some: `q1' = 2` drives, `x' = r*q1'` does not."""
    of_velocities = constraint_kind(mechanism, constraint) is ConstraintKind.NONHOLONOMIC
    return of_velocities and _leads(mechanism, constraint.residual)


def _leads(mechanism: Mechanism, rate: Expression) -> bool:
    """Whether a rate is other than zero while all velocities are zero."""
    builder = GraphBuilder()
    zero = Scalar(builder, builder.zero)
    meanings = dict.fromkeys(mechanism.layout.velocities, zero)
    for name in names(rate):
        found = component(name)
        if found is not None:
            meanings[name] = zero if found.rate else Scalar(builder, builder.symbol(Kind.COORDINATE, name))
    return not Names(builder, mechanism, {}).scalar(rate, meanings).is_zero
