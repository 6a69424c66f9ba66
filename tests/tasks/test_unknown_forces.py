"""Unknown forces: the three-link arm with a contact force and the portal crane, against two independent methods."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.forces.loop_motion import motion_on_constraints
from kinegraph.tasks.forces.unknown_forces import Way, inverse_dynamics
from tests.tasks.reference import reference

ARM = """
    parameters k3 = 6, d3 = 0.3, b = 0.3, mu = 0.25;
    coordinates q1, q2, q3;
    gravity 0, -9.81, 0;
    unknown N;
    A   | Rz(q1)           | Sx(0.22), m(4),   Jz(0.09);
    B~A | Sx(0.5), Rz(q2)  | Sx(0.19), m(2.5), Jz(0.035);
    C~B | Sx(0.4), Rz(q3)  | Sx(0.13), m(1.2), Jz(0.01);
    output tip = C (0.3, 0, 0);
    spring s | on(q3) stiffness(k3) rest(0.4);
    damper d | on(q3) damping(d3);
    force contact | at(tip), world(N*(-sin(b) + mu*cos(b)), N*(cos(b) + mu*sin(b)), 0);
"""
LAWS = {"q1": "0.8 + 0.3*sin(2*t)", "q2": "-1.2 + 0.5*cos(3*t)", "q3": "-0.5 + 0.4*sin(t + 1)^2"}
UNKNOWN = ("tau:q1", "tau:q2", "N")
#: Every angle of the crane follows from s by the cosine theorem in a triangle; S pulls C towards G.
CRANE = """
    parameters AD = 36, AC = 12.73, Gx = 0.36, Gy = 11.78, DF = 18, Ex = -5.2, Ey = 0.31, EL = 27.78,
        Lx = -3.95, Ly = 15.04, AB = 17, LN = 7, LP = 3, NB = 8.5;
    coordinates s = 7.1;
    gravity 0, -9.81, 0;
    unknown S;
    define phi = atan2(Gy, Gx) - acos((AC^2 + Gx^2 + Gy^2 - s^2)/(2*AC*sqrt(Gx^2 + Gy^2)));
    define DLx = Lx - AD*cos(phi), DLy = Ly - AD*sin(phi);
    define DL = sqrt(DLx^2 + DLy^2), DE = sqrt(Ex^2 + Ey^2);
    define toE = atan2(DLy, DLx) - acos((DE^2 + DL^2 - EL^2)/(2*DE*DL));
    define trunk = toE - atan2(Ey, Ex);
    define BLx = AB*cos(phi) - Lx, BLy = AB*sin(phi) - Ly;
    define BL = sqrt(BLx^2 + BLy^2);
    define rocker = atan2(BLy, BLx) + acos((LN^2 + BL^2 - NB^2)/(2*LN*BL));
    define stay = atan2(AD*sin(phi) + DE*sin(toE) - Ly, AD*cos(phi) + DE*cos(toE) - Lx);
    define link = atan2(AB*sin(phi) - Ly - LN*sin(rocker), AB*cos(phi) - Lx - LN*cos(rocker));
    Boom        | Rz(phi)                          | Sx(AD/2), m(70000), Jz(7560000);
    Trunk~Boom  | Sx(AD), Rz(trunk - phi)          | Sx(5.5), Sy(0.05), m(30000), Jz(1400000);
    Load~Trunk  | Sx(DF)                           | m(160000);
    Stay        | Sx(Lx), Sy(Ly), Rz(stay)         | Sx(EL/2), m(8000), Jz(514485.6);
    Rocker      | Sx(Lx), Sy(Ly), Rz(rocker)       | m(12000), Jz(90000);
    Weight~Rocker | Rz(165*pi/180), Sx(LP)         | m(200000);
    Link~Rocker | Sx(LN), Rz(link - rocker)        | Sx(NB/2), m(4000), Jz(4000*NB^2/12);
    output C = Boom (AC, 0, 0);
    force rack | at(C), world(S*(Gx - C.x)/s, S*(Gy - C.y)/s, 0);
"""

#: The same crane as a linkage: four pins close its loops, and the rack slides through the pinion G.
LINKAGE = """
    parameters AD = 36, AC = 12.73, Gx = 0.36, Gy = 11.78, DF = 18, Ex = -5.2, Ey = 0.31, EL = 27.78,
        Lx = -3.95, Ly = 15.04, AB = 17, LN = 7, LP = 3, NB = 8.5;
    coordinates s = 7.1, boom = 0.98, trunk = -1.15, stay = 0.56, rocker = 0.9, link = -0.9, rack = -0.1;
    gravity 0, -9.81, 0;
    unknown S;
    Rack          | Sx(Gx), Sy(Gy), Rz(rack), Sx(s) |;
    Boom          | Rz(boom)                        | Sx(AD/2), m(70000), Jz(7560000);
    Trunk~Boom    | Sx(AD), Rz(trunk - boom)        | Sx(5.5), Sy(0.05), m(30000), Jz(1400000);
    Load~Trunk    | Sx(DF)                          | m(160000);
    Stay          | Sx(Lx), Sy(Ly), Rz(stay)        | Sx(EL/2), m(8000), Jz(514485.6);
    Rocker        | Sx(Lx), Sy(Ly), Rz(rocker)      | m(12000), Jz(90000);
    Weight~Rocker | Rz(165*pi/180), Sx(LP)          | m(200000);
    Link~Rocker   | Sx(LN), Rz(link - rocker)       | Sx(NB/2), m(4000), Jz(4000*NB^2/12);
    loop C | revolute | Boom: Sx(AC)           | Rack:;
    loop E | revolute | Trunk: Sx(Ex), Sy(Ey)  | Stay: Sx(EL);
    loop B | revolute | Boom: Sx(AB)           | Link: Sx(NB);
    force pinion | value(-S), on(s);
