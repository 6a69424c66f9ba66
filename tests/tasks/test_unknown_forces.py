"""Unknown forces: the three-link arm with a contact force and the portal crane, against two independent methods."""

import numpy as np
import pytest
from benchmarks.tasks.unknown_forces import examples

import kinegraph as kg
from kinegraph.errors import TaskError
from kinegraph.tasks.force_equations import Formation
from kinegraph.tasks.prescribed_motion import completed, prescribed_functions
from kinegraph.tasks.unknown_forces import compare_formations, unknown_forces
from tests.effort import SOAK
from tests.interpreted import interpreted
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
CRANE_LAW = {"s": "(7.1 + 2.26 + (7.1 - 2.26)*cos(pi*t/40))/2"}


@pytest.mark.parametrize("way", Formation)
def test_three_link_arm_with_one_unknown_in_two_components(way):
    rows = reference("inverse_dynamics_three_link")["rows"]
    found = unknown_forces(kg.parse(ARM), LAWS, [row["t"] for row in rows], unknown=UNKNOWN, method=way)
    for k, row in enumerate(rows):
        np.testing.assert_allclose(found.values[k], [row["tau1"], row["tau2"], row["N"]], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.A[k], row["A"], atol=1e-13)
        np.testing.assert_allclose(found.B[k], row["B"], atol=1e-12)
    assert found.determinate == (True, True, True) and found.residual < 1e-11


def test_portal_crane_by_its_triangles():
    wanted = reference("inverse_dynamics_crane_jib")
    times = [row["t"] for row in wanted["rows"]]
    ways = [unknown_forces("crane", CRANE_LAW, times, unknown=["S"], method=way) for way in Formation]
    forces = np.array([row["S_G"] for row in wanted["rows"]])
    for found in ways:
        np.testing.assert_allclose(found["S"], forces, rtol=1e-12, atol=1e-12 * np.abs(forces).max())
        np.testing.assert_allclose(found.A[:, 0, 0], -1, atol=1e-13)  # S shortens s, exactly
    np.testing.assert_allclose(ways[0]["S"], ways[1]["S"], rtol=1e-12)


@pytest.mark.parametrize("way", Formation)
def test_portal_crane_as_a_linkage(way):
    wanted = reference("inverse_dynamics_crane_jib")
    times = [row["t"] for row in wanted["rows"]]
    found = unknown_forces("crane-linkage", CRANE_LAW, times, unknown=["S"], method=way)
    forces = np.array([row["S_G"] for row in wanted["rows"]])
    np.testing.assert_allclose(found["S"], forces, rtol=1e-11, atol=1e-11 * np.abs(forces).max())


def test_motions_that_loops_cannot_follow_are_named():
    bars = kg.load("four-bar")
    with pytest.raises(TaskError, match=r"would have to deviate|stays open"):
        unknown_forces(bars, {"crank": "t", "rocker": "2*t"}, [0.3, 0.6], unknown=["tau:crank"])
    with pytest.raises(TaskError, match=r"leaves 1 of .* free"):
        unknown_forces(kg.load("loop-5"), {kg.load("loop-5").layout.positions[0]: "1"}, [0.0], unknown=["tau:b1"])


def test_torque_of_a_four_bar_crank_is_that_of_its_kernel():
    bars = kg.load("four-bar")
    times = np.linspace(0, 2, 9)
    laws = {"crank": "0.3 + 3*t + sin(t)"}
    found = unknown_forces(bars, laws, times, unknown=["tau:crank"])
    motion = completed(bars, tuple(laws), prescribed_functions(bars, laws, times))
    torque = interpreted(bars, "tau").batch(motion.q, motion.v, motion.a)[:, 0]
    np.testing.assert_allclose(found["tau:crank"], torque, atol=1e-9)
    rates = interpreted(bars, "constraint_rates").batch(motion.q, motion.v)
    assert np.abs(rates).max() < 1e-11


def test_what_the_motion_does_not_determine_is_no_number():
    two = ARM.replace("unknown N;", "unknown N, M;").replace("N*(", "(N + M)*(")
    unknown = (*UNKNOWN, "M")
    found = unknown_forces(kg.parse(two), LAWS, [0.0, 0.5], unknown=unknown)
    assert found.determinate == (True, True, False, False)
    assert np.all(np.isnan(found["N"])) and np.all(np.isfinite(found["tau:q1"]))
    least = unknown_forces(kg.parse(two), LAWS, [0.0], unknown=unknown, least_norm=True)
    np.testing.assert_allclose(least["N"], least["M"])


