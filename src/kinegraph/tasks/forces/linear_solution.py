"""A X = B at many times: what is determined, and by how much A is singular."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegraph.errors import TaskError
from kinegraph.tasks.operating_point import Floats

#: Singular values below this part of the largest count as zero.
_RANK = 1e-10
#: A is called near-singular at times where its singular values are this far apart.
NEAR_SINGULAR = 1e-6


@dataclass(frozen=True)
class Solved:
    """X at every time; determinate: by unknown; residual: the largest |A X - B|; size: the largest |B|."""

    values: Floats
    determinate: tuple[bool, ...]
    residual: float
    size: float
    near_singular: Floats

    def require_possible(self, least_squares: bool = False) -> None:
        """TaskError if no X satisfies the equations."""
        if self.residual > 1e-8 * max(1.0, self.size) and not least_squares:
            raise TaskError(
                f"these unknowns cannot cause this motion: {self.residual:.3g} N (N m) are missing in some equation\n"
                "  mark more forces as unknown, e.g. tau:NAME for every driven coordinate, or ask for least squares"
            )


def solved(times: Floats, names: tuple[str, ...], a: Floats, b: Floats, least_norm: bool) -> Solved:
    """Solutions of least squares and least norm; NaN where X is not determined, unless least_norm."""
    values = np.full((len(times), len(names)), np.nan)
    determinate = np.ones(len(names), dtype=bool)
    residual, near = 0.0, []
    for k, (matrix, right) in enumerate(zip(a, b, strict=True)):
        scale = np.max(np.abs(matrix), axis=0, initial=0.0)
        scale = np.where(scale > 0, scale, 1.0)
        left, sizes, right_vectors = np.linalg.svd(matrix / scale, full_matrices=True)
        rank = int(np.sum(sizes > _RANK * max(float(np.max(sizes, initial=0.0)), 1e-300)))
        inverse = right_vectors[:rank].T @ np.diag(1 / sizes[:rank]) @ left[:, :rank].T
        solution = (inverse @ right) / scale
        free = np.any(np.abs(right_vectors[rank:]) > 1e-9, axis=0) if rank < len(names) else np.zeros(len(names), bool)
        determinate &= ~free
        values[k] = solution if least_norm else np.where(free, np.nan, solution)
        residual = max(residual, float(np.max(np.abs(matrix @ solution - right), initial=0.0)))
        if rank and sizes[rank - 1] < NEAR_SINGULAR * sizes[0]:
            near.append(times[k])
    size = float(np.max(np.abs(b), initial=0.0))
    return Solved(values, tuple(determinate.tolist()), residual, size, np.array(near))
