"""The compiled loop of explicit Runge-Kutta methods. It runs in slices, between which Python reports progress."""

from __future__ import annotations

from math import inf, isfinite
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import inlined, loop, part
from kinegraph.solve.loops.after_step import begin_run, end_of, finish_step, fixed_step, may_step, needs_dense
from kinegraph.solve.loops.step import (
    BEGINNING,
    BEGUN,
    COMPONENT,
    CUT,
    DONE,
    END,
    EVALUATIONS,
    HIGHEST,
    LAST_ERROR,
    LATEST,
    LEFT,
    LOOPS_OPEN,
    LOWEST,
    NOT_A_NUMBER,
    REJECTED,
    ROW,
    RUNNING,
    SINGULAR_PLACE,
    STEP,
    STEPS,
    TIME,
    TOO_MANY_STEPS,
    TOO_SMALL,
    CompiledTableau,
    Saving,
    System,
    Work,
    begin_notes,
    error_norm,
    evaluate,
    initial_step,
    prepare_dense,
    take_step,
    worst_component,
)
from kinegraph.solve.loops.zero_crossings import Watch

# Positions with a pivot below this part of the usual pivot are singular up to rounding. Steps pass over them, with
# lengths that keep stages away. After so many tries the least error is accepted, if rounding explains it.
SINGULAR, AVOIDING, MOST_TRIES, ROUNDING = 1e-4, 0.93, 12, 1e-8

# A step that begins near a singular position may end there, unless its pivot falls below this part.
NEARER = 1e-2

# Steps that begin there and are shorter than this part of the run make no progress.
STUCK = 1e-12

# With a pivot below this, a rate has no correct digits.
MEANINGLESS = 1e-11

_SHORTEST_START = 1e-12  # of the current time: the shortest first step after an event


class Control(NamedTuple):
    """A step controller for compiled code; `fixed` ignores all other fields except max_steps."""

    fixed: bool
    rtol: float
    atol: Floats
    max_step: float
    max_steps: int
    safety: float
    shrink: float
    grow: float
    exponent: float
    memory: float
    error_order: int


@part
def begin(
    system: System, method: CompiledTableau, control: Control, work: Work, clock: Floats, watch: Watch, saving: Saving,
    counters: Integers,
) -> int:  # fmt: skip
    """Begin the run, with the first slope and the first step; RUNNING, or how it ends."""
    code = begin_run(system, work, clock, watch, saving, counters)
    first = clock[STEP]
    start_steps(system, method, control, work, clock)
    if first > 0.0:
        clock[STEP] = first
    return int(code)


@part
def start_steps(system: System, method: CompiledTableau, control: Control, work: Work, clock: Floats) -> None:
    """The slope at work.y and, if the controller chooses it, the first step from there."""
    size, t = len(work.y), clock[TIME]
    for d in range(size):
        work.x[d] = work.end[d] = work.y[d]
    evaluate(system, work, t, work.slopes, 0)
    work.projected[BEGINNING] = work.projected[LATEST]
    if not control.fixed:
        step = initial_step(system, method, work, t, control.rtol, control.atol, control.error_order)
        clock[STEP] = max(step, _SHORTEST_START * abs(t))


@inlined
def step_length(control: Control, clock: Floats, counters: Integers) -> float:
    """The step to try: as the controller chose, or exactly to the end; always a difference of times."""
    if control.fixed:
        return fixed_step(clock, counters)
    t, end = clock[TIME], clock[END]
    h = min(clock[STEP], control.max_step)
    return float(end - t if t + 1.01 * h >= end else (t + h) - t)


@inlined
def accepted(control: Control, clock: Floats, h: float, error: float, after_rejection: bool) -> None:
    """Choose the next step after an accepted step (PI controller of Gustafsson and Hairer)."""
    if error == 0.0:
        factor = control.grow
    else:
        factor = control.safety * error ** (-control.exponent) * clock[LAST_ERROR] ** control.memory
        factor = min(control.grow, max(control.shrink, factor))
    if after_rejection:
        factor = min(factor, 1.0)
    clock[STEP] = h * factor
    clock[LAST_ERROR] = max(error, 1e-4)


