"""A docking on one line, from contact to the hard joint, beside what momentum and energy say of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import Docking, Limits, Schedule, docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.result import DockingRun, Outcome
from kinegraph.errors import SolveError
from tests.docking.one_axis import TEXT, mechanism

COMMON = 0.1 * 810 / 3310  # the velocity of the center of mass


def described(**limits: float) -> Docking:
    allowed = Limits(**{"shortest": 0.2, "longest": 0.9, **limits})
    return docking_of(mechanism(), limits=allowed, schedule=Schedule(settle=8, draw=20, even=1, after=0.5))


@cache
def whole() -> DockingRun:
    return dock(described(), 5, native=False, interval=0.02)


def test_all_phases_are_gone_through() -> None:
    run = whole()
    assert run.outcome is Outcome.DOCKED
    assert [phase.name for phase in run.phases] == ["contact", "damping", "drawing in", "joined"]
    assert len(run.touches) == 1 and run.touches[0] == pytest.approx(0.8, abs=1e-9)  # 0.08 m at 0.1 m/s
    assert run.captured == run.latches["R1"] and 0.9 > run.captured > 0.8


def test_momentum_and_the_balance_of_energy_are_kept() -> None:
    run = whole()
    assert run.momentum < 1e-13
    assert run.energy < 1e-8


def test_capture_takes_the_energy_of_the_relative_motion_and_no_more() -> None:
    """Ring and target at u against each other: m u is the impulse, m u^2/2 the loss, m the reduced mass."""
    run = whole()
    capture = run.joinings[0]
    before = run.phases[0].columns
    mass, relative = 1 / (1 / 10 + 1 / 2500), before["zr'"][-1] - before["zt'"][-1]
    assert abs(capture.impulse[2]) == pytest.approx(mass * abs(relative), rel=1e-9)
    assert capture.lost == pytest.approx(mass * relative**2 / 2, rel=1e-9)


def test_ring_and_target_stay_where_they_were_joined() -> None:
    run = whole()
    for phase in run.phases[1:]:
        apart = phase.columns["zt"] - phase.columns["zr"]
        assert np.ptp(apart) < 1e-13
        assert np.abs(phase.columns["zt'"] - phase.columns["zr'"]).max() < 1e-13


def test_the_ring_is_drawn_in_and_all_move_as_one() -> None:
    run = whole()
    last = run.phases[-1].columns
    assert last["zr"][-1] - last["zc"][-1] == pytest.approx(0.4, abs=2e-3)
    for name in ("zc'", "zr'", "zt'"):
        np.testing.assert_allclose(last[name], COMMON, rtol=1e-12)


def test_the_load_between_the_rings_accelerates_the_target() -> None:
    run = whole()
    damping = run.phases[1]
    slope = np.gradient(damping.columns["zt'"], damping.times, edge_order=2)
    np.testing.assert_allclose(damping.columns["interface"][5:-5], 2500 * np.abs(slope)[5:-5], rtol=2e-3, atol=0.05)


@pytest.mark.parametrize(
    ("limits", "closing", "outcome"),
    [
        ({}, 0.1, Outcome.CAPTURED),
        ({"shortest": 0.49}, 0.1, Outcome.OUT_OF_STROKE),
        ({"interface": 20.0}, 0.1, Outcome.OVERLOAD),
        ({"away": 0.12}, -0.1, Outcome.BOUNCED),
        ({}, 0.001, Outcome.NOT_CAPTURED),
    ],
)
def test_outcomes(limits: dict[str, float], closing: float, outcome: Outcome) -> None:
    docking = described(**limits)
    if outcome is not Outcome.CAPTURED:  # latches that never engage
        docking = replace(docking, latches=tuple(replace(one, distance=1e-6) for one in docking.latches))
    run = dock(docking, 4, parameters={"closing": closing}, native=False, stop_at_capture=True)
    assert run.outcome is outcome
    assert run.to_dict()["outcome"] == outcome.name.lower()


@pytest.mark.parametrize(
    ("limits", "fault"),
    [({"shortest": 0.49}, ("stroke", "leg")), ({"interface": 20.0}, ("overload", "interface"))],
)
def test_what_was_too_much_is_named(limits: dict[str, float], fault: tuple[str, str]) -> None:
    docking = described(**limits)
    never = replace(docking, latches=tuple(replace(one, distance=1e-6) for one in docking.latches))
    run = dock(never, 4, native=False)
    assert run.fault is not None and (run.fault.what, run.fault.where) == fault
    assert run.fault.time == run.phases[-1].times[-1]
    if fault[1] == "interface":
        assert run.phases[-1].columns["interface"][-1] == pytest.approx(20, rel=1e-9)


def test_overload_after_capture_is_an_event() -> None:
    """The joint's own load passes a limit that lies below its peak."""
    peak = whole().phases[1].columns["interface"].max()
    run = dock(described(interface=float(peak) / 2), 5, native=False)
    docked = run.phases[-1]
    assert run.outcome is Outcome.OVERLOAD and run.fault is not None and run.fault.where == "interface"
    assert docked.columns["interface"][-1] == pytest.approx(peak / 2, rel=1e-6)


