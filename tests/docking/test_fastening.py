"""Joined bodies as one body, beside the same bodies tied by a fixed loop; a whole docking on legs that have mass."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.derive.dynamics.state_rate import NO_FORCES, Forces
from kinegraph.docking.description import Limits, Schedule, docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.fastening import pose_names
from kinegraph.docking.modes import BEGIN, SEAT, Mode, ModeEquations, relative_pose, without_velocity_against
from kinegraph.docking.result import DockingRun, Outcome
from kinegraph.model.platforms.recognition import platform_of
from kinegraph.simulate.formulas import formula
from kinegraph.solve.problem import Floats, Signals
from tests.docking.small import TEXT, mechanism

DOCKING = docking_of(
    mechanism(), limits=Limits(0.3, 0.9), schedule=Schedule(settle=0.5, draw=20, still=0.05, even=1, after=0.2)
)


def mode_of(mode: Mode, forces: Forces = NO_FORCES) -> ModeEquations:
    return ModeEquations(DOCKING, mode, {"hold": 0.7}, forces, Signals.none())


@cache
def state() -> tuple[Floats, Floats, dict[str, float]]:
    """All bodies turned, shifted and moving; where they stand is where they were joined."""
    random, layout = np.random.default_rng(5), DOCKING.mechanism.layout
    at = {"cx": 0.05, "c1": 0.1, "r2": 0.05, "ry": 0.02, "bx": 0.03, "b1": 0.2, "b3": -0.1}
    free = [name for name in layout.velocities if name[1] != "_"]
    fitting = Assembler(DOCKING.mechanism).assemble(at | dict(zip(free, random.normal(size=18), strict=True)), 0.0)
    known = {"begin": 1e6, BEGIN: 1e6}
    poses = "pose:Chaser,pose:Ring,pose:Target"
    chaser, ring, target = mode_of(Mode.FREE).quantities(poses, fitting.q, fitting.v, 0.0, known)
    known |= dict(zip(layout.positions, fitting.q, strict=True))
    for joint, pair in {"captured": (ring, target), "hard": (chaser, target), SEAT: (chaser, ring)}.items():
        known |= zip(pose_names(joint), relative_pose(*pair), strict=True)
    return fitting.q, fitting.v, known


def test_a_ring_with_the_target_on_it_is_still_a_platform() -> None:
    captured = mode_of(Mode.CAPTURED)
    assert captured.fastened is not None and platform_of(captured.mechanism) is not None
    assert platform_of(captured.with_loops) is None
    assert not mode_of(Mode.HARD).mechanism.loops and len(mode_of(Mode.HARD).mechanism.layout.velocities) == 6


@cache
def joined_state(mode: Mode) -> tuple[ModeEquations, Floats, Floats]:
    """A mode, and positions and velocities of all bodies that fit it."""
    joined = mode_of(mode)
    q, v, known = state()
    return joined, q, without_velocity_against(joined, 0.0, q, v, known)[0]


@cache
def by_multipliers(mode: Mode) -> tuple[Floats, Floats]:
    """Accelerations of all bodies tied by loops, and the generalized forces of the rings' joint, by NumPy."""
    joined, q, v = joined_state(mode)
    known = state()[2]
    words = "H,bias,constraint_jacobian,constraint_accelerations"
    inertia, bias, rows, missed = joined.quantities(words, q, v, 0.0, known)
    whole = np.block([[inertia, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    found = np.linalg.lstsq(whole, -np.concatenate([bias, missed]), rcond=1e-13)[0]
    first = len(joined.docking.mechanism.loops) * 3
    return found[: len(v)], -rows[first : first + 6].T @ found[len(v) + first : len(v) + first + 6]


def of_target(values: Floats) -> Floats:
    """The entries of the target's position, then of its rotation, in fixed axes."""
    q, v, known = state()
    names = DOCKING.mechanism.layout.velocities
    own = np.array([values[names.index(name)] for name in ("bx'", "by'", "bz'", "bwx", "bwy", "bwz")])
    (pose,) = mode_of(Mode.FREE).quantities("pose:Target", q, v, 0.0, known)
    return np.concatenate([own[:3], pose[:3, :3] @ own[3:]])


def columns(mode: Mode, *words: str) -> Floats:
    """Six entries of each quantity of the joined bodies."""
    joined, q, v = joined_state(mode)
    own = joined.taken(np.concatenate([q, v, np.zeros(len(joined.all_names) - len(q) - len(v))]))
    texts = tuple(f"{word}[{k}]" for word in words for k in range(6))
    return joined.columns(texts, np.zeros(1), own[None], state()[2])[0]


@pytest.mark.parametrize("mode", [Mode.CAPTURED, pytest.param(Mode.HARD, marks=pytest.mark.soak)])
def test_one_body_accelerates_as_bodies_tied_by_loops(mode: Mode) -> None:
    """Control of the target included, which is written in coordinates that the joined target has no more."""
    accelerations, _ = by_multipliers(mode)
    found = columns(mode, "acceleration:Target")
    np.testing.assert_allclose(found, of_target(accelerations), rtol=0, atol=1e-9 * np.abs(accelerations).max())


def test_the_load_between_the_rings_is_that_of_the_loop() -> None:
    _, pressed = by_multipliers(Mode.CAPTURED)
    found = columns(Mode.CAPTURED, "reaction:Target")
    np.testing.assert_allclose(found, of_target(pressed), rtol=0, atol=1e-9 * np.abs(found).max())


@pytest.mark.parametrize("mode", [Mode.CAPTURED, Mode.HARD])
def test_states_of_all_bodies_come_back(mode: Mode) -> None:
    joined, q, v = joined_state(mode)
    full = np.concatenate([q, v, np.full(len(joined.all_names) - len(q) - len(v), 0.3)])
    back = joined.complete(np.zeros(1), joined.taken(full)[None], full, state()[2])[0]
    np.testing.assert_allclose(back, full, rtol=0, atol=1e-12)


def test_forces_on_coordinates_that_go_away_need_the_loop() -> None:
    forces = Forces({"tau:bx": formula("1")})
    assert mode_of(Mode.CAPTURED, forces).fastened is None


FAR = replace(DOCKING, latches=tuple(replace(one, distance=0.02, speed=0.2) for one in DOCKING.latches))


@cache
def whole() -> DockingRun:
    return dock(FAR, 5, native=False, interval=0.05, rtol=1e-7)


@pytest.mark.soak
def test_a_whole_docking_with_massive_legs() -> None:
    run = whole()
    assert run.outcome is Outcome.DOCKED
    assert [phase.name for phase in run.phases[-3:]] == ["damping", "drawing in", "joined"]
    assert run.momentum < 1e-8 and run.energy < 1e-4  # at a tolerance of 1e-7; test_whole has the finer ones
    for phase in run.phases[2:]:
        apart = np.sqrt(sum((phase.columns[f"r{a}"] - phase.columns[f"b{a}"]) ** 2 for a in "xyz"))
        assert np.ptp(apart) < 1e-12


def test_a_latch_that_caught_holds_until_the_other_does() -> None:
    run = whole()
    first, second = sorted(run.latches.values())
    assert second > first and second == run.captured
    assert [phase.name for phase in run.phases[:2]] == ["contact", "1 of 2 latches"]
    assert run.peaks["latch"].where in run.latches and run.peaks["latch"].value > 1


@pytest.mark.soak
def test_latches_that_close_at_once() -> None:
    run = dock(replace(FAR, at_once=True), 5, native=False, rtol=1e-7, stop_at_capture=True)
    assert [phase.name for phase in run.phases] == ["contact"]
    assert run.captured == pytest.approx(max(whole().latches.values()), abs=0.05)


def test_bodies_that_move_otherwise_are_tied_by_loops() -> None:
    angles = TEXT.replace("quaternion (b0, b1, b2, b3) velocity (bwx, bwy, bwz);", "coordinates b1, b2, b3;")
    angles = angles.replace("Q(b0, b1, b2, b3)", "Rx(b1), Ry(b2), Rz(b3)").replace("moment steady", "#")
    docking = docking_of(kg.parse(angles))
    assert ModeEquations(docking, Mode.CAPTURED, {}, NO_FORCES, Signals.none()).fastened is None
