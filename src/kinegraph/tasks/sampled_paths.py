"""Paths given as samples: a spline of each, read at one time as value, rate and acceleration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from kinegraph.errors import TaskError
from kinegraph.model.expressions import TIME, Expression, Name, Scalar, expression
from kinegraph.model.mechanism import Mechanism, Parameter
from kinegraph.tasks.operating_point import Floats

#: What a path prescribes: a formula of time, or samples as two arrays: times and values.
PathLaw: TypeAlias = "Scalar | tuple[ArrayLike, ArrayLike]"

_FEWEST, _DEGREE = 4, 5


@dataclass(frozen=True, eq=False)
class SampledPath:
    """The samples of one subject, interpolated by a spline of degree five (three, with fewer than six samples)."""

    subject: str
    spline: BSpline
    start: float
    end: float

    @classmethod
    def of(cls, subject: str, law: tuple[ArrayLike, ArrayLike]) -> SampledPath:
        """Read the samples; TaskError if they are not numbers over increasing times."""
        try:
            times, values = (np.asarray(part, dtype=float) for part in law)
        except (TypeError, ValueError):
            raise TaskError(f"the path of {subject} is not a formula, nor two arrays: times and values") from None
        if times.ndim != 1 or times.shape != values.shape or len(times) < _FEWEST:
            raise TaskError(
                f"the path of {subject} has {times.size} times and {values.size} values: give as many of each, at "
                f"least {_FEWEST}"
            )
        if not (np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all()):
            raise TaskError(f"the path of {subject}: times must increase, and all values must be finite")
        degree = _DEGREE if len(times) > _DEGREE else 3
        return cls(subject, make_interp_spline(times, values, degree), float(times[0]), float(times[-1]))

    def around(self, time: float) -> list[float]:
        """Value, rate and acceleration at a time, and this time."""
        return [*(float(self.spline(time, order)) for order in range(3)), time]

    def require(self, times: Floats) -> None:
        """TaskError for times outside the samples."""
        if times[0] < self.start or times[-1] > self.end:
            raise TaskError(
                f"the path of {self.subject} has samples from t = {self.start:.6g} to {self.end:.6g}, but times are "
                f"from {times[0]:.6g} to {times[-1]:.6g}"
            )


@dataclass(frozen=True)
class SampledPaths:
    """All sampled paths of a mechanism, with the parameters that hold their numbers at one time."""

    paths: tuple[SampledPath, ...]

    @classmethod
    def among(cls, path: Mapping[str, PathLaw]) -> tuple[SampledPaths, dict[str, Scalar]]:
        """The sampled ones, and all as formulas: those of the sampled ones are Taylor's, about the present time."""
        found = tuple(SampledPath.of(name, law) for name, law in path.items() if isinstance(law, tuple | list))
        laws: dict[str, Scalar] = {name: law for name, law in path.items() if not isinstance(law, tuple | list)}
        formulas = {one.subject: _taylor(_names(place)) for place, one in enumerate(found)}
        return cls(found), {name: formulas[name] if name in formulas else laws[name] for name in path}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(name for place in range(len(self.paths)) for name in _names(place))

    def numbers(self, time: float) -> Floats:
        """The values of the parameters at a time."""
        return np.array([value for one in self.paths for value in one.around(time)])

    def declared(self, mechanism: Mechanism, time: float) -> Mechanism:
        """The mechanism with the parameters, as they are at a time."""
        values = zip(self.names, self.numbers(time).tolist(), strict=True)
        added = (Parameter(name, expression(value)) for name, value in values)
        return replace(mechanism, parameters=(*mechanism.parameters, *added))


def _names(place: int) -> tuple[str, ...]:
    return tuple(f"path${place}${what}" for what in ("value", "rate", "acceleration", "time"))


def _taylor(names: tuple[str, ...]) -> Expression:
    value, rate, acceleration, time = map(Name, names)
    since = Name(TIME) - time
    return value + rate * since + acceleration * since * since / 2
