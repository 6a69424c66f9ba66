"""Every command on models with `unknown` statements: the unknown is zero, and says so, or has the value of --set."""

import json

import pytest

from kinegraph.cli.commands import COMMANDS
from kinegraph.model.constraints import _tell_of_zeros
from tests.cli.run import runner
from tests.effort import SOAK

TREE = """
    model arm;
    parameters m1 = 2, l1 = 0.5, m2 = 1;
    coordinates q1 = 0.1, q2 = 0.2;
    gravity 0, 0, -9.81;
    {};
    A   | Ry(q1)           | Sz(-l1/2), m(m1), Jy(m1*l1^2/12);
    B~A | Sz(-l1), Ry(q2)  | Sz(-0.2), m(m2), Jy(0.02);
    output tip = B (0, 0, -0.4);
    damper d | on(q1), damping(0.5);
    damper e | on(q2), damping(0.2);
    define pull = S*cos(q1);
    force P | at(tip), world(pull, 0, 2*S);
    force M | value(3*R), on(q2);
"""
LOOP = """
    model bars;
    parameters rho = 2;
    coordinates q1 = 0.3, q2 = 0.4, q3 = 1.2;
    gravity 0, -9.81, 0;
    {};
    A   | Rz(q1)              | Sx(0.25), m(rho*0.5), Jz(rho*0.5^3/12);
    B~A | Sx(0.5), Rz(q2 - q1) | Sx(0.6), m(rho*1.2), Jz(rho*1.2^3/12);
    C   | Sx(1), Rz(q3)       | Sx(0.4), m(rho*0.8), Jz(rho*0.8^3/12);
    loop pin | revolute | B: Sx(1.2) | C: Sx(0.8);
    output tip = B (0.6, 0.2, 0);
    force P | at(tip), world(S, 0, 0);
    force M | value(R), on(q1);
"""
#: The arm without forces, with l1 = 0.55.
DATA = "t,q1,q2\n0.1,0.0991,0.1553\n0.2,0.0929,0.0454\n0.3,0.0725,-0.0689\n0.4,0.0323,-0.1294\n0.5,-0.0221,-0.119\n"
KNOWN = {"S": 0.5, "R": -0.2}
SET = ",".join(f"{name}={value}" for name, value in KNOWN.items())

#: Commands that compute with forces, as one line each; `{}` is the model.
WITH_FORCES = {
    "eval": "eval {} -q tau,qdd,forces,energy,power",
    "simulate": "simulate {} --for 0.3 --times 3",
    "study": "study {} --for 0.2 --vary m1=uniform(1,2) --cases 3 --threads 1 --quiet",
    "reactions": "reactions {} --joint B",
    "equilibria": "equilibria {} --starts 20",
    "continuation": "continuation {} --over m1=1:2 --starts 8 --points 20",
    "linearize": "linearize {} --no-steady",
    "modes": "modes {} --equilibrium 1",
    "response": "response {} --equilibrium 1 --inputs tau:q1 --frequencies 1:2",
    "first-integrals": "first-integrals {}",
    "sensitivities": "sensitivities {} --for 0.2 --by m1 --outputs tip.x",
    "fit": "fit {} DATA --unknown l1",
    "tolerances": "tolerances {} --outputs tip.x --tolerance m1=0.01 --for 0.2 --samples 20",
    "periodic-motion": "periodic-motion {} --input q1=sin(t) --period 6.283185307",
    "synthesize": "synthesize {} --wanted tip.x=-0.05 --bounds m1=1:3 --for 0.2 --times 4",
}
#: Those that mean the same with a loop.
WITH_LOOPS = ("eval", "simulate", "reactions", "linearize")
#: Commands that compute without forces, or find them.
WITHOUT_FORCES = {
    "check": "check {}",
    "view": "view {} -o DIR/page.html",
    "derive": "derive {} -q tau",
    "count": "count {} -q qdd --effort quick",
    "export": "export {} --to c -q tau -o DIR/c",
    "assemble": "assemble {}",
    "inverse-kinematics": "inverse-kinematics {} --body tip --pose -0.3,0,-0.7 --starts 8",
    "point-motion": "point-motion {} --point tip",
    "unknown-forces": "unknown-forces {} -m q1=0.3+0.1*t -m q2=0.2*t --for 1 --times 2",
    "statics": "statics {}",
    "inspect": "inspect {} -q tau --stage derived",
    "store": "store add {} -q tau --effort quick --store DIR/models.db",
}
#: Commands without a model, or for other mechanisms: platforms, docking ports.
OTHERS = {"models", "reproduce", "demo", "workspace", "dock", "studio"}
#: Commands for rotors, cycles of linkages, flywheels and chains.
OTHERS |= {"campbell", "unbalance-response", "flywheel", "synthesize-cycle", "simulate-chains"}
#: What a clock decides, or rounding: how many runs a fit takes.
TIMES = ("seconds", "wall_time", "elapsed", "runs")


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def file(tmp_path):
    """Writes a model with a statement on S and R."""

    def write(text, statement):
        path = tmp_path / "model.kg"
        path.write_text(text.format(statement))
        (tmp_path / "data.csv").write_text(DATA)
        return path

    return write


