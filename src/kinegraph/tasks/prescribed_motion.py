"""Prescribed motion: formulas of time, samples, or measurements, completed to a motion that keeps all loops closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BSpline
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar

from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.quantities.variables import depends_on_time
from kinegraph.derive.tree.expressions import Names
from kinegraph.errors import AssemblyError, TaskError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.differentiate import ForwardDerivative
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.model.evaluate import float_values, parameter_values
from kinegraph.model.expressions import TIME, Scalar, names
from kinegraph.model.mechanism import Mechanism
from kinegraph.model.names import did_you_mean
from kinegraph.simulate.formulas import formula
from kinegraph.tasks.operating_point import (
    JACOBIAN,
    RATE,
    Floats,
    called_rows,
    kernel_of,
    parameter_slope,
    refuse_quaternions,
    slope,
)

# Measured coordinates: a smoothing spline whose derivatives have error bands. Differentiating samples is ill-posed
# (Tikhonov). The spline minimizes the squared misfits plus lambda times the integral of a squared derivative, the third
# or the fourth. The order, lambda, and the noise if it is not given, maximize the restricted likelihood. The error of
# position, velocity and acceleration is the mean square of the noise's effect and of the smoothing bias, estimated by
# smoothing the spline once more. The spline is also the mean of a Gaussian process, whose covariance would be simpler;
# but motions are smoother than that process, and its acceleration bands would be 1.6 times too wide. It is used near
# the ends, where smoothing once more gives too little.

#: The penalized derivative: the fourth suits smooth motions, the third those whose acceleration has corners.
_ORDERS = (3, 4)
_MOST_PIECES = 200
_FEWEST = 12
#: Logarithms of lambda to search, relative to that at which misfit and roughness weigh the same.
_SEARCH = (-28.0, 14.0)


@dataclass(frozen=True)
class Measured:
    """A coordinate measured at times; noise is the standard deviation of a value, estimated if None."""

    times: ArrayLike
    values: ArrayLike
    noise: float | None = None

    def smoothed(self, name: str = "the coordinate") -> SmoothingSpline:
        """The most likely motion; TaskError if the samples do not determine it."""
        try:
            times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        except (TypeError, ValueError):
            raise TaskError(
                f"samples of {name} are not numbers: give an array of times and an array of values"
            ) from None
        if times.ndim != 1 or times.shape != values.shape or len(times) < _FEWEST:
            message = f"samples of {name} have times of shape {times.shape} and values of shape {values.shape}"
            raise TaskError(f"{message}: give two arrays of equal length, with at least {_FEWEST} samples")
        if not (np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all()):
            raise TaskError(f"the times of the samples of {name} must increase, and all values must be finite")
        if self.noise is not None and not 0 < self.noise < float("inf"):
            raise TaskError(f"the noise of {name} is {self.noise}: give a positive standard deviation, or None")
        fits = [_fitted(name, times, values, self.noise, order) for order in _ORDERS]
        return min(fits, key=lambda one: one.cost)


@dataclass(frozen=True, eq=False)
class SmoothingSpline:
    """The most likely motion; noise is the standard deviation of a sample, given or estimated.

    covariance: of the coefficients. at_ends: the addition at the ends, which decreases within their reach.
    """

    name: str
    spline: BSpline
    covariance: Floats
    at_ends: Floats
    reach: float
    noise: float
    start: float
    length: float
    cost: float

    def derivatives(self, times: Floats) -> Floats:
        """Position, velocity and acceleration: rows are times."""
        return np.asarray(self._rows(times) @ self.spline.c)

    def covariances(self, times: Floats) -> Floats:
        """The covariances of position, velocity and acceleration, a 3 x 3 matrix for each time."""
        rows = self._rows(times)
        at = (times - self.start) / self.length
        near = np.clip(1 - np.minimum(at, 1 - at) / self.reach, 0.0, 1.0)[:, None, None]
        parts = (rows @ one @ np.swapaxes(rows, 1, 2) for one in (self.covariance, self.at_ends))
        return np.asarray(next(parts) + near * next(parts))

    def standard_errors(self, times: Floats) -> Floats:
        """The standard errors of position, velocity and acceleration: rows are times."""
        return np.sqrt(np.diagonal(self.covariances(times), axis1=1, axis2=2))

    def _rows(self, times: Floats) -> Floats:
        at = (times - self.start) / self.length
        if np.any((at < -1e-9) | (at > 1 + 1e-9)):
            first, last = self.start, self.start + self.length
            raise TaskError(
                f"{self.name} was measured only from t = {first:.6g} to {last:.6g}: request times in this range"
            )
        at, basis = np.clip(at, 0.0, 1.0), _basis(self.spline.t, self.spline.k)
        return np.stack([np.asarray(basis(at, nu=order)) / self.length**order for order in range(3)], axis=1)


def _basis(knots: Floats, degree: int) -> BSpline:
    return BSpline(knots, np.eye(len(knots) - degree - 1), degree)


def _fitted(name: str, times: Floats, values: Floats, noise: float | None, order: int) -> SmoothingSpline:
    start, length = float(times[0]), float(times[-1] - times[0])
    at, degree = (times - start) / length, 2 * order - 1
    basis = _basis(_knots(at, degree), degree)
    likelihood = _Likelihood(np.asarray(basis(at)), values, _penalty(basis, order), order)
    best = minimize_scalar(likelihood.cost, bounds=_SEARCH, args=(noise,), method="bounded", options={"xatol": 1e-3})
    coefficients, factor, variance = likelihood.solved(float(best.x))
    variance = variance if noise is None else noise**2
    errors = likelihood.mean_squares(coefficients, factor, variance)
    spline = BSpline(basis.t, coefficients, degree)
    return SmoothingSpline(name, spline, *errors, float(np.sqrt(variance)), start, length, float(best.fun))


def _knots(at: Floats, degree: int) -> Floats:
    """Fewer pieces than half the samples, so that the samples determine them for every lambda."""
    pieces = max(1, min(len(at) // 2 - degree, _MOST_PIECES))
    inner = np.interp(np.linspace(0, len(at) - 1, pieces + 1), np.arange(len(at)), at)
    return np.concatenate([np.zeros(degree), inner, np.ones(degree)])


def _penalty(basis: BSpline, order: int) -> Floats:
    """The integral of products of derivatives: polynomials that Gauss quadrature of this order integrates exactly."""
    inner = np.unique(basis.t)
    places, weights = np.polynomial.legendre.leggauss(order)
    half = np.diff(inner)[:, None] / 2
    at = (inner[:-1, None] + half * (1 + places)).ravel()
    rough = np.asarray(basis(at, nu=order))
    return np.asarray(rough.T @ ((half * weights).ravel()[:, None] * rough))


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The likelihood of the data for a lambda: the basis at the times, the values, the penalty and its order."""

    basis: Floats
    values: Floats
    penalty: Floats
    order: int

    @cached_property
    def _normal(self) -> Floats:
        return np.asarray(self.basis.T @ self.basis)

    @property
    def _degrees_of_freedom(self) -> int:
        """Polynomials below the order are not penalized and use up as many data."""
        return len(self.values) - self.order

    def _weight(self, logarithm: float) -> float:
        return float(np.exp(logarithm) * np.trace(self._normal) / np.trace(self.penalty))

    def solved(self, logarithm: float) -> tuple[Floats, tuple[Floats, bool], float]:
        """Coefficients, the factorized matrix, and the most likely variance of the noise."""
        weight = self._weight(logarithm)
        factor = cho_factor(self._normal + weight * self.penalty, lower=True)
        coefficients = cho_solve(factor, self.basis.T @ self.values)
        misfits = self.values - self.basis @ coefficients
        squares = float(misfits @ misfits + weight * (coefficients @ self.penalty @ coefficients))
        return coefficients, factor, max(squares, 1e-300) / self._degrees_of_freedom

    def mean_squares(
        self, coefficients: Floats, factor: tuple[Floats, bool], variance: float
    ) -> tuple[Floats, Floats, float]:
        """Mean squares of the coefficients' errors, from noise and smoothing; the additional smoothing error
        expected by the Gaussian process; and the reach of the ends, as a fraction of the whole: the width of
        one coefficient of the smooth curve."""
        effect = cho_solve(factor, self._normal)
        whole = cho_solve(factor, np.eye(len(coefficients)))
        spread = effect @ whole
        spread = (spread + spread.T) / 2
        restored = 2 * coefficients - effect @ coefficients  # restore the part removed by smoothing once
        bias = effect @ restored - restored
        covariance = variance * spread + np.outer(bias, bias)
        return covariance, variance * (whole - spread), 1 / max(float(np.trace(effect)), 1.0)

    def cost(self, logarithm: float, noise: float | None) -> float:
        """Minus twice the logarithm of the restricted likelihood, up to a constant of the data."""
        try:
            coefficients, factor, variance = self.solved(logarithm)
        except np.linalg.LinAlgError:
            return 1e300
        rough = len(coefficients) - self.order
        size = float(2 * np.sum(np.log(np.diag(factor[0])))) - rough * np.log(self._weight(logarithm))
        size -= self._prior_size
        return float(size + self._degrees_of_freedom * (np.log(variance) if noise is None else variance / noise**2))

    @cached_property
    def _prior_size(self) -> float:
        """The logarithm of the determinant of the penalty on the complement of its null space."""
        sizes = np.linalg.eigvalsh(self.penalty)[self.order :]
        return float(np.sum(np.log(np.maximum(sizes, 1e-300))))


