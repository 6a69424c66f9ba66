"""Closed forms of inverse kinematics as equations: the kernel's own solutions in every branch; printed, exported."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.export import ExportOptions, Language, export
from kinegraph.export.prepare import prepare
from kinegraph.graph.interpret import interpret
from kinegraph.tasks.closed_form_equations import POSE, closed_form_equations
from kinegraph.tasks.pose_solver import pose_solver
from tests.cli.run import runner
from tests.effort import SOAK
from tests.export.languages import build

#: A spherical wrist at the hand, one at the base (by the arm from its end), three parallel axes, a prismatic joint.
BACKWARDS = """
    model backwards; coordinates q1, q2, q3, q4, q5, q6;
    A | Rz(q1) |; B~A | Ry(q2) |; C~B | Rx(q3) |; D~C | Sx(0.4), Ry(q4) |; E~D | Sx(0.3), Ry(q5) |;
    F~E | Sx(0.1), Sy(0.2), Rz(q6) | Sx(0.1), m(1);
"""
ARMS = {"puma560": ("puma560", "L6"), "ur5": ("ur5", "Wrist3"), "backwards": (BACKWARDS, "F")}


def arm(name):
    text, body = ARMS[name]
    return (kg.parse(text) if "\n" in text else kg.load(text)), body


@pytest.mark.parametrize("name", ARMS if SOAK else ["puma560"])
def test_equations_give_the_solutions_of_the_kernel(name):
    mechanism, body = arm(name)
    found, solver = closed_form_equations(mechanism, body), pose_solver(mechanism, body)
    poses = kg.compile(mechanism, f"pose:{body}")
    random = np.random.default_rng(3)
    reached = 0
    for _ in range(5):
        q = random.uniform(-1.5, 1.5, 6)
        pose = poses(q)
        values = {entry: pose[i, j] for i, row in enumerate(POSE) for j, entry in enumerate(row)}
        solutions = np.array(interpret(found.graph, values)["solutions"], dtype=float)
        expected, _ = solver.candidates(pose[None])
        np.testing.assert_allclose(np.exp(1j * solutions), np.exp(1j * expected[0]), atol=1e-9)
        reached += min(np.abs(np.exp(1j * row) - np.exp(1j * q)).max() for row in solutions) < 1e-9
    assert reached == 5
    assert found.coordinates == mechanism.layout.positions and found.branches == solutions.shape[0]


def test_three_joints_place_a_point():
    found = closed_form_equations("puma560", "L3", points=True)
    assert found.coordinates == ("q1", "q2", "q3") if found.branches else False
    assert {symbol.name for symbol in found.graph.symbols()} == {"x", "y", "z"}


@pytest.mark.soak
def test_exported_code_gives_them_too(tmp_path):
    mechanism, body = arm("puma560")
    found = closed_form_equations(mechanism, body)
    unit = prepare(found.graph, "", ExportOptions(name="puma kinematics"))
    code = build(unit, Language.PYTHON, tmp_path)
    assert code.selftest() == 0
    for language in ("c", "latex"):
        assert export(found.graph, "", language, tmp_path / language, ExportOptions(name="puma")).files


def test_they_are_printed_in_decimals():
    text = str(closed_form_equations("ur5", "Wrist3"))
    assert text.startswith("# ur5: Wrist3 by three parallel axes; 8 branches; columns q1, q2, q3, q4, q5, q6")
    assert "0.81725*" in text and "0.005491*" in text and "000000" not in text


@pytest.mark.soak
def test_the_command_prints_and_writes(capsys, tmp_path):
    run = runner(capsys)
    printed = run("inverse-kinematics puma560 --body L6 --closed-form text")
    assert printed.code == 0 and "solutions[8,6]" in printed.out
    assert "\\begin" in run("inverse-kinematics puma560 --body L6 --closed-form latex").out
    facts = json.loads(run("inverse-kinematics puma560 --body L6 --closed-form text --json").out)
    assert facts["branches"] == 8 and facts["method"] == "spherical wrist"
    written = run("inverse-kinematics puma560 --body L6 --closed-form c -o", tmp_path / "c")
    assert written.code == 0 and {one.suffix for one in (tmp_path / "c").iterdir()} == {".c", ".h"}
    assert "add -o DIR" in run("inverse-kinematics puma560 --body L6 --closed-form c").err
    assert "name the body" in run("inverse-kinematics puma560 --closed-form text").err


def test_an_arm_without_closed_form_says_so():
    with pytest.raises(TaskError, match="no closed form is known for the RR arm"):
        closed_form_equations("double-pendulum", "Lower")
