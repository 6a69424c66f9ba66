"""Compliant contacts: distances by another method, momentum, energy, contact models in closed form."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

import kinegraph as kg
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.errors import DerivationError, ModelError
from kinegraph.io import parse, write
from kinegraph.model import Builder, Sz, capsule, inertia, plane, sphere
from tests.interpreted import interpreted
from tests.mechanisms import Floats

TWO_BODIES = """
coordinates ax, ay, az, bx, by, bz;
quaternion (a0, a1, a2, a3) velocity (au, av, aw);
quaternion (b0, b1, b2, b3) velocity (bu, bv, bw);
A | Sx(ax), Sy(ay), Sz(az), Q(a0, a1, a2, a3) | m(2), Jx(0.1), Jy(0.2), Jz(0.15);
B | Sx(bx), Sy(by), Sz(bz), Q(b0, b1, b2, b3) | m(3), Jx(0.3), Jy(0.2), Jz(0.4);
contact touch | {} | stiffness(1000), damping(0.3), friction(0.4), slip(0.02){};
"""
#: Radii are so large that the shapes always overlap.
SHAPES = {
    "sphere-sphere": "sphere(A(0.1, 0, 0.2), 2), sphere(B(0, 0.1, 0), 3)",
    "capsule-sphere": "capsule(A(-1, 0, 0.2), A(1, 0.3, 0), 2), sphere(B(0, 0.1, 0), 3)",
    "sphere-capsule": "sphere(A(0.1, 0, 0.2), 2), capsule(B(0, -1, 0), B(0.2, 1, 0.1), 3)",
    "capsule-capsule": "capsule(A(-1, 0, 0.2), A(1, 0.3, 0), 2), capsule(B(0, -1, 0), B(0.2, 1, 0.1), 3)",
    "sphere-plane": "sphere(A(0.1, 0, 0.2), 9), plane(B(0, 0.1, 0), (1, 2, 2))",
    "plane-capsule": "plane(A(0.1, 0, 0.2), (0, 0, 1)), capsule(B(0, -1, 0), B(0.2, 1, 0.1), 9)",
    "sphere-torus": "sphere(A(0.1, 0, 0.2), 2), torus(B(0, 0.1, 0), (0, 3, 4), 1.5, 3)",
    "arc-sphere": "arc(A(0.1, 0, 0.2), (0, 0, 1), (1, 1, 0.3), 0.7, pi/5, 2), sphere(B(0, 0.1, 0), 3)",
    "sphere-cylinder": "sphere(A(0.1, 0, 0.2), 3), cylinder(B(0, -0.3, 0), B(0.1, 0.3, 0.1), 0.2)",
    "plane-cylinder": "plane(A(0.1, 0, 5), (0, 0, 1)), cylinder(B(0, -1, 0), B(0.2, 1, 0.1), 0.7)",
    "torus-plane": "torus(A(0.1, 0, 0.2), (0, 0, 1), 5, 4), plane(B(0, 0.1, 0), (1, 2, 2))",
}


@cache
def mechanism(shapes: str, more: str = "") -> kg.Mechanism:
    return parse(TWO_BODIES.format(SHAPES[shapes], more))


def state(seed: int) -> tuple[Floats, Floats]:
    random = np.random.default_rng(seed)
    q = random.uniform(-1, 1, 14)
    for start in (6, 10):
        q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q, random.uniform(-1, 1, 12)


def turn(e: Floats) -> Floats:
    w, x, y, z = e
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def placed(q: Floats, body: str, point: Floats | tuple[float, float, float]) -> Floats:
    """The position of a point of a body, or of each row of points."""
    start, of = (0, 6) if body == "A" else (3, 10)
    return q[start : start + 3] + np.asarray(point) @ turn(q[of : of + 4]).T


@cache
def kernel(shapes: str) -> InterpretedKernel:
    """All quantities of two shapes, derived once."""
    return interpreted(mechanism(shapes), "qdd,power,energy,momentum,forces,contact:touch,effort:touch")


def at(shapes: str, q: Floats, v: Floats) -> dict[str, Floats]:
    """Zero joint forces."""
    found: dict[str, Floats] = kernel(shapes)(q, v, np.zeros(12))
    return found


@pytest.mark.parametrize("shapes", SHAPES)
def test_action_is_reaction_and_energy_is_stored_or_lost(shapes: str) -> None:
    """Internal contacts of free bodies preserve momentum; d(energy)/dt = -dissipated, which is never negative."""
    h = 1e-6
    for seed in range(3):
        q, v = state(seed)
        found = at(shapes, q, v)
        dissipated, supplied = found["power"]
        after, before = (at(shapes, *_stepped(q, v, found["qdd"], sign * h)) for sign in (1, -1))
        slopes = {name: (after[name] - before[name]) / (2 * h) for name in ("energy", "momentum")}
        forces = np.abs(found["qdd"]).max()
        assert forces > 10 and supplied == 0 and dissipated > 0
        assert np.sum(slopes["energy"]) == pytest.approx(-dissipated, rel=1e-5)
        np.testing.assert_allclose(slopes["momentum"], 0, atol=1e-7 * forces)


def _stepped(q: Floats, v: Floats, a: Floats, h: float) -> tuple[Floats, Floats]:
    """A step of second order along the motion."""
    middle = v + h / 2 * a
    new = q.copy()
    new[:6] += h * middle[:6]
    for body in range(2):
        e, w = slice(6 + 4 * body, 10 + 4 * body), middle[6 + 3 * body : 9 + 3 * body]
        angle = np.linalg.norm(w) * h / 2
        small = np.concatenate([[np.cos(angle)], np.sin(angle) * w / np.linalg.norm(w)])
        new[e] = _product(q[e], small)
    return new, v + h * a


def _product(p: Floats, q: Floats) -> Floats:
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def test_two_segments_are_nearest_where_a_minimizer_finds_it() -> None:
    """The depth from the stored energy k d^(5/2) 2/5."""
    for seed in range(20):
        q, v = state(seed)
        ends = [placed(q, "A", p) for p in ((-1, 0, 0.2), (1, 0.3, 0))]
        others = [placed(q, "B", p) for p in ((0, -1, 0), (0.2, 1, 0.1))]

        def distance(part: Floats, ends=ends, others=others) -> float:
            here, there = (a + t * (b - a) for t, (a, b) in zip(part, (ends, others), strict=True))
            return float(np.linalg.norm(here - there))

        starts = [(0.5, 0.5), (0, 0), (0, 1), (1, 0), (1, 1)]
        found = [minimize(distance, s, bounds=[(0, 1), (0, 1)], method="L-BFGS-B", tol=1e-14).fun for s in starts]
        depth = 5 - min(found)
        assert at("capsule-capsule", q, 0 * v)["energy"][1] == pytest.approx(1000 * depth**2.5 * 0.4, rel=1e-7)


def _sampled(shapes: str, points: Floats, center: tuple[float, float, float], radii: float, bodies: str) -> None:
    """The depth of a sphere in a shape given by many points, against the depth from the stored energy."""
    for seed in range(12):
        q, v = state(seed)
        own = placed(q, bodies[0], center)
        others = placed(q, bodies[1], points)
        depth = radii - np.linalg.norm(others - own, axis=1).min()
        assert at(shapes, q, 0 * v)["energy"][1] == pytest.approx(1000 * depth**2.5 * 0.4, rel=2e-4)


def test_an_arc_is_nearest_where_one_of_its_points_is() -> None:
    middle = np.array([1, 1, 0]) / np.sqrt(2)
    angles = np.linspace(-np.pi / 5, np.pi / 5, 2001)[:, None]
    points = 0.7 * (np.cos(angles) * middle + np.sin(angles) * np.cross([0, 0, 1], middle)) + np.array([0.1, 0, 0.2])
    _sampled("arc-sphere", points, (0, 0.1, 0), 5, "BA")


def test_a_cylinder_is_nearest_where_one_of_its_points_is() -> None:
    first, second = np.array([0, -0.3, 0]), np.array([0.1, 0.3, 0.1])
    axis = (second - first) / np.linalg.norm(second - first)
    across = np.cross(axis, [1, 0, 0])
    across /= np.linalg.norm(across)
    onwards = np.cross(axis, across)
    rounds = [
        (np.cos(a) * across + np.sin(a) * onwards) * r
        for a in np.linspace(0, 2 * np.pi, 91)
        for r in np.linspace(0, 0.2, 9)
    ]
    points = np.array([first + t * (second - first) + out for t in np.linspace(0, 1, 31) for out in rounds])
    _sampled("sphere-cylinder", points, (0.1, 0, 0.2), 3, "AB")


def test_a_sphere_inside_a_cylinder_leaves_by_the_nearer_side() -> None:
    m = parse("""coordinates x, z; gravity 0, 0, 0; A | Sx(x), Sz(z) | m(1);
        contact b | sphere(A, 0.1), cylinder((0, 0, 0), (0, 0, 2), 0.5) | stiffness(100), exponent(1);""")
    accelerations = kg.compile(m, "qdd")
    for x, z, expected in ((0.4, 1.0, (20, 0)), (-0.4, 1.0, (-20, 0)), (0.1, 1.95, (0, 15)), (0.1, 0.04, (0, -14)),
                           (0.55, 1.0, (5, 0)), (0.0, 2.05, (0, 5)), (2.0, 2.0, (0, 0))):  # fmt: skip
        np.testing.assert_allclose(accelerations([x, z], [0.0, 0.0], [0.0, 0.0]), expected, atol=1e-9)


@pytest.mark.parametrize("shapes", SHAPES)
def test_forces_are_continuous(shapes: str) -> None:
    """Forces are continuous along a path through and out of contact."""
    begin, end = state(3)[0], state(5)[0]
    end[:3] += 12.0  # far away
    v = state(3)[1]
    steps = []
    for count in (400, 1600):
        path = [begin + part * (end - begin) for part in np.linspace(0, 1, count + 1)]
        for q in path:
            for start in (6, 10):
                q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        forces = np.array([at(shapes, q, v)["forces"] for q in path])
        assert np.isfinite(forces).all() and ("plane" in shapes or np.abs(forces[-1]).max() == 0)
        steps.append(np.abs(np.diff(forces, axis=0)).max())
    assert steps[1] < 0.5 * steps[0]


def test_parallel_segments() -> None:
    m = parse("""
        coordinates z = 0.35;
        gravity 0, 0, 0;
        A | Sz(z) | m(1);
        contact b | capsule(A(0, 0, 0), A(1, 0, 0), 0.2), capsule((0.5, 0, 0), (2, 0, 0), 0.2) |
            stiffness(100), exponent(1);
    """)
    assert interpreted(m, "qdd")([0.35], [0.0], [0.0])[0] == pytest.approx(5)


def test_a_ball_bounces_as_hertz_says() -> None:
    """Deepest at (5 m v^2/(4 k))^(2/5), away again after 2.9432 times that over v, with the speed it came with."""
    speed, mass, k = 2.0, 0.5, 1e5
    m = parse(f"""
        coordinates z = 0.1; initial z' = -{speed};
        gravity 0, 0, 0;
        Ball | Sz(z) | m({mass});
        contact floor | sphere(Ball, 0.1), plane((0, 0, 0), (0, 0, 1)) | stiffness({k});
    """)
    deepest = (5 * mass * speed**2 / (4 * k)) ** 0.4
    lasting = 2.9432 * deepest / speed
    run = kg.simulate(m, 2 * lasting, times=2000, rtol=1e-11, atol=1e-13, native=False, progress=False)
    assert 0.1 - run["z"].min() == pytest.approx(deepest, rel=1e-5)
    away = run.t[np.argmax((run["z"] >= 0.1) & (run.t > lasting / 2))]
    assert away == pytest.approx(lasting, rel=2e-3)
    assert run["z'"][-1] == pytest.approx(speed, rel=1e-8)


def test_a_block_slides_at_the_angle_of_friction() -> None:
    """A sphere that cannot roll, on a slope: at rest below the angle of friction, m (g sin - mu g cos) above it."""
    for slope, expected in ((0.2, 0.0), (0.6, 9.81 * (np.sin(0.6) - 0.3 * np.cos(0.6)))):
        m = parse(f"""
            coordinates s, h = 0.1;
            gravity 9.81*sin({slope}), 0, -9.81*cos({slope});
            Block | Sx(s), Sz(h) | m(1);
            contact floor | sphere(Block, 0.1), plane((0, 0, 0), (0, 0, 1)) |
                stiffness(1e5), exponent(1), damping(20), friction(0.3), slip(1e-4);
        """)
        run = kg.simulate(m, 1, method="bdf", native=False, progress=False)
        assert run["s'"][-1] == pytest.approx(expected, abs=2e-3)


def test_slopes_are_finite_where_contact_begins_and_apart() -> None:
    m = parse(
        "coordinates z; A | Sz(z) | m(1); contact f | sphere(A, 0.1), plane((0, 0, 0), (0, 0, 1)) | stiffness(9);"
    )
    slope = interpreted(m, "d(qdd)/d(q)")
    assert [float(slope([z], [0.0], [0.0])[0, 0]) for z in (0.1, 0.2)] == pytest.approx([0, 0], abs=1e-9)
    assert slope([0.06], [0.0], [0.0])[0, 0] == pytest.approx(-9 * 1.5 * 0.2)


@pytest.mark.parametrize("shapes", SHAPES)
def test_written_and_read(shapes: str) -> None:
    m = mechanism(shapes, ", exponent(2)")
    assert parse(write(m)) == m


def test_the_structure_matrix_is_the_gradient_of_the_depth() -> None:
    m = mechanism("plane-capsule")
    q, _ = state(4)
    assert np.asarray(interpreted(m, "structure:touch")(q)).shape == (2, 12)


@pytest.mark.parametrize("shapes", SHAPES)
def test_contact_is_what_the_bodies_feel(shapes: str) -> None:
    """The mass of the first body times its acceleration is the sum of the forces, and their power what is lost."""
    q, v = state(7)
    values = at(shapes, q, v)
    forces = np.atleast_2d(values["contact:touch"])[:, 1:4]
    np.testing.assert_allclose(2 * values["qdd"][:3], forces.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(3 * values["qdd"][3:6], -forces.sum(axis=0), rtol=1e-10)
    pressing = -np.atleast_1d(values["effort:touch"])
    np.testing.assert_array_less(pressing, np.linalg.norm(forces, axis=1) + 1e-9)
    np.testing.assert_array_less(np.linalg.norm(forces, axis=1), np.hypot(1, 0.4) * pressing + 1e-9)


def test_a_shape_that_time_moves_on_its_body_presses_with_its_own_speed() -> None:
    m = parse("""coordinates z = 1; gravity 0, 0, 0; A | Sz(z) | m(1);
        contact b | sphere(A(0, 0, 0.1*t), 0.5), plane((0, 0, 1), (0, 0, 1)) |
            stiffness(100), exponent(1), damping(2);""")
    found = interpreted(m, "qdd,power")(q=[1.0], v=[0.0], t=1.0, tau=[0.0])
    assert found["qdd"][0] == pytest.approx(100 * 0.4 * (1 - 2 * 0.1))
    assert found["power"][1] == pytest.approx(-100 * 0.4 * 0.8 * 0.1)


def test_contact_of_another_element_is_named() -> None:
    m = parse("coordinates z; A | Sz(z) | m(1); spring s | on(z), stiffness(1);")
    with pytest.raises(DerivationError, match="'s' is not a compliant contact"):
        kg.derive(m, "contact:s")


def test_the_builder_writes_the_same() -> None:
    made = Builder("m")
    z = made.coordinate("z", 1)
    ball = made.body("Ball", None, [Sz(z)], inertia(1))
    made.compliant_contact("floor", sphere(ball, 0.1), plane((0, 0, 0), (0, 0, 1)), stiffness=100, friction=0.5)
    made.compliant_contact("rod", sphere(ball, 0.1), capsule((0, 0, 0), (1, 0, 0), 0.2), stiffness=100)
    text = write(made.build())
    assert "contact floor | sphere(Ball, 0.1), plane((0, 0, 0), (0, 0, 1)) | stiffness(100), friction(0.5);" in text
    assert "capsule((0, 0, 0), (1, 0, 0), 0.2)" in text


ONE = "coordinates z; A | Sz(z) | m(1); contact b | {};"


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("sphere(A, 1) | stiffness(1)", "has 1 shape, expected 2"),
        ("sphere(A), plane((0, 0, 0), (0, 0, 1)) | stiffness(1)", "takes 2 arguments"),
        ("sphere(A, 1), plane((0, 0, 0), 3) | stiffness(1)", r"an invalid \(x, y, z\)"),
        ("sphere(A, 1), plane((0, 0, 0), (0, 0, 1))", "lacks `stiffness"),
        ("sphere(A, 1), plane((0, 0, 0), (0, 0, 1)) | stiffness(-1)", "stiffness of the contact b is -1"),
        ("sphere(A, 1), plane((0, 0, 0), (0, 0, 1)) | stiffness(1), exponent(1.3)", "exponent"),
        ("sphere(A, 1), plane(A, (0, 0, 1)) | stiffness(1)", "both shapes"),
        ("sphere((0, 0, 0), 1), plane((0, 0, 0), (0, 0, 1)) | stiffness(1)", "fixed frame"),
        ("plane(A, (0, 0, 1)), plane((0, 0, 0), (0, 0, 1)) | stiffness(1)", "is not supported"),
        ("capsule(A, (0, 0, 0), 1), plane((0, 0, 0), (0, 0, 1)) | stiffness(1)", "two points of one body"),
        ("cylinder(A, (0, 0, 0), 1), plane((0, 0, 0), (0, 0, 1)) | stiffness(1)", "the cylinder of the contact"),
        ("capsule(A, A(0, 0, 1), 1), torus((0, 0, 0), (0, 0, 1), 1, 1) | stiffness(1)", "is not supported"),
        ("sphere(A, 1), arc((0, 0, 0), (0, 0, 1), (1, 0, 0), 1) | stiffness(1)", "takes 6 arguments"),
        ("sphere(C, 1), plane((0, 0, 0), (0, 0, 1)) | stiffness(1)", "unknown output or body 'C'"),
    ],
)
def test_bad_input_is_named(clauses: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse(ONE.format(clauses))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("bumper b | sphere(A, 1), plane((0, 0, 0), (0, 0, 1)), stiffness(1);", "a `contact` with a stiffness: write"),
        ("contact b | A.z >= 0 | stiffness(1);", "has a gap instead of two shapes"),
        ("contact b | z | stiffness(1);", "neither a gap"),
        ("contact b | sphere(A, 1), plane((0, 0, 0), (0, 0, 1)) | restitution(1);", "unknown clause `restitution`"),
        ("spring s | on(sin((1, 2, 3))) stiffness(1);", "has a vector as an argument"),
    ],
)
def test_rigid_and_compliant_contacts_are_told_apart(statement: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        parse(f"coordinates z; A | Sz(z) | m(1); {statement}")


def test_a_coordinate_may_have_the_name_of_a_shape() -> None:
    mechanism = parse("coordinates plane; A | Sz(plane) | m(1); contact b | plane >= 0 | restitution(0.5);")
    assert [one.name for one in mechanism.contacts] == ["b"]
    assert parse(write(mechanism)) == mechanism
