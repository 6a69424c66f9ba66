"""Paths given as samples, files of the motion, and unknown forces along a tool path in one command."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.follow import follow_by_spring
from tests.cli.run import data, runner

T = np.linspace(0, 1, 41)
FORMULAS = {"tip.x": "0.5 + 0.3*sin(t)", "tip.z": "-1.2 + 0.1*t^2"}
SAMPLES = {"tip.x": (T, 0.5 + 0.3 * np.sin(T)), "tip.z": (T, -1.2 + 0.1 * T**2)}


@pytest.fixture
def path_file(tmp_path):
    file = tmp_path / "path.csv"
    np.savetxt(file, np.column_stack([T, SAMPLES["tip.x"][1], SAMPLES["tip.z"][1]]), delimiter=",",
               header="t,tip.x,tip.z", comments="")  # fmt: skip
    return file


def table(file):
    with file.open() as stream:
        return {name: np.array(column, dtype=float) for name, *column in zip(*csv.reader(stream), strict=True)}


@pytest.mark.parametrize("mixed", [False, True])
def test_samples_give_the_motion_of_the_formula_they_are_of(mixed):
    times = [0.0, 0.013, 0.5, 1.0]
    path = {**SAMPLES, "tip.z": FORMULAS["tip.z"]} if mixed else SAMPLES
    found, exact = kg.follow("double-pendulum", path, times), kg.follow("double-pendulum", FORMULAS, times)
    np.testing.assert_allclose(found.motion.q, exact.motion.q, atol=1e-9)
    np.testing.assert_allclose(found.motion.v, exact.motion.v, atol=1e-8)
    np.testing.assert_allclose(found.motion.a, exact.motion.a, atol=1e-6)


def test_samples_in_loops_and_of_coordinates():
    law = (T, 0.3 + 0.5 * T + 0.1 * T**3)
    found = kg.follow("four-bar", {"crank": law}, [0.0, 0.4, 1.0])
    exact = kg.follow("four-bar", {"crank": "0.3 + 0.5*t + 0.1*t^3"}, [0.0, 0.4, 1.0])
    np.testing.assert_allclose(found.motion.a, exact.motion.a, atol=1e-9)


@pytest.mark.parametrize(
    ("path", "times", "message"),
    [
        (SAMPLES, [0.0, 1.5], r"samples from t = 0 to 1, but times are from 0 to 1.5"),
        ({**SAMPLES, "tip.x": (T, T[1:])}, [0.0], "give as many of each, at least 4"),
        ({**SAMPLES, "tip.x": (T[::-1], T)}, [0.0], "times must increase"),
        ({**SAMPLES, "tip.x": (T, "a")}, [0.0], "nor two arrays"),
        ({"Lower": (T, T)}, [0.0], "write transforms of time"),
    ],
)
def test_mistakes_are_named(path, times, message):
    with pytest.raises(TaskError, match=message):
        kg.follow("double-pendulum", path, times)


def test_springs_take_formulas_only():
    with pytest.raises(TaskError, match="for samples, use follow"):
        follow_by_spring("double-pendulum", SAMPLES, [0.0, 0.1])


def test_forces_along_a_tool_path_in_one_command(capsys, tmp_path, path_file):
    run, drives = runner(capsys), "--unknown tau:q1,tau:q2 --times 8"
    by_formulas = " ".join(f"--path '{name}={law}'" for name, law in FORMULAS.items())
    one = data(run(f"unknown-forces double-pendulum {by_formulas} {drives} --json -o", tmp_path / "forces.csv"))
    other = data(run(f"unknown-forces double-pendulum --path @{path_file} {drives} --json"))
    motion = kg.follow("double-pendulum", FORMULAS, np.linspace(0, 1, 9)).motion
    expected = kg.unknown_forces("double-pendulum", motion, unknown=["tau:q1", "tau:q2"])
    for name in ("tau:q1", "tau:q2"):
        np.testing.assert_allclose(one[name], expected[name], rtol=1e-12)
        np.testing.assert_allclose(other[name], expected[name], atol=1e-5)
    written = table(tmp_path / "forces.csv")
    assert list(written) == ["t", "q1", "q2", "q1'", "q2'", "q1''", "q2''", "tau:q1", "tau:q2"]
    np.testing.assert_array_equal(written["tau:q2"], one["tau:q2"])
    np.testing.assert_array_equal(written["q2''"], motion.a[:, 1])


def test_the_motion_along_a_path_is_written(capsys, tmp_path, path_file):
    run = runner(capsys)
    file = tmp_path / "motion.csv"
    found = run(f"inverse-kinematics double-pendulum --path @{path_file} --times 4 -o", file)
    assert found.code == 0 and f"wrote {file}" in found.out
    written, exact = table(file), kg.follow("double-pendulum", FORMULAS, np.linspace(0, 1, 5))
    assert next(iter(written)) == "t" and {"q1", "q1'", "q2''"} < set(written)
    np.testing.assert_allclose(written["q1"], exact["q1"], atol=1e-9)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("unknown-forces double-pendulum --path tip.x=0.5 -m q1=t --for 1", "--path gives the whole motion"),
        ("unknown-forces double-pendulum -m q1=t --state q1=0 --for 1", "--state says where to start a --path"),
        ("inverse-kinematics puma560 --body L6 --pose 0.4,0.1,0.3 -o x.csv", "-o saves the motion along a --path"),
        ("inverse-kinematics double-pendulum --path tip.x=0.5 --path tip.z=-1 -o x.xlsx", "is not .parquet, .csv"),
    ],
)
def test_mistakes_of_commands_are_named(capsys, line, message):
    found = runner(capsys)(line)
    assert found.code != 0 and message in found.err
