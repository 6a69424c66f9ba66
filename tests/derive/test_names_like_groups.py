"""Variables that are called like a group of them: `q`, `dq`, `v`, `a`, `tau`, `u`, `p`. The numbers are those of any
other names, for derivatives by one of them, by all of a group, and for the tasks that take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.linearize import Linearization

MODEL = """parameters A1 = 0.5, P1 = 2; inputs U1; coordinates Q1 = 0.1, V1 = 0.2; gravity 0, 0, -9.81;
A | Sx(Q1) | m(2); B~A | Ry(V1) | Sz(-A1), m(P1); spring s | on(Q1), stiffness(3);
force f | value(U1 - 2*Q1'), on(Q1); damper d | on(V1), damping(0.3);"""
WORDS = ("q", "dq", "v", "a", "tau", "u", "p")
NEUTRAL = {"Q1": "x", "V1": "c", "A1": "l", "P1": "m", "U1": "push"}

#: Which variable is called by which word.
RENAMINGS = [dict(zip(NEUTRAL, names, strict=True)) for names in (
    ("q", "v", "a", "p", "u"), ("u", "q", "v", "a", "tau"), ("v", "dq", "u", "tau", "a"), ("tau", "p", "q", "dq", "v"),
    ("a", "u", "p", "q", "dq"), ("dq", "tau", "q", "v", "p"),
)]  # fmt: skip


def model(names: dict[str, str]) -> kg.Mechanism:
    return kg.parse(re.sub("|".join(NEUTRAL), lambda match: names[match[0]], MODEL))


#: A state, with a value for each variable and its rates.
STATE = {"Q1": 0.3, "V1": -0.7, "A1": 0.5, "P1": 2.0, "U1": 1.1}


def values(names: dict[str, str], words: Sequence[str]) -> dict[str, np.ndarray]:
    """The values of quantities at the state, derived with these names."""
    graph = kg.derive(model(names), ",".join(words))
    known = {f"{names[name]}{primes}": value for name, value in STATE.items() for primes in ("", "'", "''")}
    known |= {f"tau:{names[name]}": 0.4 for name in ("Q1", "V1")}
    return interpret(graph, known)


GROUPS = {"tau": ("q", "dq", "v", "a", "u"), "qdd": ("q", "dq", "v", "tau", "u"), "energy": ("q", "dq", "v", "p")}
SINGLE = {"tau": tuple(NEUTRAL), "qdd": tuple(NEUTRAL), "energy": ("Q1", "V1", "A1", "P1")}


@cache
def usual(quantity: str) -> dict[str, np.ndarray]:
    """The same with unambiguous names."""
    groups = [f"{every}{group}" for group in GROUPS[quantity] for every in ("", "all:")]
    single = [NEUTRAL[variable] for variable in SINGLE[quantity]]
    return values(NEUTRAL, [f"d({quantity})/d({name})" for name in (*groups, *single)])


@pytest.mark.parametrize("names", RENAMINGS, ids="-".join)
@pytest.mark.parametrize("quantity", ["tau", "qdd", "energy"])
def test_derivatives_by_all_of_a_group_and_by_one(names: dict[str, str], quantity: str) -> None:
    every, single = [f"all:{group}" for group in GROUPS[quantity]], [names[one] for one in SINGLE[quantity]]
    found, expected = values(names, [f"d({quantity})/d({name})" for name in (*every, *single)]), usual(quantity)
    for group in GROUPS[quantity]:
        assert found[f"d({quantity})/d(all:{group})"] == pytest.approx(expected[f"d({quantity})/d({group})"]), group
        assert expected[f"d({quantity})/d(all:{group})"] == pytest.approx(expected[f"d({quantity})/d({group})"]), group
    for variable in SINGLE[quantity]:
        right = expected[f"d({quantity})/d({NEUTRAL[variable]})"]
        assert found[f"d({quantity})/d({names[variable]})"] == pytest.approx(right), names[variable]


Tasks = tuple[Linearization, int, np.ndarray]


def tasks(names: dict[str, str]) -> Tasks:
    """The linear system at rest, how many equilibria there are, and the eigenvalues of the modes."""
    given, at = model(names), {names["Q1"]: 0, names["V1"]: 0}
    modes = np.array([one.eigenvalue for one in kg.modes(given, at).modes])
    return kg.linearize(given, state=at, outputs="pose:B,tau"), len(kg.equilibria(given)), modes


@cache
def usual_tasks() -> Tasks:
    return tasks(NEUTRAL)


@pytest.mark.parametrize("names", RENAMINGS, ids="-".join)
def test_tasks_take_whole_groups(names: dict[str, str]) -> None:
    (one, places, found), (two, usual_places, expected) = tasks(names), usual_tasks()
    for matrix in "ABCD":
        assert getattr(one, matrix) == pytest.approx(getattr(two, matrix)), matrix
    assert places == usual_places
    assert found == pytest.approx(expected)


def test_entries_are_named_after_the_group() -> None:
    graph = kg.derive(model(RENAMINGS[0]), "d(tau)/d(all:v),d(tau)/d(v)")
    assert [output.shape for output in graph.outputs] == [(2, 2), (2,)]
    assert kg.latex(graph) and kg.formula(graph)
