"""Interpreted and compiled runs: the same numbers, and a choice between them that can be explained and forced."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.codegen.program.binding import Argument
from kinegraph.codegen.program.interpreted import InterpretedKernel
from kinegraph.errors import KinegraphError
from kinegraph.graph.build import GraphBuilder
from kinegraph.graph.interpret import interpret
from kinegraph.graph.node import Graph, Kind, Output, Symbol
from kinegraph.jit import cache
from kinegraph.simulate import Event, Sampled, Solution, Status, simulate
from kinegraph.solve.execution import Decision, Execution
from kinegraph.solve.methods.method import Method
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.problem import CauchyProblem, RightHandSide
from tests.solve.problems import BALL, PENDULUM

SAMPLES = Sampled(np.linspace(0, 2, 30), np.sin(np.linspace(0, 6, 30)), smooth=True)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("double-pendulum", {"method": "dop853", "events": {"swing": "q1'"}}),
        ("double-pendulum", {"method": "dopri5", "inputs": {"q1": SAMPLES, "q2": "-0.1*q2'"}, "times": None}),
        ("double-pendulum", {"method": "rk4", "step": 0.01}),
        ("double-pendulum", {"method": "bdf", "inputs": {"q1": SAMPLES}, "events": {"swing": "q1'"}}),
        ("double-pendulum", {"method": "adams", "times": None}),
        ("heavy-top", {"method": "dop853"}),
        ("wing-nut", {"method": "symplectic", "step": 0.02}),
    ],
)
def test_interpreted_and_compiled_runs_agree(model: str, options: dict[str, Any]) -> None:
    mechanism, duration = kg.load(model), 0.1 if model == "heavy-top" else 2
    slow = simulate(mechanism, duration, native=False, **options)
    fast = simulate(mechanism, duration, native=True, **options)
    assert slow.status is fast.status is Status.FINISHED
    assert slow.statistics.steps == fast.statistics.steps
    rows = slice(-1, None) if options.get("times", 1) is None else slice(None)  # own steps differ by rounding
    assert np.abs(slow.array()[rows] - fast.array()[rows]).max() < 1e-8
    assert [one.name for one in slow.events] == [one.name for one in fast.events]
    assert np.allclose([one.time for one in slow.events], [one.time for one in fast.events], atol=1e-9)
    assert (slow.decision.execution, fast.decision.execution) == (Execution.INTERPRETED, Execution.NATIVE)
    assert "native: no, as asked for" in str(slow)


@pytest.mark.parametrize("method", ["dop853", "bdf"])
def test_interpreted_events_reset_the_state(method: str) -> None:
    """A ball that keeps half its speed: the times of impact are known."""
    bounce = Event("bounce", "z", reset={"z": 0, "z'": "-z'/2"})
    run = simulate(kg.parse(BALL), 1.0, method=method, events=[bounce], native=False, rtol=1e-10)
    first = np.sqrt(2 / 9.81)
    assert [one.time for one in run.events[:2]] == pytest.approx([first, 2 * first], abs=1e-7)


@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_interpreted_trouble_is_named(method: str) -> None:
    """Python stops at the root of a negative number; the run must see a NaN, as machine code does."""
    run = simulate(kg.parse(PENDULUM), 2, method=method, inputs={"q": "sqrt(0.5 - t)"}, native=False)
    assert run.status in (Status.NOT_A_NUMBER, Status.STEP_TOO_SMALL)
    assert run.ending.time == pytest.approx(0.5, abs=2e-3)


def test_ctrl_c_inside_a_callback_keeps_what_there_is() -> None:
    """CVODE calls Python, C code swallows exceptions: the interruption must come through all the same."""
    calls = [0]

    def rate(x: np.ndarray) -> list[float]:
        calls[0] += 1
        if calls[0] == 50:
            raise KeyboardInterrupt
        return [float(x[1]), -float(x[0])]

    task = CauchyProblem(RightHandSide(rate, ("y", "y'")), np.array([1.0, 0.0]), 0.0, 100.0, native=False)
    run = Method.BDF.solver().integrate(task, Adaptive(1e-8))
    assert run.ending.status is Status.INTERRUPTED
    assert len(run.times) > 10


def test_short_runs_need_no_compiler() -> None:
    """What a newcomer sees first is there at once: LLVM's code generator is not asked.

    But for the sums of the method, which are compiled once for all models and here by a run of another one.
    """
    code = (
        "import sys, kinegraph as kg; from kinegraph.jit import engine; engine.object_code = None;"
        "run = kg.simulate(kg.load('double-pendulum'), 10); assert run.status.good; assert run.checks[0].passed;"
        "assert str(run.decision).startswith('native: no'), run.decision"
    )
    environment = {"PYTHONPATH": "src", "KINEGRAPH_CACHE": str(cache.directory())}
    # Not in this process: it may have the sums in memory from a test with a cache of its own.
    for program in ("import kinegraph as kg; kg.simulate(kg.load('pendulum-1'), 0.1, native=False)", code):
        assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0


def test_long_runs_are_begun_anew_compiled() -> None:
    run = simulate(kg.load("double-pendulum"), 300, progress=False)
    assert run.decision == Decision(Execution.NATIVE) and "native: yes" in str(run)
    forced = simulate(kg.load("double-pendulum"), 300, native=True)
    assert np.array_equal(run.array(), forced.array())


def test_fixed_steps_are_decided_beforehand() -> None:
    short = simulate(kg.parse(PENDULUM), 1, method="rk4", step=1e-2)
    assert short.decision.execution is Execution.INTERPRETED and "native: no, the run is short" in str(short)
    long = simulate(kg.parse(PENDULUM), 2, method="rk4", step=1e-3)
    assert long.decision.execution is Execution.NATIVE


@pytest.mark.parametrize("most", [20, 5000])
def test_a_limit_of_steps_that_the_user_gave_holds(most: int) -> None:
    run = simulate(kg.load("double-pendulum"), 5000, control=Adaptive(1e-8, max_steps=most), progress=False)
    assert run.status is Status.TOO_MANY_STEPS and 0.8 * most < run.statistics.steps <= most
    assert run.decision.execution is (Execution.INTERPRETED if most == 20 else Execution.NATIVE)


def test_a_step_is_taken_wholly_or_not_at_all() -> None:
    """Ctrl-C in the middle of an interpreted step: the state that is kept belongs to its time."""
    calls = [0]

    def rate(x: np.ndarray) -> list[float]:
        calls[0] += 1
        if calls[0] == 500:
            signal.raise_signal(signal.SIGINT)
        return [1.0, 2.0]

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for method in (Method.DOP853, Method.BDF):
            calls[0] = 0
            task = CauchyProblem(RightHandSide(rate, ("y", "z")), np.zeros(2), 0.0, 1e6, native=False)
            run = method.solver().integrate(task, Adaptive(1e-8, max_step=0.1))
            assert run.ending.status is Status.INTERRUPTED and run.ending.time > 1
            assert run.states[-1] == pytest.approx([run.ending.time, 2 * run.ending.time])
    finally:
        signal.signal(signal.SIGINT, before)


def test_decisions_are_kept_with_the_solution(tmp_path) -> None:  # type: ignore[no-untyped-def]
    run = simulate(kg.parse(PENDULUM), 1, native=False, times=5)
    assert Solution.load(run.save(tmp_path / "run.parquet")).decision == run.decision
    decision = Decision(Execution.KERNEL)
    assert Decision.of_facts(decision.facts()) == decision
    with pytest.raises(KinegraphError, match="native is 'yes'"):
        simulate(kg.parse(PENDULUM), 1, native="yes")  # type: ignore[arg-type]


def test_interpreted_functions_mean_what_the_graph_means() -> None:
    """All functions, ordinary and exceptional values: the same as the interpreter that defines what graphs mean."""
    graph, symbols = every_function()
    function = InterpretedKernel(graph, [Argument("x", symbols)])
    for x in ([0.3, 0.7], [-0.3, 0.2], [0.0, 0.0], [800.0, -1.0], [np.inf, 0.5], [np.nan, 1.0]):
        expected = interpret(graph, {"a": x[0], "b": x[1]})["f"]
        assert np.allclose(function(np.array(x)), expected, rtol=1e-14, equal_nan=True)
    assert function.calls == 6


def every_function() -> tuple[Graph, tuple[Symbol, ...]]:
    builder = GraphBuilder()
    symbols = Symbol(Kind.COORDINATE, "a"), Symbol(Kind.COORDINATE, "b")
    a, b = (builder.symbol(one.kind, one.name) for one in symbols)
    names = ("sin", "cos", "sqrt", "exp", "log", "asin", "acos", "atan", "sinh", "cosh", "tanh", "abs", "sign")
    nodes = [builder.apply(name, a) for name in (*names, "reciprocal")]
    nodes += [builder.apply("atan2", a, b), builder.apply("select", a, b, nodes[0])]
    return builder.graph([Output("f", (len(nodes),), tuple(nodes))]), symbols
