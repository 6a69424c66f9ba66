"""N four-bars in a row (IFToMM A02): one degree of freedom, but N + 1 when all are horizontal, twice in a turn."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.solve.recording import Status
from kinegraph.solve.solution import Solution
from tests.effort import SOAK
from tests.interpreted import interpreted

#: Where the top of the first upright is at 1, 2, 5 and 10 s, from the exact reduction to a pendulum: N -> (x, y).
EXACT = {
    1: [[-0.260712675184, -0.965416439159], [0.077085471793, 0.997024488184],
        [-0.944908186042, -0.32733548532], [0.478385057759, 0.878150178792]],
    2: [[-0.195020301949, -0.980799205662], [0.057815795768, 0.998327267863],
        [-0.811310461004, -0.58461554535], [0.328458111539, 0.944518538179]],
    5: [[-0.147047449314, -0.98912943928], [0.043773021606, 0.99904150193],
        [-0.661400888032, -0.750032576166], [0.235789135843, 0.971804241305]],
    10: [[-0.129306015051, -0.991604737016], [0.038567666597, 0.999255990772],
         [-0.595545255477, -0.803321759122], [0.204353560988, 0.978897145829]],
    40: [[-0.115356880632, -0.9933241113], [0.0344663073, 0.99940586033],
         [-0.540190050674, -0.841543052465], [0.180512226685, 0.983572740583]],
}  # fmt: skip

TIMES = [0, 1, 2, 5, 10]


def top(run: Solution) -> np.ndarray:
    angle = run[run.positions[0]]
    return np.column_stack([-np.sin(angle), np.cos(angle)])[1:]


@pytest.mark.parametrize("count", EXACT if SOAK else [1, 2])
def test_through_the_singular_position_at_every_turn(count: int) -> None:
    run = kg.simulate(f"n-four-bar-{count}", 10, times=TIMES, rtol=1e-10, atol=1e-11, native=False, progress=False)
    np.testing.assert_allclose(top(run), EXACT[count], atol=3e-8)
    assert run.statistics.steps < 200


@pytest.mark.parametrize(
    ("method", "rtol", "error"),
    [("dop853", 1e-6, 1e-3), *([("dopri5", 1e-6, 5e-3), ("dopri5", 1e-9, 5e-6)] if SOAK else [])],
)
def test_other_tolerances_and_methods(method: str, rtol: float, error: float) -> None:
    run = kg.simulate(
        "n-four-bar-3", 10, times=TIMES, method=method, rtol=rtol, atol=rtol / 10, native=False, progress=False
    )
    best = kg.simulate("n-four-bar-3", 10, times=TIMES, rtol=1e-11, atol=1e-12, native=False, progress=False)
    np.testing.assert_allclose(top(run), top(best), atol=error)


@pytest.mark.soak
def test_ida_ends_at_the_singular_position_or_passes_it() -> None:
    """Its equations have no solution there: steps went on without end, of no length."""
    run = kg.simulate("n-four-bar-1", 10, method="ida", times=20, native=False, progress=False)
    assert run.status in (Status.SINGULAR, Status.FINISHED) and run.statistics.steps < 10_000
    assert all(one.passed for one in run.checks)
    if run.status is Status.SINGULAR:
        assert "loop pin1" in str(run.ending)


def test_constraints_hold_at_all_times() -> None:
    run = kg.simulate("n-four-bar-2", 10, times=1000, native=False, progress=False)
    rows = interpreted(kg.load("n-four-bar-2"), "constraints,constraint_rates").batch(
        *(np.column_stack([run[name] for name in names]) for names in (run.positions, run.velocities))
    )
    assert max(np.abs(array).max() for array in rows.values()) < 1e-10
