"""Closed forms of inverse kinematics: all solutions of arms of every kind, against forward kinematics and search."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.assembly.initial_values import is_among
from kinegraph.errors import TaskError
from kinegraph.tasks.pose_solver import pose_solver
from tests.tasks.reference import reference
from tests.tasks.test_inverse_kinematics import PUMA

#: The first three joints of arms with a spherical wrist: neighbors that meet or are parallel, in front or behind.
FRONTS = {
    "meeting first": "A | Rz(q1) |; B~A | Rx(q2) | ; C~B | Sz(0.5), Sx(0.1), Rx(0.4), Ry(q3) |;",
    "parallel last": "A | Rz(q1) |; B~A | Sx(0.2), Sz(0.3), Ry(q2) |; C~B | Sz(0.5), Sy(0.1), Ry(q3) |;",
    "parallel first": "A | Rz(q1) |; B~A | Sx(0.5), Rz(q2) |; C~B | Sx(0.4), Rx(0.7), Rz(q3) |;",
    "meeting last": "A | Rz(q1) |; B~A | Sx(0.4), Rx(1), Ry(q2) |; C~B | Rx(0.9), Rz(q3) |;",
    "slide": "A | Rz(q1) |; B~A | Rx(q2) |; C~B | Sx(0.15), Sy(q3) |;",
}
WRIST = "D~C | Sz(0.3), Sx(0.25), Rz(q4) |; E~D | Rx(0.2), Ry(q5) |; F~E | Rz(0.3), Rx(q6), Sz(0.1), Ry(0.5) | m(1);"
#: A wrist at the base and the arm behind it, and three parallel axes near the hand.
BACKWARDS = {
    "wrist at the base": """
        A | Sz(0.2), Rz(q1) |; B~A | Ry(q2) |; C~B | Rz(q3), Sx(0.3), Sz(0.4) |;
        D~C | Rx(q4) |; E~D | Sy(0.1), Sz(0.4), Rx(q5) |; F~E | Sz(0.3), Ry(0.3), Rz(q6), Sx(0.2) | m(1);""",
    "parallel at the hand": """
        A | Sz(0.2), Rz(q1) |; B~A | Ry(q2), Sx(0.1), Sz(0.2) |; C~B | Rx(q3) |; D~C | Sz(0.4), Sx(0.1), Rx(q4) |;
        E~D | Sz(0.35), Rx(q5) |; F~E | Sy(0.1), Sz(0.1), Ry(q6), Sx(0.1) | m(1);""",
}


def arm(records):
    return kg.parse(f"coordinates q1, q2, q3, q4, q5, q6; {records}")


def random_poses(solver, count, seed=0):
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (count, 6))
    return q, solver.forward.batch(q)[f"pose:{solver.body}"]


def contains(found, q):
    """Whether each row of q is among the solutions."""
    apart = np.abs((found.q - q[:, None] + np.pi) % (2 * np.pi) - np.pi).max(axis=2)
    return (np.where(found.reached, apart, np.inf).min(axis=1) < 1e-7).all()


@pytest.mark.parametrize(("model", "body"), [("puma560", "L6"), ("ur5", "Wrist3")])
def test_all_solutions_at_a_thousand_poses(model, body):
    solver = pose_solver(model, body)
    q, poses = random_poses(solver, 1000)
    found = solver.batch(poses)
    assert found.errors[found.reached].max() < 1e-10
    assert contains(found, q)
    if model == "puma560":
        assert (found.counts == 8).all()
    else:
        assert set(found.counts.tolist()) <= {2, 4, 6, 8} and (found.counts == 8).sum() > 600


@pytest.mark.parametrize("records", [*(front + WRIST for front in FRONTS.values()), *BACKWARDS.values()])
def test_arms_of_every_kind(records):
    solver = pose_solver(arm(records), "F")
    q, poses = random_poses(solver, 200)
    found = solver.batch(poses)
    assert contains(found, q) and found.errors[found.reached].max() < 1e-10
    assert found.counts.max() > 4


@pytest.mark.parametrize("records", [FRONTS["parallel last"] + WRIST, BACKWARDS["parallel at the hand"]])
def test_the_search_finds_no_solution_that_the_closed_form_lacks(records):
    mechanism = arm(records)
    _, poses = random_poses(pose_solver(mechanism, "F"), 2, seed=3)
    for pose in poses:
        closed = kg.inverse_kinematics(mechanism, "F", pose)
        searched = kg.inverse_kinematics(mechanism, "F", pose, closed_form=False, starts=200)
        assert closed.complete and not searched.complete
        assert len(searched) == len(closed)
        for one in searched.solutions:
            assert is_among(one.q, [other.q for other in closed.solutions], range(6))


def test_unreachable_stretched_and_singular_poses_of_the_reference():
    puma, rows = kg.parse(PUMA), reference("inverse_kinematics_puma560")
    far = kg.inverse_kinematics(puma, "L6", rows["unreachable"]["pose"])
    assert len(far) == 0 and "cannot be reached (spherical wrist)" in str(far) and far.nearest.error > 0.05
    wrist = kg.inverse_kinematics(puma, "L6", rows["wrist_singular"]["pose"])
    assert wrist.family and not wrist.complete and {one.isolated for one in wrist.solutions} == {True, False}
    aligned = [one for one in wrist.solutions if not one.isolated]
    assert all(abs(np.sin(one.q[4])) < 1e-9 for one in aligned)  # axes 4 and 6 in one line
    stretched = kg.inverse_kinematics(puma, "L6", rows["stretched"]["pose"])
    assert (
        len(stretched) == 4 and stretched.complete
    )  # singular, for the elbow cannot move the hand outwards, yet isolated
    made = np.array(rows["stretched"]["made_from_q"])
    assert is_among(made, [one.q for one in stretched.solutions], range(6), 1e-6)


def test_an_arm_stretched_out_has_its_solutions_once():
    planar = kg.parse("""
        coordinates q1, q2, q3;
        A   | Rz(q1)                  |;
        B~A | Rx(q2)                  |;
        C~B | Sz(0.5), Rx(q3), Sz(0.4) | m(1);
    """)
    point = kg.compile(planar, "pose:C")([0.3, 0.7, 0.0])[:3, 3]
    found = kg.inverse_kinematics(planar, "C", point)
    assert found.method == "three joints" and len(found) == 2  # two ways round the base, one elbow
    assert all(one.error < 1e-10 for one in found.solutions)


def test_three_joints_place_a_point():
    found = kg.inverse_kinematics("stanford", "gripper", [1.15, 0.3, 0.2], bounds={"d32": (0, 2)})
    assert found.method == "three joints" and len(found) == 2
    assert len(kg.inverse_kinematics("stanford", "gripper", [0.4, 0.3, 0.2])) == 0  # nearer than the arm's offset


def test_without_closed_form_one_says_so_and_searches():
    rough = arm(FRONTS["parallel last"] + WRIST.replace("Ry(q5)", "Sx(0.05), Ry(q5)"))
    with pytest.raises(TaskError, match="no closed form is known for the RRRRRR arm"):
        pose_solver(rough, "F")
    pose = kg.compile(rough, "pose:F")([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    found = kg.inverse_kinematics(rough, "F", pose, starts=100)
    made = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    assert found.method == "search" and is_among(made, [one.q for one in found.solutions], range(6))
    with pytest.raises(TaskError, match="not a chain of revolute and prismatic joints"):
        pose_solver(kg.parse("coordinates q; A | Rz(2*q) | m(1);"), "A")
    with pytest.raises(TaskError, match="has loops"):
        kg.inverse_kinematics("four-bar", "Coupler", np.eye(4))
