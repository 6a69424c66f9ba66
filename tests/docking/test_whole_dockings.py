"""Studies of whole dockings: each case is one docking, beside single runs and beside studies up to capture."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.docking.description import Docking, Limits, Schedule, docking_of, limits_of, schedule_of
from kinegraph.docking.dock import dock
from kinegraph.docking.first_contacts import ContactLimits, contact_distributions, contact_limits_of, first_contacts
from kinegraph.docking.whole_dockings import OUTCOMES, whole_docking_plan, whole_dockings
from kinegraph.errors import SolveError
from kinegraph.studies.results import Study
from tests.cli.run import runner
from tests.docking.test_drives import LATCHES
from tests.docking.test_rows import LIGHT

NEAR = ContactLimits(
    closing=(0.05, 0.08), offset=0.004, drift=0.002, tilt=0.005, roll=0.005, tilting=1e-3, spinning=1e-3
)
TEXT = LIGHT.replace("initial cz' = 0.1, rz' = 0.1, bwx = 0.01, bwy = 0.02, b1 = 0.01;", "")


@cache
def described() -> Docking:
    short = Schedule(settle=0.3, draw=2, still=0.05, even=0.1, after=0.2)
    given = docking_of(kg.parse(TEXT + LATCHES), limits=Limits(0.3, 0.7), schedule=short)
    return replace(given, latches=tuple(replace(one, distance=0.03, speed=0.2) for one in given.latches))


@cache
def studied() -> Study:
    return whole_dockings(described(), 3, limits=NEAR, duration=4, rtol=1e-8, native=False, progress=False)


@pytest.mark.soak
def test_a_case_is_the_docking_that_starts_with_its_numbers() -> None:
    study = studied()
    plan = study.plan
    assert study["success"].all() and set(study["class"]) == {"docked"}
    values = study.case(2).values
    start = {
        "bx": values["offset_x"], "by": values["offset_y"], "bx'": values["drift_x"], "by'": values["drift_y"],
        "bz'": -values["closing"], "b1": values["tilt_x"] / 2, "b2": values["tilt_y"] / 2, "b3": values["roll"] / 2,
        "bwx": values["tilting_x"], "bwy": values["tilting_y"], "bwz": values["spinning"],
    }  # fmt: skip
    assert set(start) <= set(plan.initial)
    run = dock(described(), 4, state=start, rtol=1e-8, native=False, interval=0.1)
    assert study["captured_at"][2] == pytest.approx(run.captured, abs=1e-9)
    assert study["hard_at"][2] == pytest.approx(run.joinings[-1].time, abs=1e-9)
    assert study["lost"][2] == pytest.approx(sum(one.lost for one in run.joinings), rel=1e-6)
    for name in ("leg", "interface", "bending"):
        assert study[name][2] == pytest.approx(run.peaks[name].value, rel=1e-6)
    again = study.case(2)
    assert again.row["hard_at"] == study["hard_at"][2]
    assert "hard joint closed" in str(again.simulate())


@pytest.mark.soak
def test_up_to_capture_it_is_the_study_of_first_contacts() -> None:
    """If latches close together and every latch needs parallel axes in both."""
    together = replace(described(), at_once=True)
    whole = whole_dockings(together, 3, limits=NEAR, duration=4, rtol=1e-8, native=False, progress=False)
    first = first_contacts(together, 3, limits=NEAR, duration=4, rtol=1e-8, native=False, progress=False)
    for name in ("closing", "offset_x", "tilting_y"):
        np.testing.assert_array_equal(whole[name], first[name])  # one seed, one set of first contacts
    np.testing.assert_allclose(whole["captured_at"], first["captured_at"], atol=1e-6)
    np.testing.assert_array_equal(whole["touches"], first["touches"])


@pytest.mark.soak
def test_limits_of_the_user_decide_the_class() -> None:
    tight = replace(described(), limits=Limits(0.3, 0.7, interface=0.5 * float(studied()["interface"].min())))
    study = whole_dockings(tight, 1, limits=NEAR, duration=4, rtol=1e-8, native=False, progress=False)
    assert set(study["class"]) == {"overloaded"} and not study["success"].any() and not study.failures
    assert np.isnan(study["hard_at"]).all()


def test_the_description_of_a_study_holds_its_limits() -> None:
    plans = [
        whole_docking_plan(one, 3, limits=NEAR) for one in (described(), replace(described(), limits=Limits(0.31, 0.7)))
    ]
    differing = [name for name in plans[0].facts if plans[0].facts[name] != plans[1].facts[name]]
    assert differing == ["docking"]
    assert set(OUTCOMES) <= set(studied().numbers)


def test_distributions_of_the_user_replace_those_of_the_standard() -> None:
    found = contact_distributions(ContactLimits(), {"closing": "normal(0.07, 0.001)", "leg": "uniform(1, 2)"})
    assert found["closing"] == "normal(0.07, 0.001)" and found["leg"] == "uniform(1, 2)" and "roll" in found
    both = contact_distributions(ContactLimits(), {"tilt_x": "uniform(0, 1)", "tilt_y": "uniform(0, 1)"})
    assert "tilt_x, tilt_y" not in both and both["tilt_y"] == "uniform(0, 1)"
    with pytest.raises(SolveError, match="distribution of offset_y too"):
        contact_distributions(ContactLimits(), {"offset_x": "uniform(0, 1)"})


def test_limits_are_read_from_texts() -> None:
    assert contact_limits_of({"closing": "0.02:0.03", "offset": "0.05"}) == ContactLimits((0.02, 0.03), 0.05)
    assert contact_limits_of({"closing": "0.02"}).closing == (0.02, 0.02)
    assert limits_of({"leg": "12"}) == Limits(leg=12) and schedule_of({"begin": "b", "settle": "3"}).settle == 3
    for given, word in (({"offse": "1"}, "offset"), ({"offset": "x"}, "number"), ({"closing": "1:2:3"}, "0.05:0.1"),
                        ({"closing": "0.3:0.1"}, "lower"), ({"roll": "-1"}, "from 0 on")):  # fmt: skip
        with pytest.raises(SolveError, match=word):
            contact_limits_of(given)
    with pytest.raises(SolveError, match="longest"):
        limits_of({"longes": "1"})


def test_the_command_says_which_options_belong_to_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    run = runner(capsys)
    code, _, err = run("dock docking-light-legs --whole")
    assert code == 2 and "--cases" in err
    code, _, err = run("dock docking-light-legs --cases 5 --contact offset=-1")
    assert code == 2 and "from 0 on" in err
    code, _, err = run("dock docking-light-legs --limits long=1")
    assert code == 2 and "longest" in err
