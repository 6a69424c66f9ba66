"""Planar linkages with their loops cut at other joints, in absolute angles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache

from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import DerivationError
from kinegraph.graph.angle import linear_form
from kinegraph.graph.build import GraphBuilder, transfer
from kinegraph.graph.differentiate import below
from kinegraph.graph.node import Coefficient, Graph, Kind, Output, Symbol
from kinegraph.model.constraints import AnyLoop, Frame, Joint, JointType, Loop
from kinegraph.model.expressions import Defined, Expression, Name, Number, names, rewritten
from kinegraph.model.mechanism import (
    ZERO,
    Axis,
    Body,
    Coordinate,
    Mechanism,
    Quaternion,
    Rotation,
    Shift,
    Transform,
    inverse,
)
from kinegraph.model.topology import Edge, SpanningTree, shortest_tree, wanted_cut

# ---- Planar linkages

Form = dict[str, Fraction]


class NotPlanar(Exception):
    """The loops of the mechanism cannot be cut at other joints."""


@dataclass(frozen=True)
class PlanarLinkage:
    """A mechanism whose bodies all rotate about one axis, with loops and no other constraints."""

    mechanism: Mechanism
    axis: Axis

    @cached_property
    def moving(self) -> frozenset[str]:
        """The names of variables."""
        still = {parameter.name for parameter in self.mechanism.parameters} | {"pi"}
        used = {name for transform in _transforms(self.mechanism) for name in names(_amount(transform))}
        return frozenset(used - still)

    def angle(self, frame: Frame) -> Expression:
        """The absolute angle of a frame."""
        body = None if frame.body is None else self.mechanism.body_by_name[frame.body]
        parts = [*_angles(frame.transforms)]
        while body is not None:
            parts += _angles(body.transforms)
            body = None if body.base is None else self.mechanism.body_by_name[body.base]
        total: Expression = Number(Fraction(0))
        for part in parts:
            total = total + part
        return total

    @cached_property
    def forms(self) -> list[Form]:
        """The absolute angles of bodies as linear forms of coordinates, without constant terms."""
        builder = GraphBuilder()
        scalars = Names(builder, self.mechanism, {})
        return [_form(builder, scalars.scalar(self.angle(Frame(body.name))).index) for body in self.mechanism.bodies]

    def edges(self) -> tuple[Edge, ...]:
        """All joints. Pins may be cut, and pins that close loops may become joints of the tree."""
        records = (
            Edge(body.name, body.base, body.name, False, self.pin(body) is not None, may_stand=True, stays=False)
            for body in self.mechanism.bodies
        )
        return (*records, *self._loop_edges())

    def _loop_edges(self) -> Iterator[Edge]:
        for loop in self.mechanism.loops:
            assert isinstance(loop, Loop)
            pin = loop.type is JointType.REVOLUTE and loop.joint.axes == (self.axis,)
            yield Edge(loop.name, loop.first.body, loop.second.body, True, True, may_stand=pin, stays=False)

    def pin(self, body: Body) -> tuple[int, int] | None:
        """The range of a body's transforms that is its revolute joint; None for other joints."""
        places = [k for k, one in enumerate(body.transforms) if names(_amount(one)) & self.moving]
        if not places or any(isinstance(body.transforms[k], Shift) for k in range(places[0], places[-1] + 1)):
            return None
        return places[0], places[-1] + 1


def planar_linkage(mechanism: Mechanism) -> PlanarLinkage:
    """The mechanism as a planar linkage; NotPlanar if it is not planar, or has constraints other than loops."""
    more = (mechanism.constraints, mechanism.contacts, mechanism.quasivelocities)
    if any((*more, mechanism.definitions, mechanism.states)) or not mechanism.loops:
        raise NotPlanar
    if not all(isinstance(loop, Loop) for loop in mechanism.loops):
        raise NotPlanar
    if not all(isinstance(one, Coordinate) for one in mechanism.coordinates):
        raise NotPlanar
    transforms = list(_transforms(mechanism))
    axes = {one.axis for one in transforms if isinstance(one, Rotation)}
    if len(axes) != 1 or any(isinstance(one, Quaternion) for one in transforms):
        raise NotPlanar
    return PlanarLinkage(mechanism, axes.pop())


