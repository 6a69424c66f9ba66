"""The commands of the tasks, as a user types them."""

import json

import pytest

import kinegraph as kg
from kinegraph.cli.task_options import show_table
from tests.cli.run import data, runner


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (
            "linearize double-pendulum --equilibrium 1",
            {"A", "B", "C", "D", "states", "inputs", "outputs", "eigenvalues"},
        ),
        ("modes double-pendulum --equilibrium 1", {"modes", "stable"}),
        ("equilibria double-pendulum", {"equilibria", "singular", "starts", "continua"}),
        ("continuation bead-on-hoop --over omega=3:6 --starts 2", {"over", "equilibria", "branches"}),
        ("first-integrals heavy-top", {"integrals"}),
        ("assemble slider-crank --state crank=1 --all", {"modes", "dof", "free"}),
        (
            "unknown-forces double-pendulum -m q1=sin(t) -m q2=0.5*t --unknown tau:q1,tau:q2 --for 2",
            {"t", "tau:q1", "tau:q2", "determinate", "near_singular", "crossings", "residual", "equations"},
        ),
        (
            "statics double-pendulum --state q1=0.5,q2=0.2 --joint all",
            {"q", "forces", "determinate", "axes", "point", "drives", "reactions"},
        ),
        ("reactions double-pendulum", {"axes", "point", "drives", "reactions"}),
        ("reactions double-pendulum --joint all", {"axes", "point", "drives", "reactions"}),
        (
            "inverse-kinematics puma560 --body L6 --pose 0.4,0.1,0.3,0,0,0",
            {"solutions", "family", "nearest", "method", "complete", "outside_limits", "with_turns"},
        ),
        (
            (
                "inverse-kinematics stanford --path gripper.x=1.15 --path gripper.y=0.6*cos(t)^3"
                " --path gripper.z=0.6*sin(t)^3 --times 2"
            ),
            {"t", "near_singular", "crossings", *(n + "'" * k for n in ("θ1", "θ2", "d32") for k in range(3))},
        ),
        (
            "point-motion double-pendulum --point tip --state q1=0.5",
            {"pose", "velocity", "acceleration", "angular_velocity", "angular_acceleration"},
        ),
        ("reactions double-pendulum --for 0.1", {"axes", "point", "drives", "t", "worst", "ranges", "searched"}),
        (
            "response double-pendulum --equilibrium 1 --frequencies 1:10:5",
            {"frequencies", "inputs", "outputs", "amplitude", "phase"},
        ),
        (
            "synthesize double-pendulum --for 0.1 --wanted q1=0.2 --bounds amplitude=0:1 --times 2 --interpret",
            {"values", "at_bounds", "largest_deviations", "runs"},
        ),
        (
            "sensitivities double-pendulum --for 0.1 --by m1,q1(0) --outputs tip.x,energy --integral cost=q1^2",
            {"t", "outputs", "by", "at", "values", "derivatives"},
        ),
        (
            "sensitivities double-pendulum --for 0.1 --by m1,q1(0) --outputs tip.x --backward",
            {"t", "outputs", "by", "at", "values", "derivatives"},
        ),
    ],
)
def test_json(capsys, command, keys):
    code, out, _ = runner(capsys)(command, "--json")
    assert code == 0
    assert set(json.loads(out)) == keys


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("modes double-pendulum --equilibrium 9", "4 were found"),
        ("linearize double-pendulum --state q1=1", "neither an equilibrium nor a steady motion"),
        ("response double-pendulum --frequencies 3", "FROM:TO"),
        ("unknown-forces double-pendulum -m q1=t --unknown tau:q1 --for 2", "no motion given for q2"),
        ("assemble four-bar --set b=0.01 --set c=0.01", "pin has a gap of"),
        ("reactions double-pendulum --joint Uper", "'Uper' is not a joint"),
        ("inverse-kinematics puma560 --body L6 --pose 1,2", "2 numbers"),
        (
            "inverse-kinematics puma560 --body L6 --pose 0.4,0.1,0.3,0,0,0 --bounds q1=0:0.01",
            "8 positions with the pose",
        ),
        ("inverse-kinematics puma560 --body L6 --pose 0.4,0.1,0.3,0,0,0 --bounds q1=0", "write NAME=FROM:TO"),
        ("inverse-kinematics puma560 --body L6 --pose 5,0,0", "cannot be reached"),
        ("inverse-kinematics puma560 --body L6", "or a --path"),
        ("reactions double-pendulum --plot loads.png", "add --duration"),
        ("equilibria double-pendulum --bounds q1=1", "NAME=FROM:TO"),
        ("continuation double-pendulum --over m1", "NAME=FROM:TO"),
        ("equilibria double-pendulum --plot a.png", "kinegraph continuation MODEL --over"),
        ('equilibria double-pendulum --state "q1\'=1"', "q1' cannot stay constant"),
        ("sensitivities double-pendulum --for 1 --by mm1", "has no parameter or initial value 'mm1'"),
        ("fit double-pendulum missing.csv --unknown m1", "missing.csv"),
        ("fit double-pendulum missing.csv --unknown m1 --bounds m1=3", "NAME=FROM:TO"),
        ("sensitivities four-bar --for 1 --by bb", "has no parameter or initial value 'bb'"),
    ],
)
def test_mistakes_are_named(capsys, command, message):
    code, _, error = runner(capsys)(command)
    assert code == 2
    assert message in error


