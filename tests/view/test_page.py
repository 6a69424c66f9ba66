"""What a page is made of: poses, drawn parts, meshes, typeset equations, limits."""

from __future__ import annotations

import base64
import json
import re
import struct
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.cli import main
from kinegraph.compiler.request import bound_parameters
from kinegraph.errors import SolveError
from kinegraph.io.urdf import load_urdf
from kinegraph.solve.solution import Solution
from kinegraph.view.page.chain import closing_program
from kinegraph.view.page.frames import Frames, States
from kinegraph.view.page.meshes import PageMesh, coarser, json_for_html, read_mesh
from kinegraph.view.page.scene import Drawer, SceneDrawing, ellipsoid
from kinegraph.view.page.solution_page import MOST_FRAMES, drawn_rows, page, page_text

MODELS = ["double-pendulum", "kidym-biped-new", "stanford", "free-body", "heavy-top", "five-link-tree"]


def random_states(mechanism: kg.Mechanism, count: int = 4) -> np.ndarray:
    q = np.random.default_rng(1).uniform(-1, 1, (count, len(mechanism.layout.positions)))
    for start in mechanism.layout.quaternions:
        q[:, start : start + 4] /= np.linalg.norm(q[:, start : start + 4], axis=1, keepdims=True)
    return q


def frames_and_motion(mechanism: kg.Mechanism, q: np.ndarray):
    bound = bound_parameters(mechanism, True, None)
    frames = Frames(mechanism, bound)
    values = dict(zip(mechanism.layout.positions, q.T, strict=True)) | {"t": np.zeros(len(q))}
    return frames, frames.motion(values), bound


def drawing_of(mechanism: kg.Mechanism, q: np.ndarray) -> SceneDrawing:
    frames, motion, bound = frames_and_motion(mechanism, q)
    columns = dict(zip(mechanism.layout.positions, q.T, strict=True))
    columns |= {name: np.zeros(len(q)) for name in ("t", *mechanism.layout.velocities)}
    columns["t"] = np.arange(float(len(q)))
    return Drawer(mechanism, frames, motion, bound, States(columns)).draw()


@pytest.mark.parametrize("name", MODELS)
def test_bodies_and_points_stand_where_compiled_kernels_put_them(name: str) -> None:
    mechanism = kg.load(name)
    q = random_states(mechanism)
    frames, motion, _ = frames_and_motion(mechanism, q)
    wanted = [f"pose:{body.name}" for body in mechanism.bodies] + [f"pose:{point.name}" for point in mechanism.points]
    poses = kg.compile(mechanism, wanted).batch(q)
    for body in mechanism.bodies:
        rotations, positions = motion.at(frames.body(body.name))
        assert rotations == pytest.approx(poses[f"pose:{body.name}"][:, :3, :3], abs=1e-12)
        assert positions == pytest.approx(poses[f"pose:{body.name}"][:, :3, 3], abs=1e-12)
    for place, point in enumerate(mechanism.points):
        _, positions = motion.at(frames.point(place))
        assert positions == pytest.approx(poses[f"pose:{point.name}"][:, :3, 3], abs=1e-12)


def embedded(text: str) -> dict:
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)[1])


