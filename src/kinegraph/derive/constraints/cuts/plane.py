"""Planar linkages: the axis everything turns about, the absolute angles of bodies, and the pins that may be cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from kinegraph.derive.tree.convert import Names
from kinegraph.graph.angle import linear_form
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import below
from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.constraints.joint_types import JointType
from kinegraph.model.constraints.records import Frame, Loop
from kinegraph.model.constraints.topology import Edge
from kinegraph.model.expression import Expression, Number, names
from kinegraph.model.mechanism import Axis, Body, Coordinate, Mechanism, Quaternion, Rotation, Shift, Transform

Form = dict[str, Fraction]


class NotPlanar(Exception):
    """The mechanism is none of those whose loops may be cut elsewhere."""


@dataclass(frozen=True)
class PlanarLinkage:
    """A mechanism of bodies that all turn about one axis, tied by loops alone."""

    mechanism: Mechanism
    axis: Axis

    @cached_property
    def moving(self) -> frozenset[str]:
        """The names that change with time."""
        still = {parameter.name for parameter in self.mechanism.parameters} | {"pi"}
        used = {name for transform in _transforms(self.mechanism) for name in names(_amount(transform))}
        return frozenset(used - still)

    def angle(self, frame: Frame) -> Expression:
        """By which a frame is turned against the fixed one."""
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
        """The absolute angles of bodies as linear forms of coordinates, without what is known of them."""
        builder = GraphBuilder()
        scalars = Names(builder, self.mechanism, {})
        return [_form(builder, scalars.scalar(self.angle(Frame(body.name))).index) for body in self.mechanism.bodies]

    def edges(self) -> tuple[Edge, ...]:
        """All joints; pins may be cut, those that close loops may stand."""
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
        """From where to where the transforms of a body are its revolute joint; None if its joint is another."""
        places = [k for k, one in enumerate(body.transforms) if names(_amount(one)) & self.moving]
        if not places or any(isinstance(body.transforms[k], Shift) for k in range(places[0], places[-1] + 1)):
            return None
        return places[0], places[-1] + 1


def planar_linkage(mechanism: Mechanism) -> PlanarLinkage:
    """The mechanism as a planar linkage; NotPlanar if it is none, or tied by more than loops."""
    more = (mechanism.constraints, mechanism.contacts, mechanism.unknowns, mechanism.quasivelocities)
    if any((*more, mechanism.definitions)) or not mechanism.loops:
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
    """The part of an angle that coordinates make, which must be linear in them."""
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
