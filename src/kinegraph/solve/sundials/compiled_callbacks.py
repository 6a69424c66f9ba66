"""What CVODE calls: the right-hand side and its Jacobian, as C functions without Python.

CVODE hands on the address of an array of integers (`data`), which says where everything else is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kinegraph.ahead.numba_words import NumbaType, Signature, TargetContext, TypingContext, Written, carray, pointer_to
from kinegraph.solve.loops import step as step_loop
from kinegraph.solve.loops.intrinsics import call
from kinegraph.solve.loops.machine_code import callback, callback_part, compiled
from kinegraph.solve.loops.marks import Floats, Integers

# Places in `data`: kernels, functions of SUNDIALS, sizes, arrays, and (written here) a component that is not finite
# and counters.
RATE, JACOBIAN, PROJECTION, VECTOR_DATA, MATRIX_DATA, SIZE, X_SIZE, PIECES, INPUTS = range(9)
X, BUFFER, KNOTS, COEFFICIENTS, BAD, RATE_CALLS, JACOBIAN_CALLS, PROJECTED_SIZE = range(9, 17)
DATA = 17

_integer, _double = types.int64, types.float64


def _doubles_at(typing_context: TypingContext, address: NumbaType) -> Written:
    """An address as a pointer to doubles."""

    def generate(
        context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.inttoptr(arguments[0], ir.PointerType(ir.DoubleType()))

    return pointer_to(_double)(_integer), generate


def _integers_at(typing_context: TypingContext, address: NumbaType) -> Written:
    """An address as a pointer to integers."""

    def generate(
        context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        return builder.inttoptr(arguments[0], ir.PointerType(ir.IntType(64)))

    return pointer_to(_integer)(_integer), generate


def _call_pointer(typing_context: TypingContext, address: NumbaType, argument: NumbaType) -> Written:
    """Call a C function that takes a pointer and returns a pointer, both as integers."""

    def generate(
        context: TargetContext, builder: ir.IRBuilder, signature: Signature, arguments: Sequence[ir.Value]
    ) -> ir.Value:
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], kind), [arguments[1]])

    return _integer(_integer, _integer), generate


doubles_at = cast(Callable[[int], Floats], intrinsic(_doubles_at))
integers_at = cast(Callable[[int], Integers], intrinsic(_integers_at))
call_pointer = cast(Callable[[int, int], int], intrinsic(_call_pointer))
set_inputs = compiled(step_loop.set_inputs)
onto_constraints = compiled(step_loop.onto_constraints)


@callback_part
def fill_argument(data: Integers, t: float, y: Floats) -> Floats:
    """x of the kernels, with the state and the inputs at t."""
    size = data[SIZE]
    x = carray(doubles_at(data[X]), (data[X_SIZE],))
    for d in range(size):
        x[d] = y[d]
    x[size] = t
    knots = carray(doubles_at(data[KNOTS]), (data[PIECES] + 1,))
    coefficients = carray(doubles_at(data[COEFFICIENTS]), (data[PIECES], data[INPUTS], 4))
    set_inputs(knots, coefficients, t, x, size + 1)
    if data[PROJECTION] != 0:
        projected = carray(doubles_at(data[BUFFER]), (data[PROJECTED_SIZE],))
        projected[step_loop.LEFT] = 0.0
        onto_constraints(data[PROJECTION], x, size, projected)
    return x


@callback(types.int32(_double, _integer, _integer, _integer))
def rate(t: float, state: int, slope: int, place: int) -> int:
    """y' for CVODE; one (try a shorter step) where it is not finite, or no state nearby is on the constraints."""
    data = carray(integers_at(place), (DATA,))
    y = carray(doubles_at(call_pointer(data[VECTOR_DATA], state)), (data[SIZE],))
    result = carray(doubles_at(call_pointer(data[VECTOR_DATA], slope)), (data[SIZE],))
    x = fill_argument(data, t, y)
    if data[PROJECTION] != 0 and carray(doubles_at(data[BUFFER]), (data[PROJECTED_SIZE],))[step_loop.LEFT] > 0.0:
        return 1
    call(data[RATE], x, result, 0)
    data[RATE_CALLS] += 1
    for d in range(data[SIZE]):
        if not isfinite(result[d]):
            data[BAD] = d
            return 1
    return 0


@callback(types.int32(_double, _integer, _integer, _integer, _integer, _integer, _integer, _integer))
def jacobian(t: float, state: int, slope: int, matrix: int, place: int, free1: int, free2: int, free3: int) -> int:
    """df/dy for CVODE, which stores matrices by columns."""
    data = carray(integers_at(place), (DATA,))
    size = data[SIZE]
    y = carray(doubles_at(call_pointer(data[VECTOR_DATA], state)), (size,))
    x = fill_argument(data, t, y)
    rows = carray(doubles_at(data[BUFFER]), (size * size,))
    call(data[JACOBIAN], x, rows, 0)
    columns = carray(doubles_at(call_pointer(data[MATRIX_DATA], matrix)), (size * size,))
    for i in range(size):
        for j in range(size):
            columns[j * size + i] = rows[i * size + j]
    data[JACOBIAN_CALLS] += 1
    return 0
