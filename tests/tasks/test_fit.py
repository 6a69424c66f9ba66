"""Fits: parameters from noisy motion within the stated error bars, and what the motion does not determine."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError, TaskError
from kinegraph.tasks.fit import fit
from tests.effort import SOAK
from tests.tasks.test_sensitivities import PENDULUM

TRUE = {"m2": 0.9, "J2": 0.035, "d1": 0.02, "d2": 0.01, "q2(0)": -0.8}
BEGIN = {"parameters": {"m2": 1.0, "J2": 0.03, "d1": 0.0, "d2": 0.0}, "state": {"q2": -0.7}}
NOISE = {"q1": 0.01, "q2": 0.02, "q1'": 0.1}


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(kg.parse(PENDULUM), 3, rtol=1e-11, times=150, progress=False)


def noisy(motion, seed):
    random = np.random.default_rng(seed)
    return {"t": motion.t} | {
        name: motion[name] + random.normal(0, size, len(motion.t)) for name, size in NOISE.items()
    }


def errors(found):
    """Distances from the truth in standard errors."""
    return (found.values - list(TRUE.values())) / found.standard_errors


@pytest.mark.parametrize("noise", [NOISE, None], ids=["given", "estimated"])
def test_parameters_lie_within_their_error_bars(motion, noise):
    seeds = range(20) if SOAK else range(3)
    all_errors = []
    inside = 0
    for seed in seeds:
        found = fit(kg.parse(PENDULUM), noisy(motion, seed), list(TRUE), noise=noise, **BEGIN)
        assert found.doubts == ()
        np.testing.assert_allclose(found.noise, list(NOISE.values()), rtol=0.25)
        all_errors.append(errors(found))
        for name, value in TRUE.items():
            low, high = found.interval(name, 0.9999)
            assert low < value < high
            inside += found.interval(name)[0] < value < found.interval(name)[1]
    count = len(seeds) * len(TRUE)
    assert inside >= 0.95 * count - 3 * np.sqrt(0.05 * 0.95 * count)
    spread = np.sqrt(np.mean(np.square(all_errors)))  # error bars that are far too wide are wrong too
    assert abs(spread - 1) < 3 / np.sqrt(2 * count) + 0.05


def test_exact_motion_gives_exact_parameters(motion):
    exact = {"t": motion.t, "q1": motion["q1"], "q2": motion["q2"]}
    found = fit(kg.parse(PENDULUM), exact, list(TRUE), rtol=1e-11, **BEGIN)
    np.testing.assert_allclose(found.values, list(TRUE.values()), rtol=1e-7)


def test_missing_values_and_files(motion, tmp_path):
    data = noisy(motion, 5)
    data["q1"][::3] = np.nan
    data["q2"][10:20] = np.nan
    found = fit(kg.parse(PENDULUM), data, list(TRUE), noise=NOISE, **BEGIN)
    assert np.abs(errors(found)).max() < 4
    assert found.degrees_of_freedom == 3 * 151 - 51 - 10 - 5
    lines = [
        ",".join(data),
        *(",".join("" if np.isnan(x) else repr(float(x)) for x in row) for row in zip(*data.values(), strict=True)),
    ]
    (tmp_path / "run.csv").write_text("\n".join(lines), encoding="utf-8")
    again = fit(kg.parse(PENDULUM), tmp_path / "run.csv", list(TRUE), noise=NOISE, **BEGIN)
    np.testing.assert_array_equal(again.values, found.values)


def test_points_are_measured_too():
    """A pendulum's length from the path of its end in a video, where the camera sees x and z."""
    run = kg.simulate(
        "double-pendulum", 2, parameters={"l2": 0.7, "amplitude": 0.4}, times=60, rtol=1e-10, progress=False
    )
    random = np.random.default_rng(3)
    data = {"t": run.t} | {name: run[name] + random.normal(0, 0.003, 61) for name in ("tip.x", "tip.z")}
    found = fit("double-pendulum", data, "l2, amplitude", parameters={"amplitude": 0.3})
    assert np.abs((found.values - [0.7, 0.4]) / found.standard_errors).max() < 4
    assert found["l2"] == pytest.approx(0.7, abs=0.01)


def test_what_the_motion_does_not_determine_is_named(motion):
    data = noisy(motion, 1)
    with pytest.raises(TaskError, match="does not determine m1, m2, J1, J2, d1, d2: "):
        fit(kg.parse(PENDULUM), data, ["m1", "m2", "J1", "J2", "d1", "d2", "l1"])
    with pytest.raises(TaskError, match=r"does not determine m1, J1: .*in the ratio"):
        fit(kg.parse(TWICE), {"t": data["t"], "q": np.cos(2 * data["t"])}, ["m1", "J1"])
    with pytest.raises(TaskError, match="hardly depends on idle"):
        fit(kg.parse(TWICE), {"t": data["t"], "q": np.cos(2 * data["t"])}, ["k", "idle"])