#: Names of examples of the benchmark; in crane-linkage A is constant, so that there is nothing to save.
COUNTED = ("pressing-arm", "crane", "crane-linkage", "stanford", "four-bar")


@pytest.mark.parametrize(("model", "unknown"), [one for one in examples() if one[0].name in COUNTED or SOAK])
def test_both_ways_are_proved_equal_and_the_new_one_takes_fewer_operations(model, unknown):
    compared = compare_formations(model, unknown, repeats=1)
    assert compared.proved
    saved = compared.old.reduced.total - compared.new.reduced.total
    assert saved == 0 if model.name == "crane-linkage" else saved > 0


def test_more_equations_than_unknowns_take_least_squares_when_asked():
    found = unknown_forces(kg.parse(ARM), LAWS, [0.0, 0.5], unknown=["tau:q1", "tau:q2"], least_squares=True)
    assert found.residual > 1e-3 and found.determinate == (True, True)


def test_times_at_which_the_equations_are_nearly_singular_are_named():
    """A force along a rod: it turns the rod by its sine, which is nearly none near zero."""
    rod = kg.parse("""
        coordinates q, x;
        unknown P, F;
        Cart     | Sx(x)  | m(1);
        Rod~Cart | Ry(q)  | Sx(1), m(1);
        force pull | at(Rod(1, 0, 0)), world(P, 0, 0);
        force push | value(F), on(x);
    """)
    found = unknown_forces(rod, {"q": "t", "x": "0"}, [1e-9, 0.5], unknown=["P", "F"], least_squares=True)
    assert found.near_singular.tolist() == [1e-9]


def test_an_unknown_that_is_squared_is_refused():
    rod = kg.parse("""
        coordinates q;
        inputs u;
        Rod | Ry(q) | Sx(1), m(1);
        spring odd | on(q), stiffness(u^2);
    """)
    with pytest.raises(TaskError, match="not linear in u"):
        unknown_forces(rod, {"q": "1 + t"}, [0.0], unknown=["u"])


def test_other_inputs_need_values():
    rod = kg.parse("""
        coordinates q;
        inputs u, w;
        Rod | Ry(q) | Sx(1), m(1), Jy(0);
        force a | value(u), on(q);
        force b | value(w), on(q);
    """)
    with pytest.raises(TaskError, match="input 'w' has no value"):
        unknown_forces(rod, {"q": "t^2"}, [0.0], unknown=["u"])
    found = unknown_forces(rod, {"q": "t^2"}, [0.0, 1.0], unknown=["u"], inputs={"w": "3*t"})
    np.testing.assert_allclose(found["u"], [2, -1], atol=1e-14)


@pytest.mark.parametrize(
    ("unknown", "laws", "message"),
    [
        (("tau:q1",), LAWS, "cannot cause this motion"),
        (("Nn",), LAWS, "unknown force 'Nn'"),
        (UNKNOWN, {"q1": "t"}, "no motion given for q2, q3"),
        (UNKNOWN, {**LAWS, "q4": "t"}, "unknown coordinate 'q4'"),
        (UNKNOWN, {**LAWS, "q3": "q1 + t"}, "only t and parameters"),
        (UNKNOWN, {**LAWS, "q3": "1/t"}, "no finite value or derivative at t = 0"),
        (("tau:q1", "tau:q1"), LAWS, "given twice"),
    ],
)
def test_mistakes_are_named(unknown, laws, message):
    with pytest.raises(TaskError, match=message):
        unknown_forces(kg.parse(ARM), laws, [0.0], unknown=unknown)


SLIDER_CRANK = """
    coordinates c = 1, p, s = 1.2;
    gravity 0, -9.81, 0;
    Crank     | Rz(c)          | Sx(0.15), m(2), Jz(0.02);
    Rod~Crank | Sx(0.3), Rz(p) | Sx(0.5), m(1), Jz(0.08);
    Slider    | Sx(s)          | m(3);
    loop pin | revolute | Rod: Sx(1) | Slider;
"""


def test_dead_centers_between_and_at_times_are_named():
    """No force on the slider turns the crank at its dead centers: between two times the force has a pole."""
    found = unknown_forces(kg.parse(SLIDER_CRANK), {"c": "1 + 10*t"}, np.linspace(0, 1, 11), unknown=["tau:s"])
    wanted = tuple((k * 0.1, k * 0.1 + 0.1) for k in (2, 5, 8))  # c = pi, 2 pi, 3 pi
    np.testing.assert_allclose(found.crossings, wanted)
    np.testing.assert_allclose(found.near_singular, np.ravel(wanted))
    assert "singular between t = 0.2 and 0.3" in str(found)
    beside = unknown_forces(kg.parse(SLIDER_CRANK), {"c": "1e-6 + t"}, [0.0], unknown=["tau:s"])
    assert beside.near_singular.tolist() == [0.0]
    with pytest.raises(TaskError, match=r"at t = 0; the position is singular"):
        unknown_forces(kg.parse(SLIDER_CRANK), {"c": "t"}, [0.0, 0.1], unknown=["tau:s"])


