"""Accelerations of closed loops of any length in O(n), and runs with fixed steps, also on threads and MPI ranks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kinegraph.derive.constraints.constrained_dynamics import contradicting, opens_in_time
from kinegraph.derive.constraints.passing_time import LATEST, OpenRow
from kinegraph.derive.constraints.positions import ROUNDED
from kinegraph.errors import KernelError
from kinegraph.jit.bitcode import compiled
from kinegraph.model.constraints import Loop
from kinegraph.model.expressions import Scalar, expression
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive import entries
from kinegraph.recursive.arrays import OFFSET, SLOT, Floats, Integers
from kinegraph.recursive.chains.closing import Worker, message_size, run_steps
from kinegraph.recursive.chains.coordinate_constraints import CoordinateConstraints, held_forces
from kinegraph.recursive.chains.exchange import (
    Exchange,
    MpiTotal,
    Ranks,
    Serial,
    SerialTotal,
    SharedMemoryTotal,
    Total,
    shared_memory,
)
from kinegraph.recursive.chains.structure import (
    RowOfLoop,
    chains_on,
    closing_of,
    directions_of,
    ends_of,
    loop_rows,
    merged,
    refuse_unsupported,
    rooted,
    shared,
    springs_of,
    whole,
)
from kinegraph.recursive.chains.sweeps import (
    DISTANCE,
    END,
    PERPENDICULAR,
    Part,
    Reduction,
    Work,
    moved_outwards,
    recovered,
    reduced,
)
from kinegraph.recursive.flatten import flattened_tree
from kinegraph.recursive.forward import joints, massless

# Accelerations of closed loops of any length: each chain is reduced to the body it hangs on, in O(n).
#
# The small system that is left (that body's own coordinates, the forces that close the loops) is solved wherever it is
# needed; accelerations are recovered outwards. Chains may be computed on threads or on the ranks of MPI (`exchange`).

#: A row takes part if this part of its own compliance is left beside the rows before it, somewhere.
_INDEPENDENT = 1e-8
#: A row restricts nothing if its own compliance is below this part of the largest.
_IDLE = 1e-12
#: Below so many steps one call for all chains takes less time than calls for each.
_ALONE = 400


@dataclass(frozen=True)
class ClosedAccelerations:
    """By velocity the accelerations (on ranks: of the chains of this rank); by row that takes part the multiplier, how
    independent it is (1 to 0), what it misses and how fast."""

    qdd: Floats
    multipliers: Floats
    pivots: Floats
    missed: Floats
    rates: Floats


@dataclass(frozen=True)
class Stabilized:
    """Baumgarte: what the rows miss obeys phi'' + 2 alpha phi' + beta^2 phi = 0."""

    alpha: float = 0.0
    beta: float = 0.0


