"""`periodic_motion`: the steady periodic motion of a machine, its stability, and what it does over a cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite

import numpy as np

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.errors import TaskError
from kinegraph.model.expressions import Expression, Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.seeds import generator
from kinegraph.simulate.inputs import Input, read_inputs
from kinegraph.simulate.run import simulate
from kinegraph.solve.execution import Native
from kinegraph.solve.methods.method import Method, Solver
from kinegraph.solve.methods.step_control import Adaptive, Tolerance
from kinegraph.tabular import Column, Tabular, by_name
from kinegraph.tasks.differentiated_run import Results, RunSettings, formulas, variables
from kinegraph.tasks.least_squares import MOST_STEPS
from kinegraph.tasks.linearize import GROWING, common_rate, drive_rates, exponents_of, real_and_imaginary
from kinegraph.tasks.operating_point import Floats, OperatingPoint, name_index, named_values, operating_point
from kinegraph.tasks.period_search import first_period, from_fastest, phase_of
from kinegraph.tasks.shooting import MEAN, SQUARE, Return, Shooting, is_driven, point_at, returning

#: Points and rounds of the search for extremes between the times.
_LOOKS, _ROUNDS = 9, 4
#: Fractions of a period that may be the period itself.
_PARTS = (2, 3, 4, 5, 6)
_SAME = 1e-6
#: A mean below this fraction of the stroke is zero.
_NO_MEAN = 1e-7
#: A motion in which everything changes less than this fraction of its size is at rest.
_REST = 1e-7


@dataclass(frozen=True)
class CycleValue:
    """One output over a cycle: mean, root of the mean square, extremes and their times.

    The extremes are searched between the rows too. derivatives: of mean, rms, low and high by each name of `by`.
    """

    name: str
    mean: float
    rms: float
    low: float
    low_time: float
    high: float
    high_time: float
    derivatives: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)

    @property
    def stroke(self) -> float:
        """The difference of the extremes."""
        return self.high - self.low

    @property
    def fluctuation(self) -> float:
        """The coefficient of fluctuation: the stroke over the size of the mean."""
        return self.stroke / abs(self.mean) if abs(self.mean) > _NO_MEAN * self.stroke else float("inf")

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        finite = self.fluctuation if isfinite(self.fluctuation) else None
        derivatives = {"derivatives": {name: list(row) for name, row in self.derivatives.items()}}
        numbers = {name: value for name, value in vars(self).items() if name != "derivatives"}
        return {**numbers, "fluctuation": finite, **(derivatives if self.derivatives else {})}


@dataclass(frozen=True)
class PeriodicMotion(Tabular):
    """A motion that repeats after `period`: its start, its multipliers, and rows of outputs over one cycle.

    driven: whether time sets the period; otherwise it was found. state: initial values, as `simulate` takes them.
    advance: how far coordinates are ahead after a period (a turn is 2 pi); all others return.
    multipliers: of a disturbance over a period, largest first, without the one along the motion itself.
    family: the initial values that can change together while the motion still repeats; empty if it is isolated.
    missed: the largest change over a period, relative to the size of the motion. by, period_derivatives: parameters,
    and the slopes of the period by them. others: further periodic motions, if several starts were asked for.
    uncertainty: of the multipliers, by what is left of the one that must be 1; known without a drive.
    """

    model: str
    period: float
    driven: bool
    state: Mapping[str, float]
    advance: Mapping[str, float]
    multipliers: np.ndarray
    family: tuple[str, ...]
    times: Floats
    outputs: tuple[str, ...]
    values: Floats
    cycle: tuple[CycleValue, ...]
    missed: float
    by: tuple[str, ...] = ()
    period_derivatives: tuple[float, ...] = ()
    others: tuple[PeriodicMotion, ...] = ()
    failures: tuple[str, ...] = ()
    uncertainty: float = 0.0

    def __getitem__(self, output: str) -> Floats:
        """One output over the cycle."""
        return np.asarray(self.values[:, name_index(output, self.outputs, "output")])

    def __contains__(self, name: object) -> bool:
        return name in self.outputs

    def over_cycle(self, output: str) -> CycleValue:
        """Mean, rms and extremes of one output."""
        return self.cycle[name_index(output, self.outputs, "output")]

    @property
    def exponents(self) -> np.ndarray:
        """The Floquet exponents in 1/s."""
        return exponents_of(self.multipliers, self.period)

    @property
    def stable(self) -> bool | None:
        """Whether all disturbances die out; None if some neither grow nor die out in the linear sense."""
        sizes, unclear = np.abs(self.multipliers), max(GROWING, 10 * self.uncertainty)
        if np.any(sizes > 1 + unclear):
            return False
        return None if np.any(sizes > 1 - unclear) else True

    def __str__(self) -> str:
        answer = {True: "stable", False: "unstable", None: "neither stable nor unstable in the linear sense"}
        found = "of its drive" if self.driven else "found"
        lines = [f"{self.model}: period {self.period:.9g} s ({found}), {answer[self.stable]}"]
        listed = ", ".join(f"{abs(value):.6g}" for value in self.multipliers[:6])
        lines.append(f"  sizes of the Floquet multipliers: {listed or 'none'}")
        lines += [f"  {name} advances by {value:.9g} per period" for name, value in self.advance.items()]
        if self.family:
            lines.append(f"  one of a family: {', '.join(self.family)} may change together; choose with `hold`")
        for one in self.cycle:
            lines.append(
                f"  {one.name}: mean {one.mean:.9g}, rms {one.rms:.9g}, from {one.low:.9g} to {one.high:.9g}"
                + (f", fluctuation {one.fluctuation:.6g}" if isfinite(one.fluctuation) else "")
            )
        lines += [f"  further motion: {str(one).partition(': ')[2].partition(chr(10))[0]}" for one in self.others]
        return "\n".join(lines)

    def _table(self) -> Mapping[str, Column]:
        """A row for each time, a column for each output."""
        return {"t": self.times, **by_name(self.outputs, self.values)}

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them."""
        derivatives = dict(zip(self.by, self.period_derivatives, strict=True))
        return {
            "period": self.period, "driven": self.driven, "stable": self.stable, "state": dict(self.state),
            "advance": dict(self.advance), "multipliers": [real_and_imaginary(value) for value in self.multipliers],
            "family": list(self.family), "missed": self.missed, "period_derivatives": derivatives,
            "cycle": [one.to_dict() for one in self.cycle], "t": self.times.tolist(),
            "outputs": dict(zip(self.outputs, self.values.T.tolist(), strict=True)),
            "others": [one.to_dict() for one in self.others], "failures": list(self.failures),
        }  # fmt: skip


