"""How a run is executed: interpreted or compiled, slice by slice, with a progress bar and stall detection."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypedDict

import numpy as np

from kinegraph.arrays import Floats, Integers
from kinegraph.errors import SolveError
from kinegraph.interrupt import Interrupt
from kinegraph.solve.loops import step as codes
from kinegraph.solve.loops.step import COMPONENT, END, INTERRUPTED, NO_ROOM, REJECTED, RUNNING, STEPS, TIME
from kinegraph.solve.problem import CauchyProblem, RightHandSide
from kinegraph.solve.recording import Ending, Recorder, Run, Status

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


# Interpreted or compiled runs
#
# Interpreting takes as long as compiling after some thousand evaluations, for equations of any size. A run that may
# take more is compiled. A run of unknown length is interpreted up to that limit, then restarted in machine code. The
# limit counts evaluations, not seconds, so that results do not depend on the machine.

#: The user's choice: compile, interpret, or automatic.
Native: TypeAlias = bool | Literal["auto"]

#: Evaluations of the equations that the interpreter makes in about the time that compiling them takes.
WORTH_COMPILING = 6000


class Execution(Enum):
    """How a run is executed; the value is the word of reports."""

    INTERPRETED = "no"
    KERNEL = "right-hand side only"
    NATIVE = "yes"


class DecisionFacts(TypedDict):
    """A decision as plain data; the execution by its name."""

    execution: str
    forced: bool


@dataclass(frozen=True)
class Decision:
    """How a run was executed; forced: the user requested it."""

    execution: Execution
    forced: bool = False

    def __str__(self) -> str:
        if self.forced:
            return f"native: {self.execution.value}, as asked for"
        short = ", the run is short" if self.execution is Execution.INTERPRETED else ""
        return f"native: {self.execution.value}{short}"

    def facts(self) -> DecisionFacts:
        """As plain data."""
        return {"execution": self.execution.name, "forced": self.forced}

    @classmethod
    def of_facts(cls, facts: DecisionFacts) -> Decision:
        """The decision written as plain data."""
        return cls(Execution[facts["execution"]], bool(facts["forced"]))


def forced(native: Native) -> Execution | None:
    """The execution that the user requested; None for an automatic choice."""
    if native == "auto":
        return None
    if not isinstance(native, bool):
        raise SolveError(f"native is {native!r}: give True, False or 'auto'")
    return Execution.NATIVE if native else Execution.INTERPRETED


# Progress bars

_PATIENCE = 0.7  # seconds before a bar appears


class Progress(Protocol):
    """The receiver of a solver's progress."""

    def __enter__(self) -> Progress: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    def reached(self, amount: float) -> None:
        """So much of the total is done."""
        ...


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def reached(self, amount: float) -> None:
        """Nothing."""


class Later:
    """Forwards progress to another receiver, with times counted from an origin."""

    def __init__(self, told: Progress, origin: float) -> None:
        self.told, self.origin = told, origin

    def __enter__(self) -> Later:
        self.told.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.told.__exit__(kind, error, trace)

    def reached(self, amount: float) -> None:
        """So much is done, counted from the origin."""
        self.told.reached(amount + self.origin)


class Bar:
    """A rich progress bar on the error stream, from `start` to `end` of whatever `unit` is counted in."""

    def __init__(self, start: float, end: float, unit: str = "s", label: str = "simulating") -> None:
        self.start, self.end, self.unit, self.label = start, end, unit, label
        self._bar: RichProgress | None = None
        self._begun = perf_counter()

    def __enter__(self) -> Bar:
        self._begun = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def reached(self, amount: float) -> None:
        """Move the bar."""
        elapsed = perf_counter() - self._begun
        if self._bar is None:
            if elapsed < _PATIENCE:
                return
            self._bar = self._started_bar()
        rate = (amount - self.start) / elapsed
        text = f"{amount:.4g} of {self.end:.4g} {self.unit}, {rate:.3g} {self.unit} per second"
        self._bar.update(self._bar.task_ids[0], completed=amount - self.start, reached=text)

    def _started_bar(self) -> RichProgress:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[reached]}")
        bar_on_screen = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        bar_on_screen.add_task(self.label, total=self.end - self.start, reached="")
        bar_on_screen.start()
        return bar_on_screen


def bar(wanted: bool | None, start: float, end: float, unit: str = "s", label: str = "simulating") -> Progress:
    """A bar if `wanted`; None: if the error stream is a terminal."""
    show = sys.stderr.isatty() if wanted is None else wanted
    return Bar(start, end, unit, label) if show else Silent()


# Stall detection: discontinuous forces may make steps so short that a run would never finish.
#
# CVODE limits the steps between outputs, Simulink the consecutive zero crossings. Here the pace of recent steps is
# compared with the rest of the run.

#: The number of steps that are considered together.
WINDOW = 20_000

#: A run that needs more steps than this for the rest, at its current pace, would never finish.
NEVER = 1e12

#: A run that needs more steps than this is slow, which is logged once.
LONG = 2e7

_log = logging.getLogger("kinegraph")
_WARNING = (
    "at t = %.9g the last %d steps advanced the run by %.3g: at this pace the rest takes %.1g steps. Model a "
    "discontinuous force as an event or a contact, or give friction a larger `width`; use method='bdf' for stiff forces"
)


