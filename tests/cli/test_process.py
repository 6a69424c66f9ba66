"""What only a process of its own shows: version, help, closed pipes."""

import subprocess
import sys

import pytest

import kinegraph as kg
from tests.cli.run import ENVIRONMENT, process

COMMANDS = ("models", "check", "derive", "count", "eval", "inspect", "demo", "store")


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
