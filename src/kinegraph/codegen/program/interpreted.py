"""A bound graph as a Python function: ready at once, some hundred times slower than machine code.

The text that Python reads is made of instructions only; no name of a model is ever part of it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from kinegraph.codegen.kernel import Doubles, Kernel, Outputs, Recipe, Result, refuse_zero_quaternions, vector
from kinegraph.codegen.program.binding import Argument, bind
from kinegraph.codegen.program.instructions import FORMS, Instruction, Op, Program
from kinegraph.codegen.program.lowering import lower
from kinegraph.graph.count import Operations, count
from kinegraph.graph.interpret import interpret
from kinegraph.graph.lookup import doubles_of, is_interval, symbol_of
from kinegraph.graph.node import Graph, is_lookup

_SELECT = "({1} if {0} >= 0.0 else {2} if {0} < 0.0 else nan)"
_SIGN = "(1.0 if {0} > 0.0 else -1.0 if {0} < 0.0 else {0})"
_SPECIAL = {"select": _SELECT, "sign": _SIGN, "abs": "abs({0})", "atan2": "atan2({0}, {1})"}


class InterpretedKernel(Kernel):
    """A graph as a Python function. `calls` and `seconds` tell how often it was called and how long that took in all.

    instructions: how many a call runs through.
    """

    form = "interpreted"

    def __init__(self, graph: Graph, arguments: Sequence[Argument]) -> None:
        begun = perf_counter()
        binding = bind(graph, arguments, {})
        self.graph = binding.graph
        self.arguments = binding.arguments
        self.outputs = tuple(Result(output.name, output.shape) for output in graph.outputs)
        self._names = [symbol.name for argument in arguments for symbol in argument.symbols]
        program = lower(binding, fuse=False)
        self.instructions = len(program.instructions)
        self._function = _function(program)
        self.preparing = perf_counter() - begun
        self.calls = 0
        self.seconds = 0.0

    @cached_property
    def operations(self) -> Operations:  # type: ignore[override]
        """Counted when asked for: a kernel is often wanted at once."""
        return count(self.graph)

    @property
    def recipe(self) -> Recipe:
        return InterpretedKernel, (self.graph, self.arguments)

    def __call__(self, *values: ArrayLike, **named: ArrayLike) -> Outputs:
        """The outputs for one state: an array, or a dict of arrays by name if there are several."""
        found = np.asarray(self.flat(self._joined(values, named)))
        ends = np.cumsum([output.size for output in self.outputs])
        parts = zip(self.outputs, np.split(found, ends[:-1]), strict=True)
        shaped = {output.name: part.reshape(output.shape) for output, part in parts}
        return shaped if len(shaped) > 1 else next(iter(shaped.values()))

    def batch(self, *values: ArrayLike, out: object = None, **named: ArrayLike) -> Outputs:
        """The outputs for many states, by NumPy over all of them."""
        self.refuse_out(out)
        table = np.hstack(self.rows(values, named))
        found = interpret(self.graph, dict(zip(self._names, table.T, strict=True)))
        results = {one.name: np.broadcast_to(found[one.name], (len(table), *one.shape)) for one in self.outputs}
        return results if len(results) > 1 else next(iter(results.values()))

    def _joined(self, values: tuple[ArrayLike, ...], named: Mapping[str, ArrayLike]) -> Doubles:
        """All arguments end to end."""
        parts = []
        for argument, value in zip(self.arguments, self.arranged(values, named), strict=True):
            part = np.atleast_1d(vector(argument, value))
            refuse_zero_quaternions(argument, part)
            parts.append(part.astype(float))
        return np.concatenate(parts) if parts else np.zeros(0)

    def flat(self, x: Doubles) -> Sequence[float]:
        """All outputs end to end for all arguments end to end."""
        begun = perf_counter()
        try:
            return self._function(x.tolist())
        except (ArithmeticError, ValueError):  # Python stops where machine code goes on with an infinity or NaN
            return self._as_machine_code_would(x)
        finally:
            self.calls += 1
            self.seconds += perf_counter() - begun

    def _as_machine_code_would(self, x: Doubles) -> Sequence[float]:
        results = interpret(self.graph, dict(zip(self._names, x, strict=True)))
        parts = [np.ravel(results[output.name]) for output in self.graph.outputs]
        return np.concatenate(parts).tolist() if parts else []


def _function(program: Program) -> Callable[[list[float]], Sequence[float]]:
    """The instructions as one Python function."""
    text = _Text(program)
    whole = text.function()
    scope: dict[str, object] = {**vars(math), "abs": abs, "__builtins__": {}, **text.lookups}
    exec(compile(whole, "<interpreted graph>", "exec"), scope)
    return cast("Callable[[list[float]], Sequence[float]]", scope["function"])


#: Python's parser takes no more brackets within each other than some two hundred.
_DEEPEST = 20


class _Text:
    """Instructions as Python. What is used once stands where it is used: names take time to store and to read."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines = ["def function(x):"]
        self.results = [""] * program.output_size
        self._texts: list[str] = []
        self._depths: list[int] = []
        self._uses = _uses(program)
        self.lookups: dict[str, Callable[[float], float]] = {}

    def function(self) -> str:
        """The text of the function."""
        for index, one in enumerate(self.program.instructions):
            text, depth = self._written(index, one)
            self._texts.append(text)
            self._depths.append(depth)
        return "\n".join([*self.lines, f"    return [{', '.join(self.results)}]"])

    def _written(self, index: int, one: Instruction) -> tuple[str, int]:
        """What stands for the value of an instruction, and how many brackets within each other that has."""
        if one.op is Op.INPUT:
            return f"x[{int(one.detail)}]", 0
        if one.op is Op.LITERAL:
            return f"({_literal(float(one.detail))})", 0
        if one.op is Op.STORE:
            self.results[int(one.detail)] = self._texts[one.operands[0]]
        if one.op in (Op.STORE, Op.SINCOS):
            return "", 0
        form, operands = self._form(one)
        text = form.format(*[self._texts[operand] for operand in operands])
        depth = 1 + max([self._depths[operand] for operand in operands])
        if self._uses[index] == 1 and depth < _DEEPEST:
            return f"({text})", depth
        self.lines.append(f"    v{index} = {text}")
        return f"v{index}", 0

    def _form(self, one: Instruction) -> tuple[str, tuple[int, ...]]:
        if one.op in FORMS:
            return FORMS[one.op], one.operands
        if one.op in (Op.SIN, Op.COS):
            angles = self.program.instructions[one.operands[0]].operands
            return f"{one.op.name.lower()}({{0}})", (angles[int(one.detail)],)
        name = str(one.detail)
        if is_lookup(name):
            name = f"lookup_{symbol_of(name)}"
            self.lookups[name] = _lookup(str(one.detail))
        return _SPECIAL.get(name, f"{name}({{0}})"), one.operands


def _lookup(name: str) -> Callable[[float], float]:
    constants = doubles_of(name)
    if is_interval(name):
        return lambda x: math.nan if x != x else float(bisect_right(constants, x))
    last = len(constants) - 1
    return lambda x: constants[int(min(x, last))] if x >= 0 else math.nan


def _uses(program: Program) -> Counter[int]:
    """How often the text of each value is written; twice and more where a function's text repeats its arguments."""
    uses: Counter[int] = Counter()
    for one in program.instructions:
        for operand in one.operands:
            uses[operand] += 1 if one.op in FORMS or one.op is Op.STORE else 2
    return uses


def _literal(value: float) -> str:
    return repr(value) if math.isfinite(value) else f"{'-' if value < 0 else ''}{'nan' if value != value else 'inf'}"
