"""Dimensions for a wanted path: a crane better than the one of the reference, and lengths that are known."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from tests.tasks.test_unknown_forces import CRANE_LAW

BOUNDS = {
    "DF": (16, 20), "Ex": (-6, -4), "Ey": (-1, 1.5), "EL": (24, 32), "Lx": (-4.5, -3.4), "Ly": (14.5, 15.6),
    "AC": (12, 13.5), "level": (10, 25),
}  # fmt: skip


def travel(parameters):
    """How far the load goes sideways, and by how much its height changes."""
    s = (7.1 + 2.26 + (7.1 - 2.26) * np.cos(np.linspace(0, np.pi, 2001))) / 2
    x, y, _ = kg.compile("crane", "pose:F", parameters=parameters).batch(s[:, None])[:, :3, 3].T
    return np.ptp(x), np.ptp(y)


@pytest.mark.soak
def test_a_crane_that_lifts_its_load_less_than_the_reference():
    reference = travel({})
    np.testing.assert_allclose(reference, [26.0524, 0.076936], rtol=1e-4)
    found = kg.synthesize_path(
        "crane", CRANE_LAW, {"F.y": "level", "F.x": "34 - 26.1*t/40"}, BOUNDS, np.linspace(0, 40, 61),
        only_at={"F.x": [0, 40]},
    )  # fmt: skip
    dimensions = {name: found[name] for name in BOUNDS if name != "level"}
    sideways, height = travel(dimensions)
    assert sideways >= reference[0] and height < 0.05  # 26.10 m and 0.046 m
    assert found.largest_deviation("F.x") < 2e-3
    times = [0.0, 20.0, 40.0]
    one, other = (
        kg.unknown_forces(model, CRANE_LAW, times, unknown=["S"], parameters=dimensions)["S"]
        for model in ("crane", "crane-linkage")
    )
    np.testing.assert_allclose(one, other, rtol=1e-11)


def test_known_lengths_are_found_again():
    laws = {"q1": "t", "q2": "2*t"}
    # tip of two rods: x = l1 sin(q1) + l2 sin(q1 + q2), up to the sense of the angles
    true = kg.compile("double-pendulum", "pose:tip", parameters={"l1": 0.7, "l2": 1.3})
    times = np.linspace(0.1, 1, 8)
    x = true.batch(np.column_stack([times, 2 * times]))[:, 0, 3]
    sense = 1 if x[0] * np.sin(times[0]) > 0 else -1
    wanted = {"tip.x": f"{sense}*(0.7*sin(t) + 1.3*sin(3*t))"}
    found = kg.synthesize_path("double-pendulum", laws, wanted, {"l1": (0.2, 3), "l2": (0.2, 3)}, times)
    np.testing.assert_allclose([found["l1"], found["l2"]], [0.7, 1.3], rtol=1e-9)


@pytest.mark.parametrize(
    ("wanted", "bounds", "message"),
    [
        ({}, BOUNDS, "wanted is"),
        ({"F.y": "levl"}, BOUNDS, "unknown name 'levl'"),
        ({"G.y": "level"}, BOUNDS, "unknown name 'G.y'"),
        ({"F.y": "level"}, {"s": (1, 2)}, "s is not a parameter"),
        ({"F.y": "level"}, {"level": (2, 1)}, "the first must be smaller than the second"),
        ({"F.y": "level"}, {"level": (10, 25), "AC": (1, 2)}, "no solution"),
    ],
)
def test_mistakes_are_named(wanted, bounds, message):
    with pytest.raises(TaskError, match=message):
        kg.synthesize_path("crane", CRANE_LAW, wanted, bounds, [0.0, 20.0, 40.0])


def test_loops_are_refused():
    with pytest.raises(TaskError, match="by triangles"):
        kg.synthesize_path("crane-linkage", CRANE_LAW, {"F.y": "1"}, {"AC": (12, 13)}, [0.0])
