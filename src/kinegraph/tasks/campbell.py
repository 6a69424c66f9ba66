"""`campbell`: frequencies of a rotor over its spin, with the direction of whirl, critical speeds, and stability."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite

import numpy as np
import scipy.linalg
from scipy.optimize import brentq, linear_sum_assignment

from kinegraph.compiler.mechanism_source import MechanismSource, mechanism_of
from kinegraph.derive.quantities.variables import Variables
from kinegraph.errors import TaskError
from kinegraph.model.evaluate import number, parameter_values
from kinegraph.model.expressions import Scalar
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.tabular import Column, Tabular
from kinegraph.tasks.equilibria import rates_in, solutions, steady_equations
from kinegraph.tasks.linearize import Linearization, linearized_at, period_of
from kinegraph.tasks.operating_point import Floats, OperatingPoint, called, kernel_of, named_values, operating_point
from kinegraph.tasks.steady.balance import Varied, varied_of
from kinegraph.tasks.tangent_space import tangent

FORWARD, BACKWARD, PLANAR, OTHER = "forward", "backward", "planar", "not lateral"
#: Eigenvalues whose imaginary part is below this fraction of the largest do not oscillate.
_STILL = 1e-9
#: Orbits narrower than this fraction of a circle have no direction; motions with less than this fraction across the
#: spin axis are not lateral.
_NARROW, _LATERAL = 1e-6, 1e-3
#: Relative to the largest eigenvalue: those below are zero, those closer are equal, those with such a real part grow.
_ZERO_EIGENVALUE, _EQUAL, _GROWING = 1e-6, 1e-9, 1e-10
#: A damping ratio below this is rounding.
_UNDAMPED = 1e-12
#: Critical speeds closer than this relative difference are one.
_SAME_SPEED = 1e-9


class Rotor:
    """A mechanism in steady rotation at any speed: its linear system, and how a body whirls in a mode.

    spin: the rate or parameter that sets the speed. body: the body whose whirl counts.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        spin: str,
        state: Mapping[str, Scalar] | None,
        parameters: Mapping[str, Scalar] | None,
        body: str | None,
        low: float,
        runtime: tuple[tuple[str, float], ...] = (),
    ) -> None:
        self.mechanism, self.spin, self.runtime = mechanism, spin, runtime
        self.varied = _spin_of(mechanism, spin)
        state = dict(named_values(mechanism, state))
        self.parameters = dict(parameters or {})
        if self.varied.group is Variables.PARAMETERS:
            self.parameters[spin] = low
        else:
            state[spin] = low
        self._rates = rates_in(mechanism, state)
        self._point = operating_point(mechanism, state, self.parameters, guess=True)
        self._last = self._point.q
        self.body = self._fastest(low) if body is None else mechanism.body(body).name

    def at(self, speed: float) -> OperatingPoint:
        """The steady state at a speed, nearest to that found before."""
        point = self.varied.at(replace(self._point, q=self._last, given=()), speed)
        point = replace(point, given=(*point.given, *self.runtime))
        try:
            equations = steady_equations(self.mechanism, point, self.parameters, self._rates)
        except TaskError as trouble:
            raise TaskError(
                f"{str(trouble).splitlines()[0]}\n  a rotor has frequencies over its speed if it is balanced and "
                "symmetric; otherwise `modes` at one speed gives Floquet multipliers"
            ) from trouble
        found = solutions(equations, equations.started(self._last[None]))
        if not len(found):
            raise TaskError(f"{self.mechanism.name}: no steady motion was found at {self.spin} = {speed:.6g}")
        steady = equations.at(found[0])
        self._last = steady.q
        return steady

    def linear(self, speed: float) -> Linearization:
        """The linear system at a speed."""
        return linearized_at(self.mechanism, self.at(speed), parameters=self.parameters)

    def require_constant(self, speeds: Sequence[float]) -> None:
        """TaskError if the linear system changes along the rotation: an unbalanced or asymmetric rotor."""
        for speed in speeds:
            period = period_of(self.mechanism, self.at(speed), self.parameters)
            if period is not None:
                raise TaskError(
                    f"{self.mechanism.name}: at {self.spin} = {speed:.6g} the linear system changes with a period of "
                    f"{period:.6g} s, because rotor and bearings are both asymmetric, so it has no frequencies\n"
                    "  `modes` gives its Floquet multipliers; `unbalance_response` takes unbalance as a small parameter"
                )

    def displacements(self, point: OperatingPoint, shapes: np.ndarray) -> np.ndarray:
        """All displacements of modes, a column for each, from their independent ones."""
        space = tangent(self.mechanism, point, self.parameters)
        return np.asarray(space.positions @ shapes[: len(space.displaced)])

    def whirls(self, point: OperatingPoint, shapes: np.ndarray) -> WhirlForms:
        """How the body circles in modes, a column for each: translation and tilt count by their kinetic energy."""
        found = called(kernel_of(self.mechanism, self._motion, self.parameters, point.runtime), point.arguments())
        spin = found[f"velocity:{self.body}"][3:]
        size = float(np.linalg.norm(spin))
        count = shapes.shape[1]
        if not size:
            return WhirlForms(np.zeros((count, count)), np.eye(count), np.ones(count))
        axis, moved = spin / size, found[f"jacobian:{self.body}"] @ self.displacements(point, shapes)
        circling, lateral, whole = np.zeros((count, count), complex), np.zeros((count, count), complex), np.zeros(count)
        for weight, part in zip(self._weights, (moved[:3], moved[3:]), strict=True):
            across = part - np.outer(axis, axis @ part)
            turned = _cross(axis) @ across
            circling += weight * (across.conj().T @ turned) / 2j
            lateral += weight * (across.conj().T @ across) / 2
            whole += weight * np.sum(np.abs(part) ** 2, axis=0) / 2
        return WhirlForms(circling, lateral, whole)

    @property
    def _motion(self) -> list[str]:
        return [f"velocity:{self.body}", f"jacobian:{self.body}"]

    @cached_property
    def _weights(self) -> tuple[float, float]:
        """Mass and largest moment of inertia of the body; both one if it has none."""
        mass, moment = self._inertia(self.body)
        return (mass, moment) if mass and moment else (1.0, 1.0)

    def _inertia(self, body: str) -> tuple[float, float]:
        """Mass and largest moment of inertia of a body."""
        values, one = parameter_values(self.mechanism, self.parameters), self.mechanism.body(body).inertia
        if one is None:
            return 0.0, 0.0
        mass, *moments = (float(number(part, values)) for part in (one.mass, one.Jx, one.Jy, one.Jz))
        return mass, max(moments)

    def _fastest(self, low: float) -> str:
        """The body that rotates fastest; among equals the heaviest one."""
        speed = low or 1.0
        names = [body.name for body in self.mechanism.bodies]
        point = self.at(speed)
        words = [f"velocity:{name}" for name in names]
        found = called(kernel_of(self.mechanism, words, self.parameters, point.runtime), point.arguments())
        speeds = {name: float(np.linalg.norm(found[f"velocity:{name}"][3:])) for name in names}
        fastest = max(speeds.values())
        if not fastest > 0:
            raise TaskError(f"{self.mechanism.name}: no body rotates with {self.spin}")
        equal = [name for name in names if speeds[name] > 0.999 * fastest]
        return max(equal, key=lambda name: self._inertia(name)[0])


