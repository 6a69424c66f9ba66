"""The loop over cases: one trajectory after the other, each as a run of its own would be, events and all.

What a case gives depends on nothing but its own numbers: not on the cases before it, not on the thread it runs on.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.solve.loops.after_step import cut_step, end_of, needs_dense
from kinegraph.solve.loops.events.in_run import watch_step
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.many.tally import Tally, begin_tally, end_tally, look_along, take_events
from kinegraph.solve.loops.marks import Floats, Integers, loop, part
from kinegraph.solve.loops.record import (
    BASE,
    COMPONENT,
    CUT,
    DONE,
    END,
    EVENT,
    EVENTS,
    INTERRUPTED,
    LAST_ERROR,
    REJECTED,
    RUNNING,
    SINCE_START,
    STEP,
    STEPS,
    TIME,
    TOO_MANY_STEPS,
    Saving,
    save_step,
)
from kinegraph.solve.loops.runge_kutta import Control, begin, move_on, one_step, start_steps
from kinegraph.solve.loops.step import System, Work, prepare_dense
from kinegraph.solve.loops.weights import Method


class Cases(NamedTuple):
    """Initial states and parameters by row, and how each case ended.

    grid: times at which states are saved to `saved`, by row; infinite where none are.
    stop: its entry is set to one by whoever wants the loop to end before the next step.
    """

    states: Floats
    parameters: Floats
    start: float
    end: float
    step: float
    grid: Floats
    times: Floats
    saved: Floats
    codes: Integers
    ends: Floats
    finals: Floats
    steps: Integers
    rejected: Integers
    component: Integers
    event: Integers
    stop: Integers


@part
def prepare_case(cases: Cases, work: Work, clock: Floats, watch: Watch, counters: Integers, row: int) -> None:
    """All memory as a new run finds it."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.y[d] = work.end[d] = cases.states[row, d]
    inputs = len(work.x) - size - 1 - cases.parameters.shape[1]
    for k in range(cases.parameters.shape[1]):
        work.x[size + 1 + inputs + k] = cases.parameters[row, k]
    clock[TIME] = clock[BASE] = cases.start
    clock[STEP], clock[END], clock[LAST_ERROR] = cases.step, cases.end, 1e-4
    counters[:] = 0
    work.projected[:] = 0.0
    watch.side[:] = watch.ahead[:] = watch.stage[:] = watch.on_surface[:] = 0
    watch.before[:] = watch.values[:] = watch.rates[:] = watch.incoming[:] = 0.0
    watch.residual[:] = watch.zero[:] = watch.since[:] = watch.noise[:] = 0.0
    watch.recent[:] = 0.0


@part
def finish_looked_at(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, tally: Tally, row: int,
    h: float,
) -> int:  # fmt: skip
    """As `finish_step`, with a look at the outputs along the part of the step that stands."""
    counters[STEPS] += 1
    counters[SINCE_START] += 1
    t, t_new = clock[TIME], end_of(clock, h)
    code, u = RUNNING, 1.0
    if len(watch.side):
        code, u = watch_step(system, watch, counters, work, t, h)
    if code != RUNNING and code != CUT:
        return int(code)
    look_along(system, tally, work, row, t, h, u)
    tally.known[0] = 1 if code == RUNNING else 0  # an event may change the state
    if code == CUT:
        code = cut_step(system, work, clock, watch, saving, counters, u, h)
    else:
        save_step(saving, counters, work, t, h, t_new)
        clock[TIME] = t_new
    return int(code)


@part
def run_case(
    system: System, method: Method, control: Control, work: Work, clock: Floats, watch: Watch, saving: Saving,
    counters: Integers, tally: Tally, row: int, stop: Integers,
) -> int:  # fmt: skip
    """One case from its start to its end; says how it ended."""
    begin_tally(system, tally, work, row, clock[TIME])
    code = begin(system, method, control, work, clock, watch, saving, counters)
    take_events(system, tally, watch, counters, work, row)
    while code == RUNNING:
        if clock[TIME] >= clock[END]:
            return DONE
        if stop[0]:
            return INTERRUPTED
        code, h = one_step(system, method, control, work, clock, counters)
        if code != RUNNING:
            return code
        if tally.along or needs_dense(watch, saving, counters, end_of(clock, h)):
            prepare_dense(system, method, work, clock[TIME], h)
        code = finish_looked_at(system, work, clock, watch, saving, counters, tally, row, h)
        if counters[EVENTS] > 0:
            take_events(system, tally, watch, counters, work, row)
        if code == RUNNING:
            move_on(work, method.stages)
        elif code == CUT:
            start_steps(system, method, control, work, clock)
            code = RUNNING
        if code == RUNNING and counters[STEPS] >= control.max_steps:
            return TOO_MANY_STEPS
    return code


@loop
def run_cases(
    system: System, method: Method, control: Control, work: Work, clock: Floats, watch: Watch, counters: Integers,
    cases: Cases, tally: Tally, first: int, last: int,
) -> None:  # fmt: skip
    """Run the cases first <= row < last; those that `stop` keeps from being run stay INTERRUPTED."""
    for row in range(first, last):
        if cases.stop[0]:
            return
        prepare_case(cases, work, clock, watch, counters, row)
        saving = Saving(cases.grid, 1, cases.times, cases.saved[row])
        code = run_case(
            system, method, control, work, clock, watch, saving, counters, tally, row, cases.stop
        )  # fmt: skip
        end_tally(system, tally, work, row, clock[TIME])
        for d in range(len(work.y)):
            cases.finals[row, d] = work.y[d]
        cases.codes[row], cases.ends[row] = code, clock[TIME]
        cases.steps[row], cases.rejected[row] = counters[STEPS], counters[REJECTED]
        cases.component[row], cases.event[row] = counters[COMPONENT], counters[EVENT]
