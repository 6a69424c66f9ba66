"""The compiled loop of ensembles: lanes advance many trajectories together, each with its own time, step and events.

Slopes of all lanes are stored side by side, so sums over stages run over long vectors, and the batch code of a kernel
computes several lanes with one instruction. A lane that is done takes the next case. The results of a case depend only
on its own numbers: not on other cases, its lane, or its thread.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import inlined, loop, part
from kinegraph.solve.loops.after_step import end_of, end_step, has_grid_before, needs_dense
from kinegraph.solve.loops.case_outputs import (
    Tally,
    begin_tally,
    end_tally,
    note_events,
    observe_step,
    refine_extremes,
    sample_outputs,
    take_samples,
)
from kinegraph.solve.loops.events import has_no_crossing, skip_quiet_step, watch_step
from kinegraph.solve.loops.marks import call_batch
from kinegraph.solve.loops.runge_kutta import (
    Control,
    begin,
    finite,
    fixed_ending,
    is_too_small,
    judge,
    start_steps,
    step_length,
    tolerated_error,
    too_small,
)
from kinegraph.solve.loops.step import (
    BASE,
    COMPONENT,
    CUT,
    DONE,
    END,
    EVALUATIONS,
    EVENT,
    EVENTS,
    INTERRUPTED,
    LAST_ERROR,
    LEFT,
    REJECTED,
    RUNNING,
    STEP,
    STEPS,
    SUBDIVISIONS,
    TIME,
    TOO_MANY_STEPS,
    CompiledTableau,
    Saving,
    System,
    Work,
    begin_notes,
    evaluate,
    norm_of,
    normalize,
    project,
    set_inputs,
    weighted,
)
from kinegraph.solve.loops.zero_crossings import Watch


class Lanes(NamedTuple):
    """Memory of the lanes, by row; slopes and errors are vectors over all lanes.

    rates, conditions, outputs: addresses of the batch code of slopes, events and outputs; 0 where there is none.
    x: of code for one state. states, times, inputs, parameters: the same in parts, of a stage.
    each_h: h, repeated for every component. case: the row of the case in a lane, or -1. codes: its state.
    again, tries, least, best: of the step that is being tried; see `judge`. stands: whether the step is accepted.
    values: of events, at places inside the step; observed: of outputs.
    """

    rates: int
    conditions: int
    outputs: int
    x: Floats
    states: Floats
    times: Floats
    inputs: Floats
    parameters: Floats
    y: Floats
    end: Floats
    slopes: Floats
    errors: Floats
    zero: Floats
    projected: Floats
    each_h: Floats
    h: Floats
    clocks: Floats
    counters: Integers
    case: Integers
    codes: Integers
    again: Integers
    tries: Integers
    least: Floats
    best: Floats
    stands: Integers
    values: Floats
    observed: Floats


@inlined
def work_of(lanes: Lanes, memory: Work, lane: int) -> Work:
    """One lane as the memory of a trajectory; slopes, errors and dense output are those of `memory`."""
    return Work(
        lanes.x[lane], lanes.y[lane], lanes.end[lane], memory.slopes, memory.errors, memory.dense, memory.zero,
        lanes.projected[lane], memory.basis,
    )  # fmt: skip


@inlined
def watch_in(watches: Watch, lane: int) -> Watch:
    """The events of one lane, from records with a row for each lane."""
    return Watch(
        watches.code, watches.slope, watches.reset, watches.directions, watches.actions, watches.boundary,
        watches.side[lane], watches.ahead[lane], watches.stage[lane], watches.on_surface[lane], watches.before[lane],
        watches.values[lane], watches.rates[lane], watches.incoming[lane], watches.residual[lane], watches.zero[lane],
        watches.since[lane], watches.noise[lane], watches.argument, watches.fresh, watches.recent[lane],
        watches.times, watches.which, watches.states, watches.samples, watches.limit, watches.span, watches.enclosure,
        watches.enclosed, watches.active, watches.needed, watches.rounding, watches.box, watches.bounds, watches.spread,
        watches.projects,
    )  # fmt: skip


@inlined
def tally_in(tallies: Tally, lane: int) -> Tally:
    """The tally of one lane, from a tally with samples for each lane."""
    return Tally(
        tallies.code, tallies.along, tallies.highs, tallies.lows, tallies.areas, tallies.known[lane],
        tallies.samples[lane], tallies.probe, tallies.first, tallies.last, tallies.high, tallies.high_at, tallies.low,
        tallies.low_at, tallies.area, tallies.occurrences, tallies.first_at, tallies.last_at, tallies.at_first,
        tallies.at_last,
    )  # fmt: skip


@part
def load_slopes(lanes: Lanes, memory: Work, lane: int, rows: int) -> None:
    """The slopes of one lane, for code of one trajectory."""
    size = lanes.y.shape[1]
    for row in range(rows):
        for d in range(size):
            memory.slopes[row, d] = lanes.slopes[row, lane * size + d]


@part
def load_dense(method: CompiledTableau, lanes: Lanes, memory: Work, lane: int) -> None:
    """The terms of dense output of one lane, for code of one trajectory; all its slopes are known."""
    size, h, count = lanes.y.shape[1], lanes.h[lane], len(method.nodes)
    load_slopes(lanes, memory, lane, count)
    for row in range(method.terms):
        weighted(method, count + method.errors + row, h, memory.zero, memory.slopes, size, memory.dense, row * size)


@part
def combine_lanes(method: CompiledTableau, lanes: Lanes, row: int) -> None:
    """states = y + h sum_j a_row,j K_j and the times of this stage, for all lanes."""
    weighted(method, row, lanes.each_h, lanes.y, lanes.slopes, len(lanes.zero), lanes.states, 0)
    node = method.nodes[row]
    for lane in range(len(lanes.h)):
        lanes.times[lane] = lanes.clocks[lane, TIME] + node * lanes.h[lane]


@part
def compute_lanes(code: int, system: System, lanes: Lanes, results: Floats, row: int, width: int) -> None:
    """Evaluate batch code for the states and times of all lanes, to a row of results."""
    count = len(lanes.h)
    if lanes.inputs.shape[1]:
        for lane in range(count):
            set_inputs(system.knots, system.coefficients, lanes.times[lane], lanes.inputs[lane], 0)
    call_batch(
        code, count, lanes.states, lanes.times, lanes.inputs, lanes.parameters, results, row * count * width
    )  # fmt: skip


@part
def evaluate_lanes(system: System, lanes: Lanes, memory: Work, row: int) -> None:
    """Slopes of all lanes for their states, to a row of slopes."""
    count, size = lanes.y.shape
    if lanes.rates != 0:
        compute_lanes(lanes.rates, system, lanes, lanes.slopes, row, size)
        return
    for lane in range(count):
        for d in range(size):
            lanes.x[lane, d] = lanes.states[lane, d]
        evaluate(system, work_of(lanes, memory, lane), lanes.times[lane], lanes.slopes, row * count + lane)


@part
def end_lanes(system: System, lanes: Lanes, memory: Work) -> None:
    """The ends of all steps, projected onto unit quaternions and constraints."""
    count, size = lanes.y.shape
    for lane in range(count):
        if system.projection != 0:
            for d in range(size):
                lanes.x[lane, d] = lanes.states[lane, d]
            project(system, work_of(lanes, memory, lane), lanes.times[lane])
            for d in range(size):
                lanes.states[lane, d] = lanes.x[lane, d]
        else:
            normalize(system.quaternions, lanes.states[lane])
        for d in range(size):
            lanes.end[lane, d] = lanes.states[lane, d]


@part
def take_steps(system: System, method: CompiledTableau, lanes: Lanes, memory: Work) -> None:
    """All slopes of a step of every lane, and its end."""
    count, size = lanes.y.shape
    for lane in range(count):
        for d in range(size):
            lanes.each_h[lane * size + d] = lanes.h[lane]
    take_stages(system, method, lanes, memory, 1, method.stages + 1)


@part
def take_stages(system: System, method: CompiledTableau, lanes: Lanes, memory: Work, first: int, last: int) -> None:
    """The slopes of some stages of all lanes; the slope at the end of the step follows the last stage."""
    for stage in range(first, last):
        combine_lanes(method, lanes, stage)
        if stage == method.stages:
            end_lanes(system, lanes, memory)
        evaluate_lanes(system, lanes, memory, stage)


@part
def estimate_lanes(method: CompiledTableau, lanes: Lanes) -> None:
    """Error estimates of all lanes, per unit of h."""
    size = len(lanes.zero)
    for row in range(method.errors):
        weighted(method, len(method.nodes) + row, 1.0, lanes.zero, lanes.slopes, size, lanes.errors, row * size)


@part
def prepare_dense_lanes(system: System, method: CompiledTableau, lanes: Lanes, memory: Work) -> None:
    """The additional slopes of dense output, of all lanes."""
    take_stages(system, method, lanes, memory, method.stages + 1, len(method.nodes))


@part
def sample_lanes(system: System, method: CompiledTableau, lanes: Lanes, along: bool) -> None:
    """Conditions of events and outputs at equal parts of the steps of all lanes, if batch code computes them."""
    first = len(method.nodes) + method.errors + method.terms
    looking = lanes.outputs != 0 and along
    if lanes.conditions == 0 and not looking:
        return
    for k in range(SUBDIVISIONS):
        weighted(method, first + k, lanes.each_h, lanes.y, lanes.slopes, len(lanes.zero), lanes.states, 0)
        for lane in range(len(lanes.h)):
            lanes.times[lane] = lanes.clocks[lane, TIME] + (k + 1) / SUBDIVISIONS * lanes.h[lane]
        if lanes.conditions != 0:
            compute_lanes(lanes.conditions, system, lanes, lanes.values, k, lanes.values.shape[2])
        if looking:
            compute_lanes(lanes.outputs, system, lanes, lanes.observed, k, lanes.observed.shape[2])


# Cases


class Cases(NamedTuple):
    """Initial states and parameters by row, and how each case ended.

    grid: times at which states are saved to `saved`, by row; infinite where none are.
    stop: set its entry to 1 to end the loop before the next step.
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
    """Reset all memory for a new run."""
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
def start_case(
    system: System, method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, watches: Watch,
    tallies: Tally,
    cases: Cases, lane: int, row: int,
) -> None:  # fmt: skip
    """Put a case into a lane."""
    size = lanes.y.shape[1]
    work, watch, tally = work_of(lanes, memory, lane), watch_in(watches, lane), tally_in(tallies, lane)
    clock, counters = lanes.clocks[lane], lanes.counters[lane]
    prepare_case(cases, work, clock, watch, counters, row)
    for k in range(cases.parameters.shape[1]):
        lanes.parameters[lane, k] = cases.parameters[row, k]
    for stage in range(len(lanes.slopes)):
        for d in range(size):
            lanes.slopes[stage, lane * size + d] = 0.0
    lanes.case[lane] = row
    begin_tally(system, tally, work, row, clock[TIME])
    lanes.codes[lane] = begin(system, method, control, work, clock, watch, saving_of(cases, row), counters)
    take_events(system, tally, watch, counters, work, row)
    begin_step(control, lanes, memory, lane)