def periodic_motion(
    model: MechanismSource,
    period: float | None = None,
    *,
    outputs: Results | None = None,
    by: Sequence[str] | str = (),
    hold: Sequence[str] | str = (),
    settle: float = 0.0,
    state: Mapping[str, Scalar] | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    inputs: Mapping[str, Input] | None = None,
    times: int = 200,
    t0: float = 0.0,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    starts: int = 1,
    seed: int = 0,
    method: str | Method | Solver = Method.DOP853,
    rtol: float = 1e-11,
    atol: Tolerance | None = None,
    native: Native = "auto",
) -> PeriodicMotion:
    """Find a steady periodic motion by shooting with exact derivatives, with its stability and its values over a cycle.

    period: in s. If time drives the model, the period of the drive or a multiple of it, by default found from the
        formulas. Otherwise the period is unknown and this is a first guess, by default one turn or one vibration.
    outputs: formulas as for `sensitivities`; by default the positions, velocities and states.
    by: parameters for derivatives of the period and of all values over the cycle.
    hold: initial values that stay, such as an amplitude that chooses one motion of a family.
    settle: seconds to simulate from `state` before the search. times: number of equal intervals of the rows.
    bounds, starts, seed: random initial values for further starts; distinct results are listed in `others`.
    """
    mechanism = mechanism_of(model)
    if not mechanism.layout.positions:
        raise TaskError(f"{mechanism.name} has no coordinates, so it cannot move")
    control = Adaptive(rtol, atol, max_steps=MOST_STEPS)
    settings = RunSettings(control, method, None, parameters or {}, inputs or {}, native, False, t0)
    _check(period, settle, times, starts, bounds, mechanism)
    names = variables(mechanism, by) if by else ()
    if any(name.endswith("(0)") for name in names):
        raise TaskError("by: initial values follow from the periodicity: name parameters only")
    held = _held(mechanism, hold)
    begun = operating_point(mechanism, {"t": t0, **named_values(mechanism, state)}, parameters)
    wanted = formulas(mechanism.layout.initial if outputs is None else outputs, "outputs")
    search = _Search(mechanism, settings, names, wanted, held, period, settle, times)
    found: list[PeriodicMotion] = []
    failures: list[TaskError] = []
    for point in _starts(mechanism, begun, bounds or {}, starts, seed, settings):
        try:
            one = search.motion(point)
        except TaskError as error:
            failures.append(error)
            continue
        if not any(_is_same(one, other) for other in found):
            found.append(one)
    if not found:
        raise failures[0]
    first, *others = found
    return replace(first, others=tuple(others), failures=tuple(str(one).partition("\n")[0] for one in failures))


