"""Sweeps and studies of mechanisms with contacts: each run has modes of its own."""

import numpy as np

import kinegraph as kg
from kinegraph.simulate import Direction

BALL = kg.parse(
    "model ball; parameters e = 0.5; coordinates z = 1; gravity 0, 0, -9.81; "
    "Ball | Sz(z) | m(1); contact floor | z >= 0 | restitution(e);"
)


def apex(height: float, restitution: float, bounces: int) -> float:
    """How high a ball comes after some bounces."""
    return height * restitution ** (2 * bounces)


def test_a_sweep_is_what_its_runs_are():
    over = {"e": np.array([0.2, 0.8]), "z": np.array([1.0, 2.0])}
    many = kg.sweep(BALL, 0.9, over=over, native=False, times=3, progress=False)
    for row, (e, z) in enumerate(zip(*over.values(), strict=True)):
        one = kg.simulate(
            BALL, 0.9, method="dopri5", parameters={"e": e}, state={"z": z}, native=False, times=3, progress=False
        )
        np.testing.assert_array_equal(many["z"][row], one["z"])
        assert [event.name for event in many.events[row]] == [event.name for event in one.events]


def test_a_study_of_bounces():
    events = [kg.Event("top", "z'", Direction.FALLING)]
    study = kg.study(
        BALL, 0.95, vary={"e": "uniform(0.6, 0.9)"}, cases=4, seed=3, events=events, native=False,
        outcomes={"speed": "max(z')", "height": "at(top, z)", "lowest": "min(z)"}, times=4,
    )  # fmt: skip
    for e, height, speed, lowest in zip(
        *(study.values(name) for name in ("e", "height", "speed", "lowest")), strict=True
    ):
        assert abs(height - apex(1.0, e, 1)) < 1e-8
        assert abs(speed - e * np.sqrt(2 * 9.81)) < 1e-8 and -1e-9 < lowest < 1e-9


OUTCOMES = {
    "way": "integral(z')",
    "end": "final(z)",
    "speed": "max(z')",
    "when": "time_of_max(z')",
    "hits": "count(low)",
}


def bounces(**options):
    events = [kg.Event("low", "z - 0.2", Direction.FALLING)]
    return kg.study(
        BALL, 0.95, vary={"e": "uniform(0.6, 0.9)", "z": "uniform(0.5, 1.5)"}, cases=8, seed=3, events=events,
        outcomes=OUTCOMES, progress=False, **options,
    )  # fmt: skip


def test_what_is_kept_of_a_case_knows_of_its_impacts():
    """The integral of a speed that jumps is the way; the largest speed is that after the first impact, at that time."""
    study = bounces(native=False)
    way, end, e, z = (study.values(name) for name in ("way", "end", "e", "z"))
    np.testing.assert_allclose(way, end - z, atol=1e-9)
    np.testing.assert_allclose(study.values("speed"), e * np.sqrt(2 * 9.81 * z), rtol=1e-9)
    np.testing.assert_allclose(study.values("when"), np.sqrt(2 * z / 9.81), rtol=1e-9)


def test_compiled_cases_with_contacts_do_what_interpreted_ones_do():
    slow, fast = bounces(native=False), bounces(native=True, threads=2, chunk=2)
    assert np.array_equal(slow["hits"], fast["hits"])
    for name in ("way", "end", "speed", "when"):
        np.testing.assert_allclose(slow[name], fast[name], atol=1e-9)
    row = fast.case(5).row
    assert [repr(column[5].item()) for column in fast.columns.values()] == list(map(repr, row.values()))
