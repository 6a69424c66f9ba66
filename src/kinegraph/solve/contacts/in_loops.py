"""A run with contacts by an explicit method: modes are decided in its loop, and here only where that cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Protocol

import numpy as np

from kinegraph.interrupt import Interrupt
from kinegraph.solve.batch.outputs import NO_OUTPUTS
from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.loop_memory import WORDS, LookedAt, contact_memory, mode_of, numbers_of
from kinegraph.solve.contacts.mode import ContactSet, Mode, Phase
from kinegraph.solve.contacts.phases import ModalSystem, coarseness, first_step_of
from kinegraph.solve.contacts.settle import Settled
from kinegraph.solve.contacts.trouble import ContactTrouble, Trouble
from kinegraph.solve.loops.contacts import phases as loop
from kinegraph.solve.loops.contacts.memory import LOGGED, SAVED_BEFORE, Contacts, write_flags
from kinegraph.solve.loops.events.watch import DUE, Watch
from kinegraph.solve.loops.many.tally import Tally, begin_tally, end_tally
from kinegraph.solve.loops.record import BEGUN, INTERRUPTED, SAVED, STEP, STOPPED, TIME
from kinegraph.solve.loops.step import Work
from kinegraph.solve.methods.runge_kutta import loop_control, loop_method, loop_system, loop_work
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem
from kinegraph.solve.problem.progress import Progress
from kinegraph.solve.problem.slices import FIRST_STEPS, ending_of, run_slices
from kinegraph.solve.results.recording import EventRecord, Recorder, Run, Save, watch_of
from kinegraph.solve.results.status import Ending, Status

_MOST_AT_ONCE = 100  # decisions without any time


class LoopedModalSystem(ModalSystem, Protocol):
    """A modal system whose decisions loops can make, too."""

    @property
    def contacts(self) -> ContactSet:
        """The contacts in numbers."""

    @property
    def looked_at(self) -> LookedAt:
        """What a state says of them, as code."""

    def problem_of(self, closed: bool, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations with all contacts open, or with some closed."""

    def events_of(self, closed: bool) -> EventSet:
        """The events to be watched with all contacts open, or with some closed."""


class PhaseRecorder(Recorder):
    """Memory for states, events, what happens to contacts, and phases."""

    def __init__(self, problem: CauchyProblem, save: Save, events: EventSet, system: LoopedModalSystem) -> None:
        super().__init__(problem, save, events)
        self.phases: list[Phase] = []
        self._contacts: Contacts | None = None
        self._slips, user = system.contacts.slips, events.names[: system.watched]
        event_names = [f"{name}: {word}" for name in system.names for word in WORDS]
        self._told = (*user, *(None for _ in events.names[len(user) :]), *event_names)

    def attach(self, contacts: Contacts) -> None:
        """Read the log of these contacts from now on."""
        self._contacts = contacts

    def named(self, which: int) -> str | None:
        return self._told[which]

    def tell(self, settled: Settled, names: tuple[str, ...], state: Floats) -> None:
        """Keep what Python decided."""
        for one in settled.happened:
            self.keep(EventRecord(f"{names[one.contact]}: {one.word}", one.time, state))

    def drain(self) -> None:
        assert self._contacts is not None
        logged, counts = self._contacts, self._contacts.counts
        for place in range(int(counts[LOGGED])):
            mode = mode_of(logged.log[place], self._slips)
            self.phases.append(Phase(mode, float(logged.starts[place]), int(logged.rows[place])))
        counts[LOGGED] = 0
        if not len(self.saving.grid):
            counts[SAVED_BEFORE] += self.counters[SAVED]
        super().drain()


@dataclass(frozen=True)
class LoopedContacts:
    """One run: the method and its controller, the modes, where it starts, what is saved; what is kept of it as a case,
    and in which row. slice_steps: of the first slice, before Python looks again."""

    tableau: Tableau
    control: Control
    system: LoopedModalSystem
    span: tuple[float, float]
    state: Floats
    save: Save
    tally: Tally = field(default_factory=lambda: NO_OUTPUTS.tally(1, 0))
    row: int = 0
    slice_steps: int = FIRST_STEPS

    def run(self, progress: Progress, interrupt: Interrupt) -> Run:
        """Integrate until the end, an event of the user's that stops, or trouble."""
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
        mode: Mode | None = None
        ended: frozenset[str] = frozenset()
        while True:
            time, state = float(self._clock[TIME]), self._work.y.copy()
            at_once = at_once + 1 if time <= last else 0
            last = time
            try:
                if at_once > _MOST_AT_ONCE:
                    raise ContactTrouble(Trouble.CHATTER, system.names)
                coarse = coarseness(self._recorder.phases, self.span)
                settled = system.settle(time, state, mode, ended, coarse)
            except ContactTrouble as trouble:
                return Ending(Status.CONTACT, time, detail=str(trouble)), loading
            self._install(settled, state)
            if mode is None:
                begin_tally(loop_system(self._open), self.tally, self._work, self.row, time)
            further = self._advance
            with self._acted(mode, settled.mode):
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

    def _install(self, settled: Settled, state: Floats) -> None:
        """Let the loop begin a phase in the mode and from the state that were decided on here."""
        self._recorder.tell(settled, self.system.names, state)
        self._work.y[:] = self._work.end[:] = self._work.x[: len(state)] = settled.state
        self._contacts.modes[:] = numbers_of(settled.mode)
        write_flags(self._contacts, self._work.x)
        left = self.span[1] - float(self._clock[TIME])
        self._clock[STEP] = first_step_of(self.control, settled.rebound, left)
        self._recorder.counters[BEGUN] = 0

    @contextmanager
    def _acted(self, before: Mode | None, after: Mode) -> Iterator[None]:
        """Let events that have just acted begin on the side they go to: they do not act a second time."""
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

    # what the loop takes

    @cached_property
    def _advance(self) -> Callable[[int], int]:
        return self._open.bound(loop.advance, *self._arguments)

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
        return np.array([self.span[0], self.control.begin, self.span[1], 1e-4, self.span[0]])

    @cached_property
    def _flags(self) -> int:
        """Where the flags of the modes begin in x."""
        return len(self._work.x) - sum((2, 7, 9)[count] for count in self.system.contacts.slips)

    @cached_property
    def _contacts(self) -> Contacts:
        return contact_memory(self.system.contacts, self.system.looked_at, self._open, self._flags, self.system.watched)

    @cached_property
    def _recorder(self) -> PhaseRecorder:
        recorder = PhaseRecorder(self._open, self.save, self.system.events_of(False), self.system)
        recorder.attach(self._contacts)
        return recorder

    @cached_property
    def _watches(self) -> tuple[Watch, Watch]:
        """Events of open and closed contacts, which write to one record."""
        first = self._recorder.watch
        second = watch_of(self._closed, self.system.events_of(True), self._closed.rhs.size)
        return first, second._replace(times=first.times, which=first.which, states=first.states)