def _cross(axis: Floats) -> Floats:
    """The matrix of the vector product with an axis."""
    x, y, z = axis
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


@dataclass(frozen=True)
class WhirlForms:
    """Hermitian forms of the complex weights of modes: motion that circles, motion across the axis; all motion."""

    circling: np.ndarray
    lateral: np.ndarray
    whole: Floats

    def word(self, k: int) -> str:
        """The whirl of one mode."""
        across = float(self.lateral[k, k].real)
        if not across > _LATERAL * self.whole[k]:
            return OTHER
        part = float(self.circling[k, k].real) / across
        return PLANAR if abs(part) < _NARROW else FORWARD if part > 0 else BACKWARD

    def separating(self) -> np.ndarray | None:
        """Weights that separate modes of one frequency by their whirl; None if they do not all move across the axis."""
        try:
            return np.asarray(scipy.linalg.eigh(self.circling, self.lateral)[1])
        except (np.linalg.LinAlgError, ValueError):
            return None


def _spin_of(mechanism: Mechanism, spin: str) -> Varied:
    known = [*mechanism.layout.velocities, *(one.name for one in mechanism.parameters)]
    if spin not in known:
        raise TaskError(f"over: {mechanism.name} has no rate or parameter {spin!r}\n  {did_you_mean(spin, known)}")
    return varied_of(mechanism, spin)


