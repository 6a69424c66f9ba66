"""Quasi-velocities: named rates, and their integrals as outputs of a run."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.io import parse, write

TOP = """
    model top;
    coordinates psi, theta = 0.6, phi;
    gravity 0, 0, -9.81;
    define lean = theta - 0.6, spin = 2*t;
    quasivelocity w3 = psi'*cos(theta) + phi', total = psi' + theta', slow = 0.5*theta' + 0.1*t;
    Top | Rz(psi), Rx(theta), Rz(phi) | Sz(0.4), m(1), Jx(0.02), Jy(0.02), Jz(0.03);
    initial psi' = 1, phi' = 20;
    damper air | on(w3), damping(0.001);
"""


@pytest.fixture(scope="module")
def run():
    return kg.simulate(parse(TOP), 1, times=400, rtol=1e-10, native=False)


def test_the_named_rate_is_a_column(run):
    expected = run["psi'"] * np.cos(run["theta"]) + run["phi'"]
    np.testing.assert_allclose(run["w3"], expected, rtol=1e-14)
    np.testing.assert_allclose(run["lean"], run["theta"] - 0.6, atol=1e-15)
    np.testing.assert_allclose(run["spin"], 2 * run["t"], atol=1e-15)


def test_an_integral_that_has_a_closed_form(run):
    start = run["psi"][0] + run["theta"][0]
    np.testing.assert_allclose(run["total.integral"], run["psi"] + run["theta"] - start, atol=1e-8)
    expected = 0.5 * (run["theta"] - 0.6) + 0.05 * run["t"] ** 2
    np.testing.assert_allclose(run["slow.integral"], expected, atol=1e-8)


def test_an_integral_without_closed_form(run):
    t, w = run["t"], run["w3"]
    simpson = (w[0] + w[-1] + 4 * w[1:-1:2].sum() + 2 * w[2:-1:2].sum()) * (t[1] - t[0]) / 3
    assert run["w3.integral"][-1] == pytest.approx(simpson, rel=1e-9)
    assert run["w3.integral"][0] == 0 and all(check.passed for check in run.checks)


@pytest.mark.parametrize("method", ["rk4", "bdf"])
def test_other_methods(run, method):
    more = {"step": 1e-3} if method == "rk4" else {"rtol": 1e-9}
    other = kg.simulate(parse(TOP), 1, method=method, native=False, **more)
    assert other.final["w3.integral"] == pytest.approx(run.final["w3.integral"], rel=1e-5)


def test_swept(run):
    sweep = kg.sweep(parse(TOP), 0.05, over={"phi'": [20.0, 10.0]}, rtol=1e-10, native=False)
    assert sweep["w3.integral"][0, -1] == pytest.approx(run["w3.integral"][20], rel=1e-8)


def test_equations_do_not_depend_on_names():
    plain = "\n".join(line for line in TOP.splitlines() if "quasivelocity" not in line and "define" not in line)
    plain = plain.replace("on(w3)", "on(psi'*cos(theta) + phi')")
    assert kg.derive(parse(TOP), "qdd,power") == kg.derive(parse(plain), "qdd,power")
    assert parse(write(parse(TOP))) == parse(TOP)


def test_symplectic_methods_say_that_they_cannot():
    conservative = "\n".join(line for line in TOP.splitlines() if "damper" not in line and "define" not in line)
    with pytest.raises(SolveError, match="quasi-velocity w3"):
        kg.simulate(parse(conservative.replace(" + 0.1*t", "")), 1, method="symplectic", step=0.01)
