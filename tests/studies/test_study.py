"""Studies of an oscillator, held against its formulas; the nominal case, failures, reruns and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, StudyError
from kinegraph.simulate import Action, Direction, Event
from tests.studies.oscillator import MODEL, OPTIONS


def changed(**options):
    return kg.study(MODEL, 3, **{**OPTIONS, **options})


@pytest.fixture(scope="module")
def found():
    return changed()


def check_outcomes(study, tolerance):
    a, w = study["q"], np.sqrt(study["k"])
    expected = {
        "high": a, "low": np.where(3 * w > np.pi, -a, a * np.cos(3 * w)),
        "when": np.where(3 * w > np.pi, np.pi / w, 3.0), "area": a * np.sin(3 * w) / w, "cross": np.pi / 2 / w,
        "speed": -a * w, "count": np.floor(3 * w / np.pi + 0.5), "end": 1 + a * np.cos(3 * w), "energy": 0 * a,
    }  # fmt: skip
    once = 3 * w < 3 * np.pi  # later minima are as deep
    for name, value in expected.items():
        rows = once if name == "when" else slice(None)
        assert np.abs(study[name] - value)[rows].max() < tolerance * (1e3 if name == "when" else 1), name


def test_outcomes_are_those_of_the_formulas(found):
    check_outcomes(found, 1e-6)
    assert found.complete and not found.failures and len(found) == 13


@pytest.mark.parametrize("method", ["bdf", "adams"])
def test_methods_without_a_loop_over_cases_give_the_same(method):
    check_outcomes(changed(method=method, cases=4, rtol=1e-9), 1e-5)


def test_a_symplectic_method():
    options = {**OPTIONS, "events": {}, "outcomes": {"low": "min(q)", "end": "final(q)"}, "cases": 3}
    study = kg.study(MODEL, 3, method="symplectic", step=0.01, **options)
    assert study["end"] == pytest.approx(study["q"] * np.cos(3 * np.sqrt(study["k"])), abs=1e-6)


def test_cases_with_a_mass_below_zero_do_not_begin():
    study = kg.study(MODEL, 1.0, **{**OPTIONS, "vary": {"m": "uniform(-1, 1)"}, "success": None})
    below = study["m"] < 0
    assert below.any() and not below.all()
    assert ((study["status"] == "NOT_STARTED") == below).all()
    assert all(reason.startswith("the mass of Block is negative: -") for reason in study["reason"][below])


def test_compiled_cases_do_what_interpreted_ones_do(found):
    """The same loop as machine code: the same steps and events, results that differ by rounding alone."""
    fast = changed(native=True, threads=2, method="dopri5")
    slow = changed(method="dopri5")
    assert np.array_equal(fast["steps"], slow["steps"]) and np.array_equal(fast["count"], slow["count"])
    for name in found.numbers:
        assert np.allclose(fast[name], slow[name], atol=1e-7 if name == "when" else 1e-10, equal_nan=True), name


def test_the_nominal_case_comes_first(found):
    assert (found["q"][0], found["k"][0]) == (0.5, 4.0)
    assert len(found.drawn["q"]) == 12 and found.probability().count == 12
    assert changed(state={"q": 0.3}, parameters={"k": 2}, cases=1)["q"][0] == 0.3


def test_any_case_again_bit_for_bit(found):
    for index in (0, 7, 12):
        row = found.case(index).row
        assert [repr(column[index].item()) for column in found.columns.values()] == list(map(repr, row.values()))
    motion = found.case(7).simulate()
    assert motion["q"].min() == pytest.approx(found["low"][7], abs=1e-4)
    assert len({found.case(index).seed for index in range(13)}) == 13
    with pytest.raises(StudyError, match="cases 0 to 12"):
        found.case(13)


def test_more_cases_leave_the_first_as_they_are(found):
    more = changed(cases=20, chunk=7)
    assert all(np.array_equal(more[name][:13], found[name]) for name in found.columns)


def test_inputs_and_names_of_the_study_can_vary():
    study = kg.study(
        MODEL, 1, vary={"tau:q": "choice(0, 2)", "r": "uniform(0.1, 1)"}, state={"q": "r^2"}, cases=6,
        parameters={"k": "4*r"}, outcomes={"start": "initial(q)", "end": "final(q)"}, native=False,
    )  # fmt: skip
    r, force = study["r"], study["tau:q"]
    w, rest = np.sqrt(4 * r), force / (4 * r)
    assert study["start"] == pytest.approx(r**2)
    assert study["end"] == pytest.approx(rest + (r**2 - rest) * np.cos(w), abs=1e-7)
    assert force[0] == 0.0  # no force is nominal, whatever the choice begins with


def test_sampled_inputs_act_in_every_case():
    study = kg.study(
        kg.parse("model f; coordinates x; A | Sx(x) | m(2);"), 1, vary={"x'": "uniform(-1, 1)"}, cases=3,
        inputs={"x": ([0.0, 1.0], [0.0, 6.0])}, outcomes={"end": "final(x)"}, native=False,
    )  # fmt: skip
    assert study["end"] == pytest.approx(study["x'"] + 0.5, abs=1e-9)  # x'' = 3 t


def test_events_that_stop_and_reset():
    ball = kg.parse("model ball; parameters e = 0.5; coordinates z = 1; gravity 0, 0, -10; Ball | Sz(z) | m(1);")
    events = [Event("floor", "z", reset={"z'": "-e*z'"}), Event("late", "t - 1.2", action=Action.STOP)]
    study = kg.study(
        ball, 5, vary={"e": "uniform(0.6, 0.9)"}, cases=4, events=events, native=False,
        outcomes={"hit": "at(floor, z')", "rebound": "max(z')", "second": "last_time(floor)"},
        classes={"late": "stopped_by(late)"},
    )  # fmt: skip
    fall, hit = np.sqrt(0.2), -np.sqrt(20.0)
    assert study["hit"] == pytest.approx(np.full(5, hit))
    assert study["rebound"] == pytest.approx(-study["e"] * hit)
    again = fall + 2 * study["e"] * -hit / 10
    twice = (again < 1.2) & (again + 2 * study["e"] ** 2 * -hit / 10 > 1.2)
    assert twice.any() and study["second"][twice] == pytest.approx(again[twice])
    assert set(study["class"]) == {"late"} and study["end_time"] == pytest.approx(np.full(5, 1.2))


def test_what_holds_at_the_start_ends_a_case_there():
    ball = kg.parse("model ball; coordinates z = 1; gravity 0, 0, -10; Ball | Sz(z) | m(1);")
    events = [Event("low", "z", Direction.FALLING, Action.STOP, holds=True)]
    study = kg.study(
        ball, 1, vary={"z": "uniform(-1, 1)"}, cases=9, events=events, native=False,
        classes={"low": "stopped_by(low)"}, outcomes={"at": "time(low)"},
    )  # fmt: skip
    assert np.any(study["z"] < 0)
    assert study["at"] == pytest.approx(np.sqrt(np.maximum(study["z"], 0) / 5))
    assert set(study["class"]) == {"low"} and study["end_time"] == pytest.approx(study["at"])


def test_cases_that_fail_are_kept_with_their_reason():
    free = kg.parse("model f; parameters p = 0.1; coordinates q; A | Sx(q) | m(1);")
    study = kg.study(
        free, 1, vary={"p": [0.1, 0.4]}, cases=6, inputs={"q": "1e-9*sqrt(0.3 - p - 0.1*t)"}, native=False,
        outcomes={"end": "final(q)"}, success="true", seed=1,
    )  # fmt: skip
    bad = study["p"] > 0.3
    assert bad.any() and (~bad).any()
    assert {one.case for one in study.failures} == set(np.flatnonzero(bad))
    assert all("not a number" in one.reason for one in study.failures)
    assert study["success"].tolist() == (~bad).tolist() and study.summary("end").missing == bad.sum()


def test_a_mechanism_that_cannot_be_closed_fails_alone():
    study = kg.study(
        "four-bar", 0.05, vary={"a": [0.5, 50.0]}, cases=4, outcomes={"end": "final(crank)"}, native=False, seed=2
    )
    long = study["a"] > 1
    assert long.any() and (study["status"][long] == "NOT_STARTED").all()
    assert (study["status"][~long] == "FINISHED").all() and "clos" in study.failures[0].reason


def test_quantities_of_the_model_are_outputs():
    study = changed(outcomes={"mass": "max(H[0,0])", "power": "min(potential)"}, success=None, vary={"m": [1, 3]})
    assert study["mass"] == pytest.approx(study["m"])
    with pytest.raises(StudyError, match="H has shape"):
        changed(outcomes={"x": "max(H[1])"}, success=None)


def test_a_study_ends_when_its_interval_is_narrow_enough():
    options = {"cases": 400, "chunk": 10, "outcomes": {"low": "min(q)"}, "events": {}}
    study = changed(until="success +- 0.12", **options)
    assert study.complete and 40 <= len(study) < 400 and study.enough.half_width <= 0.12
    earlier = changed(until="success +- 0.12 @ 0.95", threads=2, **options)
    assert len(earlier) == len(study) and np.array_equal(earlier["low"], study["low"])


def test_trajectories_are_kept_on_request():
    study = changed(times=3, cases=2)
    assert study.states.shape == (3, 4, 2)
    assert study.states[:, :, 0] == pytest.approx(
        study["q"][:, None] * np.cos(np.sqrt(study["k"])[:, None] * [0, 1, 2, 3]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": {"kk": "uniform(0, 1)"}}, "did you mean `k`"),
        ({"vary": {"q": "unifrom(0, 1)"}}, "did you mean `uniform`"),
        ({"vary": {"q": "uniform(1, 0)"}}, "smaller than the second"),
        ({"vary": {"q, k": "uniform(0, 1)"}}, "1 numbers for 2 names"),
        ({"vary": {"q": "disc(1)"}}, "at least two names"),
        ({"vary": {"q": "uniform(0, x)"}}, "is not a number"),
        ({"vary": {}}, "at least one"),
        ({"outcomes": {"a": "max(qq)"}, "success": None}, "did you mean `q`"),
        ({"outcomes": {"a": "max(q"}}, "not closed"),
        ({"outcomes": {"a": "final(q) +"}}, "cannot parse the outcome"),
        ({"outcomes": {"a": "time(zeroo)"}}, "did you mean `zero`"),
        ({"outcomes": {"a": "q + 1", "b": "qq"}}, "unknown name 'qq'"),
        ({"outcomes": {"a": "frobnicate(1)"}}, "unknown function"),
        ({"outcomes": {"case": "final(q)"}}, "outcome 'case'"),
        ({"success": "highh > 1"}, "did you mean `high`"),
        ({"design": "sobel"}, "choose from random"),
        ({"design": "saltelli", "cases": 5}, "multiple"),
        ({"cases": 0}, "between 1 and"),
        ({"seed": -1}, "seed is -1"),
        ({"until": "succes +- 0.1"}, "did you mean `success`"),
        ({"until": "success about 0.1"}, "cannot parse"),
        ({"state": {"x": 1}}, "has no variable 'x'"),
        ({"parameters": {"kx": 1}}, "kx"),
        ({"method": "euler"}, "unknown method"),
        ({"threads": 0}, "at least 1"),
        ({"threads": 1, "cluster": "tcp://x"}, "give only one of"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_runs(options, message):
    with pytest.raises(KinegraphError, match=message):
        changed(**options)


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("state = {q1 = [1, 2]}", "state.q1"),
        ("parameters = {m1 = true}", "parameters.m1"),
        ("inputs = {tau1 = 1979-05-27}", "inputs.tau1"),
        ("events = {low = {condition = [1]}}", "events.low.condition"),
        ("events = {low = {condition = 'q1', reset = 3}}", "events.low.reset"),
    ],
)
def test_a_study_file_says_what_is_no_formula(tmp_path: Path, setting: str, named: str) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(f"model = 'double-pendulum'\nduration = 1\nvary = {{q1 = 'uniform(0, 1)'}}\n{setting}\n")
    with pytest.raises(StudyError, match=named):
        kg.study(file)
