"""A run in phases of one mode each, integrated like any other problem; after each phase Python decides on the mode.

The events that end a phase are conditions of its mode: a gap, a contact force, the friction cone, a slip velocity.
They are found like all events, in compiled code where the run is compiled. Explicit methods also decide on modes in
their loops: see `compiled_phases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from time import perf_counter
from typing import Protocol

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.interrupt import Interrupt
from kinegraph.solve.contacts.mode import ContactTrouble, Mode, Phase, Trouble
from kinegraph.solve.contacts.transition import ModeDecision, Rebound
from kinegraph.solve.execution import Progress, Silent
from kinegraph.solve.loops.contact_modes import NEVER, first_step_of
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.step import onto_constraints, set_inputs
from kinegraph.solve.methods.method import RunOptions, Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import CauchyProblem, EventSet, code_of
from kinegraph.solve.recording import Ending, EventRecord, Grid, OwnSteps, Run, Save, Statistics, Status

MOST_AT_ONCE = 100  # phases at one time
_LONGEST, _SHORTEST = 1 / 8, 1e-13  # the longest step of a rebound, as a part of its time; and its lower limit
_PART = 1e-9  # of the height of a rebound: the tolerance of a step
_BLOCK, _MOMENT = 100, 1e-7  # without progress, so many phases take no longer than this part of the run


class ModalSystem(Protocol):
    """A system with modes: the equations and events of each, and how one follows another."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that change their mode."""

    @property
    def watched(self) -> int:
        """The number of the user's events, which come before those that end a phase."""

    @property
    def stops(self) -> frozenset[str]:
        """Events of the user that stop the run."""

    def decide_mode(
        self, time: float, state: Floats, before: Mode | None, ended: frozenset[str], coarse: float
    ) -> ModeDecision:
        """The next mode. before: the last mode, None at the start. ended: the events that ended it. coarse: 1, or more
        if modes follow each other without progress in time."""

    def reset(self, time: float, state: Floats, ended: frozenset[str]) -> Floats:
        """The state after resets by the user's events, if these are among the events that ended a phase."""

    def problem(self, mode: Mode, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations of a mode."""

    def events(self, mode: Mode) -> EventSet:
        """The user's events, and the conditions that end the mode."""


@dataclass
class _Record:
    """The run so far."""

    times: list[Floats] = field(default_factory=list)
    states: list[Floats] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    cost: Statistics = field(default_factory=Statistics)
    rows: int = 0
    deciding: float = 0.0

    def add(self, run: Run, count: int, own: frozenset[str]) -> None:
        """Keep the first rows of a phase's run, and the user's events."""
        self.times.append(run.times[:count])
        self.states.append(run.states[:count])
        self.rows += count
        self.events.extend(one for one in run.events if one.name in own)
        total = {name: getattr(self.cost, name) + value for name, value in vars(run.statistics).items()}
        self.cost = Statistics(**total)

    def add_phase(self, system: ModalSystem, decision: ModeDecision, time: float, state: Floats) -> None:
        """Record a new phase, and the changes that led to it."""
        self.phases.append(Phase(decision.mode, time, self.rows))
        for one in decision.changes:
            self.events.append(EventRecord(f"{system.names[one.contact]}: {one.name}", one.time, state))

    def run(self, ending: Ending, last: tuple[float, Floats], grid: bool) -> Run:
        """The whole run; a run that ended early always ends with its last state."""
        times, states = np.concatenate(self.times), np.concatenate(self.states)
        if (ending.status is not Status.FINISHED or not grid) and (not len(times) or times[-1] < last[0]):
            times, states = np.append(times, last[0]), np.vstack([states, last[1]])
        cost = replace(self.cost, seconds=self.cost.seconds + self.deciding)
        return Run(times, states, ending, tuple(self.events), cost, tuple(self.phases))


def coarseness(phases: Sequence[Phase], span: tuple[float, float]) -> float:
    """How much larger than usual rebounds may be that are ignored: 1, and ten times more for every hundred phases
    within a moment."""
    last = phases[-1].start if phases else span[0]
    within, blocks = _MOMENT * (span[1] - span[0]), 0
    while (blocks + 1) * _BLOCK <= len(phases):
        if last - phases[-(blocks + 1) * _BLOCK].start > (blocks + 1) * within:
            break
        blocks += 1
    return 10.0**blocks


class _Within(Silent):
    """The progress of the whole run, for one phase of it: a phase does not begin or end it."""

    def __init__(self, whole: Progress) -> None:
        self._whole = whole

    def reached(self, amount: float) -> None:
        """Move the bar."""
        self._whole.reached(amount)


def integrate_phases(
    solver: Solver,
    control: Control,
    system: ModalSystem,
    span: tuple[float, float],
    state: Floats,
    save: Save,
    progress: Progress,
    interrupt: Interrupt,
    before: Mode | None = None,
) -> Run:
    """Run a system from one mode to the next, until the end, an event of the user that stops it, or a failure.

    before: the mode that the run continues; None: the first mode follows from the state.
    """
    record, time, mode, at_once = _Record(), span[0], before, 0
    ended: frozenset[str] = frozenset()
    acted: tuple[float, ...] = ()
    record.times.append(np.zeros(0))
    record.states.append(np.zeros((0, len(state))))
    with progress:
        while True:
            begun = perf_counter()
            try:
                if at_once > MOST_AT_ONCE:
                    raise ContactTrouble(Trouble.CHATTER, system.names)
                decision = system.decide_mode(time, state, mode, ended, coarseness(record.phases, span))
            except ContactTrouble as trouble:
                return record.run(Ending(Status.CONTACT, time, detail=str(trouble)), (time, state), _is_grid(save))
            record.add_phase(system, decision, time, state)
            record.deciding += perf_counter() - begun if record.rows else 0.0  # the first compiles kernels
            mode = decision.mode
            events = _after(system.events(mode), acted)
            run, count = _phase(solver, control, system, decision, events, (time, span[1]), save, progress, interrupt)
            record.add(run, count, frozenset(events.names[: system.watched]))
            at_once = at_once + 1 if run.ending.time <= time else 0
            time, state = run.ending.time, run.states[-1]
            ended = frozenset(one.name for one in run.events if one.time == time)
            progress.reached(time)
            if run.ending.status is not Status.EVENT or ended & system.stops:
                return record.run(run.ending, (time, state), _is_grid(save))
            state = _put_back(system.problem(mode, state, *span), time, state)
            acted = _residuals(system.problem(mode, state, *span), system, events, time, ended)
            state = system.reset(time, state, ended)


def _put_back(problem: CauchyProblem, time: float, state: Floats) -> Floats:
    """The state at an event, projected onto closed contacts: dense output leaves speeds that would count as impacts."""
    if problem.rhs.projection == 0:
        return state
    x, size = problem.argument(), len(state)
    x[size] = time
    onto_constraints(code_of(problem.rhs.projection), x, size, problem.projected())
    return x[:size].copy()


def _residuals(
    problem: CauchyProblem, system: ModalSystem, events: EventSet, time: float, ended: frozenset[str]
) -> tuple[float, ...]:
    """The distance from zero of the user's events that ended a phase, -1 for all others.

    The next phase begins there, and these events must not act again.
    """
    if not ended & frozenset(events.names[: system.watched]):
        return ()
    x, values, size = problem.argument(), np.zeros(len(events.names)), problem.rhs.size
    x[size] = time
    set_inputs(problem.inputs.knots, problem.inputs.coefficients, time, x, size + 1)
    call(code_of(events.code), x, values, 0)
    own = zip(events.names[: system.watched], values.tolist(), strict=False)
    return tuple(abs(value) if name in ended else -1.0 for name, value in own)


def _after(events: EventSet, acted: tuple[float, ...]) -> EventSet:
    """The events of a mode, of which the first may have acted at its start."""
    return replace(events, acted=acted + (-1.0,) * (len(events.names) - len(acted)))


def _is_grid(save: Save) -> bool:
    return isinstance(save, Grid)


def _phase(
    solver: Solver,
    control: Control,
    system: ModalSystem,
    decision: ModeDecision,
    events: EventSet,
    span: tuple[float, float],
    save: Save,
    progress: Progress,
    interrupt: Interrupt,
) -> tuple[Run, int]:
    """One phase, and how many of its rows belong to the run."""
    problem = system.problem(decision.mode, decision.state, *span)
    grid = _remaining(save, span)
    rebound = decision.rebound if decision.rebound and decision.rebound.time < span[1] - span[0] else None
    chosen = _careful(solver, control, rebound)
    run = solver.integrate(problem, chosen, RunOptions(grid, events, _Within(progress), interrupt))
    if not isinstance(save, Grid):
        return run, len(run.times)
    wanted = save.times[(save.times > span[0]) | ((save.times == span[0]) & (span[0] == save.times[0]))]
    return run, int(np.searchsorted(wanted, run.ending.time, side="right"))


def _remaining(save: Save, span: tuple[float, float]) -> Save:
    """The times still to be saved; a grid that has been passed still needs a time."""
    if isinstance(save, OwnSteps):
        return save
    first = save.times[0] == span[0]
    left = save.times[save.times > span[0]] if not first else save.times
    return Grid(left) if len(left) else Grid(np.array([span[1]]))


def first_step(control: Control, rebound: Rebound | None, left: float) -> float:
    """The first step of a phase, with so much time left: short beside a rebound."""
    return first_step_of(not control.adaptive, control.begin, rebound.time if rebound else NEVER, left)


def _careful(solver: Solver, control: Control, rebound: Rebound | None) -> Control:
    """Begin with steps that are short beside a rebound, which may be lower than all tolerances."""
    if not control.adaptive or rebound is None:
        return control
    first = first_step(control, rebound, inf)
    if not solver.capabilities.starts_slowly:
        return replace(control, first_step=first)
    longest = min(control.longest, max(_LONGEST * rebound.time, _SHORTEST))
    atol = control.atol if isinstance(control.atol, Mapping) else min(control.common_atol, _PART * rebound.height)
    return replace(control, first_step=first / 8, max_step=longest, atol=atol)