@dataclass(frozen=True)
class CriticalSpeed:
    """A speed at which a mode has `order` times the frequency of rotation.

    whirl: forward, backward, planar, or not lateral. damping: the ratio of the mode to critical damping.
    """

    speed: float
    order: float
    frequency: float
    whirl: str
    damping: float


@dataclass(frozen=True)
class Campbell(Tabular):
    """Frequencies and damping ratios over the speed: a row for each speed, a column for each mode, NaN if it does not
    oscillate.

    whirl: of each mode at each speed. growing: whether some disturbance grows at each speed; onsets: the speeds where
    this changes. critical: the critical speeds, exact.
    """

    model: str
    over: str
    body: str
    orders: tuple[float, ...]
    speeds: Floats
    frequencies: Floats
    damping: Floats
    whirl: tuple[tuple[str, ...], ...]
    growing: np.ndarray
    critical: tuple[CriticalSpeed, ...]
    onsets: tuple[float, ...]

    def __str__(self) -> str:
        lines = [
            (
                f"{self.model}: {self.frequencies.shape[1]} modes for {self.over} from {self.speeds[0]:.6g} to "
                f"{self.speeds[-1]:.6g} rad/s; the whirl is that of {self.body}"
            )
        ]
        lines += [
            f"  critical at {one.speed:.10g} rad/s ({one.whirl}, order {one.order:g}, damping {one.damping:.4g})"
            for one in self.critical
        ]
        lines += [f"  stability changes at {speed:.10g} rad/s" for speed in self.onsets]
        return "\n".join(lines if self.critical else [*lines, "  no critical speed in this range"])

    def _table(self) -> Mapping[str, Column]:
        """A row for each speed: frequency, damping ratio and whirl of every mode."""
        columns: dict[str, Column] = {self.over: self.speeds, "growing": self.growing}
        for k in range(self.frequencies.shape[1]):
            words = np.array([row[k] for row in self.whirl])
            columns |= {
                f"frequency {k + 1}": self.frequencies[:, k], f"damping {k + 1}": self.damping[:, k],
                f"whirl {k + 1}": words,
            }  # fmt: skip
        return columns

    def to_dict(self) -> dict[str, object]:
        """The numbers as JSON can hold them; null where a mode does not oscillate."""
        rows = [[value if isfinite(value) else None for value in row] for row in self.frequencies.tolist()]
        ratios = [[value if isfinite(value) else None for value in row] for row in self.damping.tolist()]
        return {
            "over": self.over, "body": self.body, "orders": list(self.orders), "speeds": self.speeds.tolist(),
            "frequencies": rows, "damping": ratios, "whirl": [list(row) for row in self.whirl],
            "growing": self.growing.tolist(), "critical": [vars(one) for one in self.critical],
            "onsets": list(self.onsets),
        }  # fmt: skip


