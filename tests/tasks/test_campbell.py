"""Campbell diagrams and unbalance response against the formulas of Jeffcott and of the gyroscopic rotor."""

import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, TaskError
from tests.cli.run import runner

M, JT, JP, B, K = 20, 0.6, 0.4, 0.3, 2e6
TRANSLATION, TILT = np.sqrt(2 * K / M), np.sqrt(2 * K * B**2 / JT)

JEFFCOTT = """
    model jeffcott;
    parameters m = 2, k = 3200, ce = 4, ci = 5, ecc = 0;
    coordinates x, y, spin;
    initial spin' = 10;
    Shaft      | Sx(x), Sy(y) | ;
    Disc~Shaft | Rz(spin)     | Sx(ecc), m(m), Jz(0.02);
    spring kx | on(x), stiffness(k); spring ky | on(y), stiffness(k);
    damper dx | on(x), damping(ce);  damper dy | on(y), damping(ce);
    force ix | value(-ci*(x' + spin'*y)), on(x);
    force iy | value(-ci*(y' - spin'*x)), on(y);
"""


def test_the_frequencies_split_as_the_gyroscopic_formula_says():
    found = kg.campbell("rotor", "spin'", 0, 1000, times=10)
    for speed, row, words in zip(found.speeds, found.frequencies, found.whirl, strict=True):
        half = JP * speed / (2 * JT)
        root = np.hypot(half, TILT)
        np.testing.assert_allclose(
            sorted(row), sorted([TRANSLATION, TRANSLATION, root - half, root + half]), rtol=1e-11
        )
        if speed:
            named = dict(zip(np.round(row, 6), words, strict=True))
            assert (named[np.round(root - half, 6)], named[np.round(root + half, 6)]) == ("backward", "forward")
    assert not found.growing.any() and found.onsets == () and found.body == "Rotor"


def test_critical_speeds_are_exact_and_have_a_direction():
    found = kg.campbell("rotor", "spin'", 0, 2000, times=17, orders=(1, 2))
    exact = [
        (1, "forward", TRANSLATION), (1, "backward", TRANSLATION), (2, "forward", TRANSLATION / 2),
        (2, "backward", TRANSLATION / 2), (1, "forward", TILT / np.sqrt(1 - JP / JT)),
        (1, "backward", TILT / np.sqrt(1 + JP / JT)), (2, "forward", TILT / np.sqrt(4 - 2 * JP / JT)),
        (2, "backward", TILT / np.sqrt(4 + 2 * JP / JT)),
    ]  # fmt: skip
    key = {(one.order, one.whirl, round(one.speed, 3)): one.speed for one in found.critical}
    assert len(found.critical) == len(exact)
    for order, whirl, speed in exact:
        assert key[order, whirl, round(speed, 3)] == pytest.approx(speed, rel=1e-12)


def test_a_disc_flatter_than_a_sphere_has_no_forward_critical_tilt():
    found = kg.campbell("rotor", "spin'", 1, 5000, times=12, parameters={"Jp": 1.1})
    assert [one.whirl for one in found.critical if abs(one.speed - TRANSLATION) > 1] == ["backward"]


def test_a_critical_speed_on_the_grid_is_found():
    assert kg.campbell("rotor", "spin'", 0, 1000, times=10).critical[-1].speed == pytest.approx(600, rel=1e-12)


def test_spin_as_a_parameter_is_the_same_rotor():
    text = (
        kg.library.text("rotor")
        .replace("Rz(spin)", "Rz(W*t)")
        .replace(", spin;", ";")
        .replace("skew = 0", "skew = 0, W")
    )
    one = kg.campbell(kg.parse(text.replace("initial spin' = 100;", "")), "W", 1, 1000, times=9, body="Rotor")
    other = kg.campbell("rotor", "spin'", 1, 1000, times=9)
    np.testing.assert_allclose(np.sort(one.frequencies), np.sort(other.frequencies), rtol=1e-10)
    assert [a.whirl for a in one.critical] == [a.whirl for a in other.critical]


def test_internal_damping_makes_the_shaft_whirl_above_the_known_speed():
    found = kg.campbell(kg.parse(JEFFCOTT), "spin'", 1, 200, times=25)
    assert found.onsets == pytest.approx([np.sqrt(3200 / 2) * (1 + 4 / 5)], rel=1e-8)
    assert not found.growing[0] and found.growing[-1]


def test_an_asymmetric_rotor_on_unequal_bearings_has_no_frequencies():
    text = kg.library.text("rotor").replace("Jy(Jt)", "Jy(0.9*Jt)")
    with pytest.raises(TaskError, match="balanced and symmetric"):
        kg.campbell(kg.parse(text), "spin'", 10, 100, parameters={"ky": 3e6})
    driven = text.replace("Rz(spin)", "Rz(W*t)").replace(", spin;", ";").replace("skew = 0", "skew = 0, W")
    with pytest.raises(TaskError, match="changes with a period"):
        kg.campbell(kg.parse(driven.replace("initial spin' = 100;", "")), "W", 10, 100, parameters={"ky": 3e6})


