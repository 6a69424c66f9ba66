"""Baumgarte's stabilization: rows decay as they should, gains come from the step, and drift is reported as it is."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import SolveError
from kinegraph.graph.interpret import interpret
from kinegraph.simulate import Adaptive, Baumgarte, FixedStep
from kinegraph.simulate.stabilization import BaumgarteForm
from tests.cli.run import data, runner


def test_what_is_open_decays_by_its_own_equation():
    """A point on a rod, a little off: the row obeys value'' + 2 a value' + b^2 value = 0 exactly."""
    rod = kg.parse(
        "coordinates x = 1, y; gravity 0, -9.81, 0; A | Sx(x), Sy(y) | m(2); constraint rod | (x^2 + y^2)/2 = 1/2;"
    )
    form = BaumgarteForm(rod, {}, NO_FORCES, gains=(3.0, 2.0))
    q, v = np.array([1.1, 0.2]), np.array([0.3, -0.4])
    symbols = dict(zip(("x", "y", "x'", "y'"), (*q, *v), strict=True))
    rate = interpret(form.rate, symbols)["rate"]
    value, slope = (q @ q - 1) / 2, q @ v
    curvature = v @ v + q @ rate[2:]
    assert curvature == pytest.approx(-2 * 3 * slope - 4 * value, abs=1e-12)


def test_gains_come_from_the_step():
    assert Baumgarte().gains(FixedStep(0.01)) == (20, 20)
    assert Baumgarte(5).gains(Adaptive(1e-8)) == (5, 5)
    with pytest.raises(SolveError, match="follow from a fixed step"):
        Baumgarte().gains(Adaptive(1e-8))
    with pytest.raises(SolveError, match="alpha of Baumgarte's method is -1"):
        Baumgarte(-1, 2).gains(FixedStep(0.01))


def test_numbers_and_pairs_are_gains():
    for given, gains in [(3, (3, 3)), (2.5, (2.5, 2.5)), ((3, 4), (3, 4)), ([3], (3, 3)), (Baumgarte(1), (1, 1))]:
        assert Baumgarte.of(given).gains(Adaptive(1e-8)) == gains
    for wrong in ("3", (1, 2, 3), True, object()):
        with pytest.raises(SolveError, match="give a number"):
            Baumgarte.of(wrong)
    run = kg.simulate("four-bar", 0.05, baumgarte=3, native=False, times=1)
    assert run.drift["position"] < 1e-6


def test_it_keeps_loops_nearly_closed_and_says_so(capsys):
    found = {}
    for gains in ("auto", "0,0"):
        command = f"simulate four-bar --for 3 --method rk4 --step 0.01 --interpret --json --baumgarte {gains}"
        found[gains] = data(runner(capsys)(command))["drift"]
    assert 1e-9 < found["auto"]["position"] < 1e-6 < found["0,0"]["position"]
    assert found["auto"]["position"] == found["auto"]["position integrating"]
    assert found["auto"]["energy"] < 1e-4  # of the energy that takes part in the motion


def test_what_it_cannot_do_is_said(capsys):
    with pytest.raises(SolveError, match="double-pendulum has no loops or constraints"):
        kg.simulate("double-pendulum", 1, step=0.01, method="rk4", baumgarte=Baumgarte())
    assert "write ALPHA,BETA" in runner(capsys)("simulate four-bar --baumgarte much").err


@pytest.mark.parametrize(("step", "passed"), [(0.01, True), (0.1, False)])
def test_loops_that_come_open_are_flagged(step: float, passed: bool) -> None:
    run = kg.simulate(
        "four-bar", 2, method="rk4", step=step, baumgarte=3, state={"crank'": 5}, native=False, progress=False
    )
    (check,) = (one for one in run.checks if one.name == "loops open by position, left")
    assert check.passed is passed