def campbell(
    model: MechanismSource,
    over: str,
    low: float,
    high: float,
    state: Mapping[str, Scalar] | None = None,
    *,
    times: int = 100,
    orders: Sequence[float] = (1.0,),
    body: str | None = None,
    parameters: Mapping[str, Scalar] | None = None,
) -> Campbell:
    """Compute a Campbell diagram: frequencies of a balanced rotor over its speed, and its critical speeds.

    over: the rate of a cyclic coordinate (`spin'`) or a parameter, in rad/s, from low to high.
    times: number of equal intervals of speed. Critical speeds are solved for between them, to rounding.
    orders: multiples of the speed that excite: 1 is unbalance, 2 an asymmetric shaft or a universal joint.
    body: the body whose whirl is named; by default that which rotates fastest.
    """
    mechanism = mechanism_of(model)
    check_speeds(low, high, times)
    if not orders or not all(isfinite(order) and order > 0 for order in orders):
        raise TaskError(f"orders is {orders!r:.60}: give multiples of the speed above zero, e.g. (1, 2)")
    rotor = Rotor(mechanism, over, state, parameters, body, low)
    rotor.require_constant([low + part * (high - low) for part in (0.0113, 0.5, 1.0)])
    speeds = np.linspace(low, high, times + 1)
    spectra = [_Spectrum.of(rotor, float(speed)) for speed in speeds]
    count = max(len(one.modes) for one in spectra)
    frequencies, damping = np.full((2, len(speeds), count), np.nan)
    whirl = [[""] * count for _ in speeds]
    for k, places in enumerate(_followed(spectra, count)):
        for place, mode in zip(places, spectra[k].modes, strict=True):
            frequencies[k, place], damping[k, place] = mode.value.imag, mode.damping
            whirl[k][place] = mode.whirl
    critical = [one for order in orders for one in _critical(rotor, speeds, spectra, float(order))]
    growing = np.array([one.growing for one in spectra])
    return Campbell(
        mechanism.name, over, rotor.body, tuple(float(order) for order in orders), speeds, frequencies, damping,
        tuple(tuple(row) for row in whirl), growing, tuple(sorted(critical, key=lambda one: one.speed)),
        _onsets(rotor, speeds, spectra),
    )  # fmt: skip


def check_speeds(low: float, high: float, times: int) -> None:
    """TaskError unless the speeds are a range with enough intervals."""
    if not (isfinite(high - low) and low < high):
        raise TaskError(f"over: the speed is from {low:g} to {high:g}; give two finite numbers, the lower first")
    if not isinstance(times, int) or times < 2:
        raise TaskError(f"times is {times!r}: give the number of intervals of speed, at least 2")


@dataclass(frozen=True)
class _WhirlMode:
    value: complex
    shape: np.ndarray
    whirl: str

    @property
    def damping(self) -> float:
        """The ratio to critical damping; zero up to rounding without any."""
        ratio = -self.value.real / abs(self.value)
        return ratio if abs(ratio) > _UNDAMPED else 0.0


@dataclass(frozen=True)
class _Spectrum:
    """Oscillating modes at one speed, fastest first; imaginary parts of all eigenvalues, one of each pair; whether
    some disturbance grows."""

    modes: tuple[_WhirlMode, ...]
    imaginary: Floats
    growing: bool

    @classmethod
    def of(cls, rotor: Rotor, speed: float) -> _Spectrum:
        """At one speed."""
        point = rotor.at(speed)
        linear = linearized_at(rotor.mechanism, point, parameters=rotor.parameters)
        values, vectors = np.linalg.eig(linear.A)
        scale = float(np.max(np.abs(values), initial=0.0))
        order = [k for k in np.argsort(-values.imag) if values[k].imag > _STILL * scale]
        chosen, shapes = values[order], vectors[:, order]
        _separate(rotor, point, chosen, shapes, _EQUAL * scale)
        forms = rotor.whirls(point, shapes)
        modes = tuple(_WhirlMode(complex(chosen[k]), shapes[:, k], forms.word(k)) for k in range(len(order)))
        moving = values[np.abs(values) > _ZERO_EIGENVALUE * scale]
        growth = float(np.max(moving.real, initial=-np.inf))
        return cls(modes, _imaginary(values), growth > _GROWING * scale)


def _separate(rotor: Rotor, point: OperatingPoint, values: np.ndarray, shapes: np.ndarray, equal: float) -> None:
    """Replace modes of one frequency by combinations with a whirl of their own, the most forward one first."""
    start = 0
    while start < len(values):
        end = start + 1
        while end < len(values) and abs(values[end] - values[start]) <= equal:
            end += 1
        if end - start > 1:
            weights = rotor.whirls(point, shapes[:, start:end]).separating()
            if weights is not None:
                shapes[:, start:end] = shapes[:, start:end] @ weights[:, ::-1]
        start = end


