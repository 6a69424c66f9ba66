"""Singular positions and singular coordinates: meaningless numbers are never returned without a warning."""

from math import acos, atan2, cos, sin

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.derive.plan import Plan
from kinegraph.derive.quantities.derivation import Derivation
from kinegraph.derive.quantities.quantity import Quantity
from kinegraph.errors import SolveError, TaskError
from kinegraph.graph.interpret import interpret
from tests.cli.run import data, runner

FLAT = -1.5707963267948966
#: A four-bar whose crank cannot turn round: in its dead center coupler and rocker are in line.
TRIPLE_ROCKER = """parameters a = 1, b = 0.6, c = 0.6, d = 1.6;
coordinates crank = 0.6, coupler = -0.3, rocker = 2; gravity 0, -9.81, 0;
Crank | Rz(crank) | Sx(a/2), m(1), Jz(0.1); Coupler~Crank | Sx(a), Rz(coupler - crank) | Sx(b/2), m(2), Jz(0.1);
Rocker | Sx(d), Rz(rocker) | Sx(c/2), m(1), Jz(0.1); loop pin | revolute | Coupler: Sx(b) | Rocker: Sx(c);"""


@pytest.mark.parametrize("beside", [0.0, 1e-9, -1e-6])
def test_eval_refuses_a_singular_position_by_name(beside, capsys):
    found = runner(capsys)("eval n-four-bar-1 -q qdd,H,multipliers --state", f"u0={FLAT + beside},u1={FLAT + beside}")
    assert found.code == 1
    assert "multipliers is not determined: n-four-bar-1 is in a singular position, where pin1.x depends" in found.err


@pytest.mark.parametrize("beside", [1e-3, -0.1])
def test_eval_beside_it_is_right(beside, capsys):
    """All uprights move as one pendulum: u'' = g sin(u) 1.2 by hand (three rods of length 1 and mass 1)."""
    found = data(
        runner(capsys)("eval n-four-bar-1 --json -q qdd --state", f"u0={FLAT + beside},u1={FLAT + beside},u0'=-2")
    )
    np.testing.assert_allclose(found["qdd"][:2], 1.2 * 9.81 * sin(FLAT + beside), rtol=1e-8)


def test_what_needs_no_rows_is_given_there(capsys):
    assert runner(capsys)(f"eval n-four-bar-1 -q H,energy,constraint_jacobian --state u0={FLAT},u1={FLAT}").code == 0


def test_a_proximal_solve_is_exact_there():
    found = kg.compile(kg.load("n-four-bar-1"), "qdd_proximal")([FLAT, FLAT, 0], [-2, -2, 0], [0, 0, 0])
    np.testing.assert_allclose(found, [-1.2 * 9.81, -1.2 * 9.81, 0], rtol=1e-12, atol=1e-12)


def test_a_proximal_solve_agrees_where_rows_are_independent():
    kernel = kg.compile(kg.load("four-bar"), "qdd,qdd_proximal")
    place = kg.assemble(kg.load("four-bar"), {"crank": 1, "crank'": 2})
    found = kernel(place.q, place.v, [1, 0, 0])
    np.testing.assert_allclose(found["qdd_proximal"], found["qdd"], rtol=1e-9)


def test_a_run_does_not_start_in_a_singular_position():
    with pytest.raises(SolveError, match=r"starts in a singular position: pin1\.x depends on other"):
        kg.simulate(kg.load("n-four-bar-1"), 1, state={"u0": FLAT + 1e-7, "u1": FLAT + 1e-7}, native=False)


def test_a_fixed_step_onto_a_singular_position_ends_the_run():
    """Without gravity the uprights turn at 1 rad/s: the second of these steps ends where all bars are in line."""
    mechanism = kg.parse(kg.write(kg.load("n-four-bar-1")).replace("gravity 0, -9.81, 0", "gravity 0, 0, 0"))
    run = kg.simulate(mechanism, 2, method="rk4", step=-FLAT / 2, times=None, native=False)
    assert run.status.name == "SINGULAR"
    assert run.ending.component == "the constraint pin1.x" and run.ending.time == pytest.approx(-FLAT / 2)


def test_dead_centers_choose_other_independent_coordinates(tmp_path, capsys):
    """Forces for rest, by virtual work on the coordinate that is independent there; other torques are zero."""
    a, d, line = 1, 1.6, 1.2
    crank = acos((a * a + d * d - line * line) / (2 * a * d))
    along = atan2(-sin(crank), d - cos(crank))
    file = tmp_path / "rocker.kg"
    file.write_text(TRIPLE_ROCKER, encoding="utf-8")
    at = f"crank={crank!r},coupler={along!r},rocker={along + np.pi!r}"
    found = runner(capsys)(f"eval {file} --json -q tau --as-given --state", at)
    assert found.code == 0 and "the usual independent coordinates fail here" in found.err
    assert "rocker' instead" in found.err or "coupler' instead" in found.err
    tau = np.array(data(found)["tau"])
    assert np.count_nonzero(tau) == 1 and tau[0] == 0
    kernel = kg.compile(kg.parse(TRIPLE_ROCKER), "qdd")
    np.testing.assert_allclose(kernel([crank, along, along + np.pi], np.zeros(3), tau), 0, atol=1e-9)