def test_peaks_do_not_depend_on_what_is_saved() -> None:
    coarse, fine = (dock(described(), 5, native=False, interval=h, stop_at_capture=True) for h in (0.5, 0.002))
    for name in ("leg", "ring", "interface"):
        assert coarse.peaks[name].value == pytest.approx(fine.peaks[name].value, rel=1e-9)
        assert coarse.peaks[name].time == pytest.approx(fine.peaks[name].time, abs=1e-5)
    highest = fine.phases[0].columns["interface"].max()
    assert highest - 1e-9 <= fine.peaks["interface"].value < 1.01 * highest
    assert coarse.peaks["leg"].where == "leg"


def test_a_python_function_drives_the_chaser_through_all_phases() -> None:
    """A thrust of the chaser that brakes what all would do together; the function sees the joined target, too."""
    seen: list[dict[str, float]] = []

    def thrust(t: float, state: dict[str, float]) -> float:
        seen.append(dict(state))
        return -5.0 if t < 2 else 0.0

    text = TEXT.replace("coordinates zc", "inputs push; coordinates zc") + "force thrust | on(zc), value(push);"
    docking = replace(described(), mechanism=docking_of(kg.parse(text)).mechanism)
    run = dock(docking, 5, inputs={"push": kg.Feedback(thrust, 0.5)}, native=False, interval=0.05)
    assert run.outcome is Outcome.DOCKED and run.energy < 1e-7
    assert all({"zc", "zr", "zt", "zt'"} <= state.keys() for state in seen)
    momentum = 0.1 * 810 - 5.0 * (run["pz"][0] - run["pz"][-1]) / 5.0
    assert run["pz"][-1] == pytest.approx(momentum) and 2 <= (run["pz"][0] - run["pz"][-1]) / 5 < 2.5


def test_halving_tolerances_does_not_move_the_capture() -> None:
    times = [dock(described(), 5, native=False, rtol=r, stop_at_capture=True).captured for r in (1e-9, 5e-10)]
    assert times[0] == pytest.approx(times[1], abs=1e-9)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("Ring", "Hoop"), "no body 'Ring'"),
        (TEXT.replace("T1", "Z1"), "no latches"),
        (TEXT.replace("spring leg | between(A, a), stiffness(900), rest(0.5 - drawn);", ""), "no legs"),
    ],
)
def test_what_is_missing_is_named(text: str, message: str) -> None:
    with pytest.raises(SolveError, match=message):
        dock(kg.parse(text))


@pytest.mark.parametrize("limits", [{"leg": 0.0}, {"interface": -1.0}, {"latch": float("nan")}, {"shortest": 2.0}])
def test_limits_that_nothing_can_keep_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(SolveError, match="Limits"):
        Limits(**limits)


def test_seconds_are_checked() -> None:
    with pytest.raises(SolveError, match="duration is 0: give a positive number"):
        dock(mechanism(), 0)
    with pytest.raises(SolveError, match="interval is 0: give a positive number"):
        dock(mechanism(), 1, interval=0)


@pytest.mark.parametrize(("place", "deep"), [(0.45, 0.07), (-3.0, 3.52)])
def test_guides_that_overlap_at_the_start_are_told_and_counted(place: float, deep: float) -> None:
    """Forces of a million newtons came with no touch and no word."""
    run = dock(described(), 0.1, state={"zt": place}, native=False, stop_at_capture=True)
    assert run.touches[0] == 0 and [one.guide for one in run.overlaps] == ["pad"]
    assert run.overlaps[0].depth == pytest.approx(deep, abs=1e-12)
    assert run.to_dict()["overlaps"] == [{"guide": "pad", "depth": run.overlaps[0].depth}]


def test_guides_that_are_apart_at_the_start_do_not_overlap() -> None:
    assert whole().overlaps == ()


def test_guides_that_just_meet_at_the_start_touch_once() -> None:
    run = dock(described(), 0.2, state={"zt": 0.52}, native=False, stop_at_capture=True)
    assert len(run.touches) == 1 and run.touches[0] < 1e-9