@dataclass
class _Search:
    """What all starts share; the equations are compiled at the first."""

    mechanism: Mechanism
    settings: RunSettings
    by: tuple[str, ...]
    outputs: Mapping[str, Expression]
    hold: tuple[str, ...]
    period: float | None
    settle: float
    times: int
    shooting: Shooting | None = None

    def motion(self, point: OperatingPoint) -> PeriodicMotion:
        """The periodic motion nearest to a state; through impacts and jumps of forces, if there are any."""
        driving = self._driving_period(point) if is_driven(self.mechanism, self.settings) else None
        point = self._settled(point, driving)
        self.shooting = (
            Shooting(self.mechanism, point, self.settings, self.by, self.outputs, self.hold)
            if self.shooting is None
            else self.shooting.beginning(point)
        )
        shooting = self.shooting
        period = driving or first_period(shooting, self.period)
        fixed = [*self.hold, *(shooting.names[k] for k in shooting.cyclic)]
        if not shooting.driven:
            phase = phase_of(shooting, period, fixed)
            if not self.hold and shooting.names.index(phase) not in shooting.turns:
                shooting, phase, period = from_fastest(shooting, point, fixed, period)
            fixed.append(phase)
        found = returning(shooting, shooting.begun, period, tuple(fixed))
        _require_moving(shooting, found)
        if shooting.driven:
            _require_lasting(shooting, found)
        else:
            found = _shortest(shooting, found, tuple(fixed))
        return _described(shooting, found, self.times)

    def _settled(self, point: OperatingPoint, driving: float | None) -> OperatingPoint:
        """The state after the time to settle, of whole periods of a drive."""
        if not self.settle:
            return point
        duration = self.settle if driving is None else np.ceil(self.settle / driving - 1e-9) * driving
        settings, names = self.settings, self.mechanism.layout.initial
        state = dict(zip(names, (*point.q.tolist(), *point.v.tolist(), *point.z.tolist()), strict=True))
        run = simulate(
            self.mechanism, duration, state=state, parameters=settings.parameters,
            inputs=settings.inputs, times=1, t0=point.t, method=settings.method, native=settings.native, progress=False,
        )  # fmt: skip
        if not run.status.good:
            raise TaskError(f"{self.mechanism.name}: the motion does not settle: {run.status.value}")
        return point_at(point, np.array([run[name][-1] for name in names]))

    def _driving_period(self, point: OperatingPoint) -> float:
        if self.period is not None:
            return self.period
        forces, _ = read_inputs(self.mechanism, self.settings.inputs)
        rates = drive_rates(self.mechanism, point, self.settings.parameters, tuple(forces.formulas.values()))
        base = common_rate(rates)
        if base is None or forces.sampled:
            why = f"; its rates are {', '.join(f'{rate:.6g}' for rate in rates)} rad/s" if rates else ""
            raise TaskError(
                f"{self.mechanism.name} depends on time, and no period of the drive was found in its formulas{why}\n"
                "  give the period: period=... (--period)"
            )
        return 2 * np.pi / base


