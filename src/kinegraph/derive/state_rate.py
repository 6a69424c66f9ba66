"""The motion as one system of first order: y = [q, v], y' = [N(q) v, qdd(q, v, tau(t), t)].

For an ordinary coordinate q' is its velocity; for a quaternion with the angular velocity w in the turned axes,
e' = e (0, w) / 2 (product of quaternions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.derive.convert import Names
from kinegraph.derive.derivation import input_names
from kinegraph.errors import DerivationError
from kinegraph.graph.build import Builder
from kinegraph.graph.differentiate import ForwardDerivative, jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Expression
from kinegraph.model.mechanism import Coordinate, Mechanism

#: The name of the state's last entry where forces act: the work they have done.
WORK = "work"


class StateNames(Names):
    """What the names of a mechanism stand for, velocities included."""

    def __init__(self, builder: Builder, mechanism: Mechanism, bound: Mapping[str, Expression]) -> None:
        super().__init__(builder, mechanism, bound)
        self._velocities = frozenset(mechanism.velocity_names)

    def __getitem__(self, name: str) -> Scalar:
        if name in self._velocities:
            return Scalar(self.builder, self.builder.symbol(Kind.VELOCITY, name))
        return super().__getitem__(name)


@dataclass(frozen=True)
class Forces:
    """Generalized forces by name of the coordinate (velocity without its prime).

    formulas: expressions of the state and time. sampled: those whose values arrive as inputs when the code runs.
    """

    formulas: Mapping[str, Expression]
    sampled: tuple[str, ...] = ()

    def check(self, mechanism: Mechanism) -> None:
        """DerivationError for a force on something that is no coordinate."""
        known = [name.removeprefix("tau:") for name in input_names(mechanism)]
        for name in (*self.formulas, *self.sampled):
            if name not in known:
                raise DerivationError(f"there is no coordinate {name!r} to act on; known are {', '.join(known)}")

    @property
    def present(self) -> bool:
        return bool(self.formulas or self.sampled)


NO_FORCES = Forces({})


def position_rates(mechanism: Mechanism, builder: Builder) -> list[Scalar]:
    """q' = N(q) v."""
    return kinematic_rates(mechanism, builder, [builder.symbol(Kind.VELOCITY, n) for n in mechanism.velocity_names])


def kinematic_rates(mechanism: Mechanism, builder: Builder, velocities: Sequence[int]) -> list[Scalar]:
    """N(q) v for any nodes v."""
    v = iter(Scalar(builder, node) for node in velocities)
    rates: list[Scalar] = []
    for coordinate in mechanism.coordinates:
        if isinstance(coordinate, Coordinate):
            rates.append(next(v))
        else:
            e = [Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in coordinate.names]
            rates.extend(_quaternion_rate(e, [next(v), next(v), next(v)]))
    return rates


def _quaternion_rate(e: Sequence[Scalar], w: Sequence[Scalar]) -> list[Scalar]:
    half = Fraction(1, 2)
    return [
        -half * (e[1] * w[0] + e[2] * w[1] + e[3] * w[2]),
        half * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]),
        half * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]),
        half * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]),
    ]


def state_names(mechanism: Mechanism, forces: Forces = NO_FORCES) -> tuple[str, ...]:
    """The entries of y: positions, velocities, and the work of forces where there are any."""
    extra = (WORK,) if forces.present else ()
    return (*mechanism.position_names, *mechanism.velocity_names, *extra)


def state_rate(
    mechanism: Mechanism, accelerations: Graph, bound: Mapping[str, Expression], forces: Forces = NO_FORCES
) -> Graph:
    """The graph with the one output `rate`, from a graph with the output `qdd`.

    Forces that are not named vanish. Where forces act, the last entry of `rate` is their power.
    """
    forces.check(mechanism)
    builder = Builder()
    tau = _forces(mechanism, StateNames(builder, mechanism, bound), forces)
    place = transfer(accelerations, builder, _replacing(builder, {name: item.index for name, item in tau.items()}))
    qdd = moved([accelerations.output("qdd")], place)[0].nodes
    rates = [*(rate.index for rate in position_rates(mechanism, builder)), *qdd]
    if forces.present:
        rates.append(_power(mechanism, builder, tau).index)
    return builder.graph([Output("rate", (len(rates),), tuple(rates))])


def _forces(mechanism: Mechanism, names: StateNames, forces: Forces) -> dict[str, Scalar]:
    """The generalized forces by name of their input symbol."""
    found = {}
    for symbol in input_names(mechanism):
        name = symbol.removeprefix("tau:")
        if name in forces.sampled:
            found[symbol] = Scalar(names.builder, names.builder.symbol(Kind.INPUT, symbol))
        else:
            found[symbol] = names.scalar(forces.formulas[name]) if name in forces.formulas else names.number(0)
    return found


def _replacing(builder: Builder, nodes: Mapping[str, int]) -> Callable[[Symbol], int]:
    def symbol(node: Symbol) -> int:
        known = nodes.get(node.name) if node.kind is Kind.INPUT else None
        return builder.symbol(node.kind, node.name) if known is None else known

    return symbol


def _power(mechanism: Mechanism, builder: Builder, tau: Mapping[str, Scalar]) -> Scalar:
    total = Scalar(builder, builder.zero)
    for name, velocity in zip(input_names(mechanism), mechanism.velocity_names, strict=True):
        total = total + tau[name] * Scalar(builder, builder.symbol(Kind.VELOCITY, velocity))
    return total


def rate_jacobian(mechanism: Mechanism, rate: Graph) -> Graph:
    """d(rate)/dy, row by row; entries of y that are no coordinates or velocities have no influence."""
    builder = Builder()
    roots = moved(rate.outputs, transfer(rate, builder))[0].nodes
    symbols = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.position_names]
    symbols += [builder.symbol(Kind.VELOCITY, name) for name in mechanism.velocity_names]
    rows = jacobian(builder, roots, symbols)
    padding = (builder.zero,) * (len(roots) - len(symbols))
    entries = tuple(entry for row in rows for entry in (*row, *padding))
    return builder.graph([Output("jacobian", (len(roots), len(roots)), entries)])


def along_motion(mechanism: Mechanism, rate: Graph, quantities: Graph) -> Graph:
    """The time derivatives of a graph's outputs along the motion: zero for a first integral."""
    builder = Builder()
    slopes = moved(rate.outputs, transfer(rate, builder))[0].nodes
    outputs = moved(quantities.outputs, transfer(quantities, builder))
    symbols = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.position_names]
    symbols += [builder.symbol(Kind.VELOCITY, name) for name in mechanism.velocity_names]
    seeds = dict(zip(symbols, slopes, strict=False)) | {builder.symbol(Kind.TIME, "t"): builder.one}
    total = ForwardDerivative(builder, seeds)
    return builder.graph([one._replace(nodes=tuple(total(node) for node in one.nodes)) for one in outputs])