def inputs(values):
    return "inputs " + ", ".join(f"{name} = {value}" for name, value in values.items())


def answer(run, line, path, more=""):
    """The JSON of a command, without times; and the error it ends with."""
    text = line.replace("DATA", str(path.parent / "data.csv")).replace("DIR", str(path.parent))
    found = run(f"{text.format(path)} {more} --json")
    assert found.out, found.err
    return json.loads(found.out, object_hook=lambda one: {k: v for k, v in one.items() if k not in TIMES}), found.code


def close(found, expected):
    """The same answer, but for rounding; of a linear system without the columns of inputs, which unknowns add to."""
    if isinstance(expected, dict):
        if found.keys() != expected.keys():
            return False
        return all(close(found[key], expected[key]) for key in expected if key not in ("B", "D", "inputs"))
    if isinstance(expected, list):
        if (
            expected and isinstance(expected[0], dict) and "eigenvalues" in expected[0]
        ):  # equilibria, in the order found
            found, expected = (sorted(one, key=lambda e: round(e["q"]["q1"], 4)) for one in (found, expected))
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-6)
    return found == expected


def test_every_command_is_tried():
    assert {*WITH_FORCES, *WITHOUT_FORCES} | OTHERS == set(COMMANDS)


#: Slow ones, once with trees and once with loops, are tried by `make soak` alone.
SLOW = (
    {}
    if SOAK
    else {"continuation", "study", "response", "reactions", "periodic-motion", "tolerances", "fit", "synthesize"}
)
TRIED = [
    *((name, TREE) for name in WITH_FORCES if name not in SLOW),
    *((name, LOOP) for name in (WITH_LOOPS if SOAK else ("eval",))),
]


@pytest.mark.parametrize(("command", "model"), TRIED, ids=lambda value: "" if len(value) > 20 else value)
def test_an_unknown_is_zero_or_what_set_says(run, file, command, model):
    line = WITH_FORCES[command]
    for values, more in ((dict.fromkeys(KNOWN, 0), ""), (KNOWN, f"--set {SET}")):
        expected = answer(run, line, file(model, inputs(values)))
        found = answer(run, line, file(model, "unknown S, R"), more)
        assert expected[1] == found[1] == 0
        assert close(found[0], expected[0])
        if command not in ("eval", "simulate") and not SOAK:
            return


@pytest.mark.parametrize("command", ["eval", "simulate", "reactions", "equilibria", "linearize"])
def test_the_zero_is_said(run, file, command, caplog):
    path = file(TREE, "unknown S, R")
    _tell_of_zeros.cache_clear()
    assert run(WITH_FORCES[command].format(path)).code == 0
    (said,) = caplog.records
    assert said.getMessage().startswith("arm: the unknowns S, R are taken as zero; give a value (--set S=...,")
    caplog.clear()
    assert run(f"{WITH_FORCES[command].format(path)} --set {SET}").code == 0
    assert not caplog.records


@pytest.mark.parametrize("command", WITHOUT_FORCES)
def test_commands_without_forces_take_the_model(run, file, command, caplog):
    _tell_of_zeros.cache_clear()
    found, code = answer(run, WITHOUT_FORCES[command], file(TREE, "unknown S, R"))
    assert code == 0 and found
    assert not caplog.records
    if command not in (
        "unknown-forces",
        "statics",
        "check",
        "view",
        "export",
        "store",
    ):  # an unknown is an input to them
        assert answer(run, WITHOUT_FORCES[command], file(TREE, "inputs S, R")) == (found, 0)
