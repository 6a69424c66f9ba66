"""Machines of the library against closed forms and second programs: leg, shaper, crane, governor."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.assemble import Assembler
from kinegraph.model import parameter_values


def turned(model, angles):
    """The positions of a linkage over angles of its crank, by name."""
    mechanism = kg.load(model)
    assembler = Assembler(mechanism, {})
    q, v = assembler.start({})
    rows = []
    for angle in angles:
        q[mechanism.layout.positions.index("crank")] = angle
        q = assembler.assembled(q, v, ("crank",)).required().q.copy()
        rows.append(q.copy())
    return dict(zip(mechanism.layout.positions, np.array(rows).T, strict=True))


def crossing(one, radius, other, further, side):
    """The point at two distances from two points, to the left (1) or right (-1) of the way between them."""
    way = other - one
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    along = (radius**2 - further**2 + length**2) / (2 * length)
    normal = np.stack([-way[..., 1], way[..., 0]], axis=-1) / length
    return one + along * way / length + side * np.sqrt(radius**2 - along**2) * normal


def test_jansens_foot_draws_the_path_that_circles_draw():
    """The second program crosses circles, bar by bar, as with ruler and compass."""
    angles = np.linspace(0, 2 * np.pi, 49)
    found = turned("jansen", angles)
    a, b, c, d, e, f, g, h, i, j, k, low, r = (
        0.38, 0.415, 0.393, 0.401, 0.558, 0.394, 0.367, 0.657, 0.49, 0.5, 0.619, 0.078, 0.15,
    )  # fmt: skip
    pin = r * np.column_stack([np.cos(angles), np.sin(angles)])
    fixed = np.broadcast_to([-a, -low], pin.shape)
    top = crossing(pin, j, fixed, b, -1)
    knee = crossing(pin, k, fixed, c, 1)
    shoulder = crossing(fixed, d, top, e, 1)
    ankle = crossing(shoulder, f, knee, g, -1)
    foot = crossing(knee, i, ankle, h, 1)
    toes = kg.compile(kg.load("jansen"), "pose:toe")
    drawn = [toes(np.array([column[n] for column in found.values()]))[:2, 3] for n in range(len(angles))]
    np.testing.assert_allclose(drawn, foot, atol=1e-9)
    down = foot[:-1, 1] < foot[:, 1].min() + 0.02
    assert 0.4 < down.mean() < 0.6 and np.ptp(foot[:-1][down, 0]) > 0.5  # it walks straight for half of the turn


def test_the_shaper_has_its_stroke_and_its_time_ratio():
    r, h, lever = 0.1, 0.25, 0.5
    rest = np.arcsin(r / h)
    extremes = turned("quick-return", [0, -rest])["ram"][1], turned("quick-return", [2, np.pi + rest])["ram"][1]
    assert extremes[0] - extremes[1] == pytest.approx(2 * lever * r / h, abs=1e-12)
    ram = turned("quick-return", np.linspace(0, 2 * np.pi, 25))["ram"]
    assert extremes[1] - 1e-12 <= ram.min() and ram.max() <= extremes[0] + 1e-12


@pytest.mark.parametrize("a", [0.5, 1.5, 6])
def test_the_load_of_the_crane_hangs_still_after_each_ramp(a):
    crane = kg.load("trolley-crane")
    ramp, braking = (float(parameter_values(crane, {"a": a})[name]) for name in ("ramp", "braking"))
    times = [0, ramp / 2, ramp, braking, braking + ramp, braking + 2 * ramp]
    run = kg.simulate(crane, times[-1], parameters={"a": a}, times=times, rtol=1e-11, atol=1e-12, progress=False)
    largest = 2 * np.arctan(a / 9.81)  # it swings about the apparent vertical, from the true one
    np.testing.assert_allclose(np.abs(run["swing"]), [0, largest, 0, 0, 0, 0], atol=2e-6)
    np.testing.assert_allclose(run["swing'"][[2, 3, 4, 5]], 0, atol=2e-6)


def test_the_engine_with_governor_hunts_where_routh_and_hurwitz_say():
    """I x^3 + I D x^2 + (I + 8 m l^2 C^2) W^2 S^2 x + 2 S^2 C W steam = 0 with I = J + 2 m l^2 S^2, D = c/(2 m l^2)."""
    found = kg.continuation("engine-governor", "c", 0.01, 3, unknown="shaft'", starts=5)
    m, length, C = 1.5, 0.3, 0.7
    S, W = np.sqrt(1 - C**2), np.sqrt(9.81 / (length * C))
    D = 2 * C * 100 / (W * (4 + 2 * m * length**2 * S**2 + 8 * m * length**2 * C**2))
    forward = [one for one in found.special if one.v[0] > 0]
    assert {str(one.kind) for one in forward} == {"Hopf"}
    for one in forward:
        assert one.value == pytest.approx(2 * m * length**2 * D, rel=1e-9)
        assert one.v[0] == pytest.approx(W, rel=1e-10) and abs(one.q[1]) == pytest.approx(np.arccos(C))
        inertia = 4 + 2 * m * length**2 * S**2
        assert one.frequency**2 == pytest.approx(W**2 * S**2 * (1 + 8 * m * length**2 * C**2 / inertia), rel=1e-8)