TWICE = """
    model rotor;
    parameters m1 = 1, J1 = 2, k = 12, idle = 3;
    coordinates q = 1;
    Rotor | Rz(q) | Sx(1), m(m1), Jz(J1);
    spring twist | on(q), stiffness(k);
    output edge = Rotor (idle, 0, 0);
    accept inertia Rotor;
"""


def test_doubts_are_said(motion):
    data = noisy(motion, 2)
    too_small = fit(kg.parse(PENDULUM), data, list(TRUE), noise=0.001, **BEGIN)
    assert any("times the stated noise" in one for one in too_small.doubts) and "doubt" in str(too_small)
    wrong_model = fit(kg.parse(PENDULUM), data, ["m2"], parameters={"d1": 0.3})
    assert any("are correlated" in one for one in wrong_model.doubts)
    held = fit(kg.parse(PENDULUM), data, list(TRUE), noise=NOISE, bounds={"d1": (-1, 0.01)}, **BEGIN)
    assert held.at_bounds == ("d1",) and np.isnan(held.standard_errors[2]) and held["d1"] == pytest.approx(0.01)
    assert np.isfinite(np.delete(held.standard_errors, 2)).all() and "stopped at its bound" in str(held)


def test_noise_is_never_estimated_below_what_runs_are_exact_to():
    mass = kg.parse("parameters m = 1; coordinates x = 1; Mass | Sx(x) | m(m);")
    found = fit(mass, {"t": [0.1, 0.2, 0.3], "x": [0, 0, 0]}, "x(0)", native=False)
    assert abs(found["x(0)"]) < 1e-9 and 1e-13 < found.standard_errors[0] < 1e-9


T = [0.1, 0.2, 0.3]
MISTAKES = [
    ({"unknown": "m3"}, "has no parameter or initial value 'm3'"),
    ({"unknown": []}, "unknown is empty"),
    ({"unknown": "q1"}, r"initial value is 'q1\(0\)'"),
    ({"data": {}}, "no column t"),
    ({"data": {"t": T}}, "no measured column"),
    ({"data": {"t": [], "q1": []}}, "no measured column"),
    ({"data": {"t": T, "q1": [1, 2]}}, "2 values, but t has 3"),
    ({"data": {"t": T, "q1": [[1], [2], [3]]}}, "shape"),
    ({"data": {"t": T, "q1": ["a", "b", "c"]}}, "does not contain numbers"),
    ({"data": {"t": T, "q1": [1, 2, float("inf")]}}, "infinite"),
    ({"data": {"t": T, "q1": [float("nan")] * 3}}, "contains no value"),
    ({"data": {"t": [0.1, 0.1, 0.2], "q1": [1, 2, 3]}}, "must increase"),
    ({"data": {"t": [-1, 0, 1], "q1": [1, 2, 3]}}, "give t0="),
    ({"data": {"t": [0], "q1": [1]}}, "give t0="),
    ({"data": {"t": T, "q7": [1, 2, 3]}}, "has no variable 'q7'"),
    ({"data": {"t": [0.1], "q1": [1]}, "unknown": "m1,m2"}, "cannot determine 2 unknowns"),
    ({"data": 5}, "the data are 5"),
    ({"data": "missing.csv"}, "missing.csv"),
    ({"noise": 0}, "positive standard deviation"),
    ({"noise": {"q2": 1}}, "unknown column 'q2'"),
    ({"noise": {}}, "noise of q1 is None"),
    ({"bounds": {"m2": (0, 1)}}, "unknown name 'm2'"),
    ({"bounds": {"m1": (2, 3)}}, "outside its bounds"),
    ({"bounds": {"m1": (3, 2)}}, "smaller than the second"),
    ({"bounds": {"m1": 5}}, "give two numbers"),
    ({"parameters": {"m1": 0, "m2": 0}}, "the search cannot start"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=str)
def test_mistakes_are_named(arguments, message):
    usual = {"data": {"t": T, "q1": [0.09, 0.06, 0.02]}, "unknown": "m1", "native": False}
    with pytest.raises((KinegraphError, FileNotFoundError), match=message):
        fit("double-pendulum", **usual | arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("t,q1\n1,2,3", "row 2 has 3 fields"),
        ("t,q1\n0.1,two", "'two' is not a number"),
        ("t,t\n1,2", "duplicate"),
    ],
)
def test_files_that_are_no_tables(text, message, tmp_path):
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    with pytest.raises(TaskError, match=message):
        fit("double-pendulum", tmp_path / "bad.csv", "m1")
