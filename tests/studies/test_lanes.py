"""Cases side by side in vector lanes: what a case gives depends on neither its lane nor its neighbors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.simulate import Action, Event
from kinegraph.solve.ensemble import CaseProblem, lane_count
from kinegraph.solve.loops.step import SUBDIVISIONS, TABLEAUX, rows_of
from kinegraph.solve.methods.step_control import Adaptive, FixedStep
from kinegraph.solve.problem import Sampled
from kinegraph.solve.recording import Status
from kinegraph.studies.cases import CaseRunner, starts
from kinegraph.studies.plan import StudySettings
from tests.studies.oscillator import same

MODEL = kg.parse("""
model bouncer;
parameters k = 4, c = 0.1;
coordinates q = 0.5, x = 0;
Block | Sx(q) | m(1);
Second | Sy(x), Rz(q) | m(1), Jz(1);
spring coil | on(q), stiffness(k);
damper oil | on(q), damping(c);
spring other | on(x), stiffness(k);
""")

TIMES = np.linspace(0, 3, 7)

#: Walls that throw back, marks that are only noted, an end, peaks, integrals, sampled forces: all that a lane can meet.
OPTIONS = {
    "events": [
        Event("wall", "q + 0.3", action=Action.RESET, reset={"q'": "-0.8*q'"}),
        Event("mark", "x - 0.05"),
        Event("far", "x - 0.45", action=Action.STOP),
    ],
    "outcomes": {
        "high": "max(x*q)",
        "when": "time_of_max(x*q)",
        "area": "integral(x^2)",
        "hits": "count(wall)",
        "marks": "count(mark)",
        "at": "at(mark, q')",
        "end": "final(q)",
    },
    "inputs": {"x": Sampled(TIMES, np.sin(2 * TIMES))},
    "native": True,
}


def asked(cases=37, **options):
    laws = {"q": "uniform(0.2, 1)", "k": "uniform(1, 9)", "x'": "uniform(-1, 1)"}
    return StudySettings(MODEL, 3.0, laws, cases, **{**OPTIONS, **options}).plan()


def table(plan, first, last):
    return CaseRunner(plan).run(first, last)


def bits(found, rows=slice(None)):
    return {name: column[rows].tolist() for name, column in found.columns.items() if column.dtype.kind != "U"}


@pytest.fixture(scope="module")
def whole():
    return table(asked(), 0, 38)


def equal(one, other):
    pairs = zip(one.values(), other.values(), strict=True)
    return one.keys() == other.keys() and all(np.array_equal(a, b, equal_nan=True) for a, b in pairs)


@pytest.mark.parametrize(("first", "last"), [(0, 1), (5, 6), (3, 20), (30, 38)])
def test_any_cases_again_bit_for_bit(whole, first, last):
    """Another lane, other neighbors, idle lanes beside it."""
    assert equal(bits(table(asked(), first, last)), bits(whole, slice(first, last)))


def test_cases_meet_all_that_lanes_can_meet(whole):
    columns = whole.columns
    assert set(columns["status"]) == {"EVENT", "FINISHED"} and len(set(columns["steps"])) > 10
    assert columns["hits"].max() >= 2 and columns["marks"].max() >= 2


def test_threads_and_chunks_give_the_same_bits():
    options = {**OPTIONS, "vary": {"q": "uniform(0.2, 1)", "k": "uniform(1, 9)"}, "cases": 30, "progress": False}
    one, other = (kg.study(MODEL, 3.0, threads=n, chunk=c, **options) for n, c in ((1, 31), (2, 3)))
    assert same(one, other)


def problem_of(plan):
    """All that the cases share, their states and their parameters."""
    runner = CaseRunner(plan)
    runner.prepare()
    assert isinstance(runner.problem, CaseProblem) and runner.problem.problem.rhs.batch
    values = plan.samples.rows(0, plan.samples.total)
    begun = starts(plan, runner.equations, dict(zip(plan.samples.names, values.T, strict=True)))
    return runner.problem, begun.states, begun.parameters


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_lanes_do_what_code_for_one_state_does(method):
    """The same steps and events; results differ by rounding alone."""
    control = FixedStep(0.01) if method == "rk4" else Adaptive(1e-8, 1e-8)
    problem, *rows = problem_of(asked(method=method, control=control))
    many, alone = problem.run(*rows), replace(problem, lanes=False).run(*rows)
    assert np.array_equal(many.steps, alone.steps) and np.array_equal(many.count, alone.count)
    assert [one.status for one in many.endings] == [one.status for one in alone.endings]
    for name in ("finals", "high", "low", "area", "first_at", "last_at", "at_first"):
        assert np.allclose(getattr(many, name), getattr(alone, name), rtol=0, atol=1e-7, equal_nan=True), name


def test_a_case_that_fails_spoils_no_other():
    """A force that is no number at once, one that becomes none, and a state that is none, beside others."""
    force, outcomes = {"x": "1e-30*sqrt(0.9 - q)"}, {"end": "final(q)", "high": "max(x)"}
    problem, states, parameters = problem_of(asked(9, inputs=force, events=[], outcomes=outcomes))
    states[:, 0] = np.linspace(0.2, 0.5, 10)
    good = problem.run(states, parameters)
    states[2, 0], states[5, 0], states[7, 2] = 0.95, np.nan, 8.0
    mixed = problem.run(states, parameters)
    fine = [one.status is Status.FINISHED for one in mixed.endings]
    assert fine == [row not in (2, 5, 7) for row in range(10)]
    assert {mixed.endings[row].status for row in (2, 5, 7)} == {Status.NOT_A_NUMBER}
    for name in ("finals", "steps", "high", "high_at"):
        assert np.array_equal(getattr(mixed, name)[fine], getattr(good, name)[fine]), name


def test_asked_to_stop_lanes_end():
    problem, *rows = problem_of(asked(9))
    ends = problem.run(*rows, stop=np.ones(1, dtype=np.int64)).endings
    assert {one.status for one in ends} == {Status.INTERRUPTED}


def test_too_many_steps_end_some_cases():
    problem, *rows = problem_of(asked(9))
    free = problem.run(*rows)
    most = int(np.median(free.steps))
    found = replace(problem, control=replace(problem.control, max_steps=most)).run(*rows)
    ended = np.array([one.status is Status.TOO_MANY_STEPS for one in found.endings])
    assert ended.any() and not ended.all() and (found.steps <= most).all()
    assert np.array_equal(found.finals[~ended], free.finals[~ended])


def test_whole_vectors_of_lanes():
    rhs = CaseRunner(asked()).problem.problem.rhs
    vector = max(rhs.code.lanes, 4)
    counts = [lane_count(rhs, rows) for rows in (1, 7, 9, 1000)]
    assert all(count % vector == 0 for count in counts) and counts == sorted(counts)
    assert counts[0] == vector and counts[-1] * rhs.size <= 512


@pytest.mark.parametrize("tableau", TABLEAUX, ids=lambda one: one.name)
def test_weights_inside_a_step_are_those_of_dense_output(tableau):
    terms, inside = tableau.dense_weights(), rows_of(tableau)[-SUBDIVISIONS:]
    for k, row in enumerate(inside):
        u = (k + 1) / SUBDIVISIONS
        factors = np.cumprod([u if place % 2 == 0 else 1 - u for place in range(len(terms))])
        assert np.abs(factors @ terms - row).max() < 1e-15 * np.abs(terms).max()
    assert np.abs(inside[-1] - terms[0]).max() < 1e-15
