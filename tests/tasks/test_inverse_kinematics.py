"""Inverse kinematics: all solutions that closed forms give, and no others."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.places import is_among
from kinegraph.errors import TaskError
from kinegraph.tasks.kinematics.inverse_kinematics import inverse_kinematics
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
    ("pose", "message"), [(np.zeros((4, 4)), "no rotation"), ([1, 2], "4 x 4 matrix"), (-np.eye(4), "no rotation")]
)
def test_a_pose_that_is_none_is_refused(pose, message):
    with pytest.raises(TaskError, match=message):
        inverse_kinematics(kg.parse(PUMA), "L6", pose)


def test_limits_without_a_range_are_refused():
    with pytest.raises(TaskError, match="give two finite numbers, the lower first"):
        kg.inverse_kinematics("double-pendulum", "Lower", np.eye(4), within={"q1": (-1e308, 1e308)})


def test_an_arm_on_a_free_body_is_told_to_hold_it():
    """The message named quaternions and no way on."""
    model = kg.parse("""model free; coordinates q1, q2; quaternion (e0,e1,e2,e3) velocity (wx,wy,wz) = (1,0,0,0);
    Base | Q(e0,e1,e2,e3) | m(1), Jx(1), Jy(1), Jz(1);
    Arm~Base | Rz(q1), Sx(1) | m(1); Hand~Arm | Rz(q2), Sx(1) | m(1);""")
    with pytest.raises(TaskError, match=r"kg.lock\(model, 'e0', 'e1', 'e2', 'e3'\) or --lock e0,e1,e2,e3"):
        inverse_kinematics(model, "Hand", [1, 1, 0])
    held = inverse_kinematics(kg.lock(model, "e0", "e1", "e2", "e3"), "Hand", [1, 1, 0])
    assert len(held.solutions) == 2
