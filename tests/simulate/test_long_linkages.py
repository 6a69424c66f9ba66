"""Planar linkages with loops move by loops over bars and pins: the same motion as by code that is written out."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import AssemblyError, SolveError
from kinegraph.simulate.linkages import LinkageForm
from kinegraph.simulate.recursive import takes_recursion
from kinegraph.solve.methods.method import solver_of


def both(name, duration, **options):
    return [kg.simulate(name, duration, loops=loops, progress=False, **options) for loops in (True, False)]


def agree(looped, straight, within):
    for name in (*straight.positions, *straight.velocities, "energy"):
        np.testing.assert_allclose(looped[name], straight[name], atol=within, rtol=within, err_msg=name)


@pytest.mark.parametrize(("name", "duration"), [("n-four-bar-2", 2.5), ("loop-6", 0.5)])
def test_runs_agree_with_code_that_is_written_out(name, duration):
    """n-four-bar passes its singular position on the way."""
    looped, straight = both(name, duration, rtol=1e-10, times=10)
    agree(looped, straight, 2e-6 if "four" in name else 1e-8)
    assert looped.drift["position"] < 1e-13 and looped.drift["velocity"] < 1e-11
    assert looped.drift["energy"] < 1e-8
    assert all(check.passed for check in looped.checks)


def test_forces_are_seen_and_their_work_counted():
    looped, straight = both("loop-5", 0.3, inputs={"a1": "2*sin(t) - 0.1*a1'"}, rtol=1e-10, times=5)
    agree(looped, straight, 1e-9)
    np.testing.assert_allclose(looped["work"], straight["work"], atol=1e-10)
    assert all(check.passed for check in looped.checks)


def test_open_loops_are_closed_and_given_values_stay():
    start = kg.load("loop-6").layout.positions[1]
    run = kg.simulate("loop-6", 0.01, loops=True, state={start: -0.9}, progress=False)
    assert run[start][0] == pytest.approx(-0.9, abs=1e-14)
    assert run.drift["position"] < 1e-13


def test_what_cannot_be_run_is_said():
    with pytest.raises(AssemblyError, match="has a gap of"):
        stretched = kg.library.text("loop-5").replace("A2: Sx(1)", "A2: Sx(9)")
        kg.simulate(kg.parse(stretched), 0.1, loops=True, progress=False)
    with pytest.raises(SolveError, match="singular position"):
        kg.simulate("loop-4", 0.1, loops=True, state={"a1": 0, "a2": 0, "b1": 0}, progress=False)
    assert not takes_recursion(kg.load("spatial-slider-crank"), solver_of("dop853"), None)
    assert takes_recursion(kg.load("loop-200"), solver_of("dop853"), None)
    assert takes_recursion(kg.load("n-four-bar-1000"), solver_of("dop853"), None)
    assert not takes_recursion(kg.load("loop-64"), solver_of("dop853"), None)


def test_the_projection_is_sent_as_its_recipe():
    form = LinkageForm(kg.load("loop-6"), {}, NO_FORCES)
    again = pickle.loads(pickle.dumps(form.back))
    x = np.linspace(0, 1, 11)
    assert np.array_equal(again(x)["y"], form.back(x)["y"])
    np.testing.assert_allclose(form.back.batch(x[None])["y"][0], form.back(x)["y"])


@pytest.mark.soak
@pytest.mark.parametrize(("name", "duration"), [("loop-64", 0.5), ("n-four-bar-20", 1.0)])
def test_long_runs_agree_with_code_that_is_written_out(name, duration):
    agree(*both(name, duration, rtol=1e-10, times=10), 1e-6)


@pytest.mark.soak
@pytest.mark.parametrize("name", ["loop-1000", "loop-10000", "n-four-bar-1000"])
def test_thousands_of_bars_stay_closed(name):
    run = kg.simulate(name, 0.5, times=10, rtol=1e-10, progress=False)
    assert run.drift["position"] < 1e-11 and run.drift["velocity"] < 1e-10
    assert run.drift["energy"] < 1e-9  # follows rtol: 1.06e-8, 7e-10, 1.2e-10 of n-four-bar-1000 at 1e-8, 1e-9, 1e-10
