"""Distributions, designs, and samples: the numbers of every case."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from math import isfinite, pi
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinegraph.errors import KinegraphError, StudyError
from kinegraph.files import read_input_text
from kinegraph.model.evaluate import number
from kinegraph.model.names import did_you_mean
from kinegraph.seeds import require_seed
from kinegraph.simulate.formulas import formula

# Distributions. Each maps points of the unit cube, so that any design can fill it. A joint distribution of n numbers (a
# disc, a ball) takes `dimensions` coordinates of the cube and gives n columns.

Floats = NDArray[np.float64]


class Distribution(ABC):
    """The distribution of one number, or the joint distribution of `width` numbers."""

    @property
    def width(self) -> int | None:
        """The number of names it gives values to; None for any number."""
        return 1

    def dimensions(self, width: int) -> int:
        """The number of coordinates of the unit cube it uses for so many numbers."""
        return width

    @abstractmethod
    def values(self, cube: Floats, width: int) -> Floats:
        """Numbers, one row per point of the unit cube."""

    @abstractmethod
    def center(self, width: int) -> Floats:
        """The numbers of the nominal case, if the model gives none."""


def _finite(distribution: str, **numbers: float) -> None:
    for name, value in numbers.items():
        if not isfinite(value):
            raise StudyError(f"{distribution}: {name} is {value!r}; give a finite number")


@dataclass(frozen=True)
class Uniform(Distribution):
    """The uniform distribution between two numbers."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _finite("uniform", low=self.low, high=self.high)
        if not self.low < self.high:
            raise StudyError(f"uniform({self.low!r}, {self.high!r}): the first number must be smaller than the second")

    def values(self, cube: Floats, width: int) -> Floats:
        return self.low + (self.high - self.low) * cube

    def center(self, width: int) -> Floats:
        return np.array([0.5 * (self.low + self.high)])


@dataclass(frozen=True)
class Normal(Distribution):
    """The normal distribution by its mean and standard deviation; truncated at `low` and `high` if given."""

    mean: float
    deviation: float
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        _finite("normal", mean=self.mean, deviation=self.deviation)
        if not self.deviation > 0:
            raise StudyError(f"normal: the standard deviation is {self.deviation!r}; give a positive number")
        if not self.low < self.high:
            raise StudyError(f"normal: truncation to {self.low!r} .. {self.high!r} leaves no values")

    def values(self, cube: Floats, width: int) -> Floats:
        from scipy.stats import truncnorm

        low, high = (self.low - self.mean) / self.deviation, (self.high - self.mean) / self.deviation
        drawn = truncnorm.ppf(_open(cube), low, high)
        return np.asarray(self.mean + self.deviation * drawn, dtype=float)

    def center(self, width: int) -> Floats:
        return np.array([min(max(self.mean, self.low), self.high)])


@dataclass(frozen=True)
class Ball(Distribution):
    """The uniform distribution within a radius of zero: a disc for two numbers, a ball for three, and so on."""

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

    def center(self, width: int) -> Floats:
        return np.zeros(width)


def _directions(cube: Floats, width: int) -> Floats:
    """Uniformly distributed unit vectors."""
    if width == 1:
        raise StudyError("a disc or a ball needs at least two names: write x,y=disc(0.1)")
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
    """A choice among rows of numbers, uniform or by weights; in their order if the design is `table`."""

    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows}
        if not self.rows or len(widths) != 1:
            raise StudyError("a choice needs at least one value, and rows of equal length")
        if not np.all(np.isfinite(np.array(self.rows))):
            raise StudyError("the values of a choice must be finite")
        if self.weights and (len(self.weights) != len(self.rows) or min(self.weights) < 0 or sum(self.weights) <= 0):
            raise StudyError("weights of a choice: give one per value, none negative, not all zero")

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

    def center(self, width: int) -> Floats:
        return np.array(self.rows[0])


def _open(cube: Floats) -> Floats:
    """Points strictly inside the cube: normal distributions are infinite on its boundary."""
    return np.asarray(np.clip(cube, 1e-300, 1.0 - 2.0**-53))


# Distributions as text: `uniform(-0.1, 0.1)`, `normal(0, 1)`, `truncated(0, 1, -2, 2)`, `disc(0.1)`, `choice(1, 2, 3)`.

#: A distribution as the user gives it: an object, its text, or a list of values to choose from.
DistributionLike: TypeAlias = "Distribution | str | ArrayLike"

_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_LARGEST_TABLE = 200_000_000

#: Distributions by name: the number of arguments, and the constructor.
_LAWS: dict[str, tuple[tuple[int, ...], Callable[..., Distribution]]] = {
    "uniform": ((2,), Uniform),
    "normal": ((2,), Normal),
    "truncated": ((4,), Normal),
    "disc": ((1,), Ball),
    "ball": ((1,), Ball),
}


