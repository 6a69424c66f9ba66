"""Which format a file is in is decided by what it holds; what is not read is named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.mjcf import parse_mjcf
from kinegraph.io.urdf import parse_urdf

URDF = '<robot name="r"><link name="a"/></robot>'
MJCF = (
    '<mujoco><worldbody><body name="b"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
)
SDF = '<sdf version="1.9"><model name="r"><link name="c"/></model></sdf>'
TABLE = "alpha,a,d,theta\n0,1,0,0\n"
RECORDS = "coordinates q; A | Rz(q) | m(1);"


@pytest.mark.parametrize("name", ["r.urdf", "r.xml", "r.mjcf", "r.txt", "r", "r.URDF", "r.kg"])
@pytest.mark.parametrize(
    ("text", "body"), [(URDF, "a"), (MJCF, "b"), (SDF, "c"), (f"\ufeff<?xml version='1.0'?>\n{URDF}", "a")]
)
def test_xml_is_recognized_by_its_root(tmp_path: Path, name: str, text: str, body: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert [one.name for one in kg.load(path).bodies] == [body]


@pytest.mark.parametrize("name", ["r.txt", "r.kg", "r"])
def test_other_text_is_the_model_language(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(RECORDS)
    assert kg.load(path).layout.positions == ("q",)


def test_utf16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "r.txt"
    path.write_text(f'<?xml version="1.0" encoding="utf-16"?>{URDF}', encoding="utf-16")
    assert kg.load(path).name == "r"


@pytest.mark.parametrize(
    ("name", "text", "message", "remedy"),
    [
        ("w.sdf", "<sdf version='1.7'><model name='m'/></sdf>", "the model has no links", "at least one <link"),
        (
            "w.urdf",
            "<sdf version='1.7'><world name='w'/></sdf>",
            "the file has no model",
            "at least one <model>",
        ),
        (
            "r.urdf.xacro",
            "<robot><xacro:include filename='a'/></robot>",
            "<xacro:include> is a xacro macro",
            "xacro robot",
        ),
        (
            "r.xacro",
            "<robot name='r'><link name='a'><xacro:b/></link></robot>",
            "<xacro:b> is a xacro macro",
            "pip install",
        ),
        ("r.urdf", "<robot name='r'><link name='${p}a'/></robot>", "the xacro expression", "xacro robot"),
        ("r.srdf", "<robot name='r'><group name='arm'/></robot>", "has no links", "SRDF"),
        ("m.dae", "<COLLADA/>", "a Collada mesh", "refers to it"),
        ("m.osim", "<OpenSimDocument/>", "OpenSim", "MJCF"),
        ("m.stl", "solid", "a mesh, not a model", "refers to it"),
        ("m.mjb", "\0\0", "a compiled MuJoCo model", "mj_saveLastXML"),
        ("m.py", "import os", "a Python program", "Builder"),
        ("m.xml", "<html/>", "the root element is <html>: this is not a supported model", "<mujoco>"),
        ("m.urdf", "A | ;", "not well-formed XML", ""),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, name: str, text: str, message: str, remedy: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ModelError) as raised:
        kg.load(path)
    assert message in str(raised.value) and remedy in str(raised.value)


def test_each_reader_takes_its_own_format() -> None:
    with pytest.raises(ModelError, match=r"<mujoco>: this is MJCF"):
        parse_urdf(MJCF)
    with pytest.raises(ModelError, match=r"<robot>: this is URDF"):
        parse_mjcf(URDF)


def test_passive_forces_count_for_mjcf_under_any_name(tmp_path: Path) -> None:
    joint = '<joint name="q" damping="2"/>'
    text = MJCF.replace("<inertial", f"{joint}<inertial")
    for name in ("r.xml", "r.urdf", "r.txt"):
        (tmp_path / name).write_text(text)
        assert len(kg.load(tmp_path / name).elements) == 1


def test_a_word_is_a_name_of_the_library_unless_it_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert kg.load("puma560").name == kg.library.mechanism("puma560").name
    (tmp_path / "rackovic-6r").mkdir()
    assert len(kg.load("rackovic-6r").coordinates) == 6
    (tmp_path / "puma560").write_text(RECORDS)
    assert kg.load("puma560").layout.positions == ("q",)
    with pytest.raises(ModelError, match="unknown library model"):
        kg.load("x" * 5000)