class ChainSystem:
    """A mechanism with loops, ready for numbers; `body` is what chains are reduced to, None for the ground."""

    def __init__(
        self,
        mechanism: Mechanism,
        parameters: Mapping[str, Scalar] | None = None,
        body: str | None = None,
        exchange: Exchange | None = None,
        stabilized: Stabilized | None = None,
    ) -> None:
        self.layout = mechanism.layout
        self.exchange: Exchange = exchange or Serial()
        refuse_unsupported(mechanism)
        flat = flattened_tree(mechanism, parameters)
        rows = loop_rows(mechanism, flat.numbers)
        if flat.nonlinear is not None:
            raise KernelError(
                f"{mechanism.name}: chains support displacements that are linear in coordinates and time only"
            )
        found = joints(flat.tree, flat.body, len(self.layout.velocities))
        if found is None:
            raise KernelError(
                f"{mechanism.name}: some coordinates move several bodies; give each body its own coordinates"
            )
        if body is not None and body not in flat.frames:
            raise KernelError(f"unknown body {body!r} to reduce chains to")
        self.flat, self._joints, self._root = flat, found, flat.frames[body].step
        self.tree = rooted(flat.tree, self._root)
        loops = [loop for loop in mechanism.loops if isinstance(loop, Loop)]
        frames = [flat.fixed(one.body, one.transforms) for loop in loops for one in (loop.first, loop.second)]
        self.springs, pulled = springs_of(mechanism, flat)
        self.ends, self.place = ends_of([*frames, *pulled])
        self._pulled = np.array(self.place[len(frames) :], dtype=np.int64).reshape(-1, 2)
        self._stabilized = stabilized or Stabilized()
        self._take(rows)
        taken, idle = self._independent()
        self._require_consistent(taken, idle, mechanism, parameters)
        self._take([self._rows_given[k] for k in taken])
        others = len(mechanism.constraints) + sum(not isinstance(one, Loop) for one in mechanism.loops)
        self.held = CoordinateConstraints(mechanism, parameters) if others else None
        if self.held is not None:
            self._require_shared(self.held)

    def _require_shared(self, held: CoordinateConstraints) -> None:
        """KernelError for constraints on coordinates that other processes move."""
        if not self._others_work:
            return
        home = self._velocities_of(self._home)
        for k in sorted({*held.touched.tolist()} - {*home.tolist()}):
            raise KernelError(
                f"{self.layout.velocities[k]} has a constraint, but belongs to a chain: ranks share the coordinates of "
                "the body that chains are reduced to only\n  reduce the chains to another body, or use threads"
            )

    def _take(self, rows: Sequence[RowOfLoop]) -> None:
        """Prepare for these rows: the directions they need, the parts they reach, memory."""
        self.rows = tuple(row.name for row in rows)
        self._parts: tuple[Part, ...]
        self.closing = closing_of(rows, self.place, self._stabilized.alpha, self._stabilized.beta)
        self.directions = directions_of(rows, self.place)
        self.chains = chains_on(self.tree, self._root, self.ends, self.directions)
        if self.exchange.workers == 1 and len(self.tree.link) < _ALONE:
            self._parts, self._home = (), whole(self.tree, self.ends, self.directions)
        else:
            self._parts, self._home = self.chains.parts, self.chains.home
        share = shared(self._parts, self.exchange.workers)
        self._shares = [share[worker] for worker in self.exchange.mine]
        self.work = work_of(len(self.tree.link), len(self.layout.velocities), self.directions.end.size)
        self._rows_given = rows

    def _independent(self) -> tuple[list[int], list[int]]:
        """The rows that restrict the motion at states around zero; and idle rows, which restrict nothing.

        The third row of a planar loop is idle, and so are those that keep the axes of its pins parallel.
        """
        taken: list[int] = []
        moved = np.zeros(len(self._rows_given), dtype=bool)
        for q in self._anywhere(2):
            matrix = self._rows_at(q, 0.0)[1]
            moved |= _moved_rows(matrix)
            found = _independent_rows(matrix)
            taken = found if len(found) > len(taken) else taken
        return taken, np.flatnonzero(~moved).tolist()

    def _anywhere(self, count: int) -> Floats:
        return np.random.default_rng(5).uniform(-1, 1, (count, len(self.layout.positions)))

    def _require_consistent(
        self, taken: Sequence[int], idle: Sequence[int],
        mechanism: Mechanism, parameters: Mapping[str, Scalar] | None,
    ) -> None:  # fmt: skip
        """DerivationError if a row that is left out does not hold.

        What an idle row misses is the same everywhere, and changes with time alone. Other rows are judged as in derived
        graphs: they may be left out if the mechanism can be assembled.
        """
        extent = self._extent()
        units = {PERPENDICULAR: 1.0, DISTANCE: extent * extent}
        sizes = np.array([units.get(row.kind, extent) for row in self._rows_given])
        (q,) = self._anywhere(1)
        for t in (0.0, LATEST):
            missed = self._rows_at(q, t)[0]
            wrong = [k for k in idle if not abs(missed[k]) <= ROUNDED * sizes[k]]
            if wrong and t > 0.0:
                raise opens_in_time(OpenRow(self._rows_given[wrong[0]].name, t, float(abs(missed[wrong[0]]))))
            if wrong:
                raise contradicting([self._rows_given[k].name for k in sorted({*taken, *wrong})])
        others = sorted({*range(len(sizes))} - {*taken} - {*idle})
        if others and not _can_be_assembled(mechanism, parameters):
            raise contradicting([self._rows_given[k].name for k in sorted({*taken, *others})])

    def _extent(self) -> float:
        """The longest shift between joints, or from a joint to an end: what the gaps of loops are compared with."""
        shifts = np.abs(self.tree.constant[:, OFFSET : OFFSET + 3])
        return float(max(shifts.max(initial=0.0), np.abs(self.ends.point).max(initial=0.0))) or 1.0

    def _rows_at(self, q: Floats, t: float) -> tuple[Floats, Floats]:
        """What the rows miss at a time, and S, at rest and without gravity."""
        none = np.zeros(len(self.layout.velocities))
        motion, total = self._reduced(q, none, none, t, (0.0, 0.0, 0.0))
        _, found, matrix = entries.closed(self.closing, self.directions, motion, total.compliance, total.free)
        return found[:, 2], matrix

    def evaluated(self, q: Floats, v: Floats, tau: Floats, t: float = 0.0) -> ClosedAccelerations:
        """Accelerations under the generalized forces `tau`, and the forces that keep the loops closed. O(n).

        Constraints and couplings of coordinates follow the rows of the loops; each takes one more sweep.
        """
        found = self._of_loops(q, v, tau, t)
        if self.held is None:
            return found
        rows = self.held.at(q, v, t)
        free = found.qdd.copy()

        apart = self._of_loops(q, v, tau, t, closed=False).qdd.copy()

        def effect(force: Floats) -> tuple[Floats, Floats]:
            unconstrained = self._of_loops(q, v, tau + force, t, closed=False).qdd - apart
            return self._of_loops(q, v, tau + force, t).qdd - free, unconstrained

        given = self._stabilized
        multipliers, pivots = held_forces(rows, free, effect, given.alpha, given.beta)
        found = self._of_loops(q, v, tau + rows.jacobian.T @ multipliers, t)
        pairs = ((found.multipliers, multipliers), (found.pivots, pivots), (found.missed, rows.value))
        joined = (np.concatenate(pair) for pair in (*pairs, (found.rates, rows.rate)))
        return ClosedAccelerations(found.qdd, *joined)

    def _of_loops(self, q: Floats, v: Floats, tau: Floats, t: float, closed: bool = True) -> ClosedAccelerations:
        """Accelerations without constraints of coordinates, with closed loops or with open ones."""
        motion, total = self._reduced(q, v, tau, t, self.flat.gravity(t))
        forces, found, _ = entries.closed(self.closing, self.directions, motion, total.compliance, total.free)
        forces = forces if closed else np.zeros_like(forces)
        reach = np.zeros((self.tree.slots, 6))
        reach[self.tree.link[0, SLOT]] = self.work.still[0]
        self._recover(self._home, q, v, forces, reach)
        self.exchange.each(lambda k: self._recover(self._parts[k], q, v, forces, reach.copy()), self._shares)
        return ClosedAccelerations(self.work.result, found[:, 0], found[:, 1], found[:, 2], found[:, 3])

    @property
    def compiled(self) -> bool:
        """Whether steps of runs can be compiled throughout: nothing pulls at points, no coordinates are constrained,
        and gravity is constant."""
        return not len(self.springs) and self.held is None and self.flat.constant_gravity is not None

    def worker(self, share: int, total: int) -> Worker:
        """What compiled steps need for one of the shares of this process; `total` adds up messages, 0 for nothing."""
        gravity = np.array(self.flat.gravity(0.0))
        sizes = len(self.tree.link), len(self.layout.velocities), self.directions.end.size
        return Worker(
            self.tree, self._joints, self.flat.linear, self.ends, self.directions, self.closing, self._home,
            merged([self._parts[k] for k in self._shares[share]]), self._shared_ends(),
            np.flatnonzero(self.ends.step == 0), gravity, work_of(*sizes), total,
        )  # fmt: skip

    def of_share(self, share: int) -> Integers:
        """The velocities that one of the shares of this process moves; the first moves what is shared, too."""
        parts = [self._parts[k] for k in self._shares[share]]
        return self._velocities_of(merged([*parts, self._home] if self.exchange.mine[share] == 0 else parts))

    def gathered(self, values: Floats) -> Floats:
        """Values by velocity, each from a process that computes its chain."""
        if not self._others_work:
            return values
        found = np.zeros_like(values)
        here = self.of_share(0)
        found[here] = values[here]
        self.exchange.total(found)
        return found

    def _velocities_of(self, part: Part) -> Integers:
        steps = np.concatenate([np.arange(first, last) for first, last in part.spans] or [np.zeros(0, dtype=np.int64)])
        members = [self._joints.members[self._joints.first[j] : self._joints.last[j]] for j in steps.astype(int)]
        return np.unique(np.concatenate([*members, np.zeros(0, dtype=np.int64)]))

    def _reduced(
        self, q: Floats, v: Floats, tau: Floats, t: float, gravity: Sequence[float]
    ) -> tuple[Floats, Reduction]:
        motion = np.zeros((self.ends.step.size, END))
        self._begin(gravity)
        self._move(self._home, q, v, t, motion)
        self._ground_ends(motion)
        parts = self._parts
        self.exchange.each(lambda k: self._move(parts[k], q, v, t, motion), self._shares)
        pulls = self._pulls(motion)
        reductions = {k: self._empty() for share in self._shares for k in share}
        self.exchange.each(lambda k: self._reduce(parts[k], q, v, tau, pulls, reductions[k]), self._shares)
        total = self._empty()
        for one in reductions.values():
            for mine, other in zip(total, one, strict=True):
                mine += other
        if self._others_work:
            self._hand_over(motion, total)
        self._reduce(self._home, q, v, tau, pulls, total)
        return motion, total

    def _begin(self, gravity: Sequence[float]) -> None:
        work = self.work
        work.place[0] = (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0)
        work.still[0] = (0, 0, 0, -gravity[0], -gravity[1], -gravity[2])

    def _ground_ends(self, motion: Floats) -> None:
        """Ends fixed to the ground do not move."""
        for e in np.flatnonzero(self.ends.step == 0):
            motion[e, :9], motion[e, 9:12] = self.ends.turn[e], self.ends.point[e]
            motion[e, 18:21] = self.work.still[0, 3:]

    def _move(self, part: Part, q: Floats, v: Floats, t: float, motion: Floats) -> None:
        if not len(part.spans):
            return
        compiled(moved_outwards)(self.tree, self._joints, self.flat.linear, self.ends, part, q, v, t, self.work, motion)

    def _pulls(self, motion: Floats) -> Floats:
        """The forces of springs and dampers on all ends; ends of other ranks are asked for."""
        pulls = np.zeros((self.ends.step.size, 3))
        if len(self.springs):
            known = motion
            if self._others_work:
                known = self._others(motion)
            first, second = self._pulled.T
            forces = self.springs.forces(known[first], known[second])
            np.add.at(pulls, second, forces)
            np.add.at(pulls, first, -forces)
        return pulls

    def _others(self, motion: Floats) -> Floats:
        """The motion of all pulled ends, those that other processes move included."""
        known = np.zeros_like(motion)
        own = np.unique(np.concatenate([self._moved_here(), self._shared_ends()]))
        known[own] = motion[own]
        sent = known[:, 9:15].copy()
        if self.exchange.mine[0] != 0:
            sent[self._shared_ends()] = 0.0
        self.exchange.total(sent)
        known[:, 9:15] = sent
        return known

    @property
    def row_names(self) -> tuple[str, ...]:
        """The rows that take part, loops first: what multipliers, pivots and misses belong to."""
        return (*self.rows, *(self.held.names if self.held is not None else ()))

    @property
    def _others_work(self) -> bool:
        """Whether other processes compute some of the chains."""
        return self.exchange.workers > len(self.exchange.mine)

    def _hand_over(self, motion: Floats, total: Reduction) -> None:
        """Add up, in one message, the motion of the ends and what all parts hand over."""
        own = np.zeros_like(motion)
        here, everywhere = self._moved_here(), self._shared_ends()
        own[here] = motion[here]
        arrays = [own, *total]
        message = np.concatenate([array.ravel() for array in arrays])
        self.exchange.total(message)
        place = 0
        for array in arrays:
            array[...] = message[place : place + array.size].reshape(array.shape)
            place += array.size
        own[everywhere] = motion[everywhere]
        motion[...] = own

    def _moved_here(self) -> Integers:
        parts = [self._parts[k].ends for share in self._shares for k in share]
        return np.concatenate([*parts, np.zeros(0, dtype=np.int64)])

    def _shared_ends(self) -> Integers:
        """Ends that every process moves: on the ground and on what chains are reduced to."""
        return np.concatenate([np.flatnonzero(self.ends.step == 0), self._home.ends])

    def _empty(self) -> Reduction:
        slots, count = self.tree.slots, self.directions.end.size
        return Reduction(np.zeros((slots, 35)), np.zeros((slots, count, 6)), np.zeros((count, count)), np.zeros(count))

    def _reduce(self, part: Part, q: Floats, v: Floats, tau: Floats, pulls: Floats, reduction: Reduction) -> None:
        if not len(part.spans):
            return
        stuck = compiled(reduced)(
            self.tree, self._joints, self.flat.linear, self.ends, self.directions, part,
            q, v, tau, pulls, self.work, reduction,
        )  # fmt: skip
        if stuck >= 0:
            raise massless(self.layout.velocities[stuck])

    def _recover(self, part: Part, q: Floats, v: Floats, forces: Floats, reach: Floats) -> None:
        if not len(part.spans):
            return
        compiled(recovered)(self.tree, self._joints, self.flat.linear, part, q, v, self.work, forces, reach)


