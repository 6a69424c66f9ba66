"""Runs of a mechanism with contacts: the modal system, the integrator, the task, and checks of the result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.derive.dynamics.state_rate import SIGNS
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.model.constraints import Contact
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.simulate.checks.first_integrals import ENERGY
from kinegraph.simulate.contacts.equations import ContactCode, OpenForm, closing
from kinegraph.simulate.events import paced
from kinegraph.simulate.observation import KINETIC, POTENTIAL, energy_error
from kinegraph.simulate.run_task import Task
from kinegraph.solve.contacts.compiled_phases import CompiledContactRun
from kinegraph.solve.contacts.memory import contact_memory, numbers_of
from kinegraph.solve.contacts.mode import ContactSet, Mode
from kinegraph.solve.contacts.phases import integrate_phases
from kinegraph.solve.contacts.transition import ModeDecision, decide_mode
from kinegraph.solve.execution import Execution
from kinegraph.solve.loops.case_outputs import Tally
from kinegraph.solve.loops.contact_memory import Contacts
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.penetration import ALWAYS, CLOSED_GAP, LOOSELY
from kinegraph.solve.loops.step import System
from kinegraph.solve.methods.method import AS_USUAL, SILENT, RunOptions, SolverAround
from kinegraph.solve.methods.runge_kutta import loop_system
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.problem import Action, CauchyProblem, EventSet, RightHandSide, Signals, code_of
from kinegraph.solve.recording import Grid, Run
from kinegraph.solve.solution import Check


@dataclass(frozen=True)
class ContactSystem:
    """The modes of one run. loops: whether loops are compiled. parameters: the values given at run time."""

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
        """The names of the contacts."""
        return tuple(contact.name for contact in self._form.contacts)

    @property
    def watched(self) -> int:
        """The number of the user's events."""
        return len(self.code.user_events)

    def decide_mode(
        self, time: float, state: Floats, before: Mode | None, ended: frozenset[str], coarse: float
    ) -> ModeDecision:
        """The next mode; contacts whose gap ended the last one have closed."""
        contacts = self.memory
        contacts.modes[:] = numbers_of(before) if before is not None else 0.0
        contacts.closed[:] = [closing(name) in ended for name in self.names]
        return decide_mode(self._system, contacts, self.names, time, state, coarse, before is None)

    @property
    def stops(self) -> frozenset[str]:
        """The user's events that stop the run."""
        return frozenset(event.name for event in self.code.user_events if event.action is Action.STOP)

    def reset(self, time: float, state: Floats, ended: frozenset[str]) -> Floats:
        """The state after the user's resets that ended a phase, one after the other."""
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
        return self._problem(closed, self._form.mode_flags(mode), state, start, end)

    def problem_of(self, closed: bool, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations with all contacts open, or with some closed; the flags are still zero."""
        return self._problem(closed, np.zeros(len(self._form.flags)), state, start, end)

    def _problem(self, closed: bool, flags: Floats, state: Floats, start: float, end: float) -> CauchyProblem:
        rhs = self.code.closed_rhs if closed else self.code.open_rhs
        parameters = np.concatenate([self.parameters, flags])
        return CauchyProblem(rhs, state, start, end, parameters, self.inputs, self.loops)

    def events(self, mode: Mode) -> EventSet:
        """The user's events, and the conditions that end the mode."""
        events = self.events_of(any(one.closed for one in mode))
        watched = tuple(CLOSED_GAP if one.closed else LOOSELY if one.held else ALWAYS for one in mode)
        return replace(events, active=watched, projected=any(one.held for one in mode))

    def events_of(self, closed: bool) -> EventSet:
        """The same for modes with all contacts open, or with some closed."""
        return self.code.closed_events if closed else self.code.open_events

    @cached_property
    def memory(self) -> Contacts:
        """The contacts as loops need them."""
        return contact_memory(self.contacts, self.code.observation, self._open_problem, self.watched)

    @cached_property
    def _system(self) -> System:
        return loop_system(self._open_problem)

    @cached_property
    def _open_problem(self) -> CauchyProblem:
        return self.problem_of(False, np.zeros(len(self._form.names)), *self.span)

    @cached_property
    def contacts(self) -> ContactSet:
        """The numerical data of the contacts."""
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
            changed=slice(first, first + len(layout.velocities) + form.supplied_by_impacts),
            duration=self.span[1] - self.span[0],
        )


def _between(contact: Contact, word: str, value: float, most: float) -> float:
    """A coefficient; SolveError if parameter values take it out of its range."""
    if not 0.0 <= value <= most:
        wanted = "from 0 to 1" if most == 1 else "that is not negative"
        raise SolveError(f"{word} of contact {contact.name!r} is {float(value):g}: give a number {wanted}")
    return float(value)


