"""What drives a mechanism from outside, and where its energy goes."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError, SolveError
from kinegraph.simulate import Sampled, simulate

#: An actuated double pendulum with everything that stores, loses and supplies energy.
MACHINE = """
model machine;
inputs u, w = 0.3*t;
coordinates q1 = 1.2, q2 = 0.3;
gravity 0, 0, -9.81;
Upper       | Ry(q1)         | Sz(-1/2), m(1), Jx(1/12), Jy(1/12);
Lower~Upper | Sz(-1), Ry(q2) | Sz(-1/2), m(1), Jx(1/12), Jy(1/12);
output tip = Lower (0, 0, -1);
limit  elbow | on(q2), lower(-1/2), upper(1/2), stiffness(1e3), damping(1e3);
damper oil   | on(q1), damping(0.3);
spring coil  | on(q1), stiffness(20), rest(w);
force  motor | value(u), on(q1);
"""

SLIDE = "model slide; inputs u; coordinates x; A | Sx(x) | m(2); force motor | value(u), on(x);"


def test_a_declared_input_by_formula_and_by_samples() -> None:
    """A mass of 2 under u = 6 t: x = t^3/2. Straight lines between samples are exact."""
    for given in ("6*t", ([0, 2], [0, 12]), Sampled([0, 1, 2], [0, 6, 12], smooth=True)):
        run = simulate(kg.parse(SLIDE), 2, inputs={"u": given}, times=4)
        assert np.allclose(run["x"], run.t**3 / 2, atol=1e-9)
        assert run["supplied"][-1] == pytest.approx(run["kinetic"][-1])


def test_joint_forces_by_both_names() -> None:
    short, full = (simulate(kg.load("double-pendulum"), 1, inputs={name: "sin(t)"}) for name in ("q1", "tau:q1"))
    assert np.array_equal(short.array(), full.array())


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param({"u": "0.5*sin(t)"}, marks=pytest.mark.soak),
        pytest.param({"u": ([0, 5, 10], [0, 1, 0]), "q2": "-0.2*q2'"}, marks=pytest.mark.soak),
        {"u": "-q1'", "w": "0.1*t^2", "tau:q2": ([0, 10], [0.2, 0.1])},
    ],
)
@pytest.mark.parametrize("method", ["dop853", "bdf"])
def test_energy_is_accounted_for(inputs: dict[str, object], method: str) -> None:
    run = simulate(kg.parse(MACHINE), 2, inputs=inputs, method=method, rtol=1e-9)  # type: ignore[arg-type]
    (balance,) = run.checks
    assert balance.name.startswith("energy balance (energy") and "+ dissipated - supplied" in balance.name
    assert balance.error < 1e-7
    assert run["dissipated"][-1] > 0.1 and np.all(np.diff(run["dissipated"]) >= -1e-9)
    gained = run["energy"] - run["energy"][0]
    assert np.allclose(gained, run["supplied"] - run["dissipated"] + run.get("work", 0.0), atol=1e-6)


def test_an_expression_of_the_model_can_be_replaced() -> None:
    machine = kg.parse(MACHINE)
    own = simulate(machine, 1, inputs={"u": 0}, rtol=1e-10)  # the stop is hard: two graphs of one problem step apart
    same = simulate(machine, 1, inputs={"u": 0, "w": "0.3*t"}, rtol=1e-10)
    other = simulate(machine, 1, inputs={"u": 0, "w": 0}, rtol=1e-10)
    assert np.allclose(own.array(), same.array(), atol=1e-7)
    assert np.abs(own.array() - other.array()).max() > 1e-2


def test_springs_and_stops_without_loss_have_no_accounts() -> None:
    held = kg.parse(
        "model held; coordinates q = 1; A | Ry(q) | Sz(-1), m(1); spring s | on(q), stiffness(3);"
        "limit l | on(q), lower(-1/2), stiffness(100);"
    )
    run = simulate(held, 5, rtol=1e-10)
    assert "dissipated" not in run
    assert [check.name for check in run.checks] == ["energy"]
    assert run.checks[0].error < 1e-7
    kept = simulate(held, 5, method="symplectic", step=1e-3)
    assert kept.checks[0].error < 1e-3


def test_what_cannot_be_driven_is_explained() -> None:
    machine = kg.parse(MACHINE)
    with pytest.raises(DerivationError, match="input 'u' has no value"):
        simulate(machine, 1)
    with pytest.raises(DerivationError, match="known are q1, q2, u, w"):
        simulate(machine, 1, inputs={"u": 1, "nonsense": 1})
    with pytest.raises(SolveError, match="given twice"):
        simulate(machine, 1, inputs={"u": 1, "q1": 1, "tau:q1": 1})
    with pytest.raises(SolveError, match="conservative"):
        simulate(machine, 1, inputs={"u": 1}, method="symplectic", step=1e-2)
    damped = kg.parse("model d; coordinates q = 1; A | Ry(q) | Sz(-1), m(1); damper oil | on(q), damping(1);")
    with pytest.raises(DerivationError, match="potential, but not all elements have one: oil"):
        simulate(damped, 1, method="symplectic", step=1e-2)