@part
def take_events(system: System, tally: Tally, watch: Watch, counters: Integers, work: Work, row: int) -> None:
    """Count the events that were recorded since the last call."""
    note_events(system, tally, watch, work, row, 0, counters[EVENTS])
    counters[EVENTS] = 0


@inlined
def saving_of(cases: Cases, row: int) -> Saving:
    """Where the states of a case are saved."""
    return Saving(cases.grid, 1, cases.times, cases.saved[row])


@inlined
def begin_step(control: Control, lanes: Lanes, memory: Work, lane: int) -> None:
    """Take the slope in memory for a lane's next step, which has not been tried yet."""
    size = lanes.y.shape[1]
    for d in range(size):
        lanes.slopes[0, lane * size + d] = memory.slopes[0, d]
    lanes.again[lane], lanes.tries[lane] = 0, 0
    lanes.least[lane], lanes.best[lane] = tolerated_error(control), 0.0


@part
def finish_case(system: System, lanes: Lanes, memory: Work, tallies: Tally, cases: Cases, lane: int) -> None:
    """Store how the case of a lane ended, and free the lane."""
    row, counters, t = lanes.case[lane], lanes.counters[lane], lanes.clocks[lane, TIME]
    end_tally(system, tally_in(tallies, lane), work_of(lanes, memory, lane), row, t)
    for d in range(lanes.y.shape[1]):
        cases.finals[row, d] = lanes.y[lane, d]
    cases.codes[row], cases.ends[row] = lanes.codes[lane], t
    cases.steps[row], cases.rejected[row] = counters[STEPS], counters[REJECTED]
    cases.component[row], cases.event[row] = counters[COMPONENT], counters[EVENT]
    lanes.case[lane] = -1