def numbers(text: str, kind: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.fixture(scope="module")
def pendulum() -> Solution:
    return kg.simulate(kg.load("double-pendulum"), 1, state={"q1": 1}, times=50, progress=False)


@pytest.fixture(scope="module")
def pendulum_text(pendulum: Solution) -> str:
    return page_text(pendulum)


def test_the_page_holds_the_motion_and_the_report(pendulum: Solution, pendulum_text: str) -> None:
    data = embedded(pendulum_text)
    assert numbers(data["times"], "<f8").tolist() == pendulum.t.tolist()
    motion = numbers(data["motion"], "<f4").reshape(51, 2, 7)
    l1 = float(pendulum.simulated.parameters["l1"].value)
    assert motion[:, 1, 0] == pytest.approx(-l1 * np.sin(pendulum["q1"]), abs=1e-6)
    assert np.linalg.norm(motion[:, :, 3:], axis=2) == pytest.approx(1, abs=1e-6)
    assert numbers(data["positions"][0]["values"], "<f4") == pytest.approx(pendulum["q1"], abs=1e-6)
    for words in ("proved equal", "relative tolerance", str(pendulum.statistics.evaluations), "Dormand-Prince"):
        assert words in pendulum_text
    assert not re.search(r"""(src|href)\s*=\s*["'](?!data:)""", pendulum_text.partition("<script")[0])


def test_equations_are_well_formed_mathml(pendulum_text: str) -> None:
    formulas = re.findall(r"<math.*?</math>", pendulum_text)
    assert len(formulas) > 20
    for formula in formulas:
        for element in ElementTree.fromstring(formula).iter():
            text_allowed = element.tag in ("mi", "mn", "mo", "mtext")
            assert text_allowed or not (element.text or "").strip(), formula
            assert not (element.tail or "").strip(), formula


def test_json_cannot_leave_its_element() -> None:
    text = json_for_html({"name": "</script><script>&\u2028"})
    assert not set("<>&") & set(text)
    assert json.loads(text)["name"] == "</script><script>&\u2028"


def test_long_runs_are_thinned(pendulum: Solution) -> None:
    many = {name: np.linspace(0, 1, 10 * MOST_FRAMES) for name in pendulum.columns}
    rows = drawn_rows(replace(pendulum, columns=many), 2)
    assert len(rows) <= MOST_FRAMES and rows[0] == 0
    assert len(drawn_rows(replace(pendulum, columns=many), 2000)) <= 110


def test_a_run_that_diverged_is_shown_up_to_there() -> None:
    found = kg.simulate(kg.load("double-pendulum"), 3, inputs={"q1": "sqrt(1-t)"}, times=60, progress=False)
    assert not found.status.good
    times = numbers(embedded(page_text(found))["times"], "<f8")
    assert 0.5 < times[-1] <= 1.01


def test_what_cannot_be_shown_is_said(pendulum: Solution, tmp_path: Path) -> None:
    with pytest.raises(SolveError, match=r"\.html"):
        page(pendulum, tmp_path / "page.pdf")
    with pytest.raises(SolveError, match=r"the folder .* does not exist"):
        page(pendulum, tmp_path / "nowhere" / "page.html")
    read = Solution.load(pendulum.save(tmp_path / "run.parquet"))
    with pytest.raises(SolveError, match="mechanism"):
        page(read, tmp_path / "page.html")


def test_the_command_writes_the_page_of_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.html"
    (tmp_path / "r.urdf").write_text(URDF.format(visual="gone.stl"))
    with pytest.raises(SystemExit) as ended:
        main(["view", str(tmp_path / "r.urdf"), "-o", str(file)])
    assert not ended.value.code and "arm.html" in capsys.readouterr().out
    (slider,) = embedded(file.read_text("utf-8"))["coordinates"]
    expected = {"name": "j", "value": 0, "lower": -1, "upper": 1, "unit": "rad", "limited": True}
    assert slider == expected


def test_the_ellipsoid_has_the_inertia_of_the_body() -> None:
    body = kg.parse("coordinates q; B | Rz(q) | m(3), Jx(2), Jy(1.5), Jz(1.2), Jxy(0.2), Jxz(0.1);").bodies[0]
    axes, halves = ellipsoid(body, {})
    a, b, c = np.square(halves)
    moments = 3 / 5 * np.diag([b + c, a + c, a + b])
    expected = [[2, -0.2, -0.1], [-0.2, 1.5, 0], [-0.1, 0, 1.2]]
    assert axes @ moments @ axes.T == pytest.approx(np.array(expected))
    assert np.linalg.det(axes) == pytest.approx(1)


def test_links_are_bars_between_joints_and_springs_join_their_points() -> None:
    mechanism = kg.parse("""
        coordinates q1, q2;
        A   | Ry(q1)         | Sz(-0.5), m(1);
        B~A | Sz(-1), Ry(q2) | Sz(-0.4), m(1);
        output tip = B (0, 0, -0.8);
        spring s | between(tip, (1, 0, 0)), stiffness(10);
    """)
    parts = drawing_of(mechanism, np.zeros((2, 2))).parts
    bars = {(part["link"], tuple(part["to"])) for part in parts if part["kind"] == "bar"}
    assert (1, (0.0, 0.0, -1.0)) in bars and (2, (0.0, 0.0, -0.8)) in bars
    assert [part["kind"] for part in parts if part["kind"] != "bar"] == ["revolute", "revolute", "spring"]
    assert parts[-1]["ends"][0] == {"link": 2, "position": [0.0, 0.0, -0.8]}


URDF = """<robot name="r"><link name="base"/>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="{visual}" scale="2 2 2"/></geometry></visual>
  <collision><origin xyz="0 0 0.5"/><geometry><box size="0.1 0.2 1"/></geometry></collision></link></robot>"""

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1//1 2//1 4//1\nf -4 -1 -2\nf 2 3 4\n"


@pytest.mark.parametrize(("visual", "kinds"), [("tetra.obj", ["mesh"]), ("gone.stl", ["box"]), ("tetra.dae", ["box"])])
def test_shapes_of_a_robot_are_drawn_and_missing_meshes_replaced(visual: str, kinds: list[str], tmp_path: Path) -> None:
    (tmp_path / "tetra.obj").write_text(TETRAHEDRON)
    (tmp_path / "tetra.dae").write_text("<COLLADA/>")
    (tmp_path / "r.urdf").write_text(URDF.format(visual=visual))
    mechanism = load_urdf(tmp_path / "r.urdf").mechanism
    drawing = drawing_of(mechanism, np.zeros((1, 1)))
    assert [part["kind"] for part in drawing.parts if "sizes" in part] == kinds
    assert len(drawing.meshes) == (kinds == ["mesh"])


def test_meshes_are_read_and_made_coarser(tmp_path: Path) -> None:
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype="<f4")
    faces = [corners[[0, 1, 2]], corners[[1, 3, 2]]]
    record = b"".join(struct.pack("<3f", 0, 0, 1) + face.tobytes() + b"\0\0" for face in faces)
    (tmp_path / "binary.stl").write_bytes(b"solid".ljust(80) + struct.pack("<I", 2) + record)
    lines = "".join(f"vertex {x} {y} {z}\n" for face in faces for x, y, z in face)
    (tmp_path / "text.stl").write_text(f"solid s\n{lines}endsolid")
    (tmp_path / "tetra.obj").write_text(TETRAHEDRON)
    for name, size in {"binary.stl": (4, 2), "text.stl": (4, 2), "tetra.obj": (4, 4)}.items():
        mesh = read_mesh(tmp_path / name)
        assert mesh and (len(mesh.corners), len(mesh.triangles)) == size
    (tmp_path / "broken.stl").write_bytes(b"\xff" * 90)
    (tmp_path / "wrong.obj").write_text("v 0 0 0\nf 1 2 7\n")
    assert read_mesh(tmp_path / "broken.stl") is None and read_mesh(tmp_path / "wrong.obj") is None
    grid = np.stack(np.meshgrid(np.arange(60.0), np.arange(60.0), [0.0]), -1).reshape(-1, 3)
    square = np.array([(k, k + 1, k + 60) for k in range(60 * 59) if k % 60 < 59], dtype=np.uint32)
    small = coarser(PageMesh(grid, square), 500)
    assert 100 < len(small.triangles) <= 500
    assert np.ptp(small.corners, axis=0) == pytest.approx([59, 59, 0], abs=6)


