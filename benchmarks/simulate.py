"""Simulation beside peers at equal end accuracy. `python -m benchmarks simulate [--peers [PYTHON]]`

PYTHON is an interpreter with `pin scipy exudyn mujoco`. For every setting of a peer, Kinegraph's fastest setting whose
end error is no larger is taken, so a ratio never compares a precise run with a sloppy one. Errors are those of the end
state against a run with all digits; times are the best of several, on the wall, models built and compiled beforehand.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import kinegraph as kg
from benchmarks.simulate_peers import DURATION, LINKS, REPEATS, SWEEP_DURATION, Entry, best
from kinegraph.codegen.kernel import Kernel
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.model.evaluate import parameter_values
from kinegraph.simulate.equations import VelocityForm
from kinegraph.simulate.inputs import starting_state
from kinegraph.solve.ensemble import integrate_rows
from kinegraph.solve.methods.runge_kutta import RungeKutta
from kinegraph.solve.methods.step_control import Adaptive
from kinegraph.solve.methods.tableau import DORMAND_PRINCE_5, DORMAND_PRINCE_8, Tableau
from kinegraph.solve.problem import CauchyProblem, Floats

RUNS = 10_000
TOLERANCES = [10.0**-k for k in range(3, 14)]
TARGETS = {
    "SciPy DOP853 + Pinocchio": 15, "SciPy DOP853, same kernel": 15, "Exudyn DOPRI5": 15, "MuJoCo RK4": 30,
    "mujoco.rollout RK4": 20,
}  # fmt: skip


@dataclass(frozen=True)
class Timed:
    """One setting: what it cost and how wrong it was."""

    name: str
    setting: str
    seconds: float
    error: float


def peers(python: str, *words: str) -> list[Entry]:
    """What the peers' script prints."""
    command = [python, str(Path(__file__).with_name("simulate_peers.py")), *words]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in finished.stdout.splitlines():
        if line.startswith("RESULT "):
            found: list[Entry] = json.loads(line.removeprefix("RESULT "))
            sys.stderr.write(finished.stderr)
            return found
    raise SystemExit(f"the peers failed:\n{finished.stderr}")


def task(name: str, duration: float) -> CauchyProblem:
    """The free motion of a library model."""
    mechanism = kg.load(name)
    equations = VelocityForm(mechanism, {}, NO_FORCES)
    q, v = starting_state(mechanism, {}, parameter_values(mechanism))
    return CauchyProblem(equations.right_hand_side(), equations.pack(q, v, np.zeros(0)), 0.0, duration)


def scipy_around_kernel(problem: CauchyProblem, exact: np.ndarray) -> list[Timed]:
    """SciPy's DOP853 calling the very same kernel: what Python in every stage costs."""
    from scipy.integrate import solve_ivp

    kernel = problem.rhs.code
    assert isinstance(kernel, Kernel)
    found = []
    for rtol in (1e-6, 1e-8, 1e-10):
        options = {"method": "DOP853", "rtol": rtol, "atol": rtol / 100}
        span = (problem.start, problem.end)
        seconds, run = best(partial(solve_ivp, lambda t, y: kernel(y, t), span, problem.state, **options))
        error = float(np.abs(run.y[:, -1] - exact).max())
        found.append(Timed("SciPy DOP853, same kernel", f"rtol {rtol:g}", seconds, error))
    return found


def chain(python: str | None) -> tuple[list[Timed], list[Timed]]:
    """Six links for ten seconds: Kinegraph at all tolerances, and the peers."""
    problem = task(f"pendulum-{LINKS}", DURATION)
    exact = RungeKutta(DORMAND_PRINCE_8).integrate(problem, Adaptive(1e-15, 1e-15)).states[-1]
    own = []
    for tableau in (DORMAND_PRINCE_5, DORMAND_PRINCE_8):
        for rtol in TOLERANCES:
            control = Adaptive(rtol, rtol / 100)
            seconds, run = best(partial(RungeKutta(tableau).integrate, problem, control), 2 * REPEATS)
            error = float(np.abs(run.states[-1] - exact).max())
            own.append(Timed(f"Kinegraph {tableau.name}", f"rtol {rtol:g}", seconds, error))
    others = scipy_around_kernel(problem, exact)
    for name, setting, seconds, end in peers(python, "chain") if python else []:
        others.append(Timed(name, setting, seconds, float(np.abs(np.array(end) - exact).max())))
    return own, others


def sweep(python: str | None) -> tuple[list[Timed], list[Timed]]:
    """Ten thousand double pendulums for five seconds; the error is the median over the runs."""
    random = np.random.default_rng(1)
    starts = np.hstack([random.uniform(-1.5, 1.5, (RUNS, 2)), random.uniform(-1, 1, (RUNS, 2))])
    problem = task("double-pendulum", SWEEP_DURATION)
    none = np.zeros((RUNS, 0))

    def run(tableau: Tableau, rtol: float) -> Floats:
        return integrate_rows(RungeKutta(tableau), problem, starts, none, Adaptive(rtol, rtol / 100)).states[:, 0]

    exact = run(DORMAND_PRINCE_8, 1e-14)

    def median(ends: np.ndarray) -> float:
        return float(np.median(np.abs(ends - exact).max(axis=1)))

    own = []
    for tableau in (DORMAND_PRINCE_5, DORMAND_PRINCE_8):
        for rtol in TOLERANCES[:9]:
            seconds, ends = best(partial(run, tableau, rtol), 3)
            own.append(Timed(f"Kinegraph {tableau.name}", f"rtol {rtol:g}", seconds, median(ends)))
    others = []
    if python:
        with tempfile.TemporaryDirectory() as folder:
            cases = str(Path(folder) / "cases.npy")
            np.save(cases, starts)
            for name, setting, seconds, file in peers(python, "sweep", cases):
                others.append(Timed(name, setting, seconds, median(np.load(str(file)))))
    return own, others


def report(title: str, own: list[Timed], others: list[Timed]) -> None:
    """Every peer beside the fastest of our settings that is at least as precise."""
    table = Table("peer", "setting", "ms", "error", "Kinegraph", "ms", "error", "ratio", "target", title=title)
    for other in others:
        enough = [one for one in own if one.error <= other.error]
        if not enough:
            table.add_row(
                other.name, other.setting, f"{other.seconds * 1e3:.2f}", f"{other.error:.1e}", "none as precise"
            )
            continue
        ours = min(enough, key=lambda one: one.seconds)
        ratio, target = other.seconds / ours.seconds, TARGETS[other.name]
        table.add_row(
            other.name, other.setting, f"{other.seconds * 1e3:.2f}", f"{other.error:.1e}",
            f"{ours.name.removeprefix('Kinegraph ')}, {ours.setting}", f"{ours.seconds * 1e3:.3f}", f"{ours.error:.1e}",
            f"{ratio:.1f}", f"{target} {'met' if ratio >= target else 'MISSED'}",
        )  # fmt: skip
    Console(width=150).print(table)


def main() -> None:
    """Measure runs and sweeps, beside the peers where an interpreter with them is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers", metavar="PYTHON", nargs="?", const=sys.executable,
        help="compare; PYTHON is an interpreter with pin, scipy, exudyn and mujoco, by default this one",
    )  # fmt: skip
    arguments = parser.parse_args()
    report(f"{LINKS} links, {DURATION:g} s", *chain(arguments.peers))
    if arguments.peers:
        report(f"{RUNS} double pendulums, {SWEEP_DURATION:g} s", *sweep(arguments.peers))


if __name__ == "__main__":
    main()
