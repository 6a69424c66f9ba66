"""Runs with contacts by explicit methods: the compiled loop decides on modes, and Python where the loop cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Protocol

import numpy as np

from kinegraph.arrays import Floats
from kinegraph.interrupt import Interrupt
from kinegraph.solve.contacts.memory import mode_of
from kinegraph.solve.contacts.mode import ContactSet, ContactTrouble, Mode, Phase, Trouble
from kinegraph.solve.contacts.phases import MOST_AT_ONCE, ModalSystem, coarseness, first_step
from kinegraph.solve.contacts.transition import CHANGE_NAMES, ModeDecision
from kinegraph.solve.ensemble import NO_OUTPUTS
from kinegraph.solve.execution import FIRST_STEPS, Progress, ending_of, run_slices
from kinegraph.solve.loops import contact_phases
from kinegraph.solve.loops.case_outputs import Tally, begin_tally, end_tally
from kinegraph.solve.loops.contact_memory import LOGGED, SAVED_BEFORE, Contacts, write_flags
from kinegraph.solve.loops.contact_modes import adopt
from kinegraph.solve.loops.step import BEGUN, INTERRUPTED, SAVED, STEP, STOPPED, TIME, Work
from kinegraph.solve.loops.zero_crossings import DUE, Watch
from kinegraph.solve.methods.runge_kutta import loop_clock, loop_control, loop_method, loop_system, loop_work
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem import CauchyProblem, EventSet
from kinegraph.solve.recording import Ending, EventRecord, Recorder, Run, Save, Status, watch_of


class CompiledModalSystem(ModalSystem, Protocol):
    """A modal system whose modes loops can decide on, too."""

    @property
    def contacts(self) -> ContactSet:
        """The contacts in numbers."""

    @property
    def memory(self) -> Contacts:
        """The contacts as loops need them."""

    def problem_of(self, closed: bool, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations with all contacts open, or with some closed."""

    def events_of(self, closed: bool) -> EventSet:
        """The events to be watched with all contacts open, or with some closed."""


class PhaseRecorder(Recorder):
    """Memory for states, events, changes of contacts, and phases."""

    def __init__(self, problem: CauchyProblem, save: Save, events: EventSet, system: CompiledModalSystem) -> None:
        super().__init__(problem, save, events)
        self.phases: list[Phase] = []
        self._contacts = system.memory
        self._slips, user = system.contacts.slips, events.names[: system.watched]
        changes = [f"{name}: {change}" for name in system.names for change in CHANGE_NAMES]
        self._names = (*user, *(None for _ in events.names[len(user) :]), *changes)

    def named(self, which: int) -> str | None:
        return self._names[which]

    def record(self, decision: ModeDecision, names: tuple[str, ...], state: Floats) -> None:
        """Record the changes that Python decided on."""
        for one in decision.changes:
            self.keep(EventRecord(f"{names[one.contact]}: {one.name}", one.time, state))

    def drain(self) -> None:
        logged, counts = self._contacts, self._contacts.counts
        for place in range(int(counts[LOGGED])):
            mode = mode_of(logged.log[place], self._slips)
            self.phases.append(Phase(mode, float(logged.starts[place]), int(logged.rows[place])))
        counts[LOGGED] = 0
        if not len(self.saving.grid):
            counts[SAVED_BEFORE] += self.counters[SAVED]
        super().drain()


