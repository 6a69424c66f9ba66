"""Equilibria: all of those that independent bisection found, with their stability."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.equilibria import equilibria
from tests.tasks.reference import reference

COLUMN = """
    parameters l1 = 0.6, l2 = 0.5, m1 = 1.2, m2 = 0.8, k1 = 40, k2 = 25, P;
    coordinates t1, t2;
    gravity 0, 0, -9.81;
    A   | Ry(t1)               | Sz(l1/2), m(m1), Jy(m1*l1^2/12);
    B~A | Sz(l1), Ry(t2 - t1)  | Sz(l2/2), m(m2), Jy(m2*l2^2/12);
    potential load | (k1*t1^2 + k2*(t2 - t1)^2)/2 + P*(l1*cos(t1) + l2*cos(t2));
"""


@pytest.mark.parametrize("load", ["0", "10", "30", "60", "120", "200", "400"])
def test_column_under_a_dead_load(load):
    wanted = reference("equilibria_two_link_column")["dead_load"]["equilibria_by_P"][load]
    within = {"t1": (-10, 10), "t2": (-16, 16)}
    found = equilibria(kg.parse(COLUMN), parameters={"P": int(load)}, within=within, starts=1500)
    assert len(found) == len(wanted)
    for one, other in zip(found.equilibria, wanted, strict=True):
        np.testing.assert_allclose(one.q, [other["theta1"], other["theta2"]], atol=1e-11)
        assert one.stable == other["stable"]
        roots = [complex(value["re"], value["im"]) for value in other["eigenvalues_plus_minus"]]
        squares = sorted((root**2).real for root in roots for _ in range(2))
        np.testing.assert_allclose(sorted((one.eigenvalues**2).real), squares, rtol=1e-8, atol=1e-8)


def test_a_pendulum_hangs_or_stands():
    found = equilibria(kg.parse("coordinates q; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(-1), m(1);"))
    assert [(round(abs(one.q[0]), 12), one.stable) for one in found.equilibria] == [
        (0, True),
        (round(np.pi, 12), False),
    ]


def test_nothing_rests_on_an_endless_slope():
    with pytest.raises(TaskError, match="no equilibrium was found"):
        equilibria(kg.parse("coordinates x; gravity 1, 0, 0; Block | Sx(x) | m(1);"))