def work_of(steps: int, velocities: int, directions: int) -> Work:
    """New memory for the sweeps."""
    return Work(
        np.zeros((steps, 4)), np.zeros((steps, 3)), np.zeros((steps, 6)), np.zeros((steps, 6)), np.zeros((steps, 12)),
        np.zeros((steps, 3)), np.zeros((velocities, 6)), np.zeros((velocities, 6)), np.zeros(velocities),
        np.zeros(velocities), np.zeros((velocities, directions)), np.zeros(velocities),
    )  # fmt: skip


def _can_be_assembled(mechanism: Mechanism, parameters: Mapping[str, Scalar] | None) -> bool:
    from kinegraph.derive.constraints.redundancy import analyzed  # few mechanisms have such rows
    from kinegraph.derive.quantities.derivation import constraint_graph

    bound = {name: expression(value, name) for name, value in (parameters or {}).items()}
    analysis = analyzed(mechanism, tuple(sorted(bound.items())), constraint_graph)
    if analysis.open_row is not None:
        raise opens_in_time(analysis.open_row)
    return analysis.mobility is not None


def _moved_rows(matrix: Floats) -> npt.NDArray[np.bool_]:
    """The rows of a compliance that any force moves."""
    own = np.diag(matrix)
    return np.asarray(own > _IDLE * np.max(own, initial=0.0))


