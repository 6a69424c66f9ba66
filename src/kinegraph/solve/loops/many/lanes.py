"""The compiled loop over many trajectories: lanes take their stages together, each with time and step of its own.

A lane that is done takes the next trajectory of its block. Slopes of all lanes lie side by side, so sums over stages
run over long vectors, and the batch code of the kernel computes several lanes with one instruction.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import NamedTuple

from kinegraph.solve.loops.marks import Floats, Integers, call_batch, inlined, loop, part
from kinegraph.solve.loops.record import DONE, NOT_A_NUMBER, RUNNING, TOO_MANY_STEPS, TOO_SMALL
from kinegraph.solve.loops.runge_kutta import Control
from kinegraph.solve.loops.step import System, Work, evaluate, initial_step, project
from kinegraph.solve.loops.weights import Method, weighted


class Cases(NamedTuple):
    """Many initial states and parameters, and where their results go.

    `saved[i, k]` is trajectory i at grid[k]; with an empty grid saved[i, 0] is its end.
    """

    states: Floats
    parameters: Floats
    grid: Floats
    start: float
    end: float
    step: float
    saved: Floats
    codes: Integers
    steps: Integers
    times: Floats


class Lanes(NamedTuple):
    """Memory of the lanes, by row; `slopes` are vectors over all lanes. `each_h` repeats h for every component."""

    batch: int
    x: Floats
    y: Floats
    end: Floats
    p: Floats
    slopes: Floats
    errors: Floats
    dense: Floats
    zero: Floats
    stage_t: Floats
    t: Floats
    h: Floats
    each_h: Floats
    next_h: Floats
    last_error: Floats
    case: Integers
    taken: Integers
    place: Floats
    rejected: Integers


@part
def evaluate_lanes(system: System, lanes: Lanes, work: Work, states: Floats, row: int) -> None:
    """Slopes of all lanes for these states at the times of the stage."""
    count, size = lanes.y.shape
    if lanes.batch:
        call_batch(lanes.batch, count, states, lanes.stage_t, lanes.p, lanes.slopes, row * count * size)
        return
    for lane in range(count):
        for d in range(size):
            work.x[d] = states[lane, d]
        for k in range(lanes.p.shape[1]):
            work.x[size + 1 + k] = lanes.p[lane, k]
        evaluate(system, work, lanes.stage_t[lane], lanes.slopes, row * count + lane)


@part
def combine_lanes(method: Method, lanes: Lanes, row: int, target: Floats) -> None:
    """target = y + h sum_j a_row,j K_j and the time of this stage, for all lanes."""
    weighted(method, row, lanes.each_h, lanes.y, lanes.slopes, len(lanes.zero), target, 0)
    node = method.nodes[row]
    for lane in range(len(lanes.t)):
        lanes.stage_t[lane] = lanes.t[lane] + node * lanes.h[lane]


@part
def project_lane(system: System, lanes: Lanes, work: Work, lane: int) -> None:
    """Bring the end of a lane's step back onto its constraints."""
    size = lanes.y.shape[1]
    for d in range(size):
        work.x[d] = lanes.end[lane, d]
    for k in range(lanes.p.shape[1]):
        work.x[size + 1 + k] = lanes.p[lane, k]
    project(system, work, lanes.stage_t[lane])
    for d in range(size):
        lanes.end[lane, d] = work.x[d]


@part
def take_steps(system: System, method: Method, lanes: Lanes, work: Work) -> None:
    """One step of every lane."""
    count, size = lanes.y.shape
    for lane in range(count):
        for d in range(size):
            lanes.each_h[lane * size + d] = lanes.h[lane]
    for stage in range(1, method.stages):
        combine_lanes(method, lanes, stage, lanes.x)
        evaluate_lanes(system, lanes, work, lanes.x, stage)
    combine_lanes(method, lanes, method.stages, lanes.end)
    if len(system.quaternions) or system.projection != 0:
        for lane in range(count):
            project_lane(system, lanes, work, lane)
    evaluate_lanes(system, lanes, work, lanes.end, method.stages)


@part
def estimate_lanes(method: Method, lanes: Lanes) -> None:
    """Error estimates of all lanes, per unit of h."""
    size = len(lanes.zero)
    for row in range(method.errors):
        weighted(method, len(method.nodes) + row, 1.0, lanes.zero, lanes.slopes, size, lanes.errors, row * size)


