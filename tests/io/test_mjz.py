"""Archives of MJCF: read like the folder they were packed from, and safe."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io.mjcf import archive

MODEL = """<mujoco model="m"><compiler meshdir="meshes"/><asset><mesh name="a" file="a.obj"/></asset><worldbody>
<body><joint name="j"/><geom type="mesh" mesh="a"/></body></worldbody><include file="more.xml"/></mujoco>"""
MORE = "<mujocoinclude><option gravity='0 0 -5'/></mujocoinclude>"
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def packed(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as target:
        for name, content in files.items():
            target.writestr(name.replace("__", "/").replace("_xml", ".xml").replace("_obj", ".obj"), content)
    return path


def test_an_archive_is_read_like_its_folder(tmp_path: Path) -> None:
    files = {"arm_xml": MODEL, "more_xml": MORE, "meshes__a_obj": MESH}
    model = kg.load(packed(tmp_path / "arm.mjz", **files))
    (tmp_path / "arm").mkdir()
    with zipfile.ZipFile(tmp_path / "arm.mjz") as every:
        every.extractall(tmp_path / "arm")
    assert model.bodies == kg.load(tmp_path / "arm" / "arm.xml").bodies
    assert kg.load(tmp_path / "arm.mjz") == model  # unpacked before


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a_xml": MODEL, "b_xml": MODEL}, "no single model; XML files at its top: a.xml, b.xml"),
        ({"inner__a_xml": MODEL}, "no single model; XML files at its top: none"),
        ({"arm_xml": MODEL, "..__out_xml": MORE}, "outside the archive"),
        ({"arm_xml": MODEL, "__out_xml": MORE}, "outside the archive"),
    ],
)
def test_archives_that_are_not_plain_are_refused(files: dict[str, str], words: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=words):
        kg.load(packed(tmp_path / "arm.mjz", **files))
    assert not (tmp_path / "out.xml").exists()


def test_what_is_no_archive_is_said(tmp_path: Path) -> None:
    (tmp_path / "arm.mjz").write_text("<mujoco/>")
    with pytest.raises(ModelError, match="not a readable archive"):
        kg.load(tmp_path / "arm.mjz")


def test_archives_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILES", 1)
    with pytest.raises(ModelError, match="unpacks to more than"):
        kg.load(packed(tmp_path / "arm.mjz", arm_xml=MODEL, more_xml=MORE))
