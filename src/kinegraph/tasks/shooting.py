"""Shooting: runs over one period with the exact derivatives of their end, and Newton's method for their return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from kinegraph.derive.constraints.conditions import following_columns
from kinegraph.derive.constraints.redundancy import holonomic_rows
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import TaskError
from kinegraph.model.constraints import is_constrained
from kinegraph.model.expressions import TIME, Expression, Name, Operation, expression, names
from kinegraph.model.mechanism import Coordinate, Mechanism
from kinegraph.simulate.crossings import ModalForm
from kinegraph.simulate.inputs import read_inputs
from kinegraph.solve.recording import Grid
from kinegraph.tasks.differentiated_run import DifferentiatedRows, DifferentiatedRun, RunSettings
from kinegraph.tasks.equilibria import repeating
from kinegraph.tasks.operating_point import (
    JACOBIAN,
    Floats,
    OperatingPoint,
    called,
    force_kernel,
    refuse_quaternions,
    row_kernel,
    state_kernel,
)
from kinegraph.tasks.steady.balance import cyclic_velocities

# Unknowns are independent initial values and, without a time-dependent drive, the period. Residuals are the changes of
# all positions and velocities over one period, up to whole turns of angles; coordinates on which nothing depends may
# advance by any amount.

#: Singular values below this fraction of the largest, or of one, are zero: the motion is one of a family.
FAMILY = 1e-7
#: Then those below these fractions are left out of a step, if the step with them does not help.
_WEAK = (1e-4, 1e-2)
#: Steps of the search, times a step is shortened, and the least part of the residual that a full step must remove.
_MOST_STEPS, _SHORTENED, _GAIN = 40, 5, 0.1
#: The largest relative change over a period that still counts as a return, if the next step is as small: a motion that
#: almost stops at a saddle changes little over many periods.
_LOOSE, _LAST_STEP = 1e-6, 1e-3
_LEAST_PERIOD = 0.02  # of the first guess: shorter ones shrink to nothing
_LONGEST_CHANGE = 0.3  # of the period, in one step
_ROWS = 60

MEAN, SQUARE = "mean of ", "square of "


@dataclass(frozen=True)
class Shot:
    """One run over a period: the start and end of all positions and velocities, and their slopes by all variables.

    rate: of the end, the slope by the period.
    """

    start: Floats
    end: Floats
    start_slopes: Floats
    end_slopes: Floats
    rate: Floats


@dataclass(frozen=True)
class Return:
    """A start and a period after which the motion returns. family: unit vectors of unknowns along which it still does.

    unknown: the places of the initial values that were searched. missed: the largest relative change over the period.
    """

    x: Floats
    period: float
    shot: Shot
    unknown: tuple[int, ...]
    missed: float
    family: Floats


class Shooting:
    """The runs of one mechanism over a period, compiled once.

    free: the independent initial values; by: parameters with derivatives. held: initial values that stay.
    cyclic: positions that may advance by any amount. turns: angles that may advance by whole turns.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        point: OperatingPoint,
        settings: RunSettings,
        by: tuple[str, ...],
        outputs: Mapping[str, Expression],
        hold: tuple[str, ...],
    ) -> None:
        refuse_quaternions(mechanism, "periodic motions support")
        layout = mechanism.layout
        self.names = layout.initial
        self.positions = len(layout.positions)
        self.mechanism, self.settings, self.by = starting_at(mechanism, point), settings, by
        at_rest = replace(point, v=np.zeros_like(point.v))
        apart = replace(mechanism, contacts=())
        rows = row_kernel(apart, settings.parameters) if is_constrained(apart) else None
        forces, states = force_kernel(apart, settings.parameters), state_kernel(apart, settings.parameters)
        still = cyclic_velocities(apart, at_rest, forces, rows, states=states)
        self.cyclic = tuple(layout.positions.index(layout.velocities[k].removesuffix("'")) for k in still)
        self.driven = is_driven(mechanism, settings)
        others = [name for k, name in enumerate(layout.positions) if k not in self.cyclic]
        self.turns = repeating(apart, point, settings.parameters, others)
        self.free = _independent(mechanism, point, settings, hold)
        self.outputs, self.hold = dict(outputs), hold
        integrands = {MEAN + name: one for name, one in outputs.items()}
        integrands |= {SQUARE + name: Operation("*", (one, one)) for name, one in outputs.items()}
        state = {name: Name(name) for name in (*self.names, *integrands)}
        start = tuple(name + "(0)" for name in self.free)
        self.run = DifferentiatedRun(
            self.mechanism, (*start, *by), replace(settings, initial=None), {**state, **outputs}, integrands,
            piecewise=True,
        )  # fmt: skip
        if isinstance(self.run.form, ModalForm):
            moved = self.run.form.positions_in_conditions()
            others = [name for k, name in enumerate(layout.positions) if k not in self.cyclic or k in moved]
            self.cyclic = tuple(k for k in self.cyclic if k not in moved)
            repeats = repeating(apart, point, settings.parameters, others)
            self.turns = [k for k in repeats if k not in moved or k in self.run.form.turns()]
        self.begun = self.run.values[: len(start)]
        self.parameters = self.run.values[len(start) :]

    def rows(self, x: Floats, times: Sequence[float] | Floats) -> DifferentiatedRows:
        """A run from the independent initial values, saved at times from the start on."""
        span = (self.settings.start, float(times[-1]))
        return self.run.at(np.concatenate([x, self.parameters]), span, Grid(np.asarray(times, dtype=float)))

    def states(self, x: Floats, times: Floats) -> Floats:
        """All positions, velocities and states at times from the start on, without derivatives."""
        parameters, state, _ = self.run.started(np.concatenate([x, self.parameters]))
        first = np.zeros(len(self.run.motion.names))
        first[: len(state)] = state
        return np.asarray(self.run.states(first, times, parameters)[:, : len(self.names)])

    def shot(self, x: Floats, period: float, begin: float = 0.0) -> Shot:
        """The run over a period; begin: how much later it starts."""
        first = self.settings.start + begin
        span = first, first + period
        rows = self.run.at(np.concatenate([x, self.parameters]), span, Grid(np.array(span)))
        return Shot(rows.values[0], rows.values[-1], rows.derivatives[0], rows.derivatives[-1], rows.rate)

    def advance(self, shot: Shot) -> Floats:
        """How far each position and velocity may advance over a period: whole turns, or what cyclic ones do."""
        size = len(self.names)
        moved = shot.end[:size] - shot.start[:size]
        allowed = np.zeros(size)
        allowed[self.turns] = 2 * np.pi * np.round(moved[self.turns] / (2 * np.pi))
        allowed[list(self.cyclic)] = moved[list(self.cyclic)]
        return allowed

    def beginning(self, point: OperatingPoint) -> Shooting:
        """The same for another start; compiled once for a tree. In loops, coordinates that follow start near it."""
        if is_constrained(self.mechanism):
            return Shooting(self.mechanism, point, self.settings, self.by, self.outputs, self.hold)
        state = dict(zip(self.names, (*point.q, *point.v, *point.z), strict=True))
        other = copy(self)
        other.begun = np.array([state[name] for name in self.free])
        return other

    def missed(self, shot: Shot) -> Floats:
        """The changes over a period that should be zero."""
        size = len(self.names)
        return np.asarray(shot.end[:size] - shot.start[:size] - self.advance(shot))

    def scales(self, x: Floats, period: float) -> Floats:
        """The sizes of positions and velocities in the motion."""
        times = np.linspace(self.settings.start, self.settings.start + period, _ROWS)
        values = self.states(x, times)
        found = np.abs(values - values[0]).max(axis=0)
        moving = self.positions + len(self.mechanism.layout.velocities)
        states = [slice(k, k + 1) for k in range(moving, len(self.names))]  # of any units
        for part in (slice(0, self.positions), slice(self.positions, moving), *states):
            largest = max(float(np.max(found[part], initial=0.0)), float(np.max(np.abs(values[:, part]), initial=0.0)))
            found[part] = np.maximum(found[part], 1e-3 * largest if largest > 1e-9 else 1.0)
        return np.asarray(found)

    def monodromy(self, found: Return) -> Floats:
        """The derivative of the independent values after a period by those at the start, without cyclic positions."""
        rows = [self.names.index(name) for name in self.free]
        remaining = [k for k, row in enumerate(rows) if row not in self.cyclic]
        return np.asarray(found.shot.end_slopes[np.ix_([rows[k] for k in remaining], remaining)])


