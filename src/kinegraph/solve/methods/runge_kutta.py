"""Explicit Runge-Kutta methods, and the vector code of their weighted sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from llvmlite import ir

from kinegraph.arrays import Floats
from kinegraph.errors import SolveError
from kinegraph.jit import cache as disk
from kinegraph.jit.cache import digest
from kinegraph.jit.engine import LoadedCode, host, object_code, once, versions
from kinegraph.solve.execution import Loop, run_in_slices
from kinegraph.solve.loops import runge_kutta as loop
from kinegraph.solve.loops.runge_kutta import Control as LoopControl
from kinegraph.solve.loops.step import NESTED, TABLEAUX, CompiledTableau, System, Work, rows_of
from kinegraph.solve.methods.method import AS_USUAL, Capabilities, RunOptions, Solver
from kinegraph.solve.methods.step_control import Adaptive, Control
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem import CauchyProblem, code_of
from kinegraph.solve.recording import Recorder, Run

# Weighted sums of slopes as vector instructions, written out for each tableau; loops call them by address.
#
# A step of order 8 forms some 120 such sums; loops over a tableau would cost more than the slopes themselves.

#: Names of the two functions (row, h, size, base, slopes, target): one h, or one for each entry.
ONE, EACH = "kinegraph_sums", "kinegraph_sums_each"

_LANES = 8, 4  # vectors of eight for trajectories side by side, then of four, then single entries
_WORD, _DOUBLE = ir.IntType(64), ir.DoubleType()


@once
def sums_code(tableau: Tableau) -> LoadedCode:
    """The code of all sums of a tableau, from the cache where possible."""
    weights = rows_of(tableau)
    name = f"sums-{digest(weights.tobytes(), weights.shape, Path(__file__).read_bytes(), host(), versions())}"
    code = disk.load(name)
    if code is None:
        code = object_code(_sums_module(weights), host())
        disk.save(name, code)
    return LoadedCode(code, ONE, EACH)


def _sums_module(weights: Floats) -> str:
    module = ir.Module("sums")
    _sums_function(module, ONE, _DOUBLE, weights)
    _sums_function(module, EACH, _DOUBLE.as_pointer(), weights)
    return str(module)


def _sums_function(module: ir.Module, name: str, step: ir.Type, weights: Floats) -> None:
    kind = ir.FunctionType(ir.VoidType(), [_WORD, step, _WORD, *[_DOUBLE.as_pointer()] * 3])
    function = ir.Function(module, kind, name)
    row, *rest = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    _Sums(builder, *rest).choose(row, weights)
    builder.ret_void()


class _Sums:
    """Writes the code of all rows: a switch with a loop over vectors, then over the remaining entries."""

    def __init__(
        self, builder: ir.IRBuilder, h: ir.Value, size: ir.Value, base: ir.Value, slopes: ir.Value, target: ir.Value
    ) -> None:
        self.builder = builder
        self.h, self.size = h, size
        self.base, self.slopes, self.target = base, slopes, target

    def choose(self, row: ir.Value, weights: Floats) -> None:
        """The code of all rows, selected by `row` at run time."""
        builder = self.builder
        blocks = [builder.append_basic_block(f"row{index}") for index in range(len(weights))]
        after = builder.append_basic_block("summed")
        choice = builder.switch(row, after)
        for index, block in enumerate(blocks):
            choice.add_case(_WORD(index), block)
            builder.position_at_end(block)
            self._row([(int(j), float(weights[index, j])) for j in np.flatnonzero(weights[index])])
            builder.branch(after)
        builder.position_at_end(after)

    def _row(self, entries: list[tuple[int, float]]) -> None:
        builder = self.builder
        whole = [builder.and_(self.size, _WORD(-lanes)) for lanes in _LANES]
        starts = [(builder.gep(self.slopes, [builder.mul(_WORD(j), self.size)]), weight) for j, weight in entries]
        for first, last, lanes in zip((_WORD(0), *whole), (*whole, self.size), (*_LANES, 1), strict=True):
            self._loop(first, last, lanes, starts)

    def _loop(self, first: ir.Value, last: ir.Value, lanes: int, starts: list[tuple[ir.Value, float]]) -> None:
        builder = self.builder
        before = builder.block
        head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.phi(_WORD)
        place.add_incoming(first, before)
        builder.cbranch(builder.icmp_signed("<", place, last), body, done)
        builder.position_at_end(body)
        self._sum(place, lanes, starts)
        place.add_incoming(builder.add(place, _WORD(lanes)), body)
        builder.branch(head)
        builder.position_at_end(done)

    def _sum(self, place: ir.Value, lanes: int, starts: list[tuple[ir.Value, float]]) -> None:
        builder = self.builder
        kind = ir.VectorType(_DOUBLE, lanes) if lanes > 1 else _DOUBLE
        total = None
        for start, weight in starts:
            constant = ir.Constant(kind, [weight] * lanes) if lanes > 1 else ir.Constant(kind, weight)
            product = builder.fmul(constant, self._load(start, place, kind), flags=("contract",))
            total = product if total is None else builder.fadd(total, product, flags=("contract",))
        result = self._load(self.base, place, kind)
        if total is not None:
            step = self._step(place, lanes, kind)
            result = builder.fadd(result, builder.fmul(step, total, flags=("contract",)), flags=("contract",))
        builder.store(result, self._pointer(self.target, place, kind), align=8)

    def _step(self, place: ir.Value, lanes: int, kind: ir.Type) -> ir.Value:
        """h of the current entries: loaded if each has its own, else the same number in all lanes."""
        if self.h.type != _DOUBLE:
            return self._load(self.h, place, kind)
        if lanes == 1:
            return self.h
        vector = ir.Constant(kind, ir.Undefined)
        for lane in range(lanes):
            vector = self.builder.insert_element(vector, self.h, ir.IntType(32)(lane))
        return vector

    def _load(self, start: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
        return self.builder.load(self._pointer(start, place, kind), align=8)

    def _pointer(self, start: ir.Value, place: ir.Value, kind: ir.Type) -> ir.Value:
        return self.builder.bitcast(self.builder.gep(start, [place]), kind.as_pointer())


@dataclass(frozen=True)
class RungeKutta(Solver):
    """The explicit Runge-Kutta method of a tableau; with an adaptive controller if it has an error estimate."""

    tableau: Tableau

    @property
    def name(self) -> str:
        return self.tableau.name

    @property
    def order(self) -> int:
        return self.tableau.order

    @property
    def capabilities(self) -> Capabilities:
        estimated = bool(self.tableau.error)
        return Capabilities(adaptive=estimated, evaluations=self.tableau.order, lanes=self.tableau)

    def integrate(self, problem: CauchyProblem, control: Control, options: RunOptions = AS_USUAL) -> Run:
        recorder = Recorder(problem, options.save, options.events)
        loop = self._loop(problem, self.accept(control), recorder)
        return run_in_slices(loop, problem, recorder, options.progress, options.token)

    def _loop(self, problem: CauchyProblem, control: Control, recorder: Recorder) -> Loop:
        method, work = loop_method(self.tableau), loop_work(problem, self.tableau)
        chosen = loop_control(self.tableau, control, problem)
        clock = loop_clock(problem.start, problem.end, control.begin)
        common = loop_system(problem), method, chosen, work, clock, recorder.watch, recorder.saving, recorder.counters
        return Loop(loop.advance, common, clock, work.y)


def loop_system(problem: CauchyProblem) -> System:
    """The right-hand side as an argument of loops."""
    quaternions = np.array(problem.rhs.quaternions, dtype=np.int64)
    return System(
        code_of(problem.rhs.code),
        problem.inputs.knots,
        problem.inputs.coefficients,
        quaternions,
        code_of(problem.rhs.projection),
    )


@cache
def loop_method(tableau: Tableau) -> CompiledTableau:
    """The tableau as an argument of loops."""
    if tableau not in TABLEAUX:
        known = ", ".join(one.name for one in TABLEAUX)
        raise SolveError(f"{tableau.name} has no compiled form: add it to loops.step.TABLEAUX, which has {known}")
    code = sums_code(tableau)
    counts = tableau.stages, len(tableau.error), 3 + len(tableau.dense)
    return CompiledTableau(TABLEAUX.index(tableau), tableau.nodes(), *counts, code.address(ONE), code.address(EACH))


def loop_control(tableau: Tableau, control: Control, problem: CauchyProblem) -> LoopControl:
    """The controller as an argument of loops."""
    size = problem.rhs.size
    if not control.adaptive:
        unused = (0.0, np.zeros(size), 0.0, 1 << 60, 0.9, 0.2, 10.0, 0.2, 0.0, tableau.order - 1)
        return LoopControl(True, *unused)
    return _adaptive(tableau, control, control.absolute(problem.rhs.names), problem.end - problem.start)


def _adaptive(tableau: Tableau, control: Adaptive, atol: Floats, duration: float) -> LoopControl:
    # Hairer's choices: some memory for order 5, none for order 8.
    memory = control.memory if control.memory is not None else (0.04 if tableau.order < 8 else 0.0)
    return LoopControl(
        fixed=False,
        rtol=control.rtol,
        atol=atol,
        max_step=min(control.longest, duration),
        max_steps=control.max_steps,
        safety=control.safety,
        shrink=control.shrink,
        grow=control.grow,
        exponent=1 / tableau.order - 0.75 * memory,
        memory=memory,
        error_order=tableau.order - 1,
    )


def loop_clock(start: float, end: float, step: float = 0.0) -> Floats:
    """The clock of a run: time, step, end, last error, and where steps of fixed length are counted from."""
    return np.array([start, step, end, 1e-4, start])


def loop_work(problem: CauchyProblem, tableau: Tableau) -> Work:
    """The memory of one trajectory."""
    return step_memory(problem, tableau.all_stages, 3 + len(tableau.dense), errors=max(len(tableau.error), 1))


def step_memory(problem: CauchyProblem, stages: int, terms: int = 3, basis: int = NESTED, errors: int = 1) -> Work:
    """The memory of one step; terms, basis: of its dense output. errors: the number of error estimates."""
    size = problem.rhs.size
    return Work(
        x=problem.argument(),
        y=problem.state.copy(),
        end=problem.state.copy(),
        slopes=np.zeros((stages, size)),
        errors=np.zeros((errors, size)),
        dense=np.zeros((terms, size)),
        zero=np.zeros(size),
        projected=problem.projected(),
        basis=basis,
    )