def test_a_page_with_sliders_says_what_they_do_with_loops(tmp_path, monkeypatch):
    follows, opens = "follow to keep loops closed", "sliders move single coordinates and do not keep loops closed"
    bars = kg.view("four-bar", tmp_path / "bars.html").read_text(encoding="utf-8")
    assert follows in bars and opens not in bars
    arm = kg.view("double-pendulum", tmp_path / "arm.html").read_text(encoding="utf-8")
    assert follows not in arm and opens not in arm
    monkeypatch.setattr(sys.modules["kinegraph.view.page.chain"], "MOST_NODES", 3)
    assert opens in kg.view("four-bar", tmp_path / "bars.html").read_text(encoding="utf-8")


def test_the_program_of_a_page_is_the_rows_and_their_jacobian():
    """Rows of velocities alone (a wheel) are none of its rows."""
    mechanism = kg.load("bricard")
    q = Assembler(mechanism).assemble().q + 0.01
    names = list(mechanism.layout.positions)
    bound = bound_parameters(mechanism, True, None)
    program = closing_program(mechanism, bound, dict(zip(names, q, strict=True)), names)
    conditions = Assembler(mechanism).conditions()
    value, jacobian = conditions.value(q), conditions.jacobian(q)
    known = page_values(program["nodes"], q)
    kept = np.flatnonzero(value)
    assert [known[node] for node in program["rows"]] == pytest.approx(value[kept], abs=1e-14)
    found = np.array([[known[node] for node in row] for row in program["jacobian"]])
    assert found == pytest.approx(jacobian[kept], abs=1e-13)
    assert closing_program(kg.load("knife-edge"), {}, {}, ["x"]) is None


def page_values(nodes, values):
    """What the script of a page computes."""
    known = []
    for node in nodes:
        if not isinstance(node, list):
            known.append(node)
        elif node[0] == "q":
            known.append(values[node[1]])
        elif node[0] == "+":
            products = (
                c * np.prod([known[a] ** b for a, b in zip(f[::2], f[1::2], strict=True)]) for c, *f in node[1:]
            )
            known.append(sum(products))
        else:
            known.append({"sin": np.sin, "cos": np.cos}[node[0]](known[node[1]]))
    return known


def test_events_are_listed_and_their_names_are_text(tmp_path):
    run = kg.simulate("double-pendulum", 1, events={"<b>low": "q1 - q2"}, times=20, progress=False, native=False)
    text = page(run, tmp_path / "run.html").read_text()
    assert len(run.events) > 0 and "<b>low" not in text and "&lt;b&gt;low" in text
    assert text.count('<button type="button" data-time=') == len(run.events)
