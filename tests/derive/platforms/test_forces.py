"""Forces in platforms: along light links, stable efforts near singular poses, loops on request."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.graph.interpret import interpret
from kinegraph.model.mechanism import Mechanism
from tests.derive.platforms.evaluate import evaluated
from tests.derive.platforms.test_maximal import platform, states
from tests.derive.platforms.test_model import RING, moving

ROWS = "| A: Sx(0.5), Rx(pi/2) > Sx(0.3), Sy(0.2) | B: Sx(-0.2), Sy(0.4), Rx(pi/2) > Sx(-0.3), Sy(0.1)"
LIGHT = {"UPS": "Sz(0.2), m(0) | Sz(-0.2), m(0)", "RUS(0.2, 0.6)": "m(1), Jz(0.1) | m(0)"}
HEAVY = {"UPS": "Sz(0.2), m(2) | Sz(-0.2), m(1)", "RUS(0.2, 0.6)": "m(1), Jz(0.1) | Sx(0.3), m(2)"}


def across_link(kind: str, parts: str) -> float:
    """The largest part of a ring joint's force that is not along the leg's last part."""
    mechanism = kg.parse(f"model light; {RING} platform {kind} | Ring | {parts} | {ROWS};")
    q, v, tau = moving(mechanism)
    tau[mechanism.layout.velocities.index("wz") + 1 :] = 0  # nothing but drives and the ring
    (forces,) = evaluated(mechanism, "platform_forces")(q, v, tau)
    last = "upper" if kind == "UPS" else "rod"
    axis = 2 if kind == "UPS" else 0
    across = []
    for leg, force in zip("AB", forces[:, :3], strict=True):
        pose = evaluated(mechanism, f"pose:{leg}_{last}")(q)[0]
        across.append(np.linalg.norm(np.cross(force, pose[:3, axis])) / np.linalg.norm(force))
    return float(max(across))


@pytest.mark.parametrize("kind", LIGHT)
def test_forces_at_the_ring_lie_along_light_links_only(kind: str) -> None:
    assert across_link(kind, LIGHT[kind]) < 1e-12
    assert across_link(kind, HEAVY[kind]) > 0.05


def near_singular(mechanism: Mechanism, away: float) -> np.ndarray:
    """The joints of the ring nearly in the plane of those of the base."""
    q = np.zeros(len(mechanism.layout.positions))
    q[6:13] = [-1.45, 0.1, 0.4 + away, 1, 0, 0, 0]
    return q


@pytest.mark.parametrize("away", [1e-2, 1e-4, 1e-6])
def test_efforts_are_backward_stable(away: float) -> None:
    """Efforts grow without bound near a singular pose; what they cause stays what was asked for, to rounding."""
    mechanism = kg.load("stewart")
    q = near_singular(mechanism, away)
    v, a = np.zeros(24), np.zeros(24)
    a[6:12] = [0.3, -0.2, 0.5, 1, -2, 0.4]
    (tau,) = evaluated(mechanism, "tau")(q, v, a)
    (ring,) = evaluated(mechanism, "platform_acceleration")(q, v, tau)
    assert np.max(np.abs(tau)) > 0.1 / away
    assert np.max(np.abs(ring - a[6:12])) < 1e-14 * np.max(np.abs(tau))


def test_legs_as_loops_on_request() -> None:
    mechanism = platform(("SPU",))
    ((q, v, tau),) = states(mechanism, 1)
    loops = kg.derive(mechanism, "qdd", closed_legs=False)
    closed = kg.derive(mechanism, "qdd")
    assert {symbol.name for symbol in closed.symbols()} & {"L0_l", "L0_alpha"} == set()
    layout = mechanism.layout
    names = (*layout.positions, *layout.velocities, *layout.forces)
    values = dict(zip(names, (*q, *v, *tau), strict=True))
    np.testing.assert_allclose(interpret(closed, values)["qdd"], interpret(loops, values)["qdd"], atol=1e-8)
