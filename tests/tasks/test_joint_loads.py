"""Loads of joints along runs and given motions: reference pins of the crane and the arm, and worst cases with times."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.model.axes import Axes
from kinegraph.tasks.reactions import reactions
from tests.tasks.reference import reference
from tests.tasks.test_unknown_forces import ARM, CRANE_LAW, LAWS, SLIDER_CRANK, UNKNOWN

CRANE_PINS = {
    "Boom": "A_ground_on_boom",
    "Trunk": "D_boom_on_trunk",
    "Link": "N_rocker_on_link",
}


@pytest.mark.soak
def test_pins_of_the_crane():
    rows = [row for row in reference("inverse_dynamics_crane_jib")["rows"] if row["pin_forces"]]
    times = [row["t"] for row in rows]
    found = kg.unknown_forces("crane-linkage", CRANE_LAW, times, unknown=["S"])
    loads = kg.joint_loads(found, list(CRANE_PINS))
    for joint, pin in CRANE_PINS.items():
        wanted = np.array([row["pin_forces"][pin] for row in rows])
        np.testing.assert_allclose(loads[joint].force[:, :2], wanted, atol=1e-9 * np.abs(wanted).max(), err_msg=pin)


def test_pins_of_the_three_link_arm():
    rows = reference("inverse_dynamics_three_link")["rows"]
    found = kg.unknown_forces(kg.parse(ARM), LAWS, [row["t"] for row in rows], unknown=UNKNOWN)
    loads = kg.joint_loads(found)
    for joint, body in (("joint1", "A"), ("joint2", "B"), ("joint3", "C")):
        wanted = [row["pin_forces_on_link"][joint] for row in rows]
        np.testing.assert_allclose(loads[body].force[:, :2], wanted, atol=1e-11)


@pytest.mark.parametrize("axes", Axes)
def test_loads_along_a_run_are_those_at_its_states(axes):
    run = kg.simulate(
        "double-pendulum", 1, inputs={"q1": "2*sin(3*t) - 0.1*q1'", "q2": ([0, 1], [0, 4])}, times=20, native=False,
        progress=False,
    )  # fmt: skip
    loads = kg.joint_loads(run, axes=axes)
    k = 13
    at = {name: float(run[name][k]) for name in ("q1", "q2", "q1'", "q2'")}
    at |= {"tau:q1": 2 * np.sin(3 * run.t[k]) - 0.1 * at["q1'"], "tau:q2": 4 * run.t[k]}
    for body in ("Upper", "Lower"):
        one = reactions("double-pendulum", body, at, axes=axes)
        np.testing.assert_allclose(loads[body].force[k], one.force, atol=1e-10)
        np.testing.assert_allclose(loads[body].moment[k], one.moment, atol=1e-10)


def test_the_worst_load_of_a_pendulum_is_at_the_bottom():
    pendulum = kg.parse("""
        coordinates q = pi/2;
        gravity 0, 0, -9.81;
        Bob | Ry(q) | Sz(-1), m(2);
    """)
    run = kg.simulate(pendulum, 1, times=2000, native=False, progress=False)
    (worst,) = kg.joint_loads(run).worst
    assert worst.force == pytest.approx(3 * 2 * 9.81, rel=1e-6)  # falling from the side: 3 m g
    crossing = run.t[np.argmin(np.abs(run["q"]))]
    assert worst.force_time == pytest.approx(crossing, abs=2e-3)
    assert f"force {worst.force:.6g} N at t = {worst.force_time:.6g}" in str(kg.joint_loads(run))


def test_what_redundant_loops_leave_open_is_said():
    run = kg.simulate("loop-4", 0.02, times=2, native=False, progress=False)
    loads = kg.joint_loads(run, ["A1"])
    assert loads["A1"].determinate == (True, True, False, False, False, True)
    assert np.isnan(loads["A1"].force[:, 2]).all() and "Fz, Mx, My not determined" in str(loads)


def test_mistakes_are_named(tmp_path):
    run = kg.simulate("double-pendulum", 0.1, times=2, native=False, progress=False)
    with pytest.raises(TaskError, match="unknown joint"):
        kg.joint_loads(run)["Middle"]
    with pytest.raises(TaskError, match="read from a file"):
        kg.joint_loads(type(run).load(run.save(tmp_path / "run.npz")))
    with pytest.raises(TaskError, match="takes a run"):
        kg.joint_loads("double-pendulum")


BLADE = """
    coordinates q1 = 2, q2 = 1.5;
    gravity 0, 0, -9.81;
    Upper       | Ry(q1)         | Sz(-1), m(1);
    Lower~Upper | Sz(-1), Ry(q2) | Sz(-1), m(1);
