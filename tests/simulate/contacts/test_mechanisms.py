"""Contacts of whole mechanisms: chains that fall, rocking blocks, tables on four legs, closed loops with stops."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph import library
from kinegraph.simulate import Status
from tests.simulate.contacts.models import ROD, chain


def lies(found, names, weight):
    assert found.status is Status.FINISHED and all(check.passed for check in found.checks)
    assert sum(found[f"{name}.normal"][-1] for name in names) == pytest.approx(weight, rel=1e-9)
    assert all(found[f"{name}.gap"].min() > -1e-9 for name in names)


def test_a_chain_comes_to_rest_on_the_floor():
    found = kg.simulate(kg.parse(chain(2)), 3, native=False, times=6)
    lies(found, ("f0", "f1", "f2"), 2 * 9.81)
    np.testing.assert_allclose([found[f"f{k}.normal"][-1] for k in range(3)], np.array([1, 2, 1]) * 9.81 / 2, rtol=1e-9)
    assert np.all(np.diff(found["energy"]) < 1e-8)


@pytest.mark.parametrize("friction", [0, 0.4])
def test_a_rod_falls_on_both_ends(friction):
    law = f", friction({friction}), slip({{0}}.x')" if friction else ""
    meet = " ".join(f"contact {one.lower()} | {one}.y >= 0 | restitution(0.5){law.format(one)};" for one in "AB")
    model = kg.parse(ROD.format(height=1, angle=0.3, vx=0, vy=0, omega=0, g=9.81) + meet)
    found = kg.simulate(model, 4, native=False, times=8)
    lies(found, ("a", "b"), 2.5 * 9.81)
    np.testing.assert_allclose([found["a.normal"][-1], found["b.normal"][-1]], 2.5 * 9.81 / 2, rtol=1e-9)


def test_a_rocking_block_loses_what_housner_says():
    """Without restitution and slip every impact leaves the part 1 - 3/2 sin^2(alpha) of the angular velocity."""
    text = """model block; parameters a = 0.2, h = 0.5; coordinates x = 0, y = a*sin(0.1) + h*cos(0.1), th = 0.1;
        gravity 0, -9.81, 0; Block | Sx(x), Sy(y), Rz(th) | m(1), Jz((a^2 + h^2)/3);
        output A = Block (-a, -h, 0); output B = Block (a, -h, 0);
        contact fa | A.y >= 0 | friction(5), slip(A.x'); contact fb | B.y >= 0 | friction(5), slip(B.x');"""
    found = kg.simulate(kg.parse(text), 3, native=False, times=None)
    ratio = 1 - 1.5 * np.sin(np.arctan(0.2 / 0.5)) ** 2
    hits = [event.time for event in found.events if event.name.endswith("impact")]
    for time in hits[:4]:
        at = int(np.searchsorted(found.t, time))
        np.testing.assert_allclose(found["th'"][at + 1] / found["th'"][at], ratio, rtol=1e-8)
    lies(found, ("fa", "fb"), 9.81)
    assert len(hits) > 20 and abs(found["th"][-1]) < 1e-9


def test_a_table_on_four_legs_says_which_force_is_not_determined():
    legs = [(sx, sy) for sx in (1, -1) for sy in (1, -1)]
    text = """model table; coordinates x, y, z = 0.2;
        quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0.05, 0.03, 0.1);
        initial x' = 1; gravity 0, 0, -9.81;
        Table | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | m(2), Jx(0.05), Jy(0.06), Jz(0.08);"""
    for k, (sx, sy) in enumerate(legs):
        text += f"output C{k} = Table ({0.2 * sx}, {0.3 * sy}, -0.1); contact k{k} | C{k}.z >= 0 | restitution(0.3);"
    found = kg.simulate(kg.parse(text), 1, native=False, times=4)
    lies(found, [f"k{k}" for k in range(4)], 2 * 9.81)
    assert abs(found["z"][-1] - 0.1) < 1e-11 and abs(found["x'"][-1] - 1) < 1e-12
    assert sum(event.name.endswith("held") for event in found.events) >= 1


def test_a_four_bar_with_a_stop():
    """A stop at the crank: it bounces and comes to rest, pressed as a locked crank would be."""
    text = library.text("four-bar") + "contact stop | crank + 0.03 >= 0 | restitution(0.5);"
    found = kg.simulate(kg.parse(text), 8, native=False, times=16, inputs={"crank": "-4"})
    assert found.status is Status.FINISHED and all(check.passed for check in found.checks)
    assert found.events[-1].name == "stop: rest"
    assert abs(found["crank"][-1] + 0.03) < 1e-12 and np.max(np.abs(found["coupler'"][-1:])) < 1e-9
    free = kg.parse(library.text("four-bar"))
    q = [found[name][-1] for name in free.layout.positions]
    needed = kg.compile(free, "tau")(q, np.zeros(3), np.zeros(3))[0]  # what holds the crank there
    np.testing.assert_allclose(found["stop.normal"][-1], needed + 4, rtol=1e-9)


def test_equations_with_forces_ask_which_contacts_are_closed():
    model = kg.parse(chain(2))
    assert kg.derive(model, "H,energy") and kg.compile(model, "pose:P1")
    for quantity in ("qdd", "tau", "d(qdd)/d(q)"):
        with pytest.raises(kg.KinegraphError, match="depends on which rigid contacts are closed"):
            kg.derive(model, quantity)
