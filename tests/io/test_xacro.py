"""Xacro macros of URDF: expanded on request, with arguments and packages; refused otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from tests.cli.run import runner

pytest.importorskip("xacro")

TEXT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:property name="half" value="${float('$(arg length)')/2}"/>
  <xacro:include filename="$(find arm_description)/urdf/link.xacro"/>
  <xacro:part name="a"/><xacro:part name="b"/>
  <joint name="j" type="continuous"><origin xyz="$(arg length) 0 0"/><parent link="a"/><child link="b"/>
    <axis xyz="0 1 0"/></joint>
</robot>"""
LINK = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="part" params="name">
  <link name="${name}"><inertial><origin xyz="${half} 0 0"/><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro></robot>"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "arm_description" / "urdf"
    folder.mkdir(parents=True)
    (folder / "link.xacro").write_text(LINK)
    path = folder / "arm.urdf.xacro"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize(("given", "length"), [({}, 0.5), ({"length": 0.8}, 0.8)])
def test_macros_and_arguments(given: dict[str, object], length: float, file: Path) -> None:
    arm = kg.load(file, xacro=given)
    assert arm.layout.positions == ("j",)
    bodies = f"a | ; b~a | Sx({length}), Ry(j) | Sx({length / 2}), m(2), Jx(1), Jy(1), Jz(1);"
    plain = kg.parse(f"coordinates j; gravity 0, 0, -9.81; {bodies}")
    assert float(kg.compile(arm, "gravity")([0.3])[0]) == pytest.approx(float(kg.compile(plain, "gravity")([0.3])[0]))


def test_packages_elsewhere_need_a_root(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere.urdf.xacro"
    other.write_text(TEXT)
    with pytest.raises(ModelError, match="the package arm_description was not found"):
        kg.load(other, xacro={})
    assert kg.load(other, xacro={}, package_roots=[tmp_path]).layout.positions == ("j",)


def test_nothing_is_expanded_without_a_request(file: Path) -> None:
    with pytest.raises(ModelError, match=r"xacro=\{\}"):
        kg.load(file)


def test_mistakes_are_told(file: Path) -> None:
    with pytest.raises(ModelError, match="has no xacro:arg size"):
        kg.load(file, xacro={"size": 1})
    with pytest.raises(ModelError, match="xacro cannot expand"):
        kg.load(file, xacro={"length": "long"})
    with pytest.raises(ModelError, match="only URDF files have xacro"):
        kg.load("puma560", xacro={})


def test_the_command_line_expands_too(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = runner(capsys)
    assert "b" in run(f"check {file} --xacro length=0.8").out
    assert run(f"check {file} --xacro", "").code == 0
    wrong = run(f"check {file} --xacro length")
    assert wrong.code and "NAME=VALUE" in wrong.err
