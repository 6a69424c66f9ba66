"""A mechanism with contacts as `solve` runs it: equations and events of every mode, and what decides on modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.graph.node import Graph
from kinegraph.model.constraints.records import Contact
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.simulate.contacts.forms import OpenForm, closing
from kinegraph.simulate.contacts.mode_flags import mode_flags
from kinegraph.simulate.event_kernels import event_set, new_states
from kinegraph.solve.contacts.loop_memory import LookedAt
from kinegraph.solve.contacts.mode import ContactSet, Mode, Snapshot
from kinegraph.solve.contacts.settle import Settled, settle
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import set_inputs
from kinegraph.solve.problem.events import Action, Event, EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats, Function, RightHandSide, Signals, code_of


@dataclass(frozen=True)
class ContactSystem:
    """The modes of one run. native: whether kernels are compiled; loops: whether the loops around them are, too."""

    open: OpenForm
    user_events: Sequence[Event]
    inputs: Signals
    span: tuple[float, float]
    native: bool
    loops: bool
    jacobian: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The contacts."""
        return tuple(contact.name for contact in self.open.contacts)

    @property
    def watched(self) -> int:
        """How many events are the user's."""
        return len(self.user_events)

    def settle(self, time: float, state: Floats, before: Mode | None, ended: frozenset[str], coarse: float) -> Settled:
        """The mode to go on with; contacts whose gap ended the one before have closed."""
        due = frozenset(k for k, name in enumerate(self.names) if closing(name) in ended)
        return settle(self.contacts, time, state, before, due, coarse)

    @property
    def stops(self) -> frozenset[str]:
        """Events of the user that stop the run."""
        return frozenset(event.name for event in self.user_events if event.action is Action.STOP)

    def reset(self, time: float, state: Floats, ended: frozenset[str]) -> Floats:
        """The state after the resets of the user that ended a phase, one after the other."""
        for event, function in self._resets.items():
            if event in ended:
                x = np.concatenate(
                    [state, [time], self.inputs.values(np.array([time]))[0], np.zeros(len(self.open.flags))]
                )
                state = np.empty(len(self.open.names))
                call(code_of(function), x, state, 0)
        return state

    @cached_property
    def _resets(self) -> dict[str, Function]:
        graphs = {one.name: new_states(self.open, [one]) for one in self.user_events if one.reset}
        return {name: self.open.function(graph, self.native) for name, graph in graphs.items()}

    @property
    def _ending_events(self) -> list[Event]:
        """The user's events; what resets ends a phase, for the mode is to be decided anew."""
        return [replace(one, action=Action.STOP, reset={}) if one.reset else one for one in self.user_events]

    def problem(self, mode: Mode, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations of a mode."""
        rhs = self.closed_rhs if any(one.closed for one in mode) else self.open_rhs
        return CauchyProblem(rhs, state, start, end, mode_flags(self.open.contacts, mode), self.inputs, self.loops)

    def problem_of(self, closed: bool, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations with all contacts open, or with some closed; the mode is still to be set."""
        rhs = self.closed_rhs if closed else self.open_rhs
        return CauchyProblem(rhs, state, start, end, np.zeros(rhs.parameters), self.inputs, self.loops)

    def events(self, mode: Mode) -> EventSet:
        """The user's events, and what ends the mode."""
        return self.events_of(any(one.closed for one in mode))

    def events_of(self, closed: bool) -> EventSet:
        """The same of a mode with all contacts open, or with some closed."""
        return self._closed_events if closed else self._open_events

    @cached_property
    def open_rhs(self) -> RightHandSide:
        """The equations with all contacts open."""
        return self.open.right_hand_side(self.jacobian, native=self.native)

    @cached_property
    def closed_rhs(self) -> RightHandSide:
        """The equations with some contacts closed."""
        return self.open.closed.right_hand_side(self.jacobian, native=self.native)

    @cached_property
    def _open_events(self) -> EventSet:
        return event_set(self.open, self._ending_events, self.native, self.open.endings)

    @cached_property
    def _closed_events(self) -> EventSet:
        return event_set(self.open.closed, self._ending_events, self.native, self.open.closed.endings)

    @cached_property
    def contacts(self) -> ContactSet:
        """The contacts in numbers."""
        form, values = self.open, parameter_values(self.open.mechanism, self.open.bound)
        layout = form.mechanism.layout
        first = len(layout.positions)
        return ContactSet(
            names=self.names,
            restitution=tuple(
                _between(one, "restitution", number(one.restitution, values), 1) for one in form.contacts
            ),
            friction=tuple(_between(one, "friction", number(one.friction, values), inf) for one in form.contacts),
            slips=tuple(len(one.slip) for one in form.contacts),
            impacts=form.impacts,
            look=self._look(),
            velocities=slice(first, first + len(layout.velocities)),
            duration=self.span[1] - self.span[0],
        )

    @cached_property
    def looked_at(self) -> LookedAt:
        """What a state says of its contacts, as code."""
        graph = self.open.driven(self.open.graphs.impact())
        return LookedAt(self.open.function(graph, self.native), _parts(graph))

    def _look(self) -> Callable[[float, Floats], Snapshot]:
        """The same as a function."""
        function, parts, size = self.looked_at.function, self.looked_at.parts, len(self.open.names)
        code, x = code_of(function), np.zeros(len(self.open.symbols))

        def look(time: float, state: Floats) -> Snapshot:
            values = np.empty(parts[-1][1].stop)
            x[:size], x[size] = state, time
            set_inputs(self.inputs.knots, self.inputs.coefficients, time, x, size + 1)
            call(code, x, values, 0)
            assert function is not None  # its code must live as long as it is called
            return Snapshot(**{name: values[where].reshape(shape) for name, where, shape in parts})

        return look


def _between(contact: Contact, word: str, value: float, most: float) -> float:
    """A coefficient; SolveError if the values of parameters take it out of its range."""
    if not 0.0 <= value <= most:
        wanted = "from 0 to 1" if most == 1 else "that is not below zero"
        raise SolveError(f"{word} of the contact {contact.name} is {float(value):g}: give a number {wanted}")
    return float(value)


def _parts(graph: Graph) -> list[tuple[str, slice, tuple[int, ...]]]:
    """The outputs of a graph: names, where they are among all values, shapes."""
    ends = np.cumsum([len(one.nodes) for one in graph.outputs]).tolist()
    starts = [0, *ends[:-1]]
    return [(one.name, slice(a, b), one.shape) for one, a, b in zip(graph.outputs, starts, ends, strict=True)]
