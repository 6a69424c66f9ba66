"""Laws that numbers are drawn by. Each takes points of the unit cube, so that any design can fill it.

A law of n numbers at once (a disc, a ball) takes `dimensions` coordinates of the cube and gives n columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.errors import StudyError

Floats = NDArray[np.float64]


class Distribution(ABC):
    """A law of one number, or of `width` numbers that belong together."""

    @property
    def width(self) -> int | None:
        """How many names it gives values to; None takes as many as there are."""
        return 1

    def dimensions(self, width: int) -> int:
        """How many coordinates of the unit cube it uses for so many numbers."""
        return width

    @abstractmethod
    def values(self, cube: Floats, width: int) -> Floats:
        """Numbers, a row for each row of points of the unit cube."""

    @abstractmethod
    def centre(self, width: int) -> Floats:
        """The numbers of the nominal case, where the model says none."""


def _finite(law: str, **numbers: float) -> None:
    for name, value in numbers.items():
        if not isfinite(value):
            raise StudyError(f"{law}: {name} is {value!r}; give a finite number")


@dataclass(frozen=True)
class Uniform(Distribution):
    """Every number between two is as likely."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _finite("uniform", low=self.low, high=self.high)
        if not self.low < self.high:
            raise StudyError(f"uniform({self.low!r}, {self.high!r}): the first number must be below the second")

    def values(self, cube: Floats, width: int) -> Floats:
        return self.low + (self.high - self.low) * cube

    def centre(self, width: int) -> Floats:
        return np.array([0.5 * (self.low + self.high)])


@dataclass(frozen=True)
class Normal(Distribution):
    """The normal law by its mean and standard deviation; cut off where `low` and `high` say so."""

    mean: float
    deviation: float
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        _finite("normal", mean=self.mean, deviation=self.deviation)
        if not self.deviation > 0:
            raise StudyError(f"normal: the standard deviation is {self.deviation!r}; give a positive number")
        if not self.low < self.high:
            raise StudyError(f"normal: cut off below {self.low!r} and above {self.high!r} leaves nothing")

    def values(self, cube: Floats, width: int) -> Floats:
        from scipy.stats import truncnorm

        low, high = (self.low - self.mean) / self.deviation, (self.high - self.mean) / self.deviation
        drawn = truncnorm.ppf(_open(cube), low, high)
        return np.asarray(self.mean + self.deviation * drawn, dtype=float)

    def centre(self, width: int) -> Floats:
        return np.array([min(max(self.mean, self.low), self.high)])


@dataclass(frozen=True)
class Ball(Distribution):
    """All points within a radius of zero are as likely: a disc for two numbers, a ball for three, and so on."""

    radius: float

    def __post_init__(self) -> None:
        _finite("ball", radius=self.radius)
        if not self.radius > 0:
            raise StudyError(f"ball: the radius is {self.radius!r}; give a positive number")

    @property
    def width(self) -> int | None:
        return None

    def dimensions(self, width: int) -> int:
        return width if width <= 3 else width + 1

    def values(self, cube: Floats, width: int) -> Floats:
        reach = self.radius * cube[:, 0] ** (1.0 / width)
        return np.asarray(reach[:, None] * _directions(cube[:, 1:], width))

    def centre(self, width: int) -> Floats:
        return np.zeros(width)


def _directions(cube: Floats, width: int) -> Floats:
    """Unit vectors, all directions as likely."""
    if width == 1:
        raise StudyError("a disc or a ball gives values to two names or more: write x,y=disc(0.1)")
    if width > 3:
        from scipy.special import ndtri

        vectors = ndtri(_open(cube))
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    angle = 2.0 * pi * cube[:, 0]
    flat = np.column_stack([np.cos(angle), np.sin(angle)])
    if width == 2:
        return flat
    height = 2.0 * cube[:, 1] - 1.0
    return np.column_stack([np.sqrt(1.0 - height**2)[:, None] * flat, height])


@dataclass(frozen=True)
class Choice(Distribution):
    """One of some rows of numbers, all as likely or by weights; in their order where the design is `table`."""

    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows}
        if not self.rows or len(widths) != 1:
            raise StudyError("a choice needs at least one value, and rows of one length")
        if not np.all(np.isfinite(np.array(self.rows))):
            raise StudyError("a choice takes finite numbers alone")
        if self.weights and (len(self.weights) != len(self.rows) or min(self.weights) < 0 or sum(self.weights) <= 0):
            raise StudyError("weights of a choice: give one for each value, none negative, not all zero")

    @classmethod
    def of(cls, values: ArrayLike, weights: Sequence[float] = ()) -> Choice:
        """Values of one name as a list, or of several names as rows."""
        array = np.asarray(values, dtype=float)
        rows = array[:, None] if array.ndim == 1 else array
        return cls(tuple(tuple(row) for row in rows.tolist()), tuple(weights))

    @property
    def width(self) -> int | None:
        return len(self.rows[0])

    def dimensions(self, width: int) -> int:
        return 1

    def values(self, cube: Floats, width: int) -> Floats:
        weights = np.array(self.weights or [1.0] * len(self.rows))
        edges = np.cumsum(weights / weights.sum())
        place = np.minimum(np.searchsorted(edges, cube[:, 0], side="right"), len(self.rows) - 1)
        return np.asarray(np.array(self.rows)[place])

    def centre(self, width: int) -> Floats:
        return np.array(self.rows[0])


def _open(cube: Floats) -> Floats:
    """Points of the cube without its walls, where normal laws are infinite."""
    return np.asarray(np.clip(cube, 1e-300, 1.0 - 2.0**-53))
