"""`--passes`: passes in the user's own order, for every command that reduces."""

import numpy as np
import pytest

import kinegraph as kg
from kinegraph.compiler.request import request_of
from kinegraph.compiler.stored import reduced
from kinegraph.derive.dynamics.state_rate import NO_FORCES
from kinegraph.graph.count import count
from kinegraph.notation.text import formula
from kinegraph.simulate.equations import VelocityForm
from tests.cli.run import data, runner


def test_own_passes_are_counted_one_by_one_and_proved(capsys):
    run = runner(capsys)
    passes = "expand(forms=0), products, monomials(degree=2)"
    found = data(run("count double-pendulum -q tau --json", "--passes", passes))
    assert [stage["name"] for stage in found["passes"]] == [
        "derived", "frames chosen", "expand", "products", "monomials",
    ]  # fmt: skip
    assert found["proved"]
    assert found["largest_exponent"] == 2


def test_a_pass_that_does_not_exist_is_named(capsys):
    result = runner(capsys)("count double-pendulum -q tau", "--passes", "expnd")
    assert result.code != 0
    assert "unknown pass 'expnd'" in result.err


OWN = "expand(forms=0), monomials(degree=2)"


def test_derived_equations_are_those_of_the_passes(capsys):
    run, mechanism = runner(capsys), kg.load("puma560")
    found = data(run("derive puma560 -q gravity --json", "--passes", OWN))["text"]
    graph = reduced(request_of(mechanism, "gravity", passes=OWN)).graph
    assert found == formula(graph, mechanism=mechanism)
    assert found != data(run("derive puma560 -q gravity --json"))["text"]


def test_raw_equations_have_no_passes(capsys):
    result = runner(capsys)("derive double-pendulum -q H --raw", "--passes", "rebuild")
    assert result.code != 0 and "leave out --raw or --passes" in result.err


def test_numbers_do_not_depend_on_the_passes(capsys):
    run = runner(capsys)
    command = "eval double-pendulum -q H --state q2=0.5 --json"
    own, usual = (data(run(command, *words))["H"] for words in (("--passes", "expand(forms=0)"), ()))
    assert np.allclose(own, usual, rtol=1e-14)


def test_the_store_keeps_the_counts_of_the_passes(capsys, tmp_path):
    run, place = runner(capsys), str(tmp_path / "models.sqlite")
    run("store add double-pendulum -q H", "--passes", OWN, "--store", place)
    found = data(run("store show double-pendulum --json", "--store", place))
    assert [one["name"] for one in found["passes"]] == ["initial", "expand", "monomials", "best"]


@pytest.mark.parametrize("command", ["derive", "eval", "inspect", "store add", "export --to c"])
def test_options_out_of_range_are_refused_by_every_command(capsys, tmp_path, command):
    words = ["--passes", "monomials(degree=-1)"]
    words += ["--store", str(tmp_path / "models.sqlite")] if command == "store add" else []
    result = runner(capsys)(f"{command} double-pendulum -q H", *words)
    assert result.code != 0 and "a whole number from 1 to 12" in result.err


def test_simulations_run_the_equations_of_the_passes(capsys):
    run = runner(capsys)
    command = "simulate puma560 --for 0.05 --times 2 --interpret --json"
    own, usual = (data(run(command, *words))["final"] for words in (("--passes", OWN), ()))
    assert own != usual  # other operations round otherwise
    assert own == pytest.approx(usual, rel=1e-9, abs=1e-12)


def test_the_code_of_a_simulation_is_reduced_by_the_passes_alone():
    mechanism = kg.load("double-pendulum")
    equations = VelocityForm(mechanism, {}, NO_FORCES).with_passes("expand(forms=0)")
    assert (
        count(equations.right_hand_side().code.graph).total
        > count(VelocityForm(mechanism, {}, NO_FORCES).right_hand_side().code.graph).total
    )


def test_loops_over_bodies_have_no_passes(capsys):
    run = runner(capsys)
    result = run("simulate pendulum-3 --for 0.01 --loops", "--passes", OWN)
    assert result.code != 0 and "passes need a graph" in result.err and "loops=False" in result.err
    result = run("simulate pendulum-3 --for 0.01", "--passes", "monomials(degree=1000000000)")
    assert result.code != 0 and "a whole number from 1 to 12" in result.err
