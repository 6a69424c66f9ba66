"""The compiled part of the SUNDIALS methods: right-hand side and Jacobian as C callbacks, and the end of a step."""

from __future__ import annotations

from math import isfinite

from kinegraph.arrays import Floats, Integers
from kinegraph.jit.marks import call_pointer, callback, doubles_at, integers_at, loop, part
from kinegraph.solve.loops.after_step import begin_run, end_step
from kinegraph.solve.loops.marks import call
from kinegraph.solve.loops.penetration import find_rounding, watch_gaps
from kinegraph.solve.loops.step import BEGUN, LEFT, RUNNING, TIME, Saving, System, Work, onto_constraints, set_inputs
from kinegraph.solve.loops.zero_crossings import Watch

# C callbacks. CVODE passes the address of an array of integers (`data`), with the addresses of everything else.

# Places in `data`: kernels, functions of SUNDIALS, sizes, arrays, and (written here) a component that is not finite
# and counters.
RATE, JACOBIAN, PROJECTION, VECTOR_DATA, MATRIX_DATA, SIZE, X_SIZE, PIECES, INPUTS = range(9)
X, BUFFER, KNOTS, COEFFICIENTS, BAD, RATE_CALLS, JACOBIAN_CALLS, PROJECTED_SIZE = range(9, 17)
DATA = 17


@part
def fill_argument(data: Integers, t: float, y: Floats, x: Floats) -> None:
    """Write the state and the inputs at t to x of the kernels."""
    size = data[SIZE]
    for d in range(size):
        x[d] = y[d]
    x[size] = t
    knots = doubles_at(data[KNOTS], (data[PIECES] + 1,))
    coefficients = doubles_at(data[COEFFICIENTS], (data[PIECES], data[INPUTS], 4))
    set_inputs(knots, coefficients, t, x, size + 1)
    if data[PROJECTION] != 0:
        projected = doubles_at(data[BUFFER], (data[PROJECTED_SIZE],))
        projected[LEFT] = 0.0
        onto_constraints(data[PROJECTION], x, size, projected)


@callback
def rate(t: float, state: int, slope: int, place: int) -> int:
    """y' for CVODE; 1 (try a shorter step) if it is not finite, or no state nearby is on the constraints."""
    data = integers_at(place, (DATA,))
    y = doubles_at(call_pointer(data[VECTOR_DATA], state), (data[SIZE],))
    result = doubles_at(call_pointer(data[VECTOR_DATA], slope), (data[SIZE],))
    x = doubles_at(data[X], (data[X_SIZE],))
    fill_argument(data, t, y, x)
    if data[PROJECTION] != 0 and doubles_at(data[BUFFER], (data[PROJECTED_SIZE],))[LEFT] > 0.0:
        return 1
    call(data[RATE], x, result, 0)
    data[RATE_CALLS] += 1
    for d in range(data[SIZE]):
        if not isfinite(result[d]):
            data[BAD] = d
            return 1
    return 0


@callback
def jacobian(t: float, state: int, slope: int, matrix: int, place: int, free1: int, free2: int, free3: int) -> int:
    """df/dy for CVODE, which stores matrices by columns."""
    data = integers_at(place, (DATA,))
    size = data[SIZE]
    y = doubles_at(call_pointer(data[VECTOR_DATA], state), (size,))
    x = doubles_at(data[X], (data[X_SIZE],))
    fill_argument(data, t, y, x)
    rows = doubles_at(data[BUFFER], (size * size,))
    call(data[JACOBIAN], x, rows, 0)
    columns = doubles_at(call_pointer(data[MATRIX_DATA], matrix), (size * size,))
    for i in range(size):
        for j in range(size):
            columns[j * size + i] = rows[i * size + j]
    data[JACOBIAN_CALLS] += 1
    return 0


@loop
def follow(
    system: System, work: Work, clock: Floats, watch: Watch, saving: Saving, counters: Integers, h: float
) -> int:
    """Begin a run, or follow a step of length h from work.y to work.end (see `finish_step`)."""
    if not counters[BEGUN]:
        code = begin_run(system, work, clock, watch, saving, counters)
        find_rounding(watch, work, clock[TIME])
        return int(code)
    code, u = RUNNING, 1.0
    if len(watch.side):
        code, u = watch_gaps(system, watch, counters, work, clock[TIME], h)
    return int(end_step(system, work, clock, watch, saving, counters, code, u, h))
