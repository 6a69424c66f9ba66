"""Accelerations that fit loops and constraints at a state: those that are given hold, the others follow.

Rows differentiated twice read J a + bias = 0, where the bias is how their rates change while velocities stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinegraph.assembly.held_values import holding, moved_values, refusal
from kinegraph.derive.constraints.conditions import Floats
from kinegraph.derive.tree.quasi_velocities import position_rates
from kinegraph.errors import AssemblyError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import TIME
from kinegraph.model.mechanism import Mechanism


def fitting_accelerations(
    mechanism: Mechanism, rows: Graph, state: Mapping[str, float], given: Sequence[str], independent: Sequence[str]
) -> Floats:
    """The accelerations of a state with those it names that fit; an error if those that are given contradict.

    rows: `jacobian` and `rate` of all rows. state: values of all symbols by name, also of accelerations (`q1''`).
    given: accelerations that hold; then those of the `independent` velocities do, if they can.
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
    message = refusal(
        mechanism.name, moved_values(state, after, given, held, ()), [one for one in held if one in given]
    )
    if message:
        raise AssemblyError(message)
    return a


def _with_bias(mechanism: Mechanism, rows: Graph) -> Graph:
    """The Jacobian of the rows and how their rates change along the motion, velocities staying."""
    builder = GraphBuilder()
    layout = mechanism.layout
    jacobian, rate = moved([rows.output(name) for name in ("jacobian", "rate")], transfer(rows, builder))
    v = [Scalar(builder, builder.symbol(Kind.VELOCITY, name)) for name in layout.velocities]
    places = [builder.symbol(Kind.COORDINATE, name) for name in layout.positions]
    seeds = {place: one.index for place, one in zip(places, position_rates(mechanism, builder, v), strict=True)}
    change = ForwardDerivative(builder, seeds | {builder.symbol(Kind.TIME, TIME): builder.number(1)})
    bias = Output("bias", rate.shape, tuple(change(node) for node in rate.nodes))
    return builder.graph([jacobian, bias])