def test_driving_coordinates_at_their_dead_center_are_regular():
    """The slider as the drive: its own dead center, beside which equations by the slider change their sign, is none of
    the torque's."""
    laws = {"c": "1 + 10*t"}
    found = unknown_forces(kg.parse(SLIDER_CRANK), laws, np.linspace(0, 1, 21), unknown=["tau:c"])
    assert found.crossings == () and found.near_singular.size == 0 and found.equations == ("c'",)


@pytest.mark.parametrize("stretched", [1e-5, 1e-7, 1e-8, 3e-9])
def test_regular_equations_near_a_singular_position_are_solved(stretched):
    arm = kg.parse("""
        coordinates q1, q2;
        gravity 0, -9.81, 0;
        unknown X, Y;
        A   | Rz(q1)        | Sx(0.4), m(1), Jz(0.1);
        B~A | Sx(1), Rz(q2) | Sx(0.3), m(2), Jz(0.2);
        force tip | at(B(0.7, 0, 0)), world(X, Y, 0);
    """)
    found = unknown_forces(arm, {"q1": "0.3 + t", "q2": f"{stretched} + 2*t^2"}, [0.0], unknown=["X", "Y"])
    assert found.residual <= 1e-15 * np.max(np.abs(found.A[0]) @ np.abs(found.values[0]))
    assert found.near_singular.tolist() == [0.0]


def test_least_norm_is_the_pseudo_inverse_in_the_units_of_the_unknowns():
    rod = kg.parse("""
        coordinates q = 0.3;
        gravity 0, 0, -9.81;
        unknown P, M;
        Rod | Ry(q) | Sx(1), m(2), Jy(1);
        force hold | at(Rod(2, 0, 0)), world(0, 0, P);
        moment twist | at(Rod), world(0, M, 0);
    """)
    found = unknown_forces(rod, {"q": "0.3 + t"}, [0.0, 1.0], unknown=["P", "M"], least_norm=True)
    for a, b, x in zip(found.A, found.B, found.values, strict=True):
        np.testing.assert_allclose(x, np.linalg.pinv(a) @ b, rtol=1e-12)
    assert kg.statics(rod, least_norm=True).values == pytest.approx([7.70062707, -4.03032186])


FIVE_BAR = """
    coordinates {names};
    gravity 0, -9.81, 0;
    A   | Rz(a)                       | Sx(0.2), m(1), Jz(0.02);
    B~A | Sx(0.4), Rz(b)              | Sx(0.3), m(1), Jz(0.03);
    {rest}
"""
CUT_AT_TIP = """
    C   | Sx(0.5), Rz(c)              | Sx(0.2), m(2), Jz(0.02);
    D~C | Sx(0.4), Rz(d)              | Sx(0.3), m(1), Jz(0.03);
    loop tip | revolute | B: Sx(0.6) | D: Sx(0.6);
"""
CUT_AT_BASE = """
    D~B | Sx(0.6), Rz(e)              | Sx(0.3), m(1), Jz(0.03);
    C~D | Sx(0.6), Rz(f)              | Sx(0.2), m(2), Jz(0.02);
    Mark | Sx(0.5), Rz(c)             | Jz(0);
    loop base | fixed | C: Sx(0.4), Rz(pi) | Mark;
"""


def test_least_squares_on_loops_is_that_of_the_coordinates_with_laws():
    """One linkage cut at the tip and at the base: the torque that misses least on the two driven angles is the same."""
    tip = FIVE_BAR.format(names="a = 2, b = -1.5, c = 1, d = 1.5", rest=CUT_AT_TIP)
    base = FIVE_BAR.format(names="a = 2, b = -1.5, e = -2, f = -2, c = 1", rest=CUT_AT_BASE)
    laws = {"a": "2 + 0.3*sin(2*t)", "c": "1 + 0.2*t"}
    times = np.linspace(0, 1, 5)
    found = [unknown_forces(kg.parse(text), laws, times, unknown=["tau:b"], least_squares=True) for text in (tip, base)]
    assert all(one.equations == ("a'", "c'") for one in found)
    np.testing.assert_allclose(found[0]["tau:b"], found[1]["tau:b"], rtol=1e-9)
    np.testing.assert_allclose(found[0].A, found[1].A, atol=1e-10)
