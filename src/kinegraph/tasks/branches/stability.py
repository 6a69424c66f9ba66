"""How stable a place of a branch is, and what changes its sign where an eigenvalue passes through zero."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.tasks.operating_point import Floats

_ROUNDING = 1e-11
_GROWING = 1e-7


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of A without those that are zero along the whole branch (cyclic coordinates, momenta).

    singular: the position is, and has no linear system.
    """

    essential: Floats
    eigenvalues: np.ndarray
    singular: bool = False

    @property
    def rounding(self) -> float:
        """Real parts below this are zero."""
        return _GROWING * max(1.0, float(np.max(np.abs(self.eigenvalues), initial=0.0)))

    @property
    def real_parts(self) -> Floats:
        """Largest first."""
        return np.asarray(np.sort(self.eigenvalues.real)[::-1])

    @property
    def unstable(self) -> int:
        """How many eigenvalues grow."""
        return int(np.sum(self.real_parts > self.rounding))

    @property
    def sign(self) -> float:
        """The determinant: it changes its sign where one real eigenvalue does."""
        return float(np.linalg.det(self.essential)) if len(self.essential) else 1.0


NO_SPECTRUM = Spectrum(np.zeros((0, 0)), np.zeros(0), singular=True)


def zero_dimensions(A: Floats) -> tuple[int, ...]:
    """How many vectors A takes to zero; then how many its rest takes to zero, and so on."""
    found: list[int] = []
    rest = A
    while len(rest):
        sizes, rows = np.linalg.svd(rest)[1:]
        count = int(np.sum(sizes <= _ROUNDING * max(float(sizes[0]), 1e-300)))
        if not count:
            break
        found.append(count)
        rest = _without(rest, rows, count)
    return tuple(found)


def spectrum(A: Floats, zeros: tuple[int, ...]) -> Spectrum:
    """The eigenvalues; as many zeros as `zeros` says are taken away exactly."""
    rest = A
    for count in zeros:
        rest = _without(rest, np.linalg.svd(rest)[2], count)
    values = np.linalg.eigvals(rest) if len(rest) else np.zeros(0)
    return Spectrum(rest, np.asarray(values[np.lexsort((values.imag, values.real, np.abs(values)))]))


def _without(matrix: Floats, rows: Floats, count: int) -> Floats:
    """The matrix on what is perpendicular to its last `count` right singular vectors, which it takes to zero."""
    retained = rows[: len(matrix) - count]
    return np.asarray(retained @ matrix @ retained.T)
