"""Mesh files: what they hold, and files that are not meshes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinegraph.errors import ModelError
from kinegraph.io import meshes as polygons
from kinegraph.io.meshes import cut_as_mujoco, read_mesh_file, triangulated
from kinegraph.io.mjcf import load_mjcf
from kinegraph.model.report import FindingKind
from tests.effort import SOAK
from tests.io.mesh_numbers import NUMBERS, compared, difference, model, own_numbers, solid

MESHES = Path(__file__).parent / "data" / "mjcf" / "meshes"


def comb(x: float) -> np.ndarray:
    """A polygon with teeth, its first corner at x in both directions."""
    outline = [(0, 0), (5, 0), (5, 3), (4, 3), (4, 1), (3, 1), (3, 3), (2, 3), (2, 1), (1, 1), (1, 3), (0, 3)]
    return np.array([(a + x, 2.0, b + x) for a, b in outline], dtype=float)


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
    corners = comb(0)
    areas = [np.cross(corners[j] - corners[i], corners[k] - corners[i])[1] / 2 for i, j, k in triangulated(corners)]
    assert len(areas) == 10 and min(-area for area in areas) > 0
    assert sum(areas) == pytest.approx(-11)


def test_solids_of_polygons_out_of_plane_weigh_what_mujoco_says(tmp_path: Path) -> None:
    """Faces of five to eleven corners that do not lie in a plane: masses differed by up to some per cent."""
    for number, known in enumerate(json.loads(NUMBERS.read_text("utf-8"))):
        (tmp_path / "m.obj").write_text(known["obj"], "utf-8")
        for rule, numbers in known["rules"].items():
            own = own_numbers(tmp_path, "m.obj", rule)
            assert own is not None and difference(own, numbers) < 1e-9, (number, rule)


@pytest.mark.skipif(importlib.util.find_spec("mujoco") is None, reason="MuJoCo is not installed")
def test_random_solids_agree_with_mujoco(tmp_path: Path) -> None:
    """Other solids than those whose numbers are stored, by all four rules. MuJoCo refuses inertia no real body has."""
    files = [tmp_path / f"m{seed}.obj" for seed in range(1000, 1200 if SOAK else 1005)]
    for seed, file in enumerate(files, start=1000):
        file.write_text(solid(seed), "utf-8")
    for file, rule, found in compared(files):
        refused = found == "refused" or (rule == "exact" and found == "refused by MuJoCo")
        assert refused or (isinstance(found, float) and found < 1e-9), (file.name, rule, found)


def test_mujoco_cuts_polygons_by_where_the_origin_lies() -> None:
    """As in MuJoCo 4.0: the same polygon elsewhere loses most of its triangles."""
    whole, torn = (cut_as_mujoco(comb(x)) for x in (0, -10))
    assert whole[:4] == [(1, 2, 3), (1, 3, 4), (1, 4, 5), (5, 6, 7)] and len(whole) == 10
    assert torn == [(4, 5, 6), (8, 9, 10)]


def test_a_mesh_that_mujoco_tears_is_told(tmp_path: Path) -> None:
    """The mass is MuJoCo's, and the report says that faces are missing in it."""
    ends = np.concatenate([comb(-10), comb(-10) + np.array([0, 1, 0])])
    faces = [range(12), range(23, 11, -1), *([i, 12 + i, 12 + (i + 1) % 12, (i + 1) % 12] for i in range(12))]
    lines = [f"v {x} {y} {z}" for x, y, z in ends] + ["f " + " ".join(str(i + 1) for i in face) for face in faces]
    (tmp_path / "m.obj").write_text("\n".join(lines), "utf-8")
    (tmp_path / "model.xml").write_text(model("m.obj", "legacy"), "utf-8")
    (found,) = load_mjcf(tmp_path / "model.xml").report.of(FindingKind.INERTIA)
    assert "MuJoCo drops part of one face of the mesh m" in found.message


def test_a_polygon_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polygons, "_MOST_TRIED", 8)
    with pytest.raises(ValueError, match="a face of 12 vertices takes too long"):
        cut_as_mujoco(comb(0))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.stl", b"", "an STL file has 84 bytes"),
        ("a.stl", bytes(80) + b"\x02\x00\x00\x00" + bytes(50), "an STL file has 84 bytes"),
        ("a.msh", b"", "cannot be read as a mesh"),
        ("a.msh", b"\xff" * 32, "an MSH file has 16 bytes"),
        ("a.obj", b"v 1 2\nv 1 2 3\n", "cannot be read as a mesh"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n", "a vertex index that does not exist"),
        ("a.obj", b"v 0 0 0\nf 1 1 -7\n", "a vertex index that does not exist"),
        ("a.obj", b"v 0 0 nan\nf 1 1 1\n", "a vertex is not finite"),
        ("a.dae", b"<COLLADA/>", "the mesh format .dae"),
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