def test_unbalance_whirls_as_the_formula_says():
    """ecc m W^2/(2k - m W^2 + 2 i c W) across, and skew (Jt - Jp) W^2/(2 k b^2 - (Jt - Jp) W^2) in tilt."""
    found = kg.unbalance_response(
        "rotor", "spin'", {"ecc": 1e-5, "skew": 1e-4}, 10, 900, outputs=["x", "y", "A.x", "beta"], times=20,
        parameters={"c": 300},
    )  # fmt: skip
    W = found.speeds
    across = 1e-5 * M * W**2 / (2 * K - M * W**2 + 2j * 300 * W)
    tilt = 1e-4 * (JT - JP) * W**2 / (2 * K * B**2 - (JT - JP) * W**2 + 2j * 300 * B**2 * W)
    np.testing.assert_allclose(found.transfer[:, 0], across, rtol=1e-9)
    np.testing.assert_allclose(found.transfer[:, 1], -1j * across, rtol=1e-9)  # a quarter turn behind: forward
    np.testing.assert_allclose(found["beta"], np.abs(tilt), rtol=1e-9)
    np.testing.assert_allclose(found["A.x"], np.abs(found.transfer[:, 0] + B * found.transfer[:, 3]), rtol=1e-12)
    ((speed, height),) = found.peaks["x"]
    damping = 600 / (2 * np.sqrt(2 * K * M))
    assert speed == pytest.approx(TRANSLATION / np.sqrt(1 - 2 * damping**2), rel=1e-6)
    assert height == pytest.approx(1e-5 / (2 * damping * np.sqrt(1 - damping**2)), rel=1e-9)


def test_a_peak_that_nothing_damps_is_without_bound():
    """The search for its speed ended somewhere on its side, with 10,000 m."""
    found = kg.unbalance_response("rotor", "spin'", {"ecc": 1e-5}, 10, 900, outputs=["x"], times=20)
    ((speed, height),) = found.peaks["x"]
    assert speed == pytest.approx(TRANSLATION, rel=1e-8) and height == np.inf
    assert "without bound at 447.2136 rad/s" in str(found)


def test_small_unbalance_agrees_with_the_nonlinear_cycle():
    """The same rotor with a prescribed spin, whole equations, by shooting."""
    text = JEFFCOTT.replace("Rz(spin)", "Rz(30*t)").replace(", spin;", ";").replace("initial spin' = 10;", "")
    cycle = kg.periodic_motion(kg.parse(text.replace("spin'", "30")), outputs=["x", "y"], parameters={"ecc": 1e-4})
    found = kg.unbalance_response(kg.parse(JEFFCOTT), "spin'", {"ecc": 1e-4}, 30, 31, times=2, outputs=["x", "y"])
    highest = [cycle.over_cycle(name).high for name in ("x", "y")]
    np.testing.assert_allclose(highest, found.amplitude[0], rtol=1e-8)


MISTAKES = [
    (lambda: kg.campbell("rotor", "spn'", 0, 1), "no rate or parameter"),
    (lambda: kg.campbell("rotor", "spin'", 1, 0), "the lower first"),
    (lambda: kg.campbell("rotor", "spin'", 0, 1, orders=(0,)), "above zero"),
    (lambda: kg.campbell("rotor", "spin'", 0, 1, times=1), "at least 2"),
    (lambda: kg.campbell("rotor", "x'", 0, 1), "cannot stay constant"),
    (lambda: kg.campbell("double-pendulum", "m1", 1, 2), "no body rotates"),
    (lambda: kg.unbalance_response("rotor", "spin'", {"e": 1}, 0, 1), "no parameter 'e'"),
    (lambda: kg.unbalance_response("rotor", "spin'", {}, 0, 1), "give small parameters by name"),
    (lambda: kg.unbalance_response("rotor", "spin'", {"ecc": 1e-5, "kx": 1e-5}, 1, 2), "kx causes no force"),
    (lambda: kg.unbalance_response("rotor", "m", {"ecc": 1}, 0, 1), "not the rate"),
    (lambda: kg.unbalance_response("rotor", "spin'", {"ecc": 1}, 0, 1, outputs=["C.x"]), "unknown coordinate or point"),
]


@pytest.mark.parametrize(("call", "message"), MISTAKES)
def test_mistakes_are_named(call, message):
    with pytest.raises(KinegraphError, match=message):
        call()


@pytest.mark.soak
def test_the_commands_say_the_same(capsys, tmp_path):
    plot = tmp_path / "campbell.svg"
    code, out, _ = runner(capsys)(f'campbell rotor --over "spin\'=0:1000" --times 12 --plot {plot}', "--json")
    found = json.loads(out)
    assert code == 0 and found["critical"][-1]["speed"] == pytest.approx(600) and plot.exists()
    plot = tmp_path / "unbalance.svg"
    command = f'unbalance-response rotor --over "spin\'=10:900" --unbalance ecc=1e-5 --set c=300 --plot {plot}'
    code, out, _ = runner(capsys)(f"{command} --times 30")
    assert code == 0 and "447." in out and plot.exists()
