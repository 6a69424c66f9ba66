"""USD Physics: what is written is read back, units, scales, loops, and what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import ModelError
from kinegraph.io import write
from kinegraph.io.options import RobotFileOptions
from kinegraph.io.usd import load_usd, write_usd
from kinegraph.model.evaluate import number
from kinegraph.model.poses import pose
from kinegraph.model.report import FindingKind
from tests.io.robot_numbers import Derived

pytest.importorskip("pxr")

ARM = """
parameters g = 9.81;
coordinates shoulder = 0.3, reach = 0.1, wrist = -0.2;
gravity 0, 0, -g;
Post  |                                 | ;
Upper~Post | Sz(0.4), Rx(0.5), Rz(shoulder) | Sx(0.25), m(2), Jx(0.02), Jy(0.04), Jz(0.05), Jxy(0.003);
Rod~Upper  | Sx(0.5), Ry(pi/2), Sz(reach), Rz(0.3) | Sz(0.1), m(0.7), Jx(0.01), Jy(0.01), Jz(0.002);
Hand~Rod   | Sz(0.2), Ry(wrist)             | Sx(0.05), Rz(0.4), m(0.4), Jx(0.001), Jy(0.002), Jz(0.002);
"""
FREE = """
coordinates x = 1, y = 2, z = 3;
quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (0.5, 0.5, 0.5, 0.5);
gravity 0, -9.81, 0;
Box | Sx(x), Sy(y), Sz(z), Q(e0, e1, e2, e3) | Sx(0.1), m(2), Jx(0.1), Jy(0.2), Jz(0.15);
"""

BARS = """
coordinates crank = 1, elbow = -0.5, rocker = 1.5;
gravity 0, -9.81, 0;
Crank         | Rz(crank)            | Sx(0.25), m(1), Jz(0.02);
Coupler~Crank | Sx(0.5), Rz(elbow)   | Sx(0.6), m(2.4), Jz(0.3);
Rocker        | Sx(1), Rz(rocker)    | Sx(0.4), m(1.6), Jz(0.1);
loop pin | revolute | Coupler: Sx(1.2) | Rocker: Sx(0.8);
"""


def written(mechanism: kg.Mechanism, folder: Path) -> Path:
    path = folder / "robot.usda"
    path.write_text(write_usd(mechanism).text)
    return path


def state(mechanism: kg.Mechanism, names: tuple[str, ...], seed: int = 3) -> dict[str, float]:
    draw = np.random.default_rng(seed)
    return dict(zip(names, draw.normal(size=len(names)).tolist(), strict=True))


def assert_same(first: kg.Mechanism, second: kg.Mechanism, quantities: tuple[str, ...]) -> None:
    """Equal numbers to single precision at a random state; coordinates have the same names."""
    assert set(first.layout.positions) == set(second.layout.positions)
    values = state(first, (*first.layout.positions, *first.layout.velocities))
    found = []
    for one in (first, second):
        layout = one.layout
        numbers = Derived(one, quantities).at(
            [values[n] for n in layout.positions], [values[n] for n in layout.velocities]
        )
        order = [layout.velocities.index(name) for name in first.layout.velocities]
        found.append({word: _ordered(value, order) for word, value in numbers.items()})
    for word in quantities:
        scale = np.abs(found[0][word]).max() or 1.0
        np.testing.assert_allclose(found[1][word], found[0][word], rtol=0, atol=3e-6 * scale)


def _ordered(value: np.ndarray, order: list[int]) -> np.ndarray:
    if value.shape == (len(order),):
        return value[order]
    return value[np.ix_(order, order)] if value.shape == (len(order),) * 2 else value


def test_a_tree_is_read_back(tmp_path: Path) -> None:
    arm = kg.parse(ARM)
    again = kg.load(written(arm, tmp_path))
    assert_same(arm, again, ("H", "qdd", "pose:Hand", "gravity"))
    starts = {one.name: float(one.position.value) for one in again.coordinates}  # type: ignore[union-attr]
    assert starts == pytest.approx({"shoulder": 0.3, "reach": 0.1, "wrist": -0.2}, abs=1e-6)


@pytest.mark.parametrize("name", ["puma560", "stanford", "rackovic-14r"])
def test_the_library_is_read_back(name: str, tmp_path: Path) -> None:
    mechanism = kg.load(name)
    assert_same(mechanism, kg.load(written(mechanism, tmp_path)), ("H", "gravity"))


def test_loops_are_joints_excluded_from_the_articulation(tmp_path: Path) -> None:
    bars = kg.parse(BARS)
    path = written(bars, tmp_path)
    assert path.read_text().count("physics:excludeFromArticulation = 1") == 1
    again = kg.load(path)
    assert [loop.name for loop in again.loops] == ["pin"]
    crank = {"crank": 1.0, "crank'": 2.0}
    one, other = (kg.assemble(model, crank) for model in (bars, again))
    found = [kg.compile(model, "qdd")(at.q, at.v, [0, 0, 0]) for model, at in ((bars, one), (again, other))]
    named = [
        dict(zip(model.layout.positions, qdd, strict=True)) for model, qdd in zip((bars, again), found, strict=True)
    ]
    assert named[1] == pytest.approx(named[0], rel=1e-5)
    tree = load_usd(path, RobotFileOptions(equalities=False))
    assert not tree.mechanism.loops and "loops" in tree.report.summary()


def test_a_free_body_starts_where_the_stage_puts_it(tmp_path: Path) -> None:
    robot = load_usd(written(kg.parse(FREE), tmp_path))
    x, y, z, group = robot.mechanism.coordinates
    assert [float(one.position.value) for one in (x, y, z)] == [1, 2, 3]  # type: ignore[union-attr]
    assert [float(one.value) for one in group.position] == pytest.approx([0.5] * 4)  # type: ignore[union-attr]
    assert [float(one.value) for one in robot.mechanism.gravity] == pytest.approx([0, -9.81, 0])  # type: ignore[union-attr]


def stage(body: str, joint: str = "", units: str = "") -> str:
    return f"""#usda 1.0