class StallDetector:
    """Checks the clock and counters of a run between its slices."""

    def __init__(self, clock: Floats, counters: Integers) -> None:
        self._clock, self._counters = clock, counters
        self._said = False
        self._mark()

    def _mark(self) -> None:
        self._steps, self._time = self._tried, float(self._clock[TIME])

    @property
    def _tried(self) -> int:
        return int(self._counters[STEPS] + self._counters[REJECTED])

    @property
    def is_lost(self) -> bool:
        """Whether the run would never finish. A slow pace is logged, once."""
        steps, passed = self._tried - self._steps, float(self._clock[TIME]) - self._time
        if steps < WINDOW:
            return False
        left = float(self._clock[END] - self._clock[TIME])
        needed = left / passed * steps if passed > 0 else float("inf")
        if LONG < needed <= NEVER and not self._said:
            self._said = True
            _log.warning(_WARNING, self._clock[TIME], steps, passed, needed)
        self._mark()
        return needed > NEVER


# Loops run slice by slice, for progress and interruption.

_SHORT, _LONG = 0.02, 0.08  # seconds a slice should take: Ctrl-C waits no longer
_GOES_ON = RUNNING, NO_ROOM
FIRST_STEPS, _MOST_STEPS = 8, 1 << 40
STALLED = -1  # no code of the loops: what is seen between them


@dataclass(frozen=True)
class Loop:
    """The function of a loop, its arguments, and its position: clock[0] is the time of `state`."""

    advance: Callable[..., int]
    arguments: tuple[object, ...]
    clock: Floats
    state: Floats


def run_in_slices(
    loop: Loop, problem: CauchyProblem, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> Run:
    """Run a loop until the run ends, or an interrupt is requested."""
    begun, loading, code = perf_counter(), 0.0, RUNNING
    # Ctrl-C waits for the end of a slice: a step is taken wholly or not at all, and code is loaded whole.
    with progress, np.errstate(all="ignore"), interrupt.catching(), interrupt.deferring():
        advance = problem.bound(loop.advance, *loop.arguments)
        code = advance(0)  # begins the run
        loading = perf_counter() - begun if problem.native else 0.0
        code = run_slices(code, advance, loop.clock, recorder, progress, interrupt)
    if interrupt.requested:
        code = INTERRUPTED
    time = float(loop.clock[0])
    ending = ending_of(code, problem, recorder, time)
    return recorder.run(ending, (time, loop.state.copy()), perf_counter() - begun, loading)


def run_slices(
    code: int, advance: Callable[[int], int], clock: Floats, recorder: Recorder, progress: Progress,
    interrupt: Interrupt, steps: int = FIRST_STEPS,
) -> int:  # fmt: skip
    """Call `advance(steps)` until the run ends; the number of steps is chosen so that each call takes a moment."""
    headway = StallDetector(clock, recorder.counters)
    while code in _GOES_ON and not interrupt.requested:
        before = perf_counter()
        code = advance(steps)
        recorder.drain()
        taken = perf_counter() - before
        if taken < _SHORT:
            steps = min(2 * steps, _MOST_STEPS)
        elif taken > _LONG:
            steps = max(steps // 2, 1)
        if code in _GOES_ON:
            progress.reached(float(clock[0]))
            code = STALLED if headway.is_lost else code
    return code


_STATUSES = {
    codes.DONE: Status.FINISHED,
    codes.NOT_A_NUMBER: Status.NOT_A_NUMBER,
    codes.TOO_SMALL: Status.STEP_TOO_SMALL,
    codes.TOO_MANY_STEPS: Status.TOO_MANY_STEPS,
    codes.STOPPED: Status.EVENT,
    codes.TOO_MANY_EVENTS: Status.TOO_MANY_EVENTS,
    codes.NO_CONVERGENCE: Status.NO_CONVERGENCE,
    codes.ACCUMULATED: Status.ACCUMULATED,
    codes.INTERRUPTED: Status.INTERRUPTED,
    codes.SINGULAR_PLACE: Status.SINGULAR,
    codes.LOOPS_OPEN: Status.OPEN,
    STALLED: Status.STALLED,
}


def ending_of(code: int, problem: CauchyProblem, recorder: Recorder, time: float) -> Ending:
    """How a run ended, from the code and the counters of its loop."""
    return ending(
        code, time, problem.rhs, recorder.events.names, int(recorder.counters[COMPONENT]), recorder.last_event
    )


def ending(
    code: int, time: float, rhs: RightHandSide, events: Sequence[str], component: int, last_event: str
) -> Ending:
    """How a run ended, from the code of its loop; component: where it failed (see `loops.step`)."""
    status = _STATUSES[code]
    if status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL):
        if component < 0:
            return Ending(status, time, f"the condition of event {events[-1 - component]!r}")
        return Ending(status, time, rhs.names[component])
    if status in (Status.SINGULAR, Status.OPEN):
        return Ending(status, time, f"the constraint {rhs.rows[component]}")
    if status in (Status.EVENT, Status.ACCUMULATED, Status.TOO_MANY_EVENTS, Status.STALLED):
        return Ending(status, time, detail=last_event)
    return Ending(status, time)
