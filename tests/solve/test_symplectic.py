"""The symplectic method: bounded energy error, exact quadratic integrals, canonical equations equal to the others."""

from __future__ import annotations

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import DerivationError, SolveError
from kinegraph.simulate import Action, Status, simulate
from kinegraph.solve.methods.symplectic import Symplectic
from tests.effort import SOAK
from tests.mechanisms import PLAIN_JOINTS, random_tree
from tests.solve.problems import PENDULUM


def test_energy_is_bounded_over_a_million_steps() -> None:
    """The error neither grows nor walks: the last tenth is as good as the first."""
    run = simulate(kg.parse(PENDULUM), 20_000, method="symplectic", step=0.02, times=20_000)
    assert run.statistics.steps == 1_000_000
    error = np.abs(run["energy"] - run["energy"][0])
    assert error.max() < 5e-6
    assert error[-2000:].max() < 1.2 * error[:2000].max()


def test_a_free_top_keeps_its_quaternion_to_rounding_and_its_energy_bounded() -> None:
    """The length is a quadratic first integral. The energy is not: its error falls as h^4 and does not grow."""
    errors = []
    for step in (0.02, 0.01):
        run = simulate(kg.load("wing-nut"), 2000, method="symplectic", step=step, times=4000)
        lengths = np.linalg.norm(run.array("e0", "e1", "e2", "e3"), axis=1)
        assert np.abs(lengths - 1).max() < 1e-13
        error = np.abs(run["energy"] / run["energy"][0] - 1)
        assert error[-400:].max() < 1.01 * error[:400].max()
        errors.append(error.max())
    assert abs(np.log2(errors[0] / errors[1]) - 4) < 0.2


@pytest.mark.parametrize("seed", range(3 if SOAK else 1))
def test_momenta_and_velocities_give_the_same_motion(seed: int) -> None:
    tree = random_tree(seed, bodies=3, joints=PLAIN_JOINTS)
    start = dict.fromkeys(tree.layout.velocities, 0.3)
    exact = simulate(tree, 0.2, rtol=1e-12, times=4, state=start)
    run = simulate(tree, 0.2, method="symplectic", step=1e-3, times=4, state=start)
    assert np.abs(run.array() - exact.array()).max() < 1e-7


def test_what_is_not_conservative_is_refused() -> None:
    with pytest.raises(SolveError, match="conservative"):
        simulate(kg.parse(PENDULUM), 1, method="symplectic", step=0.1, inputs={"q": "sin(t)"})
    with pytest.raises(SolveError, match="step"):
        simulate(kg.parse(PENDULUM), 1, method="symplectic")


@pytest.mark.parametrize(("stages", "bound"), [(1, 1e-3), (2, 1e-6), (3, 1e-8)])
def test_loops_are_kept_and_the_order_is_that_of_gauss(stages: int, bound: float) -> None:
    """RATTLE and its compositions on the four-bar: the error falls with the order, loops stay closed to rounding."""
    exact = simulate("four-bar", 0.4, rtol=1e-12, atol=1e-13, times=1, native=False)
    errors = []
    for step in (0.02, 0.01):
        run = simulate("four-bar", 0.4, method=Symplectic(stages), step=step, times=1, native=False)
        errors.append(max(float(np.abs(run[name] - exact[name]).max()) for name in run.positions))
        assert run.drift["position integrating"] < 1e-14 and run.drift["velocity integrating"] < 1e-13
    assert abs(np.log2(errors[0] / errors[1]) - 2 * stages) < 0.3 and errors[1] < bound


def test_loops_of_a_bricard_keep_their_energy_bounded() -> None:
    run = simulate("bricard", 1, method="symplectic", step=0.02, times=10, native=False)
    assert run.drift["energy"] < 1e-8 and run.drift["position integrating"] < 1e-14


def test_steps_go_over_singular_positions() -> None:
    """Two four-bars that share a bar lie flat at t = 0.714 s: a step that crosses it is solved with both ends' rows."""
    exact = simulate("n-four-bar-2", 0.8, rtol=1e-11, atol=1e-12, times=1, native=False)
    run = simulate("n-four-bar-2", 0.8, method="symplectic", step=5e-3, times=1, native=False)
    assert run.status is Status.FINISHED
    assert max(float(np.abs(run[name] - exact[name]).max()) for name in run.positions) < 1e-7


#: Steps whose parts land beside singular positions, where the equations of a step have other solutions as well.
FOLDS = np.geomspace(5e-4, 0.05, 40) if SOAK else (0.01, 0.0117)


@pytest.mark.parametrize("step", FOLDS)
def test_loops_do_not_fold_otherwise_in_singular_positions(step: float) -> None:
    """A parallelogram is flat twice a turn and could go on crosswise: energy came and went with each such step."""
    run = simulate("n-four-bar-1", 2.5, method="symplectic", step=step, times=4, native=False)
    exact = simulate("n-four-bar-1", 2.5, rtol=1e-11, atol=1e-12, times=4, native=False)
    assert run.status is Status.FINISHED and run.drift["energy"] < 20 * step**4
    assert max(float(np.abs(run[name] - exact[name]).max()) for name in run.positions) < 1000 * step**4 + 1e-6


def test_steps_that_are_too_long_for_loops_end_the_run() -> None:
    run = simulate("four-bar", 10, method="symplectic", step=0.5, state={"crank'": 30}, native=False)
    assert run.status is Status.NO_CONVERGENCE and "smaller" in str(run.ending)


def test_events_stop_a_run_with_loops() -> None:
    stop = kg.Event("there", "crank - 0.1", action=Action.STOP)
    run = simulate("four-bar", 1, method="symplectic", step=5e-3, events=[stop], native=False)
    exact = simulate("four-bar", 1, events=[stop], native=False, rtol=1e-11)
    assert run.status is Status.EVENT and abs(run.ending.time - exact.ending.time) < 1e-6


def test_loops_that_roll_or_turn_by_quaternions_are_refused() -> None:
    with pytest.raises(SolveError, match="only holonomic constraints"):
        simulate("knife-edge", 1, method="symplectic", step=0.01)
    with pytest.raises(DerivationError, match="dampers"):
        simulate(
            kg.parse("model m; coordinates q = 1, r = 1; A | Ry(q) | Sx(1), m(1); B | Ry(r) | Sx(1), m(1); "
                     "constraint c | q - r = 0; damper d | on(q), damping(1);"),
            1, method="symplectic", step=0.01,
        )  # fmt: skip


@pytest.mark.parametrize("grid", [25, 17])  # on the steps, and between them
def test_states_saved_between_steps_are_closed(grid: int) -> None:
    options = {"state": {"crank'": 20}, "method": "symplectic", "step": 0.004, "times": grid, "native": False}
    found = kg.simulate("four-bar", 0.2, **options)
    assert found.drift["position"] < 1e-12 and found.drift["velocity"] < 1e-10
    assert all(check.passed for check in found.checks if check.name.startswith("loops open by position, left"))
    if grid == 17:
        assert found.drift["position integrating"] > 1e-8  # what the interpolation left
