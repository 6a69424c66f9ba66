"""Equality constraints of MJCF: loops and constraints that are those of MuJoCo, made exact."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.quantities.mobility import mobility
from kinegraph.errors import AssemblyError, ModelError
from kinegraph.graph.interpret import interpret
from kinegraph.io import parse, write
from kinegraph.io.mjcf import load_mjcf, parse_mjcf
from kinegraph.io.options import RobotFileOptions
from kinegraph.model.constraints import Constraint, Frame, Joint, JointType, Loop, row_names
from kinegraph.model.expressions import Name, Number
from kinegraph.model.joint_models import with_elements
from kinegraph.model.mechanism import Axis, Mechanism, Shift
from kinegraph.model.report import FindingKind
from tests.cli.run import runner
from tests.io.mujoco_equality import MODELS, NUMBERS, Floats, Numbers
from tests.io.robot_numbers import Derived

STORED: list[Numbers] = json.loads(NUMBERS.read_text("utf-8"))["models"]
EVERY = pytest.mark.parametrize("numbers", STORED, ids=[numbers["file"] for numbers in STORED])
WORDS = ("constraints", "constraint_jacobian", "qdd")


@cache
def read(file: str) -> Mechanism:
    return with_elements(load_mjcf(MODELS / file, options=RobotFileOptions(right_angles=False)).mechanism)


@cache
def derived(file: str) -> Derived:
    return Derived(read(file), WORDS)


def projector(rows: Floats) -> Floats:
    """Onto the velocities that rows forbid: the same for all bases of them."""
    return np.linalg.pinv(rows, rcond=1e-9) @ rows


@EVERY
def test_rows_and_accelerations_are_those_of_mujoco_made_exact(numbers: Numbers) -> None:
    mine = derived(numbers["file"])
    for state in numbers["met"]:
        found = mine.at(state["q"], state["v"])
        assert np.abs(found["constraints"]).max() < 1e-13
        assert np.abs(projector(found["constraint_jacobian"]) - projector(np.array(state["rows"]))).max() < 1e-11
        np.testing.assert_allclose(found["qdd"], state["qdd"], rtol=0, atol=1e-9 * np.abs(state["qdd"]).max())


@EVERY
def test_what_is_missed_is_as_large_as_in_mujoco(numbers: Numbers) -> None:
    """Points in our axes or MuJoCo's: the same distance."""
    mechanism, mine = read(numbers["file"]), derived(numbers["file"])
    for state in numbers["apart"]:
        rows = iter(mine.at(state["q"])["constraints"])
        for tie, theirs in zip((*mechanism.loops, *mechanism.constraints), state["residuals"], strict=True):
            named = dict(zip(row_names(tie), rows, strict=False))
            ours = [value for name, value in named.items() if "turn" not in name]
            assert np.linalg.norm(ours) == pytest.approx(np.linalg.norm(theirs), abs=1e-13)


def test_every_model_has_numbers() -> None:
    assert {path.name for path in MODELS.glob("*.xml")} == {numbers["file"] for numbers in STORED}


@EVERY
def test_what_is_read_can_be_written_assembled_and_checked(numbers: Numbers) -> None:
    mechanism = read(numbers["file"])
    again = parse(write(mechanism))
    assert (again.loops, again.constraints) == (mechanism.loops, mechanism.constraints)
    fitting = kg.assemble(mechanism)
    assert np.abs(derived(numbers["file"]).at(fitting.q.tolist())["constraints"]).max() < 1e-10


TWO = """
  <body name="a" pos="0.1 0 0"><joint name="p" ref="0.5"/>{mass}<site name="s" pos="0 0 1"/></body>
  <body name="b" pos="0.4 0 0" quat="0 1 0 0"><joint name="q" type="slide"/>{mass}</body>
  <body name="c"><joint name="r" type="ball"/>{mass}</body>
  <body name="still"/>
""".format(mass='<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>')


def model(equality: str, before: str = "<compiler angle='radian'/>") -> Mechanism:
    return parse_mjcf(f"<mujoco>{before}<worldbody>{TWO}</worldbody><equality>{equality}</equality></mujoco>").mechanism


def shifted(*amounts: str) -> tuple[Shift, ...]:
    return tuple(Shift(axis, Number(Fraction(amount))) for axis, amount in zip(Axis, amounts, strict=True))


def test_a_point_stays_where_it_is_at_the_start_exactly() -> None:
    (loop,) = model('<connect body1="a" body2="b" anchor="0.2 0.3 0.7"/>').loops
    here, there = Frame("a", shifted("0.2", "0.3", "0.7")), Frame("b", shifted("-0.1", "-0.3", "-0.7"))
    assert loop == Loop("connect_a_b", Joint(JointType.SPHERICAL), here, there)


def test_relations_of_joints_count_from_where_they_start() -> None:
    p, q = Name("p"), Name("q")
    assert model('<joint joint1="p" joint2="q"/>').constraints == (
        Constraint("joint_p_q", p, Number(Fraction("0.5")) + q),
    )
    assert model('<joint name="stop" joint1="p" polycoef="0.25 3"/>').constraints == (
        Constraint("stop", p, Number(Fraction("0.75"))),
    )


OFF = "<default><default class='off'><equality active='false'/></default></default>"


@pytest.mark.parametrize(
    ("equality", "before"),
    [
        ('<weld body1="a" body2="b" active="false"/>', ""),
        ('<weld body1="a" body2="b" class="off"/>', OFF),
        ('<weld body1="a" body2="b"/>', "<option><flag equality='disable'/></option>"),
        ('<weld body1="a" body2="b"/>', "<option><flag constraint='disable'/></option>"),
        ('<weld body1="still" body2="world"/>', ""),
    ],
)  # fmt: skip
def test_what_does_nothing_is_said_and_not_taken(equality: str, before: str) -> None:
    mechanism = model(equality, before)
    assert not mechanism.loops
    (finding,) = [one for one in mechanism.report.of(FindingKind.NOT_USED) if one.topic == "equality constraints"]
    assert "<weld> of <equality>" in finding.message
    assert not mechanism.report.of(FindingKind.ASSUMED)


