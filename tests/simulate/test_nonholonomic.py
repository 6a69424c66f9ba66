"""Constraints on velocities: a blade and a rolling disc against closed forms and runs of 20 digits."""

import numpy as np

import kinegraph as kg
from tests.interpreted import interpreted
from tests.tasks.reference import reference


def test_sleigh_on_a_blade():
    wanted = reference("nonholonomic_chaplygin_sleigh")
    times = [0.0, *(row["t"] for row in wanted["rows"])]
    mechanism = kg.load("knife-edge")
    found = kg.simulate(mechanism, times[-1], times=times, rtol=1e-11, atol=1e-12)
    blade = interpreted(mechanism, "multipliers")
    for k, row in enumerate(wanted["rows"], start=1):
        np.testing.assert_allclose(
            [found[name][k] for name in ("x", "y", "theta")], [row[n] for n in ("x", "y", "theta")], atol=2e-9
        )
        q, v = (np.array([found[name][k] for name in names]) for names in (found.positions, found.velocities))
        np.testing.assert_allclose(v[2], row["omega"], atol=2e-9)
        np.testing.assert_allclose(blade(q, v, np.zeros(3)), [row["blade_force"]], atol=1e-8)


def test_rolling_disc():
    """Velocity of the center: r (w1 e3 - w3 e1), with w1 = -lean', w3 = psi' sin(lean) + phi'."""
    wanted = reference("nonholonomic_rolling_disc")["run"]
    mechanism = kg.load("rolling-disc")
    w1, w2, w3 = wanted["initial"]["omega"]
    lean = wanted["initial"]["lean"]
    turn = w2 / np.cos(lean)
    start = {"lean": lean, "lean'": -w1, "psi'": turn, "phi'": w3 - turn * np.sin(lean)}
    times = [0.0, *(row["t"] for row in wanted["rows"])]
    found = kg.simulate(mechanism, times[-1], state=start, times=times, rtol=1e-11, atol=1e-12)
    for k, row in enumerate(wanted["rows"], start=1):
        for name in ("x", "y", "psi", "lean", "phi"):
            assert abs(found[name][k] - row[name]) < 1e-8, (name, row["t"])
    assert np.ptp(found["energy"]) < 1e-8


def test_a_blade_below_the_center_draws_a_circle():
    """With a = 0 speed and turn are constant: radius v / w."""
    run = kg.simulate("knife-edge", 3, parameters={"a": 0}, times=30, rtol=1e-11, atol=1e-12, native=False)
    radius = 0.8 / 1.7
    np.testing.assert_allclose(np.hypot(run["x"], run["y"] + radius), radius, atol=1e-10)
    np.testing.assert_allclose(run["theta"], 1.7 * run.t, atol=1e-10)