@part
def rejected(control: Control, clock: Floats, h: float, error: float) -> None:
    """Choose a shorter step after a rejected step."""
    factor = 0.1
    if isfinite(error):
        factor = max(control.shrink, control.safety * error ** (-1.0 / (control.error_order + 1)))
    clock[STEP] = h * factor


@inlined
def near_singular(work: Work, note: int) -> bool:
    """Whether the LATEST state, or the LOWEST of the step, is near a singular position, where rates are rounding."""
    return bool(work.projected[note] < SINGULAR * work.projected[HIGHEST])


@inlined
def lands_singular(work: Work) -> bool:
    """Whether the step ends near a singular position, or much nearer to it than where it began."""
    latest, beginning = work.projected[LATEST], work.projected[BEGINNING]
    return near_singular(work, LATEST) and (not near_singular(work, BEGINNING) or bool(latest < NEARER * beginning))


@inlined
def finite(end: Floats, slopes: Floats, start: int) -> bool:
    """Whether the end of the step and its slope, which begins at `start`, are finite."""
    total = 0.0
    for d in range(len(end)):
        total += 0.0 * (end[d] + slopes[start + d])
    return total == 0.0


@inlined
def sound(method: CompiledTableau, work: Work) -> bool:
    """Whether the end of the last step is finite."""
    return finite(work.end, work.slopes[method.stages], 0)


@inlined
def tolerated_error(control: Control) -> float:
    """The error of a step over a singular position that rounding explains."""
    return max(1.0, ROUNDING / max(control.rtol, 1e-15))


@part
def is_too_small(control: Control, work: Work, clock: Floats, h: float) -> bool:
    """Whether a chosen step is lost in the rounding of the time, or does not lead away from a singular position."""
    t, end = clock[TIME], clock[END]
    lost = not h >= 1e-15 * max(abs(t), 1e-12)
    return not control.fixed and (lost or (h < STUCK * max(abs(t), end - t) and near_singular(work, BEGINNING)))


@part
def judge(
    control: Control, work: Work, clock: Floats, h: float, error: float, again: bool, tries: int, least: float,
    best: float,
) -> tuple[bool, int, float, float]:  # fmt: skip
    """Whether a step with this error is accepted. Chooses the length of the next step, or of the next try.

    again: this is not the first try. tries, least, best: of steps over a singular position, how many there were, the
    least error and its length; returned as they are now.
    """
    tolerated = tolerated_error(control)
    lands = tries < MOST_TRIES and clock[TIME] + h < clock[END] and lands_singular(work)
    if error <= (1.0 if tries <= MOST_TRIES else tolerated) and not lands:
        work.projected[BEGINNING] = work.projected[LATEST]  # of the next step
        accepted(control, clock, h, error, again)
        return True, tries, least, best
    rejected(control, clock, h, error)
    if tries <= MOST_TRIES and near_singular(work, LOWEST):
        tries += 1
        if error < least and not lands:
            least, best = error, h
        # A much shorter step would only come nearer. In the end the best step is accepted: its error is rounding.
        clock[STEP] = h * AVOIDING if tries <= MOST_TRIES else max(best, clock[STEP])
    return False, tries, least, best


@part
def one_step(
    system: System, method: CompiledTableau, control: Control, work: Work, clock: Floats, counters: Integers
) -> tuple[int, float]:
    """Take a step that the controller accepts; returns its code and length."""
    stands, again, tries, least, best = False, False, 0, tolerated_error(control), 0.0
    while True:
        t, h = clock[TIME], step_length(control, clock, counters)
        if is_too_small(control, work, clock, h):
            return too_small(method, control, work, counters, system.projection != 0), h
        begin_notes(work.projected)
        take_step(system, method, work, t, h)
        counters[EVALUATIONS] += method.stages
        if control.fixed:
            return fixed_ending(method, control, work, counters, system.projection != 0), h
        error = error_norm(method, work, h, control.rtol, control.atol)
        if not sound(method, work) or work.projected[LEFT] > 0.0:
            error = inf
        stands, tries, least, best = judge(control, work, clock, h, error, again, tries, least, best)
        if stands:
            return RUNNING, h
        again = True
        counters[REJECTED] += 1
        if counters[STEPS] + counters[REJECTED] >= control.max_steps:
            return TOO_MANY_STEPS, h


