"""Prescribed cycles of linkages: positions over time for any dimensions, outputs, their extremes, and exact slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.assembly.assemble import Assembler
from kinegraph.codegen.kernel import Kernel
from kinegraph.codegen.program.binding import Argument
from kinegraph.derive.constraints.redundancy import holonomic_rows, row_names_of
from kinegraph.derive.elements.element_values import ElementNames
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.errors import AssemblyError, KinegraphError, TaskError
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.differentiate import jacobian
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit.kernel import compile_graph
from kinegraph.model.constraints import is_constrained
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expressions import TIME, Expression, Scalar, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import component, did_you_mean
from kinegraph.passes.effort import Effort
from kinegraph.passes.pipeline import reduce
from kinegraph.simulate.formulas import formula
from kinegraph.tasks.operating_point import (
    JACOBIAN,
    RATE,
    VALUE,
    Floats,
    called_rows,
    kernel_of,
    parameter_slope,
    refuse_quaternions,
)

#: Singular values below this fraction of the largest are zero; loops are closed within the second number.
_SINGULAR, _CLOSED = 1e-9, 1e-11
_MOST_STEPS, _NARROWINGS = 30, 50
#: A rate below this fraction of the largest one vanishes.
_VANISHED = 1e-12
#: Positions may differ from those that rates predict by this much over a step, in radians or relative to the largest.
_JUMP = 0.25


@dataclass(frozen=True)
class CycleRows:
    """Positions and outputs at times: values, rates by time, and slopes by the free parameters at fixed time."""

    times: Floats
    q: Floats
    v: Floats
    values: Floats
    rates: Floats
    slopes: Floats


class Cycle:
    """A mechanism whose coordinates, or the independent ones, follow formulas of time; compiled once.

    free: parameters that may change; their values come with every call. outputs: formulas of positions, points and t.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        motion: Mapping[str, Scalar],
        outputs: Mapping[str, Expression],
        free: Sequence[str],
        parameters: Mapping[str, Scalar] | None,
        times: Floats,
    ) -> None:
        refuse_quaternions(mechanism, "cycles support")
        self.mechanism, self.free, self.outputs = mechanism, tuple(free), tuple(outputs)
        self.parameters, self.times = dict(parameters or {}), times
        self.motion = {name: formula(law) for name, law in motion.items()}
        values = float_values(parameter_values(mechanism, parameters))
        known = [one.name for one in mechanism.parameters]
        for name in self.free:
            if name not in values:
                raise TaskError(f"{mechanism.name} has no parameter {name!r}\n  {did_you_mean(name, known)}")
        self.begin = np.array([values[name] for name in self.free])
        layout = mechanism.layout
        self.driven = [_place(mechanism, name) for name in self.motion]
        self.others = [k for k in range(len(layout.positions)) if k not in self.driven]
        self._require_all_follow()
        fixed = {name: value for name, value in values.items() if name not in self.free}
        self._outputs = _compiled(mechanism, self.motion, outputs, self.free, fixed)
        self._rows = self._row_kernel() if self.others else None
        self._near: Floats | None = None

    def _require_all_follow(self) -> None:
        mechanism = self.mechanism
        positions = mechanism.layout.positions
        if self.others and not is_constrained(mechanism):
            missing = [positions[k] for k in self.others]
            raise TaskError(f"no motion given for {', '.join(missing)}; give motion={{'{missing[0]}': '...'}}")
        if len(holonomic_rows(mechanism)) < len(row_names_of(mechanism)):
            raise TaskError(f"{mechanism.name}: constraints of velocities are not supported over a prescribed cycle")

    def _row_kernel(self) -> Kernel:
        slopes = [parameter_slope(VALUE, name) for name in self.free]
        return kernel_of(self.mechanism, [VALUE, JACOBIAN, RATE, *slopes], self.parameters, self.free)

    def rows(self, x: Floats) -> CycleRows:
        """The whole cycle for values of the free parameters; TaskError if loops do not close all the way."""
        found = self._beside(x)
        if found is None:
            found = self._solved(self.times, self._followed(x), x)
            if not self._follows(found):
                raise TaskError(f"{self.mechanism.name}: the loops change their branch within the cycle")
        if self._near is None or len(self.times) > 1:
            self._near = found.q
        return found

    def _beside(self, x: Floats) -> CycleRows | None:
        """The cycle from the positions found before; None if they lead to none."""
        if self._near is None:
            return None
        try:
            found = self._solved(self.times, self._near, x)
        except TaskError:
            return None
        return found if self._follows(found) else None

    def start_at(self, q: Floats) -> None:
        """Search from these positions at all times, instead of following the cycle from the model's start."""
        self._near = np.tile(q, (len(self.times), 1))

    def at(self, times: Floats, rows: CycleRows, x: Floats) -> CycleRows:
        """The same at other times, near known rows."""
        near = np.column_stack([np.interp(times, rows.times, column) for column in rows.q.T])
        return self._solved(times, near.reshape(len(times), -1), x)

    def _follows(self, rows: CycleRows) -> bool:
        """Whether positions change from row to row as their rates say: otherwise a loop has jumped to another
        branch."""
        if len(rows.times) < 2 or not self.others:
            return True
        step = np.diff(rows.times)[:, None]
        change = np.diff(rows.q, axis=0)
        predicted = 0.5 * step * (rows.v[1:] + rows.v[:-1])
        size = np.maximum(np.abs(rows.q).max(axis=0), np.abs(predicted).max(axis=0))
        return bool(np.all(np.abs(change - predicted) <= _JUMP * np.maximum(size, 1e-9)))

    def _followed(self, x: Floats) -> Floats:
        """Positions from one time to the next, from the model's start."""
        size = len(self.mechanism.layout.positions)
        if not self.others:
            return np.zeros((len(self.times), size))
        near = self._assembled(x)
        found = np.zeros((len(self.times), size))
        for k, time in enumerate(self.times):
            row = self._solved(np.array([time]), near[None], x)
            found[k] = row.q[0]
            if k + 1 < len(self.times):
                near = row.q[0] + row.v[0] * (self.times[k + 1] - time)
        return found

    def _assembled(self, x: Floats) -> Floats:
        """Positions at the first time, nearest to the model's start."""
        drive = self._drive(self.times[:1], x)["drive"][0]
        assembler = Assembler(self.mechanism, {**self.parameters, **dict(zip(self.free, x.tolist(), strict=True))})
        q, v = assembler.start({})
        q[self.driven] = drive
        try:
            place = assembler.assembled(q, v, tuple(self.motion), float(self.times[0]))
        except AssemblyError as error:
            raise TaskError(f"{self.mechanism.name}: the loops cannot follow this motion: {error}") from error
        return place.q

    def _drive(self, times: Floats, x: Floats) -> dict[str, Floats]:
        blank = np.zeros((len(times), len(self.mechanism.layout.positions)))
        found = self._outputs.batch(blank, times, np.tile(x, (len(times), 1)))
        return {name: np.asarray(found[name]) for name in ("drive", "rate", "drive_slopes")}

    def _solved(self, times: Floats, near: Floats, x: Floats) -> CycleRows:
        """Positions by Newton's method for all times at once, and all outputs; TaskError if it fails."""
        drive, q = self._drive(times, x), near.copy()
        q[:, self.driven] = drive["drive"]
        v = np.zeros((len(times), len(self.mechanism.layout.velocities)))
        v[:, self.driven] = drive["rate"]
        moved_by = np.zeros((len(times), q.shape[1], len(x)))
        moved_by[:, self.driven] = drive["drive_slopes"]
        if self.others:
            trouble = self._close(times, q, v, moved_by, x)
            if trouble is not None:
                raise TaskError(f"{self.mechanism.name}: {trouble}")
        found = self._outputs.batch(q, times, np.tile(x, (len(times), 1)))
        if not np.isfinite(found["values"]).all():
            time = times[~np.isfinite(found["values"]).all(axis=1)][0]
            raise TaskError(f"{self.mechanism.name}: the geometry has no solution at t = {time:.6g}")
        rates = np.einsum("kij,kj->ki", found["by_q"], v) + found["by_t"]
        slopes = found["by_p"] + found["by_q"] @ moved_by
        return CycleRows(times, q, v, np.asarray(found["values"]), rates, slopes)

    def _close(self, times: Floats, q: Floats, v: Floats, moved_by: Floats, x: Floats) -> str | None:
        """Closes the loops in place, with rates and slopes; the reason if they do not close."""
        assert self._rows is not None
        parameters = np.tile(x, (len(times), 1))
        driven_rates = v.copy()
        for _ in range(_MOST_STEPS):
            found = called_rows(self._rows, self._arguments(times, q, driven_rates, parameters))
            missed, across = found[VALUE], found[JACOBIAN][:, :, self.others]
            if not np.isfinite(missed).all() or not np.isfinite(across).all():
                return "the loops have no finite value"
            step = -(np.linalg.pinv(across, rcond=_SINGULAR) @ missed[:, :, None])[:, :, 0]
            largest = np.maximum(np.abs(step).max(axis=1), 1e-300)
            q[:, self.others] += step * np.minimum(1.0, 0.5 / largest)[:, None]
            if float(np.max(largest)) < _CLOSED * (1 + float(np.max(np.abs(q)))):
                break
        found = called_rows(self._rows, self._arguments(times, q, driven_rates, parameters))
        missed = np.abs(found[VALUE]).max(axis=1)
        if float(missed.max()) > 1e-9 * (1 + float(np.max(np.abs(q)))):
            time = times[int(np.argmax(missed))]
            return f"the loops do not close at t = {time:.6g}"
        across = found[JACOBIAN][:, :, self.others]
        if len(self.others) > np.min(np.linalg.matrix_rank(across, rtol=_SINGULAR)):
            ranks = np.linalg.matrix_rank(across, rtol=_SINGULAR)
            time = times[int(np.argmin(ranks))]
            return f"at t = {time:.6g} a coordinate stays free: at a dead point, or too few coordinates are prescribed"
        inverse = np.linalg.pinv(across, rcond=_SINGULAR)
        v[:, self.others] = -(inverse @ found[RATE][:, :, None])[:, :, 0]
        by_p = np.stack([found[parameter_slope(VALUE, name)] for name in self.free], axis=2) if self.free else None
        if by_p is not None:
            driven = found[JACOBIAN][:, :, self.driven] @ moved_by[:, self.driven]
            moved_by[:, self.others] = -inverse @ (by_p + driven)
        return None

    def _arguments(self, times: Floats, q: Floats, v: Floats, p: Floats) -> dict[str, Floats | float]:
        layout = self.mechanism.layout
        others = {
            "tau": len(layout.forces),
            "u": len(layout.inputs),
            "a": len(layout.velocities),
            "z": len(layout.states),
        }
        blank = {name: np.zeros((len(times), count)) for name, count in others.items()}
        return {"q": q, "v": v, "t": times, "p": p, **blank}


