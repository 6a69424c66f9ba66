"""Independent rows chosen by position, where rows of overconstrained loops follow from others in changing ways.

At every position the row is taken of which most is left after those taken before it: Gram's matrix of the rows is
eliminated with pivots on its diagonal. The choice is made by `select`, so it is made anew at every state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from kinegraph.derive.constraints.overconstrained.clusters import Cluster
from kinegraph.derive.constraints.ties import TieRow
from kinegraph.graph.scalar import Scalar


@dataclass(frozen=True)
class ChosenRow:
    """The row that is taken; `weights`: by row of the cluster, 1 for the one it is and 0 for the others.

    size: the part of it that no row before it says, squared, beside rows of its kind.
    """

    row: TieRow
    weights: tuple[Scalar, ...]
    size: Scalar


def rows_by_position(rows: Sequence[TieRow], names: Sequence[str], cluster: Cluster) -> list[ChosenRow]:
    """As many of the rows as are independent, under these names."""
    like = rows[0].rate
    scales = [like.number(Fraction(cluster.scales[cluster.rows.index(row.name)])) for row in rows]
    left = _gram(rows, [like.number(Fraction(weight)) for weight in cluster.weights])
    units = [[like.number(int(k == i)) for k in range(len(rows))] for i in range(len(rows))]
    found = []
    for name in names:
        sizes = [scale * left[k][k] for k, scale in enumerate(scales)]
        entries = [_entries(row, units[k], left[k]) for k, row in enumerate(rows)]
        size, best = _largest(sizes, entries)
        row, (weights, column) = _row(name, rows[0], best), _parts(best, len(rows))
        found.append(ChosenRow(row, tuple(weights), size))
        pivot = _total([weight * entry for weight, entry in zip(weights, column, strict=True)])
        ratios = [entry * pivot.reciprocal() for entry in column]
        left = [
            [left[j][i] if j < i else left[i][j] - ratios[i] * column[j] for j in range(len(rows))]
            for i in range(len(rows))
        ]
        left = [[left[min(i, j)][max(i, j)] for j in range(len(rows))] for i in range(len(rows))]
    return found


def _gram(rows: Sequence[TieRow], weights: Sequence[Scalar]) -> list[list[Scalar]]:
    weighted = [[weight * entry for weight, entry in zip(weights, row.jacobian, strict=True)] for row in rows]
    upper = [
        [_total([a * b for a, b in zip(weighted[i], rows[j].jacobian, strict=True)]) for j in range(i, len(rows))]
        for i in range(len(rows))
    ]
    return [[upper[min(i, j)][abs(i - j)] for j in range(len(rows))] for i in range(len(rows))]


def _largest(sizes: Sequence[Scalar], entries: Sequence[list[Scalar]]) -> tuple[Scalar, list[Scalar]]:
    """The largest size, and the entries that belong to it."""
    size, best = sizes[0], entries[0]
    for other, candidate in zip(sizes[1:], entries[1:], strict=True):
        larger = other - size
        size = larger.apply("select", other, size)
        best = [larger.apply("select", new, old) for new, old in zip(candidate, best, strict=True)]
    return size, best


def _entries(row: TieRow, unit: Sequence[Scalar], column: Sequence[Scalar]) -> list[Scalar]:
    return [*row.jacobian, row.zero_value(), row.rate, row.bias, *unit, *column]


def _row(name: str, like: TieRow, entries: Sequence[Scalar]) -> TieRow:
    size = len(like.jacobian)
    value, rate, bias = entries[size : size + 3]
    return TieRow(name, None if like.value is None else value, tuple(entries[:size]), rate, bias)


def _parts(entries: Sequence[Scalar], count: int) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
    return entries[-2 * count : -count], entries[-count:]


def _total(items: Sequence[Scalar]) -> Scalar:
    return sum(items[1:], items[0])
