"""The compiled loop of explicit Runge-Kutta methods. It runs in slices, so that Python can look in between."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

from kinegraph.solve.loops.marks import inlined, loop, part
from kinegraph.solve.loops.record import (
    COMPONENT,
    DONE,
    END,
    EVALUATIONS,
    EVENT_TOTAL,
    LAST_ERROR,
    NO_ROOM,
    NOT_A_NUMBER,
    REJECTED,
    RUNNING,
    SINCE_START,
    STEP,
    STEPS,
    TIME,
    TOO_MANY_EVENTS,
    TOO_MANY_STEPS,
    TOO_SMALL,
    Saving,
    Watch,
    begin_record,
    cut_step,
    fixed_step,
    has_grid_until,
    room,
    save_step,
    watch_step,
)
from kinegraph.solve.loops.step import (
    System,
    Work,
    error_norm,
    evaluate,
    initial_step,
    prepare_dense,
    take_step,
    worst_component,
)
from kinegraph.solve.loops.weights import Method

Array = Any


class Control(NamedTuple):
    """A step controller for compiled code; `fixed` ignores all the rest but max_steps."""

    fixed: bool
    rtol: float
    atol: Array
    max_step: float
    max_steps: int
    safety: float
    shrink: float
    grow: float
    exponent: float
    memory: float
    error_order: int


@loop
def begin(
    system: System, method: Method, control: Control, work: Work, clock: Array, watch: Watch, saving: Saving,
    counters: Array,
) -> None:  # fmt: skip
    """The first slope, the first step, the first saved state and the first values of events."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.end[d] = work.y[d]
    evaluate(system, work.x, size, clock[TIME], work.slopes, 0)
    if not control.fixed and clock[STEP] <= 0.0:
        clock[STEP] = initial_step(system, method, work, clock[TIME], control.rtol, control.atol, control.error_order)
    begin_record(work, clock[TIME], watch, saving, counters)


@inlined
def step_length(control: Control, clock: Array, counters: Array) -> float:
    """The step to try: as the controller chose, or to the end exactly."""
    if control.fixed:
        return fixed_step(clock, counters)
    t, end = clock[TIME], clock[END]
    h = min(clock[STEP], control.max_step)
    return float(end - t if t + 1.01 * h >= end else h)


@inlined
def accepted(control: Control, clock: Array, h: float, error: float, after_rejection: bool) -> None:
    """Choose the next step after a good one (PI controller of Gustafsson and Hairer)."""
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
def rejected(control: Control, clock: Array, h: float, error: float) -> None:
    """Choose a shorter step after a bad one."""
    factor = 0.1
    if isfinite(error):
        factor = max(control.shrink, control.safety * error ** (-1.0 / (control.error_order + 1)))
    clock[STEP] = h * factor


@inlined
def finite(work: Work, row: int) -> bool:
    """Whether the end of the step and its slope are finite."""
    total = 0.0
    for d in range(len(work.y)):
        total += 0.0 * (work.end[d] + work.slopes[row, d])
    return total == 0.0


@part
def one_step(
    system: System, method: Method, control: Control, work: Work, clock: Array, counters: Array
) -> tuple[int, float]:
    """Take a step that the controller accepts; returns how it went and the length."""
    after_rejection = False
    while True:
        t, h = clock[TIME], step_length(control, clock, counters)
        if not control.fixed and not h >= 1e-15 * max(abs(t), 1e-12):
            counters[COMPONENT] = worst_component(method, work, control.rtol, control.atol)
            return (TOO_SMALL if finite(work, method.stages) else NOT_A_NUMBER), h
        take_step(system, method, work, t, h)
        counters[EVALUATIONS] += method.stages
        if control.fixed:
            if finite(work, method.stages):
                return RUNNING, h
            counters[COMPONENT] = worst_component(method, work, control.rtol, control.atol)
            return NOT_A_NUMBER, h
        error = error_norm(method, work, h, control.rtol, control.atol)
        if error <= 1.0 and finite(work, method.stages):
            accepted(control, clock, h, error, after_rejection)
            return RUNNING, h
        rejected(control, clock, h, error)
        after_rejection = True
        counters[REJECTED] += 1
        if counters[STEPS] + counters[REJECTED] >= control.max_steps:
            return TOO_MANY_STEPS, h


@inlined
def finish_step(work: Work, row: int) -> None:
    """The end of the step becomes the beginning of the next."""
    for d in range(len(work.y)):
        work.y[d] = work.end[d]
        work.slopes[0, d] = work.slopes[row, d]


@loop
def advance(
    system: System, method: Method, control: Control, work: Work, clock: Array, watch: Watch, saving: Saving,
    counters: Array, slice_steps: int,
) -> int:  # fmt: skip
    """Go on for up to `slice_steps` steps, or until there is something for Python to do."""
    for _ in range(slice_steps):
        if clock[TIME] >= clock[END]:
            return DONE
        if not room(saving, watch, counters):
            return NO_ROOM
        code, h = one_step(system, method, control, work, clock, counters)
        if code != RUNNING:
            return code
        counters[STEPS] += 1
        counters[SINCE_START] += 1
        t = clock[TIME]
        t_new = clock[END] if h == clock[END] - t else t + h
        watching = len(watch.before) > 0
        if watching or has_grid_until(saving, counters, t_new):
            prepare_dense(system, method, work, t, h)
        if watching:
            event, u = watch_step(watch, counters, work, t, h)
            if event >= 0:
                code = cut_step(system, work, watch, saving, counters, clock, event, u, h)
                if code != RUNNING:
                    return code
            if counters[EVENT_TOTAL] >= watch.limit:
                return TOO_MANY_EVENTS
            if event >= 0:
                continue
        save_step(saving, counters, work, t, h, t_new)
        clock[TIME] = t_new
        finish_step(work, method.stages)
        if counters[STEPS] >= control.max_steps:
            return TOO_MANY_STEPS
    return DONE if clock[TIME] >= clock[END] else RUNNING
