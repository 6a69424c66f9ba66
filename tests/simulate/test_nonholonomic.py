"""Constraints on velocities: a blade and a rolling disc against closed forms and runs of 20 digits."""

import numpy as np

import kinegraph as kg
from tests.tasks.reference import reference

SLEIGH = """
    parameters m = 3, J = 0.4, a = 0.25;
    coordinates x, y, theta;
    initial x' = -0.8, theta' = 1.7;
    Sleigh | Sx(x), Sy(y), Rz(theta) | Sx(a), m(m), Jz(J);
    constraint blade | cos(theta)*y' - sin(theta)*x' = 0;
"""
#: psi: heading; lean: from the vertical, towards -n; phi: own rotation. The point below the centre does not slip.
DISC = """
    parameters m = 2, r = 0.3, A = 0.045, C = 0.09;
    coordinates x, y, psi, lean, phi;
    gravity 0, 0, -9.81;
    Disc | Sx(x), Sy(y), Sz(r*cos(lean)), Rz(psi), Rx(-lean), Rx(pi/2), Rz(phi) | m(m), Jx(A), Jy(A), Jz(C);
    constraint along  | x' + r*cos(psi)*(phi' + psi'*sin(lean)) + {along} = 0;
    constraint across | y' + r*sin(psi)*(phi' + psi'*sin(lean)) + {across} = 0;
"""


def test_sleigh_on_a_blade():
    wanted = reference("nonholonomic_chaplygin_sleigh")
    times = [0.0, *(row["t"] for row in wanted["rows"])]
    mechanism = kg.parse(SLEIGH)
    found = kg.simulate(mechanism, times[-1], grid=times, rtol=1e-11, atol=1e-12)
    blade = kg.compile(mechanism, "multipliers")
    for k, row in enumerate(wanted["rows"], start=1):
        np.testing.assert_allclose(
            [found[name][k] for name in ("x", "y", "theta")], [row[n] for n in ("x", "y", "theta")], atol=2e-9
        )
        q, v = (np.array([found[name][k] for name in names]) for names in (found.positions, found.velocities))
        np.testing.assert_allclose(v[2], row["omega"], atol=2e-9)
        np.testing.assert_allclose(blade(q, v, np.zeros(3)), [row["blade_force"]], atol=1e-8)


def test_rolling_disc():
    """Velocity of the centre: r (w1 e3 - w3 e1), with w1 = -lean', w3 = psi' sin(lean) + phi'."""
    wanted = reference("nonholonomic_rolling_disc")["run"]
    along = "r*lean'*cos(lean)*sin(psi)"
    across = "-r*lean'*cos(lean)*cos(psi)"
    mechanism = kg.parse(DISC.format(along=along, across=across))
    w1, w2, w3 = wanted["initial"]["omega"]
    lean = wanted["initial"]["lean"]
    turn = w2 / np.cos(lean)
    start = {"lean": lean, "lean'": -w1, "psi'": turn, "phi'": w3 - turn * np.sin(lean)}
    times = [0.0, *(row["t"] for row in wanted["rows"])]
    found = kg.simulate(mechanism, times[-1], initial=start, grid=times, rtol=1e-11, atol=1e-12)
    for k, row in enumerate(wanted["rows"], start=1):
        for name in ("x", "y", "psi", "lean", "phi"):
            assert abs(found[name][k] - row[name]) < 1e-8, (name, row["t"])
    assert np.ptp(found["energy"]) < 1e-8
