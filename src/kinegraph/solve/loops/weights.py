"""Weighted sums of slopes, which steps of all tableaux are made of. (`weights_code` writes their machine code.)"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from kinegraph.solve.loops.marks import intrinsic
from kinegraph.solve.methods.order_conditions import Floats
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, RK4, Tableau

LOOKS = 4  # equal parts of a step that events and outputs are looked at in; weights of Boole's rule belong to them


class Method(NamedTuple):
    """A tableau as loops take it: one type for all of them, so that loops are compiled once.

    tableau: its place in TABLEAUX. nodes: c of all slopes. stages, errors, terms: of a step, of error estimates and of
    dense output.
    sums, each_sums: addresses of the code of its weighted sums, with one h and with one for each entry; zero where
    loops are interpreted.
    """

    tableau: int
    nodes: Floats
    stages: int
    errors: int
    terms: int
    sums: int
    each_sums: int


TABLEAUX = (RK4, DORMAND_PRINCE_5, DORMAND_PRINCE_8)


def rows_of(tableau: Tableau) -> Floats:
    """All weights: rows of a (stages, end, dense stages), error estimates, terms of dense output, states inside."""
    size = tableau.all_stages
    errors = np.zeros((len(tableau.error), size))
    errors[:, : tableau.stages + 1] = tableau.error_weights()
    return np.vstack([tableau.matrix(), errors, tableau.dense_weights(), _inside(tableau)])


def _inside(tableau: Tableau) -> Floats:
    """Weights of the states at equal parts of a step, by dense output."""
    found = np.zeros((LOOKS, tableau.all_stages))
    for u, total in zip(np.arange(1, LOOKS + 1) / LOOKS, found, strict=True):
        for row, term in reversed(list(enumerate(tableau.dense_weights()))):
            total += term
            total *= u if row % 2 == 0 else 1.0 - u
    return found


@intrinsic
def weighted(
    method: Method, row: int, h: float | Floats, base: Floats, slopes: Floats, size: int, target: Floats, start: int
) -> None:
    """target[start + d] = base[d] + h sum_j weights[row, j] slopes[j, d] for d < size.

    h is a number, or an array with one entry for each d.
    """
    weights = _prefixes(method.tableau)[row]
    target.reshape(-1)[start : start + size] = base[:size] + h * (weights @ slopes[: len(weights), :size])


@cache
def _prefixes(tableau: int) -> list[Floats]:
    """The rows of one of TABLEAUX without the zeros at their ends: slopes that belong there may not be known yet."""
    return [np.trim_zeros(row, "b") for row in rows_of(TABLEAUX[tableau])]
