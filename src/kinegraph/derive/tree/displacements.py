"""Joint displacements p(q, t) with their rates p', p'' and dp/dq, and the map q' = N(q) v of velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.derive.tree.links import JointKind, Tree
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.differentiate import ForwardDerivative, below
from kinegraph.graph.node import Kind, Symbol
from kinegraph.model.mechanism import Coordinate, Mechanism, QuaternionCoordinates


@dataclass(frozen=True)
class Rates:
    """Rates of one joint: one entry for a revolute or prismatic joint, three (in body axes) for a ball joint."""

    velocity: tuple[Scalar, ...]
    acceleration: tuple[Scalar, ...]


@dataclass(frozen=True)
class Motion:
    """The rates of every link's joint, and their derivatives by velocity coordinates.

    `columns[link][component]` maps the index of a velocity coordinate to d(rate)/d(velocity).
    """

    rates: tuple[Rates, ...]
    columns: tuple[tuple[dict[int, Scalar], ...], ...]
    velocities: tuple[Scalar, ...]
    accelerations: tuple[Scalar, ...]


class MotionBuilder:
    """Derives joint rates, with symbolic or zero velocities and accelerations."""

    def __init__(self, builder: GraphBuilder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self._zero = Scalar(builder, builder.zero)
        self.positions = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
        self.velocity_of = self._velocity_positions()

    def _velocity_positions(self) -> dict[int, int]:
        """For ordinary coordinates: symbol of the coordinate -> index in v."""
        names = {name: index for index, name in enumerate(self.mechanism.layout.velocities)}
        return {
            symbol: names[name + "'"]
            for symbol, name in zip(self.positions, self.mechanism.layout.positions, strict=True)
            if name + "'" in names
        }

    def symbols(self, kind: Kind, names: tuple[str, ...], present: bool) -> list[Scalar]:
        """Symbols of a kind, or zeros if the motion does not have them."""
        return [Scalar(self.builder, self.builder.symbol(kind, n)) if present else self._zero for n in names]

    def motion(
        self, tree: Tree, velocities: bool, accelerations: bool | Sequence[Scalar], prescribed: bool = True
    ) -> Motion:
        """Rates of all joints. prescribed: include explicit dependence on time.

        accelerations: True for symbols, False for zero, or given values.
        """
        v = self.symbols(Kind.VELOCITY, self.mechanism.layout.velocities, velocities)
        if isinstance(accelerations, bool):
            a = self.symbols(Kind.ACCELERATION, self.mechanism.layout.accelerations, accelerations)
        else:
            a = list(accelerations)
        state = _State(self, v, a, prescribed)
        rates = [Rates((), ())]
        columns: list[tuple[dict[int, Scalar], ...]] = [()]
        for link in tree.links[1:]:
            assert link.joint is not None
            if link.joint.kind is JointKind.SPHERICAL:
                assert link.joint.quaternion is not None
                first = self._group_start(link.joint.quaternion[1].index)
                rates.append(Rates(tuple(v[first : first + 3]), tuple(a[first : first + 3])))
                columns.append(tuple({first + i: self._zero.number(1)} for i in range(3)))
            else:
                p = link.joint.displacement
                rates.append(Rates((state.velocity(p),), (state.acceleration(p),)))
                columns.append((state.columns(p),))
        return Motion(tuple(rates), tuple(columns), tuple(v), tuple(a))

    def _group_start(self, component: int) -> int:
        """Index in v of the first angular velocity of the quaternion that contains a component."""
        start = 0
        position = self.positions.index(component)
        passed = 0
        for coordinate in self.mechanism.coordinates:
            group = getattr(coordinate, "velocities", None)
            width, count = (4, 3) if group is not None else (1, 1)
            if passed <= position < passed + width:
                return start
            passed += width
            start += count
        raise AssertionError("component of no quaternion")


class _State:
    """Total time derivatives for symbolic or zero velocities and accelerations."""

    def __init__(self, parent: MotionBuilder, v: list[Scalar], a: list[Scalar], prescribed: bool) -> None:
        self.builder = parent.builder
        self.velocity_of = parent.velocity_of
        time = self.builder.symbol(Kind.TIME, "t")
        one, zero = self.builder.one, self.builder.zero
        seeds = {symbol: v[index].index for symbol, index in parent.velocity_of.items()}
        seeds[time] = one if prescribed else zero
        self._total = ForwardDerivative(self.builder, seeds)
        more = {v[index].index: a[index].index for index in range(len(v)) if not v[index].is_zero}
        self._total_twice = ForwardDerivative(self.builder, seeds | more)
        self._v, self._a = v, a
        self._partials = {symbol: ForwardDerivative(self.builder, {symbol: one}) for symbol in parent.velocity_of}

    def velocity(self, p: Scalar) -> Scalar:
        return Scalar(self.builder, self._total(p.index))

    def acceleration(self, p: Scalar) -> Scalar:
        """p'' = sum dp/dq q'' plus terms of velocities and time."""
        curved = Scalar(self.builder, self._total_twice(self._total(p.index)))
        if any(not item.is_zero for item in self._v):
            return curved
        for index, column in self.columns(p).items():  # velocities are zero: only dp/dq q'' and d2p/dt2 remain
            curved = curved + column * self._a[index]
        return curved

    def columns(self, p: Scalar) -> dict[int, Scalar]:
        """The nonzero dp/dq, by index of the velocity."""
        found = {}
        for symbol in below(self.builder, p.index):
            if symbol in self._partials:
                value = Scalar(self.builder, self._partials[symbol](p.index))
                if not value.is_zero:
                    found[self.velocity_of[symbol]] = value
        return found


# ---- Positions and velocities: q' = N(q) v; forces transform by N^T
#
# For an ordinary coordinate N is one. For a quaternion with the angular velocity w in body axes, e' = e (0, w) / 2
# (product of quaternions).

_HALF = Fraction(1, 2)


def unit_quaternions(mechanism: Mechanism) -> list[tuple[Symbol, ...]]:
    """The symbols of each quaternion. Their squares sum to one, which derivations use and proofs must know."""
    return [
        tuple(Symbol(Kind.COORDINATE, name) for name in coordinate.names)
        for coordinate in mechanism.coordinates
        if isinstance(coordinate, QuaternionCoordinates)
    ]


def position_rates(mechanism: Mechanism, builder: GraphBuilder, v: Sequence[Scalar]) -> list[Scalar]:
    """N(q) v."""
    rest = iter(v)
    rates: list[Scalar] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            rates.append(next(rest))
            continue
        e0, e1, e2, e3 = _quaternion(coordinate, builder)
        x, y, z = next(rest), next(rest), next(rest)
        rates.append(-_HALF * (e1 * x + e2 * y + e3 * z))
        rates.append(_HALF * (e0 * x + e2 * z - e3 * y))
        rates.append(_HALF * (e0 * y + e3 * x - e1 * z))
        rates.append(_HALF * (e0 * z + e1 * y - e2 * x))
    return rates


def velocity_forces(mechanism: Mechanism, builder: GraphBuilder, p: Sequence[Scalar]) -> list[Scalar]:
    """N(q)^T p: forces on the velocities from forces on the positions."""
    rest = iter(p)
    forces: list[Scalar] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            forces.append(next(rest))
            continue
        e0, e1, e2, e3 = _quaternion(coordinate, builder)
        p0, p1, p2, p3 = next(rest), next(rest), next(rest), next(rest)
        forces.append(_HALF * (e0 * p1 - e1 * p0 + e3 * p2 - e2 * p3))
        forces.append(_HALF * (e0 * p2 - e2 * p0 + e1 * p3 - e3 * p1))
        forces.append(_HALF * (e0 * p3 - e3 * p0 + e2 * p1 - e1 * p2))
    return forces


def _quaternion(coordinate: QuaternionCoordinates, builder: GraphBuilder) -> list[Scalar]:
    return [Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in coordinate.names]