def is_driven(mechanism: Mechanism, settings: RunSettings) -> bool:
    """Whether time itself enters a run: the period is then that of the drive."""
    forces, _ = read_inputs(mechanism, settings.inputs)
    by_time = any(TIME in names(one) for one in forces.formulas.values())
    return depends_on_time(mechanism) or by_time or bool(forces.sampled)


def _independent(
    mechanism: Mechanism, point: OperatingPoint, settings: RunSettings, hold: tuple[str, ...]
) -> tuple[str, ...]:
    """The initial values from which the others follow; held ones and those named first if possible."""
    layout = mechanism.layout
    if not is_constrained(mechanism):
        return layout.initial
    jacobian = called(row_kernel(mechanism, settings.parameters), point.arguments())[JACOBIAN]
    first = [k for k, name in enumerate(layout.positions) if name in hold]
    rates = [k for k, name in enumerate(layout.velocities) if name in hold or name.removesuffix("'") in hold]
    positions = following_columns(jacobian[list(holonomic_rows(mechanism))], first)
    velocities = following_columns(jacobian, rates)
    remaining = [name for k, name in enumerate(layout.positions) if k not in positions]
    return (*remaining, *(name for k, name in enumerate(layout.velocities) if k not in velocities), *layout.states)


def starting_at(mechanism: Mechanism, point: OperatingPoint) -> Mechanism:
    """The mechanism with the initial state of a point."""
    values = dict(zip(mechanism.layout.initial, (*point.q, *point.v, *point.z), strict=True))
    initial = {name: expression(float(value)) for name, value in values.items()}
    coordinates = tuple(
        replace(one, position=initial[one.name], velocity=initial[one.name + "'"])
        if isinstance(one, Coordinate)
        else one
        for one in mechanism.coordinates
    )
    states = tuple(replace(one, initial=initial[one.name]) for one in mechanism.states)
    return replace(mechanism, coordinates=coordinates, states=states)


