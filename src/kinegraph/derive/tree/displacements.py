"""How elementary displacements follow from coordinates, velocities and time: p(q, t), p', p'' and dp/dq."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinegraph.derive.tree.links import JointKind, Tree
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative, below
from kinegraph.graph.node import Kind
from kinegraph.graph.scalar import Scalar
from kinegraph.model.mechanism import Mechanism


@dataclass(frozen=True)
class Rates:
    """Rates of one joint: one entry for a revolute or prismatic joint, three (turned axes) for a ball joint."""

    velocity: tuple[Scalar, ...]
    acceleration: tuple[Scalar, ...]


@dataclass(frozen=True)
class Motion:
    """The rates of every link's joint, and which velocity coordinates move it how.

    `columns[link][component]` maps the index of a velocity coordinate to d(rate)/d(velocity).
    """

    rates: tuple[Rates, ...]
    columns: tuple[tuple[dict[int, Scalar], ...], ...]
    velocities: tuple[Scalar, ...]
    accelerations: tuple[Scalar, ...]


class MotionBuilder:
    """Derives joint rates, with velocities and accelerations left symbolic or set to zero."""

    def __init__(self, builder: GraphBuilder, mechanism: Mechanism) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self._zero = Scalar(builder, builder.zero)
        self.positions = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
        self.velocity_of = self._velocity_positions()

    def _velocity_positions(self) -> dict[int, int]:
        """Which velocity belongs to an ordinary coordinate: symbol of the coordinate -> index in v."""
        names = {name: index for index, name in enumerate(self.mechanism.layout.velocities)}
        return {
            symbol: names[name + "'"]
            for symbol, name in zip(self.positions, self.mechanism.layout.positions, strict=True)
            if name + "'" in names
        }

    def symbols(self, kind: Kind, names: tuple[str, ...], present: bool) -> list[Scalar]:
        """Symbols of a kind; zeros where the motion does not have them."""
        return [Scalar(self.builder, self.builder.symbol(kind, n)) if present else self._zero for n in names]

    def motion(
        self, tree: Tree, velocities: bool, accelerations: bool | Sequence[Scalar], prescribed: bool = True
    ) -> Motion:
        """Rates of all joints. Without `prescribed`, explicit dependence on time adds no rate.

        Accelerations are symbols, nothing, or given values.
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
        """Index in v of the first quasi-velocity of the quaternion a component belongs to."""
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
    """Total time derivatives along one choice of symbolic or vanishing velocities and accelerations."""

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
        """p'' = sum dp/dq q'' plus what velocities and time add."""
        curved = Scalar(self.builder, self._total_twice(self._total(p.index)))
        if any(not item.is_zero for item in self._v):
            return curved
        for index, column in self.columns(p).items():  # velocities vanish: only dp/dq q'' and d2p/dt2 remain
            curved = curved + column * self._a[index]
        return curved

    def columns(self, p: Scalar) -> dict[int, Scalar]:
        """dp/dq for the coordinates p depends on, by index of their velocity."""
        found = {}
        for symbol in below(self.builder, p.index):
            if symbol in self._partials:
                value = Scalar(self.builder, self._partials[symbol](p.index))
                if not value.is_zero:
                    found[self.velocity_of[symbol]] = value
        return found