def _require_moving(shooting: Shooting, found: Return) -> None:
    """TaskError if a search without a drive ended at rest or in a steady motion."""
    if shooting.driven:
        return
    first = shooting.settings.start
    rows = shooting.states(found.x, np.linspace(first, first + found.period, 41))
    remaining = [k for k in range(len(shooting.names)) if k not in shooting.cyclic]
    moved = np.ptp(rows[:, remaining], axis=0) > _REST * np.maximum(np.abs(rows[:, remaining]).max(axis=0), 1.0)
    if not moved.any():
        raise TaskError(
            f"{shooting.mechanism.name}: the search ended at rest or in a steady motion, which has no period\n"
            "  `equilibria` finds it (with `unknown` its speed); for a vibration give a `state` nearer to it"
        )


def _require_lasting(shooting: Shooting, found: Return) -> None:
    """TaskError if the next period differs: the drive does not repeat after this period."""
    first, size = shooting.settings.start, len(shooting.names)
    rows = shooting.states(found.x, np.asarray(first + found.period * np.arange(3)))
    difference = np.abs(rows[2] - rows[1] - shooting.advance(found.shot))
    relative = difference / shooting.scales(found.x, found.period)
    grown = 1 + float(np.max(np.abs(found.shot.end_slopes[:size]), initial=0.0))
    if float(np.max(relative, initial=0.0)) > 1e-6 * grown:
        name = shooting.names[int(np.argmax(relative))]
        raise TaskError(
            f"{shooting.mechanism.name}: the drive does not repeat after {found.period:.9g} s: in the next period "
            f"{name} ends elsewhere\n  give its period, or a multiple of it: period=... (--period)"
        )


def _shortest(shooting: Shooting, found: Return, fixed: tuple[str, ...]) -> Return:
    """The same motion with its least period."""
    first = shooting.settings.start
    scales = shooting.scales(found.x, found.period)
    for part in reversed(_PARTS):
        times = np.array([first, first + found.period / part])
        rows = shooting.states(found.x, times)
        moved = rows[1] - rows[0]
        moved[shooting.turns] -= 2 * np.pi * np.round(moved[shooting.turns] / (2 * np.pi))
        moved[list(shooting.cyclic)] = 0.0
        if np.max(np.abs(moved / scales), initial=0.0) < _SAME:
            return returning(shooting, found.x, found.period / part, fixed)
    return found


def _described(shooting: Shooting, found: Return, times: int) -> PeriodicMotion:
    """The rows of a cycle, and what they say."""
    size, first = len(shooting.names), shooting.settings.start
    grid = np.linspace(first, first + found.period, times + 1)
    rows = shooting.rows(found.x, grid)
    advance = shooting.advance(found.shot)
    moved = {name: float(advance[k]) for k, name in enumerate(shooting.names) if abs(advance[k]) > _SAME}
    slopes, periods = _by_parameters(shooting, found)
    cycle = _over_cycle(shooting, found, grid, rows.values, slopes, periods)
    places = [shooting.run.results.index(name) for name in shooting.outputs]
    family = np.max(np.abs(found.family), axis=0, initial=0.0)
    members = [
        name for name, part in zip(shooting.free, family, strict=True) if part > 1e-3 * max(family.max(), 1e-300)
    ]
    return PeriodicMotion(
        shooting.mechanism.name, found.period, shooting.driven,
        dict(zip(shooting.names, rows.values[0, :size].tolist(), strict=True)), moved, _multipliers(shooting, found),
        tuple(members) if len(found.family) else (), grid, tuple(shooting.outputs), rows.values[:, places], cycle,
        found.missed, shooting.by, tuple(float(x) for x in periods),
        uncertainty=0.0 if shooting.driven else _without_motion(shooting, found)[1],
    )  # fmt: skip


def _multipliers(shooting: Shooting, found: Return) -> np.ndarray:
    """The eigenvalues of the monodromy matrix; without a drive not the one along the motion, which is one."""
    matrix = _without_motion(shooting, found)[0] if not shooting.driven else shooting.monodromy(found)
    values = np.linalg.eigvals(matrix)
    return np.asarray(values[np.lexsort((values.imag, -np.abs(values)))])


