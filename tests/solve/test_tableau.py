"""Tableaux check themselves; rooted trees are counted as in the literature."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from kinegraph.errors import TableauError
from kinegraph.solve.methods.symplectic import Symplectic
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, RK4, Tableau, defect, density, trees

ALL = [RK4, DORMAND_PRINCE_5, DORMAND_PRINCE_8]


def test_rooted_trees_are_as_many_as_known() -> None:
    assert [len(trees(order)) for order in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    assert density(((), ((),))) == 4 * 1 * 2


@pytest.mark.parametrize("tableau", ALL, ids=lambda one: one.name)
def test_the_order_is_not_higher_than_stated(tableau: Tableau) -> None:
    size = tableau.stages
    a, b = tableau.matrix()[:size, :size], np.array([float(value) for value in tableau.b])
    assert defect(a, b, tableau.order) < 1e-14
    assert defect(a, b, tableau.order + 1) > 1e-6


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
def test_gauss_methods_have_order_2s_and_are_symplectic(stages: int) -> None:
    a, b, c = Symplectic(stages).tableau()
    assert np.allclose(a.sum(axis=1), c, atol=1e-15)
    assert defect(a, b, 2 * stages) < 1e-14
    assert defect(a, b, 2 * stages + 1) > 1e-7
    assert np.abs(b[:, None] * a + b[None, :] * a.T - np.outer(b, b)).max() < 1e-15


def test_a_wrong_entry_is_found() -> None:
    with pytest.raises(TableauError, match="sums to"):
        replace(RK4, a=((Fraction(1, 2),), (Fraction(0), Fraction(1, 3)), (Fraction(0), Fraction(0), Fraction(1))))
    with pytest.raises(TableauError, match="order 4"):
        replace(RK4, b=(Fraction(1, 4),) * 4)
    with pytest.raises(TableauError, match="order 5"):
        replace(RK4, order=5)
    with pytest.raises(TableauError, match="do not match"):
        replace(RK4, c=RK4.c[:3])
    with pytest.raises(TableauError, match="embedded"):
        replace(DORMAND_PRINCE_5, error_order=5)


@pytest.mark.parametrize("tableau", ALL, ids=lambda one: one.name)
def test_dense_output_meets_both_ends_with_their_slopes(tableau: Tableau) -> None:
    """y' = k t^m is integrated exactly at the ends, and the interpolant's slopes there are those of the ends."""
    rows = tableau.dense_weights()
    assert np.allclose(rows[0, : tableau.stages], [float(value) for value in tableau.b])
    for u, slope in ((0.0, rows[0] + rows[1]), (1.0, rows[0] - rows[1] - rows[2])):
        expected = np.zeros(tableau.all_stages)
        expected[0 if u == 0.0 else tableau.stages] = 1
        assert np.allclose(slope, expected, atol=1e-15)
