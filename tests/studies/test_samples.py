"""Laws and designs: moments, limits, and rows that depend on nothing but their index."""

from __future__ import annotations

import numpy as np
import pytest

from kinegraph.studies.sampling import Design, Samples, case_seed, read_distributions

LAWS = read_distributions({
    "a": "uniform(-1, 3)", "n": "normal(2, 0.5)", "c": "truncated(0, 1, -0.5, 2)", "x, y": "disc(0.1)",
    "u, v, w": "ball(2)", "p, q, r, s": "ball(1)", "k": "choice(1, 2, 5)",
})  # fmt: skip
NAMES = [name for names in LAWS for name in names]


def samples(design, cases=None, seed=7):
    count = cases or (17 * 64 if design is Design.SALTELLI else 1024)
    return Samples(LAWS, dict.fromkeys(NAMES, 0.0), count, design, seed)


@pytest.mark.parametrize("design", [design for design in Design if design is not Design.TABLE])
def test_rows_depend_on_their_index_alone(design):
    one = samples(design)
    whole = one.rows(0, one.total)
    assert np.array_equal(whole[0], np.zeros(len(NAMES)))
    for first, last in ((0, 1), (0, 3), (1, 2), (500, 520), (one.total - 1, one.total)):
        assert np.array_equal(one.rows(first, last), whole[first:last])
    assert not np.array_equal(samples(design, seed=8).rows(1, 9), whole[1:9])


@pytest.mark.parametrize("design", [Design.RANDOM, Design.LATIN, Design.SOBOL, Design.HALTON])
def test_laws_have_their_moments_and_limits(design):
    table = dict(zip(NAMES, samples(design, 4096).rows(1, 4097).T, strict=True))
    assert table["a"].mean() == pytest.approx(1, abs=0.1) and table["a"].min() >= -1 and table["a"].max() <= 3
    assert table["n"].mean() == pytest.approx(2, abs=0.05) and table["n"].std() == pytest.approx(0.5, abs=0.03)
    assert table["c"].min() >= -0.5 and table["c"].max() <= 2
    for names, radius, power in (("xy", 0.1, 2), ("uvw", 2, 3), ("pqrs", 1, 4)):
        length = np.sqrt(sum(table[name] ** 2 for name in names)) / radius
        assert length.max() <= 1 and np.mean(length**power < 0.5) == pytest.approx(0.5, abs=0.04)
        assert all(abs(table[name].mean()) < 0.06 * radius for name in names)
    assert [np.mean(table["k"] == one) for one in (1, 2, 5)] == pytest.approx([1 / 3] * 3, abs=0.04)


@pytest.mark.parametrize("design", [Design.RANDOM, Design.SOBOL, Design.HALTON])
def test_more_cases_begin_with_the_same(design):
    assert design.extensible
    assert np.array_equal(samples(design, 64).rows(0, 65), samples(design, 256).rows(0, 65))


def test_a_table_gives_its_rows_in_order():
    laws = read_distributions({"a, b": np.array([[1, 2], [3, 4], [5, 6]]), "c": [7, 8, 9]})
    one = Samples(laws, {"a": 0, "b": 0, "c": 0}, 3, Design.TABLE)
    assert one.rows(0, 4).tolist() == [[0, 0, 0], [1, 2, 7], [3, 4, 8], [5, 6, 9]]


def test_weights_of_a_choice():
    from kinegraph.studies.sampling import Choice

    one = Samples(read_distributions({"a": Choice.of([1, 2], [3, 1])}), {"a": 1}, 4000)
    assert np.mean(one.rows(1, 4001) == 1) == pytest.approx(0.75, abs=0.03)


def test_every_case_has_a_seed_of_its_own():
    seeds = {case_seed(seed, index) for seed in range(5) for index in range(100)}
    assert len(seeds) == 500 and case_seed(3, 4) == case_seed(3, 4)


def test_tables_are_read_from_files(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,4\n")
    (law,) = read_distributions({"x, y": "table(t.csv)"}, tmp_path).values()
    assert law.rows == ((1.0, 2.0), (3.0, 4.0))
