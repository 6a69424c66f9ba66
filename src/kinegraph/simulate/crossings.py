"""Derivatives of a run through impacts and jumps of forces: saltation at each crossing of their conditions.

Between crossings the equations are smooth: every `sign` and `select` keeps the branch of its flag, and contacts are
open. A condition ends such a piece. The derivatives of the state then jump by the saltation matrix: the crossing comes
earlier or later by dt = -dc/c', during which the old rates act instead of the new ones, and an impact maps derivatives
as it maps velocities. All slopes are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kinegraph.derive.contacts import ContactGraphs
from kinegraph.derive.dynamics.state_rate import Forces, has_prescribed_contacts, with_forces
from kinegraph.errors import TaskError
from kinegraph.graph.build import GraphBuilder, moved, transfer
from kinegraph.graph.differentiate import ForwardDerivative, gradient
from kinegraph.graph.node import Function, Graph, Kind, Output, Polynomial, Symbol
from kinegraph.model.expressions import TIME, Expression, Scalar
from kinegraph.model.mechanism import ZERO, Mechanism
from kinegraph.simulate.equations import row_values
from kinegraph.simulate.events import Endings
from kinegraph.simulate.run_task import Task
from kinegraph.simulate.sensitivities import VariationalForm
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Solver
from kinegraph.solve.methods.step_control import Control
from kinegraph.solve.problem import Floats, Signals
from kinegraph.solve.recording import Grid, Run, Statistics, Status

#: A run with more crossings, or with so many of which each follows sooner than the last, comes to rest on a contact.
_MOST, _FASTER = 2000, 30
#: More conditions than these would take longer to watch than to explain.
_MOST_CONDITIONS = 60
#: Crossings this close together, relative to the length of the run, occur at once.
_AT_ONCE = 1e-11
#: Random states at which dependence and jumps are tested, rounds that lead to a surface, and differences of rates
#: that are rounding.
_SAMPLES, _ROUNDS, _CONTINUOUS = 6, 40, 1e-7
#: An impact slower than this fraction of the fastest velocity touches without crossing.
_GRAZING = 1e-9


class ModalForm(VariationalForm):
    """The equations with a flag for each watched condition, +1 or -1, and all contacts open; x ends with the flags.

    watched: which of the conditions of `sign` and `select` have flags; None for all. The others stay as they are.
    """

    watched: tuple[int, ...] | None = None
    #: The motion without flags, if another form has derived it.
    derived_motion: Graph | None = None

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, Scalar],
        forces: Forces,
        runtime: Sequence[str],
        by: Sequence[str],
        integrands: Mapping[str, Expression],
    ) -> None:
        _require_frictionless(mechanism)
        super().__init__(replace(mechanism, contacts=()), values, forces, runtime, by, integrands)
        self.contacts = mechanism.contacts
        self.whole = mechanism

    def without_derivatives(self) -> ModalForm:
        """The motion alone."""
        return self._like(self.by[:0], self.watched)

    def watching_jumps(self) -> ModalForm:
        """The same with flags only where the rates jump, not where only their slopes do."""
        return self._like(self.by, self._jumps())

    def _like(self, by: Sequence[str], watched: tuple[int, ...] | None) -> ModalForm:
        form = ModalForm(self.whole, self.values, self.forces, self.runtime, by, self.integrands)
        form.watched, form.derived_motion = watched, self._unflagged_motion
        return form

    def _jumps(self) -> tuple[int, ...]:
        """The conditions on whose surfaces the rates differ between both sides, at random points of these."""
        found, size = [], len(self.state_symbols) + 1
        for k in range(self.switches):
            x = self._random_rows()
            x[:, -self.switches :] = 1.0
            for _ in range(_ROUNDS):  # Newton's method along the gradient
                values = row_values(self.conditions, self.symbols, x)["conditions"][:, k]
                slopes = np.broadcast_to(
                    row_values(self.condition_slopes, self.symbols, x)["motion"],
                    (_SAMPLES, self.switches + len(self.contacts), len(self.motion_names) + 1),
                )[:, k]
                lengths = np.maximum(np.sum(slopes**2, axis=1), 1e-300)
                places = [*range(len(self.motion_names)), size - 1]
                x[:, places] -= (values / lengths)[:, None] * slopes
            there = np.abs(row_values(self.conditions, self.symbols, x)["conditions"][:, k]) < 1e-9
            sides = []
            for flag in (1.0, -1.0):
                x[:, len(self.symbols) - self.switches + k] = flag
                sides.append(row_values(self.motion, self.symbols, x[there])["rate"])
            scale = max(1.0, float(np.max(np.abs(sides), initial=0.0)))
            if not there.any() or not np.max(np.abs(sides[0] - sides[1]), initial=0.0) <= _CONTINUOUS * scale:
                found.append(k)
        return tuple(found)

    @property
    def flags(self) -> tuple[Symbol, ...]:
        return tuple(Symbol(Kind.INPUT, f"mode:{k}") for k in range(len(self._switched.outputs[1].nodes)))

    @cached_property
    def _unflagged_motion(self) -> Graph:
        if self.derived_motion is not None:
            return self.derived_motion
        return VariationalForm(self.mechanism, self.values, self.forces, self.runtime, (), self.integrands).motion

    @property
    def motion(self) -> Graph:
        return self._modal_motion

    @cached_property
    def _modal_motion(self) -> Graph:
        builder = GraphBuilder()
        return builder.graph([moved(self._switched.outputs, transfer(self._switched, builder))[0]])

    @cached_property
    def _switched(self) -> Graph:
        """The rates with flags in place of conditions, and the conditions."""
        unflagged = self._unflagged_motion
        builder = GraphBuilder()
        place: dict[int, int] = {}
        conditions: list[int] = []
        for index, (node, live) in enumerate(zip(unflagged.nodes, unflagged.live, strict=True)):
            if not live:
                continue
            if isinstance(node, Symbol):
                place[index] = builder.symbol(*node)
            elif isinstance(node, Polynomial):
                terms = [(c, tuple((place[k], e) for k, e in factors)) for c, factors in node.terms]
                place[index] = builder.polynomial(terms)
            else:
                place[index] = self._function(builder, node, [place[k] for k in node.arguments], conditions)
        outputs = moved(unflagged.outputs, place)
        nodes = tuple(conditions if self.watched is None else (conditions[k] for k in self.watched))
        if self.watched is not None and len(nodes) > _MOST_CONDITIONS:
            raise TaskError(
                f"{self.mechanism.name}: its forces jump at {len(nodes)} conditions, too many to follow one by one\n"
                "  use continuous formulas, e.g. tanh(v/0.01) for sign(v)"
            )
        return builder.graph([outputs[0], Output("conditions", (len(nodes),), nodes)])

    def _function(self, builder: GraphBuilder, node: Function, arguments: list[int], conditions: list[int]) -> int:
        if node.name not in ("sign", "select") or builder.value_of(arguments[0]) is not None:
            return builder.apply(node.name, *arguments)
        if arguments[0] not in conditions:
            conditions.append(arguments[0])
        place = conditions.index(arguments[0])
        if self.watched is not None and place not in self.watched:
            return builder.apply(node.name, *arguments)
        number = place if self.watched is None else self.watched.index(place)
        flag = builder.symbol(Kind.INPUT, f"mode:{number}")
        return flag if node.name == "sign" else builder.apply("select", flag, *arguments[1:])

    @cached_property
    def conditions(self) -> Graph:
        """The switching conditions, then the gaps of contacts."""
        builder = GraphBuilder()
        nodes = list(moved(self._switched.outputs, transfer(self._switched, builder))[1].nodes)
        if self.contacts:
            gaps = with_forces(self.mechanism, self._contact_graphs.gaps(), self.bound, self.forces)
            nodes += moved([gaps.outputs[0]], transfer(gaps, builder))[0].nodes
        return builder.graph([Output("conditions", (len(nodes),), tuple(nodes))])

    @cached_property
    def _contact_graphs(self) -> ContactGraphs:
        return ContactGraphs(self.whole, self.bound)

    @cached_property
    def condition_slopes(self) -> Graph:
        """Of each condition: the derivatives by the columns of y, by the motion, and by time."""
        builder = GraphBuilder()
        (values,) = moved(self.conditions.outputs, transfer(self.conditions, builder))
        directions = list(self.directions(builder))
        symbols = [builder.symbol(*one) for one in self.state_symbols[: len(self.motion_names)]]
        time = builder.symbol(Kind.TIME, TIME)
        columns = [along(node) for node in values.nodes for along in directions]
        by_motion = [entry for node in values.nodes for entry in gradient(builder, node, [*symbols, time])]
        count = len(values.nodes)
        return builder.graph(
            [
                Output("values", (count,), values.nodes),
                Output("columns", (count, len(directions)), tuple(columns)),
                Output("motion", (count, len(symbols) + 1), tuple(by_motion)),
            ]
        )

    @cached_property
    def impacts(self) -> Graph:
        """Of each contact: the motion after its impact, and its derivatives by the columns of y and by time."""
        builder = GraphBuilder()
        place = transfer(self._impact_graph, builder)
        directions = list(self.directions(builder))
        symbols = [builder.symbol(*one) for one in self.state_symbols[: len(self.motion_names)]]
        by_time = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
        first = len(self.mechanism.layout.positions)
        outputs = []
        for output in moved(self._impact_graph.outputs, place):
            after = [*symbols[:first], *output.nodes, *symbols[first + len(output.nodes) :]]
            columns = tuple(along(node) for along in directions for node in after)
            outputs += [
                Output(f"after {output.name}", (len(after),), tuple(after)),
                Output(f"columns {output.name}", (len(directions), len(after)), columns),
                Output(f"time {output.name}", (len(after),), tuple(by_time(node) for node in after)),
            ]
        return builder.graph(outputs)

    @cached_property
    def _impact_graph(self) -> Graph:
        """The velocities after the impact of each contact: the gap's rate turns round, times the restitution."""
        system = self._contact_graphs.system
        responses = iter(system.responses())
        names = system.derivation.constraint_equations.names
        outputs = []
        for number, (contact, rows) in enumerate(zip(self.contacts, system.contacts, strict=True)):
            response, *_ = (next(responses) for _ in rows.rows)
            compliance = sum((a * b for a, b in zip(rows.normal.jacobian, response, strict=True)), rows.normal.rate * 0)
            impulse = -(1 + names.scalar(contact.restitution)) * rows.normal.rate / compliance
            after = [
                names[name] + impulse * entry
                for name, entry in zip(self.mechanism.layout.velocities, response, strict=True)
            ]
            outputs.append(Output(str(number), (len(after),), tuple(one.index for one in after)))
        graph = system.derivation.builder.graph(outputs)
        return with_forces(self.mechanism, graph, self.bound, self.forces)

    def positions_in_conditions(self) -> frozenset[int]:
        """The positions on which conditions depend, at random states: they are not cyclic."""
        size = len(self.motion_names)
        found = row_values(self.condition_slopes, self.symbols, self._random_rows())["motion"]
        largest = np.abs(np.broadcast_to(found, (_SAMPLES, *found.shape[1:]))).max(axis=(0, 1), initial=0.0)[:size]
        return frozenset(k for k in range(len(self.mechanism.layout.positions)) if not largest[k] <= 0)

    def turns(self) -> frozenset[int]:
        """The positions whose whole turns change no condition."""
        rows = self._random_rows()
        before = row_values(self.conditions, self.symbols, rows)["conditions"]
        found = []
        for k in range(len(self.mechanism.layout.positions)):
            turned = rows.copy()
            turned[:, k] += 2 * np.pi
            after = row_values(self.conditions, self.symbols, turned)["conditions"]
            if np.max(np.abs(after - before), initial=0.0) <= 1e-9 * max(
                1.0, float(np.max(np.abs(before), initial=0.0))
            ):
                found.append(k)
        return frozenset(found)

    def _random_rows(self) -> Floats:
        return np.random.default_rng(7).uniform(-1, 1, (_SAMPLES, len(self.symbols)))

    @property
    def switches(self) -> int:
        """The number of switching conditions; those of contacts follow."""
        return len(self.flags)

    @cached_property
    def endings(self) -> Endings:
        """Conditions that are positive in a piece: switches times their flags, and gaps."""
        builder = GraphBuilder()
        (values,) = moved(self.conditions.outputs, transfer(self.conditions, builder))
        nodes = []
        for k, node in enumerate(values.nodes):
            flag = builder.symbol(*self.flags[k]) if k < self.switches else builder.one
            nodes.append(builder.multiply(flag, node))
        names = [f"condition {k}" for k in range(self.switches)] + [f"contact {one.name}" for one in self.contacts]
        graph = builder.graph([Output("events", (len(nodes),), tuple(nodes))])
        return Endings(tuple(names), graph, (False,) * self.switches + (True,) * len(self.contacts))