def _imaginary(values: np.ndarray) -> Floats:
    """The imaginary parts of one of each pair, largest first: continuous functions of the speed."""
    ordered = np.sort(values.imag)[::-1]
    return np.asarray(np.maximum(ordered[: (len(ordered) + 1) // 2], 0.0))


def _followed(spectra: Sequence[_Spectrum], count: int) -> list[list[int]]:
    """For every speed the column of each mode: modes keep their column as long as shapes and frequencies agree."""
    places = [list(range(len(spectra[0].modes)))]
    columns: list[_WhirlMode | None] = [*spectra[0].modes, *[None] * (count - len(spectra[0].modes))]
    for spectrum in spectra[1:]:
        cost = np.array([[_unlike(one, mode) for one in columns] for mode in spectrum.modes]).reshape(-1, count)
        _, chosen = linear_sum_assignment(cost) if len(spectrum.modes) else ((), ())
        places.append([int(k) for k in chosen])
        for place, mode in zip(places[-1], spectrum.modes, strict=True):
            columns[place] = mode
    return places


def _unlike(one: _WhirlMode | None, other: _WhirlMode) -> float:
    """How different two modes are: by their shapes, and by their frequencies."""
    if one is None:
        return 2.0
    overlap = abs(np.vdot(one.shape, other.shape)) / (np.linalg.norm(one.shape) * np.linalg.norm(other.shape))
    nearness = abs(one.value - other.value) / (abs(one.value) + abs(other.value))
    return float(1 - overlap + nearness)


def _critical(rotor: Rotor, speeds: Floats, spectra: Sequence[_Spectrum], order: float) -> list[CriticalSpeed]:
    """Where a frequency crosses `order` times the speed: the zeros of continuous functions of the speed."""
    above = np.array([one.imaginary > order * abs(speed) for one, speed in zip(spectra, speeds, strict=True)])
    found = []
    for k, column in zip(*np.nonzero(above[:-1] != above[1:]), strict=True):

        def gap(speed: float, column: int = int(column)) -> float:
            return float(_Spectrum.of(rotor, speed).imaginary[column] - order * abs(speed))

        found.append(_zero(gap, float(speeds[k]), float(speeds[k + 1])))
    return [one for speed in _apart(found) for one in _modes_at(rotor, speed, order)]


def _apart(speeds: Sequence[float]) -> list[float]:
    """Each speed once."""
    found: list[float] = []
    for speed in sorted(speeds):
        if not found or speed - found[-1] > _SAME_SPEED * (1 + abs(speed)):
            found.append(speed)
    return found


def _modes_at(rotor: Rotor, speed: float, order: float) -> list[CriticalSpeed]:
    """All modes with this multiple of the speed as their frequency."""
    frequency = order * abs(speed)
    return [
        CriticalSpeed(speed, order, frequency, one.whirl, one.damping)
        for one in _Spectrum.of(rotor, speed).modes
        if abs(one.value.imag - frequency) <= _SAME_SPEED * frequency
    ]


def _zero(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero between two speeds, to rounding."""
    return float(brentq(function, low, high, xtol=1e-13 * max(1.0, abs(high)), rtol=1e-15))


def _onsets(rotor: Rotor, speeds: Floats, spectra: Sequence[_Spectrum]) -> tuple[float, ...]:
    """The speeds at which disturbances begin or cease to grow, by bisection."""
    found = []
    for k, (one, other) in enumerate(pairwise(spectra)):
        if one.growing == other.growing:
            continue
        low, high = float(speeds[k]), float(speeds[k + 1])
        while high - low > 1e-12 * max(abs(low), abs(high)):
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            if _Spectrum.of(rotor, middle).growing == one.growing:
                low = middle
            else:
                high = middle
        found.append(0.5 * (low + high))
    return tuple(found)
