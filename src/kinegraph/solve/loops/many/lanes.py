"""Lanes: several trajectories take their stages together, each with time and step of its own.

Slopes of all lanes lie side by side, so sums over stages run over long vectors, and the batch code of a kernel computes
several lanes with one instruction. Every lane goes through the same instructions, whatever the others hold: what a
trajectory gives does not depend on its lane nor on its neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.many.tally import Tally
from kinegraph.solve.loops.marks import Floats, Integers, call_batch, inlined, part
from kinegraph.solve.loops.record import TIME
from kinegraph.solve.loops.step import System, Work, evaluate, normalise, project, set_inputs
from kinegraph.solve.loops.weights import LOOKS, Method, weighted


class Lanes(NamedTuple):
    """Memory of the lanes, by row; slopes and errors are vectors over all lanes.

    rates, conditions, outputs: addresses of the batch code of slopes, events and outputs; 0 where there is none.
    x: of code for one state. states, times, inputs, parameters: the same in parts, of a stage.
    each_h: h, repeated for every component. case: the row of the case in a lane, or -1. codes: how it goes on.
    again, tries, least, best: of the step that is being tried; see `judge`. stands: whether a lane's try is a step.
    values: of events, at places inside the step; looked: of outputs.
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
    looked: Floats


@inlined
def work_of(lanes: Lanes, memory: Work, lane: int) -> Work:
    """One lane as the memory of a trajectory; slopes, errors and dense output are those of `memory`."""
    return Work(
        lanes.x[lane], lanes.y[lane], lanes.end[lane], memory.slopes, memory.errors, memory.dense, memory.zero,
        lanes.projected[lane], memory.basis,
    )  # fmt: skip


@inlined
def watch_in(watches: Watch, lane: int) -> Watch:
    """The events of one lane, from records that have a row for each of them."""
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
    """The tally of one lane, from one that has looks for each of them."""
    return Tally(
        tallies.code, tallies.along, tallies.highs, tallies.lows, tallies.areas, tallies.known[lane],
        tallies.samples[lane], tallies.probe, tallies.first, tallies.last, tallies.high, tallies.high_at, tallies.low,
        tallies.low_at, tallies.area, tallies.happened, tallies.first_at, tallies.last_at, tallies.at_first,
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
def load_dense(method: Method, lanes: Lanes, memory: Work, lane: int) -> None:
    """The terms of dense output of one lane, for code of one trajectory; all its slopes are known."""
    size, h, count = lanes.y.shape[1], lanes.h[lane], len(method.nodes)
    load_slopes(lanes, memory, lane, count)
    for row in range(method.terms):
        weighted(method, count + method.errors + row, h, memory.zero, memory.slopes, size, memory.dense, row * size)


@part
def combine_lanes(method: Method, lanes: Lanes, row: int) -> None:
    """states = y + h sum_j a_row,j K_j and the times of this stage, for all lanes."""
    weighted(method, row, lanes.each_h, lanes.y, lanes.slopes, len(lanes.zero), lanes.states, 0)
    node = method.nodes[row]
    for lane in range(len(lanes.h)):
        lanes.times[lane] = lanes.clocks[lane, TIME] + node * lanes.h[lane]


@part
def compute_lanes(code: int, system: System, lanes: Lanes, results: Floats, row: int, width: int) -> None:
    """What batch code gives for the states and times of all lanes, to a row of results."""
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
    """The ends of all steps, brought back to what integration leaves."""
    count, size = lanes.y.shape
    for lane in range(count):
        if system.projection != 0:
            for d in range(size):
                lanes.x[lane, d] = lanes.states[lane, d]
            project(system, work_of(lanes, memory, lane), lanes.times[lane])
            for d in range(size):
                lanes.states[lane, d] = lanes.x[lane, d]
        else:
            normalise(system.quaternions, lanes.states[lane])
        for d in range(size):
            lanes.end[lane, d] = lanes.states[lane, d]


@part
def take_steps(system: System, method: Method, lanes: Lanes, memory: Work) -> None:
    """All slopes of a step of every lane, and its end."""
    count, size = lanes.y.shape
    for lane in range(count):
        for d in range(size):
            lanes.each_h[lane * size + d] = lanes.h[lane]
    take_stages(system, method, lanes, memory, 1, method.stages + 1)


@part
def take_stages(system: System, method: Method, lanes: Lanes, memory: Work, first: int, last: int) -> None:
    """The slopes of some stages of all lanes; the one after the last stage of a step is that of its end."""
    for stage in range(first, last):
        combine_lanes(method, lanes, stage)
        if stage == method.stages:
            end_lanes(system, lanes, memory)
        evaluate_lanes(system, lanes, memory, stage)


@part
def estimate_lanes(method: Method, lanes: Lanes) -> None:
    """Error estimates of all lanes, per unit of h."""
    size = len(lanes.zero)
    for row in range(method.errors):
        weighted(method, len(method.nodes) + row, 1.0, lanes.zero, lanes.slopes, size, lanes.errors, row * size)


@part
def prepare_dense_lanes(system: System, method: Method, lanes: Lanes, memory: Work) -> None:
    """The slopes that dense output needs besides, of all lanes."""
    take_stages(system, method, lanes, memory, method.stages + 1, len(method.nodes))


@part
def look_inside(system: System, method: Method, lanes: Lanes, along: bool) -> None:
    """Conditions of events and outputs at equal parts of the steps of all lanes, where batch code computes them."""
    first = len(method.nodes) + method.errors + method.terms
    looking = lanes.outputs != 0 and along
    if lanes.conditions == 0 and not looking:
        return
    for k in range(LOOKS):
        weighted(method, first + k, lanes.each_h, lanes.y, lanes.slopes, len(lanes.zero), lanes.states, 0)
        for lane in range(len(lanes.h)):
            lanes.times[lane] = lanes.clocks[lane, TIME] + (k + 1) / LOOKS * lanes.h[lane]
        if lanes.conditions != 0:
            compute_lanes(lanes.conditions, system, lanes, lanes.values, k, lanes.values.shape[2])
        if looking:
            compute_lanes(lanes.outputs, system, lanes, lanes.looked, k, lanes.looked.shape[2])
