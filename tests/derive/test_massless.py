"""Coordinates that together move no mass are named in the errors of all accelerations."""

import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError

#: Models whose inertia matrix is singular at every position, and the velocities that move nothing together.
SINGULAR = {
    "a', b'": "coordinates a = 0.1, b = 0.2; B | Rz(a); C~B | Rz(b) | Sx(1), m(1), Jz(0.1);",
    "a', b', c'": "coordinates a = 0.1, b = 0.2, c = 0.3; B | Rx(a), Ry(b), Rz(c) | Sx(1), m(1);",
    "u', v', w'": "coordinates u, v, w; B | Sx(u), Sy(v), Rz(0.3), Sx(w) | m(1);",
    "d', e', f', g'": """coordinates x, y, z, d = 0.1, e = 0.2, f = 0.3, g = 0.5;
        B | Sx(x), Sy(y), Sz(z), Rx(d), Ry(e), Rz(f), Rx(g) | m(1), Jx(1), Jy(1), Jz(2);""",
}


@pytest.mark.parametrize("quantity", ["qdd", "d(qdd)/d(q)"])
@pytest.mark.parametrize("velocities", SINGULAR)
def test_a_singular_inertia_matrix_names_what_moves_no_mass(velocities, quantity):
    """It ended in an internal ProofError, or divided zero by zero: d(qdd)/d(q) of the first was given as numbers."""
    with pytest.raises(DerivationError, match=f"singular at every position: {velocities} can change together"):
        kg.derive(kg.parse(SINGULAR[velocities]), quantity)


def test_small_masses_beside_large_ones_are_not_none():
    text = """coordinates a = 0.1, b = 0.2; gravity 0, -9.81, 0;
        A | Rz(a) | Jz(1e-9); B~A | Sx(1), Rz(b) | Sx(1e-4), m(1000), Jz(1e-9);"""
    mechanism = kg.parse(text)
    assert kg.derive(mechanism, "qdd")
    assert kg.derive(kg.load("free-body"), "qdd") and kg.derive(kg.load("heavy-top"), "qdd")
    assert kg.derive(kg.parse("Wall | Sx(1) | m(1);"), "reaction:Wall")