def _transforms(mechanism: Mechanism) -> Iterator[Transform]:
    for body in mechanism.bodies:
        yield from body.transforms
    for loop in mechanism.loops:
        if isinstance(loop, Loop):
            yield from (*loop.first.transforms, *loop.second.transforms)


def _amount(transform: Transform) -> Expression:
    assert not isinstance(transform, Quaternion)
    return transform.angle if isinstance(transform, Rotation) else transform.distance


def _angles(transforms: Sequence[Transform]) -> list[Expression]:
    return [one.angle for one in transforms if isinstance(one, Rotation)]


def _form(builder: GraphBuilder, index: int) -> Form:
    """The part of an angle that depends on coordinates, which must be linear in them."""
    found: Form = {}
    for monomial, coefficient in linear_form(builder.nodes, index).items():
        symbols = [builder.nodes[k] for child, _ in monomial for k in below(builder, child)]
        if not any(isinstance(one, Symbol) and one.kind is Kind.COORDINATE for one in symbols):
            continue
        ((child, exponent), *others) = monomial
        symbol = builder.nodes[child]
        if others or exponent != 1 or not isinstance(symbol, Symbol):
            raise NotPlanar
        found[symbol.name] = Fraction(coefficient)
    return found


# ---- Absolute angles as coordinates, which do not depend on the cuts


@dataclass(frozen=True)
class AbsoluteAngles:
    """A change of coordinates alpha = A q. The velocities are A v, the forces A^-T tau, and q'' = A^-1 alpha''.

    forward: the new coordinates as forms of the old ones. back: the old ones as forms of the new. Both by name.
    """

    coordinates: tuple[Coordinate, ...]
    forward: Mapping[str, Form]
    back: Mapping[str, Form]

    def meaning(self, name: str) -> Expression | None:
        """An old coordinate or velocity (`q1'`) in terms of the new ones; None for other names."""
        tail = "'" if name.endswith("'") else ""
        form = self.back.get(name.removesuffix("'"))
        return None if form is None else combined(form, {other: Name(other + tail) for other in form})

    def in_stated_coordinates(self, graph: Graph, stated: Mechanism, new: Mechanism) -> Graph:
        """Accelerations of the old coordinates from those of the new ones, as functions of the old coordinates."""
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
        """Symbols of the new coordinates, velocities and forces, each as a sum of old ones."""
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
    """The change of coordinates; NotPlanar if absolute angles do not determine all coordinates."""
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
    return Coordinate(f"angle {number}", position, velocity)  # names in models have no spaces


def _basis(forms: Sequence[Form], names: Sequence[str]) -> list[Form]:
    """Independent forms, as many as there are names."""
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
    """The inverse by Gauss-Jordan elimination: old coordinates as forms of the new ones."""
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


# ---- Linkages with other cuts

#: The number of alternative cuts, those with the shortest chains first.
MOST_CUTS = 6
#: The number of sets of cuts whose chains are compared.
_MOST_SETS = 300


@dataclass(frozen=True)
class Recut:
    """`mechanism` is equivalent to `stated` when its loops are closed."""

    stated: Mechanism
    mechanism: Mechanism
    angles: AbsoluteAngles

    def in_stated_coordinates(self, graph: Graph) -> Graph:
        """Accelerations of the coordinates that the model states."""
        return self.angles.in_stated_coordinates(graph, self.stated, self.mechanism)


def recut(mechanism: Mechanism, cut: Sequence[str]) -> Recut:
    """The mechanism with its loops cut at these joints; DerivationError if that is not possible."""
    try:
        linkage = planar_linkage(mechanism)
        tree = _tree(linkage, cut)
        return Recut(mechanism, *_recut(linkage, tree))
    except NotPlanar:
        raise DerivationError(
            f"{mechanism.name}: a cut at {', '.join(cut)} is not supported\n  only planar linkages can be cut at any "
            "revolute joint; other loops are cut at the joints that close them: name those, or none"
        ) from None


def _tree(linkage: PlanarLinkage, cut: Sequence[str]) -> SpanningTree:
    edges = linkage.edges()
    wrong = [edge for edge in edges if edge.joint in cut and not edge.may_be_cut]
    tree = shortest_tree(edges, cut)
    whole = len(tree.inward) == len(linkage.mechanism.bodies)
    if wrong or not whole or {edge.joint for edge in tree.cut} != set(cut):
        raise NotPlanar
    return tree


