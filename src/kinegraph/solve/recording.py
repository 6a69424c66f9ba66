"""The record of a run: saved states, events, statistics, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.arrays import Floats, Integers
from kinegraph.errors import SolveError
from kinegraph.solve.contacts.mode import Phase
from kinegraph.solve.loops.step import COUNTERS, EVALUATIONS, EVENT, EVENTS, REJECTED, SAVED, STEPS, Saving
from kinegraph.solve.loops.zero_crossings import HOLDS, MOST_DIPS, Watch
from kinegraph.solve.problem import CauchyProblem, EventSet, code_of


class Status(Enum):
    """How a run ended; the value is the message."""

    FINISHED = "the end time was reached"
    EVENT = "an event stopped the run"
    INTERRUPTED = "the run was interrupted; partial results are kept"
    NOT_A_NUMBER = "a value became infinite or not a number"
    STEP_TOO_SMALL = "the step size became too small"
    TOO_MANY_STEPS = "the step limit was reached"
    TOO_MANY_EVENTS = "the event limit was reached"
    ACCUMULATED = "an event repeats faster and faster and never passes this time"
    STALLED = "the run stalled: its steps are too short to ever reach the end"
    NO_CONVERGENCE = "the equations of an implicit step could not be solved"
    SOLVER_FAILED = "the solver gave up"
    SINGULAR = "the position is singular: loops allow more than one continuation"
    OPEN = "loops and constraints cannot be closed beyond this position"
    SINGULAR_COORDINATES = "the coordinates are singular there, as in gimbal lock"
    CONTACT = "the contact laws have no solution"
    CONTROLLER = "a controller failed"

    @property
    def good(self) -> bool:
        """True if the run ended as planned."""
        return self in (Status.FINISHED, Status.EVENT)


#: Advice for runs that end badly.
HINTS: dict[Status, str] = {
    Status.NOT_A_NUMBER: "look for a division by zero, a singular position or a massless body there; "
    "a smaller max_step, first_step or rtol shows where it begins",
    Status.STEP_TOO_SMALL: "a singularity or very stiff forces: try method='bdf', or larger tolerances",
    Status.TOO_MANY_STEPS: "raise max_steps, loosen rtol and atol, or try method='bdf' if forces are stiff",
    Status.TOO_MANY_EVENTS: "look for an event that occurs repeatedly, or raise `limit` of the events",
    Status.ACCUMULATED: "a bouncing ball comes to rest like this. Use a `contact` in the model, which can rest; or "
    "fix the resting part (kg.lock, or a constraint) and start a second run from this state",
    Status.STALLED: "forces change too fast there: try method='bdf' or larger tolerances, give friction a larger "
    "`width`, or model a discontinuous force as an event or a `contact`",
    Status.NO_CONVERGENCE: "make the step smaller",
    Status.SINGULAR: "constraint rows are dependent there; start near this position, choose another step, "
    "or a method that steps over it (dop853)",
    Status.OPEN: "a prescribed motion leads beyond their reach, or the step is too long: use a shorter "
    "step, or a method with step control (dop853)",
    Status.SINGULAR_COORDINATES: "start near this position, or use other coordinates: a quaternion, or another order "
    "of rotations",
    Status.CONTACT: "check the state there; less friction, `impacts poisson;` or another restitution may have a "
    "solution, and a run must not start inside a body",
    Status.CONTROLLER: "mend the function; the run up to there is kept",
    Status.SOLVER_FAILED: "loosen rtol and atol, or try method='dop853'",
}


_IN = (Status.SINGULAR, Status.OPEN)


@dataclass(frozen=True)
class Ending:
    """How a run ended, when, and where the failure showed first: `component` names an entry of the state.

    hint: advice that is more specific than that of the status.
    """

    status: Status
    time: float
    component: str = ""
    detail: str = ""
    hint: str = ""

    def __str__(self) -> str:
        message = f"{self.status.value} at t = {self.time:.9g}"
        if self.component:
            message += f", {'in' if self.status in _IN else 'first in'} {self.component}"
        if self.detail:
            message += f" ({self.detail})"
        hint = self.hint or HINTS.get(self.status)
        return f"{message}\n  {hint}" if hint else message


_ROWS = 4096
_EVENT_ROWS = 256
_ROUNDED_TIMES = 4  # by so many roundings a sum of steps may miss the end of a run
_RECENT, _RECENT_EACH = 100, 20  # resets that show whether they accumulate: in all, for each event


@dataclass(frozen=True)
class OwnSteps:
    """Save every n-th step of the integrator, and the ends."""

    every: int = 1

    def __post_init__(self) -> None:
        if self.every < 1:
            raise SolveError(f"every is {self.every!r}: give at least 1")


@dataclass(frozen=True)
class Grid:
    """Save at these times."""

    times: Floats

    def __post_init__(self) -> None:
        times = np.ascontiguousarray(self.times, dtype=float)
        if times.ndim != 1 or len(times) < 1 or not np.all(np.isfinite(times)) or not np.all(np.diff(times) > 0):
            raise SolveError("the grid must be a list of increasing times")
        object.__setattr__(self, "times", times)

    @classmethod
    def within(cls, times: ArrayLike, span: tuple[float, float]) -> Grid:
        """A grid of given times for a run. Times that miss the ends of the run by rounding are moved there."""
        found = np.array(times, dtype=float)
        rounding = _ROUNDED_TIMES * float(np.spacing(max(map(abs, span))))
        for place, limit in ((0, span[0]), (-1, span[1])):
            if found.ndim == 1 and len(found) and 0 < abs(found[place] - limit) <= rounding:
                found[place] = limit
        return cls(found)

    def check(self, problem: CauchyProblem) -> None:
        """SolveError for times before or after the run of the problem."""
        if self.times[0] < problem.start or self.times[-1] > problem.end:
            wrong = f"the grid goes from {self.times[0]} to {self.times[-1]}"
            raise SolveError(f"{wrong}, but the run from {problem.start} to {problem.end}: give times inside the run")


Save = OwnSteps | Grid


def earlier(save: Save, origin: float) -> Save:
    """The same times, counted from an origin."""
    return Grid(save.times - origin) if isinstance(save, Grid) else save


@dataclass(frozen=True)
class EventRecord:
    """One occurrence of an event, with the state just before it acted."""

    name: str
    time: float
    state: Floats


@dataclass(frozen=True)
class Statistics:
    """The cost of a run. loading: the part of the seconds in which compiled loops were made or loaded."""

    steps: int = 0
    rejected: int = 0
    evaluations: int = 0
    jacobians: int = 0
    seconds: float = 0.0
    loading: float = 0.0


@dataclass(frozen=True)
class Run:
    """The result of an integrator: states by row at times, events, the ending, the cost, and contact phases."""

    times: Floats
    states: Floats
    ending: Ending
    events: tuple[EventRecord, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    phases: tuple[Phase, ...] = ()

    def later(self, origin: float) -> Run:
        """The same run, with times counted from an origin."""
        return replace(
            self,
            times=self.times + origin,
            ending=replace(self.ending, time=self.ending.time + origin),
            events=tuple(replace(one, time=one.time + origin) for one in self.events),
            phases=tuple(replace(one, start=one.start + origin) for one in self.phases),
        )


class Recorder:
    """Memory that loops write to, emptied between slices."""

    def __init__(self, problem: CauchyProblem, save: Save, events: EventSet) -> None:
        size = problem.rhs.size
        grid = save.times if isinstance(save, Grid) else np.zeros(0)
        if isinstance(save, Grid):
            save.check(problem)
        rows = len(grid) if len(grid) else _ROWS
        every = save.every if isinstance(save, OwnSteps) else 1
        self.events = events
        self.counters: Integers = np.zeros(COUNTERS, dtype=np.int64)
        self.saving: Saving = Saving(grid, every, np.empty(rows), np.empty((rows, size)))
        self.watch: Watch = watch_of(problem, events, size)
        self._times: list[Floats] = []
        self._states: list[Floats] = []
        self._event_records: list[EventRecord] = []

    def drain(self) -> None:
        """Move the results of the loop to the record, which makes room in its memory."""
        saved, events = int(self.counters[SAVED]), int(self.counters[EVENTS])
        if not len(self.saving.grid):
            self._times.append(self.saving.times[:saved].copy())
            self._states.append(self.saving.states[:saved].copy())
            self.counters[SAVED] = 0
        for place in range(events):
            name = self.named(int(self.watch.which[place]))
            if name is not None:
                self.keep(EventRecord(name, float(self.watch.times[place]), self.watch.states[place].copy()))
        self.counters[EVENTS] = 0

    def named(self, which: int) -> str | None:
        """The name of the event with this number in the loop; None if it is not recorded."""
        return self.events.names[which]

    def keep(self, record: EventRecord) -> None:
        """Add to the events of the run."""
        self._event_records.append(record)

    @property
    def last_event(self) -> str:
        """The name of the event that acted last."""
        return self.events.names[self.counters[EVENT]] if self.events.names else ""

    def run(self, ending: Ending, last: tuple[float, Floats], seconds: float, loading: float) -> Run:
        """The record. A run saved at its own steps, or ended early, always includes the last state."""
        self.drain()
        if len(self.saving.grid):
            saved = int(self.counters[SAVED])
            times, states = self.saving.times[:saved], self.saving.states[:saved]
        else:
            times, states = np.concatenate(self._times), np.concatenate(self._states)
        if (ending.status is not Status.FINISHED or not len(self.saving.grid)) and _missing(times, last[0]):
            times, states = np.append(times, last[0]), np.vstack([states, last[1]])
        steps, rejected, evaluations = (int(self.counters[place]) for place in (STEPS, REJECTED, EVALUATIONS))
        cost = Statistics(steps, rejected, evaluations, 0, seconds, loading)
        return Run(times, states, ending, tuple(self._event_records), cost)


def _missing(times: Floats, last: float) -> bool:
    return not len(times) or bool(times[-1] < last)


def watch_of(problem: CauchyProblem, events: EventSet, size: int) -> Watch:
    """Memory of the events of one run."""
    count = len(events.names)
    acted, holding = events.acted or (-1.0,) * count, events.holding or (False,) * count
    recent = _RECENT + _RECENT_EACH * count
    rows = max(_EVENT_ROWS, 4 * (events.samples + MOST_DIPS) * count) + 2 * recent

    def integers(values: Sequence[int] | int) -> Integers:
        return np.zeros(values, dtype=np.int64) if isinstance(values, int) else np.array(values, dtype=np.int64)

    return Watch(
        code=code_of(events.code),
        slope=code_of(events.slope),
        reset=code_of(events.reset),
        directions=integers([direction.value for direction in events.directions]),
        actions=integers([action.value for action in events.actions]),
        boundary=integers([k + HOLDS * holds for k, holds in zip(events.boundaries, holding, strict=True)]),
        side=integers(count),
        ahead=integers(count),
        stage=integers(count),
        on_surface=integers([int(far >= 0.0) for far in acted]),
        before=np.zeros(count),
        values=np.zeros(count),
        rates=np.zeros(count),
        incoming=np.zeros(count),
        residual=np.array([max(far, 0.0) for far in acted]),
        zero=np.zeros(count),
        since=np.zeros(count),
        noise=np.zeros(count),
        argument=np.zeros(problem.rhs.input_size + size + problem.rhs.inputs),
        fresh=np.zeros(count * max(size, 1)),
        recent=np.zeros(recent),
        times=np.empty(rows),
        which=np.empty(rows, dtype=np.int64),
        states=np.empty((rows, size)),
        samples=events.samples,
        limit=events.limit,
        span=max(abs(problem.start), abs(problem.end)),
        enclosure=code_of(events.enclosure),
        enclosed=integers(events.enclosed),
        active=integers(events.active or (1,) * len(events.enclosed)),
        needed=integers(events.needed),
        rounding=np.zeros(len(events.enclosed)),
        box=np.zeros(problem.rhs.input_size + 3 * size + 1),
        bounds=np.zeros((4, 4 * len(events.enclosed))),
        spread=np.zeros(len(events.enclosed)),
        projects=integers([int(events.projected)]),
    )