def test_constraints_can_be_left_out() -> None:
    """What is left is the tree of the file without them, and the report says what is missing."""
    both = '<connect body1="a" body2="b" anchor="0 0 0"/><joint joint1="p" joint2="q"/>'
    text = f"<mujoco><worldbody>{TWO}</worldbody><equality>{both}</equality></mujoco>"
    tree = parse_mjcf(text, options=RobotFileOptions(equalities=False)).mechanism
    bare = parse_mjcf(f"<mujoco><worldbody>{TWO}</worldbody></mujoco>").mechanism
    assert len(parse_mjcf(text).mechanism.loops) == 1 and replace(tree, report=bare.report) == bare
    assert tree.report.summary() == "equality constraints (2)" and not tree.report.complete


def test_constraints_on_deformable_bodies_are_left_out() -> None:
    report = model('<flex flex="f"/><connect body1="a" anchor="0 0 0"/>').report
    assert report.summary() == "equality constraints"
    (exact,) = report.of(FindingKind.ASSUMED)
    assert "are exact" in exact.message


@pytest.mark.parametrize(
    ("equality", "words"),
    [
        ('<connect body1="a" body2="b"/>', "has no anchor"),
        ('<connect body1="a" body2="A" anchor="0 0 0"/>', "unknown body2 'A'"),
        ('<connect body1="a" body2="a" anchor="0 0 0"/>', "to itself"),
        ('<connect body2="a" anchor="0 0 0"/>', "has no body1"),
        ('<connect site1="s" anchor="0 0 0"/>', "two sites or two bodies"),
        ('<weld body1="a" relpose="0 0 0"/>', "takes 7 numbers"),
        ('<weld body1="a" active="perhaps"/>', "invalid value `perhaps` of active in <weld>"),
        ('<joint joint2="p"/>', "has no joint1"),
        ('<joint joint1="p" joint2="p"/>', "to itself"),
        ('<joint joint1="r"/>', "a ball joint"),
        ('<tendon tendon1="t"/>', "unknown tendon1 't' of <tendon>"),
        ('<joint joint1="p" polycoef="1 2 3 4 5 6"/>', "up to 5 numbers"),
        ('<connect name="x" body1="a" anchor="0 0 0"/><weld name="x" body1="b"/>', "has the same name as"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(equality: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        model(equality)


#: A four-bar on a turning base; a hinge of two points, of which the second misses along and across its axis.
HINGE = """<mujoco model="hinge"><worldbody>
  <body name="base" quat="0.9659258 0 0 0.258819"><joint name="q0" type="hinge" axis="0.6 0 0.8"/>
    <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body name="crank"><joint name="q1" type="hinge" axis="0 1 0"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/>
      <body name="rod" pos="0.2 0 0"><joint name="q2" type="hinge" axis="0 1 0"/>
        <inertial pos="0.2 0 0" mass="1" diaginertia="0.01 0.02 0.03"/>
        <site name="a1" pos="0.3 0.02 0"/><site name="a2" pos="0.3 {along!r} 0"/></body></body>
    <body name="rocker" pos="0.5 0 -0.3"><joint name="q3" type="hinge" axis="0 1 0"/>
      <inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.02 0.03"/>
      <site name="b1" pos="0 0.02 0.3"/><site name="b2" pos="0 -0.02 {across!r}"/></body></body></worldbody>
  <equality><connect site1="a1" site2="b1"/><connect site1="a2" site2="b2"/></equality></mujoco>"""


def hinge(missed: float) -> Mechanism:
    return parse_mjcf(HINGE.format(along=-0.02 + missed, across=0.3 + missed / 2)).mechanism


@pytest.mark.parametrize("missed", [1e-9, 3e-7, 3e-6])
def test_points_that_differ_by_rounding_close_in_the_sense_of_least_squares(missed: float) -> None:
    """It could not be assembled: rows along the axis contradict each other by what numbers are rounded."""
    mechanism, exact = hinge(missed), hinge(0)
    place, found = kg.assemble(mechanism), mobility(mechanism)
    assert place.mobility == found.dof == 2 and len(found.redundant) == 4
    assert place.residual == found.residual == pytest.approx(missed, rel=0.1)
    still = dict.fromkeys((*mechanism.layout.velocities, *mechanism.layout.forces), 0.0)
    mine, theirs = (
        interpret(kg.derive(one, "qdd"), dict(zip(one.layout.positions, kg.assemble(one).q, strict=True)) | still)
        for one in (mechanism, exact)
    )
    np.testing.assert_allclose(mine["qdd"], theirs["qdd"], atol=100 * missed)
    run = kg.simulate(mechanism, 0.1, native=False)
    assert run.ending.status.good and all(check.passed for check in run.checks)
    assert run.drift["position"] == pytest.approx(missed, rel=0.1)


def test_points_that_differ_by_more_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssemblyError, match=r"has a gap of 0\.00103"):
        kg.assemble(hinge(1e-3))
    file = tmp_path / "hinge.xml"
    file.write_text(HINGE.format(along=-0.02 + 1e-9, across=0.3), encoding="utf-8")
    run = runner(capsys)
    assert "rounded numbers leave the loops open by 1.0e-09" in " ".join(run("check", file).out.split())
    assert "the loops stay open by 1.0e-09 at least" in run("assemble", file).out
