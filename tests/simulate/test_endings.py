"""Why runs end before their time: loops that lock, singular masses and forces that jump are told apart, by name."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.simulate.checks import diagnosis
from kinegraph.solve import execution as headway
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.recording import Status

BARS = """
    Rod~Crank | Sx(1), Rz(q2) | Sx(0.5), m(1), Jz(0.1);
    Rocker | Sx(2), Rz(q3) | Sx(0.25), m(1), Jz(0.1);
    loop pin | revolute | Rod: Sx(1) | Rocker: Sx(0.5);
"""
#: A crank that is led farther than its rod and rocker reach: by a constraint, and by its own transform.
LED = f"""
    model led; coordinates q1 = 0.5, q2 = 0.5, q3 = 1; gravity 0, -9.81, 0;
    Crank | Rz(q1) | Sx(0.5), m(1), Jz(0.1); {BARS} constraint drive | q1 = 0.5 + t;
"""
PRESCRIBED = f"""
    model led; coordinates q2 = 0.5, q3 = 1; gravity 0, -9.81, 0;
    Crank | Rz(0.5 + t) | Sx(0.5), m(1), Jz(0.1); {BARS}
"""
#: Where the rod and the rocker are in line: 2^2 + 1 - 4 cos(q1) = 1.5^2.
LOCKED = float(np.arccos((5 - 1.5**2) / 4)) - 0.5
QUIET = {"native": False, "progress": False}
METHODS = {
    "rk4": {"method": "rk4", "step": 0.01},
    "baumgarte": {"method": "rk4", "step": 0.01, "baumgarte": 5},
    "dop853": {},
    "dopri5": {"method": "dopri5", "rtol": 1e-6},
    "bdf": {"method": "bdf", "rtol": 1e-6},
    "ida": {"method": "ida", "rtol": 1e-6},
}


@pytest.mark.parametrize("model", [LED, PRESCRIBED], ids=["constraint", "transform"])
@pytest.mark.parametrize("method", METHODS)
def test_a_crank_beyond_its_reach_ends_the_run_and_names_the_loop(model: str, method: str) -> None:
    run = kg.simulate(kg.parse(model), 3, times=50, **METHODS[method], **QUIET)
    assert run.status is Status.OPEN
    assert run.ending.time == pytest.approx(LOCKED, abs=0.02)
    assert "loop pin" in str(run.ending) and "beyond their reach" in str(run.ending)
    assert "jump" not in str(run.ending)
    if method != "baumgarte":
        assert next(one for one in run.checks if one.name == "loops open by position, left").passed


def test_cases_of_a_sweep_end_there_too() -> None:
    led = kg.parse(PRESCRIBED.replace("model led;", "model led; parameters k = 1;").replace("m(1)", "m(k)"))
    sweep = kg.sweep(led, 3, over={"k": [1.0, 2.0]}, times=5, method="rk4", step=0.01, **QUIET)
    assert sweep.statuses == (Status.OPEN, Status.OPEN)


#: Damping of the angle that moves nothing is endless: steps become too short beside the gimbal lock.
LOCK = """
    model lock; parameters k = 5; coordinates a, b; initial b' = 2, a' = 1; Bob | Rx(a), Ry(b), Sz(-1) | m(1);
    spring s | on(b), stiffness(k), rest(pi/2); damper d | on(b), damping(1); damper e | on(a), damping(1);