@part
def choose_step(
    method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, lane: int, constrained: bool
) -> int:
    """Choose the next step of a lane; returns RUNNING, or how its case ends."""
    clock, counters = lanes.clocks[lane], lanes.counters[lane]
    if clock[TIME] >= clock[END]:
        return DONE
    h = step_length(control, clock, counters)
    work = work_of(lanes, memory, lane)
    if is_too_small(control, work, clock, h):
        load_slopes(lanes, memory, lane, method.stages + 1)
        return too_small(method, control, work, counters, constrained)
    lanes.h[lane] = h
    begin_notes(lanes.projected[lane])
    return RUNNING


@part
def judge_lane(
    method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, lane: int, constrained: bool
) -> int:
    """Decide whether to accept the step of a lane (`stands`); returns RUNNING, or how its case ends."""
    work, size, h = work_of(lanes, memory, lane), lanes.y.shape[1], lanes.h[lane]
    clock, counters, start = lanes.clocks[lane], lanes.counters[lane], lane * size
    counters[EVALUATIONS] += method.stages
    sound = finite(work.end, lanes.slopes[method.stages], start) and work.projected[LEFT] == 0.0
    if control.fixed:
        if sound and not constrained:
            lanes.stands[lane] = 1
            return RUNNING
        load_slopes(lanes, memory, lane, method.stages + 1)
        code = fixed_ending(method, control, work, counters, constrained)
        lanes.stands[lane] = int(code == RUNNING)
        return code
    error = norm_of(work, lanes.errors, method.errors, start, h, control.rtol, control.atol) if sound else inf
    lanes.stands[lane], lanes.tries[lane], lanes.least[lane], lanes.best[lane] = judge(
        control, work, clock, h, error, lanes.again[lane] != 0, lanes.tries[lane], lanes.least[lane], lanes.best[lane]
    )
    if lanes.stands[lane]:
        return RUNNING
    lanes.again[lane] = 1
    counters[REJECTED] += 1
    return TOO_MANY_STEPS if counters[STEPS] + counters[REJECTED] >= control.max_steps else RUNNING


