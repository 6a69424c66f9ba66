"""Derivatives of runs: reference numbers, runs in extended precision, and mistakes that are named."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinegraph as kg
from kinegraph.errors import KinegraphError, TaskError
from kinegraph.solve.problem import Sampled
from kinegraph.tasks.sensitivities import sensitivities
from tests.tasks.reference import reference

PENDULUM = """
    model damped;
    parameters m1 = 1.4, m2 = 0.9, l1 = 0.8, c1 = 0.45, c2 = 0.33, J1 = 0.06, J2 = 0.035, g = 9.81, d1 = 0.02,
               d2 = 0.01;
    coordinates q1 = 1.3, q2 = -0.8;
    initial q1' = 0.5, q2' = 1.1;
    gravity 0, -g, 0;
    First        | Rz(q1)          | Sy(-c1), m(m1), Jz(J1);
    Second~First | Sy(-l1), Rz(q2) | Sy(-c2), m(m2), Jz(J2);
    damper one | on(q1), damping(d1);
    damper two | on(q2), damping(d2);
    accept inertia First; accept inertia Second;
"""


TOP = """
    model top;
    parameters m = 1.5, J = 0.4;
    quaternion (e0, e1, e2, e3) velocity (wx, wy, wz) = (1, 0, 0, 0);
    gravity 0, 0, -9.81;
    initial wy = 8, wz = -0.6;
    Top | Q(e0, e1, e2, e3) | Sy(0.4), m(m), Jx(J), Jy(0.3), Jz(0.5);
    output tip = Top (0, 0.4, 0);
"""


def test_reference():
    known = reference("sensitivities_double_pendulum")
    columns = known["derivative_of_final_state_by"]
    names = [name.replace("w1", "q1'").replace("w2", "q2'").replace("w", "q") for name in columns]
    found = sensitivities(
        kg.parse(PENDULUM), 2, names, integrals={"cost": "q1^2 + q2^2"}, rtol=1e-13, atol=1e-14, times=1, progress=False
    )
    np.testing.assert_allclose(found.values[-1], [*known["final_state"], known["integral"]["value"]], rtol=1e-11)
    np.testing.assert_allclose(found.final[:4].T, list(columns.values()), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(found.final[4], list(known["integral"]["gradient"].values()), rtol=1e-10, atol=1e-10)


def accelerations(q1, q2, w1, w2, p):
    """The double pendulum by hand, from Lagrange's equations; numbers may be complex."""
    m1, m2, l1, c1, c2, J1, J2, g, d1, d2 = p
    cos, sin = np.cos(q2), np.sin(q2)
    h22 = J2 + m2 * c2**2
    h12 = h22 + m2 * l1 * c2 * cos
    h11 = J1 + m1 * c1**2 + J2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos)
    swing = m2 * l1 * c2 * sin
    r2 = -swing * w1**2 - m2 * g * c2 * np.sin(q1 + q2) - d2 * w2
    r1 = swing * (2 * w1 * w2 + w2**2) - (m1 * c1 + m2 * l1) * g * np.sin(q1) - m2 * g * c2 * np.sin(q1 + q2) - d1 * w1
    determinant = h11 * h22 - h12**2
    return (h22 * r1 - h12 * r2) / determinant, (h11 * r2 - h12 * r1) / determinant


def complex_step(place, duration):
    """d(final state)/d(entry) of [parameters, initial state], by a run with an imaginary part of 1e-30."""
    known = reference("sensitivities_double_pendulum")
    x = np.array([*known["model"]["parameters"].values(), *known["initial"].values()], dtype=complex)
    x[place] += 1e-30j

    def rate(_, y):
        return [y[2], y[3], *accelerations(*y, x[:10])]

    run = solve_ivp(rate, (0, duration), x[10:], method="DOP853", rtol=3e-14, atol=1e-15)
    return run.y[:, -1].imag / 1e-30


def test_five_seconds_equal_complex_steps():
    names = ["m2", "J2", "d2", "g", "q2(0)", "q1'(0)"]
    found = sensitivities(kg.parse(PENDULUM), 5, names, rtol=1e-13, atol=1e-14, times=1, progress=False)
    expected = np.array([complex_step(place, 5) for place in (1, 6, 9, 7, 11, 12)]).T
    np.testing.assert_allclose(found.final, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max(axis=0).min())


def differences(model, duration, name, results, h=1e-5, **options):
    """Central differences (of fourth order) of runs of `simulate`."""

    def run(step):
        changed = kg.load(model) if isinstance(model, str) else model
        parameters, initial = dict(options.get("parameters", {})), dict(options.get("state", {}))
        if name.endswith("(0)"):
            initial[name[:-3]] = initial[name[:-3]] + step
        else:
            parameters[name] = parameters[name] + step
        given = options | {"parameters": parameters, "state": initial}
        solution = kg.simulate(changed, duration, rtol=1e-13, atol=1e-15, times=4, progress=False, **given)
        return np.array([solution[one] for one in results]).T

    return (8 * (run(h) - run(-h)) - (run(2 * h) - run(-2 * h))) / (12 * h)


def check_differences(model, duration, by, results, h=1e-5, **options):
    found = sensitivities(model, duration, by, outputs=results, rtol=1e-12, times=4, progress=False, **options)
    for name in by:
        expected = differences(model, duration, name, results, h, **options)
        got = np.array([found.derivative(one, name) for one in results]).T
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7 * (1 + np.abs(expected).max()))


def test_quaternions():
    """Each component of an initial quaternion counts with the unit length that the run gives it."""
    initial = {"e0": 0.9, "e1": 0.3, "e2": -0.2, "e3": 0.4}
    check_differences(
        kg.parse(TOP),
        0.5,
        ["m", "J", "e1(0)", "e0(0)", "wx(0)"],
        ["e2", "wz", "tip.x", "energy"],
        parameters={"m": 1.5, "J": 0.4},
        state=initial | {"wx": 0.3},
    )