def test_fit(capsys, tmp_path):
    """The run that `simulate` writes as a table is read back as measurements."""
    table = tmp_path / "run.csv"
    simulated = "simulate double-pendulum --for 1 --times 20 --set l2=0.8,amplitude=0.5 --quiet --interpret"
    assert runner(capsys)(simulated, "-o", str(table)).code == 0
    command = f"fit double-pendulum {table} --unknown l2,amplitude --columns q1,tip.x --bounds l2=0.1:3 --interpret"
    code, out, _ = runner(capsys)(command, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["values"]["l2"] == pytest.approx(0.8, abs=1e-5)
    assert found["values"]["amplitude"] == pytest.approx(0.5, abs=1e-5)
    assert set(found) == {
        "values", "standard_errors", "intervals", "noise", "noise_is_estimated", "degrees_of_freedom", "runs", "doubts",
    }  # fmt: skip
    code, out, _ = runner(capsys)(command)
    assert code == 0 and "l2" in out and "+-" in out


def test_forces_of_loops_take_accelerations_that_fit(capsys):
    """The crank turns evenly: coupler and rocker are accelerated all the same."""
    run = runner(capsys)
    found = data(run('eval four-bar -q tau --state "crank=1,crank\'=3" --json'))["tau"]
    assert found[0] == pytest.approx(11.40119, abs=1e-5) and found[1:] == [0, 0]
    driven = kg.unknown_forces("four-bar", {"crank": "1 + 3*t"}, [0.0], unknown="tau:crank")
    assert found[0] == pytest.approx(driven["tau:crank"][0], abs=1e-9)
    refused = run("eval four-bar -q tau --state \"crank=1,crank''=2,rocker''=1\"")
    assert refused.code and "rocker''  1 -> " in refused.err


def test_assemble_lists_what_moved(capsys):
    run = runner(capsys)
    text = run("assemble four-bar").out
    assert "declared -> assembled; they follow from crank" in text and "coupler  0.4 -> 0.297378" in text
    printed = data(run("assemble four-bar --json"))["modes"][0]
    assert printed["moved"]["rocker"][0] == 1.2
    assert printed == kg.assemble("four-bar").to_dict()


def test_first_integrals_print_their_record(capsys):
    found = kg.first_integrals("heavy-top").to_dict()
    assert data(runner(capsys)("first-integrals heavy-top --json")) == found
    assert all(one["formula"] and one["coefficients"] for one in found["integrals"])


def test_wide_tables_are_turned_and_lose_no_digit(capsys):
    names = [f"a{k}" for k in range(30)]
    show_table(names, [[f"{k}.123456789" for k in range(30)], [f"-{k}" for k in range(30)]])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [[name, f"{k}.123456789", f"-{k}"] for k, name in enumerate(names)]