(
    defaultPrim = "R"
    upAxis = "Z"
    {units}
)
def Xform "R" {{
    {body}
    {joint}
}}
"""


BALL = """def Xform "Bob" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"%s]) {
    double3 xformOp:translate = (%s, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    float physics:mass = 2
    float3 physics:diagonalInertia = (%s, %s, %s)
    point3f physics:centerOfMass = (0, 0, 0)
    %s
}"""
HINGE = """def PhysicsRevoluteJoint "pin" %s {
    rel physics:body1 = </R/Bob>
    point3f physics:localPos1 = (%s, 0, 0)
    uniform token physics:axis = "Y"
    float physics:lowerLimit = -90
    float physics:upperLimit = 90
    %s
}"""

LOOSE = """def PhysicsJoint "j" {
    rel physics:body1 = </R/Bob>
}"""


def shape(kind: str, sizes: str, name: str = "Solid", schemas: str = "") -> str:
    return f'def {kind} "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"{schemas}]) {{\n{sizes}\n}}\n'


def rigid(inner: str, schemas: str = "", more: str = "") -> str:
    return f'def Xform "Bob" (prepend apiSchemas = ["PhysicsRigidBodyAPI"{schemas}]) {{\n{more}\n{inner}\n}}\n'


MASSES = ', "PhysicsMassAPI"'
CUBE = """point3f[] points = [(-1,-1,-1),(1,-1,-1),(1,1,-1),(-1,1,-1),(-1,-1,1),(1,-1,1),(1,1,1),(-1,1,1)]
int[] faceVertexCounts = [4,4,4,4,4,4]
int[] faceVertexIndices = [0,3,2,1, 4,5,6,7, 0,1,5,4, 1,2,6,5, 2,3,7,6, 3,0,4,7]
uniform token physics:approximation = "{}" """


def test_units_become_meters_kilograms_and_radians(tmp_path: Path) -> None:
    """A pendulum of 2 kg, 0.5 m long, in centimeters and grams, and the same in meters."""
    small = stage(BALL % ("", "50", "20", "20", "20", ""), HINGE % ("", "-50", ""), "metersPerUnit = 0.01")
    plain = stage(BALL % ("", "0.5", "0.002", "0.002", "0.002", ""), HINGE % ("", "-0.5", ""), "metersPerUnit = 1")
    found = []
    for text in (small, plain):
        path = tmp_path / "pendulum.usda"
        path.write_text(text)
        mechanism = kg.load(path)
        (limits,) = mechanism.extras
        assert float(limits.upper.value) == pytest.approx(np.pi / 2)  # type: ignore[union-attr]
        found.append(Derived(mechanism, ("H", "gravity")).at([0.3]))
    for word in ("H", "gravity"):
        np.testing.assert_allclose(found[0][word], found[1][word], rtol=1e-12)
    np.testing.assert_allclose(found[1]["H"], [[2 * 0.25 + 0.002]], rtol=1e-12)
    np.testing.assert_allclose(np.abs(found[1]["gravity"]), [2 * 9.81 * 0.5 * np.cos(0.3)], rtol=1e-12)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    path = tmp_path / "pendulum.usda"
    drive = HINGE % ('(prepend apiSchemas = ["PhysicsDriveAPI:angular"])', "-0.5", "float physics:breakForce = 5")
    body = BALL % (', "PhysxRigidBodyAPI"', "0.5", "1", "1", "1", "vector3f physics:velocity = (1, 0, 0)")
    path.write_text(stage(body, drive))
    report = load_usd(path).report
    told = str(report)
    for words in ("drives", "PhysxRigidBodyAPI", "physics:velocity of a body", "physics:breakForce of a joint"):
        assert words in told
    assert report.of(FindingKind.ASSUMED)  # gravity


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("#usda 1.0\n", "no rigid bodies"),
        ("#usda 1.0\ndef {", "not a readable USD file"),
        (stage(BALL % ("", "0", "1", "1", "1", ""), HINGE.replace("Revolute", "Distance") % ("", "0", "")), "Distance"),
        (stage(BALL % ("", "0", "1", "1", "1", ""), LOOSE.replace("Bob", "No")), "does not exist"),
        (stage(BALL.replace("physics:diagonalInertia", "user:x") % (', "PhysicsCollisionAPI"', "0", "1", "1", "1", "")),
         "computed from /R/Bob, a Xform"),
        (stage(rigid(shape("Cone", "double radius = 1"))), "computed from /R/Bob/Solid, a Cone"),
        (stage(rigid(shape("Mesh", CUBE.replace("2,3,7,6", "2,3,7,60").format("none")))), "faces name no points"),
        (stage(rigid(shape("Mesh", CUBE.format("boundingCube")))), "approximated by boundingCube"),
        (stage(rigid(shape("Cube", "double size = 0"))), "a shape without volume"),
        (stage(rigid(shape("Sphere", "double radius = 1e308"))), "a size beyond all measure"),
        (stage(rigid(shape("Sphere", "double radius = None"))), "sizes or an axis of another type"),
        (stage(rigid(shape("Mesh", CUBE.replace("[4,4,4,4,4,4]", "[4,4,-4,4,4,4]").format("none")))), "not possible"),
        (stage((BALL % ("", "0", "1", "1", "1", "")).replace("(0, 0, 0)", "(nan, 0, 0)", 1)), "not finite"),
        (stage(BALL % ("", "0", "1", "1", "1", ""), (HINGE % ("", "0", "")).replace('"Y"', '"Q"')), "write X, Y or Z"),
    ],
)  # fmt: skip
def test_errors_name_the_prim_and_the_remedy(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.usda"
    path.write_text(text)
    with pytest.raises(ModelError, match=words):
        kg.load(path)


def test_layers_outside_the_folder_are_refused(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "other.usda").write_text(stage(BALL % ("", "0", "1", "1", "1", "")))
    (inner / "top.usda").write_text("#usda 1.0\n(\n subLayers = [@../other.usda@]\n)\n")
    with pytest.raises(ModelError, match="outside its folder"):
        kg.load(inner / "top.usda")
    assert kg.load(inner / "top.usda", package_roots=[tmp_path]).bodies


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("coordinates q; spring s | on(q), stiffness(2); B | Rz(q) | Sx(1), m(1), Jz(1);", "only bodies and joints"),
        ("coordinates p, q; B | Rz(p), Ry(q) | Sx(1), m(1), Jz(1);", "several joints on its base"),
        (kg.write("four-bar"), "Coupler"),
        ("coordinates q; A | Rz(q) | Sx(1), m(1), Jz(1); B | Ry(q) | Sx(1), m(1), Jz(1);", "drives several joints"),
    ],
)
def test_what_usd_does_not_support_is_refused(text: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        write_usd(kg.parse(text))


def test_export_writes_usd(tmp_path: Path) -> None:
    (path,) = kg.export("puma560", "tau", "usd", tmp_path).files
    assert kg.load(path).layout.positions == kg.load("puma560").layout.positions


def inertia_of(text: str, folder: Path) -> np.ndarray:
    """Mass, center, and the tensor at the center of the only body, in its axes."""
    path = folder / "shapes.usda"
    path.write_text(text)
    inertia = load_usd(path, RobotFileOptions(right_angles=False)).mechanism.bodies[0].inertia
    turn, center = pose(inertia.central)
    moments = np.diag([number(one, {}) for one in (inertia.Jx, inertia.Jy, inertia.Jz)])
    return np.array([number(inertia.mass, {}), *center, *(turn @ moments @ turn.T)[np.triu_indices(3)]])


@pytest.mark.parametrize(
    ("solids", "more", "expected"),
    [
        (shape("Sphere", "double radius = 0.5"), "",
         [523.5987756, 0, 0, 0, 52.35987756, 0, 0, 52.35987756, 0, 52.35987756]),
        (shape("Sphere", "double radius = 0.5"), "float physics:mass = 2", [2, 0, 0, 0, 0.2, 0, 0, 0.2, 0, 0.2]),
        (shape("Cube", "double size = 2"), "float physics:density = 3", [24, 0, 0, 0, 16, 0, 0, 16, 0, 16]),
        (shape("Mesh", CUBE.format("none")), "float physics:density = 3", [24, 0, 0, 0, 16, 0, 0, 16, 0, 16]),
        (shape("Mesh", CUBE.format("convexHull")), "float physics:density = 3", [24, 0, 0, 0, 16, 0, 0, 16, 0, 16]),
        (shape("Cylinder", 'double radius = 1; double height = 2; uniform token axis = "X"'), "float physics:mass = 12",
         [12, 0, 0, 0, 6, 0, 0, 7, 0, 7]),
        (shape("Cube", 'double size = 1; double3 xformOp:scale = (1, 2, 4); double3 xformOp:translate = (0.5, 0, 0); '
               'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]'), "float physics:mass = 12",
         [12, 0.5, 0, 0, 20, 0, 0, 17, 0, 5]),
        (shape("Cube", "double size = 1; float physics:mass = 1", "A", ', "PhysicsMassAPI"')
         + shape("Cube", 'double size = 1; float physics:mass = 3; double3 xformOp:translate = (0, 2, 0); '
                 'uniform token[] xformOpOrder = ["xformOp:translate"]', "B", ', "PhysicsMassAPI"'), "",
         [4, 0, 1.5, 0, 4 / 6 + 3, 0, 0, 4 / 6, 0, 4 / 6 + 3]),
    ],
)  # fmt: skip
def test_mass_that_is_not_stated_is_that_of_the_collision_shapes(
    solids: str, more: str, expected: list[float], tmp_path: Path
) -> None:
    found = inertia_of(stage(rigid(solids, MASSES, more), units="metersPerUnit = 1"), tmp_path)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_masses_of_shapes_are_in_the_units_of_the_stage(tmp_path: Path) -> None:
    """A cube of 100 cm and 1000 kg/m^3."""
    text = stage(rigid(shape("Cube", "double size = 100")), units="metersPerUnit = 0.01")
    np.testing.assert_allclose(inertia_of(text, tmp_path)[[0, 4]], [1000, 1000 / 6], rtol=1e-6)


GENERAL = """def PhysicsJoint "General" (prepend apiSchemas = [{}]) {{
    rel physics:body1 = </R/Bob>
    {}
}}"""


def general(*locked: str, more: str = "") -> str:
    names = ", ".join(f'"PhysicsLimitAPI:{one}"' for one in locked)
    ends = "\n".join(f"float limit:{one}:physics:low = 1\nfloat limit:{one}:physics:high = -1" for one in locked)
    return GENERAL.format(names, ends + more)


@pytest.mark.parametrize(
    ("locked", "coordinates"),
    [
        (("transX", "transY", "transZ", "rotX", "rotY"), ("General",)),
        (("transY", "transZ", "rotX", "rotY", "rotZ"), ("General",)),
        (("transX", "transY", "transZ", "rotZ"), ("General_rotX", "General_rotY")),
        (("transY", "transZ", "rotY", "rotZ"), ("General_transX", "General_rotX")),
        (("rotX", "rotY", "rotZ"), ("General_transX", "General_transY", "General_transZ")),
        (("transX",), ("General_transY", "General_transZ", "General_e0", "General_e1", "General_e2", "General_e3")),
    ],
)
def test_general_joints_move_in_their_free_directions(
    locked: tuple[str, ...], coordinates: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "general.usda"
    path.write_text(stage(BALL % ("", "0", "1", "1", "1", ""), general(*locked)))
    mechanism = kg.load(path)
    assert mechanism.layout.positions == coordinates
    height = "General_rotY" if "General_rotY" in coordinates else coordinates[0]
    assert np.isfinite(kg.simulate(mechanism, 0.1, times=2, progress=False)[height]).all()


def test_a_general_joint_may_name_the_inner_body_second(tmp_path: Path) -> None:
    """Its motion is reversed; along axes of a body that turns freely, that is not possible."""
    path = tmp_path / "general.usda"
    turned = general("transX", "transZ", "rotX").replace("body1", "body0")
    path.write_text(stage(BALL % ("", "0", "1", "1", "1", ""), turned))
    (body,) = kg.load(path).bodies
    assert write(kg.load(path)).count("Bob | Rz(-General_rotZ), Ry(-General_rotY), Sy(-General_transY)") == 1 and body
    path.write_text(stage(BALL % ("", "0", "1", "1", "1", ""), general("transX").replace("body1", "body0")))
    with pytest.raises(ModelError, match="along axes of the outer of its bodies"):
        kg.load(path)


def test_general_joints_start_where_the_stage_puts_them(tmp_path: Path) -> None:
    """Rotations about X, then Y: the pose of the body is that of the stage."""
    (c, s), (d, r) = ((np.cos(half), np.sin(half)) for half in (0.3, 0.2))
    turn = f"quatd xformOp:orient = ({c * d}, {s * d}, {c * r}, {s * r})"
    body = (BALL % ("", "0", "1", "1", "1", turn)).replace('["xformOp:translate"]', '["xformOp:orient"]')
    path = tmp_path / "general.usda"
    path.write_text(stage(body, general("transX", "transY", "transZ", "rotZ")))
    mechanism = kg.load(path)
    values = [number(one.position, {}) for one in mechanism.coordinates]
    np.testing.assert_allclose(values, [0.6, 0.4], atol=1e-7)
    assert "miss" not in str(mechanism.report)