@inlined
def lane_error(method: Method, control: Control, lanes: Lanes, lane: int) -> float:
    """The error of one lane's step in units of the tolerance."""
    size = lanes.y.shape[1]
    first = second = 0.0
    for d in range(size):
        scale = control.atol[d] + control.rtol * max(abs(lanes.y[lane, d]), abs(lanes.end[lane, d]))
        first += (lanes.errors[0, lane * size + d] / scale) ** 2
        second += (lanes.errors[method.errors - 1, lane * size + d] / scale) ** 2
    if method.errors == 1:
        return float(lanes.h[lane] * sqrt(first / size))
    return 0.0 if first == 0.0 else float(lanes.h[lane] * first / sqrt((first + 0.01 * second) * size))


@part
def start_lane(
    system: System, method: Method, control: Control, cases: Cases, lanes: Lanes, work: Work, lane: int, case: int
) -> None:
    """Give a lane the next trajectory: its state, its parameters, the first slope and the first step."""
    size = lanes.y.shape[1]
    for d in range(size):
        work.x[d] = work.y[d] = work.end[d] = lanes.y[lane, d] = cases.states[case, d]
    for k in range(cases.parameters.shape[1]):
        lanes.p[lane, k] = work.x[size + 1 + k] = cases.parameters[case, k]
    evaluate(system, work, cases.start, work.slopes, 0)
    for d in range(size):
        lanes.slopes[0, lane * size + d] = work.slopes[0, d]
    step = cases.step
    if not control.fixed and step <= 0.0:
        step = initial_step(system, method, work, cases.start, control.rtol, control.atol, control.error_order)
    lanes.t[lane], lanes.next_h[lane] = cases.start, step
    lanes.last_error[lane], lanes.taken[lane], lanes.place[lane] = 1e-4, 0, 0
    lanes.case[lane], lanes.rejected[lane] = case, 0
    if len(cases.grid) and cases.grid[0] <= cases.start:
        lanes.place[lane] = 1
        for d in range(size):
            cases.saved[case, 0, d] = lanes.y[lane, d]


@inlined
def choose_step(control: Control, cases: Cases, lanes: Lanes, lane: int) -> None:
    """The step a lane tries next; an idle lane stands still."""
    if lanes.case[lane] < 0:
        lanes.h[lane] = 0.0
        return
    t = lanes.t[lane]
    if control.fixed:
        following = cases.start + (lanes.taken[lane] + 1) * cases.step
        lanes.h[lane] = cases.end - t if following > cases.end - 1e-9 * cases.step else following - t
        return
    h = min(lanes.next_h[lane], control.max_step)
    lanes.h[lane] = cases.end - t if t + 1.01 * h >= cases.end else h


@inlined
def judge(method: Method, control: Control, lanes: Lanes, lane: int) -> int:
    """Whether a lane's step stands: DONE (it does), RUNNING (try again), or what went wrong. Chooses the next step."""
    size = lanes.y.shape[1]
    total = 0.0
    for d in range(size):
        total += 0.0 * (lanes.end[lane, d] + lanes.slopes[method.stages, lane * size + d])
    finite = total == 0.0
    if control.fixed:
        return DONE if finite else NOT_A_NUMBER
    h = lanes.h[lane]
    error = lane_error(method, control, lanes, lane)
    if finite and error <= 1.0:
        factor = control.grow
        if error > 0.0:
            factor = control.safety * error ** (-control.exponent) * lanes.last_error[lane] ** control.memory
        factor = min(1.0 if lanes.rejected[lane] else control.grow, max(control.shrink, factor))
        lanes.next_h[lane], lanes.last_error[lane], lanes.rejected[lane] = h * factor, max(error, 1e-4), 0
        return DONE
    factor = 0.1
    if isfinite(error):
        factor = max(control.shrink, control.safety * error ** (-1.0 / (control.error_order + 1)))
    lanes.next_h[lane], lanes.rejected[lane] = h * factor, 1
    if not h * factor >= 1e-15 * max(abs(lanes.t[lane]), 1e-12):
        return TOO_SMALL if finite else NOT_A_NUMBER
    return RUNNING


