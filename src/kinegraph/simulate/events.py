"""Events of a mechanism as kernels, and the step limits that time-dependent conditions need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, pi

import numpy as np

from kinegraph.codegen.program.binding import Argument
from kinegraph.errors import SolveError
from kinegraph.graph.build import GraphBuilder, Scalar, moved, transfer
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.enclose import Enclosed, Enclosure
from kinegraph.graph.node import Graph, Kind, Output, Symbol, children
from kinegraph.graph.proof import prove
from kinegraph.model.expressions import TIME, Expression, names
from kinegraph.simulate.equations import Equations, row_values
from kinegraph.simulate.formulas import StateNames, formula
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem import Action, Direction, Event, EventSet, Floats, Function

# Events as kernels: conditions and new states, from expressions in q, v, t, parameters and points.

#: Prefixes of the symbols of a box, which follow those of a state: rates, radii, and radii of rates.
_BOX = "rate", "radius", "spread"


@dataclass(frozen=True)
class Endings:
    """Further named conditions: a run stops when one of them becomes negative. boundaries: those of positions alone.

    gaps: conditions that must not become negative even between two samples. places: their indices among the
    conditions. holds: whether they also stop a run that starts negative.
    """

    names: tuple[str, ...]
    conditions: Graph
    boundaries: tuple[bool, ...]
    gaps: Graph | None = None
    places: tuple[int, ...] = ()
    holds: bool = False


def event_set(
    equations: Equations, events: Sequence[Event], native: bool = True, endings: Endings | None = None
) -> EventSet:
    """The events for the state of these equations, compiled or interpreted."""
    if not events and endings is None:
        return EventSet()
    texts = tuple(_expression(event.condition) for event in events)
    conditions = equations.stored("events", texts, lambda: _conditions(equations, events, texts))
    boundaries = _boundaries(conditions, events)
    transferred = equations.carry(conditions)
    further = () if endings is None else endings.names
    if endings is not None:
        transferred, boundaries = _joined(transferred, endings.conditions), (*boundaries, *endings.boundaries)
    values = equations.function(transferred, native)
    along = equations.stored("slopes", (texts, further), lambda: slopes_along(equations, transferred))
    slopes = equations.slope_function(along, native)
    reset: Function = 0
    if any(event.reset for event in events):
        reset = equations.function(equations.carry_states(new_states(equations, events)), native)
    enclosed: tuple[int, ...] = ()
    enclosure: Function = 0
    needed: tuple[int, ...] = ()
    if endings is not None and endings.gaps is not None:
        enclosed = tuple(len(events) + place for place in endings.places)
        enclosure, needed = _enclosure(equations, endings.gaps, further, native)
    return EventSet(
        names=(*(event.name for event in events), *further),
        directions=(*(event.direction for event in events), *(Direction.FALLING for _ in further)),
        actions=(*(event.action for event in events), *(Action.STOP for _ in further)),
        boundaries=boundaries,
        holding=(*(event.holds for event in events), *(endings is not None and endings.holds for _ in further)),
        code=values,
        slope=slopes,
        reset=reset,
        enclosure=enclosure,
        enclosed=enclosed,
        needed=needed,
    )


def _enclosure(
    equations: Equations, gaps: Graph, further: tuple[str, ...], native: bool
) -> tuple[Function, tuple[int, ...]]:
    """Enclosures of gaps and their rates as a function of x, radii, rates and their radii; and which entries of y
    matter."""
    symbols = equations.state_symbols
    rates, radii, spreads = ([Symbol(Kind.INPUT, f"{word}:{one.name}") for one in symbols] for word in _BOX)
    time, duration = Symbol(Kind.TIME, TIME), Symbol(Kind.INPUT, f"radius:{TIME}")
    along = {**dict(zip(symbols, rates, strict=True)), time: None}
    around = dict(zip((*symbols, *rates, time), (*radii, *spreads, duration), strict=True))
    graph = equations.stored("enclosures", further, lambda: enclosures(gaps, along, around))
    arguments = (("x", equations.symbols), ("radii", (*radii, duration)), ("rates", rates), ("spreads", spreads))
    kernel = equations.kernel(graph, [Argument(name, tuple(part)) for name, part in arguments], native)
    used = set(gaps.symbols())
    return kernel, tuple(place for place, one in enumerate(symbols) if one in used)


def enclosures(conditions: Graph, rates: Mapping[Symbol, Symbol | None], radii: Mapping[Symbol, Symbol]) -> Graph:
    """Midpoints and radii of conditions and of their rates. rates: symbols for the rates of symbols (None: one). radii:
    of both."""
    builder = GraphBuilder()
    (values,) = moved(conditions.outputs, transfer(conditions, builder))

    def node(one: Symbol) -> int:
        return builder.symbol(one.kind, one.name)

    along = ForwardDerivative(
        builder, {node(one): builder.one if rate is None else node(rate) for one, rate in rates.items()}
    )
    slopes = [along(value) for value in values.nodes]
    enclosed = Enclosed(
        builder,
        {node(one): Enclosure(Scalar(builder, node(one)), Scalar(builder, node(r))) for one, r in radii.items()},
    )
    found = [[enclosed(value) for value in part] for part in (values.nodes, slopes)]
    nodes = [tuple(getattr(one, word).index for one in part) for part in found for word in ("middle", "radius")]
    names = ("values", "value_radii", "rates", "rate_radii")
    return builder.graph([Output(name, (len(part),), part) for name, part in zip(names, nodes, strict=True)])


def _joined(first: Graph, second: Graph) -> Graph:
    """The values of both graphs as one output."""
    builder = GraphBuilder()
    nodes = [node for one in (first, second) for node in moved(one.outputs, transfer(one, builder))[0].nodes]
    return builder.graph([Output("events", (len(nodes),), tuple(nodes))])


def read(event: Event) -> Event:
    """The event with its texts parsed as formulas."""
    new = {name: formula(value, name) for name, value in event.reset.items()}
    return replace(event, condition=formula(event.condition), reset=new)


def _conditions(equations: Equations, events: Sequence[Event], texts: Sequence[Expression]) -> Graph:
    """The conditions in q, v and t."""
    builder = GraphBuilder()
    nodes = tuple(one.index for one in StateNames(builder, equations).read(texts))
    found = builder.graph([Output("events", (len(nodes),), nodes)])
    _refuse_zeros(equations, found, [event.name for event in events])
    return found


def _refuse_zeros(equations: Equations, conditions: Graph, names: Sequence[str]) -> None:
    """SolveError for a condition that is zero at every state, such as the height of a point in a level plane."""
    if not names:
        return
    builder = GraphBuilder()
    zeros = builder.graph([Output("events", (len(names),), (builder.zero,) * len(names))])
    layout = equations.mechanism.layout
    quaternions = [
        [Symbol(Kind.COORDINATE, name) for name in layout.positions[start : start + 4]] for start in layout.quaternions
    ]
    different = {place for _, place in prove(conditions, zeros, quaternions=quaternions).differences}
    for place, name in enumerate(names):
        if place not in different:
            raise SolveError(
                f"event {name}: the condition is zero at every state, so it never crosses zero\n  write a "
                "condition that changes along the motion"
            )


def _boundaries(conditions: Graph, events: Sequence[Event]) -> tuple[bool, ...]:
    """Which events have a condition that does not depend on velocities."""
    moving = [isinstance(node, Symbol) and node.kind is Kind.VELOCITY for node in conditions.nodes]
    for index, node in enumerate(conditions.nodes):
        moving[index] = moving[index] or any(moving[child] for child in children(node))
    places = conditions.outputs[0].nodes
    return tuple(
        event.action is not Action.RECORD and not moving[place] for event, place in zip(events, places, strict=True)
    )


def slopes_along(equations: Equations, conditions: Graph) -> Graph:
    """The rates of conditions along the motion, from the rates of y and of the inputs as symbols."""
    builder = GraphBuilder()
    (values,) = moved(conditions.outputs, transfer(conditions, builder))
    rates = zip(equations.moving_symbols, equations.rate_symbols, strict=True)
    seeds = {builder.symbol(one.kind, one.name): builder.symbol(rate.kind, rate.name) for one, rate in rates}
    along = ForwardDerivative(builder, seeds | {builder.symbol(Kind.TIME, TIME): builder.one})
    return builder.graph([Output("slopes", values.shape, tuple(along(node) for node in values.nodes))])


def new_states(equations: Equations, events: Sequence[Event]) -> Graph:
    """The states after the resets of events, in q and v (and balances), one row per event."""
    builder = GraphBuilder()
    names = StateNames(builder, equations)
    symbols = equations.velocity_symbols
    known = [symbol.name for symbol in symbols]
    rows: list[int] = []
    for event in events:
        for name in event.reset:
            if name not in known:
                raise SolveError(
                    f"event {event.name}: unknown variable {name!r} in the reset; choose from {', '.join(known)}"
                )
        for symbol in symbols:
            if symbol.name in event.reset:
                rows.append(names.scalar(_expression(event.reset[symbol.name])).index)
            else:
                rows.append(builder.symbol(symbol.kind, symbol.name))
    return builder.graph([Output("reset", (len(events), len(symbols)), tuple(rows))])


def _expression(value: object) -> Expression:
    assert isinstance(value, Expression)
    return value


# Step limits for conditions with prescribed motions. A gap z - a sin(w t) is sampled at four points of every step, and
# a ball in free fall allows steps of any length. So the pace of the prescribed motion limits the step: for a sine, the
# third derivative is w^2 times the first.

_TIMES = 512  # times of the run at which prescribed motions are sampled
_PART = 0.5  # of half a period: the longest step


def paced_by_events(
    control: Control, equations: Equations, events: Sequence[Event], state: Floats, span: tuple[float, float]
) -> Control:
    """The controller with steps short enough for conditions that depend on time explicitly."""
    timed = [one.condition for one in events if isinstance(one.condition, Expression) and TIME in names(one.condition)]
    if not timed or not isinstance(control, Adaptive):
        return control
    builder = GraphBuilder()
    nodes = [one.index for one in StateNames(builder, equations).read(timed)]
    graph = led_rates(builder.graph([Output("values", (len(nodes),), tuple(nodes))]))
    rest = np.zeros(len(equations.symbols) - len(state) - 1)
    return paced(control, equations.carry(graph), equations, (state, rest), span)


def led_rates(values: Graph) -> Graph:
    """The first and third explicit time derivatives of values."""
    builder = GraphBuilder()
    (found,) = moved(values.outputs, transfer(values, builder))
    by_time = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
    first = [by_time(node) for node in found.nodes]
    rates = {"first": first, "third": [by_time(by_time(node)) for node in first]}
    return builder.graph([Output(name, (len(part),), tuple(part)) for name, part in rates.items()])


def paced(
    control: Adaptive, rates: Graph, equations: Equations, x: tuple[Floats, Floats], span: tuple[float, float]
) -> Control:
    """The controller with steps that resolve prescribed motions. x: the arguments before and after the time."""
    times = np.random.default_rng(4).uniform(*span, _TIMES)
    before, after = (np.tile(part, (_TIMES, 1)) for part in x)
    with np.errstate(all="ignore"):  # a prescribed motion may have no derivative at a kink
        found = row_values(rates, equations.symbols, np.hstack([before, times[:, None], after]))
    columns = (np.broadcast_to(found[name], (_TIMES, len(rates.output(name).nodes))).T for name in ("first", "third"))
    fastest = max((_square_of_pace(*pair) for pair in zip(*columns, strict=True)), default=0.0)
    longest = _PART * pi / float(np.sqrt(fastest)) if fastest > 0.0 else inf
    return control if longest >= control.longest else replace(control, max_step=longest)


def _square_of_pace(first: Floats, third: Floats) -> float:
    slope, bend = (float(np.max(np.abs(one), initial=0.0)) for one in (first, third))
    return bend / slope if slope > 0.0 and np.isfinite(bend / slope) else 0.0
