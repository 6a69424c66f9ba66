"""Linear systems that change along a steady motion: whether they do, with which period, and Floquet's multipliers.

A model that depends on time, or a spin about a body's unequal axes, makes x' = A(t) x. If A repeats after a period T,
the solution X(T) with X(0) = 1 (the monodromy matrix) says what disturbances do: its eigenvalues are the multipliers,
their logarithms over T the exponents. A comes from exact derivatives, so X(T) is exact up to the integrator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm, pi

import numpy as np

from kinegraph.derive.constraints.analysis import moved_positions
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.errors import TaskError
from kinegraph.model.changes.rewrite import expressions
from kinegraph.model.constraints.records import is_constrained
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.expression import Scalar
from kinegraph.model.mechanism import Mechanism, Rotation
from kinegraph.tasks.equations import RATE, VALUE, row_kernel
from kinegraph.tasks.kernels import called
from kinegraph.tasks.linear.linearise import Linearisation, angular_velocities, linearised_at, require_steady
from kinegraph.tasks.linear.time_rates import time_rates
from kinegraph.tasks.operating_point import Floats, OperatingPoint

#: Parts of a period (seconds, where none is known) at which the linear system is looked at again.
_PARTS = (0.1309, 0.2871, 0.6180, 0.9021)
#: Entries that differ by less than the first part of themselves, or the second of the largest, are the same: a soft
#: spring that changes with time counts beside a stiff one that does not.
_SAME, _ROUNDING = 1e-7, 1e-13
#: Rates have a common period if their ratios are fractions of numbers up to the first, within the second.
_LARGEST_RATIO, _COMMON = 200, 1e-9
#: Parts of a period that may be periods themselves, and where that is looked at: jumps take up little time.
_SHORTER = (12, 8, 6, 5, 4, 3, 2)
_MANY_PARTS = tuple((0.0713 + 0.6180339887 * k) % 1.0 for k in range(32))
_LOOPS_OPEN = 1e-8
_TOLERANCE = 1e-12
#: Multipliers whose absolute value exceeds one by less are rounding: double ones split by the root of X(T)'s error.
GROWING = 1e-5


@dataclass(frozen=True)
class Floquet:
    """The monodromy matrix X(T) of a linear system with period T about a state, by the entries of x."""

    monodromy: Floats
    period: float
    states: tuple[str, ...]

    @property
    def multipliers(self) -> np.ndarray:
        """The eigenvalues of X(T), largest first: what is left of a disturbance after a period."""
        values = np.linalg.eigvals(self.monodromy)
        return np.asarray(values[np.lexsort((values.imag, -np.abs(values)))])

    @property
    def exponents(self) -> np.ndarray:
        """ln(multiplier) / T; imaginary parts are known up to whole multiples of 2 pi / T."""
        return exponents_of(self.multipliers, self.period)

    @property
    def unstable(self) -> int:
        """How many multipliers grow."""
        return int(np.sum(np.abs(self.multipliers) > 1 + GROWING))


def exponents_of(multipliers: np.ndarray, period: float) -> np.ndarray:
    """Floquet's exponents; a multiplier of zero has none that is finite."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(multipliers.astype(complex)) / period)