@inlined
def accept(method: Method, cases: Cases, lanes: Lanes, lane: int) -> None:
    """The end of a lane's step becomes the beginning of its next."""
    size = lanes.y.shape[1]
    start, row = lane * size, method.stages
    for d in range(size):
        lanes.y[lane, d] = lanes.end[lane, d]
        lanes.slopes[0, start + d] = lanes.slopes[row, start + d]
    lanes.t[lane] = cases.end if lanes.h[lane] == cases.end - lanes.t[lane] else lanes.t[lane] + lanes.h[lane]
    lanes.taken[lane] += 1


@inlined
def finish_lane(cases: Cases, lanes: Lanes, lane: int, code: int) -> None:
    """A trajectory is done: keep its end and free the lane."""
    case = lanes.case[lane]
    cases.codes[case], cases.steps[case], cases.times[case] = code, lanes.taken[lane], lanes.t[lane]
    if len(cases.grid) == 0:
        for d in range(lanes.y.shape[1]):
            cases.saved[case, 0, d] = lanes.y[lane, d]
    lanes.case[lane] = -1


@inlined
def grid_ahead(cases: Cases, lanes: Lanes, lane: int) -> bool:
    """Whether a lane's step passes a grid time."""
    if lanes.case[lane] < 0 or lanes.place[lane] >= len(cases.grid):
        return False
    t_new = cases.end if lanes.h[lane] == cases.end - lanes.t[lane] else lanes.t[lane] + lanes.h[lane]
    return bool(cases.grid[lanes.place[lane]] <= t_new)


@part
def prepare_dense_lanes(system: System, method: Method, lanes: Lanes, work: Work) -> None:
    """Terms of dense output of all lanes, per unit of h."""
    total = len(lanes.zero)
    count = len(method.nodes)
    for stage in range(method.stages + 1, count):
        combine_lanes(method, lanes, stage, lanes.x)
        evaluate_lanes(system, lanes, work, lanes.x, stage)
    for row in range(method.terms):
        place = row * total
        weighted(method, count + method.errors + row, 1.0, lanes.zero, lanes.slopes, total, lanes.dense, place)


@inlined
def save_lane(method: Method, cases: Cases, lanes: Lanes, lane: int) -> None:
    """Save a lane at the grid times its step passes."""
    size = lanes.y.shape[1]
    while grid_ahead(cases, lanes, lane):
        place = lanes.place[lane]
        u = (cases.grid[place] - lanes.t[lane]) / lanes.h[lane]
        for d in range(size):
            total = 0.0
            for row in range(method.terms - 1, -1, -1):
                term = lanes.dense[row, lane * size + d]
                total = (total + term) * (u if row % 2 == 0 else 1.0 - u)
            cases.saved[lanes.case[lane], place, d] = lanes.y[lane, d] + lanes.h[lane] * total
        lanes.place[lane] = place + 1


@inlined
def settle(method: Method, control: Control, cases: Cases, lanes: Lanes, lane: int, verdict: int) -> None:
    """Do what a verdict asks for."""
    if verdict == DONE:
        accept(method, cases, lanes, lane)
        if lanes.t[lane] >= cases.end:
            finish_lane(cases, lanes, lane, DONE)
        elif lanes.taken[lane] >= control.max_steps:
            finish_lane(cases, lanes, lane, TOO_MANY_STEPS)
    elif verdict != RUNNING:
        finish_lane(cases, lanes, lane, verdict)


@loop
def run_block(
    system: System, method: Method, control: Control, cases: Cases, lanes: Lanes, work: Work, verdicts: Integers,
    first: int, last: int,
) -> None:  # fmt: skip
    """Run the trajectories first <= i < last."""
    count = len(lanes.case)
    following = first
    while True:
        busy = False
        for lane in range(count):
            if lanes.case[lane] < 0 and following < last:
                start_lane(system, method, control, cases, lanes, work, lane, following)
                following += 1
            choose_step(control, cases, lanes, lane)
            busy = busy or lanes.case[lane] >= 0
        if not busy:
            return
        take_steps(system, method, lanes, work)
        if not control.fixed:
            estimate_lanes(method, lanes)
        dense = False
        for lane in range(count):
            verdicts[lane] = judge(method, control, lanes, lane) if lanes.case[lane] >= 0 else RUNNING
            dense = dense or (verdicts[lane] == DONE and grid_ahead(cases, lanes, lane))
        if dense:
            prepare_dense_lanes(system, method, lanes, work)
        for lane in range(count):
            if verdicts[lane] == DONE:
                save_lane(method, cases, lanes, lane)
            settle(method, control, cases, lanes, lane, verdicts[lane])