@dataclass(frozen=True)
class CompiledContactRun:
    """One run: the method and its controller, the modes, where it starts, and what is saved.

    tally, row: where the outputs of a case are kept. slice_steps: steps of the first slice, before Python checks again.
    before: the mode that the run continues; None: the first mode follows from the state.
    """

    tableau: Tableau
    control: Control
    system: CompiledModalSystem
    span: tuple[float, float]
    state: Floats
    save: Save
    tally: Tally = field(default_factory=lambda: NO_OUTPUTS.tally(1, 0))
    row: int = 0
    slice_steps: int = FIRST_STEPS
    before: Mode | None = None

    def run(self, progress: Progress, interrupt: Interrupt) -> Run:
        """Integrate until the end, an event of the user that stops the run, or a failure."""
        begun = perf_counter()
        with progress, np.errstate(all="ignore"), interrupt.catching(), interrupt.deferring():
            ending, loading = self._phases(progress, interrupt, begun)
            end_tally(loop_system(self._open), self.tally, self._work, self.row, float(self._clock[TIME]))
        last = float(self._clock[TIME]), self._work.y.copy()
        run = self._recorder.run(ending, last, perf_counter() - begun, loading)
        return replace(run, phases=tuple(self._recorder.phases))

    @property
    def final(self) -> Floats:
        """The state at the end of the run."""
        return np.array(self._work.y)

    def _phases(self, progress: Progress, interrupt: Interrupt, begun: float) -> tuple[Ending, float]:
        system, loading, at_once, last = self.system, 0.0, 0, -np.inf
        mode, begun_already = self.before, False
        ended: frozenset[str] = frozenset()
        while True:
            time, state = float(self._clock[TIME]), self._work.y.copy()
            at_once = at_once + 1 if time <= last else 0
            last = time
            try:
                if at_once > MOST_AT_ONCE:
                    raise ContactTrouble(Trouble.CHATTER, system.names)
                coarse = coarseness(self._recorder.phases, self.span)
                decision = system.decide_mode(time, state, mode, ended, coarse)
            except ContactTrouble as trouble:
                return Ending(Status.CONTACT, time, detail=str(trouble)), loading
            self._install(decision, state)
            if not begun_already:
                begin_tally(loop_system(self._open), self.tally, self._work, self.row, time)
                begun_already = True
            further = self._advance
            with self._acted(mode, decision.mode):
                code = further(0)
            loading = loading or (perf_counter() - begun if self._open.native else 0.0)
            code = run_slices(code, further, self._clock, self._recorder, progress, interrupt, self.slice_steps)
            self._recorder.drain()
            if interrupt.requested or code != STOPPED:
                code = INTERRUPTED if interrupt.requested else code
                return ending_of(code, self._open, self._recorder, float(self._clock[TIME])), loading
            mode = mode_of(self._contacts.modes, system.contacts.slips)
            ended = self._ended(mode)
            if ended & system.stops:
                return ending_of(code, self._open, self._recorder, float(self._clock[TIME])), loading
            self._work.y[:] = system.reset(float(self._clock[TIME]), self._work.y.copy(), ended)

    def _install(self, decision: ModeDecision, state: Floats) -> None:
        """Let the loop begin a phase in the mode and from the state that Python decided on."""
        self._recorder.record(decision, self.system.names, state)
        self._work.y[:] = self._work.end[:] = self._work.x[: len(state)] = decision.state
        contacts = self._contacts
        adopt(contacts)
        write_flags(contacts.modes, contacts.slips, contacts.flags, self._work.x)
        left = self.span[1] - float(self._clock[TIME])
        self._clock[STEP] = first_step(self.control, decision.rebound, left)
        self._recorder.counters[BEGUN] = 0

    @contextmanager
    def _acted(self, before: Mode | None, after: Mode) -> Iterator[None]:
        """Let events that have just acted begin on the side they go to, so that they do not act a second time."""
        watch = self._watches[any(one.closed for one in after)]
        usual = watch.boundary.copy()
        if before is not None:
            old = self._watches[any(one.closed for one in before)]
            acted = np.flatnonzero(old.stage[: self.system.watched] == DUE)
            watch.boundary[acted] = 0
        yield
        watch.boundary[:] = usual

    def _ended(self, mode: Mode) -> frozenset[str]:
        """The events that ended the last phase."""
        closed = any(one.closed for one in mode)
        watch = self._watches[closed]
        names = self.system.events_of(closed).names
        return frozenset(name for name, stage in zip(names, watch.stage, strict=True) if stage == DUE)

    # arguments of the loop

    @cached_property
    def _advance(self) -> Callable[[int], int]:
        return self._open.bound(contact_phases.advance, *self._arguments)

    @cached_property
    def _arguments(self) -> tuple[object, ...]:
        systems = loop_system(self._open), loop_system(self._closed)
        return (
            systems, loop_method(self.tableau), loop_control(self.tableau, self.control, self._open), self._contacts,
            self._work, self._clock, self._watches, self._recorder.saving, self._recorder.counters,
            float(self.control.begin), self.tally, self.row,
        )  # fmt: skip

    @cached_property
    def _open(self) -> CauchyProblem:
        return self.system.problem_of(False, self.state, *self.span)

    @cached_property
    def _closed(self) -> CauchyProblem:
        return self.system.problem_of(True, self.state, *self.span)

    @cached_property
    def _work(self) -> Work:
        return loop_work(self._open, self.tableau)._replace(projected=self._closed.projected())

    @cached_property
    def _clock(self) -> Floats:
        return loop_clock(*self.span, self.control.begin)

    @property
    def _contacts(self) -> Contacts:
        return self.system.memory

    @cached_property
    def _recorder(self) -> PhaseRecorder:
        return PhaseRecorder(self._open, self.save, self.system.events_of(False), self.system)

    @cached_property
    def _watches(self) -> tuple[Watch, Watch]:
        """Events of open and closed contacts, which write to one record."""
        first = self._recorder.watch
        second = watch_of(self._closed, self.system.events_of(True), self._closed.rhs.size)
        return first, second._replace(times=first.times, which=first.which, states=first.states)