"""


@pytest.fixture(scope="module")
def whipping():
    return {
        grid: kg.joint_loads(kg.simulate(kg.parse(BLADE), 2, times=grid, rtol=1e-10, native=False, progress=False))
        for grid in (12, 3000)
    }


def test_largest_loads_do_not_depend_on_how_many_rows_were_saved(whipping):
    coarse, fine = whipping[12], whipping[3000]
    assert coarse.reactions[0].worst[0] < 0.9 * fine.worst[0].force  # of the rows alone
    for few, many in zip(coarse.worst, fine.worst, strict=True):
        assert few.force == pytest.approx(many.force, rel=1e-6)
        assert few.force_time == pytest.approx(many.force_time, abs=1e-4)
    assert coarse.searched == fine.searched == 1.0


def test_largest_loads_of_planar_loops_are_searched_for_too():
    """Components out of the plane are not determined; for their sake nothing was searched: 92.6 N in place of 200.4."""
    settings = {"state": {"crank'": 3}, "rtol": 1e-10, "native": False, "progress": False}
    loads = kg.joint_loads(kg.simulate("four-bar", 3, times=20, **settings), ["Rocker"])
    assert loads.searched == 1 and loads.worst[0].determinate == (False, False)
    assert loads.worst[0].force == pytest.approx(200.372, abs=1e-3)
    low = {one.component: one.low for one in loads.ranges}
    assert low["Fx"] == pytest.approx(-8.5868732, abs=1e-6) and np.isnan(low["Fz"])


def test_steps_in_which_the_state_jumps_are_not_searched():
    ball = kg.parse("coordinates z = 1; gravity 0, 0, -9.81; Ball | Sz(z) | m(2); damper air | on(z), damping(1);")
    bounce = kg.Event("floor", "z", reset={"z'": "-0.8*z'"})
    run = kg.simulate(ball, 1, times=50, events=[bounce], native=False, progress=False)
    loads = kg.joint_loads(run)
    assert 0.9 < loads.searched < 1 and "were not searched" in str(loads)


def test_largest_loads_of_a_given_motion_are_searched_for_between_its_times():
    pendulum = kg.parse("coordinates q; gravity 0, 0, -9.81; Bob | Ry(q) | Sz(-1), m(2);")
    found = kg.unknown_forces(pendulum, {"q": "sin(3*t)"}, [0.0, 0.4, 0.9, 1.5], unknown=["tau:q"])
    loads = kg.joint_loads(found)
    t = np.linspace(0, 1.5, 200_001)
    q, w, a = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    force = 2 * np.hypot(w**2 + 9.81 * np.cos(q), a + 9.81 * np.sin(q))
    assert loads.worst[0].force == pytest.approx(force.max(), rel=1e-9)
    slider = kg.parse(SLIDER_CRANK)
    ends = kg.unknown_forces(slider, {"c": "0.3 + 2*t"}, np.linspace(0, 1.3, 4), unknown=["tau:c"])
    many = kg.unknown_forces(slider, {"c": "0.3 + 2*t"}, np.linspace(0, 1.3, 120), unknown=["tau:c"])
    few, fine = (kg.joint_loads(one, ["Rod"]).worst[0] for one in (ends, many))
    assert few.force == pytest.approx(fine.force, rel=1e-6)


@pytest.mark.parametrize("asked", [{}, {"axes": "body", "point": "parent"}, {"axes": "parent", "drives": False}])
def test_loads_of_a_given_motion_are_the_reactions_at_its_states(asked):
    """Two ways to one load: by the forces that cause a motion, and by the motion that forces cause; loops too."""
    slider = kg.parse(SLIDER_CRANK)
    found = kg.unknown_forces(slider, {"c": "1 + 2*t + 0.3*sin(t)"}, [0.3], unknown=["tau:c"])
    names = (*slider.layout.positions, *slider.layout.velocities)
    at = dict(zip(names, np.hstack([found.motion.q[0], found.motion.v[0]]).tolist(), strict=True))
    for one in kg.joint_loads(found, **asked).reactions:
        other = reactions(slider, one.body, at | {"tau:c": float(found["tau:c"][0])}, **asked)
        assert other.determinate == one.determinate
        np.testing.assert_allclose(one.force[0], other.force, atol=1e-9)
        np.testing.assert_allclose(one.moment[0], other.moment, atol=1e-9)


def test_components_keep_their_signs_and_their_peaks_within_steps(tmp_path):
    """A bob from the side: m g (3 cos q - 2 cos q0) along the rod; its share to the side has a known peak."""
    pendulum = kg.parse("coordinates q = 1.2; gravity 0, 0, -9.81; Bob | Ry(q) | Sz(-1), m(2);")
    run = kg.simulate(pendulum, 3, times=11, rtol=1e-11, native=False, progress=False)
    loads = kg.joint_loads(run)
    angle = np.linspace(-1.2, 1.2, 400_001)
    pull = 2 * 9.81 * (3 * np.cos(angle) - 2 * np.cos(1.2))
    across = loads.range("Bob", "Fx")
    assert (across.low, across.high) == pytest.approx(
        (-(pull * np.sin(angle)).max(), (pull * np.sin(angle)).max()), 1e-8
    )
    up = loads.range("Bob", "Fz")
    assert (up.low, up.high) == pytest.approx(((pull * np.cos(angle)).min(), pull.max()), rel=1e-8)
    assert across.high_time not in run.t
    saved = np.genfromtxt(loads.save(tmp_path / "loads.csv"), delimiter=",", names=True, deletechars="")
    np.testing.assert_array_equal(saved["Bob.Fz"], loads["Bob"].force[:, 2])
    with pytest.raises(TaskError, match="unknown component 'Fr'"):
        loads.range("Bob", "Fr")


def test_undetermined_components_have_no_range():
    loads = kg.joint_loads(kg.simulate("loop-4", 0.02, times=2, native=False, progress=False), ["A1"])
    assert np.isnan(loads.range("A1", "Fz").high) and np.isfinite(loads.range("A1", "Fx").low)
