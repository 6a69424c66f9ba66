"""Variables that are called like a group of them: `q`, `dq`, `v`, `a`, `tau`, `u`, `p`. The numbers are those of any
other names, for derivatives by one of them, by all of a group, and for the tasks that take them."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import kinegraph as kg

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


def values(names: dict[str, str], word: str) -> np.ndarray:
    """The word's numbers at the state, derived with these names."""
    graph = kg.derive(model(names), word)
    known = {f"{names[name]}{primes}": value for name, value in STATE.items() for primes in ("", "'", "''")}
    known |= {f"tau:{names[name]}": 0.4 for name in ("Q1", "V1")}
    return kg.interpret(graph, known)[word]


@cache
def usual(word: str) -> np.ndarray:
    """The same with names that nobody confuses."""
    return values(NEUTRAL, word)


@pytest.mark.parametrize("names", RENAMINGS, ids="-".join)
@pytest.mark.parametrize("quantity", ["tau", "qdd", "energy"])
def test_derivatives_by_all_of_a_group_and_by_one(names: dict[str, str], quantity: str) -> None:
    groups = {"tau": ("q", "dq", "v", "a", "u"), "qdd": ("q", "dq", "v", "tau", "u"), "energy": ("q", "dq", "v", "p")}
    for group in groups[quantity]:
        expected = usual(f"d({quantity})/d({group})")
        assert values(names, f"d({quantity})/d(all:{group})") == pytest.approx(expected), group
        assert usual(f"d({quantity})/d(all:{group})") == pytest.approx(expected), group
    single = ("Q1", "V1", "A1", "P1") if quantity == "energy" else NEUTRAL
    for variable in single:
        found = values(names, f"d({quantity})/d({names[variable]})")
        assert found == pytest.approx(usual(f"d({quantity})/d({NEUTRAL[variable]})")), names[variable]


@pytest.mark.parametrize("names", RENAMINGS, ids="-".join)
def test_tasks_take_whole_groups(names: dict[str, str]) -> None:
    ours, other = model(names), model(NEUTRAL)
    at, usual = ({names["Q1"]: 0, names["V1"]: 0}, {"x": 0, "c": 0})
    one, two = kg.linearise(ours, at=at, outputs="pose:B,tau"), kg.linearise(other, at=usual, outputs="pose:B,tau")
    for matrix in "ABCD":
        assert getattr(one, matrix) == pytest.approx(getattr(two, matrix)), matrix
    assert len(kg.equilibria(ours)) == len(kg.equilibria(other))
    found, expected = (
        np.array([m.eigenvalue for m in kg.modes(*given).modes]) for given in ((ours, at), (other, usual))
    )
    assert found == pytest.approx(expected)


def test_entries_are_named_after_the_group() -> None:
    graph = kg.derive(model(RENAMINGS[0]), "d(tau)/d(all:v),d(tau)/d(v)")
    assert [output.shape for output in graph.outputs] == [(2, 2), (2,)]
    assert kg.latex(graph) and kg.formula(graph)
