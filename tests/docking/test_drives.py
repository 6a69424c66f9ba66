"""Drives with first-order equations of their own: beside prescribed ones, and self-locking without creep."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import Limits, Schedule, docking_of
from kinegraph.docking.dock import dock
from kinegraph.docking.result import DockingRun, Outcome
from tests.docking import small
from tests.docking.one_axis import TEXT
from tests.docking.test_rows import LIGHT

#: The nut of a drive follows the same motion as the rest length it replaces, by its rate.
NUT = "state nut' = -draw*30*part^2*(1 - part)^2/time; initial nut = 0.5;\n"
DRIVEN = TEXT.replace("Chaser |", NUT + "Chaser |", 1).replace("rest(0.5 - drawn)", "rest(nut)")

#: A motor that follows a command with a lag turns a screw that no load turns back.
SCREW = """
state nut' = speed; initial nut = 0.5;
state speed' = (max(-0.05, min(0.05, 4*(0.5 - drawn - nut))) - speed)/0.05;
parameters load = 0;
force pull | at(Target), world(0, 0, load);
"""
LOCKING = TEXT.replace("Chaser |", SCREW + "Chaser |", 1).replace("rest(0.5 - drawn)", "rest(nut)")

LATCHES = """
output R1 = Ring (0.3, 0, 0.02); output T1 = Target (0.3, 0, 0);
output R2 = Ring (0, 0.3, 0.02); output T2 = Target (0, 0.3, 0);
"""


@cache
def docked(text: str, **parameters: float) -> DockingRun:
    allowed = Limits(shortest=0.2, longest=0.9)
    given = docking_of(kg.parse(text), limits=allowed, schedule=Schedule(settle=8, draw=20, even=1, after=0.5))
    return dock(given, 5, native=False, interval=0.05, parameters=parameters)


def test_a_drive_with_the_rate_of_a_prescribed_motion_docks_in_the_same_way() -> None:
    first, second = docked(TEXT), docked(DRIVEN)
    assert second.outcome is Outcome.DOCKED and len(first.times) == len(second.times)
    for name in ("zc", "zr", "zt", "zc'", "load:leg", "interface", "kinetic"):
        np.testing.assert_allclose(second[name], first[name], rtol=0, atol=2e-6 * np.abs(first[name]).max())
    drawn = second["nut"][second.times > second.phases[2].times[0] + 5.1]
    np.testing.assert_allclose(drawn, 0.4, rtol=1e-7)
    assert second.energy < 1e-7 and second.momentum < 1e-13


def test_a_self_locking_drive_does_not_creep_under_load() -> None:
    """The nut does not move by a bit while its motor rests, whatever pulls; the ring follows the spring alone."""
    run = docked(LOCKING, load=30.0)
    assert run.outcome is Outcome.DOCKED
    resting = np.concatenate([phase.columns["nut"] for phase in run.phases[:2]])
    assert np.all(resting == 0.5) and np.all(run.phases[1].columns["speed"] == 0.0)
    late = run.phases[1].columns
    force = late["load:leg"][-1]
    assert abs(force) > 5.0
    slack = 900 * (0.5 - late["length:leg"][-1]) - 1500 * (late["zr'"][-1] - late["zc'"][-1])
    assert slack == pytest.approx(force, rel=1e-9)
    joined = run.phases[-1].columns["nut"]
    assert joined[-1] == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize(
    "text", [LIGHT + LATCHES, pytest.param(small.TEXT, marks=pytest.mark.soak)], ids=["light", "massive"]
)
def test_a_state_that_nothing_reads_changes_nothing(text: str) -> None:
    """Also while latches hold by rows, and where ring and target are one body."""
    runs = []
    for given in (text, text + "state idle' = -idle; initial idle = 2;\n"):
        docking = docking_of(kg.parse(given), distance=0.02, speed=0.2, schedule=Schedule(settle=0.2, draw=0.3))
        runs.append(dock(docking, 3, native=False, rtol=1e-8, interval=0.05, stop_at_capture=False))
    first, second = runs
    assert first.outcome is second.outcome and [p.name for p in first.phases] == [p.name for p in second.phases]
    assert first.captured is not None and second.captured == pytest.approx(first.captured, abs=1e-7)
    for name in ("cz", "rx", "b1", "interface"):
        np.testing.assert_allclose(second.phases[0].columns[name], first.phases[0].columns[name], rtol=0, atol=1e-6)
    np.testing.assert_allclose(second["idle"], 2 * np.exp(-second.times), rtol=1e-6)  # over all phases
