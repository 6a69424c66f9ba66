"""Latches that hold exactly, beside the same points tied by loops of ball joints, and along a whole docking."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.compiler.request import bound_parameters
from kinegraph.compiler.stored import derived_at_once
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.docking.description import Docking, Limits, docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.latches import Caught, chosen, slot_values, target_point
from kinegraph.docking.mode_equations import RATE
from kinegraph.docking.modes import HELD, ModeEquations, closed
from kinegraph.docking.result import DockingRun, Outcome, Phase
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph
from kinegraph.model.builder import Sx, Sy, Sz
from kinegraph.model.constraints import Frame, Joint, JointType, Loop
from kinegraph.model.evaluate import parameter_values
from kinegraph.model.mechanism import Transform
from kinegraph.solve.problem import Floats, Signals
from tests.docking.small import TEXT

THIRD = "output R3 = Ring (-0.3, 0.1, 0.02); output T3 = Target (-0.3, 0.1, 0);"
LIGHT = """
model light; coordinates cx, cy, cz; quaternion (c0, c1, c2, c3) velocity (cwx, cwy, cwz);
coordinates rx, ry, rz = 0.5; quaternion (r0, r1, r2, r3) velocity (rwx, rwy, rwz);
coordinates bx = 0.002, by, bz = 0.55; quaternion (b0, b1, b2, b3) velocity (bwx, bwy, bwz);
initial cz' = 0.1, rz' = 0.1, bwx = 0.01, bwy = 0.02, b1 = 0.01;
Chaser | Sx(cx), Sy(cy), Sz(cz), Q(c0, c1, c2, c3) | m(50), Jx(4), Jy(5), Jz(6);
Ring | Sx(rx), Sy(ry), Sz(rz), Q(r0, r1, r2, r3) | m(2), Jx(0.1), Jy(0.1), Jz(0.2);
Target | Sx(bx), Sy(by), Sz(bz), Q(b0, b1, b2, b3) | Sz(0.2), m(90), Jx(8), Jy(9), Jz(10);
output A = Chaser (0.3, 0, 0); output a = Ring (0.3, 0, 0);
output B = Chaser (-0.3, 0.2, 0); output b = Ring (-0.3, 0.2, 0);
output C = Chaser (0, -0.3, 0); output c = Ring (0, -0.3, 0);
spring legA | between(A, a), stiffness(100), rest(0.5); damper shockA | between(A, a), damping(60);
spring legB | between(B, b), stiffness(100), rest(0.5); damper shockB | between(B, b), damping(60);
spring legC | between(C, c), stiffness(100), rest(0.5); damper shockC | between(C, c), damping(60);
contact pad | sphere(Ring, 0.02), plane(Target, (0, 0, -1)) | stiffness(2000), exponent(1), damping(2);
"""


@cache
def massive() -> Docking:
    return docking_of(kg.parse(TEXT + THIRD), limits=Limits(0.3, 0.9))


@cache
def state() -> tuple[Floats, Floats]:
    """All bodies turned, shifted and moving."""
    random, layout = np.random.default_rng(7), massive().mechanism.layout
    at = {"cx": 0.05, "c1": 0.1, "r2": 0.05, "ry": 0.02, "bx": 0.03, "b1": 0.2, "b3": -0.1}
    free = [name for name in layout.velocities if name[1] != "_"]
    fitting = Assembler(massive().mechanism).assemble(at | dict(zip(free, random.normal(size=18), strict=True)), 0.0)
    return fitting.q, fitting.v


def poses() -> tuple[Floats, Floats]:
    """Where ring and target are."""
    mechanism = massive().mechanism
    graph = derived_at_once(mechanism, "pose:Ring,pose:Target", bound_parameters(mechanism, True, {}))
    ring, target = interpret(graph, dict(zip(mechanism.layout.positions, state()[0], strict=True))).values()
    return np.asarray(ring), np.asarray(target)


@cache
def caught(slots: int) -> tuple[Caught, ...]:
    """Latches that hold where their points are, for ever."""
    ring, target = poses()
    numbers = parameter_values(massive().mechanism, {})
    found = []
    for latch in massive().latches[:slots]:
        at = target[:3, :3] @ target_point(massive(), latch, numbers) + target[:3, 3] - ring[:3, 3]
        found.append(Caught(replace(latch, time=1e12), 0.0, tuple(ring[:3, :3].T @ at)))
    return tuple(found)


def held(slots: int) -> tuple[ModeEquations, dict[str, float], Floats]:
    """A mode in which latches hold, its parameters, and the state of all bodies after that closed."""
    numbers = parameter_values(massive().mechanism, {})
    mode = ModeEquations(massive(), HELD[slots - 1], {}, NO_FORCES, Signals.none())
    known = {"begin": 1e6} | slot_values(massive(), chosen(massive(), caught(slots), numbers), numbers)
    before = np.concatenate([*state(), np.zeros(len(mode.all_names) - len(state()[0]) - len(state()[1]))])
    return mode, known, closed(mode, 0.0, before, known)[0]


@cache
def by_loops(slots: int) -> tuple[Floats, Floats]:
    """Accelerations at the state of `held`, and velocities from those of `state`, with ball joints in place of latches.

    By NumPy, with three rows for every latch, so that some depend on others.
    """
    given, numbers = massive().mechanism, parameter_values(massive().mechanism, {})
    ends = [(one.place, target_point(massive(), one.latch, numbers)) for one in caught(slots)]
    frames = [[Frame(body, _shift(at)) for body, at in zip(("Ring", "Target"), pair, strict=True)] for pair in ends]
    loops = [Loop(f"ball{k}", Joint(JointType.SPHERICAL), *pair) for k, pair in enumerate(frames)]
    tied = replace(given, loops=(*given.loops, *loops))
    words = "H,bias,constraint_jacobian,constraint_accelerations"
    graph = derived_at_once(tied, words, bound_parameters(tied, True, {}))
    q, v = state()
    inertia, _, rows, _ = _at(tied, graph, q, v)
    after = (
        v
        - np.linalg.solve(inertia, rows.T)
        @ np.linalg.lstsq(rows @ np.linalg.solve(inertia, rows.T), rows @ v, rcond=1e-11)[0]
    )
    inertia, bias, rows, missed = _at(tied, graph, q, after)
    whole = np.block([[inertia, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.lstsq(whole, -np.concatenate([bias, missed]), rcond=1e-13)[0]
    return found[: len(v)], after


def _shift(at: Sequence[float]) -> tuple[Transform, ...]:
    x, y, z = map(float, at)
    return Sx(x), Sy(y), Sz(z)


def _at(mechanism: kg.Mechanism, graph: Graph, q: Floats, v: Floats) -> list[Floats]:
    layout = mechanism.layout
    values = dict.fromkeys((*layout.forces, *layout.accelerations), 0.0) | {"t": 0.0}
    values |= zip((*layout.positions, *layout.velocities), [*q, *v], strict=True)
    return [np.asarray(one) for one in interpret(graph, values).values()]


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_rows_are_ball_joints_at_the_latches(slots: int) -> None:
    """Three, five and six rows beside three, six and nine of which three, five and six are independent."""
    mode, known, after = held(slots)
    accelerations, velocities = by_loops(slots)
    first, size = len(state()[0]), len(velocities)
    np.testing.assert_allclose(after[first : first + size], velocities, rtol=0, atol=1e-10 * np.abs(velocities).max())
    names = [symbol.name for symbol in mode.held.symbols]
    row = dict(zip(names, [*mode.taken(after), 0.0, *mode.parameters(known)], strict=True))
    rate = interpret(mode.held.rate, row)[RATE]
    bound = 1e-9 * np.abs(accelerations).max()
    np.testing.assert_allclose(rate[first : first + size], accelerations, rtol=0, atol=bound)
    assert len(mode.held.unknown) == (3, 5, 6)[slots - 1]


def test_latches_in_one_place_and_on_one_line_give_no_more_rows() -> None:
    points = [(0.3, 0, 0), (0.3, 0, 0), (-0.3, 0, 0), (0, 0, 0), (0, 0.2, 0), (0, -0.3, 0)]
    outputs = "".join(
        f"output R{k} = Ring ({x}, {y}, {z}); output T{k} = Target ({x}, {y}, {z});"
        for k, (x, y, z) in enumerate(points)
    )
    docking = docking_of(kg.parse(LIGHT + outputs))
    held = [Caught(latch, 0.0, at) for latch, at in zip(docking.latches, points, strict=True)]
    for count, wanted in ((1, ["R0"]), (2, ["R0"]), (3, ["R0", "R2"]), (4, ["R0", "R2"]), (6, ["R0", "R2", "R4"])):
        assert [one.latch.ring for one in chosen(docking, held[:count], {})] == wanted


def latched(points: Sequence[tuple[float, float]], text: str = LIGHT, **changes: float) -> Docking:
    """A light ring with latches at these places."""
    outputs = "".join(
        f"output R{k} = Ring ({x}, {y}, 0.02); output T{k} = Target ({x}, {y}, 0);" for k, (x, y) in enumerate(points)
    )
    docking = docking_of(kg.parse(text + outputs))
    latches = tuple(replace(one, distance=0.02, speed=0.2, time=0.3, **changes) for one in docking.latches)
    return replace(docking, latches=latches)


ANYWHERE = [(0.3, 0.1), (0.05, 0.02), (-0.2, 0.3), (0.1, -0.25)]
TWO_IN_ONE_PLACE = [(0.3, 0), (0.3, 0), (0, 0.3)]
CIRCLE = [(0.3 * np.cos(a), 0.3 * np.sin(a)) for a in np.arange(6) * np.pi / 3]


@pytest.mark.parametrize(
    "points",
    [
        CIRCLE[::2],
        *(pytest.param(one, marks=pytest.mark.soak) for one in (CIRCLE[:2], ANYWHERE)),
        *(pytest.param(one, marks=pytest.mark.soak) for one in (TWO_IN_ONE_PLACE, CIRCLE)),
    ],
    ids=["three", "two", "four anywhere", "two in one place", "six"],
)
def test_whole_dockings_with_other_latches(points: list[tuple[float, float]]) -> None:
    run = docked(tuple(points))
    assert run.outcome is Outcome.CAPTURED and len(run.latches) == len(points)
    assert run.momentum < 1e-11 and run.energy < 1e-8
    assert sum("latches" in phase.name for phase in run.phases) >= 1


@cache
def docked(points: tuple[tuple[float, float], ...]) -> DockingRun:
    return dock(latched(points), 3, native=False, interval=0.02, rtol=1e-10, stop_at_capture=True)


def test_what_latches_supply_is_counted_where_nothing_else_changes_energy() -> None:
    lossless = re.sub("damper [^;]*;", "", LIGHT).replace(", damping(2)", "")
    docking = latched(CIRCLE[::2], lossless)
    run = dock(docking, 1, native=False, interval=0.02, rtol=1e-10, stop_at_capture=True)
    assert run.outcome is Outcome.CAPTURED and run.energy < 1e-8
    assert np.abs(run["supplied"]).max() > 1e-5 and not np.any(run["dissipated"])


def test_points_stand_where_their_latch_draws_them() -> None:
    run = docked(tuple(CIRCLE[::2]))
    first = next(one for one in run.phases if one.name == "1 of 3 latches")
    name = min(run.latches, key=lambda one: run.latches[one])
    place = np.array([on_ring(first, k, CIRCLE[::2][int(name[1:])]) for k in range(len(first.times))])
    own = np.array([*CIRCLE[::2][int(name[1:])], 0.02])
    part = (first.times - first.times[0]) / 0.3
    left = 1 - part**3 * (10 - 15 * part + 6 * part**2)
    np.testing.assert_allclose(place - own, (place[0] - own) * left[:, None], rtol=0, atol=1e-13)


def on_ring(phase: Phase, row: int, point: tuple[float, float]) -> Floats:
    """A point of the target as the ring sees it."""
    at = {name: column[row] for name, column in phase.columns.items()}
    turns = [Rotation.from_quat([at[f"{b}1"], at[f"{b}2"], at[f"{b}3"], at[f"{b}0"]]) for b in "rb"]
    shift = np.array([at[f"b{a}"] - at[f"r{a}"] for a in "xyz"])
    return np.asarray(turns[0].inv().apply(turns[1].apply([*point, 0.0]) + shift))


def test_halving_tolerances_does_not_move_the_capture() -> None:
    finer = dock(latched(CIRCLE[::2]), 3, native=False, rtol=5e-11, stop_at_capture=True)
    assert finer.captured == pytest.approx(docked(tuple(CIRCLE[::2])).captured, abs=1e-9)


def test_what_catching_takes_is_energy_of_the_motion_of_the_latch() -> None:
    run = docked(tuple(CIRCLE[::2]))
    for one in run.joinings[:-1]:
        assert one.joint in run.latches and 0 < one.lost < 0.01
    assert run.joinings[-1].joint == "captured" and run.joinings[-1].lost > 0


def test_latches_that_an_impulse_slows_down_catch_at_once() -> None:
    """All are near and one is slow; what it takes from the ring makes the others slow, and no event tells of it."""
    docking = latched([(0.05, 0.0), (-0.025, 0.04), (-0.025, -0.04)])
    docking = replace(docking, latches=tuple(replace(one, speed=0.095) for one in docking.latches))
    start = {"bx": 0.0, "bz": 0.525, "b1": 0.0, "bwx": 0.0, "bwy": 0.0, "rwy": 0.2}
    run = dock(docking, 1, state=start, native=False, stop_at_capture=True)
    assert [one.joint for one in run.joinings] == ["R0", "captured"] and run.momentum < 1e-12
    assert run.latches == {"R0": 0.0, "R1": 0.0, "R2": 0.0}


def test_stiff_springs_hold_nearly_as_rows_do() -> None:
    stiff = replace(latched(CIRCLE[::2], stiffness=2e5, damping=1e3), springs=True)
    run = dock(stiff, 3, native=False, rtol=1e-8, stop_at_capture=True)
    assert [one.joint for one in run.joinings] == ["captured"] and run.momentum < 1e-9
    assert run.captured == pytest.approx(docked(tuple(CIRCLE[::2])).captured, abs=5e-3)


@pytest.mark.parametrize(
    ("limits", "start", "outcome", "fault"),
    [
        (Limits(0.55, 0.9), {}, Outcome.OUT_OF_STROKE, "stroke"),
        (Limits(0.3, 0.9, leg=5.0), {"rz": 0.6, "bz": 0.65}, Outcome.OVERLOAD, "overload"),
    ],
)
def test_a_start_beyond_a_limit_ends_at_once(
    limits: Limits, start: dict[str, float], outcome: Outcome, fault: str
) -> None:
    run = dock(replace(latched(CIRCLE[::2]), limits=limits), 1, state=start, native=False)
    assert run.outcome is outcome and run.fault is not None
    assert (run.fault.what, run.fault.where, run.fault.time) == (fault, "legA", 0.0)
    assert run.times.tolist() == [0.0]
