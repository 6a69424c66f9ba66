"""Events as kernels: conditions and new states, from expressions in q, v, t, parameters and points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kinegraph.compiler.compile import derive
from kinegraph.derive.tree.convert import Names
from kinegraph.errors import SolveError
from kinegraph.graph.build import Builder
from kinegraph.graph.node import Graph, Output
from kinegraph.graph.scalar import Scalar
from kinegraph.graph.transfer import moved, transfer
from kinegraph.model.expression import Expression
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.equations import Equations, VelocityForm, code_of
from kinegraph.simulate.formula import formula
from kinegraph.solve.problem.events import Event, EventSet


class PointNames(Names):
    """Names of the state, and coordinates of output points: `tip.z`."""

    def __init__(self, builder: Builder, equations: Equations) -> None:
        super().__init__(builder, equations.mechanism, equations.bound)
        self._equations = equations
        self._points: dict[str, tuple[int, ...]] = {}

    def __getitem__(self, name: str) -> Scalar:
        point, dot, axis = name.partition(".")
        if not dot:
            return super().__getitem__(name)
        known = [one.name for one in self._equations.mechanism.points]
        if point not in known:
            raise SolveError(f"{name}: there is no output point {point!r}\n  {did_you_mean(point, known)}")
        if point not in self._points:
            graph = derive(self._equations.mechanism, f"pose:{point}", parameters=self._equations.bound)
            self._points[point] = moved(graph.outputs, transfer(graph, self.builder))[0].nodes
        return Scalar(self.builder, self._points[point][4 * "xyz".index(axis) + 3])


def event_set(equations: Equations, events: Sequence[Event], native: bool = True) -> EventSet:
    """The events for the state of these equations, compiled or interpreted."""
    if not events:
        return EventSet()
    values = equations.function(equations.carry(_conditions(equations, events)), native)
    reset = None
    if any(event.reset for event in events):
        if not isinstance(equations, VelocityForm):
            raise SolveError("a symplectic method cannot reset the state: choose another method for this event")
        reset = equations.function(_new_states(equations, events), native)
    return EventSet(
        names=tuple(event.name for event in events),
        directions=tuple(event.direction for event in events),
        actions=tuple(event.action for event in events),
        code=code_of(values),
        reset=code_of(reset),
        keep=(values, reset),
    )


def read(event: Event) -> Event:
    """The event with its texts read as formulas."""
    new = {name: formula(value) for name, value in event.reset.items()}
    return replace(event, condition=formula(event.condition), reset=new)


def _conditions(equations: Equations, events: Sequence[Event]) -> Graph:
    builder = Builder()
    names = PointNames(builder, equations)
    nodes = tuple(names.scalar(_expression(event.condition)).index for event in events)
    return builder.graph([Output("events", (len(nodes),), nodes)])


def _new_states(equations: VelocityForm, events: Sequence[Event]) -> Graph:
    builder = Builder()
    names = PointNames(builder, equations)
    rows: list[int] = []
    for event in events:
        for name in event.reset:
            if name not in equations.names:
                raise SolveError(f"event {event.name}: there is no {name!r} to reset; {', '.join(equations.names)}")
        for symbol, name in zip(equations.state_symbols, equations.names, strict=True):
            if name in event.reset:
                rows.append(names.scalar(_expression(event.reset[name])).index)
            else:
                rows.append(builder.symbol(symbol.kind, symbol.name))
    return builder.graph([Output("reset", (len(events), len(equations.names)), tuple(rows))])


def _expression(value: object) -> Expression:
    assert isinstance(value, Expression)
    return value