def _independent_rows(matrix: Floats) -> list[int]:
    """The rows of a compliance that are independent of those before them."""
    left, own, moved = np.array(matrix), np.diag(matrix), _moved_rows(matrix)
    taken = []
    for k in range(len(left)):
        if moved[k] and left[k, k] > _INDEPENDENT * own[k]:
            taken.append(k)
            left = left - np.outer(left[:, k], left[k]) / left[k, k]
    return taken


# Runs with fixed steps: each process moves its own chains and sends only what closes the loops.

#: Generalized forces at a time.
Force: TypeAlias = Callable[[float], Floats]

#: Steps between two looks of Python.
_SLICE = 100


@dataclass(frozen=True)
class Finished:
    """The last state, gathered from all processes; the largest miss and the lowest pivot on the way; seconds."""

    q: Floats
    v: Floats
    missed: float
    pivot: float
    seconds: float


def integrated(
    system: ChainSystem,
    q: Floats,
    v: Floats,
    duration: float,
    step: float,
    force: Force | None = None,
) -> Finished:
    """Runge-Kutta's method of order four with `step`; `force` gives the generalized forces at a time.

    What the loops miss fades away by Baumgarte's stabilization, if the system has one.
    """
    if system.layout.quaternions:
        raise KernelError("runs over chains take plain coordinates, no quaternions")
    if system.compiled:
        return CompiledRun(system).integrated(q, v, round(duration / step), step, force)
    return _interpreted(system, q, v, round(duration / step), step, force)