def _place(mechanism: Mechanism, name: str) -> int:
    positions = mechanism.layout.positions
    if name not in positions:
        raise TaskError(f"unknown coordinate {name!r} in motion\n  {did_you_mean(name, positions)}")
    return positions.index(name)


def _compiled(
    mechanism: Mechanism,
    motion: Mapping[str, Expression],
    outputs: Mapping[str, Expression],
    free: tuple[str, ...],
    fixed: Mapping[str, float],
) -> Kernel:
    """Outputs and their derivatives by positions, time and parameters; and the prescribed motion."""
    graph = _graph(mechanism, motion, outputs, free)
    arguments = [
        Argument("q", tuple(Symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions)),
        Argument("t", (Symbol(Kind.TIME, TIME),)),
        Argument("p", tuple(Symbol(Kind.PARAMETER, name) for name in free)),
    ]
    return compile_graph(reduce(graph, Effort.QUICK).graph, arguments, fixed)


def _graph(
    mechanism: Mechanism,
    motion: Mapping[str, Expression],
    outputs: Mapping[str, Expression],
    free: tuple[str, ...],
) -> Graph:
    derivation = Derivation(replace(mechanism, elements=(), unknowns=(), loops=(), constraints=()), {}, Plan())
    meaning = ElementNames(derivation.mechanism, {}, derivation.layout)
    for name, one in outputs.items():
        _require_known(mechanism, name, names(one))
    for name, one in motion.items():
        _require_law(mechanism, name, names(one))
    whole = derivation.builder.graph([
        Output("values", (len(outputs),), tuple(meaning.scalar(one).index for one in outputs.values())),
        Output("drive", (len(motion),), tuple(meaning.scalar(one).index for one in motion.values())),
    ])  # fmt: skip
    builder = GraphBuilder()
    values, drive = moved(whole.outputs, transfer(whole, builder))
    by_q = [builder.symbol(Kind.COORDINATE, name) for name in mechanism.layout.positions]
    by_p = [builder.symbol(Kind.PARAMETER, name) for name in free]
    time = [builder.symbol(Kind.TIME, TIME)]

    def slopes(name: str, of: Output, by: list[int], shape: tuple[int, ...]) -> Output:
        entries = tuple(entry for row in jacobian(builder, of.nodes, by) for entry in row) if by and of.nodes else ()
        return Output(name, shape, entries)

    m, n, d, f = len(outputs), len(by_q), len(motion), len(free)
    return builder.graph([
        values, drive, slopes("by_q", values, by_q, (m, n)), slopes("by_t", values, time, (m,)),
        slopes("by_p", values, by_p, (m, f)), slopes("rate", drive, time, (d,)),
        slopes("drive_slopes", drive, by_p, (d, f)),
    ])  # fmt: skip