@part
def fixed_ending(method: CompiledTableau, control: Control, work: Work, counters: Integers, constrained: bool) -> int:
    """The result of a step of fixed length: RUNNING, or a stage is off the constraints, or at a singular position."""
    if constrained and work.projected[LOWEST] < MEANINGLESS:
        counters[COMPONENT] = int(work.projected[ROW])
        return SINGULAR_PLACE
    if constrained and work.projected[LEFT] > 0.0:
        counters[COMPONENT] = int(work.projected[ROW])
        return LOOPS_OPEN
    return RUNNING if sound(method, work) else failed(method, control, work, counters, RUNNING)


@part
def failed(method: CompiledTableau, control: Control, work: Work, counters: Integers, code: int) -> int:
    """Note where a step failed; returns NOT_A_NUMBER if that is the reason, else the code."""
    counters[COMPONENT] = worst_component(method, work, control.rtol, control.atol)
    return code if sound(method, work) else NOT_A_NUMBER


@part
def too_small(method: CompiledTableau, control: Control, work: Work, counters: Integers, constrained: bool) -> int:
    """Why no step is short enough: a singular position is near, or something else."""
    if constrained and near_singular(work, LOWEST):
        counters[COMPONENT] = int(work.projected[ROW])
        return SINGULAR_PLACE
    return failed(method, control, work, counters, TOO_SMALL)


@part
def finish_with_dense(
    system: System, method: CompiledTableau, work: Work, clock: Floats, watch: Watch, saving: Saving,
    counters: Integers,
    h: float,
) -> int:  # fmt: skip
    """As `finish_step`, with the method's dense output prepared if it is needed."""
    if needs_dense(watch, saving, counters, end_of(clock, h)):
        prepare_dense(system, method, work, clock[TIME], h)
    return int(finish_step(system, work, clock, watch, saving, counters, h))


@inlined
def move_on(work: Work, row: int) -> None:
    """The end of the step becomes the beginning of the next."""
    for d in range(len(work.y)):
        work.y[d] = work.end[d]
        work.slopes[0, d] = work.slopes[row, d]


@part
def continue_run(
    system: System, method: CompiledTableau, control: Control, work: Work, clock: Floats, counters: Integers, code: int
) -> int:
    """Prepare the next step after one that ended with this code: RUNNING, or why the run pauses or ends."""
    if code == RUNNING:
        move_on(work, method.stages)
    elif code == CUT:
        start_steps(system, method, control, work, clock)
    else:
        return code
    return TOO_MANY_STEPS if counters[STEPS] >= control.max_steps else RUNNING


@loop
def advance(
    system: System, method: CompiledTableau, control: Control, work: Work, clock: Floats, watch: Watch, saving: Saving,
    counters: Integers, slice_steps: int,
) -> int:  # fmt: skip
    """Begin, or go on, for up to `slice_steps` steps, or until Python has something to do."""
    if not counters[BEGUN]:
        code = begin(system, method, control, work, clock, watch, saving, counters)
        if code != RUNNING:
            return code
    for _ in range(slice_steps):
        code = may_step(clock, watch, saving, counters)
        if code != RUNNING:
            return code
        code, h = one_step(system, method, control, work, clock, counters)
        if code == RUNNING:
            code = finish_with_dense(system, method, work, clock, watch, saving, counters, h)
        code = continue_run(system, method, control, work, clock, counters, code)
        if code != RUNNING:
            return code
    return DONE if clock[TIME] >= clock[END] else RUNNING