def test_initial_expressions_points_energies_and_momenta():
    check_differences(
        "double-pendulum",
        0.5,
        ["amplitude", "l1", "m2"],
        ["q2", "tip.x", "kinetic", "potential", "py"],
        parameters={"amplitude": 0.7, "l1": 1.1, "m2": 0.6},
    )


@pytest.mark.soak
def test_inputs_with_parameters_samples_and_limits():
    cart = kg.parse("""
        parameters m = 2, k = 30, stop = 0.2, u0 = 3;
        coordinates x, y = 0.1;
        inputs u;
        Cart      | Sx(x) | m(m);
        Mass~Cart | Sx(y) | m(1);
        spring between | on(y), stiffness(k);
        force push | on(x), value(u*u0);
        limit wall | on(x), upper(stop), stiffness(500), damping(3);
    """)
    times = np.linspace(0, 1, 11)
    check_differences(
        cart,
        0.5,  # the wall is met after 0.2 s
        ["m", "k", "stop", "u0", "x'(0)"],
        ["x", "y"],
        h=1e-4,  # runs across the limit's kink are exact to 1e-11 only
        parameters={"m": 2, "k": 30, "stop": 0.2, "u0": 3},
        state={"x'": 1.0},
        inputs={"u": Sampled(times, np.sin(times), smooth=True), "tau:y": "-m*y'"},
    )


MISTAKES = [
    ({"by": ["m1", "l3"]}, "has no parameter or initial value 'l3'"),
    ({"by": "q1"}, r"initial value is 'q1\(0\)'"),
    ({"by": ["m1", "m1"]}, "given twice"),
    ({"by": []}, "by is empty"),
    ({"by": ""}, "by is empty"),
    ({"by": 5}, "by is 5"),
    ({"by": [5]}, "has no parameter or initial value 5"),
    ({"by": "m1", "outputs": ["tipp.x"]}, "has no variable 'tipp.x'"),
    ({"by": "m1", "outputs": "q3"}, "has no variable 'q3'"),
    ({"by": "m1", "outputs": 5}, "outputs is 5"),
    ({"by": "m1", "integrals": {"q1": "q2"}}, "is already in use"),
    ({"by": "m1", "integrals": {"cost": "q9"}}, "has no variable 'q9'"),
    ({"by": "m1", "method": "symplectic"}, "e.g. method='dop853'"),
    ({"by": "m1", "parameters": {"mass": 1}}, "unknown parameter 'mass'"),
    ({"by": "m1", "state": {"q5": 1}}, "has no variable 'q5'"),
    ({"by": "m1", "duration": -1}, "must come after the start time"),
    ({"by": "m1", "duration": "long"}, "number of seconds"),
    ({"by": "m1", "inputs": {"q7": "t"}}, "unknown coordinate or input 'q7'"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=str)
def test_mistakes_are_named(arguments, message):
    with pytest.raises(KinegraphError, match=message):
        sensitivities("double-pendulum", **{"duration": 0.1, "progress": False} | arguments)


def test_what_does_not_move_is_refused():
    with pytest.raises(TaskError, match="cannot move"):
        sensitivities(kg.parse("parameters k = 1; Post | Sx(2) | m(k);"), 1, "k")


def test_parameters_that_define_others_change_them():
    """b = 3 a: what a changes through b counts, unless b is named itself."""
    chain = "parameters a = 2, b = 3*a; coordinates x = b; Mass | Sx(x) | m(b); spring s | on(x), stiffness(a);"
    both = sensitivities(kg.parse(chain), 1, "a, b", outputs=["x"], progress=False).final[0]
    alone = sensitivities(kg.parse(chain), 1, "a", outputs=["x"], progress=False).final[0]
    np.testing.assert_allclose(alone, both[0] + 3 * both[1], rtol=1e-8)


def test_forces_that_jump_are_refused_where_the_run_meets_the_jump():
    mass = kg.parse("parameters m = 1; coordinates x = 1; Mass | Sx(x) | m(m);")
    with pytest.raises(TaskError, match=r"a force is discontinuous at about t = 0\.9"):
        sensitivities(mass, 3, "m", inputs={"x": "-sign(x)*2.3"}, progress=False)
    before = sensitivities(mass, 0.5, "m", inputs={"x": "-sign(x)*2.3"}, progress=False)
    np.testing.assert_allclose(before.derivative("x", "m")[-1], 2.3 * 0.5**2 / 2, rtol=1e-9)
    continuous = sensitivities(mass, 3, "m", inputs={"x": "max(0, -x)*5 - abs(x)*x"}, progress=False)
    assert np.isfinite(continuous.derivatives).all()


def test_names_are_asked_for():
    found = sensitivities("double-pendulum", 0.1, "m1,q1(0)", outputs={"height": "tip.z + l1"}, progress=False)
    assert found.outputs == ("height",) and found.by == ("m1", "q1(0)")
    assert found.derivatives.shape == (101, 1, 2) and found["height"].shape == (101,)
    assert "q1(0)" in str(found)
    with pytest.raises(TaskError, match="unknown variable 'm2'"):
        found.derivative("height", "m2")


def test_an_implicit_method_takes_the_whole_jacobian():
    options = {"outputs": ["q1", "q2"], "times": 2, "rtol": 1e-10, "progress": False}
    explicit = sensitivities("double-pendulum", 1, ["m1", "q1(0)"], **options)
    implicit = sensitivities("double-pendulum", 1, ["m1", "q1(0)"], method="bdf", **options)
    np.testing.assert_allclose(implicit.derivatives, explicit.derivatives, rtol=1e-5, atol=1e-6)