def test_bricard_with_drift_is_right_to_the_drift():
    """With all five rows the result would be 170 % wrong at a drift of 1e-9; redundant rows are removed."""
    mechanism = kg.load("bricard")
    place = kg.assemble(mechanism)
    kernel = kg.compile(mechanism, "qdd")
    zero = np.zeros(len(place.v))
    drifted = place.q + 1e-9 * np.linspace(-1, 1, len(place.q))
    np.testing.assert_allclose(kernel(drifted, zero, zero), kernel(place.q, zero, zero), atol=1e-6)


def test_drift_is_reported_with_every_run(capsys):
    found = data(runner(capsys)("simulate four-bar --for 0.5 --interpret --json"))["drift"]
    assert max(found["position"], found["velocity"]) < 1e-12 and found["energy"] < 1e-7
    assert set(found) >= {"position", "velocity", "energy", "position integrating", "velocity integrating"}
    assert data(runner(capsys)("simulate double-pendulum --for 0.1 --json"))["drift"]["position"] == 0


@pytest.mark.parametrize("beside", [0.0, 1e-9, -1e-6])
def test_kernels_give_no_numbers_in_a_singular_position(beside):
    """One state, a batch, and interpretation use the same graph, as does exported code."""
    mechanism = kg.load("n-four-bar-1")
    q = [FLAT + beside, FLAT + beside, 0]
    kernel = kg.compile(mechanism, "qdd,multipliers,H")
    found = kernel(q, [-2, -2, 0], [0, 0, 0])
    assert np.isnan(found["qdd"]).all() and np.isfinite(found["H"]).all()
    rows = kernel.batch([q, [0.3, 0.3, 0]], [[-2, -2, 0]] * 2, [[0, 0, 0]] * 2)["qdd"]
    assert np.isnan(rows[0]).all() and np.isfinite(rows[1]).all()
    given = dict(zip((*mechanism.layout.positions, *mechanism.layout.velocities), [*q, -2, -2, 0], strict=True))
    forces = dict.fromkeys(mechanism.layout.forces, 0.0)
    assert np.isnan(interpret(kg.derive(mechanism, "qdd"), given | forces)["qdd"]).all()
    slopes = interpret(kg.derive(mechanism, "d(qdd)/d(q)"), given | forces)["d(qdd)/d(q)"]
    assert np.isnan(slopes).any(axis=1).all()


def test_numbers_beside_it_are_right_up_to_the_guard():
    """u'' = 1.2 g sin(u): results have at least four digits, however near the singular position is."""
    kernel = kg.compile(kg.load("n-four-bar-1"), "qdd")
    given = 0
    for beside in np.geomspace(1e-9, 1e-1, 60):
        found = kernel([FLAT + beside] * 2 + [0], [-2, -2, 0], [0, 0, 0])
        if np.isfinite(found).all():
            given += 1
            np.testing.assert_allclose(found[:2], 1.2 * 9.81 * sin(FLAT + beside), rtol=1e-4)
    assert 20 < given < 60


def test_tasks_name_the_rows_of_a_singular_position():
    with pytest.raises(TaskError, match=r"reaction:pin1 is not determined: n-four-bar-1 is .* where pin1\.x"):
        kg.reactions("n-four-bar-1", "pin1", {"u0": FLAT, "u1": FLAT})
    with pytest.raises(TaskError, match="singular"):
        kg.linearize("n-four-bar-1", {"u0": FLAT, "u1": FLAT})


def test_pivots_of_a_loop_on_a_moving_body_do_not_depend_on_frames():
    """A four-bar on an arm that rotates in space: the proof holds together with accelerations."""
    mechanism = kg.parse("""coordinates yaw = 0.3, pitch = 0.4, crank = 0.3, coupler = 0.4, rocker = 1.2;
        Arm | Rz(yaw), Rx(pitch) | Sx(0.3), m(1), Jx(0.1), Jy(0.1), Jz(0.1);
        Crank~Arm | Sx(1), Ry(0.7), Rz(crank) | Sx(0.25), m(1), Jx(0.01), Jy(0.1), Jz(0.1);
        Coupler~Crank | Sx(0.5), Rz(coupler - crank) | Sx(0.6), m(2), Jx(0.01), Jy(0.1), Jz(0.1);
        Rocker~Arm | Sx(1), Ry(0.7), Sx(1), Rz(rocker) | Sx(0.4), m(1), Jx(0.01), Jy(0.1), Jz(0.1);
        loop pin | spherical | Coupler: Sx(1.2) | Rocker: Sx(0.8);""")
    place = kg.assemble(mechanism)
    frames = [frozenset(), frozenset(range(6)), None]
    graphs = [Derivation(mechanism, {}, Plan(in_parent_frame=kept)) for kept in frames]
    graphs = [one.builder.graph([one.output(Quantity("pivots"))]) for one in graphs]
    assert all(kg.prove(graphs[0], other) for other in graphs[1:])
    found = kg.compile(mechanism, "qdd,pivots,multipliers")(place.q, place.v, np.zeros(5))
    assert np.all((found["pivots"] > 1e-6) & (found["pivots"] <= 1))
