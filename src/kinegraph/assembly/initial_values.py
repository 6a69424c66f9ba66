"""Initial values of mechanisms with loops: values that are kept, consistent accelerations, comparison of positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.conditions import Floats, following_columns
from kinegraph.derive.tree.displacements import position_rates
from kinegraph.errors import AssemblyError
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.expressions import TIME, names
from kinegraph.model.mechanism import Coordinate, Mechanism, Rotation, amounts

# Values that the call sets come first, then those that the model declares, each in the order of the model. A value is
# kept if the values before it do not determine it. Values that nobody gave change as little as possible.

#: Numbers in files and papers are rounded: a value is kept if it changes by no more than this, relative to itself, a
#: radian, the mechanism's longest lever or its largest speed.
ROUNDED = 1e-3
#: Values that changed by more than this, relative to the same scale, are listed: it is visible in six digits.
_VISIBLE = 1e-6


@dataclass(frozen=True)
class MovedValue:
    """An initial value that differs from the given one.

    set: given by the call, not by the model. follows: determined by values that were kept. size: the typical size of
    such values in the mechanism.
    """

    name: str
    given: float
    assembled: float
    set: bool
    follows: bool
    size: float = 1.0

    def beyond(self, part: float) -> bool:
        """Whether it changed by more than `part`, relative to itself and to the typical size."""
        return abs(self.assembled - self.given) > part * (self.size + abs(self.given))

    @property
    def refused(self) -> bool:
        """Whether the change is an error: the call set this value, and it was not kept."""
        return self.set and self.beyond(ROUNDED)


def holding(jacobian: Floats, columns: Mapping[str, Sequence[int]], names: Sequence[str]) -> tuple[str, ...]:
    """The named values that are independent, in order of priority; `columns` of a value are its displacements."""
    follow = following_columns(jacobian, list(dict.fromkeys(k for name in names for k in columns[name])))
    return tuple(name for name in names if not follow.intersection(columns[name]))


def moved_values(
    given: Mapping[str, float], assembled: Mapping[str, float], named: Sequence[str], independent: Sequence[str],
    declared: Sequence[str], sizes: Mapping[str, float] | None = None,
) -> tuple[MovedValue, ...]:  # fmt: skip
    """The named and declared values that changed. independent: those that could be kept. sizes: typical sizes."""
    pairs = [(name, True) for name in named] + [(name, False) for name in declared if name not in named]
    usual = sizes or dict.fromkeys(given, 1.0)
    listed = [
        MovedValue(name, given[name], assembled[name], is_set, name not in independent, usual[name])
        for name, is_set in pairs
    ]
    return tuple(one for one in listed if one.beyond(1e-12))


def moved_values_table(moved: Sequence[MovedValue]) -> list[str]:
    """Lines `name  given -> assembled` for values that changed visibly."""
    visible = [one for one in moved if one.beyond(_VISIBLE)]
    width = max((len(one.name) for one in visible), default=0)
    return [f"{one.name:<{width}}  {one.given:.6g} -> {one.assembled:.6g}" for one in visible]


def moved_values_note(moved: Sequence[MovedValue], most: int = 6) -> str | None:
    """The table on one line, with its first entries; None if it is empty."""
    lines = moved_values_table(moved)
    if not lines:
        return None
    more = f", ... ({len(lines) - most} more)" if len(lines) > most else ""
    return "declared -> assembled: " + ", ".join(" ".join(line.split()) for line in lines[:most]) + more


def moved_values_refusal(model: str, moved: Sequence[MovedValue], independent: Sequence[str]) -> str | None:
    """The error message for set values that were not kept; None if all were kept."""
    refused = [one for one in moved if one.refused]
    if not refused:
        return None
    if any(not one.follows for one in refused):
        why = "the loops and constraints cannot be closed with the given values; the nearest possible values are"
        remedy = "give reachable values, or give fewer: the others follow from the loops"
    else:
        follow = f"these follow from {', '.join(independent)}" if independent else "the loops leave no freedom"
        why = f"the given values contradict the loops and constraints: {follow}"
        remedy = "give fewer values, or use the values on the right"
    lines = "\n".join(f"    {line}" for line in moved_values_table(refused))
    return f"{model}: {why}\n{lines}\n  {remedy}"


def is_among(place: Floats, others: Sequence[Floats], turns: Sequence[int], tolerance: float = 1e-6) -> bool:
    """Whether one of the others is the same position up to full revolutions of the entries `turns` (indices).

    All are compared at once, because searches find hundreds of positions.
    """
    if not others:
        return False
    difference = np.abs(np.array(others) - place)
    part = np.mod(difference[:, list(turns)], 2 * np.pi)
    difference[:, list(turns)] = np.minimum(part, 2 * np.pi - part)
    return bool((difference < tolerance).all(axis=1).any())


def angle_names(mechanism: Mechanism) -> frozenset[str]:
    """The coordinates that occur only in rotations."""
    coordinates = {c.name for c in mechanism.coordinates if isinstance(c, Coordinate)}
    rotated: set[str] = set()
    other: set[str] = set()
    for body in mechanism.bodies:
        for transform in body.transforms:
            found = {name for amount in amounts(transform) for name in names(amount)} & coordinates
            (rotated if isinstance(transform, Rotation) else other).update(found)
    return frozenset(rotated - other)


def wrapped(q: Floats, turns: Sequence[int], box: Floats | None = None) -> Floats:
    """Angles wrapped to the revolution that ends at the upper limit, by default (-pi, pi]; robust to rounding."""
    q = np.array(q, dtype=float)
    for index in turns:
        high = (np.pi if box is None else box[index, 1]) + 1e-9
        q[:, index] = high - np.mod(high - q[:, index], 2 * np.pi)
    return q


# Consistent accelerations: the second derivative of the rows is J a + bias = 0, where the bias is the derivative of the
# rates at constant velocities.


def fitting_accelerations(
    mechanism: Mechanism, rows: Graph, state: Mapping[str, float], given: Sequence[str], independent: Sequence[str]
) -> Floats:
    """Consistent accelerations near those of a state; an error if the given ones contradict the constraints.

    rows: `jacobian` and `rate` of all rows. state: values of all symbols by name, including accelerations (`q1''`).
    given: accelerations to keep; those of the `independent` velocities come next.
    """
    layout = mechanism.layout
    found = interpret(_with_bias(mechanism, rows), dict(state))
    jacobian = np.asarray(found["jacobian"], dtype=float).reshape(-1, len(layout.velocities))
    columns = {name: (column,) for column, name in enumerate(layout.accelerations)}
    further = [name for name, rate in zip(layout.accelerations, layout.velocities, strict=True) if rate in independent]
    held = holding(jacobian, columns, tuple(dict.fromkeys((*given, *further))))
    a = np.array([state[name] for name in layout.accelerations], dtype=float)
    others = [column for column, name in enumerate(layout.accelerations) if name not in held]
    missed = jacobian @ a + np.asarray(found["bias"], dtype=float)
    a[others] -= np.linalg.lstsq(jacobian[:, others], missed, rcond=1e-12)[0]
    after = dict(zip(layout.accelerations, a.tolist(), strict=True))
    message = moved_values_refusal(
        mechanism.name, moved_values(state, after, given, held, ()), [one for one in held if one in given]
    )
    if message:
        raise AssemblyError(message)
    return a


def _with_bias(mechanism: Mechanism, rows: Graph) -> Graph:
    """The Jacobian of the rows, and the derivative of their rates along the motion at constant velocities."""
    builder = GraphBuilder()
    layout = mechanism.layout
    jacobian, rate = moved([rows.output(name) for name in ("jacobian", "rate")], transfer(rows, builder))
    v = [Scalar(builder, builder.symbol(Kind.VELOCITY, name)) for name in layout.velocities]
    places = [builder.symbol(Kind.COORDINATE, name) for name in layout.positions]
    seeds = {place: one.index for place, one in zip(places, position_rates(mechanism, builder, v), strict=True)}
    change = ForwardDerivative(builder, seeds | {builder.symbol(Kind.TIME, TIME): builder.number(1)})
    bias = Output("bias", rate.shape, tuple(change(node) for node in rate.nodes))
    return builder.graph([jacobian, bias])
