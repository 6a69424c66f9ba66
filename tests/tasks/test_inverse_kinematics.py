"""Inverse kinematics: all solutions that closed forms give, and no others."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.initial_values import is_among
from kinegraph.errors import TaskError
from kinegraph.io.urdf import parse_urdf
from kinegraph.model.robot_data import coordinate_limits
from kinegraph.tasks.inverse_kinematics import inverse_kinematics
from tests.tasks.reference import reference

PUMA = """
    coordinates q1, q2, q3, q4, q5, q6;
    L1    | Rz(q1), Rx(pi/2) | m(1);
    L2~L1 | Rz(q2), Sx(0.4318) | m(1);
    L3~L2 | Rz(q3), Sz(0.15005), Sx(0.0203), Rx(-pi/2) | m(1);
    L4~L3 | Rz(q4), Sz(0.4318), Rx(pi/2) | m(1);
    L5~L4 | Rz(q5), Rx(-pi/2) | m(1);
    L6~L5 | Rz(q6) | m(1);
"""
ALL = range(6)


@pytest.mark.parametrize("number", range(5))
def test_all_eight_solutions_of_a_puma(number):
    pose = reference("inverse_kinematics_puma560")["poses"][number]
    found = inverse_kinematics(kg.parse(PUMA), "L6", pose["pose"])
    assert len(found) == pose["number_of_solutions"]
    assert all(one.error <= 1e-10 for one in found.solutions)
    for wanted in pose["solutions"]:
        assert is_among(np.array(wanted), [one.q for one in found.solutions], ALL, 1e-8)


def test_an_unreachable_pose_is_missed_by_something():
    pose = np.eye(4)
    pose[:3, 3] = 1.5, 0, 0
    found = inverse_kinematics(kg.parse(PUMA), "L6", pose)
    assert len(found) == 0 and found.nearest.error > 0.1


def test_a_redundant_arm_has_a_family():
    arm = kg.parse("""
        coordinates a, b, c;
        A   | Rz(a)         | m(1);
        B~A | Sx(1), Rz(b)  | m(1);
        C~B | Sx(1), Rz(c)  | m(1);
        output tip = C (1, 0, 0);
    """)
    found = inverse_kinematics(arm, "tip", [1.5, 0.5, 0])
    assert len(found) > 8 and found.family


@pytest.mark.parametrize(
    ("pose", "message"),
    [(np.zeros((4, 4)), "not a rotation"), ([1, 2], "4 x 4 matrix"), (-np.eye(4), "not a rotation")],
)
def test_a_pose_that_is_none_is_refused(pose, message):
    with pytest.raises(TaskError, match=message):
        inverse_kinematics(kg.parse(PUMA), "L6", pose)


def test_limits_without_a_range_are_refused():
    with pytest.raises(TaskError, match="give two finite numbers, the lower first"):
        kg.inverse_kinematics("double-pendulum", "Lower", np.eye(4), bounds={"q1": (-1e308, 1e308)})


def test_an_arm_on_a_free_body_is_told_to_hold_it():
    """The message named quaternions and no way on."""
    model = kg.parse("""model free; coordinates q1, q2; quaternion (e0,e1,e2,e3) velocity (wx,wy,wz) = (1,0,0,0);
    Base | Q(e0,e1,e2,e3) | m(1), Jx(1), Jy(1), Jz(1);
    Arm~Base | Rz(q1), Sx(1) | m(1); Hand~Arm | Rz(q2), Sx(1) | m(1);""")
    with pytest.raises(TaskError, match=r"kg.lock\(model, 'e0', 'e1', 'e2', 'e3'\) or --lock e0,e1,e2,e3"):
        inverse_kinematics(model, "Hand", [1, 1, 0])
    held = inverse_kinematics(kg.lock(model, "e0", "e1", "e2", "e3"), "Hand", [1, 1, 0])
    assert len(held.solutions) == 2


ARM = kg.parse("""
    coordinates a, b, c;
    A   | Rz(a)         | m(1);
    B~A | Ry(b)         | m(1);
    C~B | Sx(1), Ry(c)  | m(1);
    output tip = C (1, 0, 0);