class CompiledRun:
    """Runs of one system, all steps in machine code: serially, on threads, or on the ranks of MPI."""

    def __init__(self, system: ChainSystem) -> None:
        self._system = system
        exchange = system.exchange
        self._totals = self._adding(exchange, message_size(system.worker(0, 0)))
        self._workers = [system.worker(k, total.address) for k, total in enumerate(self._totals)]
        self._messages = [np.zeros(message_size(worker)) for worker in self._workers]

    def _adding(self, exchange: Exchange, size: int) -> list[Total]:
        if isinstance(exchange, Ranks):
            return [MpiTotal(exchange.communicator, size)]
        if exchange.workers == 1:
            return [SerialTotal()]
        memory = shared_memory(exchange.workers, size)
        return [SharedMemoryTotal(*memory, worker) for worker in exchange.mine]

    def integrated(self, q: Floats, v: Floats, steps: int, step: float, force: Force | None) -> Finished:
        """So many steps from a state."""
        states = [(np.array(q, dtype=float), np.array(v, dtype=float)) for _ in self._workers]
        noted = [np.array([0.0, np.inf]) for _ in self._workers]
        started = time.perf_counter()
        for first in range(0, steps, _SLICE):
            count = min(_SLICE, steps - first)
            self._slice(states, _forces(force, len(v), first, count, step), first, count, step, noted)
            # a message takes what is infinite to all workers, so that all of them end here
            _require_numbers([part for state in states for part in state], noted, (first + count) * step)
        seconds = time.perf_counter() - started
        self._note_traffic(steps)
        place, speed = (self._gathered([state[k] for state in states]) for k in range(2))
        missed, pivot = max(float(one[0]) for one in noted), min(float(one[1]) for one in noted)
        return Finished(place, speed, missed, pivot, seconds)

    def _slice(
        self, states: list[tuple[Floats, Floats]], tau: Floats, first: int, count: int, step: float, noted: list[Floats]
    ) -> None:
        stuck = [-1] * len(states)

        def one(k: int) -> None:
            worker, message = self._workers[k], self._messages[k]
            stuck[k] = compiled(run_steps)(worker, *states[k], tau, first, count, step, message, noted[k])

        self._system.exchange.each(one, [[k] for k in range(len(states))])
        for velocity in stuck:
            if velocity >= 0:
                raise massless(self._system.layout.velocities[velocity])

    def _note_traffic(self, steps: int) -> None:
        exchange = self._system.exchange
        if isinstance(exchange, Ranks):
            exchange.traffic.messages += 4 * steps
            exchange.traffic.bytes += 4 * steps * self._messages[0].nbytes
            exchange.traffic.seconds += self._totals[0].waiting

    def _gathered(self, values: list[Floats]) -> Floats:
        if len(values) == 1:
            return self._system.gathered(values[0])
        found = np.zeros_like(values[0])
        for k, own in enumerate(values):
            here = self._system.of_share(k)
            found[here] = own[here]
        return found


