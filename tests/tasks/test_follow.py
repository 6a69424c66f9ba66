"""Paths: exact derivatives, singular places that are named, springs that come as near as their stiffness allows."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.solve.problem import Sampled
from kinegraph.tasks.follow import follow_by_spring

EPITROCHOID = {
    "flange.x": "0.4",
    "flange.y": "0.3*cos(4*pi*t) - 0.4*cos(pi*t)",
    "flange.z": "1 - 0.3*sin(4*pi*t) + 0.4*sin(pi*t)",
}
ASTROID = {"gripper.x": "1.15", "gripper.y": "0.6*cos(t)^3", "gripper.z": "0.6*sin(t)^3"}
DRIVES = {"puma-drawing": ("tau:φ1", "tau:φ2", "tau:φ3"), "stanford": ("tau:θ1", "tau:θ2", "tau:d32")}
DRAWINGS = [("puma-drawing", EPITROCHOID, 2.0), ("stanford", ASTROID, 2 * np.pi)]


@pytest.mark.parametrize(("model", "path", "duration"), DRAWINGS)
def test_drawings_stay_on_their_curves_with_exact_derivatives(model, path, duration):
    times = np.linspace(0, duration, 60)
    h = 1e-4
    found = kg.follow(model, path, times)
    point = next(iter(path)).partition(".")[0]
    place = kg.compile(model, f"pose:{point}").batch(found.motion.q)[:, :3, 3]
    wanted = np.column_stack([_law(path[f"{point}.{axis}"], times) for axis in "xyz"])
    np.testing.assert_allclose(place, wanted, atol=1e-13)
    for k in (7, 31):  # central differences of fourth order
        near = kg.follow(model, path, times[k] + h * np.arange(-2, 3), state=_start(found, k)).motion
        weights = np.array([1, -8, 0, 8, -1]) / (12 * h)
        np.testing.assert_allclose(weights @ near.q, found.motion.v[k], rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(weights @ near.v, found.motion.a[k], rtol=1e-8, atol=1e-7)
    assert found.near_singular.size == 0 and not found.crossings


def _law(text, t):
    value = eval(text.replace("^", "**"), {"cos": np.cos, "sin": np.sin, "pi": np.pi, "t": t})
    return np.broadcast_to(value, np.shape(t))


def _start(found, k):
    return dict(zip(found.coordinates, found.motion.q[k].tolist(), strict=True))


def test_a_body_follows_a_pose():
    path = {"L6": "Sx(0.5 + 0.1*sin(t)), Sy(0.1*cos(t)), Sz(0.2), Ry(2 + 0.2*t), Rz(t)"}
    times = np.linspace(0, 1, 11)
    found = kg.follow("puma560", path, times)
    pose = kg.compile("puma560", "pose:L6").batch(found.motion.q)
    np.testing.assert_allclose(pose[:, 0, 3], 0.5 + 0.1 * np.sin(times), atol=1e-13)
    np.testing.assert_allclose(pose[:, 2, 2], np.cos(2 + 0.2 * times), atol=1e-12)
    velocity = kg.compile("puma560", "jacobian:L6").batch(found.motion.q) @ found.motion.v[:, :, None]
    np.testing.assert_allclose(velocity[:, 1, 0], -0.1 * np.sin(times), atol=1e-12)


def test_a_point_of_a_loop_follows_a_path():
    crank = kg.follow("four-bar", {"crank": "1 + 0.3*t"}, [0.0, 0.5, 1.0])
    np.testing.assert_allclose(crank["crank'"], 0.3, atol=1e-14)
    rates = kg.compile("four-bar", "constraint_rates").batch(crank.motion.q, crank.motion.v)
    assert np.abs(rates).max() < 1e-12


PLANAR = """
    coordinates a = 0.8, b = -1.6;
    A   | Rz(a)        | m(1);
    B~A | Sx(1), Rz(b) | m(1);
    output tip = B (1, 0, 0);