def read_distribution(given: DistributionLike, names: tuple[str, ...], folder: Path | None = None) -> Distribution:
    """The distribution of these names, checked against their number; tables are read from `folder`."""
    distribution = _distribution(given, ", ".join(names), folder)
    if distribution.width is not None and distribution.width != len(names):
        raise StudyError(
            f"{', '.join(names)}: the distribution gives {distribution.width} numbers for {len(names)} names"
        )
    # A ball of one number raises its own error.
    distribution.values(np.full((1, distribution.dimensions(len(names))), 0.4), len(names))
    return distribution


def _distribution(given: DistributionLike, where: str, folder: Path | None) -> Distribution:
    if isinstance(given, Distribution):
        return given
    if not isinstance(given, str):
        try:
            return Choice.of(given)
        except (TypeError, ValueError):
            raise StudyError(f"{where}: {given!r:.80} is not a distribution; write e.g. 'uniform(-0.1, 0.1)'") from None
    found = _CALL.fullmatch(given)
    known = (*_LAWS, "choice", "table")
    if found is None or found[1] not in known:
        word = found[1] if found else given.strip()
        raise StudyError(f"{where}: unknown distribution {word!r}\n  {did_you_mean(word, known)}")
    if found[1] == "table":
        return _table(found[2].strip().strip("'\""), where, folder)
    numbers = [_number(text, where) for text in _parts(found[2])]
    if found[1] == "choice":
        return Choice.of(numbers)
    counts, make = _LAWS[found[1]]
    if len(numbers) not in counts:
        raise StudyError(f"{where}: {found[1]} takes {counts[0]} numbers, not {len(numbers)}")
    return make(*numbers)


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _number(text: str, where: str) -> float:
    try:
        return number(formula(text), {})
    except KinegraphError:
        raise StudyError(f"{where}: {text.strip()!r} is not a number; write one, such as 0.1 or pi/3") from None


def _table(name: str, where: str, folder: Path | None) -> Choice:
    """The rows of a .csv file, one column per name; a header is skipped."""
    path = (folder or Path()) / name
    lines = read_input_text(path, _LARGEST_TABLE, "table").splitlines()
    head = bool(lines) and lines[0][:1].strip("+-.0123456789 ") != ""
    try:
        return Choice.of(np.loadtxt(lines[head:], delimiter=",", ndmin=2))
    except ValueError:
        raise StudyError(f"{where}: {path} does not contain comma-separated columns of numbers") from None


def read_distributions(
    given: Mapping[str, DistributionLike] | Mapping[tuple[str, ...], DistributionLike], folder: Path | None = None
) -> Distributions:
    """Distributions by name; names of a joint distribution are a tuple, or separated by commas: "x, y"."""
    distributions: dict[tuple[str, ...], Distribution] = {}
    seen: set[str] = set()
    for key, distribution in given.items():
        names = key if isinstance(key, tuple) else tuple(part.strip() for part in key.split(","))
        twice = seen & set(names) or {name for name in names if names.count(name) > 1}
        if twice:
            raise StudyError(f"vary: {min(twice)} is given twice")
        seen |= set(names)
        distributions[names] = read_distribution(distribution, names, folder)
    return distributions


Distributions: TypeAlias = "dict[tuple[str, ...], Distribution]"


# The numbers of every case, determined by the seed and the index of the case. Case 0 is the nominal one. Case i > 0
# takes row i - 1 of the design, independent of where it runs and with which others.


class Design(Enum):
    """How the unit cube is filled; the value is the name of the design."""

    RANDOM = "random"
    LATIN = "latin"
    SOBOL = "sobol"
    HALTON = "halton"
    SALTELLI = "saltelli"
    TABLE = "table"

    @classmethod
    def named(cls, name: object) -> Design:
        """The design of this name."""
        try:
            return cls(str(name).lower())
        except ValueError:
            known = ", ".join(one.value for one in cls)
            raise StudyError(f"unknown design {name!r}; choose from {known}") from None

    @property
    def extensible(self) -> bool:
        """Whether adding cases leaves the earlier ones unchanged."""
        return self not in (Design.LATIN, Design.SALTELLI)


