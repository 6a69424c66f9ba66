"""Misprints of Rackovic's dissertation: what is printed is wrong, and the right thing in docs/papers.md is right."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from sqlalchemy import text

import kinegraph as kg
from kinegraph.graph.build import GraphBuilder, Scalar
from kinegraph.graph.node import Graph, Kind, Output
from kinegraph.graph.proof import prove
from kinegraph.io.vectors import read_vectors
from kinegraph.reproduce.printed import text as printed_file
from kinegraph.reproduce.rackovic_walker import _GRAPHS
from kinegraph.store import add, evaluate, open_store
from tests.reproduce.rackovic_algorithms import ASSIGNED, LOOP, MATRIX_A, SIGN, EndlessError, closing, model

#: A tree of three chains that is nobody's example: oblique axes, two joints on the ground, r_01 and e_1.
TREE = """
name = "tree"
gravity = [0.3, -0.2, -9.7]
[ground]
r = { 1 = [0.1, -0.2, -0.5] }
[[link]]
axis = [0, 0, 1]
axis_before = [0, 1, 0]
r = { 1 = [0.05, 0, 0.4], 2 = [0, 0.1, -0.4], 4 = [0.2, 0, -0.3] }
mass = 3
moments = [0.2, 0.3, 0.25]
[[link]]
axis = [1, 2, 2]
r = { 2 = [0, 0.3, 0.1], 3 = [0, -0.3, 0.05] }
mass = 2
moments = [0.05, 0.07, 0.06]
[[link]]
axis = [1, 0, 0]
axis_before = [0, 1, 0]
r = { 3 = [0.1, 0.2, 0] }
mass = 1
moments = [0.02, 0.025, 0.03]
[[link]]
axis = [0, 1, 0]
r = { 4 = [0, 0, 0.25] }
mass = 1.5
moments = [0.03, 0.02, 0.04]
[[link]]
axis = [0, 0, 1]
r = { 5 = [0.3, 0, 0] }
mass = 2.5
moments = [0.1, 0.1, 0.1]
[[closing]]
link = 3
r = [0.1, 0.05, -0.2]
at = [0.4, 0.3, 0.2]
axes = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
end_axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
basic = [1]
"""
Q = [0.3, -0.5, 0.8, 1.1, -0.4]


def open_tree() -> kg.Mechanism:
    return read_vectors(TREE.partition("[[closing]]")[0])


@pytest.mark.parametrize(
    "toml",
    [pytest.param(TREE.partition("[[closing]]")[0], marks=pytest.mark.soak), printed_file("rackovic_table_2_1.toml")],
)
def test_the_corrected_algorithm_agrees_with_kinegraph(toml: str) -> None:
    q = [*Q, 0.2][: len(tomllib.loads(toml)["link"])]
    ours, theirs = kg.compile(read_vectors(toml), "H,C,gravity")(q), model(toml, q)
    for name in ("H", "C", "gravity"):
        assert ours[name] == pytest.approx(theirs[name], abs=1e-12), name


@pytest.mark.parametrize("misprint", [ASSIGNED, SIGN])
def test_as_printed_the_algorithm_is_wrong(misprint: str) -> None:
    ours = kg.compile(open_tree(), "H,C,gravity")(Q)
    theirs = model(TREE, Q, frozenset({misprint}))
    assert any(np.abs(ours[name] - theirs[name]).max() > 0.1 for name in ("H", "C", "gravity"))


def test_as_printed_the_loop_over_series_never_ends() -> None:
    with pytest.raises(EndlessError):
        model(TREE, Q, frozenset({LOOP}))


@pytest.mark.soak
def test_the_closing_matrices_are_those_of_1_30_and_not_of_1_31() -> None:
    """The point that is held moves by A dS - B du: by differences of its pose."""
    mechanism = read_vectors(TREE)
    names = mechanism.layout.positions
    ours = kg.compile(mechanism, "A:closing1:q1,B:closing1:q1")
    order = [names.index(f"q{k}") for k in range(1, 6)]
    q = [Q[int(name[1:]) - 1] for name in names]
    found = {word: array[:, order] for word, array in ours(q).items()}
    A, B = closing(TREE, Q)
    assert found["A:closing1:q1"] == pytest.approx(A, abs=1e-12)
    assert found["B:closing1:q1"] == pytest.approx(B, abs=1e-12)

    def held(q: list[float]) -> np.ndarray:
        row, at = tomllib.loads(TREE)["closing"][0], model(TREE, q)
        return np.array(row["axes"], float) @ (
            at["r"][3, 1] + at["Q"][3] @ np.array(row["r"], float)  # from joint 1, which does not move
        )

    step = 1e-6
    moved = np.array([(held(_shifted(k, step)) - held(_shifted(k, -step))) / (2 * step) for k in range(3)]).T
    assert moved == pytest.approx((A - B)[:3, :3], abs=1e-8)
    wrong = closing(TREE, Q, frozenset({MATRIX_A}))[0]
    assert np.abs(moved - (wrong - B)[:3, :3]).max() > 0.1


def _shifted(k: int, step: float) -> list[float]:
    return [one + step * (number == k) for number, one in enumerate(Q)]


@pytest.mark.soak
def test_b_of_the_walker_is_nonzero_for_three_joints_only() -> None:
    """Printed: zero elements only for the first three segments. 942 - 924 quantities are the 3 x 6 that are not."""
    walker = kg.load("rackovic-14r-double")
    start = kg.assemble(walker)
    found = kg.compile(walker, "B:support:q1:q2:q3")(start.q)
    acts = np.abs(found).max(axis=0) > 1e-12
    assert acts.tolist() == [True] * 3 + [False] * 11
    with pytest.raises(kg.KinegraphError, match="is not a coordinate"):
        kg.compile(walker, "B:support:q1:L3")


def test_the_cosine_of_a_sum() -> None:
    builder = GraphBuilder()
    x, y = (Scalar(builder, builder.symbol(Kind.COORDINATE, name)) for name in "xy")

    def graph(value: Scalar) -> Graph:
        return builder.graph([Output("y", (), (value.index,))])

    assert prove(graph((x + y).cos()), graph(x.cos() * y.cos() - x.sin() * y.sin()))
    assert not prove(graph((x + y).cos()), graph(x.cos() * y.sin() - x.sin() * y.sin()))


@pytest.mark.parametrize("coefficient", [True, False])
def test_algorithm_2_4_needs_the_coefficient_of_a_term(tmp_path, coefficient: bool) -> None:
    """Printed: the product of a term starts at 1.0; it starts at `sab_vred`."""
    store = open_store(tmp_path / "s.sqlite")
    add(store, kg.load("double-pendulum"), "H,gravity")
    with store.reading() as connection:
        rows = {
            word: connection.execute(text(f'SELECT * FROM "{word}" WHERE graph = 2')).all()
            for word in ("variable", "term", "factor", "argument", "entry")
        }
    values = {}
    for row in sorted(rows["variable"], key=lambda row: row.level):
        if row.kind == "function":
            (argument,) = (one.argument for one in rows["argument"] if one.variable == row.code)
            values[row.code] = getattr(np, row.name)(values[argument])
        elif row.kind != "sum":
            values[row.code] = 0.4 if row.name == "q2" else row.value
        else:
            total = 0.0
            for term in (one for one in rows["term"] if one.variable == row.code):
                product = term.coefficient if coefficient else 1.0
                for one in rows["factor"]:
                    if (one.variable, one.term) == (row.code, term.ordinal):
                        product *= values[one.factor] ** one.exponent
                total += product
            values[row.code] = total
    ours = evaluate(store, "double-pendulum", ["H", "gravity"], {"q2": 0.4})
    exact = [*ours["H"].ravel(), *ours["gravity"]]
    found = [values[row.variable] for row in sorted(rows["entry"], key=lambda row: (row.output, row.position))]
    assert bool(np.abs(np.subtract(found, exact)).max() < 1e-12) is coefficient
    store.close()


def test_9325_and_9326_both_fit_the_totals() -> None:
    """Section 4.5.3 prints 9325 additions, Table 4.12 prints 9326; Table 4.13 adds as many more in both phases."""
    first, second, table = (_GRAPHS[k][4] for k in (1, 2, 3))
    assert sum(one[0] for one in (first, second, table)) == 30607  # multiplications need no more
    assert table[1] == 9326
    for third in (9325, 9326):
        more = {total - (own + second[1] + third) for own, total in ((first[1], 24008), (3389, 24127))}
        assert more == {9326 + 759 - third}
