"""All types of legs, mixed legs and asymmetric parts against dense equations in maximal coordinates, to 1e-9."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.model.builder import Builder, Rx, Ry, Rz, Sx, Sy, Sz, inertia, leg
from kinegraph.model.mechanism import Inertia, Mechanism
from kinegraph.model.platforms.leg_table import LegType
from tests.derive.platforms.evaluate import AS_LOOPS, evaluated
from tests.derive.platforms.maximal import Maximal
from tests.effort import SOAK

TYPES = tuple(kind.value for kind in LegType)
QUANTITIES = "qdd,platform_acceleration,platform_forces,leg_reactions,base_reaction"


def crooked(mass: float, along: tuple[float, float, float], scale: float) -> Inertia:
    """A part without any symmetry."""
    shift = [turn(amount) for turn, amount in zip((Sx, Sy, Sz), along, strict=True)]
    return inertia(mass, 3 * scale, 2.5 * scale, 2 * scale, 0.2 * scale, -0.3 * scale, 0.1 * scale, at=shift)


def platform(types: tuple[str, ...], angles: bool = False) -> Mechanism:
    """A platform of six legs of these types, one after the other, nothing symmetric."""
    builder = Builder("mixed", (0.3, -0.2, -9.81))
    place = [Sx(builder.coordinate("x")), Sy(builder.coordinate("y")), Sz(builder.coordinate("z", 0.55))]
    if angles:
        turns = [turn(builder.coordinate(name)) for turn, name in ((Ry, "psi"), (Rz, "theta"), (Rx, "phi"))]
    else:
        turns = [builder.quaternion(("e0", "e1", "e2", "e3"), ("wx", "wy", "wz"))]
    ring = builder.body("Ring", None, [*place, *turns], crooked(40, (0.01, -0.02, 0.03), 1.5))
    random = np.random.default_rng(5)
    for k in range(6):
        kind = LegType(types[k % len(types)])
        at = k * np.pi / 3 + (0.3 if k % 2 else -0.3)
        on_ring = k * np.pi / 3 - (0.3 if k % 2 else -0.3)
        base = 0.6 * np.cos(at), 0.6 * np.sin(at), 0.02 * k
        place_on_ring = 0.4 * np.cos(on_ring), 0.4 * np.sin(on_ring), 0.01 * k
        out = [Rz(at), Rx(np.pi / 2)] if kind.has_crank else [Rz(at + random.normal() * 0.2), Rx(0.2)]
        row = leg(f"L{k}", base, place_on_ring, out, [Rz(on_ring), Rx(0.3)])
        if kind.has_crank:
            parts = crooked(3, (0.1, 0.02, 0.01), 0.02), crooked(2, (0.3, 0.02, -0.01), 0.03)
        else:
            parts = crooked(4, (0.01, -0.02, 0.2), 0.03), crooked(2, (0.02, 0.01, -0.2), 0.02)
        lengths = (0.25, 0.65) if kind.has_crank else (None, None)
        builder.platform(kind, ring, [row], *parts, *lengths)
    return builder.build()


def states(mechanism: Mechanism, count: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """States near the initial pose of the platform, and drive forces; the legs follow by their closed form."""
    random = np.random.default_rng(3)
    layout = mechanism.layout
    legs = evaluated(mechanism, "leg_positions,leg_velocities")
    found = []
    for _ in range(count):
        q, v, tau = np.zeros(len(layout.positions)), np.zeros(len(layout.velocities)), np.zeros(len(layout.velocities))
        e = np.array([1, *random.normal(scale=0.1, size=3)])
        pose = [*random.normal(scale=0.04, size=2), 0.55 + random.normal() * 0.03, *(e / np.linalg.norm(e))]
        q[6 : 6 + len(pose)], v[6:12] = pose, random.normal(scale=0.5, size=6)
        if "psi" in layout.positions:
            q[6:12] = [*pose[:3], *random.normal(scale=0.2, size=3)]
        ring = len(layout.positions) - len(layout.velocities) + 12
        positions, velocities = legs(q, v)
        q[:6], q[ring:] = positions[:6], positions[6:]
        v[:6], v[12:] = velocities[:6], velocities[6:]
        tau[:6] = random.normal(scale=100, size=6)
        found.append((q, v, tau))
    return found


def miss(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.max(np.abs(found - wanted)) / max(1.0, np.max(np.abs(wanted))))


@pytest.mark.parametrize("types", [*((one,) for one in TYPES), TYPES], ids="-".join)
def test_forward_dynamics_and_all_forces(types: tuple[str, ...]) -> None:
    mechanism = platform(types)
    run = evaluated(mechanism, QUANTITIES)
    for q, v, tau in states(mechanism, 3):
        wanted = Maximal(mechanism, q).solve(v[6:9], v[9:12], tau[:6])
        qdd, ring, on_ring, on_base, total = run(q, v, tau)
        assert miss(ring, wanted.ring) < 1e-11 and miss(qdd[6:12], wanted.ring) < 1e-11
        assert miss(on_ring, wanted.platform_forces) < 1e-11
        assert miss(on_base, wanted.leg_reactions) < 1e-11
        assert miss(total, wanted.leg_reactions.sum(axis=0)) < 1e-11


def drawn(seed: int) -> tuple[str, ...]:
    """All five types and one more, in any order."""
    random = np.random.default_rng(seed)
    return tuple(random.permutation([*TYPES, TYPES[random.integers(5)]]).tolist())


@pytest.mark.parametrize("seed", range(40 if SOAK else 2))
def test_mixed_legs_in_any_order(seed: int) -> None:
    mechanism = platform(drawn(seed))
    run = evaluated(mechanism, QUANTITIES)
    ((q, v, tau),) = states(mechanism, 1)
    wanted = Maximal(mechanism, q).solve(v[6:9], v[9:12], tau[:6])
    _, ring, on_ring, on_base, _ = run(q, v, tau)
    assert miss(ring, wanted.ring) < 1e-11
    assert miss(on_ring, wanted.platform_forces) < 1e-11 and miss(on_base, wanted.leg_reactions) < 1e-11


@pytest.mark.soak
def test_mixed_legs_as_machine_code() -> None:
    """Legs of one type in vector lanes, wherever they are in the table, for one state and for batches."""
    mechanism = platform(("RUS", "UPS", "UCU", "RUS", "SPU", "UPS"))
    kernel = kg.compile(mechanism, "platform_acceleration")
    found = states(mechanism, 3)
    batch = kernel.batch(*(np.array(column) for column in zip(*found, strict=True)))
    for row, (q, v, tau) in zip(batch, found, strict=True):
        wanted = Maximal(mechanism, q).solve(v[6:9], v[9:12], tau[:6]).ring
        assert miss(kernel(q, v, tau), wanted) < 1e-11 and miss(row, wanted) < 1e-11


@pytest.mark.parametrize("types", [("UPS",), ("RSU", "UCU")], ids="-".join)
def test_closed_legs_are_the_loops_written_out(types: tuple[str, ...]) -> None:
    """Accelerations of all coordinates, and efforts, by closed forms and by multipliers."""
    mechanism = platform(types)
    closed, loops = evaluated(mechanism, "qdd,tau"), evaluated(mechanism, "qdd", AS_LOOPS)
    for q, v, tau in states(mechanism, 2):
        given = np.concatenate([np.zeros(6), [0.3, -0.2, 0.5, 1, -2, 0.4], np.zeros(len(v) - 12)])
        qdd, efforts = closed(q, v, given, tau)
        assert miss(qdd, loops(q, v, tau)[0]) < 1e-10
        assert miss(loops(q, v, efforts)[0][6:12], given[6:12]) < 1e-10  # forward after inverse


def test_angles_about_y_z_x() -> None:
    """A platform with three angles: the same accelerations in other coordinates, and inverse after forward."""
    mechanism = platform(("UPS", "RUS"), angles=True)
    run = evaluated(mechanism, "qdd,tau,platform_forces")
    loops = evaluated(mechanism, "qdd", AS_LOOPS)
    for q, v, tau in states(mechanism, 2):
        qdd, _, _ = run(q, v, 0 * v, tau)
        assert miss(qdd, loops(q, v, tau)[0]) < 1e-10
        _, efforts, _ = run(q, v, qdd, tau)
        assert miss(efforts, tau) < 1e-10
