"""Overconstrained loops: rows that follow from others wherever the loops are closed, in ways that may change.

A row that follows from others by the same combination of them everywhere (out-of-plane rows of a planar loop) is left
out. Where the combination changes as the mechanism moves, the rows that are left may depend on each other somewhere
although those left out would not (Bennett's linkage). A mechanism that can move in one way only is followed all the way
round: if the rows that are left serve everywhere (Bricard's linkage), they are taken. Else as many as are independent
are chosen by position (`by_position.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kinegraph.derive.constraints.conditions import Conditions, Floats
from kinegraph.derive.constraints.positions import ROUNDED, closed_beside
from kinegraph.derive.constraints.rank import RowRank, chosen_rows, usual_lengths

#: A redundant row whose factors change by less than this from state to state follows from others in one way.
_SAME = 1e-4
#: And one whose factor of another row is below this everywhere does not follow from that one.
_NONE = 1e-7
#: Rows serve where they determine as much as all rows do, but for this part.
_ENOUGH = 0.1
#: How far apart positions are at which that is looked at, and how many they may be.
_STEP, _MOST = 0.1, 800


@dataclass(frozen=True)
class Cluster:
    """Rows of which some follow from others, in ways that change with the position: `rank` of them are independent.

    scales: what the squares of each row are multiplied by where rows are compared; weights: the same of each column.
    """

    rows: tuple[str, ...]
    rank: int
    scales: tuple[float, ...]
    weights: tuple[float, ...]

    def chosen(self, jacobian: Floats, names: Sequence[str]) -> tuple[int, ...]:
        """The rows that are taken at a state, by index, from the entries of all rows."""
        places = [names.index(name) for name in self.rows]
        scaled = np.sqrt(self.scales)[:, None] * jacobian[places] * np.sqrt(self.weights)
        return tuple(places[k] for k in chosen_rows(scaled, self.rank))


def changing_rows(conditions: Conditions, states: Sequence[Floats], rank: RowRank) -> tuple[Cluster, ...]:
    """The rows to be chosen by position; `rank` says which are independent, `states` are closed."""
    if not rank.redundant or not rank.independent:
        return ()
    whole = [conditions.jacobian(q) for q in states]
    found = tuple(_clusters(whole, rank, conditions.names))
    if found and rank.mobility == 1 and _serve_all_round(conditions, states[0], rank, found[0].weights):
        return ()
    return found


def _clusters(whole: Sequence[Floats], rank: RowRank, names: Sequence[str]) -> Iterator[Cluster]:
    """Rows that follow from others in ways that change from state to state, with those they follow from."""
    scales, weights = _scales(whole, names)
    scaled = [np.sqrt(scales)[:, None] * one * np.sqrt(weights) for one in whole]
    factors = np.array([_factors(one, rank) for one in scaled])
    changing = np.flatnonzero(np.any(np.abs(factors - factors[0]) > _SAME, axis=(0, 2)))
    ties = np.any(np.abs(factors) > _NONE, axis=0)
    groups: list[tuple[set[int], set[int]]] = []
    for k in changing:
        redundant, independent = {rank.redundant[k]}, {rank.independent[i] for i in np.flatnonzero(ties[k])}
        for other in [one for one in groups if one[1] & independent]:
            groups.remove(other)
            redundant, independent = redundant | other[0], independent | other[1]
        groups.append((redundant, independent))
    for redundant, independent in groups:
        rows = sorted(redundant | independent)
        taken = tuple(float(scales[k]) for k in rows)
        yield Cluster(tuple(names[k] for k in rows), len(independent), taken, tuple(map(float, weights)))


def _factors(jacobian: Floats, rank: RowRank) -> Floats:
    """By redundant and independent row: how the former follows from the latter."""
    independent, redundant = jacobian[list(rank.independent)], jacobian[list(rank.redundant)]
    return np.asarray(np.linalg.lstsq(independent.T, redundant.T, rcond=None)[0].T)


def _scales(whole: Sequence[Floats], names: Sequence[str]) -> tuple[Floats, Floats]:
    """What makes the squares of rows of one loop and one unit, then those of columns, about one: powers of two."""
    lengths = np.max([np.linalg.norm(one, axis=1) for one in whole], axis=0)
    scales = _power_of_two(usual_lengths(lengths, names) ** 2)
    columns = np.max([np.max(scales[:, None] * one * one, axis=0, initial=0.0) for one in whole], axis=0)
    return scales, _power_of_two(np.where(columns > ROUNDED**2 * np.max(columns), columns, 0.0))


def _power_of_two(squares: Floats) -> Floats:
    """One over each number, rounded to an even power of two; 1 for zero."""
    return np.asarray(np.exp2(-2 * np.round(np.log2(np.where(squares > 0, squares, 1.0)) / 2)))


def _serve_all_round(conditions: Conditions, start: Floats, rank: RowRank, weights: Sequence[float]) -> bool:
    """Whether the independent rows determine the motion all the way round to the start as well as all rows do."""
    if len(start) != len(weights):
        return False  # how far quaternions are from the start is not told
    scales, _ = _scales([conditions.jacobian(start)], conditions.names)
    q, along = start, np.zeros(len(start))
    for step in range(_MOST):
        jacobian = conditions.jacobian(q)
        scaled = np.sqrt(scales)[:, None] * jacobian * np.sqrt(weights)
        count = len(rank.independent)
        own, all_rows = (
            np.linalg.svd(one, compute_uv=False)[count - 1] for one in (scaled[list(rank.independent)], scaled)
        )
        if not own > _ENOUGH * all_rows:
            return False
        way = np.linalg.svd(jacobian)[2][-1]
        along = way if way @ along >= 0 else -way
        q = closed_beside(conditions, q + _STEP * along)
        beside = np.remainder(q - start + np.pi, 2 * np.pi) - np.pi
        if step > 1 and np.linalg.norm(beside) < 0.8 * _STEP:
            return True
    return False
