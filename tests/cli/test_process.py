"""What only a process of its own shows: version, help, closed pipes, Ctrl-C."""

import json
import signal
import subprocess
import sys
import time

import pytest

import kinegraph as kg
from kinegraph.passes.compiled_search.entrance import entrance
from tests.cli.run import ENVIRONMENT, process

COMMANDS = ("models", "check", "derive", "ops", "eval", "inspect", "demo", "store")


def test_version_and_help():
    assert process("--version").out == f"kinegraph {kg.__version__}\n"
    text = process("--help").out
    assert all(command in text for command in COMMANDS)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
def test_a_closed_pipe_is_no_error():
    # More text than a pipe holds (64 KiB), so that writing goes on after the reader has left.
    command = [sys.executable, "-m", "kinegraph", "inspect", "pendulum-3000", "--stage", "model"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as child:
        assert child.stdout.readline().startswith(b"model pendulum-3000")
        child.stdout.close()
        error = child.stderr.read()
    assert error == b"" and child.returncode != 2


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")
def test_ctrl_c_leaves_no_traceback():
    """Early, while equations are still derived."""
    child, out, error = interrupted("ops rackovic-14r -q H,C,gravity --seconds 60", after=2)
    assert b"Traceback" not in error
    assert child.returncode == 130 or (child.returncode == 0 and b"proved" in out)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process there")
def test_ctrl_c_during_a_search_gives_the_best_so_far_proved():
    """The search would go on for ten minutes; its best state comes out as the result, and nothing is lost."""
    entrance()  # on disk from now on, so that the command need not compile it
    for after in (8, 24, 72):  # on a busy machine the equations may still be derived
        child, out, error = interrupted("ops rackovic-6r -q H,C,gravity --seconds 600 --json", after)
        if child.returncode != 130:
            break
    assert child.returncode == 0, error.decode()
    found = json.loads(out)
    assert found["proved"] is True
    first = found["passes"][1]  # frames chosen, before any reduction
    assert found["mul"] + found["add"] < first["mul"] + first["add"]


def interrupted(line, after):
    """A command in a process of its own, sent Ctrl-C after some seconds."""
    command = [sys.executable, "-m", "kinegraph", *line.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as child:
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        out, error = child.communicate(timeout=120)
    return child, out, error
