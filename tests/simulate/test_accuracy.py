"""An error estimate by a second run: it sees what conserved energy does not."""

from __future__ import annotations

import json

import typer
from typer.testing import CliRunner

import kinegraph as kg
from kinegraph.cli import simulate as command
from kinegraph.simulate import Adaptive, FixedStep, simulate
from kinegraph.simulate.observation import error_estimates, tighter

app = typer.Typer()
app.command("simulate")(command.run)


def test_a_chaotic_run_is_less_exact_than_its_energy() -> None:
    arm, control = kg.load("double-pendulum"), Adaptive(1e-6)
    start = {"q1": 2.5, "q2": 1.0}
    run = simulate(arm, 10, control=control, state=start, times=20)
    second = simulate(arm, 10, control=tighter(control), state=start, times=20)
    true = simulate(arm, 10, rtol=1e-13, state=start, times=20)
    for estimate, exact in zip(error_estimates(run, second), error_estimates(run, true), strict=True):
        assert 0.3 * exact.error < estimate.error < 3 * exact.error
    assert max(one.error for one in error_estimates(run, second)) > 10 * run.checks[0].error
    assert error_estimates(run, run)[0].digits == 15


def test_controls_get_tighter() -> None:
    assert tighter(FixedStep(0.1)) == FixedStep(0.05)
    assert tighter(Adaptive(1e-6, {"q1": 1e-3})).atol == {"q1": 1e-5}
    assert tighter(Adaptive(1e-14)).rtol == 1e-14


def test_the_command_says_which_digits_agree() -> None:
    words = ["double-pendulum", "--for", "1", "--times", "10", "--estimate-error"]
    assert "digits agree" in CliRunner().invoke(app, words).output
    data = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert data["error_estimate"][0]["name"] == "q1" and data["error_estimate"][0]["digits"] >= 6
    assert "--estimate-error" in CliRunner().invoke(app, words[:-1]).output
