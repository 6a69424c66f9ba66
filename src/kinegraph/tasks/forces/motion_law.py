"""Motion given as laws of time: positions, velocities and accelerations by exact differentiation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.tree.convert import Names
from kinegraph.errors import TaskError
from kinegraph.graph.build import Builder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expression import TIME, Scalar, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formula import formula
from kinegraph.tasks.operating_point import Floats


@dataclass(frozen=True)
class Motion:
    """q, v and a at given times, one row a time, in the order of the coordinates."""

    times: Floats
    q: Floats
    v: Floats
    a: Floats


def motion_of(
    mechanism: Mechanism,
    laws: Mapping[str, Scalar],
    times: Floats,
    parameters: Mapping[str, Scalar] | None = None,
) -> Motion:
    """The motion that laws such as {"s": "0.5*cos(pi*t/T)"} describe; every coordinate needs one."""
    missing = [name for name in mechanism.layout.positions if name not in laws]
    if missing:
        raise TaskError(f"no law of motion for {', '.join(missing)}; give motion={{'{missing[0]}': '...'}}")
    return laws_of(mechanism, {name: laws[name] for name in (*mechanism.layout.positions, *laws)}, times, parameters)


def laws_of(
    mechanism: Mechanism, laws: Mapping[str, Scalar], times: Floats, parameters: Mapping[str, Scalar] | None = None
) -> Motion:
    """The same for some coordinates alone, in the order of the laws."""
    layout = mechanism.layout
    if layout.quaternions:
        raise TaskError("laws of motion are for coordinates, and this mechanism has quaternions")
    for name in laws:
        if name not in layout.positions:
            raise TaskError(f"there is no coordinate {name!r}\n  {did_you_mean(name, layout.positions)}")
    values = float_values(parameter_values(mechanism, parameters))
    found = interpret(_graph(mechanism, laws), values | {TIME: times})
    return Motion(times, *(np.atleast_2d(found[name]) for name in ("q", "v", "a")))


def _graph(mechanism: Mechanism, laws: Mapping[str, Scalar]) -> Graph:
    builder = Builder()
    meaning = Names(builder, mechanism, {})
    rate = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
    known = {parameter.name for parameter in mechanism.parameters} | {TIME, "pi"}
    rows: list[list[int]] = [[], [], []]
    for name, given in laws.items():
        law = formula(given)
        for used in names(law):
            if used not in known:
                hint = did_you_mean(used, known)
                raise TaskError(f"the law of {name} uses {used!r}; it may use t and parameters\n  {hint}")
        node = meaning.scalar(law).index
        for row in rows:
            row.append(node)
            node = rate(node)
    return builder.graph([Output(name, (len(row),), tuple(row)) for name, row in zip("qva", rows, strict=True)])
