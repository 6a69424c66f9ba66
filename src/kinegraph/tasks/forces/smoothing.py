"""Measured coordinates: a smoothing spline whose derivatives have error bands.

Differentiating samples is ill-posed (Tikhonov). The spline minimises the squared misfits and lambda times the integral
of a squared derivative, the third or the fourth. The order, lambda, and the noise where it is not given, make the data
most likely (restricted maximum likelihood).

How well position, velocity and acceleration are known is the mean square of what noise does to the spline and of what
smoothing takes away, estimated by smoothing the spline once more. The spline is also the mean of a Gaussian process,
whose covariance would be simpler; motions are smoother than that process, and bands of accelerations would be 1.6 times
too wide. It counts near the ends, where smoothing once more says too little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats

#: Which derivative is rough: the fourth suits smooth motions, the third those whose acceleration has corners.
_ORDERS = (3, 4)
_MOST_PIECES = 200
_FEWEST = 12
#: Logarithms of lambda to search, beyond that at which misfit and roughness weigh the same.
_SEARCH = (-28.0, 14.0)


@dataclass(frozen=True)
class Measured:
    """A coordinate measured at times; noise is the standard deviation of a value, estimated if None."""

    times: ArrayLike
    values: ArrayLike
    noise: float | None = None

    def smoothed(self, name: str = "the coordinate") -> SmoothingSpline:
        """The most likely motion; TaskError if the samples cannot tell it."""
        try:
            times, values = np.asarray(self.times, dtype=float), np.asarray(self.values, dtype=float)
        except (TypeError, ValueError):
            raise TaskError(f"samples of {name} are no numbers: give an array of times and one of values") from None
        if times.ndim != 1 or times.shape != values.shape or len(times) < _FEWEST:
            message = f"samples of {name} have times of shape {times.shape} and values of shape {values.shape}"
            raise TaskError(f"{message}: give two arrays of one length, at least {_FEWEST}")
        if not (np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all()):
            raise TaskError(f"times of the samples of {name} must increase, and all values must be finite numbers")
        if self.noise is not None and not 0 < self.noise < float("inf"):
            raise TaskError(f"the noise of {name} is {self.noise}: give a standard deviation above zero, or None")
        fits = [_fitted(name, times, values, self.noise, order) for order in _ORDERS]
        return min(fits, key=lambda one: one.cost)


@dataclass(frozen=True, eq=False)
class SmoothingSpline:
    """The most likely motion; noise is the standard deviation of a sample, given or estimated.

    covariance: of the coefficients; at_ends: what is added at the ends, and less and less within their reach.
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
        """Of position, velocity and acceleration, a 3 x 3 matrix for each time."""
        rows = self._rows(times)
        at = (times - self.start) / self.length
        near = np.clip(1 - np.minimum(at, 1 - at) / self.reach, 0.0, 1.0)[:, None, None]
        parts = (rows @ one @ np.swapaxes(rows, 1, 2) for one in (self.covariance, self.at_ends))
        return np.asarray(next(parts) + near * next(parts))

    def standard_errors(self, times: Floats) -> Floats:
        """Of position, velocity and acceleration: rows are times."""
        return np.sqrt(np.diagonal(self.covariances(times), axis1=1, axis2=2))

    def _rows(self, times: Floats) -> Floats:
        at = (times - self.start) / self.length
        if np.any((at < -1e-9) | (at > 1 + 1e-9)):
            first, last = self.start, self.start + self.length
            raise TaskError(f"{self.name} was measured from t = {first:.6g} to {last:.6g} alone: ask for times between")
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
    """Fewer pieces than half the samples, so that these determine them for every lambda."""
    pieces = max(1, min(len(at) // 2 - degree, _MOST_PIECES))
    inner = np.interp(np.linspace(0, len(at) - 1, pieces + 1), np.arange(len(at)), at)
    return np.concatenate([np.zeros(degree), inner, np.ones(degree)])


def _penalty(basis: BSpline, order: int) -> Floats:
    """The integral of products of derivatives: polynomials that as many points as the order integrate exactly."""
    inner = np.unique(basis.t)
    places, weights = np.polynomial.legendre.leggauss(order)
    half = np.diff(inner)[:, None] / 2
    at = (inner[:-1, None] + half * (1 + places)).ravel()
    rough = np.asarray(basis(at, nu=order))
    return np.asarray(rough.T @ ((half * weights).ravel()[:, None] * rough))


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """How likely the data are for a lambda: the basis at the times, the values, the penalty and its order."""

    basis: Floats
    values: Floats
    penalty: Floats
    order: int

    @cached_property
    def _normal(self) -> Floats:
        return np.asarray(self.basis.T @ self.basis)

    @property
    def _degrees_of_freedom(self) -> int:
        """Polynomials below the order are not penalised: they take as many data to themselves."""
        return len(self.values) - self.order

    def _weight(self, logarithm: float) -> float:
        return float(np.exp(logarithm) * np.trace(self._normal) / np.trace(self.penalty))

    def solved(self, logarithm: float) -> tuple[Floats, tuple[Floats, bool], float]:
        """Coefficients, the factorised matrix, and the most likely variance of the noise."""
        weight = self._weight(logarithm)
        factor = cho_factor(self._normal + weight * self.penalty, lower=True)
        coefficients = cho_solve(factor, self.basis.T @ self.values)
        misfits = self.values - self.basis @ coefficients
        squares = float(misfits @ misfits + weight * (coefficients @ self.penalty @ coefficients))
        return coefficients, factor, max(squares, 1e-300) / self._degrees_of_freedom

    def mean_squares(
        self, coefficients: Floats, factor: tuple[Floats, bool], variance: float
    ) -> tuple[Floats, Floats, float]:
        """Of the coefficients' errors: those of noise and of smoothing; what the Gaussian process expects of smoothing
        beyond; and how far the ends reach, as a part of the whole: what a coefficient of the smooth curve takes."""
        effect = cho_solve(factor, self._normal)
        whole = cho_solve(factor, np.eye(len(coefficients)))
        spread = effect @ whole
        spread = (spread + spread.T) / 2
        restored = 2 * coefficients - effect @ coefficients  # what smoothing once took away is given back
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
        """The logarithm of the determinant of the penalty beyond the polynomials it leaves out."""
        sizes = np.linalg.eigvalsh(self.penalty)[self.order :]
        return float(np.sum(np.log(np.maximum(sizes, 1e-300))))
