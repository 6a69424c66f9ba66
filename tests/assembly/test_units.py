"""A mechanism of a micrometer, of a meter and of 100 km: the same assembly in its own lengths."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import AssemblyError
from kinegraph.model.mechanism import Mechanism

SIZES = (1e-6, 1e-3, 1.0, 1e3, 1e5)


def slider_crank(size: float) -> Mechanism:
    return kg.parse(f"""model slider; parameters a = {0.5 * size!r}, b = {1.2 * size!r};
        coordinates crank = 0.3; coordinates rod, x;
        Crank     | Rz(crank)              | Sx(a/2), m(1), Jz(a^2/12);
        Rod~Crank | Sx(a), Rz(rod - crank) | Sx(b/2), m(2.4), Jz(2.4*b^2/12);
        Slider    | Sx(x)                  | m(1.6);
        loop pin | revolute | Rod: Sx(b) | Slider: ;""")


def free_chain(size: float) -> Mechanism:
    """More freedom than declared values: two angles and a slider follow in one way that is the shortest."""
    return kg.parse(f"""model chain; parameters a = {0.5 * size!r}; coordinates s = {0.2 * size!r}; coordinates p, q, r;
        A   | Rz(p)               | Sx(a), m(1), Jz(a^2);
        B~A | Sx(a), Rz(q), Sx(s) | Sx(a), m(1), Jz(a^2);
        C~B | Sx(a), Rz(r)        | Sx(a), m(1), Jz(a^2);
        loop pin | revolute | Sx(2.1*a), Sy(0.7*a) | C: Sx(a);""")


@pytest.mark.parametrize("size", SIZES)
def test_a_slider_crank_of_any_size_closes(size: float) -> None:
    found, usual = kg.assemble(slider_crank(size)), kg.assemble(slider_crank(1.0))
    assert np.allclose(found.q / [1, 1, size], usual.q, rtol=1e-12)
    assert found.mobility == usual.mobility == 1
    assert found.residual <= 1e-14 * size


@pytest.mark.parametrize("size", SIZES)
def test_values_nobody_gave_move_the_same_in_every_unit_of_length(size: float) -> None:
    found, usual = (kg.assemble(free_chain(one), {"p": 0.4}) for one in (size, 1.0))
    assert np.allclose(found.q / [size, 1, 1, 1], usual.q, rtol=1e-9, atol=1e-12)
    near, far = (kg.assemble(free_chain(one), {"p": 0.4, "p'": 2}) for one in (size, 1.0))
    assert np.allclose(near.v / [size, 1, 1, 1], far.v, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_a_set_length_that_cannot_hold_is_refused_however_small_it_is(size: float) -> None:
    with pytest.raises(AssemblyError, match="contradict the loops"):
        kg.assemble(slider_crank(size), {"crank": 0.3, "x": 1.5 * size}).required()


@pytest.mark.parametrize("size", [1e-3, 1e5])
def test_a_run_of_any_size_closes_and_passes_its_checks(size: float) -> None:
    model = kg.parse(kg.write(slider_crank(size)) + f"gravity 0, {-9.81 * size!r}, 0;")
    found = kg.simulate(model, 0.5, times=2, native=False, progress=False, atol=1e-10 * size)
    assert found["crank"][-1] == pytest.approx(-1.48998427, abs=1e-7)
    assert found.drift["position"] <= 1e-14 * size
    assert all(one.passed for one in found.checks)


def tangent_line(size: float, away: float) -> Mechanism:
    """A line on a wheel touches the circle on which a slider's point is: the wheel has no lever there but rounding."""
    return kg.parse(f"""model tangent; parameters r = {size!r};
        coordinates q = -0.3, x = 0.7*r, y = 0.2*r;
        Wheel       | Sx({away!r}*r), Sy(-r), Rx(q)             | m(1), Jx(r^2);
        Cart        | Sx({away!r}*r), Sy(-r/2), Rx(pi/2), Sx(x) | m(1);
        Slider~Cart | Sz(r/2), Ry(0.3), Sy(y)                   | m(1);
        loop touch | point_on_line | Wheel: Sx(r/2), Sy(sin(0.3)*r), Sz(-cos(0.3)*r), Rx(0.3 + pi/2)
                   | Slider: Sx(-0.2*cos(0.3)*r), Sy(-1.2*r), Sz(-0.2*sin(0.3)*r), Ry(-0.3);""")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("away", [0.0, 1e3])
def test_what_rounding_leaves_of_a_lever_is_no_unit_of_length(size: float, away: float) -> None:
    model, unit = tangent_line(size, away), np.array([1, size, size])
    found = kg.assemble(model)
    assert np.allclose(found.q / unit, [-0.3, 0.7, 0.2], rtol=1e-9)
    turned = kg.assemble(model, {"q": -0.1})
    assert np.allclose(turned.q / unit, [-0.1, 0.7, 1.2 - 1 / np.cos(0.2)], rtol=1e-9)