def _without_motion(shooting: Shooting, found: Return) -> tuple[Floats, float]:
    """The monodromy matrix of disturbances beside the motion, and its error: the motion itself must return.

    The direction is divided out because in a family of motions its eigenvalue is double, and rounding would split the
    pair into one that grows and one that dies out.
    """
    matrix = shooting.monodromy(found)
    remaining = [k for k in map(shooting.names.index, shooting.free) if k not in shooting.cyclic]
    rate = found.shot.rate[remaining]
    size = float(np.max(np.abs(rate), initial=0.0))
    if size == 0.0:
        return matrix, 0.0
    along = np.linalg.qr(rate[:, None], mode="complete")[0]
    return (along.T @ matrix @ along)[1:, 1:], float(np.max(np.abs(matrix @ rate - rate))) / size


def _by_parameters(shooting: Shooting, found: Return) -> tuple[Floats, Floats]:
    """The slopes of the independent initial values and of the period by the parameters."""
    count, size = len(shooting.free), len(shooting.names)
    slopes, periods = np.zeros((count, len(shooting.by))), np.zeros(len(shooting.by))
    if not shooting.by:
        return slopes, periods
    if len(found.family):
        raise TaskError(
            f"{shooting.mechanism.name}: the motion is one of a family, so it has no derivatives by parameters\n"
            "  choose one with `hold`"
        )
    changes = (found.shot.end_slopes - found.shot.start_slopes)[:size]
    changes[list(shooting.cyclic)] = 0.0
    rate = found.shot.rate[:size].copy()
    rate[list(shooting.cyclic)] = 0.0
    unknown = list(found.unknown)
    matrix = np.hstack([changes[:, unknown], *([] if shooting.driven else [rate[:, None]])])
    solution = -np.linalg.lstsq(matrix, changes[:, count:], rcond=None)[0]
    slopes[unknown] = solution[: len(unknown)]
    return slopes, periods if shooting.driven else solution[-1]


def _over_cycle(
    shooting: Shooting, found: Return, grid: Floats, values: Floats, slopes: Floats, periods: Floats
) -> tuple[CycleValue, ...]:
    """Means by integrals; extremes searched between the rows."""
    names, results = list(shooting.outputs), shooting.run.results
    places = [results.index(name) for name in names]
    extremes = _extremes(shooting, found.x, grid, values[:, places], places)
    at = np.unique(np.concatenate([[grid[0]], extremes.ravel(), [grid[-1]]]))
    rows = shooting.rows(found.x, at)
    count = len(shooting.free)
    total = rows.derivatives[:, :, count:] + rows.derivatives[:, :, :count] @ slopes
    form, cycle = shooting.run.form, []
    for k, name in enumerate(names):
        sums = [results.index(word + name) for word in (MEAN, SQUARE)]
        mean, square = rows.values[-1, sums] / found.period
        end = [form.motion_names.index(word + name) for word in (MEAN, SQUARE)]
        # the mean is I(T)/T: its slope has the parts of I, of the end, and of T
        means = (total[-1, sums] + np.outer(found.shot.rate[end] - [mean, square], periods)) / found.period
        rms = float(np.sqrt(max(square, 0.0)))
        low, high = (int(np.argmin(np.abs(at - time))) for time in extremes[:, k])
        parts = (means[0], means[1] / (2 * rms) if rms else means[1] * 0, total[low, places[k]], total[high, places[k]])
        a, b, c, d = (part.tolist() for part in parts)
        derivatives = {one: (a[j], b[j], c[j], d[j]) for j, one in enumerate(shooting.by)}
        low_time, high_time = extremes[:, k]
        least, most = rows.values[low, places[k]], rows.values[high, places[k]]
        cycle.append(
            CycleValue(
                name, float(mean), rms, float(least), float(low_time), float(most), float(high_time), derivatives
            )
        )
    return tuple(cycle)