def require_constant(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> None:
    """TaskError where the linear system about a state changes along the motion: its matrices are not constant."""
    period = period_of(mechanism, point, parameters, driven=True)
    if period is not None:
        raise TaskError(
            f"{mechanism.name}: the linear system about this state changes with a period of {period:.9g} s, so it has "
            "no constant matrices\n  `modes` gives its Floquet multipliers; "
            "steady=False (--anywhere) takes the matrices of one moment"
        )


def period_of(
    mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None, driven: bool = False
) -> float | None:
    """The period of the linear system along the steady motion through a point; None if it is constant.

    TaskError if the motion is not steady a moment later, or if its linear system changes without a period. driven: B,
    the matrix of forces and inputs, counts too.
    """
    if not (depends_on_time(mechanism) or np.any(point.v)):
        return None
    course = _Course(mechanism, point, parameters, driven)
    rates = _rates(mechanism, point, parameters)
    base = _common_rate(rates)
    scale = 2 * pi / base if base else 2 * pi / max(rates) if rates else 1.0
    if course.stays([part * scale for part in _PARTS]):
        return None
    if base is None:
        listed = ", ".join(f"{rate:.6g}" for rate in sorted(rates))
        raise _no_period(mechanism, f"its rates ({listed} rad/s) have no common period" if rates else "")
    period = 2 * pi / base
    earlier = [part * period for part in _PARTS]
    if not course.repeats(earlier, [seconds + period for seconds in earlier]):
        raise _no_period(mechanism, "")
    within = [part * period for part in _MANY_PARTS]
    for number in _SHORTER:
        if course.repeats(within, [seconds + period / number for seconds in within]):
            return period / number
    return period


def floquet(
    mechanism: Mechanism, point: OperatingPoint, period: float, parameters: Mapping[str, Scalar] | None = None
) -> Floquet:
    """The monodromy matrix about a steady motion with a periodic linear system."""
    from scipy.integrate import solve_ivp

    course = _Course(mechanism, point, parameters, driven=False)
    first = course.at(0.0)
    size = len(first.A)

    def rate(seconds: float, x: Floats) -> Floats:
        return np.asarray((course.at(seconds).A @ x.reshape(size, size)).ravel())

    run = solve_ivp(
        rate, (0.0, period), np.eye(size).ravel(), method="DOP853", rtol=_TOLERANCE, atol=_TOLERANCE,
        max_step=period / 8, t_eval=[period],
    )  # fmt: skip
    if not run.success or not np.isfinite(run.y).all():
        raise TaskError(f"{mechanism.name}: disturbances cannot be followed over a period of {period:.9g} s")
    return Floquet(run.y[:, -1].reshape(size, size), period, first.states)


@dataclass(frozen=True)
class _Course:
    """The steady motion through a point: constant velocities, and the linear system along it."""

    mechanism: Mechanism
    point: OperatingPoint
    parameters: Mapping[str, Scalar] | None
    driven: bool

    def at(self, seconds: float) -> Linearisation:
        """The linear system so much later."""
        return linearised_at(self.mechanism, self._later(seconds), parameters=self.parameters, steady=False)

    def stays(self, times: Iterable[float]) -> bool:
        """Whether the linear system is the same at these times as in the beginning; TaskError as `repeats`."""
        first = self._steady(0.0)
        return all(self._same(first, self._steady(seconds)) for seconds in times)

    def repeats(self, times: Iterable[float], later: Iterable[float]) -> bool:
        """Whether the linear system is the same at pairs of times; TaskError if the motion is not steady there."""
        return all(self._same(self._steady(one), self._steady(other)) for one, other in zip(times, later, strict=True))

    def _steady(self, seconds: float) -> Linearisation:
        """The linear system, if the motion is still steady then and constraints hold."""
        point = self._later(seconds)
        try:
            self._require_closed(point)
            return linearised_at(self.mechanism, point, parameters=self.parameters)
        except TaskError as trouble:
            if not seconds:
                raise
            require_steady(self.mechanism, self.point, self.parameters)
            raise TaskError(
                f"{self.mechanism.name}: this state is steady now but not {seconds:.3g} s later: "
                f"{str(trouble).partition(': ')[2] or trouble}"
            ) from None

    def _require_closed(self, point: OperatingPoint) -> None:
        if not is_constrained(self.mechanism):
            return
        rows = called(row_kernel(self.mechanism, self.parameters, point.runtime), point.arguments())
        if max(float(np.max(np.abs(rows[word]), initial=0.0)) for word in (VALUE, RATE)) > _LOOPS_OPEN:
            raise TaskError(f"{self.mechanism.name}: its constraints do not hold in steady motion")

    def _same(self, one: Linearisation, other: Linearisation) -> bool:
        if one.states != other.states:
            return False
        pairs = [(one.A, other.A), *([(one.B, other.B)] if self.driven else [])]
        return all(np.allclose(a, b, rtol=_SAME, atol=_ROUNDING * np.max(np.abs(a), initial=0.0)) for a, b in pairs)

    def _later(self, seconds: float) -> OperatingPoint:
        point = self.point
        if not seconds:
            return point
        turned = self._displacement(seconds)
        return replace(point, q=moved_positions(self.mechanism, point.q, turned), t=point.t + seconds)

    def _displacement(self, seconds: float) -> Floats:
        """The displacement in steady motion; of a quaternion the one that turns it by an angle exactly."""
        found = self.point.v * seconds
        for start in angular_velocities(self.mechanism):
            turn = found[start : start + 3]
            angle = float(np.linalg.norm(turn))
            if angle > 0:
                found[start : start + 3] = turn / angle * 2 * np.tan(angle / 2)
        return found


def _rates(mechanism: Mechanism, point: OperatingPoint, parameters: Mapping[str, Scalar] | None) -> list[float]:
    """Angular rates (rad/s) at which something may repeat: in formulas of time, and of coordinates that turn."""
    values = {**(parameters or {}), **dict(point.given)}
    numbers = parameter_values(mechanism, values)
    rotating = {name: float(rate) for name, rate in _coordinate_rates(mechanism, point)}
    found: set[float] = set()
    transforms = [one for body in mechanism.bodies for one in body.transforms]
    turns = [one.angle for one in transforms if isinstance(one, Rotation)]
    others = [one for one in transforms if not isinstance(one, Rotation)]
    tied = (mechanism.gravity, mechanism.elements, mechanism.loops, mechanism.constraints, mechanism.inputs)
    for formula in turns:
        found |= time_rates(formula, numbers, rotating, angle=True)
    for formula in expressions((*others, *tied)):
        found |= time_rates(formula, numbers, rotating)
    spins = [point.v[start : start + 3] for start in angular_velocities(mechanism)]
    return sorted(found | {float(np.linalg.norm(spin)) for spin in spins} - {0.0})


def _coordinate_rates(mechanism: Mechanism, point: OperatingPoint) -> Iterable[tuple[str, float]]:
    layout = mechanism.layout
    rates = dict(zip(layout.velocities, point.v, strict=True))
    return ((name, rates[name + "'"]) for name in layout.positions if rates.get(name + "'", 0.0))


def _common_rate(rates: list[float]) -> float | None:
    """The largest rate of which all are whole multiples; None if there is none."""
    if not rates:
        return None
    largest = max(rates)
    parts = [Fraction(rate / largest).limit_denominator(_LARGEST_RATIO) for rate in rates]
    if any(abs(rate / largest - part) > _COMMON or not part for rate, part in zip(rates, parts, strict=True)):
        return None
    whole = lcm(*(part.denominator for part in parts))
    return largest * gcd(*(int(part * whole) for part in parts)) / whole


def _no_period(mechanism: Mechanism, reason: str) -> TaskError:
    why = f": {reason}" if reason else ""
    return TaskError(
        f"{mechanism.name}: the linear system about this state changes with time, and no period was found{why}, so it "
        "has neither eigenvalues nor Floquet multipliers\n  simulate it with a small disturbance, or use "
        "`sensitivities`; `linearise` with steady=False (--anywhere) takes the matrices of one moment"
    )
