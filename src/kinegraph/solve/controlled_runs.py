"""Many runs with controllers: all of them go together from one call of the Python functions to the next.

The values that hold until then are run-time parameters, in a column for each input, so every run has its own and runs
still share vector lanes and threads. Every run has its own copy of the functions and is the same however many others
run with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kinegraph.arrays import Floats, Integers
from kinegraph.errors import ControllerError
from kinegraph.interrupt import Interrupt
from kinegraph.solve.contacts.mode import Mode
from kinegraph.solve.ensemble import CaseRows, Outputs, SweepRun
from kinegraph.solve.execution import Progress
from kinegraph.solve.methods.feedback import Calls, Controller
from kinegraph.solve.recording import Ending, EventRecord, Grid, Status

Modes: TypeAlias = "tuple[Mode | None, ...]"


class Ends(Protocol):
    """What the runs of one stretch leave behind, by row."""

    @property
    def endings(self) -> tuple[Ending, ...]:
        """How each ended, and when."""

    @property
    def finals(self) -> Floats:
        """The last states."""

    @property
    def modes(self) -> Modes:
        """The modes of the contacts; empty without contacts."""


Found = TypeVar("Found", bound=Ends)


@dataclass(frozen=True)
class Stretch:
    """The runs from one call of controllers to the next: those that go on, in their states.

    rows: which runs they are. times: the times to be saved, and where these are among all. before: modes of contacts.
    """

    rows: Integers
    states: Floats
    parameters: Floats
    start: float
    end: float
    times: Floats
    places: Integers
    before: Modes


class ControlledRuns:
    """Runs on their way, by row.

    controllers: each gives some of the last columns of the parameters, of which there are `held`.
    """

    def __init__(
        self, controllers: Sequence[Controller], held: int, states: Floats, parameters: Floats,
        span: tuple[float, float], grid: Grid | None,
    ) -> None:  # fmt: skip
        self.states, self.parameters, self.grid = states.copy(), parameters.copy(), grid
        self._endings = [Ending(Status.FINISHED, span[0])] * len(states)
        self._calls = [Calls([one.fresh() for one in controllers], span[0]) for _ in states]
        self._held, self.span = held, span
        self._times = np.zeros(0) if grid is None else grid.times
        self._modes: list[Mode | None] = [None] * len(states)

    @property
    def endings(self) -> tuple[Ending, ...]:
        """How each run ended; one that was not run to its end was interrupted."""
        return tuple(
            replace(one, status=Status.INTERRUPTED)
            if one.status is Status.FINISHED and one.time < self.span[1]
            else one
            for one in self._endings
        )

    def stretches(self, run: Callable[[Stretch], Found]) -> Iterator[tuple[Stretch, Found]]:
        """Every stretch with its results, until all runs have ended."""
        time, going = self.span[0], np.arange(len(self.states))
        while time < self.span[1]:
            going = self._called(going, time)
            if not len(going):
                return
            until = min(self.span[1], self._calls[going[0]].next)
            stretch = self._stretch(going, time, until)
            found = run(stretch)
            self.states[going] = found.finals
            for row, ending, mode in zip(going, found.endings, found.modes or stretch.before, strict=True):
                self._endings[row], self._modes[row] = ending, mode
            yield stretch, found
            going = np.array([row for row in going if self._endings[row].status is Status.FINISHED], dtype=np.int64)
            time = until

    def _called(self, going: Integers, time: float) -> Integers:
        """The runs that go on after the calls that are due."""
        good, first = [], self.parameters.shape[1] - self._held
        for row in going.tolist():
            try:
                self.parameters[row, first:] = self._calls[row].at(time, self.states[row])
                good.append(row)
            except ControllerError as error:
                self._endings[row] = Ending(Status.CONTROLLER, time, detail=str(error))
        return np.array(good, dtype=np.int64)

    def _stretch(self, going: Integers, time: float, until: float) -> Stretch:
        last = until == self.span[1]
        inside = (self._times >= time) & ((self._times <= until) if last else (self._times < until))
        return Stretch(
            going, self.states[going], self.parameters[going], time, until, self._times[inside],
            np.flatnonzero(inside), tuple(self._modes[row] for row in going),
        )  # fmt: skip


# The rows of a sweep


def controlled_sweep(
    runs: ControlledRuns, run: Callable[[Stretch], SweepRun], progress: Progress, interrupt: Interrupt
) -> SweepRun:
    """A sweep from stretch to stretch."""
    begun, count, (start, end) = perf_counter(), len(runs.states), runs.span
    times = np.array([end]) if runs.grid is None else runs.grid.times
    saved = np.full((count, len(times), runs.states.shape[1]), np.nan)
    steps = np.zeros(count, dtype=np.int64)
    events: list[tuple[EventRecord, ...]] = [()] * count
    with progress, interrupt.catching():
        for stretch, found in runs.stretches(run):
            steps[stretch.rows] += found.steps
            if len(stretch.times):
                saved[np.ix_(stretch.rows, stretch.places)] = found.states
            for row, some in zip(stretch.rows, found.events, strict=False):
                events[row] += some
            progress.reached(count * (stretch.end - start) / (end - start))
    if runs.grid is None:
        good = [row for row, one in enumerate(runs.endings) if one.status is Status.FINISHED]
        saved[good, 0] = runs.states[good]
    return SweepRun(times, saved, runs.endings, runs.states, steps, perf_counter() - begun, 0.0, tuple(events))


# The rows of a study


def controlled_cases(
    runs: ControlledRuns, run: Callable[[Stretch], CaseRows], outputs: int, events: int, stop: Integers
) -> CaseRows:
    """Cases from stretch to stretch, with so many outputs and events. stop: when it is set to one, they end."""
    count, times = len(runs.states), 0 if runs.grid is None else len(runs.grid.times)
    tally = Outputs(wanted=(frozenset(),) * outputs).tally(count, events)
    zeros = np.zeros((2, count), dtype=np.int64)
    saved = np.full((count, times, runs.states.shape[1]), np.nan)
    whole = CaseRows.of((), runs.states, zeros[0], zeros[1], tally, saved)
    for stretch, found in runs.stretches(run):
        _add(whole, stretch, found)
        if stop[0]:
            break
    return replace(whole, endings=runs.endings, finals=runs.states)


def _add(whole: CaseRows, stretch: Stretch, found: CaseRows) -> None:
    """Add a stretch to the rows of its cases."""
    rows = stretch.rows
    for name in ("steps", "rejected", "count"):
        getattr(whole, name)[rows] += getattr(found, name)
    whole.area[rows] = found.area + np.where(np.isnan(whole.area[rows]), 0.0, whole.area[rows])
    whole.last[rows] = found.last
    _take(whole, found, rows, np.isnan(whole.first[rows]), "first")
    _take(whole, found, rows, ~(found.high <= whole.high[rows]), "high", "high_at")
    _take(whole, found, rows, ~(found.low >= whole.low[rows]), "low", "low_at")
    _take(whole, found, rows, np.isnan(whole.first_at[rows]), "first_at", "at_first")
    _take(whole, found, rows, found.count > 0, "last_at", "at_last")
    if len(stretch.places):
        whole.saved[np.ix_(rows, stretch.places)] = found.saved


def _take(whole: CaseRows, found: CaseRows, rows: Integers, where: NDArray[np.bool_], *names: str) -> None:
    """Replace entries of columns by those found."""
    for name in names:
        column, new = getattr(whole, name), getattr(found, name)
        chosen = where.reshape(*where.shape, *(1,) * (new.ndim - where.ndim))
        column[rows] = np.where(chosen, new, column[rows])
