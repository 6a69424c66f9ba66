"""Test vectors: a state, its results in 256-bit arithmetic, and a bound on the rounding error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from math import ceil, inf, isfinite, log10
from random import Random
from typing import TypeAlias, cast

import numpy as np

from kinegraph.codegen.program.binding import Argument, Bound, ParameterValue
from kinegraph.codegen.program.instructions import Op, Program
from kinegraph.errors import KernelError
from kinegraph.export.options import Precision
from kinegraph.export.unit import TestVector
from kinegraph.graph.interpret import BallArithmetic, Evaluation, FloatArithmetic, extended_precision
from kinegraph.graph.node import Kind, Output

#: A type of numbers, which rounds its argument.
Rounding: TypeAlias = type[np.float64] | type[np.float32]

#: A number that was rounded.
Rounded: TypeAlias = np.float64 | np.float32

#: The allowed error of code, relative to the largest entry of a result.
RELATIVE = {Precision.DOUBLE: 1e-12, Precision.FLOAT: 1e-5}
_TYPES: dict[Precision, Rounding] = {Precision.DOUBLE: np.float64, Precision.FLOAT: np.float32}
#: Other compilers round differently, by at most this factor.
_MARGIN = 32
_ATTEMPTS = 12


def make_vector(binding: Bound, program: Program, known: dict[str, float], precision: Precision) -> TestVector:
    """A state where all results are finite, and well conditioned if one is found soon.

    `known` are the values of runtime parameters.
    """
    best: TestVector | None = None
    for inputs in _states(binding.arguments, known, _TYPES[precision]):
        found = _vector(binding, program, inputs, precision)
        if found and (best is None or found.relative < best.relative):
            best = found
        if best and best.relative <= RELATIVE[precision]:
            return best
    if best is None:
        raise KernelError("found no state with finite results: export without a self-test")
    return best


def _states(
    arguments: Sequence[Argument], known: dict[str, float], scalar: Rounding
) -> Iterator[tuple[tuple[float, ...], ...]]:
    """States of multiples of 1/64, exact in any precision, closer to zero with every attempt."""
    for attempt in range(_ATTEMPTS):
        random = Random(attempt)

        def entry(kind: Kind, name: str, attempt: int = attempt, random: Random = random) -> float:
            size = random.randint(8, 64) / 64 * 2.0 ** -(attempt // 3)
            sign = 1 if kind in (Kind.PARAMETER, Kind.TIME) else random.choice((-1, 1))
            return float(scalar(known[name])) if name in known else sign * size

        state = [[entry(symbol.kind, symbol.name) for symbol in one.symbols] for one in arguments]
        if attempt >= _ATTEMPTS // 2:  # some results exist for orientations only, such as those of platforms
            for argument, entries in zip(arguments, state, strict=True):
                _make_orientations(argument, entries)
        yield tuple(map(tuple, state))


def _make_orientations(argument: Argument, entries: list[float]) -> None:
    """Quaternions of halves: of unit length, and exact in any precision."""
    for start in argument.quaternions:
        for place in range(start, start + 4):
            entries[place] = 0.5 if entries[place] > 0 else -0.5


def _vector(
    binding: Bound, program: Program, inputs: tuple[tuple[float, ...], ...], precision: Precision
) -> TestVector | None:
    expected = expected_results(binding, inputs)
    if not all(isfinite(value) for result in expected for value in result):
        return None
    flat = [value for entries in inputs for value in entries]
    computed = _split(run(program, flat, _TYPES[precision]), binding.graph.outputs)
    scales = [max((abs(value) for value in result), default=0.0) or 1.0 for result in expected]
    error = max((_error(*one) for one in zip(computed, expected, scales, strict=True)), default=0.0)
    if not isfinite(error):
        return None
    relative = max(RELATIVE[precision], _rounded_up(_MARGIN * error))
    return TestVector(inputs, expected, tuple(relative * scale for scale in scales), relative)


def _error(computed: Sequence[float], expected: Sequence[float], scale: float) -> float:
    if not all(map(isfinite, computed)):
        return inf  # the largest of NaNs would be any of them
    return max((abs(one - other) / scale for one, other in zip(computed, expected, strict=True)), default=0.0)


def _rounded_up(value: float) -> float:
    return float(f"1e{ceil(log10(value))}") if value > 0 else 0.0


def expected_results(binding: Bound, inputs: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """The results of the graph in extended precision, rounded once."""
    values: dict[str, ParameterValue] = dict(binding.parameters)
    for argument, entries in zip(binding.arguments, inputs, strict=True):
        values |= {symbol.name: value for symbol, value in zip(argument.symbols, entries, strict=True)}
    with extended_precision():
        evaluation = Evaluation(binding.graph, BallArithmetic(values))
        return tuple(
            tuple(float(evaluation[index].mid()) for index in output.nodes) for output in binding.graph.outputs
        )


def _split(values: Sequence[float], outputs: Sequence[Output]) -> list[Sequence[float]]:
    ends = accumulate((len(output.nodes) for output in outputs), initial=0)
    return [values[start:end] for start, end in pairwise(ends)]


def run(program: Program, x: Sequence[float], scalar: Rounding) -> list[float]:
    """The results of a program computed with NumPy scalars of one type, to measure its rounding."""
    y = [float("nan")] * program.output_size
    values: list[Rounded] = []
    with np.errstate(all="ignore"):
        for one in program.instructions:
            operands = [values[operand] for operand in one.operands]
            if one.op is Op.INPUT:
                values.append(scalar(x[int(one.detail)]))
            elif one.op is Op.LITERAL:
                values.append(scalar(one.detail))
            elif one.op in (Op.SIN, Op.COS):
                angle = values[program.instructions[one.operands[0]].operands[int(one.detail)]]
                values.append((np.sin if one.op is Op.SIN else np.cos)(angle))
            elif one.op is Op.FUNCTION:
                values.append(
                    scalar(FloatArithmetic({}).function(str(one.detail), cast("list[np.float64]", operands), list))
                )
            elif one.op is Op.STORE:
                y[int(one.detail)] = float(operands[0])
                values.append(operands[0])
            elif one.op is Op.SINCOS:
                values.append(operands[0])  # unused: sines and cosines take their angles from its operands
            else:
                values.append(_ARITHMETIC[one.op](*operands))
    return y


_ARITHMETIC: dict[Op, Callable[..., Rounded]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUBTRACT: lambda a, b: a - b,
    Op.MULTIPLY: lambda a, b: a * b,
    Op.DIVIDE: lambda a, b: a / b,
    Op.NEGATE: lambda a: -a,
    Op.MULTIPLY_ADD: lambda a, b, c: a * b + c,
    Op.MULTIPLY_SUBTRACT: lambda a, b, c: a * b - c,
    Op.NEGATED_MULTIPLY_ADD: lambda a, b, c: c - a * b,
}