def point_at(point: OperatingPoint, row: Floats) -> OperatingPoint:
    """The point with a row of positions, velocities and first-order states instead."""
    size, moving = len(point.q), len(point.q) + len(point.v)
    return replace(point, q=row[:size], v=row[size:moving], z=row[moving:])


def returning(shooting: Shooting, x: Floats, period: float, fixed: tuple[str, ...]) -> Return:
    """The nearest start whose motion returns. fixed: initial values that stay, among them a phase if no time drives.

    Without a drive the period is unknown too. TaskError if the search does not converge.
    """
    unknown = [k for k, name in enumerate(shooting.free) if name not in fixed]
    scales = shooting.scales(x, period)
    columns = np.array([scales[shooting.names.index(shooting.free[k])] for k in unknown])
    shot = first = shooting.shot(x, period)
    tolerance = max(1e-9, 1e3 * _rtol(shooting))
    best, least = _size(shooting, shot, scales), _LEAST_PERIOD * period
    for _ in range(_MOST_STEPS):
        slopes = _slopes(shooting, shot, unknown, columns, scales, period)
        steps = _least_steps(slopes, shooting.missed(shot) / scales)
        if best <= tolerance and float(np.max(np.abs(steps[0]), initial=0.0)) <= 10 * tolerance:
            x, period, shot, best = _polished(shooting, x, period, shot, steps[0], unknown, columns, scales, best)
            break
        following = _stepped(shooting, x, period, steps, unknown, columns, scales, best)
        if following is None or following[1] < least:
            break
        x, period, shot, best = following
    last = _least_steps(_slopes(shooting, shot, unknown, columns, scales, period), shooting.missed(shot) / scales)[0]
    if best > _LOOSE or (best > tolerance and float(np.max(np.abs(last), initial=0.0)) > _LAST_STEP):
        resonant = len(_family(_slopes(shooting, first, unknown, columns, scales, period))) > 0
        raise _no_return(shooting, first, scales, resonant)
    family = _family(_slopes(shooting, shot, unknown, columns, scales, period))
    directions = np.zeros((len(family), len(shooting.free)))
    directions[:, unknown] = family[:, : len(unknown)] * columns
    return Return(x, period, shot, tuple(unknown), best, directions)


def _rtol(shooting: Shooting) -> float:
    control = shooting.settings.control
    return control.rtol if control.adaptive else 1e-12


def _size(shooting: Shooting, shot: Shot, scales: Floats) -> float:
    return float(np.max(np.abs(shooting.missed(shot) / scales), initial=0.0))


