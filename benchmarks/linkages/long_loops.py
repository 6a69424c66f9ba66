"""Accelerations of loops of up to a hundred thousand joints: time a call, and what the equations miss."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from kinegraph.compiler.mechanism_source import load
from kinegraph.model.mechanism import Mechanism
from kinegraph.recursive import entries
from kinegraph.recursive.chains.dynamics import ChainSystem
from kinegraph.recursive.flatten import flattened_tree
from kinegraph.recursive.linkages.pins import LinkageSystem
from kinegraph.recursive.linkages.recognition import planar_linkage
from kinegraph.solve.problem import Floats


@dataclass(frozen=True)
class Long:
    """One size: nanoseconds a call pin by pin, the lower pivot, what the equations miss (relative)."""

    joints: int
    nanoseconds: float
    pivot: float
    residual: float


def measured(joints: int, q: Floats, rounds: int = 15) -> Long:
    """A call at one state, the best of some."""
    system = _linkage(load(f"loop-{joints}"))
    none, v = np.zeros(joints - 1), np.random.default_rng(2).normal(size=joints - 1)
    pivots = system.evaluated(q, v, none)[1]
    best = float("inf")
    for _ in range(rounds):
        started = time.perf_counter()
        system.evaluated(q, v, none)
        best = min(best, time.perf_counter() - started)
    return Long(joints, 1e9 * best, float(np.min(pivots)), residual(f"loop-{joints}", True, q))


def _linkage(mechanism: Mechanism) -> LinkageSystem:
    found = planar_linkage(mechanism)
    assert found is not None
    return LinkageSystem(*found)


def residual(name: str, by_pins: bool, q: Floats | list[float], random: np.random.Generator | None = None) -> float:
    """The largest of inverse dynamics less all forces, relative to the largest force, at random velocities."""
    mechanism, random = load(name), random or np.random.default_rng(2)
    q, count = np.asarray(q, dtype=float), len(mechanism.layout.velocities)
    v, tau = random.normal(size=count), random.normal(size=count)
    if by_pins:
        result = _linkage(mechanism).evaluated(q, v, tau)[0]
    else:
        closed = ChainSystem(mechanism).evaluated(q, v, tau)
        result = closed.qdd
    flat = flattened_tree(mechanism)
    moving = entries.motion(flat.tree, flat.displaced(q, v, result, 0.0), q, v, result)
    missing = entries.inverse(flat.tree, moving, flat.gravity(0.0)) - tau
    moments = _moments(mechanism.layout.positions, q)
    force = np.linalg.lstsq(moments, missing)[0] if by_pins else closed.multipliers  # pins do not tell the force
    pulled = moments @ force
    return float(np.max(np.abs(missing - pulled)) / np.max(np.abs(pulled)))


def _moments(names: tuple[str, ...], q: Floats) -> Floats:
    """The moments of unit closing forces about the joints of the library's loop: with them on b, against them on a."""
    left = sum(name.startswith("a") for name in names)
    moments = []
    for angles, sign in ((q[:left], -1.0), (q[left:], 1.0)):
        turned = np.cumsum(angles)
        arms = np.cumsum(np.stack([np.cos(turned), np.sin(turned)])[:, ::-1], axis=1)[:, ::-1]
        moments.append(sign * np.stack([-arms[1], arms[0]], axis=1))
    return np.concatenate(moments)