""")
TIP = np.array([1.5, 0.4, 0.3])


def test_an_arm_stretched_out_is_singular_but_not_free():
    """The rank alone said "examples of infinitely many"."""
    stretched = inverse_kinematics(ARM, "tip", [0, 2, 0])
    assert stretched.complete and not stretched.family and len(stretched) == 2
    on_the_axis = inverse_kinematics(ARM, "tip", [0, 0, 1.5])  # there the first joint turns freely
    assert on_the_axis.family and not any(one.isolated for one in on_the_axis.solutions)
    searched = inverse_kinematics(ARM, "tip", [0, 2, 0], closed_form=False, starts=40)
    assert not searched.family and len(searched) == 2


@pytest.mark.parametrize("point", [(3, 0.4, 0.3), (0, 0, 7), (-2, -2, 1)])
def test_nearest_is_nearest(point):
    """The arm reaches 2 m in every direction."""
    found = inverse_kinematics(ARM, "tip", point)
    assert len(found) == 0 and found.nearest.error == pytest.approx(np.linalg.norm(point) - 2, abs=1e-7)
    assert np.allclose(found.nearest.q[2], 0, atol=1e-3)


def test_nearest_of_poses_is_a_minimum():
    pose = np.eye(4)
    pose[:3, 3] = 1.5, 0.2, 0.1
    puma = kg.parse(PUMA)
    found = inverse_kinematics(puma, "L6", pose)
    kernel, random = kg.compile(puma, "pose:L6"), np.random.default_rng(0)

    def squares(q):
        apart = kernel.batch(np.atleast_2d(q)) - pose
        return np.sum(apart[:, :3, 3] ** 2, axis=1) + np.sum(apart[:, :3, :3] ** 2, axis=(1, 2)) / 2

    least = squares(found.nearest.q)[0]
    assert (squares(found.nearest.q + random.normal(0, 0.01, (200, 6))) >= least).all()
    assert (squares(random.uniform(-np.pi, np.pi, (20_000, 6))) >= least).all()


def test_limits_that_exclude_every_solution_are_told():
    """It said that the nearest misses the pose by 1e-16."""
    found = inverse_kinematics(ARM, "tip", TIP, bounds={"b": (1, 1.1)})
    assert len(found) == 0 and len(found.outside) == 4 and found.nearest.error > 0.1
    assert 1 <= found.nearest.q[1] <= 1.1
    assert "4 positions with the pose each exceed a limit (b = " in str(found) and "not in 1 .. 1.1" in str(found)


def test_solutions_that_differ_by_whole_turns():
    """Limits of more than a turn listed one of them, and called that complete."""
    once, twice = (inverse_kinematics(ARM, "tip", TIP, bounds={"a": (-x, x)}) for x in (np.pi, 7))
    assert (len(once), len(twice)) == (4, 10) and once.complete and twice.complete
    rows = np.array([one.q for one in twice.solutions])
    assert (np.abs(rows[:, 0]) <= 7).all() and len(np.unique(rows.round(6), axis=0)) == 10
    folded = inverse_kinematics(ARM, "tip", TIP, bounds={"a": (-7, 7)}, turns=False)
    assert len(folded) == 4 and folded.with_turns == 10 and "10 if whole turns count" in str(folded)


def test_half_angles_repeat_after_two_turns():
    """A turn more of q turns the arm by half a turn: it is another place."""
    half = kg.parse("coordinates a, b; A | Rz(a/2) | m(1); B~A | Sx(1), Rz(b) | m(1); output tip = B (1, 0, 0);")
    found = inverse_kinematics(half, "tip", [1, 1, 0], bounds={"a": (2 * np.pi, 6 * np.pi)}, starts=64)
    places = kg.compile(half, "pose:tip").batch(np.array([one.q for one in found.solutions]))[:, :3, 3]
    assert len(found) == 2 and np.allclose(places, [1, 1, 0], atol=1e-9)


URDF = """<robot name="r"><link name="base"/>
  <joint name="a" type="revolute"><parent link="base"/><child link="A"/><axis xyz="0 0 1"/>
    <limit lower="-0.5" upper="3"/></joint>
  <link name="A"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="b" type="revolute"><parent link="A"/><child link="B"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="0.2"/></joint>
  <link name="B"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="f" type="fixed"><parent link="B"/><child link="tip"/><origin xyz="1 0 0"/></joint><link name="tip"/>
  <joint name="m" type="revolute"><parent link="tip"/><child link="M"/><axis xyz="0 0 1"/>
    <mimic joint="b" multiplier="-2" offset="0.1"/><limit lower="-9" upper="4.1"/></joint>
  <link name="M"/></robot>"""


def test_limits_of_the_file_hold_unless_others_are_given():
    """205 of 256 solutions of a Panda exceeded its limits."""
    robot = parse_urdf(URDF).mechanism
    assert coordinate_limits(robot, {})["b"] == pytest.approx((-2, 0.2))  # limited by the joint that follows it, too
    found = inverse_kinematics(robot, "tip", [1, 1, 0], starts=40)
    assert [one.q.round(9).tolist() for one in found.solutions] == [[round(np.pi / 2, 9), round(-np.pi / 2, 9)]]
    assert len(found.outside) == 1 and "1 more outside the limits" in str(found)
    assert len(inverse_kinematics(robot, "tip", [1, 1, 0], starts=40, limits=False)) == 2
    assert len(inverse_kinematics(robot, "tip", [1, 1, 0], starts=40, bounds={"b": (-3, 3)})) == 2


def test_a_free_joint_is_found_where_the_closed_form_chose_it_out_of_reach():
    """At q5 = 0 the last joint of a UR5 turns freely with the others; some poses had two solutions, "all"."""
    pose = kg.compile("ur5", "pose:Wrist3")
    q = np.random.default_rng(7).uniform(-3, 3, (3, 6))[2]
    q[4] = 0
    found = inverse_kinematics("ur5", "Wrist3", pose(q))
    assert found.family and not found.complete
    assert any(not one.isolated and abs(np.sin(one.q[4])) < 1e-6 for one in found.solutions)


def test_limits_choose_among_infinitely_many():
    """The joint about the vertical is free, and the closed form takes zero."""
    found = inverse_kinematics(ARM, "tip", [0, 0, 1.5], bounds={"a": (0.5, 0.6)})
    assert len(found) > 0 and found.family and all(0.5 <= one.q[0] <= 0.6 for one in found.solutions)