def _extremes(shooting: Shooting, x: Floats, grid: Floats, values: Floats, places: list[int]) -> Floats:
    """The times of the extremes: a row of minima, a row of maxima; searched around those of the rows."""
    signs = np.array([-1.0, 1.0])[:, None]
    best = np.stack([grid[np.argmin(values, axis=0)], grid[np.argmax(values, axis=0)]])
    size = np.stack([values.min(axis=0), values.max(axis=0)])
    reach = grid[1] - grid[0]
    for _ in range(_ROUNDS):
        near = np.clip(best[..., None] + reach * np.linspace(-1, 1, _LOOKS), grid[0], grid[-1])
        times = np.unique(np.concatenate([[grid[0]], near.ravel()]))
        rows = shooting.rows(x, times).values[:, places]
        looked = rows[np.searchsorted(times, near), np.arange(len(places))[None, :, None]]
        k = np.argmax(signs[..., None] * looked, axis=2)[..., None]
        found = np.take_along_axis(looked, k, 2)[..., 0]
        better = signs * found > signs * size
        best = np.where(better, np.take_along_axis(near, k, 2)[..., 0], best)
        size = np.where(better, found, size)
        reach *= 2 / (_LOOKS - 1)
    return _vertices(near, looked, k[..., 0], best)


def _vertices(near: Floats, looked: Floats, k: np.ndarray, best: Floats) -> Floats:
    """The vertices of parabolas through the last points around each extreme; at an end or a corner the point itself."""
    inner = np.clip(k, 1, near.shape[2] - 2)[..., None] + np.array([-1, 0, 1])
    t, y = np.take_along_axis(near, inner, 2), np.take_along_axis(looked, inner, 2)
    rise, fall = y[..., 2] - y[..., 1], y[..., 0] - y[..., 1]
    curved = (rise + fall) * (k == inner[..., 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = 0.5 * (fall - rise) / curved
    even = np.isclose(t[..., 2] - t[..., 1], t[..., 1] - t[..., 0], rtol=1e-6)
    usable = np.isfinite(shift) & (np.abs(shift) <= 1) & even
    return np.where(usable, t[..., 1] + shift * (t[..., 2] - t[..., 1]), best)


# What a user may give.


def _check(
    period: float | None,
    settle: float,
    times: int,
    starts: int,
    bounds: Mapping[str, tuple[float, float]] | None,
    mechanism: Mechanism,
) -> None:
    if period is not None and not (isfinite(period) and period > 0):
        raise TaskError(f"period is {period!r}: give a time above zero, in seconds")
    if not (isfinite(settle) and settle >= 0):
        raise TaskError(f"settle is {settle!r}: give a time in seconds")
    if not isinstance(times, int) or times < 8:
        raise TaskError(f"times is {times!r}: give the number of intervals of a cycle, at least 8")
    if not isinstance(starts, int) or starts < 1:
        raise TaskError(f"starts is {starts!r}: give at least 1")
    if starts > 1 and not bounds:
        raise TaskError('several starts need bounds of initial values, e.g. bounds={"q1\'": (0, 10)}')
    known = mechanism.layout.initial
    for name, (low, high) in (bounds or {}).items():
        if name not in known:
            raise TaskError(f"bounds: unknown position or velocity {name!r}\n  {did_you_mean(name, known)}")
        if not (isfinite(high - low) and low <= high):
            raise TaskError(f"bounds: {name} is from {low:g} to {high:g}; give two finite numbers, the lower first")


def _held(mechanism: Mechanism, hold: Sequence[str] | str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in hold.split(",") if part.strip()) if isinstance(hold, str) else tuple(hold)
    known = mechanism.layout.initial
    for name in names:
        if name not in known:
            raise TaskError(f"hold: unknown position or velocity {name!r}\n  {did_you_mean(str(name), known)}")
    return names


def _starts(
    mechanism: Mechanism,
    begun: OperatingPoint,
    bounds: Mapping[str, tuple[float, float]],
    starts: int,
    seed: int,
    settings: RunSettings,
) -> list[OperatingPoint]:
    """The state to start from, and random ones within bounds that fit the loops."""
    random, points = generator(seed), [begun]
    for _ in range(starts - 1):
        values = {name: float(random.uniform(*pair)) for name, pair in bounds.items()}
        try:
            points.append(operating_point(mechanism, {"t": begun.t, **values}, settings.parameters))
        except TaskError:
            continue
    return points


def _is_same(one: PeriodicMotion, other: PeriodicMotion) -> bool:
    """Whether two motions agree in their period and in all values over the cycle."""
    if abs(one.period - other.period) > 1e-6 * one.period:
        return False
    numbers = [[part for value in each.cycle for part in (value.mean, value.rms)] for each in (one, other)]
    return bool(np.allclose(numbers[0], numbers[1], rtol=1e-5, atol=1e-7))
