"""Vibrations: closed forms and reference frequencies."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.tasks.modes import modes
from tests.effort import SOAK
from tests.tasks.reference import reference


def pendulum(links: int, record: str) -> str:
    text = "coordinates " + ", ".join(f"q{i}" for i in range(1, links + 1)) + "; gravity 0, 0, -9.81;\n"
    for i in range(1, links + 1):
        base, shift = (f"~L{i - 1}", "Sz(-1), ") if i > 1 else ("", "")
        angle = f"q{i} - q{i - 1}" if i > 1 else "q1"
        text += f"L{i}{base} | {shift}Ry({angle}) | {record};\n"
    return text


@pytest.mark.parametrize("links", [3, 6] if SOAK else [3])
@pytest.mark.parametrize(("kind", "record"), [("point", "Sz(-1), m(1)"), ("rod", "Sz(-1/2), m(1), Jy(1/12)")])
def test_hanging_chain(links, kind, record):
    wanted = reference("vibrations_n_link_pendulum")[f"N{links}"][kind]
    found = modes(kg.parse(pendulum(links, record)))
    np.testing.assert_allclose(found.frequencies, wanted["omega"], rtol=1e-12)
    for mode, shape in zip(found.modes, wanted["modes_absolute_angles_scaled_theta1_1"], strict=True):
        np.testing.assert_allclose(mode.shape / mode.shape[0], shape, rtol=1e-9, atol=1e-9)
        assert mode.damping == 0


def test_damped_oscillator():
    """x'' + 2 D w x' + w^2 x = 0 with w = 5, D = 0.1."""
    found = modes(
        kg.parse("""
        coordinates x;
        Cart | Sx(x) | m(2);
        spring s | on(x) stiffness(50);
        damper d | on(x) damping(2);
    """)
    )
    (mode,) = found.modes
    assert mode.frequency == pytest.approx(5, abs=1e-12)
    assert mode.damping == pytest.approx(0.1, abs=1e-12)
    assert found.stable


def test_an_inverted_pendulum_has_a_growing_and_a_decaying_mode():
    found = modes(kg.parse("coordinates q; gravity 0, 0, -9.81; Rod | Ry(q) | Sz(1), m(1);"))
    assert sorted(mode.eigenvalue.real for mode in found.modes) == pytest.approx([-(9.81**0.5), 9.81**0.5])
    assert not found.stable


def test_states_may_be_formulas():
    by_formula, by_number = (modes("double-pendulum", {"q1": np.pi, "q2": q2}) for q2 in ("pi/2 - pi/2", 0))
    assert [one.eigenvalue for one in by_formula.modes] == [one.eigenvalue for one in by_number.modes]