"""


@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_adaptive_sweeps_and_studies_name_loops_beyond_their_reach(method: str) -> None:
    led = kg.parse(PRESCRIBED.replace("model led;", "model led; parameters k = 1;").replace("m(1)", "m(k)"))
    sweep = kg.sweep(led, 3, over={"k": [1.0, 2.0]}, method=method, rtol=1e-6, **QUIET)
    assert sweep.statuses == (Status.OPEN, Status.OPEN)
    assert all("loop pin" in str(one) and "beyond their reach" in str(one) for one in sweep.endings)
    study = kg.study(led, 3, vary={"k": [1.0, 2.0]}, cases=2, method=method, rtol=1e-6, native=False, seed=1)
    assert set(study["status"]) == {"OPEN"} and all("loop pin" in one.reason for one in study.failures)


@pytest.mark.parametrize(("varied", "values"), [("k", [5.0, 5.5]), ("a'", [1.0, 1.1])])
def test_sweeps_and_studies_name_a_gimbal_lock(varied: str, values: list[float]) -> None:
    lock, control = kg.parse(LOCK), Adaptive(max_steps=500)
    alone = kg.simulate(lock, 3, control=control, native=False)
    sweep = kg.sweep(lock, 3, over={varied: values}, control=control, **QUIET)
    assert {alone.status, *sweep.statuses} == {Status.SINGULAR_COORDINATES}
    assert all(one.component == "a" for one in sweep.endings) and "2 ended early: the coordinates" in str(sweep)
    study = kg.study(lock, 3, vary={varied: values}, cases=3, control=control, native=False, seed=1)
    assert set(study["status"]) == {"SINGULAR_COORDINATES"} and study.case(2).row["reason"] == study["reason"][2]


def test_of_many_bad_cases_some_are_looked_into_and_the_others_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "MOST", 2)
    over = {"k": np.linspace(5, 6, 4)}
    sweep = kg.sweep(kg.parse(LOCK), 3, over=over, control=Adaptive(max_steps=500), **QUIET)
    known = [one.status is Status.SINGULAR_COORDINATES for one in sweep.endings]
    assert known == [True, False, False, True]
    assert all("not diagnosed" in str(one) for one in sweep.endings[1:3]) and "2 ended early" in str(sweep)


def test_sensitivities_say_the_same() -> None:
    led = kg.parse(PRESCRIBED.replace("model led;", "model led; parameters m = 1;"))
    with pytest.raises(TaskError, match="beyond their reach"):
        kg.sensitivities(led, 3, ["m"], outputs=["q2"], times=1, rtol=1e-6, **QUIET)


def test_a_loop_that_is_not_led_needs_shorter_steps() -> None:
    """Nothing leads it: where it cannot be closed after a step, the step is too long."""
    fast = kg.parse(LED.replace("constraint drive | q1 = 0.5 + t;", "initial q1' = 1000;"))
    run = kg.simulate(fast, 3, method="rk4", step=0.1, times=10, **QUIET)
    assert run.status is Status.OPEN and "step is too long" in str(run.ending) and "loop pin" in str(run.ending)


def test_forces_that_jump_are_told_from_those_that_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headway, "WINDOW", 500)
    body = "coordinates x = 1; initial x' = -1; Box | Sx(x) | m(1);"
    relay = kg.simulate(kg.parse(f"{body} force f | value(-1e8*sign(x' + x)), on(x);"), 10, **QUIET)
    assert relay.status is Status.STALLED and "a discontinuous force" in str(relay.ending)
    pole = kg.simulate(kg.parse(f"{body} force f | value(-1/x^3), on(x);"), 10, **QUIET)
    assert pole.status is Status.STEP_TOO_SMALL and "jump" not in str(pole.ending)


#: Rows are judged redundant near the start; projections do not know the row that opens after 3 s.
OPENS_LATE = """parameters k = 1; coordinates a = 0.5, b = 0.6, c = -2.2; gravity 0, -9.81, 0;
    A | Rz(a) | Sx(0.5), m(k), Jz(0.1); B~A | Sx(2), Rz(b) | Sx(0.5), m(3), Jz(0.9);
    C~B | Sx(1), Rz(c) | Sx(0.5), m(2), Jz(0.5); loop pin | revolute | C: Sx(2) | Sx(3), Sz(max(0, t - 3));"""


def test_a_row_that_time_opens_late_ends_the_run_there() -> None:
    run = kg.simulate(kg.parse(OPENS_LATE), 4, times=100, native=False, progress=False)
    assert run.status is Status.OPEN and run.ending.component == "loop pin"
    assert run.ending.time == pytest.approx(3, abs=0.05)


def test_sweeps_and_studies_name_a_row_that_time_opens_late() -> None:
    model = kg.parse(OPENS_LATE)
    sweep = kg.sweep(model, 4, over={"k": [1.0, 2.0]}, times=4, **QUIET)
    assert sweep.statuses == (Status.OPEN, Status.OPEN) and "loop pin" in str(sweep.endings[0])
    study = kg.study(model, 4, vary={"k": [1.0, 2.0]}, cases=2, native=False, seed=1)
    assert set(study["status"]) == {"OPEN"} and all("loop pin" in one.reason for one in study.failures)
