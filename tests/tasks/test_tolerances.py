"""Tolerances: closed forms of slopes and shares, samples against first order, and what is not linear."""

import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from tests.cli.run import runner
from tests.tasks.test_synthesize_cycle import TRIANGLES

WIDTHS = {"r": 1e-4, "l": 2e-4}


def test_shares_of_a_position_are_those_of_its_formula():
    found = kg.tolerances("slider-crank", "s", WIDTHS, state={"crank": 1}, samples=500)["s"]
    r, length, q = 0.15, 0.4, 1.0
    root = np.sqrt(length**2 - (r * np.sin(q)) ** 2)
    slopes = np.array([np.cos(q) - r * np.sin(q) ** 2 / root, length / root])
    np.testing.assert_allclose(found.slopes, slopes, rtol=1e-9)
    parts = (slopes * [1e-4, 2e-4]) ** 2
    np.testing.assert_allclose(found.shares, parts / parts.sum(), rtol=1e-8)
    assert found.spread == pytest.approx(np.sqrt(parts.sum()) / 3) and found.worst == pytest.approx(
        slopes @ [1e-4, 2e-4]
    )
    assert found.linear and found.sampled_spread == pytest.approx(found.spread, rel=0.12)


def test_loops_and_triangles_have_the_same_shares():
    loop = kg.tolerances("slider-crank", "Piston.x", WIDTHS, state={"crank": 0.7}, samples=0)["Piston.x"]
    tree = kg.tolerances(kg.parse(TRIANGLES), "Piston.x", WIDTHS, state={"crank": 0.7}, samples=0)["Piston.x"]
    np.testing.assert_allclose(loop.slopes, tree.slopes, rtol=1e-9)


def test_a_cycle_and_the_end_of_a_run_have_shares_too():
    found = kg.tolerances(kg.parse(TRIANGLES), ["stroke:s", "max:s"], WIDTHS, motion="crank", samples=20, times=40)
    np.testing.assert_allclose([one.slopes for one in found.outputs], [[2, 0], [1, 1]], atol=1e-9)
    assert found.pareto("stroke:s")[0] == ("r", pytest.approx(1)) and found.pareto("max:s")[0][0] == "l"
    mass = kg.parse("parameters m = 2, k = 3; coordinates x = 1; M | Sx(x) | m(m); spring s | on(x), stiffness(k);")
    run = kg.tolerances(mass, "x", {"m": 0.01, "k": 0.02}, duration=1.3, samples=0)["x"]
    w = np.sqrt(1.5)
    by_w = -1.3 * np.sin(1.3 * w)
    np.testing.assert_allclose(run.slopes, [-by_w * w / 4, by_w / (2 * np.sqrt(6))], rtol=1e-6)


def test_what_is_not_linear_is_said():
    """At a dead point the slope by the crank's offset vanishes, and only second order is left."""
    bent = kg.parse("parameters e; coordinates q; Arm | Rz(q + e) | m(1); output p = Arm (1, 0, 0);")
    found = kg.tolerances(bent, "p.x", {"e": 0.3}, parameters={"e": 0}, samples=500)
    one = found["p.x"]
    assert one.spread == 0 and not one.linear and "trust the samples" in str(found)
    assert one.sampled_mean == pytest.approx(1 - 0.1**2 / 2, abs=1e-3)


@pytest.mark.soak
def test_samples_that_do_not_close_are_counted():
    found = kg.tolerances("slider-crank", "s", {"l": 0.4}, state={"crank": 1.5}, distribution="uniform", samples=24)
    assert 0 < found.failed < 24 and "samples have no value" in str(found)


MISTAKES = [
    ({"tolerances": {}}, "give values by parameter"),
    ({"tolerances": {"q": 1}}, "no parameter or initial value 'q'"),
    ({"tolerances": {"r": -1}}, "not below zero"),
    ({"outputs": []}, "outputs is empty"),
    ({"outputs": ["stroke:s"]}, "give `motion`"),
    ({"outputs": ["z"]}, "unknown name 'z'"),
    ({"distribution": "cauchy"}, "unknown distribution"),
    ({"samples": -1}, "samples is -1"),
]


@pytest.mark.parametrize(("given", "message"), MISTAKES)
def test_mistakes_are_named(given, message):
    with pytest.raises(KinegraphError, match=message):
        kg.tolerances("slider-crank", **{"outputs": ["s"], "tolerances": WIDTHS, **given})


@pytest.mark.soak
def test_the_command_says_the_same(capsys, tmp_path):
    plot = tmp_path / "pareto.svg"
    command = "tolerances slider-crank --outputs s --tolerance r=1e-4 --tolerance l=2e-4 --state crank=1 --samples 50"
    code, out, _ = runner(capsys)(f"{command} --plot {plot}", "--json")
    found = json.loads(out)
    assert code == 0 and found["outputs"][0]["shares"]["l"] > 0.9 and plot.exists()
