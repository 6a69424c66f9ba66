"""A mechanism at a random point of a prime field: once as its equations are derived, once as the loops have it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import cast

import flint
import numpy as np

from kinegraph.derive.tree.algebra import FOLLOWING
from kinegraph.derive.tree.convert import Names
from kinegraph.derive.tree.displacements import MotionBuilder
from kinegraph.derive.tree.links import JointKind, build_tree
from kinegraph.derive.tree.quasi_velocities import unit_quaternions
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.proof.angles import angle_tables
from kinegraph.graph.proof.field import PrimeField
from kinegraph.graph.proof.point import FieldArithmetic, FieldEvaluation
from kinegraph.graph.scalar import Scalar as Node
from kinegraph.large.flat.flatten import FlatMechanism, flattened_tree
from kinegraph.large.flat.frames import Frame
from kinegraph.large.proof.exact import ExactNumbers
from kinegraph.large.proof.field_code import Circle, FieldCode
from kinegraph.large.proof.fixed_frame import FixedFrame
from kinegraph.large.records import Floats, Vector
from kinegraph.model.constraints.records import Loop
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import Expression, Scalar, expression
from kinegraph.model.mechanism import Mechanism


class GivenPoint(FieldArithmetic):
    """A random point with some symbols given."""

    def __init__(
        self, field: PrimeField, seed: int, unit: Sequence[Sequence[Symbol]], given: Mapping[str, int]
    ) -> None:
        super().__init__(field, seed, unit)
        self._given = given

    def symbol(self, symbol: Symbol) -> int:
        """The value of a symbol."""
        found = self._given.get(symbol.name)
        return super().symbol(symbol) if found is None else found


class Stated:
    """A mechanism in nodes of one graph: the tree its equations are derived from, and the flat form of the loops."""

    def __init__(self, mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> None:
        self.mechanism = mechanism
        self._builder = GraphBuilder()
        self._names = Names(self._builder, mechanism, _bound(mechanism, parameters))
        self.tree = build_tree(mechanism, self._names, exact=True)  # as the flat form
        self.motion = MotionBuilder(self._builder, mechanism).motion(self.tree, True, True)
        self.armature = [self._names.scalar(item) for item in mechanism.armature]
        self.flat = flattened_tree(mechanism, parameters, ExactNumbers(self._names))
        self.ends = [
            [self.flat.fixed(one.body, one.transforms) for one in (loop.first, loop.second)]
            for loop in mechanism.loops
            if isinstance(loop, Loop)
        ]
        self.angles = [
            (p, p.cos(), p.sin())
            for p in (link.joint.displacement for link in self.tree.links
                      if link.joint is not None and link.joint.kind is JointKind.REVOLUTE)
        ]  # fmt: skip

    @cached_property
    def graph(self) -> Graph:
        """All nodes."""
        count = len(self._builder.nodes)
        return Graph(tuple(self._builder.nodes), (Output("all", (count,), tuple(range(count))),))


class PointOfMechanism:
    """The numbers of a mechanism at a random point, and the functions of the loops over its field."""

    def __init__(self, stated: Stated, instead: Mapping[object, object]) -> None:
        self.stated, self._seed = stated, secrets.randbits(128)
        self._field = PrimeField.drawn(self._seed)
        self._elements = flint.fmpz_mod_ctx(self._field.prime)
        self._unit = unit_quaternions(stated.mechanism)
        nonlinear = stated.flat.nonlinear
        graphs = [stated.graph] if nonlinear is None else [stated.graph, nonlinear.graph]
        self._angles = angle_tables(*graphs)
        self._values = self._evaluated({})
        self._circle = Circle(self.number(0), self.number(1))
        for angle, cosine, sine in stated.angles:
            self._circle.add(self.value(angle), (self.value(cosine), self.value(sine)))
        self._add_angles_in_plane()
        self.code = FieldCode(self, instead)

    # the numbers that stand for doubles

    def number(self, value: Fraction | int) -> float:
        """An exact number in the field."""
        return self._make(value.numerator) / value.denominator

    def _make(self, value: int) -> float:
        return cast(float, self._elements(value))

    def circle(self, angle: float) -> tuple[float, float]:
        """The cosine and sine of an angle that the mechanism has."""
        return self._circle.point(angle)

    def angle(self, cosine: float, sine: float) -> float:
        """The angle of a point of the circle that the mechanism has."""
        return self._circle.angle(cosine, sine)

    def symbols(self, kind: Kind, names: Sequence[str]) -> Floats:
        """The random values of symbols."""
        point = self.point({})
        return self._array([self._make(point.symbol(Symbol(kind, name))) for name in names])

    def value(self, node: Node) -> float:
        """The value of a node."""
        return self._values[node.index]

    # the two sides

    def fixed_frame(self, accelerations: Floats | None = None) -> FixedFrame:
        """All links in the fixed frame, with these accelerations or random ones."""
        stated, values = self.stated, self._values
        if accelerations is not None:
            names = stated.mechanism.layout.accelerations
            values = self._evaluated(dict(zip(names, map(int, accelerations), strict=True)))
        return FixedFrame.at(stated.tree, stated.motion, stated.armature, lambda node: values[node.index])

    @cached_property
    def flat(self) -> FlatMechanism:
        """The flat form of the loops in numbers of the field."""
        flat = self.stated.flat
        tree = flat.tree._replace(constant=self.numbers(flat.tree.constant), armature=self.numbers(flat.tree.armature))
        linear = flat.linear._replace(
            constant=self.numbers(flat.linear.constant), drift=self.numbers(flat.linear.drift),
            slope=self.numbers(flat.linear.slope),
        )  # fmt: skip
        gravity = tuple(self.value(node) for node in self.stated.tree.gravity)
        nonlinear = None if flat.nonlinear is None else self._nonlinear
        return self.code.instance(
            flat, tree=tree, linear=linear, constant_gravity=cast(Vector, gravity), nonlinear=nonlinear
        )

    @cached_property
    def ends(self) -> list[list[Frame]]:
        """The frames that loops tie, in numbers of the field."""
        return [[self._frame(end) for end in pair] for pair in self.stated.ends]

    def _frame(self, frame: Frame) -> Frame:
        turn, origin = (tuple(self.numbers(np.array(one, dtype=object))) for one in (frame.turn, frame.origin))
        return Frame(frame.step, turn, origin)

    def _add_angles_in_plane(self) -> None:
        """Angles add up along chains of parallel axes: loops over planar mechanisms take the sines of the sums."""
        none = self.number(0)
        sums: dict[int, tuple[int, float, tuple[float, float]]] = {}
        for index, link in enumerate(self.stated.tree.links):
            if link.joint is None or link.origin is None or link.joint.kind is not JointKind.REVOLUTE:
                continue
            axis, turn, p = link.joint.axis, link.origin.rotation, link.joint.displacement
            before = sums.get(link.parent) if link.parent else (axis, none, (self.number(1), none))
            if before is None or before[0] != axis or turn[axis][axis].value != 1:
                continue
            u, v = FOLLOWING[axis]
            fixed = self.value(turn[u][u]), self.value(turn[v][u])
            if not self._circle.has(fixed):
                self._circle.add(self._make(self.point({}).random("turn", *map(int, fixed))), fixed)
            angle = before[1] + self._circle.angle(*fixed) + self.value(p)
            point = _rotated(_rotated(before[2], fixed), self._circle.point(self.value(p)))
            self._circle.add(angle, point)
            sums[index] = axis, angle, point

    def numbers(self, nodes: Floats) -> Floats:
        """An array of nodes as numbers of the field."""
        found = [self.value(one) if isinstance(one, Node) else self.number(int(one)) for one in nodes.ravel()]
        return self._array(found).reshape(nodes.shape)

    def _nonlinear(self, q: Floats, v: Floats, a: Floats, t: float) -> tuple[Floats, Floats, Floats, Floats]:
        """Displacements that are no linear form, by the graph that the loops interpret."""
        interpreted = self.stated.flat.nonlinear
        assert interpreted is not None
        given = {name: int(value) for name, value in interpreted.named(q, v, a, t).items()}
        values = FieldEvaluation(interpreted.graph, self.point(given), self._angles[1])
        p, rate, acceleration, slope = (
            self._array([self._make(values[node]) for node in output.nodes]) for output in interpreted.graph.outputs
        )
        return p, rate, acceleration, slope

    def point(self, given: Mapping[str, int]) -> GivenPoint:
        """The random point, with these symbols given."""
        return GivenPoint(self._field, self._seed, self._unit, given)

    def _evaluated(self, given: Mapping[str, int]) -> list[float]:
        values = FieldEvaluation(self.stated.graph, self.point(given), self._angles[0]).values
        return [self._make(cast(int, value)) for value in values]

    def _array(self, values: Sequence[float]) -> Floats:
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return cast(Floats, found)


def _rotated(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    (c, s), (d, t) = first, second
    return c * d - s * t, s * d + c * t


def _bound(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> dict[str, Expression]:
    """What every parameter stands for."""
    given = {name: expression(value, name) for name, value in (parameters or {}).items()}
    parameter_values(mechanism, given)  # names every value that is missing
    return {one.name: one.value for one in mechanism.parameters if one.value is not None} | given