@inlined
def ensure_dense(method: CompiledTableau, lanes: Lanes, memory: Work, lane: int, known: bool) -> bool:
    """Prepare dense output of a lane unless it is known; returns True."""
    if not known:
        load_dense(method, lanes, memory, lane)
    return True


@part
def finish_lane_step(
    system: System, method: CompiledTableau, lanes: Lanes, memory: Work, watch: Watch, saving: Saving, tally: Tally,
    lane: int,
) -> int:  # fmt: skip
    """As `finish_step`, with the outputs observed along the part of the step that is kept."""
    clock, counters, h = lanes.clocks[lane], lanes.counters[lane], lanes.h[lane]
    work, t, code, u, known = work_of(lanes, memory, lane), clock[TIME], RUNNING, 1.0, False
    if lanes.conditions != 0 and has_no_crossing(watch, lanes.values, lane):
        skip_quiet_step(watch, lanes.values, lane)
    elif len(watch.side):
        known = ensure_dense(method, lanes, memory, lane, known)
        code, u = watch_step(system, watch, counters, work, t, h)
    if code in (RUNNING, CUT):
        if tally.along:
            known = observe_lane(system, method, lanes, memory, tally, lane, u, known)
        tally.known[0] = 1 if code == RUNNING else 0  # an event may change the state
    if code == RUNNING and has_grid_before(saving, counters, end_of(clock, h)):
        ensure_dense(method, lanes, memory, lane, known)
    return int(end_step(system, work, clock, watch, saving, counters, code, u, h))


@part
def observe_lane(
    system: System, method: CompiledTableau, lanes: Lanes, memory: Work, tally: Tally, lane: int, u: float, known: bool
) -> bool:
    """Observe the outputs up to the part u of the step; returns whether dense output is known now."""
    work, row, t, h = work_of(lanes, memory, lane), lanes.case[lane], lanes.clocks[lane, TIME], lanes.h[lane]
    if lanes.outputs != 0 and u == 1.0:
        take_samples(system, tally, work, lanes.observed, lane, t)
    else:
        known = ensure_dense(method, lanes, memory, lane, known)
        sample_outputs(system, tally, work, t, h, u)
    if observe_step(tally, row, t, h, u):
        known = ensure_dense(method, lanes, memory, lane, known)
        refine_extremes(system, tally, work, row, t, h, u)
    return known


