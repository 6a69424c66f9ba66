"""Runs with contacts by explicit methods: the compiled loop decides on modes, and Python decides where it cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kinegraph.interrupt import Interrupt
from kinegraph.model.mechanism import ImpactLaw, ImpactOrder
from kinegraph.solve.contacts.complementarity import Floats
from kinegraph.solve.contacts.mode import ContactMode, ContactSet, ContactTrouble, Mode, Phase, Trouble, Watched
from kinegraph.solve.contacts.phases import ModalSystem, coarseness, first_step_of
from kinegraph.solve.contacts.transition import ModeDecision
from kinegraph.solve.ensemble import NO_OUTPUTS
from kinegraph.solve.execution import FIRST_STEPS, Progress, ending_of, run_slices
from kinegraph.solve.loops import contact_memory as loop
from kinegraph.solve.loops import contact_phases as the_loop
from kinegraph.solve.loops.case_outputs import Tally, begin_tally, end_tally
from kinegraph.solve.loops.contact_memory import (
    LOGGED,
    SAVED_BEFORE,
    ComplementarityMemory,
    Contacts,
    ContactView,
    write_flags,
)
from kinegraph.solve.loops.step import BEGUN, INTERRUPTED, SAVED, STEP, STOPPED, TIME, Work
from kinegraph.solve.loops.zero_crossings import DUE, Watch
from kinegraph.solve.methods.runge_kutta import loop_control, loop_method, loop_system, loop_work
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem import CauchyProblem, EventSet, Function, code_of
from kinegraph.solve.recording import Ending, EventRecord, Recorder, Run, Save, Status, watch_of

# Memory for contacts as the compiled loops need it, and contact modes as numbers.

_PHASES = 256  # rows of the log

#: The words of what happens to a contact, as loops number them.
WORDS = ("impact", "jam", "rest", "held", "release", "slip", "stick")


@dataclass(frozen=True)
class ContactObservation:
    """What a state says of its contacts, as code: x -> values; and which of these each part of a view is."""

    function: Function
    parts: Sequence[tuple[str, slice, tuple[int, ...]]]

    def view(self) -> ContactView:
        """Memory of one view."""
        values = np.zeros(self.parts[-1][1].stop)
        return ContactView(values, **{name: values[where].reshape(shape) for name, where, shape in self.parts})


def contact_memory(
    contacts: ContactSet, looked_at: ContactObservation, problem: CauchyProblem, flags: int, user: int
) -> Contacts:
    """All that loops know of contacts. flags: where they begin in x. user: how many events come before theirs."""
    count, rows, size = len(contacts.names), sum(contacts.slips) + len(contacts.names), problem.rhs.size
    slips = np.array(contacts.slips, dtype=np.int64)
    widths, sticking = np.array([2, 7, 9])[slips], np.array([1, 2, 2])[slips]
    counts = np.zeros(loop.COUNTS, dtype=np.int64)
    counts[loop.POISSON] = contacts.impacts.law is ImpactLaw.POISSON
    counts[loop.SEQUENTIAL] = contacts.impacts.order is ImpactOrder.SEQUENTIAL

    def numbers(*shape: int) -> Floats:
        return np.zeros(shape)

    def integers(*shape: int) -> NDArray[np.int64]:
        return np.zeros(shape, dtype=np.int64)

    return Contacts(
        code=code_of(looked_at.function),
        argument=problem.argument(),
        first=looked_at.view(),
        after=looked_at.view(),
        probe=looked_at.view(),
        restitution=np.array(contacts.restitution, dtype=float),
        friction=np.array(contacts.friction, dtype=float),
        normals=np.array(contacts.normals, dtype=np.int64),
        slips=slips,
        flags=flags + np.cumsum(widths) - widths,
        ending=user + np.cumsum(sticking) - sticking,
        user=user,
        velocities=int(contacts.changed.start),
        duration=float(contacts.duration),
        modes=numbers(count, loop.MODE), fresh=numbers(count, loop.MODE),
        closed=integers(count), resting=integers(count), acts=integers(count), hit=integers(count),
        alone=integers(count), known=integers(count), drag=numbers(count, 2),
        forces=numbers(rows), right=numbers(rows), prior=numbers(count), impulse=numbers(rows), rates=numbers(rows),
        still=numbers(rows), noise=numbers(rows), trial=numbers(size), shift=numbers(size),
        square=numbers(rows, rows),
        problem=_problem(count + 3 * int(np.sum(slips == 1)), rows),
        counts=counts,
        recent=numbers(loop.RECENT),
        starts=numbers(_PHASES), rows=integers(_PHASES), log=numbers(_PHASES, count, loop.MODE),
    )  # fmt: skip


def _problem(size: int, rows: int) -> ComplementarityMemory:
    integers: Callable[[int], NDArray[np.int64]] = lambda count: np.zeros(count, dtype=np.int64)  # noqa: E731
    return ComplementarityMemory(
        np.zeros((size, size)), np.zeros(size), np.zeros((size, 2 * size + 2)), integers(size), np.zeros(size),
        integers(size), np.zeros(rows), integers(max(size, rows)),
    )  # fmt: skip


def numbers_of(mode: Mode) -> Floats:
    """A mode as loops have it."""
    found = np.zeros((len(mode), loop.MODE))
    for row, one in zip(found, mode, strict=True):
        row[loop.CLOSED], row[loop.HELD], row[loop.STICKS] = one.closed, one.held, one.sticks
        row[loop.WATCHED], row[loop.MARGIN], row[loop.SLIP_MARGIN] = one.watched.value, one.margin, one.slip_margin
        row[loop.DRAG : loop.DRAG + len(one.drag)] = one.drag
    return found


def mode_of(rows: Floats, slips: Sequence[int]) -> Mode:
    """The same back."""
    return tuple(_mode(*row.tolist(), count=count) for row, count in zip(rows, slips, strict=True))


def _mode(
    closed: float, held: float, sticks: float, watched: float, margin: float, slip_margin: float, *drag: float,
    count: int,
) -> ContactMode:  # fmt: skip
    """One contact; a contact that sticks by its own force has no drag."""
    acts = closed and not sticks
    return ContactMode(
        bool(closed), bool(held), bool(sticks), drag[:count] if acts else (), Watched(int(watched)), margin, slip_margin
    )


# A run with contacts by an explicit method: modes are decided in its loop, and here only where that cannot.

_MOST_AT_ONCE = 100  # decisions without any time


class CompiledModalSystem(ModalSystem, Protocol):
    """A modal system whose decisions loops can make, too."""

    @property
    def contacts(self) -> ContactSet:
        """The contacts in numbers."""

    @property
    def looked_at(self) -> ContactObservation:
        """What a state says of them, as code."""

    def problem_of(self, closed: bool, state: Floats, start: float, end: float) -> CauchyProblem:
        """The equations with all contacts open, or with some closed."""

    def events_of(self, closed: bool) -> EventSet:
        """The events to be watched with all contacts open, or with some closed."""


class PhaseRecorder(Recorder):
    """Memory for states, events, what happens to contacts, and phases."""

    def __init__(self, problem: CauchyProblem, save: Save, events: EventSet, system: CompiledModalSystem) -> None:
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

    def tell(self, settled: ModeDecision, names: tuple[str, ...], state: Floats) -> None:
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
class CompiledContactRun:
    """One run: the method and its controller, the modes, where it starts, what is saved; what is kept of it as a case,
    and in which row. slice_steps: of the first slice, before Python looks again."""

    tableau: Tableau
    control: Control
    system: CompiledModalSystem
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

    def _install(self, settled: ModeDecision, state: Floats) -> None:
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
        return self._open.bound(the_loop.advance, *self._arguments)

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