def _require_known(mechanism: Mechanism, output: str, used: frozenset[str]) -> None:
    points = {*mechanism.body_by_name, *(point.name for point in mechanism.points)}
    defined = {one.name for one in mechanism.definitions}
    known = {*mechanism.layout.positions, *(one.name for one in mechanism.parameters), *defined, TIME, "pi"}
    for name in sorted(used):
        part = component(name)
        if name not in known and (part is None or not part.exists or part.rate or part.point not in points):
            hint = did_you_mean(name.partition(".")[0], (*points, *known))
            raise TaskError(f"{output}: unknown name {name!r}; use positions, points, parameters and t\n  {hint}")


def _require_law(mechanism: Mechanism, coordinate: str, used: frozenset[str]) -> None:
    known = {*(one.name for one in mechanism.parameters), TIME, "pi"}
    for name in sorted(used - known):
        raise TaskError(
            f"the motion of {coordinate} uses {name!r}, but only t and parameters are allowed\n"
            f"  {did_you_mean(name, known)}"
        )


# Extremes of outputs within the cycle: where their rates vanish.


@dataclass(frozen=True)
class Extreme:
    """An extreme of one output: its time, its value, and the slopes of the value and of the time by the parameters."""

    time: float
    value: float
    slopes: Floats
    time_slopes: Floats