"""


@pytest.mark.parametrize("way", Way)
def test_three_link_arm_with_one_unknown_in_two_components(way):
    rows = reference("inverse_dynamics_three_link")["rows"]
    found = inverse_dynamics(kg.parse(ARM), LAWS, [row["t"] for row in rows], unknown=UNKNOWN, way=way)
    for k, row in enumerate(rows):
        np.testing.assert_allclose(found.values[k], [row["tau1"], row["tau2"], row["N"]], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.A[k], row["A"], atol=1e-13)
        np.testing.assert_allclose(found.B[k], row["B"], atol=1e-12)
    assert found.determinate == (True, True, True) and found.residual < 1e-11


def test_portal_crane_by_its_triangles():
    wanted = reference("inverse_dynamics_crane_jib")
    law = {"s": "(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2"}
    times = [row["t"] for row in wanted["rows"]]
    ways = [inverse_dynamics(kg.parse(CRANE), law, times, way=way) for way in Way]
    forces = np.array([row["S_G"] for row in wanted["rows"]])
    for found in ways:
        np.testing.assert_allclose(found["S"], forces, rtol=1e-12, atol=1e-12 * np.abs(forces).max())
        np.testing.assert_allclose(found.A[:, 0, 0], -1, atol=1e-13)  # S shortens s, exactly
    np.testing.assert_allclose(ways[0]["S"], ways[1]["S"], rtol=1e-12)


@pytest.mark.parametrize("way", Way)
def test_portal_crane_as_a_linkage(way):
    wanted = reference("inverse_dynamics_crane_jib")
    law = {"s": "(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2"}
    times = [row["t"] for row in wanted["rows"]]
    found = inverse_dynamics(kg.parse(LINKAGE), law, times, way=way)
    forces = np.array([row["S_G"] for row in wanted["rows"]])
    np.testing.assert_allclose(found["S"], forces, rtol=1e-11, atol=1e-11 * np.abs(forces).max())


def test_motions_that_loops_cannot_follow_are_named():
    bars = kg.load("four-bar")
    with pytest.raises(TaskError, match=r"had to give way|stays open"):
        inverse_dynamics(bars, {"crank": "t", "rocker": "2*t"}, [0.3, 0.6], unknown=["tau:crank"])
    with pytest.raises(TaskError, match=r"leave 1 of .* free"):
        inverse_dynamics(kg.load("loop-5"), {kg.load("loop-5").layout.positions[0]: "1"}, [0.0], unknown=["tau:b1"])


def test_torque_of_a_four_bar_crank_is_that_of_its_kernel():
    bars = kg.load("four-bar")
    times = np.linspace(0, 2, 9)
    found = inverse_dynamics(bars, {"crank": "0.3 + 3*t + sin(t)"}, times, unknown=["tau:crank"])
    motion = motion_on_constraints(bars, {"crank": "0.3 + 3*t + sin(t)"}, times)
    torque = kg.compile(bars, "tau").batch(motion.q, motion.v, motion.a)[:, 0]
    np.testing.assert_allclose(found["tau:crank"], torque, atol=1e-9)
    rates = kg.compile(bars, "constraint_rates").batch(motion.q, motion.v)
    assert np.abs(rates).max() < 1e-11


def test_what_the_motion_does_not_determine_is_no_number():
    two = ARM.replace("unknown N;", "unknown N, M;").replace("N*(", "(N + M)*(")
    unknown = (*UNKNOWN, "M")
    found = inverse_dynamics(kg.parse(two), LAWS, [0.0, 0.5], unknown=unknown)
    assert found.determinate == (True, True, False, False)
    assert np.all(np.isnan(found["N"])) and np.all(np.isfinite(found["tau:q1"]))
    least = inverse_dynamics(kg.parse(two), LAWS, [0.0], unknown=unknown, least_norm=True)
    np.testing.assert_allclose(least["N"], least["M"])


@pytest.mark.parametrize(
    ("unknown", "laws", "message"),
    [
        (("tau:q1",), LAWS, "cannot cause this motion"),
        (("Nn",), LAWS, "no unknown 'Nn'"),
        (UNKNOWN, {"q1": "t"}, "no law of motion for q2, q3"),
        (UNKNOWN, {**LAWS, "q4": "t"}, "no coordinate 'q4'"),
        (UNKNOWN, {**LAWS, "q3": "q1 + t"}, "may use t and parameters"),
    ],
)
def test_mistakes_are_named(unknown, laws, message):
    with pytest.raises(TaskError, match=message):
        inverse_dynamics(kg.parse(ARM), laws, [0.0], unknown=unknown)
