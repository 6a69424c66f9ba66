"""Chains cut at every kind of joint, and with constraints of coordinates, beside the derived equations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError, ProofError
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive.chains import closing
from kinegraph.recursive.chains.dynamics import ChainSystem
from kinegraph.recursive.proof import prove
from kinegraph.recursive.proof.prove import proved
from kinegraph.recursive.systems import ClosedSystem
from tests.interpreted import interpreted
from tests.recursive.chains_case import state

TWO_ARMS = """
    model arms; gravity 0.1, 0.2, -9.81;
    coordinates p = 0.1, a1 = 0.3, a2 = 0.4, a3 = -0.2, a4 = 0.3, b1 = 0.2, b2 = 0.3, b3 = -0.4, b4 = 0.2;
    Base  | Sx(p)          | m(2);
    A1~Base | Rx(a1), Ry(a2) | Sz(-0.3), m(1), Jx(0.1), Jy(0.1), Jz(0.05);
    A2~A1 | Sz(-0.6), Rx(a3), Sz(a4) | Sx(0.2), Sz(-0.2), m(1), Jx(0.1), Jy(0.12), Jz(0.05);
    B1~Base | Sx(1), Ry(b1), Rx(b2) | Sz(-0.5), m(1), Jx(0.1), Jy(0.1), Jz(0.02);
    B2~B1 | Sz(-0.8), Ry(b3), Rz(b4) | Sz(-0.2), m(1), Jx(0.1), Jy(0.1), Jz(0.02);
"""
CUTS = ("universal(x, y)", "cylindrical(z)", "prismatic(y)", "planar(z)", "point_on_line(x)", "point_on_plane(y)",
        "distance(0.6)", "fixed")  # fmt: skip
CONSTRAINED = {
    "base": "constraint c | 0.3*sin(4*p) + p = 0.2*sin(t);",
    "between": "constraint c | a4 + b4*a1 = 0.3; constraint d | a2 - b2 = 0.1*t;",
    "gear": "loop g | gear(2, 0.1) | a1 | b1;",
    "velocities": "constraint n | a1' - 0.3*b2'*a4 = 0;",
}


@cache
def cut(kind: str, more: str = "") -> Mechanism:
    return kg.parse(TWO_ARMS + f"loop cut | {kind} | A2: Sz(-0.3), Rx(0.2) | B2: Sy(0.1), Rz(0.3);" + more)


def differences(mechanism: Mechanism, body: str | None) -> tuple[float, float]:
    """Accelerations beside the graph's, relative; and the multipliers' power, which closed rows do not exert."""
    q, v, tau = state(mechanism)
    found = ChainSystem(mechanism, body=body).evaluated(q, v, tau, 0.0)
    derived = interpreted(mechanism, "qdd")
    names = [one.name for one in derived.arguments]
    wanted = derived(*([q, v, tau, 0.0] if "t" in names else [q, v, tau]))
    return float(np.max(np.abs(found.qdd - wanted)) / np.max(np.abs(wanted))), float(np.max(np.abs(found.missed)))


@pytest.mark.parametrize("kind", CUTS)
def test_every_kind_of_cut_gives_the_derived_accelerations(kind: str) -> None:
    for body in (None, "Base"):
        difference, missed = differences(cut(kind), body)
        assert difference < 1e-11 and missed < 1e-10


@pytest.mark.parametrize("kind", CONSTRAINED)
def test_constraints_of_coordinates_beside_the_loops(kind: str) -> None:
    mechanism = cut("spherical", CONSTRAINED[kind])
    system = ChainSystem(mechanism, body="Base")
    assert len(system.row_names) == 3 + len(mechanism.constraints) + (kind == "gear")
    difference, _ = differences(mechanism, "Base")
    assert difference < 1e-11


def test_a_constraint_that_follows_from_the_loops_is_a_pivot_near_zero() -> None:
    """The distance of two points that a ball joint holds together at constant radii is no new condition."""
    mechanism = kg.parse("""
        model planar; gravity 0, -9.81, 0; coordinates a = 0.5, b = 2.2, c = -1.7;
        A | Rz(a) | Sx(0.5), m(1), Jz(0.1); B~A | Sx(1), Rz(b) | Sx(0.5), m(1), Jz(0.1);
        C | Sx(1), Rz(c) | Sx(0.5), m(1), Jz(0.1);
        loop pin | spherical | B: Sx(1) | C: Sx(1);
        constraint again | cos(a) + cos(a + b) - 1 - cos(c) = 0;
    """)
    q, v, tau = np.array([0.5, 2.2, -1.7]), np.zeros(3), np.zeros(3)
    found = ChainSystem(mechanism).evaluated(q, v, tau)
    assert found.pivots[-1] < 1e-12 < 1e-3 < found.pivots[:-1].min()


def test_kernels_of_chains_refuse_constraints_of_coordinates() -> None:
    with pytest.raises(KernelError, match="constraint c in kernels"):
        ClosedSystem(cut("spherical", CONSTRAINED["base"]))


@pytest.mark.parametrize(("kind", "rows"), [("cylindrical(z)", 4), ("distance(0.6)", 1), ("universal(z, x)", 4)])
def test_the_proof_covers_the_new_cuts(kind: str, rows: int) -> None:
    mechanism = cut(kind)
    assert proved(ClosedSystem(mechanism), mechanism, ("qdd",), None).rows == rows


def test_a_wrong_moment_of_a_cut_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The force of a cylindrical joint acts on both bodies at the second point: at the first it has a moment."""
    monkeypatch.setattr(prove, "INSTEAD", {**prove.INSTEAD, closing.cross: lambda a, b: tuple(0 * one for one in a)})
    with pytest.raises(ProofError):
        proved(ClosedSystem(cut("point_on_line(x)")), cut("point_on_line(x)"), ("qdd",), None)