@part
def finish_lane(
    system: System, method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, watches: Watch,
    tallies: Tally,
    cases: Cases, lane: int,
) -> int:  # fmt: skip
    """Finish the accepted step and begin the next; returns RUNNING, or how the case ends."""
    size, row = lanes.y.shape[1], lanes.case[lane]
    work, watch, tally = work_of(lanes, memory, lane), watch_in(watches, lane), tally_in(tallies, lane)
    clock, counters = lanes.clocks[lane], lanes.counters[lane]
    code = finish_lane_step(system, method, lanes, memory, watch, saving_of(cases, row), tally, lane)
    if counters[EVENTS] > 0:
        take_events(system, tally, watch, counters, work, row)
    if code == RUNNING:
        for d in range(size):
            lanes.y[lane, d] = lanes.end[lane, d]
            memory.slopes[0, d] = lanes.slopes[method.stages, lane * size + d]
    elif code == CUT:
        start_steps(system, method, control, work, clock)
    else:
        return code
    begin_step(control, lanes, memory, lane)
    return TOO_MANY_STEPS if counters[STEPS] >= control.max_steps else RUNNING


@part
def refill(
    system: System, method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, watches: Watch,
    tallies: Tally,
    cases: Cases, lane: int, following: int, last: int,
) -> int:  # fmt: skip
    """Give a lane a step to try, of its case or of the next case; returns the case after that."""
    while True:
        if lanes.case[lane] >= 0:
            if lanes.codes[lane] == RUNNING:
                code = INTERRUPTED
                if cases.stop[0] == 0:
                    code = choose_step(method, control, lanes, memory, lane, system.projection != 0)
                if code == RUNNING:
                    return following
                lanes.codes[lane] = code
            finish_case(system, lanes, memory, tallies, cases, lane)
        lanes.h[lane] = 0.0
        if following >= last or cases.stop[0]:
            return following
        start_case(system, method, control, lanes, memory, watches, tallies, cases, lane, following)
        following += 1


@part
def try_all(
    system: System, method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, watches: Watch,
    tallies: Tally,
    cases: Cases,
) -> None:  # fmt: skip
    """Try one step in all lanes, and sample accepted steps if events or outputs need it."""
    take_steps(system, method, lanes, memory)
    if not control.fixed:
        estimate_lanes(method, lanes)
    dense = False
    for lane in range(len(lanes.case)):
        lanes.stands[lane] = 0
        if lanes.case[lane] < 0:
            continue
        lanes.codes[lane] = judge_lane(method, control, lanes, memory, lane, system.projection != 0)
        if lanes.stands[lane]:
            t_new, saving = end_of(lanes.clocks[lane], lanes.h[lane]), saving_of(cases, lanes.case[lane])
            dense = dense or needs_dense(watch_in(watches, lane), saving, lanes.counters[lane], t_new)
            dense = dense or tallies.along
    if dense:
        prepare_dense_lanes(system, method, lanes, memory)
        sample_lanes(system, method, lanes, tallies.along)


@loop
def run_cases(
    system: System, method: CompiledTableau, control: Control, lanes: Lanes, memory: Work, watches: Watch,
    tallies: Tally,
    cases: Cases, first: int, last: int,
) -> None:  # fmt: skip
    """Run the cases first <= row < last; cases that `stop` prevents stay INTERRUPTED."""
    following = first
    while True:
        busy = False
        for lane in range(len(lanes.case)):
            following = refill(
                system, method, control, lanes, memory, watches, tallies, cases, lane, following, last
            )  # fmt: skip
            busy = busy or lanes.case[lane] >= 0
        if not busy:
            return
        try_all(system, method, control, lanes, memory, watches, tallies, cases)
        for lane in range(len(lanes.case)):
            if lanes.stands[lane]:
                lanes.codes[lane] = finish_lane(
                    system, method, control, lanes, memory, watches, tallies, cases, lane
                )  # fmt: skip
