"""Estimated running time of code, and whether a reduced graph is faster as a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kinegraph.codegen.kernel import KernelChoice
from kinegraph.codegen.llvm.module import SCALAR_GROUP, keep
from kinegraph.codegen.program.binding import Argument, Bound, bind
from kinegraph.codegen.program.instructions import LEAVES, Instruction, Op, Program
from kinegraph.codegen.program.lowering import lower
from kinegraph.codegen.simd import Exchanged, lower_side_by_side
from kinegraph.graph.count import count
from kinegraph.graph.lookup import doubles_of, is_interval
from kinegraph.graph.node import Graph, Kind, is_lookup

# How long a program would run, without running it: a small model of a processor that computes out of order.
#
# In a cycle two multiplications (fused with an addition or not) and two additions start, as on processors of both
# large makers; each waits for its operands, only so many instructions are looked at at once, and values that find no
# register are stored and loaded again. Deterministic, and a few per cent from what kernels measure against each other.

_PORTS = 2
_REGISTERS = 14
_WINDOW = 140
_WIDTH = 6

#: Short programs are run so often that about this many instructions are seen.
_STEADY = 2000

_ADDERS = frozenset((Op.ADD, Op.SUBTRACT, Op.NEGATE))

#: Cycles until the result is there.
_LATENCY = {Op.ADD: 3, Op.SUBTRACT: 3, Op.NEGATE: 1, Op.DIVIDE: 16, Op.FUNCTION: 60, Op.SINCOS: 40}
_FUSED_LATENCY = 4
#: Functions that are a few instructions, with their cycles; others are calls of a library.
_WRITTEN_OUT: dict[object, int] = {"sqrt": 18, "select": 4, "sign": 4, "abs": 1}
#: Cycles of each halving of a search among bounds, and of reading an array.
_PER_HALVING, _FROM_ARRAY = 8, 12
#: Operations that take a port; a group of sines is a polynomial of its own.
_OPERATIONS = {Op.DIVIDE: 8, Op.FUNCTION: 60, Op.SINCOS: 44, Op.SIN: 0, Op.COS: 0, Op.STORE: 0, Op.JOIN: 3}


def estimated_cycles(binding: Bound, fused: bool = True) -> float:
    """Cycles of one call of the scalar kernel among many: the next one starts while the last results are awaited."""
    program = lower(binding, group=SCALAR_GROUP, fuse=fused)
    keep(program, binding, SCALAR_GROUP, fused)
    return cycles_of(program)


def cycles_of(program: Program) -> float:
    """The same of a program as it is lowered; lanes of one vector count as one operation."""
    run = _Run(program)
    calls = 1 + _STEADY // max(1, len(program.instructions))
    first = run.call()
    for _ in range(calls):
        last = run.call()
    return (last - first) / calls


def instructions(program: Program) -> int:
    """About how many instructions compute: for code so long that reading it is what takes the time."""
    return 1 + sum(_operations(one) for one in program.instructions if one.op not in LEAVES)


def _operations(one: Instruction) -> int:
    return _written_out(one) or _OPERATIONS.get(one.op, 1)


def _latency(one: Instruction) -> int:
    return _written_out(one) or _LATENCY.get(one.op, _FUSED_LATENCY)


def _written_out(one: Instruction) -> int:
    """The cycles of a function that is a few instructions; 0 for all others."""
    if one.op is Op.FUNCTION and is_lookup(str(one.detail)):
        name = str(one.detail)
        return _PER_HALVING * len(doubles_of(name)).bit_length() if is_interval(name) else _FROM_ARRAY
    return _WRITTEN_OUT.get(one.detail, 0)


class _Step(NamedTuple):
    """What is asked of an instruction each time it is executed."""

    number: int
    operands: tuple[int, ...]
    operations: int
    latency: int
    adds: bool
    retained: bool


def _steps(program: Program, last_use: dict[int, int]) -> list[_Step]:
    return [
        _Step(
            index, tuple(dict.fromkeys(one.operands)), _operations(one), _latency(one) if _operations(one) else 0,
            one.op in _ADDERS, index in last_use and one.op not in (Op.STORE, Op.SINCOS),
        )
        for index, one in enumerate(program.instructions)
        if one.op not in LEAVES
    ]  # fmt: skip


class _Run:
    """One pass through a program in order, each instruction starting as soon as it can."""

    def __init__(self, program: Program) -> None:
        self.last_use = _last_uses(program)
        self.steps = _steps(program, self.last_use)
        self.ready = [0] * len(program.instructions)
        self.busy: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.fetched = 0
        self.finished: list[int] = [0]
        self.registers: dict[int, None] = {}
        self.spilled: set[int] = set()

    def call(self) -> int:
        """Run the program once more; returns when it was finished."""
        self.registers.clear()
        self.spilled.clear()
        ready, finished = self.ready, self.finished
        for index, operands, operations, latency, adds, retained in self.steps:
            self._load(index, operands)
            self.fetched += operations or 1
            start = self.fetched // _WIDTH
            if len(finished) > _WINDOW and finished[-_WINDOW] > start:
                start = finished[-_WINDOW]
            for operand in operands:
                if ready[operand] > start:
                    start = ready[operand]
            busy = self.busy[adds]
            for _ in range(operations):
                while busy.get(start, 0) >= _PORTS:
                    start += 1
                busy[start] = busy.get(start, 0) + 1
            done = ready[index] = start + latency
            finished.append(done if done > finished[-1] else finished[-1])
            if retained:
                self._keep(index)
        return finished[-1]  # instructions retire in order

    def _load(self, index: int, operands: tuple[int, ...]) -> None:
        """Load what is in no register; let go what is used for the last time."""
        registers, last_use = self.registers, self.last_use
        for operand in operands:
            if operand in registers:
                del registers[operand]
                if last_use[operand] > index:
                    registers[operand] = None
            elif operand in self.spilled:
                self.fetched += 1
                if last_use[operand] > index:
                    self._keep(operand)

    def _keep(self, value: int) -> None:
        """Put a value in a register; the one not used for longest makes room."""
        self.registers[value] = None
        if len(self.registers) > _REGISTERS:
            oldest = next(iter(self.registers))
            del self.registers[oldest]
            if oldest not in self.spilled:
                self.spilled.add(oldest)
                self.fetched += 1


def _last_uses(program: Program) -> dict[int, int]:
    return {operand: index for index, one in enumerate(program.instructions) for operand in one.operands}


# Is a reduced graph faster as a kernel? Fewer operations are not always: sums lose fused multiplications, values wait.
#
# The counts that are reported stay the fewest; a kernel is made of the graph that is estimated to run shorter.

#: Longer code is taken as it was reduced: estimating it would take seconds, and many operations saved are time saved.
MOST_NODES = 20_000


#: A reduction that saves less than this part of the operations changes the order of sums for nothing.
LEAST_SAVED = 0.01

#: The estimate errs by some per cent: the more operations are saved, the more it must say against a reduction to be
#: believed. With this part of what is saved it was wrong by more than 3 % on two of fifty kernels.
BENEFIT_OF_DOUBT = 0.4


def faster_as_kernel(derived: Graph, reduced: Graph, runtime: bool = True, fused: bool = True) -> KernelChoice:
    """Is the reduced graph the faster one? `runtime`: parameters that are left are arguments, not numbers."""
    if derived == reduced or max(len(derived), len(reduced)) > MOST_NODES:
        return KernelChoice(reduction_taken=True)
    saved = 1 - _work(reduced) / _work(derived)
    if saved < LEAST_SAVED:
        return KernelChoice(reduction_taken=False)
    before, after = (_cycles(graph, runtime, fused) for graph in (derived, reduced))
    taken = after <= before * (1 + BENEFIT_OF_DOUBT * saved)
    return KernelChoice(taken, before, after)


def instructions_saved(
    side_by_side: Bound, exchange: Mapping[Exchanged, Exchanged], one_by_one: Bound, fused: bool = True
) -> float:
    """Which part of the other graph's instructions is saved by computing limbs side by side."""
    program = lower_side_by_side(side_by_side, exchange, SCALAR_GROUP, fused)
    return 1 - instructions(program) / instructions(lower(one_by_one, SCALAR_GROUP, fused))


def cycles_of_kernel(binding: Bound, exchange: Mapping[Exchanged, Exchanged], fused: bool = True) -> float:
    """Estimated cycles of a call, with what is exchanged computed side by side."""
    if not exchange:
        return estimated_cycles(binding, fused)
    return cycles_of(lower_side_by_side(binding, exchange, SCALAR_GROUP, fused))


def _work(graph: Graph) -> int:
    """Operations of all kinds, and one for the call."""
    operations = count(graph)
    return 1 + operations.total + operations.div + operations.sqrt + operations.sin + operations.cos + operations.other


def _cycles(graph: Graph, runtime: bool, fused: bool) -> float:
    parameters = graph.symbols(Kind.PARAMETER)
    moving = [one for one in graph.symbols() if not one.kind.static] + (list(parameters) if runtime else [])
    # Which numbers does not matter, as long as none is 0 or 1.
    values = {} if runtime else {one.name: 0.3 + 0.01 * place for place, one in enumerate(parameters)}
    return estimated_cycles(bind(graph, (Argument("x", tuple(moving)),), values), fused)