def _require_frictionless(mechanism: Mechanism) -> None:
    for contact in mechanism.contacts:
        if contact.slip and contact.friction != ZERO:
            raise TaskError(
                f"{mechanism.name}: the contact {contact.name} has friction; derivatives through impacts are those of "
                "frictionless contacts\n  set friction(0), or use a compliant contact (`stiffness(...)`)"
            )
    if len(mechanism.contacts) and has_prescribed_contacts(mechanism) and mechanism.layout.quaternions:
        raise TaskError(f"{mechanism.name}: derivatives through impacts do not support free rotations (quaternions)")


@dataclass(frozen=True)
class PiecewiseRun:
    """The rows of all pieces, with the flags of each row, and how many crossings there were."""

    times: Floats
    states: Floats
    flags: Floats
    crossings: int
    statistics: Statistics


@dataclass
class Pieces:
    """Runs of one modal form, piece by piece."""

    form: ModalForm
    solver: Solver
    control: Control
    signals: Signals
    native: Native
    parameters: Floats

    def run(self, state: Floats, save: Floats) -> PiecewiseRun:
        """A run from the first to the last of the times to save at; TaskError where a piece cannot end."""
        time, end = float(save[0]), float(save[-1])
        flags = self._first_flags(time, state)
        times, states, modes, crossings, steps = [save[:1]], [state[None]], [flags[None]], 0, [0, 0, 0]
        faster, length = 0, np.inf
        while time < end:
            wanted = save[save > time]
            run = self._piece(state, flags, (time, end), wanted)
            steps = [
                one + other
                for one, other in zip(
                    steps, (run.statistics.steps, run.statistics.rejected, run.statistics.evaluations), strict=True
                )
            ]
            finished = run.ending.status is Status.FINISHED
            stop = end if finished else run.events[-1].time
            inside = (run.times > time) & np.isin(run.times, wanted) & ((run.times < stop) | finished)
            times.append(run.times[inside])
            states.append(run.states[inside])
            modes.append(np.tile(flags, (int(inside.sum()), 1)))
            if finished:
                break
            crossings += 1
            faster, length = (faster + 1 if stop - time < length else 0), stop - time
            if crossings > _MOST or faster > _FASTER:
                raise self._trouble(stop, "its impacts or jumps follow each other ever faster")
            state, flags = self._crossed(stop, run.events[-1].state, flags, end - float(save[0]))
            time = stop
            if time >= end or np.any(save == time):
                times.append(np.array([time]))
                states.append(state[None])
                modes.append(flags[None])
        statistics = Statistics(*steps)
        rows, columns, sides = (np.concatenate(one) for one in (times, states, modes))
        return PiecewiseRun(rows, columns, sides, crossings, statistics)

    def _piece(self, state: Floats, flags: Floats, span: tuple[float, float], wanted: Floats) -> Run:
        given = np.concatenate([self.parameters, flags])
        grid = Grid(np.concatenate([[span[0]], wanted]))
        run, _ = Task(
            self.form, self.solver, self.control, state, span, self.signals, (), grid, False, given,
            endings=self.form.endings if self.form.endings.names else None,
        ).run(self.native)  # fmt: skip
        if run.ending.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if not run.ending.status.good:
            raise TaskError(f"{self.form.mechanism.name}: the run stopped before its end: {run.ending}")
        return run

    def row(self, time: float, state: Floats, flags: Floats) -> Floats:
        """x at one state."""
        signals = self.signals.values(np.array([time]))[0]
        return np.concatenate([state, [time], signals, self.parameters, flags])[None]

    def rate(self, time: float, state: Floats, flags: Floats) -> Floats:
        """The rates of the motion, without derivatives."""
        found = row_values(self.form.motion, self.form.symbols, self.row(time, state, flags))["rate"]
        return np.array(np.broadcast_to(found, (1, len(self.form.motion_names)))[0])

    def _conditions(self, time: float, state: Floats, flags: Floats) -> tuple[Floats, Floats, Floats]:
        """Values of all conditions, their rates along the motion, and their derivatives by the columns."""
        found = row_values(self.form.condition_slopes, self.form.symbols, self.row(time, state, flags))
        count = self.form.switches + len(self.form.contacts)
        values, columns, slopes = (
            np.broadcast_to(found[name], (1, count, *found[name].shape[2:]))[0]
            for name in ("values", "columns", "motion")
        )
        return values, slopes @ np.append(self.rate(time, state, flags), 1.0), columns

    def _first_flags(self, time: float, state: Floats) -> Floats:
        """The side of each condition at the start; on the surface itself, the one to which the motion leads."""
        flags = np.ones(self.form.switches)
        for _ in range(self.form.switches + 1):
            values, rates, _ = self._conditions(time, state, flags)
            side = np.where(values[: len(flags)] != 0, values[: len(flags)], rates[: len(flags)])
            found = np.where(side >= 0, 1.0, -1.0)
            if np.array_equal(found, flags):
                break
            flags = found
        for contact, gap in zip(self.form.contacts, self._conditions(time, state, flags)[0][len(flags) :], strict=True):
            if gap < 0:
                raise TaskError(
                    f"{self.form.mechanism.name}: contact {contact.name} is penetrated at the start (gap {gap:.3g})\n"
                    "  give a `state` between two impacts"
                )
        return flags

    def _crossed(self, time: float, state: Floats, flags: Floats, length: float) -> tuple[Floats, Floats]:
        """The state and the flags after a crossing, with the derivatives of the state."""
        values, rates, columns = self._conditions(time, state, flags)
        sides = np.concatenate([flags, np.ones(len(self.form.contacts))])
        approach = -sides * rates
        reached = (approach > 0) & (sides * values <= _AT_ONCE * length * approach)
        due: list[int] = np.flatnonzero(reached).tolist()
        if not due:
            raise self._trouble(time, "it touches a contact or a jump without crossing it")
        contacts = [k - self.form.switches for k in due if k >= self.form.switches]
        if len(contacts) > 1:
            names = " and ".join(self.form.contacts[k].name for k in contacts)
            raise self._trouble(time, f"the contacts {names} collide at the same time")
        shifts = -columns[due] / rates[due][:, None]
        if len(due) > 1 and np.max(np.abs(np.ptp(shifts, axis=0)), initial=0.0) > 1e-6 * max(
            1.0, np.max(np.abs(shifts))
        ):
            raise self._trouble(time, "two conditions cross at the same time by chance")
        after = flags.copy()
        switched = [k for k in due if k < self.form.switches]
        after[switched] *= -1
        found = self._salted(time, state, (flags, after), shifts[0], contacts)
        self._require_leaving(time, found, after, due)
        return found, after

    def _salted(
        self, time: float, state: Floats, flags: tuple[Floats, Floats], shift: Floats, contacts: list[int]
    ) -> Floats:
        """y after the crossing. shift: how much later it occurs, by column."""
        form = self.form
        size = len(form.motion_names)
        before = self.rate(time, state, flags[0])
        motion, slopes = state[:size], state[size:].reshape(-1, size)
        reached = slopes + shift[:, None] * before
        if contacts:
            (number,) = contacts
            moving = np.concatenate([motion, reached.ravel()])
            found = row_values(form.impacts, form.symbols, self.row(time, moving, flags[0]))
            new, by_time = (
                np.broadcast_to(found[f"{word} {number}"], (1, size))[0].copy() for word in ("after", "time")
            )
            mapped = np.broadcast_to(found[f"columns {number}"], (1, len(slopes), size))[0]
            motion, reached = new, mapped + shift[:, None] * by_time
        after = self.rate(time, np.concatenate([motion, reached.ravel()]), flags[1])
        return np.concatenate([motion, (reached - shift[:, None] * after).ravel()])

    def _require_leaving(self, time: float, state: Floats, flags: Floats, due: list[int]) -> None:
        """TaskError if the motion returns at once: it slides along a jump, or rests on a contact."""
        _, rates, _ = self._conditions(time, state, flags)
        speeds = np.abs(
            state[len(self.form.mechanism.layout.positions) :][: len(self.form.mechanism.layout.velocities)]
        )
        for k in due:
            if k < self.form.switches and flags[k] * rates[k] <= 0:
                raise self._trouble(time, "a discontinuous force holds it on its jump (sticking)")
            if k >= self.form.switches and rates[k] <= _GRAZING * np.max(speeds, initial=1e-300):
                name = self.form.contacts[k - self.form.switches].name
                raise self._trouble(time, f"it comes to rest on the contact {name}, or only touches it")

    def _trouble(self, time: float, what: str) -> TaskError:
        return TaskError(
            f"{self.form.mechanism.name}: at t = {time:.9g} {what}; derivatives through it are not available\n"
            "  give a `state` nearer to a motion with single impacts, or use continuous forces or compliant contacts"
        )
