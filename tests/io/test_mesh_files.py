"""Mesh files: what they hold, and what is no mesh."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import ModelError
from kinegraph.io.robot.mesh_files import read_mesh_file
from kinegraph.io.robot.polygons import triangulated

MESHES = Path(__file__).parent / "data" / "mjcf" / "meshes"


def test_formats_agree() -> None:
    """The bracket is stored as OBJ, with a second object, and as MSH; as a surface they are the same."""
    obj, msh = read_mesh_file(MESHES / "bracket.obj"), read_mesh_file(MESHES / "bracket.msh")
    assert len(obj.corners) == 16 and len(msh.corners) == 12
    assert len(obj.triangles) == len(msh.triangles) + 4 and len(obj.first_object) == len(msh.triangles)
    assert np.array_equal(obj.corners[:12], msh.corners)
    wedge = read_mesh_file(MESHES / "wedge.stl")
    assert wedge.triangles.shape == (8, 3) and wedge.corners.max() == 1


def test_stl_as_text(tmp_path: Path) -> None:
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\nendloop\nendfacet\n"
    (tmp_path / "a.STL").write_text(f"solid a\n{facet}endsolid\n", "utf-8")
    mesh = read_mesh_file(tmp_path / "a.STL")
    assert mesh.corners.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]] and mesh.triangles.tolist() == [[0, 1, 2]]


def test_polygons_are_cut_inside_their_outline() -> None:
    """A comb with teeth: fans from a corner would leave it, ears do not; the areas add up."""
    outline = [(0, 0), (5, 0), (5, 3), (4, 3), (4, 1), (3, 1), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]
    corners = np.array([(x, 2.0, y) for x, y in outline], dtype=float)
    areas = [np.cross(corners[j] - corners[i], corners[k] - corners[i])[1] / 2 for i, j, k in triangulated(corners)]
    assert len(areas) == 10 and min(-area for area in areas) > 0
    assert sum(areas) == pytest.approx(-11)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.stl", b"", "an STL file has 84 bytes"),
        ("a.stl", bytes(80) + b"\x02\x00\x00\x00" + bytes(50), "an STL file has 84 bytes"),
        ("a.msh", b"", "cannot be read as a mesh"),
        ("a.msh", b"\xff" * 32, "an MSH file has 16 bytes"),
        ("a.obj", b"v 1 2\nv 1 2 3\n", "cannot be read as a mesh"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "a corner that does not exist"),
        ("a.obj", b"v 0 0 0\nf 1 1 -7\n", "a corner that does not exist"),
        ("a.obj", b"v 0 0 nan\nf 1 1 1\n", "a corner is not finite"),
        ("a.dae", b"<COLLADA/>", "of a format that is not read"),
    ],
)
def test_damaged_files_are_told(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelError, match=message):
        read_mesh_file(tmp_path / name)


@given(st.sampled_from([".stl", ".obj", ".msh"]), st.binary(max_size=300), st.binary(max_size=20))
def test_rubbish_is_refused_or_read(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, head: bytes, tail: bytes
) -> None:
    file = tmp_path_factory.getbasetemp() / f"rubbish{suffix}"
    file.write_bytes(head + b"\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n" + tail)
    try:
        mesh = read_mesh_file(file)
    except ModelError:
        return
    assert np.isfinite(mesh.corners).all()