# Motion given by formulas of time or by samples: positions, velocities and accelerations, and interpolation.

#: A formula of time, differentiated exactly, or samples, smoothed.
PrescribedMotion: TypeAlias = "Scalar | Measured"


@dataclass(frozen=True)
class SampledMotion:
    """q, v and a at given times, one row per time, in the order of the coordinates; z: first-order states."""

    times: Floats
    q: Floats
    v: Floats
    a: Floats
    z: Floats | None = None

    @property
    def arguments(self) -> dict[str, Floats | float]:
        """The arguments of kernels, by name."""
        states = {} if self.z is None else {"z": self.z}
        return {"q": self.q, "v": self.v, "a": self.a, "t": self.times, **states}


def _places(rows: Floats, times: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """For every time: the row before it, the fraction of the step to the next, and the length of that step."""
    k = np.clip(np.searchsorted(rows, times, side="right") - 1, 0, len(rows) - 2)
    step = np.diff(rows)[k, None]
    return k, (times[:, None] - rows[k, None]) / step, step


def quintic(rows: Floats, times: Floats, y: Floats, rate: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Hermite's polynomial from values and two derivatives at both ends: the value and its rate."""
    k, u, step = _places(rows, times)
    y0, y1, d0, d1 = y[k], y[k + 1], rate[k] * step, rate[k + 1] * step
    c0, c1 = second[k] * step**2, second[k + 1] * step**2
    rise, slope, curve = y1 - y0 - d0 - c0 / 2, d1 - d0 - c0, c1 - c0  # the part of the higher powers at the end
    a, b, c = 10 * rise - 4 * slope + curve / 2, -15 * rise + 7 * slope - curve, 6 * rise - 3 * slope + curve / 2
    value = y0 + u * (d0 + u * (c0 / 2 + u * (a + u * (b + u * c))))
    return np.asarray(value), np.asarray(d0 + u * (c0 + u * (3 * a + u * (4 * b + u * 5 * c)))) / step


def cubic(rows: Floats, times: Floats, y: Floats, rate: Floats) -> Floats:
    """Hermite's polynomial from values and derivatives at both ends."""
    k, u, step = _places(rows, times)
    y0, rise, d0, d1 = y[k], y[k + 1] - y[k], rate[k] * step, rate[k + 1] * step
    return np.asarray(y0 + u * (d0 + u * (3 * rise - 2 * d0 - d1 + u * (d0 + d1 - 2 * rise))))


def require_all_prescribed(mechanism: Mechanism, laws: Mapping[str, PrescribedMotion]) -> None:
    """TaskError for a coordinate without a prescribed motion."""
    missing = [name for name in mechanism.layout.positions if name not in laws]
    if missing:
        raise TaskError(f"no motion given for {', '.join(missing)}; give motion={{'{missing[0]}': '...'}}")


def prescribed_functions(
    mechanism: Mechanism,
    laws: Mapping[str, PrescribedMotion],
    times: Floats,
    parameters: Mapping[str, Scalar] | None = None,
) -> SampledMotion:
    """The same for some coordinates alone, in the order of the formulas."""
    layout = mechanism.layout
    refuse_quaternions(mechanism, "prescribed motions support")
    for name in laws:
        if name not in layout.positions:
            raise TaskError(f"unknown coordinate {name!r} in motion\n  {did_you_mean(name, layout.positions)}")
    values = float_values(parameter_values(mechanism, parameters))
    formulas = {name: law for name, law in laws.items() if not isinstance(law, Measured)}
    found = interpret(_graph(mechanism, formulas), values | {TIME: times})
    rows = np.zeros((3, len(times), len(laws)))
    for order, row in zip("qva", rows, strict=True):
        row[:, [name in formulas for name in laws]] = np.atleast_2d(found[order])
    for place, (name, law) in enumerate(laws.items()):
        if isinstance(law, Measured):
            rows[:, :, place] = law.smoothed(name).derivatives(times).T
    _require_finite(laws, times, rows)
    return SampledMotion(times, *rows)


def _require_finite(laws: Mapping[str, PrescribedMotion], times: Floats, rows: Floats) -> None:
    for place, name in enumerate(laws):
        wrong = ~np.isfinite(rows[:, :, place]).all(axis=0)
        if wrong.any():
            raise TaskError(f"the motion of {name} has no finite value or derivative at t = {times[wrong][0]:.6g}")


def _graph(mechanism: Mechanism, laws: Mapping[str, Scalar]) -> Graph:
    builder = GraphBuilder()
    meaning = Names(builder, mechanism, {})
    rate = ForwardDerivative(builder, {builder.symbol(Kind.TIME, TIME): builder.one})
    known = {parameter.name for parameter in mechanism.parameters} | {TIME, "pi"}
    rows: list[list[int]] = [[], [], []]
    for name, given in laws.items():
        law = formula(given)
        for used in names(law):
            if used not in known:
                hint = did_you_mean(used, known)
                raise TaskError(f"the motion of {name} uses {used!r}, but only t and parameters are allowed\n  {hint}")
        node = meaning.scalar(law).index
        for row in rows:
            row.append(node)
            node = rate(node)
    return builder.graph([Output(name, (len(row),), tuple(row)) for name, row in zip("qva", rows, strict=True)])


# The motion of a mechanism with loops whose independent coordinates are prescribed.

_BY_POSITION, _BY_TIME = slope(RATE, "dq"), parameter_slope(RATE, TIME)
_SMALL = 1e-9


def completed(
    mechanism: Mechanism,
    names: tuple[str, ...],
    given: SampledMotion,
    parameters: Mapping[str, Scalar] | None = None,
    near: SampledMotion | None = None,
) -> SampledMotion:
    """The motion of all coordinates, from that of the named ones.

    The mechanism stays on its branch from one time to the next, so times should not be far apart. near: the same
    motion at other times; the given times may be anywhere between these.
    """
    driven = [mechanism.layout.positions.index(name) for name in names]
    begun = None if near is None else quintic(near.times, given.times, near.q, near.v, near.a)[0]
    q, v = _followed(mechanism, names, driven, given, parameters, begun)
    a = _accelerations(mechanism, driven, SampledMotion(given.times, q, v, given.a), parameters)
    return SampledMotion(given.times, q, v, a)


def _followed(
    mechanism: Mechanism,
    names: tuple[str, ...],
    driven: list[int],
    given: SampledMotion,
    parameters: Mapping[str, Scalar] | None,
    begun: Floats | None,
) -> tuple[Floats, Floats]:
    """Positions and velocities, each from those of the time before, or from the start."""
    assembler = Assembler(mechanism, parameters)
    q, v = assembler.start({})
    held = (*names, *(mechanism.layout.velocities[k] for k in driven))
    positions: list[Floats] = []
    velocities: list[Floats] = []
    before = given.times[0]
    for k, (time, place, rate) in enumerate(zip(given.times, given.q, given.v, strict=True)):
        q = q + v * (time - before) if positions else q
        q = q if begun is None else begun[k].copy()
        q[driven], v[driven] = place, rate
        found = _assembled(assembler, q, v, held, float(time))
        q, v, before = found[0].copy(), found[1].copy(), time
        positions.append(q.copy())
        velocities.append(v.copy())
    return np.array(positions), np.array(velocities)


def _assembled(assembler: Assembler, q: Floats, v: Floats, held: tuple[str, ...], t: float) -> tuple[Floats, Floats]:
    try:
        found = assembler.assembled(q, v, held, t)
    except AssemblyError as error:
        raise TaskError(f"at t = {t:.6g} the loops cannot follow this motion: {error}") from error
    moved = [name for name, change in found.changed.items() if abs(change) > _SMALL]
    if moved:
        raise TaskError(f"at t = {t:.6g} the loops cannot follow this motion: {', '.join(moved)} would have to deviate")
    return found.q, found.v


def _accelerations(
    mechanism: Mechanism, driven: list[int], motion: SampledMotion, parameters: Mapping[str, Scalar] | None
) -> Floats:
    """The rows differentiated twice, solved for the accelerations that are not prescribed."""
    wanted = [JACOBIAN, _BY_POSITION, *([_BY_TIME] if depends_on_time(mechanism) else [])]
    layout = mechanism.layout
    values: dict[str, Floats | float] = {
        "q": motion.q, "v": motion.v, "t": motion.times, "u": np.zeros(len(layout.inputs)),
    }  # fmt: skip
    found = called_rows(kernel_of(mechanism, wanted, parameters), values)
    bias = np.einsum("kri,ki->kr", found[_BY_POSITION], motion.v)
    if _BY_TIME in found:
        bias = bias + found[_BY_TIME]
    others = [k for k in range(len(layout.velocities)) if k not in driven]
    a = np.zeros_like(motion.v)
    a[:, driven] = motion.a
    for row, jacobian, gamma, time in zip(a, found[JACOBIAN], bias, motion.times, strict=True):
        solution, _, rank, _ = np.linalg.lstsq(jacobian[:, others], -gamma - jacobian @ row, rcond=_SMALL)
        if rank < len(others):
            raise TaskError(
                f"at t = {time:.6g} this motion leaves {len(others) - rank} of "
                f"{', '.join(layout.positions[k] for k in others)} free: prescribe more coordinates"
            )
        row[others] = solution
    return a
