"""Steps of one length with held inputs: the compiled loops of `kg.simulator`, for one trajectory and for many rows."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import loop, part
from kinegraph.solve.loops.marks import call_batch
from kinegraph.solve.loops.step import (
    LEFT,
    LOOPS_OPEN,
    NOT_A_NUMBER,
    RUNNING,
    System,
    Work,
    begin_notes,
    evaluate,
    normalize,
    project,
)

# Places in the array `clock`: time, step size, and the time from which steps of this size are counted, and how many.
TIME, STEP, BASE, COUNT = range(4)


class Rows(NamedTuple):
    """Trajectories of a block side by side: states, held inputs and parameters by row, and memory for one step.

    batch: the address of batch code of the rates; 0 if each row is computed by the system's own code.
    endings: how the latest step of each row ended; a row that failed keeps its state.
    """

    batch: int
    states: Floats
    inputs: Floats
    parameters: Floats
    stages: Floats
    times: Floats
    slopes: Floats
    endings: Integers


@part
def runge_kutta_step(system: System, work: Work, t: float, h: float) -> int:
    """x[:n] at the end of a step of the classical Runge-Kutta method from y; says how it ended."""
    size = len(work.y)
    for d in range(size):
        work.x[d] = work.y[d]
    if system.projection != 0:
        begin_notes(work.projected)
    evaluate(system, work, t, work.slopes, 0)
    for stage in range(1, 4):
        reach = h if stage == 3 else 0.5 * h
        for d in range(size):
            work.x[d] = work.y[d] + reach * work.slopes[stage - 1, d]
        evaluate(system, work, t + reach, work.slopes, stage)
    for d in range(size):
        total = work.slopes[0, d] + 2.0 * (work.slopes[1, d] + work.slopes[2, d]) + work.slopes[3, d]
        work.x[d] = work.y[d] + h / 6.0 * total
    project(system, work, t + h)
    for d in range(size):
        if not isfinite(work.x[d]):
            return NOT_A_NUMBER
    if system.projection != 0 and work.projected[LEFT] > 0.0:
        return LOOPS_OPEN
    return RUNNING


@part
def advance_clock(clock: Floats) -> None:
    """Count a step: times are multiples of the step size, not sums of it."""
    clock[COUNT] += 1.0
    clock[TIME] = clock[BASE] + clock[COUNT] * clock[STEP]


@loop
def take_steps(system: System, work: Work, clock: Floats, count: int) -> int:
    """Take `count` steps; a step that fails ends them and leaves state and time as they were before it."""
    for _ in range(count):
        ending = runge_kutta_step(system, work, clock[TIME], clock[STEP])
        if ending != RUNNING:
            return int(ending)
        for d in range(len(work.y)):
            work.y[d] = work.x[d]
        advance_clock(clock)
    return RUNNING


@loop
def take_steps_of_rows(system: System, rows: Rows, work: Work, clock: Floats, count: int) -> int:
    """Take `count` steps with every row of a block; how each ended is in `rows.endings`. The clock is a copy."""
    for row in range(len(rows.states)):
        rows.endings[row] = RUNNING
    for _ in range(count):
        if rows.batch != 0:
            step_in_lanes(system, rows, clock[TIME], clock[STEP])
        else:
            step_row_by_row(system, rows, work, clock[TIME], clock[STEP])
        advance_clock(clock)
    failed = 0
    for row in range(len(rows.states)):
        if rows.endings[row] != RUNNING:
            failed += 1
    return failed


@part
def step_row_by_row(system: System, rows: Rows, work: Work, t: float, h: float) -> None:
    """One step of every row, by the code of one trajectory."""
    size, inputs, parameters = len(work.y), rows.inputs.shape[1], rows.parameters.shape[1]
    for row in range(len(rows.states)):
        if rows.endings[row] != RUNNING:
            continue
        for d in range(size):
            work.y[d] = rows.states[row, d]
        for k in range(inputs):
            work.x[size + 1 + k] = rows.inputs[row, k]
        for k in range(parameters):
            work.x[size + 1 + inputs + k] = rows.parameters[row, k]
        ending = runge_kutta_step(system, work, t, h)
        rows.endings[row] = ending
        if ending == RUNNING:
            for d in range(size):
                rows.states[row, d] = work.x[d]


@part
def step_in_lanes(system: System, rows: Rows, t: float, h: float) -> None:
    """One step of all rows at once, by batch code."""
    count, size = rows.states.shape
    length = count * size
    rates_of_rows(rows, rows.states, t, 0)
    for stage in range(1, 4):
        reach = h if stage == 3 else 0.5 * h
        for row in range(count):
            for d in range(size):
                rows.stages[row, d] = rows.states[row, d] + reach * rows.slopes[stage - 1, row * size + d]
        rates_of_rows(rows, rows.stages, t + reach, stage * length)
    for row in range(count):
        finite = True
        for d in range(size):
            k = row * size + d
            total = rows.slopes[0, k] + 2.0 * (rows.slopes[1, k] + rows.slopes[2, k]) + rows.slopes[3, k]
            rows.stages[row, d] = rows.states[row, d] + h / 6.0 * total
            finite = finite and isfinite(rows.stages[row, d])
        if not finite:
            rows.endings[row] = NOT_A_NUMBER
        if rows.endings[row] == RUNNING:
            for d in range(size):
                rows.states[row, d] = rows.stages[row, d]
            normalize(system.quaternions, rows.states[row])


@part
def rates_of_rows(rows: Rows, states: Floats, t: float, start: int) -> None:
    """The rates of all rows to the flat place `start` of the slopes."""
    for row in range(len(rows.times)):
        rows.times[row] = t
    call_batch(rows.batch, len(states), states, rows.times, rows.inputs, rows.parameters, rows.slopes, start)
