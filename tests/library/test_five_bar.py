"""The five-bar linkage with unknown drives, against d'Alembert's principle for its point masses in closed form.

A uniform rod moves like a sixth of its mass at each end and two thirds in the middle. The tool's path gives the cranks
by triangles; virtual displacements of the tool follow from the two rods of fixed length.
"""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError

D, A, B, MA, MB, MT, G = 0.3, 0.25, 0.4, 1.2, 0.8, 0.5, np.array([0.0, 9.81])
PATH = {"tool.x": "0.05*cos(2*t)", "tool.y": "0.45 + 0.05*sin(2*t)"}
TIMES = np.linspace(0, 3, 7)


def tool(t):
    return np.array([0.05 * np.cos(2 * t), 0.45 + 0.05 * np.sin(2 * t)])


def points(t):
    """Both crank pins and the tool."""
    place = tool(t)
    pins = []
    for base, side in ((-D / 2, 1), (D / 2, -1)):
        away = place - [base, 0]
        reach = np.hypot(*away)
        angle = np.arctan2(away[1], away[0]) + side * np.arccos((A**2 + reach**2 - B**2) / (2 * A * reach))
        pins.append(np.array([base + A * np.cos(angle), A * np.sin(angle)]))
    return np.array([*pins, place])


def drives(t):
    h = 2e-3
    five = np.array([points(t + k * h) for k in (-2, -1, 0, 1, 2)])
    here, acceleration = five[2], np.tensordot([-1, 16, -30, 16, -1], five, 1) / (12 * h * h)
    bases = np.array([[-D / 2, 0], [D / 2, 0]])
    found = []
    for i in range(2):
        moved = np.zeros((3, 2))
        arm = here[i] - bases[i]
        moved[i] = [-arm[1], arm[0]]
        rods = here[2] - here[:2]
        moved[2] = np.linalg.solve(rods, [rods[k] @ moved[k] for k in range(2)])
        work = MT * (acceleration[2] + G) @ moved[2]
        for k in range(2):
            for mass, first, second in ((MA, None, k), (MB, k, 2)):
                ends = [np.zeros((3, 2)) if one is None else np.array([acceleration[one] + G, moved[one], here[one]])
                        for one in (first, second)]  # fmt: skip
                if first is None:
                    ends[0][0] = G
                middle = (ends[0] + ends[1]) / 2
                shares = zip((1 / 6, 2 / 3, 1 / 6), (ends[0], middle, ends[1]), strict=True)
                work += sum(share * mass * one[0] @ one[1] for share, one in shares)
        found.append(work)
    return found


def test_drives_along_a_tool_path():
    motion = kg.follow("five-bar", PATH, TIMES).motion
    found = kg.unknown_forces("five-bar", motion)
    assert found.unknowns == ("M1", "M2") and found.determinate == (True, True) and not found.crossings
    np.testing.assert_allclose(found.values, [drives(t) for t in TIMES], rtol=1e-7, atol=1e-8)


def test_drives_that_hold_the_tool():
    state = kg.follow("five-bar", {"tool.x": "0.1", "tool.y": "0.45"}, [0.0]).motion.q[0]
    names = kg.load("five-bar").layout.positions
    held = kg.statics("five-bar", dict(zip(names, state.tolist(), strict=True)))
    weights = kg.compile("five-bar", "energy")
    h, slopes = 1e-5, {}
    for drive, crank in (("M1", 0), ("M2", 2)):  # virtual work: the slope of the weight's energy over each crank
        ends = []
        for sign in (1, -1):
            moved = {names[0]: state[0], names[2]: state[2]}
            moved[names[crank]] += sign * h
            ends.append(weights(kg.assemble("five-bar", moved).q, np.zeros(4))[1])
        slopes[drive] = (ends[0] - ends[1]) / (2 * h)
    assert held["M1"] == pytest.approx(slopes["M1"], rel=1e-6)
    assert held["M2"] == pytest.approx(slopes["M2"], rel=1e-6)


def test_the_motion_under_the_drives_is_the_path():
    motion = kg.follow("five-bar", PATH, TIMES).motion
    found = kg.unknown_forces("five-bar", motion)
    qdd = kg.compile("five-bar", "qdd")
    for k in range(len(TIMES)):
        a = qdd(motion.q[k], motion.v[k], np.zeros(4), found.values[k])
        np.testing.assert_allclose(a, motion.a[k], rtol=1e-9, atol=1e-9)


def test_out_of_reach_is_said():
    with pytest.raises(TaskError, match=r"out of reach|cannot be reached"):
        kg.follow("five-bar", {"tool.x": "0", "tool.y": "0.45 + t"}, [0.0, 0.5])
