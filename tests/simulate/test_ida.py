"""IDA on the stabilized index-2 form: the same motion as by projection, with multipliers as unknowns of their own."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.errors import SolveError
from kinegraph.graph.interpret import interpret
from kinegraph.simulate.stabilization import IndexTwoForm
from kinegraph.solve.problem import Action
from kinegraph.solve.recording import Status
from tests.export.fmu.test_loops import SWING
from tests.interpreted import interpreted

MODELS = {"four-bar": 1.0, "knife-edge": 1.0, "swing": 1.0, "double-pendulum": 1.0}


def mechanism_of(name):
    return kg.parse(SWING) if name == "swing" else kg.load(name)


@pytest.mark.parametrize(("name", "duration"), MODELS.items())
def test_the_motion_is_that_of_other_methods(name, duration):
    mechanism = mechanism_of(name)
    wanted = kg.simulate(mechanism, duration, rtol=1e-11, atol=1e-12, times=5, native=False)
    found = kg.simulate(mechanism, duration, method="ida", rtol=1e-8, atol=1e-9, times=5, native=False)
    assert found.status.name == "FINISHED"
    np.testing.assert_array_equal(found.t, wanted.t)
    for column in (*wanted.positions, *wanted.velocities):
        np.testing.assert_allclose(found[column], wanted[column], atol=1e-5, err_msg=column)
    assert found.drift["position"] < 1e-10 and found.drift.get("position integrating", 0) < 1e-7


def test_residual_vanishes_along_the_motion():
    """At a state with its accelerations, multipliers and no correction every equation holds."""
    mechanism = kg.load("four-bar")
    form = IndexTwoForm(mechanism, {}, NO_FORCES)
    place = kg.assemble(mechanism, {"crank": 1, "crank'": 2})
    y = form.pack(place.q, place.v, np.zeros(0))
    accelerations = interpreted(mechanism, "qdd")(place.q, place.v, np.zeros(3))
    slopes = [*place.v, *accelerations, *np.zeros(len(y) - 6)]
    values = dict(zip((one.name for one in form.state_symbols), y, strict=True))
    values |= zip((one.name for one in form.slope_symbols), slopes, strict=True)
    found = interpret(form.residual, values)["residual"]
    assert len(found) == len(y) and np.max(np.abs(found)) < 1e-12


def test_own_steps_forces_and_elements():
    """Steps of its own are saved; forces in joints and the energy they give are integrated along."""
    options = {"inputs": {"crank": "0.5*sin(3*t)"}, "rtol": 1e-8, "atol": 1e-9, "native": False}
    run = kg.simulate("four-bar", 0.5, method="ida", times=None, **options)
    wanted = kg.simulate("four-bar", 0.5, times=[0, 0.5], **options)
    assert len(run.t) > 20 and run.t[-1] == 0.5
    assert run["crank"][-1] == pytest.approx(wanted["crank"][-1], abs=1e-6)
    assert run.drift["energy"] < 1e-6


@pytest.mark.soak
def test_events_are_those_of_other_methods():
    """They are found on IDA's own polynomial."""
    options = {"native": False, "progress": False, "rtol": 1e-9, "times": 4, "state": {"crank": 0.2}}
    watched = {"turn": "rocker'", "there": "crank - 0.15"}
    found, wanted = (kg.simulate("four-bar", 0.5, method=one, events=watched, **options) for one in ("ida", "dop853"))
    assert [one.name for one in found.events] == [one.name for one in wanted.events] == ["there", "turn"]
    for one, other in zip(found.events, wanted.events, strict=True):
        assert one.time == pytest.approx(other.time, abs=1e-7)
    stop = kg.Event("turn", "rocker'", action=Action.STOP)
    ended = kg.simulate("four-bar", 0.5, method="ida", events=[stop], **options)
    assert ended.status is Status.EVENT
    assert ended.t[-1] == pytest.approx(wanted.events[-1].time, abs=1e-7)
    assert abs(ended["rocker'"][-1]) < 1e-6


def test_what_it_cannot_do_is_said():
    with pytest.raises(SolveError, match="IDA does not support events that reset the state"):
        kg.simulate("four-bar", 1, method="ida", events=[kg.Event("low", "crank", reset={"crank'": "0"})])
    with pytest.raises(SolveError, match="IDA does not support contacts"):
        kg.simulate("bouncing-ball", 1, method="ida")
    with pytest.raises(SolveError, match="IDA chooses its steps itself"):
        kg.simulate("four-bar", 1, method="ida", step=0.01, native=False)
