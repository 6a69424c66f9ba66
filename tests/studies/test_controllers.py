"""Studies with Python controllers: a case is the run alone, wherever it runs; what a saved study is recognized by."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import StudyError
from kinegraph.studies.executors import Processes
from kinegraph.studies.functions import identity
from tests.simulate.test_controllers import ARM, Integral, damped

OUTCOMES = {
    "top": "max(q1')", "end": "final(q2)", "area": "integral(q2)", "when": "time_of_max(q1')", "ups": "count(up)",
    "first": "time(up)", "work": "final(work)",
}  # fmt: skip


def study(function, **options) -> kg.Study:
    given = {"inputs": {"tau": kg.Feedback(function, 0.05)}, "cases": 7, "progress": False, "native": False}
    given |= {"vary": {"q1": "uniform(-1, 1)", "m1": "uniform(1, 2)"}, "events": {"up": "q1 - 0.1"}}
    return kg.study(ARM, 0.5, outcomes=OUTCOMES, **{**given, **options})


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (damped, {}),
        (Integral(), {"native": True, "threads": 2}),
        pytest.param(damped, {"method": "bdf"}, marks=pytest.mark.soak),
    ],
)
def test_a_case_is_the_run_alone(function, options) -> None:
    found = study(function, times=5, **options)
    case = found.case(4)
    row, run = case.row, case.simulate(times=5000, native=False)
    assert row["top"] == pytest.approx(run["q1'"].max(), abs=1e-5)
    assert row["end"] == pytest.approx(run["q2"][-1], abs=1e-9)
    assert row["work"] == pytest.approx(run["work"][-1], abs=1e-9)
    assert row["area"] == pytest.approx(np.trapezoid(run["q2"], run.t), abs=1e-6)
    assert row["when"] == pytest.approx(run.t[run["q1'"].argmax()], abs=2e-4)
    ups = [one.time for one in run.events]
    assert row["ups"] == len(ups) and (not ups or row["first"] == pytest.approx(ups[0], abs=1e-9))
    np.testing.assert_allclose(found.states[4], run.array(*found.plan.equations().names)[::1000], atol=1e-8)


@pytest.mark.soak
def test_contacts() -> None:
    wave = {"th": kg.Feedback(lambda t, state: 0.1 * np.sin(9 * t), 0.05)}
    outcomes = {"low": "min(y)", "end": "final(th)"}
    found = kg.study(
        "rod-on-floor", 1.0, vary={"x": "uniform(0, 1)"}, cases=3, inputs=wave, outcomes=outcomes, progress=False
    )
    run = found.case(2).simulate(times=4000)
    assert found.case(2).row["end"] == pytest.approx(run["th"][-1], abs=1e-9)
    assert found.case(2).row["low"] == pytest.approx(run["y"].min(), abs=1e-3)


@pytest.mark.soak
def test_processes() -> None:
    here, there = study(Integral()), study(Integral(), executor=Processes(2))
    assert all(np.array_equal(here[name], there[name], equal_nan=True) for name in OUTCOMES)


def test_functions_without_a_name_cannot_be_sent() -> None:
    with pytest.raises(StudyError, match=r"cannot be sent to other processes.*\n.*top level of a module"):
        study(lambda t, q, v: -v, executor=Processes(2))


GAIN = 3.0


def test_functions_are_recognized_by_their_code_and_data() -> None:
    def made(gain: float, table: tuple[float, ...] = (0.0, 0.0)):
        return lambda t, q, v: gain * np.array(table) - GAIN * v

    integral = Integral()
    assert identity(made(1.0)) == identity(made(1.0)) != identity(made(2.0))
    assert identity(made(1.0)) != identity(made(1.0, (1.0, 1.0)))
    assert identity(partial(damped, 1)) == identity(partial(damped, 1)) != identity(partial(damped, 2))
    assert identity(Integral()) == identity(integral)
    before = identity(made(1.0)), identity(integral)
    globals()["GAIN"], integral.sum = 4.0, 1.0
    assert before[0] != identity(made(1.0)) and before[1] != identity(integral)
    globals()["GAIN"] = 3.0


def test_a_saved_study_is_not_continued_with_another_controller(tmp_path) -> None:
    study(damped, folder=tmp_path)
    assert len(study(damped, folder=tmp_path)) == 8
    with pytest.raises(StudyError, match="controllers"):
        study(Integral(), folder=tmp_path)
