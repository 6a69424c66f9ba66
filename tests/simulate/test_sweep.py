"""Sweeps give what single runs give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.errors import SolveError
from kinegraph.graph.interpret import interpret
from kinegraph.simulate import Action, Status, simulate, sweep
from kinegraph.solve.execution import Execution
from tests.simulate.test_inputs import MACHINE


@pytest.mark.parametrize("method", ["dopri5", "dop853", "rk4"])
def test_lanes_do_what_single_runs_do(method: str) -> None:
    arm, random = kg.load("double-pendulum"), np.random.default_rng(3)
    over = {"q1": random.uniform(-2, 2, 37), "q2'": random.uniform(-1, 1, 37), "m2": random.uniform(0.5, 2, 37)}
    options = {"step": 1e-2} if method == "rk4" else {"rtol": 1e-9}
    many = sweep(arm, 2, over=over, method=method, times=8, native=True, **options)
    assert all(status is Status.FINISHED for status in many.statuses)
    for run in (0, 5, 36):
        state = {name: over[name][run] for name in ("q1", "q2'")}
        one = simulate(
            arm, 2, method=method, times=8, state=state, parameters={"m2": over["m2"][run]}, **options
        )  # fmt: skip
        assert np.abs(many.states[run] - one.array()).max() < 1e-9


def test_ends_only_and_quaternions() -> None:
    speeds = np.linspace(100, 150, 9)
    many = sweep(kg.load("heavy-top"), 0.3, over={"wy": speeds}, method="dop853", rtol=1e-10, native=True)
    assert many.states.shape == (9, 1, 7)
    one = simulate(kg.load("heavy-top"), 0.3, state={"wy": 100}, rtol=1e-10)
    assert np.abs(many.states[0, 0] - one.array()[-1]).max() < 1e-9
    assert np.abs(np.linalg.norm(many.states[:, 0, :4], axis=1) - 1).max() < 1e-14


def test_initial_values_that_depend_on_a_parameter() -> None:
    many = sweep(kg.load("double-pendulum"), 0.1, over={"amplitude": [0.1, 0.2]}, times=[0.0, 0.1])
    assert many["q1"][:, 0] == pytest.approx([0.1, 0.2])


def test_one_bad_run_spoils_no_other() -> None:
    arm = kg.load("double-pendulum")
    free = sweep(arm, 0.2, over={"q1": [0.1, 0.2, 0.3]}, inputs={"q1": 0}, times=4, native=True)
    root = {"q1": "1e-30*sqrt(0.25 - abs(q1))"}
    many = sweep(arm, 0.2, over={"q1": [0.1, 0.2, 0.3]}, inputs=root, times=4, native=True)
    assert [status is Status.FINISHED for status in free.statuses] == [True, True, True]
    assert [status is Status.FINISHED for status in many.statuses] == [True, True, False]
    assert many.statuses[2] is Status.NOT_A_NUMBER
    assert np.isnan(many.states[2, 1:]).all()
    assert np.allclose(many.states[:2], free.states[:2], atol=1e-7)


def test_table(tmp_path: Path) -> None:
    many = sweep(kg.load("double-pendulum"), 0.1, over={"q1": [0.1, 0.2], "m1": [1, 2]}, times=2)
    table = many.table()
    assert table.column_names[:4] == ["run", "q1(0)", "m1", "t"]
    assert table.num_rows == 6
    for ending in ("parquet", "csv", "npz"):
        assert many.save(tmp_path / f"s.{ending}").stat().st_size > 0


def test_mistakes() -> None:
    arm = kg.load("double-pendulum")
    for over, message in [
        ({}, "equal length"),
        ({"q1": [1, 2], "q2": [1]}, "equal length"),
        ({"x": [1]}, "no variable 'x'"),
    ]:
        with pytest.raises(SolveError, match=message):
            sweep(arm, 1, over=over)
    with pytest.raises(SolveError, match="steps of one length"):
        sweep(arm, 1, over={"q1": [1]}, method="symplectic")


def test_a_sweep_of_a_driven_machine() -> None:
    machine, starts = kg.parse(MACHINE), [0.1, 0.5]
    runs = kg.sweep(machine, 1, over={"q1": starts}, inputs={"u": "-q1'"}, rtol=1e-9, method="dop853", native=True)
    for row, start in enumerate(starts):
        alone = kg.simulate(machine, 1, inputs={"u": "-q1'"}, state={"q1": start}, rtol=1e-9)
        assert runs["q1"][row, -1] == pytest.approx(alone["q1"][-1], abs=1e-7)


def test_interpreted_sweeps_do_what_compiled_ones_do() -> None:
    """Initial values, a parameter, a quaternion, and a run that breaks down half way."""
    arm, over = kg.load("double-pendulum"), {"q1": [0.1, 0.5, 1.0], "m2": [1.0, 2.0, 3.0]}
    slow, fast = (sweep(arm, 1, over=over, times=4, native=native, method="dop853") for native in (False, True))
    assert np.allclose(slow.states, fast.states, atol=1e-9)
    assert slow.statuses == fast.statuses and np.array_equal(slow.steps, fast.steps)
    assert slow.decision.execution is Execution.INTERPRETED
    free = kg.parse("model f; coordinates q; A | Sx(q) | m(1);")
    options = {"over": {"q'": [0.5, 2.0]}, "inputs": {"q": "q'^3"}, "times": 4, "method": "dop853"}
    slow, fast = (sweep(free, 1, native=native, **options) for native in (False, True))  # type: ignore[arg-type]
    assert slow.statuses[0] is fast.statuses[0] is Status.FINISHED
    assert not slow.statuses[1].good and not fast.statuses[1].good  # from q' = 2 it is infinite at t = 1/8
    assert np.array_equal(np.isnan(slow.states), np.isnan(fast.states))


def test_few_runs_need_no_compiler() -> None:
    few = sweep(kg.load("double-pendulum"), 0.2, over={"q1": [0.1, 0.2]}, method="dop853")
    assert few.decision.execution is Execution.INTERPRETED and "native: no" in str(few)


def test_many_runs_compile() -> None:
    many = sweep(kg.load("double-pendulum"), 1, over={"q1": np.linspace(0.1, 1, 200)}, method="dop853")
    assert many.decision.execution is Execution.NATIVE


BALL = "model ball; coordinates z = 1; parameters e = 0.5; gravity 0, 0, -10; Ball | Sz(z) | m(1);"


@pytest.mark.parametrize("threads", [1, 3])
def test_events_of_every_run(threads: int) -> None:
    events = [kg.Event("floor", "z", reset={"z'": "-e*z'"})]
    over = {"e": [0.6, 0.7, 0.9], "z": [1.0, 2.0, 3.0]}
    many = sweep(kg.parse(BALL), 1.2, over=over, events=events, native=False, threads=threads)
    for row, (e, height) in enumerate(zip(over["e"], over["z"], strict=True)):
        alone = simulate(kg.parse(BALL), 1.2, events=events, state={"z": height}, parameters={"e": e}, native=False)
        assert [one.time for one in many.events[row]] == pytest.approx([one.time for one in alone.events], abs=1e-7)
        assert many["z"][row, -1] == pytest.approx(alone["z"][-1], abs=1e-6)
    assert len({len(one) for one in many.events}) > 1


def test_runs_that_stop_are_good() -> None:
    stop = kg.Event("low", "z - 0.5", action=Action.STOP)
    many = sweep(kg.parse(BALL), 1, over={"z": [0.6, 9.0]}, events=[stop], native=False)
    assert [status.name for status in many.statuses] == ["EVENT", "FINISHED"] and "2 of 2" in str(many)


@pytest.mark.parametrize("method", ["bdf", "adams", "symplectic"])
def test_any_method_sweeps(method: str) -> None:
    arm, over = kg.load("double-pendulum"), {"q1": [0.1, 0.4], "q2'": [0.0, 0.3], "m2": [1.0, 2.0]}
    options = {"step": 1e-2} if method == "symplectic" else {"rtol": 1e-9}
    many = sweep(arm, 1, over=over, method=method, native=False, times=2, **options)
    exact = sweep(arm, 1, over=over, method="dop853", native=False, times=2, rtol=1e-11)
    q = [many.names.index(name) for name in ("q1", "q2")]
    assert np.abs(many.states[:, :, q] - exact.states[:, :, q]).max() < 1e-6


def test_sampled_inputs_and_loops() -> None:
    free = kg.parse("model f; coordinates x; A | Sx(x) | m(2);")
    many = sweep(free, 1, over={"x'": [0.0, 1.0]}, inputs={"x": ([0.0, 1.0], [0.0, 6.0])}, native=False)
    assert many["x"][:, -1] == pytest.approx([0.5, 1.5])
    bars = kg.load("four-bar")
    many = sweep(bars, 0.1, over={"crank": [0.9, 1.1]}, native=False, times=[0.0, 0.1])
    alone = simulate(bars, 0.1, state={"crank": 1.1}, times=[0.0, 0.1], native=False)
    assert many["rocker"][1] == pytest.approx(alone["rocker"], abs=1e-7)


@pytest.mark.parametrize("method", ["rk4", "dopri5", "symplectic"])
def test_loops_are_closed_between_steps_as_in_single_runs(method: str) -> None:
    """Saved states lie between steps: both ways of running take them onto the loops by the same rule."""
    bars = kg.load("four-bar")
    options = {"method": method, "times": 7, "native": False, "progress": False, "rtol": 1e-6}
    options |= {"step": 0.02} if method != "dopri5" else {}
    over = {"crank": [1.0, 1.2], "crank'": [3.0, -2.0], "b": [1.2, 1.25]}
    many = sweep(bars, 0.3, over=over, **options)
    rows = kg.derive(bars, "constraints,constraint_rates")
    for run in range(2):
        state = {name: over[name][run] for name in ("crank", "crank'")}
        one = simulate(bars, 0.3, state=state, parameters={"b": over["b"][run]}, **options)
        q = np.array([many[name][run] for name in bars.layout.positions]).T
        assert np.abs(q - np.array([one[name] for name in bars.layout.positions]).T).max() < 1e-12
        if method != "symplectic":  # its states are momenta
            v = np.array([many[name][run] for name in bars.layout.velocities]).T
            assert np.abs(v - np.array([one[name] for name in bars.layout.velocities]).T).max() < 1e-12
            columns = dict(zip((*bars.layout.positions, *bars.layout.velocities), np.hstack([q, v]).T, strict=True))
            columns |= {"a": 0.5, "b": over["b"][run], "c": 0.8, "d": 1.0, "rho": 2.0}
            found = interpret(rows, columns)
            assert np.abs(found["constraints"]).max() < 1e-14 and np.abs(found["constraint_rates"]).max() < 1e-12


def test_names_are_in_a_sweep_or_not() -> None:
    many = sweep(kg.load("double-pendulum"), 0.1, over={"q1": [1, 2]}, native=False, progress=False)
    assert "q1" in many and "q9" not in many


def test_grids_may_end_beside_the_run_by_rounding() -> None:
    arm, options = kg.load("double-pendulum"), {"native": False, "progress": False, "t0": 1.725}
    grid = 1.725 + np.linspace(0, 0.3, 4)
    for times in (grid, np.nextafter(grid, 9), np.nextafter(grid, 0)):
        one = simulate(arm, 0.3, times=times, **options)
        assert len(one.t) == 4 and (one.t[0], one.t[-1]) == (1.725, 1.725 + 0.3)
        assert sweep(arm, 0.3, times=times, over={"q1": [1]}, **options).times.tolist() == one.t.tolist()
    with pytest.raises(SolveError, match="give times inside the run"):
        simulate(arm, 0.3, times=grid + 1e-12, **options)
