"""A square system solved by orthogonalising its columns, without roots.

Modified Gram-Schmidt with the right side as one more column is backward stable, which elimination without pivoting is
not: over states of a platform that lost four digits.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinegraph.derive.platforms.vectors import total
from kinegraph.graph.scalar import Scalar


def solved(columns: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> list[Scalar]:
    """The amounts of the columns that add up to the right side."""
    rest = [list(column) for column in columns]
    wanted = list(right)
    count = len(rest)
    ratios: dict[tuple[int, int], Scalar] = {}
    parts: list[Scalar] = []
    for j in range(count):
        own = rest[j]
        inverse = _product(own, own).reciprocal()
        for k in range(j + 1, count):
            ratios[j, k] = _product(own, rest[k]) * inverse
            rest[k] = [a - ratios[j, k] * b for a, b in zip(rest[k], own, strict=True)]
        part = _product(own, wanted) * inverse
        wanted = [a - part * b for a, b in zip(wanted, own, strict=True)]
        parts.append(part)
    for j in range(count - 2, -1, -1):
        for k in range(j + 1, count):
            parts[j] = parts[j] - ratios[j, k] * parts[k]
    return parts


def _product(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return total([x * y for x, y in zip(a, b, strict=True)])