def extreme(cycle: Cycle, rows: CycleRows, x: Floats, output: int, highest: bool) -> Extreme:
    """The largest or smallest value of one output, solved for between the rows."""
    sign = 1.0 if highest else -1.0
    values = sign * rows.values[:, output]
    k = int(np.argmax(values))
    time = _top(cycle, rows, x, output, sign, k)
    here = cycle.at(np.array([time]), rows, x)
    if sign * here.values[0, output] < values[k]:
        time, here = float(rows.times[k]), cycle.at(rows.times[k : k + 1], rows, x)
    slopes = here.slopes[0, output]
    return Extreme(time, float(here.values[0, output]), slopes, _time_slopes(cycle, rows, x, output, time))


def _top(cycle: Cycle, rows: CycleRows, x: Floats, output: int, sign: float, k: int) -> float:
    """The time beside row k at which the rate vanishes, by bisection and secants; that of the row if it does not.

    Over whole turns the first and the last row are the same state, so the steps beside them are neighbors.
    """
    last, rates = len(rows.times) - 1, sign * rows.rates[:, output]
    low, high = (k, k + 1) if rates[k] > 0 else (k - 1, k)
    if low < 0:
        low, high = last - 1, last
    elif high > last:
        low, high = 0, 1
    a, b = float(rows.times[low]), float(rows.times[high])
    fa, fb = float(rates[low]), float(rates[high])
    if not fa > 0 > fb:
        return float(rows.times[k])
    largest = float(np.max(np.abs(rates)))
    for _ in range(_NARROWINGS):
        secant = a + (b - a) * fa / (fa - fb)
        places = np.array([secant, 0.5 * (a + b)])
        found = sign * cycle.at(places, rows, x).rates[:, output]
        for place, rate in sorted(zip(places.tolist(), found.tolist(), strict=True)):
            if rate > 0 and place > a:
                a, fa = place, rate
            elif rate <= 0 and place < b:
                b, fb = place, rate
        if min(abs(fa), abs(fb)) <= _VANISHED * largest or b - a < 1e-14 * (1 + abs(b)):
            break
    return a if abs(fa) < abs(fb) else b


def _time_slopes(cycle: Cycle, rows: CycleRows, x: Floats, output: int, time: float) -> Floats:
    """How the time of an extreme changes with the parameters: the rate stays zero.

    The second derivatives are central differences of the exact first ones.
    """
    step = 1e-4 * float(rows.times[-1] - rows.times[0])
    if not step:
        return np.zeros(len(x))
    try:
        beside = cycle.at(np.array([time - step, time + step]), rows, x)
    except KinegraphError:
        return np.zeros(len(x))
    curvature = beside.rates[1, output] - beside.rates[0, output]
    turned = beside.slopes[1, output] - beside.slopes[0, output]
    return np.asarray(-turned / curvature) if curvature else np.zeros(len(x))
