"""Intervals against published numbers and by their coverage; indices of a function whose indices are known."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest

from kinegraph.studies.sampling import Design, Samples, read_distributions
from kinegraph.studies.statistics import (
    class_probabilities,
    clopper_pearson,
    explained_variance,
    first_order_indices,
    mean,
    quantile,
    rank_correlations,
    sobol_indices,
    total_indices,
    wilson,
)


def test_intervals_of_probabilities_are_the_published_ones():
    """Newcombe 1998, Table I: 81 of 263 and 15 of 148 (score interval and exact interval)."""
    for found, low, high in (
        (wilson(81, 263), 0.2553, 0.3662), (clopper_pearson(81, 263), 0.2527, 0.3676),
        (wilson(15, 148), 0.0624, 0.1605), (clopper_pearson(15, 148), 0.0578, 0.1617),
        (wilson(0, 20), 0.0, 0.1611), (clopper_pearson(0, 20), 0.0, 0.1684),
        (wilson(29, 29), 0.8830, 1.0), (clopper_pearson(29, 29), 0.8806, 1.0),
    ):  # fmt: skip
        assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


def test_intervals_hold_the_truth_as_often_as_they_say():
    random = np.random.default_rng(1)
    draws = random.exponential(size=(400, 60))
    inside = [one.low <= np.log(2) <= one.high for one in (quantile(row, 0.5) for row in draws)]
    assert 0.93 <= np.mean(inside) <= 1.0
    inside = [one.low <= 1 <= one.high for one in (mean(row) for row in random.normal(1, 3, (400, 20)))]
    assert 0.92 <= np.mean(inside) <= 0.98


@pytest.mark.parametrize("confidence", [0.8, 0.9])
@pytest.mark.parametrize(("count", "level"), [(1, 0.1), (5, 0.5), (13, 0.05), (30, 0.99), (9, 0.0), (9, 1.0)])
def test_intervals_of_quantiles_are_those_of_the_binomial_law(count, level, confidence):
    """By the definition: the fewest successes to which half of what is left out is reached."""
    found = quantile(np.arange(count), level, confidence)
    reached = np.cumsum([comb(count, k) * level**k * (1 - level) ** (count - k) for k in range(count + 1)])
    rest = 0.5 * (1 - confidence)
    below, above = (int(np.argmax(reached >= part)) for part in (rest, 1 - rest))
    assert found.low == (below - 1 if below else -np.inf)
    assert found.high == (above if above < count else np.inf)


def test_rank_correlations_of_equal_and_missing_numbers():
    """Spearman's rho with ties: 1 - 6 sum(d^2)/(n^3 - n) does not hold, the correlation of middle ranks does."""
    inputs = np.array([[1.0, 2.0, 2.0, 5.0], [3.0, 3.0, 3.0, 3.0], [4.0, 3.0, 2.0, 1.0]]).T
    found = rank_correlations(inputs, np.array([1.0, 5.0, 7.0, 9.0]))
    assert found == pytest.approx([4.5 / np.sqrt(4.5 * 5), 0, -1])
    assert rank_correlations(np.zeros((4, 0)), np.arange(4.0)).shape == (0,)
    assert not rank_correlations(inputs, np.array([1.0, np.nan, 7.0, 9.0])).any()


def test_few_values_give_wide_intervals_and_no_error():
    assert mean(np.array([2.0])).high == np.inf and np.isnan(mean(np.zeros(0)).value)
    assert quantile(np.array([1.0, 2.0]), 0.99).high == np.inf
    assert wilson(0, 0).high == 1.0


def test_classes_are_counted():
    found = class_probabilities(np.array(["b", "a", "b", "b"]))
    assert list(found) == ["b", "a"] and found["b"].value == 0.75


def ishigami(rows):
    """Saltelli's test function; first-order indices 0.3139, 0.4424, 0, total ones 0.5576, 0.4424, 0.2437."""
    x, y, z = rows.T
    return np.sin(x) + 7 * np.sin(y) ** 2 + 0.1 * z**4 * np.sin(x)


LAWS = read_distributions(dict.fromkeys(("x", "y", "z"), "uniform(-pi, pi)"))


def test_sobol_indices_of_the_ishigami_function():
    pytest.importorskip("SALib", reason="sensitivity indices need the extra `studies`")
    samples = Samples(LAWS, dict.fromkeys("xyz", 0.0), 5 * 2048, Design.SALTELLI)
    found = sobol_indices(samples, "f", ishigami(samples.rows(1, samples.total)))
    assert found.first == pytest.approx([0.3139, 0.4424, 0], abs=0.03)
    assert found.total == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.03)


def test_first_order_indices_of_any_cases():
    pytest.importorskip("SALib", reason="sensitivity indices need the extra `studies`")
    rows = Samples(LAWS, dict.fromkeys("xyz", 0.0), 4000).rows(1, 4001)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    found = first_order_indices("xyz", rows, "f", ishigami(rows))
    assert found.first == pytest.approx([0.3139, 0.4424, 0], abs=0.05)
    assert abs(found.rank[0]) > 0.3 and abs(found.rank[1]) < 0.1
    assert np.array_equal(state, np.random.get_state()[1])  # noqa: NPY002


def test_variance_is_explained_by_what_is_not_monotone_and_by_two_together():
    random = np.random.default_rng(4)
    x = random.uniform(-1, 1, (2000, 4))
    bowl = x[:, 0] ** 2 + 0.05 * x[:, 1]  # Spearman sees the second name alone
    assert np.argmax(np.abs(rank_correlations(x, bowl))) == 1
    parts = [explained_variance(column[:, None], bowl) for column in x.T]
    assert parts[0] > 0.95 and parts[1] < 0.02 and max(parts[2:]) < 0.01
    saddle = x[:, 2] * x[:, 3]  # no name alone explains anything
    assert max(explained_variance(column[:, None], saddle) for column in x.T) < 0.01
    assert explained_variance(x[:, 2:], saddle) > 0.7 and explained_variance(x[:, :2], saddle) < 0.01
    assert explained_variance(x[:5, :1], bowl[:5]) == explained_variance(x[:, :1], np.ones(2000)) == 0


def test_total_indices_are_those_of_the_function():
    samples = Samples(LAWS, dict.fromkeys("xyz", 0.0), 5 * 2048, Design.SALTELLI)
    found = total_indices(samples, ishigami(samples.rows(1, samples.total)))
    assert found == pytest.approx([0.5576, 0.4424, 0.2437], abs=0.03)
    assert total_indices(samples, np.full(samples.cases, np.nan)) is None
    assert total_indices(Samples(LAWS, dict.fromkeys("xyz", 0.0), 10), np.arange(10.0)) is None
