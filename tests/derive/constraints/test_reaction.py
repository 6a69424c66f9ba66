"""Reactions as quantities: pins of the four-bar, equilibrium of every body, frames, closing errors."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError
from kinegraph.graph.interpret import interpret
from tests.derive.constraints.test_four_bar import FOUR_BAR, REFERENCE, state
from tests.interpreted import interpreted
from tests.tasks.test_loop_reactions import PINS

SPATIAL = """coordinates a = 0.4, b = -0.3, c = 0.5, d = 0.2, x = 0.9; gravity 0, -3, -9.81;
    A | Rz(a), Ry(b) | Sx(0.3), m(2), Jx(0.1), Jy(0.2), Jz(0.3); B~A | Sx(0.7), Rx(0.3), Ry(c) | Sz(0.2), m(1), Jx(0.1);
    C~B | Sz(0.4), Rx(d) | Sy(0.1), m(0.5), Jy(0.02); D | Sy(0.2), Rz(0.3), Sx(x) | m(1.5);
    loop ball | spherical | C: Sy(0.3) | D: Sz(0.1);
    force pull | at(tip) world(1, 2, 0); output tip = C(0, 0.2, 0.1);"""


@pytest.mark.parametrize("case", REFERENCE["forward"])
def test_pins_of_the_four_bar_are_quantities(case):
    words = [f"reaction:{body}" for body in PINS] + ["reaction:pin"]
    kernel = interpreted(kg.parse(FOUR_BAR.format(gravity="-9.81")), words)
    q, v, tau = state(case)
    found = kernel(q, v, tau)
    wanted = case["gravity_on"]["pin_forces"]
    for word, pin in zip(words, [*PINS.values(), "C_coupler_on_rocker"], strict=True):
        np.testing.assert_allclose(found[word][:2], wanted[pin], rtol=1e-11, atol=1e-10)


def fitting(model):
    start = kg.assemble(model)
    rates = kg.assemble(model, dict(zip(model.layout.velocities[:2], (0.7, -0.4), strict=True)))
    return start.q, rates.v, np.array([0.3, -0.2, 0.1, 0.4, -1.0])


def test_every_body_moves_under_the_reactions_on_it():
    """Newton's law for D: the forces of its slide and of the ball equal its mass times acceleration."""
    model = kg.parse(SPATIAL)
    q, v, tau = fitting(model)
    found = interpreted(model, "qdd,reaction:D,reaction:ball,pose:D")(q, v, tau)
    along = found["pose:D"][:3, 0]
    force = found["reaction:D"][:3] + found["reaction:ball"][:3] + 1.5 * np.array([0, -3, -9.81])
    np.testing.assert_allclose(force, 1.5 * found["qdd"][4] * along, atol=1e-11)
    np.testing.assert_allclose(found["reaction:D"][:3] @ along, tau[4], atol=1e-11)
    np.testing.assert_allclose(found["reaction:ball"][3:], 0, atol=1e-15)


def test_frames_turn_the_vectors():
    model = kg.parse(SPATIAL)
    q, v, tau = fitting(model)
    words = "reaction:B,reaction:B@parent,reaction:B@body,reaction:c@C,reaction:ball,reaction:ball@D"
    found = interpreted(model, words + "".join(f",pose:{body}" for body in "ABCD"))(q, v, tau)
    for word, body in (("reaction:B@parent", "A"), ("reaction:B@body", "B"), ("reaction:c@C", "C")):
        turn = found[f"pose:{body}"][:3, :3]
        for part in (slice(0, 3), slice(3, 6)):
            np.testing.assert_allclose(turn @ found[word][part], found["reaction:B"][part], atol=1e-11)
    turn = found["pose:D"][:3, :3]
    np.testing.assert_allclose(turn @ found["reaction:ball@D"][:3], found["reaction:ball"][:3], atol=1e-11)


