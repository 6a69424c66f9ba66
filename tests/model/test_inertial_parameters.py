"""Inertias as parameters: the same mechanism at their values, the scaled one at others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KernelError, ModelError
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.model.changes import with_inertial_parameters
from kinegraph.model.joint_models import with_elements
from kinegraph.model.report import FindingKind
from tests.io.robot_numbers import Derived

#: Turned central frames, armature, gravity compensation, a fixed body, a free body.
TEXT = """<mujoco><option gravity="1 2 -9"/><worldbody>
  <body name="stand"><inertial pos="0 0 0" mass="9" diaginertia="1 1 1"/>
    <body name="arm" pos="0 0 1" gravcomp="0.7"><joint name="shoulder" axis="0 1 0" armature="0.3"/>
      <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.05 0.06 0.04" euler="20 30 40"/>
      <body name="hand" pos="0.5 0 0" euler="10 0 0"><joint name="wrist" axis="1 0 0"/>
        <inertial pos="0 0.05 0" mass="1.5" fullinertia="0.02 0.03 0.04 0.001 0.002 -0.003"/></body></body></body>
  <body name="box"><freejoint/><geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="0 30 0"/></body>
</worldbody></mujoco>"""
WORDS = ("forces", "qdd", "H", "gravity")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "arm.xml"
    path.write_text(TEXT)
    return path


def state(mechanism: kg.Mechanism) -> tuple[list[float], list[float]]:
    draw = np.random.default_rng(4)
    q = draw.normal(size=len(mechanism.layout.positions))
    for first in mechanism.layout.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q.tolist(), draw.normal(size=len(mechanism.layout.velocities)).tolist()


def test_at_their_values_nothing_changes(file: Path) -> None:
    plain, free = kg.load(file), kg.load(file, parameters="inertial")
    assert {one.name for one in free.parameters} >= {"m_arm", "cx_arm", "Jxz_hand", "Ia_shoulder", "m_box", "m_stand"}
    assert len(free.parameters) == 10 * 4 + 1 and not plain.parameters
    q, v = state(plain)
    for word, value in Derived(plain, WORDS).at(q, v).items():
        np.testing.assert_allclose(Derived(free, WORDS).at(q, v)[word], value, rtol=1e-12, atol=1e-12)


def test_other_values_are_those_of_another_file(file: Path) -> None:
    """Twice the mass of the arm, also in gravity compensation; its inertia and the armature stay."""
    free = kg.load(file, parameters="inertial")
    heavier = with_elements(parse_mjcf(TEXT.replace('mass="2"', 'mass="4"')).mechanism)
    q, v = state(free)
    kernel = kg.compile(free, "forces,qdd", runtime=["m_arm"])
    given = {"q": q, "v": v, "p": [4.0], "tau": [0.0] * len(v)}
    found = kernel(*(given[one.name] for one in kernel.arguments))
    for word, value in Derived(heavier, ("forces", "qdd")).at(q, v).items():
        np.testing.assert_allclose(found[word], value, rtol=1e-10, atol=1e-10)


@pytest.mark.soak
def test_patterns_name_parameters_at_run_time_one_row_for_each_state(file: Path) -> None:
    free = kg.load(file, parameters="inertial")
    q, v = state(free)
    kernel = kg.compile(free, "tau", runtime=["m_*", "c?_hand"])
    names = [symbol.name for symbol in kernel.arguments[-1].symbols]
    assert names == ["m_stand", "m_arm", "m_hand", "m_box", "cx_hand", "cy_hand", "cz_hand"]
    draw = np.random.default_rng(1)
    rows = np.abs(draw.normal(size=(5, 7))) + 0.1
    given = {"q": [q] * 5, "v": [v] * 5, "a": [v] * 5, "p": rows}
    found = kernel.batch(*(given[one.name] for one in kernel.arguments))
    for row, tau in zip(rows, found, strict=True):
        fixed = kg.compile(free, "tau", parameters=dict(zip(names, row.tolist(), strict=True)))
        np.testing.assert_allclose(fixed(q, v, v), tau, rtol=1e-12, atol=1e-12)
    with pytest.raises(KernelError, match=r"no runtime parameter matches 'x_\*'"):
        kg.compile(free, "tau", runtime="x_*")


def test_a_simulator_takes_patterns_too(file: Path) -> None:
    rows = kg.simulator(kg.load(file, parameters="inertial"), runtime="m_*", count=2)
    assert rows.runtime == ("m_stand", "m_arm", "m_hand", "m_box") and rows.parameters.shape == (2, 4)
    np.testing.assert_array_equal(rows.parameters[0][:3], [9, 2, 1.5])


def test_names_of_the_model_are_not_taken() -> None:
    text = "parameters m_Bob = 3; coordinates q = 1; Bob | Rz(q) | Sx(1), m(2), Jz(0.1);"
    with pytest.raises(ModelError, match="m_Bob"):
        with_inertial_parameters(kg.parse(text))


def test_inertias_with_parameters_stay() -> None:
    text = "parameters m = 3; coordinates q = 1; Bob | Rz(q) | Sx(1), m(m), Jz(0.1);"
    assert with_inertial_parameters(kg.parse(text)) == kg.parse(text)


def test_fluid_forces_keep_the_numbers_of_the_file_and_the_report_says_so() -> None:
    text = TEXT.replace('gravity="1 2 -9"', 'gravity="0 0 -9" density="1000"')
    free = with_inertial_parameters(parse_mjcf(text).mechanism)
    assert "fluid forces keep the inertias" in str(free.report.of(FindingKind.ASSUMED))