def _recut(linkage: PlanarLinkage, tree: SpanningTree) -> tuple[Mechanism, AbsoluteAngles]:
    mechanism, angles = linkage.mechanism, absolute_angles(linkage)
    other = replace(
        mechanism,
        bodies=tuple(_body(linkage, tree, body) for body in mechanism.bodies),
        loops=tuple(_loop(linkage, edge) for edge in tree.cut),
        cuts=(),
    )

    def change(name: Name | Defined) -> Expression:
        meaning = angles.meaning(name.text) if isinstance(name, Name) else None
        return name if meaning is None else meaning

    other = rewritten(other, change)
    return replace(other, coordinates=angles.coordinates), angles


def _body(linkage: PlanarLinkage, tree: SpanningTree, body: Body) -> Body:
    """A body with its new base and transforms."""
    edge = tree.inward[body.name]
    base = tree.parent(body.name)
    if edge.loop:
        return replace(body, base=base, transforms=_across(linkage, edge, body.name))
    child = linkage.mechanism.body_by_name[edge.joint]
    return body if child is body else replace(body, base=base, transforms=inverse(child.transforms))


def _across(linkage: PlanarLinkage, edge: Edge, onto: str) -> tuple[Transform, ...]:
    """The transforms through a loop's joint, from one body to the other."""
    loop = next(one for one in linkage.mechanism.loops if one.name == edge.joint)
    assert isinstance(loop, Loop)
    here, there = (loop.first, loop.second) if loop.second.body == onto else (loop.second, loop.first)
    turn = Rotation(linkage.axis, linkage.angle(there) - linkage.angle(here))
    return (*here.transforms, turn, *inverse(there.transforms))


def _loop(linkage: PlanarLinkage, edge: Edge) -> AnyLoop:
    """A joint that is cut, as a loop."""
    if edge.loop:
        return next(one for one in linkage.mechanism.loops if one.name == edge.joint)
    body = linkage.mechanism.body_by_name[edge.joint]
    pin = linkage.pin(body)
    assert pin is not None
    first, second = body.transforms[: pin[0]], inverse(body.transforms[pin[1] :])
    joint = Joint(JointType.REVOLUTE, (linkage.axis,))
    return Loop(f"pin of {body.name}", joint, Frame(body.base, first), Frame(body.name, second))


@lru_cache(maxsize=32)
def refuse_cuts(mechanism: Mechanism) -> None:
    """DerivationError if the model requests cuts that are not supported."""
    cut = wanted_cut(mechanism)
    if cut:
        recut(mechanism, cut)


@lru_cache(maxsize=32)
def other_cuts(mechanism: Mechanism) -> tuple[tuple[str, ...], ...]:
    """Alternative cuts whose chains are no longer than those of the model, the shortest first."""
    try:
        linkage = planar_linkage(mechanism)
        absolute_angles(linkage)
    except NotPlanar:
        return ()
    edges = linkage.edges()
    stated = frozenset(edge.joint for edge in edges if edge.loop)
    lengths = {cut: _length(shortest_tree(edges, cut)) for cut in _exchanged(edges, stated)}
    limit = lengths.pop(stated)
    found = sorted((cut for cut in lengths if lengths[cut] <= limit), key=lambda cut: (lengths[cut], sorted(cut)))
    return tuple(tuple(sorted(cut)) for cut in found[:MOST_CUTS])


def _length(tree: SpanningTree) -> int:
    """The number of pairs of a body and an ancestor: nonzero entries of the inertia matrix."""
    return sum(len(tree.path(body)) for body in tree.inward)


def _exchanged(edges: Sequence[Edge], stated: frozenset[str]) -> list[frozenset[str]]:
    """Sets of cuts reached by exchanges: a cut joint joins the tree, and another joint of its loop is cut instead."""
    found = {stated: None}
    waiting = [stated]
    while waiting and len(found) < _MOST_SETS:
        here = waiting.pop(0)
        for new in _neighbors(edges, here):
            if new not in found:
                found[new] = None
                waiting.append(new)
    return list(found)


def _neighbors(edges: Sequence[Edge], cut: frozenset[str]) -> Iterator[frozenset[str]]:
    tree = shortest_tree(edges, cut)
    for edge, chains in zip(tree.cut, tree.loops, strict=True):
        if edge.may_stand:
            for body in (*chains.first, *chains.second):
                if tree.inward[body].may_be_cut:
                    yield cut - {edge.joint} | {tree.inward[body].joint}