def _require_numbers(states: Sequence[Floats], noted: Sequence[Floats], t: float) -> None:
    """KernelError where a run has become infinite or not a number."""
    if all(np.all(np.isfinite(one)) for one in states):
        return
    missed = max(float(one[0]) for one in noted)
    raise KernelError(
        f"the run became infinite or not a number before t = {t:.6g}; loops were open by up to {missed:.3g}\n"
        "  take shorter steps or smaller stabilization gains: stabilization must not be faster than the steps"
    )


def _forces(force: Force | None, size: int, first: int, count: int, step: float) -> Floats:
    """The forces at every half step of a slice; one row of zeros if there are none."""
    if force is None:
        return np.zeros((1, size))
    return np.array([force((first + 0.5 * half) * step) for half in range(2 * count + 1)])


def _interpreted(system: ChainSystem, q: Floats, v: Floats, steps: int, step: float, force: Force | None) -> Finished:
    """The same with Python between the sweeps, where springs pull at points or nothing is compiled."""
    none = np.zeros(len(v))
    given = force or (lambda t: none)
    place, speed = np.array(q, dtype=float), np.array(v, dtype=float)
    missed, pivot = 0.0, np.inf
    started = time.perf_counter()
    for number in range(steps):
        t = number * step
        changes = []
        at, rate = place, speed
        for part in (0.5, 0.5, 1.0, 0.0):
            found = system.evaluated(at, rate, given(t), t)
            changes.append((rate, found.qdd.copy()))
            missed = max(missed, float(np.max(np.abs(found.missed), initial=0.0)))
            pivot = min(pivot, float(np.min(found.pivots, initial=1.0)))
            t = number * step + part * step
            at, rate = place + part * step * changes[-1][0], speed + part * step * changes[-1][1]
        weights = step / 6 * np.array([1.0, 2.0, 2.0, 1.0])
        place = place + sum(w * one for w, (one, _) in zip(weights, changes, strict=True))
        speed = speed + sum(w * one for w, (_, one) in zip(weights, changes, strict=True))
        _require_numbers([place, speed], [np.array([missed, pivot])], (number + 1) * step)
    seconds = time.perf_counter() - started
    return Finished(system.gathered(place), system.gathered(speed), missed, pivot, seconds)