def _slopes(
    shooting: Shooting, shot: Shot, unknown: list[int], columns: Floats, scales: Floats, period: float
) -> Floats:
    """The derivative of the changes by the unknowns in units of their scales; the period is the last one."""
    size = len(shooting.names)
    slopes = (shot.end_slopes - shot.start_slopes)[:size, unknown] * columns
    if not shooting.driven:
        slopes = np.hstack([slopes, shot.rate[:size, None] * period])
    slopes[list(shooting.cyclic)] = 0.0
    return np.asarray(slopes / scales[:, None])


def _least_steps(slopes: Floats, missed: Floats) -> list[Floats]:
    """The shortest steps of Newton's method, first with all directions, then without those that change little.

    Near one of a family of motions, such as those of all energies, some directions change almost nothing.
    """
    if not slopes.shape[1]:
        return [np.zeros(0)]
    left, sizes, right = np.linalg.svd(slopes)
    ranks = dict.fromkeys(int(np.sum(sizes > part * max(sizes[0], 1.0))) for part in (FAMILY, *_WEAK))
    return [right[:rank].T @ ((left[:, :rank].T @ -missed) / sizes[:rank]) for rank in ranks]


def _family(slopes: Floats) -> Floats:
    """The directions of the unknowns along which the motion still returns."""
    if not slopes.shape[1]:
        return np.zeros((0, 0))
    sizes, right = np.linalg.svd(slopes)[1:]
    return np.asarray(right[int(np.sum(sizes > FAMILY * np.max(sizes, initial=1.0))) :])


def _stepped(
    shooting: Shooting,
    x: Floats,
    period: float,
    steps: Sequence[Floats],
    unknown: list[int],
    columns: Floats,
    scales: Floats,
    best: float,
) -> tuple[Floats, float, Shot, float] | None:
    """The state after the first step that helps, each shortened in turn; None if none does."""
    parts = [1.0 / 4**halving for halving in range(_SHORTENED)]
    for part, step in ((part, step) for part in parts for step in steps):
        longer = 0.0 if shooting.driven else float(step[-1])
        part = min(part, _LONGEST_CHANGE / max(abs(longer), 1e-300))
        place, duration = x.copy(), period * (1 + part * longer)
        place[unknown] += part * step[: len(unknown)] * columns
        try:
            there = shooting.shot(place, duration)
        except TaskError:
            continue
        size = _size(shooting, there, scales)
        if size < best * (1 - _GAIN * part):
            return place, duration, there, size
    return None


def _polished(
    shooting: Shooting,
    x: Floats,
    period: float,
    shot: Shot,
    step: Floats,
    unknown: list[int],
    columns: Floats,
    scales: Floats,
    best: float,
) -> tuple[Floats, float, Shot, float]:
    """The state after one more full step, which doubles the digits, unless it is worse."""
    if not len(step):
        return x, period, shot, best
    place = x.copy()
    place[unknown] += step[: len(unknown)] * columns
    duration = period if shooting.driven else period * (1 + float(step[-1]))
    there = shooting.shot(place, duration)
    size = _size(shooting, there, scales)
    return (place, duration, there, size) if size <= best else (x, period, shot, best)


def _no_return(shooting: Shooting, shot: Shot, scales: Floats, resonant: bool) -> TaskError:
    """The error that names what changes most over the first period: a velocity, if no drive sets the period."""
    changes = shooting.missed(shot)
    among = slice(0 if shooting.driven else shooting.positions, None)
    worst = int(np.argmax(np.abs(changes / scales)[among])) + (among.start or 0)
    remedy = "give a `state` nearer to one, let the motion `settle` first, or give another `period`"
    if shooting.driven and resonant:
        remedy = "some free motion has the period of the drive: without damping, resonance makes it grow forever"
    elif not shooting.driven and not shooting.turns:
        remedy = "the motion may die out or grow; if not, give a `state` nearer to it, or another `period`"
    elif not shooting.driven:
        remedy = "drives and losses may balance at no speed; or give a `state` nearer to it, or let it `settle` first"
    return TaskError(
        f"{shooting.mechanism.name}: no periodic motion found near this state: over the first period "
        f"{shooting.names[worst]} changes by {changes[worst]:.4g} from {shot.start[worst]:.4g}\n  {remedy}"
    )