"""


def test_singular_places_are_named():
    """Through the middle of two equal arms the elbow may go either way: the Jacobian's determinant changes its sign."""
    arm = kg.parse(PLANAR)
    through = kg.follow(arm, {"a": "0.8 + 0.1*t", "b": "0.01 - t"}, np.linspace(0, 0.02, 11))
    assert not through.crossings  # by coordinates nothing is singular
    with pytest.raises(TaskError, match=r"out of reach|singular"):
        kg.follow(arm, {"tip.x": "1.5 + t", "tip.y": "0.1"}, np.linspace(0, 1, 21))
    near = kg.follow(
        arm, {"tip.x": "2 - 1e-8 - t", "tip.y": "0"}, np.linspace(0, 0.5, 11), state={"a": 0.01, "b": -0.02}
    )
    assert near.near_singular.tolist() == [0.0] and "closest to a singular position at t = 0" in str(near)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({}, "give formulas of time"),
        ({"tipp.x": "t"}, "has no 'tipp.x'"),
        ({"tip.w": "t"}, "has no 'tip.w'"),
        ({"tip.x": "u", "tip.y": "0"}, "only t and parameters"),
        ({"tip.x": "1.2"}, r"1 of a, b free"),
        ({"tip.x": "3", "tip.y": "0"}, "cannot be reached at its start"),
        ({"B": "Sx(1), Rw(t)"}, "cannot parse the pose"),
        ({"tip.x": "1", "tip.y": "0.2", "a": "t"}, r"cannot be reached|out of reach"),
    ],
)
def test_mistakes_are_named(path, message):
    with pytest.raises(TaskError, match=message):
        kg.follow(kg.parse(PLANAR), path, [0.0, 0.1])


def test_springs_come_as_near_as_their_stiffness_allows():
    times = np.linspace(0, 0.5, 26)
    exact = kg.follow("stanford", ASTROID, times)
    forces = kg.unknown_forces("stanford", exact.motion, unknown=DRIVES["stanford"])
    off, misses = [], []
    for stiffness in (2e4, 4e4):
        pulled = follow_by_spring("stanford", ASTROID, times, stiffness=stiffness, native=False)
        off.append(max(pulled.deviation.values()))
        found = kg.unknown_forces("stanford", pulled.motion, unknown=DRIVES["stanford"])
        misses.append(np.abs(found.values - forces.values).max())
    assert off[0] < 1e-3 and off[1] / off[0] == pytest.approx(0.5, rel=0.05)
    assert misses[0] < 0.02 * np.abs(forces.values).max() and misses[1] / misses[0] == pytest.approx(0.5, rel=0.1)


def _drawn_again(model, path, duration, samples, **options):
    """How far a run under the torques of a path leads away from its curve."""
    times = np.linspace(0, duration, samples + 1)
    exact = kg.follow(model, path, times).motion
    forces = kg.unknown_forces(model, exact, unknown=DRIVES[model])
    run = kg.simulate(
        model, duration, inputs={name: Sampled(times, forces[name], smooth=True) for name in DRIVES[model]},
        state=np.concatenate([exact.q[0], exact.v[0]]), rtol=1e-13, atol=1e-14, times=times[:: samples // 20],
        progress=False, **options,
    )  # fmt: skip
    point = next(iter(path)).partition(".")[0]
    place = np.column_stack([run[f"{point}.{axis}"] for axis in "xyz"])
    wanted = np.column_stack([_law(path[f"{point}.{axis}"], run.t) for axis in "xyz"])
    return np.abs(place - wanted).max()


@pytest.mark.parametrize(("model", "path"), [drawing[:2] for drawing in DRAWINGS])
def test_the_torques_draw_the_curve_again(model, path):
    assert _drawn_again(model, path, 0.1, 400, native=False) < 1e-8


@pytest.mark.soak
@pytest.mark.parametrize(("model", "path", "duration"), DRAWINGS)
def test_the_torques_draw_the_whole_curve_again(model, path, duration):
    assert _drawn_again(model, path, duration, 16000, native=True) < 1e-8
