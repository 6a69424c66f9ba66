"""Equilibria that are not isolated, angles that repeat, and what eigenvalues do not decide."""

import numpy as np
import pytest

import kinegraph as kg
from tests.cli.run import data, runner

MASS = "coordinates x; Mass | Sx(x) | m(1); potential V | {};"
ROD = "coordinates q; gravity 0, 0, -9.81; Rod | Ry({}) | Sz(-1), m(1); {}"
RING = "coordinates x, y; Mass | Sx(x), Sy(y) | m(1); potential V | (x^2 + y^2 - 1)^2;"


@pytest.mark.parametrize(
    ("potential", "stable"), [("-x^4", None), ("x^3", None), ("x^4", None), ("x^2", True), ("-x^2", False)]
)
def test_what_linear_forces_do_not_decide_is_undecided(potential, stable):
    model = kg.parse(MASS.format(potential))
    (one,) = kg.equilibria(model, starts=20)
    assert one.stable is stable and one.q[0] == pytest.approx(0, abs=1e-9)
    assert kg.modes(model, {"x": 0}).stable is stable


def test_a_soft_spring_beside_stiff_ones_decides():
    model = kg.parse("""
        coordinates x, y; A | Sx(x) | m(1); B | Sx(y) | m(1);
        spring soft | on(x), stiffness(1); spring stiff | on(y - x), stiffness(1e10);
    """)
    (one,) = kg.equilibria(model, starts=10)
    assert one.stable is True and not kg.equilibria(model, starts=10).continua


@pytest.mark.parametrize(
    ("angle", "element", "count"),
    [
        ("q", "", 2),
        ("q", "damper d | on(q), damping(0.1);", 2),
        ("q", "potential V | 10*cos(2*q);", 4),
        ("q", "spring s | on(q), stiffness(0.1);", 3),  # winds up: upright on both sides is not the same
        ("q/2", "", 1),  # half a turn of the coordinate's turn
    ],
)
def test_half_a_turn_is_one_place_on_both_sides(angle, element, count):
    assert len(kg.equilibria(kg.parse(ROD.format(angle, element)), starts=60)) == count


def test_bounds_of_a_whole_turn_do_not_double_it():
    rod = kg.parse(ROD.format("q", ""))
    assert len(kg.equilibria(rod, bounds={"q": (-np.pi, np.pi)}, starts=60)) == 2


def test_a_ring_is_one_continuum():
    found = kg.equilibria(kg.parse(RING), starts=60)
    assert [one.stable for one in found] == [False]
    (ring,) = found.continua
    assert ring.dimension == 1 and ring.found > 20 and ring.example.stable
    assert np.hypot(*ring.example.q) == pytest.approx(1)
    np.testing.assert_allclose([ring.low, ring.high], [[-1, -1], [1, 1]], atol=0.1)


def test_a_sphere_has_two_dimensions():
    model = kg.parse("coordinates x, y, z; M | Sx(x), Sy(y), Sz(z) | m(1); potential V | (x^2 + y^2 + z^2 - 1)^2;")
    (sphere,) = kg.equilibria(model, starts=40).continua
    assert sphere.dimension == 2


def test_continua_beside_each_other_are_told_apart():
    """Two arms on a spring between their tips: at rest length on either side, and opposite to each other."""
    model = kg.parse("""
        coordinates a, b; A | Rz(a) | Sx(1), m(1); B | Rz(b) | Sx(1), m(1); output P = A (1, 0, 0);
        output Q = B (1, 0, 0); spring s | between(P, Q), stiffness(2), rest(1);
    """)
    found = kg.equilibria(model, starts=60)
    apart = sorted(round(float(np.cos(one.example.q[1] - one.example.q[0])), 6) for one in found.continua)
    assert apart == [-1, 0.5, 0.5] and len(found) == 0
    assert [one.example.stable for one in found.continua].count(True) == 2


def test_headings_are_no_branches():
    """A bicycle goes straight in every direction: each way to stand on its wheels is one branch for each sense."""
    found = kg.continuation("bicycle", "x'", 3, 8, starts=8)
    kinds = [(np.round(np.cos(one.q[0, [0, 1, 8]]), 3).tolist(), np.sign(one.v[0, 2])) for one in found]
    assert all(kinds.count(kind) == 1 for kind in kinds)


def test_the_command_prints_one_row(capsys, tmp_path):
    (tmp_path / "ring.kg").write_text(RING)
    run = runner(capsys)
    shown = run(f"equilibria {tmp_path / 'ring.kg'} --starts 40")
    assert shown.out.count("one of a continuum (line; x ") == 1
    assert len(data(run(f"equilibria {tmp_path / 'ring.kg'} --starts 40 --json"))["continua"]) == 1
    (tmp_path / "flat.kg").write_text(MASS.format("-x^4"))
    assert "undecided: linear forces vanish" in run(f"equilibria {tmp_path / 'flat.kg'} --starts 5").out
    assert data(run(f"equilibria {tmp_path / 'flat.kg'} --starts 5 --json"))["equilibria"][0]["stable"] is None
