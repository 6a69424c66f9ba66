"""Accelerations of loops of up to a hundred thousand joints: time a call, and what the equations miss."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.mechanism_source import load
from kinegraph.recursive import newton_euler as recursion
from kinegraph.recursive.chains.dynamics import ChainSystem
from kinegraph.recursive.flatten import flattened_tree
from kinegraph.recursive.linkages.bars import ring_accelerations
from kinegraph.recursive.linkages.recognition import planar_loop
from kinegraph.recursive.newton_euler import motion
from kinegraph.solve.problem import Floats


@dataclass(frozen=True)
class Long:
    """One size: nanoseconds a call bar by bar, the lower pivot, what the equations miss (relative)."""

    joints: int
    nanoseconds: float
    pivot: float
    residual: float


def measured(joints: int, q: Floats, rounds: int = 15) -> Long:
    """A call at one state, the best of some."""
    found = planar_loop(load(f"loop-{joints}"))
    assert found is not None
    ring, none, result = found[0], np.zeros(joints - 1), np.zeros(joints - 1)
    v = np.random.default_rng(2).normal(size=joints - 1)
    closing = ring_accelerations(ring, q, v, none, result)[0]
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        ring_accelerations(ring, q, v, none, result)
        best = min(best, time.perf_counter() - started)
    return Long(joints, 1e9 * best, float(np.min(closing[2:])), residual(f"loop-{joints}", True, q))


def residual(name: str, by_bars: bool, q: Floats | list[float], random: np.random.Generator | None = None) -> float:
    """The largest of inverse dynamics less all forces, relative to the largest force, at random velocities."""
    mechanism, random = load(name), random or np.random.default_rng(2)
    q, count = np.asarray(q, dtype=float), len(mechanism.layout.velocities)
    v, tau, result = random.normal(size=count), random.normal(size=count), np.zeros(count)
    if by_bars:
        found = planar_loop(mechanism)
        assert found is not None
        force = ring_accelerations(found[0], q, v, tau, result)[0][:2]
    else:
        closed = ChainSystem(mechanism).evaluated(q, v, tau)
        result, force = closed.qdd, closed.multipliers
    flat = flattened_tree(mechanism)
    moving = motion(flat.tree, flat.displaced(q, v, result, 0.0), q, v, result)
    needed = recursion.inverse(flat.tree, moving, flat.gravity(0.0))
    pulled = _pulled(mechanism.layout.positions, q, force)
    return float(np.max(np.abs(needed - tau - pulled)) / np.max(np.abs(pulled)))


def _pulled(names: tuple[str, ...], q: Floats, force: Floats) -> Floats:
    """The moments of the closing force about the joints of the library's loop: with it on b, against it on a."""
    left = sum(name.startswith("a") for name in names)
    moments = []
    for angles, sign in ((q[:left], -1.0), (q[left:], 1.0)):
        turned = np.cumsum(angles)
        arms = np.cumsum(np.stack([np.cos(turned), np.sin(turned)])[:, ::-1], axis=1)[:, ::-1]
        moments.append(sign * (arms[0] * force[1] - arms[1] * force[0]))
    return np.concatenate(moments)
