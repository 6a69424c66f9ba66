"""Collada meshes: units and nodes are honored, what is no mesh is not drawn, and readers say what is not drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinegraph.io import meshes
from kinegraph.io.urdf import load_urdf
from kinegraph.model.report import FindingKind
from kinegraph.view.page.meshes import read_mesh

pytest.importorskip("collada", reason="pycollada is not installed")

DOCUMENT = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="centimetre" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_geometries><geometry id="g"><mesh>
    <source id="p"><float_array id="a" count="12">0 0 0 100 0 0 100 100 0 0 100 0</float_array>
      <technique_common><accessor source="#a" count="4" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
    {faces}
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="s"><node><translate>0 0 50</translate>
    <instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""
TRIANGLES = '<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 0 2 3</p></triangles>'
POLYGON = (
    '<polylist count="1"><input semantic="VERTEX" source="#v" offset="0"/><vcount>4</vcount><p>0 1 2 3</p></polylist>'
)
LINES = '<lines count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>'


@pytest.mark.parametrize("faces", [TRIANGLES, POLYGON, TRIANGLES + LINES])
def test_a_square_of_one_meter_half_a_meter_up(tmp_path: Path, faces: str) -> None:
    path = tmp_path / "square.dae"
    path.write_text(DOCUMENT.format(faces=faces))
    mesh = read_mesh(path)
    assert mesh is not None and len(mesh.triangles) == 2
    assert np.allclose(sorted(mesh.corners.tolist()), [[0, 0, 0.5], [0, 1, 0.5], [1, 0, 0.5], [1, 1, 0.5]])


@pytest.mark.parametrize(
    "text",
    [
        "", "not XML", "<COLLADA/>", DOCUMENT.format(faces=LINES), DOCUMENT.format(faces=""),
        DOCUMENT.format(faces=TRIANGLES.replace("0 2 3", "0 2 9")),
        DOCUMENT.format(faces=TRIANGLES.replace("0 2 3", "0 x 3")),
        '<!DOCTYPE c [<!ENTITY a "aaaa">]>' + DOCUMENT.format(faces=TRIANGLES).partition("?>")[2],
    ],
)  # fmt: skip
def test_what_is_no_mesh_is_not_drawn(tmp_path: Path, text: str) -> None:
    path = tmp_path / "m.dae"
    path.write_text(text)
    assert read_mesh(path) is None


def robot(folder: Path, *references: str) -> Path:
    """A robot with these meshes."""
    shapes = "".join(f'<visual><geometry><mesh filename="{one}"/></geometry></visual>' for one in references)
    path = folder / "r.urdf"
    path.write_text(f'<robot name="r"><link name="a">{shapes}</link></robot>')
    return path


def test_readers_say_which_meshes_are_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.dae", "b.stl", "c.step"):
        (tmp_path / name).write_text("")
    path = robot(tmp_path, "a.dae", "b.stl", "c.step", "d.stl", "package://p/e.obj", "package://p/f.obj")
    expected = [
        "only .stl, .obj, .msh, .dae can be drawn: c.step",
        "not found: d.stl",
        "not found; give the folder of packages as --package-root, 2 times: e.obj, f.obj",
    ]
    assert [one.message for one in load_urdf(path).report.of(FindingKind.MESH)] == expected
    assert load_urdf(path).report.summary() == "meshes not drawn (4)"
    monkeypatch.setattr(meshes, "find_spec", lambda name: None)
    without = "Collada needs the extra mesh: pip install 'kinegraph[mesh]': a.dae"
    assert [one.message for one in load_urdf(path).report.of(FindingKind.MESH)] == [without, *expected]
