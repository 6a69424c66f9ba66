"""`--lock` and `--parameters`, as a user types them, on every command that reads a model."""

import json

import pytest

from tests.cli.run import runner

MODEL = """
    parameters m1; coordinates q1 = 0.4, q2 = 0.1; gravity 0, 0, -9.81;
    define sum = q1 + q2; quasivelocity w = q1' + q2';
    A | Ry(q1) | Sz(-0.5), m(m1), Jy(0.1); B~A | Sz(-1), Ry(q2) | Sz(-0.5), m(m1), Jy(0.1);
    spring coil | on(sum), stiffness(2);
"""


@pytest.fixture
def run(capsys):
    typed = runner(capsys)
    return lambda command, *words: typed(command, *words)


@pytest.fixture
def files(tmp_path):
    model, values = tmp_path / "arms.kg", tmp_path / "values.toml"
    model.write_text(MODEL)
    values.write_text("m1 = 2\n")
    return str(model), "--parameters", str(values), "--lock", "q2=pi/6"


def test_eval(run, files):
    held = json.loads(run("eval", *files, "-q", "H", "--json").out)["H"]
    both = json.loads(run("eval", *files[:3], "-q", "H", "--state", "q2=pi/6", "--json").out)["H"]
    assert len(held) == 1 and held[0][0] == pytest.approx(both[0][0], rel=1e-14)


@pytest.mark.parametrize(
    "command",
    [
        ["check"], ["derive", "-q", "gravity"], ["count", "-q", "H", "--effort", "quick"], ["inspect", "-q", "H"],
        ["simulate", "--for", "0.2", "--interpret", "--quiet"], ["export", "--to", "c", "-q", "tau"],
    ],
    ids=lambda words: words[0],
)  # fmt: skip
def test_every_command_takes_them(run, files, command, tmp_path):
    more = ["-o", str(tmp_path / "out")] if command[0] == "export" else []
    result = run(command[0], *files, *command[1:], *more)
    assert result.code == 0, result.err


def test_at_the_initial_position(run, files):
    result = run("eval", *files[:3], "--lock", "q1, q2=0", "-q", "energy")
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--lock", "q7=0"], "available: q1, q2"),
        (["--lock", "q1=x"], "not a number"),
        (["--parameters", "nowhere.json"], "cannot read"),
    ],
)
def test_mistakes(run, files, words, message):
    result = run("check", files[0], *words)
    assert result.code == 2 and message in result.err and "Traceback" not in result.err
