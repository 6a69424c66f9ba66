"""Whether definitions, quasi-velocities and unknown forces are well described."""

from __future__ import annotations

from collections.abc import Iterator

from kinegraph.errors import ModelError
from kinegraph.model.elements import Element, Force, Moment, PointForce, expressions
from kinegraph.model.expression import Expression, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.places import Places
from kinegraph.model.validation.expressions import Scope, Site
from kinegraph.model.validation.kinds import ANYTHING, RATES, UNKNOWN, VELOCITIES
from kinegraph.model.validation.linearity import degree

_OWN_RATES = RATES - {"point", "point velocity"}


def definition_sites(mechanism: Mechanism, places: Places) -> Iterator[Site]:
    """Every expression that gets a name."""
    for definition in mechanism.definitions:
        what = f"the definition of {definition.name}"
        yield Site(definition.value, what, ANYTHING | UNKNOWN, places.of(definition))
    for quasivelocity in mechanism.quasivelocities:
        what = f"the quasi-velocity {quasivelocity.name}"
        yield Site(quasivelocity.value, what, _OWN_RATES, places.of(quasivelocity))


def check_definitions(mechanism: Mechanism, scope: Scope, places: Places) -> None:
    """Raise a ModelError unless quasi-velocities are linear in velocities, and forces in what is unknown."""
    for quasivelocity in mechanism.quasivelocities:
        found = degree(quasivelocity.value, lambda name: scope.kind(name) in VELOCITIES)
        if found != 1:
            lacks = "holds no velocity" if not found else "is not linear in the velocities"
            remedy = f"write a sum of velocities with factors, e.g. `quasivelocity {quasivelocity.name} = q1' + q2';`"
            raise ModelError(f"the quasi-velocity {quasivelocity.name} {lacks}", places.of(quasivelocity), remedy)
    if mechanism.unknowns:
        _check_unknowns(mechanism, places)


def _check_unknowns(mechanism: Mechanism, places: Places) -> None:
    """Every unknown stands in some force or moment, and linearly."""
    unknowns = {unknown.name for unknown in mechanism.unknowns}
    used: set[str] = set()
    for element in mechanism.elements:
        for root in expressions(element):
            own = names(root) & unknowns
            used |= own
            if own and degree(root, lambda name: name in unknowns) > 1:
                message = f"{element.name} is not linear in {', '.join(sorted(own))}, which is to be found"
                remedy = "write the unknown as a factor: `value(-S*cos(theta))`"
                raise ModelError(message, places.of(element, _clause(element, root)), remedy)
    for unknown in mechanism.unknowns:
        if unknown.name not in used:
            message = f"no force or moment depends on the unknown {unknown.name}"
            remedy = f"write e.g. `force P | value({unknown.name}), on(q1);`, or remove it"
            raise ModelError(message, places.of(unknown), remedy)


def _clause(element: Element, root: Expression) -> str:
    """The clause of a force or moment that holds an expression."""
    if isinstance(element, PointForce | Moment):
        return element.axes.value
    return "value" if isinstance(element, Force) and root is element.value else ""
