"""Motion given by laws of time or by samples: positions, velocities and accelerations, and what lies between these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kinegraph.derive.tree.convert import Names
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expression import TIME, Scalar, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formula import formula
from kinegraph.tasks.forces.coordinates_alone import refuse_quaternions
from kinegraph.tasks.forces.smoothing import Measured
from kinegraph.tasks.operating_point import Floats

#: A law of time, differentiated exactly, or samples, smoothed.
Law: TypeAlias = "Scalar | Measured"


@dataclass(frozen=True)
class SampledMotion:
    """q, v and a at given times, one row a time, in the order of the coordinates."""

    times: Floats
    q: Floats
    v: Floats
    a: Floats


def _places(rows: Floats, times: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """For every time the row before it, the part of the way to the next, and how long that way is."""
    k = np.clip(np.searchsorted(rows, times, side="right") - 1, 0, len(rows) - 2)
    step = np.diff(rows)[k, None]
    return k, (times[:, None] - rows[k, None]) / step, step


def quintic(rows: Floats, times: Floats, y: Floats, rate: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Hermite's polynomial from values and two derivatives at both ends: the value and its rate."""
    k, u, step = _places(rows, times)
    y0, y1, d0, d1 = y[k], y[k + 1], rate[k] * step, rate[k + 1] * step
    c0, c1 = second[k] * step**2, second[k + 1] * step**2
    rise, slope, curve = y1 - y0 - d0 - c0 / 2, d1 - d0 - c0, c1 - c0  # what the higher powers have to give at the end
    a, b, c = 10 * rise - 4 * slope + curve / 2, -15 * rise + 7 * slope - curve, 6 * rise - 3 * slope + curve / 2
    value = y0 + u * (d0 + u * (c0 / 2 + u * (a + u * (b + u * c))))
    return np.asarray(value), np.asarray(d0 + u * (c0 + u * (3 * a + u * (4 * b + u * 5 * c)))) / step


def cubic(rows: Floats, times: Floats, y: Floats, rate: Floats) -> Floats:
    """Hermite's polynomial from values and derivatives at both ends."""
    k, u, step = _places(rows, times)
    y0, rise, d0, d1 = y[k], y[k + 1] - y[k], rate[k] * step, rate[k + 1] * step
    return np.asarray(y0 + u * (d0 + u * (3 * rise - 2 * d0 - d1 + u * (d0 + d1 - 2 * rise))))


def require_all_laws(mechanism: Mechanism, laws: Mapping[str, Law]) -> None:
    """TaskError for a coordinate without law."""
    missing = [name for name in mechanism.layout.positions if name not in laws]
    if missing:
        raise TaskError(f"no law of motion for {', '.join(missing)}; give motion={{'{missing[0]}': '...'}}")


def laws_of(
    mechanism: Mechanism, laws: Mapping[str, Law], times: Floats, parameters: Mapping[str, Scalar] | None = None
) -> SampledMotion:
    """The same for some coordinates alone, in the order of the laws."""
    layout = mechanism.layout
    refuse_quaternions(mechanism, "laws of motion are for")
    for name in laws:
        if name not in layout.positions:
            raise TaskError(f"there is no coordinate {name!r}\n  {did_you_mean(name, layout.positions)}")
    values = float_values(parameter_values(mechanism, parameters))
    formulas = {name: law for name, law in laws.items() if not isinstance(law, Measured)}
    found = interpret(_graph(mechanism, formulas), values | {TIME: times})
    rows = np.zeros((3, len(times), len(laws)))
    for order, row in zip("qva", rows, strict=True):
        row[:, [name in formulas for name in laws]] = np.atleast_2d(found[order])
    for place, (name, law) in enumerate(laws.items()):
        if isinstance(law, Measured):
            rows[:, :, place] = law.smoothed(name).derivatives(times).T
    _require_finite(laws, times, rows)
    return SampledMotion(times, *rows)


def _require_finite(laws: Mapping[str, Law], times: Floats, rows: Floats) -> None:
    for place, name in enumerate(laws):
        wrong = ~np.isfinite(rows[:, :, place]).all(axis=0)
        if wrong.any():
            raise TaskError(f"the law of {name} has no finite value or derivative at t = {times[wrong][0]:.6g}")


def _graph(mechanism: Mechanism, laws: Mapping[str, Scalar]) -> Graph:
    builder = GraphBuilder()
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
