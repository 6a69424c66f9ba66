"""The memory of cases that run side by side, and the code that computes them so."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kinegraph.codegen.kernel import Kernel
from kinegraph.solve.batch.outputs import Outputs
from kinegraph.solve.loops.events.watch import Watch
from kinegraph.solve.loops.many.lanes import Lanes
from kinegraph.solve.loops.record import COUNTERS
from kinegraph.solve.loops.weights import LOOKS
from kinegraph.solve.methods.tableau import Tableau
from kinegraph.solve.problem.events import EventSet
from kinegraph.solve.problem.problem import CauchyProblem, Floats, Function, RightHandSide

Integers = NDArray[np.int64]
T = TypeVar("T", np.int64, np.float64)

_VECTOR = 512  # about how many doubles a sum over stages runs over: long enough for vectors, short enough for the cache
_FEWEST = 4  # lanes that sums over stages take with one instruction


def lane_count(rhs: RightHandSide, rows: int) -> int:
    """Lanes for so many cases: whole vectors of batch code, and several where states are small."""
    vector = max(rhs.code.lanes if isinstance(rhs.code, Kernel) else 1, _FEWEST)
    return min(max(_VECTOR // max(rhs.size, 1) // vector, 1), -(-rows // vector)) * vector


def in_lanes(watch: Watch, count: int) -> Watch:
    """Memory of events with a row for each lane, but for what is used within one step alone."""
    return watch._replace(
        side=_rows(watch.side, count), ahead=_rows(watch.ahead, count), stage=_rows(watch.stage, count),
        on_surface=_rows(watch.on_surface, count), before=_rows(watch.before, count),
        values=_rows(watch.values, count), rates=_rows(watch.rates, count), incoming=_rows(watch.incoming, count),
        residual=_rows(watch.residual, count), zero=_rows(watch.zero, count), since=_rows(watch.since, count),
        noise=_rows(watch.noise, count), recent=_rows(watch.recent, count),
    )  # fmt: skip


def _rows(array: NDArray[T], count: int) -> NDArray[T]:
    """The same row so many times."""
    return np.tile(array, (count, 1))


def lanes_of(problem: CauchyProblem, tableau: Tableau, events: EventSet, outputs: Outputs, count: int) -> Lanes:
    """Memory of so many lanes; a single one is computed by code for one state."""
    size, rhs = problem.rhs.size, problem.rhs
    total = count * size
    rows = _rows(problem.argument(), count)
    side_by_side = count > 1

    def zeros(*shape: int) -> Floats:
        return np.zeros(shape)

    def integers(value: int) -> Integers:
        return np.full(count, value, dtype=np.int64)

    return Lanes(
        rates=rhs.batch if side_by_side else 0,
        conditions=_batch(events.code) if side_by_side and events.samples == LOOKS else 0,
        outputs=_batch(outputs.code) if side_by_side else 0,
        x=rows, states=rows[:, :size].copy(), times=zeros(count), inputs=zeros(count, rhs.inputs),
        parameters=rows[:, size + 1 + rhs.inputs :].copy(), y=rows[:, :size].copy(), end=rows[:, :size].copy(),
        slopes=zeros(tableau.all_stages, total), errors=zeros(max(len(tableau.error), 1), total),
        zero=zeros(total), projected=_rows(problem.projected(), count), each_h=zeros(total), h=zeros(count),
        clocks=zeros(count, 5), counters=np.zeros((count, COUNTERS), dtype=np.int64), case=integers(-1),
        codes=integers(0), again=integers(0), tries=integers(0), least=zeros(count), best=zeros(count),
        stands=integers(0), values=zeros(LOOKS, count, len(events.names)),
        looked=zeros(LOOKS, count, outputs.count),
    )  # fmt: skip


def _batch(function: Function) -> int:
    """The address of code for many states, which takes state, time, inputs and parameters apart; 0 for none."""
    apart = isinstance(function, Kernel) and function.arguments[0].name == "y"
    return function.batch_address if isinstance(function, Kernel) and apart else 0