def test_what_is_no_joint_is_named():
    model = kg.parse(FOUR_BAR.format(gravity="0"))
    with pytest.raises(DerivationError, match="'pinn' is not a joint\n  did you mean `pin`"):
        kg.derive(model, "reaction:pinn")
    with pytest.raises(DerivationError, match="there is no loop 'Pin'"):
        kg.derive(model, "B:Pin")
    shared = kg.parse("coordinates a, b; A | Rz(a) | m(1); B~A | Sx(1), Rz(b - a) | m(1);")
    with pytest.raises(DerivationError, match="a moves the joints of A, B: name one of these bodies"):
        kg.derive(shared, "reaction:a")
    geared = kg.parse("coordinates a, b; A | Rz(a) | m(1), Jz(1); B | Rz(b) | m(1), Jz(1); loop g | gear(2) | a | b;")
    with pytest.raises(DerivationError, match="g ties coordinates, not two frames"):
        kg.derive(geared, "reaction:g")


@pytest.mark.parametrize("text", [FOUR_BAR.format(gravity="-9.81"), SPATIAL], ids=["planar", "spatial"])
def test_increments_take_closing_errors_away(text):
    """A Newton step by `increments` leaves a quadratic residual, and changes dependent coordinates only."""
    model = kg.parse(text)
    q = kg.assemble(model).q + 1e-5 * np.arange(1, len(model.layout.positions) + 1)
    kernel = interpreted(model, "constraints,increments")
    found = kernel(q)
    step = found["increments"] @ found["constraints"]
    after = kernel(q + step)["constraints"]
    assert np.max(np.abs(after)) < 1e-8 < np.max(np.abs(found["constraints"]))
    assert np.sum(step == 0) == kg.assemble(model).mobility


@pytest.mark.parametrize("text", [FOUR_BAR.format(gravity="-9.81"), SPATIAL], ids=["planar", "spatial"])
def test_a_and_b_are_the_motion_of_the_closing_frame(text):
    """(A - B) v is the velocity of the second frame relative to the first, in the axes of the first."""
    model = kg.parse(text)
    loop = model.loops[0]
    q, v = kg.assemble(model).q, np.linspace(-1, 1, len(model.layout.velocities))
    found = interpreted(model, f"A:{loop.name},B:{loop.name},constraint_jacobian")(q)
    difference = found[f"A:{loop.name}"] - found[f"B:{loop.name}"]
    np.testing.assert_allclose(difference[:3] @ v, found["constraint_jacobian"][:3] @ v, atol=1e-12)
    assert not np.any(np.any(found[f"A:{loop.name}"], axis=0) & np.any(found[f"B:{loop.name}"], axis=0))


@pytest.mark.parametrize("by", ["q", "v", "tau", "m"])
def test_derivatives_agree_with_differences(by):
    """Derivatives of accelerations, multipliers and reactions by all their variables."""
    model = kg.parse("parameters m = 2; " + SPATIAL.replace("m(2)", "m(m)"))
    q, v, tau = fitting(model)
    words = ["qdd", "multipliers", "reaction:B", "reaction:ball"]
    layout = model.layout
    names = (*layout.positions, *layout.velocities, *layout.forces, "m")
    graph = kg.derive(model, [*words, *(f"d({word})/d({by})" for word in words)])

    def values(q, v, tau, m):
        return interpret(graph, dict(zip(names, [*q, *v, *tau, m], strict=True)))

    slopes = values(q, v, tau, 2.0)
    direction = np.array([0.3, -0.5, 0.2, 0.7, -0.1])
    step = 1e-5

    def at(sign):
        moved = {"q": q, "v": v, "tau": tau, "m": 2.0}
        moved[by] = moved[by] + sign * step * (direction if by != "m" else 1.0)
        return values(**moved)

    above, below = at(1), at(-1)
    for word in words:
        exact = slopes[f"d({word})/d({by})"] @ direction if by != "m" else slopes[f"d({word})/d({by})"]
        np.testing.assert_allclose(exact, (above[word] - below[word]) / (2 * step), rtol=1e-6, atol=1e-6)
