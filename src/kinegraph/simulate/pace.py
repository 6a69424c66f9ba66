"""How long steps may be beside laws of time that only conditions name: nothing in the motion tells of them.

A gap z - a sin(w t) is looked at at four points of every step, and a ball in free fall allows steps of any length. So
steps are limited by the pace of the law: of a sine, the third rate is w^2 times the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, pi

import numpy as np

from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import TIME, Expression, names
from kinegraph.simulate.equations import Equations, row_values
from kinegraph.simulate.state_names import StateNames
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem.events import Event
from kinegraph.solve.problem.problem import Floats

_TIMES = 512  # of the run at which laws are looked at
_PART = 0.5  # of half a swing is the longest step


def paced_by_events(
    control: Control, equations: Equations, events: Sequence[Event], state: Floats, span: tuple[float, float]
) -> Control:
    """The controller with steps that do not pass over what conditions of events do by time alone."""
    timed = [one.condition for one in events if isinstance(one.condition, Expression) and TIME in names(one.condition)]
    if not timed or not isinstance(control, Adaptive):
        return control
    builder = GraphBuilder()
    nodes = [one.index for one in StateNames(builder, equations).read(timed)]
    graph = led_rates(builder.graph([Output("values", (len(nodes),), tuple(nodes))]))
    rest = np.zeros(len(equations.symbols) - len(state) - 1)
    return paced(control, equations.carry(graph), equations, (state, rest), span)


def led_rates(values: Graph) -> Graph:
    """The first and the third rate of values by time alone."""
    builder = GraphBuilder()
    (found,) = moved(values.outputs, transfer(values, builder))
    by_time = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
    first = [by_time(node) for node in found.nodes]
    rates = {"first": first, "third": [by_time(by_time(node)) for node in first]}
    return builder.graph([Output(name, (len(part),), tuple(part)) for name, part in rates.items()])


def paced(
    control: Adaptive, rates: Graph, equations: Equations, x: tuple[Floats, Floats], span: tuple[float, float]
) -> Control:
    """The controller with steps that follow laws; x: what stands before and after the time in arguments."""
    times = np.random.default_rng(4).uniform(*span, _TIMES)
    before, after = (np.tile(part, (_TIMES, 1)) for part in x)
    with np.errstate(all="ignore"):  # a law may have no rates where it bends
        found = row_values(rates, equations.symbols, np.hstack([before, times[:, None], after]))
    columns = (np.broadcast_to(found[name], (_TIMES, len(rates.output(name).nodes))).T for name in ("first", "third"))
    fastest = max((_square_of_pace(*pair) for pair in zip(*columns, strict=True)), default=0.0)
    longest = _PART * pi / float(np.sqrt(fastest)) if fastest > 0.0 else inf
    return control if longest >= control.longest else replace(control, max_step=longest)


def _square_of_pace(first: Floats, third: Floats) -> float:
    slope, bend = (float(np.max(np.abs(one), initial=0.0)) for one in (first, third))
    return bend / slope if slope > 0.0 and np.isfinite(bend / slope) else 0.0
