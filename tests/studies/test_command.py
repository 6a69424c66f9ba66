"""`kinegraph study` as a user types it: files, options, JSON, one case, mistakes, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import kinegraph as kg
from tests.cli.run import ENVIRONMENT, data, runner
from tests.programs import HANGS

MODEL = "model drop; coordinates z = 2; parameters m = 1; gravity 0, 0, -10; Ball | Sz(z) | m(m);\n"
STUDY = """
model = "drop.kg"
duration = 1
cases = 8
seed = 3
success = "landed"
until = "success +- 0.4"
chunk = 3

[vary]
z = "uniform(1, 9)"
"z', wind" = "disc(0.5)"
weight = "table(weights.csv)"

[parameters]
m = "weight"

[inputs]
z = "wind"

[events]
floor = {condition = "z", action = "stop", direction = "falling"}
half = "z - 1"

[outcomes]
when = "time(floor)"
low = "min(z)"
hit = "at(floor, z')"

[classes]
landed = "stopped_by(floor)"
"in the air" = "true"
"""


@pytest.fixture
def run(capsys):
    return runner(capsys)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "drop.kg").write_text(MODEL)
    (tmp_path / "weights.csv").write_text("weight\n1\n2\n4\n")
    (tmp_path / "drop.toml").write_text(STUDY)
    return tmp_path / "drop.toml"


def test_a_study_file(run, file, tmp_path):
    found = data(run("study --interpret --json", file))
    assert found["cases"] == 9 and found["complete"] and found["failed"] == 0
    assert set(found["classes"]) <= {"landed", "in the air"} and found["success"]["cases"] == 8
    study = kg.study(file, native=False, folder=tmp_path / "out")
    falls = np.sqrt(study["z"] / 5)
    landed = study["class"] == "landed"
    assert landed.any() and np.abs(study["when"] - falls)[landed].max() < 0.3
    assert np.isnan(study["when"][~landed]).all() and study["low"][landed] == pytest.approx(0, abs=1e-9)
    assert set(study["weight"]) <= {1.0, 2.0, 4.0}
    again = data(run("study --interpret --json", file, "-o", tmp_path / "out"))
    assert again["resumed"] == 9 and again["outcomes"] == found["outcomes"]
    assert (tmp_path / "out" / "page.html").read_text().startswith("<!doctype html>")
    assert data(run("study --interpret --json --cases 2 --seed 4", file))["cases"] == 3


def test_options_say_the_same(run, file, tmp_path):
    line = "study --interpret --for 1 --cases 3 --vary 'z=uniform(1,9)' --stop floor=z --outcome 'low=min(z)' "
    line += "--success 'low < 1e-6' --class 'near=low < 2' --set m=2"
    found = data(run(line + " --json", tmp_path / "drop.kg"))
    assert list(found["outcomes"]) == ["low"] and found["success"]["cases"] == 3
    text = run(line, tmp_path / "drop.kg").out
    assert "drop: 4 cases" in text and "success:" in text and "median" in text


def test_one_case_again(run, file):
    study = kg.study(file, native=False)
    row = data(run("study --interpret --json --case 5", file))["row"]
    assert row["case"] == 5 and row["low"] == study["low"][5] and row["z"] == study["z"][5]
    assert "low: " in run("study --interpret --case 0", file).out
    assert "cases 0 to 8" in run("study --interpret --case 9", file).err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("duration = 1", ""), "duration is missing"),
        (("duration = 1", f"duration = {10**400}"), "duration has 401 digits"),
        (('model = "drop.kg"', ""), "model is missing"),
        (('model = "drop.kg"', f'model = "{"x" * 5000}.kg"'), "check the name of the model file"),
        (("cases = 8", "cases = 'many'"), "give an integer"),
        (("cases = 8", "case = 8"), "did you mean `cases`"),
        (("duration = 1", "duration = ["), "is not valid TOML"),
        (("duration = 1", "duration = " + "9" * 5000), "is not valid TOML"),
        (("duration = 1", "duration = " + "[" * 5000), "is not valid TOML"),
        (('action = "stop"', 'action = "halt"'), "record, stop, reset"),
        (('condition = "z"', 'conditon = "z"'), "events.floor"),
        (('low = "min(z)"', "low = 3"), "formula in quotes"),
        (("table(weights.csv)", "table(none.csv)"), "none.csv"),
        (('weight = "table(weights.csv)"', 'weigth = "uniform(1, 2)"'), "weigth"),
        (("[inputs]", "[inputs]\nq = {time = [0, 1]}"), "times"),
    ],
)
def test_mistakes_in_a_study_file(run, file, change, message):
    file.write_text(STUDY.replace(*change))
    result = run("study", file)
    assert result.code == 2 and message in result.err and "Traceback" not in result.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("study double-pendulum", "at least one"),
        ("study double-pendulum --vary q1", "write --vary name="),
        ("study double-pendulum --vary q9=uniform(0,1)", "available: amplitude"),
        ("study double-pendulum --vary q1=uniform(0,1) --threads 1 --mpi", "give only one of"),
        ("study double-pendulum --vary q1=uniform(0,1) --outcome a=max(tip.w)", "a point has x, y, z"),
        ("study nowhere.toml", "nowhere.toml"),
    ],
)
def test_mistakes_on_the_command_line(run, line, message):
    result = run(line)
    assert result.code == 2 and message in result.err and "Traceback" not in result.err


SLOW = """
import sys, time
from kinegraph.studies import cases
plain = cases.CaseRunner.run
def slow(self, first, last, stop=None):
    time.sleep(0.05)
    return plain(self, first, last, stop)
cases.CaseRunner.run = slow
from kinegraph.cli import main
print("ready", flush=True)
main(sys.argv[1:])
"""


@pytest.mark.soak
def test_ctrl_c_keeps_what_is_finished(file, tmp_path):
    """Exit code 130; the same command goes on, and the results are those of a study that nobody interrupted."""
    options = ["--interpret", "--cases", "300", "--chunk", "1", "-o", str(tmp_path / "out"), "--json"]
    file.write_text(STUDY.replace('until = "success +- 0.4"', ""))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", SLOW, "study", str(file), *options], env=ENVIRONMENT, **pipes)
    while len(list((tmp_path / "out" / "chunks").glob("*.npz"))) < 3:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)  # looking is work, too
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANGS)
    part = json.loads(out.partition("ready\n")[2])
    assert process.returncode == 130 and not part["complete"] and 3 <= part["cases"] < 301, err
    study = kg.study(file, cases=20, chunk=1, native=False, folder=tmp_path / "out")
    whole = kg.study(file, cases=20, chunk=1, native=False)
    assert study.resumed >= min(part["cases"], 21) - 1
    assert np.array_equal(study["low"], whole["low"])