_CASE_STEPS = 512  # of a case, before Python checks again: a call of the loop costs as much as some dozens


@dataclass(frozen=True)
class ContactSolver(SolverAround):
    """A method with the modes of one mechanism. It uses the start, parameters, inputs and span of a problem."""

    code: ContactCode

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        """Run from mode to mode. The events are those of the code."""
        save, progress, token, tableau = options.save, options.progress, options.token, self.capabilities.lanes
        span, system, chosen = (problem.start, problem.end), self._system(problem), self._control(control, problem)
        if tableau is not None:
            run = CompiledContactRun(tableau, chosen, system, span, problem.state, save, before=options.before)
            return run.run(progress, token)
        return integrate_phases(self.method, chosen, system, span, problem.state, save, progress, token, options.before)

    def case(
        self, problem: CauchyProblem, control: Control, save: Grid, tally: Tally, row: int, before: Mode | None = None
    ) -> tuple[Run, Floats]:
        """A run by an explicit method with a tally, and its last state. before: the mode that it continues."""
        tableau, span = self.capabilities.lanes, (problem.start, problem.end)
        assert tableau is not None
        chosen, system = self._control(control, problem), self._system(problem)
        run = CompiledContactRun(tableau, chosen, system, span, problem.state, save, tally, row, _CASE_STEPS, before)
        return run.run(SILENT, Interrupt()), run.final

    def _control(self, control: Control, problem: CauchyProblem) -> Control:
        form = self.code.open
        if form.led_gaps is not None and isinstance(control, Adaptive):
            x = problem.state, np.concatenate([np.zeros(problem.rhs.inputs), problem.parameters])
            control = paced(control, form.led_gaps, form, x, (problem.start, problem.end))
        return self.method.accept(control)

    def _system(self, problem: CauchyProblem) -> ContactSystem:
        """The modes of a run of this problem."""
        given = problem.parameters[: len(self.code.open.runtime)]
        return ContactSystem(self.code, problem.inputs, (problem.start, problem.end), problem.native, given)


def with_flags(columns: Floats, code: ContactCode) -> Floats:
    """Rows of parameters with room for mode flags."""
    return np.hstack([columns, np.zeros((len(columns), len(code.open.flags)))])


@dataclass(frozen=True)
class ContactTask(Task):
    """Equations with contacts, their initial state, and the method to integrate them."""

    def _numbers(self, rhs: RightHandSide) -> Floats:
        return np.zeros(rhs.parameters)

    def _run(self, problem: CauchyProblem, control: Control, execution: Execution, options: RunOptions) -> Run:
        return self.controlled(self._contact_solver(execution)).integrate(problem, control, options)

    def _contact_solver(self, execution: Execution) -> ContactSolver:
        """The method with the modes of this run."""
        form = self.equations
        if not isinstance(form, OpenForm):
            raise SolveError("contacts already project every state onto the constraints: omit `baumgarte`")
        native = execution is not Execution.INTERPRETED
        return ContactSolver(self.solver, ContactCode(form, self.events, native, self.solver.capabilities.jacobian))


# Checks: contacts must not create energy or let bodies penetrate.

_ROUNDING = 1e-12


def contact_checks(
    columns: Mapping[str, Floats], balances: Mapping[str, Floats], gaps: Floats, positions: Floats, rtol: float | None
) -> tuple[Check, ...]:
    """The largest rise of the energy, less its balances, above an earlier value; and the deepest penetration."""
    left = columns[ENERGY] - sum((SIGNS[name] * column for name, column in balances.items()), np.zeros(1))
    gained = float(np.max(left - np.minimum.accumulate(left), initial=0.0))
    error = energy_error(gained, columns[KINETIC], columns[POTENTIAL], balances.values())
    limit = None if rtol is None else max(1e4 * rtol, 1e-10)
    energy = Check("energy gained with contacts", error, limit)
    return energy, _penetration(gaps, positions, rtol)


def _penetration(gaps: Floats, positions: Floats, rtol: float | None) -> Check:
    """The deepest penetration at the integrated states, relative to the sizes of gaps and coordinates."""
    deepest = float(np.max(-gaps, initial=0.0))
    size = max(float(np.max(np.abs(part), initial=0.0)) for part in (gaps, positions))
    limit = (1e-4 if rtol is None else max(1e2 * rtol, 1e-9)) + _ROUNDING / max(size, _ROUNDING)
    return Check("deepest penetration at contacts", deepest / size if size > 0 else deepest, limit)