@dataclass(frozen=True)
class Samples:
    """Distributions of names, a design and a seed; `nominal` are the values of case 0 by name. cases: without case
    0."""

    distributions: Mapping[tuple[str, ...], Distribution]
    nominal: Mapping[str, float]
    cases: int
    design: Design = Design.RANDOM
    seed: int = 0

    def __post_init__(self) -> None:
        if self.cases < 1 or self.cases > 10**10:
            raise StudyError(f"cases is {self.cases}: give a number between 1 and 10^10")
        require_seed(self.seed, StudyError)
        if self.design is Design.SOBOL and self.cases > 2**30:
            raise StudyError(
                f"a Sobol sequence has 2^30 points, fewer than {self.cases}: request fewer cases, or random ones"
            )
        if self.design is Design.TABLE:
            _check_tables(self.distributions, self.cases)
        if self.design is Design.SALTELLI and self.cases % self._block:
            rows = max(self.cases // self._block, 1) * self._block
            raise StudyError(
                f"a Saltelli design of {self.dimensions} dimensions takes {self._block} cases per point: "
                f"request a multiple of it, e.g. {rows}"
            )

    @property
    def names(self) -> tuple[str, ...]:
        """All varied names."""
        return tuple(name for names in self.distributions for name in names)

    @property
    def dimensions(self) -> int:
        """The dimension of the unit cube."""
        return sum(distribution.dimensions(len(names)) for names, distribution in self.distributions.items())

    @property
    def axes(self) -> tuple[str, ...]:
        """The coordinates of the unit cube by name; those of a disc are `x, y (1)` (radius) and `x, y (2)`
        (direction)."""
        found: list[str] = []
        for names, distribution in self.distributions.items():
            count, name = distribution.dimensions(len(names)), ", ".join(names)
            found += [name] if count == 1 else [f"{name} ({k})" for k in range(1, count + 1)]
        return tuple(found)

    @property
    def total(self) -> int:
        """The number of cases, including the nominal one."""
        return self.cases + 1

    def rows(self, first: int, last: int) -> Floats:
        """The values of cases first <= index < last, columns by `names`."""
        drawn = self._mapped(self.cube(max(first - 1, 0), last - 1)) if last > 1 else np.zeros((0, len(self.names)))
        if first > 0:
            return drawn
        return np.vstack([[self.nominal[name] for name in self.names], drawn])

    def cube(self, first: int, last: int) -> Floats:
        """Rows of the design: points of the unit cube."""
        match self.design:
            case Design.RANDOM:
                return _random(self.seed, self.dimensions, first, last)
            case Design.SOBOL | Design.HALTON:
                return self._sequence(first, last)
            case Design.TABLE:
                return np.repeat(np.arange(first, last)[:, None], max(self.dimensions, 1), axis=1).astype(float)
        return self._whole[first:last]

    def _mapped(self, cube: Floats) -> Floats:
        columns, place = [], 0
        for names, distribution in self.distributions.items():
            width = distribution.dimensions(len(names))
            part = cube[:, place : place + width]
            if self.design is Design.TABLE:
                assert isinstance(distribution, Choice)
                columns.append(np.array(distribution.rows)[part[:, 0].astype(int)])
            else:
                columns.append(distribution.values(part, len(names)))
            place += width
        return np.hstack(columns) if columns else np.zeros((len(cube), 0))

    def _sequence(self, first: int, last: int) -> Floats:
        from scipy.stats import qmc

        sequence = qmc.Sobol if self.design is Design.SOBOL else qmc.Halton
        engine = sequence(self.dimensions, scramble=True, rng=np.random.default_rng(self.seed))
        if first:
            engine.fast_forward(first)
        with warnings.catch_warnings():  # the documentation says that powers of two are balanced best
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(engine.random(last - first))

    @property
    def _block(self) -> int:
        return self.dimensions + 2

    @cached_property
    def _whole(self) -> Floats:
        """Designs that are computed only as a whole."""
        if self.design is Design.LATIN:
            from scipy.stats import qmc

            return np.asarray(
                qmc.LatinHypercube(self.dimensions, rng=np.random.default_rng(self.seed)).random(self.cases)
            )
        return _saltelli(self.dimensions, self.cases // self._block, self.seed)


def case_seed(seed: int, index: int) -> int:
    """A separate seed for every case, for further random numbers."""
    return int(np.random.SeedSequence(seed, spawn_key=(index,)).generate_state(1, np.uint64)[0])


def _random(seed: int, dimensions: int, first: int, last: int) -> Floats:
    """Rows of one endless table: Philox is counter-based, so any row can be computed without those before it."""
    width = -(-max(dimensions, 1) // 4) * 4  # it gives four numbers per count
    stream = np.random.Philox(key=seed)
    stream.advance(first * (width // 4))
    return np.random.Generator(stream).random((last - first, width))[:, :dimensions]


def _saltelli(dimensions: int, points: int, seed: int) -> Floats:
    """For every point: A, then A with one column of B each, then B, as first-order and total indices need."""
    from scipy.stats import qmc

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        both = qmc.Sobol(2 * dimensions, scramble=True, rng=np.random.default_rng(seed)).random(points)
    a, b = both[:, :dimensions], both[:, dimensions:]
    rows = np.repeat(a[:, None, :], dimensions + 2, axis=1)
    for k in range(dimensions):
        rows[:, k + 1, k] = b[:, k]
    rows[:, -1, :] = b
    return rows.reshape(-1, dimensions)


def _check_tables(distributions: Mapping[tuple[str, ...], Distribution], cases: int) -> None:
    for names, distribution in distributions.items():
        if not isinstance(distribution, Choice):
            raise StudyError(f"{', '.join(names)}: the design `table` takes only lists of values")
        if len(distribution.rows) != cases:
            raise StudyError(f"{', '.join(names)}: {len(distribution.rows)} values for {cases} cases")
