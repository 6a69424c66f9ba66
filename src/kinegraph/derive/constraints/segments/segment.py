"""A segment of a planar loop, cut free at both ends: how its ends accelerate under forces there.

About the centre of mass C the translation is alone, M a_C = forces, and the angular accelerations obey
G alpha = moments, with G_ij = Re(K_ij exp(i (phi_j - phi_i))), K constant. The start lies at C + sum s_i, the end at
C + sum e_i with s_i and e_i fixed in the bars. All accelerations are less gravity, which then acts on nothing but the
ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from kinegraph.derive.constraints.segments.ring import Bar, Plane
from kinegraph.derive.dynamics.forward import Factorised
from kinegraph.derive.tree.algebra import sum_of_products
from kinegraph.derive.tree.coordinates import Square
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class Constants:
    """What does not move: 1/M, the diagonal of G, K of every pair of bars, and the parts of both ends in every bar."""

    light: Scalar
    diagonal: tuple[Scalar, ...]
    couplings: dict[tuple[int, int], Plane]
    start: tuple[Plane, ...]
    end: tuple[Plane, ...]

    def numbers(self) -> list[Scalar]:
        """All of them in one row."""
        pairs = (*self.couplings.values(), *self.start, *self.end)
        return [self.light, *self.diagonal, *(item for pair in pairs for item in pair)]

    def with_numbers(self, numbers: Sequence[Scalar]) -> Constants:
        """The same with other numbers, in the order of `numbers`."""
        size = len(self.diagonal)
        light, diagonal, rest = numbers[0], numbers[1 : size + 1], iter(numbers[size + 1 :])
        pairs = list(zip(rest, rest, strict=True))
        count = len(self.couplings)
        couplings = dict(zip(self.couplings, pairs[:count], strict=True))
        start, end = pairs[count : count + size], pairs[count + size :]
        return Constants(light, tuple(diagonal), couplings, tuple(start), tuple(end))


def constants(bars: Sequence[Bar]) -> Constants:
    """The constants of a row of bars."""
    total = sum((bar.mass for bar in bars[1:]), bars[0].mass)
    light = total.reciprocal()
    moments, after = [], total
    for bar in bars:
        after = after - bar.mass
        moments.append((bar.first[0] + after * bar.way[0], bar.first[1] + after * bar.way[1]))
    start = tuple((-light * x, -light * y) for x, y in moments)
    end = tuple((bar.way[0] + x, bar.way[1] + y) for bar, (x, y) in zip(bars, start, strict=True))
    couplings = {
        (i, j): _conjugate_product(end[i], moments[j]) for i in range(len(bars)) for j in range(i + 1, len(bars))
    }
    diagonal, after = [], total
    for bar, (x, y) in zip(bars, moments, strict=True):
        after = after - bar.mass
        length = bar.way[0] * bar.way[0] + bar.way[1] * bar.way[1]
        diagonal.append(bar.inertia + after * length - light * (x * x + y * y))
    return Constants(light, tuple(diagonal), couplings, start, end)


def _conjugate_product(a: Plane, b: Plane) -> Plane:
    """conj(a) b of two vectors taken as complex numbers."""
    return a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]


@dataclass(frozen=True)
class BarMotion:
    """What moves in a segment, bar by bar; `moment` is what acts on each bar beside the forces at the ends."""

    sine: tuple[Scalar, ...]
    cosine: tuple[Scalar, ...]
    rate: tuple[Scalar, ...]
    moment: tuple[Scalar, ...]


class Segment:
    """The compliance of a segment at its ends, and what its bars do under forces there.

    The four directions are the two of the plane at the start, then at the end.
    """

    def __init__(self, constant: Constants, motion_of_bars: BarMotion, names: Sequence[str]) -> None:
        self.constant, self.motion_of_bars = constant, motion_of_bars
        self._names = names
        self.size = len(motion_of_bars.rate)
        self._squares = [rate * rate for rate in motion_of_bars.rate]

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], Plane]:
        """Cosine and sine of the angle between two bars."""
        s, c = self.motion_of_bars.sine, self.motion_of_bars.cosine
        return {
            (i, j): (c[i] * c[j] + s[i] * s[j], c[i] * s[j] - s[i] * c[j])
            for i in range(self.size)
            for j in range(i + 1, self.size)
        }

    @cached_property
    def _inertia(self) -> Factorised:
        entries = [[item] * self.size for item in self.constant.diagonal]
        for (i, j), (real, imaginary) in self.constant.couplings.items():
            cosine, sine = self._pairs[i, j]
            entries[i][j] = entries[j][i] = real * cosine - imaginary * sine
        return Factorised(entries, range(self.size), self._names)

    def _moments(self) -> list[Scalar]:
        """On every bar: what acts on it, less what its rotation takes without acceleration."""
        found = list(self.motion_of_bars.moment)
        for (i, j), (real, imaginary) in self.constant.couplings.items():
            cosine, sine = self._pairs[i, j]
            pull = real * sine + imaginary * cosine
            found[i] = found[i] + pull * self._squares[j]
            found[j] = found[j] - pull * self._squares[i]
        return found

    @cached_property
    def _ends(self) -> list[Plane]:
        """The parts of the start, then of the end, in every bar, in the axes of the plane."""
        turned = zip(self.motion_of_bars.sine * 2, self.motion_of_bars.cosine * 2, strict=True)
        parts = (*self.constant.start, *self.constant.end)
        return [(c * x - s * y, s * x + c * y) for (s, c), (x, y) in zip(turned, parts, strict=True)]

    @cached_property
    def _uppers(self) -> Square:
        """L^-T E of the four directions: E is how they move with the angles of the bars."""
        start, end = self._ends[: self.size], self._ends[self.size :]
        return [
            self._inertia.solve_upper(column)
            for part in (start, end)
            for column in ([-y for _, y in part], [x for x, _ in part])
        ]

    @cached_property
    def _upper(self) -> list[Scalar]:
        return self._inertia.solve_upper(self._moments())

    @cached_property
    def _scaled(self) -> Square:
        return [self._inertia.scaled(row) for row in self._uppers]

    @cached_property
    def compliance(self) -> Square:
        """The acceleration along each of the four directions under a unit force along each of them."""
        return [[self._entry(max(i, j), min(i, j)) for j in range(4)] for i in range(4)]

    def _entry(self, i: int, j: int) -> Scalar:
        """Of two directions; those that are parallel also move the centre of mass."""
        parallel = (i - j) % 2 == 0
        return sum_of_products(self._uppers[i], self._scaled[j], self.constant.light if parallel else None)

    @cached_property
    def free(self) -> list[Scalar]:
        """By directions: the acceleration without forces at the ends."""
        motion_of_bars = [-sum_of_products(self._pull(direction), self._squares) for direction in range(4)]
        return [
            sum_of_products(row, self._upper, start) for row, start in zip(self._scaled, motion_of_bars, strict=True)
        ]

    def _pull(self, direction: int) -> list[Scalar]:
        """How far each bar reaches along a direction from an end: with the square of its rate it pulls that way."""
        first = self.size * (direction // 2)
        return [part[direction % 2] for part in self._ends[first : first + self.size]]

    def accelerations(self, forces: Sequence[Scalar]) -> list[Scalar]:
        """The angular accelerations of the bars under forces in the four directions."""
        columns = zip(*self._uppers, strict=True)
        upper = [sum_of_products(column, forces, item) for column, item in zip(columns, self._upper, strict=True)]
        return self._inertia.solve_lower(upper)
