"""Unknowns in every function: inputs that are zero unless given, and names to vary, differentiate and estimate by."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import KinegraphError
from kinegraph.model.constraints import _tell_of_zeros

ARM = """
    model arm;
    parameters m1 = 2, l1 = 0.5;
    coordinates q1 = 0.1, q2 = 0.2;
    gravity 0, 0, -9.81;
    {};
    A   | Ry(q1)          | Sz(-l1/2), m(m1), Jy(m1*l1^2/12);
    B~A | Sz(-l1), Ry(q2) | Sz(-0.2), m(1), Jy(0.02);
    output tip = B (0, 0, -0.4);
    define pull = S*cos(q1);
    force P | at(tip), world(pull, 0, 2*S);
    force M | value(3*R), on(q2);
"""
UNKNOWN = kg.parse(ARM.format("unknown S, R"))


def test_the_forces_found_from_a_motion_cause_it():
    found = kg.unknown_forces(UNKNOWN, {"q1": "0.3*sin(2*t)", "q2": "t^2"}, np.linspace(0.1, 1, 5))
    tau = kg.compile(UNKNOWN, "tau")
    for k, x in enumerate(found.values):
        motion = found.motion
        assert np.abs(tau(motion.q[k], motion.v[k], motion.a[k], x)).max() < 1e-12


def test_a_given_unknown_is_known():
    laws = {"q1": "0.3*sin(2*t)", "q2": "t^2"}
    free = kg.unknown_forces(UNKNOWN, laws, [0.5])
    one = kg.unknown_forces(UNKNOWN, laws, [0.5], inputs={"S": free["S"][0]})
    assert one.unknowns == ("R",)
    assert one["R"] == pytest.approx(free["R"], rel=1e-12)


@pytest.mark.soak
def test_a_sweep_varies_an_unknown():
    swept = kg.sweep(UNKNOWN, 0.3, over={"S": [0.0, 0.5, 1.0]}, rtol=1e-10)
    for k, value in enumerate((0.0, 0.5, 1.0)):
        single = kg.simulate(UNKNOWN, 0.3, inputs={"S": value}, rtol=1e-10)
        assert swept["q1"][k, -1] == pytest.approx(single["q1"][-1], abs=1e-8)


def test_a_run_is_differentiated_by_an_unknown():
    slopes = kg.sensitivities(UNKNOWN, 0.3, "S,q1(0)", outputs=["q1", "q2"])
    known = kg.sensitivities(kg.parse(ARM.format("parameters S = 0; unknown R")), 0.3, "S,q1(0)", outputs=["q1", "q2"])
    np.testing.assert_allclose(slopes.derivatives, known.derivatives, rtol=1e-12)
    ends = [kg.simulate(UNKNOWN, 0.3, inputs={"S": h}, rtol=1e-11)["q1"][-1] for h in (1e-3, -1e-3)]
    assert slopes.derivative("q1", "S")[-1] == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-5)


def test_an_unknown_is_estimated_from_a_measured_motion():
    run = kg.simulate(UNKNOWN, 0.5, inputs={"S": 0.4, "R": -0.1}, times=20, rtol=1e-11)
    found = kg.fit(UNKNOWN, {name: run[name] for name in ("t", "q1", "q2")}, ["S", "R"])
    assert found.values == pytest.approx([0.4, -0.1], abs=1e-6)


def test_a_simulator_and_a_linear_system_take_unknowns_as_inputs():
    stepping = kg.simulator(UNKNOWN, dt=0.01)
    assert tuple(stepping.controls)[-2:] == ("S", "R")
    assert kg.linearize(UNKNOWN, steady=False).inputs == ("tau:q1", "tau:q2", "S", "R")


@pytest.mark.parametrize("call", [
    lambda: kg.compile(UNKNOWN, "tau", parameters={"S": 2}),
    lambda: kg.simulate(UNKNOWN, 1, parameters={"S": 2}),
])  # fmt: skip
def test_an_unknown_is_no_parameter(call):
    with pytest.raises(KinegraphError, match="S is an input of the model: pass it as inputs or in the state"):
        call()


def test_locking_a_coordinate_removes_the_unknown_of_its_drive():
    held = kg.lock(kg.load("five-bar"), crank1=2.2)
    assert [one.name for one in held.unknowns] == ["M2"]
    both = kg.lock(UNKNOWN, q2=0.2)  # S acts on what still moves
    assert [one.name for one in both.unknowns] == ["S"]


def test_a_robot_says_that_it_takes_them_as_zero(caplog):
    robot, q = kg.robot(UNKNOWN), [0.3, 0.1]
    robot.mass_matrix(q)
    assert not caplog.records  # no force acts on it
    _tell_of_zeros.cache_clear()
    found = robot.inverse_dynamics(q, [0, 0], [0, 0])
    assert "the unknowns S, R are taken as zero" in caplog.records[-1].getMessage()
    expected = kg.compile(UNKNOWN, "tau")(q, [0, 0], [0, 0], [0, 0])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
