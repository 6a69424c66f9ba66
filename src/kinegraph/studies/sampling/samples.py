"""The numbers of every case, fixed by the seed and the index of the case before anything runs.

Case 0 is the nominal one. Case i > 0 takes row i - 1 of the design; who runs it, and beside which others, is of no
importance.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from kinegraph.errors import StudyError
from kinegraph.seeds import require_seed
from kinegraph.studies.sampling.distributions import Choice, Distribution, Floats


class Design(Enum):
    """How the unit cube is filled; the value is the word for it."""

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
            raise StudyError(f"there is no design {name!r}; known are {known}") from None

    @property
    def extensible(self) -> bool:
        """Whether more cases leave those before them as they are."""
        return self not in (Design.LATIN, Design.SALTELLI)


@dataclass(frozen=True)
class Samples:
    """Laws of names, a design and a seed; `nominal` are the values of case 0 by name. cases: besides that one."""

    laws: Mapping[tuple[str, ...], Distribution]
    nominal: Mapping[str, float]
    cases: int
    design: Design = Design.RANDOM
    seed: int = 0

    def __post_init__(self) -> None:
        if self.cases < 1 or self.cases > 10**10:
            raise StudyError(f"cases is {self.cases}: give a number between 1 and 10^10")
        require_seed(self.seed, StudyError)
        if self.design is Design.SOBOL and self.cases > 2**30:
            raise StudyError(f"a Sobol sequence has 2^30 points, not {self.cases}: ask for less, or for random cases")
        if self.design is Design.TABLE:
            _check_tables(self.laws, self.cases)
        if self.design is Design.SALTELLI and self.cases % self._block:
            rows = max(self.cases // self._block, 1) * self._block
            raise StudyError(f"a Saltelli design of {self.dimensions} dimensions takes {self._block} cases a point: "
                             f"ask for a multiple of it, e.g. {rows}")  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        """All names that are varied."""
        return tuple(name for names in self.laws for name in names)

    @property
    def dimensions(self) -> int:
        """Of the unit cube."""
        return sum(law.dimensions(len(names)) for names, law in self.laws.items())

    @property
    def axes(self) -> tuple[str, ...]:
        """The coordinates of the unit cube by name; those of a disc are `x, y (1)` (how far) and `x, y (2)` (where)."""
        found: list[str] = []
        for names, law in self.laws.items():
            count, name = law.dimensions(len(names)), ", ".join(names)
            found += [name] if count == 1 else [f"{name} ({k})" for k in range(1, count + 1)]
        return tuple(found)

    @property
    def total(self) -> int:
        """Cases with the nominal one."""
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
        for names, law in self.laws.items():
            width = law.dimensions(len(names))
            part = cube[:, place : place + width]
            if self.design is Design.TABLE:
                assert isinstance(law, Choice)
                columns.append(np.array(law.rows)[part[:, 0].astype(int)])
            else:
                columns.append(law.values(part, len(names)))
            place += width
        return np.hstack(columns) if columns else np.zeros((len(cube), 0))

    def _sequence(self, first: int, last: int) -> Floats:
        from scipy.stats import qmc

        sequence = qmc.Sobol if self.design is Design.SOBOL else qmc.Halton
        engine = sequence(self.dimensions, scramble=True, rng=np.random.default_rng(self.seed))
        if first:
            engine.fast_forward(first)
        with warnings.catch_warnings():  # that the balance is best for powers of two is said in the documentation
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(engine.random(last - first))

    @property
    def _block(self) -> int:
        return self.dimensions + 2

    @cached_property
    def _whole(self) -> Floats:
        """Designs that are known as a whole only."""
        if self.design is Design.LATIN:
            from scipy.stats import qmc

            return np.asarray(
                qmc.LatinHypercube(self.dimensions, rng=np.random.default_rng(self.seed)).random(self.cases)
            )
        return _saltelli(self.dimensions, self.cases // self._block, self.seed)


def case_seed(seed: int, index: int) -> int:
    """A seed of its own for every case, for whoever draws more than the laws do."""
    return int(np.random.SeedSequence(seed, spawn_key=(index,)).generate_state(1, np.uint64)[0])


def _random(seed: int, dimensions: int, first: int, last: int) -> Floats:
    """Rows of one endless table: Philox counts, so that any row can be had without those before it."""
    width = -(-max(dimensions, 1) // 4) * 4  # it gives four numbers a count
    stream = np.random.Philox(key=seed)
    stream.advance(first * (width // 4))
    return np.random.Generator(stream).random((last - first, width))[:, :dimensions]


def _saltelli(dimensions: int, points: int, seed: int) -> Floats:
    """For every point: A, then A with one column of B each, then B; first-order and total indices need these."""
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


def _check_tables(laws: Mapping[tuple[str, ...], Distribution], cases: int) -> None:
    for names, law in laws.items():
        if not isinstance(law, Choice):
            raise StudyError(f"{', '.join(names)}: the design `table` takes lists of values alone")
        if len(law.rows) != cases:
            raise StudyError(f"{', '.join(names)}: {len(law.rows)} values for {cases} cases")
