"""A mechanism with contacts as `solve` runs it: equations and events of every mode, and what decides on modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from kinegraph.errors import SolveError
from kinegraph.model.constraints.records import Contact
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.simulate.contacts.code import ContactCode
from kinegraph.simulate.contacts.forms import OpenForm, closing
from kinegraph.simulate.contacts.mode_flags import mode_flags
from kinegraph.solve.contacts.loop_memory import LookedAt
from kinegraph.solve.contacts.mode import ContactSet, Mode, Snapshot
from kinegraph.solve.contacts.settle import Settled, settle
from kinegraph.solve.loops.events.dips import ALWAYS, CLOSED_GAP, LOOSELY
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import set_inputs
from kinegraph.solve.problem.events import Action, EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats, Signals, code_of


@dataclass(frozen=True)
class ContactSystem:
    """The modes of one run. loops: whether those around the kernels are compiled; parameters: given when code runs."""

    code: ContactCode
    inputs: Signals
    span: tuple[float, float]
    loops: bool
    parameters: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def _form(self) -> OpenForm:
        return self.code.open

    @property
    def names(self) -> tuple[str, ...]:
        """The contacts."""
        return tuple(contact.name for contact in self._form.contacts)

    @property
    def watched(self) -> int:
        """How many events are the user's."""
        return len(self.code.user_events)

    def settle(self, time: float, state: Floats, before: Mode | None, ended: frozenset[str], coarse: float) -> Settled:
        """The mode to go on with; contacts whose gap ended the one before have closed."""
        due = frozenset(k for k, name in enumerate(self.names) if closing(name) in ended)
        return settle(self.contacts, time, state, before, due, coarse)

    @property
    def stops(self) -> frozenset[str]:
        """Events of the user that stop the run."""
        return frozenset(event.name for event in self.code.user_events if event.action is Action.STOP)

    def reset(self, time: float, state: Floats, ended: frozenset[str]) -> Floats:
        """The state after the resets of the user that ended a phase, one after the other."""
        for event, function in self.code.resets.items():
            if event in ended:
                inputs = self.inputs.values(np.array([time]))[0]
                x = np.concatenate([state, [time], inputs, self.parameters, np.zeros(len(self._form.flags))])
                state = np.empty(len(self._form.names))
                call(code_of(function), x, state, 0)
        return state

    def problem(self, mode: Mode, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations of a mode."""
        closed = any(one.closed for one in mode)
        return self._problem(closed, mode_flags(self._form.contacts, mode), state, start, end)

    def problem_of(self, closed: bool, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations with all contacts open, or with some closed; the mode is still to be set."""
        return self._problem(closed, np.zeros(len(self._form.flags)), state, start, end)

    def _problem(self, closed: bool, flags: Floats, state: Floats, start: float, end: float) -> CauchyProblem:
        rhs = self.code.closed_rhs if closed else self.code.open_rhs
        parameters = np.concatenate([self.parameters, flags])
        return CauchyProblem(rhs, state, start, end, parameters, self.inputs, self.loops)

    def events(self, mode: Mode) -> EventSet:
        """The user's events, and what ends the mode."""
        events = self.events_of(any(one.closed for one in mode))
        watched = tuple(CLOSED_GAP if one.closed else LOOSELY if one.held else ALWAYS for one in mode)
        return replace(events, active=watched, projected=any(one.held for one in mode))

    def events_of(self, closed: bool) -> EventSet:
        """The same of a mode with all contacts open, or with some closed."""
        return self.code.closed_events if closed else self.code.open_events

    @property
    def looked_at(self) -> LookedAt:
        """What a state says of its contacts, as code."""
        return self.code.looked_at

    @cached_property
    def contacts(self) -> ContactSet:
        """The contacts in numbers."""
        form = self._form
        given = dict(zip(form.runtime, self.parameters.tolist(), strict=True))
        values = parameter_values(form.mechanism, {**form.values, **given})
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
            changed=slice(first, first + len(layout.velocities) + form.supplied_by_impacts),
            duration=self.span[1] - self.span[0],
        )

    def _look(self) -> Callable[[float, Floats], Snapshot]:
        """What a state says, as a function."""
        function, parts, size = self.looked_at.function, self.looked_at.parts, len(self._form.names)
        code, x = code_of(function), np.zeros(len(self._form.symbols))
        first = size + 1 + len(self._form.forces.sampled)
        x[first : first + len(self.parameters)] = self.parameters

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
