"""Is a reduced graph faster as a kernel? Fewer operations are not always: sums lose fused multiplications, values wait.

The counts that are reported stay the fewest; a kernel is made of the graph that is estimated to run shorter.
"""

from __future__ import annotations

from collections.abc import Mapping

from kinegraph.codegen.estimate.kernel_choice import KernelChoice
from kinegraph.codegen.estimate.running_time import cycles_of, estimated_cycles, instructions
from kinegraph.codegen.llvm.module import SCALAR_GROUP
from kinegraph.codegen.program.binding import Argument, Bound, bind
from kinegraph.codegen.program.lower import lower
from kinegraph.codegen.simd import Exchanged, lower_side_by_side
from kinegraph.graph.count import count
from kinegraph.graph.node import Graph, Kind

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
