"""Absolute angles as coordinates: whichever joints are cut, a body's angle is one number.

With alpha = A q the velocities are A v, the forces A^-T tau, and q'' = A^-1 alpha''.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.derive.constraints.cuts.plane import Form, NotPlanar, PlanarLinkage
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Coefficient, Graph, Kind, Output, Symbol
from kinegraph.graph.transfer import transfer
from kinegraph.model.expression import Expression, Name, Number
from kinegraph.model.mechanism import ZERO, Coordinate, Mechanism

Rows = Sequence[Mapping[str, Fraction]]


@dataclass(frozen=True)
class AbsoluteAngles:
    """`forward` are the new coordinates by the old ones, `back` the old by the new; both by name, in their order."""

    coordinates: tuple[Coordinate, ...]
    forward: Mapping[str, Form]
    back: Mapping[str, Form]

    def meaning(self, name: str) -> Expression | None:
        """What an old coordinate, or its velocity (`q1'`), is in the new ones; None for other names."""
        tail = "'" if name.endswith("'") else ""
        form = self.back.get(name.removesuffix("'"))
        return None if form is None else combined(form, {other: Name(other + tail) for other in form})

    def in_stated_coordinates(self, graph: Graph, stated: Mechanism, new: Mechanism) -> Graph:
        """Accelerations of the new coordinates as those of the old ones, in these."""
        builder = GraphBuilder()
        meanings = self._meanings(stated, new)

        def symbol(node: Symbol) -> int:
            terms = meanings.get(node)
            return builder.symbol(*node) if terms is None else _sum(builder, terms)

        place = transfer(graph, builder, symbol)
        (accelerations,) = graph.outputs
        names = dict(zip(new.layout.positions, (place[node] for node in accelerations.nodes), strict=True))
        nodes = [
            builder.polynomial((c, ((names[other], 1),)) for other, c in self.back[name].items())
            for name in stated.layout.positions
        ]
        return builder.graph([Output(accelerations.name, accelerations.shape, tuple(nodes))])

    def _meanings(self, stated: Mechanism, new: Mechanism) -> dict[Symbol, list[tuple[Fraction, Symbol]]]:
        """Symbols of the new coordinates, their velocities and forces, each a sum of those of the old ones."""
        force = dict(zip(stated.layout.positions, stated.layout.forces, strict=True))
        found = {}
        for name, of_force in zip(new.layout.positions, new.layout.forces, strict=True):
            form = self.forward[name].items()
            found[Symbol(Kind.COORDINATE, name)] = [(c, Symbol(Kind.COORDINATE, other)) for other, c in form]
            found[Symbol(Kind.VELOCITY, name + "'")] = [(c, Symbol(Kind.VELOCITY, other + "'")) for other, c in form]
            pulled = ((old, row[name]) for old, row in self.back.items() if name in row)
            found[Symbol(Kind.INPUT, of_force)] = [(c, Symbol(Kind.INPUT, force[old])) for old, c in pulled]
        return found


def _sum(builder: GraphBuilder, terms: Iterable[tuple[Coefficient, Symbol]]) -> int:
    return builder.polynomial([(c, ((builder.symbol(*one), 1),)) for c, one in terms])


def combined(form: Form, values: Mapping[str, Expression]) -> Expression:
    """A linear form of expressions."""
    total: Expression | None = None
    for name, factor in form.items():
        item = values[name] if factor == 1 else Number(factor) * values[name]
        total = item if total is None else total + item
    return ZERO if total is None else total


def absolute_angles(linkage: PlanarLinkage) -> AbsoluteAngles:
    """The change of coordinates; NotPlanar where absolute angles do not tell all coordinates that turn bodies."""
    angles = dict.fromkeys(name for form in linkage.forms for name in form)
    basis = _basis(linkage.forms, list(angles))
    stated = {one.name: one for one in linkage.mechanism.coordinates if isinstance(one, Coordinate)}
    forward: dict[str, Form] = {name: {name: Fraction(1)} for name in stated if name not in angles}
    new = [stated[name] for name in forward]
    for number, form in enumerate(basis):
        coordinate = _coordinate(number, form, stated)
        forward[coordinate.name] = form
        new.append(coordinate)
    order = list(stated)
    new.sort(key=lambda one: max(order.index(name) for name in forward[one.name]))
    if len(new) != len(stated) or any(_changed(one, forward) and one.armature != ZERO for one in stated.values()):
        raise NotPlanar
    return AbsoluteAngles(tuple(new), {one.name: forward[one.name] for one in new}, _inverse(forward, order))


def _changed(coordinate: Coordinate, forward: Mapping[str, Form]) -> bool:
    users = [form for form in forward.values() if coordinate.name in form]
    return forward.get(coordinate.name) != {coordinate.name: Fraction(1)} or len(users) > 1


def _coordinate(number: int, form: Form, stated: Mapping[str, Coordinate]) -> Coordinate:
    if len(form) == 1 and set(form.values()) == {1}:
        return stated[next(iter(form))]
    position = combined(form, {name: stated[name].position for name in form})
    velocity = combined(form, {name: stated[name].velocity for name in form})
    return Coordinate(f"angle {number}", position, velocity)  # no name of a model has a space


def _basis(forms: Sequence[Form], names: Sequence[str]) -> list[Form]:
    """Forms that are independent, as many as there are names."""
    found: list[Form] = []
    reduced: list[tuple[str, Form]] = []
    for form in forms:
        rest = dict(form)
        for pivot, row in reduced:
            rest = _less(rest, row, rest.get(pivot, Fraction(0)) / row[pivot])
        if rest:
            reduced.append((next(iter(rest)), rest))
            found.append(form)
    if len(found) != len(names):
        raise NotPlanar
    return found


def _less(form: Form, other: Form, times: Fraction) -> Form:
    keys = dict.fromkeys((*form, *other))
    total = {key: form.get(key, Fraction(0)) - times * other.get(key, Fraction(0)) for key in keys}
    return {key: value for key, value in total.items() if value}


def _inverse(forward: Mapping[str, Form], names: Sequence[str]) -> dict[str, Form]:
    """By old names: the forms of new ones (Gauss and Jordan)."""
    work = [(dict(form), {name: Fraction(1)}) for name, form in forward.items()]
    solved: dict[str, tuple[Form, Form]] = {}
    for name in names:
        pivot = next(row for row in work if name in row[0])
        work.remove(pivot)
        own = _times(pivot[0], 1 / pivot[0][name]), _times(pivot[1], 1 / pivot[0][name])
        work = [_reduced(row, own, name) for row in work]
        solved = {key: _reduced(row, own, name) for key, row in solved.items()}
        solved[name] = own
    return {name: solved[name][1] for name in names}


def _times(form: Form, factor: Fraction) -> Form:
    return {key: value * factor for key, value in form.items()}


def _reduced(row: tuple[Form, Form], own: tuple[Form, Form], name: str) -> tuple[Form, Form]:
    times = row[0].get(name, Fraction(0))
    return (_less(row[0], own[0], times), _less(row[1], own[1], times)) if times else row
